/* api/event_page.c -- reads and encodes pages of events for streams, WebSockets and lists.
 *
 * A page ends early when its timelines needed too many events.  After each page, a cache above its
 * bounds is emptied; its timelines are read again when needed.  Event ids are not stored: they
 * derive from (run, seq) and the number in the group.  An id in `since` is found by deriving the ids of
 * the newest LIMIT_SINCE_EVENTS stored events, newest first; an older event counts as expired.
 */
#include "api/event_page.h"

#include <stdlib.h>
#include <string.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "active/stored_row.h"
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
	size_t room;  /* for items */
	size_t shown; /* items with text */
	bool cut;     /* the page ends inside a group */
};

static bool is_followed(const struct event_page *page, const struct store_event_row *row)
{
	if (uuid_is_zero(&row->run) && page->view != NULL)
		return false; /* system events exist only in Baton's own vocabulary */
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

/* ---- items ------------------------------------------------------------------------- */

static struct event_page_item *next_item(struct encoding *encoding)
{
	struct event_page *page = encoding->page;
	page->items = VIEW_GROW(&page->read.arena, page->items, struct event_page_item, page->count,
				&encoding->room, 1);
	return &page->items[page->count++];
}

static void add_item(struct encoding *encoding, const struct store_event_row *row,
		     struct event_cursor cursor, struct event_class class, struct str text)
{
	struct event_page *page = encoding->page;
	if (page->filter != NULL && !event_filter_allows(page->filter, &class))
		text = S("");
	struct arena *arena = &page->read.arena;
	struct event_page_item *item = next_item(encoding);
	bool whole = cursor.n == EVENT_CURSOR_ALL;
	*item = (struct event_page_item){ .cursor = cursor,
					  .run = row->run,
					  .text = S(""),
					  .class = class,
					  .last = whole && str_equal(row->type, S("run.finished")),
					  .reopens =
						  whole && str_equal(row->type, S("run.retried")) };
	AUTO(buf) event = { 0 };
	if (text.size > 0 && page->form == PAGE_FORM_SSE)
		sse_write(&event, event_cursor_text(cursor, arena), S(""), text);
	if (text.size > 0)
		item->text = str_copy(arena, event.size > 0 ? buf_str(&event) : text);
	encoding->bytes += item->text.size;
	encoding->shown += text.size > 0;
}

static bool is_large(const struct encoding *encoding)
{
	return encoding->read >= LIMIT_STREAM_STORY_EVENTS ||
	       (encoding->page->most_bytes > 0 && encoding->bytes >= encoding->page->most_bytes);
}

static struct event_cursor cursor_of(const struct encoding *encoding,
				     const struct store_event_row *row)
{
	return event_cursor_of(encoding->page->all ? row->position : row->seq);
}

/* The number of the first event of its group that the client has not seen. */
static size_t first_of(const struct encoding *encoding, struct event_cursor cursor)
{
	const struct event_cursor *after = &encoding->page->after;
	bool inside = after->at == cursor.at && after->n != EVENT_CURSOR_ALL;
	return inside && after->n < LIMIT_EVENT_GROUP ? (size_t)after->n + 1
	       : inside                               ? LIMIT_EVENT_GROUP
						      : 0;
}

static bool is_full(const struct encoding *encoding)
{
	return encoding->shown == encoding->page->limit;
}

/* The events of the group from the first that is missing on.  The page may end behind any of them. */
static void add_group(struct encoding *encoding, const struct store_event_row *row,
		      const struct view_group *group)
{
	struct event_page *page = encoding->page;
	struct event_cursor cursor = cursor_of(encoding, row);
	size_t n = first_of(encoding, cursor);
	struct event_class class = event_class_of(row->type);
	if (n >= group->count)
		add_item(encoding, row, cursor, class, S(""));
	for (; n < group->count; n++) {
		bool last = n + 1 == group->count;
		AUTO(buf) text = { 0 };
		struct json_writer writer = { .out = &text };
		struct view_document document = view_group_event(group, n);
		if (page->form == PAGE_FORM_MESSAGE)
			put_message(&document, &page->read.arena, &writer);
		else
			view_print(&document, &writer);
		class.word = group->parts[n].word;
		if (document.type == pipeline_workflow_event_type()) {
			const struct pipeline_workflow_event *event = document.at[0];
			class.level = event->level;
			class.domain = event->domain;
		}
		cursor.n = last ? EVENT_CURSOR_ALL : (int64_t)n;
		add_item(encoding, row, cursor, class, buf_str(&text));
		encoding->cut = !last && (is_full(encoding) || is_large(encoding));
		if (encoding->cut)
			return;
	}
}

/* An event in Baton's own words is a group of one. */
static bool add_own(struct encoding *encoding, const struct store_event_row *row)
{
	struct event_cursor cursor = cursor_of(encoding, row);
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	bool seen = first_of(encoding, cursor) > 0;
	if (!seen &&
	    !api_event_print(row, &encoding->page->read.arena, &writer, &encoding->page->error))
		return false;
	add_item(encoding, row, cursor, event_class_of(row->type), buf_str(&text));
	return true;
}

static bool add_row(struct encoding *encoding, const struct store_event_row *row)
{
	struct event_page *page = encoding->page;
	if (!is_followed(page, row)) {
		add_item(encoding, row, cursor_of(encoding, row), event_class_of(row->type), S(""));
		return true;
	}
	if (page->view == NULL)
		return add_own(encoding, row);
	const struct api_timeline *timeline = timeline_of(encoding, &row->run, row->seq);
	if (timeline == NULL)
		return false;
	struct view_group group;
	api_timeline_group(timeline, page->view, row->seq, &group);
	add_group(encoding, row, &group);
	if (page->items[page->count - 1].last)
		mark_ended(page->timeline_cache, &row->run);
	return true;
}

/* An event that cannot be read ends the page before it; only the page that would begin with it
 * fails, so that everything before it can be read. */
static void add_rows(struct encoding *encoding, const struct store_event_page *rows)
{
	struct event_page *page = encoding->page;
	size_t i = 0;
	while (i < rows->count && !is_large(encoding) && !is_full(encoding) && !encoding->cut &&
	       add_row(encoding, &rows->at[i]))
		i++;
	if (page->error.code != ERROR_NONE && page->count == 0)
		return;
	page->error = (struct error){ 0 };
	page->more = encoding->cut || i < rows->count || rows->count == page->limit;
}

/* Adds one run's events from its timeline, which includes the synthesized events of a compacted
 * run.  False when the run has no timeline. */
static bool add_timeline(struct encoding *encoding)
{
	struct event_page *page = encoding->page;
	const struct api_timeline *timeline = timeline_of(encoding, &page->run, INT64_MAX);
	if (timeline == NULL || !timeline->readable)
		return false;
	size_t i = 0;
	while (i < timeline->count &&
	       timeline_seq(&timeline->timeline, i) <= event_cursor_done(page->after))
		i++;
	for (; i < timeline->count && page->count < page->limit && !encoding->cut &&
	       (page->count == 0 || !is_large(encoding));
	     i++) {
		struct store_event_row row = { .run = page->run,
					       .seq = timeline_seq(&timeline->timeline, i),
					       .at = timeline->events[i].at,
					       .type = event_name(timeline->events[i].type) };
		if (!add_row(encoding, &row))
			break;
	}
	page->more = encoding->cut || i < timeline->count;
	return true;
}

/* ---- start position ---------------------------------------------------------------- */

/* Ids are derived: every event of a group has to be derived to be found. */
static size_t group_most(const struct store_event_row *row, struct arena *arena)
{
	struct event event;
	struct error error;
	bool long_one = str_equal(row->type, event_name(EVENT_TOOL_FINISHED)) ||
			str_equal(row->type, event_name(EVENT_TURN_FINISHED));
	size_t most = long_one && stored_event_read(row, arena, &event, &error)
			      ? event_facts_most(&event)
			      : EVENT_FACTS_PLAIN + EVENT_FACTS_MILESTONE;
	return most < LIMIT_EVENT_GROUP ? most : LIMIT_EVENT_GROUP;
}

/* The event with this id among rows in the order of their positions; the client has seen its group up to
 * it. */
static bool find_in_rows(const struct store_event_page *rows, const struct uuid *id,
			 struct arena *arena, struct event_cursor *out)
{
	for (size_t i = rows->count; i > 0; i--) {
		const struct store_event_row *row = &rows->at[i - 1];
		const struct view_source source = { .run = row->run };
		const struct timeline timeline = { .source = &source, .arena = arena };
		size_t most = group_most(row, arena);
		for (size_t n = 0; n < most; n++) {
			struct uuid made = timeline_part_id(&timeline, row->seq, n);
			if (!uuid_equal(&made, id))
				continue;
			*out = (struct event_cursor){ row->position, (int64_t)n };
			return true;
		}
	}
	return false;
}

/* Sets `after` to the event with this id, or `expired` when it is not among the newest
 * LIMIT_SINCE_EVENTS stored events. */
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
		if (find_in_rows(&rows, id, &arena, &page->after))
			return true;
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
	struct event_cursor cursor =
		page->after.at < 0 ? event_cursor_of(page->newest) : page->after;
	if (uuid_parse(since, &id)) {
		if (!find_event(page, reader, &id))
			return false;
	} else if (since.size > 0 &&
		   (!event_cursor_parse(since, &cursor) || cursor.at > page->newest)) {
		page->expired = true;
	} else {
		bool there;
		if (!api_timeline_position_exists(reader, cursor.at, &there, &page->error))
			return false;
		if (!there && since.size == 0)
			return fail(&page->error, ERROR_GONE,
				    "event %lld was deleted when its run was compacted; read the "
				    "runs again and continue from now",
				    (long long)cursor.at);
		page->after = cursor;
		page->expired = !there;
	}
	if (page->expired)
		page->after = event_cursor_of(page->newest);
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
	if (page->after.at < 0)
		page->after = event_cursor_of(0);
	return page->synthesizes ||
	       api_timeline_check_floor(run.floor, event_cursor_done(page->after), &page->error);
}

/* ---- the job ----------------------------------------------------------------------- */

static bool read_rows(struct event_page *page, struct store_reader *reader,
		      struct store_event_page *out)
{
	struct arena *arena = &page->read.arena;
	int64_t done = event_cursor_done(page->after);
	return page->all
		       ? reader->ops->read_all(reader, done, page->limit, arena, out, &page->error)
		       : reader->ops->read_events(reader, &page->run, done, page->limit, arena, out,
						  &page->error);
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
		add_rows(&encoding, &rows);
	if (page->timeline_cache != NULL)
		cache_trim(page->timeline_cache);
}
