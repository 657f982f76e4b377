/* views/view_graph.c -- the graph vocabulary: a task, its trace, its checkpoints.
 *
 * A trace has one record per event of the vocabulary; its status is the severity of the event.  A checkpoint
 * is a question to a person; its state is the conversation so far: the outputs of tools, agents and
 * sub-runs, and the answers of people.  A sub-run is the session of a sub-agent.  Its id is that of
 * the effect, which is the id of the child run; its messages are the input and the summary of the
 * child; each attempt is a session of its own.  So is an agent's step: its prompt and its reply.  A run
 * without agents and sub-runs has no document of sessions.
 *
 * The description of a task is what its run was asked for: the input description, goal or task, else the
 * workflow's name.  It is assigned to the agent of its first step that has one; without agents, assigned_agent
 * and current_agent are empty.  The server of a tool is empty.  A task
 * A run of a graph workflow has a state of its own, which its results have changed: it is a document, and
 * checkpoints show it as it was.  A task
 * starts when its run is created or, if the run was queued, when it leaves the admission queue.
 */
#include "contract/graph_types.h"

#include "contract/event_result.h"
#include "contract/run_event_types.h"
#include "contract/run_turn_types.h"
#include "contract/run_value_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_start_types.h"
#include "views/view.h"
#include "views/view_graph.h"
#include "views/view_tree.h"

struct str project_graph_end(const struct event *event)
{
	if (timeline_event_continues(event))
		return S("warning");
	return timeline_event_failed(event) ? S("error") : S("info");
}

/* ---- the state --------------------------------------------------------------------- */

/* The state that an event has recorded; NULL = none. */
static const struct json *recorded_state(const struct timeline *timeline, const struct event *event)
{
	struct event_result result;
	const struct run_next *next =
		event_result(event, &result) ? result.next
		: event->type == EVENT_HUMAN_FINISHED && has(event->as.run_human_finished, next)
			? event->as.run_human_finished->next
			: NULL;
	if (next == NULL || !has(next, state))
		return NULL;
	return has(next->state, sha256) ? timeline->source->read_value(timeline->source->context,
								       &next->state->sha256)
					: next->state->json;
}

/* The declared fields are shown beside the metadata. */
static const struct json *metadata_of(const struct timeline *timeline, const struct json *state)
{
	const struct run_graph_state *rows = timeline->source->graph->state;
	const struct json *metadata = json_member(state, S("metadata"));
	size_t kept =
		metadata == NULL || metadata->kind != JSON_OBJECT ? 0 : metadata->as.object.count;
	struct json_member *members =
		arena_array(timeline->arena, struct json_member, kept + rows->fields.count);
	size_t count = 0;
	for (size_t i = 0; i < kept; i++)
		if (json_member(state, metadata->as.object.at[i].key) == NULL)
			members[count++] = metadata->as.object.at[i];
	for (size_t i = 0; i < rows->fields.count; i++) {
		const struct json *value = json_member(state, rows->fields.at[i].name);
		if (value != NULL)
			members[count++] = (struct json_member){ .key = rows->fields.at[i].name,
								 .value = *value };
	}
	struct json *all = arena_new(timeline->arena, struct json);
	*all = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return all;
}

static struct graph_message message_of(const struct timeline *timeline, const struct json *from,
				       int64_t at)
{
	struct graph_message *message = graph_message_new(timeline->arena);
	enum graph_message_role role;
	if (!graph_message_role_from(json_text(json_member(from, S("role"))), &role))
		role = GRAPH_ROLE_SYSTEM;
	SET(message, role, role);
	SET(message, content, json_text(json_member(from, S("content"))));
	SET(message, timestamp, at);
	return *message;
}

/* The state behind the event at `last`: each message has the time of the event that added it. */
static const struct graph_state *state_after(const struct timeline *timeline, size_t last)
{
	const struct json *newest = NULL;
	struct graph_message *messages = NULL;
	size_t count = 0, room = 0;
	for (size_t i = 0; i <= last && i < timeline->source->event_count; i++) {
		const struct json *state = recorded_state(timeline, &timeline->source->events[i]);
		if (state == NULL)
			continue;
		const struct json *list = json_member(state, S("messages"));
		size_t now = list == NULL || list->kind != JSON_LIST ? 0 : list->as.list.count;
		if (now > room) {
			struct graph_message *grown =
				arena_array(timeline->arena, struct graph_message, now * 2);
			for (size_t k = 0; k < count; k++)
				grown[k] = messages[k];
			messages = grown;
			room = now * 2;
		}
		/* The task was there before the first event. */
		for (; count < now; count++)
			messages[count] = message_of(timeline, &list->as.list.at[count],
						     newest == NULL && count == 0 && now > 1
							     ? timeline->created_at
							     : timeline->source->events[i].at);
		newest = state;
	}
	struct graph_state *out = graph_state_new(timeline->arena);
	const struct json *action = json_member(newest, S("next_action"));
	const struct json *key = json_member(newest, S("routing_key"));
	SET(out, messages, ((struct graph_message_list){ messages, count }));
	SET(out, current_agent, json_text(json_member(newest, S("current_agent"))));
	if (action != NULL && action->kind == JSON_STRING)
		SET(out, next_action, action->as.string);
	if (key != NULL && key->kind == JSON_STRING)
		SET(out, routing_key, key->as.string);
	if (newest != NULL)
		SET(out, metadata, metadata_of(timeline, newest));
	return out;
}

const struct graph_state *view_graph_state(const struct timeline *timeline)
{
	return state_after(timeline, timeline->source->event_count);
}

/* ---- the task ---------------------------------------------------------------------- */

static struct str task_description(const struct timeline *timeline)
{
	static const char *const names[] = { "description", "goal", "task" };
	for (size_t i = 0; i < COUNT(names); i++) {
		struct str text = json_text(json_member(timeline->inputs, str_from_c(names[i])));
		if (text.size > 0)
			return text;
	}
	return timeline->source->graph->name;
}

/* Dependencies come before dependents, so the first one is the entry. */
static struct str task_agent(const struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->count; i++) {
		enum run_node_kind kind = timeline->steps[i]->node->kind;
		if (kind == RUN_NODE_AGENT || kind == RUN_NODE_SESSION)
			return timeline_agent(timeline->steps[i]);
	}
	return S("");
}

static struct view_document run_document(const struct timeline *timeline)
{
	struct graph_task *task = graph_task_new(timeline->arena);
	enum graph_task_status status;
	bool known = graph_task_status_from(timeline_words(timeline)->graph, &status);
	require(known);
	SET(task, id, timeline->source->run);
	SET(task, description, task_description(timeline));
	SET(task, status, status);
	SET(task, assigned_agent, task_agent(timeline));
	SET(task, created_at, timeline->created_at);
	if (status != GRAPH_TASK_PENDING)
		SET(task, started_at,
		    timeline->started_at > 0 ? timeline->started_at : timeline->created_at);
	if (timeline->ended)
		SET(task, completed_at, timeline->ended_at);
	if (has(timeline->start, parent))
		SET(task, parent_task_id, timeline->start->parent);
	if (timeline->fault.size > 0)
		SET(task, error, timeline->fault);
	else if (timeline->ended)
		SET(task, result, timeline_result(timeline));
	return view_run(timeline, "task", graph_task_type(), task);
}

/* ---- sub-agents -------------------------------------------------------------------- */

static enum graph_session_status session_status(const struct timeline_call *call)
{
	if (call->ended_at == 0)
		return GRAPH_SESSION_RUNNING;
	return call->fault.size > 0 ? GRAPH_SESSION_FAILED : GRAPH_SESSION_COMPLETED;
}

/* The text of an agent's reply, the output of a sub-run, or why it failed. */
static struct str session_summary(const struct timeline *timeline, const struct timeline_call *call)
{
	struct str text = json_text(json_member(call->output, S("text")));
	if (text.size == 0)
		text = json_text(json_member(call->output, S("summary")));
	return call->fault.size > 0 ? call->fault
	       : text.size > 0      ? text
				    : timeline_output_text(timeline, call->output);
}

static struct graph_message said(const struct timeline *timeline, enum graph_message_role role,
				 struct str content, int64_t at)
{
	struct graph_message *message = graph_message_new(timeline->arena);
	SET(message, role, role);
	SET(message, content, content);
	SET(message, timestamp, at);
	return *message;
}

/* The transcript that an agent was asked with; the inputs of a sub-run.  Room for one more. */
static struct graph_message *session_messages(const struct timeline *timeline,
					      const struct timeline_step *step,
					      const struct timeline_call *call, size_t *out_count)
{
	struct problems problems = { .arena = timeline->arena };
	struct contract_source source = { .json = call->inputs, .lenient = true };
	const struct run_turn *turn = step->node->kind == RUN_NODE_AGENT
					      ? run_turn_parse(&source, timeline->arena, &problems)
					      : NULL;
	size_t count = turn == NULL ? 1 : turn->messages.count;
	struct graph_message *messages =
		arena_array(timeline->arena, struct graph_message, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct run_turn_message *from = turn == NULL ? NULL : &turn->messages.at[i];
		bool reply = from != NULL && str_equal(from->role, S("assistant"));
		messages[i] = said(timeline, reply ? GRAPH_ROLE_ASSISTANT : GRAPH_ROLE_USER,
				   from == NULL ? json_print(timeline->arena, call->inputs)
						: from->content,
				   call->begun_at);
	}
	*out_count = count;
	return messages;
}

static const struct graph_sub_agent_session *session_of(const struct timeline *timeline,
							const struct timeline_step *step,
							const struct timeline_call *call)
{
	struct graph_sub_agent_session *session = graph_sub_agent_session_new(timeline->arena);
	size_t count;
	struct graph_message *messages = session_messages(timeline, step, call, &count);
	if (call->ended_at != 0) {
		messages[count++] = said(timeline, GRAPH_ROLE_ASSISTANT,
					 session_summary(timeline, call), call->ended_at);
		SET(session, summary, session_summary(timeline, call));
	}
	SET(session, session_id, call->effect);
	SET(session, parent_task_id, timeline->source->run);
	SET(session, agent_name, timeline_agent(step));
	struct str task = json_text(json_member(call->inputs, S("task")));
	bool delegated = str_starts(step->node->name, S("delegate_")) && task.size > 0;
	SET(session, task_description, delegated ? task : step->path);
	SET(session, message_history, ((struct graph_message_list){ messages, count }));
	SET(session, status, session_status(call));
	SET(session, created_at, call->begun_at);
	return session;
}

struct sessions {
	const struct graph_sub_agent_session **at;
	struct str *names; /* the step's path, with the attempt when there are several */
	size_t count;
};

static struct sessions sessions_of(const struct timeline *timeline)
{
	size_t events = timeline->source->event_count;
	struct sessions sessions = {
		.at = arena_array(timeline->arena, const struct graph_sub_agent_session *, events),
		.names = arena_array(timeline->arena, struct str, events)
	};
	for (size_t i = 0; i < events; i++) {
		const struct event *event = &timeline->source->events[i];
		const struct timeline_step *step = timeline_step(timeline, event);
		if ((event->type != EVENT_SUBRUN_REQUESTED &&
		     event->type != EVENT_TURN_REQUESTED) ||
		    step == NULL)
			continue;
		const struct timeline_call *call = timeline_call(timeline, i);
		sessions.names[sessions.count] =
			call->attempt > 1
				? str_format(timeline->arena, STR_FMT ", attempt %lld",
					     STR_ARG(step->path), (long long)call->attempt)
				: step->path;
		sessions.at[sessions.count++] = session_of(timeline, step, call);
	}
	return sessions;
}

static struct graph_sub_agent_session_info_map session_infos(const struct timeline *timeline)
{
	struct sessions sessions = sessions_of(timeline);
	struct graph_sub_agent_session_info_entry *at = arena_array(
		timeline->arena, struct graph_sub_agent_session_info_entry, sessions.count);
	for (size_t i = 0; i < sessions.count; i++) {
		const struct graph_sub_agent_session *session = sessions.at[i];
		struct graph_sub_agent_session_info *info =
			graph_sub_agent_session_info_new(timeline->arena);
		SET(info, session_id, session->session_id);
		SET(info, agent, session->agent_name);
		SET(info, message_count, (int64_t)session->message_history.count);
		SET(info, status, session->status);
		at[i].key = sessions.names[i];
		at[i].value = *info;
	}
	return (struct graph_sub_agent_session_info_map){ at, sessions.count };
}

/* ---- the trace --------------------------------------------------------------------- */

static struct graph_tool_call_record_list call_records(const struct timeline *timeline,
						       const struct timeline_step *step,
						       const struct timeline_call *call)
{
	struct graph_tool_call_record *record = graph_tool_call_record_new(timeline->arena);
	SET(record, server, S(""));
	SET(record, tool, step->node->tool);
	SET(record, arguments, call->inputs);
	if (call->output != NULL)
		SET(record, result, call->output);
	if (call->fault.size > 0)
		SET(record, error, call->fault);
	SET(record, duration_ms, timeline_duration_ms(call->begun_at, call->ended_at));
	return (struct graph_tool_call_record_list){ record, 1 };
}

static const struct graph_step_record *record_of(const struct view_group *group, size_t n)
{
	const struct timeline *timeline = &group->timeline;
	size_t index = group->facts.index;
	const struct event *event = view_group_stored(group);
	const struct timeline_step *step = timeline_step(timeline, event);
	struct graph_step_record *record = graph_step_record_new(timeline->arena);
	enum graph_step_status status;
	bool known = graph_step_status_from(group->parts[n].word, &status);
	require(known);
	const struct timeline_call *call = timeline_call(timeline, index);
	SET(record, step_name, step == NULL ? event_name(event->type) : step->path);
	SET(record, message, view_group_message(group, n));
	SET(record, timestamp, event->at);
	SET(record, status, status);
	if (view_group_kind(group, n) != FACT_EVENT) {
		SET(record, agent, event_facts_agent(&group->facts));
		return record;
	}
	if (step != NULL && step->node->kind == RUN_NODE_AGENT)
		SET(record, agent, timeline_agent(step));
	if (timeline_seq(timeline, index) == call->ended_seq) {
		SET(record, duration_ms, timeline_duration_ms(call->begun_at, call->ended_at));
		if (step->node->kind == RUN_NODE_TOOL && call->question == NULL)
			SET(record, tool_calls, call_records(timeline, step, call));
	}
	return record;
}

static struct view_document event_document(const struct view_group *group, size_t n)
{
	return view_one(&group->timeline, "event", graph_step_record_type(), record_of(group, n));
}

static const struct graph_trace_log *trace_of(const struct timeline *timeline)
{
	const struct view *view = view_at(VIEW_graph);
	size_t count = 0, room = 0;
	struct graph_step_record *steps = NULL;
	struct graph_trace_log *trace = graph_trace_log_new(timeline->arena);
	int64_t updated_at = timeline->created_at;
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		struct view_group group;
		view_group_make(&group, view, timeline, i);
		steps = VIEW_GROW(timeline->arena, steps, struct graph_step_record, count, &room,
				  group.count);
		for (size_t n = 0; n < group.count; n++)
			steps[count++] = *record_of(&group, n);
		if (group.count > 0)
			updated_at = timeline->source->events[i].at;
	}
	SET(trace, task_id, timeline->source->run);
	SET(trace, steps, ((struct graph_step_record_list){ steps, count }));
	SET(trace, sub_agent_sessions, session_infos(timeline));
	SET(trace, created_at, timeline->created_at);
	SET(trace, updated_at, updated_at);
	return trace;
}

/* ---- checkpoints ------------------------------------------------------------------- */

/* The author of a call's result; false for a wait or a body, which have none. */
static bool speaker_of(const struct timeline_step *step, const struct timeline_call *call,
		       enum graph_message_role *out_role)
{
	bool tool = step->node->kind == RUN_NODE_TOOL || step->node->kind == RUN_NODE_SUBRUN;
	bool agent = step->node->kind == RUN_NODE_AGENT;
	bool person = call->question != NULL;
	*out_role = person ? GRAPH_ROLE_USER : agent ? GRAPH_ROLE_ASSISTANT : GRAPH_ROLE_TOOL;
	return person || agent || tool;
}

/* The messages before the event at `index`. */
static struct graph_message_list messages_before(const struct timeline *timeline, size_t index)
{
	struct graph_message *at = arena_array(timeline->arena, struct graph_message, index);
	size_t count = 0;
	for (size_t i = 0; i < index; i++) {
		const struct timeline_step *step =
			timeline_step(timeline, &timeline->source->events[i]);
		const struct timeline_call *call = timeline_call(timeline, i);
		enum graph_message_role role;
		if (step == NULL || timeline_seq(timeline, i) != call->ended_seq ||
		    !speaker_of(step, call, &role))
			continue;
		at[count++] = said(timeline, role,
				   call->fault.size > 0 || call->question != NULL
					   ? timeline_format_event(timeline, i)
					   : timeline_output_text(timeline, call->output),
				   call->ended_at);
	}
	return (struct graph_message_list){ at, count };
}

static const struct graph_checkpoint *checkpoint_of(const struct timeline *timeline, size_t index,
						    const struct timeline_step *step)
{
	struct graph_checkpoint *checkpoint = graph_checkpoint_new(timeline->arena);
	struct graph_state *state = graph_state_new(timeline->arena);
	if (has(timeline->source->graph, state)) {
		*state = *state_after(timeline, index);
	} else {
		SET(state, messages, messages_before(timeline, index));
		SET(state, current_agent, S(""));
		SET(state, metadata, timeline_details(timeline, index));
	}
	SET(checkpoint, checkpoint_id, timeline_event_id(timeline, timeline_seq(timeline, index)));
	SET(checkpoint, task_id, timeline->source->run);
	SET(checkpoint, state, state);
	SET(checkpoint, position, step->path);
	SET(checkpoint, sequence, timeline_seq(timeline, index));
	SET(checkpoint, created_at, timeline->source->events[index].at);
	SET(checkpoint, awaiting_human,
	    !step->ended && timeline_call(timeline, index)->ended_at == 0);
	return checkpoint;
}

/* Whether the event ends a node that the definition names as a checkpoint. */
static bool is_checkpoint(const struct timeline *timeline, const struct event *event,
			  const struct timeline_step *step)
{
	const struct run_graph *graph = timeline->source->graph;
	for (size_t i = 0; has(graph, checkpoints) && i < graph->checkpoints.count; i++)
		if (step->parent == NULL && str_equal(step->node->name, graph->checkpoints.at[i]))
			return recorded_state(timeline, event) != NULL;
	return false;
}

static struct view_document checkpoints_of(const struct timeline *timeline)
{
	const void **at = arena_array(timeline->arena, const void *, timeline->source->event_count);
	size_t count = 0;
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		const struct event *event = &timeline->source->events[i];
		const struct timeline_step *step = timeline_step(timeline, event);
		if (step != NULL &&
		    (event->type == EVENT_HUMAN_REQUESTED || is_checkpoint(timeline, event, step)))
			at[count++] = checkpoint_of(timeline, i, step);
	}
	return view_many("checkpoints", graph_checkpoint_type(), at, count);
}

static struct view_documents more_documents(const struct timeline *timeline)
{
	struct view_document *at = arena_array(timeline->arena, struct view_document, 4);
	struct sessions sessions = sessions_of(timeline);
	size_t count = 0;
	at[count++] = view_one(timeline, "trace", graph_trace_log_type(), trace_of(timeline));
	at[count++] = checkpoints_of(timeline);
	if (has(timeline->source->graph, state))
		at[count++] =
			view_one(timeline, "state", graph_state_type(), view_graph_state(timeline));
	if (sessions.count > 0)
		at[count++] = view_many("sessions", graph_sub_agent_session_type(),
					(const void *const *)sessions.at, sessions.count);
	return (struct view_documents){ at, count };
}

const struct view_ops view_graph_ops = { .run = run_document,
					 .more = more_documents,
					 .event = event_document };
