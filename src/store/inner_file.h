/* store/inner_file.h -- a file of our VFS that wraps a file of the base VFS.
 *
 * SQLite allocates szOsFile bytes for an open file.  Our part comes first, that of the base VFS
 * follows.  A wrapper struct begins with a struct inner_file and has a method table that consists
 * of the functions below, which pass a call to the base VFS, and of its own.
 */
#ifndef STORE_INNER_FILE_H
#define STORE_INNER_FILE_H

#include <sqlite3.h>
#include <stddef.h>

struct inner_file {
	sqlite3_file base;
	sqlite3_file *inner;
};

sqlite3_file *inner_file_of(sqlite3_file *file);

/* Opens the file of the base VFS, whose part begins `own` bytes after `self`.  Sets `methods` only
 * on success, as SQLite requires. */
int inner_file_open(struct inner_file *self, size_t own, const sqlite3_io_methods *methods,
		    sqlite3_vfs *vfs, sqlite3_filename name, int flags, int *out_flags);

int inner_file_close(sqlite3_file *file);
int inner_file_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at);
int inner_file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at);
int inner_file_truncate(sqlite3_file *file, sqlite3_int64 size);
int inner_file_sync(sqlite3_file *file, int flags);
int inner_file_size(sqlite3_file *file, sqlite3_int64 *out_size);
int inner_file_lock(sqlite3_file *file, int level);
int inner_file_unlock(sqlite3_file *file, int level);
int inner_file_check_reserved(sqlite3_file *file, int *out_reserved);
int inner_file_control(sqlite3_file *file, int what, void *argument);
int inner_file_sector_size(sqlite3_file *file);
int inner_file_characteristics(sqlite3_file *file);

#endif
