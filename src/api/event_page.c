/* api/event_page.c -- pages for streams, sockets and lists of events.
 *
 * A page whose stories have become too many events is cut short; stories over their bounds are
 * forgotten behind the page and read again when they are needed.  Event ids are not
 * stored: they derive from (run, seq).  An id in `since` is found by deriving the ids of the newest
 * LIMIT_SINCE_EVENTS events, newest first; an older event counts as expired.
 */
#include "api/event_page.h"

#include <stdlib.h>
#include <string.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "api/api_timeline.h"
#include "net/sse.h"

struct met {
	struct met *next;
	struct uuid run;
	struct arena arena;
	struct api_timeline timeline;
	bool ended; /* no more will come of it */
};

struct timeline_cache {
	struct met *met;
	size_t events; /* of all of them */
};

struct timeline_cache *timeline_cache_new(void)
{
	struct timeline_cache *timeline_cache = calloc(1, sizeof(*timeline_cache));
	require(timeline_cache != NULL);
	return timeline_cache;
}

static void met_free(struct met *met)
{
	api_timeline_done(&met->timeline);
	arena_done(&met->arena);
	free(met);
}

static void forget_all(struct timeline_cache *timeline_cache)
{
	while (timeline_cache->met != NULL) {
		struct met *met = timeline_cache->met;
		timeline_cache->met = met->next;
		met_free(met);
	}
	timeline_cache->events = 0;
}

void timeline_cache_free(struct timeline_cache *timeline_cache)
{
	if (timeline_cache == NULL)
		return;
	forget_all(timeline_cache);
	free(timeline_cache);
}

/* What has ended, and everything when it is too much. */
static void forget_some(struct timeline_cache *timeline_cache)
{
	size_t bytes = 0;
	for (struct met **link = &timeline_cache->met; *link != NULL;) {
		struct met *met = *link;
		if (met->ended) {
			*link = met->next;
			timeline_cache->events -= met->timeline.count;
			met_free(met);
		} else {
			bytes += met->arena.taken;
			link = &met->next;
		}
	}
	if (bytes > LIMIT_STREAM_STORY_BYTES || timeline_cache->events > LIMIT_STREAM_STORY_EVENTS)
		forget_all(timeline_cache);
}

struct encoding {
	struct event_page *page;
	struct store_reader *reader;
	size_t read; /* events read for stories on behalf of this page */
};

static bool is_followed(const struct event_page *page, const struct store_event_row *row)
{
	if (uuid_is_zero(&row->run) && page->view != NULL)
		return false; /* the system stream has no words in the seeds' vocabularies */
	if (page->type.size > 0 && !str_equal(page->type, row->type))
		return false;
	if (page->one_run && !uuid_equal(&page->run, &row->run))
		return false;
	if (!page->all || page->followed_count == 0 || row->position <= page->unfiltered_until)
		return true;
	for (size_t i = 0; i < page->followed_count; i++)
		if (uuid_equal(&page->followed[i], &row->run))
			return true;
	return false;
}

/* The run's story up to this event at least; NULL when the store cannot be read. */
static const struct api_timeline *timeline_of(struct encoding *encoding, const struct uuid *run,
					      int64_t seq)
{
	struct timeline_cache *timeline_cache = encoding->page->timeline_cache;
	struct error *error = &encoding->page->error;
	struct met *met = timeline_cache->met;
	while (met != NULL && !uuid_equal(&met->run, run))
		met = met->next;
	size_t before = met == NULL ? 0 : met->timeline.count;
	bool good = true;
	if (met == NULL) {
		met = calloc(1, sizeof(*met));
		require(met != NULL);
		met->run = *run;
		met->next = timeline_cache->met;
		timeline_cache->met = met;
		good = api_timeline_read(&met->timeline, encoding->page->read.executor,
					 encoding->reader, run, &met->arena, error);
	} else if (met->timeline.last_seq < seq) {
		good = api_timeline_go_on(&met->timeline, encoding->reader, error);
	}
	timeline_cache->events += met->timeline.count - before;
	encoding->read += met->timeline.count - before;
	return good ? &met->timeline : NULL;
}

static void note_end(struct timeline_cache *timeline_cache, const struct uuid *run)
{
	for (struct met *met = timeline_cache->met; met != NULL; met = met->next)
		if (uuid_equal(&met->run, run))
			met->ended = true;
}

/* An event of the pipeline vocabulary as S0's message. */
static void put_message(const struct view_document *document, struct arena *arena,
			struct json_writer *writer)
{
	require(document->type == pipeline_workflow_event_type());
	struct run_socket_event *message = run_socket_event_new(arena);
	SET(message, payload, document->at[0]);
	run_socket_event_print(message, writer);
}

/* Adds nothing when the view does not show it. */
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
					  .text = S(""),
					  .last = str_equal(row->type, S("run.finished")) };
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
		note_end(page->timeline_cache, &row->run);
	page->count++;
	return true;
}

/* An event that cannot be read ends the page before it; only the page that would begin with it
 * fails, so that everything before it can be read. */
static void add_items(struct encoding *encoding, const struct store_event_page *rows)
{
	struct event_page *page = encoding->page;
	page->items = arena_array(&page->read.arena, struct event_page_item, rows->count);
	for (size_t i = 0; i < rows->count && encoding->read < LIMIT_STREAM_STORY_EVENTS; i++)
		if (!add_item(encoding, &rows->at[i]))
			break;
	if (page->error.code != ERROR_NONE && page->count == 0)
		return;
	page->error = (struct error){ 0 };
	page->more = page->count < rows->count || rows->count == page->limit;
}

/* One run's events out of its story, so that a compacted one begins at its beginning, too.  False
 * when it has none. */
static bool add_story(struct encoding *encoding)
{
	struct event_page *page = encoding->page;
	const struct api_timeline *timeline = timeline_of(encoding, &page->run, INT64_MAX);
	if (timeline == NULL || !timeline->told)
		return false;
	page->items = arena_array(&page->read.arena, struct event_page_item, page->limit);
	size_t i = 0;
	while (i < timeline->count && timeline_seq(&timeline->timeline, i) <= page->after)
		i++;
	for (; i < timeline->count && page->count < page->limit; i++) {
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

/* ---- where to begin -------------------------------------------------------------------- */

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

static bool find_beginning(struct event_page *page, struct store_reader *reader)
{
	page->newest = reader->ops->newest_position(reader);
	if (page->newest < 0)
		return fail(&page->error, ERROR_STORAGE, "the store cannot be read");
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
		if (!api_timeline_is_there(reader, position, &there, &page->error))
			return false;
		if (!there && since.size == 0)
			return fail(&page->error, ERROR_GONE,
				    "event %lld belongs to a run that was compacted; read the runs "
				    "again and go on from now",
				    (long long)position);
		page->after = position;
		page->expired = !there;
	}
	if (page->expired)
		page->after = page->newest;
	page->unfiltered_until = page->newest;
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
		return fail(&page->error, ERROR_NOT_FOUND, "no such run");
	page->ended = run.ended_at != 0;
	if (page->after < 0)
		page->after = 0;
	return page->retells || api_timeline_reaches(run.floor, page->after, &page->error);
}

/* ---- the job --------------------------------------------------------------------------- */

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
	if (page->first && !(page->all ? find_beginning(page, reader) : find_run(page, reader)))
		return;
	struct encoding encoding = { .page = page, .reader = reader };
	struct store_event_page rows;
	bool told = page->retells && add_story(&encoding);
	if (page->error.code != ERROR_NONE)
		return;
	if (!told && !read_rows(page, reader, &rows))
		return;
	if (!told)
		add_items(&encoding, &rows);
	if (page->timeline_cache != NULL)
		forget_some(page->timeline_cache);
}
