/* views/view_pipeline.c -- the pipeline vocabulary: pipeline state, agent record, activity log.
 *
 * Values of a plain workflow: pipeline_type and the goal are the workflow's name; profile_id is
 * that of the run, else empty; issue_key is empty; history has one entry per event of the log.  In the log, `agent` is "system"
 * for the run itself, and for a step the tool, the agent, the workflow of a sub-run, or "human",
 * "wait", "loop" and so on.  trace_id is the trace of the request that started the run, or else the
 * run, correlation_id the effect (a question and its answer share it), parent_id the event that
 * started the step or the body around it.  level is a function of the event's type.  BasePipelineState allows additional members, so metadata.state has
 * Baton's own word.
 */
#include "contract/pipeline_types.h"

#include "base/time.h"
#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"
#include "contract/run_turn_types.h"
#include "views/oracle_consultation.h"
#include "views/pipeline_calls.h"
#include "views/pipeline_state.h"
#include "views/view_tree.h"
#include "views/view.h"

/* ---- wire names -------------------------------------------------------------------- */

struct str project_pipeline_stage_end(const struct event *event)
{
	if (timeline_event_continues(event))
		return S("system_warning");
	/* The milestone of a task says itself that it failed. */
	const struct run_milestone *milestone = event_milestone(event);
	bool is_task = milestone != NULL && milestone->kind == RUN_MILESTONE_TASK;
	return timeline_event_failed(event) && !is_task ? S("task_failed") : S("stage_completed");
}

/* A timeout or a limit, not a person, cancelled the run. */
struct str project_pipeline_cancelling(const struct event *event)
{
	return timeline_event_failed(event) ? S("system_error") : S("system_warning");
}

/* A retried run that waits for admission starts with run.started. */
struct str project_pipeline_retried(const struct event *event)
{
	const struct run_retried *retried = event->as.run_retried;
	return has(retried, queued) && retried->queued ? S("workflow_created")
						       : S("workflow_started");
}

struct str project_pipeline_answer(const struct event *event)
{
	return timeline_event_failed(event) ||
			       event->as.run_human_finished->decision == RUN_DECISION_REJECT
		       ? S("approval_rejected")
		       : S("approval_granted");
}

struct str project_pipeline_run_end(const struct event *event)
{
	if (event->as.run_finished->outcome == RUN_OUTCOME_CANCELLED)
		return S("workflow_cancelled");
	return timeline_event_failed(event) ? S("workflow_failed") : S("workflow_completed");
}

struct str project_oracle_end(const struct event *event)
{
	return event->as.run_finished->outcome == RUN_OUTCOME_OK
		       ? S("oracle_consultation_completed")
		       : S("oracle_consultation_failed");
}

/* A session that a person deletes is cancelled, one that cannot go on has failed. */
struct str project_brainstorm_end(const struct event *event)
{
	return event->as.run_finished->outcome == RUN_OUTCOME_OK ? S("brainstorm_session_completed")
								 : project_pipeline_run_end(event);
}

/* ---- the state --------------------------------------------------------------------- */

static enum pipeline_status status_of(struct str word)
{
	enum pipeline_status status;
	bool known = pipeline_status_from(word, &status);
	require(known);
	return status;
}

static struct str agent_of(const struct view_group *group, size_t n)
{
	return view_group_kind(group, n) == FACT_EVENT
		       ? pipeline_agent_name(&group->timeline, view_group_stored(group))
		       : event_facts_agent(&group->facts);
}

static struct pipeline_history_entry_list history_of(const struct timeline *timeline)
{
	const struct view *view = view_at(VIEW_pipeline);
	struct pipeline_history_entry *at = NULL;
	size_t count = 0, room = 0;
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		struct view_group group;
		view_group_make(&group, view, timeline, i);
		at = VIEW_GROW(timeline->arena, at, struct pipeline_history_entry, count, &room,
			       group.count);
		for (size_t n = 0; n < group.count; n++) {
			struct pipeline_history_entry *entry =
				pipeline_history_entry_new(timeline->arena);
			SET(entry, timestamp, timeline->source->events[i].at);
			SET(entry, agent, agent_of(&group, n));
			SET(entry, action, group.parts[n].word);
			SET(entry, detail, view_group_message(&group, n));
			at[count++] = *entry;
		}
	}
	return (struct pipeline_history_entry_list){ at, count };
}

static struct contract_kept own_state_members(const struct timeline *timeline)
{
	struct json_member *member = arena_new(timeline->arena, struct json_member);
	const struct json *own = TREE(
		timeline->arena, { S("state"), view_tree_text(timeline_words(timeline)->word) });
	*member = (struct json_member){ .key = S("metadata"),
					.value = *view_tree_merge(timeline->arena, own,
								  timeline->start->annotations) };
	return (struct contract_kept){ member, 1 };
}

/* ---- the agent's record ------------------------------------------------------------ */

static struct pipeline_tool_call call_of(const struct timeline *timeline,
					 const struct pipeline_call *made)
{
	struct pipeline_tool_call *call = pipeline_tool_call_new(timeline->arena);
	SET(call, id, timeline_id_text(timeline, timeline_call_id(timeline, made->call)));
	SET(call, tool_name, made->step->node->tool);
	SET(call, tool_input, made->call->inputs);
	SET(call, timestamp, pipeline_time(timeline, made->call->begun_at));
	return *call;
}

static struct pipeline_tool_result result_of(const struct timeline *timeline,
					     const struct pipeline_call *made)
{
	struct pipeline_tool_result *result = pipeline_tool_result_new(timeline->arena);
	SET(result, call_id, timeline_id_text(timeline, timeline_call_id(timeline, made->call)));
	SET(result, tool_name, made->step->node->tool);
	SET(result, output, timeline_output_text(timeline, made->call->output));
	SET(result, success, made->call->fault.size == 0);
	if (made->call->fault.size > 0)
		SET(result, error, made->call->fault);
	SET(result, duration_ms, timeline_duration_ms(made->call->begun_at, made->call->ended_at));
	return *result;
}

static const struct pipeline_agentic_state *agentic_of(const struct timeline *timeline)
{
	struct pipeline_agentic_state *state = pipeline_agentic_state_new(timeline->arena);
	struct pipeline_calls calls = pipeline_calls(timeline);
	struct pipeline_tool_call *at =
		arena_array(timeline->arena, struct pipeline_tool_call, calls.begun_count);
	struct pipeline_tool_result *results =
		arena_array(timeline->arena, struct pipeline_tool_result, calls.ended_count);
	enum pipeline_agentic_status status;
	bool known = pipeline_agentic_status_from(timeline_words(timeline)->agentic, &status);
	require(known);
	for (size_t i = 0; i < calls.begun_count; i++)
		at[i] = call_of(timeline, &calls.begun[i]);
	for (size_t i = 0; i < calls.ended_count; i++)
		results[i] = result_of(timeline, &calls.ended[i]);
	SET(state, workflow_id, timeline->source->run);
	SET(state, issue_key, S(""));
	SET(state, goal, timeline->source->graph->name);
	SET(state, tool_calls, ((struct pipeline_tool_call_list){ at, calls.begun_count }));
	SET(state, tool_results,
	    ((struct pipeline_tool_result_list){ results, calls.ended_count }));
	SET(state, status, status);
	if (timeline->fault.size > 0)
		SET(state, error, timeline->fault);
	else if (timeline->ended)
		SET(state, final_response, timeline_result(timeline));
	return state;
}

/* ---- the state of a pipeline --------------------------------------------------------- */

/* The fields that BasePipelineState and ImplementationState share. */
#define SET_BASE(state, timeline)                                                       \
	do {                                                                            \
		const struct vocabulary_run_row *words = timeline_words(timeline);      \
		const struct run_human_finished *said = pipeline_last_answer(timeline); \
		SET(state, workflow_id, (timeline)->source->run);                       \
		SET(state, profile_id, (timeline)->start->profile);                     \
		SET(state, created_at, (timeline)->created_at);                         \
		SET(state, status, status_of(words->pipeline));                         \
		SET(state, history, history_of(timeline));                              \
		SET(state, oracle_consultations, oracle_consultations(timeline));       \
		SET(state, pending_user_input, words->mark == VOCABULARY_ASKS);         \
		if (said != NULL && has(said, comment))                                 \
			SET(state, user_message, said->comment);                        \
		if ((timeline)->fault.size > 0)                                         \
			SET(state, error, (timeline)->fault);                           \
		else if ((timeline)->ended)                                             \
			SET(state, final_response, timeline_result(timeline));          \
	} while (0)

/* What the events say; nothing else may set these fields. */
static const struct str event_fields[] = {
	{ "workflow_id", 11 },
	{ "profile_id", 10 },
	{ "created_at", 10 },
	{ "status", 6 },
	{ "history", 7 },
	{ "pending_user_input", 18 },
	{ "user_message", 12 },
	{ "final_response", 14 },
	{ "error", 5 },
	{ "tool_calls", 10 },
	{ "tool_results", 12 },
	{ "agentic_status", 14 },
	{ "oracle_consultations", 20 },
	{ "labels", 6 },
	{ "profile", 7 },
	{ "repository", 10 },
};

static const void *implementation_of(const struct timeline *timeline)
{
	struct pipeline_implementation_state *state =
		pipeline_implementation_state_new(timeline->arena);
	const struct pipeline_agentic_state *agent = agentic_of(timeline);
	SET_BASE(state, timeline);
	SET(state, tool_calls, agent->tool_calls);
	SET(state, tool_results, agent->tool_results);
	SET(state, agentic_status, agent->status);
	contract_copy_fields(run_start_type(), timeline->start,
			     pipeline_implementation_state_type(), state, NULL);
	return pipeline_state_fill(timeline, pipeline_implementation_state_type(), state,
				   event_fields, COUNT(event_fields));
}

/* The same state; as its type says implementation, that of another pipeline is a BasePipelineState with
 * further members. */
static struct view_document pipeline_document(const struct timeline *timeline)
{
	const void *state = implementation_of(timeline);
	enum run_pipeline pipeline = timeline->source->graph->pipeline;
	if (pipeline == RUN_PIPELINE_IMPLEMENTATION)
		return view_one(timeline, "state", pipeline_implementation_state_type(), state);
	const struct json *tree =
		contract_tree(pipeline_implementation_state_type(), state, timeline->arena);
	const struct json *type =
		TREE(timeline->arena,
		     { S("pipeline_type"), view_tree_text(run_pipeline_name(pipeline)) });
	struct problems problems = { .arena = timeline->arena };
	const struct contract_source source = {
		.json = view_tree_merge(timeline->arena, type, tree), .lenient = true
	};
	const void *base = pipeline_base_pipeline_state_parse(&source, timeline->arena, &problems);
	require(base != NULL);
	return view_one(timeline, "state", pipeline_base_pipeline_state_type(), base);
}

static struct view_document run_document(const struct timeline *timeline)
{
	if (has(timeline->source->graph, pipeline))
		return pipeline_document(timeline);
	struct pipeline_base_pipeline_state *state =
		pipeline_base_pipeline_state_new(timeline->arena);
	SET(state, pipeline_type, timeline->source->graph->name);
	SET_BASE(state, timeline);
	state->kept_fields = own_state_members(timeline);
	return view_run(timeline, "state", pipeline_base_pipeline_state_type(), state);
}

static struct view_documents more_documents(const struct timeline *timeline)
{
	struct view_document *at = arena_array(timeline->arena, struct view_document, 1);
	at[0] = view_one(timeline, "agentic", pipeline_agentic_state_type(), agentic_of(timeline));
	return (struct view_documents){ at, 1 };
}

/* ---- the log ----------------------------------------------------------------------- */

static void log_step(const struct view_group *group, const struct timeline_step *step,
		     struct pipeline_workflow_event *entry)
{
	const struct timeline *timeline = &group->timeline;
	size_t index = group->facts.index;
	const struct timeline_call *call = timeline_call(timeline, index);
	int64_t seq = timeline_seq(timeline, index);
	if (!uuid_is_zero(&call->effect))
		SET(entry, correlation_id, call->effect);
	if (step->node->kind == RUN_NODE_TOOL)
		SET(entry, tool_name, step->node->tool);
	if (timeline->source->events[index].type == EVENT_TOOL_REQUESTED)
		SET(entry, tool_input, call->inputs);
	if (call->model.size > 0)
		SET(entry, model, call->model);
	if (step->begun_seq > 0 && step->begun_seq < seq)
		SET(entry, parent_id, timeline_event_id(timeline, step->begun_seq));
	else if (step->parent != NULL && step->parent->begun_seq > 0)
		SET(entry, parent_id, timeline_event_id(timeline, step->parent->begun_seq));
}

/* A fact belongs to the event that records it. */
static void log_fact(const struct view_group *group, size_t n,
		     struct pipeline_workflow_event *entry)
{
	size_t fact = group->parts[n].fact;
	enum event_fact_kind kind = view_group_kind(group, n);
	SET(entry, parent_id, view_group_id(group, 0));
	if (kind != FACT_REFUSED && kind != FACT_REFUSAL)
		return;
	const struct run_turn_call *call = event_facts_call(&group->facts, fact);
	const struct json *details = event_facts_details(&group->facts, fact);
	SET(entry, tool_name, json_text(json_member(details, S("tool"))));
	if (kind == FACT_REFUSED && call != NULL && has(call, arguments))
		SET(entry, tool_input, call->arguments);
}

static bool is_error(const struct view_group *group, size_t n)
{
	enum event_fact_kind kind = view_group_kind(group, n);
	return kind == FACT_REFUSAL || kind == FACT_TASK_FAILED ||
	       ((kind == FACT_EVENT || kind == FACT_RESULT) &&
		timeline_event_failed(view_group_stored(group)));
}

static const enum pipeline_event_domain domains[] = {
#define DOMAIN_OF(pipeline_, domain_) [RUN_PIPELINE_##pipeline_] = PIPELINE_DOMAIN_##domain_,
#include "contracts/pipeline_words.def"
};

static void log_domain(const struct timeline *timeline, struct pipeline_workflow_event *entry)
{
	const struct run_graph *graph = timeline->source->graph;
	if (!has(graph, pipeline) || (size_t)graph->pipeline >= COUNT(domains) ||
	    domains[graph->pipeline] == PIPELINE_DOMAIN_WORKFLOW)
		return;
	SET(entry, domain, domains[graph->pipeline]);
	SET(entry, session_id, timeline->source->run);
}

static struct view_document event_document(const struct view_group *group, size_t n)
{
	const struct timeline *timeline = &group->timeline;
	const struct event *event = view_group_stored(group);
	const struct timeline_step *step = timeline_step(timeline, event);
	struct pipeline_workflow_event *entry = pipeline_workflow_event_new(timeline->arena);
	enum pipeline_event_type type;
	bool known = pipeline_event_type_from(group->parts[n].word, &type);
	require(known);
	SET(entry, id, view_group_id(group, n));
	SET(entry, workflow_id, timeline->source->run);
	SET(entry, sequence, timeline_seq(timeline, group->facts.index));
	SET(entry, timestamp, event->at);
	SET(entry, agent, agent_of(group, n));
	SET(entry, event_type, type);
	SET(entry, message, view_group_message(group, n));
	SET(entry, data, view_group_details(group, n));
	SET(entry, is_error, is_error(group, n));
	SET(entry, trace_id, timeline_trace(timeline));
	log_domain(timeline, entry);
	if (step != NULL)
		log_step(group, step, entry);
	if (n > 0)
		log_fact(group, n, entry);
	pipeline_workflow_event_make(entry, timeline->arena, NULL);
	return view_one(timeline, "event", pipeline_workflow_event_type(), entry);
}

const struct view_ops view_pipeline_ops = { .run = run_document,
					    .more = more_documents,
					    .event = event_document };
