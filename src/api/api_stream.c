/* api/api_stream.c -- server-sent events as cursors (architecture R10).
 *
 * A stream remembers the cursor of the last event it wrote and no queue.  A commit notice triggers
 * a read; a reader thread reads a page, and the page is written until the client's send queue is
 * full.  A client that reconnects with Last-Event-ID continues after that event without gap or
 * repetition, even after a restart of the server.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/notices.h"
#include "api/api_internal.h"
#include "api/event_page.h"

struct stream {
	struct api *api;
	uint64_t id, exchange;
	bool all; /* events of all runs */
	struct uuid run;
	const struct view *view;
	struct timeline_cache *timeline_cache; /* NULL while a page has it */
	int64_t cursor; /* last event written: seq, or position when `all`; -1 = from now on */
	int64_t newest; /* last event of the commit notices, in the same unit */
	bool begun, reading, more, full, last;
	uint64_t watch, timer;
};

static void stream_read(struct stream *stream);

static struct stream *stream_of_exchange(struct api *api, uint64_t exchange)
{
	const struct api_call *call = api_call_of(api, exchange);
	struct stream *stream = call == NULL ? NULL : slots_get(&api->streams, call->connection);
	return stream != NULL && stream->exchange == exchange ? stream : NULL;
}

static void stream_free(struct stream *stream)
{
	struct api *api = stream->api;
	if (stream->watch != 0)
		executor_unwatch(api->settings.executor, stream->watch);
	if (stream->timer != 0)
		platform_timer_stop(loop_platform(api->settings.loop), stream->timer);
	slots_remove(&api->streams, stream->id);
	timeline_cache_free(stream->timeline_cache);
	free(stream);
}

static void keep_alive(void *context, uint64_t argument)
{
	struct api *api = context;
	struct stream *stream = slots_get(&api->streams, argument);
	if (stream == NULL)
		return;
	if (stream->begun && !stream->full)
		http_write(api->server, stream->exchange, S(": keep-alive\n\n"));
	stream->timer =
		platform_timer_start(loop_platform(api->settings.loop),
				     LIMIT_STREAM_KEEPALIVE_MS * 1000, keep_alive, api, argument);
}

/* ---- pages ------------------------------------------------------------------------- */

static void stream_begin(struct stream *stream)
{
	const struct http_header headers[] = { { S("Content-Type"), S("text/event-stream") } };
	api_begin(stream->api, stream->exchange, 200, headers, COUNT(headers));
	stream->begun = true;
	stream->timer = platform_timer_start(loop_platform(stream->api->settings.loop),
					     LIMIT_STREAM_KEEPALIVE_MS * 1000, keep_alive,
					     stream->api, stream->id);
}

/* Writes as much of the page as the send queue takes; the rest is read again later. */
static void write_page(struct stream *stream, const struct event_page *page)
{
	for (size_t i = 0; i < page->count && !stream->full; i++) {
		const struct event_page_item *item = &page->items[i];
		if (item->text.size > 0)
			stream->full =
				!http_write(stream->api->server, stream->exchange, item->text);
		if (stream->full)
			break;
		stream->cursor = item->cursor;
		stream->last = item->last && !stream->all;
	}
	if (page->more || stream->full)
		stream->more = true;
	else if (page->ended) /* the client may have seen the last event before */
		stream->last = true;
}

static void stream_end(struct stream *stream)
{
	api_end(stream->api, stream->exchange);
	stream_free(stream);
}

static void take_page(struct stream *stream, struct event_page *page)
{
	stream->reading = false;
	stream->timeline_cache = page->timeline_cache;
	page->timeline_cache = NULL;
	if (page->error.code != ERROR_NONE && !stream->begun) {
		api_reply_error(stream->api, stream->exchange, &page->error, NULL);
		stream_free(stream);
		return;
	}
	/* A revoked or expired key ends the stream, too. */
	if (page->error.code != ERROR_NONE ||
	    !api_stream_is_authorized(stream->api, stream->exchange)) {
		stream_end(stream);
		return;
	}
	stream->cursor = page->after;
	if (!stream->begun)
		stream_begin(stream);
	write_page(stream, page);
	if (stream->last)
		stream_end(stream);
	else
		stream_read(stream);
}

static void page_done(struct executor_read *read)
{
	struct event_page *page = (struct event_page *)read;
	struct api *api = page->owner;
	struct stream *stream = slots_get(&api->streams, page->connection);
	if (stream != NULL)
		take_page(stream, page);
	timeline_cache_free(page->timeline_cache);
	arena_done(&read->arena);
	free(page);
}

static void stream_read(struct stream *stream)
{
	if (stream->reading || stream->full || !stream->more)
		return;
	stream->reading = true;
	stream->more = false;
	struct event_page *page = calloc(1, sizeof(*page));
	require(page != NULL);
	page->owner = stream->api;
	page->connection = stream->id;
	page->view = stream->view;
	page->form = PAGE_FORM_SSE;
	page->timeline_cache = stream->timeline_cache;
	stream->timeline_cache = NULL;
	page->all = stream->all;
	page->first = !stream->begun;
	page->run = stream->run;
	page->type = S("");
	page->after = stream->cursor;
	page->limit = LIMIT_STREAM_PAGE_EVENTS;
	page->read.work = event_page_work;
	page->read.done = page_done;
	executor_read(stream->api->settings.executor, &page->read);
}

static void committed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct api *api = context;
	struct stream *stream = slots_get(&api->streams, argument);
	if (stream == NULL)
		return;
	stream->newest = stream->all ? notice->position : notice->seq;
	stream->more = true;
	stream_read(stream);
}

/* ---- callbacks and handlers -------------------------------------------------------- */

void api_stream_writable(struct api *api, uint64_t exchange)
{
	struct stream *stream = stream_of_exchange(api, exchange);
	if (stream == NULL)
		return;
	stream->full = false;
	stream->more = true;
	stream_read(stream);
}

void api_stream_gone(struct api *api, uint64_t exchange)
{
	struct stream *stream = stream_of_exchange(api, exchange);
	if (stream != NULL)
		stream_free(stream);
}

struct api_lags api_stream_lags(const struct api *api)
{
	struct api_lags lags = { 0 };
	uint32_t index = 0;
	uint64_t id;
	const struct stream *stream;
	while ((stream = slots_next(&api->streams, &index, &id)) != NULL)
		api_lags_add(&lags, stream->newest - stream->cursor);
	return lags;
}

bool api_streams_behind(const struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	const struct stream *stream;
	while ((stream = slots_next(&api->streams, &index, &id)) != NULL)
		if (stream->reading || (stream->more && !stream->full))
			return true;
	return false;
}

void api_streams_end(struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	struct error error;
	for (struct stream *stream; (stream = slots_next(&api->streams, &index, &id)) != NULL;) {
		if (stream->begun) {
			api_end(api, stream->exchange);
		} else {
			fail(&error, ERROR_UNAVAILABLE, "the server is stopping");
			api_reply_error(api, stream->exchange, &error, NULL);
		}
		stream_free(stream);
	}
}

static void stream_open(struct api_call *call, bool all)
{
	struct error error;
	struct str last = http_header(call->request, S("Last-Event-ID"));
	struct str name = api_query(call, S("view"));
	const struct view *view = NULL;
	int64_t after;
	if (!api_query_int(call, S("after"), 0, INT64_MAX, -1, &after, &error) ||
	    (name.size > 0 && !view_from(name, &view, &error))) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	if (last.size > 0 && (!str_to_int(last, &after) || after < 0)) {
		fail(&error, ERROR_USAGE,
		     "Last-Event-ID must be the id of an event of this stream");
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct stream *stream = calloc(1, sizeof(*stream));
	require(stream != NULL);
	stream->api = call->api;
	stream->exchange = call->exchange;
	stream->all = all;
	stream->run = call->id;
	stream->view = view;
	stream->timeline_cache = view == NULL ? NULL : timeline_cache_new();
	stream->cursor = after;
	stream->more = true;
	stream->id = call->connection = slots_add(&call->api->streams, stream);
	const struct uuid every = { { 0 } };
	stream->watch = executor_watch(call->api->settings.executor, all ? &every : &stream->run,
				       committed, call->api, stream->id);
	stream_read(stream);
}

void api_run_stream(struct api_call *call)
{
	stream_open(call, false);
}

void api_all_stream(struct api_call *call)
{
	stream_open(call, true);
}
