/* active/live_reply.h -- replies of models that are being written, found by run.
 *
 * The room effect opens a reply when a driver has started a turn, and the driver's pieces are gathered
 * here.  This is the only copy of the text, and it is not stored.  Whoever follows a reply keeps an
 * offset into each of its parts and no queue: a late one starts at 0, a slow one later gets the rest as
 * one larger piece.  The reply is dropped with the command that ends the turn, which is after the
 * notice of turn.finished: from then on that event has the whole text.
 *
 * A reply belongs to one attempt of one turn.  A new attempt is a new reply and starts at 0.
 *
 * A reply keeps LIMIT_LIVE_REPLY_BYTES, all of them together LIMIT_LIVE_REPLIES_BYTES.  What comes
 * after that is not kept here, and the reply says so (`truncated`).
 *
 * One timer serves all listeners: LIMIT_LIVE_REPLY_FLUSH_MS after a piece has arrived, the room api is
 * told once, however many pieces of however many replies came in between.
 *
 * On the loop's thread.  What a find returns is valid until the caller returns to the loop.
 */
#ifndef ACTIVE_LIVE_REPLY_H
#define ACTIVE_LIVE_REPLY_H

#include "base/buf.h"
#include "base/map.h"
#include "base/slots.h"
#include "base/uuid.h"
#include "llm/llm.h"

struct executor;

enum { LIVE_REPLY_PARTS = LLM_PART_CALL + 1 };

struct live_reply {
	struct uuid run, effect;
	struct str step, agent; /* the path of the turn's activation; the agent's name */
	int64_t attempt;
	struct buf parts
		[LIVE_REPLY_PARTS]; /* by enum llm_part; of a call, a line with the tool's name */
	bool truncated;
	uint64_t id;
	struct live_reply *next; /* of the same run, in the order of their start; NULL = last */
	struct arena arena;      /* private: of step and agent */
};

typedef void live_reply_flush(void *context);

/* The executor's table of them. */
struct live_replies {
	struct map by_run; /* run -> struct live_reply, the first of a list */
	struct slots slots;
	size_t bytes; /* of all parts */
	uint64_t timer;
	live_reply_flush *flush; /* NULL = nobody listens */
	void *context;
};

struct live_replies *executor_live_replies(struct executor *executor);

/* `turn` is copied: run, effect, step, agent and attempt.  Returns the id, never 0. */
uint64_t live_reply_open(struct executor *executor, const struct live_reply *turn);
/* Adds a piece.  Does nothing when the reply was dropped. */
void live_reply_add(struct executor *executor, uint64_t id, enum llm_part part, struct str delta);
void live_reply_drop(struct executor *executor, uint64_t id); /* unless it was dropped */

const struct live_reply *live_reply_by_id(struct executor *executor, uint64_t id); /* or NULL */
/* The first reply that is being written in this run; NULL = none. */
const struct live_reply *live_reply_first(struct executor *executor, const struct uuid *run);
/* Sets who is told that there are new pieces. */
void live_reply_listen(struct executor *executor, live_reply_flush *flush, void *context);

void live_reply_drop_all(struct executor *executor); /* for executor_free() */

#endif
