/* views/story_detail.c -- an event for a program: Baton's name of it, and what belongs to it. */
#include "views/story.h"

#include "views/tree.h"

/* ---- steps --------------------------------------------------------------------------- */

static const struct run_next *next_of(const struct event *event)
{
	struct event_result result;
	if (event_result(event, &result))
		return result.next;
	return event->type == EVENT_HUMAN_FINISHED && has(event->as.run_human_finished, next)
		       ? event->as.run_human_finished->next
		       : NULL;
}

static const struct json *detail_end(const struct story *story, const struct event *event,
				     const struct story_step *step, const struct story_call *call)
{
	static const struct json yes = { .kind = JSON_BOOL, .as.boolean = true };
	const struct run_next *next = next_of(event);
	bool again = next != NULL && next->again;
	return TREE(story->arena, { S("event"), tree_text(event_name(event->type)) },
		    { S("step"), tree_text(step->path) },
		    { S("status"), tree_text(vocabulary_step(call->state)->word) },
		    { S("output"), tree_copy(call->output) },
		    { S("error"), tree_text_if(call->fault) },
		    { S("retry_at"),
		      call->retry_at > 0 ? tree_time(story->arena, call->retry_at) : tree_none() },
		    { S("again"), again ? tree_copy(&yes) : tree_none() },
		    { S("usage"), tree_copy(call->usage) });
}

static struct tree_value question_text(const struct run_human_requested *question)
{
	return question == NULL ? tree_none() : tree_text(question->question);
}

static struct tree_value revision_text(const struct story *story,
				       const struct run_human_requested *question)
{
	char revision[HASH_TEXT_SIZE];
	if (question == NULL)
		return tree_none();
	return tree_text(str_copy(story->arena, hash_text(&question->revision, revision)));
}

/* Approval goes without saying. */
static struct tree_value kind_text(const struct run_human_requested *question)
{
	return question == NULL || question->kind == RUN_REQUEST_APPROVAL
		       ? tree_none()
		       : tree_text(run_request_kind_name(question->kind));
}

static const struct json *detail_begin(const struct story *story, const struct event *event,
				       const struct story_step *step, const struct story_call *call)
{
	const struct run_human_requested *asked =
		event->type == EVENT_HUMAN_REQUESTED ? event->as.run_human_requested : NULL;
	bool waits = event->type == EVENT_TIMER_REQUESTED;
	struct arena *arena = story->arena;
	return TREE(
		arena, { S("event"), tree_text(event_name(event->type)) },
		{ S("step"), tree_text(step->path) }, { S("question"), question_text(asked) },
		{ S("inputs"), waits ? tree_none() : tree_copy(call->inputs) },
		{ S("revision"), revision_text(story, asked) },
		{ S("attempt"), call->attempt > 1 ? tree_int(call->attempt) : tree_none() },
		{ S("due_at"), call->due_at > 0 ? tree_time(arena, call->due_at) : tree_none() },
		{ S("signal"), tree_text_if(call->signal) },
		{ S("run"), event->type == EVENT_SUBRUN_REQUESTED
				    ? tree_text(story_id_text(story, call->effect))
				    : tree_none() },
		{ S("model"), tree_text_if(call->model) }, { S("kind"), kind_text(asked) },
		{ S("to"), asked != NULL && has(asked, to) ? tree_text(asked->to) : tree_none() });
}

/* What happens to a call between its beginning and its end, or to a step that has none. */
static const struct json *detail_step(const struct story *story, const struct event *event,
				      const struct story_step *step)
{
	const struct run_human_escalated *to =
		event->type == EVENT_HUMAN_ESCALATED ? event->as.run_human_escalated : NULL;
	bool again = event->type == EVENT_TOOL_RESTARTED;
	bool skipped = event->type == EVENT_STEP_SKIPPED;
	struct str word = vocabulary_step(VOCABULARY_STEP_SKIPPED)->word;
	return TREE(story->arena, { S("event"), tree_text(event_name(event->type)) },
		    { S("step"), tree_text(step->path) },
		    { S("status"), skipped ? tree_text(word) : tree_none() },
		    { S("reason"),
		      skipped ? tree_text(event->as.run_step_skipped->reason) : tree_none() },
		    { S("attempt"),
		      again ? tree_int(event->as.run_tool_restarted->attempt) : tree_none() },
		    { S("level"), to != NULL ? tree_int(to->level) : tree_none() },
		    { S("to"), to != NULL ? tree_text(to->to) : tree_none() },
		    { S("due_at"), to != NULL && has(to, due_at)
					   ? tree_time(story->arena, to->due_at)
					   : tree_none() });
}

/* ---- the run ------------------------------------------------------------------------- */

static const struct json *detail_deed(const struct story *story, const struct event *event)
{
	const struct run_signalled *signal =
		event->type == EVENT_RUN_SIGNALLED ? event->as.run_signalled : NULL;
	const struct run_cancelling *off =
		event->type == EVENT_RUN_CANCELLING ? event->as.run_cancelling : NULL;
	const struct run_paused *pause =
		event->type == EVENT_RUN_PAUSED ? event->as.run_paused : NULL;
	struct str by = signal != NULL                     ? signal->by
			: off != NULL                      ? off->by
			: pause != NULL                    ? pause->by
			: event->type == EVENT_RUN_RESUMED ? event->as.run_resumed->by
							   : S("");
	struct str reason = off != NULL && has(off, reason)       ? off->reason
			    : pause != NULL && has(pause, reason) ? pause->reason
								  : S("");
	const struct json *data = NULL;
	if (signal != NULL && has(signal->data, sha256))
		data = story->source->look(story->source->context, &signal->data->sha256);
	else if (signal != NULL && has(signal->data, json))
		data = signal->data->json;
	return TREE(story->arena, { S("event"), tree_text(event_name(event->type)) },
		    { S("workflow"), tree_text(story->source->graph->name) },
		    { S("by"), tree_text_if(by) }, { S("reason"), tree_text_if(reason) },
		    { S("error"),
		      off != NULL && has(off, fault) ? tree_text(off->fault->code) : tree_none() },
		    { S("signal"), signal != NULL ? tree_text(signal->name) : tree_none() },
		    { S("data"), tree_copy(data) });
}

static const struct json *detail_run(const struct story *story, const struct event *event)
{
	bool ended = event->type == EVENT_RUN_FINISHED, created = event->type == EVENT_RUN_CREATED;
	if (!ended && !created)
		return detail_deed(story, event);
	return TREE(story->arena, { S("event"), tree_text(event_name(event->type)) },
		    { S("workflow"), tree_text(story->source->graph->name) },
		    { S("inputs"), created ? tree_copy(story->inputs) : tree_none() },
		    { S("status"), ended ? tree_text(story_words(story)->word) : tree_none() },
		    { S("outputs"), ended ? tree_copy(story->outputs) : tree_none() },
		    { S("error"), ended ? tree_text_if(story->fault) : tree_none() });
}

const struct json *story_details(const struct story *story, size_t index)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
	const struct story_call *call = story_call(story, index);
	int64_t seq = story_seq(story, index);
	if (step == NULL)
		return detail_run(story, event);
	if (seq == call->ended_seq)
		return detail_end(story, event, step, call);
	return seq == call->begun_seq ? detail_begin(story, event, step, call)
				      : detail_step(story, event, step);
}
