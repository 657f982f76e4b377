/* store/store_sqlite_vfs.h -- the SQLite store on another VFS than the operating system's.
 *
 * For backends that are the SQLite store on a disk of their own, such as simstore/store_sim.c.  Such
 * a backend has its own open() and close() and shares the interfaces declared here.
 */
#ifndef STORE_STORE_SQLITE_VFS_H
#define STORE_STORE_SQLITE_VFS_H

#include "store/store.h"

extern const struct store_writer_ops store_sqlite_writer_ops;
extern const struct store_reader_ops store_sqlite_reader_ops;
extern const struct store_admin_ops store_sqlite_admin_ops;

/* Two VFSs must be registered: `vfs`, and one on top of it that adds checksums to pages (page_vfs.h)
 * and has the same name plus this suffix. */
#define STORE_SQLITE_PAGES "-pages"

/* vfs NULL: the operating system's.  Another VFS has no reserve until it is set. */
bool store_sqlite_open_on(const struct store_backend *backend, const char *vfs, const char *path,
			  struct store **out_store, struct error *error);
void store_sqlite_close(struct store *store);
bool store_sqlite_open_reader(struct store *store, struct store_reader **out_reader,
			      struct error *error);
void store_sqlite_close_reader(struct store_reader *reader);

/* The name of the VFS; NULL for the operating system's. */
const char *store_sqlite_vfs(const struct store *store);
/* Sets the size of the reserve and allocates it. */
void store_sqlite_set_reserve(struct store *store, size_t bytes);
/* Checkpoints when the WAL has grown by so many frames, instead of LIMIT_STORE_WAL_FRAMES. */
void store_sqlite_set_checkpoint(struct store *store, int frames);

#endif
