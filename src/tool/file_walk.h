/* tool/file_walk.h -- a walk through the files of a workspace, in order and in steps.
 *
 * Names come in byte order, a folder before what is in it, so the same files always give the same
 * walk.  Symbolic links are named and never followed (os/confined_folder.h).  What is in .git is left
 * out, and so is what a .gitignore excludes, unless the caller wants it.
 *
 *	struct file_walk *walk = file_walk_new(&settings);
 *	while ((event = file_walk_next(walk, &entry)) != WALK_END)
 *		if (event == WALK_ENTRY) ...
 *	file_walk_free(walk);
 *
 * A walk holds at most LIMIT_WALK_NAMES names and visits at most LIMIT_WALK_ENTRIES entries; then it
 * goes on with fewer and is `partial`.  Threads: one at a time.  Steps block on the disk.
 */
#ifndef TOOL_FILE_WALK_H
#define TOOL_FILE_WALK_H

#include "os/confined_folder.h"

struct file_walk;

struct file_walk_settings {
	const char *root;
	const char *path;    /* the folder to begin with, relative to the root; "." = the root */
	size_t depth;        /* levels below it; at most LIMIT_FOLDER_DEPTH */
	bool enters_ignored; /* folders that a .gitignore excludes */
	bool names_ignored;  /* files and folders that it excludes, and .git, without entering */
};

struct file_walk_entry {
	const char *path;   /* relative to the root; valid until the next step */
	const char *inside; /* relative to the folder that the walk began with */
	enum confined_kind kind;
};

enum walk_event {
	WALK_ENTRY,
	WALK_PAUSE, /* no entry yet: a bounded piece of work is done */
	WALK_END,
};

/* Fails when the first folder cannot be read; INVALID when it is no folder. */
MUST_CHECK bool file_walk_new(const struct file_walk_settings *settings,
			      struct file_walk **out_walk, struct error *error);
enum walk_event file_walk_next(struct file_walk *walk, struct file_walk_entry *out_entry);
bool file_walk_partial(const struct file_walk *walk);
void file_walk_free(struct file_walk *walk); /* may be NULL */

#endif
