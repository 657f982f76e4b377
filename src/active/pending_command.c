/* active/pending_command.c -- commands on their way to a run, each with its own memory. */
#include "active/pending_command.h"

#include <stdlib.h>

#include "active/idempotency.h"
#include "active/live_log.h"
#include "active/live_reply.h"

struct pending_command *pending_command_new(enum command_kind kind)
{
	struct pending_command *pending = calloc(1, sizeof(*pending));
	require(pending != NULL);
	pending->command.kind = kind;
	return pending;
}

void pending_command_free(struct pending_command *pending)
{
	struct live_log *log = pending->executor == NULL || pending->live_log == 0
				       ? NULL
				       : live_log_by_id(pending->executor, pending->live_log);
	if (log != NULL)
		live_log_drop(pending->executor, log);
	if (pending->executor != NULL)
		live_reply_drop(pending->executor, pending->live_reply);
	idempotency_claim_release(pending);
	if (pending->executor != NULL)
		executor_discard(pending->executor, &pending->arena);
	else
		arena_done(&pending->arena);
	free(pending);
}

const struct json *executor_value_take(struct executor_value value, struct arena *into)
{
	if (value.json == NULL || value.memory == NULL)
		return value.json == NULL ? NULL : json_copy(into, value.json);
	arena_join(into, value.memory);
	return value.json;
}

void pending_command_submit(struct pending_command *pending)
{
	executor_read(pending->waiting->executor, pending->waiting);
}

void command_list_push(struct command_list *queue, struct pending_command *pending)
{
	pending->next = NULL;
	if (queue->last != NULL)
		queue->last->next = pending;
	else
		queue->first = pending;
	queue->last = pending;
}

struct pending_command *command_list_pop(struct command_list *queue)
{
	struct pending_command *pending = queue->first;
	if (pending == NULL)
		return NULL;
	queue->first = pending->next;
	if (queue->first == NULL)
		queue->last = NULL;
	return pending;
}

void command_list_merge(struct command_list *list, struct command_list *from)
{
	struct command_list merged = { 0 };
	while (list->first != NULL || from->first != NULL) {
		bool older = from->first == NULL ||
			     (list->first != NULL && list->first->arrival < from->first->arrival);
		command_list_push(&merged, command_list_pop(older ? list : from));
	}
	*list = merged;
}

void command_list_discard(struct command_list *list)
{
	for (struct pending_command *pending; (pending = command_list_pop(list)) != NULL;)
		pending_command_free(pending);
}

void pending_command_reply(struct pending_command *pending, const struct uuid *run,
			   const struct error *error)
{
	struct executor_reply reply = { .error = error, .run = *run };
	if (pending->command.kind == COMMAND_ANSWERED)
		reply.request = pending->command.effect;
	if (pending->replied != NULL)
		pending->replied(pending->context, pending->argument, &reply);
}

void pending_command_reply_repeated(struct pending_command *pending,
				    const struct store_request *known)
{
	struct error error;
	struct executor_reply reply = { .run = known->subject,
					.request = pending->command.effect,
					.repeated = true };
	if (!hash_equal(&known->said, &pending->claim.key.said)) {
		fail(&error, ERROR_CONFLICT,
		     "this Idempotency-Key was used for another request; take a new one");
		reply = (struct executor_reply){ .error = &error };
	}
	if (pending->replied != NULL)
		pending->replied(pending->context, pending->argument, &reply);
	pending->replied = NULL;
}
