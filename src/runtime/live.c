/* runtime/live.c -- runs in memory: how one comes, is loaded, and goes.
 *
 * A run is in memory while something of it is computed or under way; one that only waits is parked:
 * nothing of it is left here but its rows on the disk.  What happens to a run in memory is turn.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "os/point.h"
#include "runtime/inside.h"

/* ---- coming and going ---------------------------------------------------------------- */

static struct str key_of(const struct live *live)
{
	return (struct str){ live->key, sizeof(live->key) };
}

struct live *live_find(struct runtime *runtime, const struct uuid *run)
{
	return map_get(&runtime->by_run, uuid_str(run));
}

static struct live *live_add(struct runtime *runtime, const struct uuid *run)
{
	struct live *live = calloc(1, sizeof(*live));
	require(live != NULL);
	live->runtime = runtime;
	live->run_id = *run;
	memcpy(live->key, run->bytes, sizeof(live->key));
	live->id = slots_add(&runtime->lives, live);
	map_put(&runtime->by_run, key_of(live), live);
	return live;
}

struct live *live_new(struct runtime *runtime, struct uuid run, struct graph_use *graph)
{
	struct live *live = live_add(runtime, &run);
	live->phase = LIVE_READY;
	live->graph = graph;
	live->run = run_new(&live->arena, run, graph->graph);
	return live;
}

void live_drop_state(struct live *live)
{
	if (live->graph != NULL)
		graphs_release(&live->runtime->graphs, live->graph);
	live->graph = NULL;
	live->run = NULL;
	arena_done(&live->arena);
	live_forget_loaded(live);
}

/* Its state is copied into a new arena when the old one has grown to twice what a copy took. */
struct arena live_renew(struct live *live)
{
	struct arena old = { 0 }, fresh = { 0 };
	AUTO(arena) scratch = { 0 };
	struct run_names names;
	struct run *run;
	struct error error;
	size_t least = (size_t)POINT_LIMIT("live.renew", LIMIT_LIVE_STATE_BYTES);
	size_t twice = 2 * live->copied_bytes;
	bool quiet = live->in_flight == 0 && live->holds == 0 && live->turn == NULL &&
		     live->inbox.first == NULL && live->redo.first == NULL && !live->stale;
	if (!quiet || live->arena.taken < (least > twice ? least : twice) || run_ended(live->run))
		return old;
	const struct run_snapshot *snapshot = run_snapshot(live->run, &scratch, &names);
	bool good = run_restore(snapshot, live->run_id, live->graph->graph, &fresh, &run, &error);
	require(good); /* what a run says about itself is good */
	old = live->arena;
	live->arena = fresh;
	live->run = run;
	run->arena = &live->arena;
	live->copied_bytes = fresh.taken;
	return old;
}

void live_miss_stop(struct live *live, const struct uuid *effect)
{
	for (size_t i = 0; i < live->missed_count; i++)
		if (uuid_equal(&live->missed_stops[i], effect))
			return;
	if (live->missed_count == live->missed_room) {
		live->missed_room = live->missed_room == 0 ? 8 : live->missed_room * 2;
		live->missed_stops = reallocarray(live->missed_stops, live->missed_room,
						  sizeof(*live->missed_stops));
		require(live->missed_stops != NULL);
	}
	live->missed_stops[live->missed_count++] = *effect;
}

bool live_take_missed_stop(struct live *live, const struct uuid *effect)
{
	for (size_t i = 0; i < live->missed_count; i++)
		if (uuid_equal(&live->missed_stops[i], effect)) {
			live->missed_stops[i] = live->missed_stops[--live->missed_count];
			return true;
		}
	return false;
}

static void live_free(struct live *live)
{
	map_remove(&live->runtime->by_run, key_of(live));
	slots_remove(&live->runtime->lives, live->id);
	live_drop_state(live);
	free(live->missed_stops);
	free(live);
}

void live_settle(struct live *live)
{
	/* What only waits for a time, a person or another run is found by its rows. */
	bool over = live->run == NULL || live->run->seq == 0 || !run_is_stepping(live->run);
	if (over && live->phase == LIVE_READY && !live->stale && live->in_flight == 0 &&
	    live->holds == 0 && live->inbox.first == NULL && live->redo.first == NULL &&
	    live->refused.first == NULL && !live->pumping)
		live_free(live);
}

/* ---- loading ------------------------------------------------------------------------- */

struct loading {
	struct runtime_read read;
	uint64_t live;
	struct uuid run_id;
	struct loaded loaded;
	struct error error;
};

static void load_work(struct runtime_read *read, struct store_reader *reader)
{
	struct loading *loading = (struct loading *)read;
	if (load_run(read->runtime, reader, &loading->run_id, &loading->loaded, &loading->error) &&
	    loading->loaded.run == NULL)
		fail(&loading->error, ERROR_NOT_FOUND, "no such run");
}

static void refuse_inbox(struct live *live, const struct error *error)
{
	for (struct item *item; (item = queue_take(&live->inbox)) != NULL;) {
		item_reply(item, &live->run_id, error);
		item_free(item);
	}
}

static void resume_open(struct live *live)
{
	struct run *run = live->run;
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL)
			effect_resume(live, run->paths.at[i]);
	for (uint32_t i = run->computing.head; i < run->computing.tail; i++)
		compute_begin(live, run->computing.at[i]->path);
}

static void load_done(struct runtime_read *read)
{
	struct loading *loading = (struct loading *)read;
	struct runtime *runtime = read->runtime;
	struct live *live = slots_get(&runtime->lives, loading->live);
	require(live != NULL);
	struct error error = loading->error;
	live->phase = LIVE_READY;
	bool recovering = live->recovering, resuming = live->resuming;
	live->recovering = live->resuming = false;
	if (error.code == ERROR_NONE) {
		live->arena = loading->loaded.arena;
		live->graph = loading->loaded.graph;
		live->run = loading->loaded.run;
		live->run->arena = &live->arena;
		live->weight = loading->loaded.weight;
		live->snapshot_size = loading->loaded.snapshot_size;
		runtime->loaded_events += loading->loaded.events;
	}
	arena_done(&read->arena);
	free(loading);
	if (error.code != ERROR_NONE) {
		char id[UUID_TEXT_SIZE];
		if (recovering)
			log_run(LOG_ERROR, uuid_text(&live->run_id, id),
				"cannot be taken up again: %s", error.text);
		refuse_inbox(live, &error);
		live_settle(live);
	} else {
		/* Nothing is decided until all that was open is on its way: what a decision opens
		 * must not be taken for something that a crash left behind. */
		live->pumping = true;
		if (resuming)
			resume_open(live);
		live->pumping = false;
		if (resuming)
			live_go_on(live);
		else
			live_pump(live);
	}
	if (recovering)
		recovery_loaded(runtime);
}

void live_load(struct live *live)
{
	struct loading *loading = calloc(1, sizeof(*loading));
	require(loading != NULL);
	live->phase = LIVE_LOADING;
	loading->live = live->id;
	loading->run_id = live->run_id;
	loading->read.work = load_work;
	loading->read.done = load_done;
	runtime_read(live->runtime, &loading->read);
}

struct live *live_get(struct runtime *runtime, const struct uuid *run)
{
	struct live *live = live_find(runtime, run);
	if (live == NULL) {
		live = live_add(runtime, run);
		live->resuming = true;
		live_load(live);
	}
	return live;
}

/* The program ends: what is under way is on the disk and goes on from there next time. */
void live_discard(struct live *live)
{
	for (struct item *item; (item = queue_take(&live->inbox)) != NULL;)
		item_free(item);
	for (struct item *item; (item = queue_take(&live->redo)) != NULL;)
		item_free(item);
	for (struct item *item; (item = queue_take(&live->refused)) != NULL;)
		item_free(item);
	if (live->turn != NULL)
		turn_free(live->turn);
	while (live->flying != NULL) {
		struct turn *first = live->flying;
		live->flying = first->next;
		turn_free(first);
	}
	live_free(live);
}
