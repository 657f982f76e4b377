/* api/reply_cursor.c -- offsets into the replies that are being written in a run. */
#include "api/reply_cursor.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_stream_types.h"

/* Thinking comes before the text, calls come after it. */
static const enum llm_part order[] = { LLM_PART_THINKING, LLM_PART_TEXT, LLM_PART_CALL };

static struct reply_cursor *cursor_find(const struct reply_cursors *cursors, uint64_t reply)
{
	for (size_t i = 0; i < cursors->count; i++)
		if (cursors->at[i].reply == reply)
			return &cursors->at[i];
	return NULL;
}

/* LIMIT_TURNS bounds the replies that are written at the same time. */
static struct reply_cursor *cursor_add(struct reply_cursors *cursors,
				       const struct live_reply *reply)
{
	if (cursors->count == cursors->room) {
		cursors->room = cursors->room == 0 ? 2 : cursors->room * 2;
		cursors->at = realloc(cursors->at, cursors->room * sizeof(*cursors->at));
		require(cursors->at != NULL);
	}
	struct reply_cursor *cursor = &cursors->at[cursors->count++];
	*cursor = (struct reply_cursor){ .reply = reply->id };
	cursor->step = str_copy(&cursor->arena, reply->step);
	cursor->agent = str_copy(&cursor->arena, reply->agent);
	return cursor;
}

static void cursor_remove(struct reply_cursors *cursors, size_t index)
{
	arena_done(&cursors->at[index].arena);
	cursors->count--;
	memmove(&cursors->at[index], &cursors->at[index + 1],
		(cursors->count - index) * sizeof(*cursors->at));
}

/* Those that the client has not heard of are forgotten. */
bool reply_cursors_ended(struct reply_cursors *cursors, struct executor *executor,
			 struct reply_chunk *out_chunk)
{
	for (size_t i = 0; i < cursors->count;) {
		if (live_reply_by_id(executor, cursors->at[i].reply) != NULL) {
			i++;
		} else if (cursors->at[i].begun) {
			*out_chunk = (struct reply_chunk){ .cursor = i };
			return true;
		} else {
			cursor_remove(cursors, i);
		}
	}
	return false;
}

static bool find_piece(const struct reply_cursors *cursors, const struct live_reply *reply,
		       const struct reply_cursor *cursor, struct reply_chunk *out_chunk)
{
	*out_chunk =
		(struct reply_chunk){ .reply = reply, .cursor = (size_t)(cursor - cursors->at) };
	for (size_t i = 0; i < COUNT(order); i++) {
		size_t sent = cursor->sent[order[i]];
		struct str rest = str_skip(buf_str(&reply->parts[order[i]]), sent);
		if (rest.size == 0)
			continue;
		out_chunk->part = order[i];
		out_chunk->offset = sent;
		out_chunk->delta = utf8_head(rest, LIMIT_REPLY_CHUNK_BYTES);
		return true;
	}
	out_chunk->part = LLM_PART_TEXT;
	out_chunk->offset = cursor->sent[LLM_PART_TEXT];
	out_chunk->delta = S("");
	out_chunk->truncated = reply->truncated && !cursor->truncated;
	return out_chunk->truncated;
}

bool reply_cursors_next(struct reply_cursors *cursors, struct executor *executor,
			const struct uuid *run, struct reply_chunk *out_chunk)
{
	if (reply_cursors_ended(cursors, executor, out_chunk))
		return true;
	for (const struct live_reply *reply = live_reply_first(executor, run); reply != NULL;
	     reply = reply->next) {
		const struct reply_cursor *cursor = cursor_find(cursors, reply->id);
		if (cursor == NULL)
			cursor = cursor_add(cursors, reply);
		if (find_piece(cursors, reply, cursor, out_chunk))
			return true;
	}
	return false;
}

void reply_cursors_sent(struct reply_cursors *cursors, const struct reply_chunk *chunk)
{
	struct reply_cursor *cursor = &cursors->at[chunk->cursor];
	if (chunk->reply == NULL) {
		cursor_remove(cursors, chunk->cursor);
		return;
	}
	cursor->sent[chunk->part] += chunk->delta.size;
	cursor->truncated = cursor->truncated || chunk->truncated;
	cursor->begun = cursor->begun || (chunk->part == LLM_PART_TEXT && chunk->delta.size > 0);
}

void reply_cursors_done(struct reply_cursors *cursors)
{
	while (cursors->count > 0)
		cursor_remove(cursors, cursors->count - 1);
	free(cursors->at);
	*cursors = (struct reply_cursors){ 0 };
}

struct str reply_chunk_text(const struct reply_chunk *chunk, struct arena *arena)
{
	static const enum run_reply_part parts[] = { [LLM_PART_TEXT] = RUN_REPLY_TEXT,
						     [LLM_PART_THINKING] = RUN_REPLY_THINKING,
						     [LLM_PART_CALL] = RUN_REPLY_CALL };
	const struct live_reply *reply = chunk->reply;
	if (reply == NULL)
		return S("");
	struct run_chunk *out = run_chunk_new(arena);
	SET(out, run_id, reply->run);
	SET(out, step, reply->step);
	SET(out, agent, reply->agent);
	SET(out, turn, reply->effect);
	SET(out, attempt, reply->attempt);
	SET(out, part, parts[chunk->part]);
	SET(out, offset, (int64_t)chunk->offset);
	SET(out, delta, chunk->delta);
	if (chunk->truncated)
		SET(out, truncated, true);
	return run_chunk_text(out, arena);
}
