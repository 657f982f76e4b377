/* views/view.c -- views.def and projections.def as two tables.
 *
 * The table of projections has a cell per event and view.  The rows initialize cells by name, so
 * the compiler warns about a cell that is initialized twice.
 */
#include "views/view.h"

#include "base/limits.h"
#include "contract/field_copy.h"
#include "contract/run_start_types.h"

#define VIEW(name_, text_) extern const struct view_ops view_##name_##_ops;
#include "views/views.def"
#undef VIEW

static const struct view views[] = {
#define VIEW(name_, text_)                                 \
	[VIEW_##name_] = { { #name_, sizeof(#name_) - 1 }, \
			   { text_, sizeof(text_) - 1 },   \
			   &view_##name_##_ops },
#include "views/views.def"
#undef VIEW
};

static const struct projection {
	struct str word;
	struct str (*by)(const struct event *event);
} projections[][VIEW_COUNT] = {
#define WORD(word_)                                  \
	{                                            \
		.word = { word_, sizeof(word_) - 1 } \
	}
#define BY(function_)           \
	{                       \
		.by = function_ \
	}
#define PROJECT(event_, view_, how_) [EVENT_##event_][VIEW_##view_] = how_,
#include "contracts/projections.def"
#undef WORD
#undef BY
#undef PROJECT
};

const struct view *view_at(enum view_number number)
{
	return &views[number];
}

const struct view *view_find(struct str name)
{
	for (size_t i = 0; i < COUNT(views); i++)
		if (str_equal(views[i].name, name))
			return &views[i];
	return NULL;
}

bool view_from(struct str name, const struct view **out_view, struct error *error)
{
	const struct view *view = view_find(name);
	AUTO(buf) known = { 0 };
	for (size_t i = 0; i < COUNT(views); i++) {
		buf_add(&known, i == 0 ? S("") : S(", "));
		buf_add(&known, views[i].name);
	}
	struct str list = buf_str(&known);
	if (view == NULL)
		return fail(error, ERROR_USAGE,
			    "unknown view \"" STR_FMT "\"; expected one of " STR_FMT,
			    STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)), STR_ARG(list));
	*out_view = view;
	return true;
}

struct str view_word(const struct view *view, const struct event *event)
{
	if ((size_t)event->type >= COUNT(projections))
		return S("");
	const struct projection *projection = &projections[event->type][view - views];
	if (projection->by != NULL)
		return projection->by(event);
	return projection->word.size > 0 ? projection->word : S("");
}

bool view_event(const struct view *view, const struct timeline *timeline, size_t index,
		struct view_document *out_document)
{
	struct str word = view_word(view, &timeline->source->events[index]);
	if (word.size == 0 || !timeline_covers(timeline, &timeline->source->events[index]))
		return false;
	struct timeline shown = timeline_at(timeline, index);
	*out_document = view->ops->event(&shown, index, word);
	return true;
}

void view_print(const struct view_document *document, struct json_writer *writer)
{
	if (document->many)
		json_open(writer, '[');
	for (size_t i = 0; i < document->count; i++)
		contract_print(document->type, document->at[i], writer);
	if (document->many)
		json_close(writer, ']');
}

struct view_document view_run(const struct timeline *timeline, const char *name,
			      const struct type *type, void *value)
{
	contract_copy_fields(run_start_type(), timeline->start, type, value, NULL);
	return view_one(timeline, name, type, value);
}

struct view_document view_one(const struct timeline *timeline, const char *name,
			      const struct type *type, const void *value)
{
	const void **at = arena_array(timeline->arena, const void *, 1);
	at[0] = value;
	return (struct view_document){ str_from_c(name), type, at, 1, false };
}

struct view_document view_many(const char *name, const struct type *type, const void *const *at,
			       size_t count)
{
	return (struct view_document){ str_from_c(name), type, at, count, true };
}
