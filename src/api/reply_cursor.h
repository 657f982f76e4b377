/* api/reply_cursor.h -- how far a connection has sent the replies that are being written in a run.
 *
 * A connection that wants chunks has a struct reply_cursors: for each reply of active/live_reply.h an
 * offset into each of its parts, and no text.  It sends chunks when it has sent every event that was
 * committed, so turn.requested comes before the chunks of a turn, and no chunk comes after
 * turn.finished.
 *
 *	while (reply_cursors_next(&cursors, executor, &run, &next)) {
 *		print next.chunk and send it; if the client takes no more: return
 *		reply_cursors_sent(&cursors, &next);
 *	}
 *
 * On the loop.  What reply_cursors_next() returns is valid until the caller returns to the loop.
 */
#ifndef API_REPLY_CURSOR_H
#define API_REPLY_CURSOR_H

#include "active/live_reply.h"

struct reply_cursor {
	uint64_t reply;
	struct str step, agent; /* in an arena of their own: the last chunk names them, too */
	struct arena arena;
	size_t sent[LIVE_REPLY_PARTS];
	bool truncated; /* the client knows */
	bool begun;     /* the client has some of its text */
};

struct reply_cursors {
	struct reply_cursor *at; /* in the order of their replies */
	size_t count, room;
};

struct reply_chunk {
	const struct live_reply *reply; /* NULL: the reply of `cursor` has ended */
	enum llm_part part;
	size_t offset;
	struct str delta;
	bool truncated;
	size_t cursor; /* index */
};

/* Finds a piece that was not sent; false when there is none now.  An ended reply is reported once,
 * and only if some of its text was sent. */
bool reply_cursors_next(struct reply_cursors *cursors, struct executor *executor,
			const struct uuid *run, struct reply_chunk *out_chunk);
/* Finds only the end of a reply: for a connection that tells it before the events that follow. */
bool reply_cursors_ended(struct reply_cursors *cursors, struct executor *executor,
			 struct reply_chunk *out_chunk);
void reply_cursors_sent(struct reply_cursors *cursors, const struct reply_chunk *chunk);
void reply_cursors_done(struct reply_cursors *cursors);

/* run.Chunk as JSON; "" for the end of a reply, which has no chunk in Baton's own vocabulary. */
struct str reply_chunk_text(const struct reply_chunk *chunk, struct arena *arena);

#endif
