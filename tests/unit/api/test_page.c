/* What a connection costs: following a run in another vocabulary reads each event once, and the
 * search for the event a client has seen last is bounded.
 *
 * The memory store gets a run of many steps, which is then followed one event at a time by a reader
 * that counts the events it reads.
 */
#include <criterion/criterion.h>

#include "active/executor.h"
#include "api/event_page.h"
#include "contract/event.h"
#include "contract/run_event_types.h"
#include "contract/run_start_types.h"
#include "contract/run_value_types.h"
#include "definition/definition_compile.h"
#include "definition/graph.h"
#include "os/loop.h"
#include "simstore/simstore.h"
#include "tool/tool.h"
#include "views/timeline.h"

enum { STEPS = 60 };

static struct loop *loop;
static struct executor *executor;
static struct store *store;
static struct store_reader *inner;
static struct arena arena;
static struct error error;
static const struct uuid run = { { 7 } };
static size_t events_read; /* by all calls of read_events() */

/* ---- a reader that counts ------------------------------------------------------------------- */

static struct store_reader_ops counting_ops;
static struct store_reader counting = { .ops = &counting_ops };

static bool count_events(struct store_reader *reader, const struct uuid *id, int64_t after,
			 size_t limit, struct arena *to, struct store_event_page *out_page,
			 struct error *out_error)
{
	(void)reader;
	if (!inner->ops->read_events(inner, id, after, limit, to, out_page, out_error))
		return false;
	events_read += out_page->count;
	return true;
}

static bool count_all(struct store_reader *reader, int64_t after, size_t limit, struct arena *to,
		      struct store_event_page *out_page, struct error *out_error)
{
	(void)reader;
	if (!inner->ops->read_all(inner, after, limit, to, out_page, out_error))
		return false;
	events_read += out_page->count;
	return true;
}

static int64_t pass_newest(struct store_reader *reader)
{
	(void)reader;
	return inner->ops->newest_position(inner);
}

static bool pass_run(struct store_reader *reader, const struct uuid *id, struct arena *to,
		     struct store_run *out_run, bool *out_found, struct error *out_error)
{
	(void)reader;
	return inner->ops->read_run(inner, id, to, out_run, out_found, out_error);
}

static bool pass_blob(struct store_reader *reader, const struct hash *hash, struct arena *to,
		      struct str *out_bytes, bool *out_found, struct error *out_error)
{
	(void)reader;
	return inner->ops->read_blob(inner, hash, to, out_bytes, out_found, out_error);
}

static bool pass_snapshot(struct store_reader *reader, const struct uuid *id, int64_t at,
			  struct arena *to, struct store_snapshot *out_snapshot, bool *out_found,
			  struct error *out_error)
{
	(void)reader;
	return inner->ops->read_snapshot(inner, id, at, to, out_snapshot, out_found, out_error);
}

/* ---- a long run ------------------------------------------------------------------------------- */

static struct str compiled(void)
{
	static const struct definition_tool echo = { .name = { "echo", 4 },
						     .class = RUN_CLASS_PURE };
	AUTO(buf) yaml = { 0 };
	struct problems problems = { .arena = &arena };
	struct str graph;
	buf_add(&yaml, S("name: long\nsteps:\n"));
	for (int i = 0; i < STEPS; i++)
		buf_add_format(&yaml, "  - {name: s%d, tool: echo}\n", i);
	cr_assert(definition_compile(str_copy(&arena, buf_str(&yaml)),
				     &(struct definition_tools){ .at = &echo, .count = 1 }, &arena,
				     &graph, &problems));
	return graph;
}

static struct store_event stored(struct event event)
{
	return (struct store_event){ .type = event_name(event.type),
				     .at = event.at,
				     .body = event_body(&event, &arena) };
}

static void begin(void)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct store_backend *backend = simstore_backend(S("memory"));
	cr_assert(backend->open("", &store, &error) && backend->open_reader(store, &inner, &error));
	counting_ops = (struct store_reader_ops){ .read_events = count_events,
						  .read_all = count_all,
						  .newest_position = pass_newest,
						  .read_run = pass_run,
						  .read_blob = pass_blob,
						  .read_snapshot = pass_snapshot };
	static const struct tool_table no_tools;
	cr_assert(loop_new(&loop, &error));
	cr_assert(executor_new(&(struct executor_settings){ .platform = loop_platform(loop),
							    .store = store,
							    .tools = &no_tools },
			       &executor, &error));
	struct str graph = compiled();
	struct run_value *value = run_value_new(&arena);
	SET(value, json, &nothing);
	struct run_created *created = run_created_new(&arena);
	SET(created, name, S("long"));
	SET(created, definition, hash_of(graph));
	SET(created, inputs, value);
	struct store_event *events = arena_array(&arena, struct store_event, STEPS + 1);
	events[0] = stored((struct event){ EVENT_RUN_CREATED, 1, { .run_created = created } });
	for (int i = 0; i < STEPS; i++) {
		struct run_step_computed *step = run_step_computed_new(&arena);
		SET(step, step, str_format(&arena, "s%d", i));
		SET(step, output, value);
		events[i + 1] = stored((struct event){
			EVENT_STEP_COMPUTED, 2 + i, { .run_step_computed = step } });
	}
	const struct store_blob blob = { hash_of(graph), graph };
	events[0].names = &blob.hash;
	events[0].name_count = 1;
	struct store_append append = { .run = { .id = run,
						.name = S("long"),
						.state = S("running"),
						.created_at = 1,
						.updated_at = 1,
						.summary = S("{}") },
				       .events = events,
				       .event_count = STEPS + 1,
				       .blobs = &blob,
				       .blob_count = 1 };
	struct store_append *one = &append;
	cr_assert(store->writer->commit(store, &one, 1, &error) &&
		  append.outcome == STORE_COMMITTED);
	events_read = 0;
}

static void end(void)
{
	executor_free(executor);
	loop_free(loop);
	store->backend->close_reader(inner);
	store->backend->close(store);
	arena_done(&arena);
}

TestSuite(page, .init = begin, .fini = end);

/* Follows the run one event at a time; returns the number of events shown. */
static size_t follow(const struct view *view, struct timeline_cache *timeline_cache)
{
	struct event_cursor after = event_cursor_of(0);
	size_t shown = 0;
	for (int i = 0; i <= STEPS; i++) {
		struct event_page page = { .read = { .executor = executor },
					   .view = view,
					   .form = PAGE_FORM_SSE,
					   .timeline_cache = timeline_cache,
					   .run = run,
					   .after = after,
					   .limit = 1 };
		event_page_work(&page.read, &counting);
		cr_assert_eq(page.error.code, ERROR_NONE, "%s", page.error.text);
		cr_assert_eq(page.count, 1);
		after = page.items[0].cursor;
		shown += page.items[0].text.size > 0;
		arena_done(&page.read.arena);
	}
	return shown;
}

Test(page, each_event_is_read_once_for_a_story)
{
	struct timeline_cache *timeline_cache = timeline_cache_new();
	size_t shown = follow(view_at(VIEW_runtime), timeline_cache);
	cr_assert_gt(shown, STEPS / 2);
	/* Once for the pages, once for the timeline. */
	cr_assert_eq(events_read, 2 * (STEPS + 1));
	timeline_cache_free(timeline_cache);
}

Test(page, our_own_words_need_no_story)
{
	cr_assert_eq(follow(NULL, NULL), STEPS + 1);
	cr_assert_eq(events_read, STEPS + 1);
}

/* ---- ?since= ---------------------------------------------------------------------------------- */

/* A second run with this many events. */
static void add_run(const struct uuid *id, size_t count)
{
	const struct store_event event = { .type = S("run.resumed"), .at = 1, .body = S("{}") };
	struct store_event *events = arena_array(&arena, struct store_event, count);
	for (size_t i = 0; i < count; i++)
		events[i] = event;
	struct store_append append = {
		.run = { .id = *id, .name = S("big"), .state = S("running"), .summary = S("{}") },
		.events = events,
		.event_count = count
	};
	struct store_append *one = &append;
	cr_assert(store->writer->commit(store, &one, 1, &error) &&
		  append.outcome == STORE_COMMITTED);
}

/* The first page of a socket that has seen this event last. */
static struct event_page begin_behind(const struct uuid *id, int64_t seq)
{
	const struct view_source source = { .run = *id };
	const struct timeline timeline = { .source = &source, .arena = &arena };
	struct uuid event = timeline_event_id(&timeline, seq);
	struct event_page page = { .read = { .executor = executor },
				   .all = true,
				   .first = true,
				   .after = { .at = -1 },
				   .limit = 1 };
	uuid_text(&event, page.since);
	events_read = 0;
	event_page_work(&page.read, &counting);
	cr_assert_eq(page.error.code, ERROR_NONE, "%s", page.error.text);
	arena_done(&page.read.arena);
	return page;
}

Test(page, an_event_id_is_searched_in_the_newest_events_only)
{
	const struct uuid big = { { 8 } };
	add_run(&big, LIMIT_SINCE_EVENTS);
	int64_t newest = STEPS + 1 + LIMIT_SINCE_EVENTS;
	/* The newest event, and the oldest one within the bound. */
	struct event_page page = begin_behind(&big, LIMIT_SINCE_EVENTS);
	cr_assert(!page.expired);
	cr_assert_eq(page.after.at, newest);
	cr_assert_leq(events_read, LIMIT_STREAM_PAGE_EVENTS + 1); /* and that event itself */
	page = begin_behind(&big, 1);
	cr_assert(!page.expired);
	cr_assert_eq(page.after.at, STEPS + 2);
	/* The one before is stored, too, but behind the bound. */
	page = begin_behind(&run, STEPS + 1);
	cr_assert(page.expired);
	cr_assert_eq(page.after.at, newest);
	cr_assert_leq(events_read, LIMIT_SINCE_EVENTS);
}
