/* api/event_tail.c -- pages that many connections share, and whose turn it is.
 *
 * Followers that wait for a page of their tail are in its list; a page or a commit moves them to the
 * one list of those that are ready.  That list is served in turns of LIMIT_TAIL_TURN_US by a timer
 * that is due at once: libuv polls the sockets between two turns, so thousands of ready followers
 * delay nobody by more than a turn.
 */
#include "api/event_tail.h"

#include <stdlib.h>
#include <string.h>

#include "active/notices.h"
#include "api/api_internal.h"
#include "os/machine.h"

/* In one allocation: the struct, the items, their texts. */
struct tail_page {
	struct event_tail *tail;
	struct tail_page *next;          /* of the same tail, newest first */
	struct tail_page *older, *newer; /* of all tails, by their last use */
	struct event_cursor after, last; /* before the first item, and of the last */
	size_t bytes, count;
	struct event_page_item items[];
};

struct event_tail {
	struct event_tails *tails;
	struct event_tail_key key;
	uint64_t id, watch;
	size_t followers;
	struct event_follower waiting; /* head of a ring */
	struct tail_page *pages;
	struct timeline_cache *timeline_cache; /* NULL without a view, or while a page has it */
	size_t timeline_bytes;
	int64_t newest;        /* by the commit notices and the pages */
	bool reading, noticed; /* noticed: since the read began */
	bool drained;          /* there is nothing after drained_at */
	struct event_cursor drained_at;
	struct error error; /* of the read after failed_at; code ERROR_NONE = none */
	struct event_cursor failed_at;
};

struct event_tails {
	struct api *api;
	struct slots slots;          /* of struct event_tail */
	struct map map;              /* key -> tail */
	struct event_follower ready; /* head of a ring */
	struct tail_page *oldest, *newest;
	size_t page_bytes, timeline_bytes, followers;
	uint64_t timer; /* serves the ready list; 0 = it is empty */
	uint64_t trim_timer;
	size_t followers_most; /* since memory was returned */
	uint64_t pages_encoded, pages_shared;
};

struct tail_read {
	struct event_page page; /* first */
	struct tail_page *packed;
	size_t timeline_bytes;
};

/* ---- rings ----------------------------------------------------------------------------- */

static void ring_init(struct event_follower *head)
{
	head->before = head->after = head;
}

static void ring_remove(struct event_follower *follower)
{
	if (follower->state == FOLLOWER_IDLE)
		return;
	follower->before->after = follower->after;
	follower->after->before = follower->before;
	follower->state = FOLLOWER_IDLE;
}

static void ring_add(struct event_follower *head, struct event_follower *follower, int state)
{
	ring_remove(follower);
	follower->before = head->before;
	follower->after = head;
	head->before->after = follower;
	head->before = follower;
	follower->state = state == FOLLOWER_READY ? FOLLOWER_READY : FOLLOWER_WAITS;
}

/* ---- turns ----------------------------------------------------------------------------- */

static void turn(void *context, uint64_t argument);

static void turn_schedule(struct event_tails *tails)
{
	if (tails->timer == 0 && tails->ready.after != &tails->ready)
		tails->timer = platform_timer_start(loop_platform(tails->api->settings.loop), 0,
						    turn, tails, 0);
}

static void turn(void *context, uint64_t argument)
{
	struct event_tails *tails = context;
	struct platform *platform = loop_platform(tails->api->settings.loop);
	int64_t end = platform_mono_us(platform) + LIMIT_TAIL_TURN_US;
	(void)argument;
	tails->timer = 0;
	while (tails->ready.after != &tails->ready) {
		struct event_follower *follower = tails->ready.after;
		ring_remove(follower);
		follower->wake(tails->api, follower->id);
		if (platform_mono_us(platform) >= end)
			break;
	}
	turn_schedule(tails);
}

static void wake_waiting(struct event_tail *tail)
{
	while (tail->waiting.after != &tail->waiting)
		ring_add(&tail->tails->ready, tail->waiting.after, FOLLOWER_READY);
	turn_schedule(tail->tails);
}

void event_follower_again(struct event_follower *follower)
{
	struct event_tails *tails = follower->tail->tails;
	ring_add(&tails->ready, follower, FOLLOWER_READY);
	turn_schedule(tails);
}

/* ---- pages ----------------------------------------------------------------------------- */

static void page_unlink(struct tail_page *page)
{
	struct event_tails *tails = page->tail->tails;
	*(page->older != NULL ? &page->older->newer : &tails->oldest) = page->newer;
	*(page->newer != NULL ? &page->newer->older : &tails->newest) = page->older;
}

static void page_link(struct tail_page *page)
{
	struct event_tails *tails = page->tail->tails;
	page->older = tails->newest;
	page->newer = NULL;
	*(tails->newest != NULL ? &tails->newest->newer : &tails->oldest) = page;
	tails->newest = page;
}

static void page_drop(struct tail_page *page)
{
	struct tail_page **link = &page->tail->pages;
	while (*link != page)
		link = &(*link)->next;
	*link = page->next;
	page->tail->tails->page_bytes -= page->bytes;
	page_unlink(page);
	free(page);
}

/* The newest page stays, however large: the followers that wait for it are served from it. */
static void pages_trim(struct event_tails *tails)
{
	while (tails->page_bytes > LIMIT_TAIL_BYTES && tails->oldest != tails->newest)
		page_drop(tails->oldest);
}

/* The page that has the event after this cursor. */
static struct tail_page *page_find(const struct event_tail *tail, struct event_cursor cursor)
{
	struct tail_page *page = tail->pages;
	while (page != NULL && (event_cursor_compare(cursor, page->after) < 0 ||
				event_cursor_compare(cursor, page->last) >= 0))
		page = page->next;
	return page;
}

/* Copies what a page is about out of the memory that was needed to make it.  On a reader thread. */
static struct tail_page *pack(const struct event_page *page)
{
	size_t texts = 0;
	for (size_t i = 0; i < page->count; i++)
		texts += page->items[i].text.size;
	size_t bytes = sizeof(struct tail_page) + page->count * sizeof(page->items[0]) + texts;
	struct tail_page *packed = calloc(1, bytes);
	require(packed != NULL);
	char *at = (char *)&packed->items[page->count];
	for (size_t i = 0; i < page->count; i++) {
		struct str text = page->items[i].text;
		packed->items[i] = page->items[i];
		packed->items[i].text.at = at;
		if (text.size > 0)
			memcpy(at, text.at, text.size);
		at += text.size;
	}
	packed->after = page->after;
	packed->count = page->count;
	packed->last = page->count > 0 ? page->items[page->count - 1].cursor : page->after;
	packed->bytes = bytes;
	return packed;
}

static void read_work(struct executor_read *read, struct store_reader *reader)
{
	struct tail_read *tail_read = (struct tail_read *)read;
	event_page_work(read, reader);
	if (tail_read->page.error.code == ERROR_NONE)
		tail_read->packed = pack(&tail_read->page);
	if (tail_read->page.timeline_cache != NULL)
		tail_read->timeline_bytes = timeline_cache_bytes(tail_read->page.timeline_cache);
	arena_done(&read->arena);
}

static void timelines_set(struct event_tail *tail, size_t bytes)
{
	tail->tails->timeline_bytes += bytes - tail->timeline_bytes;
	tail->timeline_bytes = bytes;
}

/* The timelines of one tail are bounded by event_page.c; those of many tails here. */
static void timelines_trim(struct event_tails *tails, const struct event_tail *last_used)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct event_tail *tail; tails->timeline_bytes > LIMIT_STREAM_STORY_BYTES &&
				      (tail = slots_next(&tails->slots, &index, &id)) != NULL;)
		if (tail != last_used && tail->timeline_cache != NULL) {
			timeline_cache_clear(tail->timeline_cache);
			timelines_set(tail, 0);
		}
}

static void take_read(struct event_tail *tail, struct tail_read *read)
{
	struct event_tails *tails = tail->tails;
	tail->reading = false;
	tail->timeline_cache = read->page.timeline_cache;
	read->page.timeline_cache = NULL;
	timelines_set(tail, read->timeline_bytes);
	timelines_trim(tails, tail);
	tail->error = read->page.error;
	tail->failed_at = read->page.after;
	struct tail_page *page = read->packed;
	read->packed = NULL;
	if (page != NULL) {
		if (page->last.at > tail->newest)
			tail->newest = page->last.at;
		tails->pages_encoded++;
	}
	if (page != NULL && !read->page.more) {
		tail->drained = !tail->noticed;
		tail->drained_at = page->last;
	}
	if (page != NULL && page->count > 0) {
		page->tail = tail;
		page->next = tail->pages;
		tail->pages = page;
		tails->page_bytes += page->bytes;
		page_link(page);
		pages_trim(tails);
	} else {
		free(page);
	}
	wake_waiting(tail);
}

static void read_done(struct executor_read *read)
{
	struct tail_read *tail_read = (struct tail_read *)read;
	struct event_tails *tails = tail_read->page.owner;
	struct event_tail *tail = slots_get(&tails->slots, tail_read->page.connection);
	if (tail != NULL)
		take_read(tail, tail_read);
	timeline_cache_free(tail_read->page.timeline_cache);
	free(tail_read->packed);
	free(tail_read);
}

static void tail_read(struct event_tail *tail, struct event_cursor after)
{
	struct tail_read *read = calloc(1, sizeof(*read));
	require(read != NULL);
	tail->reading = true;
	tail->noticed = false;
	read->page = (struct event_page){ .owner = tail->tails,
					  .connection = tail->id,
					  .view = tail->key.view,
					  .form = tail->key.form,
					  .timeline_cache = tail->timeline_cache,
					  .all = tail->key.all,
					  .synthesizes = tail->key.synthesizes,
					  .run = tail->key.run,
					  .after = after,
					  .limit = LIMIT_STREAM_PAGE_EVENTS,
					  .most_bytes = LIMIT_STREAM_PAGE_BYTES,
					  .read = { .work = read_work, .done = read_done } };
	tail->timeline_cache = NULL;
	executor_read(tail->tails->api->settings.executor, &read->page.read);
}

/* Reads for those that have everything; the others read on when they can send. */
static void committed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct event_tails *tails = context;
	struct event_tail *tail = slots_get(&tails->slots, argument);
	if (tail == NULL)
		return;
	int64_t newest = tail->key.all ? notice->position : notice->seq;
	if (newest > tail->newest)
		tail->newest = newest;
	tail->noticed = true;
	bool caught_up = tail->drained;
	tail->drained = false;
	if (caught_up && !tail->reading && tail->waiting.after != &tail->waiting)
		tail_read(tail, tail->drained_at);
}

/* ---- tails ----------------------------------------------------------------------------- */

static struct str key_bytes(const struct event_tail_key *key)
{
	return (struct str){ (const char *)key, sizeof(*key) };
}

static struct event_tail *tail_of(struct event_tails *tails, const struct event_tail_key *wanted)
{
	/* Compared as bytes, so without what a compiler leaves in gaps. */
	struct event_tail_key key;
	memset(&key, 0, sizeof(key));
	key.view = wanted->view;
	key.form = wanted->form;
	key.all = wanted->all;
	key.synthesizes = wanted->synthesizes;
	key.run = wanted->run;
	struct event_tail *tail = map_get(&tails->map, key_bytes(&key));
	if (tail != NULL)
		return tail;
	tail = calloc(1, sizeof(*tail));
	require(tail != NULL);
	tail->tails = tails;
	memcpy(&tail->key, &key, sizeof(key));
	ring_init(&tail->waiting);
	tail->timeline_cache = key.view == NULL ? NULL : timeline_cache_new();
	tail->id = slots_add(&tails->slots, tail);
	const struct uuid every = { { 0 } };
	tail->watch = executor_watch(tails->api->settings.executor,
				     key.all ? &every : &tail->key.run, committed, tails, tail->id);
	map_put(&tails->map, key_bytes(&tail->key), tail);
	return tail;
}

static void tail_free(struct event_tail *tail)
{
	struct event_tails *tails = tail->tails;
	executor_unwatch(tails->api->settings.executor, tail->watch);
	slots_remove(&tails->slots, tail->id);
	map_remove(&tails->map, key_bytes(&tail->key));
	while (tail->pages != NULL)
		page_drop(tail->pages);
	timelines_set(tail, 0);
	timeline_cache_free(tail->timeline_cache);
	free(tail);
}

struct event_tails *event_tails_new(struct api *api)
{
	struct event_tails *tails = calloc(1, sizeof(*tails));
	require(tails != NULL);
	tails->api = api;
	ring_init(&tails->ready);
	return tails;
}

/* ---- followers ------------------------------------------------------------------------- */

void event_follower_join(struct api *api, const struct event_tail_key *key,
			 struct event_cursor cursor, event_follower_wake *wake, uint64_t id,
			 struct event_follower *out)
{
	struct event_tail *tail = tail_of(api->tails, key);
	*out = (struct event_follower){ .tail = tail, .cursor = cursor, .wake = wake, .id = id };
	tail->followers++;
	api->tails->followers++;
	if (api->tails->followers > api->tails->followers_most)
		api->tails->followers_most = api->tails->followers;
}

/* ---- memory ---------------------------------------------------------------------------- */

static void trim_work(struct executor_read *read, struct store_reader *reader)
{
	(void)read;
	(void)reader;
	machine_return_memory();
}

static void trim_done(struct executor_read *read)
{
	free(read);
}

static void trim(void *context, uint64_t argument)
{
	struct event_tails *tails = context;
	(void)argument;
	tails->trim_timer = 0;
	tails->followers_most = tails->followers;
	struct executor_read *read = calloc(1, sizeof(*read));
	require(read != NULL);
	read->work = trim_work;
	read->done = trim_done;
	executor_read(tails->api->settings.executor, read);
}

/* What many connections held in small pieces stays with the C library otherwise. */
static void trim_schedule(struct event_tails *tails)
{
	if (tails->trim_timer == 0 && tails->followers_most >= LIMIT_TAIL_TRIM_FOLLOWERS &&
	    tails->followers <= tails->followers_most / 4)
		tails->trim_timer = platform_timer_start(loop_platform(tails->api->settings.loop),
							 LIMIT_TAIL_TRIM_MS * 1000, trim, tails, 0);
}

/* A page that is under way comes to nobody: read_done() finds no tail. */
void event_follower_leave(struct event_follower *follower)
{
	struct event_tail *tail = follower->tail;
	if (tail == NULL)
		return;
	ring_remove(follower);
	follower->tail = NULL;
	struct event_tails *tails = tail->tails;
	tails->followers--;
	trim_schedule(tails);
	if (--tail->followers == 0)
		tail_free(tail);
}

static enum events_found wait_for_page(struct event_follower *follower)
{
	struct event_tail *tail = follower->tail;
	ring_add(&tail->waiting, follower, FOLLOWER_WAITS);
	if (tail->drained && event_cursor_compare(follower->cursor, tail->drained_at) >= 0)
		return EVENTS_END;
	if (!tail->reading)
		tail_read(tail, follower->cursor);
	return EVENTS_LATER;
}

enum events_found event_follower_next(struct event_follower *follower, struct events *out_events)
{
	struct event_tail *tail = follower->tail;
	ring_remove(follower);
	struct tail_page *page = page_find(tail, follower->cursor);
	if (page == NULL && tail->error.code != ERROR_NONE &&
	    event_cursor_compare(tail->failed_at, follower->cursor) == 0)
		return EVENTS_FAILED;
	if (page == NULL)
		return wait_for_page(follower);
	page_unlink(page);
	page_link(page);
	tail->tails->pages_shared++;
	size_t low = 0, high = page->count; /* the first item after the cursor */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (event_cursor_compare(page->items[middle].cursor, follower->cursor) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	*out_events = (struct events){ page->items + low, page->count - low };
	return EVENTS_HERE;
}

int64_t event_follower_lag(const struct event_follower *follower)
{
	return follower->tail == NULL ? 0 : follower->tail->newest - follower->cursor.at;
}

bool event_follower_is_behind(const struct event_follower *follower)
{
	const struct event_tail *tail = follower->tail;
	return follower->state == FOLLOWER_READY ||
	       (follower->state == FOLLOWER_WAITS &&
		(tail->reading || !tail->drained ||
		 event_cursor_compare(follower->cursor, tail->drained_at) < 0));
}

struct error event_follower_error(const struct event_follower *follower)
{
	return follower->tail->error;
}

struct event_tail_figures event_tail_figures(const struct api *api)
{
	const struct event_tails *tails = api->tails;
	return (struct event_tail_figures){ .tails = tails->slots.live,
					    .followers = tails->followers,
					    .page_bytes = tails->page_bytes,
					    .timeline_bytes = tails->timeline_bytes,
					    .pages_encoded = tails->pages_encoded,
					    .pages_shared = tails->pages_shared };
}
