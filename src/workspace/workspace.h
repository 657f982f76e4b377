/* workspace/workspace.h -- the folder of a run, and snapshots of it.
 *
 * Each run has a folder of its own.  Before a contained tool is called, the folder's state is
 * stored as a git tree (in a git directory outside the folder), and the tree's name is recorded
 * with the request.  After a crash the folder is restored to that tree and the tool is called again
 * (architecture R6).
 *
 * A tree contains every file that .gitignore does not exclude, executable bits, symbolic links, and
 * the names of empty folders.  Taking and restoring leave ignored files alone.  A folder that
 * contains a git repository cannot be stored: take() then returns WORKSPACE_NO_TREE, and a tool
 * that was interrupted there is not repeated.
 *
 * take() and restore() are asynchronous: done() is called once, on the loop thread.  The interface
 * is a vtable because the simulator has its own implementation.
 */
#ifndef WORKSPACE_WORKSPACE_H
#define WORKSPACE_WORKSPACE_H

#include "base/error.h"
#include "base/uuid.h"

/* The tree name of a folder that cannot be stored. */
#define WORKSPACE_NO_TREE S("none")

struct workspace;

/* On failure `tree` is "" and `error` is set. */
typedef void workspace_done(void *context, uint64_t argument, struct str tree,
			    const struct error *error);

struct workspace_ops {
	/* The path of the run's folder, which is created if missing. */
	bool (*folder)(struct workspace *workspace, const struct uuid *run, struct arena *arena,
		       const char **out_path, struct error *error);
	void (*take)(struct workspace *workspace, const struct uuid *run, workspace_done *done,
		     void *context, uint64_t argument);
	void (*restore)(struct workspace *workspace, const struct uuid *run, struct str tree,
			workspace_done *done, void *context, uint64_t argument);
	/* Locks a file of the effect; every process of the effect inherits the descriptor.  Fails
	 * with LOCKED while a process of an earlier attempt lives.  The caller calls unlock(). */
	bool (*lock)(struct workspace *workspace, const struct uuid *effect, int *out_descriptor,
		     struct error *error);
	void (*unlock)(struct workspace *workspace, const struct uuid *effect, int descriptor);
};

struct workspace {
	const struct workspace_ops *ops;
};

struct loop;
/* The implementation with git, in the data folder: work/<run>, trees/<run>.git, locks/<effect>. */
MUST_CHECK bool workspace_git_open(struct loop *loop, const char *data_folder,
				   struct workspace **out_workspace, struct error *error);
void workspace_git_close(struct workspace *workspace);

#endif
