/* engine/run.h -- a run's state: the fold of its events.
 *
 * Only evolve() changes it, and evolve() reads nothing but the state and the event (R4), so the
 * same events always give the same state.  docs/engine.md says exactly what follows from what.
 *
 *	activation   one execution of a node, with its path
 *	scope        a body that was entered: the root's, or that of a container's activation
 *	place        a node in a scope: its newest activation, its newest final one
 *
 * How activations start:
 *   - a pure step without a condition starts by itself (in evolve) as soon as its dependencies are
 *     final and there is room: its start needs no row, its result is step.computed;
 *   - everything else is started by an event that decide.h makes, in the order in which it became
 *     ready; containers, waits, questions and conditions need no room.
 *
 * Memory: everything the state refers to is in run->arena, which belongs to the caller.  What is
 * left behind is not given back: a caller that keeps a run for long makes it anew from its
 * snapshot.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "base/uuid.h"
#include "contract/event.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "definition/graph.h"
#include "engine/states.h"
#include "engine/value.h"

struct run_fault;
struct run_question;
struct run_start;

/* A further attempt at an effect. */
struct restart {
	int64_t seq, at, attempt;
};

/* One that failed, after which there was to be another. */
struct attempt {
	struct restart request; /* seq 0: the one that started the step */
	struct uuid effect;
	int64_t seq, at; /* of the event that closed it */
	enum run_outcome outcome;
	struct failure fault;
	struct value output;
	int64_t retry_at;
};

/* What of a step's attempts is only kept to be told again. */
struct attempts {
	struct attempt *failed;
	uint32_t failed_count;
	struct restart request;  /* of the newest attempt; seq 0: the one that started the step */
	struct restart answered; /* "retry", by a person; seq 0: nobody said so */
};

/* What a person was asked, and said; kept because it is part of the run's record. */
struct question {
	struct uuid id;
	const struct run_question *asked; /* NULL: nobody was asked */
	int64_t seq, at;                  /* of the event that asked */
	int64_t level;                    /* of one that was escalated */
	struct restart *passed_on; /* how it came there, one a level; NULL: that is not known */
	bool answered;
	enum run_decision decision;
	struct str comment, by; /* comment "" = none */
};

struct activation;

struct place {
	struct activation *newest, *final; /* NULL: none yet */
	uint32_t count;                    /* activations so far */
	uint32_t waiting_on;               /* dependencies that are not done */
	uint32_t readers_left;             /* nodes that will still read its output */
	bool done;                         /* its dependents have been told */
};

struct scope {
	struct activation *owner; /* NULL: the root */
	struct scope *next;       /* of the same owner */
	int64_t item;             /* of a map; -1 */
	struct str path;          /* of the body */
	struct place *places;     /* one a node of the body */
	uint32_t live;            /* activations that are not final */
	uint32_t waiting;         /* of those, the ones that are not ready yet */
	struct activation *first; /* all of them, newest first */
	/* The first activation that failed, which may be forgotten by now; path "" = none did. */
	struct {
		struct str path;
		struct failure fault;
		int64_t seq;
	} failed;
};

struct activation {
	struct activation *next; /* in its scope */
	struct str path;
	uint32_t node;
	uint32_t ordinal; /* #n */
	uint32_t round;   /* of those that follow from one another by `again` */
	struct scope *scope;
	enum step_state state;
	uint64_t arrival;     /* order in which it became ready; 0 before that and once final */
	bool open;            /* its effect is requested and not finished */
	bool settling;        /* its outcome is unknown and a person is asked */
	bool holds_workspace; /* a contained tool that runs, or will be tried again */
	struct uuid effect;
	enum run_outcome outcome; /* of the effect, once it is closed */
	int64_t attempt, retries;
	const struct restart *restarts;
	uint32_t restart_count;
	struct attempts *attempts;      /* NULL: there was one */
	int64_t started_seq, ended_seq; /* of the events that started and ended it; 0 = none has */
	int64_t started_at, ended_at, due_at;
	struct value inputs; /* of the effect, until the step is final */
	struct value output; /* while something may still read it */
	struct value result; /* the same, for good: what the run's record shows */
	struct failure fault;
	struct str reason; /* why it was skipped */
	struct str tree;   /* workspace before a contained tool, until the step is final */
	struct question question;
	/* verifications: when the first round began, and what the one before this found */
	int64_t begun_at;
	struct value before;
	/* containers */
	struct scope *scopes; /* newest first */
	uint32_t scopes_live;
	struct value items;
	int64_t item_count, items_entered;
	bool leaving; /* everything in it is final */
};

/* In the order in which they came. */
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

struct run {
	struct arena *arena;
	struct uuid id;
	struct run_start *start; /* what its start says, absent where it does not */
	const struct graph *graph;
	int64_t seq;   /* of the newest event applied */
	int64_t floor; /* events with a smaller seq are gone; 0 = none is */
	enum run_state state;
	int64_t created_at, updated_at, ended_at, due_at;
	int64_t begun_at; /* when it left its queue; 0 = it has not */
	struct value inputs, outputs;
	struct failure fault;
	bool queued, paused, cancelling;
	struct failure
		stopped; /* cancelling: what the run will have failed with; code "" = cancelled */
	struct scope *root;
	uint32_t live;           /* activations that are not final */
	uint32_t busy;           /* tools, turns, sub-runs and pure steps that run */
	uint32_t timers, humans; /* open waits and questions */
	int64_t iterations;      /* activations of join any nodes */
	uint32_t retrying;       /* activations that wait for another attempt */
	bool workspace_busy;
	uint64_t arrivals;
	struct ready_list pure, tools, contained, parked; /* ready, not started */
	struct ready_list computing; /* pure steps that run: for the shell to compute */
	struct run_signal *signals;  /* that nobody waited for, oldest first */
	struct path_table paths;
};

/* An empty run (seq 0) of this graph; the graph must outlive it. */
struct run *run_new(struct arena *arena, struct uuid id, const struct graph *graph);

MUST_CHECK bool evolve(struct run *run, const struct event *event, struct error *error);

/* A value as an event or snapshot has it, in the run's memory. */
struct value run_value_copy(struct run *run, const struct run_value *from);
/* Likewise a fault; NULL is none. */
struct failure run_failure_copy(struct run *run, const struct run_fault *from);
/* What a step failed with that a person, or nobody, answered. */
struct failure run_refusal(struct run *run, const struct run_human_finished *event);
/* What later steps may read of an answer. */
struct value run_answer_value(struct run *run, const struct question *question);

/* `count` of them and one more. */
struct restart *run_restarts_copy(struct run *run, const struct restart *from, size_t count,
				  struct restart more);
void run_question_passed_on(struct run *run, struct question *question, int64_t level, int64_t at);
/* What the event at hand says of the step's attempts: this one is requested, has failed and will be
 * made again, or is to be made again because a person says so. */
void run_attempt_requested(struct run *run, struct activation *activation, int64_t number,
			   int64_t at);
void run_attempt_failed(struct run *run, struct activation *activation, int64_t retry_at,
			int64_t at);
void run_attempt_wanted(struct run *run, struct activation *activation, int64_t at);
/* The step's, made when there are none. */
struct attempts *run_attempts(struct run *run, struct activation *activation);

/* The activation with this path, NULL when there is none (any more). */
struct activation *run_activation(const struct run *run, struct str path);
static inline const struct graph_node *run_node(const struct run *run,
						const struct activation *activation)
{
	return &run->graph->nodes[activation->node];
}
static inline bool run_ended(const struct run *run)
{
	return run_state_row(run->state)->final;
}
static inline struct place *run_place(const struct run *run, struct scope *scope, uint32_t node)
{
	return &scope->places[run->graph->nodes[node].slot];
}
/* Live, but nothing is open that could wake it: a pure step is to be computed. */
bool run_needs_recovery(const struct run *run);
uint32_t run_steps_ended(const struct run *run); /* nodes of the root */
/* The head of a queue, NULL when it is empty. */
struct activation *ready_list_head(const struct ready_list *queue);
/* Whether a pure step may be computed in process without an event of its own. */
bool run_starts_itself(const struct graph_node *node);
bool run_is_container(enum run_node_kind kind);
/* Tools, turns and sub-runs: they are told to stop. */
bool run_can_stop(enum run_node_kind kind);

#endif
