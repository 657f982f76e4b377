/* views/timeline_format.c -- ids and sentences that several vocabularies share.
 *
 * The activity log, the trace and the execution events of a run use the same sentences, so they
 * never contradict each other.
 */
#include "views/task_chunk.h"
#include "views/timeline.h"

#include "base/limits.h"
#include "base/time.h"
#include "base/utf8.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"
#include "views/messages.h"
#include "views/view_tree.h"

struct uuid timeline_event_id(const struct timeline *timeline, int64_t seq)
{
	struct str parts[] = { uuid_str(&timeline->source->run), S("event"),
			       str_format(timeline->arena, "%lld", (long long)seq) };
	return uuid_derive(parts, COUNT(parts));
}

struct uuid timeline_part_id(const struct timeline *timeline, int64_t seq, size_t n)
{
	if (n == 0)
		return timeline_event_id(timeline, seq);
	struct str parts[] = { uuid_str(&timeline->source->run), S("event"),
			       str_format(timeline->arena, "%lld", (long long)seq),
			       str_format(timeline->arena, "%zu", n) };
	return uuid_derive(parts, COUNT(parts));
}

struct str timeline_id_text(const struct timeline *timeline, struct uuid id)
{
	char text[UUID_TEXT_SIZE];
	return str_copy(timeline->arena, uuid_text(&id, text));
}

struct str timeline_id_hex(const struct timeline *timeline, const char *prefix, struct uuid id)
{
	return task_chunk_hex(prefix, &id, timeline->arena);
}

struct uuid timeline_trace(const struct timeline *timeline)
{
	/* version "-" trace id of 32 digits "-" parent "-" flags, as the API has checked it */
	struct str digits = str_head(str_skip(timeline->start->trace, 3), 32);
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < digits.size; i++) {
		if (i == 8 || i == 12 || i == 16 || i == 20)
			buf_add_char(&text, '-');
		buf_add_char(&text, digits.at[i]);
	}
	struct uuid trace;
	return uuid_parse(buf_str(&text), &trace) ? trace : timeline->source->run;
}

struct uuid timeline_call_id(const struct timeline *timeline, const struct timeline_call *call)
{
	if (!uuid_is_zero(&call->effect))
		return call->effect;
	return timeline_event_id(timeline, call->begun_seq > 0 ? call->begun_seq : call->ended_seq);
}

struct str timeline_agent(const struct timeline_step *step)
{
	switch (step->node->kind) {
	case RUN_NODE_TOOL:
	case RUN_NODE_MAILBOX:
		return step->node->tool;
	case RUN_NODE_AGENT:
		if (has(step->node, agent))
			return step->node->agent->name;
		break;
	case RUN_NODE_SESSION:
		if (step->node->body.count > 0 && has(&step->node->body.at[0], agent))
			return step->node->body.at[0].agent->name;
		break;
	case RUN_NODE_SUBRUN:
		if (has(step->node, graph))
			return step->node->graph->name;
		break;
	case RUN_NODE_HUMAN:
	case RUN_NODE_WAIT:
	case RUN_NODE_CONDITION:
	case RUN_NODE_PARALLEL:
	case RUN_NODE_MAP:
	case RUN_NODE_LOOP:
	case RUN_NODE_VERIFY:
	case RUN_NODE_GATE:
		break;
	case RUN_NODE_TRY:
		if (has(step->node, section) && step->node->section == RUN_SECTION_UNDO)
			return run_section_name(RUN_SECTION_UNDO);
		break;
	}
	return run_node_kind_name(step->node->kind);
}

int64_t timeline_duration_ms(int64_t from, int64_t to)
{
	return to > from ? (to - from) / 1000 : 0;
}

struct str timeline_output_text(const struct timeline *timeline, const struct json *output)
{
	const struct json *printed = json_member(output, S("stdout"));
	if (printed != NULL && printed->kind == JSON_STRING)
		return json_text(printed);
	return output == NULL ? S("") : json_print(timeline->arena, output);
}

struct str timeline_result(const struct timeline *timeline)
{
	if (!timeline->ended)
		return S("");
	if (timeline->fault.size > 0)
		return timeline->fault;
	return timeline->outputs == NULL ? S("{}") : json_print(timeline->arena, timeline->outputs);
}

/* ---- sentences: steps -------------------------------------------------------------- */

/* The event that a sentence describes. */
struct sentence {
	struct arena *arena;
	const struct event *event;
	const struct timeline_step *step;
	const struct timeline_call *call;
};

static struct str format_end(const struct sentence *s)
{
	const struct timeline_call *call = s->call;
	struct str path = s->step->path;
	char again[TIME_TEXT_SIZE];
	if (call->retry_at > 0)
		return str_format(s->arena,
				  STR_FMT " failed and will be retried at " STR_FMT ": " STR_FMT,
				  STR_ARG(path), STR_ARG(time_text(call->retry_at, again)),
				  STR_ARG(call->fault));
	if (call->state == VOCABULARY_STEP_WAITING_HUMAN)
		return str_format(s->arena, "the outcome of " STR_FMT " is unknown: " STR_FMT,
				  STR_ARG(path), STR_ARG(call->fault));
	if (call->state == VOCABULARY_STEP_CANCELLED)
		return str_format(s->arena, STR_FMT " was cancelled", STR_ARG(path));
	if (call->fault.size > 0)
		return str_format(s->arena, STR_FMT " failed: " STR_FMT, STR_ARG(path),
				  STR_ARG(call->fault));
	return str_format(s->arena, STR_FMT " succeeded", STR_ARG(path));
}

/* The words before and after the step's path in a sentence about an answer. */
struct wording {
	const char *before, *after;
};

static struct wording wording_of(enum run_decision decision)
{
	switch (decision) {
	case RUN_DECISION_APPROVE:
		return (struct wording){ "approved", "" };
	case RUN_DECISION_REJECT:
		return (struct wording){ "rejected", "" };
	case RUN_DECISION_MODIFY:
		return (struct wording){ "approved", " with changes" };
	case RUN_DECISION_HAPPENED:
		return (struct wording){ "says that", " happened" };
	case RUN_DECISION_NOT_HAPPENED:
		return (struct wording){ "says that", " did not happen" };
	case RUN_DECISION_RETRY:
		return (struct wording){ "requested a retry of", "" };
	case RUN_DECISION_TIMEOUT:
		break;
	}
	return (struct wording){ "answered", " in time" };
}

static struct str format_answer(const struct sentence *s)
{
	const struct run_human_finished *answer = s->event->as.run_human_finished;
	struct wording wording = wording_of(answer->decision);
	struct str comment = has(answer, comment) ? answer->comment : S("");
	struct str by = answer->decision == RUN_DECISION_TIMEOUT ? S("nobody") : answer->by;
	return str_format(s->arena, STR_FMT " %s " STR_FMT "%s%s" STR_FMT, STR_ARG(by),
			  wording.before, STR_ARG(s->step->path), wording.after,
			  comment.size > 0 ? ": " : "", STR_ARG(comment));
}

/* "x calls shell", "x calls shell again, attempt 2". */
static struct str format_request(const struct sentence *s, const char *verb, int64_t attempt)
{
	struct str path = s->step->path, agent = timeline_agent(s->step);
	if (attempt <= 1)
		return str_format(s->arena, STR_FMT " %s " STR_FMT, STR_ARG(path), verb,
				  STR_ARG(agent));
	return str_format(s->arena, STR_FMT " %s " STR_FMT " again, attempt %lld", STR_ARG(path),
			  verb, STR_ARG(agent), (long long)attempt);
}

static struct str format_wait(const struct sentence *s)
{
	const struct timeline_call *call = s->call;
	struct str path = s->step->path;
	char text[TIME_TEXT_SIZE];
	struct str due = call->due_at > 0 ? time_text(call->due_at, text) : S("");
	if (call->signal.size == 0)
		return str_format(s->arena, STR_FMT " waits until " STR_FMT, STR_ARG(path),
				  STR_ARG(due));
	return str_format(s->arena, STR_FMT " waits for the signal " STR_FMT "%s" STR_FMT,
			  STR_ARG(path), STR_ARG(call->signal), due.size > 0 ? ", until " : "",
			  STR_ARG(due));
}

static struct str format_entered(const struct sentence *s)
{
	const struct run_step_entered *body = s->event->as.run_step_entered;
	if (has(body, undoes))
		return str_format(s->arena, STR_FMT " started, to undo " STR_FMT,
				  STR_ARG(s->step->path), STR_ARG(body->undoes));
	if (!has(body, count))
		return str_format(s->arena, STR_FMT " started", STR_ARG(s->step->path));
	return str_format(s->arena, STR_FMT " started with %lld item%s", STR_ARG(s->step->path),
			  (long long)body->count, body->count == 1 ? "" : "s");
}

static struct str format_step(const struct sentence *s)
{
	const struct event *event = s->event;
	struct str path = s->step->path;
	switch (event->type) {
	case EVENT_STEP_SKIPPED:
		return str_format(s->arena, STR_FMT " was skipped: " STR_FMT, STR_ARG(path),
				  STR_ARG(event->as.run_step_skipped->reason));
	case EVENT_STEP_STARTED:
	case EVENT_TOOL_REQUESTED:
		return format_request(s, "calls", s->call->attempt);
	case EVENT_TURN_REQUESTED:
		return format_request(s, "starts a turn of", s->call->attempt);
	case EVENT_SUBRUN_REQUESTED:
		return format_request(s, "starts a run of", s->call->attempt);
	case EVENT_TOOL_RESTARTED:
		return format_request(s, "calls", event->as.run_tool_restarted->attempt);
	case EVENT_STEP_ENTERED:
		return format_entered(s);
	case EVENT_TIMER_REQUESTED:
		return format_wait(s);
	case EVENT_HUMAN_REQUESTED:
		return str_format(s->arena, STR_FMT " asks: " STR_FMT, STR_ARG(path),
				  STR_ARG(event->as.run_human_requested->question));
	case EVENT_HUMAN_ESCALATED:
		return str_format(s->arena,
				  "nobody answered " STR_FMT " in time; escalated to " STR_FMT,
				  STR_ARG(path), STR_ARG(event->as.run_human_escalated->to));
	case EVENT_HUMAN_FINISHED:
		return format_answer(s);
	case EVENT_STEP_COMPUTED:
	case EVENT_STEP_LEFT:
	case EVENT_TOOL_FINISHED:
	case EVENT_TIMER_FINISHED:
	case EVENT_TURN_FINISHED:
	case EVENT_SUBRUN_FINISHED:
	case EVENT_RUN_CREATED:
	case EVENT_RUN_STARTED:
	case EVENT_RUN_PAUSED:
	case EVENT_RUN_RESUMED:
	case EVENT_RUN_RETRIED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_UNWINDING:
	case EVENT_RUN_SIGNALLED:
	case EVENT_MESSAGE_SENT:
	case EVENT_MESSAGE_READ:
	case EVENT_RUN_FINISHED:
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_BRANCH_ENDED:
	case EVENT_RUN_COMPACTED:
		break;
	}
	return format_end(s);
}

/* ---- sentences: the run ------------------------------------------------------------ */

/* "ada paused the run", followed by the reason. */
static struct str format_action(const struct timeline *timeline, struct str by, const char *action,
				struct str why)
{
	return str_format(timeline->arena, STR_FMT " %s%s" STR_FMT, STR_ARG(by), action,
			  why.size > 0 ? ": " : "", STR_ARG(why));
}

static struct str format_cancelling(const struct timeline *timeline,
				    const struct run_cancelling *event)
{
	if (has(event, fault))
		return str_format(timeline->arena,
				  "the run is being cancelled: " STR_FMT ": " STR_FMT,
				  STR_ARG(event->fault->code), STR_ARG(event->fault->text));
	return format_action(timeline, event->by, "cancelled the run",
			     has(event, reason) ? event->reason : S(""));
}

static struct str format_unwinding(const struct timeline *timeline,
				   const struct run_unwinding *event)
{
	if (has(event, fault))
		return str_format(timeline->arena,
				  "the run has failed: " STR_FMT ": " STR_FMT
				  "; its undo steps start",
				  STR_ARG(event->fault->code), STR_ARG(event->fault->text));
	return S("everything that ran has stopped; the finally steps start");
}

static struct str format_finished(const struct timeline *timeline)
{
	struct str name = timeline->source->graph->name;
	if (timeline->state == VOCABULARY_RUN_CANCELLED)
		return str_format(timeline->arena, "the run of " STR_FMT " was cancelled",
				  STR_ARG(name));
	if (timeline->fault.size > 0)
		return str_format(timeline->arena, "the run of " STR_FMT " failed: " STR_FMT,
				  STR_ARG(name), STR_ARG(timeline->fault));
	return str_format(timeline->arena, "the run of " STR_FMT " succeeded", STR_ARG(name));
}

static struct str format_message(const struct timeline *timeline,
				 const struct run_message_sent *event)
{
	struct str text = has(event, subject) ? event->subject : messages_text(timeline, event);
	return str_format(timeline->arena, STR_FMT " to " STR_FMT ": " STR_FMT,
			  STR_ARG(event->from), STR_ARG(has(event, to) ? event->to : S("all")),
			  STR_ARG(utf8_head(text, LIMIT_MESSAGE_SHOWN_BYTES)));
}

static struct str format_run(const struct timeline *timeline, const struct event *event)
{
	struct str name = timeline->source->graph->name;
	if (event->type == EVENT_RUN_CREATED)
		return str_format(timeline->arena, "a run of " STR_FMT " was created",
				  STR_ARG(name));
	if (event->type == EVENT_RUN_STARTED)
		return str_format(timeline->arena, "the run of " STR_FMT " started", STR_ARG(name));
	if (event->type == EVENT_RUN_PAUSED)
		return format_action(
			timeline, event->as.run_paused->by, "paused the run",
			has(event->as.run_paused, reason) ? event->as.run_paused->reason : S(""));
	if (event->type == EVENT_RUN_RESUMED)
		return format_action(timeline, event->as.run_resumed->by, "resumed the run", S(""));
	if (event->type == EVENT_RUN_RETRIED)
		return format_action(
			timeline, event->as.run_retried->by, "retried the run",
			has(event->as.run_retried, reason) ? event->as.run_retried->reason : S(""));
	if (event->type == EVENT_RUN_CANCELLING)
		return format_cancelling(timeline, event->as.run_cancelling);
	if (event->type == EVENT_RUN_UNWINDING)
		return format_unwinding(timeline, event->as.run_unwinding);
	if (event->type == EVENT_RUN_SIGNALLED)
		return format_action(timeline, event->as.run_signalled->by, "sent a signal",
				     event->as.run_signalled->name);
	if (event->type == EVENT_MESSAGE_SENT)
		return format_message(timeline, event->as.run_message_sent);
	if (event->type == EVENT_MESSAGE_READ)
		return str_format(timeline->arena, STR_FMT " read %zu messages",
				  STR_ARG(event->as.run_message_read->agent),
				  event->as.run_message_read->messages.count);
	return event_name(event->type);
}

struct str timeline_format_event(const struct timeline *timeline, size_t index)
{
	const struct event *event = &timeline->source->events[index];
	const struct timeline_step *step = timeline_step(timeline, event);
	struct sentence sentence = { timeline->arena, event, step, timeline_call(timeline, index) };
	if (event->type == EVENT_RUN_FINISHED) {
		struct timeline shown = timeline_at(timeline, index);
		return format_finished(&shown);
	}
	return step == NULL ? format_run(timeline, event) : format_step(&sentence);
}
