/* api/event_page.h -- what a live connection is sent next, read and encoded on a reader's thread.
 *
 * A page is a job: fill in the upper half, submit it with executor_read(), look at the lower half
 * in done().  Its items are in order, each with the cursor that stands behind it; an item without
 * text is an event that is not shown (filtered out, or without a word in the view) and only moves
 * the cursor.  The system stream is shown in Baton's own words only: the seeds have none for it.
 *
 * An event in a seed's vocabulary needs its run's whole stream.  The stories of the runs that were
 * met are kept in `stories`, which goes with the page and comes back with it, so that a connection
 * reads each event once however long it follows; they are bounded in events and bytes.
 *
 * Who begins at an event that is gone is told so: GONE, or `expired` where it came with `since`.
 */
#ifndef API_API_PAGE_H
#define API_API_PAGE_H

#include "active/executor_jobs.h"
#include "views/view.h"

struct timeline_cache;

struct timeline_cache *timeline_cache_new(void);
void timeline_cache_free(struct timeline_cache *timeline_cache); /* NULL is fine */

enum { PAGE_SINCE_SIZE = 64 };

struct event_page_item {
	int64_t cursor;
	struct str text;
	bool last; /* the run has ended */
};

/* What stands around an event's JSON. */
enum event_page_form {
	PAGE_FORM_PLAIN,
	PAGE_FORM_SSE,     /* id: and data: */
	PAGE_FORM_MESSAGE, /* S0's run.SocketEvent; with the pipeline view only */
};

struct event_page {
	struct executor_read read;
	void *owner; /* the submitter's own */
	uint64_t connection;
	const struct view *view; /* NULL: Baton's own words */
	enum event_page_form form;
	struct timeline_cache *timeline_cache; /* needed with a view */
	bool all;                    /* every run's events, by position; else one run's, by seq */
	struct uuid run;             /* unless all, or one_run */
	bool one_run;                /* of all, only `run` is to be shown */
	bool retells;                /* of one run in a view: what is gone is told again, not 410 */
	struct str type;             /* "", or the only type to show */
	bool first;                  /* `after` is to be found: from `since`, or from now */
	char since[PAGE_SINCE_SIZE]; /* an event's id or a position; "" = `after`, -1: from now */
	int64_t after;
	size_t limit;                /* events to look at */
	int64_t unfiltered_until;    /* up to this position `followed` does not matter */
	const struct uuid *followed; /* these runs only; of the page's own arena */
	size_t followed_count;       /* 0: all */

	struct event_page_item *items;
	size_t count;
	bool more;      /* there is more behind the page */
	bool expired;   /* `since` names no event of this store */
	bool ended;     /* first, of one run: it was final before the page was read */
	int64_t newest; /* first: the position of the newest event */
	struct error error;
};

void event_page_work(struct executor_read *read, struct store_reader *reader);

#endif
