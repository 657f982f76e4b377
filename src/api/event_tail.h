/* api/event_tail.h -- the encoded events that streams and WebSockets share (architecture R10).
 *
 * Connections that show the same events in the same form follow one tail: the events of all runs or
 * of one run, in one vocabulary and one framing.  A page of the tail is read and encoded once,
 * whoever asks first; the others find it in memory.  One read of a tail is under way at a time.  The
 * pages of all tails together have at most LIMIT_TAIL_BYTES, and one that is dropped is read from the
 * disk again.  So a connection holds a cursor and nothing else, and a thousand that do not read cost
 * no more than their sockets.
 *
 * A follower is the member of a connection that follows a tail:
 *
 *	event_follower_join(api, &key, cursor, wake, id, &follower);
 *	switch (event_follower_next(&follower, &events)) {      in wake(), until the client is full
 *	case EVENTS_HERE:   send events.items[0 .. count - 1]; after each: follower.cursor = item->cursor
 *	case EVENTS_LATER:  wake() is called when there is more
 *	case EVENTS_END:    everything committed was sent; wake() is called after the next commit
 *	case EVENTS_FAILED: the next event cannot be read: follower.tail->error
 *	}
 *	event_follower_leave(&follower);
 *
 * Those that are woken take turns: wake() sends a bounded number of bytes and asks for another turn
 * with event_follower_again(), and between turns the loop serves everybody else.
 *
 * On the loop.  What event_follower_next() returns is valid until the next call into this module.
 */
#ifndef API_EVENT_TAIL_H
#define API_EVENT_TAIL_H

#include "api/event_page.h"

struct api;
struct event_tail;

struct event_tail_key {
	const struct view *view; /* NULL: Baton's own vocabulary */
	enum event_page_form form;
	bool all;         /* events of all runs, by position; else of `run`, by seq */
	bool synthesizes; /* as in struct event_page */
	struct uuid run;
};

typedef void event_follower_wake(struct api *api, uint64_t id);

struct event_follower {
	struct event_tail *tail;    /* NULL = does not follow */
	struct event_cursor cursor; /* the last event that was sent completely */
	size_t offset;              /* bytes of the event after it that were sent, too */
	event_follower_wake *wake;
	uint64_t id; /* passed to wake() */
	/* Private: */
	enum { FOLLOWER_IDLE, FOLLOWER_WAITS, FOLLOWER_READY } state;
	struct event_follower *before, *after;
};

struct events {
	const struct event_page_item *items;
	size_t count;
};

enum events_found { EVENTS_HERE, EVENTS_LATER, EVENTS_END, EVENTS_FAILED };

void event_follower_join(struct api *api, const struct event_tail_key *key,
			 struct event_cursor cursor, event_follower_wake *wake, uint64_t id,
			 struct event_follower *out);
/* Does nothing when it does not follow. */
void event_follower_leave(struct event_follower *follower);
enum events_found event_follower_next(struct event_follower *follower, struct events *out_events);
/* Calls wake() in one of the next turns of the loop. */
void event_follower_again(struct event_follower *follower);
/* The stored events that were announced and not sent yet. */
int64_t event_follower_lag(const struct event_follower *follower);
/* True when wake() will be called without a further commit. */
bool event_follower_is_behind(const struct event_follower *follower);
struct error event_follower_error(const struct event_follower *follower);

/* ---- figures --------------------------------------------------------------------------- */

struct event_tail_figures {
	size_t tails, followers, page_bytes, timeline_bytes;
	uint64_t pages_encoded, pages_shared; /* shared: taken from memory */
};
struct event_tail_figures event_tail_figures(const struct api *api);

#endif
