/* simstore/fault_disk.c -- the files of the fault disk: written and synced content, faults, crashes.
 *
 * The written and the synced content of a file are complete copies, because the files of tests are
 * small; a sector only records which of its bytes differ.  All random decisions of a crash come from
 * its seed, sector by sector in order, so that a crash can be repeated.
 */
#include "simstore/fault_disk.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A small step, so that the WAL grows often and crashes happen while it grows. */
enum { LOG_STEP = 16384 };

void fault_lock(const struct fault_disk *disk)
{
	pthread_mutex_lock(disk->lock);
}

void fault_unlock(const struct fault_disk *disk)
{
	pthread_mutex_unlock(disk->lock);
}

uint64_t fault_roll(uint64_t *dice)
{
	uint64_t mixed = *dice += UINT64_C(0x9e3779b97f4a7c15);
	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ (mixed >> 31);
}

/* ---- files --------------------------------------------------------------------------- */

static void *widened(void *bytes, size_t old, size_t new)
{
	char *larger = realloc(bytes, new);
	require(larger != NULL);
	memset(larger + old, 0, new - old);
	return larger;
}

static void reserve(struct fault_file *file, size_t size)
{
	if (size <= file->room)
		return;
	size_t room = file->room == 0 ? 16 * FAULT_SECTOR : file->room;
	while (room < size)
		room *= 2;
	file->written = widened(file->written, file->room, room);
	file->synced = widened(file->synced, file->room, room);
	file->sectors = widened(file->sectors, file->room / FAULT_SECTOR * sizeof(*file->sectors),
				room / FAULT_SECTOR * sizeof(*file->sectors));
	file->room = room;
}

static void touch(struct fault_file *file, size_t at, size_t end)
{
	while (at < end) {
		struct fault_sector *sector = &file->sectors[at / FAULT_SECTOR];
		size_t base = at - at % FAULT_SECTOR;
		uint16_t from = (uint16_t)(at - base);
		uint16_t to = (uint16_t)(end - base < FAULT_SECTOR ? end - base : FAULT_SECTOR);
		if (!sector->dirty)
			*sector = (struct fault_sector){ .dirty = true, .from = from, .to = to };
		sector->lost = false;
		sector->from = from < sector->from ? from : sector->from;
		sector->to = to > sector->to ? to : sector->to;
		at = base + FAULT_SECTOR;
	}
}

void fault_file_write(struct fault_file *file, const void *bytes, size_t size, size_t at)
{
	reserve(file, at + size);
	memcpy(file->written + at, bytes, size);
	touch(file, at, at + size);
	if (at + size > file->written_size)
		file->written_size = at + size;
}

void fault_file_truncate(struct fault_file *file, size_t size)
{
	reserve(file, size);
	if (size < file->written_size) {
		memset(file->written + size, 0, file->written_size - size);
		touch(file, size, file->written_size);
	}
	file->written_size = size;
}

void fault_file_sync(struct fault_file *file)
{
	for (size_t i = 0; i < file->room / FAULT_SECTOR; i++) {
		struct fault_sector *sector = &file->sectors[i];
		if (!sector->dirty || sector->lost)
			continue;
		memcpy(file->synced + i * FAULT_SECTOR, file->written + i * FAULT_SECTOR,
		       FAULT_SECTOR);
		sector->dirty = false;
	}
	file->synced_size = file->written_size;
}

void fault_file_sync_failed(struct fault_file *file)
{
	for (size_t i = 0; i < file->room / FAULT_SECTOR; i++)
		file->sectors[i].lost = file->sectors[i].dirty;
}

struct fault_file *fault_file_find(struct fault_disk *disk, const char *name)
{
	for (struct fault_file *file = disk->files; file != NULL; file = file->next)
		if (strcmp(file->name, name) == 0)
			return file;
	return NULL;
}

/* A file that is deleted and created again before the folder is synced: the disk still has the old
 * file. */
struct fault_file *fault_file_make(struct fault_disk *disk, const char *name)
{
	struct fault_file *file = fault_file_find(disk, name);
	if (file == NULL) {
		file = calloc(1, sizeof(*file));
		require(file != NULL);
		file->name = str_c(&disk->names, str_from_c(name));
		file->next = disk->files;
		disk->files = file;
	}
	file->linked = true;
	return file;
}

void fault_file_unlink(struct fault_disk *disk, struct fault_file *file)
{
	(void)disk;
	file->linked = false;
	fault_file_truncate(file, 0);
}

void fault_folder_sync(struct fault_disk *disk)
{
	for (struct fault_file *file = disk->files; file != NULL; file = file->next)
		file->linked_synced = file->linked;
}

void fault_file_unmap(struct fault_file *file)
{
	for (size_t i = 0; i < FAULT_SHM_REGIONS; i++) {
		free(file->regions[i]);
		file->regions[i] = NULL;
	}
}

static size_t used(const struct fault_disk *disk)
{
	size_t bytes = 0;
	for (const struct fault_file *file = disk->files; file != NULL; file = file->next)
		bytes += file->linked ? file->written_size : 0;
	return bytes;
}

bool fault_is_full(const struct fault_disk *disk, const struct fault_file *file, size_t size)
{
	return disk->limit > 0 && size > file->written_size &&
	       used(disk) + size - file->written_size > disk->limit;
}

/* ---- injected faults ------------------------------------------------------------------ */

void fault_disk_limit(struct fault_disk *disk, size_t bytes)
{
	fault_lock(disk);
	disk->limit = bytes;
	fault_unlock(disk);
}

size_t fault_disk_used(const struct fault_disk *disk)
{
	fault_lock(disk);
	size_t bytes = used(disk);
	fault_unlock(disk);
	return bytes;
}

bool fault_strikes(struct fault_disk *disk, enum fault_kind kind)
{
	struct fault_order *order = &disk->orders[kind];
	if (order->struck && order->sticky)
		return true;
	if (order->left == 0 || --order->left > 0)
		return false;
	order->struck = true;
	return true;
}

bool fault_change(struct fault_disk *disk)
{
	if (disk->pulled)
		return true;
	disk->changes++;
	if (disk->pull_left > 0 && --disk->pull_left == 0)
		disk->pulled = true;
	return disk->pulled;
}

void fault_disk_order(struct fault_disk *disk, enum fault_kind kind, uint64_t nth, bool sticky)
{
	fault_lock(disk);
	disk->orders[kind] = (struct fault_order){ .left = nth, .sticky = sticky };
	fault_unlock(disk);
}

bool fault_disk_heal(struct fault_disk *disk)
{
	bool struck = false;
	fault_lock(disk);
	for (size_t i = 0; i < FAULT_KINDS; i++) {
		struck = struck || disk->orders[i].struck;
		disk->orders[i] = (struct fault_order){ 0 };
	}
	fault_unlock(disk);
	return struck;
}

void fault_disk_pull_at(struct fault_disk *disk, uint64_t nth)
{
	fault_lock(disk);
	disk->pull_left = nth;
	disk->pulled = nth == 0;
	fault_unlock(disk);
}

bool fault_disk_pulled(const struct fault_disk *disk)
{
	fault_lock(disk);
	bool pulled = disk->pulled;
	fault_unlock(disk);
	return pulled;
}

uint64_t fault_disk_changes(const struct fault_disk *disk)
{
	fault_lock(disk);
	uint64_t changes = disk->changes;
	fault_unlock(disk);
	return changes;
}

uint64_t fault_disk_syncs(const struct fault_disk *disk)
{
	fault_lock(disk);
	uint64_t syncs = disk->syncs;
	fault_unlock(disk);
	return syncs;
}

/* ---- crashes ------------------------------------------------------------------------- */

static bool survives(enum fault_fate fate, uint64_t *dice)
{
	return fate == FAULT_KEEP || (fate != FAULT_DROP && fault_roll(dice) % 2 == 0);
}

/* Makes the disk's content the written content. */
static void settle_sector(struct fault_file *file, size_t index, enum fault_fate fate,
			  uint64_t *dice)
{
	const struct fault_sector *sector = &file->sectors[index];
	uint8_t *written = file->written + index * FAULT_SECTOR;
	const uint8_t *synced = file->synced + index * FAULT_SECTOR;
	if (fate == FAULT_MIXED)
		fate = (enum fault_fate)(fault_roll(dice) % FAULT_MIXED);
	size_t from = sector->from;
	if (fate == FAULT_KEEP)
		return;
	if (fate == FAULT_TEAR)
		from += fault_roll(dice) % (uint64_t)(sector->to - sector->from + 1);
	if (fate == FAULT_GARBLE)
		for (size_t i = from; i < sector->to; i++)
			written[i] = (uint8_t)fault_roll(dice);
	else
		memcpy(written + from, synced + from, sector->to - from);
}

static size_t settle_size(const struct fault_file *file, enum fault_fate fate, uint64_t *dice)
{
	size_t low = file->written_size, high = file->synced_size;
	if (fate == FAULT_KEEP || low == high)
		return file->written_size;
	if (fate == FAULT_DROP)
		return file->synced_size;
	if (low > high) {
		size_t swapped = low;
		low = high;
		high = swapped;
	}
	switch (fault_roll(dice) % 3) {
	case 0:
		return low;
	case 1:
		return high;
	}
	return low + (size_t)(fault_roll(dice) % (high - low + 1));
}

static void settle_file(struct fault_file *file, enum fault_fate fate, uint64_t *dice)
{
	if (file->linked != file->linked_synced && !survives(fate, dice)) {
		file->linked = file->linked_synced;
		/* The file that the disk has under this name comes back, if there is one. */
		fate = FAULT_DROP;
	}
	size_t size = file->linked ? settle_size(file, fate, dice) : 0;
	for (size_t i = 0; i < file->room / FAULT_SECTOR; i++)
		if (file->sectors[i].dirty)
			settle_sector(file, i, fate, dice);
	reserve(file, size);
	if (file->room > size)
		memset(file->written + size, 0, file->room - size);
	file->written_size = size;
}

static void restart(struct fault_disk *disk)
{
	for (struct fault_file *file = disk->files; file != NULL; file = file->next) {
		require(file->handles == 0);
		fault_file_unmap(file);
		file->shared = file->mapped = 0;
		file->reserved = file->pending = file->exclusive = NULL;
		memset(file->shm_shared, 0, sizeof(file->shm_shared));
		memset((void *)file->shm_exclusive, 0, sizeof(file->shm_exclusive));
	}
	disk->pulled = false;
	disk->pull_left = 0;
}

void fault_disk_lose_power(struct fault_disk *disk, enum fault_fate fate, uint64_t seed)
{
	uint64_t dice = seed;
	fault_lock(disk);
	restart(disk);
	for (struct fault_file *file = disk->files; file != NULL; file = file->next) {
		settle_file(file, fate, &dice);
		file->linked_synced = file->linked;
		file->synced_size = file->written_size;
		if (file->room == 0)
			continue;
		memcpy(file->synced, file->written, file->room);
		memset(file->sectors, 0, file->room / FAULT_SECTOR * sizeof(*file->sectors));
	}
	fault_unlock(disk);
}

void fault_disk_lose_process(struct fault_disk *disk)
{
	fault_lock(disk);
	restart(disk);
	fault_unlock(disk);
}

/* ---- inspection and damage ------------------------------------------------------------ */

static struct fault_file *file_ending(const struct fault_disk *disk, const char *ending)
{
	for (struct fault_file *file = disk->files; file != NULL; file = file->next) {
		size_t length = strlen(file->name), tail = strlen(ending);
		bool side = strchr(file->name, '-') != NULL;
		if (tail == 0 ? !side && file->linked
			      : length > tail && strcmp(file->name + length - tail, ending) == 0)
			return file;
	}
	return NULL;
}

size_t fault_disk_size(const struct fault_disk *disk, const char *ending)
{
	fault_lock(disk);
	const struct fault_file *file = file_ending(disk, ending);
	size_t size = file != NULL && file->linked ? file->written_size : 0;
	fault_unlock(disk);
	return size;
}

void fault_disk_read(const struct fault_disk *disk, const char *ending, size_t at, void *out,
		     size_t size)
{
	fault_lock(disk);
	const struct fault_file *file = file_ending(disk, ending);
	require(file != NULL && at + size <= file->written_size);
	memcpy(out, file->written + at, size);
	fault_unlock(disk);
}

void fault_disk_flip(struct fault_disk *disk, const char *ending, size_t at, unsigned bit)
{
	fault_lock(disk);
	struct fault_file *file = file_ending(disk, ending);
	require(file != NULL && at < file->written_size && bit < 8);
	file->written[at] = (uint8_t)(file->written[at] ^ 1U << bit);
	file->synced[at] = file->written[at];
	fault_unlock(disk);
}

void fault_disk_cut(struct fault_disk *disk, const char *ending, size_t size)
{
	fault_lock(disk);
	struct fault_file *file = file_ending(disk, ending);
	require(file != NULL && size <= file->written_size);
	fault_file_truncate(file, size);
	fault_file_sync(file);
	fault_unlock(disk);
}

/* ---- the disk itself ------------------------------------------------------------------ */

struct fault_disk *fault_disk_new(void)
{
	static atomic_uint numbers;
	struct fault_disk *disk = calloc(1, sizeof(*disk));
	require(disk != NULL && pthread_mutex_init(&disk->mutex, NULL) == 0);
	disk->lock = &disk->mutex;
	disk->holders = 1;
	disk->vfs_name = str_format(&disk->names, "fault-%u", atomic_fetch_add(&numbers, 1) + 1).at;
	fault_vfs_fill(disk);
	page_vfs_fill(&disk->pages, str_format(&disk->names, "%s-pages", disk->vfs_name).at,
		      &disk->vfs, LOG_STEP);
	int code = sqlite3_vfs_register(&disk->vfs, 0) | sqlite3_vfs_register(&disk->pages.vfs, 0);
	require(code == SQLITE_OK);
	return disk;
}

void fault_disk_hold(struct fault_disk *disk)
{
	fault_lock(disk);
	disk->holders++;
	fault_unlock(disk);
}

void fault_disk_drop(struct fault_disk *disk)
{
	fault_lock(disk);
	bool last = --disk->holders == 0;
	fault_unlock(disk);
	if (!last)
		return;
	sqlite3_vfs_unregister(&disk->vfs);
	sqlite3_vfs_unregister(&disk->pages.vfs);
	while (disk->files != NULL) {
		struct fault_file *file = disk->files;
		require(file->handles == 0);
		disk->files = file->next;
		fault_file_unmap(file);
		free(file->written);
		free(file->synced);
		free(file->sectors);
		free(file);
	}
	arena_done(&disk->names);
	pthread_mutex_destroy(&disk->mutex);
	free(disk);
}

const char *fault_disk_vfs(const struct fault_disk *disk)
{
	return disk->vfs_name;
}

struct fault_disk *fault_disk_of(const char *vfs)
{
	sqlite3_vfs *found = sqlite3_vfs_find(vfs);
	require(found != NULL);
	return found->pAppData;
}
