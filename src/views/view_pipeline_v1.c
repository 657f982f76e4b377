/* views/view_pipeline_v1.c -- the pipeline_v1 vocabulary: one execution state, a shorter activity
 * log.
 *
 * Values of a plain workflow: profile_id is that of the run, else empty; issue, design, goal, plan
 * and reviews are null;
 * total_tasks is null, because a run is one session; agent_history has the entries of the log.
 * human_approved and human_feedback come from the latest answer to a question of the definition.
 * There is no word for a failed stage: stage_completed has status failed in its data.
 */
#include "contract/pipeline_v1_types.h"

#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "views/pipeline_calls.h"
#include "views/pipeline_state.h"
#include "views/view.h"

/* ---- wire names -------------------------------------------------------------------- */

struct str project_pipeline_v1_stage_end(const struct event *event)
{
	return timeline_event_continues(event) ? S("system_warning") : S("stage_completed");
}

/* ---- the state --------------------------------------------------------------------- */

static struct pipeline_v1_tool_call call_of(const struct timeline *timeline,
					    const struct pipeline_call *made)
{
	struct pipeline_v1_tool_call *call = pipeline_v1_tool_call_new(timeline->arena);
	SET(call, id, timeline_id_text(timeline, timeline_call_id(timeline, made->call)));
	SET(call, tool_name, made->step->node->tool);
	SET(call, tool_input, made->call->inputs);
	SET(call, timestamp, pipeline_time(timeline, made->call->begun_at));
	return *call;
}

static struct pipeline_v1_tool_result result_of(const struct timeline *timeline,
						const struct pipeline_call *made)
{
	struct pipeline_v1_tool_result *result = pipeline_v1_tool_result_new(timeline->arena);
	SET(result, call_id, timeline_id_text(timeline, timeline_call_id(timeline, made->call)));
	SET(result, tool_name, made->step->node->tool);
	SET(result, output, timeline_output_text(timeline, made->call->output));
	SET(result, success, made->call->fault.size == 0);
	if (made->call->fault.size > 0)
		SET(result, error, made->call->fault);
	SET(result, duration_ms, timeline_duration_ms(made->call->begun_at, made->call->ended_at));
	return *result;
}

static void set_calls(const struct timeline *timeline, struct pipeline_v1_execution_state *state)
{
	struct pipeline_calls calls = pipeline_calls(timeline);
	struct pipeline_v1_tool_call *at =
		arena_array(timeline->arena, struct pipeline_v1_tool_call, calls.begun_count);
	struct pipeline_v1_tool_result *results =
		arena_array(timeline->arena, struct pipeline_v1_tool_result, calls.ended_count);
	for (size_t i = 0; i < calls.begun_count; i++)
		at[i] = call_of(timeline, &calls.begun[i]);
	for (size_t i = 0; i < calls.ended_count; i++)
		results[i] = result_of(timeline, &calls.ended[i]);
	SET(state, tool_calls, ((struct pipeline_v1_tool_call_list){ at, calls.begun_count }));
	SET(state, tool_results,
	    ((struct pipeline_v1_tool_result_list){ results, calls.ended_count }));
}

static struct str_list history_of(const struct timeline *timeline)
{
	const struct view *view = view_at(VIEW_pipeline_v1);
	struct str *at = NULL;
	size_t count = 0, room = 0;
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		struct view_group group;
		view_group_make(&group, view, timeline, i);
		at = VIEW_GROW(timeline->arena, at, struct str, count, &room, group.count);
		for (size_t n = 0; n < group.count; n++)
			at[count++] = view_group_message(&group, n);
	}
	return (struct str_list){ at, count };
}

/* What the events say; the other fields come from the run's variables. */
static const struct str event_fields[] = {
	{ "profile_id", 10 },     { "agent_history", 13 }, { "tool_calls", 10 },
	{ "tool_results", 12 },   { "created_at", 10 },    { "agentic_status", 14 },
	{ "final_response", 14 }, { "error", 5 },          { "is_queued", 9 },
};

/* Whether the run is queued is computed out of the state, which does not know it. */
static const void *execution_of(const struct timeline *timeline,
				struct pipeline_v1_execution_state *state)
{
	struct pipeline_v1_execution_state *filled =
		arena_copy(timeline->arena,
			   pipeline_state_fill(timeline, pipeline_v1_execution_state_type(), state,
					       event_fields, COUNT(event_fields)),
			   sizeof(*filled));
	contract_copy_fields(run_start_type(), timeline->start, pipeline_v1_execution_state_type(),
			     filled, NULL);
	SET(filled, is_queued, timeline->state == VOCABULARY_RUN_QUEUED);
	return filled;
}

static struct view_document run_document(const struct timeline *timeline)
{
	struct pipeline_v1_execution_state *state =
		pipeline_v1_execution_state_new(timeline->arena);
	const struct run_human_finished *answer = pipeline_last_answer(timeline);
	enum pipeline_v1_agentic_status status;
	bool known = pipeline_v1_agentic_status_from(timeline_words(timeline)->agentic, &status);
	require(known);
	SET(state, profile_id, timeline->start->profile);
	SET(state, agent_history, history_of(timeline));
	set_calls(timeline, state);
	SET(state, agentic_status, status);
	SET(state, created_at, timeline->created_at);
	if (answer != NULL)
		SET(state, human_approved, pipeline_is_approval(answer));
	if (answer != NULL && has(answer, comment))
		SET(state, human_feedback, answer->comment);
	if (timeline->fault.size > 0)
		SET(state, error, timeline->fault);
	else if (timeline->ended)
		SET(state, final_response, timeline_result(timeline));
	SET(state, is_queued, timeline->state == VOCABULARY_RUN_QUEUED);
	if (has(timeline->source->graph, pipeline))
		return view_one(timeline, "state", pipeline_v1_execution_state_type(),
				execution_of(timeline, state));
	return view_run(timeline, "state", pipeline_v1_execution_state_type(), state);
}

/* The state is the only document of a run. */
static struct view_documents more_documents(const struct timeline *timeline)
{
	(void)timeline;
	return (struct view_documents){ NULL, 0 };
}

/* ---- the log ----------------------------------------------------------------------- */

static struct view_document event_document(const struct view_group *group, size_t n)
{
	const struct timeline *timeline = &group->timeline;
	const struct event *event = view_group_stored(group);
	const struct timeline_call *call = timeline_call(timeline, group->facts.index);
	struct pipeline_v1_workflow_event *entry = pipeline_v1_workflow_event_new(timeline->arena);
	enum pipeline_v1_event_type type;
	bool known = pipeline_v1_event_type_from(group->parts[n].word, &type);
	require(known);
	SET(entry, id, timeline_id_text(timeline, view_group_id(group, n)));
	SET(entry, workflow_id, timeline_id_text(timeline, timeline->source->run));
	SET(entry, sequence, timeline_seq(timeline, group->facts.index));
	SET(entry, timestamp, event->at);
	SET(entry, agent,
	    view_group_kind(group, n) == FACT_EVENT ? pipeline_agent_name(timeline, event)
						    : event_facts_agent(&group->facts));
	SET(entry, event_type, type);
	SET(entry, message, view_group_message(group, n));
	SET(entry, data, view_group_details(group, n));
	if (!uuid_is_zero(&call->effect))
		SET(entry, correlation_id, timeline_id_text(timeline, call->effect));
	return view_one(timeline, "event", pipeline_v1_workflow_event_type(), entry);
}

const struct view_ops view_pipeline_v1_ops = { .run = run_document,
					       .more = more_documents,
					       .event = event_document };
