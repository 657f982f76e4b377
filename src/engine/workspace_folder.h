/* engine/workspace_folder.h -- which folder a step works in, and when it may; private to this room.
 *
 * A run has a folder.  A container with own_trees (parallel, map) holds the folder it is in from
 * step.entered until step.left; meanwhile each of its branches that writes has a folder of its own,
 * which begins at the tree of the container's folder.  A branch is an item of a map, or the steps of
 * a parallel body that depend on each other.  Nested containers repeat this one level down.
 *
 * In one folder contained tools execute one at a time; a container counts as one.  Steps marked
 * read_only share a folder with each other, and with the containers that they are in.
 */
#ifndef ENGINE_WORKSPACE_FOLDER_H
#define ENGINE_WORKSPACE_FOLDER_H

#include "engine/run.h"

/* Makes the branches of a new scope. */
void branch_make_all(struct run *run, struct scope *scope);
/* The branch whose folder the activation works in; NULL = the run's own folder. */
struct branch *branch_of(const struct run *run, const struct activation *activation);
struct folder *folder_of(struct run *run, const struct activation *activation);
/* Whether the folder is free for the activation; whether a container can be left. */
bool folder_allows(const struct run *run, const struct activation *activation);
/* The activation begins to work in its folder, and ends. */
void folder_take(struct run *run, struct activation *activation);
void folder_give(struct run *run, struct activation *activation);
/* Rebuilds holders and readers from the activations. */
void folder_restore_all(struct run *run);

/* The branch with this name; NULL = none. */
struct branch *branch_find(const struct activation *container, struct str path);
/* The container has a branch that is over and whose tree is not recorded; NULL = none after
 * `after`. */
struct branch *branch_next_over(const struct run *run, const struct activation *container,
				const struct branch *after);
/* Whether the run has such a branch. */
bool branch_any_over(const struct run *run);
bool branch_container_failed(const struct activation *container);

#endif
