/* api/api_socket_page.c -- pages for WebSockets.
 *
 * An event in a seed's vocabulary needs its run's whole stream, so a page keeps the stories of the
 * runs it has met and is cut short once these have become too many events.  An id in `since` is
 * looked for by making the ids again, newest run first: they derive from (run, seq), and a run's
 * row says how many it has.
 */
#include "api/api_socket_page.h"

#include <stdlib.h>
#include <string.h>

#include "api/api_story.h"
#include "base/limits.h"

struct met {
	struct met *next;
	struct uuid run;
	struct api_story story;
};

struct encoding {
	struct socket_page *page;
	struct store_reader *reader;
	struct met *met;
	size_t loaded; /* events of the stories */
};

static bool is_followed(const struct socket_page *page, const struct store_event_row *row)
{
	if (uuid_is_zero(&row->run))
		return false; /* the system stream has no words in the seeds' vocabularies */
	if (!page->all || page->followed_count == 0 || row->position <= page->unfiltered_until)
		return true;
	for (size_t i = 0; i < page->followed_count; i++)
		if (uuid_equal(&page->followed[i], &row->run))
			return true;
	return false;
}

/* NULL when the store cannot be read. */
static const struct api_story *story_of(struct encoding *encoding, const struct uuid *run)
{
	struct arena *arena = &encoding->page->read.arena;
	struct met *met = encoding->met;
	while (met != NULL && !uuid_equal(&met->run, run))
		met = met->next;
	if (met != NULL)
		return &met->story;
	met = arena_new(arena, struct met);
	met->run = *run;
	bool good =
		api_story_read(&met->story, encoding->reader, run, arena, &encoding->page->error);
	met->next = encoding->met;
	encoding->met = met;
	encoding->loaded += met->story.count;
	return good ? &met->story : NULL;
}

static bool add_item(struct encoding *encoding, const struct store_event_row *row)
{
	struct socket_page *page = encoding->page;
	struct socket_item *item = &page->items[page->count];
	*item = (struct socket_item){ .cursor = page->all ? row->position : row->seq,
				      .text = S(""),
				      .last = str_equal(row->type, S("run.finished")) };
	if (is_followed(page, row)) {
		const struct api_story *story = story_of(encoding, &row->run);
		if (story == NULL)
			return false;
		item->text =
			api_story_event(story, page->view, row->seq, page->before, page->behind);
	}
	page->count++;
	return true;
}

static void add_items(struct encoding *encoding, const struct store_event_page *rows)
{
	struct socket_page *page = encoding->page;
	page->items = arena_array(&page->read.arena, struct socket_item, rows->count);
	for (size_t i = 0; i < rows->count && encoding->loaded < LIMIT_STREAM_STORY_EVENTS; i++)
		if (!add_item(encoding, &rows->at[i]))
			return;
	page->more = page->count < rows->count || rows->count == LIMIT_STREAM_PAGE_EVENTS;
}

/* ---- where to begin -------------------------------------------------------------------- */

static bool position_of(struct socket_page *page, struct store_reader *reader,
			const struct uuid *run, int64_t seq)
{
	struct store_event_page rows;
	if (!reader->ops->read_events(reader, run, seq - 1, 1, &page->read.arena, &rows,
				      &page->error))
		return false;
	page->expired = rows.count == 0;
	if (!page->expired)
		page->after = rows.at[0].position;
	return true;
}

static int64_t seq_with_id(const struct store_run *run, const struct uuid *id, struct arena *arena)
{
	const struct view_source source = { .run = run->id };
	const struct story story = { .source = &source, .arena = arena };
	for (int64_t seq = run->seq; seq > 0; seq--) {
		struct uuid made = story_event_id(&story, (size_t)seq);
		if (uuid_equal(&made, id))
			return seq;
	}
	return 0;
}

/* Fills in `after`, or says that the id is nobody's. */
static bool find_event(struct socket_page *page, struct store_reader *reader, const struct uuid *id)
{
	struct uuid before;
	bool begun = false;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_run_page runs;
		if (!reader->ops->list_runs(reader, begun ? &before : NULL,
					    LIMIT_STREAM_PAGE_EVENTS, &arena, &runs, &page->error))
			return false;
		for (size_t i = 0; i < runs.count; i++) {
			int64_t seq = seq_with_id(&runs.at[i], id, &arena);
			if (seq > 0)
				return position_of(page, reader, &runs.at[i].id, seq);
		}
		if (runs.count < LIMIT_STREAM_PAGE_EVENTS) {
			page->expired = true;
			return true;
		}
		before = runs.at[runs.count - 1].id;
		begun = true;
	}
}

static bool find_beginning(struct socket_page *page, struct store_reader *reader)
{
	page->newest = reader->ops->newest_position(reader);
	if (page->newest < 0)
		return fail(&page->error, ERROR_STORAGE, "the store cannot be read");
	struct str since = str_from_c(page->since);
	struct uuid id;
	int64_t position = page->newest;
	if (uuid_parse(since, &id)) {
		if (!find_event(page, reader, &id))
			return false;
	} else if (since.size > 0 &&
		   (!str_to_int(since, &position) || position < 0 || position > page->newest)) {
		page->expired = true;
	} else {
		page->after = position;
	}
	if (page->expired)
		page->after = page->newest;
	page->unfiltered_until = page->newest;
	return true;
}

static bool find_run(struct socket_page *page, struct store_reader *reader)
{
	struct store_run run;
	bool found;
	if (!reader->ops->read_run(reader, &page->run, &page->read.arena, &run, &found,
				   &page->error))
		return false;
	return found || fail(&page->error, ERROR_NOT_FOUND, "no such run");
}

/* ---- the job --------------------------------------------------------------------------- */

void socket_page_work(struct runtime_read *read, struct store_reader *reader)
{
	struct socket_page *page = (struct socket_page *)read;
	if (page->first && !(page->all ? find_beginning(page, reader) : find_run(page, reader)))
		return;
	struct store_event_page rows;
	bool good = page->all ? reader->ops->read_all(reader, page->after, LIMIT_STREAM_PAGE_EVENTS,
						      &read->arena, &rows, &page->error)
			      : reader->ops->read_events(reader, &page->run, page->after,
							 LIMIT_STREAM_PAGE_EVENTS, &read->arena,
							 &rows, &page->error);
	if (!good)
		return;
	struct encoding encoding = { .page = page, .reader = reader };
	add_items(&encoding, &rows);
	for (struct met *met = encoding.met; met != NULL; met = met->next)
		api_story_done(&met->story);
}
