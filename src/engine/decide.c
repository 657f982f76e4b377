/* engine/decide.c -- decides commands: refuses a command, or makes its events.
 *
 * A command is first checked against the state (another command may have come first), then turned
 * into events.  Everything that needs a value is evaluated before the first event is made, so that a
 * command that answers ENGINE_NEED has changed nothing.  advance() applies the consequences for other
 * steps, so a finished tool, a fired timer, an answered question and a computed step share the same
 * few lines.
 */
#include "engine/budget.h"
#include "engine/decide.h"

#include "base/limits.h"
#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_output_types.h"
#include "contract/run_question_types.h"
#include "contract/run_start_types.h"
#include "engine/engine_internal.h"
#include "engine/session.h"
#include "engine/workspace_folder.h"

static enum engine_answer refuse(struct error *error, enum error_code code, const char *text)
{
	fail(error, code, "%s", text);
	return ENGINE_REFUSED;
}

static enum engine_answer refuse_step(struct error *error, enum error_code code, struct str step,
				      const char *text)
{
	fail(error, code, "step " STR_FMT " %s", STR_ARG(step), text);
	return ENGINE_REFUSED;
}

/* ---- the run ------------------------------------------------------------------------- */

static enum engine_answer decide_create(struct run *run, const struct command *command,
					struct decision *d, struct error *error)
{
	if (run->seq != 0)
		return refuse(error, ERROR_CONFLICT, "there is already a run with this id");
	struct run_value *inputs;
	if (!decision_value(d, command->inputs, &inputs))
		return ENGINE_NEED;
	if (inputs == NULL) {
		fail(error, ERROR_TOO_LARGE, "the inputs are over %d bytes", LIMIT_VALUE_BYTES);
		return ENGINE_REFUSED;
	}
	struct run_created *body = run_created_new(d->arena);
	SET(body, name, run->graph->name);
	SET(body, definition, run->graph->hash);
	SET(body, inputs, inputs);
	if (command->start != NULL)
		COPY_FIELDS(run_start, command->start, run_created, body, d->arena);
	/* What a run has anyway is not recorded. */
	if (body->priority == 0)
		body->is.priority = ABSENT;
	if (command->queued)
		SET(body, queued, true);
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_CREATED, command->now, { .run_created = body } });
	return ENGINE_DONE;
}

static enum engine_answer decide_start(struct run *run, const struct command *command,
				       struct decision *d, struct error *error)
{
	if (!run->queued)
		return refuse(error, ERROR_CONFLICT, "the run has already started");
	struct run_started *body = run_started_new(d->arena);
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_STARTED, command->now, { .run_started = body } });
	return ENGINE_DONE;
}

static enum engine_answer decide_pause(struct run *run, const struct command *command,
				       struct decision *d, struct error *error)
{
	if (run->queued)
		return refuse(error, ERROR_CONFLICT,
			      "the run has not started yet: it is still queued");
	if (run->paused)
		return refuse(error, ERROR_CONFLICT, "the run is already paused");
	if (run->cancelling)
		return refuse(error, ERROR_CONFLICT, "the run is being cancelled");
	if (run->unwinding)
		return refuse(error, ERROR_CONFLICT,
			      "the run has failed, and its undo steps run: they cannot be paused");
	struct run_paused *body = run_paused_new(d->arena);
	SET(body, by, command->by);
	if (command->comment.size > 0)
		SET(body, reason, command->comment);
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_PAUSED, command->now, { .run_paused = body } });
	return ENGINE_DONE;
}

static enum engine_answer resume(struct run *run, int64_t now, struct str by,
				 const struct json *budget, struct decision *d)
{
	struct run_resumed *body = run_resumed_new(d->arena);
	SET(body, by, by);
	if (budget != NULL && budget->kind == JSON_INT)
		SET(body, budget_usd, (double)budget->as.integer);
	else if (budget != NULL && budget->kind == JSON_REAL)
		SET(body, budget_usd, budget->as.real);
	decision_emit(run, d, (struct event){ EVENT_RUN_RESUMED, now, { .run_resumed = body } });
	return ENGINE_DONE;
}

static enum engine_answer decide_resume(struct run *run, const struct command *command,
					struct decision *d, struct error *error)
{
	if (!run->paused)
		return refuse(error, ERROR_CONFLICT, "the run is not paused");
	if (command->name.size > 0 && !str_equal(command->name, run->pause.budget))
		return refuse(error, ERROR_CONFLICT, "the run does not wait for this budget");
	return resume(run, command->now, command->by, command->output, d);
}

/* A run that is being cancelled may wait for sub-runs whose finally and undo steps run. */
static void stop_subruns_again(const struct run *run, struct decision *d)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *a = run->paths.at[i];
		if (a != NULL && a->open && a->stopping && a->state == STEP_RUNNING &&
		    run_node(run, a)->kind == RUN_NODE_SUBRUN)
			decision_stop_effect(d, a, true);
	}
}

/* Cancelling twice is harmless, except that it ends finally and undo steps that run because of the first
 * time, or because the run has failed. */
static enum engine_answer decide_cancel(struct run *run, const struct command *command,
					struct decision *d)
{
	bool ends_cleanup = run->unwinding && !run->abandoned && !command->only_first;
	if ((!run->cancelling && !run->unwinding) || ends_cleanup)
		engine_cancel_run(run, command->now, command->by, command->comment,
				  (struct failure){ S(""), S("") }, d);
	else if (!command->only_first)
		stop_subruns_again(run, d);
	return ENGINE_DONE;
}

static enum engine_answer decide_retry(struct run *run, const struct command *command,
				       struct decision *d, struct error *error)
{
	if (reopen_check(run, error) == ENGINE_REFUSED)
		return ENGINE_REFUSED;
	struct run_retried *body = run_retried_new(d->arena);
	SET(body, by, command->by);
	if (command->comment.size > 0)
		SET(body, reason, command->comment);
	if (command->queued)
		SET(body, queued, true);
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_RETRIED, command->now, { .run_retried = body } });
	return ENGINE_DONE;
}

static struct activation *oldest_wait(const struct run *run, struct str name)
{
	struct activation *oldest = NULL;
	for (uint32_t i = 0; i < run->paths.room; i++) {
		struct activation *a = run->paths.at[i];
		if (a == NULL || !a->open || run_node(run, a)->kind != RUN_NODE_WAIT)
			continue;
		const struct run_graph_node *row = run_node(run, a)->row;
		if (has(row, signal) && str_equal(row->signal, name) &&
		    (oldest == NULL || a->arrival < oldest->arrival))
			oldest = a;
	}
	return oldest;
}

static size_t kept_signals(const struct run *run)
{
	size_t count = 0;
	for (const struct run_signal *signal = run->signals; signal != NULL; signal = signal->next)
		count++;
	return count;
}

static enum engine_answer decide_signal(struct run *run, const struct command *command,
					const struct engine_values *values, struct decision *d,
					struct error *error)
{
	if (run->cancelling && (!run->unwinding || run->abandoned))
		return refuse(error, ERROR_CONFLICT, "the run is being cancelled");
	if (kept_signals(run) >= LIMIT_SIGNALS)
		return refuse(error, ERROR_CONFLICT,
			      "the run has too many signals that no step has received yet");
	struct activation *wait = oldest_wait(run, command->name);
	struct run_value *data;
	if (!decision_value(d, command->output, &data))
		return ENGINE_NEED;
	if (data == NULL)
		return refuse(error, ERROR_TOO_LARGE,
			      "the data of the signal is larger than the limit of a value");
	struct step_continuation continuation = NO_CONTINUATION;
	struct eval_context eval_context = eval_context_make(run, wait, values, d);
	if (wait != NULL &&
	    !continuation_after_success(&eval_context, wait, command->output, &continuation))
		return ENGINE_NEED;
	struct run_signalled *body = run_signalled_new(d->arena);
	SET(body, name, command->name);
	SET(body, data, data);
	SET(body, by, command->by);
	decision_emit(
		run, d,
		(struct event){ EVENT_RUN_SIGNALLED, command->now, { .run_signalled = body } });
	if (wait == NULL)
		return ENGINE_DONE;
	struct run_timer_finished *over = run_timer_finished_new(d->arena);
	SET(over, step, wait->path);
	SET(over, effect, wait->effect);
	bool failed = continuation.fault.code.size > 0;
	SET(over, outcome, failed ? RUN_OUTCOME_FAILED : RUN_OUTCOME_OK);
	SET(over, output, data);
	if (failed)
		SET(over, fault, decision_failure(d, continuation.fault));
	if (continuation.next != NULL)
		SET(over, next, continuation.next);
	decision_emit(run, d,
		      (struct event){
			      EVENT_TIMER_FINISHED, command->now, { .run_timer_finished = over } });
	enforce_iteration_limit(run, &continuation, command->now, d);
	return ENGINE_DONE;
}

/* ---- results --------------------------------------------------------------------------- */

/* The result of a step as it will be recorded; a result over the size limit becomes a failure. */
struct step_result {
	struct run_value *output;
	struct run_value *log, *files; /* of a tool; NULL = none */
	struct failure fault;          /* code "" = none */
	struct step_continuation continuation;
};

/* Returns false when values are missing. */
static bool make_result(struct run *run, const struct activation *activation,
			const struct command *command, struct failure fault,
			const struct engine_values *values, struct decision *d,
			struct step_result *out)
{
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	*out = (struct step_result){ .fault = fault, .continuation = NO_CONTINUATION };
	if (fault.code.size == 0 && command->output != NULL) {
		if (!decision_value(d, command->output, &out->output))
			return false;
		if (out->output == NULL)
			out->fault =
				failure_make(ERROR_TOO_LARGE,
					     S("the output is larger than the limit of a value"));
	}
	if (command->log != NULL && !decision_value(d, command->log, &out->log))
		return false;
	if (command->files != NULL && !decision_value(d, command->files, &out->files))
		return false;
	if (out->fault.code.size == 0) {
		bool decided = continuation_after_success(&eval_context, activation,
							  command->output, &out->continuation);
		out->fault = out->continuation.fault;
		return decided;
	}
	out->continuation.next =
		continuation_after_failure(run, activation, &out->fault, command->now, d);
	if (out->continuation.next != NULL && command->retry_after_us > 0)
		continuation_delay(out->continuation.next, command->now + command->retry_after_us);
	return true;
}

static enum engine_answer decide_computed(struct run *run, const struct command *command,
					  const struct engine_values *values, struct decision *d,
					  struct error *error)
{
	const struct activation *activation = run_activation(run, command->step);
	if (activation == NULL)
		return refuse_step(error, ERROR_NOT_FOUND, command->step, "does not exist");
	const struct graph_node *node = run_node(run, activation);
	if (activation->state != STEP_RUNNING || activation->open || node->kind != RUN_NODE_TOOL ||
	    node->row->class != RUN_CLASS_PURE)
		return refuse_step(error, ERROR_CONFLICT, command->step, "already has its result");
	for (size_t i = 0; command->warnings != NULL && i < command->warnings->count; i++)
		decision_warn(d, command->warnings->at[i].code, command->warnings->at[i].step,
			      command->warnings->at[i].text);
	if (command->warnings != NULL)
		d->warnings.dropped += command->warnings->dropped;
	struct step_result result;
	if (!make_result(run, activation, command, command->fault, values, d, &result))
		return ENGINE_NEED;
	decision_emit_computed(run, activation, command->now, result.output, result.fault,
			       result.fault.code.size > 0 ? NULL : result.continuation.next, d);
	enforce_iteration_limit(run, &result.continuation, command->now, d);
	return ENGINE_DONE;
}

/* The activation with the command's effect; a closed effect is a conflict. */
static enum engine_answer find_open(struct run *run, const struct command *command,
				    struct activation **out, struct error *error)
{
	struct activation *activation = run_activation(run, command->step);
	if (activation == NULL || !uuid_equal(&activation->effect, &command->effect))
		return refuse_step(error, ERROR_NOT_FOUND, command->step, "has no such effect");
	if (!activation->open || activation->state != STEP_RUNNING)
		return refuse_step(error, ERROR_CONFLICT, command->step, "is already closed");
	*out = activation;
	return ENGINE_DONE;
}

/* The fault of a failed effect.  An effect that was stopped at its deadline has timed out, whatever
 * it reports. */
static struct failure fault_of_effect(const struct activation *activation,
				      const struct command *command)
{
	bool late = activation->due_at != 0 && command->now >= activation->due_at;
	if (command->outcome == RUN_OUTCOME_CANCELLED && late)
		return failure_make(ERROR_TIMEOUT, S("the call took longer than its timeout"));
	if (command->outcome == RUN_OUTCOME_CANCELLED && command->fault.code.size == 0)
		return failure_make(ERROR_CANCELLED, S("the call was cancelled"));
	if (command->outcome == RUN_OUTCOME_UNKNOWN && command->fault.code.size == 0)
		return failure_make(
			ERROR_OUTCOME_UNKNOWN,
			S("outcome unknown: the call may or may not have taken effect"));
	if (command->outcome != RUN_OUTCOME_OK && command->fault.code.size == 0)
		return failure_make(ERROR_TOOL_FAILED,
				    S("the call failed without giving a reason"));
	return command->fault;
}

static enum run_outcome outcome_of(const struct command *command, const struct step_result *result)
{
	return result->fault.code.size > 0 && command->outcome == RUN_OUTCOME_OK
		       ? RUN_OUTCOME_FAILED
		       : command->outcome;
}

static int64_t file_count(const struct json *changes)
{
	const struct json *files = json_member(changes, S("files"));
	return files != NULL && files->kind == JSON_LIST ? (int64_t)files->as.list.count : 0;
}

static void emit_finished(struct run *run, const struct activation *activation,
			  const struct command *command, const struct step_result *result,
			  struct decision *d)
{
	bool failed = result->fault.code.size > 0;
	struct call_end end = { .step = activation->path,
				.effect = activation->effect,
				.outcome = outcome_of(command, result),
				.output = result->output,
				.fault = failed ? decision_failure(d, result->fault) : NULL,
				.next = result->continuation.next,
				.usage = command->usage,
				.figures = command->figures,
				.log = result->log,
				.files = result->files,
				.file_count = file_count(command->files) };
	if (!failed && !activation->stopping && session_has(run, activation->scope) &&
	    run_node(run, activation)->kind == RUN_NODE_AGENT)
		end.calls = session_calls(run, activation, command->output, d);
	struct event event = call_finished(run_node(run, activation)->row, &end, d->arena);
	event.at = command->now;
	decision_emit(run, d, event);
}

/* A call of a session that has failed for good is made with another tool, if it has one. */
static bool add_fallback(struct run *run, const struct activation *activation,
			 const struct command *command, struct step_result *result,
			 const struct engine_values *values, struct decision *d)
{
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	if (result->fault.code.size == 0 || result->continuation.next != NULL ||
	    command->outcome == RUN_OUTCOME_UNKNOWN || activation->call == 0 ||
	    activation->stopping)
		return true;
	result->continuation.next = session_fallback(&eval_context, activation, result->fault.code);
	return !eval_context.missing;
}

static enum engine_answer decide_finished(struct run *run, const struct command *command,
					  const struct engine_values *values, struct decision *d,
					  struct error *error)
{
	struct activation *activation;
	if (find_open(run, command, &activation, error) == ENGINE_REFUSED)
		return ENGINE_REFUSED;
	if (!run_can_stop(run_node(run, activation)->kind))
		return refuse_step(error, ERROR_CONFLICT, command->step, "has no open call");
	struct step_result result;
	struct command replied = *command;
	if (run_node(run, activation)->kind == RUN_NODE_AGENT &&
	    !session_has(run, activation->scope))
		replied.output = session_outputs(run, command->output, d->arena);
	if (!make_result(run, activation, &replied, fault_of_effect(activation, command), values, d,
			 &result))
		return ENGINE_NEED;
	if (command->outcome == RUN_OUTCOME_UNKNOWN || command->outcome == RUN_OUTCOME_CANCELLED)
		result.continuation.next = NULL;
	if (!add_fallback(run, activation, command, &result, values, d))
		return ENGINE_NEED;
	emit_finished(run, activation, command, &result, d);
	if (activation->settling)
		request_settlement(run, activation, command->now, d);
	enforce_iteration_limit(run, &result.continuation, command->now, d);
	return ENGINE_DONE;
}

static enum engine_answer decide_restarted(struct run *run, const struct command *command,
					   struct decision *d, struct error *error)
{
	struct activation *activation;
	if (find_open(run, command, &activation, error) == ENGINE_REFUSED)
		return ENGINE_REFUSED;
	if (!run_can_stop(run_node(run, activation)->kind))
		return refuse_step(error, ERROR_CONFLICT, command->step, "does not call a tool");
	if (budget_restart(run, activation, command->now, d))
		return ENGINE_DONE;
	struct run_tool_restarted *body = run_tool_restarted_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->effect);
	SET(body, attempt, activation->attempt + 1);
	decision_emit(run, d,
		      (struct event){
			      EVENT_TOOL_RESTARTED, command->now, { .run_tool_restarted = body } });
	return ENGINE_DONE;
}

/* ---- time ---------------------------------------------------------------------------- */

/* Escalates the question to the next level; ends it when there is no further level. */
static enum engine_answer question_due(struct run *run, struct activation *activation,
				       const struct command *command,
				       const struct engine_values *values, struct decision *d,
				       struct error *error)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	if (activation->question.level >= (int64_t)row->levels.count || activation->settling) {
		struct command late = { .kind = COMMAND_ANSWERED,
					.now = command->now,
					.decision = RUN_DECISION_TIMEOUT,
					.by = S("baton") };
		return answer_finish(run, activation, &late, values, d, error);
	}
	const struct run_graph_level *level = &row->levels.at[activation->question.level];
	struct run_human_escalated *body = run_human_escalated_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->question.id);
	SET(body, level, activation->question.level + 1);
	SET(body, to, level->to);
	if (has(level, timeout_us))
		SET(body, due_at, command->now + level->timeout_us);
	decision_emit(run, d,
		      (struct event){ EVENT_HUMAN_ESCALATED,
				      command->now,
				      { .run_human_escalated = body } });
	return ENGINE_DONE;
}

static enum engine_answer wait_due(struct run *run, const struct activation *activation,
				   const struct command *command,
				   const struct engine_values *values, struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	struct failure fault = { S(""), S("") };
	if (has(row, signal))
		fault = failure_make(ERROR_TIMEOUT,
				     str_format(d->arena,
						"signal " STR_FMT " did not arrive in time",
						STR_ARG(row->signal)));
	return request_finish_timer(run, activation, command->now, NULL, fault, values, d)
		       ? ENGINE_DONE
		       : ENGINE_NEED;
}

static enum engine_answer decide_due(struct run *run, const struct command *command,
				     const struct engine_values *values, struct decision *d,
				     struct error *error)
{
	if (command->step.size == 0) {
		bool late = run->due_at != 0 && command->now >= run->due_at;
		if (!late && budget_day_is_over(run, command->now))
			return resume(run, command->now, S("baton"), NULL, d);
		if (!late)
			return refuse(error, ERROR_CONFLICT, "the run's timeout has not expired");
		if (run->cancelling && !run->unwinding) {
			stop_subruns_again(run, d);
			return ENGINE_DONE;
		}
		if (run->unwinding) {
			engine_cancel_run(
				run, command->now, S("baton"),
				S("the finally and undo steps took longer than their timeout"),
				(struct failure){ S(""), S("") }, d);
			return ENGINE_DONE;
		}
		engine_cancel_run(
			run, command->now, S("baton"), S(""),
			failure_make(ERROR_TIMEOUT, S("the run took longer than its timeout")), d);
		return ENGINE_DONE;
	}
	struct activation *activation = run_activation(run, command->step);
	if (activation == NULL)
		return refuse_step(error, ERROR_NOT_FOUND, command->step, "does not exist");
	if (activation->due_at == 0 || command->now < activation->due_at ||
	    step_state_row(activation->state)->final)
		return refuse_step(error, ERROR_CONFLICT, command->step, "has nothing due");
	if (activation->state == STEP_RETRYING && run->paused)
		return refuse_step(error, ERROR_CONFLICT, command->step,
				   "will be retried when the run is resumed");
	if (activation->state == STEP_RETRYING)
		return ENGINE_DONE; /* advance() requests it */
	if (activation->state == STEP_WAITING_HUMAN)
		return question_due(run, activation, command, values, d, error);
	if (run_node(run, activation)->kind == RUN_NODE_WAIT)
		return wait_due(run, activation, command, values, d);
	decision_stop_effect(d, activation, false);
	return ENGINE_DONE;
}

static bool awaits_tree(const struct activation *activation)
{
	return activation->state == STEP_PENDING || activation->state == STEP_RETRYING ||
	       (activation->state == STEP_RUNNING && activation->leaving);
}

/* The tree of a branch that is over. */
static enum engine_answer end_branch(struct run *run, const struct activation *container,
				     const struct command *command, struct decision *d,
				     struct error *error)
{
	const struct branch *branch = NULL;
	while ((branch = branch_next_over(run, container, branch)) != NULL)
		if (str_equal(branch->path, command->branch))
			break;
	if (branch == NULL)
		return refuse_step(error, ERROR_CONFLICT, command->step, "has no such branch open");
	struct run_branch_ended *body = run_branch_ended_new(d->arena);
	SET(body, step, container->path);
	SET(body, branch, branch->path);
	if (command->fault.code.size > 0)
		SET(body, fault, decision_failure(d, command->fault));
	else
		SET(body, tree, command->tree);
	decision_emit(
		run, d,
		(struct event){ EVENT_BRANCH_ENDED, command->now, { .run_branch_ended = body } });
	return ENGINE_DONE;
}

/* The step may have been cancelled, or the run paused, while its tree was taken. */
static enum engine_answer decide_tree_taken(struct run *run, const struct command *command,
					    struct decision *d, struct error *error)
{
	const struct activation *activation = run_activation(run, command->step);
	if (activation == NULL)
		return refuse_step(error, ERROR_NOT_FOUND, command->step, "does not exist");
	if (run_may_start(run) && command->branch.size > 0)
		return end_branch(run, activation, command, d, error);
	if (!run_may_start(run) || !awaits_tree(activation))
		return refuse_step(error, ERROR_CONFLICT, command->step,
				   "does not wait for the tree of its workspace");
	return ENGINE_DONE; /* advance() continues with it */
}

/* The floor is at most the seq of the event that raises it: that event stays. */
static enum engine_answer decide_compact(struct run *run, const struct command *command,
					 struct decision *d, struct error *error)
{
	if (run->seq == 0)
		return refuse(error, ERROR_NOT_FOUND, "no such run");
	if (command->removes_workspace && !run_ended(run))
		return refuse(error, ERROR_CONFLICT, "the run has not ended");
	if (command->removes_workspace && run->workspace_removed)
		return ENGINE_DONE;
	int64_t floor = command->removes_workspace ? run->seq + 1 : command->floor;
	if (floor <= run->floor || floor < 2 || floor > run->seq + 1) {
		fail(error, ERROR_CONFLICT, "all events with a seq below %lld are already gone",
		     (long long)floor);
		return ENGINE_REFUSED;
	}
	struct run_compacted *body = run_compacted_new(d->arena);
	SET(body, floor, floor);
	if (command->removes_workspace)
		SET(body, workspace_removed, true);
	/* The events that recorded them may be among those that are removed. */
	if (run->warnings.count > 0)
		SET(body, warnings, run_warnings_print(&run->warnings, d->arena));
	if (run->warnings.dropped > 0)
		SET(body, warnings_dropped, run->warnings.dropped);
	decision_emit(
		run, d,
		(struct event){ EVENT_RUN_COMPACTED, command->now, { .run_compacted = body } });
	return ENGINE_DONE;
}

enum engine_answer decide(struct run *run, const struct command *command,
			  const struct engine_values *values, struct decision *d,
			  struct error *error)
{
	d->need_count = 0;
	d->to_print = NULL;
	d->print_prefix = S("");
	d->print_key = (struct print_key){ 0 };
	d->request_id = command->request_id;
	if (command->kind == COMMAND_COMPACT)
		return decide_compact(run, command, d, error);
	if (command->kind == COMMAND_RETRY)
		return decide_retry(run, command, d, error);
	if (run_ended(run) && run->seq > 0)
		return refuse(error, ERROR_CONFLICT, "the run has ended");
	switch (command->kind) {
	case COMMAND_CREATE:
		return decide_create(run, command, d, error);
	case COMMAND_START:
		return decide_start(run, command, d, error);
	case COMMAND_COMPUTED:
		return decide_computed(run, command, values, d, error);
	case COMMAND_FINISHED:
		return decide_finished(run, command, values, d, error);
	case COMMAND_ANSWERED:
		return answer_decide(run, command, values, d, error);
	case COMMAND_RESTARTED:
		return decide_restarted(run, command, d, error);
	case COMMAND_DUE:
		return decide_due(run, command, values, d, error);
	case COMMAND_PAUSE:
		return decide_pause(run, command, d, error);
	case COMMAND_RESUME:
		return decide_resume(run, command, d, error);
	case COMMAND_CANCEL:
		return decide_cancel(run, command, d);
	case COMMAND_SIGNAL:
		return decide_signal(run, command, values, d, error);
	case COMMAND_TREE_TAKEN:
		return decide_tree_taken(run, command, d, error);
	case COMMAND_RETRY:
	case COMMAND_COMPACT:
		break;
	}
	return refuse(error, ERROR_INTERNAL, "unknown command");
}
