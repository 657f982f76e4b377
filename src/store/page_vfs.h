/* store/page_vfs.h -- a checksum in every page of a database.
 *
 * A VFS over another one.  The last 8 bytes of each page of a database file are a checksum of the
 * page's number and of the bytes before them: made when the page is written to the file, compared
 * when it is read from there.  A page that is not what was written is SQLITE_IOERR_DATA, and
 * page_vfs_damage() names it.  The WAL has checksums of its own, which SQLite compares when it
 * recovers; it is a log_file.  Every other file is the other VFS's.
 *
 * SQLite must be told to leave the 8 bytes free before the first page is written:
 * SQLITE_FCNTL_RESERVE_BYTES.  A file whose pages have none yet gets them by a VACUUM on a
 * connection that was told so by page_vfs_adopt().  Decision 0013.
 *
 * A page of zeros is let through: a page that was taken and given back in one transaction is never
 * written, and SQLite reads it when it copies a file.
 */
#ifndef STORE_PAGE_VFS_H
#define STORE_PAGE_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum { PAGE_BYTES = 4096, PAGE_RESERVED = 8 };

struct page_vfs {
	sqlite3_vfs vfs; /* first: SQLite's */
	int log_step;    /* bytes by which a log grows, at most LIMIT_LOG_STEP_BYTES */
};

/* The one over the system's VFS; registered when it is first asked for. */
const char *page_vfs_name(void);
/* Another one; it and `name` must live until it is unregistered. */
void page_vfs_fill(struct page_vfs *self, const char *name, sqlite3_vfs *base, int log_step);

/* This connection compares nothing: its file's pages have no checksums yet. */
int page_vfs_adopt(sqlite3 *database);
/* The number of the last page of this connection that was not whole; 0 when there was none. */
uint32_t page_vfs_damage(sqlite3 *database);

#endif
