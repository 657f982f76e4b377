/* api/api_events.c -- the events of all runs in commit order, in pages.
 *
 * Made for collectors: the cursor of a page is the position of its last event and never expires, so
 * a client can continue after any pause.  The limit counts the events that are shown, and a page may end
 * inside the group that a stored event becomes.  No more stored events than that are read, so a page may be
 * empty behind filters and still have a cursor.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "api/event_page.h"

struct events_page {
	struct event_page page; /* first */
	struct event_filter filter;
	struct str text;
};

static void events_work(struct executor_read *read, struct store_reader *reader)
{
	struct events_page *events = (struct events_page *)read;
	struct event_page *page = &events->page;
	event_page_work(read, reader);
	if (page->error.code != ERROR_NONE)
		return;
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '{');
	json_key(&writer, S("items"));
	json_open(&writer, '[');
	for (size_t i = 0; i < page->count; i++)
		if (page->items[i].text.size > 0)
			json_put_raw(&writer, page->items[i].text);
	json_close(&writer, ']');
	json_key(&writer, S("cursor"));
	if (page->more)
		json_put_str(&writer,
			     event_cursor_text(page->items[page->count - 1].cursor, &read->arena));
	else
		json_put_null(&writer);
	json_close(&writer, '}');
	events->text = str_copy(&read->arena, buf_str(&text));
}

static void events_free(struct events_page *events)
{
	timeline_cache_free(events->page.timeline_cache);
	arena_done(&events->page.read.arena);
	free(events);
}

static void events_done(struct executor_read *read)
{
	struct events_page *events = (struct events_page *)read;
	struct api *api = events->page.owner;
	if (events->page.error.code != ERROR_NONE)
		api_reply_error(api, events->page.connection, &events->page.error, NULL);
	else
		api_reply_json(api, events->page.connection, 200, events->text);
	events_free(events);
}

static bool read_query(struct api_call *call, struct events_page *events, struct error *error)
{
	struct event_page *page = &events->page;
	struct str run = api_query(call, S("run")), view = api_query(call, S("view"));
	int64_t limit;
	if (!api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &limit, error) ||
	    !api_query_cursor(call, S("after"), event_cursor_of(0), &page->after, error))
		return false;
	page->limit = (size_t)limit;
	page->one_run = run.size > 0;
	if (run.size > 0 && !uuid_parse(run, &page->run))
		return fail(error, ERROR_USAGE, "?run= must be the id (UUID) of a run");
	if ((view.size > 0 && !view_from(view, &page->view, error)) ||
	    !event_filter_read(&events->filter, call, page->view, error))
		return false;
	page->filter = &events->filter;
	return true;
}

static struct events_page *events_new(struct api_call *call)
{
	struct events_page *events = calloc(1, sizeof(*events));
	require(events != NULL);
	events->page.owner = call->api;
	events->page.connection = call->exchange;
	return events;
}

static void events_begin(struct api_call *call, struct events_page *events)
{
	struct event_page *page = &events->page;
	page->timeline_cache = page->view == NULL ? NULL : timeline_cache_new();
	page->read.work = events_work;
	page->read.done = events_done;
	executor_read(call->api->settings.executor, &page->read);
}

void api_events_of_run(struct api_call *call, const struct view *view, struct event_cursor after,
		       int64_t limit, const struct event_filter *filter)
{
	struct events_page *events = events_new(call);
	struct event_page *page = &events->page;
	events->filter = *filter;
	page->filter = &events->filter;
	page->run = call->id;
	page->first = true;
	page->view = view;
	page->after = after;
	page->limit = (size_t)limit;
	events_begin(call, events);
}

void api_event_list(struct api_call *call)
{
	struct events_page *events = events_new(call);
	struct error error;
	events->page.all = true;
	if (!read_query(call, events, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		events_free(events);
		return;
	}
	events_begin(call, events);
}
