/* views/timeline_internal.h -- declarations that the timeline_*.c files share.
 *
 *	scope   a body of which at least one step has an event
 *	place   a node in a scope, with all of its activations
 */
#ifndef VIEWS_TIMELINE_INTERNAL_H
#define VIEWS_TIMELINE_INTERNAL_H

#include "contract/run_graph_types.h"
#include "contract/run_value_types.h"
#include "views/timeline.h"

extern const struct json timeline_no_members;

/* The event that is being applied. */
struct timeline_now {
	int64_t seq, at;
};

struct timeline_scope {
	struct str path; /* of the body; "" = root */
	struct run_graph_node_list nodes;
	const struct timeline_step *parent;
	int64_t item;
	size_t hint;                 /* index of the node found last */
	bool failed;                 /* a step has failed, so others may be skipped */
	struct timeline_scope *next; /* list of all scopes, newest first */
};

struct timeline_place {
	struct timeline_step *newest;
	int64_t led_at; /* when an edge or a new round led to it; 0 = not yet */
	bool done;      /* its dependents can start */
	bool failed;    /* its dependents are skipped, unless `done` */
};

/* One end of the run; a retried run has several. */
struct timeline_end {
	const struct timeline_end *before; /* NULL = this is the first */
	int64_t seq, at;
	enum vocabulary_run state;
	const struct json *outputs;
	struct str fault;
	size_t ended_count;
};

/* ---- events (timeline_apply.c) ----------------------------------------------------- */

void timeline_apply(struct timeline *timeline, const struct event *event, struct timeline_now now);

/* ---- steps (timeline_path.c) ------------------------------------------------------- */

void timeline_begin_root(struct timeline *timeline);
struct timeline_step *timeline_step_find(const struct timeline *timeline, struct str path);
/* Creates the step if needed; NULL when the graph has no such node. */
struct timeline_step *timeline_step_at(struct timeline *timeline, struct str path);
struct timeline_place *timeline_place_of(struct timeline *timeline,
					 const struct timeline_scope *scope, struct str name);

/* ---- transitions (timeline_derive.c) ----------------------------------------------- */

/* Starts the step's next call; the first call starts the step. */
struct timeline_call *timeline_call_begin(struct timeline *timeline, struct timeline_step *step,
					  struct timeline_now now);
/* Ends the open call or the open question; without one, creates a call that starts and ends
 * here. */
struct timeline_call *timeline_call_end(struct timeline *timeline, struct timeline_step *step,
					bool question, struct timeline_now now);
/* The warnings of a step. */
struct run_warning_list timeline_warnings(const struct timeline *timeline,
					  const struct timeline_step *step);
/* Ends the step; `next` may be NULL. */
void timeline_step_end(struct timeline *timeline, struct timeline_step *step,
		       enum vocabulary_step state, struct str fault, const struct run_next *next,
		       struct timeline_now now);
/* Skips all steps that depend on a failed step. */
void timeline_skip(struct timeline *timeline);
/* Whether the run was cancelled and the step is not one of the finally steps, which go on. */
bool timeline_was_stopped(const struct timeline *timeline, const struct timeline_step *step);
/* Cancels all waiting steps, and the bodies without an open step. */
void timeline_cancel_waiting(struct timeline *timeline, int64_t at);
/* The run is retried: what failed and what was skipped because of it stays as it was and is followed
 * by another activation. */
void timeline_reopen(struct timeline *timeline, struct timeline_now now);
/* A container that has ended continues inside: this is an event of its body. */
void timeline_continue_inside(struct timeline *timeline, const struct timeline_step *step,
			      struct timeline_now now);
/* Skips the nodes of the root that no edge has led to. */
void timeline_skip_unreached(struct timeline *timeline);

#endif
