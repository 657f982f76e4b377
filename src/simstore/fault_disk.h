/* simstore/fault_disk.h -- the structure of a fault disk, for fault_disk.c and fault_vfs.c.
 *
 * The caller of these functions holds the disk's lock, except for fault_lock() itself.
 */
#ifndef SIMSTORE_FAULT_DISK_H
#define SIMSTORE_FAULT_DISK_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/str.h"
#include "simstore/fault_vfs.h"
#include "store/page_vfs.h"

enum { FAULT_SHM_REGIONS = 64, FAULT_PATH = 512 };

/* Bytes [from, to) of a dirty sector are written and not synced. */
struct fault_sector {
	bool dirty;
	bool lost; /* its sync failed: only writing it again and syncing that saves it */
	uint16_t from, to;
};

struct fault_file {
	struct fault_file *next;
	const char *name;
	bool linked, linked_synced; /* its name is in the folder; the folder is synced */
	uint8_t *written, *synced;  /* zeros after the sizes */
	size_t written_size, synced_size, room;
	struct fault_sector *sectors; /* room / FAULT_SECTOR */
	unsigned handles;
	/* file locks */
	unsigned shared;
	const void *reserved, *pending, *exclusive; /* the handle that holds it */
	/* shared memory of the WAL index */
	void *regions[FAULT_SHM_REGIONS];
	int region_size;
	unsigned mapped;
	unsigned shm_shared[SQLITE_SHM_NLOCK];
	const void *shm_exclusive[SQLITE_SHM_NLOCK];
};

struct fault_order {
	uint64_t left; /* operations until it fails one; 0 = no fault */
	bool sticky, struck;
};

struct fault_disk {
	pthread_mutex_t mutex;
	pthread_mutex_t *lock; /* = &mutex, for functions with a const disk */
	sqlite3_vfs vfs;
	struct page_vfs pages; /* on top of `vfs`, with checksums; its name ends in "-pages" */
	const char *vfs_name;
	struct arena names;
	unsigned holders;
	struct fault_file *files;
	struct fault_order orders[FAULT_KINDS];
	size_t limit;       /* on the bytes of all files; 0 = none */
	uint64_t pull_left; /* changes until the power fails; 0 = never */
	bool pulled;
	uint64_t changes, syncs, temporaries, dice;
};

void fault_lock(const struct fault_disk *disk);
void fault_unlock(const struct fault_disk *disk);

struct fault_file *fault_file_find(struct fault_disk *disk, const char *name);
/* Creates the file; counts as a change. */
struct fault_file *fault_file_make(struct fault_disk *disk, const char *name);
void fault_file_unlink(struct fault_disk *disk, struct fault_file *file);
void fault_file_write(struct fault_file *file, const void *bytes, size_t size, size_t at);
void fault_file_truncate(struct fault_file *file, size_t size);
void fault_file_sync(struct fault_file *file);
void fault_file_sync_failed(struct fault_file *file);
void fault_folder_sync(struct fault_disk *disk);
void fault_file_unmap(struct fault_file *file);

/* True when the limit does not allow the file to grow to `size`. */
bool fault_is_full(const struct fault_disk *disk, const struct fault_file *file, size_t size);
/* True when an injected fault makes this operation fail. */
bool fault_strikes(struct fault_disk *disk, enum fault_kind kind);
/* Counts a change; true when the power fails during it or has failed before. */
bool fault_change(struct fault_disk *disk);
uint64_t fault_roll(uint64_t *dice);

/* Fills in the VFS; fault_vfs.c. */
void fault_vfs_fill(struct fault_disk *disk);

#endif
