/* sim/sim_driver.c -- the callers: they start runs, repeat requests, send invalid requests, run
 * maintenance, and act as people (sim_people.c), in random order.
 */
#include <stdio.h>

#include "active/run_commands.h"
#include "maintenance/maintenance.h"
#include "sim/sim.h"

#include "contract/run_start_types.h"

enum { ASK_AGAIN = 1 << 8 };

static bool projection_run_row(struct sim *sim, const struct uuid *id, struct arena *arena,
			       struct store_run *out)
{
	bool found;
	struct error error;
	bool good = sim->reader->ops->read_run(sim->reader, id, arena, out, &found, &error);
	require(good);
	return found;
}

static bool run_is_stored(struct sim *sim, const struct uuid *id)
{
	AUTO(arena) arena = { 0 };
	struct store_run row;
	return projection_run_row(sim, id, &arena, &row);
}

bool sim_all_ended(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct store_run row;
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (!projection_run_row(sim, &sim->plan.runs[i].id, &arena, &row) ||
		    row.ended_at == 0)
			return false;
	for (size_t i = 0; i < sim->known_count; i++)
		if (!projection_run_row(sim, &sim->known[i].id, &arena, &row) || row.ended_at == 0)
			return false;
	return true;
}

/* ---- starting ----------------------------------------------------------------------- */

static void started(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct sim *sim = context;
	struct sim_run *run = &sim->plan.runs[argument % ASK_AGAIN];
	bool again = argument >= ASK_AGAIN;
	sim_trace(sim, "start of run %u: %s", (unsigned)(argument % ASK_AGAIN),
		  reply->error == NULL ? "acknowledged" : reply->error->text);
	if (run->stolen && reply->error != NULL && reply->error->code == ERROR_CONFLICT &&
	    run_is_stored(sim, &run->id))
		return;
	/* A run that somebody asks for is looked up, and while it is its id is taken. */
	if (run->hurried && reply->error != NULL && reply->error->code == ERROR_CONFLICT &&
	    !run_is_stored(sim, &run->id)) {
		run->asked = false;
		return;
	}
	if (reply->error == NULL && reply->repeated) {
		if (!run->forged)
			sim_fail(sim, "a start with a new key is called a repeated one");
		run->forged = false;
		run->asked = again && run->asked;
		return;
	}
	if (reply->error != NULL && reply->error->code == ERROR_STORAGE_FULL &&
	    sim->mode == SIM_DISK_FULL) {
		sim->counts.full_replies++;
		run->asked = again && run->asked;
		if (again)
			sim_fail(sim, "a run that is stored was created again");
		return;
	}
	if (reply->error != NULL && sim_not_now(sim, reply->error)) {
		run->asked = again && run->asked;
		return;
	}
	if (reply->error != NULL) {
		if (!again || reply->error->code != ERROR_CONFLICT)
			sim_fail(sim, "a start was refused: %s", reply->error->text);
		return;
	}
	if (sim->fatal)
		sim_fail(sim, "a start was acknowledged after the store had failed");
	if (again || run->acknowledged)
		sim_fail(sim, "one run was created twice");
	if (!run_is_stored(sim, &run->id))
		sim_fail(sim, "a run was acknowledged before it was stored");
	run->acknowledged = true;
}

struct executor_value sim_value(struct sim *sim, struct str text, struct arena *arena)
{
	struct error error;
	struct executor_value value = { 0 };
	if (text.size == 0)
		return value;
	bool good = json_read(str_copy(arena, text), arena, &value.json, &error);
	require(good);
	if (sim_chance(&sim->dice, 50))
		value.memory = arena;
	return value;
}

static void start(struct sim *sim, size_t number, uint64_t flags)
{
	struct sim_run *run = &sim->plan.runs[number];
	char name[8];
	snprintf(name, sizeof(name), "w%zu", run->definition);
	AUTO(arena) arena = { 0 };
	struct run_start kept = { .by = S("ada"), .is.by = GIVEN };
	SET(&kept, priority, (int64_t)number);
	if (run->alone)
		SET(&kept, key, S("one at a time"));
	struct executor_start spec = { .inputs = sim_value(sim, run->inputs, &arena),
				       .run = run->id,
				       .start = &kept };
	/* The workflow is given by name, as YAML text, or both. */
	uint64_t how = sim_below(&sim->dice, 3);
	if (how != 0)
		spec.yaml = sim->plan.yaml[run->definition];
	if (how != 1)
		spec.workflow = str_from_c(name);
	run->key[0] = '\0';
	if (sim->mode == SIM_REFUSALS && sim_chance(&sim->dice, 40))
		snprintf(run->key, sizeof(run->key), "start%u", ++sim->counts.asks);
	spec.key = (struct idempotency_key){ str_from_c(run->key), hash_of(S("the same request")) };
	run->asked = true;
	executor_start(sim->executor, &spec, started, sim, number | flags);
}

static void refused(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct sim *sim = context;
	(void)argument;
	if (reply->error != NULL && sim_not_now(sim, reply->error))
		return;
	if (reply->error == NULL || reply->error->code != ERROR_INVALID)
		sim_fail(sim, "a start without its inputs was not refused as invalid");
}

static void start_wrongly(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct executor_start spec = { .yaml = sim->plan.yaml[0],
				       .inputs = sim_value(sim, S("{\"other\":1}"), &arena) };
	executor_start(sim->executor, &spec, refused, sim, 0);
}

/* ---- housekeeping ------------------------------------------------------------------- */

enum { WHOLE = 1 };

static void compacted(void *context, uint64_t whole, const struct maintenance_compacted *result)
{
	struct sim *sim = context;
	sim_trace(sim, "a pass: %s", result->error == NULL ? "done" : result->error->text);
	sim->tidying = false;
	if (result->error != NULL) {
		bool full = result->error->code == ERROR_STORAGE_FULL;
		if (!sim->fatal && !(full && sim->mode == SIM_DISK_FULL))
			sim_fail(sim, "a pass failed: %s", result->error->text);
		return;
	}
	sim->counts.passes++;
	sim->counts.compacted += (unsigned)result->compacted;
	/* A run that was retried behind the pass has events again. */
	sim->tidy = whole == WHOLE && sim_schedules_over(sim) && sim_all_ended(sim) &&
		    sim->retries == sim->retries_before;
}

/* Compacts sometimes every ended run, sometimes only runs with more than a few events. */
static bool compact(struct sim *sim, bool whole)
{
	if (sim->tidying || sim->tidy)
		return false;
	struct maintenance_compaction wanted = { .days = 0, .max_events = -1 };
	if (!whole && sim_chance(&sim->dice, 60)) {
		wanted.days = 1;
		wanted.max_events = 2 + (int64_t)sim_below(&sim->dice, 20);
	}
	wanted.counts_values = sim_chance(&sim->dice, 20);
	sim->tidying = true;
	sim->retries_before = sim->retries;
	maintenance_compact(sim->maintenance, &wanted, compacted, sim, whole ? WHOLE : 0);
	return true;
}

static void rebuilt(void *context, uint64_t argument, const struct maintenance_rebuilt *result)
{
	struct sim *sim = context;
	(void)argument;
	if (result->error != NULL && !sim->fatal)
		sim_fail(sim, "a rebuild failed: %s", result->error->text);
	if (result->problem_count > 0)
		sim_fail(sim, "a rebuild found: " STR_FMT, STR_ARG(result->problems[0]));
	if (result->resumed > 0)
		sim_fail(sim, "a rebuild found a run that recovery had missed");
}

/* ---- one call ----------------------------------------------------------------------- */

static bool start_one(struct sim *sim)
{
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (!sim->plan.runs[i].asked && !run_is_stored(sim, &sim->plan.runs[i].id)) {
			start(sim, i, 0);
			return true;
		}
	return false;
}

static bool start_again(struct sim *sim)
{
	size_t number = (size_t)sim_below(&sim->dice, sim->plan.run_count);
	if (!run_is_stored(sim, &sim->plan.runs[number].id))
		return false;
	start(sim, number, ASK_AGAIN);
	return true;
}

bool sim_definition(void *context, struct store_reader *reader, struct str name,
		    struct arena *arena, struct str *out_yaml, struct error *error)
{
	const struct sim *sim = context;
	(void)reader;
	(void)arena;
	if (sim_schedules_definition(name, out_yaml))
		return true;
	if (name.size != 2 || name.at[0] != 'w' || name.at[1] < '0' ||
	    name.at[1] >= '0' + SIM_DEFINITIONS)
		return fail(error, ERROR_NOT_FOUND, "no such workflow");
	*out_yaml = sim->plan.yaml[name.at[1] - '0'];
	return true;
}

/* Where budgets limit turns, failed runs are always retried: a retry that requests a turn at once is rare
 * otherwise, and its append may be refused by the guard. */
static bool retry_for_budget(struct sim *sim)
{
	return sim->plan.budgets && sim->mode != SIM_CALM && sim_retry_one(sim);
}

/* The program is idle and nothing is due. */
static bool drive_on(struct sim *sim)
{
	sim_schedules_still(sim);
	return sim_top_up(sim) || start_one(sim) || sim_schedule_one(sim) || sim_resume_one(sim) ||
	       sim_answer_one(sim, true) || sim_signal_one(sim) || retry_for_budget(sim) ||
	       (sim_all_ended(sim) && compact(sim, true));
}

bool sim_drive(struct sim *sim, bool must)
{
	if (sim->fatal)
		return false;
	if (must)
		return drive_on(sim);
	if (sim->impatience > 0 && sim_hurry_one(sim))
		return true;
	if (sim->talks && sim_talk_to_one(sim))
		return true;
	if (sim->calls_off && sim_call_off_one(sim))
		return true;
	if (sim->recovered && sim_chance(&sim->dice, 2)) {
		maintenance_rebuild(sim->maintenance, rebuilt, sim, 0);
		return true;
	}
	if (sim_chance(&sim->dice, 6))
		return compact(sim, false);
	if (!sim_schedules_over(sim) && sim_chance(&sim->dice, 15))
		return sim_schedule_one(sim);
	uint64_t choice = sim_below(&sim->dice, 18);
	if (choice < 5)
		return start_one(sim);
	if (choice < 10)
		return sim_answer_one(sim, false);
	if (choice < 12)
		return sim_signal_one(sim);
	if (sim->mode == SIM_CALM)
		return false;
	switch (choice) {
	case 12:
		return start_again(sim);
	case 13:
		return sim_answer_again(sim);
	case 14:
		return sim_tell_again(sim);
	case 15:
		if (sim_chance(&sim->dice, 20)) {
			start_wrongly(sim);
			return true;
		}
		return false;
	default:
		return sim_disturb_one(sim);
	}
}
