/* views/view_runtime.c -- S2: what /api/runs/{id} shows, the full record, the stream's events.
 *
 * A plain workflow's honest values: `agent` is the tool, "human" or "wait" that stands in an
 * agent's place; the messages of a step are the call and its result, or the question and its
 * answer; a step that was never tried again has a retry_count of 0.
 */
#include "views/view_runtime.h"

#include "views/tree.h"
#include "views/view.h"

static const struct json no_members = { .kind = JSON_OBJECT };

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

static const struct json *metadata(const struct story *story)
{
	static const struct json yes = { .kind = JSON_BOOL, .as.boolean = true };
	bool cancelled = story_words(story)->mark == VOCABULARY_CANCELLED;
	return TREE(story->arena, { S("state"), tree_text(story_words(story)->word) },
		    { S("cancelled"), cancelled ? tree_copy(&yes) : tree_none() },
		    { S("traceparent"), tree_text_if(story->trace) });
}

/* ---- the result ---------------------------------------------------------------------- */

static struct runtime_step_result_model step_model(const struct story *story,
						   const struct story_step *step)
{
	struct runtime_step_result_model *model = runtime_step_result_model_new(story->arena);
	SET(model, step_id, step->node->name);
	SET(model, agent, story_agent(step));
	SET(model, status, vocabulary_step(step->state)->runtime);
	if (step->started)
		SET(model, started_at, step->started_at);
	if (step->ended)
		SET(model, completed_at, step->ended_at);
	if (step->started && step->ended)
		SET(model, duration_ms, story_duration_ms(step->started_at, step->ended_at));
	if (step->output != NULL)
		SET(model, output, step->output);
	if (step->fault.size > 0)
		SET(model, error, step->fault);
	return *model;
}

static const struct runtime_workflow_result_model *result_of(const struct story *story)
{
	struct runtime_workflow_result_model *result =
		runtime_workflow_result_model_new(story->arena);
	struct runtime_step_result_model *steps =
		arena_array(story->arena, struct runtime_step_result_model, story->count);
	for (size_t i = 0; i < story->count; i++)
		steps[i] = step_model(story, &story->steps[i]);
	SET(result, run_id, story->source->run);
	SET(result, workflow, story->source->graph->name);
	SET(result, adapter, S("native"));
	SET(result, status, story_words(story)->runtime);
	SET(result, started_at, story->created_at);
	if (story->ended) {
		SET(result, completed_at, story->ended_at);
		SET(result, duration_ms, story_duration_ms(story->created_at, story->ended_at));
	}
	SET(result, steps, ((struct runtime_step_result_model_list){ steps, story->count }));
	SET(result, outputs, object_or_empty(story->outputs));
	if (story->fault.size > 0)
		SET(result, error, story->fault);
	SET(result, metadata, metadata(story));
	return result;
}

const struct runtime_workflow_result_model *view_runtime_result(const struct view_source *source,
								struct arena *arena)
{
	AUTO(story) story = { 0 };
	story_read(&story, source, arena);
	return result_of(&story);
}

static struct view_document run_document(const struct story *story)
{
	return view_one(story, "result", runtime_workflow_result_model_type(), result_of(story));
}

/* ---- the full record ----------------------------------------------------------------- */

static struct runtime_agent_message message(const struct story *story,
					    enum runtime_message_type type, struct uuid id,
					    struct str sender, const struct json *content,
					    int64_t at)
{
	struct runtime_agent_message *message = runtime_agent_message_new(story->arena);
	SET(message, id, id);
	SET(message, type, type);
	SET(message, sender, sender);
	SET(message, content, content);
	SET(message, timestamp, at);
	return *message;
}

static enum runtime_message_type closing_type(const struct story_step *step)
{
	if (step->fault.size > 0)
		return RUNTIME_MESSAGE_ERROR;
	return step->node->kind == RUN_NODE_TOOL ? RUNTIME_MESSAGE_TOOL_RESULT
						 : RUNTIME_MESSAGE_RESPONSE;
}

/* What was said has the ids of the events that recorded it.  A wait says nothing. */
static struct runtime_agent_message_list messages_of(const struct story *story,
						     const struct story_step *step)
{
	struct runtime_agent_message *at =
		arena_array(story->arena, struct runtime_agent_message, 2);
	size_t count = 0;
	bool asks = step->node->kind == RUN_NODE_HUMAN;
	struct str workflow = story->source->graph->name, agent = story_agent(step);
	if (step->node->kind == RUN_NODE_WAIT)
		return (struct runtime_agent_message_list){ at, 0 };
	if (step->begun_seq > 0) {
		at[count] = message(story, asks ? RUNTIME_MESSAGE_TASK : RUNTIME_MESSAGE_TOOL_CALL,
				    story_event_id(story, step->begun_seq), workflow,
				    story_details(story, story_index(story, step->begun_seq)),
				    step->started_at);
		SET(&at[count], recipient, agent);
		count++;
	}
	if (step->ended_seq > 0) {
		at[count] = message(
			story, closing_type(step), story_event_id(story, step->ended_seq), agent,
			story_details(story, story_index(story, step->ended_seq)), step->ended_at);
		SET(&at[count], recipient, workflow);
		if (step->begun_seq > 0)
			SET(&at[count], parent_id, at[0].id);
		count++;
	}
	return (struct runtime_agent_message_list){ at, count };
}

static struct runtime_step_result step_record(const struct story *story,
					      const struct story_step *step)
{
	struct runtime_step_result *result = runtime_step_result_new(story->arena);
	SET(result, step_id, step->node->name);
	SET(result, agent, story_agent(step));
	SET(result, status, status_of(vocabulary_step(step->state)->runtime));
	SET(result, inputs, step->inputs);
	SET(result, outputs, object_or_empty(step->output));
	SET(result, messages, messages_of(story, step));
	if (step->started)
		SET(result, started_at, step->started_at);
	if (step->ended)
		SET(result, completed_at, step->ended_at);
	if (step->fault.size > 0)
		SET(result, error, step->fault);
	SET(result, retry_count, step->attempts > 1 ? step->attempts - 1 : 0);
	runtime_step_result_make(result, story->arena, NULL);
	return *result;
}

static const struct runtime_workflow_result *record_of(const struct story *story)
{
	struct runtime_workflow_result *record = runtime_workflow_result_new(story->arena);
	struct runtime_step_result *steps =
		arena_array(story->arena, struct runtime_step_result, story->count);
	for (size_t i = 0; i < story->count; i++)
		steps[i] = step_record(story, &story->steps[i]);
	SET(record, run_id, story->source->run);
	SET(record, workflow, story->source->graph->name);
	SET(record, adapter, S("native"));
	SET(record, status, status_of(story_words(story)->runtime));
	SET(record, steps, ((struct runtime_step_result_list){ steps, story->count }));
	SET(record, inputs, story->inputs);
	SET(record, outputs, object_or_empty(story->outputs));
	SET(record, started_at, story->created_at);
	if (story->ended) {
		SET(record, completed_at, story->ended_at);
		SET(record, duration_ms, story_duration_ms(story->created_at, story->ended_at));
	}
	if (story->fault.size > 0)
		SET(record, error, story->fault);
	SET(record, metadata, metadata(story));
	return record;
}

static struct view_documents more_documents(const struct story *story)
{
	struct view_document *at = arena_array(story->arena, struct view_document, 1);
	at[0] = view_one(story, "record", runtime_workflow_result_type(), record_of(story));
	return (struct view_documents){ at, 1 };
}

/* ---- events -------------------------------------------------------------------------- */

static const struct runtime_step_start_event *step_start(const struct story *story,
							 const struct story_step *step)
{
	struct runtime_step_start_event *data = runtime_step_start_event_new(story->arena);
	SET(data, step_id, step->node->name);
	SET(data, agent, story_agent(step));
	SET(data, inputs, step->inputs);
	return data;
}

static const struct runtime_step_end_event *step_end(const struct story *story,
						     const struct story_step *step)
{
	struct runtime_step_end_event *data = runtime_step_end_event_new(story->arena);
	SET(data, step_id, step->node->name);
	SET(data, status, step->fault.size > 0 ? RUNTIME_STEP_FAILED : RUNTIME_STEP_SUCCESS);
	SET(data, duration_ms, story_duration_ms(step->started_at, step->ended_at));
	if (step->output != NULL)
		SET(data, output, step->output);
	if (step->fault.size > 0)
		SET(data, error, step->fault);
	return data;
}

static const struct runtime_workflow_start_event *workflow_start(const struct story *story)
{
	struct runtime_workflow_start_event *data = runtime_workflow_start_event_new(story->arena);
	SET(data, run_id, story->source->run);
	SET(data, workflow, story->source->graph->name);
	SET(data, adapter, S("native"));
	SET(data, started_at, story->created_at);
	return data;
}

static const struct runtime_workflow_end_event *workflow_end(const struct story *story)
{
	struct runtime_workflow_end_event *data = runtime_workflow_end_event_new(story->arena);
	SET(data, run_id, story->source->run);
	SET(data, status, status_of(story_words(story)->runtime));
	SET(data, duration_ms, story_duration_ms(story->created_at, story->ended_at));
	SET(data, outputs, object_or_empty(story->outputs));
	return data;
}

static struct view_document event_document(const struct story *story, size_t index, struct str word)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
	struct runtime_stream_data *data = arena_new(story->arena, struct runtime_stream_data);
	struct runtime_stream_event *shown = runtime_stream_event_new(story->arena);
	enum runtime_stream_event_type type;
	bool known = runtime_stream_event_type_from(word, &type);
	require(known);
	if (type == RUNTIME_STREAM_STEP_START) {
		data->kind = RUNTIME_DATA_STEP_START;
		data->as.step_start = step_start(story, step);
	} else if (type == RUNTIME_STREAM_STEP_END) {
		data->kind = RUNTIME_DATA_STEP_END;
		data->as.step_end = step_end(story, step);
	} else if (type == RUNTIME_STREAM_WORKFLOW_END) {
		data->kind = RUNTIME_DATA_WORKFLOW_END;
		data->as.workflow_end = workflow_end(story);
	} else {
		require(type == RUNTIME_STREAM_WORKFLOW_START);
		data->kind = RUNTIME_DATA_WORKFLOW_START;
		data->as.workflow_start = workflow_start(story);
	}
	SET(shown, event, type);
	SET(shown, data, data);
	SET(shown, timestamp, event->at);
	return view_one(story, "event", runtime_stream_event_type(), shown);
}

const struct view_ops view_runtime_ops = { .run = run_document,
					   .more = more_documents,
					   .event = event_document };
