/* views/view.h -- a run in one of the five vocabularies.
 *
 * A view is one file view_<name>.c and one row of views.def.  All its results are entities of that
 * vocabulary's contract, so they validate against it.
 *
 *	run     the object that represents a run in the vocabulary
 *	more    further documents about a whole run: activity log, trace, checkpoints
 *	event   a stored event as an event of the vocabulary; contracts/projections.def has its wire
 *	        name, or hides it
 *
 * A plain workflow of tools, waits and questions has no agents, prompts, profiles or issues.  Where
 * a vocabulary requires one of these, the member is empty; each view_<name>.c lists them.
 *
 *	const struct view *view = view_find(S("graph"));
 *	struct view_document run = view->ops->run(&timeline);
 *	view_print(&run, &writer);
 */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include "contract/contract.h"
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

struct view_ops {
	struct view_document (*run)(const struct timeline *timeline);
	struct view_documents (*more)(const struct timeline *timeline);
	/* The event at `index`, whose wire name is `word`. */
	struct view_document (*event)(const struct timeline *timeline, size_t index,
				      struct str word);
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
#undef WORD
#undef BY
#undef PROJECT

const struct view *view_at(enum view_number number);
const struct view *view_find(struct str name); /* NULL = unknown */
MUST_CHECK bool view_from(struct str name, const struct view **out_view, struct error *error);

/* The wire name of an event in a view; "" = hidden. */
struct str view_word(const struct view *view, const struct event *event);
/* False when the view hides the event, or its step is not in the graph. */
bool view_event(const struct view *view, const struct timeline *timeline, size_t index,
		struct view_document *out_document);
void view_print(const struct view_document *document, struct json_writer *writer);

/* For views: the run's own document, which gets the fields of its start by name; a document with one
 * value, and one with a list. */
struct view_document view_run(const struct timeline *timeline, const char *name,
			      const struct type *type, void *value);
struct view_document view_one(const struct timeline *timeline, const char *name,
			      const struct type *type, const void *value);
struct view_document view_many(const char *name, const struct type *type, const void *const *at,
			       size_t count);

#endif
