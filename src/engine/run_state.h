/* engine/run_state.h -- the structs of a run's state; engine/run.h is the manual.
 *
 * Other rooms read the state; only evolve() changes it.  Everything is in run->arena.
 */
#ifndef ENGINE_RUN_STATE_H
#define ENGINE_RUN_STATE_H

#include "base/uuid.h"
#include "contract/event.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "definition/graph.h"
#include "engine/states.h"
#include "engine/step_record.h"

struct mailbox;
struct milestone;
struct run_start;

struct activation;
struct scope;

/* A folder of the run: who works in it (engine/workspace_folder.h). */
struct folder {
	struct activation *holder; /* a contained tool or container with own_trees; NULL = none */
	uint32_t readers;          /* running steps marked read_only */
};

/* A branch of a container with own_trees that writes. */
struct branch {
	struct branch *next; /* in the order of the graph or of the items */
	struct str path;     /* its name */
	struct scope *scope;
	struct folder folder;
	bool requested;  /* a tool was requested in its folder, so there is one */
	bool ended;      /* it is over, and its tree is recorded: */
	struct str tree; /* "" = it could not be stored */
};

struct place {
	struct activation *newest, *final; /* NULL: none yet */
	uint32_t count;                    /* number of activations so far */
	uint32_t waiting_on;               /* number of dependencies that are not done */
	uint32_t readers_left;             /* number of nodes that will still read its output */
	uint32_t lost;                     /* failed activations that a later one has replaced */
	uint32_t extra;                    /* activations added by retries of the run */
	bool done;                         /* its dependents were released */
	struct branch *branch;             /* of a container with own_trees; NULL = none */
};

struct scope {
	struct activation *owner;    /* NULL: the root */
	struct scope *next;          /* of the same owner */
	int64_t item;                /* of a map; of a session: number of the turn, from 1; -1 */
	struct session_turn turn;    /* of a session */
	struct str path;             /* of the body */
	struct place *places;        /* one per node of the body */
	uint32_t live;               /* activations that are not final */
	uint32_t waiting;            /* live activations that are not ready yet */
	struct activation *first;    /* all activations, newest first */
	enum run_section section;    /* of a try: the part that was entered last */
	struct first_failure failed; /* which the state may not have any more */
	struct first_failure caught; /* of a try: the failure that its catch steps handle */
};

struct activation {
	struct activation *next; /* in its scope */
	struct str path;
	uint32_t node;
	uint32_t ordinal; /* #n */
	uint32_t round; /* number of the round, for activations that follow each other by `again` */
	struct scope *scope;
	enum step_state state;
	uint64_t arrival; /* order in which it became ready; 0 before that and when final */
	bool open;        /* its effect is requested and not closed */
	bool settling;    /* its outcome is unknown and a person is asked to settle it */
	/* a contained tool that runs or will be retried, or a container; the same, marked read_only */
	bool holds_workspace, reads_workspace;
	bool limit_reached; /* its rounds were used up, and its result stands */
	bool cut; /* it was done while the run was being stopped: edges and rounds were not decided */
	bool stopping; /* the run was cancelled while it ran: nothing follows from its end */
	struct uuid effect;
	enum run_outcome outcome; /* of the effect, when it is closed */
	int64_t attempt, retries;
	const struct restart *restarts;
	uint32_t restart_count;
	struct attempts *attempts;      /* NULL: there was only one */
	int64_t started_seq, ended_seq; /* of the events that started and ended it; 0 = none */
	int64_t started_at, ended_at, due_at;
	struct value inputs;              /* of the effect or undo, until the step is final */
	const struct secret_use *secrets; /* likewise */
	uint32_t secret_count;
	struct value output;                    /* while a later step may still read it */
	struct value result;                    /* the same, kept for the run's record */
	const struct run_call_figures *figures; /* of the newest attempt that has ended; NULL */
	struct str instead; /* sessions: the call that was made instead; "" = none */
	/* of the newest attempt that has ended, for the run's record: */
	struct value log, files;
	int64_t file_count;
	struct failure fault;
	struct str reason, undoes; /* why it was skipped; undo steps: path of the undone step */
	struct branch *branches;   /* of a container with own_trees */
	struct str tree;           /* of the workspace before a contained tool, until it is final */
	struct question question;
	int64_t begun_at;    /* verifications: begin of the first round */
	struct value before; /* and result of the previous one */
	/* containers */
	struct scope *scopes; /* newest first; of a final one, if a retry can continue inside */
	uint32_t scopes_live;
	struct value items;
	int64_t item_count, items_entered; /* of a session: items_entered is the number of turns */
	bool leaving;                      /* everything in its bodies is final */
	/* sessions: the request that every turn begins with; in their bodies: the number of a call in its
	 * reply, from 1, and of a turn, the calls that were not made and the tokens it took */
	struct value opening;
	uint32_t call;
	uint32_t asks_for; /* of a question: node + 1 of the tool whose call needs approval; 0 */
	const struct refused_call *refused;
	uint32_t refused_count;
	int64_t tokens;
	const struct milestone *milestone; /* engine/milestone.h; NULL = none, or not begun */
};

/* A queue of activations, first in, first out. */
struct ready_list {
	struct activation **at;
	uint32_t head, tail, room;
};

struct run_signal {
	struct run_signal *next;
	struct str name;
	struct value data;
};

struct path_table {
	struct activation **at; /* open addressing; room is a power of two */
	uint32_t count, room;
};

/* Why the run is paused, if a named budget does not allow its next turn. */
struct budget_pause {
	struct str budget; /* "" = it is not */
	int64_t amount;    /* what the turn would reserve, in picodollars */
	int64_t at, until; /* until: when the run is resumed by itself; 0 = never */
};

struct run {
	struct arena *arena;
	struct uuid id;
	struct run_start *start; /* what its start says, absent where it does not */
	const struct graph *graph;
	int64_t seq;   /* of the newest event applied */
	int64_t floor; /* events with a smaller seq were removed; 0 = none */
	enum run_state state;
	int64_t created_at, updated_at, ended_at, due_at;
	int64_t begun_at;   /* when it left its admission queue; 0 = not yet */
	int64_t retried_at; /* the newest retry; 0 = none */
	struct value inputs, outputs;
	struct str_list issues;   /* what is open, of a run that ended with_issues */
	struct value graph_state; /* of a graph with a state: after the newest update */
	struct failure fault;
	bool queued, paused, cancelling;
	bool workspace_removed; /* by retention */
	bool unwinding;         /* its remaining finally and undo steps have started; stays true */
	bool abandoned;         /* a second cancel has ended them */
	struct failure
		stopped; /* cancelling, unwinding: what it will end with; code "" = cancelled */
	struct scope *root;
	uint32_t live, undo_count; /* activations that are not final; undos */
	uint32_t busy;             /* running tools, turns, sub-runs and pure steps */
	uint32_t timers, humans;   /* open waits and questions */
	int64_t iterations;        /* activations of `join: any` nodes */
	uint32_t retrying;         /* activations that wait for a retry */
	uint32_t stops;            /* open effects that were told to stop by a cancel */
	struct folder folder;      /* the run's own */
	uint64_t arrivals;
	uint64_t steps_started; /* activations that were started, including forgotten ones */
	struct ready_list pure, tools, contained, parked; /* ready, not started */
	struct ready_list computing; /* running pure steps, which the caller computes */
	struct undo_record *undos;   /* what can be undone, newest first: undo.h */
	struct run_signal *signals;  /* signals that no step has received yet, oldest first */
	struct path_table paths;
	struct warnings warnings;
	struct usages *usages;   /* engine/usage.h; NULL = none */
	struct mailbox *mailbox; /* engine/mailbox.h; NULL = no message yet */
	struct budget_pause pause;
};

#endif
