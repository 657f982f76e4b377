/* sim/sim.c -- the simulator's main program: seeds, worlds, lives.
 *
 *	sim                       seeds 1 to 200
 *	sim --seeds FIRST COUNT
 *	sim --seed N [--trace]    one seed; --trace prints every event
 *	sim --cells               prints how often each transition of an active run was visited
 *
 * Each seed is simulated three times: calm, with faults, and with the same faults again.  The second
 * world must end like the first, and the third must equal the second byte for byte.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "active/active_run_machine.h"
#include "active/notices.h"
#include "document/documents.h"
#include "effect/effects.h"
#include "maintenance/maintenance.h"
#include "base/log.h"
#include "os/failpoint.h"
#include "sim/sim.h"

enum { TURNS = 200000 };

/* The current world, because failpoints have no context parameter. */
static struct sim *current;

/* ---- dice --------------------------------------------------------------------------- */

uint64_t sim_roll(struct sim_dice *dice)
{
	uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t sim_below(struct sim_dice *dice, uint64_t limit)
{
	require(limit > 0);
	return sim_roll(dice) % limit;
}

bool sim_chance(struct sim_dice *dice, unsigned percent)
{
	return sim_below(dice, 100) < percent;
}

uint64_t sim_fate(const struct uuid *id, unsigned salt)
{
	struct sim_dice dice = { salt };
	for (size_t i = 0; i < sizeof(id->bytes); i++)
		dice.state = sim_roll(&dice) ^ id->bytes[i];
	return sim_roll(&dice) >> 4;
}

/* ---- telling ------------------------------------------------------------------------ */

void sim_fail(struct sim *sim, const char *format, ...)
{
	if (sim->failed)
		return;
	sim->failed = true;
	va_list list;
	va_start(list, format);
	printf("seed %llu, life %u: ", (unsigned long long)sim->seed, sim->counts.active_runs);
	vprintf(format, list);
	printf("\n");
	va_end(list);
}

void sim_trace(struct sim *sim, const char *format, ...)
{
	if (!sim->trace)
		return;
	va_list list;
	va_start(list, format);
	printf("%10lld us  life %u  ", (long long)sim->mono, sim->counts.active_runs);
	vprintf(format, list);
	printf("\n");
	va_end(list);
}

/* ---- the plug ----------------------------------------------------------------------- */

void sim_point(struct sim *sim)
{
	if (sim->points_left > 0 && --sim->points_left == 0)
		longjmp(sim->plug, 1);
}

void __wrap_failpoint_passed(const char *name);

void __wrap_failpoint_passed(const char *name)
{
	sim_trace(current, "passes %s", name);
	sim_point(current);
}

/* ---- a life ------------------------------------------------------------------------- */

enum turn { TURN_MORE, TURN_OVER, TURN_STOPPED, TURN_CRASHED };

int64_t __real_failpoint_limit(const char *name, int64_t limit);
int64_t __wrap_failpoint_limit(const char *name, int64_t limit);

int64_t __wrap_failpoint_limit(const char *name, int64_t limit)
{
	if (current->queue_limit >= 0 && strcmp(name, "admission.queue") == 0)
		return current->queue_limit;
	if (current->hides_budget && strcmp(name, "budget.hidden") == 0)
		return 1;
	return __real_failpoint_limit(name, limit);
}

/* Rare moments that some lives wait for. */
void sim_entered(unsigned state, unsigned input)
{
	struct sim *sim = current;
	if (sim->mode != SIM_REFUSALS && sim->mode != SIM_DISK_FULL)
		return;
	if (input == INPUT_CREATE)
		sim->impatience++;
	sim->fetching += input == INPUT_NEED;
	sim->fetching -= input == INPUT_FETCHED;
	if (input == INPUT_COMMITTED && sim->slow_writer)
		sim->talks = sim_chance(&sim->dice, 30);
	if (input == INPUT_NEED && sim->stops_fetching && sim->crashes_left > 0 &&
	    sim_system_writes(&sim->platform)) {
		sim->stops_at_once = true;
		sim->turns_left = 1;
	}
	if (state == ACTIVE_RUN_STALE_FULL && input == INPUT_DRAINED_CREATE) {
		sim->calls_off = sim_chance(&sim->dice, 60);
		if (!sim->calls_off && sim->crashes_left > 0) {
			sim->stops_at_once = true;
			sim->turns_left = 1;
		}
	}
}

static void store_failed(void *context, const struct error *error)
{
	struct sim *sim = context;
	sim_trace(sim, "fatal: %s", error->text);
	if (!sim->broken)
		sim_fail(sim, "the program gave up without a reason: %s", error->text);
	if (sim->fatal)
		sim_fail(sim, "the program gave up twice");
	sim->fatal = true;
	/* A program that stops in order has no further point at which it could crash. */
	if (!sim->stopping)
		sim->points_left = 1 + sim_below(&sim->dice, 30);
}

static void recovered(void *context, uint64_t count)
{
	struct sim *sim = context;
	sim_trace(sim, "recovered %llu runs", (unsigned long long)count);
	sim->recovered = true;
	sim_schedules_open(sim);
}

/* Whether the run was reopened behind the event: one commit may have its end and the retry. */
static bool is_reopened(const struct sim *sim, const struct uuid *run, int64_t seq)
{
	for (const struct sim_recorded *at = sim_first(sim, run); at != NULL;
	     at = sim_next(sim, at))
		if (at->event.type == EVENT_RUN_RETRIED && at->row.seq > seq)
			return true;
	return false;
}

/* A notice says "committed up to here", so it must already be true. */
static void noticed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct sim *sim = context;
	(void)argument;
	AUTO(arena) arena = { 0 };
	struct store_run row = { 0 };
	struct error error;
	bool found;
	bool good =
		sim->reader->ops->read_run(sim->reader, &notice->run, &arena, &row, &found, &error);
	require(good);
	if (!found || row.seq < notice->seq ||
	    (notice->ended && row.ended_at == 0 && !is_reopened(sim, &notice->run, notice->seq)) ||
	    notice->position > sim->reader->ops->newest_position(sim->reader))
		sim_fail(sim, "a notice came before its commit");
	if (sim->fatal)
		sim_fail(sim, "a notice came after the store had failed");
}

/* Some orderly stops drain active work first; false when it is time to stop. */
static bool begin_drain(struct sim *sim)
{
	if (executor_is_draining(sim->executor) || !sim_chance(&sim->dice, 60))
		return false;
	sim_trace(sim, "DRAIN");
	sim->counts.drains++;
	executor_drain(sim->executor);
	sim->turns_left = 1 + sim_below(&sim->dice, 200);
	return true;
}

static enum turn take_turn(struct sim *sim)
{
	sim_point(sim);
	if (sim->turns_left > 0 && --sim->turns_left == 0 &&
	    (sim->stops_at_once || !begin_drain(sim)))
		return TURN_STOPPED;
	if ((sim->impatience > 0 || sim->calls_off || sim->talks || sim_chance(&sim->dice, 12)) &&
	    sim_drive(sim, false))
		return TURN_MORE;
	if (sim_system_step(&sim->platform))
		return TURN_MORE;
	if (sim->fatal)
		return TURN_CRASHED;
	if (executor_is_draining(sim->executor))
		return TURN_STOPPED;
	if (sim_drive(sim, true))
		return TURN_MORE;
	if (sim->tidy)
		return TURN_OVER;
	if (sim->hung)
		return TURN_CRASHED;
	sim_fail(sim, "the program is idle but some runs have not ended");
	return TURN_OVER;
}

static enum turn take_turns(struct sim *sim)
{
	if (setjmp(sim->plug) != 0)
		return TURN_CRASHED;
	for (int i = 0; i < TURNS && !sim->failed; i++) {
		enum turn turn = take_turn(sim);
		if (turn != TURN_MORE)
			return turn;
	}
	if (!sim->failed)
		sim_fail(sim, "no end after %d events", TURNS);
	return TURN_OVER;
}

static void plan_life(struct sim *sim)
{
	static const uint64_t reach[] = { 10, 40, 150, 600 };
	sim->points_left = sim->commits_left = sim->turns_left = 0;
	sim->scratch = (struct arena){ 0 };
	sim->broken = sim->fatal = sim->recovered = sim->hung = sim->tidying = false;
	sim->stopping = false;
	sim->calls_off = false;
	sim->impatience = 0;
	bool refuses = sim->mode == SIM_REFUSALS || sim->mode == SIM_DISK_FULL;
	sim->slow_writer = refuses && sim_chance(&sim->dice, 40);
	sim->stops_fetching = sim->slow_writer && sim_chance(&sim->dice, 80);
	sim->stops_at_once = sim->talks = false;
	sim->fetching = 0;
	sim->queue_limit = sim->mode == SIM_REFUSALS && sim_chance(&sim->dice, 30) ? 0 : -1;
	for (size_t i = 0; i < sim->plan.run_count; i++)
		sim->plan.runs[i].asked = false;
	sim_schedules_begin(sim);
	if (sim->crashes_left == 0)
		return;
	uint64_t end = 1 + sim_below(&sim->dice, reach[sim_below(&sim->dice, COUNT(reach))]);
	if (sim_chance(&sim->dice, 25))
		sim->turns_left = end;
	else
		sim->points_left = end;
	if (sim->mode == SIM_COMMIT_FAILS && sim_chance(&sim->dice, 60))
		sim->commits_left = 1 + sim_below(&sim->dice, 25);
}

static void life_begin(struct sim *sim)
{
	plan_life(sim);
	sim->counts.active_runs++;
	sim_memory_begin();
	sim_system_init(&sim->platform, sim);
	sim->models = (struct llm_host){ .platform = &sim->platform.base };
	sim_budgets_begin(sim);
	sim->effects = effects_new();
	struct executor_settings settings = { .platform = &sim->platform.base,
					      .store = sim->store,
					      .workspace = &sim->workspace.base,
					      .effects = sim->effects,
					      .tools = &sim_tool_table,
					      .drivers = &llm_table,
					      .models = &sim->models,
					      .contained = true,
					      .definition = sim_definition,
					      .fatal = store_failed,
					      .context = sim,
					      .snapshot_bytes = 500,
					      /* In every other world even short values are printed
					       * and computed with on another thread. */
					      .value_on_loop_bytes = sim->seed % 2 == 0 ? 24 : 0 };
	struct error error;
	bool good = executor_new(&settings, &sim->executor, &error);
	require(good);
	sim->documents = documents_new(sim->executor);
	const struct maintenance_settings maintenance = {
		.executor = sim->executor,
		.documents = sim->documents,
		.retention = { .days = 30, .max_events = 100000 },
	};
	sim->maintenance = maintenance_new(&maintenance);
	executor_watch(sim->executor, &(struct uuid){ 0 }, noticed, sim, 0);
	sim_budgets_limit(sim);
	executor_recover(sim->executor, recovered, sim);
}

static void life_crash(struct sim *sim)
{
	sim_trace(sim, "CRASH");
	sim->counts.crashes++;
	sim->crashes_left -= sim->crashes_left > 0;
	sim_system_crash(&sim->platform);
	sim_memory_end();
	sim_workspace_crash(&sim->workspace);
	sim_children_crash(sim);
	sim->mono += (int64_t)sim_below(&sim->dice, sim_chance(&sim->dice, 50) ? 1000 : 3000000);
	sim_children_tick(sim);
}

static void life_free(struct sim *sim)
{
	maintenance_free(sim->maintenance);
	documents_free(sim->documents);
	executor_free(sim->executor);
	effects_free(sim->effects);
	llm_host_done(&sim->models);
	sim_system_done(&sim->platform);
	arena_done(&sim->scratch);
	size_t left = sim_memory_end();
	if (left > 0)
		sim_fail(sim, "a life that ended in order leaked %zu blocks of memory", left);
}

/* An orderly stop with active runs; children die as they do in a crash. */
static void life_stop(struct sim *sim)
{
	sim_trace(sim, "STOP");
	sim->counts.stops++;
	sim->crashes_left -= sim->crashes_left > 0;
	sim->points_left = 0;
	sim->stopping = true;
	sim_system_drain(&sim->platform);
	life_free(sim);
	sim_workspace_crash(&sim->workspace);
	sim_children_crash(sim);
}

static void life_end(struct sim *sim)
{
	struct executor_counts counts = executor_counts(sim->executor);
	if (counts.active_runs + counts.open_tools + counts.open_turns + counts.waiting_appends +
		    counts.alarms + counts.queued >
	    0)
		sim_fail(sim,
			 "every run has ended and %zu runs, %zu tools, %zu turns, %zu appends, %zu "
			 "alarms, %zu places in the queue are left",
			 counts.active_runs, counts.open_tools, counts.open_turns,
			 counts.waiting_appends, counts.alarms, counts.queued);
	life_free(sim);
}

/* ---- a world ------------------------------------------------------------------------ */

static struct sim *world_new(uint64_t seed, enum sim_mode mode, bool trace)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	require(sim != NULL);
	sim->seed = seed;
	sim->mode = mode;
	sim->trace = trace;
	sim->dice.state = seed * UINT64_C(0xd1342543de82ef95) + mode;
	sim->mono = 1000000;
	sim->wall_offset = INT64_C(1790000000) * 1000000;
	sim_plan_make(&sim->plan, seed);
	sim_schedules_new(sim);
	sim_disk_open(sim);
	sim_workspace_init(&sim->workspace, sim);
	if (mode != SIM_CALM)
		sim->crashes_left = 2 + (unsigned)sim_below(&sim->dice, 10);
	return sim;
}

static void world_free(struct sim *sim)
{
	sim_disk_close(sim);
	sim_schedules_free(sim);
	sim_workspace_done(&sim->workspace);
	arena_done(&sim->plan.arena);
	free(sim);
}

/* The disk stays dead, so the world ends with the second life that notices it. */
static bool disk_is_dead(const struct sim *sim)
{
	return sim->mode == SIM_DISK_DIES && sim->counts.failed_commits >= 2;
}

static void world_play(struct sim *sim)
{
	current = sim;
	sim_disk_use(sim);
	sim_tools_use(sim);
	if (sim->mode == SIM_DISK_DIES)
		store_memory_fail_after(sim->store, 1 + sim_below(&sim->dice, 30));
	for (;;) {
		life_begin(sim);
		enum turn turn = take_turns(sim);
		if (turn == TURN_CRASHED)
			life_crash(sim);
		else if (turn == TURN_STOPPED)
			life_stop(sim);
		else if (!sim->failed)
			life_end(sim);
		else
			sim_memory_end();
		sim->life_ends[sim->counts.active_runs] =
			sim->reader->ops->newest_position(sim->reader);
		if (!sim->failed)
			sim_check(sim);
		if (sim->failed || turn == TURN_OVER || disk_is_dead(sim))
			return;
		require(sim->counts.active_runs + 1 < SIM_LIVES);
	}
}

/* ---- a seed ------------------------------------------------------------------------- */

/* The counts are an array of unsigned numbers followed by the 64-bit ones. */
static void add_counts(struct sim_counts *sum, const struct sim_counts *counts)
{
	unsigned *to = (unsigned *)sum;
	const unsigned *from = (const unsigned *)counts;
	for (size_t i = 0; i < offsetof(struct sim_counts, purged) / sizeof(unsigned); i++)
		to[i] += from[i];
	sum->purged += counts->purged;
	sum->events += counts->events;
}

static void check_same_bytes(struct sim *sim, struct sim *again)
{
	AUTO(arena) arena = { 0 };
	struct str first = store_memory_dump(sim->store, &arena);
	if (!str_equal(first, store_memory_dump(again->store, &arena)))
		sim_fail(sim, "the same seed gave a different store");
}

static enum sim_mode mode_of(uint64_t seed)
{
	return seed % 5 == 3    ? SIM_COMMIT_FAILS
	       : seed % 5 == 0  ? SIM_REFUSALS
	       : seed % 5 == 1  ? SIM_DISK_FULL
	       : seed % 20 == 7 ? SIM_DISK_DIES
				: SIM_CRASHES;
}

static bool play_seed(uint64_t seed, bool trace, struct sim_counts *sum)
{
	struct sim *calm = world_new(seed, SIM_CALM, trace);
	struct sim *sim = world_new(seed, mode_of(seed), trace);
	struct sim *again = world_new(seed, mode_of(seed), false);
	for (size_t i = 0; trace && i < SIM_DEFINITIONS; i++)
		printf(STR_FMT "----\n", STR_ARG(sim->plan.yaml[i]));
	world_play(calm);
	if (!calm->failed)
		world_play(sim);
	if (!calm->failed && !sim->failed) {
		if (!disk_is_dead(sim))
			sim_check_same_end(sim, calm);
		world_play(again);
		check_same_bytes(sim, again);
	}
	bool good = !calm->failed && !sim->failed && !again->failed;
	sim_count_story(sim);
	add_counts(sum, &sim->counts);
	world_free(calm);
	world_free(sim);
	world_free(again);
	return good;
}

enum { ENOUGH_SEEDS = 400, LEAST_CRASHES = 500, LEAST_COMPACTED = 400, LEAST_SNAPSHOTS = 1000 };

static void print_counts(const struct sim_counts *counts)
{
	printf("%u lives, %u crashes, %u orderly stops (%u drained, %u callers put off), %u failed commits, %u without room "
	       "(%u callers told), %u starts of "
	       "tools (%u repeated, %u unknown), "
	       "%u answers (%u refused), %llu events; %u passes compacted %u runs (%u snapshots, "
	       "%llu events gone)\n",
	       counts->active_runs, counts->crashes, counts->stops, counts->drains, counts->not_now,
	       counts->failed_commits, counts->full_commits, counts->full_replies, counts->starts,
	       counts->restarts, counts->unknown, counts->answers, counts->refused,
	       (unsigned long long)counts->events, counts->passes, counts->compacted,
	       counts->snapshots, (unsigned long long)counts->purged);
	printf("%u cancels, %u runs over their time, %u pauses, %u signals, %u escalations, %u "
	       "sub-runs, %u retries, %u unknown outcomes settled, %u queued; %u children told to "
	       "stop, %u probes, %u clock jumps, %u waits measured, %u runs compared; %u ticks of "
	       "schedules (%u let pass, %u changes of schedules); %u messages between agents (%u reads)\n",
	       counts->cancels, counts->timeouts, counts->pauses, counts->signals,
	       counts->escalations, counts->subruns, counts->retries, counts->settled,
	       counts->queued, counts->told, counts->asked, counts->jumps, counts->punctual,
	       counts->compared, counts->ticks, counts->skipped_ticks, counts->wishes,
	       counts->messages, counts->readings);
}

/* Whether every situation that the simulation is meant to cover has occurred. */
static bool is_lively(const struct sim_counts *counts)
{
	const unsigned all[] = { counts->cancels,  counts->timeouts,      counts->pauses,
				 counts->signals,  counts->escalations,   counts->subruns,
				 counts->retries,  counts->settled,       counts->queued,
				 counts->told,     counts->asked,         counts->jumps,
				 counts->punctual, counts->compared,      counts->unknown,
				 counts->ticks,    counts->skipped_ticks, counts->messages,
				 counts->readings };
	for (size_t i = 0; i < COUNT(all); i++)
		if (all[i] == 0)
			return false;
	return counts->crashes >= LEAST_CRASHES && counts->compacted >= LEAST_COMPACTED &&
	       counts->snapshots >= LEAST_SNAPSHOTS;
}

static uint64_t number_of(const char *text)
{
	int64_t number;
	if (text == NULL || !str_to_int(str_from_c(text), &number) || number < 0) {
		fprintf(stderr,
			"usage: sim [--seed N | --seeds FIRST COUNT] [--trace] [--cells]\n");
		exit(2);
	}
	return (uint64_t)number;
}

int main(int count, char **words)
{
	uint64_t first = 1, seeds = 200, passed = 0;
	bool trace = false, cells = false;
	for (int i = 1; i < count; i++) {
		if (strcmp(words[i], "--trace") == 0) {
			trace = true;
		} else if (strcmp(words[i], "--cells") == 0) {
			cells = true;
		} else if (strcmp(words[i], "--seed") == 0) {
			first = number_of(words[++i]);
			seeds = 1;
		} else if (strcmp(words[i], "--seeds") == 0 && i + 2 < count) {
			first = number_of(words[++i]);
			seeds = number_of(words[++i]);
		} else {
			number_of(NULL);
		}
	}
	log_setup((struct log_settings){ .least = LOG_SILENT });
	setvbuf(stdout, NULL, _IOLBF, 0);
	failpoint_active = true;
	/* Allocated once for the whole process, so it must not belong to a life. */
	contract_init(run_module_types, run_module_type_count);
	struct sim_counts sum = { 0 };
	for (uint64_t seed = first; seed < first + seeds; seed++)
		passed += play_seed(seed, trace, &sum);
	print_counts(&sum);
	size_t unvisited = sim_cells_print(cells);
	if (seeds >= ENOUGH_SEEDS && !is_lively(&sum)) {
		printf("one of these counts is too low: the simulation no longer covers it\n");
		passed = 0;
	}
	if (seeds >= ENOUGH_SEEDS && unvisited > 0) {
		printf("the cells above were never visited\n");
		passed = 0;
	}
	printf("%llu passed, %llu failed\n", (unsigned long long)passed,
	       (unsigned long long)(seeds - passed));
	return passed == seeds ? 0 : 1;
}
