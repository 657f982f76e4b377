/* contract/event.c -- the rows of events.def as one table and two switches over the types. */
#include "contract/event.h"

#include "contract/event_result.h"
#include "contract/run_event_types.h"
#include "contract/run_start_types.h"
#include "contract/run_value_types.h"

static const struct event_row {
	struct str name;
	enum event_level level;
	enum event_persistence persistence;
} rows[] = {
#define EVENT(constant, name, body, level, persistence, text) \
	[EVENT_##constant] = { { name, sizeof(name) - 1 },    \
			       EVENT_LEVEL_##level,           \
			       EVENT_PERSISTENCE_##persistence },
#include "contracts/events.def"
#undef EVENT
};

struct str event_name(enum event_type type)
{
	return rows[type].name;
}

size_t event_type_count(void)
{
	return COUNT(rows);
}

enum event_level event_level(enum event_type type)
{
	return rows[type].level;
}

enum event_persistence event_persistence(enum event_type type)
{
	return rows[type].persistence;
}

struct str event_level_name(enum event_level level)
{
	static const struct str names[] = {
		[EVENT_LEVEL_DEBUG] = { "debug", 5 },
		[EVENT_LEVEL_INFO] = { "info", 4 },
		[EVENT_LEVEL_WARNING] = { "warning", 7 },
		[EVENT_LEVEL_ERROR] = { "error", 5 },
	};
	return names[level];
}

bool event_from(struct str name, enum event_type *out_type)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_equal(rows[i].name, name)) {
			*out_type = (enum event_type)i;
			return true;
		}
	return false;
}

struct str event_body(const struct event *event, struct arena *arena)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text) \
	case EVENT_##constant:                                \
		return body##_text(event->as.body, arena);
#include "contracts/events.def"
#undef EVENT
	}
	return S("");
}

struct run_commit_list event_commits(const struct event *event)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)                 \
	case EVENT_##constant:                                                \
		return has(event->as.body, commits) ? event->as.body->commits \
						    : (struct run_commit_list){ NULL, 0 };
#include "contracts/events.def"
#undef EVENT
	}
	return (struct run_commit_list){ NULL, 0 };
}

struct run_warning_list event_warnings(const struct event *event, int64_t *out_dropped)
{
	*out_dropped = 0;
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)                   \
	case EVENT_##constant:                                                  \
		if (has(event->as.body, warnings_dropped))                      \
			*out_dropped = event->as.body->warnings_dropped;        \
		return has(event->as.body, warnings) ? event->as.body->warnings \
						     : (struct run_warning_list){ NULL, 0 };
#include "contracts/events.def"
#undef EVENT
	}
	return (struct run_warning_list){ NULL, 0 };
}

void event_set_warnings(struct event *event, struct run_warning_list warnings, int64_t dropped,
			struct arena *arena)
{
	if (warnings.count == 0 && dropped == 0)
		return;
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)                                   \
	case EVENT_##constant: {                                                                \
		struct body *told = arena_copy(arena, event->as.body, sizeof(*event->as.body)); \
		if (warnings.count > 0)                                                         \
			SET(told, warnings, warnings);                                          \
		if (dropped > 0)                                                                \
			SET(told, warnings_dropped, dropped);                                   \
		event->as.body = told;                                                          \
		break;                                                                          \
	}
#include "contracts/events.def"
#undef EVENT
	}
}

const struct run_milestone *event_milestone(const struct event *event)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text) \
	case EVENT_##constant:                                \
		return has(event->as.body, milestone) ? event->as.body->milestone : NULL;
#include "contracts/events.def"
#undef EVENT
	}
	return NULL;
}

void event_set_milestone(struct event *event, const struct run_milestone *milestone,
			 struct arena *arena)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)                                   \
	case EVENT_##constant: {                                                                \
		struct body *told = arena_copy(arena, event->as.body, sizeof(*event->as.body)); \
		SET(told, milestone, milestone);                                                \
		event->as.body = told;                                                          \
		break;                                                                          \
	}
#include "contracts/events.def"
#undef EVENT
	}
}

bool event_step(const struct event *event, struct str *out_path)
{
	switch (event->type) {
	case EVENT_RUN_CREATED:
	case EVENT_RUN_STARTED:
	case EVENT_RUN_PAUSED:
	case EVENT_RUN_RESUMED:
	case EVENT_RUN_RETRIED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_UNWINDING:
	case EVENT_RUN_SIGNALLED:
	case EVENT_MESSAGE_SENT:
	case EVENT_MESSAGE_READ:
	case EVENT_RUN_FINISHED:
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_BRANCH_ENDED:
	case EVENT_RUN_COMPACTED:
		break;
	case EVENT_STEP_COMPUTED:
		*out_path = event->as.run_step_computed->step;
		return true;
	case EVENT_STEP_SKIPPED:
		*out_path = event->as.run_step_skipped->step;
		return true;
	case EVENT_STEP_STARTED:
		*out_path = event->as.run_step_started->step;
		return true;
	case EVENT_STEP_ENTERED:
		*out_path = event->as.run_step_entered->step;
		return true;
	case EVENT_STEP_LEFT:
		*out_path = event->as.run_step_left->step;
		return true;
	case EVENT_TOOL_REQUESTED:
		*out_path = event->as.run_tool_requested->step;
		return true;
	case EVENT_TOOL_RESTARTED:
		*out_path = event->as.run_tool_restarted->step;
		return true;
	case EVENT_TOOL_FINISHED:
		*out_path = event->as.run_tool_finished->step;
		return true;
	case EVENT_TIMER_REQUESTED:
		*out_path = event->as.run_timer_requested->step;
		return true;
	case EVENT_TIMER_FINISHED:
		*out_path = event->as.run_timer_finished->step;
		return true;
	case EVENT_HUMAN_REQUESTED:
		*out_path = event->as.run_human_requested->step;
		return true;
	case EVENT_HUMAN_ESCALATED:
		*out_path = event->as.run_human_escalated->step;
		return true;
	case EVENT_HUMAN_FINISHED:
		*out_path = event->as.run_human_finished->step;
		return true;
	case EVENT_TURN_REQUESTED:
		*out_path = event->as.run_turn_requested->step;
		return true;
	case EVENT_TURN_FINISHED:
		*out_path = event->as.run_turn_finished->step;
		return true;
	case EVENT_SUBRUN_REQUESTED:
		*out_path = event->as.run_subrun_requested->step;
		return true;
	case EVENT_SUBRUN_FINISHED:
		*out_path = event->as.run_subrun_finished->step;
		return true;
	}
	return false;
}

void event_set_origin(struct event *event, struct run_commit_list commits, struct str request_id,
		      struct arena *arena)
{
	if (commits.count == 0 && request_id.size == 0)
		return;
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)                                   \
	case EVENT_##constant: {                                                                \
		struct body *told = arena_copy(arena, event->as.body, sizeof(*event->as.body)); \
		if (commits.count > 0)                                                          \
			SET(told, commits, commits);                                            \
		if (request_id.size > 0)                                                        \
			SET(told, request_id, request_id);                                      \
		event->as.body = told;                                                          \
		break;                                                                          \
	}
#include "contracts/events.def"
#undef EVENT
	}
}

bool value_name(const struct run_value *value, struct hash *out_name)
{
	if (value == NULL || !has(value, sha256))
		return false;
	*out_name = value->sha256;
	return true;
}

bool event_result(const struct event *event, struct event_result *out_result)
{
	switch (event->type) {
	case EVENT_STEP_COMPUTED:
		*out_result = EVENT_COMPUTED(event->as.run_step_computed);
		return true;
	case EVENT_STEP_LEFT:
		*out_result = EVENT_RESULT(event->as.run_step_left);
		return true;
	case EVENT_TOOL_FINISHED:
		*out_result = EVENT_RESULT(event->as.run_tool_finished);
		return true;
	case EVENT_TURN_FINISHED:
		*out_result = EVENT_RESULT(event->as.run_turn_finished);
		return true;
	case EVENT_SUBRUN_FINISHED:
		*out_result = EVENT_RESULT(event->as.run_subrun_finished);
		return true;
	case EVENT_TIMER_FINISHED:
		*out_result = EVENT_RESULT(event->as.run_timer_finished);
		return true;
	case EVENT_RUN_CREATED:
	case EVENT_RUN_STARTED:
	case EVENT_RUN_PAUSED:
	case EVENT_RUN_RESUMED:
	case EVENT_RUN_RETRIED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_UNWINDING:
	case EVENT_RUN_SIGNALLED:
	case EVENT_MESSAGE_SENT:
	case EVENT_MESSAGE_READ:
	case EVENT_RUN_FINISHED:
	case EVENT_BRANCH_ENDED:
	case EVENT_RUN_COMPACTED:
	case EVENT_STEP_SKIPPED:
	case EVENT_STEP_STARTED:
	case EVENT_STEP_ENTERED:
	case EVENT_TOOL_REQUESTED:
	case EVENT_TOOL_RESTARTED:
	case EVENT_TURN_REQUESTED:
	case EVENT_SUBRUN_REQUESTED:
	case EVENT_TIMER_REQUESTED:
	case EVENT_HUMAN_REQUESTED:
	case EVENT_HUMAN_ESCALATED:
	case EVENT_HUMAN_FINISHED:
	case EVENT_DOCUMENT_CHANGED:
		break;
	}
	return false;
}

/* The value in the body of an event; most types have exactly one.  NULL when there is none.  The log
 * and the files of a tool call are further ones. */
static const struct run_value *value_of(const struct event *event)
{
	struct event_result result;
	if (event_result(event, &result))
		return result.output;
	switch (event->type) {
	case EVENT_RUN_CREATED:
		return event->as.run_created->inputs;
	case EVENT_STEP_ENTERED:
		return has(event->as.run_step_entered, items) ? event->as.run_step_entered->items
		       : has(event->as.run_step_entered, opening)
			       ? event->as.run_step_entered->opening
			       : NULL;
	case EVENT_TOOL_REQUESTED:
		return event->as.run_tool_requested->inputs;
	case EVENT_TURN_REQUESTED:
		return event->as.run_turn_requested->request;
	case EVENT_SUBRUN_REQUESTED:
		return event->as.run_subrun_requested->inputs;
	case EVENT_HUMAN_REQUESTED:
		return event->as.run_human_requested->inputs;
	case EVENT_HUMAN_FINISHED:
		return has(event->as.run_human_finished, value)
			       ? event->as.run_human_finished->value
			       : NULL;
	case EVENT_MESSAGE_SENT:
		return event->as.run_message_sent->content;
	case EVENT_RUN_SIGNALLED:
		return event->as.run_signalled->data;
	case EVENT_RUN_FINISHED:
		return has(event->as.run_finished, outputs) ? event->as.run_finished->outputs
							    : NULL;
	case EVENT_STEP_COMPUTED:
	case EVENT_STEP_SKIPPED:
	case EVENT_STEP_STARTED:
	case EVENT_STEP_LEFT:
	case EVENT_TOOL_RESTARTED:
	case EVENT_TOOL_FINISHED:
	case EVENT_TURN_FINISHED:
	case EVENT_SUBRUN_FINISHED:
	case EVENT_TIMER_REQUESTED:
	case EVENT_TIMER_FINISHED:
	case EVENT_HUMAN_ESCALATED:
	case EVENT_RUN_STARTED:
	case EVENT_RUN_PAUSED:
	case EVENT_RUN_RESUMED:
	case EVENT_RUN_RETRIED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_UNWINDING:
	case EVENT_BRANCH_ENDED:
	case EVENT_RUN_COMPACTED:
	case EVENT_MESSAGE_READ:
	case EVENT_DOCUMENT_CHANGED:
		break;
	}
	return NULL;
}

static const struct run_next *next_of(const struct event *event)
{
	struct event_result result;
	if (event_result(event, &result))
		return result.next;
	return event->type == EVENT_HUMAN_FINISHED && has(event->as.run_human_finished, next)
		       ? event->as.run_human_finished->next
		       : NULL;
}

size_t event_names(const struct event *event, struct hash out_names[EVENT_NAMES])
{
	size_t count = 0;
	if (event->type == EVENT_RUN_CREATED)
		out_names[count++] = event->as.run_created->definition;
	if (event->type == EVENT_SUBRUN_REQUESTED)
		out_names[count++] = event->as.run_subrun_requested->definition;
	count += value_name(value_of(event), &out_names[count]);
	if (event->type == EVENT_TOOL_FINISHED && has(event->as.run_tool_finished, log))
		count += value_name(event->as.run_tool_finished->log, &out_names[count]);
	if (event->type == EVENT_TOOL_FINISHED && has(event->as.run_tool_finished, files))
		count += value_name(event->as.run_tool_finished->files, &out_names[count]);
	const struct run_next *next = next_of(event);
	if (next != NULL && has(next, undo))
		count += value_name(next->undo, &out_names[count]);
	if (next != NULL && has(next, state))
		count += value_name(next->state, &out_names[count]);
	return count;
}

static bool parse_body(const struct contract_source *source, struct arena *arena,
		       struct problems *problems, struct event *event)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)           \
	case EVENT_##constant:                                          \
		event->as.body = body##_parse(source, arena, problems); \
		return event->as.body != NULL;
#include "contracts/events.def"
#undef EVENT
	}
	return false;
}

bool event_read(struct str name, int64_t at, struct str body, struct arena *arena,
		struct event *out_event, struct error *error)
{
	struct event event = { .at = at };
	if (!event_from(name, &event.type))
		return fail(error, ERROR_INVALID, "unknown event " STR_FMT, STR_ARG(name));
	const struct json *json;
	if (!json_read(body, arena, &json, error))
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = body, .lenient = true };
	if (!parse_body(&source, arena, &problems, &event)) {
		problems_fail(&problems, error);
		error_prefix(error, "event " STR_FMT ": ", STR_ARG(name));
		return false;
	}
	*out_event = event;
	return true;
}
