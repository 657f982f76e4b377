/* views/task_event.c -- execution events of the task vocabulary.
 *
 * There is one function per event type.  It uses only the stored event and facts of its call, so
 * the result never changes.  A signal is a user intervention.
 */
#include "views/task_parts.h"

#include "base/map.h"
#include "contract/event_result.h"
#include "contract/run_class_types.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_log_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "contract/run_tool_types.h"
#include "contract/run_turn_types.h"
#include "views/view_tree.h"

/* The stored event and its context. */
struct event_context {
	const struct timeline *timeline;
	size_t index;
	const struct event *event;
	const struct timeline_step *step;
	const struct timeline_call *call;
	/* The group, the number in it, and what it shows. */
	const struct view_group *group;
	size_t n;
	enum event_fact_kind kind;
};

/* ---- wire names -------------------------------------------------------------------- */

struct str project_task_tool_end(const struct event *event)
{
	return timeline_event_continues(event) ? S("event_error") : S("event_tool_result");
}

struct str project_task_agent_end(const struct event *event)
{
	return timeline_event_continues(event) || timeline_event_failed(event)
		       ? S("event_error")
		       : S("event_agent_complete");
}

/* Cancelled because of a failure; the vocabulary has no event for a cancellation by a person. */
struct str project_task_cancelling(const struct event *event)
{
	return timeline_event_failed(event) ? S("event_error") : S("");
}

/* ---- the task ---------------------------------------------------------------------- */

static void make_task_start(const struct event_context *t, struct task_execution_event *out)
{
	const struct timeline *timeline = t->timeline;
	struct task_task_start_event *event = task_task_start_event_new(timeline->arena);
	SET(event, task_id, task_parts_run_id(timeline));
	SET(event, timestamp, timeline->created_at);
	SET(event, initial_prompt, json_print(timeline->arena, timeline->inputs));
	SET(event, execution_mode, task_execution_mode_name(TASK_MODE_AUTONOMOUS));
	SET(event, team_config, TREE(timeline->arena, { S(""), view_tree_none() }));
	out->kind = TASK_EVENT_TASK_START;
	out->as.task_start = event;
}

/* The names of the artifacts that the run has written, each once, in the order of their first versions. */
static struct str_list artifacts_created(const struct timeline *timeline)
{
	struct str *names = arena_array(timeline->arena, struct str, timeline->source->event_count);
	AUTO(map) seen = { 0 };
	static char there;
	size_t count = 0;
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		const struct event *event = &timeline->source->events[i];
		if (event->type != EVENT_TOOL_FINISHED)
			continue;
		const struct run_write_artifact_outputs *written = task_parts_artifact(
			timeline, timeline_step(timeline, event), timeline_call(timeline, i));
		if (written == NULL || map_get(&seen, written->name) != NULL)
			continue;
		map_put(&seen, written->name, &there);
		names[count++] = written->name;
	}
	return (struct str_list){ names, count };
}

static void make_task_complete(const struct event_context *t, struct task_execution_event *out)
{
	const struct timeline *timeline = t->timeline;
	struct task_task_complete_event *event = task_task_complete_event_new(timeline->arena);
	enum task_final_status status;
	bool known = task_final_status_from(timeline_words(timeline)->task, &status);
	require(known);
	SET(event, task_id, task_parts_run_id(timeline));
	SET(event, timestamp, timeline->ended_at);
	SET(event, final_status, status);
	SET(event, summary, timeline_result(timeline));
	SET(event, artifacts_created, artifacts_created(timeline));
	SET(event, total_steps, (int64_t)timeline->ended_count);
	SET(event, total_duration_ms,
	    timeline_duration_ms(timeline->created_at, timeline->ended_at));
	out->kind = TASK_EVENT_TASK_COMPLETE;
	out->as.task_complete = event;
}

static void make_task_paused(const struct event_context *t, struct task_execution_event *out)
{
	struct task_task_paused_event *event = task_task_paused_event_new(t->timeline->arena);
	SET(event, task_id, task_parts_run_id(t->timeline));
	SET(event, timestamp, t->event->at);
	SET(event, reason, TASK_PAUSE_USER_REQUEST);
	SET(event, context, timeline_details(t->timeline, t->index));
	out->kind = TASK_EVENT_TASK_PAUSED;
	out->as.task_paused = event;
}

static void make_task_resumed(const struct event_context *t, struct task_execution_event *out)
{
	struct task_task_resumed_event *event = task_task_resumed_event_new(t->timeline->arena);
	SET(event, task_id, task_parts_run_id(t->timeline));
	SET(event, timestamp, t->event->at);
	SET(event, reason,
	    t->event->type == EVENT_RUN_RETRIED ? S("retry")
						: task_pause_reason_name(TASK_PAUSE_USER_REQUEST));
	SET(event, context, timeline_details(t->timeline, t->index));
	out->kind = TASK_EVENT_TASK_RESUMED;
	out->as.task_resumed = event;
}

static void make_user_intervention(const struct event_context *t, struct task_execution_event *out)
{
	struct task_user_intervention_event *event =
		task_user_intervention_event_new(t->timeline->arena);
	SET(event, intervention_id,
	    timeline_id_text(t->timeline,
			     timeline_event_id(t->timeline, timeline_seq(t->timeline, t->index))));
	SET(event, intervention_type, TASK_INTERVENTION_INSTRUCTION);
	SET(event, details, timeline_details(t->timeline, t->index));
	SET(event, timestamp, t->event->at);
	SET(event, user_id, t->event->as.run_signalled->by);
	out->kind = TASK_EVENT_USER_INTERVENTION;
	out->as.user_intervention = event;
}

/* ---- agents and tools -------------------------------------------------------------- */

static void make_agent_start(const struct event_context *t, struct task_execution_event *out)
{
	struct task_agent_start_event *event = task_agent_start_event_new(t->timeline->arena);
	SET(event, agent_name, timeline_agent(t->step));
	SET(event, step_id, task_parts_step_id(t->timeline, t->step));
	SET(event, timestamp, t->event->at);
	out->kind = TASK_EVENT_AGENT_START;
	out->as.agent_start = event;
}

static void make_agent_complete(const struct event_context *t, struct task_execution_event *out)
{
	struct task_agent_complete_event *event = task_agent_complete_event_new(t->timeline->arena);
	const struct json *tokens = json_member(t->call->usage, S("output_tokens"));
	SET(event, agent_name, timeline_agent(t->step));
	SET(event, step_id, task_parts_step_id(t->timeline, t->step));
	SET(event, timestamp, t->event->at);
	if (tokens != NULL && tokens->kind == JSON_INT)
		SET(event, token_count, tokens->as.integer);
	SET(event, execution_time_ms, timeline_duration_ms(t->call->begun_at, t->call->ended_at));
	out->kind = TASK_EVENT_AGENT_COMPLETE;
	out->as.agent_complete = event;
}

/* The agent that makes the call of a session; otherwise the workflow. */
static struct str caller_of(const struct event_context *t)
{
	struct str agent = event_facts_agent(&t->group->facts);
	return str_equal(agent, timeline_agent(t->step)) && t->kind == FACT_EVENT
		       ? t->timeline->source->graph->name
		       : agent;
}

static struct str refused_id(const struct event_context *t)
{
	/* A call and its refusal have the same id: that of the call's event. */
	size_t n = t->kind == FACT_REFUSAL ? t->n - 1 : t->n;
	return timeline_id_hex(t->timeline, "tc_", view_group_id(t->group, n));
}

static const struct task_tool_call *refused_call(const struct event_context *t)
{
	size_t fact = t->group->parts[t->n].fact;
	const struct run_turn_call *call = event_facts_call(&t->group->facts, fact);
	const struct json *details = event_facts_details(&t->group->facts, fact);
	struct task_tool_call *shown = task_tool_call_new(t->timeline->arena);
	SET(shown, id, refused_id(t));
	SET(shown, tool_name, json_text(json_member(details, S("tool"))));
	SET(shown, args,
	    call != NULL && has(call, arguments)
		    ? call->arguments
		    : TREE(t->timeline->arena, { S(""), view_tree_none() }));
	return shown;
}

static const struct task_tool_result *refused_result(const struct event_context *t)
{
	struct task_tool_result *result = task_tool_result_new(t->timeline->arena);
	SET(result, tool_call_id, refused_id(t));
	SET(result, result, S(""));
	SET(result, error, event_facts_refusal(&t->group->facts, t->group->parts[t->n].fact));
	SET(result, execution_time_ms, 0);
	return result;
}

static void make_tool_call(const struct event_context *t, struct task_execution_event *out)
{
	struct task_tool_call_event *event = task_tool_call_event_new(t->timeline->arena);
	SET(event, tool_call,
	    t->kind == FACT_REFUSED ? refused_call(t)
				    : task_parts_call(t->timeline, t->step, t->call));
	SET(event, agent_name, caller_of(t));
	SET(event, timestamp, t->event->at);
	out->kind = TASK_EVENT_TOOL_CALL;
	out->as.tool_call = event;
}

static void make_tool_result(const struct event_context *t, struct task_execution_event *out)
{
	struct task_tool_result_event *event = task_tool_result_event_new(t->timeline->arena);
	bool refused = t->kind == FACT_REFUSAL;
	SET(event, tool_result,
	    refused ? refused_result(t) : task_parts_result(t->timeline, t->step, t->call));
	SET(event, timestamp, t->event->at);
	SET(event, execution_time_ms,
	    refused ? 0 : timeline_duration_ms(t->call->begun_at, t->call->ended_at));
	out->kind = TASK_EVENT_TOOL_RESULT;
	out->as.tool_result = event;
}

/* ---- files and artifacts ------------------------------------------------------------ */

/* A file of the workspace: its version is the name of its content. */
static const struct task_artifact *file_artifact(const struct event_context *t)
{
	size_t fact = t->group->parts[t->n].fact;
	const struct run_file_change *file = event_facts_file(&t->group->facts, fact);
	struct task_artifact *artifact = task_artifact_new(t->timeline->arena);
	SET(artifact, uri, event_facts_uri(&t->group->facts, fact));
	SET(artifact, mime_type, S("application/octet-stream"));
	if (has(file, size))
		SET(artifact, size_bytes, file->size);
	if (has(file, object)) {
		SET(artifact, version, file->object);
		SET(artifact, checksum,
		    str_format(t->timeline->arena, "git:" STR_FMT, STR_ARG(file->object)));
	}
	SET(artifact, created_by, t->step->path);
	SET(artifact, metadata, view_group_details(t->group, t->n));
	return artifact;
}

static void make_artifact_created(const struct event_context *t, struct task_execution_event *out)
{
	struct task_artifact_created_event *event =
		task_artifact_created_event_new(t->timeline->arena);
	SET(event, artifact,
	    t->kind == FACT_ARTIFACT_CREATED
		    ? task_parts_written(t->timeline, t->step, t->group->facts.artifact)
		    : file_artifact(t));
	SET(event, created_by, event_facts_agent(&t->group->facts));
	SET(event, timestamp, t->event->at);
	out->kind = TASK_EVENT_ARTIFACT_CREATED;
	out->as.artifact_created = event;
}

static void make_artifact_modified(const struct event_context *t, struct task_execution_event *out)
{
	size_t fact = t->group->parts[t->n].fact;
	const struct run_file_change *file = event_facts_file(&t->group->facts, fact);
	struct task_artifact_modified_event *event =
		task_artifact_modified_event_new(t->timeline->arena);
	const struct json *change =
		TREE(t->timeline->arena,
		     { S("change"), view_tree_text(run_file_change_kind_name(file->change)) });
	SET(event, artifact_uri, event_facts_uri(&t->group->facts, fact));
	SET(event, modified_by, event_facts_agent(&t->group->facts));
	SET(event, changes,
	    view_tree_merge(t->timeline->arena, change, view_group_details(t->group, t->n)));
	SET(event, version, has(file, object) ? file->object : S(""));
	SET(event, timestamp, t->event->at);
	out->kind = TASK_EVENT_ARTIFACT_MODIFIED;
	out->as.artifact_modified = event;
}

static void make_artifact_versioned(const struct event_context *t, struct task_execution_event *out)
{
	const struct run_write_artifact_outputs *written = t->group->facts.artifact;
	struct arena *arena = t->timeline->arena;
	struct task_artifact_versioned_event *event = task_artifact_versioned_event_new(arena);
	SET(event, artifact_uri, event_facts_uri(&t->group->facts, t->group->parts[t->n].fact));
	SET(event, old_version, str_format(arena, "%lld", (long long)written->version - 1));
	SET(event, new_version, str_format(arena, "%lld", (long long)written->version));
	SET(event, reason, event_facts_format(&t->group->facts, t->group->parts[t->n].fact));
	SET(event, timestamp, t->event->at);
	out->kind = TASK_EVENT_ARTIFACT_VERSIONED;
	out->as.artifact_versioned = event;
}

/* ---- people ------------------------------------------------------------------------ */

static enum task_request_type request_type(const struct event_context *t)
{
	if (t->event->type == EVENT_HUMAN_ESCALATED)
		return TASK_REQUEST_ESCALATION;
	switch (t->event->as.run_human_requested->kind) {
	case RUN_REQUEST_FEEDBACK:
		return TASK_REQUEST_FEEDBACK;
	case RUN_REQUEST_ESCALATION:
	case RUN_REQUEST_OUTCOME_UNKNOWN:
		return TASK_REQUEST_ESCALATION;
	case RUN_REQUEST_APPROVAL:
	case RUN_REQUEST_SANITIZATION:
		break;
	}
	return TASK_REQUEST_APPROVAL;
}

/* When the question times out or is escalated. */
static int64_t due_of(const struct event_context *t)
{
	if (t->event->type == EVENT_HUMAN_REQUESTED)
		return t->call->due_at;
	const struct run_human_escalated *body = t->event->as.run_human_escalated;
	return has(body, due_at) ? body->due_at : 0;
}

static void make_hitl_request(const struct event_context *t, struct task_execution_event *out)
{
	struct task_hitl_request_event *event = task_hitl_request_event_new(t->timeline->arena);
	int64_t due = due_of(t);
	SET(event, request_id, timeline_id_text(t->timeline, t->call->effect));
	SET(event, request_type, request_type(t));
	SET(event, agent_name, t->timeline->source->graph->name);
	SET(event, context, timeline_details(t->timeline, t->index));
	if (due > 0)
		SET(event, timeout, timeline_duration_ms(t->event->at, due) / 1000);
	SET(event, timestamp, t->event->at);
	out->kind = TASK_EVENT_HITL_REQUEST;
	out->as.hitl_request = event;
}

static enum task_response_type response_type(enum run_decision decision)
{
	switch (decision) {
	case RUN_DECISION_REJECT:
	case RUN_DECISION_NOT_HAPPENED:
		return TASK_RESPONSE_REJECTED;
	case RUN_DECISION_MODIFY:
		return TASK_RESPONSE_MODIFIED;
	case RUN_DECISION_TIMEOUT:
		return TASK_RESPONSE_TIMEOUT;
	case RUN_DECISION_APPROVE:
	case RUN_DECISION_HAPPENED:
	case RUN_DECISION_RETRY:
		break;
	}
	return TASK_RESPONSE_APPROVED;
}

static void make_hitl_response(const struct event_context *t, struct task_execution_event *out)
{
	struct task_hitl_response_event *event = task_hitl_response_event_new(t->timeline->arena);
	SET(event, request_id, timeline_id_text(t->timeline, t->call->effect));
	SET(event, response_type, response_type(t->event->as.run_human_finished->decision));
	SET(event, response_data, t->call->output);
	SET(event, response_time_ms, timeline_duration_ms(t->call->begun_at, t->call->ended_at));
	SET(event, timestamp, t->event->at);
	out->kind = TASK_EVENT_HITL_RESPONSE;
	out->as.hitl_response = event;
}

/* ---- errors ------------------------------------------------------------------------ */

static struct str code_of(const struct event *event)
{
	struct event_result result = { 0 };
	if (event->type == EVENT_RUN_CANCELLING && has(event->as.run_cancelling, fault))
		return event->as.run_cancelling->fault->code;
	if (event_result(event, &result) && result.fault != NULL)
		return result.fault->code;
	return run_outcome_name(RUN_OUTCOME_FAILED);
}

static void make_error(const struct event_context *t, struct task_execution_event *out)
{
	struct task_error_event *event = task_error_event_new(t->timeline->arena);
	bool goes_on = timeline_event_continues(t->event);
	SET(event, error_id,
	    timeline_id_text(t->timeline,
			     timeline_event_id(t->timeline, timeline_seq(t->timeline, t->index))));
	SET(event, error_type, code_of(t->event));
	SET(event, error_message, timeline_format_event(t->timeline, t->index));
	SET(event, context, timeline_details(t->timeline, t->index));
	SET(event, timestamp, t->event->at);
	SET(event, recoverable, goes_on);
	if (goes_on)
		SET(event, recovery_action, t->call->retry_at > 0 ? S("retry") : S("ask a person"));
	out->kind = TASK_EVENT_ERROR;
	out->as.error = event;
}

static void make_recovery(const struct event_context *t, struct task_execution_event *out)
{
	struct task_recovery_event *event = task_recovery_event_new(t->timeline->arena);
	SET(event, error_id, timeline_id_text(t->timeline, t->call->effect));
	SET(event, recovery_strategy, run_effect_class_name(t->step->node->class));
	SET(event, success, true);
	SET(event, timestamp, t->event->at);
	SET(event, details, timeline_details(t->timeline, t->index));
	out->kind = TASK_EVENT_RECOVERY;
	out->as.recovery = event;
}

/* ---- dispatch ---------------------------------------------------------------------- */

static const struct {
	const char *word;
	void (*make)(const struct event_context *t, struct task_execution_event *out);
} makers[] = {
	{ "event_task_start", make_task_start },
	{ "event_task_complete", make_task_complete },
	{ "event_task_paused", make_task_paused },
	{ "event_task_resumed", make_task_resumed },
	{ "event_user_intervention", make_user_intervention },
	{ "event_agent_start", make_agent_start },
	{ "event_agent_complete", make_agent_complete },
	{ "event_tool_call", make_tool_call },
	{ "event_tool_result", make_tool_result },
	{ "event_hitl_request", make_hitl_request },
	{ "event_hitl_response", make_hitl_response },
	{ "event_error", make_error },
	{ "event_recovery", make_recovery },
	{ "event_artifact_created", make_artifact_created },
	{ "event_artifact_modified", make_artifact_modified },
	{ "event_artifact_versioned", make_artifact_versioned },
};

const struct task_execution_event *task_event(const struct view_group *group, size_t n)
{
	const struct timeline *timeline = &group->timeline;
	size_t index = group->facts.index;
	const struct event *from = view_group_stored(group);
	const struct event_context t = { .timeline = timeline,
					 .index = index,
					 .event = from,
					 .step = timeline_step(timeline, from),
					 .call = timeline_call(timeline, index),
					 .group = group,
					 .n = n,
					 .kind = view_group_kind(group, n) };
	struct task_execution_event *event =
		arena_new(timeline->arena, struct task_execution_event);
	size_t i = 0;
	while (i < COUNT(makers) && !str_equal(group->parts[n].word, str_from_c(makers[i].word)))
		i++;
	require(i < COUNT(makers)); /* every wire name has a maker: test_views.c */
	makers[i].make(&t, event);
	return event;
}
