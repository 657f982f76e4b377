/* runtime/item.c -- commands on their way to a run, each with its own memory. */
#include <stdlib.h>

#include "runtime/inside.h"

struct item *item_new(enum command_kind kind)
{
	struct item *item = calloc(1, sizeof(*item));
	require(item != NULL);
	item->command.kind = kind;
	return item;
}

void item_free(struct item *item)
{
	claim_release(item);
	arena_done(&item->arena);
	free(item);
}

void item_begin(struct item *item)
{
	runtime_read(item->waiting->runtime, item->waiting);
}

void queue_add(struct item_queue *queue, struct item *item)
{
	item->next = NULL;
	if (queue->last != NULL)
		queue->last->next = item;
	else
		queue->first = item;
	queue->last = item;
}

struct item *queue_take(struct item_queue *queue)
{
	struct item *item = queue->first;
	if (item == NULL)
		return NULL;
	queue->first = item->next;
	if (queue->first == NULL)
		queue->last = NULL;
	return item;
}

void item_reply(struct item *item, const struct uuid *run, const struct error *error)
{
	struct runtime_reply reply = { .error = error, .run = *run };
	if (item->command.kind == COMMAND_ANSWERED)
		reply.request = item->command.effect;
	if (item->replied != NULL)
		item->replied(item->context, item->argument, &reply);
}

void item_reply_repeated(struct item *item, const struct store_request *known)
{
	struct error error;
	struct runtime_reply reply = { .run = known->subject,
				       .request = item->command.effect,
				       .repeated = true };
	if (!hash_equal(&known->said, &item->claim.key.said)) {
		fail(&error, ERROR_CONFLICT,
		     "this Idempotency-Key was used for another request; take a new one");
		reply = (struct runtime_reply){ .error = &error };
	}
	if (item->replied != NULL)
		item->replied(item->context, item->argument, &reply);
	item->replied = NULL;
}

const struct json *json_copy(struct arena *arena, const struct json *json)
{
	const struct json *copy;
	struct error error;
	bool good = json_read(json_print(arena, json), arena, &copy, &error);
	require(good);
	return copy;
}
