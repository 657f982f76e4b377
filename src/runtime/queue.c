/* runtime/queue.c -- runs that wait for their turn.
 *
 * A definition may say of which kind its runs are (pipeline, say), and a start may name a key; of a
 * kind only so many are under way at once, of a key one.  The store's guards count them in the
 * commits that begin and end a run (R13), so the count is as durable as the runs.  A start that a
 * guard refuses is recorded as a queued run; when one ends the next is told to start, and a guard
 * that refuses that, too, leaves it where it was.
 *
 * The order is by priority, then by age.  Who waits only for a key holds up nobody else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "os/point.h"
#include "runtime/inside.h"

struct queue_entry {
	struct queue_entry *next;
	struct arena arena;
	struct uuid run;
	struct str kind, key;
	int64_t priority, queued_at;
	bool going; /* it has been told to start */
};

/* ---- what is counted ------------------------------------------------------------------ */

bool queue_counts(const struct run *run)
{
	return uuid_is_zero(&run->parent) &&
	       (run->key.size > 0 || !str_equal(run_kind(run), S("run")));
}

int64_t queue_limit(const struct runtime *runtime, struct str kind)
{
	if (!str_equal(kind, S("pipeline")))
		return -1;
	return runtime->server.max_concurrent > 0 ? runtime->server.max_concurrent
						  : LIMIT_MAX_CONCURRENT;
}

struct str queue_guard(struct str kind, struct arena *arena)
{
	return str_format(arena, "running." STR_FMT, STR_ARG(kind));
}

struct str queue_key_guard(struct str key, struct arena *arena)
{
	return str_format(arena, "alone." STR_FMT, STR_ARG(key));
}

struct counter {
	struct arena arena;
	struct str guard;
	int64_t value;
};

static int64_t counted(const struct runtime *runtime, struct str guard)
{
	const struct counter *counter = map_get(&runtime->queue.under_way, guard);
	return counter == NULL ? 0 : counter->value;
}

static void count(struct runtime *runtime, struct str guard, int64_t change)
{
	struct counter *counter = map_get(&runtime->queue.under_way, guard);
	if (counter == NULL) {
		counter = calloc(1, sizeof(*counter));
		require(counter != NULL);
		counter->guard = str_copy(&counter->arena, guard);
		map_put(&runtime->queue.under_way, counter->guard, counter);
	}
	counter->value += change;
	if (counter->value > 0)
		return;
	map_remove(&runtime->queue.under_way, counter->guard);
	arena_done(&counter->arena);
	free(counter);
}

/* ---- who waits ------------------------------------------------------------------------ */

static bool is_before(const struct queue_entry *a, const struct queue_entry *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->queued_at != b->queued_at)
		return a->queued_at < b->queued_at;
	return memcmp(a->run.bytes, b->run.bytes, sizeof(a->run.bytes)) < 0;
}

static struct queue_entry **find(struct runtime *runtime, const struct uuid *run)
{
	struct queue_entry **link = &runtime->queue.first;
	while (*link != NULL && !uuid_equal(&(*link)->run, run))
		link = &(*link)->next;
	return link;
}

static void enter(struct runtime *runtime, const struct uuid *run, struct str kind, struct str key,
		  int64_t priority, int64_t queued_at)
{
	if (*find(runtime, run) != NULL)
		return;
	struct queue_entry *entry = calloc(1, sizeof(*entry));
	require(entry != NULL);
	entry->run = *run;
	entry->kind = str_copy(&entry->arena, kind);
	entry->key = str_copy(&entry->arena, key);
	entry->priority = priority;
	entry->queued_at = queued_at;
	struct queue_entry **link = &runtime->queue.first;
	while (*link != NULL && is_before(*link, entry))
		link = &(*link)->next;
	entry->next = *link;
	*link = entry;
	runtime->queue.count++;
}

static void leave(struct runtime *runtime, const struct uuid *run)
{
	struct queue_entry **link = find(runtime, run), *entry = *link;
	if (entry == NULL)
		return;
	*link = entry->next;
	runtime->queue.count--;
	arena_done(&entry->arena);
	free(entry);
}

struct runtime_place runtime_place(const struct runtime *runtime, const struct uuid *run)
{
	struct runtime_place place = { 0 };
	const struct queue_entry *mine = runtime->queue.first;
	while (mine != NULL && !uuid_equal(&mine->run, run))
		mine = mine->next;
	if (mine == NULL)
		return place;
	place.kind = mine->kind;
	for (const struct queue_entry *entry = runtime->queue.first; entry != NULL;
	     entry = entry->next) {
		place.length += str_equal(entry->kind, mine->kind);
		if (entry == mine)
			place.position = place.length;
	}
	return place;
}

/* ---- who may go ----------------------------------------------------------------------- */

static bool may_go(struct runtime *runtime, const struct queue_entry *entry)
{
	AUTO(arena) arena = { 0 };
	int64_t limit = queue_limit(runtime, entry->kind);
	if (entry->going ||
	    (entry->key.size > 0 && counted(runtime, queue_key_guard(entry->key, &arena)) > 0))
		return false;
	return limit < 0 || counted(runtime, queue_guard(entry->kind, &arena)) < limit;
}

static void count_entry(struct runtime *runtime, const struct queue_entry *entry, int64_t change)
{
	AUTO(arena) arena = { 0 };
	count(runtime, queue_guard(entry->kind, &arena), change);
	if (entry->key.size > 0)
		count(runtime, queue_key_guard(entry->key, &arena), change);
}

/* The first that may; a start may change the queue, so the search begins anew. */
static struct queue_entry *next_to_go(struct runtime *runtime)
{
	for (struct queue_entry *entry = runtime->queue.first; entry != NULL; entry = entry->next)
		if (may_go(runtime, entry))
			return entry;
	return NULL;
}

void queue_go_on(struct runtime *runtime)
{
	if (runtime->draining || !runtime->recovered)
		return;
	for (struct queue_entry *entry; (entry = next_to_go(runtime)) != NULL;) {
		struct uuid run = entry->run;
		entry->going = true;
		count_entry(runtime, entry, 1);
		POINT("queue.before_start");
		live_command(live_get(runtime, &run), item_new(COMMAND_START));
	}
}

void queue_refused(struct runtime *runtime, const struct uuid *run)
{
	struct queue_entry *entry = *find(runtime, run);
	if (entry == NULL || !entry->going)
		return;
	entry->going = false;
	count_entry(runtime, entry, -1);
}

void queue_gone(struct runtime *runtime, const struct uuid *run)
{
	queue_refused(runtime, run);
	leave(runtime, run);
	queue_go_on(runtime);
}

/* ---- commits -------------------------------------------------------------------------- */

static void count_guards(struct turn *turn, int64_t change)
{
	const struct store_append *append = &turn->ticket.append;
	for (size_t i = 0; i < append->guard_count; i++)
		if (!str_equal(append->guards[i].name, RETENTION_OWN))
			count(turn->runtime, append->guards[i].name, change);
}

void queue_committed(struct turn *turn, const struct live *live)
{
	struct runtime *runtime = turn->runtime;
	bool changed = false;
	for (size_t i = 0; i < turn->decision.event_count; i++) {
		const struct event *event = &turn->decision.events[i];
		if (event->type == EVENT_RUN_CREATED && has(event->as.run_created, queued) &&
		    event->as.run_created->queued) {
			enter(runtime, &live->run_id, run_kind(live->run),
			      has(event->as.run_created, key) ? event->as.run_created->key : S(""),
			      has(event->as.run_created, priority) ? event->as.run_created->priority
								   : 0,
			      event->at);
			/* Whoever was in its way may have ended since. */
			changed = true;
		}
		if (event->type == EVENT_RUN_STARTED || event->type == EVENT_RUN_CANCELLING) {
			struct queue_entry *entry = *find(runtime, &live->run_id);
			/* What was counted when it was told to start is counted by its guards. */
			if (entry != NULL && entry->going)
				count_entry(runtime, entry, -1);
			leave(runtime, &live->run_id);
			changed = true;
		}
	}
	if (turn->turn_taking != 0)
		count_guards(turn, turn->turn_taking);
	if (turn->turn_taking < 0 || changed)
		queue_go_on(runtime);
}

/* ---- after a restart ------------------------------------------------------------------ */

/* How many are under way is not read: by the time it was here somebody may have ended, and a count
 * that is too high would hold up everybody for ever.  One that is too low costs a refusal. */
struct recalling {
	struct runtime_read read;
	struct store_effect_page page;
	const struct run_open_place **places;
	system_callback *done;
	void *context;
	uint64_t argument;
	struct error error;
};

static bool recall_place(struct recalling *r, size_t i)
{
	struct arena *arena = &r->read.arena;
	const struct json *json;
	struct str body = r->page.at[i].body;
	if (!json_read(body, arena, &json, &r->error))
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = body, .lenient = true };
	r->places[i] = run_open_place_parse(&source, arena, &problems);
	return r->places[i] != NULL || problems_fail(&problems, &r->error);
}

static void recall_work(struct runtime_read *read, struct store_reader *reader)
{
	struct recalling *r = (struct recalling *)read;
	if (!reader->ops->list_effects(reader, S("queue"), NULL, LIMIT_QUEUED, &read->arena,
				       &r->page, &r->error))
		return;
	r->places = arena_array(&read->arena, const struct run_open_place *, r->page.count);
	for (size_t i = 0; i < r->page.count; i++)
		if (!recall_place(r, i))
			return;
	POINT("queue.recalled");
}

static void recall_done(struct runtime_read *read)
{
	struct recalling *r = (struct recalling *)read;
	struct runtime *runtime = read->runtime;
	if (r->error.code != ERROR_NONE) {
		runtime_fail(runtime, &r->error);
	} else {
		for (size_t i = 0; i < r->page.count; i++) {
			const struct run_open_place *place = r->places[i];
			enter(runtime, &r->page.at[i].run, place->kind,
			      has(place, key) ? place->key : S(""), place->priority,
			      place->queued_at);
		}
		queue_go_on(runtime);
		r->done(r->context, r->argument);
	}
	arena_done(&read->arena);
	free(r);
}

void queue_recover(struct runtime *runtime, system_callback *done, void *context, uint64_t argument)
{
	struct recalling *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->done = done;
	r->context = context;
	r->argument = argument;
	r->read.work = recall_work;
	r->read.done = recall_done;
	runtime_read(runtime, &r->read);
}

void queue_discard(struct runtime *runtime)
{
	while (runtime->queue.first != NULL)
		leave(runtime, &runtime->queue.first->run);
	size_t i = 0;
	struct str guard;
	for (struct counter *counter;
	     (counter = map_next(&runtime->queue.under_way, &i, &guard)) != NULL;) {
		arena_done(&counter->arena);
		free(counter);
	}
	map_done(&runtime->queue.under_way);
}
