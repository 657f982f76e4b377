/* views/view_runtime.c -- the runtime vocabulary: the result at /api/runs/{id}, the full record,
 * the stream events.
 *
 * Every activation is a step of its own, named by its path: each round (improve#2) and the steps in
 * it (improve#2/draft), in definition order.  A retried step stays one step: its messages have
 * every attempt and every question, and retry_count is the number of attempts after the first.
 *
 * Values of a plain workflow: `agent` is the tool, the workflow of a sub-run, or "human", "wait",
 * "loop" and so on; the messages of a step are the call and its result, or the question and its
 * answer.  A cancelled step counts as failed, and its error says that it was cancelled.
 */
#include "views/view_runtime.h"

#include "contract/field_copy.h"
#include "contract/run_outline_types.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "contract/run_start_types.h"
#include "views/view.h"
#include "views/view_tree.h"

static const struct json no_members = { .kind = JSON_OBJECT };

/* ---- wire names -------------------------------------------------------------------- */

/* Only the first attempt starts a step; a question that settles an outcome does not. */
struct str project_runtime_step_start(const struct event *event)
{
	int64_t attempt = 1;
	if (event->type == EVENT_TOOL_REQUESTED && has(event->as.run_tool_requested, attempt))
		attempt = event->as.run_tool_requested->attempt;
	if (event->type == EVENT_TURN_REQUESTED && has(event->as.run_turn_requested, attempt))
		attempt = event->as.run_turn_requested->attempt;
	if (event->type == EVENT_SUBRUN_REQUESTED && has(event->as.run_subrun_requested, attempt))
		attempt = event->as.run_subrun_requested->attempt;
	bool settles = event->type == EVENT_HUMAN_REQUESTED &&
		       event->as.run_human_requested->kind == RUN_REQUEST_OUTCOME_UNKNOWN;
	return attempt > 1 || settles ? S("") : S("step_start");
}

struct str project_runtime_step_end(const struct event *event)
{
	return timeline_event_continues(event) ? S("") : S("step_end");
}

/* ---- words ------------------------------------------------------------------------- */

struct str view_runtime_status(struct str state)
{
	return vocabulary_run(vocabulary_run_from(state))->runtime;
}

static enum runtime_step_status status_of(struct str word)
{
	enum runtime_step_status status;
	bool known = runtime_step_status_from(word, &status);
	require(known);
	return status;
}

static const struct json *object_or_empty(const struct json *json)
{
	return json == NULL ? &no_members : json;
}

/* The run's duration does not include the time in the admission queue. */
static int64_t began_at(const struct timeline *timeline)
{
	return timeline->started_at > 0 ? timeline->started_at : timeline->created_at;
}

static const struct json *metadata(const struct timeline *timeline)
{
	static const struct json yes = { .kind = JSON_BOOL, .as.boolean = true };
	bool cancelled = timeline_words(timeline)->mark == VOCABULARY_CANCELLED;
	const struct json *own = TREE(
		timeline->arena, { S("state"), view_tree_text(timeline_words(timeline)->word) },
		{ S("cancelled"), cancelled ? view_tree_copy(&yes) : view_tree_none() },
		{ S("trace_id"),
		  has(timeline->start, trace)
			  ? view_tree_text(timeline_id_hex(timeline, "", timeline_trace(timeline)))
			  : view_tree_none() },
		{ S("traceparent"), view_tree_text_if(timeline->start->trace) });
	return view_tree_merge(timeline->arena, own, timeline->start->annotations);
}

/* ---- the result -------------------------------------------------------------------- */

static struct runtime_step_result_model step_model(const struct timeline *timeline,
						   const struct timeline_step *step)
{
	struct runtime_step_result_model *model = runtime_step_result_model_new(timeline->arena);
	SET(model, step_id, step->path);
	SET(model, agent, timeline_agent(step));
	SET(model, status, vocabulary_step(step->state)->runtime);
	if (step->started)
		SET(model, started_at, step->started_at);
	if (step->ended)
		SET(model, completed_at, step->ended_at);
	if (step->started && step->ended)
		SET(model, duration_ms, timeline_duration_ms(step->started_at, step->ended_at));
	if (step->output != NULL)
		SET(model, output, step->output);
	if (step->fault.size > 0) {
		struct runtime_failure *failure = runtime_failure_new(timeline->arena);
		COPY_FIELDS(run_failure, timeline_failure(timeline, step), runtime_failure, failure,
			    NULL);
		SET(model, error, step->fault);
		SET(model, failure, failure);
	}
	return *model;
}

static struct runtime_warning_list warnings_of(const struct timeline *timeline)
{
	struct runtime_warning *rows =
		arena_array(timeline->arena, struct runtime_warning, timeline->warning_count);
	for (size_t i = 0; i < timeline->warning_count; i++) {
		const struct run_warning *from = &timeline->warnings[i];
		rows[i] = *runtime_warning_new(timeline->arena);
		SET(&rows[i], code, run_warning_code_name(from->code));
		if (has(from, step))
			SET(&rows[i], step, from->step);
		SET(&rows[i], text, from->text);
	}
	return (struct runtime_warning_list){ rows, timeline->warning_count };
}

/* The adapter that POST /api/run was given, or what its options amount to. */
static struct str adapter_of(const struct timeline *timeline)
{
	const struct run_start *start = timeline->start;
	if (has(start, simulated) && start->simulated)
		return S("sim");
	return has(start, replay) ? S("replay") : S("native");
}

static const struct runtime_workflow_result_model *result_of(const struct timeline *timeline)
{
	struct runtime_workflow_result_model *result =
		runtime_workflow_result_model_new(timeline->arena);
	struct runtime_step_result_model *steps =
		arena_array(timeline->arena, struct runtime_step_result_model, timeline->count);
	const struct timeline_step **from = timeline_in_order(timeline);
	for (size_t i = 0; i < timeline->count; i++)
		steps[i] = step_model(timeline, from[i]);
	SET(result, run_id, timeline->source->run);
	SET(result, workflow, timeline->source->graph->name);
	SET(result, adapter, adapter_of(timeline));
	SET(result, status, timeline_words(timeline)->runtime);
	SET(result, started_at, began_at(timeline));
	if (timeline->ended) {
		SET(result, completed_at, timeline->ended_at);
		SET(result, duration_ms,
		    timeline_duration_ms(began_at(timeline), timeline->ended_at));
	}
	SET(result, steps, ((struct runtime_step_result_model_list){ steps, timeline->count }));
	SET(result, inputs, object_or_empty(timeline->inputs));
	SET(result, outputs, object_or_empty(timeline->outputs));
	if (timeline->fault.size > 0)
		SET(result, error, timeline->fault);
	if (timeline->warning_count > 0)
		SET(result, warnings, warnings_of(timeline));
	if (timeline->warnings_dropped > 0)
		SET(result, warnings_dropped, timeline->warnings_dropped);
	COPY_FIELDS(run_start, timeline->start, runtime_workflow_result_model, result, NULL);
	SET(result, metadata, metadata(timeline));
	return result;
}

const struct runtime_workflow_result_model *view_runtime_result(const struct view_source *source,
								struct arena *arena)
{
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, source, arena);
	return result_of(&timeline);
}

static struct view_document run_document(const struct timeline *timeline)
{
	return view_one(timeline, "result", runtime_workflow_result_model_type(),
			result_of(timeline));
}

/* ---- the full record --------------------------------------------------------------- */

static struct runtime_agent_message message(const struct timeline *timeline,
					    enum runtime_message_type type, struct uuid id,
					    struct str sender, const struct json *content,
					    int64_t at)
{
	struct runtime_agent_message *message = runtime_agent_message_new(timeline->arena);
	SET(message, id, id);
	SET(message, type, type);
	SET(message, sender, sender);
	SET(message, content, content);
	SET(message, timestamp, at);
	return *message;
}

static enum runtime_message_type opening_type(const struct timeline_step *step,
					      const struct timeline_call *call)
{
	return step->node->kind == RUN_NODE_TOOL && call->question == NULL
		       ? RUNTIME_MESSAGE_TOOL_CALL
		       : RUNTIME_MESSAGE_TASK;
}

static enum runtime_message_type closing_type(const struct timeline_step *step,
					      const struct timeline_call *call)
{
	if (call->fault.size > 0)
		return RUNTIME_MESSAGE_ERROR;
	return step->node->kind == RUN_NODE_TOOL && call->question == NULL
		       ? RUNTIME_MESSAGE_TOOL_RESULT
		       : RUNTIME_MESSAGE_RESPONSE;
}

/* A wait has no messages, and those of a body belong to its steps. */
static bool has_no_messages(const struct timeline_step *step)
{
	return step->node->kind == RUN_NODE_WAIT || has(step->node, body);
}

/* At most two messages; their ids are those of the events that recorded them. */
static size_t call_messages(const struct timeline *timeline, const struct timeline_step *step,
			    const struct timeline_call *call, struct runtime_agent_message *at)
{
	size_t count = 0;
	struct str workflow = timeline->source->graph->name;
	struct str agent =
		call->question != NULL ? run_node_kind_name(RUN_NODE_HUMAN) : timeline_agent(step);
	if (call->begun_seq > 0) {
		at[count] = message(
			timeline, opening_type(step, call),
			timeline_event_id(timeline, call->begun_seq), workflow,
			timeline_details(timeline, timeline_index(timeline, call->begun_seq)),
			call->begun_at);
		SET(&at[count], recipient, agent);
		count++;
	}
	if (call->ended_seq > 0) {
		at[count] = message(
			timeline, closing_type(step, call),
			timeline_event_id(timeline, call->ended_seq), agent,
			timeline_details(timeline, timeline_index(timeline, call->ended_seq)),
			call->ended_at);
		SET(&at[count], recipient, workflow);
		if (call->begun_seq > 0)
			SET(&at[count], parent_id, at[0].id);
		count++;
	}
	return count;
}

static struct runtime_agent_message_list messages_of(const struct timeline *timeline,
						     const struct timeline_step *step)
{
	struct runtime_agent_message *at =
		arena_array(timeline->arena, struct runtime_agent_message, 2 * step->call_count);
	const struct timeline_call **calls = timeline_calls(timeline, step);
	size_t count = 0;
	for (size_t i = 0; i < step->call_count && !has_no_messages(step); i++)
		count += call_messages(timeline, step, calls[i], &at[count]);
	return (struct runtime_agent_message_list){ at, count };
}

static struct runtime_step_result step_record(const struct timeline *timeline,
					      const struct timeline_step *step)
{
	struct runtime_step_result *result = runtime_step_result_new(timeline->arena);
	SET(result, step_id, step->path);
	SET(result, agent, timeline_agent(step));
	SET(result, status, status_of(vocabulary_step(step->state)->runtime));
	SET(result, inputs, step->inputs);
	SET(result, outputs, object_or_empty(step->output));
	SET(result, messages, messages_of(timeline, step));
	if (step->started)
		SET(result, started_at, step->started_at);
	if (step->ended)
		SET(result, completed_at, step->ended_at);
	if (step->fault.size > 0)
		SET(result, error, step->fault);
	SET(result, retry_count, step->attempts > 1 ? step->attempts - 1 : 0);
	runtime_step_result_make(result, timeline->arena, NULL);
	return *result;
}

static const struct runtime_workflow_result *record_of(const struct timeline *timeline)
{
	struct runtime_workflow_result *record = runtime_workflow_result_new(timeline->arena);
	struct runtime_step_result *steps =
		arena_array(timeline->arena, struct runtime_step_result, timeline->count);
	const struct timeline_step **from = timeline_in_order(timeline);
	for (size_t i = 0; i < timeline->count; i++)
		steps[i] = step_record(timeline, from[i]);
	SET(record, run_id, timeline->source->run);
	SET(record, workflow, timeline->source->graph->name);
	SET(record, adapter, adapter_of(timeline));
	SET(record, status, status_of(timeline_words(timeline)->runtime));
	SET(record, steps, ((struct runtime_step_result_list){ steps, timeline->count }));
	SET(record, inputs, timeline->inputs);
	SET(record, outputs, object_or_empty(timeline->outputs));
	SET(record, started_at, began_at(timeline));
	if (timeline->ended) {
		SET(record, completed_at, timeline->ended_at);
		SET(record, duration_ms,
		    timeline_duration_ms(began_at(timeline), timeline->ended_at));
	}
	if (timeline->fault.size > 0)
		SET(record, error, timeline->fault);
	SET(record, metadata, metadata(timeline));
	return record;
}

static struct view_documents more_documents(const struct timeline *timeline)
{
	struct view_document *at = arena_array(timeline->arena, struct view_document, 1);
	at[0] = view_one(timeline, "record", runtime_workflow_result_type(), record_of(timeline));
	return (struct view_documents){ at, 1 };
}

/* ---- events ------------------------------------------------------------------------ */

static const struct runtime_step_start_event *
step_start(const struct timeline *timeline, size_t index, const struct timeline_step *step)
{
	struct runtime_step_start_event *data = runtime_step_start_event_new(timeline->arena);
	SET(data, step_id, step->path);
	SET(data, agent, timeline_agent(step));
	SET(data, inputs, timeline_call(timeline, index)->inputs);
	return data;
}

static const struct runtime_step_end_event *step_end(const struct timeline *timeline, size_t index,
						     const struct timeline_step *step)
{
	struct runtime_step_end_event *data = runtime_step_end_event_new(timeline->arena);
	const struct event *event = &timeline->source->events[index];
	const struct timeline_call *call = timeline_call(timeline, index);
	bool skipped = event->type == EVENT_STEP_SKIPPED;
	SET(data, step_id, step->path);
	SET(data, status,
	    skipped                ? RUNTIME_STEP_SKIPPED
	    : call->fault.size > 0 ? RUNTIME_STEP_FAILED
				   : RUNTIME_STEP_SUCCESS);
	SET(data, duration_ms,
	    skipped ? 0 : timeline_duration_ms(step->started_at, call->ended_at));
	if (call->fault.size > 0)
		SET(data, error, call->fault);
	/* A container that a retry continued inside has left its body more than once. */
	const struct json *output = has(step->node, body) ? call->output : step->output;
	if (output != NULL)
		SET(data, output, output);
	return data;
}

static const struct runtime_workflow_start_event *workflow_start(const struct timeline *timeline,
								 const struct event *event)
{
	struct runtime_workflow_start_event *data =
		runtime_workflow_start_event_new(timeline->arena);
	SET(data, run_id, timeline->source->run);
	SET(data, workflow, timeline->source->graph->name);
	SET(data, adapter, adapter_of(timeline));
	SET(data, started_at, event->at);
	return data;
}

static const struct runtime_workflow_end_event *workflow_end(const struct timeline *timeline)
{
	struct runtime_workflow_end_event *data = runtime_workflow_end_event_new(timeline->arena);
	SET(data, run_id, timeline->source->run);
	SET(data, status, status_of(timeline_words(timeline)->runtime));
	SET(data, duration_ms, timeline_duration_ms(began_at(timeline), timeline->ended_at));
	SET(data, outputs, object_or_empty(timeline->outputs));
	return data;
}

/* The event before it ends the step with the text of the fault. */
static const struct runtime_error_event *step_error(const struct view_group *group, size_t n,
						    const struct timeline_step *step)
{
	const struct timeline *timeline = &group->timeline;
	const struct json *details = event_facts_details(&group->facts, group->parts[n].fact);
	struct runtime_error_event *data = runtime_error_event_new(timeline->arena);
	SET(data, code, json_text(json_member(details, S("code"))));
	SET(data, message, timeline_call(timeline, group->facts.index)->fault);
	SET(data, step_id, step->path);
	return data;
}

static struct view_document event_document(const struct view_group *group, size_t n)
{
	const struct timeline *timeline = &group->timeline;
	size_t index = group->facts.index;
	const struct event *event = view_group_stored(group);
	const struct timeline_step *step = timeline_step(timeline, event);
	struct runtime_stream_event *shown = runtime_stream_event_new(timeline->arena);
	struct runtime_stream_data *data = arena_new(timeline->arena, struct runtime_stream_data);
	enum runtime_stream_event_type type;
	bool known = runtime_stream_event_type_from(group->parts[n].word, &type);
	require(known);
	if (type == RUNTIME_STREAM_STEP_START) {
		data->kind = RUNTIME_DATA_STEP_START;
		data->as.step_start = step_start(timeline, index, step);
	} else if (type == RUNTIME_STREAM_STEP_END) {
		data->kind = RUNTIME_DATA_STEP_END;
		data->as.step_end = step_end(timeline, index, step);
	} else if (type == RUNTIME_STREAM_ERROR) {
		data->kind = RUNTIME_DATA_ERROR;
		data->as.error = step_error(group, n, step);
	} else if (type == RUNTIME_STREAM_WORKFLOW_END) {
		data->kind = RUNTIME_DATA_WORKFLOW_END;
		data->as.workflow_end = workflow_end(timeline);
	} else {
		require(type == RUNTIME_STREAM_WORKFLOW_START);
		data->kind = RUNTIME_DATA_WORKFLOW_START;
		data->as.workflow_start = workflow_start(timeline, event);
	}
	SET(shown, event, type);
	SET(shown, data, data);
	SET(shown, timestamp, event->at);
	return view_one(timeline, "event", runtime_stream_event_type(), shown);
}

const struct view_ops view_runtime_ops = { .run = run_document,
					   .more = more_documents,
					   .event = event_document };
