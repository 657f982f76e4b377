/* store/inner_file.h -- an open file of a VFS of ours that lies in front of another VFS's.
 *
 * SQLite gives a VFS szOsFile bytes for a file: ours come first, the other VFS's follow.  A kind of
 * file begins with a struct inner_file, fills its table of methods with those below and puts its
 * own in the place of those that it cares for.
 */
#ifndef STORE_INNER_FILE_H
#define STORE_INNER_FILE_H

#include <sqlite3.h>
#include <stddef.h>

struct inner_file {
	sqlite3_file base;
	sqlite3_file *inner;
};

sqlite3_file *inner_of(sqlite3_file *file);

/* Opens the other VFS's file behind `self`, `own` bytes from where it begins; `methods` are set
 * when it is open. */
int inner_file_open(struct inner_file *self, size_t own, const sqlite3_io_methods *methods,
		    sqlite3_vfs *vfs, sqlite3_filename name, int flags, int *out_flags);

int inner_close(sqlite3_file *file);
int inner_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at);
int inner_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at);
int inner_truncate(sqlite3_file *file, sqlite3_int64 size);
int inner_sync(sqlite3_file *file, int flags);
int inner_size(sqlite3_file *file, sqlite3_int64 *out_size);
int inner_lock(sqlite3_file *file, int level);
int inner_unlock(sqlite3_file *file, int level);
int inner_check_reserved(sqlite3_file *file, int *out_reserved);
int inner_control(sqlite3_file *file, int what, void *argument);
int inner_sector_size(sqlite3_file *file);
int inner_characteristics(sqlite3_file *file);

#endif
