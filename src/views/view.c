/* views/view.c -- views.def and projections.def as tables; the groups of events that they make.
 *
 * The table of projections has a cell per event and view, that of facts one per fact and view.  The rows initialize cells by name, so
 * the compiler warns about a cell that is initialized twice.
 */
#include "views/view.h"

#include <string.h>

#include "base/limits.h"
#include "contract/field_copy.h"
#include "contract/run_start_types.h"
#include "views/pipeline_calls.h"
#include "views/view_tree.h"

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

static const struct str fact_words[FACT_COUNT][VIEW_COUNT] = {
#define PROJECT(event_, view_, how_)
#define FACT(fact_, view_, word_) [FACT_##fact_][VIEW_##view_] = { word_, sizeof(word_) - 1 },
#include "contracts/projections.def"
#undef PROJECT
};

/* Words of the pipeline vocabulary in runs of one pipeline, before those above. */
enum { PIPELINES = RUN_PIPELINE_BRAINSTORM + 1 };

static const struct projection own_projections[PIPELINES][COUNT(projections)] = {
#define WORD(word_)                                  \
	{                                            \
		.word = { word_, sizeof(word_) - 1 } \
	}
#define BY(function_)           \
	{                       \
		.by = function_ \
	}
#define EVENT_OF(pipeline_, event_, how_) [RUN_PIPELINE_##pipeline_][EVENT_##event_] = how_,
#include "contracts/pipeline_words.def"
#undef WORD
#undef BY
};

static const struct str own_fact_words[PIPELINES][FACT_COUNT] = {
#define FACT_OF(pipeline_, fact_, word_) \
	[RUN_PIPELINE_##pipeline_][FACT_##fact_] = { word_, sizeof(word_) - 1 },
#include "contracts/pipeline_words.def"
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

/* ---- groups ------------------------------------------------------------------------ */

/* "" = the pipeline of the run has no word of its own for it. */
static struct str own_word(const struct view_group *group, enum event_fact_kind kind)
{
	const struct event *event = view_group_stored(group);
	enum run_pipeline pipeline;
	if (group->view != view_at(VIEW_pipeline) || !pipeline_of_run(&group->timeline, &pipeline))
		return S("");
	if (kind != FACT_EVENT)
		return own_fact_words[pipeline][kind];
	if ((size_t)event->type >= COUNT(projections))
		return S("");
	const struct projection *own = &own_projections[pipeline][event->type];
	return own->by != NULL ? own->by(event) : own->word;
}

static struct str part_word(const struct view_group *group, size_t fact)
{
	enum event_fact_kind kind = group->facts.at[fact].kind;
	struct str own = own_word(group, kind);
	if (own.size > 0)
		return own;
	return kind == FACT_EVENT ? view_word(group->view, view_group_stored(group))
				  : fact_words[kind][group->view - views];
}

void view_group_make(struct view_group *out_group, const struct view *view,
		     const struct timeline *timeline, size_t index)
{
	*out_group = (struct view_group){ .view = view };
	if (!timeline_covers(timeline, &timeline->source->events[index]))
		return;
	out_group->timeline = timeline_at(timeline, index);
	out_group->facts = event_facts(&out_group->timeline, index);
	size_t facts = out_group->facts.count;
	size_t room = facts < LIMIT_EVENT_GROUP ? facts : LIMIT_EVENT_GROUP;
	struct view_part *parts = arena_array(timeline->arena, struct view_part, room);
	for (size_t i = 0; i < facts; i++) {
		struct str word = part_word(out_group, i);
		if (word.size == 0)
			continue;
		if (out_group->count < LIMIT_EVENT_GROUP)
			parts[out_group->count++] = (struct view_part){ i, word };
		else
			out_group->left_out++;
	}
	if (fact_words[FACT_FILE_CREATED][view - views].size > 0)
		out_group->left_out += out_group->facts.left_out;
	out_group->parts = parts;
}

struct view_document view_group_event(const struct view_group *group, size_t n)
{
	return group->view->ops->event(group, n);
}

bool view_event(const struct view *view, const struct timeline *timeline, size_t index,
		struct view_document *out_document)
{
	struct view_group group;
	view_group_make(&group, view, timeline, index);
	if (group.count == 0)
		return false;
	*out_document = view_group_event(&group, 0);
	return true;
}

enum event_fact_kind view_group_kind(const struct view_group *group, size_t n)
{
	return group->facts.at[group->parts[n].fact].kind;
}

const struct event *view_group_stored(const struct view_group *group)
{
	return &group->timeline.source->events[group->facts.index];
}

struct uuid view_group_id(const struct view_group *group, size_t n)
{
	return timeline_part_id(&group->timeline,
				timeline_seq(&group->timeline, group->facts.index), n);
}

static bool says_left_out(const struct view_group *group, size_t n)
{
	return group->left_out > 0 && n + 1 == group->count;
}

struct str view_group_message(const struct view_group *group, size_t n)
{
	struct str message = event_facts_format(&group->facts, group->parts[n].fact);
	return says_left_out(group, n)
		       ? str_format(group->timeline.arena, STR_FMT "; %lld more are left out",
				    STR_ARG(message), (long long)group->left_out)
		       : message;
}

const struct json *view_group_details(const struct view_group *group, size_t n)
{
	const struct json *details = event_facts_details(&group->facts, group->parts[n].fact);
	if (group->count == 1 && group->left_out == 0)
		return details;
	return view_tree_merge(
		group->timeline.arena, details,
		TREE(group->timeline.arena, { S("part"), view_tree_int((int64_t)n) },
		     { S("parts"), view_tree_int((int64_t)group->count) },
		     { S("left_out"), says_left_out(group, n) ? view_tree_int(group->left_out)
							      : view_tree_none() }));
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

void *view_grow(struct arena *arena, void *at, size_t size, size_t count, size_t *room, size_t more)
{
	if (count + more <= *room)
		return at;
	*room = 2 * (count + more);
	char *grown = arena_take(arena, *room * size);
	if (count > 0)
		memcpy(grown, at, count * size);
	return grown;
}

struct view_document view_many(const char *name, const struct type *type, const void *const *at,
			       size_t count)
{
	return (struct view_document){ str_from_c(name), type, at, count, true };
}
