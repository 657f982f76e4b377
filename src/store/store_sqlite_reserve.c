/* store/store_sqlite_reserve.c -- disk space reserved for urgent appends.
 *
 * The reserve is a file next to the database whose blocks are allocated.  When a batch with urgent
 * appends finds the disk full, a slice of the file is released and the urgent appends are tried
 * again.  A later commit that finds space without the reserve refills it.  An attempt is cheap but
 * not free, so the number of commits between two attempts doubles with each failure.
 */
#include "store/store_sqlite_write.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

static const char *name_of(const struct store_sqlite *self, struct arena *arena)
{
	return str_format(arena, "%s-reserve", self->path).at;
}

/* ---- a file of the operating system ------------------------------------------------------- */

/* All or nothing: a file that is allocated in part has taken the last free space of the disk. */
static bool file_make(const char *name, size_t bytes)
{
	int descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (descriptor < 0)
		return false;
	bool made = posix_fallocate(descriptor, 0, (off_t)bytes) == 0;
	close(descriptor);
	if (!made)
		unlink(name);
	return made;
}

static bool file_cut(const char *name, size_t bytes)
{
	return bytes > 0 ? truncate(name, (off_t)bytes) == 0 : unlink(name) == 0;
}

/* ---- a file of another VFS ---------------------------------------------------------------- */

static bool disk_write(sqlite3_file *file, size_t bytes)
{
	static const char zeros[4096];
	int code = SQLITE_OK;
	for (size_t at = 0; at < bytes && code == SQLITE_OK; at += sizeof(zeros))
		code = file->pMethods->xWrite(file, zeros, sizeof(zeros), (sqlite3_int64)at);
	return code == SQLITE_OK;
}

/* Writes `bytes` zeros, or with `cut` truncates the file to `bytes`. */
static bool disk_set(const struct store_sqlite *self, const char *name, size_t bytes, bool cut)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(self->vfs);
	sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
	require(file != NULL);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_SUBJOURNAL;
	bool set = vfs->xOpen(vfs, name, file, flags, NULL) == SQLITE_OK;
	if (set) {
		set = cut ? file->pMethods->xTruncate(file, (sqlite3_int64)bytes) == SQLITE_OK
			  : disk_write(file, bytes);
		file->pMethods->xClose(file);
	}
	free(file);
	if (!set && !cut)
		vfs->xDelete(vfs, name, 0);
	return set;
}

/* ---- the reserve -------------------------------------------------------------------------- */

void store_sqlite_reserve_make(struct store_sqlite *self)
{
	AUTO(arena) arena = { 0 };
	if (self->reserve_bytes == 0)
		return;
	const char *name = name_of(self, &arena);
	bool made = self->vfs == NULL ? file_make(name, self->reserve_bytes)
				      : disk_set(self, name, self->reserve_bytes, false);
	self->reserve = made ? self->reserve_bytes : 0;
	self->reserve_wait = made ? 0 : 2 * self->reserve_wait + 1;
	self->reserve_waited = 0;
}

bool store_sqlite_reserve_spend(struct store_sqlite *self)
{
	AUTO(arena) arena = { 0 };
	if (self->reserve == 0)
		return false;
	size_t slice =
		self->reserve_bytes / (LIMIT_STORE_RESERVE_BYTES / LIMIT_STORE_RESERVE_SLICE);
	size_t left = self->reserve > slice ? self->reserve - slice : 0;
	const char *name = name_of(self, &arena);
	bool cut = self->vfs == NULL ? file_cut(name, left) : disk_set(self, name, left, true);
	self->reserve = left;
	return cut;
}

void store_sqlite_reserve_refill(struct store_sqlite *self)
{
	if (self->reserve < self->reserve_bytes && ++self->reserve_waited > self->reserve_wait)
		store_sqlite_reserve_make(self);
}
