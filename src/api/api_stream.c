/* api/api_stream.c -- server-sent events as cursors (architecture R10).
 *
 * A stream remembers the cursor of the last event it wrote and no queue.  It follows a tail that it
 * shares with all streams of the same events (event_tail.h), and writes pieces of it while the client
 * takes them.  Of an event that is larger than a piece it remembers how many bytes are written, so a
 * client that does not read holds one piece in memory.  A client that reconnects with Last-Event-ID
 * continues after that event without gap or repetition, even after a restart of the server.
 *
 * With ?chunks the stream of a run also has the replies that its models are writing, as events of the
 * type chunk without an id.  They are sent when all events are (reply_cursor.h).
 */
#include <stdlib.h>
#include <string.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "api/event_tail.h"
#include "api/reply_cursor.h"
#include "net/sse.h"

struct stream {
	struct api *api;
	uint64_t id, exchange;
	bool all; /* events of all runs */
	struct uuid run;
	const struct view *view;
	struct event_follower follower;
	struct event_cursor after; /* where the client wants to begin; at -1 = now */
	bool begun, full;
	bool ended; /* the run, as far as it was written: its end, and no retry after it */
	uint64_t timer;
	bool chunks; /* the client wants the replies that are being written */
	struct event_filter filter;
	struct reply_cursors replies;
};

static struct stream *stream_of_exchange(struct api *api, uint64_t exchange)
{
	const struct api_call *call = api_call_of(api, exchange);
	struct stream *stream = call == NULL ? NULL : slots_get(&api->streams, call->connection);
	return stream != NULL && stream->exchange == exchange ? stream : NULL;
}

static void stream_free(struct stream *stream)
{
	struct api *api = stream->api;
	event_follower_leave(&stream->follower);
	reply_cursors_done(&stream->replies);
	if (stream->timer != 0)
		platform_timer_stop(loop_platform(api->settings.loop), stream->timer);
	slots_remove(&api->streams, stream->id);
	free(stream);
}

static void keep_alive(void *context, uint64_t argument)
{
	struct api *api = context;
	struct stream *stream = slots_get(&api->streams, argument);
	if (stream == NULL)
		return;
	/* Not within an event. */
	if (stream->begun && !stream->full && stream->follower.offset == 0)
		http_write(api->server, stream->exchange, S(": keep-alive\n\n"));
	stream->timer =
		platform_timer_start(loop_platform(api->settings.loop),
				     LIMIT_STREAM_KEEPALIVE_MS * 1000, keep_alive, api, argument);
}

/* ---- writing ----------------------------------------------------------------------- */

static void stream_end(struct stream *stream)
{
	api_end(stream->api, stream->exchange);
	stream_free(stream);
}

/* Copies what follows the cursor into `out` and advances the cursor, also past what is not shown. */
static size_t fill(struct event_follower *follower, const struct event_filter *filter,
		   const struct events *events, char *out, size_t room, bool *ended)
{
	size_t size = 0;
	for (size_t i = 0; i < events->count && size < room; i++) {
		const struct event_page_item *item = &events->items[i];
		struct str text = event_filter_allows(filter, &item->class) ? item->text : S("");
		struct str rest = str_head(str_skip(text, follower->offset), room - size);
		if (rest.size > 0)
			memcpy(out + size, rest.at, rest.size);
		size += rest.size;
		follower->offset += rest.size;
		if (follower->offset < text.size)
			break;
		follower->cursor = item->cursor;
		follower->offset = 0;
		*ended = (*ended || item->last) && !item->reopens;
	}
	return size;
}

/* Writes one piece; false when the client takes no more. */
static bool write_piece(struct stream *stream, const struct events *events, size_t *out_size)
{
	char piece[LIMIT_STREAM_PIECE_BYTES];
	struct event_follower *follower = &stream->follower;
	struct event_cursor cursor = follower->cursor;
	size_t offset = follower->offset;
	bool ended = stream->ended;
	*out_size = fill(follower, &stream->filter, events, piece, sizeof(piece), &stream->ended);
	if (*out_size == 0 ||
	    http_write(stream->api->server, stream->exchange, (struct str){ piece, *out_size }))
		return true;
	follower->cursor = cursor;
	follower->offset = offset;
	stream->ended = ended;
	stream->full = true;
	return false;
}

/* False when the client takes no more. */
static bool write_chunk(struct stream *stream, const struct reply_chunk *chunk, size_t *sent)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	struct str data = reply_chunk_text(chunk, &arena);
	if (data.size > 0)
		sse_write(&text, S(""), S("chunk"), data);
	stream->full =
		text.size > 0 && !http_write(stream->api->server, stream->exchange, buf_str(&text));
	*sent += text.size;
	return !stream->full;
}

/* All events were sent: now the replies that are being written. */
static void write_chunks(struct stream *stream)
{
	struct executor *executor = stream->api->settings.executor;
	struct reply_chunk chunk;
	if (!stream->chunks)
		return;
	for (size_t sent = 0; sent < LIMIT_STREAM_TURN_BYTES;) {
		if (!reply_cursors_next(&stream->replies, executor, &stream->run, &chunk))
			return;
		if (!api_stream_is_authorized(stream->api, stream->exchange)) {
			stream_end(stream);
			return;
		}
		if (!write_chunk(stream, &chunk, &sent))
			return;
		reply_cursors_sent(&stream->replies, &chunk);
	}
	event_follower_again(&stream->follower);
}

/* One turn.  A run that was retried has events behind its end, so the stream ends when there are no
 * more.  A revoked or expired key ends it, too. */
static void stream_write(struct api *api, uint64_t id)
{
	struct stream *stream = slots_get(&api->streams, id);
	if (stream == NULL || stream->full)
		return;
	for (size_t sent = 0, size; sent < LIMIT_STREAM_TURN_BYTES; sent += size) {
		struct events events;
		enum events_found found = event_follower_next(&stream->follower, &events);
		bool waits = found == EVENTS_END && (stream->all || !stream->ended);
		if (waits)
			write_chunks(stream);
		if (waits || found == EVENTS_LATER)
			return;
		if (found != EVENTS_HERE || !api_stream_is_authorized(api, stream->exchange)) {
			stream_end(stream);
			return;
		}
		if (!write_piece(stream, &events, &size))
			return;
	}
	event_follower_again(&stream->follower);
}

/* ---- beginning --------------------------------------------------------------------- */

static void stream_begin(struct stream *stream, const struct event_page *start)
{
	const struct http_header headers[] = { { S("Content-Type"), S("text/event-stream") } };
	const struct event_tail_key key = {
		.view = stream->view, .form = PAGE_FORM_SSE, .all = stream->all, .run = stream->run
	};
	api_begin(stream->api, stream->exchange, 200, headers, COUNT(headers));
	http_bound_buffer(stream->api->server, stream->exchange);
	stream->begun = true;
	stream->ended = start->ended;
	stream->timer = platform_timer_start(loop_platform(stream->api->settings.loop),
					     LIMIT_STREAM_KEEPALIVE_MS * 1000, keep_alive,
					     stream->api, stream->id);
	event_follower_join(stream->api, &key, start->after, stream_write, stream->id,
			    &stream->follower);
	event_follower_again(&stream->follower);
}

static void start_done(struct executor_read *read)
{
	struct event_page *start = (struct event_page *)read;
	struct api *api = start->owner;
	struct stream *stream = slots_get(&api->streams, start->connection);
	if (stream != NULL && start->error.code != ERROR_NONE) {
		api_reply_error(api, stream->exchange, &start->error, NULL);
		stream_free(stream);
	} else if (stream != NULL) {
		stream_begin(stream, start);
	}
	arena_done(&read->arena);
	free(start);
}

/* Finds the event to begin with, on a reader thread. */
static void stream_start(struct stream *stream)
{
	struct event_page *start = calloc(1, sizeof(*start));
	require(start != NULL);
	start->owner = stream->api;
	start->connection = stream->id;
	start->all = stream->all;
	start->first = true;
	start->run = stream->run;
	start->after = stream->after;
	start->read.work = event_page_work;
	start->read.done = start_done;
	executor_read(stream->api->settings.executor, &start->read);
}

/* ---- callbacks and handlers -------------------------------------------------------- */

void api_stream_writable(struct api *api, uint64_t exchange)
{
	struct stream *stream = stream_of_exchange(api, exchange);
	if (stream == NULL || !stream->full)
		return;
	stream->full = false;
	event_follower_again(&stream->follower);
}

void api_stream_gone(struct api *api, uint64_t exchange)
{
	struct stream *stream = stream_of_exchange(api, exchange);
	if (stream != NULL)
		stream_free(stream);
}

void api_streams_flush(struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct stream *stream; (stream = slots_next(&api->streams, &index, &id)) != NULL;)
		if (stream->chunks && stream->begun && !stream->full &&
		    live_reply_first(api->settings.executor, &stream->run) != NULL)
			event_follower_again(&stream->follower);
}

struct api_lags api_stream_lags(const struct api *api)
{
	struct api_lags lags = { 0 };
	uint32_t index = 0;
	uint64_t id;
	const struct stream *stream;
	while ((stream = slots_next(&api->streams, &index, &id)) != NULL)
		api_lags_add(&lags, event_follower_lag(&stream->follower));
	return lags;
}

bool api_streams_behind(const struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	const struct stream *stream;
	while ((stream = slots_next(&api->streams, &index, &id)) != NULL)
		if (!stream->begun || event_follower_is_behind(&stream->follower))
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
	struct event_cursor after;
	struct event_filter filter = { 0 };
	bool chunks;
	if (!api_query_cursor(call, S("after"), event_cursor_of(-1), &after, &error) ||
	    !api_query_flag(call, S("chunks"), false, &chunks, &error) ||
	    (name.size > 0 && !view_from(name, &view, &error)) ||
	    !event_filter_read(&filter, call, view, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	if (last.size > 0 && !event_cursor_parse(last, &after)) {
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
	stream->filter = filter;
	stream->after = after;
	stream->chunks = chunks;
	stream->id = call->connection = slots_add(&call->api->streams, stream);
	stream_start(stream);
}

void api_run_stream(struct api_call *call)
{
	stream_open(call, false);
}

void api_all_stream(struct api_call *call)
{
	stream_open(call, true);
}
