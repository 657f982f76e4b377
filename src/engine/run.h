/* engine/run.h -- a run's state: the fold of its events.
 *
 * Only evolve() changes it, and evolve() reads nothing but the state and the event (R4), so the
 * same events always give the same state.  Every execution of a node is an activation with a
 * path; here each node has one, named like the node.
 *
 * How steps start:
 *   - a pure step starts by itself (in evolve) as soon as its dependencies are final and there is
 *     room: its start needs no row, its result is step.computed;
 *   - every other step is started by an event `*.requested` that decide.h makes;
 *   - at most RUN_ROOM tools and pure steps run at once; waits and questions take no room;
 *   - of the contained tools one at a time, because they share the run's workspace and the tree
 *     recorded before one must not hold half of another's work.
 * A failed step skips everything that depends on it, at once; the rest goes on; the run ends when
 * every step is final.
 *
 * Memory: everything the state refers to is in run->arena, which belongs to the caller.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "base/uuid.h"
#include "contract/event.h"
#include "definition/graph.h"
#include "engine/states.h"

enum { RUN_ROOM = 10 };

/* A value: absent, its JSON text when short, else the hash of the text (R3). */
struct value {
	enum { VALUE_ABSENT, VALUE_INLINE, VALUE_STORED } kind;
	struct str text;
	struct hash hash;
	int64_t size;
};

struct fault {
	struct str code, text; /* code "" = none */
};

/* A further attempt at an effect. */
struct restart {
	int64_t seq, at, attempt;
};

/* What a person was asked, and said; kept because it is part of the run's record. */
struct question {
	enum run_request_kind kind;
	struct str text;
	bool answered;
	enum run_decision decision;
	struct str comment, by; /* comment "" = none */
};

struct activation {
	struct str path;
	uint32_t node;
	enum step_state state;
	uint32_t waiting_on;   /* dependencies that are not final */
	uint32_t readers_left; /* nodes that will still read the output */
	uint64_t arrival;      /* order in which it became ready; 0 before that and once final */
	bool open;             /* its effect is requested and not finished */
	struct uuid effect;
	enum run_outcome outcome; /* of the effect, once it is closed */
	int64_t attempt;
	const struct restart *restarts;
	uint32_t restart_count;
	int64_t started_seq, ended_seq; /* of the events that started and ended it; 0 = none has */
	int64_t started_at, ended_at, due_at;
	struct value inputs; /* of the effect, while it is open */
	struct value output; /* while a step or the workflow's outputs may still read it */
	struct value result; /* the same, for good: what the run's record shows */
	struct fault fault;
	struct str tree;      /* workspace before a contained tool, while it is open */
	struct hash revision; /* of a question */
	struct question question;
};

/* Numbers in the order in which they came; each activation enters once. */
struct run_queue {
	uint32_t *at;
	uint32_t head, tail;
};

struct run {
	struct arena *arena;
	struct uuid id;
	const struct graph *graph;
	int64_t seq;            /* of the newest event applied */
	int64_t floor;          /* events with a smaller seq are gone; 0 = none is */
	int64_t retention_days; /* how long its start wants its events kept; -1 = it did not say */
	enum run_state state;
	int64_t created_at, updated_at, ended_at;
	struct value inputs, outputs;
	struct fault fault;
	struct activation *activations;
	uint32_t count, unfinished;
	uint32_t busy;           /* tools and pure steps running */
	uint32_t timers, humans; /* open waits and questions */
	bool workspace_busy;
	uint64_t arrivals;
	struct run_queue pure, tools, contained, parked; /* ready, not started */
	struct run_queue computing; /* pure steps that run: for the shell to compute */
	uint32_t *cascade;          /* scratch of the skip cascade */
};

/* An empty run (seq 0) of this graph; the graph must outlive it. */
struct run *run_new(struct arena *arena, struct uuid id, const struct graph *graph);

MUST_CHECK bool evolve(struct run *run, const struct event *event, struct error *error);

/* An output that nothing later can reach has left the state (R3). */
bool run_output_is_read(const struct run *run, const struct activation *activation);
/* A value as an event or snapshot has it, in the run's memory. */
struct value run_value_keep(struct run *run, const struct run_value *from);
/* Puts a step whose dependencies have succeeded where it waits for its turn. */
void run_queue_ready(struct run *run, uint32_t number);
/* What later steps may read of an answer. */
struct value run_answer_value(struct run *run, const struct question *question);

/* The activation with this path, NULL when there is none. */
struct activation *run_activation(struct run *run, struct str path);
static inline bool run_ended(const struct run *run)
{
	return run_state_row(run->state)->final;
}
/* Live, but nothing is open that could wake it: a pure step is to be computed. */
bool run_is_stepping(const struct run *run);
uint32_t run_steps_ended(const struct run *run);

#endif
