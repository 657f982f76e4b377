/* api/api_stream.c -- SSE as cursors (architecture R10).
 *
 * A stream remembers what it last wrote, nothing else.  A notice says that there is more; pages are
 * read from the store on a reader thread and written until the client's queue is full; a client
 * that reconnects with Last-Event-ID goes on behind it, without gap or repetition, also after a
 * restart of the server.
 */
#include <stdlib.h>

#include "api/inside.h"
#include "base/limits.h"

struct stream {
	struct api *api;
	uint64_t id, exchange;
	bool all; /* every run's events */
	struct uuid run;
	int64_t cursor; /* seq, or position when all; -1 = from now on */
	bool begun, reading, more, full, last;
	uint64_t watch, timer;
};

struct page_read {
	struct runtime_read read;
	struct api *api;
	uint64_t stream;
	bool all, first;
	bool ended; /* the run was final before the page was read */
	struct uuid run;
	int64_t after;
	struct store_event_page page;
	struct str *texts; /* the page, encoded on the reader's thread */
	struct error error;
};

static void stream_read(struct stream *stream);

static struct stream *stream_of_exchange(struct api *api, uint64_t exchange)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct stream *stream; (stream = slots_next(&api->streams, &index, &id)) != NULL;)
		if (stream->exchange == exchange)
			return stream;
	return NULL;
}

static void stream_free(struct stream *stream)
{
	struct api *api = stream->api;
	if (stream->watch != 0)
		runtime_unwatch(api->settings.runtime, stream->watch);
	if (stream->timer != 0)
		system_timer_stop(loop_system(api->settings.loop), stream->timer);
	slots_remove(&api->streams, stream->id);
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
		system_timer_start(loop_system(api->settings.loop),
				   LIMIT_STREAM_KEEPALIVE_MS * 1000, keep_alive, api, argument);
}

/* ---- pages --------------------------------------------------------------------------- */

static struct str encode(const struct store_event_row *row, bool all, struct arena *arena)
{
	return str_format(arena, "id: %lld\ndata: " STR_FMT "\n\n",
			  (long long)(all ? row->position : row->seq),
			  STR_ARG(api_event_text(row, arena)));
}

static bool check_first(struct page_read *p, struct store_reader *reader)
{
	if (p->all) {
		if (p->after < 0)
			p->after = reader->ops->newest_position(reader);
		return true;
	}
	struct store_run run;
	bool found;
	if (!reader->ops->read_run(reader, &p->run, &p->read.arena, &run, &found, &p->error))
		return false;
	if (!found)
		return fail(&p->error, ERROR_NOT_FOUND, "no such run");
	p->ended = run.ended_at != 0;
	if (p->after < 0)
		p->after = 0;
	return true;
}

static void page_work(struct runtime_read *read, struct store_reader *reader)
{
	struct page_read *p = (struct page_read *)read;
	if (p->first && !check_first(p, reader))
		return;
	bool good = p->all ? reader->ops->read_all(reader, p->after, LIMIT_STREAM_PAGE_EVENTS,
						   &read->arena, &p->page, &p->error)
			   : reader->ops->read_events(reader, &p->run, p->after,
						      LIMIT_STREAM_PAGE_EVENTS, &read->arena,
						      &p->page, &p->error);
	if (!good)
		return;
	p->texts = arena_array(&read->arena, struct str, p->page.count);
	for (size_t i = 0; i < p->page.count; i++)
		p->texts[i] = encode(&p->page.at[i], p->all, &read->arena);
}

static void stream_begin(struct stream *stream)
{
	const struct http_header headers[] = { { S("Content-Type"), S("text/event-stream") },
					       { S("Cache-Control"), S("no-store") } };
	http_begin(stream->api->server, stream->exchange, 200, headers, COUNT(headers));
	stream->begun = true;
	stream->timer = system_timer_start(loop_system(stream->api->settings.loop),
					   LIMIT_STREAM_KEEPALIVE_MS * 1000, keep_alive,
					   stream->api, stream->id);
}

/* Writes as much of the page as the client takes; the rest is read again later. */
static void write_page(struct stream *stream, const struct page_read *p)
{
	for (size_t i = 0; i < p->page.count; i++) {
		const struct store_event_row *row = &p->page.at[i];
		stream->full = !http_write(stream->api->server, stream->exchange, p->texts[i]);
		if (stream->full)
			break;
		stream->cursor = stream->all ? row->position : row->seq;
		if (!stream->all && str_equal(row->type, S("run.finished")))
			stream->last = true;
	}
	if (p->page.count == LIMIT_STREAM_PAGE_EVENTS || stream->full)
		stream->more = true;
	else if (p->ended) /* also for one who has seen the end already */
		stream->last = true;
}

static void page_done(struct runtime_read *read)
{
	struct page_read *p = (struct page_read *)read;
	struct api *api = p->api;
	struct stream *stream = slots_get(&api->streams, p->stream);
	if (stream != NULL && p->error.code != ERROR_NONE) {
		if (stream->begun)
			http_end(api->server, stream->exchange);
		else
			api_reply_error(api, stream->exchange, &p->error, NULL);
		stream_free(stream);
	} else if (stream != NULL) {
		stream->reading = false;
		stream->cursor = p->after;
		if (!stream->begun)
			stream_begin(stream);
		write_page(stream, p);
		if (stream->last) {
			http_end(api->server, stream->exchange);
			stream_free(stream);
		} else {
			stream_read(stream);
		}
	}
	arena_done(&read->arena);
	free(p);
}

static void stream_read(struct stream *stream)
{
	if (stream->reading || stream->full || !stream->more)
		return;
	stream->reading = true;
	stream->more = false;
	struct page_read *p = calloc(1, sizeof(*p));
	require(p != NULL);
	p->api = stream->api;
	p->stream = stream->id;
	p->all = stream->all;
	p->first = !stream->begun;
	p->run = stream->run;
	p->after = stream->cursor;
	p->read.work = page_work;
	p->read.done = page_done;
	runtime_read(stream->api->settings.runtime, &p->read);
}

static void committed(void *context, uint64_t argument, const struct runtime_notice *notice)
{
	struct api *api = context;
	struct stream *stream = slots_get(&api->streams, argument);
	(void)notice;
	if (stream == NULL)
		return;
	stream->more = true;
	stream_read(stream);
}

/* ---- doors --------------------------------------------------------------------------- */

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

void api_streams_end(struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	struct error error;
	for (struct stream *stream; (stream = slots_next(&api->streams, &index, &id)) != NULL;) {
		if (stream->begun) {
			http_end(api->server, stream->exchange);
		} else {
			fail(&error, ERROR_UNAVAILABLE, "the server stops");
			api_reply_error(api, stream->exchange, &error, NULL);
		}
		stream_free(stream);
	}
}

static void stream_open(struct api_call *call, bool all)
{
	struct error error;
	struct str last = http_header(call->request, S("Last-Event-ID"));
	int64_t after;
	if (!api_query_int(call, S("after"), 0, INT64_MAX, -1, &after, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	if (last.size > 0 && (!str_to_int(last, &after) || after < 0)) {
		fail(&error, ERROR_USAGE, "Last-Event-ID is not one this stream gave");
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct stream *stream = calloc(1, sizeof(*stream));
	require(stream != NULL);
	stream->api = call->api;
	stream->exchange = call->exchange;
	stream->all = all;
	stream->run = call->id;
	stream->cursor = after;
	stream->more = true;
	stream->id = slots_add(&call->api->streams, stream);
	const struct uuid every = { { 0 } };
	stream->watch = runtime_watch(call->api->settings.runtime, all ? &every : &stream->run,
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
