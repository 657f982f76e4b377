/* views/timeline_apply.c -- applies single events to a timeline.
 *
 * There is one function per event, named after events.def: a missing function does not compile.
 * `step` is the event's step, NULL for events of the run itself.
 */
#include "views/timeline_internal.h"

#include "contract/event_result.h"
#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_start_types.h"
#include "views/view_tree.h"

/* ---- values ------------------------------------------------------------------------ */

static const struct json *value_json(const struct timeline *timeline, const struct run_value *value)
{
	if (has(value, sha256))
		return timeline->source->read_value(timeline->source->context, &value->sha256);
	return has(value, json) ? value->json : NULL;
}

static const struct json *value_object(const struct timeline *timeline,
				       const struct run_value *value)
{
	const struct json *json = value_json(timeline, value);
	if (json == NULL || json->kind == JSON_OBJECT)
		return json;
	return TREE(timeline->arena, { S("value"), view_tree_copy(json) });
}

static const struct json *inputs_object(const struct timeline *timeline,
					const struct run_value *value)
{
	const struct json *inputs = value_object(timeline, value);
	return inputs == NULL ? &timeline_no_members : inputs;
}

static struct str fault_text(const struct timeline *timeline, const struct run_fault *fault)
{
	return str_format(timeline->arena, STR_FMT ": " STR_FMT, STR_ARG(fault->code),
			  STR_ARG(fault->text));
}

/* ---- the run ----------------------------------------------------------------------- */

static void apply_run_created(struct timeline *timeline, struct timeline_step *step,
			      const struct run_created *event, struct timeline_now now)
{
	bool queued = has(event, queued) && event->queued;
	(void)step;
	timeline->created_at = now.at;
	timeline->started_at = queued ? 0 : now.at;
	timeline->word = queued ? TIMELINE_QUEUED : TIMELINE_STORED_STATE;
	struct run_start *start = run_start_new(timeline->arena);
	COPY_FIELDS(run_created, event, run_start, start, NULL);
	timeline->start = start;
	timeline->inputs = inputs_object(timeline, event->inputs);
}

static void apply_run_started(struct timeline *timeline, struct timeline_step *step,
			      const struct run_started *event, struct timeline_now now)
{
	(void)step, (void)event;
	timeline->started_at = timeline->started_at > 0 ? timeline->started_at : now.at;
	timeline->word = timeline->end == NULL ? TIMELINE_STARTED : TIMELINE_RETRIED;
}

static void apply_run_paused(struct timeline *timeline, struct timeline_step *step,
			     const struct run_paused *event, struct timeline_now now)
{
	(void)step, (void)event, (void)now;
	timeline->word = TIMELINE_PAUSED;
}

static void apply_run_resumed(struct timeline *timeline, struct timeline_step *step,
			      const struct run_resumed *event, struct timeline_now now)
{
	(void)step, (void)event, (void)now;
	timeline->word = TIMELINE_RUNNING;
}

/* No new step starts: skips are final now, and everything that waits is cancelled. */
static void apply_run_cancelling(struct timeline *timeline, struct timeline_step *step,
				 const struct run_cancelling *event, struct timeline_now now)
{
	(void)step, (void)event;
	timeline_skip(timeline);
	timeline->word = TIMELINE_RUNNING;
	timeline->abandoned = timeline->unwinding;
	timeline->cancelling = true;
	timeline_cancel_waiting(timeline, now.at);
}

/* The run goes on: its end counts no more.  What runs again are other steps, except for containers
 * that continue inside. */
/* The outputs are rendered anew: what was missing when the run failed may be there then. */
static void forget_output_warnings(struct timeline *timeline)
{
	size_t kept = 0;
	for (size_t i = 0; i < timeline->warning_count; i++)
		if (has(&timeline->warnings[i], step))
			timeline->warnings[kept++] = timeline->warnings[i];
	timeline->warning_count = kept;
}

static void apply_run_retried(struct timeline *timeline, struct timeline_step *step,
			      const struct run_retried *event, struct timeline_now now)
{
	bool queued = has(event, queued) && event->queued;
	(void)step;
	timeline->ended = timeline->cancelling = false;
	timeline->unwinding = timeline->abandoned = false;
	timeline->ended_at = 0;
	timeline->outputs = NULL;
	timeline->fault = S("");
	forget_output_warnings(timeline);
	timeline->word = queued ? TIMELINE_QUEUED : TIMELINE_RETRIED;
	timeline_reopen(timeline, now);
}

static void apply_run_unwinding(struct timeline *timeline, struct timeline_step *step,
				const struct run_unwinding *event, struct timeline_now now)
{
	(void)step, (void)event, (void)now;
	timeline->unwinding = true;
}

/* A signal shows up where it ends a wait. */
static void apply_run_signalled(struct timeline *timeline, struct timeline_step *step,
				const struct run_signalled *event, struct timeline_now now)
{
	(void)timeline, (void)step, (void)event, (void)now;
}

/* Messages are read from the stream (views/messages.h); the calls are steps of their own. */
static void apply_run_message_sent(struct timeline *timeline, struct timeline_step *step,
				   const struct run_message_sent *event, struct timeline_now now)
{
	(void)timeline, (void)step, (void)event, (void)now;
}

static void apply_run_message_read(struct timeline *timeline, struct timeline_step *step,
				   const struct run_message_read *event, struct timeline_now now)
{
	(void)timeline, (void)step, (void)event, (void)now;
}

/* Belongs to the system stream, never to a run. */
static void apply_run_document_changed(struct timeline *timeline, struct timeline_step *step,
				       const struct run_document_changed *event,
				       struct timeline_now now)
{
	(void)timeline, (void)step, (void)event, (void)now;
}

/* Compaction does not change the run; its workspace may go with it. */
static void apply_run_compacted(struct timeline *timeline, struct timeline_step *step,
				const struct run_compacted *event, struct timeline_now now)
{
	(void)step, (void)now;
	timeline->workspace_removed |= has(event, workspace_removed) && event->workspace_removed;
}

/* The steps of a branch have ended by themselves. */
static void apply_run_branch_ended(struct timeline *timeline, struct timeline_step *step,
				   const struct run_branch_ended *event, struct timeline_now now)
{
	(void)timeline, (void)step, (void)event, (void)now;
}

static struct str issues_text(const struct timeline *timeline, struct str_list issues)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("with issues"));
	for (size_t i = 0; i < issues.count; i++)
		buf_add_format(&text, "%s" STR_FMT, i == 0 ? ": " : "; ", STR_ARG(issues.at[i]));
	return str_copy(timeline->arena, buf_str(&text));
}

static void apply_run_finished(struct timeline *timeline, struct timeline_step *step,
			       const struct run_finished *event, struct timeline_now now)
{
	(void)step;
	timeline->ended = true;
	timeline->ended_at = now.at;
	timeline->outputs = has(event, outputs) ? value_object(timeline, event->outputs) : NULL;
	timeline_skip(timeline);
	timeline_skip_unreached(timeline);
	timeline->state = event->outcome == RUN_OUTCOME_OK            ? VOCABULARY_RUN_SUCCEEDED
			  : event->outcome == RUN_OUTCOME_WITH_ISSUES ? VOCABULARY_RUN_WITH_ISSUES
			  : event->outcome == RUN_OUTCOME_CANCELLED   ? VOCABULARY_RUN_CANCELLED
								      : VOCABULARY_RUN_FAILED;
	if (event->outcome == RUN_OUTCOME_WITH_ISSUES && has(event, issues)) {
		timeline->issues = event->issues;
		timeline->fault = issues_text(timeline, event->issues);
	} else if (event->outcome != RUN_OUTCOME_OK)
		timeline->fault = has(event, fault) ? fault_text(timeline, event->fault)
						    : run_outcome_name(event->outcome);
	struct timeline_end *end = arena_new(timeline->arena, struct timeline_end);
	*end = (struct timeline_end){ .before = timeline->end,
				      .seq = now.seq,
				      .at = now.at,
				      .state = timeline->state,
				      .outputs = timeline->outputs,
				      .fault = timeline->fault,
				      .ended_count = timeline->ended_count };
	timeline->end = end;
}

/* ---- requests ---------------------------------------------------------------------- */

static struct timeline_call *apply_request(struct timeline *timeline, struct timeline_step *step,
					   const struct event_request *request,
					   struct timeline_now now)
{
	struct timeline_call *call = timeline_call_begin(timeline, step, now);
	call->effect = step->effect = request->effect;
	call->inputs = step->inputs = inputs_object(timeline, request->inputs);
	call->due_at = request->due_at;
	call->attempt = step->attempts = request->attempt;
	return call;
}

static void apply_run_tool_requested(struct timeline *timeline, struct timeline_step *step,
				     const struct run_tool_requested *event,
				     struct timeline_now now)
{
	struct event_request request = EVENT_REQUEST(event, inputs);
	apply_request(timeline, step, &request, now);
}

static void apply_run_turn_requested(struct timeline *timeline, struct timeline_step *step,
				     const struct run_turn_requested *event,
				     struct timeline_now now)
{
	struct event_request request = EVENT_REQUEST(event, request);
	apply_request(timeline, step, &request, now)->model = event->model;
}

static void apply_run_subrun_requested(struct timeline *timeline, struct timeline_step *step,
				       const struct run_subrun_requested *event,
				       struct timeline_now now)
{
	struct event_request request = EVENT_REQUEST(event, inputs);
	apply_request(timeline, step, &request, now);
}

static void apply_run_tool_restarted(struct timeline *timeline, struct timeline_step *step,
				     const struct run_tool_restarted *event,
				     struct timeline_now now)
{
	(void)timeline, (void)now;
	step->attempts = event->attempt;
}

static void apply_run_step_started(struct timeline *timeline, struct timeline_step *step,
				   const struct run_step_started *event, struct timeline_now now)
{
	(void)event;
	timeline_call_begin(timeline, step, now);
}

static void apply_run_step_entered(struct timeline *timeline, struct timeline_step *step,
				   const struct run_step_entered *event, struct timeline_now now)
{
	struct timeline_call *call = timeline_call_begin(timeline, step, now);
	const struct json *items = has(event, items) ? value_json(timeline, event->items) : NULL;
	if (has(event, undoes))
		step->undoes = event->undoes;
	if (items != NULL)
		call->inputs = step->inputs =
			TREE(timeline->arena, { S("items"), view_tree_copy(items) });
}

static void apply_run_timer_requested(struct timeline *timeline, struct timeline_step *step,
				      const struct run_timer_requested *event,
				      struct timeline_now now)
{
	struct timeline_call *call = timeline_call_begin(timeline, step, now);
	call->effect = step->effect = event->effect;
	call->due_at = has(event, due_at) ? event->due_at : 0;
	call->signal = has(event, signal) ? event->signal : S("");
}

/* A question that settles an outcome has its own id: step->effect stays that of the tool. */
static void apply_run_human_requested(struct timeline *timeline, struct timeline_step *step,
				      const struct run_human_requested *event,
				      struct timeline_now now)
{
	struct timeline_call *call = timeline_call_begin(timeline, step, now);
	bool settles = step->node->kind != RUN_NODE_HUMAN;
	step->state = VOCABULARY_STEP_WAITING_HUMAN;
	step->question = call->question = event;
	step->escalation = NULL;
	step->answer = NULL;
	call->effect = event->effect;
	call->inputs = inputs_object(timeline, event->inputs);
	call->due_at = has(event, due_at) ? event->due_at : 0;
	if (settles)
		return;
	step->effect = event->effect;
	step->inputs = call->inputs;
}

/* The call keeps the due time and addressee of its request. */
static void apply_run_human_escalated(struct timeline *timeline, struct timeline_step *step,
				      const struct run_human_escalated *event,
				      struct timeline_now now)
{
	(void)timeline, (void)now;
	step->escalation = event;
}

/* ---- results ----------------------------------------------------------------------- */

static enum vocabulary_step state_after(const struct timeline *timeline,
					const struct timeline_step *step,
					const struct event_result *result)
{
	bool stopped = timeline_was_stopped(timeline, step);
	if (result->outcome == RUN_OUTCOME_OK)
		return VOCABULARY_STEP_SUCCEEDED;
	if (result->next != NULL && has(result->next, retry_at))
		return VOCABULARY_STEP_RETRYING;
	if (result->outcome == RUN_OUTCOME_UNKNOWN && !result->settled && !stopped)
		return VOCABULARY_STEP_WAITING_HUMAN;
	return result->outcome == RUN_OUTCOME_CANCELLED && stopped ? VOCABULARY_STEP_CANCELLED
								   : VOCABULARY_STEP_FAILED;
}

static struct timeline_call *apply_result(struct timeline *timeline, struct timeline_step *step,
					  const struct event_result *result,
					  struct timeline_now now)
{
	struct timeline_call *call = timeline_call_end(timeline, step, false, now);
	call->state = state_after(timeline, step, result);
	if (result->output != NULL)
		call->output = value_object(timeline, result->output);
	if (result->outcome != RUN_OUTCOME_OK)
		call->fault = result->fault != NULL ? fault_text(timeline, result->fault)
						    : run_outcome_name(result->outcome);
	step->output = call->output;
	if (call->state == VOCABULARY_STEP_RETRYING) {
		step->state = call->state;
		call->retry_at = result->next->retry_at;
	} else if (call->state != VOCABULARY_STEP_WAITING_HUMAN) {
		timeline_step_end(timeline, step, call->state, call->fault, result->next, now);
	} /* else a question follows that settles the outcome */
	return call;
}

static void apply_run_step_computed(struct timeline *timeline, struct timeline_step *step,
				    const struct run_step_computed *event, struct timeline_now now)
{
	struct event_result result = EVENT_COMPUTED(event);
	apply_result(timeline, step, &result, now);
}

static void apply_run_step_skipped(struct timeline *timeline, struct timeline_step *step,
				   const struct run_step_skipped *event, struct timeline_now now)
{
	step->reason = event->reason;
	timeline_step_end(timeline, step, VOCABULARY_STEP_SKIPPED, S(""), NULL, now);
}

static void apply_run_step_left(struct timeline *timeline, struct timeline_step *step,
				const struct run_step_left *event, struct timeline_now now)
{
	struct event_result result = EVENT_RESULT(event);
	apply_result(timeline, step, &result, now);
}

static void apply_run_tool_finished(struct timeline *timeline, struct timeline_step *step,
				    const struct run_tool_finished *event, struct timeline_now now)
{
	struct event_result result = EVENT_RESULT(event);
	struct timeline_call *call = apply_result(timeline, step, &result, now);
	call->figures = has(event, figures) ? event->figures : NULL;
	if (has(event, next) && has(event->next, fallback))
		call->instead = event->next->fallback;
}

static void apply_run_timer_finished(struct timeline *timeline, struct timeline_step *step,
				     const struct run_timer_finished *event,
				     struct timeline_now now)
{
	struct event_result result = EVENT_RESULT(event);
	apply_result(timeline, step, &result, now);
}

static void apply_run_subrun_finished(struct timeline *timeline, struct timeline_step *step,
				      const struct run_subrun_finished *event,
				      struct timeline_now now)
{
	struct event_result result = EVENT_RESULT(event);
	apply_result(timeline, step, &result, now);
}

static void apply_run_turn_finished(struct timeline *timeline, struct timeline_step *step,
				    const struct run_turn_finished *event, struct timeline_now now)
{
	struct event_result result = EVENT_RESULT(event);
	struct timeline_call *call = apply_result(timeline, step, &result, now);
	call->usage = has(event, usage) ? event->usage : NULL;
}

/* ---- answers ----------------------------------------------------------------------- */

/* Why the step fails after this answer; "" = it does not. */
static struct str refusal(const struct timeline *timeline, const struct run_human_finished *event)
{
	switch (event->decision) {
	case RUN_DECISION_APPROVE:
	case RUN_DECISION_MODIFY:
	case RUN_DECISION_HAPPENED:
	case RUN_DECISION_RETRY:
		break;
	case RUN_DECISION_REJECT:
		if (has(event, continues) && event->continues)
			break;
		return str_format(timeline->arena, "rejected by " STR_FMT, STR_ARG(event->by));
	case RUN_DECISION_NOT_HAPPENED:
		return str_format(timeline->arena, "it did not happen, says " STR_FMT,
				  STR_ARG(event->by));
	case RUN_DECISION_TIMEOUT:
		return S("nobody answered in time");
	}
	return S("");
}

static const struct json *answer_object(const struct timeline *timeline,
					const struct run_human_finished *event)
{
	return TREE(timeline->arena,
		    { S("decision"), view_tree_text(run_decision_name(event->decision)) },
		    { S("comment"), view_tree_text(has(event, comment) ? event->comment : S("")) },
		    { S("by"), view_tree_text(event->by) });
}

/* The value of an answer becomes the step's output: the whole answer of a modify, or the output
 * that a person reports for an effect that happened. */
static void apply_run_human_finished(struct timeline *timeline, struct timeline_step *step,
				     const struct run_human_finished *event,
				     struct timeline_now now)
{
	struct timeline_call *call = timeline_call_end(timeline, step, true, now);
	const struct json *value = has(event, value) ? value_object(timeline, event->value) : NULL;
	bool settles = step->node->kind != RUN_NODE_HUMAN;
	call->answer = step->answer = event;
	call->fault =
		has(event, fault) ? fault_text(timeline, event->fault) : refusal(timeline, event);
	call->output = !settles && value != NULL ? value : answer_object(timeline, event);
	call->state = event->decision == RUN_DECISION_RETRY ? VOCABULARY_STEP_RETRYING
		      : call->fault.size > 0                ? VOCABULARY_STEP_FAILED
							    : VOCABULARY_STEP_SUCCEEDED;
	if (!settles)
		step->output = call->output;
	else if (value != NULL)
		step->output = value;
	if (call->state == VOCABULARY_STEP_RETRYING)
		step->state = call->state;
	else
		timeline_step_end(timeline, step, call->state, call->fault,
				  has(event, next) ? event->next : NULL, now);
}

/* ---- dispatch ---------------------------------------------------------------------- */

static void apply_event(struct timeline *timeline, struct timeline_step *step,
			const struct event *event, struct timeline_now now)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)      \
	case EVENT_##constant:                                     \
		apply_##body(timeline, step, event->as.body, now); \
		break;
#include "contracts/events.def"
#undef EVENT
	}
}

/* run.compacted has all warnings so far, because the events that recorded them may be gone. */
static void apply_warnings(struct timeline *timeline, const struct event *event)
{
	int64_t dropped;
	struct run_warning_list rows = event_warnings(event, &dropped);
	if (rows.count == 0 && dropped == 0)
		return;
	if (event->type == EVENT_RUN_COMPACTED)
		timeline->warning_count = 0, timeline->warnings_dropped = 0;
	if (timeline->warning_count + rows.count > timeline->warning_room) {
		timeline->warning_room = 2 * (timeline->warning_count + rows.count);
		struct run_warning *more =
			arena_array(timeline->arena, struct run_warning, timeline->warning_room);
		for (size_t i = 0; i < timeline->warning_count; i++)
			more[i] = timeline->warnings[i];
		timeline->warnings = more;
	}
	for (size_t i = 0; i < rows.count; i++) {
		timeline->warnings[timeline->warning_count++] = rows.at[i];
		struct timeline_step *step =
			has(&rows.at[i], step) ? map_get(&timeline->paths, rows.at[i].step) : NULL;
		if (step != NULL)
			step->warned = true;
	}
	timeline->warnings_dropped += dropped;
}

void timeline_apply(struct timeline *timeline, const struct event *event, struct timeline_now now)
{
	struct str path;
	bool of_step = timeline_event_of_step(event, &path);
	struct timeline_step *step = of_step ? timeline_step_at(timeline, path) : NULL;
	if (step != NULL)
		timeline_continue_inside(timeline, step, now);
	if (!of_step || step != NULL)
		apply_event(timeline, step, event, now);
	apply_warnings(timeline, event);
}
