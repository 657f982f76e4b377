/* tool/git_place.h -- where a git repository of the user is: its work tree and its git directories.
 *
 * The repository of a run is a folder; it may be below the top of a work tree, and that may be a linked worktree,
 * whose refs and objects are elsewhere.  Only names of files are looked at; no configuration is read.
 */
#ifndef TOOL_GIT_PLACE_H
#define TOOL_GIT_PLACE_H

#include "base/error.h"

struct git_place {
	const char *folder; /* as given, for messages */
	const char *top;    /* of the work tree */
	const char *gitdir; /* HEAD, index and operations in progress */
	const char *common; /* objects, refs, logs and configuration; often the same */
};

/* NOT_FOUND when the folder is not in a git repository, INVALID when that has no work tree. */
MUST_CHECK bool git_place_find(struct str folder, struct arena *arena, struct git_place *out_place,
			       struct error *error);

#endif
