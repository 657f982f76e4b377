/* workspace/workspace.h -- the folder of a run, and snapshots of it.
 *
 * Each run has a folder of its own.  Before a contained tool is called, the folder's state is
 * stored as a git tree (in a git directory outside the folder), and the tree's name is recorded
 * with the request.  After a crash the folder is restored to that tree and the tool is called again
 * (architecture R6).
 *
 * A tree contains every file that .gitignore does not exclude, modes, symbolic links, and
 * the names of empty folders.  Taking and restoring leave ignored files alone, and the data of git
 * repositories in the folder: only their files are stored.
 *
 * take() and restore() are asynchronous: done() is called once, on the loop thread, and never from
 * inside them.  They return the operation's id for cancel().  An operation that does not end in time
 * fails with TIMEOUT; one that was cancelled fails with CANCELLED, unless its result came first.  A
 * folder with more files or bytes than LIMIT_SNAPSHOT_FILES and LIMIT_SNAPSHOT_BYTES is not stored:
 * TOO_LARGE.  The interface is a vtable because the simulator has its own implementation.
 */
#ifndef WORKSPACE_WORKSPACE_H
#define WORKSPACE_WORKSPACE_H

#include "base/error.h"
#include "base/uuid.h"

/* The tree name of a folder that could not be stored. */
#define WORKSPACE_NO_TREE S("none")

struct workspace;

/* On failure `tree` is "" and `error` is set. */
typedef void workspace_done(void *context, uint64_t argument, struct str tree,
			    const struct error *error);

/* The tree of a branch, for merge(). */
struct workspace_branch {
	struct str name, tree;
};

/* A folder is named by the run and the branch; "" = the run's own.  The folder of a branch is made
 * by begin() and removed by drop(). */
struct workspace_ops {
	/* The path of the folder, which is created if missing. */
	bool (*folder)(struct workspace *workspace, const struct uuid *run, struct str branch,
		       struct arena *arena, const char **out_path, struct error *error);
	uint64_t (*take)(struct workspace *workspace, const struct uuid *run, struct str branch,
			 int64_t timeout_us, workspace_done *done, void *context,
			 uint64_t argument);
	uint64_t (*restore)(struct workspace *workspace, const struct uuid *run, struct str branch,
			    struct str tree, workspace_done *done, void *context,
			    uint64_t argument);
	/* Makes the folder of a branch: the tree, and the ignored files of the folder `parent`. */
	uint64_t (*begin)(struct workspace *workspace, const struct uuid *run, struct str branch,
			  struct str parent, struct str tree, int64_t timeout_us,
			  workspace_done *done, void *context, uint64_t argument);
	/* Merges trees that began at `base`, in order, and restores the folder to the result.
	 * Changes that do not fit together: CONFLICT, which names files and branches, and the
	 * folder is left alone. */
	uint64_t (*merge)(struct workspace *workspace, const struct uuid *run, struct str branch,
			  struct str base, const struct workspace_branch *branches, size_t count,
			  workspace_done *done, void *context, uint64_t argument);
	/* Compares the folder with a tree, which must be the newest one that was taken of it or
	 * restored into it.  done() gets a text for file_changes.h.  Nothing has written to the
	 * folder since that tree but the call that began at `since_us` (wall clock). */
	uint64_t (*changes)(struct workspace *workspace, const struct uuid *run, struct str branch,
			    struct str tree, int64_t since_us, workspace_done *done, void *context,
			    uint64_t argument);
	/* Asks the operation to end; harmless when it has ended. */
	void (*cancel)(struct workspace *workspace, uint64_t operation);
	/* Removes the folder of a branch, in the background; "" = of all branches of the run. */
	void (*drop)(struct workspace *workspace, const struct uuid *run, struct str branch);
	/* The runs that have a folder or trees, each once; on any thread. */
	bool (*list)(const struct workspace *workspace, struct arena *arena, struct uuid **out_runs,
		     size_t *out_count, struct error *error);
	/* Removes the folders and the trees of a run.  What cannot be removed stays, without an
	 * error: list() has the run then. */
	void (*remove)(struct workspace *workspace, const struct uuid *run, workspace_done *done,
		       void *context, uint64_t argument);
	/* Locks a file of the effect; every process of the effect inherits the descriptor.  Fails
	 * with LOCKED while a process of an earlier attempt lives.  The caller calls unlock(). */
	bool (*lock)(struct workspace *workspace, const struct uuid *effect, int *out_descriptor,
		     struct error *error);
	void (*unlock)(struct workspace *workspace, const struct uuid *effect, int descriptor);
	/* Kills the processes of an earlier attempt that hold the lock; returns their number. */
	size_t (*kill_holders)(struct workspace *workspace, const struct uuid *effect);
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
