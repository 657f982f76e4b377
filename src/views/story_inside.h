/* views/story_inside.h -- what the files of a story share.  This room's.
 *
 *	scope   a body that an event has named a step of
 *	place   a node in a scope, over all of its activations
 */
#ifndef VIEWS_STORY_INSIDE_H
#define VIEWS_STORY_INSIDE_H

#include "views/story.h"

extern const struct json story_no_members;

/* Which event is being read. */
struct story_now {
	int64_t seq, at;
};

struct story_scope {
	struct str path; /* of the body; "" = the root's */
	struct run_graph_node_list nodes;
	const struct story_step *parent;
	int64_t item;
	size_t hint;              /* where the node that was looked for last stands */
	bool failed;              /* a step of it has, and may skip others */
	struct story_scope *next; /* of all of them, newest first */
};

struct story_place {
	struct story_step *newest;
	int64_t led_at; /* when an edge or another round led to it; 0 */
	bool done;      /* its dependents go on */
	bool failed;    /* before it was done: its dependents are skipped */
};

/* ---- events (story_see.c) ---------------------------------------------------------------- */

void story_see(struct story *story, const struct event *event, struct story_now now);

/* ---- steps (story_path.c) ---------------------------------------------------------------- */

void story_begin_root(struct story *story);
struct story_step *story_step_find(const struct story *story, struct str path);
/* Makes it when there is none yet; NULL when the graph has no such node. */
struct story_step *story_step_at(struct story *story, struct str path);
struct story_place *story_place_of(struct story *story, const struct story_scope *scope,
				   struct str name);

/* ---- what happens to them (story_life.c) ----------------------------------------------------- */

/* Its next call; its first one starts the step. */
struct story_call *story_call_begin(struct story *story, struct story_step *step,
				    struct story_now now);
/* The open call, or the open question, or one that begins and ends here. */
struct story_call *story_call_end(struct story *story, struct story_step *step, bool question,
				  struct story_now now);
/* The step is final; `next` may be NULL. */
void story_step_end(struct story *story, struct story_step *step, enum vocabulary_step state,
		    struct str fault, const struct run_next *next, struct story_now now);
/* Everything that depends on a step that failed. */
void story_skip(struct story *story);
/* Everything that waits, and the bodies in which nothing is open. */
void story_call_off(struct story *story, int64_t at);
/* Nodes of the root that nothing has led to. */
void story_pass_over(struct story *story);

#endif
