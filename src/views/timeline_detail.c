/* views/timeline_detail.c -- an event for a program: Baton's event name and its details. */
#include "views/timeline_internal.h"

#include "contract/event_result.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "contract/run_value_types.h"
#include "views/messages.h"
#include "views/view_tree.h"

/* ---- steps ------------------------------------------------------------------------- */

struct run_warning_list timeline_warnings(const struct timeline *timeline,
					  const struct timeline_step *step)
{
	struct run_warning *rows =
		arena_array(timeline->arena, struct run_warning, timeline->warning_count);
	size_t count = 0;
	for (size_t i = 0; step->warned && i < timeline->warning_count; i++)
		if (has(&timeline->warnings[i], step) &&
		    str_equal(timeline->warnings[i].step, step->path))
			rows[count++] = timeline->warnings[i];
	return (struct run_warning_list){ rows, count };
}

static const struct run_next *next_of(const struct event *event)
{
	struct event_result result;
	if (event_result(event, &result))
		return result.next;
	return event->type == EVENT_HUMAN_FINISHED && has(event->as.run_human_finished, next)
		       ? event->as.run_human_finished->next
		       : NULL;
}

static const struct json *detail_end(const struct timeline *timeline, const struct event *event,
				     const struct timeline_step *step,
				     const struct timeline_call *call)
{
	static const struct json yes = { .kind = JSON_BOOL, .as.boolean = true };
	const struct run_next *next = next_of(event);
	bool again = next != NULL && next->again;
	return TREE(timeline->arena, { S("event"), view_tree_text(event_name(event->type)) },
		    { S("step"), view_tree_text(step->path) },
		    { S("status"), view_tree_text(vocabulary_step(call->state)->word) },
		    { S("output"), view_tree_copy(call->output) },
		    { S("error"), view_tree_text_if(call->fault) },
		    { S("retry_at"), call->retry_at > 0
					     ? view_tree_time(timeline->arena, call->retry_at)
					     : view_tree_none() },
		    { S("again"), again ? view_tree_copy(&yes) : view_tree_none() },
		    { S("usage"), view_tree_copy(call->usage) });
}

static struct tree_value revision_text(const struct timeline *timeline,
				       const struct run_human_requested *question)
{
	char revision[HASH_TEXT_SIZE];
	if (question == NULL)
		return view_tree_none();
	return view_tree_text(str_copy(timeline->arena, hash_text(&question->revision, revision)));
}

static const struct json *detail_begin(const struct timeline *timeline, const struct event *event,
				       const struct timeline_step *step,
				       const struct timeline_call *call)
{
	const struct run_human_requested *asked =
		event->type == EVENT_HUMAN_REQUESTED ? event->as.run_human_requested : NULL;
	bool waits = event->type == EVENT_TIMER_REQUESTED;
	/* Approval is the default kind and is omitted. */
	bool special = asked != NULL && asked->kind != RUN_REQUEST_APPROVAL;
	struct arena *arena = timeline->arena;
	return TREE(arena, { S("event"), view_tree_text(event_name(event->type)) },
		    { S("step"), view_tree_text(step->path) },
		    { S("question"),
		      asked != NULL ? view_tree_text(asked->question) : view_tree_none() },
		    { S("inputs"), waits ? view_tree_none() : view_tree_copy(call->inputs) },
		    { S("revision"), revision_text(timeline, asked) },
		    { S("attempt"),
		      call->attempt > 1 ? view_tree_int(call->attempt) : view_tree_none() },
		    { S("due_at"),
		      call->due_at > 0 ? view_tree_time(arena, call->due_at) : view_tree_none() },
		    { S("signal"), view_tree_text_if(call->signal) },
		    { S("run"), event->type == EVENT_SUBRUN_REQUESTED
					? view_tree_text(timeline_id_text(timeline, call->effect))
					: view_tree_none() },
		    { S("model"), view_tree_text_if(call->model) },
		    { S("kind"), special ? view_tree_text(run_request_kind_name(asked->kind))
					 : view_tree_none() },
		    { S("to"), asked != NULL && has(asked, to) ? view_tree_text(asked->to)
							       : view_tree_none() });
}

/* An event between the start and the end of a call, or of a step without a call. */
static const struct json *detail_step(const struct timeline *timeline, const struct event *event,
				      const struct timeline_step *step)
{
	const struct run_human_escalated *to =
		event->type == EVENT_HUMAN_ESCALATED ? event->as.run_human_escalated : NULL;
	bool again = event->type == EVENT_TOOL_RESTARTED;
	bool skipped = event->type == EVENT_STEP_SKIPPED;
	struct str word = vocabulary_step(VOCABULARY_STEP_SKIPPED)->word;
	return TREE(timeline->arena, { S("event"), view_tree_text(event_name(event->type)) },
		    { S("step"), view_tree_text(step->path) },
		    { S("status"), skipped ? view_tree_text(word) : view_tree_none() },
		    { S("reason"), skipped ? view_tree_text(event->as.run_step_skipped->reason)
					   : view_tree_none() },
		    { S("attempt"), again ? view_tree_int(event->as.run_tool_restarted->attempt)
					  : view_tree_none() },
		    { S("level"), to != NULL ? view_tree_int(to->level) : view_tree_none() },
		    { S("to"), to != NULL ? view_tree_text(to->to) : view_tree_none() },
		    { S("due_at"), to != NULL && has(to, due_at)
					   ? view_tree_time(timeline->arena, to->due_at)
					   : view_tree_none() });
}

/* ---- the run ----------------------------------------------------------------------- */

static const struct json *detail_deed(const struct timeline *timeline, const struct event *event)
{
	const struct run_signalled *signal =
		event->type == EVENT_RUN_SIGNALLED ? event->as.run_signalled : NULL;
	const struct run_cancelling *off =
		event->type == EVENT_RUN_CANCELLING ? event->as.run_cancelling : NULL;
	const struct run_paused *pause =
		event->type == EVENT_RUN_PAUSED ? event->as.run_paused : NULL;
	const struct run_retried *retry =
		event->type == EVENT_RUN_RETRIED ? event->as.run_retried : NULL;
	struct str by = signal != NULL                     ? signal->by
			: off != NULL                      ? off->by
			: pause != NULL                    ? pause->by
			: retry != NULL                    ? retry->by
			: event->type == EVENT_RUN_RESUMED ? event->as.run_resumed->by
							   : S("");
	struct str reason = off != NULL && has(off, reason)       ? off->reason
			    : pause != NULL && has(pause, reason) ? pause->reason
			    : retry != NULL && has(retry, reason) ? retry->reason
								  : S("");
	const struct json *data = NULL;
	if (signal != NULL && has(signal->data, sha256))
		data = timeline->source->read_value(timeline->source->context,
						    &signal->data->sha256);
	else if (signal != NULL && has(signal->data, json))
		data = signal->data->json;
	return TREE(
		timeline->arena, { S("event"), view_tree_text(event_name(event->type)) },
		{ S("workflow"), view_tree_text(timeline->source->graph->name) },
		{ S("by"), view_tree_text_if(by) }, { S("reason"), view_tree_text_if(reason) },
		{ S("error"), off != NULL && has(off, fault) ? view_tree_text(off->fault->code)
							     : view_tree_none() },
		{ S("signal"), signal != NULL ? view_tree_text(signal->name) : view_tree_none() },
		{ S("data"), view_tree_copy(data) });
}

static const struct json *detail_message(const struct timeline *timeline,
					 const struct run_message_sent *event)
{
	return TREE(timeline->arena, { S("event"), view_tree_text(event_name(EVENT_MESSAGE_SENT)) },
		    { S("workflow"), view_tree_text(timeline->source->graph->name) },
		    { S("step"), view_tree_text(event->step) },
		    { S("message"), view_tree_text(timeline_id_text(timeline, event->id)) },
		    { S("type"), view_tree_text(run_message_kind_name(event->type)) },
		    { S("from"), view_tree_text(event->from) },
		    { S("to"), has(event, to) ? view_tree_text(event->to) : view_tree_none() },
		    { S("thread"), view_tree_text(timeline_id_text(timeline, event->thread)) },
		    { S("reply_to"), has(event, reply_to) ? view_tree_text(timeline_id_text(
								    timeline, event->reply_to))
							  : view_tree_none() },
		    { S("subject"),
		      has(event, subject) ? view_tree_text(event->subject) : view_tree_none() },
		    { S("content"), view_tree_text(messages_text(timeline, event)) });
}

static const struct json *detail_reading(const struct timeline *timeline,
					 const struct run_message_read *event)
{
	return TREE(timeline->arena, { S("event"), view_tree_text(event_name(EVENT_MESSAGE_READ)) },
		    { S("workflow"), view_tree_text(timeline->source->graph->name) },
		    { S("step"), view_tree_text(event->step) },
		    { S("agent"), view_tree_text(event->agent) },
		    { S("messages"), view_tree_int((int64_t)event->messages.count) });
}

static const struct json *detail_run(const struct timeline *timeline, const struct event *event)
{
	bool ended = event->type == EVENT_RUN_FINISHED, created = event->type == EVENT_RUN_CREATED;
	if (event->type == EVENT_MESSAGE_SENT)
		return detail_message(timeline, event->as.run_message_sent);
	if (event->type == EVENT_MESSAGE_READ)
		return detail_reading(timeline, event->as.run_message_read);
	if (!ended && !created)
		return detail_deed(timeline, event);
	return TREE(timeline->arena, { S("event"), view_tree_text(event_name(event->type)) },
		    { S("workflow"), view_tree_text(timeline->source->graph->name) },
		    { S("inputs"), created ? view_tree_copy(timeline->inputs) : view_tree_none() },
		    { S("status"),
		      ended ? view_tree_text(timeline_words(timeline)->word) : view_tree_none() },
		    { S("outputs"), ended ? view_tree_copy(timeline->outputs) : view_tree_none() },
		    { S("error"), ended ? view_tree_text_if(timeline->fault) : view_tree_none() });
}

const struct json *timeline_details(const struct timeline *timeline, size_t index)
{
	const struct event *event = &timeline->source->events[index];
	const struct timeline_step *step = timeline_step(timeline, event);
	const struct timeline_call *call = timeline_call(timeline, index);
	int64_t seq = timeline_seq(timeline, index);
	if (step == NULL) {
		struct timeline shown = timeline_at(timeline, index);
		return detail_run(&shown, event);
	}
	if (seq == call->ended_seq)
		return detail_end(timeline, event, step, call);
	return seq == call->begun_seq ? detail_begin(timeline, event, step, call)
				      : detail_step(timeline, event, step);
}
