/* os/confined_folder.h -- the names in a folder whose contents are not trusted, in order.
 *
 * The path is confined as in os/confined_path.h, and no part of it may be a symbolic link, so that a
 * walk through a folder never leaves it and never goes in circles.  A folder may have millions of
 * names: they are read in steps, so that a worker thread can do other jobs in between, and only the
 * first `keep` names in byte order are kept.  So the result does not depend on the order in which the
 * disk has them.
 *
 *	if (!confined_folder_open(root, path, keep, &folder, error)) ...
 *	while (!confined_folder_step(folder, 4000)) ...
 *	folder->at[0 .. folder->count], folder->dropped
 *	confined_folder_close(folder);
 *
 * Threads: one at a time.  All functions block on the disk.
 */
#ifndef OS_CONFINED_FOLDER_H
#define OS_CONFINED_FOLDER_H

#include "base/error.h"

enum confined_kind { CONFINED_FILE, CONFINED_FOLDER, CONFINED_LINK, CONFINED_OTHER };

struct confined_entry {
	const char *name; /* any bytes but NUL and / */
	enum confined_kind kind;
};

struct confined_folder {
	struct confined_entry *at; /* in byte order of the names, once all are read */
	size_t count;
	uint64_t dropped; /* names that were not kept */
	/* private */
	void *stream;
	size_t keep, room;
	bool sorted;
};

/* "" and "." are the root itself. */
MUST_CHECK bool confined_folder_open(const char *root, const char *path, size_t keep,
				     struct confined_folder **out_folder, struct error *error);
/* Reads up to `names` names; true when all are read. */
MUST_CHECK bool confined_folder_step(struct confined_folder *folder, size_t names);
void confined_folder_close(struct confined_folder *folder); /* may be NULL */

struct confined_info {
	enum confined_kind kind;
	uint64_t size;
	int64_t modified_us; /* since 1970 UTC */
	bool executable;
};

/* Of the name itself: a symbolic link is not followed.  False when it cannot be examined. */
bool confined_examine(const char *root, const char *path, struct confined_info *out_info);

#endif
