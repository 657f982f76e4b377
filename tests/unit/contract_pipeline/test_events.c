/* What is derived: the level of an event, whether an old state is still queued. */
#include "pipeline_support.h"

#define EVENT_HEAD                                                                               \
	"{\"id\":\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\",\"workflow_id\":\"3f2504e0-4f89-41d3-" \
	"9a0c-0305e82c3302\",\"sequence\":1,\"timestamp\":\"2026-03-01T09:30:00Z\","             \
	"\"agent\":\"system\",\"message\":\"m\","

static enum pipeline_event_level level_of(struct str type)
{
	AUTO(arena) arena = { 0 };
	struct str text =
		str_format(&arena, EVENT_HEAD "\"event_type\":\"" STR_FMT "\"}", STR_ARG(type));
	const struct pipeline_workflow_event *event =
		read_good(pipeline_workflow_event_type(), text, &arena);
	cr_assert(has(event, level));
	return event->level;
}

/* The rule, not the table: what is neither of these is debug. */
static enum pipeline_event_level level_expected(struct str type)
{
	static const char *const info[] = {
		"workflow_created",
		"workflow_started",
		"workflow_completed",
		"workflow_cancelled",
		"stage_started",
		"stage_completed",
		"approval_required",
		"approval_granted",
		"approval_rejected",
		"review_completed",
		"oracle_consultation_started",
		"oracle_consultation_completed",
		"document_ingestion_started",
		"document_ingestion_completed",
	};
	if (str_ends(type, S("_failed")) || str_equal(type, S("system_error")))
		return PIPELINE_LEVEL_ERROR;
	if (str_equal(type, S("system_warning")))
		return PIPELINE_LEVEL_WARNING;
	for (size_t i = 0; i < COUNT(info); i++)
		if (str_equal(type, str_from_c(info[i])))
			return PIPELINE_LEVEL_INFO;
	return PIPELINE_LEVEL_DEBUG;
}

Test(events, level_follows_from_the_type)
{
	size_t seen[4] = { 0 };
	for (size_t i = 0; i < pipeline_event_type_count(); i++) {
		struct str type = pipeline_event_type_name((enum pipeline_event_type)i);
		enum pipeline_event_level level = level_of(type);
		cr_assert_eq(level, level_expected(type), STR_FMT, STR_ARG(type));
		seen[level]++;
	}
	cr_assert_eq(seen[PIPELINE_LEVEL_INFO], 14);
	cr_assert_eq(seen[PIPELINE_LEVEL_WARNING], 1);
	cr_assert_eq(seen[PIPELINE_LEVEL_ERROR], 7);
	cr_assert_eq(seen[PIPELINE_LEVEL_DEBUG], 27);
}

Test(events, a_given_level_stays_and_null_is_not_one)
{
	AUTO(arena) arena = { 0 };
	const struct pipeline_workflow_event *event = read_good(
		pipeline_workflow_event_type(),
		S(EVENT_HEAD "\"event_type\":\"workflow_failed\",\"level\":\"debug\"}"), &arena);
	cr_assert_eq(event->level, PIPELINE_LEVEL_DEBUG);
	event = read_good(pipeline_workflow_event_type(),
			  S(EVENT_HEAD "\"event_type\":\"workflow_failed\",\"level\":null}"),
			  &arena);
	cr_assert_eq(event->level, PIPELINE_LEVEL_ERROR);
}

Test(events, a_level_is_made_for_events_of_code)
{
	AUTO(arena) arena = { 0 };
	struct pipeline_workflow_event *event = pipeline_workflow_event_new(&arena);
	SET(event, event_type, PIPELINE_EVENT_SYSTEM_WARNING);
	cr_assert(!has(event, level));
	pipeline_workflow_event_make(event, &arena, NULL);
	cr_assert_eq(event->level, PIPELINE_LEVEL_WARNING);
}

static bool queued(const char *members)
{
	AUTO(arena) arena = { 0 };
	struct str text = str_format(
		&arena, "{\"profile_id\":\"p\",\"created_at\":\"2026-03-01T09:30:00Z\"%s}",
		members);
	const struct pipeline_v1_execution_state *state =
		read_good(pipeline_v1_execution_state_type(), text, &arena);
	cr_assert(has(state, is_queued));
	return state->is_queued;
}

Test(events, a_state_nobody_worked_on_is_queued)
{
	cr_assert(queued(""));
	cr_assert(queued(",\"issue\":{\"id\":\"1\",\"title\":\"t\",\"description\":\"d\"}"));
	cr_assert(queued(",\"auto_approve\":true,\"is_queued\":false"), "input is ignored");
	static const char *const begun[] = {
		",\"base_commit\":\"9fceb02\"",
		",\"goal\":\"g\"",
		",\"plan_markdown\":\"p\"",
		",\"plan_path\":\"p\"",
		",\"human_approved\":false",
		",\"last_review\":{\"reviewer_persona\":\"p\",\"approved\":true,\"comments\":[],"
		"\"severity\":\"low\"}",
		",\"driver_session_id\":\"s\"",
		",\"agent_history\":[\"planned\"]",
		",\"tool_calls\":[{\"id\":\"1\",\"tool_name\":\"t\",\"tool_input\":{}}]",
		",\"tool_results\":[{\"call_id\":\"1\",\"tool_name\":\"t\",\"output\":\"\","
		"\"success\":true}]",
		",\"final_response\":\"r\"",
		",\"error\":\"e\"",
		",\"agentic_status\":\"failed\"",
		",\"agentic_status\":\"failed\",\"is_queued\":true",
	};
	for (size_t i = 0; i < COUNT(begun); i++)
		cr_assert(!queued(begun[i]), "%s", begun[i]);
}

/* Who knows the run's status says so, and is not overruled. */
Test(events, a_set_is_queued_stays)
{
	AUTO(arena) arena = { 0 };
	struct pipeline_v1_execution_state *state = pipeline_v1_execution_state_new(&arena);
	SET(state, is_queued, false);
	pipeline_v1_execution_state_make(state, &arena, NULL);
	cr_assert(!state->is_queued);
}
