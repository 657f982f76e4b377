/* store/log_file.h -- the WAL as a file that is cheap to sync.
 *
 * SQLite writes a commit to the WAL in many small pieces, a frame header and a page at a time, and
 * the file grows with each of them.  A log_file collects the pieces and writes them at once when the
 * file is synced.  It grows in steps of zeros, so that a sync finds its blocks allocated and has no
 * metadata to write.  Decision 0019.
 *
 * SQLite sees no difference.  No reader reads a frame before its commit is synced, the writer's own
 * reads flush the collected pieces first, and zeros are not a valid frame.  A failure to write the
 * pieces is reported by the sync at the latest, before the commit is acknowledged.  When the disk
 * has no space for a step, the file grows only as far as necessary.
 */
#ifndef STORE_LOG_FILE_H
#define STORE_LOG_FILE_H

#include <sqlite3.h>

/* The size of our part of a file, before that of the base VFS. */
int log_file_bytes(void);
/* The first `own` bytes of `file` are ours.  The file grows in steps of `step` bytes, at most
 * LIMIT_LOG_STEP_BYTES. */
int log_file_open(sqlite3_file *file, int own, int step, sqlite3_vfs *vfs, sqlite3_filename name,
		  int flags, int *out_flags);

#endif
