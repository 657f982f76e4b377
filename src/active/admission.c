/* active/admission.c -- the admission queue.
 *
 * A definition may name the kind of its runs (pipeline), and a start may name a concurrency key.
 * Only so many runs of a kind are under way at once, and one run of a key.  Guards of the store
 * count them in the commits that begin and end a run (R13), so the count is as durable as the runs.
 * A start that a guard refuses is recorded as a queued run.  When a run ends, the next queued run
 * gets COMMAND_START; if a guard refuses that too, the run stays in the queue.
 *
 * The order is by priority, then by age.  A run that waits only for its key does not hold up the
 * runs behind it.
 */
#include "active/admission.h"

#include <stdlib.h>
#include <string.h>

#include "active/active_run.h"
#include "active/commit_cycle.h"
#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "active/projection.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/run_open_types.h"
#include "contract/run_start_types.h"
#include "engine/run.h"
#include "os/failpoint.h"
#include "active/stored_row.h"

struct admission_entry {
	struct admission_entry *next;
	struct arena arena;
	struct uuid run;
	struct str kind, key;
	int64_t priority, queued_at;
	bool starting; /* COMMAND_START is on its way */
};

/* ---- counting ------------------------------------------------------------------------- */

bool admission_counts(const struct run *run)
{
	return uuid_is_zero(&run->start->parent) &&
	       (run->start->key.size > 0 || !str_equal(projection_kind(run), S("run")));
}

int64_t admission_limit(const struct executor *executor, struct str kind)
{
	if (!str_equal(kind, S("pipeline")))
		return -1;
	return executor->limits.max_concurrent > 0 ? executor->limits.max_concurrent
						   : LIMIT_MAX_CONCURRENT;
}

struct str admission_guard(struct str kind, struct arena *arena)
{
	return str_format(arena, "running." STR_FMT, STR_ARG(kind));
}

struct str admission_key_guard(struct str key, struct arena *arena)
{
	return str_format(arena, "alone." STR_FMT, STR_ARG(key));
}

struct counter {
	struct arena arena;
	struct str guard;
	int64_t value;
};

static int64_t counted(const struct executor *executor, struct str guard)
{
	const struct counter *counter = map_get(&executor->admission.under_way, guard);
	return counter == NULL ? 0 : counter->value;
}

static void count(struct executor *executor, struct str guard, int64_t change)
{
	struct counter *counter = map_get(&executor->admission.under_way, guard);
	if (counter == NULL) {
		counter = calloc(1, sizeof(*counter));
		require(counter != NULL);
		counter->guard = str_copy(&counter->arena, guard);
		map_put(&executor->admission.under_way, counter->guard, counter);
	}
	counter->value += change;
	if (counter->value > 0)
		return;
	map_remove(&executor->admission.under_way, counter->guard);
	arena_done(&counter->arena);
	free(counter);
}

/* ---- the queue ------------------------------------------------------------------------ */

static bool is_before(const struct admission_entry *a, const struct admission_entry *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->queued_at != b->queued_at)
		return a->queued_at < b->queued_at;
	return memcmp(a->run.bytes, b->run.bytes, sizeof(a->run.bytes)) < 0;
}

static struct admission_entry **find(struct executor *executor, const struct uuid *run)
{
	struct admission_entry **link = &executor->admission.first;
	while (*link != NULL && !uuid_equal(&(*link)->run, run))
		link = &(*link)->next;
	return link;
}

static void enter(struct executor *executor, const struct uuid *run, struct str kind,
		  struct str key, int64_t priority, int64_t queued_at)
{
	if (*find(executor, run) != NULL)
		return;
	struct admission_entry *entry = calloc(1, sizeof(*entry));
	require(entry != NULL);
	entry->run = *run;
	entry->kind = str_copy(&entry->arena, kind);
	entry->key = str_copy(&entry->arena, key);
	entry->priority = priority;
	entry->queued_at = queued_at;
	struct admission_entry **link = &executor->admission.first;
	while (*link != NULL && is_before(*link, entry))
		link = &(*link)->next;
	entry->next = *link;
	*link = entry;
	executor->admission.count++;
}

static void leave(struct executor *executor, const struct uuid *run)
{
	struct admission_entry **link = find(executor, run), *entry = *link;
	if (entry == NULL)
		return;
	*link = entry->next;
	executor->admission.count--;
	arena_done(&entry->arena);
	free(entry);
}

struct admission_place admission_place(const struct executor *executor, const struct uuid *run)
{
	struct admission_place place = { 0 };
	const struct admission_entry *mine = executor->admission.first;
	while (mine != NULL && !uuid_equal(&mine->run, run))
		mine = mine->next;
	if (mine == NULL)
		return place;
	place.kind = mine->kind;
	for (const struct admission_entry *entry = executor->admission.first; entry != NULL;
	     entry = entry->next) {
		place.length += str_equal(entry->kind, mine->kind);
		if (entry == mine)
			place.position = place.length;
	}
	return place;
}

/* ---- starting ------------------------------------------------------------------------- */

static bool may_start(struct executor *executor, const struct admission_entry *entry)
{
	AUTO(arena) arena = { 0 };
	int64_t limit = admission_limit(executor, entry->kind);
	if (entry->starting ||
	    (entry->key.size > 0 && counted(executor, admission_key_guard(entry->key, &arena)) > 0))
		return false;
	return limit < 0 || counted(executor, admission_guard(entry->kind, &arena)) < limit;
}

static void count_entry(struct executor *executor, const struct admission_entry *entry,
			int64_t change)
{
	AUTO(arena) arena = { 0 };
	count(executor, admission_guard(entry->kind, &arena), change);
	if (entry->key.size > 0)
		count(executor, admission_key_guard(entry->key, &arena), change);
}

/* A start may change the queue, so each search begins at its head. */
static struct admission_entry *next_to_start(struct executor *executor)
{
	for (struct admission_entry *entry = executor->admission.first; entry != NULL;
	     entry = entry->next)
		if (may_start(executor, entry))
			return entry;
	return NULL;
}

void admission_try_next(struct executor *executor)
{
	if (executor->draining || !executor->recovered)
		return;
	for (struct admission_entry *entry; (entry = next_to_start(executor)) != NULL;) {
		struct uuid run = entry->run;
		entry->starting = true;
		count_entry(executor, entry, 1);
		FAILPOINT("queue.before_start");
		active_run_command(active_run_get(executor, &run),
				   pending_command_new(COMMAND_START));
	}
}

void admission_refused(struct executor *executor, const struct uuid *run)
{
	struct admission_entry *entry = *find(executor, run);
	if (entry == NULL || !entry->starting)
		return;
	entry->starting = false;
	count_entry(executor, entry, -1);
}

void admission_forget(struct executor *executor, const struct uuid *run)
{
	admission_refused(executor, run);
	leave(executor, run);
	admission_try_next(executor);
}

/* ---- commits -------------------------------------------------------------------------- */

/* Also when the store does not count the run: its place in memory is free all the same. */
static void count_run(struct executor *executor, const struct run *run, int64_t change)
{
	AUTO(arena) arena = { 0 };
	count(executor, admission_guard(projection_kind(run), &arena), change);
	if (run->start->key.size > 0)
		count(executor, admission_key_guard(run->start->key, &arena), change);
}

void admission_committed(struct commit_cycle *cycle, const struct active_run *active)
{
	struct executor *executor = cycle->executor;
	const struct run_start *start = active->run->start;
	/* The run that was in its way may have ended since. */
	bool changed = cycle->enters_queue;
	if (cycle->enters_queue)
		enter(executor, &active->run_id, projection_kind(active->run),
		      has(start, key) ? start->key : S(""),
		      has(start, priority) ? start->priority : 0, cycle->now);
	for (size_t i = 0; i < cycle->decision.event_count; i++) {
		const struct event *event = &cycle->decision.events[i];
		if (event->type == EVENT_RUN_STARTED || event->type == EVENT_RUN_CANCELLING) {
			struct admission_entry *entry = *find(executor, &active->run_id);
			/* From now on its guards count it. */
			if (entry != NULL && entry->starting)
				count_entry(executor, entry, -1);
			leave(executor, &active->run_id);
			changed = true;
		}
	}
	if (cycle->admission_delta != 0)
		count_run(executor, active->run, cycle->admission_delta);
	if (cycle->admission_delta < 0 || changed)
		admission_try_next(executor);
}

/* ---- after a restart ------------------------------------------------------------------ */

/* The counts are not read: when they arrive a run may have ended, and a count that is too high would
 * hold up the queue for ever.  A count that is too low costs one refused append. */
struct queue_read {
	struct executor_read read;
	struct store_effect_page page;
	const struct run_open_place **places;
	platform_callback *done;
	void *context;
	uint64_t argument;
	struct error error;
};

/* A place that cannot be parsed leaves its run queued and does not affect other runs. */
static void skip_place(const struct store_effect *row, struct error *error)
{
	stored_effect_fail(row, error);
	log_line(LOG_ERROR, "a queued run is skipped: %s", error->text);
}

static void parse_place(struct queue_read *r, size_t i)
{
	struct arena *arena = &r->read.arena;
	const struct json *json;
	struct str body = r->page.at[i].body;
	struct error error;
	if (!json_read(body, arena, &json, &error)) {
		skip_place(&r->page.at[i], &error);
		return;
	}
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = body, .lenient = true };
	r->places[i] = run_open_place_parse(&source, arena, &problems);
	if (r->places[i] == NULL) {
		problems_fail(&problems, &error);
		skip_place(&r->page.at[i], &error);
	}
}

static void queue_work(struct executor_read *read, struct store_reader *reader)
{
	struct queue_read *r = (struct queue_read *)read;
	if (!reader->ops->list_effects(reader, S("queue"), NULL, LIMIT_QUEUED, &read->arena,
				       &r->page, &r->error))
		return;
	r->places = arena_array(&read->arena, const struct run_open_place *, r->page.count);
	for (size_t i = 0; i < r->page.count; i++)
		parse_place(r, i);
	FAILPOINT("queue.recalled");
}

static void queue_done(struct executor_read *read)
{
	struct queue_read *r = (struct queue_read *)read;
	struct executor *executor = read->executor;
	if (r->error.code != ERROR_NONE) {
		executor_fail(executor, &r->error);
	} else {
		for (size_t i = 0; i < r->page.count; i++) {
			const struct run_open_place *place = r->places[i];
			if (place == NULL)
				continue;
			enter(executor, &r->page.at[i].run, place->kind,
			      has(place, key) ? place->key : S(""), place->priority,
			      place->queued_at);
		}
		admission_try_next(executor);
		r->done(r->context, r->argument);
	}
	arena_done(&read->arena);
	free(r);
}

void admission_recover(struct executor *executor, platform_callback *done, void *context,
		       uint64_t argument)
{
	struct queue_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->done = done;
	r->context = context;
	r->argument = argument;
	r->read.work = queue_work;
	r->read.done = queue_done;
	executor_read(executor, &r->read);
}

void admission_discard(struct executor *executor)
{
	while (executor->admission.first != NULL)
		leave(executor, &executor->admission.first->run);
	size_t i = 0;
	struct str guard;
	for (struct counter *counter;
	     (counter = map_next(&executor->admission.under_way, &i, &guard)) != NULL;) {
		arena_done(&counter->arena);
		free(counter);
	}
	map_done(&executor->admission.under_way);
}
