/* store/page_vfs.h -- an SQLite VFS that adds a checksum to every page of a database.
 *
 * A VFS on top of a base VFS.  The last 8 bytes of each page of a database file are a checksum over
 * the page's number and content.  It is computed when the page is written to the file and verified
 * when the page is read from it.  A mismatch is the error SQLITE_IOERR_DATA, and page_vfs_damage()
 * returns the number of the page.  The WAL has checksums of its own; it is opened as a log_file.  All
 * other files are passed to the base VFS.
 *
 * SQLite must be told to leave the 8 bytes free before the first page is written:
 * SQLITE_FCNTL_RESERVE_BYTES.  A file whose pages have no checksums gets them by a VACUUM on a
 * connection for which page_vfs_skip_checks() was called.  Decision 0013.
 *
 * A page of zeros is accepted: SQLite never writes a page that was allocated and freed in one
 * transaction, and reads it when it copies a file.
 */
#ifndef STORE_PAGE_VFS_H
#define STORE_PAGE_VFS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum { PAGE_BYTES = 4096, PAGE_RESERVED = 8 };

struct page_vfs {
	sqlite3_vfs vfs; /* first: SQLite uses it */
	int log_step;    /* a WAL grows by so many bytes, at most LIMIT_LOG_STEP_BYTES */
};

/* The name of the VFS on top of the operating system's; the first call registers it. */
const char *page_vfs_name(void);
/* Initialises a VFS on top of `base`.  It and `name` must live until it is unregistered. */
void page_vfs_fill(struct page_vfs *self, const char *name, sqlite3_vfs *base, int log_step);

/* Stops verifying on this connection, because the pages of its file have no checksums yet. */
int page_vfs_skip_checks(sqlite3 *database);
/* The number of the last damaged page that this connection has read; 0 = none. */
uint32_t page_vfs_damage(sqlite3 *database);

#endif
