/* api/api_socket_page.h -- what a WebSocket is sent next, read and encoded on a reader's thread.
 *
 * A page is a job: fill in the upper half, submit it with runtime_read(), look at the lower half
 * in done().  Its items are in order, each with the cursor that stands behind it; an item without
 * text is an event that is not shown (not subscribed to, or without a word in the view) and only
 * moves the cursor.
 */
#ifndef API_API_SOCKET_PAGE_H
#define API_API_SOCKET_PAGE_H

#include "runtime/runtime.h"
#include "views/view.h"

enum { SOCKET_SINCE_SIZE = 64 };

struct socket_item {
	int64_t cursor;
	struct str text;
	bool last; /* the run has ended */
};

struct socket_page {
	struct runtime_read read;
	void *owner; /* the submitter's own */
	uint64_t socket;
	const struct view *view;
	const char *before, *behind; /* around each event */
	bool all;                    /* every run's events, by position; else one run's, by seq */
	struct uuid run;
	bool first;                    /* `after` is to be found from `since` ("": from now) */
	char since[SOCKET_SINCE_SIZE]; /* an event's id or a position */
	int64_t after;
	int64_t unfiltered_until;    /* up to this position everything is shown */
	const struct uuid *followed; /* these runs only; of the page's own arena */
	size_t followed_count;       /* 0: all */

	struct socket_item *items;
	size_t count;
	bool more;      /* there is more behind the page */
	bool expired;   /* `since` names no event of this store */
	int64_t newest; /* first: the position of the newest event */
	struct error error;
};

void socket_page_work(struct runtime_read *read, struct store_reader *reader);

#endif
