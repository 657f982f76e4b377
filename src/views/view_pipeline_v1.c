/* views/view_pipeline_v1.c -- S1: one execution state, and the shorter activity log.
 *
 * A plain workflow's honest values: no profile, so profile_id is empty; issue, design, goal, plan
 * and reviews are null; total_tasks is null, because everything is one session; agent_history says
 * what the log says.  human_approved and human_feedback are those of the latest answer to a
 * question of the definition.  S1 has no word for a failed stage: stage_completed then has status
 * failed in its data.
 */
#include "contract/pipeline_v1.h"

#include "views/pipeline.h"
#include "views/view.h"

/* ---- which event --------------------------------------------------------------------- */

struct str project_pipeline_v1_stage_end(const struct event *event)
{
	return story_event_goes_on(event) ? S("system_warning") : S("stage_completed");
}

/* ---- the state ----------------------------------------------------------------------- */

static struct pipeline_v1_tool_call call_of(const struct story *story,
					    const struct pipeline_call *made)
{
	struct pipeline_v1_tool_call *call = pipeline_v1_tool_call_new(story->arena);
	SET(call, id, story_id_text(story, story_call_id(story, made->call)));
	SET(call, tool_name, made->step->node->tool);
	SET(call, tool_input, made->call->inputs);
	SET(call, timestamp, pipeline_time(story, made->call->begun_at));
	return *call;
}

static struct pipeline_v1_tool_result result_of(const struct story *story,
						const struct pipeline_call *made)
{
	struct pipeline_v1_tool_result *result = pipeline_v1_tool_result_new(story->arena);
	SET(result, call_id, story_id_text(story, story_call_id(story, made->call)));
	SET(result, tool_name, made->step->node->tool);
	SET(result, output, story_output_text(story, made->call->output));
	SET(result, success, made->call->fault.size == 0);
	if (made->call->fault.size > 0)
		SET(result, error, made->call->fault);
	SET(result, duration_ms, story_duration_ms(made->call->begun_at, made->call->ended_at));
	return *result;
}

static void set_calls(const struct story *story, struct pipeline_v1_execution_state *state)
{
	struct pipeline_calls calls = pipeline_calls(story);
	struct pipeline_v1_tool_call *at =
		arena_array(story->arena, struct pipeline_v1_tool_call, calls.begun_count);
	struct pipeline_v1_tool_result *results =
		arena_array(story->arena, struct pipeline_v1_tool_result, calls.ended_count);
	for (size_t i = 0; i < calls.begun_count; i++)
		at[i] = call_of(story, &calls.begun[i]);
	for (size_t i = 0; i < calls.ended_count; i++)
		results[i] = result_of(story, &calls.ended[i]);
	SET(state, tool_calls, ((struct pipeline_v1_tool_call_list){ at, calls.begun_count }));
	SET(state, tool_results,
	    ((struct pipeline_v1_tool_result_list){ results, calls.ended_count }));
}

static struct str_list history_of(const struct story *story)
{
	const struct view *view = view_at(VIEW_pipeline_v1);
	struct str *at = arena_array(story->arena, struct str, story->source->event_count);
	size_t count = 0;
	for (size_t i = 0; i < story->source->event_count; i++) {
		const struct event *event = &story->source->events[i];
		if (view_word(view, event).size > 0 && story_covers(story, event))
			at[count++] = story_says(story, i);
	}
	return (struct str_list){ at, count };
}

static struct view_document run_document(const struct story *story)
{
	struct pipeline_v1_execution_state *state = pipeline_v1_execution_state_new(story->arena);
	const struct run_human_finished *answer = pipeline_last_answer(story);
	enum pipeline_v1_agentic_status status;
	bool known = pipeline_v1_agentic_status_from(story_words(story)->agentic, &status);
	require(known);
	SET(state, profile_id, S(""));
	SET(state, agent_history, history_of(story));
	set_calls(story, state);
	SET(state, agentic_status, status);
	SET(state, created_at, story->created_at);
	if (answer != NULL)
		SET(state, human_approved, pipeline_is_approval(answer));
	if (answer != NULL && has(answer, comment))
		SET(state, human_feedback, answer->comment);
	if (story->fault.size > 0)
		SET(state, error, story->fault);
	else if (story->ended)
		SET(state, final_response, story_result(story));
	SET(state, is_queued, story->state == VOCABULARY_RUN_QUEUED);
	return view_one(story, "state", pipeline_v1_execution_state_type(), state);
}

/* The state is all there is of a run. */
static struct view_documents more_documents(const struct story *story)
{
	(void)story;
	return (struct view_documents){ NULL, 0 };
}

/* ---- the log ------------------------------------------------------------------------- */

static struct view_document event_document(const struct story *story, size_t index, struct str word)
{
	const struct event *event = &story->source->events[index];
	const struct story_call *call = story_call(story, index);
	struct pipeline_v1_workflow_event *entry = pipeline_v1_workflow_event_new(story->arena);
	enum pipeline_v1_event_type type;
	bool known = pipeline_v1_event_type_from(word, &type);
	require(known);
	SET(entry, id, story_id_text(story, story_event_id(story, story_seq(story, index))));
	SET(entry, workflow_id, story_id_text(story, story->source->run));
	SET(entry, sequence, story_seq(story, index));
	SET(entry, timestamp, event->at);
	SET(entry, agent, pipeline_agent_name(story, event));
	SET(entry, event_type, type);
	SET(entry, message, story_says(story, index));
	SET(entry, data, story_details(story, index));
	if (!uuid_is_zero(&call->effect))
		SET(entry, correlation_id, story_id_text(story, call->effect));
	return view_one(story, "event", pipeline_v1_workflow_event_type(), entry);
}

const struct view_ops view_pipeline_v1_ops = { .run = run_document,
					       .more = more_documents,
					       .event = event_document };
