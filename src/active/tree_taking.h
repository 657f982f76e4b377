/* active/tree_taking.h -- snapshots of workspaces for steps that wait for them.
 *
 * A contained tool is requested with the git tree of its workspace.  The engine lists the steps that
 * wait for their trees with every decision (engine/decide.h).  The trees are taken once everything
 * that was decided is committed, and each comes back as COMMAND_TREE_TAKEN; meanwhile the run decides
 * other commands.  A tree that the newest decision does not want any more (the run was paused or
 * cancelled) is called off.
 */
#ifndef ACTIVE_TREE_TAKING_H
#define ACTIVE_TREE_TAKING_H

#include "active/active_run.h"
#include "engine/decide.h"

struct tree_taking;

/* The trees that the newest decision wants; others are called off. */
void tree_taking_want(struct active_run *active, const struct decision *decision);
/* Takes the trees that are wanted, if nothing of the run waits for the writer. */
void tree_taking_begin(struct active_run *active);
/* The event is committed: removes folders of branches that it ends. */
void tree_taking_drop(struct active_run *active, const struct event *event);
/* The run's state is dropped: nothing is wanted. */
void tree_taking_forget(struct active_run *active);
void tree_taking_free(struct active_run *active);

#endif
