/* runtime/command.c -- what people tell a run: pause, resume, cancel, a signal. */
#include <stdlib.h>

#include "runtime/inside.h"

/* With an idempotency key the store is asked first whether this was done already. */
struct commanding {
	struct runtime_read read;
	struct item *item;
	struct uuid run;
	struct store_request known;
	bool repeated;
	struct error error;
};

static void look_work(struct runtime_read *read, struct store_reader *reader)
{
	struct commanding *c = (struct commanding *)read;
	bool good = claim_look(c->item, reader, &read->arena, &c->known, &c->repeated, &c->error);
	(void)good; /* the error says so, too */
}

static void look_done(struct runtime_read *read)
{
	struct commanding *c = (struct commanding *)read;
	struct item *item = c->item;
	if (c->error.code != ERROR_NONE) {
		item_reply(item, &c->run, &c->error);
		item_free(item);
	} else if (c->repeated) {
		item_reply_repeated(item, &c->known);
		item_free(item);
	} else {
		live_command(live_get(read->runtime, &c->run), item);
	}
	arena_done(&read->arena);
	free(c);
}

static void never(struct item *item)
{
	struct commanding *c = (struct commanding *)item->waiting;
	arena_done(&c->read.arena);
	free(c);
}

static bool fill(struct item *item, const struct runtime_command *from, struct error *error)
{
	static const struct json nothing = { .kind = JSON_NULL };
	struct command *command = &item->command;
	command->by = str_copy(&item->arena, from->by);
	command->comment = str_copy(&item->arena, from->reason);
	command->name = str_copy(&item->arena, from->name);
	command->output = &nothing;
	return from->data.size == 0 ||
	       json_read(str_copy(&item->arena, from->data), &item->arena, &command->output, error);
}

void runtime_command(struct runtime *runtime, const struct runtime_command *command,
		     runtime_replied *replied, void *context, uint64_t argument)
{
	struct error error;
	struct item *item = item_new(command->kind);
	item->replied = replied;
	item->context = context;
	item->argument = argument;
	if ((command->kind != COMMAND_CANCEL && !runtime_admits(runtime, &error)) ||
	    !fill(item, command, &error)) {
		item_reply(item, &command->run, &error);
		item_free(item);
		return;
	}
	struct commanding *c = calloc(1, sizeof(*c));
	require(c != NULL);
	c->item = item;
	c->run = command->run;
	c->read.runtime = runtime;
	c->read.work = look_work;
	c->read.done = look_done;
	item->waiting = &c->read;
	item->waiting_done = never;
	if (command->key.key.size > 0)
		claim_take(runtime, item, &command->key, item_begin);
	else
		look_done(&c->read);
}
