/* workspace/workspace.h -- a run's folder and its restorable states.
 *
 * Each run works in a folder of its own.  Before a contained tool writes there, the folder's state
 * is taken as a git tree (in a git directory of ours, outside the folder) and the tree's name is
 * recorded with the request; after a crash the folder is restored to that tree and the tool is
 * called again (architecture R6).
 *
 * In the tree: every file that .gitignore does not exclude, with its executable bit, symbolic
 * links, and the names of empty folders.  Ignored files are left alone both ways.  A folder that
 * holds a git repository of its own cannot be captured whole: workspace_take() then gives
 * WORKSPACE_NO_TREE, and a tool interrupted there is not repeated.
 *
 * Everything is asynchronous: done() is called once on the loop.  A vtable, so that the simulator
 * has a twin.
 */
#ifndef WORKSPACE_WORKSPACE_H
#define WORKSPACE_WORKSPACE_H

#include "base/error.h"
#include "base/uuid.h"

/* The name given for a folder that cannot be captured. */
#define WORKSPACE_NO_TREE S("none")

struct workspace;

/* `tree` is "" when it failed (and error says why). */
typedef void workspace_done(void *context, uint64_t argument, struct str tree,
			    const struct error *error);

struct workspace_ops {
	/* The run's folder on this machine, made when missing. */
	bool (*folder)(struct workspace *workspace, const struct uuid *run, struct arena *arena,
		       const char **out_path, struct error *error);
	void (*take)(struct workspace *workspace, const struct uuid *run, workspace_done *done,
		     void *context, uint64_t argument);
	void (*restore)(struct workspace *workspace, const struct uuid *run, struct str tree,
			workspace_done *done, void *context, uint64_t argument);
	/* The descriptor every process of the effect's tree inherits, flocked.  ERROR_LOCKED
	 * while a tree of an earlier attempt still lives.  The caller closes it. */
	bool (*lock)(struct workspace *workspace, const struct uuid *effect, int *out_descriptor,
		     struct error *error);
	void (*unlock)(struct workspace *workspace, const struct uuid *effect, int descriptor);
};

struct workspace {
	const struct workspace_ops *ops;
};

struct loop;
/* The real one, beneath the data folder: work/<run>, trees/<run>.git, locks/<effect>. */
MUST_CHECK bool workspace_git_open(struct loop *loop, const char *data_folder,
				   struct workspace **out_workspace, struct error *error);
void workspace_git_close(struct workspace *workspace);

#endif
