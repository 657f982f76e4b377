/* api/event_cursor.h -- a place in a list of events that a client can continue from.
 *
 * One stored event becomes a group of events in a vocabulary (views/view.h).  So a cursor has two parts:
 * the seq of a stored event (its position, over all runs), and the number of an event in its group.  It
 * means everything up to and including that event.
 *
 *	"7"      the whole group of 7, however many events it has
 *	"7.2"    the group of 7 up to its third event
 *
 * A number beyond the group means that the group is done, so a cursor is valid in every vocabulary.  The
 * last event of a group has the short form: a group of one event looks as if there were no groups.
 */
#ifndef API_EVENT_CURSOR_H
#define API_EVENT_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct arena;

#define EVENT_CURSOR_ALL INT64_MAX /* as `n`: the whole group */

struct event_cursor {
	int64_t at; /* seq or position; -1 = none */
	int64_t n;
};

static inline struct event_cursor event_cursor_of(int64_t at)
{
	return (struct event_cursor){ at, EVENT_CURSOR_ALL };
}

/* Below 0, 0 or above 0, as one is before, at or behind the other. */
int event_cursor_compare(struct event_cursor one, struct event_cursor other);
/* The newest stored event of which nothing is left to show. */
int64_t event_cursor_done(struct event_cursor cursor);
bool event_cursor_parse(struct str text, struct event_cursor *out_cursor);
struct str event_cursor_text(struct event_cursor cursor, struct arena *arena);

#endif
