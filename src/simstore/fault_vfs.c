/* simstore/fault_vfs.c -- the VFS of the fault disk: files, locks, and the WAL index.
 *
 * Locks and shared memory behave as within one process of the unix VFS, because the writer and its
 * readers are connections of one process.  After the power has failed, every operation on bytes
 * fails; locks can still be released, so that connections can be closed.
 */
#include "simstore/fault_disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct handle {
	sqlite3_file base;
	struct fault_disk *disk;
	struct fault_file *file;
	int level; /* SQLITE_LOCK_ */
	bool syncs_folder; /* with its next sync, as the unix VFS syncs the folder of a new journal or WAL */
	bool dies_with_us; /* a temporary file: deleted when it is closed */
	bool mapped;
	unsigned shm_shared, shm_exclusive; /* bit sets of lock slots */
};

static struct handle *handle_of(sqlite3_file *file)
{
	return (struct handle *)file;
}

/* ---- bytes --------------------------------------------------------------------------- */

static int read_bytes(struct handle *handle, void *out, size_t size, size_t at)
{
	const struct fault_file *file = handle->file;
	if (handle->disk->pulled || fault_strikes(handle->disk, FAULT_READ))
		return SQLITE_IOERR_READ;
	size_t there = at < file->written_size ? file->written_size - at : 0;
	if (there > size)
		there = size;
	if (there > 0)
		memcpy(out, file->written + at, there);
	if (there == size)
		return SQLITE_OK;
	memset((char *)out + there, 0, size - there);
	return SQLITE_IOERR_SHORT_READ;
}

static int file_read(sqlite3_file *base, void *out, int size, sqlite3_int64 at)
{
	struct handle *handle = handle_of(base);
	fault_lock(handle->disk);
	int code = read_bytes(handle, out, (size_t)size, (size_t)at);
	fault_unlock(handle->disk);
	return code;
}

static int write_piece(struct handle *handle, const void *bytes, size_t size, size_t at)
{
	struct fault_disk *disk = handle->disk;
	if (disk->pulled || fault_strikes(disk, FAULT_WRITE))
		return SQLITE_IOERR_WRITE;
	if (fault_strikes(disk, FAULT_FULL) || fault_is_full(disk, handle->file, at + size))
		return SQLITE_FULL;
	bool cut = fault_strikes(disk, FAULT_SHORT);
	bool last = fault_change(disk);
	fault_file_write(handle->file, bytes, cut ? size / 2 : size, at);
	if (last)
		return SQLITE_IOERR_WRITE;
	return cut ? SQLITE_FULL : SQLITE_OK;
}

/* A large write is many small ones: each can fail, and the power can fail between them. */
static int write_bytes(struct handle *handle, const void *bytes, size_t size, size_t at)
{
	enum { PIECE = 4 * FAULT_SECTOR };
	int code = SQLITE_OK;
	for (size_t done = 0; done < size && code == SQLITE_OK; done += PIECE) {
		size_t piece = size - done < PIECE ? size - done : PIECE;
		code = write_piece(handle, (const char *)bytes + done, piece, at + done);
	}
	return code;
}

static int file_write(sqlite3_file *base, const void *bytes, int size, sqlite3_int64 at)
{
	struct handle *handle = handle_of(base);
	fault_lock(handle->disk);
	int code = write_bytes(handle, bytes, (size_t)size, (size_t)at);
	fault_unlock(handle->disk);
	return code;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
	struct handle *handle = handle_of(base);
	int code = SQLITE_IOERR_TRUNCATE;
	fault_lock(handle->disk);
	if (!handle->disk->pulled) {
		bool last = fault_change(handle->disk);
		fault_file_truncate(handle->file, (size_t)size);
		code = last ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
	}
	fault_unlock(handle->disk);
	return code;
}

static int file_sync(sqlite3_file *base, int flags)
{
	struct handle *handle = handle_of(base);
	struct fault_disk *disk = handle->disk;
	int code = SQLITE_IOERR_FSYNC;
	(void)flags;
	fault_lock(disk);
	disk->syncs++;
	if (!disk->pulled && fault_strikes(disk, FAULT_SYNC)) {
		fault_file_sync_failed(handle->file);
	} else if (!fault_change(disk)) {
		fault_file_sync(handle->file);
		if (handle->syncs_folder)
			fault_folder_sync(disk);
		handle->syncs_folder = false;
		code = SQLITE_OK;
	}
	fault_unlock(disk);
	return code;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *out_size)
{
	struct handle *handle = handle_of(base);
	fault_lock(handle->disk);
	*out_size = (sqlite3_int64)handle->file->written_size;
	fault_unlock(handle->disk);
	return SQLITE_OK;
}

/* ---- locks --------------------------------------------------------------------------- */

static bool others(const void *holder, const struct handle *handle)
{
	return holder != NULL && holder != handle;
}

static int lock_more(struct handle *handle, int level)
{
	struct fault_file *file = handle->file;
	if (handle->level >= level)
		return SQLITE_OK;
	if (handle->level == SQLITE_LOCK_NONE) {
		if (others(file->pending, handle) || others(file->exclusive, handle))
			return SQLITE_BUSY;
		file->shared++;
		handle->level = SQLITE_LOCK_SHARED;
	}
	if (level == SQLITE_LOCK_RESERVED) {
		if (others(file->reserved, handle))
			return SQLITE_BUSY;
		file->reserved = handle;
		handle->level = SQLITE_LOCK_RESERVED;
	}
	if (level == SQLITE_LOCK_EXCLUSIVE) {
		if (others(file->pending, handle))
			return SQLITE_BUSY;
		file->pending = handle;
		handle->level = SQLITE_LOCK_PENDING;
		if (file->shared > 1)
			return SQLITE_BUSY;
		file->exclusive = handle;
		handle->level = SQLITE_LOCK_EXCLUSIVE;
	}
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level)
{
	struct handle *handle = handle_of(base);
	fault_lock(handle->disk);
	int code = lock_more(handle, level);
	fault_unlock(handle->disk);
	return code;
}

static int file_unlock(sqlite3_file *base, int level)
{
	struct handle *handle = handle_of(base);
	struct fault_file *file = handle->file;
	fault_lock(handle->disk);
	if (handle->level > level) {
		if (file->reserved == handle)
			file->reserved = NULL;
		if (file->pending == handle)
			file->pending = NULL;
		if (file->exclusive == handle)
			file->exclusive = NULL;
		if (level == SQLITE_LOCK_NONE)
			file->shared--;
		handle->level = level;
	}
	fault_unlock(handle->disk);
	return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *base, int *out_reserved)
{
	struct handle *handle = handle_of(base);
	fault_lock(handle->disk);
	*out_reserved = handle->file->reserved != NULL || handle->file->exclusive != NULL;
	fault_unlock(handle->disk);
	return SQLITE_OK;
}

/* ---- the WAL's index ----------------------------------------------------------------- */

static int shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **out)
{
	struct handle *handle = handle_of(base);
	struct fault_file *file = handle->file;
	require(region >= 0 && region < FAULT_SHM_REGIONS);
	fault_lock(handle->disk);
	if (!handle->mapped) {
		handle->mapped = true;
		file->mapped++;
	}
	if (file->regions[region] == NULL && extend) {
		file->regions[region] = calloc(1, (size_t)size);
		require(file->regions[region] != NULL);
	}
	*out = file->regions[region];
	fault_unlock(handle->disk);
	return SQLITE_OK;
}

static int shm_take(struct handle *handle, int first, int count, bool exclusive)
{
	struct fault_file *file = handle->file;
	for (int i = first; i < first + count; i++) {
		unsigned others_shared = file->shm_shared[i];
		if (handle->shm_shared & 1U << i)
			others_shared--;
		if (others(file->shm_exclusive[i], handle) || (exclusive && others_shared > 0))
			return SQLITE_BUSY;
	}
	for (int i = first; i < first + count; i++) {
		if (exclusive) {
			file->shm_exclusive[i] = handle;
			handle->shm_exclusive |= 1U << i;
		} else if (!(handle->shm_shared & 1U << i)) {
			file->shm_shared[i]++;
			handle->shm_shared |= 1U << i;
		}
	}
	return SQLITE_OK;
}

static void shm_release(struct handle *handle, int first, int count)
{
	struct fault_file *file = handle->file;
	for (int i = first; i < first + count; i++) {
		if (handle->shm_exclusive & 1U << i)
			file->shm_exclusive[i] = NULL;
		if (handle->shm_shared & 1U << i)
			file->shm_shared[i]--;
		handle->shm_exclusive &= ~(1U << i);
		handle->shm_shared &= ~(1U << i);
	}
}

static int shm_lock(sqlite3_file *base, int first, int count, int flags)
{
	struct handle *handle = handle_of(base);
	int code = SQLITE_OK;
	fault_lock(handle->disk);
	if (flags & SQLITE_SHM_UNLOCK)
		shm_release(handle, first, count);
	else
		code = shm_take(handle, first, count, (flags & SQLITE_SHM_EXCLUSIVE) != 0);
	fault_unlock(handle->disk);
	return code;
}

static void shm_barrier(sqlite3_file *base)
{
	struct handle *handle = handle_of(base);
	fault_lock(handle->disk);
	fault_unlock(handle->disk);
}

static void shm_leave(struct handle *handle)
{
	if (!handle->mapped)
		return;
	shm_release(handle, 0, SQLITE_SHM_NLOCK);
	handle->mapped = false;
	/* The next connection starts with empty shared memory, as with the unix VFS. */
	if (--handle->file->mapped == 0)
		fault_file_unmap(handle->file);
}

static int shm_unmap(sqlite3_file *base, int forget)
{
	struct handle *handle = handle_of(base);
	(void)forget;
	fault_lock(handle->disk);
	shm_leave(handle);
	fault_unlock(handle->disk);
	return SQLITE_OK;
}

/* ---- the rest of a file --------------------------------------------------------------- */

static int file_close(sqlite3_file *base)
{
	struct handle *handle = handle_of(base);
	file_unlock(base, SQLITE_LOCK_NONE);
	fault_lock(handle->disk);
	shm_leave(handle);
	handle->file->handles--;
	if (handle->dies_with_us)
		fault_file_unlink(handle->disk, handle->file);
	fault_unlock(handle->disk);
	return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int what, void *argument)
{
	(void)base;
	(void)what;
	(void)argument;
	return SQLITE_NOTFOUND;
}

/* The same values as the unix VFS, which the program uses. */
static int file_sector_size(sqlite3_file *base)
{
	(void)base;
	return 4096;
}

static int file_characteristics(sqlite3_file *base)
{
	(void)base;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_check_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
	.xShmMap = shm_map,
	.xShmLock = shm_lock,
	.xShmBarrier = shm_barrier,
	.xShmUnmap = shm_unmap,
};

/* ---- the folder ---------------------------------------------------------------------- */

static struct fault_disk *disk_of(sqlite3_vfs *vfs)
{
	return vfs->pAppData;
}

static int open_named(struct fault_disk *disk, const char *name, struct handle *handle, int flags)
{
	if (disk->pulled)
		return SQLITE_CANTOPEN;
	struct fault_file *file = fault_file_find(disk, name);
	if (file == NULL || !file->linked) {
		if (!(flags & SQLITE_OPEN_CREATE))
			return SQLITE_CANTOPEN;
		bool last = fault_change(disk);
		file = fault_file_make(disk, name);
		if (last)
			return SQLITE_CANTOPEN;
	}
	/* Also for an existing file: its creator may have died before it synced the folder. */
	handle->syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 &&
			       (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
	file->handles++;
	handle->disk = disk;
	handle->file = file;
	handle->dies_with_us = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
	handle->base.pMethods = &methods;
	return SQLITE_OK;
}

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *base, int flags,
		    int *out_flags)
{
	struct fault_disk *disk = disk_of(vfs);
	struct handle *handle = handle_of(base);
	*handle = (struct handle){ 0 };
	fault_lock(disk);
	if (name == NULL)
		name = str_format(&disk->names, "temporary-%llu",
				  (unsigned long long)++disk->temporaries)
			       .at;
	int code = open_named(disk, name, handle, flags);
	fault_unlock(disk);
	if (out_flags != NULL)
		*out_flags = flags;
	return code;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
	struct fault_disk *disk = disk_of(vfs);
	int code = SQLITE_OK;
	fault_lock(disk);
	struct fault_file *file = fault_file_find(disk, name);
	if (disk->pulled) {
		code = SQLITE_IOERR_DELETE;
	} else if (file == NULL || !file->linked) {
		code = SQLITE_IOERR_DELETE_NOENT;
	} else {
		bool last = fault_change(disk);
		fault_file_unlink(disk, file);
		if (last)
			code = SQLITE_IOERR_DELETE;
		else if (sync_folder)
			fault_folder_sync(disk);
	}
	fault_unlock(disk);
	return code;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out_there)
{
	struct fault_disk *disk = disk_of(vfs);
	(void)flags;
	fault_lock(disk);
	const struct fault_file *file = fault_file_find(disk, name);
	/* An empty file does not exist, as with the unix VFS. */
	*out_there = file != NULL && file->linked && file->written_size > 0;
	fault_unlock(disk);
	return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out_name)
{
	(void)vfs;
	size_t length = strlen(name);
	if (length >= (size_t)size)
		return SQLITE_CANTOPEN;
	memcpy(out_name, name, length + 1);
	return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
	struct fault_disk *disk = disk_of(vfs);
	fault_lock(disk);
	for (int i = 0; i < size; i++)
		out[i] = (char)fault_roll(&disk->dice);
	fault_unlock(disk);
	return size;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	(void)vfs;
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);
	return real->xSleep(real, us);
}

/* The clock stands still. */
static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *out_ms)
{
	(void)vfs;
	*out_ms = INT64_C(212000000000000);
	return SQLITE_OK;
}

static int vfs_time_days(sqlite3_vfs *vfs, double *out_days)
{
	sqlite3_int64 ms;
	vfs_time(vfs, &ms);
	*out_days = (double)ms / 86400000.0;
	return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
	(void)vfs;
	(void)size;
	(void)out;
	return 0;
}

void fault_vfs_fill(struct fault_disk *disk)
{
	disk->vfs = (sqlite3_vfs){ .iVersion = 2,
				   .szOsFile = (int)sizeof(struct handle),
				   .mxPathname = FAULT_PATH - 1,
				   .zName = disk->vfs_name,
				   .pAppData = disk,
				   .xOpen = vfs_open,
				   .xDelete = vfs_delete,
				   .xAccess = vfs_access,
				   .xFullPathname = vfs_full_name,
				   .xRandomness = vfs_randomness,
				   .xSleep = vfs_sleep,
				   .xCurrentTime = vfs_time_days,
				   .xGetLastError = vfs_last_error,
				   .xCurrentTimeInt64 = vfs_time };
}
