/* active/active_run_shell.h -- the shell around the machine of an active run; for this room alone.
 *
 * active_run_enter() is the only place where the state of a run changes.  Each action of
 * contracts/active_run.def is one function active_run_do_<name>(): those about memory and loading
 * are in active_run.c, those about commands and appends in commit_cycle.c.
 */
#ifndef ACTIVE_ACTIVE_RUN_SHELL_H
#define ACTIVE_ACTIVE_RUN_SHELL_H

#include "active/active_run.h"
#include "active/run_load.h"

/* An input with what its action needs. */
struct active_run_event {
	enum active_run_input input;
	struct pending_command *pending; /* COMMAND */
	struct commit_cycle *cycle;      /* NEED, COMMITTED, REDO, REDO_LATER, ANSWERED */
	enum append_remedy remedy;       /* REDO, REDO_LATER, ANSWERED */
	struct loaded_run *loaded;       /* LOADED */
	const struct error *error;       /* LOAD_FAILED */
};

/* Changes the state and performs the action.  The run may be freed when this returns. */
void active_run_enter(struct active_run *active, const struct active_run_event *event);

#define ACTION(constant, function, text)                         \
	void active_run_do_##function(struct active_run *active, \
				      const struct active_run_event *event);
#include "contracts/active_run.def"

/* Decides what waits, as long as the run is ready.  The run may be freed when this returns. */
void active_run_decide(struct active_run *active);
/* Replaces the state by that of a run without events; the graph stays. */
void active_run_new_state(struct active_run *active);
void active_run_drop_state(struct active_run *active);
/* Copies the state into a new arena when the old one has grown enough and nothing of the run is
 * under way.  Returns the old memory, which the caller frees once it no longer uses it; empty when nothing was done. */
MUST_CHECK struct arena active_run_renew(struct active_run *active);
/* The process ends and the run has not ended. */
void active_run_stop(struct active_run *active);

#endif
