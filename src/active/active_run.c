/* active/active_run.c -- runs in memory: created, loaded, waiting for room on the disk, leaving.
 *
 * A run is in memory while something of it is computed or under way.  A run that only waits for a
 * time, a person or another run leaves memory; its rows are enough to find it again.  What happens
 * to the commands of a run is commit_cycle.c.
 */
#include "active/active_run_shell.h"

#include <stdlib.h>
#include <string.h>

#include "active/commit_cycle.h"
#include "active/effect_kind.h"
#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "active/pure_step.h"
#include "active/recovery.h"
#include "active/run_load.h"
#include "active/tree_taking.h"
#include "active/value_fetch.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/run_snapshot_types.h"
#include "engine/snapshot.h"
#include "os/failpoint.h"

/* ---- finding and making -------------------------------------------------------------- */

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
	return active->state == ACTIVE_RUN_READY && active->run->seq > 0 &&
	       active->appends_in_flight == 0;
}

/* Nothing of the run is being decided, waits to be decided, or is at the writer. */
static bool is_quiet(const struct active_run *active)
{
	return active->appends_in_flight == 0 && active->pins == 0 && active->inbox.first == NULL &&
	       active->redo.first == NULL;
}

static struct active_run *add_run(struct executor *executor, const struct uuid *run)
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
	struct active_run *active = add_run(executor, &run);
	active->graph = graph;
	active_run_enter(active, &(struct active_run_event){ .input = INPUT_CREATE });
	return active;
}

struct active_run *active_run_get(struct executor *executor, const struct uuid *run)
{
	struct active_run *active = active_run_find(executor, run);
	if (active == NULL) {
		active = add_run(executor, run);
		active_run_enter(active, &(struct active_run_event){ .input = INPUT_OPEN });
	}
	return active;
}

/* ---- the machine --------------------------------------------------------------------- */

typedef void action(struct active_run *active, const struct active_run_event *event);

static action *const actions[] = {
#define ACTION(constant, function, text) [ACTION_##constant] = active_run_do_##function,
#include "contracts/active_run.def"
};

void active_run_enter(struct active_run *active, const struct active_run_event *event)
{
	struct active_run_move move = active_run_machine_next(active->state, event->input);
	active->state = move.next;
	actions[move.action](active, event);
}

void active_run_do_rest(struct active_run *active, const struct active_run_event *event)
{
	(void)active;
	(void)event;
}

/* ---- the state ----------------------------------------------------------------------- */

void active_run_drop_state(struct active_run *active)
{
	if (active->graph != NULL)
		graph_cache_release(&active->executor->graphs, active->graph);
	active->graph = NULL;
	active->run = NULL;
	executor_discard(active->executor, &active->arena);
	active_run_forget_loaded(active);
	tree_taking_forget(active);
}

void active_run_new_state(struct active_run *active)
{
	struct cached_graph *graph = active->graph;
	active->graph = NULL; /* it stays */
	active_run_drop_state(active);
	active->graph = graph;
	active->run = run_new(&active->arena, active->run_id, graph->graph);
}

void active_run_do_new_state(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	active_run_new_state(active);
}

/* The state is copied when its arena has grown to twice the size of the last copy: what the run no
 * longer needs stays behind. */
struct arena active_run_renew(struct active_run *active)
{
	struct arena old = { 0 }, fresh = { 0 };
	AUTO(arena) scratch = { 0 };
	struct run_names names;
	struct run *run;
	struct error error;
	size_t least = (size_t)FAILPOINT_LIMIT("live.renew", LIMIT_LIVE_STATE_BYTES);
	size_t twice = 2 * active->copied_bytes;
	bool still = active->state == ACTIVE_RUN_READY && is_quiet(active);
	if (!still || active->arena.taken < (least > twice ? least : twice) ||
	    run_ended(active->run))
		return old;
	const struct run_snapshot *snapshot = run_snapshot(active->run, &scratch, &names);
	bool good =
		run_restore(snapshot, active->run_id, active->graph->graph, &fresh, &run, &error);
	require(good); /* a snapshot of a state restores to that state */
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

/* ---- leaving ------------------------------------------------------------------------- */

static void free_run(struct active_run *active)
{
	map_remove(&active->executor->by_run, key_of(active));
	slots_remove(&active->executor->active_runs, active->id);
	tree_taking_free(active);
	active_run_drop_state(active);
	free(active->early_stops);
	free(active);
}

void active_run_do_leave(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	require(is_quiet(active) && active->deciding == NULL && active->refused.first == NULL);
	free_run(active);
}

void active_run_settle(struct active_run *active)
{
	if (active->state != ACTIVE_RUN_READY || !is_quiet(active) || active->refused.first != NULL)
		return;
	/* What only waits for a time, a person or another run is found by its rows. */
	if (active->run->seq == 0 || !run_needs_recovery(active->run))
		active_run_enter(active, &(struct active_run_event){ .input = INPUT_IDLE });
}

/* What is under way is on the disk; the next process goes on with it. */
void active_run_do_discard(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	command_list_discard(&active->inbox);
	command_list_discard(&active->redo);
	command_list_discard(&active->refused);
	if (active->deciding != NULL)
		commit_cycle_free(active->deciding);
	while (active->oldest_append != NULL) {
		struct commit_cycle *oldest = active->oldest_append;
		active->oldest_append = oldest->next;
		commit_cycle_free(oldest);
	}
	free_run(active);
}

void active_run_stop(struct active_run *active)
{
	active_run_enter(active, &(struct active_run_event){ .input = INPUT_STOP });
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

static void resume_open(struct active_run *active)
{
	struct run *run = active->run;
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL)
			effect_kind_resume(active, run->paths.at[i]);
	for (uint32_t i = run->computing.head; i < run->computing.tail; i++)
		pure_step_begin(active, run->computing.at[i]->path);
}

static void take_state(struct active_run *active, struct loaded_run *loaded)
{
	active->stored = true;
	active->arena = loaded->arena;
	active->graph = loaded->graph;
	active->run = loaded->run;
	active->run->arena = &active->arena;
	active->weight = loaded->weight;
	active->snapshot_size = loaded->snapshot_size;
	active->executor->loaded_events += loaded->events;
}

/* No command is decided until every open effect is under way: an effect that a decision opens must
 * not be taken for one that a crash left behind. */
void active_run_do_take_and_resume(struct active_run *active, const struct active_run_event *event)
{
	take_state(active, event->loaded);
	resume_open(active);
	active_run_enter(active, &(struct active_run_event){ .input = INPUT_DECIDED });
	active_run_wake(active);
}

void active_run_do_take_and_decide(struct active_run *active, const struct active_run_event *event)
{
	take_state(active, event->loaded);
	/* The refused decision may have called off a tree that a step waits for. */
	if (engine_could_go_on(active->run))
		active_run_wake(active);
	else
		active_run_decide(active);
}

/* The run leaves first: an answer may bring the next command for it. */
void active_run_do_refuse_and_leave(struct active_run *active, const struct active_run_event *event)
{
	struct uuid run = active->run_id;
	struct command_list inbox = active->inbox;
	quarantine_add(active->executor, &run, event->error);
	ledger_forget(active->executor, &run);
	free_run(active);
	for (struct pending_command *pending; (pending = command_list_pop(&inbox)) != NULL;) {
		pending_command_reply(pending, &run, event->error);
		pending_command_free(pending);
	}
}

static void load_done(struct executor_read *read)
{
	struct loading *loading = (struct loading *)read;
	struct executor *executor = read->executor;
	struct active_run *active = active_run_by_id(executor, loading->active);
	require(active != NULL);
	bool recovering = active->recovering, failed = loading->error.code != ERROR_NONE;
	if (failed && active->pins > 0) {
		/* Effects of the run are under way, so it was stored, and the store has lost it. */
		executor_fail(executor, &loading->error);
	} else {
		active->recovering = false;
		if (!failed)
			quarantine_remove(executor, &active->run_id);
		active_run_enter(active, &(struct active_run_event){
						 .input = failed ? INPUT_LOAD_FAILED : INPUT_LOADED,
						 .loaded = &loading->loaded,
						 .error = &loading->error });
	}
	if (recovering)
		recovery_loaded(executor);
	executor_discard(executor, &read->arena);
	free(loading);
}

void active_run_do_load(struct active_run *active, const struct active_run_event *event)
{
	struct loading *loading = calloc(1, sizeof(*loading));
	require(loading != NULL);
	(void)event;
	active_run_drop_state(active);
	loading->active = active->id;
	loading->run_id = active->run_id;
	loading->read.work = load_work;
	loading->read.done = load_done;
	executor_read(active->executor, &loading->read);
}

/* ---- waiting for room on the disk ---------------------------------------------------- */

static void waited(void *context, uint64_t argument)
{
	struct active_run *active = active_run_by_id(context, argument);
	require(active != NULL);
	active_run_unpin(active);
	active_run_enter(active, &(struct active_run_event){ .input = INPUT_TIMER });
}

static void start_timer(struct active_run *active)
{
	active_run_pin(active);
	platform_timer_start(active->executor->settings.platform, LIMIT_STORE_FULL_RETRY_MS * 1000,
			     waited, active->executor, active->id);
}

void active_run_do_wait_to_load(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	active_run_drop_state(active);
	start_timer(active);
}

void active_run_do_wait_to_create(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	active_run_new_state(active);
	start_timer(active);
}
