/* api/event_page.h -- the next page of events for a stream, a WebSocket or a list.
 *
 * A page is a job for a reader thread: fill in the request members, submit it with executor_read(),
 * and read the result members in done().  The items are in order, each with the cursor after it.
 * One stored event becomes a group of items; a page may end inside a group, and the next one continues
 * there.  An item without text is an event that is not shown (filtered out, or unknown to the
 * vocabulary); it only advances the cursor.  System events have no run and exist only in Baton's own vocabulary.
 *
 * An event in another vocabulary depends on its run's earlier events.  The timeline cache keeps the
 * timelines of recent runs.  The owner passes the cache to each page and takes it back, so that it
 * reads each event once.  The cache is bounded in events and bytes.  Streams and WebSockets share
 * their pages and the cache: event_tail.h.
 *
 * A page that starts at a deleted event fails with GONE, or sets `expired` when `since` named it.
 */
#ifndef API_EVENT_PAGE_H
#define API_EVENT_PAGE_H

#include "active/executor_jobs.h"
#include "api/event_cursor.h"
#include "api/event_filter.h"
#include "views/view.h"

struct timeline_cache;

struct timeline_cache *timeline_cache_new(void);
void timeline_cache_free(struct timeline_cache *timeline_cache); /* NULL is allowed */
void timeline_cache_clear(struct timeline_cache *timeline_cache);
size_t timeline_cache_bytes(const struct timeline_cache *timeline_cache);

enum { PAGE_SINCE_SIZE = 64 };

struct event_page_item {
	struct event_cursor cursor;
	struct uuid run;
	struct str text;
	struct event_class class; /* what filters look at */
	bool last;                /* an end of the run: its last event, unless it is retried */
	bool reopens;             /* the run is retried */
};

/* The framing of an event's JSON. */
enum event_page_form {
	PAGE_FORM_PLAIN,
	PAGE_FORM_SSE,     /* id: and data: */
	PAGE_FORM_MESSAGE, /* run.SocketEvent; pipeline vocabulary only */
};

struct event_page {
	struct executor_read read;
	void *owner; /* for the submitter */
	uint64_t connection;
	const struct view *view; /* NULL: Baton's own vocabulary */
	enum event_page_form form;
	struct timeline_cache *timeline_cache; /* required with a view */
	bool all;         /* events of all runs, by position; else of one run, by seq */
	struct uuid run;  /* when !all or one_run */
	bool one_run;     /* with all: show only events of `run` */
	bool synthesizes; /* one run in a view: synthesize compacted events, no GONE */
	const struct event_filter *filter; /* of a list; NULL = show everything */
	bool first; /* compute `after` from `since`; the newest event when after.at < 0 */
	char since[PAGE_SINCE_SIZE]; /* event id or cursor; "" = use `after` */
	struct event_cursor after;
	size_t limit;      /* events to show, and stored ones to read; 0 = only compute `after` */
	size_t most_bytes; /* the page ends with the item that reaches it; 0 = no limit */

	struct event_page_item *items;
	size_t count;
	bool more;      /* more events follow the page */
	bool expired;   /* `since` names no stored event */
	bool ended;     /* first page of one run: the run had ended before the read */
	int64_t newest; /* first page: position of the newest event */
	struct error error;
};

struct api_call;
/* Answers with a page of the events of the call's run that the filter allows (api_events.c). */
void api_events_of_run(struct api_call *call, const struct view *view, struct event_cursor after,
		       int64_t limit, const struct event_filter *filter);

void event_page_work(struct executor_read *read, struct store_reader *reader);

#endif
