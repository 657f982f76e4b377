/* store/fault_disk.h -- what the disk (fault_disk.c) and its VFS (fault_vfs.c) share; nobody
 * else's.
 *
 * The functions here want the disk locked, except fault_lock() itself.
 */
#ifndef STORE_FAULT_DISK_H
#define STORE_FAULT_DISK_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/str.h"
#include "store/fault_vfs.h"
#include "store/page_vfs.h"

enum { FAULT_SHM_REGIONS = 64, FAULT_PATH = 512 };

/* Of a sector: whether it differs from the disk, and which bytes of it were written. */
struct fault_sector {
	bool dirty;
	bool lost; /* its sync failed: no later one saves it, only writing it again */
	uint16_t from, to;
};

struct fault_file {
	struct fault_file *next;
	const char *name;
	bool linked, linked_synced; /* its name is in the folder; the disk knows */
	uint8_t *written, *synced;  /* zeros behind the sizes */
	size_t written_size, synced_size, room;
	struct fault_sector *sectors; /* room / FAULT_SECTOR */
	unsigned handles;
	/* locks of the rollback kind */
	unsigned shared;
	const void *reserved, *pending, *exclusive; /* the handle */
	/* the WAL's index */
	void *regions[FAULT_SHM_REGIONS];
	int region_size;
	unsigned mapped;
	unsigned shm_shared[SQLITE_SHM_NLOCK];
	const void *shm_exclusive[SQLITE_SHM_NLOCK];
};

struct fault_order {
	uint64_t left; /* operations until it strikes; 0 = none */
	bool sticky, struck;
};

struct fault_disk {
	pthread_mutex_t mutex;
	pthread_mutex_t *lock; /* the same; for those who get a const disk */
	sqlite3_vfs vfs;
	struct page_vfs pages; /* over it, "-pages" behind its name: with checksums */
	const char *vfs_name;
	struct arena names;
	unsigned holders;
	struct fault_file *files;
	struct fault_order orders[FAULT_KINDS];
	size_t limit;       /* of all files' bytes; 0 = none */
	uint64_t pull_left; /* changes until the plug is pulled; 0 = no order */
	bool pulled;
	uint64_t changes, syncs, temporaries, dice;
};

void fault_lock(const struct fault_disk *disk);
void fault_unlock(const struct fault_disk *disk);

struct fault_file *fault_file_find(struct fault_disk *disk, const char *name);
/* Makes its name; counts as a change. */
struct fault_file *fault_file_make(struct fault_disk *disk, const char *name);
void fault_file_unlink(struct fault_disk *disk, struct fault_file *file);
void fault_file_write(struct fault_file *file, const void *bytes, size_t size, size_t at);
void fault_file_truncate(struct fault_file *file, size_t size);
void fault_file_sync(struct fault_file *file);
void fault_file_sync_failed(struct fault_file *file);
void fault_folder_sync(struct fault_disk *disk);
void fault_file_unmap(struct fault_file *file);

/* Is there no room for a file to become so large? */
bool fault_is_full(const struct fault_disk *disk, const struct fault_file *file, size_t size);
/* Does this operation fail by order? */
bool fault_strikes(struct fault_disk *disk, enum fault_kind kind);
/* A change begins; true when it is the last one, or behind it. */
bool fault_change(struct fault_disk *disk);
uint64_t fault_roll(uint64_t *dice);

/* The methods of its files; fault_vfs.c. */
void fault_vfs_fill(struct fault_disk *disk);

#endif
