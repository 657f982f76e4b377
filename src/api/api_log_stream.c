/* api/api_log_stream.c -- follows the log of a step as server-sent events.
 *
 * A stream is a cursor (attempt, offset) and no queue.  It moves over the log in memory while an
 * attempt runs and over the stored logs otherwise; the text at an offset is the same in both.  One
 * timer serves all streams: every LIMIT_STEP_LOG_FLUSH_MS each of them writes what is new, so that a
 * tool that writes byte by byte does not cause an event for each byte.  The store is read when
 * something of the run was committed, at most every LIMIT_STEP_LOG_LOOK_MS.
 *
 * Chunks have no SSE id: a client that reconnects starts again at offset 0.
 */
#include <stdlib.h>

#include "active/live_log.h"
#include "active/notices.h"
#include "api/step_log_read.h"
#include "base/utf8.h"
#include "net/sse.h"
#include "tool/output_log.h"

struct log_stream {
	struct api *api;
	uint64_t id, exchange;
	struct uuid run;
	struct str step;
	struct arena arena;
	int64_t wanted;  /* attempt to follow; 0 = all, until the step ends */
	int64_t attempt; /* cursor: the attempt whose text comes next */
	uint64_t offset;
	bool begun, reading, full;
	bool attached; /* the newest text came from memory */
	bool alone;    /* the next read is of the cursor's attempt only: all are too large */
	bool changed;  /* something was committed since the last read began */
	int64_t read_at, written_at; /* us, monotonic */
	uint64_t watch;
};

static struct log_stream *stream_of_exchange(struct api *api, uint64_t exchange)
{
	const struct api_call *call = api_call_of(api, exchange);
	struct log_stream *stream =
		call == NULL ? NULL : slots_get(&api->log_streams, call->connection);
	return stream != NULL && stream->exchange == exchange ? stream : NULL;
}

static int64_t now_us(const struct log_stream *stream)
{
	return platform_mono_us(loop_platform(stream->api->settings.loop));
}

static void stream_free(struct log_stream *stream)
{
	struct api *api = stream->api;
	executor_unwatch(api->settings.executor, stream->watch);
	slots_remove(&api->log_streams, stream->id);
	arena_done(&stream->arena);
	free(stream);
}

static void stream_end(struct log_stream *stream)
{
	api_end(stream->api, stream->exchange);
	stream_free(stream);
}

/* ---- writing ----------------------------------------------------------------------- */

/* False when the client's send queue is full: the cursor stays. */
static bool write_event(struct log_stream *stream, const char *type,
			const struct run_log_chunk *chunk, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	sse_write(&text, S(""), str_from_c(type), run_log_chunk_text(chunk, arena));
	stream->full = !http_write(stream->api->server, stream->exchange, buf_str(&text));
	stream->written_at = now_us(stream);
	return !stream->full;
}

/* Writes text that begins at `offset` and moves the cursor behind it. */
static bool write_text(struct log_stream *stream, enum run_log_stream from, uint64_t offset,
		       struct str text)
{
	while (text.size > 0) {
		AUTO(arena) arena = { 0 };
		struct run_log_chunk *chunk = run_log_chunk_new(&arena);
		struct str piece = utf8_head(text, LIMIT_STEP_LOG_CHUNK_BYTES);
		SET(chunk, attempt, stream->attempt);
		SET(chunk, offset, (int64_t)offset);
		SET(chunk, stream, from);
		SET(chunk, text, piece);
		if (offset > stream->offset)
			SET(chunk, omitted, (int64_t)(offset - stream->offset));
		if (!write_event(stream, "chunk", chunk, &arena))
			return false;
		offset += piece.size;
		stream->offset = offset;
		text = str_skip(text, piece.size);
	}
	return true;
}

static bool write_attempt_end(struct log_stream *stream, const struct run_log_attempt *attempt)
{
	AUTO(arena) arena = { 0 };
	struct run_log_chunk *chunk = run_log_chunk_new(&arena);
	SET(chunk, attempt, stream->attempt);
	SET(chunk, offset, (int64_t)stream->offset);
	SET(chunk, text, S(""));
	if (has(attempt, outcome))
		SET(chunk, outcome, attempt->outcome);
	if (has(attempt, error))
		SET(chunk, error, attempt->error);
	return write_event(stream, "end", chunk, &arena);
}

/* The rest of a stored log behind the cursor. */
static bool write_stored(struct log_stream *stream, const struct run_log_attempt *attempt)
{
	uint64_t offset = 0;
	for (size_t i = 0; i < attempt->parts.count; i++) {
		const struct run_log_part *part = &attempt->parts.at[i];
		struct str text = part->text;
		offset += has(part, omitted) ? (uint64_t)part->omitted : 0;
		uint64_t end = offset + text.size, from = offset;
		if (from < stream->offset)
			from = stream->offset < end ? stream->offset : end;
		if (!write_text(stream, part->stream, from,
				str_skip(text, (size_t)(from - offset))))
			return false;
		offset = end;
	}
	return true;
}

static bool write_live(struct log_stream *stream, const struct output_log *log)
{
	struct output_chunk chunk;
	while (output_log_read(log, stream->offset, &chunk))
		if (!write_text(stream,
				chunk.stream == OUTPUT_STDERR ? RUN_LOG_STREAM_STDERR
							      : RUN_LOG_STREAM_STDOUT,
				chunk.offset, chunk.text))
			return false;
	return true;
}

/* ---- reading ----------------------------------------------------------------------- */

static void stream_begin(struct log_stream *stream)
{
	const struct http_header headers[] = { { S("Content-Type"), S("text/event-stream") } };
	api_begin(stream->api, stream->exchange, 200, headers, COUNT(headers));
	stream->begun = true;
	stream->written_at = now_us(stream);
}

/* Writes the ended attempts from the cursor on.  Returns true when there will be no more. */
static bool take_attempts(struct log_stream *stream, const struct step_log_read *r)
{
	for (size_t i = 0; i < r->log->attempts.count; i++) {
		const struct run_log_attempt *attempt = &r->log->attempts.at[i];
		if (attempt->attempt < stream->attempt)
			continue;
		if (attempt->attempt > stream->attempt) {
			stream->attempt = attempt->attempt;
			stream->offset = 0;
		}
		if (attempt->live)
			return false;
		if (has(attempt, too_large)) {
			stream->alone = stream->changed = true;
			return false;
		}
		if (!write_stored(stream, attempt) || !write_attempt_end(stream, attempt))
			return false;
		stream->attempt++;
		stream->offset = 0;
		if (stream->wanted > 0)
			return true;
	}
	if (stream->alone) {
		stream->alone = false;
		stream->changed = true; /* for the attempts behind it */
		return false;
	}
	return r->over;
}

static void take_log(struct log_stream *stream, const struct step_log_read *r)
{
	stream->reading = false;
	if (r->log == NULL && !stream->begun) {
		api_reply_error(stream->api, stream->exchange, &r->error, NULL);
		stream_free(stream);
		return;
	}
	/* A revoked or expired key ends the stream, too. */
	if (r->log == NULL || !api_stream_is_authorized(stream->api, stream->exchange)) {
		stream_end(stream);
		return;
	}
	if (!stream->begun)
		stream_begin(stream);
	if (take_attempts(stream, r))
		stream_end(stream);
	else if (stream->full)
		stream->changed = true; /* the rest is read when the client has room again */
}

static void read_done(struct executor_read *read)
{
	struct step_log_read *r = (struct step_log_read *)read;
	struct log_stream *stream = slots_get(&r->api->log_streams, r->owner);
	if (stream != NULL)
		take_log(stream, r);
	step_log_read_free(r);
}

static void stream_read(struct log_stream *stream)
{
	struct step_log_read *r =
		step_log_read_new(stream->api, stream->id, &stream->run, stream->step,
				  stream->alone ? stream->attempt : stream->wanted);
	stream->reading = true;
	stream->changed = stream->attached = false;
	stream->read_at = now_us(stream);
	r->read.done = read_done;
	executor_read(stream->api->settings.executor, &r->read);
}

/* Writes what is new in memory, or looks into the store. */
static void stream_advance(struct log_stream *stream)
{
	struct executor *executor = stream->api->settings.executor;
	if (stream->reading || stream->full)
		return;
	const struct live_log *live = live_log_find(executor, &stream->run, stream->step);
	if (stream->begun && live != NULL && live->attempt == stream->attempt) {
		stream->attached = true;
		if (!api_stream_is_authorized(stream->api, stream->exchange))
			stream_end(stream);
		else
			(void)!write_live(stream, live->text);
		return;
	}
	bool soon = stream->attached || stream->alone;
	if (stream->changed &&
	    (soon || now_us(stream) - stream->read_at >= LIMIT_STEP_LOG_LOOK_MS * INT64_C(1000)))
		stream_read(stream);
}

static void keep_alive(struct log_stream *stream)
{
	if (!stream->begun || stream->full ||
	    now_us(stream) - stream->written_at < LIMIT_STREAM_KEEPALIVE_MS * INT64_C(1000))
		return;
	stream->full = !http_write(stream->api->server, stream->exchange, S(": keep-alive\n\n"));
	stream->written_at = now_us(stream);
}

static void flush_all(void *context, uint64_t argument)
{
	struct api *api = context;
	uint32_t index = 0;
	uint64_t id;
	(void)argument;
	api->log_timer = 0;
	for (struct log_stream *stream;
	     (stream = slots_next(&api->log_streams, &index, &id)) != NULL;) {
		keep_alive(stream);
		stream_advance(stream);
	}
	if (api->log_streams.live > 0)
		api->log_timer = platform_timer_start(loop_platform(api->settings.loop),
						      LIMIT_STEP_LOG_FLUSH_MS * INT64_C(1000),
						      flush_all, api, 0);
}

static void committed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct api *api = context;
	struct log_stream *stream = slots_get(&api->log_streams, argument);
	(void)notice;
	if (stream != NULL)
		stream->changed = true;
}

/* ---- callbacks and the handler ----------------------------------------------------- */

void api_log_stream_writable(struct api *api, uint64_t exchange)
{
	struct log_stream *stream = stream_of_exchange(api, exchange);
	if (stream != NULL)
		stream->full = false;
}

void api_log_stream_gone(struct api *api, uint64_t exchange)
{
	struct log_stream *stream = stream_of_exchange(api, exchange);
	if (stream != NULL)
		stream_free(stream);
}

bool api_log_streams_behind(const struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	const struct log_stream *stream;
	while ((stream = slots_next(&api->log_streams, &index, &id)) != NULL)
		if (stream->reading || (stream->changed && !stream->full))
			return true;
	return false;
}

void api_log_streams_end(struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	struct error error;
	for (struct log_stream *stream;
	     (stream = slots_next(&api->log_streams, &index, &id)) != NULL;) {
		if (stream->begun) {
			stream_end(stream);
			continue;
		}
		fail(&error, ERROR_UNAVAILABLE, "the server is stopping");
		api_reply_error(api, stream->exchange, &error, NULL);
		stream_free(stream);
	}
}

void api_log_stream_open(struct api_call *call, int64_t attempt)
{
	struct api *api = call->api;
	struct log_stream *stream = calloc(1, sizeof(*stream));
	require(stream != NULL);
	stream->api = api;
	stream->exchange = call->exchange;
	stream->run = call->id;
	stream->step = str_copy(&stream->arena, call->path);
	stream->wanted = attempt;
	stream->attempt = attempt > 0 ? attempt : 1;
	stream->id = call->connection = slots_add(&api->log_streams, stream);
	stream->watch =
		executor_watch(api->settings.executor, &stream->run, committed, api, stream->id);
	stream_read(stream);
	if (api->log_timer == 0)
		api->log_timer = platform_timer_start(loop_platform(api->settings.loop),
						      LIMIT_STEP_LOG_FLUSH_MS * INT64_C(1000),
						      flush_all, api, 0);
}
