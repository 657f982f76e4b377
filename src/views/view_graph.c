/* views/view_graph.c -- S4: a task, its trace, its checkpoints.
 *
 * A trace has one record for each stored event; its status is how worrying that is.  A checkpoint
 * is where a person was asked: its state is the conversation so far, that is what tools gave and
 * people answered.
 *
 * A plain workflow's honest values: the description is the definition's name, which is all the
 * pinned graph keeps of it; nobody is assigned, so assigned_agent and current_agent are empty;
 * tools are Baton's own, so their server is empty; there are no sub-agents.  A task starts when it
 * is recorded, unless it is queued.
 */
#include "contract/graph.h"

#include "views/tree.h"
#include "views/view.h"

struct str project_graph_end(const struct event *event)
{
	return story_event_failed(event) ? S("error") : S("info");
}

/* ---- the task ------------------------------------------------------------------------ */

static struct view_document run_document(const struct story *story)
{
	struct graph_task *task = graph_task_new(story->arena);
	enum graph_task_status status;
	bool known = graph_task_status_from(story_words(story)->graph, &status);
	require(known);
	SET(task, id, story->source->run);
	SET(task, description, story->source->graph->name);
	SET(task, status, status);
	SET(task, assigned_agent, S(""));
	SET(task, created_at, story->created_at);
	if (status != GRAPH_TASK_PENDING)
		SET(task, started_at, story->created_at);
	if (story->ended)
		SET(task, completed_at, story->ended_at);
	if (story->retention_days >= 0)
		SET(task, retention_days, story->retention_days);
	if (story->fault.size > 0)
		SET(task, error, story->fault);
	else if (story->ended)
		SET(task, result, story_result(story));
	return view_one(story, "task", graph_task_type(), task);
}

/* ---- the trace ----------------------------------------------------------------------- */

static struct graph_tool_call_record_list call_records(const struct story *story,
						       const struct story_step *step)
{
	struct graph_tool_call_record *record = graph_tool_call_record_new(story->arena);
	SET(record, server, S(""));
	SET(record, tool, step->node->tool);
	SET(record, arguments, step->inputs);
	if (step->output != NULL)
		SET(record, result, step->output);
	if (step->fault.size > 0)
		SET(record, error, step->fault);
	SET(record, duration_ms, story_duration_ms(step->started_at, step->ended_at));
	return (struct graph_tool_call_record_list){ record, 1 };
}

static const struct graph_step_record *record_of(const struct story *story, size_t index,
						 struct str word)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
	struct graph_step_record *record = graph_step_record_new(story->arena);
	enum graph_step_status status;
	bool known = graph_step_status_from(word, &status);
	require(known);
	SET(record, step_name, step == NULL ? event_name(event->type) : step->node->name);
	SET(record, message, story_says(story, index));
	SET(record, timestamp, event->at);
	SET(record, status, status);
	if (step != NULL && story_seq(story, index) == step->ended_seq) {
		SET(record, duration_ms, story_duration_ms(step->started_at, step->ended_at));
		if (step->node->kind == RUN_NODE_TOOL)
			SET(record, tool_calls, call_records(story, step));
	}
	return record;
}

static struct view_document event_document(const struct story *story, size_t index, struct str word)
{
	return view_one(story, "event", graph_step_record_type(), record_of(story, index, word));
}

static const struct graph_trace_log *trace_of(const struct story *story)
{
	const struct view *view = view_at(VIEW_graph);
	size_t events = story->source->event_count, count = 0;
	struct graph_step_record *steps =
		arena_array(story->arena, struct graph_step_record, events);
	struct graph_trace_log *trace = graph_trace_log_new(story->arena);
	int64_t updated_at = story->created_at;
	for (size_t i = 0; i < events; i++) {
		const struct event *event = &story->source->events[i];
		struct str word = view_word(view, event);
		if (word.size == 0 || !story_covers(story, event))
			continue;
		steps[count++] = *record_of(story, i, word);
		updated_at = event->at;
	}
	SET(trace, task_id, story->source->run);
	SET(trace, steps, ((struct graph_step_record_list){ steps, count }));
	SET(trace, sub_agent_sessions, ((struct graph_sub_agent_session_info_map){ NULL, 0 }));
	SET(trace, created_at, story->created_at);
	SET(trace, updated_at, updated_at);
	return trace;
}

/* ---- checkpoints --------------------------------------------------------------------- */

/* What had been said before event number `index`. */
static struct graph_message_list messages_before(const struct story *story, size_t index)
{
	struct graph_message *at = arena_array(story->arena, struct graph_message, index);
	size_t count = 0;
	for (size_t i = 0; i < index; i++) {
		const struct event *event = &story->source->events[i];
		const struct story_step *step = story_step(story, event);
		if (step == NULL || story_seq(story, i) != step->ended_seq ||
		    step->node->kind == RUN_NODE_WAIT)
			continue;
		struct graph_message *message = graph_message_new(story->arena);
		bool person = step->node->kind == RUN_NODE_HUMAN;
		SET(message, role, person ? GRAPH_ROLE_USER : GRAPH_ROLE_TOOL);
		SET(message, content,
		    step->fault.size > 0 || person ? story_says(story, i)
						   : story_output_text(story, step));
		SET(message, timestamp, step->ended_at);
		at[count++] = *message;
	}
	return (struct graph_message_list){ at, count };
}

static const struct graph_checkpoint *checkpoint_of(const struct story *story, size_t index,
						    const struct story_step *step)
{
	struct graph_checkpoint *checkpoint = graph_checkpoint_new(story->arena);
	struct graph_state *state = graph_state_new(story->arena);
	SET(state, messages, messages_before(story, index));
	SET(state, current_agent, S(""));
	SET(state, metadata, story_details(story, index));
	SET(checkpoint, checkpoint_id, story_event_id(story, story_seq(story, index)));
	SET(checkpoint, task_id, story->source->run);
	SET(checkpoint, state, state);
	SET(checkpoint, position, step->node->name);
	SET(checkpoint, sequence, story_seq(story, index));
	SET(checkpoint, created_at, story->source->events[index].at);
	SET(checkpoint, awaiting_human, !step->ended);
	return checkpoint;
}

static struct view_document checkpoints_of(const struct story *story)
{
	const void **at = arena_array(story->arena, const void *, story->source->event_count);
	size_t count = 0;
	for (size_t i = 0; i < story->source->event_count; i++) {
		const struct event *event = &story->source->events[i];
		const struct story_step *step = story_step(story, event);
		if (event->type == EVENT_HUMAN_REQUESTED && step != NULL)
			at[count++] = checkpoint_of(story, i, step);
	}
	return view_many("checkpoints", graph_checkpoint_type(), at, count);
}

static struct view_documents more_documents(const struct story *story)
{
	struct view_document *at = arena_array(story->arena, struct view_document, 2);
	at[0] = view_one(story, "trace", graph_trace_log_type(), trace_of(story));
	at[1] = checkpoints_of(story);
	return (struct view_documents){ at, 2 };
}

const struct view_ops view_graph_ops = { .run = run_document,
					 .more = more_documents,
					 .event = event_document };
