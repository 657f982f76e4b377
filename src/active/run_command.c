/* active/run_command.c -- executor_command(): pause, resume, cancel, retry, signal. */
#include <stdlib.h>

#include "active/active_run.h"
#include "active/executor_command.h"
#include "active/executor_services.h"
#include "active/idempotency.h"

/* A command with an idempotency key is first looked up in the store. */
struct commanding {
	struct executor_read read;
	struct pending_command *pending;
	struct uuid run;
	struct store_request known;
	bool repeated;
	struct error error;
};

static void look_work(struct executor_read *read, struct store_reader *reader)
{
	struct commanding *c = (struct commanding *)read;
	bool good = idempotency_claim_look_up(c->pending, reader, &read->arena, &c->known,
					      &c->repeated, &c->error);
	(void)good; /* c->error has the failure */
}

static void look_done(struct executor_read *read)
{
	struct commanding *c = (struct commanding *)read;
	struct pending_command *pending = c->pending;
	if (c->error.code != ERROR_NONE) {
		pending_command_reply(pending, &c->run, &c->error);
		pending_command_free(pending);
	} else if (c->repeated) {
		pending_command_reply_repeated(pending, &c->known);
		pending_command_free(pending);
	} else {
		active_run_command(active_run_get(read->executor, &c->run), pending);
	}
	executor_discard(read->executor, &read->arena);
	free(c);
}

static void never(struct pending_command *pending)
{
	struct commanding *c = (struct commanding *)pending->waiting;
	arena_done(&c->read.arena);
	free(c);
}

static void fill(struct pending_command *pending, const struct executor_command *from)
{
	static const struct json nothing = { .kind = JSON_NULL };
	struct command *command = &pending->command;
	command->by = str_copy(&pending->arena, from->by);
	command->request_id = str_copy(&pending->arena, from->request_id);
	command->comment = str_copy(&pending->arena, from->reason);
	command->name = str_copy(&pending->arena, from->name);
	command->output = from->data.json == NULL
				  ? &nothing
				  : executor_value_take(from->data, &pending->arena);
}

void executor_command(struct executor *executor, const struct executor_command *command,
		      executor_replied *replied, void *context, uint64_t argument)
{
	struct error error;
	struct pending_command *pending = pending_command_new(command->kind);
	pending->replied = replied;
	pending->context = context;
	pending->argument = argument;
	if (command->kind != COMMAND_CANCEL && !executor_admits(executor, &error)) {
		pending_command_reply(pending, &command->run, &error);
		pending_command_free(pending);
		return;
	}
	fill(pending, command);
	struct commanding *c = calloc(1, sizeof(*c));
	require(c != NULL);
	c->pending = pending;
	c->run = command->run;
	c->read.executor = executor;
	c->read.work = look_work;
	c->read.done = look_done;
	pending->waiting = &c->read;
	pending->waiting_discard = never;
	if (command->key.key.size > 0)
		idempotency_claim_take(executor, pending, &command->key, pending_command_submit);
	else
		look_done(&c->read);
}
