/* os/folder_usage.h -- measures the disk space of a folder whose contents are not trusted.
 *
 * The walk is resumable: folder_usage_step() visits a bounded number of entries, so that a worker
 * thread can do other jobs in between.  Symbolic links are counted and not followed, and other
 * file systems are not entered.  The contents may change during the walk; a file that disappears is
 * not counted.  A file with several names is counted once in total.
 *
 * The disk space is what the file system has allocated: a hole in a file costs nothing.
 *
 * Threads: one at a time.  All functions block on the disk.
 */
#ifndef OS_FOLDER_USAGE_H
#define OS_FOLDER_USAGE_H

#include "base/error.h"

struct folder_usage {
	uint64_t bytes, entries;
	bool too_deep; /* more than LIMIT_FOLDER_DEPTH levels; the rest was not counted */
	/* The newest change of an inode, the folder's own included: wall clock. */
	int64_t changed_us;
	/* private */
	struct folder_level *levels;
	size_t depth;
	uint64_t device;
};

/* Starts a walk; false when the folder cannot be opened. */
MUST_CHECK bool folder_usage_begin(struct folder_usage *usage, const char *path,
				   struct error *error);
/* Visits up to `entries` entries; true when the walk is complete. */
MUST_CHECK bool folder_usage_step(struct folder_usage *usage, size_t entries);
/* Ends the walk, complete or not.  The counts stay. */
void folder_usage_done(struct folder_usage *usage);

#endif
