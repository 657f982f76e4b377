/* views/pipeline_state.c -- collects the fields as JSON and lets the contract check them.
 *
 * The value is printed, the fields are put into the tree, and the tree is parsed again.  A problem names
 * the field that does not fit; without it the tree is parsed once more.  So a field of any type needs no
 * code of its own.
 */
#include "views/pipeline_state.h"

#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_outcome_types.h"
#include "contract/type.h"
#include "views/pipeline_calls.h"

struct found_field {
	struct str name;
	const struct json *value; /* NULL = none */
	int64_t seq;              /* of the event that set a variable */
};

struct state_fields {
	const struct timeline *timeline;
	struct found_field *at;
	size_t count;
};

static struct found_field *field_find(struct state_fields *fields, struct str name)
{
	for (size_t i = 0; i < fields->count; i++)
		if (str_equal(fields->at[i].name, name))
			return &fields->at[i];
	return NULL;
}

static bool is_in(struct str name, const struct str *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(names[i], name))
			return true;
	return false;
}

static struct state_fields fields_of(const struct timeline *timeline, const struct type *type,
				     const struct str *own, size_t own_count)
{
	struct state_fields fields = { .timeline = timeline };
	size_t all = 0;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		all++;
	fields.at = arena_array(timeline->arena, struct found_field, all);
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (!field_is_hook(field) && field_type(field) != NULL &&
		    !is_in(field->name, own, own_count))
			fields.at[fields.count++].name = field->name;
	return fields;
}

/* ---- sources ------------------------------------------------------------------------------- */

static void set(struct state_fields *fields, struct str name, const struct json *value)
{
	struct found_field *field = field_find(fields, name);
	if (field != NULL && value != NULL && value->kind != JSON_NULL)
		field->value = value;
}

static const struct json *tree_of(const struct state_fields *fields, struct json value)
{
	return arena_copy(fields->timeline->arena, &value, sizeof(value));
}

static void set_int(struct state_fields *fields, struct str name, int64_t number)
{
	set(fields, name, tree_of(fields, (struct json){ .kind = JSON_INT, .as.integer = number }));
}

static void take_inputs(struct state_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++)
		set(fields, fields->at[i].name,
		    json_member(fields->timeline->inputs, fields->at[i].name));
}

static void take_answer(struct state_fields *fields)
{
	const struct run_human_finished *answer = pipeline_last_answer(fields->timeline);
	if (answer == NULL)
		return;
	set(fields, S("human_approved"),
	    tree_of(fields, (struct json){ .kind = JSON_BOOL,
					   .as.boolean = pipeline_is_approval(answer) }));
	if (has(answer, comment))
		set(fields, S("human_feedback"),
		    tree_of(fields,
			    (struct json){ .kind = JSON_STRING, .as.string = answer->comment }));
}

/* What the milestones so far count. */
struct progress {
	int64_t done, reviews, task_reviews, revisions;
	bool tasks, judged, planned;
};

static void take_end(struct state_fields *fields, struct progress *progress,
		     const struct run_milestone *milestone, const struct json *output)
{
	switch (milestone->kind) {
	case RUN_MILESTONE_TASK:
		progress->done += milestone->passed;
		break;
	case RUN_MILESTONE_REVIEW:
		progress->judged = true;
		progress->reviews++;
		progress->task_reviews++;
		set(fields, S("last_review"), output);
		break;
	case RUN_MILESTONE_PLAN_VALIDATION:
		progress->planned = true;
		progress->revisions += !milestone->passed;
		set(fields, S("plan_validation_result"), output);
		break;
	}
}

static void take_milestones(struct state_fields *fields)
{
	const struct timeline *timeline = fields->timeline;
	struct progress progress = { 0 };
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		const struct run_milestone *milestone =
			event_milestone(&timeline->source->events[i]);
		if (milestone == NULL)
			continue;
		if (milestone->kind == RUN_MILESTONE_TASK && has(milestone, starts)) {
			progress.tasks = true;
			progress.task_reviews = 0;
			set(fields, S("total_tasks"),
			    json_member(milestone->data, S("total_tasks")));
		}
		if (has(milestone, passed))
			take_end(fields, &progress, milestone, timeline_call(timeline, i)->output);
	}
	if (progress.tasks)
		set_int(fields, S("current_task_index"), progress.done);
	if (progress.judged) {
		set_int(fields, S("review_iteration"), progress.reviews);
		set_int(fields, S("task_review_iteration"), progress.task_reviews);
	}
	if (progress.planned)
		set_int(fields, S("plan_revision_count"), progress.revisions);
}

/* The newest step that sets a variable wins, in whichever body it is. */
static void take_variables(struct state_fields *fields)
{
	const struct timeline *timeline = fields->timeline;
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_step *step = timeline->steps[i];
		if (step->state != VOCABULARY_STEP_SUCCEEDED || step->output == NULL)
			continue;
		for (size_t s = 0; s < step->node->sets.count; s++) {
			struct found_field *field =
				field_find(fields, step->node->sets.at[s].value);
			const struct json *value =
				json_member(step->output, step->node->sets.at[s].key);
			if (field == NULL || value == NULL || value->kind == JSON_NULL ||
			    step->ended_seq < field->seq)
				continue;
			field->value = value;
			field->seq = step->ended_seq;
		}
	}
}

/* ---- the value ----------------------------------------------------------------------------- */

static const struct json *merged(const struct state_fields *fields, const struct json *tree)
{
	struct arena *arena = fields->timeline->arena;
	size_t count = tree->as.object.count;
	struct json_member *members = arena_array(arena, struct json_member, count + fields->count);
	for (size_t i = 0; i < count; i++)
		members[i] = tree->as.object.at[i];
	for (size_t f = 0; f < fields->count; f++) {
		if (fields->at[f].value == NULL)
			continue;
		size_t at = 0;
		while (at < count && !str_equal(members[at].key, fields->at[f].name))
			at++;
		members[at] = (struct json_member){ .key = fields->at[f].name,
						    .value = *fields->at[f].value };
		count = at == count ? count + 1 : count;
	}
	struct json *out = arena_new(arena, struct json);
	*out = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return out;
}

/* Drops the fields that the problems name; false when they name none. */
static bool drop_unfit(struct state_fields *fields, const struct problems *problems)
{
	bool dropped = false;
	for (size_t i = 0; i < problems->count; i++) {
		struct str name = S(""), rest = problems->at[i].pointer;
		if (rest.size == 0)
			continue;
		rest = str_skip(rest, 1);
		(void)str_cut(&rest, '/', &name);
		struct found_field *field = field_find(fields, name);
		if (field != NULL && field->value != NULL) {
			field->value = NULL;
			dropped = true;
		}
	}
	return dropped;
}

const void *pipeline_state_fill(const struct timeline *timeline, const struct type *type,
				const void *value, const struct str *own, size_t own_count)
{
	struct state_fields fields = fields_of(timeline, type, own, own_count);
	const struct json *tree = contract_tree(type, value, timeline->arena);
	take_inputs(&fields);
	take_answer(&fields);
	take_milestones(&fields);
	take_variables(&fields);
	for (size_t tries = 0; tries <= fields.count; tries++) {
		struct problems problems = { .arena = timeline->arena };
		const struct contract_source source = { .json = merged(&fields, tree),
							.lenient = true };
		const void *filled = contract_parse(type, &source, timeline->arena, &problems);
		if (filled != NULL)
			return filled;
		if (!drop_unfit(&fields, &problems))
			break;
	}
	return value;
}
