/* engine/evolve_effect.c -- applies events that request and finish effects: tools, turns, sub-runs,
 * waits and questions. */
#include "engine/evolve.h"

#include "contract/event_result.h"
#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_question_types.h"
#include "engine/budget.h"
#include "engine/session.h"
#include "engine/workspace_folder.h"

/* ---- any effect ---------------------------------------------------------------------- */

/* The activation that this event starts: it is at the head of its ready list, or waits for a retry. */
static bool start_effect(struct run *run, struct str path, enum run_node_kind kind,
			 struct activation **out, struct error *error)
{
	struct activation *activation = run_activation(run, path);
	if (activation == NULL || activation->open || run_node(run, activation)->kind != kind)
		return fail(error, ERROR_INVALID, "step " STR_FMT " is requested out of turn",
			    STR_ARG(path));
	*out = activation;
	if (activation->state == STEP_RETRYING)
		return true;
	struct ready_list *queue = ready_list_of(run, activation);
	if (activation->state != STEP_PENDING || !activation_take_ready(run, queue, activation))
		return fail(error, ERROR_INVALID, "step " STR_FMT " is requested out of turn",
			    STR_ARG(path));
	return true;
}

static void open_effect(struct run *run, struct activation *activation, struct uuid effect,
			int64_t due_at, int64_t at)
{
	activation->open = true;
	activation->effect = effect;
	activation->due_at = due_at;
	if (activation->started_at != 0)
		return;
	activation->started_at = at;
	activation->started_seq = run->seq + 1;
	run->steps_started++;
}

/* Takes a slot, unless a retry still holds its own. */
static void take_room(struct run *run, struct activation *activation)
{
	bool contained = run_node(run, activation)->row->class == RUN_CLASS_CONTAINED;
	if (activation->state == STEP_RETRYING)
		run->retrying--;
	else
		run->busy++;
	if (contained)
		folder_take(run, activation);
	activation->outcome = RUN_OUTCOME_OK;
	activation_move(activation, STEP_RUNNING);
}

static void give_room(struct run *run, struct activation *activation)
{
	require(run->busy > 0);
	run->busy--;
	folder_give(run, activation);
}

static bool close_effect(struct run *run, struct str path, const struct uuid *effect,
			 struct activation **out, struct error *error)
{
	struct activation *activation = run_activation(run, path);
	if (activation == NULL || !activation->open || !uuid_equal(&activation->effect, effect))
		return fail(error, ERROR_INVALID, "step " STR_FMT " has no such effect open",
			    STR_ARG(path));
	activation->open = false;
	*out = activation;
	return true;
}

/* An effect with an outcome other than ok always has a fault, even if the event has none. */
static void end_effect(struct run *run, struct activation *activation,
		       const struct event_result *result, int64_t at)
{
	activation->output = run_value_copy(run, result->output);
	activation->log = run_value_copy(run, result->log);
	activation->figures = result->figures == NULL ? NULL
						      : arena_copy(run->arena, result->figures,
								   sizeof(*result->figures));
	activation->files = run_value_copy(run, result->files);
	activation->file_count = result->file_count;
	activation->fault = run_failure_copy(run, result->fault);
	activation->due_at = 0;
	activation->outcome = result->outcome;
	if (result->outcome != RUN_OUTCOME_OK && activation->fault.code.size == 0)
		activation->fault.code = error_row(ERROR_TOOL_FAILED)->name;
	if (result->next != NULL && has(result->next, retry_at)) {
		activation_move(activation, STEP_RETRYING);
		run_attempt_failed(run, activation, result->next->retry_at, at);
		activation->due_at = result->next->retry_at;
		activation->retries++;
		run->retrying++;
		return;
	}
	give_room(run, activation);
	if (result->outcome == RUN_OUTCOME_UNKNOWN && !result->settled && !activation->stopping) {
		activation->settling = true; /* human.requested follows */
		return;
	}
	enum step_state state = activation->fault.code.size == 0 ? STEP_SUCCEEDED
				: result->outcome == RUN_OUTCOME_CANCELLED && activation->stopping
					? STEP_CANCELLED
					: STEP_FAILED;
	activation_end(run, activation, state, at, result->next);
}

/* ---- tools, turns, sub-runs ---------------------------------------------------------- */

/* Returns NULL with an error when the effect cannot be requested in this state. */
static struct activation *open_call(struct run *run, enum run_node_kind kind,
				    struct event_request request, int64_t at, struct error *error)
{
	struct activation *activation;
	if (!start_effect(run, request.step, kind, &activation, error))
		return NULL;
	take_room(run, activation);
	open_effect(run, activation, request.effect, request.due_at, at);
	run_attempt_requested(run, activation, request.attempt, request.due_at, at);
	activation->inputs = run_value_copy(run, request.inputs);
	activation->fault = (struct failure){ S(""), S("") };
	activation->log = activation->files = (struct value){ .kind = VALUE_ABSENT };
	activation->file_count = 0;
	activation->figures = NULL;
	activation->secret_count = 0;
	return activation;
}

static bool close_call(struct run *run, struct str path, const struct uuid *effect,
		       struct event_result result, int64_t at, struct error *error)
{
	struct activation *activation;
	if (!close_effect(run, path, effect, &activation, error))
		return false;
	end_effect(run, activation, &result, at);
	return true;
}

bool evolve_run_tool_requested(struct run *run, const struct run_tool_requested *event, int64_t at,
			       struct error *error)
{
	struct activation *activation =
		open_call(run, RUN_NODE_TOOL, EVENT_REQUEST(event, inputs), at, error);
	if (activation == NULL)
		return false;
	activation->tree = has(event, tree) ? str_copy(run->arena, event->tree) : S("");
	if (has(event, secrets))
		run_secrets_copy(run, activation, event->secrets);
	return true;
}

bool evolve_run_tool_restarted(struct run *run, const struct run_tool_restarted *event, int64_t at,
			       struct error *error)
{
	struct activation *activation = run_activation(run, event->step);
	if (activation == NULL || !activation->open ||
	    !uuid_equal(&activation->effect, &event->effect))
		return fail(error, ERROR_INVALID, "step " STR_FMT " has no call to make again",
			    STR_ARG(event->step));
	activation->restarts =
		run_restarts_copy(run, activation->restarts, activation->restart_count++,
				  (struct restart){ run->seq + 1, at, event->attempt, 0 });
	activation->attempt = event->attempt;
	return true;
}

bool evolve_run_tool_finished(struct run *run, const struct run_tool_finished *event, int64_t at,
			      struct error *error)
{
	struct event_result result = EVENT_RESULT(event);
	result.log = has(event, log) ? event->log : NULL;
	result.figures = has(event, figures) ? event->figures : NULL;
	result.files = has(event, files) ? event->files : NULL;
	result.file_count = has(event, file_count) ? event->file_count : 0;
	return close_call(run, event->step, &event->effect, result, at, error);
}

bool evolve_run_turn_requested(struct run *run, const struct run_turn_requested *event, int64_t at,
			       struct error *error)
{
	if (open_call(run, RUN_NODE_AGENT, EVENT_REQUEST(event, request), at, error) == NULL)
		return false;
	if (has(event, reserved))
		budget_reserve(run, &event->effect, event->reserved,
			       has(event, budgets) ? event->budgets : (struct str_list){ NULL, 0 });
	return true;
}

/* Tokens of the request and the reply, as far as the driver reports them. */
static int64_t tokens_of(const struct json *usage)
{
	const struct str names[] = { S("input_tokens"), S("cache_creation_tokens"),
				     S("output_tokens") };
	int64_t sum = 0;
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct json *number = json_member(usage, names[i]);
		bool counts = number != NULL && number->kind == JSON_INT;
		if (counts && __builtin_add_overflow(sum, number->as.integer, &sum))
			return INT64_MAX;
	}
	return sum;
}

bool evolve_run_turn_finished(struct run *run, const struct run_turn_finished *event, int64_t at,
			      struct error *error)
{
	struct activation *activation;
	const struct run_graph_agent *agent = usage_agent(run, run_activation(run, event->step));
	struct event_result result = EVENT_RESULT(event);
	if (!close_effect(run, event->step, &event->effect, &activation, error))
		return false;
	if (session_has(run, activation->scope) && has(event, usage))
		activation->tokens = tokens_of(event->usage);
	/* Before the turn ends, so that its body does not end with it. */
	if (has(event, calls) && !session_open_calls(run, activation, event->calls, error))
		return false;
	end_effect(run, activation, &result, at);
	int64_t cost = 0;
	bool known = has(event, usage) && usage_note(run, agent, event->usage, at, &cost);
	budget_settle(run, &event->effect, known, cost);
	return true;
}

bool evolve_run_subrun_requested(struct run *run, const struct run_subrun_requested *event,
				 int64_t at, struct error *error)
{
	return open_call(run, RUN_NODE_SUBRUN, EVENT_REQUEST(event, inputs), at, error) != NULL;
}

bool evolve_run_subrun_finished(struct run *run, const struct run_subrun_finished *event,
				int64_t at, struct error *error)
{
	return close_call(run, event->step, &event->effect, EVENT_RESULT(event), at, error);
}

/* ---- waits --------------------------------------------------------------------------- */

bool evolve_run_timer_requested(struct run *run, const struct run_timer_requested *event,
				int64_t at, struct error *error)
{
	struct activation *activation;
	if (!start_effect(run, event->step, RUN_NODE_WAIT, &activation, error))
		return false;
	activation_move(activation, STEP_RUNNING);
	open_effect(run, activation, event->effect, has(event, due_at) ? event->due_at : 0, at);
	run->timers++;
	return true;
}

/* A wait that was ended by a signal consumes the signal. */
static void drop_signal(struct run *run, struct str name)
{
	for (struct run_signal **link = &run->signals; *link != NULL; link = &(*link)->next)
		if (str_equal((*link)->name, name)) {
			*link = (*link)->next;
			return;
		}
}

bool evolve_run_timer_finished(struct run *run, const struct run_timer_finished *event, int64_t at,
			       struct error *error)
{
	struct activation *activation;
	if (!close_effect(run, event->step, &event->effect, &activation, error))
		return false;
	const struct run_graph_node *row = run_node(run, activation)->row;
	run->timers--;
	activation->outcome = event->outcome;
	activation->output = run_value_copy(run, has(event, output) ? event->output : NULL);
	activation->fault = run_failure_copy(run, has(event, fault) ? event->fault : NULL);
	/* A wait that received its signal may fail because of its rounds. */
	if (has(row, signal) && (event->outcome == RUN_OUTCOME_OK || has(event, output)))
		drop_signal(run, row->signal);
	else if (event->outcome != RUN_OUTCOME_OK && activation->fault.code.size == 0)
		activation->fault.code = error_row(ERROR_TIMEOUT)->name;
	activation_end(run, activation,
		       event->outcome == RUN_OUTCOME_OK ? STEP_SUCCEEDED : STEP_FAILED, at,
		       has(event, next) ? event->next : NULL);
	return true;
}

/* ---- people -------------------------------------------------------------------------- */

bool evolve_run_human_requested(struct run *run, const struct run_human_requested *event,
				int64_t at, struct error *error)
{
	struct activation *activation = run_activation(run, event->step);
	bool settling = activation != NULL && activation->settling &&
			event->kind == RUN_REQUEST_OUTCOME_UNKNOWN;
	if (!settling && !start_effect(run, event->step, RUN_NODE_HUMAN, &activation, error))
		return false;
	activation_move(activation, STEP_WAITING_HUMAN);
	open_effect(run, activation, settling ? activation->effect : event->effect,
		    has(event, due_at) ? event->due_at : 0, at);
	struct run_question *asked = run_question_new(run->arena);
	COPY_FIELDS(run_human_requested, event, run_question, asked, run->arena);
	activation->question = (struct question){
		.id = event->effect, .asked = asked, .seq = run->seq + 1, .at = at
	};
	if (!settling)
		activation->inputs = run_value_copy(run, event->inputs);
	run->humans++;
	return true;
}

static bool find_question(struct run *run, struct str path, const struct uuid *question,
			  struct activation **out, struct error *error)
{
	struct activation *activation = run_activation(run, path);
	if (activation == NULL || activation->state != STEP_WAITING_HUMAN ||
	    !uuid_equal(&activation->question.id, question))
		return fail(error, ERROR_INVALID, "step " STR_FMT " asks nobody that",
			    STR_ARG(path));
	*out = activation;
	return true;
}

bool evolve_run_human_escalated(struct run *run, const struct run_human_escalated *event,
				int64_t at, struct error *error)
{
	struct activation *activation;
	if (!find_question(run, event->step, &event->effect, &activation, error))
		return false;
	run_question_passed_on(run, &activation->question, event->level, at);
	activation->due_at = has(event, due_at) ? event->due_at : 0;
	return true;
}

bool evolve_run_human_finished(struct run *run, const struct run_human_finished *event, int64_t at,
			       struct error *error)
{
	struct activation *activation;
	if (!find_question(run, event->step, &event->effect, &activation, error))
		return false;
	bool settled = activation->settling;
	struct question *question = &activation->question;
	question->answered = true;
	question->decision = event->decision;
	question->comment = has(event, comment) ? str_copy(run->arena, event->comment) : S("");
	question->by = str_copy(run->arena, event->by);
	run->humans--;
	activation->open = activation->settling = false;
	activation->due_at = 0;
	if (event->decision == RUN_DECISION_RETRY) {
		run_attempt_wanted(run, activation, at);
		activation_move(activation, STEP_RETRYING);
		activation->due_at = at;
		run->retrying++;
		run->busy++;
		return true;
	}
	bool good = run_answer_is_good(event);
	question->continues = has(event, continues) && event->continues;
	bool failed = !good || has(event, fault);
	activation->fault = good ? run_failure_copy(run, has(event, fault) ? event->fault : NULL)
				 : run_refusal(run, event);
	if (good && has(event, value))
		activation->output = run_value_copy(run, event->value);
	else if (good && !settled)
		activation->output = run_answer_value(run, question);
	if (!failed && activation->asks_for > 0)
		session_open_approved(run, activation);
	activation_end(run, activation, failed ? STEP_FAILED : STEP_SUCCEEDED, at,
		       has(event, next) ? event->next : NULL);
	return true;
}
