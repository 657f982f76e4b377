/* views/view_pipeline.c -- S0: the state of a pipeline, the agent's record, the activity log.
 *
 * A plain workflow's honest values: pipeline_type is the definition's name; there is no profile and
 * no issue, so profile_id and issue_key are empty; the goal is the definition's name; history has
 * one entry for each event of the log.  In the log `agent` is "system" for the run itself, and for
 * a step the tool, the agent, the definition of a sub-run, or "human", "wait", "loop" and so on;
 * trace_id is the run, correlation_id the effect (a question and its answer share it), parent_id
 * the event that began the step, or the body it is in.  level follows from the event's type, as S0
 * has it.  BasePipelineState is open, so Baton's own word is in its metadata.state.
 */
#include "contract/pipeline.h"

#include "base/time.h"
#include "views/pipeline.h"
#include "views/tree.h"
#include "views/view.h"

/* ---- which event --------------------------------------------------------------------- */

struct str project_pipeline_stage_end(const struct event *event)
{
	if (story_event_goes_on(event))
		return S("system_warning");
	return story_event_failed(event) ? S("task_failed") : S("stage_completed");
}

/* Its time is over, or a limit: nobody asked for it. */
struct str project_pipeline_cancelling(const struct event *event)
{
	return story_event_failed(event) ? S("system_error") : S("system_warning");
}

struct str project_pipeline_answer(const struct event *event)
{
	return story_event_failed(event) ? S("approval_rejected") : S("approval_granted");
}

struct str project_pipeline_run_end(const struct event *event)
{
	if (event->as.run_finished->outcome == RUN_OUTCOME_CANCELLED)
		return S("workflow_cancelled");
	return story_event_failed(event) ? S("workflow_failed") : S("workflow_completed");
}

/* ---- the state ----------------------------------------------------------------------- */

static enum pipeline_status status_of(struct str word)
{
	enum pipeline_status status;
	bool known = pipeline_status_from(word, &status);
	require(known);
	return status;
}

static struct pipeline_history_entry_list history_of(const struct story *story)
{
	const struct view *view = view_at(VIEW_pipeline);
	struct pipeline_history_entry *at = arena_array(story->arena, struct pipeline_history_entry,
							story->source->event_count);
	size_t count = 0;
	for (size_t i = 0; i < story->source->event_count; i++) {
		const struct event *event = &story->source->events[i];
		struct str word = view_word(view, event);
		if (word.size == 0 || !story_covers(story, event))
			continue;
		struct pipeline_history_entry *entry = pipeline_history_entry_new(story->arena);
		SET(entry, timestamp, event->at);
		SET(entry, agent, pipeline_agent_name(story, event));
		SET(entry, action, word);
		SET(entry, detail, story_says(story, i));
		at[count++] = *entry;
	}
	return (struct pipeline_history_entry_list){ at, count };
}

static struct contract_kept state_beside(const struct story *story)
{
	struct json_member *member = arena_new(story->arena, struct json_member);
	*member = (struct json_member){
		.key = S("metadata"),
		.value = *TREE(story->arena, { S("state"), tree_text(story_words(story)->word) })
	};
	return (struct contract_kept){ member, 1 };
}

static struct view_document run_document(const struct story *story)
{
	struct pipeline_base_pipeline_state *state = pipeline_base_pipeline_state_new(story->arena);
	const struct vocabulary_run_row *words = story_words(story);
	const struct run_human_finished *answer = pipeline_last_answer(story);
	SET(state, pipeline_type, story->source->graph->name);
	SET(state, workflow_id, story->source->run);
	SET(state, profile_id, S(""));
	SET(state, created_at, story->created_at);
	SET(state, status, status_of(words->pipeline));
	SET(state, history, history_of(story));
	SET(state, pending_user_input, words->mark == VOCABULARY_ASKS);
	if (answer != NULL && has(answer, comment))
		SET(state, user_message, answer->comment);
	if (story->fault.size > 0)
		SET(state, error, story->fault);
	else if (story->ended)
		SET(state, final_response, story_result(story));
	state->kept_fields = state_beside(story);
	return view_one(story, "state", pipeline_base_pipeline_state_type(), state);
}

/* ---- the agent's record -------------------------------------------------------------- */

static struct pipeline_tool_call call_of(const struct story *story,
					 const struct pipeline_call *made)
{
	struct pipeline_tool_call *call = pipeline_tool_call_new(story->arena);
	SET(call, id, story_id_text(story, story_call_id(story, made->call)));
	SET(call, tool_name, made->step->node->tool);
	SET(call, tool_input, made->call->inputs);
	SET(call, timestamp, pipeline_time(story, made->call->begun_at));
	return *call;
}

static struct pipeline_tool_result result_of(const struct story *story,
					     const struct pipeline_call *made)
{
	struct pipeline_tool_result *result = pipeline_tool_result_new(story->arena);
	SET(result, call_id, story_id_text(story, story_call_id(story, made->call)));
	SET(result, tool_name, made->step->node->tool);
	SET(result, output, story_output_text(story, made->call->output));
	SET(result, success, made->call->fault.size == 0);
	if (made->call->fault.size > 0)
		SET(result, error, made->call->fault);
	SET(result, duration_ms, story_duration_ms(made->call->begun_at, made->call->ended_at));
	return *result;
}

static const struct pipeline_agentic_state *agentic_of(const struct story *story)
{
	struct pipeline_agentic_state *state = pipeline_agentic_state_new(story->arena);
	struct pipeline_calls calls = pipeline_calls(story);
	struct pipeline_tool_call *at =
		arena_array(story->arena, struct pipeline_tool_call, calls.begun_count);
	struct pipeline_tool_result *results =
		arena_array(story->arena, struct pipeline_tool_result, calls.ended_count);
	enum pipeline_agentic_status status;
	bool known = pipeline_agentic_status_from(story_words(story)->agentic, &status);
	require(known);
	for (size_t i = 0; i < calls.begun_count; i++)
		at[i] = call_of(story, &calls.begun[i]);
	for (size_t i = 0; i < calls.ended_count; i++)
		results[i] = result_of(story, &calls.ended[i]);
	SET(state, workflow_id, story->source->run);
	SET(state, issue_key, S(""));
	SET(state, goal, story->source->graph->name);
	SET(state, tool_calls, ((struct pipeline_tool_call_list){ at, calls.begun_count }));
	SET(state, tool_results,
	    ((struct pipeline_tool_result_list){ results, calls.ended_count }));
	SET(state, status, status);
	if (story->fault.size > 0)
		SET(state, error, story->fault);
	else if (story->ended)
		SET(state, final_response, story_result(story));
	return state;
}

static struct view_documents more_documents(const struct story *story)
{
	struct view_document *at = arena_array(story->arena, struct view_document, 1);
	at[0] = view_one(story, "agentic", pipeline_agentic_state_type(), agentic_of(story));
	return (struct view_documents){ at, 1 };
}

/* ---- the log ------------------------------------------------------------------------- */

static void log_step(const struct story *story, size_t index, const struct story_step *step,
		     struct pipeline_workflow_event *entry)
{
	const struct story_call *call = story_call(story, index);
	int64_t seq = story_seq(story, index);
	if (!uuid_is_zero(&call->effect))
		SET(entry, correlation_id, call->effect);
	if (step->node->kind == RUN_NODE_TOOL)
		SET(entry, tool_name, step->node->tool);
	if (story->source->events[index].type == EVENT_TOOL_REQUESTED)
		SET(entry, tool_input, call->inputs);
	if (call->model.size > 0)
		SET(entry, model, call->model);
	if (step->begun_seq > 0 && step->begun_seq < seq)
		SET(entry, parent_id, story_event_id(story, step->begun_seq));
	else if (step->parent != NULL && step->parent->begun_seq > 0)
		SET(entry, parent_id, story_event_id(story, step->parent->begun_seq));
}

static struct view_document event_document(const struct story *story, size_t index, struct str word)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
	struct pipeline_workflow_event *entry = pipeline_workflow_event_new(story->arena);
	enum pipeline_event_type type;
	bool known = pipeline_event_type_from(word, &type);
	require(known);
	SET(entry, id, story_event_id(story, story_seq(story, index)));
	SET(entry, workflow_id, story->source->run);
	SET(entry, sequence, story_seq(story, index));
	SET(entry, timestamp, event->at);
	SET(entry, agent, pipeline_agent_name(story, event));
	SET(entry, event_type, type);
	SET(entry, message, story_says(story, index));
	SET(entry, data, story_details(story, index));
	SET(entry, is_error, story_event_failed(event));
	SET(entry, trace_id, story->source->run);
	if (step != NULL)
		log_step(story, index, step, entry);
	pipeline_workflow_event_make(entry, story->arena, NULL);
	return view_one(story, "event", pipeline_workflow_event_type(), entry);
}

const struct view_ops view_pipeline_ops = { .run = run_document,
					    .more = more_documents,
					    .event = event_document };
