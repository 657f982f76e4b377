/* sim/sim_refusals.c -- a disk that refuses appends for every reason except lack of space.
 *
 * Another owner of the same file could have caused each of these refusals, and the world stays
 * consistent:
 *
 *	conflict         the append is not written, and its command must be decided again
 *	conflict of a    the creation is written but reported as a conflict: another process was
 *	creation         first.  No program continues that run in this life, so a crash follows soon.
 *	repeated         the append is not written; the caller is told that it was done before, and
 *	                 does not rely on it
 *	guard refused    the count of active runs was wrong: it is decremented before the end of a run
 *	                 that would decrement it, so it is right afterwards
 *	guard of a       see sim_budgets.c
 *	budget refused
 */
#include <stdio.h>

#include "sim/sim.h"

void sim_move_count(struct sim *sim, struct store *store, struct str guard, int64_t change)
{
	static const struct uuid system_stream;
	AUTO(arena) arena = { 0 };
	struct store_run row = { .name = S("system"), .state = S(""), .summary = S("{}") };
	struct error error;
	bool found;
	bool good = sim->reader->ops->read_run(sim->reader, &system_stream, &arena, &row, &found,
					       &error);
	require(good);
	const struct store_guard guards[] = { { guard, change, -1 } };
	struct store_append append = {
		.expected_seq = found ? row.seq : 0,
		.run = row,
		.guards = guards,
		.guard_count = COUNT(guards),
		.request = { .key = str_format(&arena, "wrong count %u", ++sim->counts.spoiled),
			     .at = sim->mono + sim->wall_offset },
	};
	struct store_append *one[] = { &append };
	good = sim_disk_memory()->commit(store, one, COUNT(one), &error);
	require(good); /* a count that an earlier life left wrong is refused here, too */
}

static bool find_row(struct sim *sim, const struct uuid *run, struct arena *arena,
		     struct store_run *out_row)
{
	struct error error;
	bool found;
	bool good = sim->reader->ops->read_run(sim->reader, run, arena, out_row, &found, &error);
	require(good);
	return found;
}

/* The append would be accepted, and until then no other run could use the slot. */
static bool may_spoil(struct sim *sim, const struct store_append *append)
{
	AUTO(arena) arena = { 0 };
	struct store_run row;
	if (!find_row(sim, &append->run.id, &arena, &row) || row.seq != append->expected_seq)
		return false;
	for (size_t i = 0; i < sim->plan.run_count; i++) {
		const struct sim_run *other = &sim->plan.runs[i];
		if (other->alone && !uuid_equal(&other->id, &append->run.id) &&
		    (!find_row(sim, &other->id, &arena, &row) || row.ended_at == 0))
			return false;
	}
	return sim_chance(&sim->dice, 60);
}

/* The caller with this idempotency key must not rely on the answer. */
static void mark_forged(struct sim *sim, struct str key)
{
	for (size_t i = 0; i < sim->told_count; i++)
		if (str_equal(str_from_c(sim->told[i].key), key))
			sim->told[i].forged = true;
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (str_equal(str_from_c(sim->plan.runs[i].key), key))
			sim->plan.runs[i].forged = true;
}

static struct sim_run *planned(struct sim *sim, const struct uuid *run)
{
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (uuid_equal(&sim->plan.runs[i].id, run))
			return &sim->plan.runs[i];
	return NULL;
}

static bool is_stolen(struct sim *sim, const struct store_append *append)
{
	if (append->expected_seq != 0 || sim->crashes_left == 0 || sim->turns_left > 0 ||
	    sim->stopping)
		return false;
	/* Preferably sub-runs, and runs that already got a command. */
	struct sim_run *run = planned(sim, &append->run.id);
	if (!sim_chance(&sim->dice, run == NULL || run->hurried ? 40 : 10))
		return false;
	sim->counts.stolen++;
	sim->hung = true; /* no program continues it in this life */
	if (run != NULL)
		run->stolen = true;
	uint64_t soon = 1 + sim_below(&sim->dice, 60);
	if (sim->points_left == 0 || sim->points_left > soon)
		sim->points_left = soon;
	return true;
}

static bool is_refused(struct sim *sim, struct store *store, struct store_append *append)
{
	for (size_t i = 0; i < append->guard_count; i++)
		if (append->guards[i].change < 0 &&
		    str_starts(append->guards[i].name, S("alone.")) && may_spoil(sim, append))
			sim_move_count(sim, store, append->guards[i].name, -1);
	if (append->request.key.size > 0 && sim_chance(&sim->dice, sim->fetching > 0 ? 80 : 30)) {
		append->outcome = STORE_REPEATED;
		mark_forged(sim, append->request.key);
		return true;
	}
	if (append->expected_seq != 0 && sim_chance(&sim->dice, sim->stopping       ? 80
								: sim->fetching > 0 ? 30
										    : 6)) {
		append->outcome = STORE_CONFLICT;
		return true;
	}
	return false;
}

bool sim_refusals_commit(struct sim *sim, struct store *store, struct store_append *const *appends,
			 size_t count, struct error *error)
{
	struct store_append *rest[256] = { NULL }, *stolen[256] = { NULL };
	size_t rest_count = 0, stolen_count = 0;
	require(count <= COUNT(rest));
	for (size_t i = 0; i < count; i++) {
		bool documents = uuid_is_zero(&appends[i]->run.id);
		if (!documents && is_refused(sim, store, appends[i])) {
			sim->counts.refused_appends++;
			sim_trace(sim, "an append is refused, outcome %d",
				  (int)appends[i]->outcome);
			continue;
		}
		if (!documents && is_stolen(sim, appends[i]))
			stolen[stolen_count++] = appends[i];
		rest[rest_count++] = appends[i];
	}
	bool good = rest_count == 0 || sim_budgets_commit(sim, store, rest, rest_count, error);
	if (good)
		sim_disk_record(sim, rest, rest_count);
	for (size_t i = 0; good && i < stolen_count; i++)
		if (stolen[i]->outcome == STORE_COMMITTED) {
			sim_trace(sim, "a creation is reported as a conflict");
			stolen[i]->outcome = STORE_CONFLICT;
		}
	return good;
}
