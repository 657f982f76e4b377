/* views/story_see.c -- what each event adds to a story: what it says, and no more.
 *
 * One function an event, named by events.def: forgetting one does not compile.  `step` is the one
 * the event is about, NULL for the run's own events.
 */
#include "views/story_inside.h"

#include "views/tree.h"

/* ---- values -------------------------------------------------------------------------- */

static const struct json *value_json(const struct story *story, const struct run_value *value)
{
	if (has(value, sha256))
		return story->source->look(story->source->context, &value->sha256);
	return has(value, json) ? value->json : NULL;
}

static const struct json *value_object(const struct story *story, const struct run_value *value)
{
	const struct json *json = value_json(story, value);
	if (json == NULL || json->kind == JSON_OBJECT)
		return json;
	return TREE(story->arena, { S("value"), tree_copy(json) });
}

static const struct json *inputs_object(const struct story *story, const struct run_value *value)
{
	const struct json *inputs = value_object(story, value);
	return inputs == NULL ? &story_no_members : inputs;
}

static struct str fault_text(const struct story *story, const struct run_fault *fault)
{
	return str_format(story->arena, STR_FMT ": " STR_FMT, STR_ARG(fault->code),
			  STR_ARG(fault->text));
}

/* ---- the run ------------------------------------------------------------------------- */

static void see_run_created(struct story *story, struct story_step *step,
			    const struct run_created *event, struct story_now now)
{
	bool queued = has(event, queued) && event->queued;
	(void)step;
	story->created_at = now.at;
	story->started_at = queued ? 0 : now.at;
	story->word = queued ? STORY_QUEUED : STORY_AS_ITS_ROW;
	if (has(event, parent))
		story->parent = event->parent;
	if (has(event, trace))
		story->trace = event->trace;
	if (has(event, retention_days))
		story->retention_days = event->retention_days;
	story->inputs = inputs_object(story, event->inputs);
}

static void see_run_started(struct story *story, struct story_step *step,
			    const struct run_started *event, struct story_now now)
{
	(void)step, (void)event;
	story->started_at = now.at;
	story->word = STORY_STARTED;
}

static void see_run_paused(struct story *story, struct story_step *step,
			   const struct run_paused *event, struct story_now now)
{
	(void)step, (void)event, (void)now;
	story->word = STORY_PAUSED;
}

static void see_run_resumed(struct story *story, struct story_step *step,
			    const struct run_resumed *event, struct story_now now)
{
	(void)step, (void)event, (void)now;
	story->word = STORY_AT_WORK;
}

/* Nothing new starts: what waits is over, as what came before has left it. */
static void see_run_cancelling(struct story *story, struct story_step *step,
			       const struct run_cancelling *event, struct story_now now)
{
	(void)step, (void)event;
	story_skip(story);
	story->word = STORY_AT_WORK;
	story->cancelling = true;
	story_call_off(story, now.at);
}

/* It is seen where it ends a wait. */
static void see_run_signalled(struct story *story, struct story_step *step,
			      const struct run_signalled *event, struct story_now now)
{
	(void)story, (void)step, (void)event, (void)now;
}

/* Of the system stream, which is nobody's story. */
static void see_run_document_changed(struct story *story, struct story_step *step,
				     const struct run_document_changed *event, struct story_now now)
{
	(void)story, (void)step, (void)event, (void)now;
}

/* Nothing has happened to the run. */
static void see_run_compacted(struct story *story, struct story_step *step,
			      const struct run_compacted *event, struct story_now now)
{
	(void)story, (void)step, (void)event, (void)now;
}

static void see_run_finished(struct story *story, struct story_step *step,
			     const struct run_finished *event, struct story_now now)
{
	(void)step;
	story->ended = true;
	story->ended_at = now.at;
	story->outputs = has(event, outputs) ? value_object(story, event->outputs) : NULL;
	story_skip(story);
	story_pass_over(story);
	switch (event->outcome) {
	case RUN_OUTCOME_OK:
		story->state = VOCABULARY_RUN_SUCCEEDED;
		return;
	case RUN_OUTCOME_CANCELLED:
		story->state = VOCABULARY_RUN_CANCELLED;
		break;
	case RUN_OUTCOME_FAILED:
	case RUN_OUTCOME_UNKNOWN:
		story->state = VOCABULARY_RUN_FAILED;
		break;
	}
	story->fault = has(event, fault) ? fault_text(story, event->fault)
					 : run_outcome_name(event->outcome);
}

/* ---- requests ------------------------------------------------------------------------ */

static struct story_call *see_request(struct story *story, struct story_step *step,
				      const struct event_request *request, struct story_now now)
{
	struct story_call *call = story_call_begin(story, step, now);
	call->effect = step->effect = request->effect;
	call->inputs = step->inputs = inputs_object(story, request->inputs);
	call->due_at = request->due_at;
	call->attempt = step->attempts = request->attempt;
	return call;
}

static void see_run_tool_requested(struct story *story, struct story_step *step,
				   const struct run_tool_requested *event, struct story_now now)
{
	struct event_request request = EVENT_REQUEST(event, inputs);
	see_request(story, step, &request, now);
}

static void see_run_turn_requested(struct story *story, struct story_step *step,
				   const struct run_turn_requested *event, struct story_now now)
{
	struct event_request request = EVENT_REQUEST(event, request);
	see_request(story, step, &request, now)->model = event->model;
}

static void see_run_subrun_requested(struct story *story, struct story_step *step,
				     const struct run_subrun_requested *event, struct story_now now)
{
	struct event_request request = EVENT_REQUEST(event, inputs);
	see_request(story, step, &request, now);
}

static void see_run_tool_restarted(struct story *story, struct story_step *step,
				   const struct run_tool_restarted *event, struct story_now now)
{
	(void)story, (void)now;
	step->attempts = event->attempt;
}

static void see_run_step_started(struct story *story, struct story_step *step,
				 const struct run_step_started *event, struct story_now now)
{
	(void)event;
	story_call_begin(story, step, now);
}

static void see_run_step_entered(struct story *story, struct story_step *step,
				 const struct run_step_entered *event, struct story_now now)
{
	struct story_call *call = story_call_begin(story, step, now);
	const struct json *items = has(event, items) ? value_json(story, event->items) : NULL;
	if (items != NULL)
		call->inputs = step->inputs = TREE(story->arena, { S("items"), tree_copy(items) });
}

static void see_run_timer_requested(struct story *story, struct story_step *step,
				    const struct run_timer_requested *event, struct story_now now)
{
	struct story_call *call = story_call_begin(story, step, now);
	call->effect = step->effect = event->effect;
	call->due_at = has(event, due_at) ? event->due_at : 0;
	call->signal = has(event, signal) ? event->signal : S("");
}

/* A question that settles an outcome has an id of its own: the effect stays the tool's. */
static void see_run_human_requested(struct story *story, struct story_step *step,
				    const struct run_human_requested *event, struct story_now now)
{
	struct story_call *call = story_call_begin(story, step, now);
	bool settles = step->node->kind != RUN_NODE_HUMAN;
	step->state = VOCABULARY_STEP_WAITING_HUMAN;
	step->question = call->question = event;
	step->passed_on = NULL;
	step->answer = NULL;
	call->effect = event->effect;
	call->inputs = inputs_object(story, event->inputs);
	call->due_at = has(event, due_at) ? event->due_at : 0;
	if (settles)
		return;
	step->effect = event->effect;
	step->inputs = call->inputs;
}

/* The call stays as its request made it. */
static void see_run_human_escalated(struct story *story, struct story_step *step,
				    const struct run_human_escalated *event, struct story_now now)
{
	(void)story, (void)now;
	step->passed_on = event;
}

/* ---- results ------------------------------------------------------------------------- */

static enum vocabulary_step state_after(const struct story *story,
					const struct event_result *result)
{
	if (result->outcome == RUN_OUTCOME_OK)
		return VOCABULARY_STEP_SUCCEEDED;
	if (result->next != NULL && has(result->next, retry_at))
		return VOCABULARY_STEP_RETRYING;
	if (result->outcome == RUN_OUTCOME_UNKNOWN && !result->settled && !story->cancelling)
		return VOCABULARY_STEP_WAITING_HUMAN;
	return result->outcome == RUN_OUTCOME_CANCELLED && story->cancelling
		       ? VOCABULARY_STEP_CANCELLED
		       : VOCABULARY_STEP_FAILED;
}

static struct story_call *see_result(struct story *story, struct story_step *step,
				     const struct event_result *result, struct story_now now)
{
	struct story_call *call = story_call_end(story, step, false, now);
	call->state = state_after(story, result);
	if (result->output != NULL)
		call->output = value_object(story, result->output);
	if (result->outcome != RUN_OUTCOME_OK)
		call->fault = result->fault != NULL ? fault_text(story, result->fault)
						    : run_outcome_name(result->outcome);
	step->output = call->output;
	if (call->state == VOCABULARY_STEP_RETRYING) {
		step->state = call->state;
		call->retry_at = result->next->retry_at;
	} else if (call->state != VOCABULARY_STEP_WAITING_HUMAN) {
		story_step_end(story, step, call->state, call->fault, result->next, now);
	} /* else the question follows */
	return call;
}

static void see_run_step_computed(struct story *story, struct story_step *step,
				  const struct run_step_computed *event, struct story_now now)
{
	struct event_result result = EVENT_COMPUTED(event);
	see_result(story, step, &result, now);
}

static void see_run_step_skipped(struct story *story, struct story_step *step,
				 const struct run_step_skipped *event, struct story_now now)
{
	step->reason = event->reason;
	story_step_end(story, step, VOCABULARY_STEP_SKIPPED, S(""), NULL, now);
}

static void see_run_step_left(struct story *story, struct story_step *step,
			      const struct run_step_left *event, struct story_now now)
{
	struct event_result result = EVENT_RESULT(event);
	see_result(story, step, &result, now);
}

static void see_run_tool_finished(struct story *story, struct story_step *step,
				  const struct run_tool_finished *event, struct story_now now)
{
	struct event_result result = EVENT_RESULT(event);
	see_result(story, step, &result, now);
}

static void see_run_timer_finished(struct story *story, struct story_step *step,
				   const struct run_timer_finished *event, struct story_now now)
{
	struct event_result result = EVENT_RESULT(event);
	see_result(story, step, &result, now);
}

static void see_run_subrun_finished(struct story *story, struct story_step *step,
				    const struct run_subrun_finished *event, struct story_now now)
{
	struct event_result result = EVENT_RESULT(event);
	see_result(story, step, &result, now);
}

static void see_run_turn_finished(struct story *story, struct story_step *step,
				  const struct run_turn_finished *event, struct story_now now)
{
	struct event_result result = EVENT_RESULT(event);
	struct story_call *call = see_result(story, step, &result, now);
	call->usage = has(event, usage) ? event->usage : NULL;
}

/* ---- answers ------------------------------------------------------------------------- */

/* Why the step fails after this answer; "" when it does not. */
static struct str refusal(const struct story *story, const struct run_human_finished *event)
{
	switch (event->decision) {
	case RUN_DECISION_APPROVE:
	case RUN_DECISION_MODIFY:
	case RUN_DECISION_HAPPENED:
	case RUN_DECISION_RETRY:
		break;
	case RUN_DECISION_REJECT:
		return str_format(story->arena, "rejected by " STR_FMT, STR_ARG(event->by));
	case RUN_DECISION_NOT_HAPPENED:
		return str_format(story->arena, "it did not happen, says " STR_FMT,
				  STR_ARG(event->by));
	case RUN_DECISION_TIMEOUT:
		return S("nobody answered in time");
	}
	return S("");
}

static const struct json *answer_object(const struct story *story,
					const struct run_human_finished *event)
{
	return TREE(story->arena, { S("decision"), tree_text(run_decision_name(event->decision)) },
		    { S("comment"), tree_text(has(event, comment) ? event->comment : S("")) },
		    { S("by"), tree_text(event->by) });
}

/* What came with an answer is the step's output: of modify the whole answer, of happened what the
 * effect would have given. */
static void see_run_human_finished(struct story *story, struct story_step *step,
				   const struct run_human_finished *event, struct story_now now)
{
	struct story_call *call = story_call_end(story, step, true, now);
	const struct json *value = has(event, value) ? value_object(story, event->value) : NULL;
	bool settles = step->node->kind != RUN_NODE_HUMAN;
	call->answer = step->answer = event;
	call->fault = refusal(story, event);
	call->output = !settles && value != NULL ? value : answer_object(story, event);
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
		story_step_end(story, step, call->state, call->fault,
			       has(event, next) ? event->next : NULL, now);
}

/* ---- one event ------------------------------------------------------------------------- */

static void add(struct story *story, struct story_step *step, const struct event *event,
		struct story_now now)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text) \
	case EVENT_##constant:                                \
		see_##body(story, step, event->as.body, now); \
		break;
#include "contracts/events.def"
#undef EVENT
	}
}

void story_see(struct story *story, const struct event *event, struct story_now now)
{
	struct str path;
	bool of_step = story_event_of_step(event, &path);
	struct story_step *step = of_step ? story_step_at(story, path) : NULL;
	if (!of_step || step != NULL)
		add(story, step, event, now);
}
