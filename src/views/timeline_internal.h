/* views/timeline_internal.h -- what the files of a story share; private to this room.
 *
 *	scope   a body that an event has named a step of
 *	place   a node in a scope, over all of its activations
 */
#ifndef VIEWS_STORY_INSIDE_H
#define VIEWS_STORY_INSIDE_H

#include "views/timeline.h"

extern const struct json timeline_no_members;

/* Which event is being read. */
struct timeline_now {
	int64_t seq, at;
};

struct timeline_scope {
	struct str path; /* of the body; "" = the root's */
	struct run_graph_node_list nodes;
	const struct timeline_step *parent;
	int64_t item;
	size_t hint;                 /* where the node that was looked for last stands */
	bool failed;                 /* a step of it has, and may skip others */
	struct timeline_scope *next; /* of all of them, newest first */
};

struct timeline_place {
	struct timeline_step *newest;
	int64_t led_at; /* when an edge or another round led to it; 0 */
	bool done;      /* its dependents go on */
	bool failed;    /* before it was done: its dependents are skipped */
};

/* ---- events (timeline_apply.c) ---------------------------------------------------------------- */

void timeline_apply(struct timeline *timeline, const struct event *event, struct timeline_now now);

/* ---- steps (timeline_path.c) ---------------------------------------------------------------- */

void timeline_begin_root(struct timeline *timeline);
struct timeline_step *timeline_step_find(const struct timeline *timeline, struct str path);
/* Makes it when there is none yet; NULL when the graph has no such node. */
struct timeline_step *timeline_step_at(struct timeline *timeline, struct str path);
struct timeline_place *timeline_place_of(struct timeline *timeline,
					 const struct timeline_scope *scope, struct str name);

/* ---- what happens to them (timeline_derive.c) ----------------------------------------------------- */

/* Its next call; its first one starts the step. */
struct timeline_call *timeline_call_begin(struct timeline *timeline, struct timeline_step *step,
					  struct timeline_now now);
/* The open call, or the open question, or one that begins and ends here. */
struct timeline_call *timeline_call_end(struct timeline *timeline, struct timeline_step *step,
					bool question, struct timeline_now now);
/* The step is final; `next` may be NULL. */
void timeline_step_end(struct timeline *timeline, struct timeline_step *step,
		       enum vocabulary_step state, struct str fault, const struct run_next *next,
		       struct timeline_now now);
/* Everything that depends on a step that failed. */
void timeline_skip(struct timeline *timeline);
/* Everything that waits, and the bodies in which nothing is open. */
void timeline_call_off(struct timeline *timeline, int64_t at);
/* Nodes of the root that nothing has led to. */
void timeline_pass_over(struct timeline *timeline);

#endif
