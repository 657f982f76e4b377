/* engine/run.h -- the state of a run, the fold of its events, and queries about it.
 *
 * Only evolve() changes the state, and evolve() reads only the state and the event (R4), so the same
 * events always give the same state.  docs/engine.md specifies every consequence of an event.
 * engine/run_state.h has the structs:
 *
 *	activation   one execution of a node, with its path
 *	scope        a body that was entered: the root's, or that of a container's activation
 *	place        a node in a scope: its newest activation and its newest final one
 *
 * How activations start:
 *   - A pure step without a condition starts by itself, inside evolve(), as soon as its dependencies
 *     are final and a slot is free.  Its start has no event; its result is step.computed.
 *   - Every other activation is started by an event of decide() or advance(), in the order in which
 *     activations became ready.  Containers, waits, questions and conditions do not need a slot.
 *
 * Memory: everything the state refers to is in run->arena, which belongs to the caller.  Memory of
 * removed parts is not freed: a caller that keeps a run for long restores it from its snapshot.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "contract/event.h"
#include "engine/run_state.h"

struct run_fault;

/* A run of this graph without events (seq 0); the graph must outlive it. */
struct run *run_new(struct arena *arena, struct uuid id, const struct graph *graph);

/* Applies an event to the state; an error when the event is impossible in this state. */
MUST_CHECK bool evolve(struct run *run, const struct event *event, struct error *error);

/* Copies a value of an event or snapshot into the run's arena. */
struct value run_value_copy(struct run *run, const struct run_value *from);
struct run_secret_use_list;
void run_secrets_copy(struct run *run, struct activation *activation,
		      struct run_secret_use_list from);
/* Copies a fault; NULL = none. */
void run_warnings_add(struct run *run, struct run_warning_list from, int64_t dropped);
struct run_warning_list run_warnings_print(const struct warnings *warnings, struct arena *arena);
struct failure run_failure_copy(struct run *run, const struct run_fault *from);
/* The fault of a step whose question was rejected or timed out. */
struct failure run_refusal(struct run *run, const struct run_human_finished *event);
struct str_list run_texts_copy(struct run *run, struct str_list from);
/* Whether the step succeeds with this answer, unless its rounds fail it. */
bool run_answer_is_good(const struct run_human_finished *answer);
/* The output of an answered question, for later steps. */
struct value run_answer_value(struct run *run, const struct question *question);

/* A copy of `count` restarts with one more appended. */
struct restart *run_restarts_copy(struct run *run, const struct restart *from, size_t count,
				  struct restart more);
void run_question_passed_on(struct run *run, struct question *question, int64_t level, int64_t at);
/* Record an attempt of the step: it was requested, failed and will be retried, or a person requested
 * a retry. */
void run_attempt_requested(struct run *run, struct activation *activation, int64_t number,
			   int64_t due_at, int64_t at);
void run_attempt_failed(struct run *run, struct activation *activation, int64_t retry_at,
			int64_t at);
void run_attempt_wanted(struct run *run, struct activation *activation, int64_t at);
/* The step's attempts; allocated at the first call. */
struct attempts *run_attempts(struct run *run, struct activation *activation);

/* The activation with this path; NULL when the state has none (any more). */
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
/* Whether steps may start: the run is not held, and if it was cancelled, its finally steps run. */
static inline bool run_may_start(const struct run *run)
{
	return !run->paused && !run->queued &&
	       (!run->cancelling || (run->unwinding && !run->abandoned));
}
static inline struct place *run_place(const struct run *run, struct scope *scope, uint32_t node)
{
	return &scope->places[run->graph->nodes[node].slot];
}
/* The branch whose folder the activation works in; "" = the run's own folder. */
struct str run_folder_name(const struct run *run, const struct activation *activation);
/* Whether the run is live without an open effect that could wake it: a pure step is not computed
 * yet. */
bool run_needs_recovery(const struct run *run);
uint32_t run_steps_ended(const struct run *run); /* number of final nodes of the root */
/* The head of a ready list; NULL when it is empty. */
struct activation *ready_list_head(const struct ready_list *queue);
/* Whether the node is a pure step that starts without an event of its own. */
bool run_starts_itself(const struct graph_node *node);
bool run_is_container(enum run_node_kind kind);
/* Whether effects of this kind can be stopped: tools, turns and sub-runs. */
bool run_can_stop(enum run_node_kind kind);

#endif
