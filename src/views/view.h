/* views/view.h -- a run in one of the five vocabularies.
 *
 * A view is one file view_<name>.c and one row of views.def.  All its results are entities of that
 * vocabulary's contract, so they validate against it.
 *
 *	run     the object that represents a run in the vocabulary
 *	more    further documents about a whole run: activity log, trace, checkpoints
 *	event   an event of the group that a stored event becomes in the vocabulary;
 *	        contracts/projections.def has the wire names, and hides what has none
 *
 * A plain workflow of tools, waits and questions has no agents, prompts, profiles or issues.  Where
 * a vocabulary requires one of these, the member is empty; each view_<name>.c lists them.
 *
 *	const struct view *view = view_find(S("graph"));
 *	struct view_document run = view->ops->run(&timeline);
 *	view_print(&run, &writer);
 *
 *	struct view_group group;
 *	view_group_make(&group, view, &timeline, index);
 *	for (size_t n = 0; n < group.count; n++) {
 *		struct view_document event = view_group_event(&group, n);
 *		...
 *	}
 */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include "contract/contract.h"
#include "views/event_facts.h"
#include "views/timeline.h"

enum view_number {
#define VIEW(name_, text_) VIEW_##name_,
#include "views/views.def"
#undef VIEW
	VIEW_COUNT,
};

/* One value, or a list of them, of a type of the contracts. */
struct view_document {
	struct str name; /* of a document of `more` */
	const struct type *type;
	const void *const *at;
	size_t count;
	bool many; /* prints as a list */
};

struct view_documents {
	const struct view_document *at;
	size_t count;
};

/* One event of a group: which fact it shows, and its wire name. */
struct view_part {
	size_t fact;
	struct str word;
};

/* What a stored event becomes in a view: at most LIMIT_EVENT_GROUP events.  Must not move: the facts
 * point to the timeline in it. */
struct view_group {
	const struct view *view;
	struct timeline timeline; /* as it was at this event, if it is the end of the run */
	struct event_facts facts;
	const struct view_part *parts;
	size_t count;     /* 0 = the view does not show the event */
	int64_t left_out; /* further events, which the last one counts */
};

struct view_ops {
	struct view_document (*run)(const struct timeline *timeline);
	struct view_documents (*more)(const struct timeline *timeline);
	struct view_document (*event)(const struct view_group *group, size_t n);
};

struct view {
	struct str name, text;
	const struct view_ops *ops;
};

/* Declares the functions that projections.def names. */
#define WORD(word_)
#define BY(function_)                struct str function_(const struct event *event);
#define PROJECT(event_, view_, how_) how_
#include "contracts/projections.def"
#undef PROJECT
#define EVENT_OF(pipeline_, event_, how_) how_
#include "contracts/pipeline_words.def"
#undef WORD
#undef BY

const struct view *view_at(enum view_number number);
const struct view *view_find(struct str name); /* NULL = unknown */
MUST_CHECK bool view_from(struct str name, const struct view **out_view, struct error *error);

/* The wire name of an event itself in a view; "" = hidden. */
struct str view_word(const struct view *view, const struct event *event);
/* Empty when the view shows nothing of the event, or its step is not in the graph. */
void view_group_make(struct view_group *out_group, const struct view *view,
		     const struct timeline *timeline, size_t index);
struct view_document view_group_event(const struct view_group *group, size_t n);
/* The first event of the group; false when the group is empty. */
bool view_event(const struct view *view, const struct timeline *timeline, size_t index,
		struct view_document *out_document);
void view_print(const struct view_document *document, struct json_writer *writer);

/* For views: the run's own document, which gets the fields of its start by name; a document with one
 * value, and one with a list. */
struct view_document view_run(const struct timeline *timeline, const char *name,
			      const struct type *type, void *value);
struct view_document view_one(const struct timeline *timeline, const char *name,
			      const struct type *type, const void *value);
/* For views: what an event of a group shows. */
enum event_fact_kind view_group_kind(const struct view_group *group, size_t n);
const struct event *view_group_stored(const struct view_group *group);
struct uuid view_group_id(const struct view_group *group, size_t n);
struct str view_group_message(const struct view_group *group, size_t n);
/* With `part` and `parts` if the group has several events, and with `left_out` in the last one. */
const struct json *view_group_details(const struct view_group *group, size_t n);
/* Room for `more` items behind `count` of an array in the arena. */
#define VIEW_GROW(arena, at, type, count, room, more) \
	((type *)view_grow(arena, at, sizeof(type), count, room, more))
void *view_grow(struct arena *arena, void *at, size_t size, size_t count, size_t *room,
		size_t more);
struct view_document view_many(const char *name, const struct type *type, const void *const *at,
			       size_t count);

#endif
