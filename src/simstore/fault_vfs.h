/* simstore/fault_vfs.h -- a disk in memory that loses power, fails and fills up on request.
 *
 * SQLite uses the disk through its VFS.  The disk distinguishes written from synced content, in
 * sectors of 512 bytes.  fault_disk_lose_power() keeps what is synced; a fate and a seed decide
 * about every unsynced sector, about the length of a file, and about files that were created or
 * deleted without a sync of the folder.
 *
 *	struct fault_disk *disk = fault_disk_new();
 *	fault_disk_pull_at(disk, 17);                     the power fails during the 17th change
 *	... SQLite works on fault_disk_vfs(disk) until everything fails ...
 *	fault_disk_lose_power(disk, FAULT_MIXED, 3);      the machine starts again
 *	fault_disk_drop(disk);
 *
 * Like the unix VFS, the disk never harms bytes that were not written (powersafe overwrite): of a
 * sector that was written in part, only that part is torn or garbled.  After a failed sync the
 * sectors stay unsynced, as on Linux: a later sync that succeeds does not save them.
 *
 * Threads: all functions and the VFS may be used on any thread.  The disk is reference-counted.
 */
#ifndef SIMSTORE_FAULT_VFS_H
#define SIMSTORE_FAULT_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault_disk;

enum { FAULT_SECTOR = 512 };

/* What a power failure does to an unsynced sector. */
enum fault_fate {
	FAULT_KEEP,   /* it has reached the disk */
	FAULT_DROP,   /* it has not */
	FAULT_TEAR,   /* its first bytes have */
	FAULT_GARBLE, /* the written bytes are random */
	FAULT_MIXED,  /* a random one of these for each sector */
	FAULT_FATES
};

/* Kinds of injected faults. */
enum fault_kind {
	FAULT_READ,  /* EIO */
	FAULT_WRITE, /* EIO, nothing written */
	FAULT_SYNC,  /* EIO */
	FAULT_FULL,  /* ENOSPC, nothing written */
	FAULT_SHORT, /* ENOSPC after half of the bytes */
	FAULT_KINDS
};

struct fault_disk *fault_disk_new(void);
void fault_disk_hold(struct fault_disk *disk);
void fault_disk_drop(struct fault_disk *disk);

/* The name of the VFS for sqlite3_open_v2(), and the disk of a VFS. */
const char *fault_disk_vfs(const struct fault_disk *disk);
struct fault_disk *fault_disk_of(const char *vfs);

/* ---- injected faults ------------------------------------------------------------------ */

/* The nth next operation of this kind fails (1 = the next); with `sticky` all later ones fail too. */
void fault_disk_order(struct fault_disk *disk, enum fault_kind kind, uint64_t nth, bool sticky);
/* Removes all faults; true when one has struck. */
bool fault_disk_heal(struct fault_disk *disk);

/* Limits the size of all files together; a write beyond it finds the disk full.  0 = no limit. */
void fault_disk_limit(struct fault_disk *disk, size_t bytes);
size_t fault_disk_used(const struct fault_disk *disk);

/* The power fails during the nth next change (write, sync, truncate, create, delete): the change has
 * begun and is not synced, and every later operation fails.  0 = now. */
void fault_disk_pull_at(struct fault_disk *disk, uint64_t nth);
bool fault_disk_pulled(const struct fault_disk *disk);
uint64_t fault_disk_changes(const struct fault_disk *disk); /* so far */
uint64_t fault_disk_syncs(const struct fault_disk *disk);   /* so far */

/* ---- restarting: all files must be closed ---------------------------------------------- */

/* The machine lost power and restarts. */
void fault_disk_lose_power(struct fault_disk *disk, enum fault_fate fate, uint64_t seed);
/* Only the process died: everything it wrote is there, synced or not. */
void fault_disk_lose_process(struct fault_disk *disk);

/* ---- inspection and damage --------------------------------------------------------------
 *
 * `ending` selects the file: "" the database, "-wal" its WAL, "-reserve" its reserve. */

size_t fault_disk_size(const struct fault_disk *disk, const char *ending);
void fault_disk_read(const struct fault_disk *disk, const char *ending, size_t at, void *out,
		     size_t size);
void fault_disk_flip(struct fault_disk *disk, const char *ending, size_t at, unsigned bit);
void fault_disk_cut(struct fault_disk *disk, const char *ending, size_t size);

#endif
