/* views/view.h -- one run, shown in the vocabulary a client asks for.
 *
 * A view is one file view_<name>.c and one row of views.def.  Everything it gives is a value of
 * the seed's own contract, so it prints as that contract says and reads back without a problem.
 *
 *	run     the object that stands for a run in that vocabulary
 *	more    what else it says about a whole run: the log of steps, a trace, checkpoints
 *	event   a stored event as that vocabulary's event; contracts/projections.def says which
 *	        one, and whether there is one at all
 *
 * A plain workflow of tools, waits and questions has no agents, prompts, profiles or issues.
 * Where a seed requires one of these, it is empty; each view's file says which ones are.
 *
 *	const struct view *view = view_find(S("graph"));
 *	struct view_document run = view->ops->run(&story);
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
	struct str name; /* in the list of `more` */
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
	/* Event number `index` of the stream, called `word` in this vocabulary. */
	struct view_document (*event)(const struct timeline *timeline, size_t index,
				      struct str word);
};

struct view {
	struct str name, text;
	const struct view_ops *ops;
};

/* The functions that rows of projections.def name. */
#define WORD(word_)
#define BY(function_)                struct str function_(const struct event *event);
#define PROJECT(event_, view_, how_) how_
#include "contracts/projections.def"
#undef WORD
#undef BY
#undef PROJECT

const struct view *view_at(enum view_number number);
const struct view *view_find(struct str name); /* NULL when there is none */
MUST_CHECK bool view_from(struct str name, const struct view **out_view, struct error *error);

/* The wire name of an event in a view; "" when it is not shown there. */
struct str view_word(const struct view *view, const struct event *event);
/* False when the event is not shown in this view, or is about a step the graph does not have. */
bool view_event(const struct view *view, const struct timeline *timeline, size_t index,
		struct view_document *out_document);
void view_print(const struct view_document *document, struct json_writer *writer);

/* For views: a document of one value, and of several. */
struct view_document view_one(const struct timeline *timeline, const char *name,
			      const struct type *type, const void *value);
struct view_document view_many(const char *name, const struct type *type, const void *const *at,
			       size_t count);

#endif
