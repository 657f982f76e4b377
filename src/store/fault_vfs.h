/* store/fault_vfs.h -- a disk in memory that loses power, fails and fills up when it is told to.
 *
 * SQLite writes to it through a VFS of its own; what SQLite has written and what has been synced
 * are kept apart, in sectors of 512 bytes.  fault_disk_lose_power() leaves what is synced and lets
 * a fate and a seed decide about every unsynced sector, about a file's length, and about names that
 * were made or taken away in the folder and not synced there.
 *
 *	struct fault_disk *disk = fault_disk_new();
 *	fault_disk_pull_at(disk, 17);                     the plug is pulled in the 17th change
 *	... SQLite works on fault_disk_vfs(disk) until everything fails ...
 *	fault_disk_lose_power(disk, FAULT_MIXED, 3);      the machine starts again
 *	fault_disk_drop(disk);
 *
 * Like the unix VFS it promises that bytes nobody wrote are never harmed (powersafe overwrite): of
 * a sector that was written in part only that part is torn or garbled.  A failed sync leaves its
 * sectors unsynced for good, as Linux does: a later sync that succeeds has not saved them.
 *
 * Threads: every function and the VFS may be used from any thread.  The disk lives while somebody
 * holds it.
 */
#ifndef STORE_FAULT_VFS_H
#define STORE_FAULT_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault_disk;

enum { FAULT_SECTOR = 512 };

/* What becomes of an unsynced sector. */
enum fault_fate {
	FAULT_KEEP,   /* it had reached the disk */
	FAULT_DROP,   /* it had not */
	FAULT_TEAR,   /* the first bytes had */
	FAULT_GARBLE, /* what was being written is noise */
	FAULT_MIXED,  /* each sector another one of these */
	FAULT_FATES
};

/* What an order makes fail. */
enum fault_kind {
	FAULT_READ,  /* EIO */
	FAULT_WRITE, /* EIO, nothing written */
	FAULT_SYNC,  /* EIO */
	FAULT_FULL,  /* ENOSPC, nothing written */
	FAULT_SHORT, /* ENOSPC behind the first half of the bytes */
	FAULT_KINDS
};

struct fault_disk *fault_disk_new(void);
void fault_disk_hold(struct fault_disk *disk);
void fault_disk_drop(struct fault_disk *disk);

/* The VFS's name for sqlite3_open_v2(), and back. */
const char *fault_disk_vfs(const struct fault_disk *disk);
struct fault_disk *fault_disk_of(const char *vfs);

/* ---- orders -------------------------------------------------------------------------- */

/* The nth next operation of this kind fails (1 = the very next), and when sticky all later ones. */
void fault_disk_order(struct fault_disk *disk, enum fault_kind kind, uint64_t nth, bool sticky);
/* The disk is well again; whether an order has struck since it was given. */
bool fault_disk_heal(struct fault_disk *disk);

/* All files together may take so many bytes; what would take more finds the disk full.  0 = any. */
void fault_disk_limit(struct fault_disk *disk, size_t bytes);
size_t fault_disk_used(const struct fault_disk *disk);

/* The nth next change (write, sync, truncation, name made or taken away) is the last: it has begun
 * and is not synced, and from then on everything fails.  0 = now. */
void fault_disk_pull_at(struct fault_disk *disk, uint64_t nth);
bool fault_disk_pulled(const struct fault_disk *disk);
uint64_t fault_disk_changes(const struct fault_disk *disk); /* so far */
uint64_t fault_disk_syncs(const struct fault_disk *disk);   /* so far */

/* ---- afterwards: nobody may have a file open ------------------------------------------ */

/* The machine lost power and starts again. */
void fault_disk_lose_power(struct fault_disk *disk, enum fault_fate fate, uint64_t seed);
/* Only the process died: what it wrote is there, synced or not. */
void fault_disk_lose_process(struct fault_disk *disk);

/* ---- meddling: `ending` picks the file, "" the database, "-wal" its WAL,
 * "-reserve" its reserve ----------------- */

size_t fault_disk_size(const struct fault_disk *disk, const char *ending);
void fault_disk_read(const struct fault_disk *disk, const char *ending, size_t at, void *out,
		     size_t size);
void fault_disk_flip(struct fault_disk *disk, const char *ending, size_t at, unsigned bit);
void fault_disk_cut(struct fault_disk *disk, const char *ending, size_t size);

#endif
