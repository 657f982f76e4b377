/* active/active_run.c -- runs in memory: how one comes, is loaded, and goes.
 *
 * A run is in memory while something of it is computed or under way; one that only waits is parked:
 * nothing of it is left here but its rows on the disk.  What happens to a run in memory is turn.c.
 */
#include "active/active_run.h"

#include <stdlib.h>
#include <string.h>

#include "active/commit_cycle.h"
#include "active/effect_kind.h"
#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "active/pure_step.h"
#include "active/recovery.h"
#include "active/run_load.h"
#include "active/value_fetch.h"
#include "base/limits.h"
#include "base/log.h"
#include "engine/snapshot.h"
#include "os/failpoint.h"

/* ---- coming and going ---------------------------------------------------------------- */

static struct str key_of(const struct active_run *active)
{
	return (struct str){ active->key, sizeof(active->key) };
}

struct active_run *active_run_find(struct executor *executor, const struct uuid *run)
{
	return map_get(&executor->by_run, uuid_str(run));
}

struct active_run *active_run_by_id(struct executor *executor, uint64_t id)
{
	return slots_get(&executor->active_runs, id);
}

void active_run_pin(struct active_run *active)
{
	active->pins++;
}

void active_run_unpin(struct active_run *active)
{
	require(active->pins > 0);
	active->pins--;
}

bool active_run_is_stored(const struct active_run *active)
{
	return active->run != NULL && active->run->seq > 0 && active->phase == ACTIVE_RUN_READY &&
	       !active->stale && active->in_flight == 0;
}

static struct active_run *live_add(struct executor *executor, const struct uuid *run)
{
	struct active_run *active = calloc(1, sizeof(*active));
	require(active != NULL);
	active->executor = executor;
	active->run_id = *run;
	memcpy(active->key, run->bytes, sizeof(active->key));
	active->id = slots_add(&executor->active_runs, active);
	map_put(&executor->by_run, key_of(active), active);
	return active;
}

struct active_run *active_run_new(struct executor *executor, struct uuid run,
				  struct cached_graph *graph)
{
	struct active_run *active = live_add(executor, &run);
	active->phase = ACTIVE_RUN_READY;
	active->graph = graph;
	active->run = run_new(&active->arena, run, graph->graph);
	return active;
}

void active_run_drop_state(struct active_run *active)
{
	if (active->graph != NULL)
		graph_cache_release(&active->executor->graphs, active->graph);
	active->graph = NULL;
	active->run = NULL;
	arena_done(&active->arena);
	active_run_forget_loaded(active);
}

/* Its state is copied into a new arena when the old one has grown to twice what a copy took. */
struct arena active_run_renew(struct active_run *active)
{
	struct arena old = { 0 }, fresh = { 0 };
	AUTO(arena) scratch = { 0 };
	struct run_names names;
	struct run *run;
	struct error error;
	size_t least = (size_t)FAILPOINT_LIMIT("live.renew", LIMIT_LIVE_STATE_BYTES);
	size_t twice = 2 * active->copied_bytes;
	bool quiet = active->in_flight == 0 && active->pins == 0 && active->cycle == NULL &&
		     active->inbox.first == NULL && active->redo.first == NULL && !active->stale;
	if (!quiet || active->arena.taken < (least > twice ? least : twice) ||
	    run_ended(active->run))
		return old;
	const struct run_snapshot *snapshot = run_snapshot(active->run, &scratch, &names);
	bool good =
		run_restore(snapshot, active->run_id, active->graph->graph, &fresh, &run, &error);
	require(good); /* what a run says about itself is good */
	old = active->arena;
	active->arena = fresh;
	active->run = run;
	run->arena = &active->arena;
	active->copied_bytes = fresh.taken;
	return old;
}

void active_run_note_early_stop(struct active_run *active, const struct uuid *effect)
{
	for (size_t i = 0; i < active->early_stop_count; i++)
		if (uuid_equal(&active->early_stops[i], effect))
			return;
	if (active->early_stop_count == active->early_stop_room) {
		active->early_stop_room =
			active->early_stop_room == 0 ? 8 : active->early_stop_room * 2;
		active->early_stops = reallocarray(active->early_stops, active->early_stop_room,
						   sizeof(*active->early_stops));
		require(active->early_stops != NULL);
	}
	active->early_stops[active->early_stop_count++] = *effect;
}

bool active_run_take_early_stop(struct active_run *active, const struct uuid *effect)
{
	for (size_t i = 0; i < active->early_stop_count; i++)
		if (uuid_equal(&active->early_stops[i], effect)) {
			active->early_stops[i] = active->early_stops[--active->early_stop_count];
			return true;
		}
	return false;
}

static void live_free(struct active_run *active)
{
	map_remove(&active->executor->by_run, key_of(active));
	slots_remove(&active->executor->active_runs, active->id);
	active_run_drop_state(active);
	free(active->early_stops);
	free(active);
}

void active_run_settle(struct active_run *active)
{
	/* What only waits for a time, a person or another run is found by its rows. */
	bool over =
		active->run == NULL || active->run->seq == 0 || !run_needs_recovery(active->run);
	if (over && active->phase == ACTIVE_RUN_READY && !active->stale && active->in_flight == 0 &&
	    active->pins == 0 && active->inbox.first == NULL && active->redo.first == NULL &&
	    active->refused.first == NULL && !active->pumping)
		live_free(active);
}

/* ---- loading ------------------------------------------------------------------------- */

struct loading {
	struct executor_read read;
	uint64_t active;
	struct uuid run_id;
	struct loaded_run loaded;
	struct error error;
};

static void load_work(struct executor_read *read, struct store_reader *reader)
{
	struct loading *loading = (struct loading *)read;
	if (run_load(read->executor, reader, &loading->run_id, &loading->loaded, &loading->error) &&
	    loading->loaded.run == NULL)
		fail(&loading->error, ERROR_NOT_FOUND, "no such run");
}

static void refuse_inbox(struct active_run *active, const struct error *error)
{
	for (struct pending_command *pending;
	     (pending = command_list_pop(&active->inbox)) != NULL;) {
		pending_command_reply(pending, &active->run_id, error);
		pending_command_free(pending);
	}
}

static void resume_open(struct active_run *active)
{
	struct run *run = active->run;
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL)
			effect_kind_resume(active, run->paths.at[i]);
	for (uint32_t i = run->computing.head; i < run->computing.tail; i++)
		pure_step_begin(active, run->computing.at[i]->path);
}

static void load_done(struct executor_read *read)
{
	struct loading *loading = (struct loading *)read;
	struct executor *executor = read->executor;
	struct active_run *active = active_run_by_id(executor, loading->active);
	require(active != NULL);
	struct error error = loading->error;
	active->phase = ACTIVE_RUN_READY;
	bool recovering = active->recovering, resuming = active->resuming;
	active->recovering = active->resuming = false;
	if (error.code == ERROR_NONE) {
		active->arena = loading->loaded.arena;
		active->graph = loading->loaded.graph;
		active->run = loading->loaded.run;
		active->run->arena = &active->arena;
		active->weight = loading->loaded.weight;
		active->snapshot_size = loading->loaded.snapshot_size;
		executor->loaded_events += loading->loaded.events;
	}
	arena_done(&read->arena);
	free(loading);
	if (error.code != ERROR_NONE) {
		char id[UUID_TEXT_SIZE];
		if (recovering)
			log_run(LOG_ERROR, uuid_text(&active->run_id, id),
				"cannot be taken up again: %s", error.text);
		refuse_inbox(active, &error);
		active_run_settle(active);
	} else {
		/* Nothing is decided until all that was open is on its way: what a decision opens
		 * must not be taken for something that a crash left behind. */
		active->pumping = true;
		if (resuming)
			resume_open(active);
		active->pumping = false;
		if (resuming)
			active_run_wake(active);
		else
			active_run_pump(active);
	}
	if (recovering)
		recovery_loaded(executor);
}

void active_run_load(struct active_run *active)
{
	struct loading *loading = calloc(1, sizeof(*loading));
	require(loading != NULL);
	active->phase = ACTIVE_RUN_LOADING;
	loading->active = active->id;
	loading->run_id = active->run_id;
	loading->read.work = load_work;
	loading->read.done = load_done;
	executor_read(active->executor, &loading->read);
}

struct active_run *active_run_get(struct executor *executor, const struct uuid *run)
{
	struct active_run *active = active_run_find(executor, run);
	if (active == NULL) {
		active = live_add(executor, run);
		active->resuming = true;
		active_run_load(active);
	}
	return active;
}

/* The program ends: what is under way is on the disk and goes on from there next time. */
void active_run_discard(struct active_run *active)
{
	for (struct pending_command *pending; (pending = command_list_pop(&active->inbox)) != NULL;)
		pending_command_free(pending);
	for (struct pending_command *pending; (pending = command_list_pop(&active->redo)) != NULL;)
		pending_command_free(pending);
	for (struct pending_command *pending;
	     (pending = command_list_pop(&active->refused)) != NULL;)
		pending_command_free(pending);
	if (active->cycle != NULL)
		commit_cycle_free(active->cycle);
	while (active->flying != NULL) {
		struct commit_cycle *first = active->flying;
		active->flying = first->next;
		commit_cycle_free(first);
	}
	live_free(active);
}
