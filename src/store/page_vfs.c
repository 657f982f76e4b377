/* store/page_vfs.c -- adds and verifies page checksums.
 *
 * Everything but the bytes of pages is passed to the base VFS, and a WAL is opened as a log_file.
 * The checksum consists of two sums that feed each other, as in SQLite's WAL.  Each step is
 * reversible when its eight bytes are known, so two pages that differ only within eight bytes have
 * different checksums.
 */
#include "store/page_vfs.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "store/inner_file.h"
#include "store/log_file.h"

enum { SKIP_CHECKS = 0x42617401, DAMAGE = 0x42617402 }; /* our file controls */

struct page_file {
	struct inner_file file; /* first: SQLite's file */
	bool skips_checks;
	uint32_t damage;
};

static struct page_file *self_of(sqlite3_file *file)
{
	return (struct page_file *)file;
}

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static void word_put(uint8_t *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> (8 * i));
}

static void checksum(const uint8_t *page, uint32_t number, uint8_t out[PAGE_RESERVED])
{
	uint32_t one = number, two = ~number;
	for (size_t at = 0; at < PAGE_BYTES - PAGE_RESERVED; at += 8) {
		one += word_at(page + at) + two;
		two += word_at(page + at + 4) + one;
	}
	word_put(out, one);
	word_put(out + 4, two);
}

static bool is_page(int size, sqlite3_int64 at)
{
	return size == PAGE_BYTES && at % PAGE_BYTES == 0;
}

static uint32_t number_of(sqlite3_int64 at)
{
	return (uint32_t)(at / PAGE_BYTES) + 1;
}

static bool is_whole(const uint8_t *page, uint32_t number)
{
	static const uint8_t zeros[PAGE_BYTES];
	uint8_t expected[PAGE_RESERVED];
	checksum(page, number, expected);
	return memcmp(page + PAGE_BYTES - PAGE_RESERVED, expected, PAGE_RESERVED) == 0 ||
	       memcmp(page, zeros, PAGE_BYTES) == 0;
}

/* ---- bytes --------------------------------------------------------------------------- */

static int file_read(sqlite3_file *file, void *out, int size, sqlite3_int64 at)
{
	struct page_file *self = self_of(file);
	int code = inner_file_read(file, out, size, at);
	if (code != SQLITE_OK || self->skips_checks || !is_page(size, at) ||
	    is_whole(out, number_of(at)))
		return code;
	self->damage = number_of(at);
	return SQLITE_IOERR_DATA;
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	if (!is_page(size, at))
		return inner_file_write(file, bytes, size, at);
	uint8_t page[PAGE_BYTES];
	memcpy(page, bytes, PAGE_BYTES - PAGE_RESERVED);
	checksum(page, number_of(at), page + PAGE_BYTES - PAGE_RESERVED);
	return inner_file_write(file, page, size, at);
}

static int file_control(sqlite3_file *file, int what, void *argument)
{
	struct page_file *self = self_of(file);
	if (what == SKIP_CHECKS)
		self->skips_checks = true;
	else if (what == DAMAGE)
		*(uint32_t *)argument = self->damage;
	else
		return inner_file_control(file, what, argument);
	return SQLITE_OK;
}

/* ---- passed to the base VFS ---------------------------------------------------------- */

static int shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **out)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xShmMap(inner, region, size, extend, out);
}

static int shm_lock(sqlite3_file *file, int first, int count, int flags)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xShmLock(inner, first, count, flags);
}

static void shm_barrier(sqlite3_file *file)
{
	sqlite3_file *inner = inner_file_of(file);
	inner->pMethods->xShmBarrier(inner);
}

static int shm_unmap(sqlite3_file *file, int forget)
{
	sqlite3_file *inner = inner_file_of(file);
	return inner->pMethods->xShmUnmap(inner, forget);
}

/* Version 2 has no xFetch: a memory-mapped page would not pass file_read(). */
static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = inner_file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = inner_file_truncate,
	.xSync = inner_file_sync,
	.xFileSize = inner_file_size,
	.xLock = inner_file_lock,
	.xUnlock = inner_file_unlock,
	.xCheckReservedLock = inner_file_check_reserved,
	.xFileControl = file_control,
	.xSectorSize = inner_file_sector_size,
	.xDeviceCharacteristics = inner_file_characteristics,
	.xShmMap = shm_map,
	.xShmLock = shm_lock,
	.xShmBarrier = shm_barrier,
	.xShmUnmap = shm_unmap,
};

/* ---- the VFS ------------------------------------------------------------------------- */

static sqlite3_vfs *base_of(sqlite3_vfs *vfs)
{
	return vfs->pAppData;
}

/* The size of our part of a file, before that of the base VFS; enough for both kinds of file. */
static int own_bytes(void)
{
	enum { ALIGNED = _Alignof(max_align_t) };
	int most = log_file_bytes();
	if (most < (int)sizeof(struct page_file))
		most = (int)sizeof(struct page_file);
	return (most + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
		    int *out_flags)
{
	sqlite3_vfs *base = base_of(vfs);
	if (flags & SQLITE_OPEN_WAL)
		return log_file_open(file, own_bytes(), ((struct page_vfs *)vfs)->log_step, base,
				     name, flags, out_flags);
	if (!(flags & SQLITE_OPEN_MAIN_DB))
		return base->xOpen(base, name, file, flags, out_flags);
	struct page_file *self = self_of(file);
	*self = (struct page_file){ 0 };
	return inner_file_open(&self->file, (size_t)own_bytes(), &methods, base, name, flags,
			       out_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
	return base_of(vfs)->xDelete(base_of(vfs), name, sync_folder);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out_there)
{
	return base_of(vfs)->xAccess(base_of(vfs), name, flags, out_there);
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out_name)
{
	return base_of(vfs)->xFullPathname(base_of(vfs), name, size, out_name);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *out)
{
	return base_of(vfs)->xRandomness(base_of(vfs), size, out);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	return base_of(vfs)->xSleep(base_of(vfs), us);
}

static int vfs_time_days(sqlite3_vfs *vfs, double *out_days)
{
	return base_of(vfs)->xCurrentTime(base_of(vfs), out_days);
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *out_ms)
{
	return base_of(vfs)->xCurrentTimeInt64(base_of(vfs), out_ms);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *out)
{
	return base_of(vfs)->xGetLastError(base_of(vfs), size, out);
}

void page_vfs_fill(struct page_vfs *self, const char *name, sqlite3_vfs *base, int log_step)
{
	require(base != NULL && base->iVersion >= 2);
	require(log_step > 0 && log_step <= LIMIT_LOG_STEP_BYTES);
	self->log_step = log_step;
	self->vfs = (sqlite3_vfs){ .iVersion = 2,
				   .szOsFile = own_bytes() + base->szOsFile,
				   .mxPathname = base->mxPathname,
				   .zName = name,
				   .pAppData = base,
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

static const char system_name[] = "baton-pages";

/* SQLite keeps a pointer to the VFS until the process ends. */
static void system_register(void)
{
	static struct page_vfs pages;
	page_vfs_fill(&pages, system_name, sqlite3_vfs_find(NULL), LIMIT_LOG_STEP_BYTES);
	int code = sqlite3_vfs_register(&pages.vfs, 0);
	require(code == SQLITE_OK);
}

const char *page_vfs_name(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, system_register);
	return system_name;
}

int page_vfs_skip_checks(sqlite3 *database)
{
	return sqlite3_file_control(database, "main", SKIP_CHECKS, NULL);
}

uint32_t page_vfs_damage(sqlite3 *database)
{
	uint32_t page = 0;
	return sqlite3_file_control(database, "main", DAMAGE, &page) == SQLITE_OK ? page : 0;
}
