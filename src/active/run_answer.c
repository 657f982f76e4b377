/* active/run_answer.c -- executor_answer(): a person answers an open question.
 *
 * An answer may name the question only, or the run only.  A reader thread finds the open question,
 * and with it the run and the step; then the answer is a command like any other.
 */
#include <stdlib.h>

#include "active/active_run.h"
#include "active/executor_command.h"
#include "active/executor_services.h"
#include "active/idempotency.h"
#include "active/run_load.h"
#include "active/stored_row.h"
#include "contract/run_open_types.h"

/* The read that finds the open question. */
struct answering {
	struct executor_read read;
	struct pending_command *pending;
	struct uuid request, run;
	struct store_effect effect;
	bool found;
	struct store_request known; /* what the key was used for before */
	bool repeated;
	struct error error;
};

/* Finds the only open question of the run. */
static bool find_question(struct answering *a, struct store_reader *reader)
{
	struct loaded_run loaded;
	size_t open = 0;
	if (!run_load(a->read.executor, reader, &a->run, &loaded, &a->error))
		return false;
	if (loaded.run == NULL)
		return fail(&a->error, ERROR_NOT_FOUND, "no such run");
	for (uint32_t i = 0; i < loaded.run->paths.room; i++) {
		const struct activation *step = loaded.run->paths.at[i];
		if (step == NULL || step->state != STEP_WAITING_HUMAN)
			continue;
		a->request = step->question.id;
		open++;
	}
	run_load_discard(a->read.executor, &loaded);
	if (open == 0)
		return fail(&a->error, ERROR_CONFLICT, "the run waits for nobody's answer");
	if (open > 1)
		return fail(&a->error, ERROR_CONFLICT,
			    "the run waits with %zu questions: say which one (see the inbox)",
			    open);
	a->pending->command.effect = a->request;
	return true;
}

static void answer_work(struct executor_read *read, struct store_reader *reader)
{
	struct answering *a = (struct answering *)read;
	if (!idempotency_claim_look_up(a->pending, reader, &read->arena, &a->known, &a->repeated,
				       &a->error) ||
	    a->repeated)
		return;
	if (uuid_is_zero(&a->request) && !find_question(a, reader))
		return;
	if (!reader->ops->read_effect(reader, &a->request, &read->arena, &a->effect, &a->found,
				      &a->error) ||
	    !a->found)
		return;
	const struct json *json;
	if (!json_read(a->effect.body, &read->arena, &json, &a->error)) {
		stored_effect_fail(&a->effect, &a->error);
		return;
	}
	struct problems problems = { .arena = &read->arena };
	struct contract_source source = { .json = json, .text = a->effect.body, .lenient = true };
	const struct run_open_question *question =
		run_open_question_parse(&source, &read->arena, &problems);
	if (question == NULL) {
		problems_fail(&problems, &a->error);
		stored_effect_fail(&a->effect, &a->error);
		return;
	}
	a->pending->command.step = str_copy(&a->pending->arena, question->step);
}

static void answer_done(struct executor_read *read)
{
	struct answering *a = (struct answering *)read;
	struct pending_command *pending = a->pending;
	if (a->error.code == ERROR_NONE && !a->repeated &&
	    (!a->found || !str_equal(a->effect.kind, S("human"))))
		fail(&a->error, ERROR_CONFLICT,
		     "no such request is open: it was answered already, or never asked");
	if (a->error.code == ERROR_NONE && a->found && !uuid_is_zero(&a->run) &&
	    !uuid_equal(&a->run, &a->effect.run))
		fail(&a->error, ERROR_CONFLICT, "that question is another run's");
	if (a->error.code != ERROR_NONE) {
		struct executor_reply reply = { .error = &a->error };
		pending->replied(pending->context, pending->argument, &reply);
		pending_command_free(pending);
	} else if (a->repeated) {
		pending_command_reply_repeated(pending, &a->known);
		pending_command_free(pending);
	} else {
		active_run_command(active_run_get(read->executor, &a->effect.run), pending);
	}
	executor_discard(read->executor, &read->arena);
	free(a);
}

static void answer_never(struct pending_command *pending)
{
	struct answering *a = (struct answering *)pending->waiting;
	arena_done(&a->read.arena);
	free(a);
}

void executor_answer(struct executor *executor, const struct executor_answer *answer,
		     executor_replied *replied, void *context, uint64_t argument)
{
	struct error refusal;
	if (!executor_admits(executor, &refusal)) {
		replied(context, argument, &(struct executor_reply){ .error = &refusal });
		return;
	}
	struct pending_command *pending = pending_command_new(COMMAND_ANSWERED);
	struct command *command = &pending->command;
	command->effect = answer->request;
	command->decision = answer->decision;
	command->final = answer->final;
	command->comment = str_copy(&pending->arena, answer->comment);
	command->by = str_copy(&pending->arena, answer->by);
	command->request_id = str_copy(&pending->arena, answer->request_id);
	command->output = executor_value_take(answer->value, &pending->arena);
	if (answer->revision != NULL)
		command->revision =
			arena_copy(&pending->arena, answer->revision, sizeof(struct hash));
	pending->replied = replied;
	pending->context = context;
	pending->argument = argument;
	struct answering *a = calloc(1, sizeof(*a));
	require(a != NULL);
	a->pending = pending;
	a->request = answer->request;
	a->run = answer->run;
	a->read.executor = executor;
	a->read.work = answer_work;
	a->read.done = answer_done;
	pending->waiting = &a->read;
	pending->waiting_discard = answer_never;
	idempotency_claim_take(executor, pending, &answer->key, pending_command_submit);
}
