/* engine/answer.c -- decides what people answer: whether an answer fits its question, and what becomes of
 * the step. */
#include "engine/engine_internal.h"

#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_output_types.h"
#include "contract/run_question_types.h"
#include "contract/run_start_types.h"
#include "engine/session.h"

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

static bool answer_fits(const struct activation *activation, enum run_decision decision)
{
	switch (decision) {
	case RUN_DECISION_HAPPENED:
	case RUN_DECISION_NOT_HAPPENED:
	case RUN_DECISION_RETRY:
		return activation->settling;
	case RUN_DECISION_APPROVE:
	case RUN_DECISION_REJECT:
	case RUN_DECISION_MODIFY:
		return !activation->settling;
	case RUN_DECISION_TIMEOUT:
		break;
	}
	return false;
}

/* The output of the step: the decision with its comment, or the values that the person supplied. */
static const struct json *answer_output(const struct command *command, struct arena *arena)
{
	if (command->decision == RUN_DECISION_HAPPENED)
		return command->output;
	struct run_answer_result *result = run_answer_result_new(arena);
	SET(result, decision, run_decision_name(command->decision));
	SET(result, comment, command->comment);
	SET(result, by, command->by);
	if (command->decision == RUN_DECISION_MODIFY)
		SET(result, value, command->output);
	return run_answer_result_tree(result, arena);
}

static enum engine_answer check_answer(const struct run *run, const struct activation *activation,
				       const struct command *command, struct error *error)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	if (command->revision != NULL &&
	    !hash_equal(command->revision, &activation->question.asked->revision))
		return refuse(error, ERROR_CONFLICT,
			      "the question has changed since it was shown: read it again");
	if (!answer_fits(activation, command->decision))
		return refuse(error, ERROR_USAGE,
			      activation->settling
				      ? "answer this question with happened, not_happened or retry"
				      : "answer this question with approve, reject or modify");
	if (command->final && command->decision != RUN_DECISION_REJECT)
		return refuse(error, ERROR_USAGE,
			      "final belongs to the answer reject: leave it out, or reject");
	if (command->decision == RUN_DECISION_MODIFY && command->output == NULL)
		return refuse(error, ERROR_USAGE, "modify needs the values to continue with");
	if (command->decision == RUN_DECISION_MODIFY && activation->asks_for > 0 &&
	    command->output->kind != JSON_OBJECT)
		return refuse(error, ERROR_USAGE,
			      "modify needs the arguments of the call as a mapping");
	AUTO(arena) arena = { 0 };
	struct str wrong = S("");
	if (command->decision == RUN_DECISION_MODIFY && activation->asks_for > 0)
		wrong = session_check_arguments(run, activation, command->output, &arena);
	if (wrong.size > 0) {
		fail(error, ERROR_INVALID, STR_FMT, STR_ARG(wrong));
		return ENGINE_REFUSED;
	}
	if (has(row, four_eyes) && row->four_eyes && !activation->settling &&
	    str_equal(command->by, run->start->by))
		return refuse(
			error, ERROR_FORBIDDEN,
			"the person who started the run must not answer this question; somebody "
			"else must");
	return ENGINE_DONE;
}

enum engine_answer answer_finish(struct run *run, struct activation *activation,
				 const struct command *command, const struct engine_values *values,
				 struct decision *d, struct error *error)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	bool rejects = command->decision == RUN_DECISION_REJECT;
	bool continues = rejects && !command->final && has(row, on_reject) &&
			 row->on_reject == RUN_REJECT_CONTINUES;
	bool good = command->decision == RUN_DECISION_APPROVE ||
		    command->decision == RUN_DECISION_MODIFY ||
		    command->decision == RUN_DECISION_HAPPENED || continues;
	const struct json *output = good ? answer_output(command, d->arena) : NULL;
	struct run_value *value = NULL;
	if (output != NULL && !decision_value(d, output, &value))
		return ENGINE_NEED;
	if (output != NULL && value == NULL)
		return refuse(error, ERROR_TOO_LARGE,
			      "the answer is larger than the limit of a value");
	struct step_continuation continuation = NO_CONTINUATION;
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	if (good && !continuation_after_success(&eval_context, activation, output, &continuation))
		return ENGINE_NEED;
	struct run_human_finished *body = run_human_finished_new(d->arena);
	SET(body, step, activation->path);
	SET(body, effect, activation->question.id);
	SET(body, outcome, RUN_OUTCOME_OK);
	SET(body, decision, command->decision);
	if (command->comment.size > 0)
		SET(body, comment, command->comment);
	SET(body, by, command->by);
	if (value != NULL && command->decision != RUN_DECISION_APPROVE && !rejects)
		SET(body, value, value);
	if (rejects && command->final)
		SET(body, final, true);
	if (continues)
		SET(body, continues, true);
	if (continuation.fault.code.size > 0)
		SET(body, fault, decision_failure(d, continuation.fault));
	if (continuation.next != NULL)
		SET(body, next, continuation.next);
	decision_emit(run, d,
		      (struct event){
			      EVENT_HUMAN_FINISHED, command->now, { .run_human_finished = body } });
	enforce_iteration_limit(run, &continuation, command->now, d);
	return ENGINE_DONE;
}

enum engine_answer answer_decide(struct run *run, const struct command *command,
				 const struct engine_values *values, struct decision *d,
				 struct error *error)
{
	struct activation *activation = run_activation(run, command->step);
	if (activation == NULL)
		return refuse_step(error, ERROR_NOT_FOUND, command->step, "does not exist");
	if (activation->state != STEP_WAITING_HUMAN ||
	    !uuid_equal(&activation->question.id, &command->effect))
		return refuse_step(error, ERROR_CONFLICT, command->step,
				   "is not waiting for this answer");
	if (check_answer(run, activation, command, error) == ENGINE_REFUSED)
		return ENGINE_REFUSED;
	return answer_finish(run, activation, command, values, d, error);
}
