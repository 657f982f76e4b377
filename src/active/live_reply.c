/* active/live_reply.c -- the table of replies that are being written. */
#include "active/live_reply.h"

#include <stdlib.h>

#include "active/executor_services.h"
#include "base/limits.h"
#include "base/utf8.h"

/* ---- the list of a run ----------------------------------------------------------------- */

static void list_add(struct live_replies *replies, struct live_reply *reply)
{
	struct live_reply *first = map_get(&replies->by_run, uuid_str(&reply->run));
	if (first == NULL) {
		map_put(&replies->by_run, uuid_str(&reply->run), reply);
		return;
	}
	struct live_reply *last = first;
	while (last->next != NULL)
		last = last->next;
	last->next = reply;
}

static void list_remove(struct live_replies *replies, struct live_reply *reply)
{
	struct live_reply *first = map_get(&replies->by_run, uuid_str(&reply->run));
	if (first == reply) {
		map_remove(&replies->by_run, uuid_str(&reply->run));
		if (reply->next != NULL)
			map_put(&replies->by_run, uuid_str(&reply->next->run), reply->next);
		return;
	}
	struct live_reply *before = first;
	while (before->next != reply)
		before = before->next;
	before->next = reply->next;
}

/* ---- pieces ---------------------------------------------------------------------------- */

static void tell_listener(void *context, uint64_t argument)
{
	struct live_replies *replies = executor_live_replies(context);
	(void)argument;
	replies->timer = 0;
	if (replies->flush != NULL)
		replies->flush(replies->context);
}

/* Listeners are told later, all at once. */
static void changed(struct executor *executor)
{
	struct live_replies *replies = executor_live_replies(executor);
	if (replies->timer == 0 && replies->flush != NULL)
		replies->timer = platform_timer_start(executor_config(executor)->platform,
						      LIMIT_LIVE_REPLY_FLUSH_MS * INT64_C(1000),
						      tell_listener, executor, 0);
}

static size_t bytes_of(const struct live_reply *reply)
{
	size_t bytes = 0;
	for (size_t i = 0; i < LIVE_REPLY_PARTS; i++)
		bytes += reply->parts[i].size;
	return bytes;
}

/* As much of the text as there is room for, in whole characters. */
static struct str fitting(const struct live_replies *replies, const struct live_reply *reply,
			  struct str text)
{
	size_t own = LIMIT_LIVE_REPLY_BYTES - bytes_of(reply);
	size_t all = LIMIT_LIVE_REPLIES_BYTES - replies->bytes;
	return utf8_head(text, own < all ? own : all);
}

void live_reply_add(struct executor *executor, uint64_t id, enum llm_part part, struct str delta)
{
	struct live_replies *replies = executor_live_replies(executor);
	struct live_reply *reply = slots_get(&replies->slots, id);
	if (reply == NULL || reply->truncated || delta.size == 0)
		return;
	struct str kept = fitting(replies, reply, delta);
	reply->truncated = kept.size < delta.size;
	buf_add(&reply->parts[part], kept);
	replies->bytes += kept.size;
	if (part == LLM_PART_CALL && !reply->truncated) {
		buf_add_char(&reply->parts[part], '\n');
		replies->bytes++;
	}
	changed(executor);
}

/* ---- opening and dropping -------------------------------------------------------------- */

uint64_t live_reply_open(struct executor *executor, const struct live_reply *turn)
{
	struct live_replies *replies = executor_live_replies(executor);
	struct live_reply *reply = calloc(1, sizeof(*reply));
	require(reply != NULL);
	reply->run = turn->run;
	reply->effect = turn->effect;
	reply->step = str_copy(&reply->arena, turn->step);
	reply->agent = str_copy(&reply->arena, turn->agent);
	reply->attempt = turn->attempt;
	reply->id = slots_add(&replies->slots, reply);
	list_add(replies, reply);
	return reply->id;
}

void live_reply_drop(struct executor *executor, uint64_t id)
{
	struct live_replies *replies = executor_live_replies(executor);
	struct live_reply *reply = slots_get(&replies->slots, id);
	if (reply == NULL)
		return;
	list_remove(replies, reply);
	slots_remove(&replies->slots, id);
	replies->bytes -= bytes_of(reply);
	for (size_t i = 0; i < LIVE_REPLY_PARTS; i++)
		buf_done(&reply->parts[i]);
	arena_done(&reply->arena);
	free(reply);
	changed(executor);
}

void live_reply_drop_all(struct executor *executor)
{
	struct live_replies *replies = executor_live_replies(executor);
	uint32_t index = 0;
	uint64_t id;
	replies->flush = NULL;
	while (slots_next(&replies->slots, &index, &id) != NULL)
		live_reply_drop(executor, id);
	slots_done(&replies->slots);
	map_done(&replies->by_run);
}

/* ---- finding --------------------------------------------------------------------------- */

const struct live_reply *live_reply_by_id(struct executor *executor, uint64_t id)
{
	return slots_get(&executor_live_replies(executor)->slots, id);
}

const struct live_reply *live_reply_first(struct executor *executor, const struct uuid *run)
{
	return map_get(&executor_live_replies(executor)->by_run, uuid_str(run));
}

void live_reply_listen(struct executor *executor, live_reply_flush *flush, void *context)
{
	struct live_replies *replies = executor_live_replies(executor);
	replies->flush = flush;
	replies->context = context;
}
