/* store/log_file.h -- SQLite's log as a file that is cheap to sync.
 *
 * SQLite writes a commit into the WAL in many small pieces, a header and a page at a time, and lets
 * the file grow by each of them.  Here the pieces are gathered and written as one when the file is
 * synced, and a file that grows does so by a step of zeros: a sync then finds its blocks in place
 * and has no metadata to write.  (Decision 0019.)
 *
 * SQLite sees no difference.  Nobody reads a frame before its commit was synced, the writer's own
 * reads find what was gathered, and zeros are no frame: they carry neither the log's salts nor a
 * page's number.  Pieces that cannot be written are told by the sync at the latest, before the
 * commit is.  Without room for a step the file grows as far as it has to.
 */
#ifndef STORE_LOG_FILE_H
#define STORE_LOG_FILE_H

#include <sqlite3.h>

/* What SQLite has to give for such a file, before the bytes of the other VFS. */
int log_file_bytes(void);
/* `own` bytes of `file` are ours; it grows by `step`, at most LIMIT_LOG_STEP_BYTES. */
int log_file_open(sqlite3_file *file, int own, int step, sqlite3_vfs *vfs, sqlite3_filename name,
		  int flags, int *out_flags);

#endif
