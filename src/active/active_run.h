/* active/active_run.h -- a run in memory: its state, its commands, its appends in flight.
 *
 * Commands of a run enter one inbox and are decided in arrival order, ahead of the disk: the next
 * command is decided on a state whose events may still be at the writer.  A run is in memory while
 * something of it is computed or under way; a run that only waits for a time or a person is not.
 *
 * Effects get an active run when they begin.  An effect that will come back to the run pins it, and
 * finds it again by its id:
 *
 *	active_run_pin(active);                       (it must not leave memory)
 *	...
 *	struct active_run *active = active_run_by_id(executor, id);
 *	active_run_unpin(active);
 *	active_run_command(active, pending);          (or active_run_settle(active))
 *
 * The state (`run`) may be missing while it is loaded again, and changes with every command, so an
 * effect copies what it needs of it.
 */
#ifndef ACTIVE_ACTIVE_RUN_H
#define ACTIVE_ACTIVE_RUN_H

#include "active/active_run_machine.h"
#include "active/executor.h"
#include "active/graph_cache.h"
#include "active/pending_command.h"
#include "base/limits.h"
#include "contract/run_value_types.h"
#include "engine/budget.h"
#include "engine/decide.h"

struct commit_cycle;
struct run;
struct tree_taking;
struct value_fetch_state;

struct active_run {
	uint64_t id; /* in executor->active_runs */
	struct executor *executor;
	struct uuid run_id;
	char key[16];                /* in executor->by_run */
	enum active_run_state state; /* changed by active_run_enter() alone */
	bool stored;                 /* the run's creation is committed */
	bool recovering;             /* recovery waits until the run is loaded */
	bool uncounted; /* the run's place under way was never counted: its end gives none back */
	bool budgets_uncounted; /* a count of a budget is wrong: the run's turns do not move it */

	struct arena arena; /* of the state */
	struct cached_graph *graph;
	struct run *run;      /* the state; NULL while it is read */
	size_t copied_bytes;  /* size of the state when it was last copied */
	size_t weight;        /* bytes of the events behind the newest snapshot */
	size_t snapshot_size; /* of that snapshot; 0 = there is none */

	/* Commands, each list in arrival order. */
	uint64_t arrivals;           /* so many have come */
	struct command_list inbox;   /* wait to be decided */
	struct command_list redo;    /* their appends were refused: decided again on a new state */
	struct command_list refused; /* by the engine; answered when every append is committed */
	struct commit_cycle *deciding; /* what the values are fetched for; NULL = nothing */
	struct commit_cycle *oldest_append, *newest_append; /* at the writer */
	size_t appends_in_flight;

	size_t pins; /* effects and computations that will come back to the run */
	/* Effects that should end and have not begun. */
	struct uuid *early_stops;
	size_t early_stop_count, early_stop_room;
	/* How long the newest commits took, oldest first, until an event records it. */
	struct run_commit commits[LIMIT_COMMITS_TOLD];
	size_t commit_count;
	bool reading;          /* values for a pure step are being read */
	uint64_t computations; /* pure steps that wait for them, newest first; 0 = none */
	struct value_fetch_state *loaded; /* values read by hash, for decisions */
	struct tree_taking *tree_takings; /* trees that steps wait for (tree_taking.h) */
	struct engine_tree tree;          /* of the command that is being decided: */
	bool has_tree;                    /* it brought one */
	struct engine_budgets budgets;    /* for decisions (ledger.h) */
};

/* NULL: the run is not in memory. */
struct active_run *active_run_find(struct executor *executor, const struct uuid *run);
struct active_run *active_run_by_id(struct executor *executor, uint64_t id);
/* A run that does not exist yet; takes over one use of the graph. */
struct active_run *active_run_new(struct executor *executor, struct uuid run,
				  struct cached_graph *graph);
/* The run in memory; it begins to load when it is not there. */
struct active_run *active_run_get(struct executor *executor, const struct uuid *run);

/* Queues the command and decides as far as possible.  The command is the run's now. */
void active_run_command(struct active_run *active, struct pending_command *pending);
/* Starts the steps that can start: a program that was stopping may have held them back. */
void active_run_wake(struct active_run *active);

/* A pinned run stays in memory. */
void active_run_pin(struct active_run *active);
void active_run_unpin(struct active_run *active);
/* Leaves memory when nothing of the run is under way. */
void active_run_settle(struct active_run *active);

/* An effect should end that has not begun: its request, or its restart after a crash, may still be
 * at the writer.  The note is taken when the effect is about to begin. */
void active_run_note_early_stop(struct active_run *active, const struct uuid *effect);
bool active_run_take_early_stop(struct active_run *active, const struct uuid *effect);

/* The state in memory is what is committed. */
bool active_run_is_stored(const struct active_run *active);
/* A value that was decided and is not committed yet; false when there is none. */
bool active_run_find_unwritten(const struct active_run *active, const struct hash *hash,
			       struct str *out_bytes);

#endif
