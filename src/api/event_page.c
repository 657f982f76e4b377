/* api/event_page.c -- reads and encodes pages of events for streams, WebSockets and lists.
 *
 * A page ends early when its timelines needed too many events.  After each page, a cache above its
 * bounds is emptied; its timelines are read again when needed.  Event ids are not stored: they
 * derive from (run, seq).  An id in `since` is found by deriving the ids of the newest
 * LIMIT_SINCE_EVENTS events, newest first; an older event counts as expired.
 */
#include "api/event_page.h"

#include <stdlib.h>
#include <string.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "api/api_timeline.h"
#include "contract/pipeline_types.h"
#include "contract/run_stream_types.h"
#include "net/sse.h"

struct cached_timeline {
	struct cached_timeline *next;
	struct uuid run;
	struct arena arena;
	struct api_timeline timeline;
	bool ended; /* the run has no further events */
};

struct timeline_cache {
	struct cached_timeline *first;
	size_t events; /* of all timelines */
};

struct timeline_cache *timeline_cache_new(void)
{
	struct timeline_cache *timeline_cache = calloc(1, sizeof(*timeline_cache));
	require(timeline_cache != NULL);
	return timeline_cache;
}

static void cached_timeline_free(struct cached_timeline *cached)
{
	api_timeline_done(&cached->timeline);
	arena_done(&cached->arena);
	free(cached);
}

void timeline_cache_clear(struct timeline_cache *timeline_cache)
{
	while (timeline_cache->first != NULL) {
		struct cached_timeline *cached = timeline_cache->first;
		timeline_cache->first = cached->next;
		cached_timeline_free(cached);
	}
	timeline_cache->events = 0;
}

void timeline_cache_free(struct timeline_cache *timeline_cache)
{
	if (timeline_cache == NULL)
		return;
	timeline_cache_clear(timeline_cache);
	free(timeline_cache);
}

size_t timeline_cache_bytes(const struct timeline_cache *timeline_cache)
{
	size_t bytes = 0;
	for (const struct cached_timeline *cached = timeline_cache->first; cached != NULL;
	     cached = cached->next)
		bytes += sizeof(*cached) + cached->arena.taken;
	return bytes;
}

/* Drops the timelines of ended runs, and all timelines when the rest exceeds the bounds. */
static void cache_trim(struct timeline_cache *timeline_cache)
{
	size_t bytes = 0;
	for (struct cached_timeline **link = &timeline_cache->first; *link != NULL;) {
		struct cached_timeline *cached = *link;
		if (cached->ended) {
			*link = cached->next;
			timeline_cache->events -= cached->timeline.count;
			cached_timeline_free(cached);
		} else {
			bytes += cached->arena.taken;
			link = &cached->next;
		}
	}
	if (bytes > LIMIT_STREAM_STORY_BYTES || timeline_cache->events > LIMIT_STREAM_STORY_EVENTS)
		timeline_cache_clear(timeline_cache);
}

struct encoding {
	struct event_page *page;
	struct store_reader *reader;
	size_t read;  /* events read into timelines for this page */
	size_t bytes; /* of the items */
};

static bool is_followed(const struct event_page *page, const struct store_event_row *row)
{
	if (uuid_is_zero(&row->run) && page->view != NULL)
		return false; /* system events exist only in Baton's own vocabulary */
	if (page->type.size > 0 && !str_equal(page->type, row->type))
		return false;
	return !page->one_run || uuid_equal(&page->run, &row->run);
}

/* The run's timeline up to this event at least; NULL when the store cannot be read. */
static const struct api_timeline *timeline_of(struct encoding *encoding, const struct uuid *run,
					      int64_t seq)
{
	struct timeline_cache *timeline_cache = encoding->page->timeline_cache;
	struct error *error = &encoding->page->error;
	struct cached_timeline *cached = timeline_cache->first;
	while (cached != NULL && !uuid_equal(&cached->run, run))
		cached = cached->next;
	size_t before = cached == NULL ? 0 : cached->timeline.count;
	bool good = true;
	if (cached == NULL) {
		cached = calloc(1, sizeof(*cached));
		require(cached != NULL);
		cached->run = *run;
		cached->next = timeline_cache->first;
		timeline_cache->first = cached;
		good = api_timeline_read(&cached->timeline, encoding->page->read.executor,
					 encoding->reader, run, &cached->arena, error);
	} else if (cached->timeline.last_seq < seq) {
		good = api_timeline_extend(&cached->timeline, encoding->reader, error);
	}
	timeline_cache->events += cached->timeline.count - before;
	encoding->read += cached->timeline.count - before;
	return good ? &cached->timeline : NULL;
}

static void mark_ended(struct timeline_cache *timeline_cache, const struct uuid *run)
{
	for (struct cached_timeline *cached = timeline_cache->first; cached != NULL;
	     cached = cached->next)
		if (uuid_equal(&cached->run, run))
			cached->ended = true;
}

/* An event of the pipeline vocabulary as a WebSocket message. */
static void put_message(const struct view_document *document, struct arena *arena,
			struct json_writer *writer)
{
	require(document->type == pipeline_workflow_event_type());
	struct run_socket_event *message = run_socket_event_new(arena);
	SET(message, payload, document->at[0]);
	run_socket_event_print(message, writer);
}

/* Prints nothing when the view does not show the event. */
static bool put_event(struct encoding *encoding, const struct store_event_row *row,
		      struct json_writer *writer)
{
	struct event_page *page = encoding->page;
	struct view_document document;
	if (page->view == NULL) {
		return api_event_print(row, &page->read.arena, writer, &page->error);
	}
	const struct api_timeline *timeline = timeline_of(encoding, &row->run, row->seq);
	if (timeline == NULL)
		return false;
	if (!api_timeline_event(timeline, page->view, row->seq, &document))
		return true;
	if (page->form == PAGE_FORM_MESSAGE)
		put_message(&document, &page->read.arena, writer);
	else
		view_print(&document, writer);
	return true;
}

static bool add_item(struct encoding *encoding, const struct store_event_row *row)
{
	struct event_page *page = encoding->page;
	struct arena *arena = &page->read.arena;
	struct event_page_item *item = &page->items[page->count];
	*item = (struct event_page_item){ .cursor = page->all ? row->position : row->seq,
					  .run = row->run,
					  .text = S(""),
					  .last = str_equal(row->type, S("run.finished")),
					  .reopens = str_equal(row->type, S("run.retried")) };
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (is_followed(page, row) && !put_event(encoding, row, &writer))
		return false;
	AUTO(buf) event = { 0 };
	if (text.size > 0 && page->form == PAGE_FORM_SSE)
		sse_write(&event, str_format(arena, "%lld", (long long)item->cursor), S(""),
			  buf_str(&text));
	if (text.size > 0)
		item->text = str_copy(arena, buf_str(event.size > 0 ? &event : &text));
	if (item->last && page->view != NULL)
		mark_ended(page->timeline_cache, &row->run);
	encoding->bytes += item->text.size;
	page->count++;
	return true;
}

static bool is_large(const struct encoding *encoding)
{
	return encoding->read >= LIMIT_STREAM_STORY_EVENTS ||
	       (encoding->page->most_bytes > 0 && encoding->bytes >= encoding->page->most_bytes);
}

/* An event that cannot be read ends the page before it; only the page that would begin with it
 * fails, so that everything before it can be read. */
static void add_items(struct encoding *encoding, const struct store_event_page *rows)
{
	struct event_page *page = encoding->page;
	page->items = arena_array(&page->read.arena, struct event_page_item, rows->count);
	for (size_t i = 0; i < rows->count && !is_large(encoding); i++)
		if (!add_item(encoding, &rows->at[i]))
			break;
	if (page->error.code != ERROR_NONE && page->count == 0)
		return;
	page->error = (struct error){ 0 };
	page->more = page->count < rows->count || rows->count == page->limit;
}

/* Adds one run's events from its timeline, which includes the synthesized events of a compacted
 * run.  False when the run has no timeline. */
static bool add_timeline(struct encoding *encoding)
{
	struct event_page *page = encoding->page;
	const struct api_timeline *timeline = timeline_of(encoding, &page->run, INT64_MAX);
	if (timeline == NULL || !timeline->readable)
		return false;
	page->items = arena_array(&page->read.arena, struct event_page_item, page->limit);
	size_t i = 0;
	while (i < timeline->count && timeline_seq(&timeline->timeline, i) <= page->after)
		i++;
	for (; i < timeline->count && page->count < page->limit &&
	       (page->count == 0 || !is_large(encoding));
	     i++) {
		struct store_event_row row = { .run = page->run,
					       .seq = timeline_seq(&timeline->timeline, i),
					       .at = timeline->events[i].at,
					       .type = event_name(timeline->events[i].type) };
		if (!add_item(encoding, &row))
			break;
	}
	page->more = i < timeline->count;
	return true;
}

/* ---- start position ---------------------------------------------------------------- */

/* The row of the event with this id among rows in the order of their positions; NULL if none. */
static const struct store_event_row *row_with_id(const struct store_event_page *rows,
						 const struct uuid *id, struct arena *arena)
{
	for (size_t i = rows->count; i > 0; i--) {
		const struct store_event_row *row = &rows->at[i - 1];
		const struct view_source source = { .run = row->run };
		const struct timeline timeline = { .source = &source, .arena = arena };
		struct uuid made = timeline_event_id(&timeline, row->seq);
		if (uuid_equal(&made, id))
			return row;
	}
	return NULL;
}

/* Sets `after` to the position of the event with this id, or `expired` when it is not among the
 * newest LIMIT_SINCE_EVENTS events. */
static bool find_event(struct event_page *page, struct store_reader *reader, const struct uuid *id)
{
	int64_t oldest = page->newest - LIMIT_SINCE_EVENTS;
	for (int64_t end = page->newest; end > 0 && end > oldest; end -= LIMIT_STREAM_PAGE_EVENTS) {
		AUTO(arena) arena = { 0 };
		struct store_event_page rows;
		int64_t after = end - LIMIT_STREAM_PAGE_EVENTS;
		if (after < oldest)
			after = oldest;
		if (after < 0)
			after = 0;
		if (!reader->ops->read_all(reader, after, (size_t)(end - after), &arena, &rows,
					   &page->error))
			return false;
		const struct store_event_row *row = row_with_id(&rows, id, &arena);
		if (row != NULL) {
			page->after = row->position;
			return true;
		}
	}
	page->expired = true;
	return true;
}

static bool find_start(struct event_page *page, struct store_reader *reader)
{
	page->newest = reader->ops->newest_position(reader);
	if (page->newest < 0)
		return fail(&page->error, ERROR_STORAGE,
			    "the newest event position cannot be read from the store");
	struct str since = str_from_c(page->since);
	struct uuid id;
	int64_t position = page->after < 0 ? page->newest : page->after;
	if (uuid_parse(since, &id)) {
		if (!find_event(page, reader, &id))
			return false;
	} else if (since.size > 0 &&
		   (!str_to_int(since, &position) || position < 0 || position > page->newest)) {
		page->expired = true;
	} else {
		bool there;
		if (!api_timeline_position_exists(reader, position, &there, &page->error))
			return false;
		if (!there && since.size == 0)
			return fail(&page->error, ERROR_GONE,
				    "event %lld was deleted when its run was compacted; read the "
				    "runs again and continue from now",
				    (long long)position);
		page->after = position;
		page->expired = !there;
	}
	if (page->expired)
		page->after = page->newest;
	return true;
}

static bool find_run(struct event_page *page, struct store_reader *reader)
{
	struct store_run run;
	bool found;
	if (!reader->ops->read_run(reader, &page->run, &page->read.arena, &run, &found,
				   &page->error))
		return false;
	if (!found)
		return fail(&page->error, ERROR_NOT_FOUND, "there is no run with this id");
	page->ended = run.ended_at != 0;
	if (page->after < 0)
		page->after = 0;
	return page->synthesizes || api_timeline_check_floor(run.floor, page->after, &page->error);
}

/* ---- the job ----------------------------------------------------------------------- */

static bool read_rows(struct event_page *page, struct store_reader *reader,
		      struct store_event_page *out)
{
	struct arena *arena = &page->read.arena;
	return page->all ? reader->ops->read_all(reader, page->after, page->limit, arena, out,
						 &page->error)
			 : reader->ops->read_events(reader, &page->run, page->after, page->limit,
						    arena, out, &page->error);
}

void event_page_work(struct executor_read *read, struct store_reader *reader)
{
	struct event_page *page = (struct event_page *)read;
	if (page->first && !(page->all ? find_start(page, reader) : find_run(page, reader)))
		return;
	if (page->limit == 0)
		return;
	struct encoding encoding = { .page = page, .reader = reader };
	struct store_event_page rows;
	bool from_timeline = page->synthesizes && add_timeline(&encoding);
	if (page->error.code != ERROR_NONE)
		return;
	if (!from_timeline && !read_rows(page, reader, &rows))
		return;
	if (!from_timeline)
		add_items(&encoding, &rows);
	if (page->timeline_cache != NULL)
		cache_trim(page->timeline_cache);
}
