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

#include "active/executor.h"
#include "active/graph_cache.h"
#include "active/pending_command.h"
#include "base/limits.h"
#include "engine/run.h"

struct commit_cycle;
struct value_fetch_state;

enum active_run_phase {
	ACTIVE_RUN_LOADING, /* its events are being read */
	ACTIVE_RUN_READY,
	ACTIVE_RUN_FETCHING, /* advance() waits for values or the tree */
};

struct active_run {
	uint64_t id; /* in executor->active_runs */
	struct executor *executor;
	struct uuid run_id;
	char key[16]; /* in executor->by_run */
	enum active_run_phase phase;
	bool pumping;
	bool resuming;   /* go on with what is open once loaded */
	bool stale;      /* what was decided on this state is not stored: it must be read again */
	bool starved;    /* for want of room on the disk, so not at once */
	bool renewed;    /* its creation was not stored and is tried again */
	bool recovering; /* recovery waits for it */
	bool uncounted;  /* its place under way was never counted, so it gives none back */
	struct arena arena;
	struct cached_graph *graph;
	struct run *run;
	size_t copied_bytes;  /* that the state took when it was last copied */
	size_t weight;        /* of the bodies of the events behind the newest snapshot */
	size_t snapshot_size; /* of that snapshot; 0 = there is none */
	struct command_list inbox;
	struct command_list redo;    /* their append was refused: decided again after a reload */
	struct command_list refused; /* told once what they were measured against is on the disk */
	struct commit_cycle *cycle;  /* the one that is being decided */
	struct commit_cycle *flying; /* those at the writer, the oldest first */
	struct commit_cycle *last_flying; /* the newest of them, while there is one */
	size_t in_flight;                 /* turns at the writer */
	size_t pins;                      /* computations and effects that will come back */
	struct uuid *early_stops;         /* effects that were told to end before they had begun */
	size_t early_stop_count, early_stop_room;
	/* How appends came to the disk, oldest first, until an event tells it. */
	struct run_commit commits[LIMIT_COMMITS_TOLD];
	size_t commit_count;
	bool reading;          /* values for a pure step */
	uint64_t computations; /* pure steps that wait for that, the newest first; 0 = none */
	struct value_fetch_state
		*loaded; /* values read by hash, kept while a decision needs them */
	struct str tree; /* taken for this turn; "" = not */
	char tree_text[96];
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
void active_run_pump(struct active_run *active);
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

/* The state is the stored one: nothing is at the writer, nothing has to be read again. */
bool active_run_is_stored(const struct active_run *active);
/* A value that was decided and is not committed yet; false when there is none. */
bool active_run_find_unwritten(const struct active_run *active, const struct hash *hash,
			       struct str *out_bytes);

/* ---- for this room ------------------------------------------------------------------- */

void active_run_load(struct active_run *active);
void active_run_drop_state(struct active_run *active);
/* Copies the state into a new arena when the old one has grown enough and nothing of the run is
 * under way.  The old memory, to be freed once nobody looks at it; empty when nothing was done. */
MUST_CHECK struct arena active_run_renew(struct active_run *active);
/* The program ends and the run has not ended. */
void active_run_discard(struct active_run *active);

#endif
