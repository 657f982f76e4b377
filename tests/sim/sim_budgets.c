/* sim/sim_budgets.c -- a budget of all runs in some of the worlds.
 *
 * The limit is a few turns.  When a run is paused for it, a person raises it.  Whatever crashes, the guard
 * never exceeds the limit, and it is the sum of what the folded runs have spent and hold.  In some lives
 * the ledger hides what it knows, so that only guards limit the turns.
 *
 * During some commits another owner of the file has reserved all that is left, and gives it back
 * afterwards: the store refuses the turns of the commit, and the ledger learns a count that is too high
 * from then on.  The refused command is decided again, whatever it was.
 */
#include "active/ledger.h"
#include "llm/price.h"
#include "sim/sim.h"

enum { TURN = 8192 }; /* what a turn reserves: the longest reply, a picodollar for each token */

static const struct price rows[] = {
	{ .provider = { "*", 1 }, .model = { "*", 1 }, .output = 1 },
};
static const struct price_table prices = { rows, COUNT(rows) };

static bool has_budgets(const struct sim *sim)
{
	return sim->plan.budgets;
}

void sim_budgets_begin(struct sim *sim)
{
	if (!has_budgets(sim))
		return;
	if (sim->budget == 0)
		sim->budget = (int64_t)(1 + sim->seed % 4) * TURN;
	sim->hides_budget = sim->mode != SIM_CALM && sim_chance(&sim->dice, 40);
	sim->models.prices = &prices;
}

void sim_budgets_limit(struct sim *sim)
{
	if (has_budgets(sim))
		ledger_set_limit(sim->executor, S("server"), sim->budget);
}

bool sim_top_up(struct sim *sim)
{
	if (!has_budgets(sim) || ledger_queue(sim->executor, S("server")).paused == 0)
		return false;
	sim->budget += (int64_t)(1 + sim_below(&sim->dice, 4)) * TURN;
	sim_trace(sim, "the budget is %lld now", (long long)sim->budget);
	ledger_set_limit(sim->executor, S("server"), sim->budget);
	return true;
}

static int64_t guard(struct sim *sim, struct str name)
{
	int64_t value;
	struct error error;
	bool good = sim->reader->ops->read_guard(sim->reader, name, &value, &error);
	require(good);
	return value;
}

/* The run is created, leaves the admission queue, or is retried. */
static bool is_beginning(const struct store_append *append)
{
	return append->expected_seq == 0 ||
	       (append->event_count > 0 && (str_equal(append->events[0].type, S("run.started")) ||
					    str_equal(append->events[0].type, S("run.retried"))));
}

static bool reserves(const struct store_append *append)
{
	for (size_t i = 0; i < append->guard_count; i++)
		if (append->guards[i].limit >= 0 && append->guards[i].change > 0 &&
		    str_starts(append->guards[i].name, S(STORE_BUDGET_USED)))
			return true;
	return false;
}

/* What another owner takes of the budget, so that the store refuses every reservation.  Preferably when
 * a run begins, is started or is retried, because results are much more frequent. */
static int64_t crowd_budget(struct sim *sim, struct store_append *const *appends, size_t count)
{
	bool asked = false, begins = false;
	for (size_t i = 0; i < count; i++)
		if (reserves(appends[i])) {
			asked = true;
			begins = begins || is_beginning(appends[i]);
		}
	/* A store that is about to fail for ever could not take it back. */
	if (sim->mode == SIM_CALM || sim->mode == SIM_DISK_DIES || !asked ||
	    !sim_chance(&sim->dice, begins ? 80 : 40))
		return 0;
	return sim->budget - guard(sim, S(STORE_BUDGET_USED "server"));
}

bool sim_budgets_commit(struct sim *sim, struct store *store, struct store_append *const *appends,
			size_t count, struct error *error)
{
	const struct str used = S(STORE_BUDGET_USED "server");
	int64_t crowd = crowd_budget(sim, appends, count);
	if (crowd > 0) {
		sim_trace(sim, "another owner has what is left of the budget: %lld",
			  (long long)crowd);
		sim_move_count(sim, store, used, crowd);
	}
	bool good = sim_disk_memory()->commit(store, appends, count, error);
	if (crowd > 0)
		sim_move_count(sim, store, used, -crowd);
	return good;
}

void sim_check_budgets(struct sim *sim, struct run *const *folds)
{
	int64_t used = 0, reserved = 0;
	for (size_t r = 0; r < sim->known_count; r++)
		for (size_t i = 0; folds[r]->usages != NULL && i < folds[r]->usages->budget_count;
		     i++) {
			const struct budget_total *total = &folds[r]->usages->budgets[i];
			reserved += total->taken - total->released;
			used += total->spent + total->taken - total->released;
		}
	if (used != guard(sim, S(STORE_BUDGET_USED "server")) ||
	    reserved != guard(sim, S(STORE_BUDGET_RESERVED "server")))
		sim_fail(sim, "the guards of the budget are not what the runs have of it");
	if (used > sim->budget)
		sim_fail(sim, "%lld are spent and reserved of a budget of %lld", (long long)used,
			 (long long)sim->budget);
}
