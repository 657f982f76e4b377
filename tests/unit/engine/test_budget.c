/* The budget of a run.  The rig takes every history up at every place in it, so these tests also show
 * that snapshots keep reservations. */
#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"
#include "engine/budget.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void end(void)
{
	rig_done(&rig);
}

TestSuite(budget, .fini = end);

/* One picodollar for each token of a reply, of which there are 8192 at most. */
static bool find(const void *context, const struct run_graph_agent *agent,
		 struct engine_price *out_price)
{
	(void)agent;
	*out_price = (struct engine_price){ .input = context == NULL ? 0 : 1, .output = 1 };
	return true;
}

static const struct engine_prices prices = { find, NULL };

static const char three[] = "name: w\n"
			    "budget_usd: 0.00000002\n" /* 20000 picodollars */
			    "agents:\n"
			    "  ada: {driver: script, model: m, options: {replies: [{text: a}]}}\n"
			    "steps:\n"
			    "  - {name: a, agent: ada, inputs: {prompt: x}}\n"
			    "  - {name: b, agent: ada, inputs: {prompt: x}}\n"
			    "  - {name: c, agent: ada, inputs: {prompt: x}}\n"
			    "  - {name: d, tool: put, inputs: {x: 1}}\n";

static void begin(void)
{
	rig_init(&rig, three);
	rig.prices = &prices;
	rig_create(&rig, "{}");
}

static void answer(const char *step, const char *output, const char *usage)
{
	struct command command = rig_finished(&rig, step, output);
	command.usage = usage == NULL ? NULL : rig_json(&rig, usage);
	rig_do(&rig, &command);
}

static void resume(const char *budget)
{
	struct command command = { .kind = COMMAND_RESUME, .by = S("ada") };
	command.output = budget == NULL ? NULL : rig_json(&rig, budget);
	rig_do(&rig, &command);
}

static bool is_open(const char *step)
{
	return rig_step(&rig, step)->open;
}

static const char spent[] = "{\"output_tokens\":5,\"cost\":5}";

Test(budget, a_turn_waits_while_others_hold_reservations)
{
	begin();
	cr_assert(is_open("a") && is_open("b"), "two fit");
	cr_assert(!is_open("c") && !rig.run->paused, "the third waits");
	answer("a", "{\"text\":\"a\"}", spent);
	cr_assert(is_open("c"), "a has settled");
	cr_assert_eq(rig.run->usages->open_count, 2);
	answer("b", "{\"text\":\"b\"}", spent);
	answer("c", "{\"text\":\"c\"}", spent);
	cr_assert_eq(rig.run->usages->open_count, 0);
	cr_assert_eq(rig.run->usages->booked, 0);
	rig_finish(&rig, "d", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(budget, a_turn_without_a_known_cost_is_booked_in_full)
{
	begin();
	answer("a", NULL, NULL);
	cr_assert_eq(rig.run->usages->booked, 8192);
	cr_assert_not(is_open("c"), "8192 are booked, 8192 reserved, 8192 more do not fit");
	answer("b", "{\"text\":\"b\"}", "{\"output_tokens\":5}");
	cr_assert_eq(rig.run->usages->booked, 16384);
	cr_assert(rig.run->paused, "nothing is reserved any more");
	cr_assert_not(is_open("c"));
	resume(NULL);
	cr_assert(rig.run->paused, "no more money");
	resume("0.00000003");
	cr_assert(is_open("c") && !rig.run->paused);
}

/* After a crash the turn is booked, and asked again as another attempt. */
Test(budget, a_turn_that_a_crash_interrupts_reserves_again)
{
	begin();
	struct command again = { .kind = COMMAND_RESTARTED,
				 .step = S("a"),
				 .effect = rig_step(&rig, "a")->effect };
	rig_do(&rig, &again);
	cr_assert_eq(rig.run->usages->booked, 8192);
	cr_assert(!is_open("a") && !rig.run->paused, "b holds the rest");
	answer("b", "{\"text\":\"b\"}", spent);
	cr_assert(is_open("a"), "it is asked again");
	cr_assert_eq(rig_step(&rig, "a")->attempt, 2);
	cr_assert_eq(rig.run->usages->open_count, 1);
}

Test(budget, without_prices_nothing_is_reserved)
{
	rig_init(&rig, three);
	rig_create(&rig, "{}");
	cr_assert(is_open("a") && is_open("b") && is_open("c"));
	cr_assert_null(rig.run->usages);
}

/* The request counts with at most one token per byte and what a provider adds. */
Test(budget, the_request_is_reserved_too)
{
	static const struct engine_prices dear = { find, &prices };
	rig_init(&rig, three);
	rig.prices = &dear;
	rig_create(&rig, "{}");
	cr_assert_eq(rig.run->usages->open_count, 1);
	cr_assert_geq(rig.run->usages->open[0].amount, 8192 + 4096 + 100);
}

/* A run that unwinds cannot be paused.  The turn was interrupted, so the step is retrying: it fails. */
Test(budget, a_retry_of_a_finally_step_fails_without_money)
{
	rig_init(&rig, "name: w\n"
		       "budget_usd: 0.00000001\n" /* one turn */
		       "agents:\n"
		       "  ada: {driver: script, model: m, options: {replies: [{text: a}]}}\n"
		       "steps:\n"
		       "  - name: t\n"
		       "    try:\n"
		       "      steps: [{name: a, tool: put, inputs: {x: 1}}]\n"
		       "      finally: [{name: f, agent: ada, inputs: {prompt: x}}]\n");
	rig.prices = &prices;
	rig_create(&rig, "{}");
	struct command cancel = { .kind = COMMAND_CANCEL, .by = S("ada") };
	rig_do(&rig, &cancel);
	struct command closed = rig_finished(&rig, "t/a", NULL);
	closed.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &closed);
	cr_assert(is_open("t/f"));
	struct command again = { .kind = COMMAND_RESTARTED,
				 .step = S("t/f"),
				 .effect = rig_step(&rig, "t/f")->effect };
	rig_do(&rig, &again);
	cr_assert_eq(rig.run->usages->booked, 8192);
	cr_assert_eq(rig.run->usages->open_count, 0);
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
}

/* A cancelled turn cannot be told from one that was answered: it is booked. */
Test(budget, a_cancelled_turn_is_booked)
{
	begin();
	struct command cancel = { .kind = COMMAND_CANCEL, .by = S("ada") };
	rig_do(&rig, &cancel);
	struct command closed = rig_finished(&rig, "a", NULL);
	closed.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &closed);
	cr_assert_eq(rig.run->usages->booked, 8192);
	cr_assert_eq(rig.run->usages->open_count, 1);
}

/* ---- named budgets --------------------------------------------------------------------------- */

/* The ledger of the test: what other runs have of the budgets. */
static struct engine_budget world[4];
static const char *const world_names[] = { "agent:ada", "day:1970-01-01", "server",
					   "day:1970-01-02" };

static bool find_budget(const void *context, struct str name, struct engine_budget *out_budget)
{
	(void)context;
	for (size_t i = 0; i < COUNT(world); i++)
		if (str_equal(name, str_from_c(world_names[i])) && world[i].limit > 0) {
			*out_budget = world[i];
			return true;
		}
	return false;
}

static const struct engine_budgets budgets = { find_budget, NULL };

static const char two[] = "name: w\n"
			  "agents:\n"
			  "  ada: {driver: script, model: m, options: {replies: [{text: a}]}}\n"
			  "steps:\n"
			  "  - {name: a, agent: ada, inputs: {prompt: x}}\n"
			  "  - {name: b, agent: ada, inputs: {prompt: x}}\n";

static void begin_named(void)
{
	rig_init(&rig, two);
	rig.prices = &prices;
	rig.budgets = &budgets;
	rig_create(&rig, "{}");
}

/* A command that only lets steps start. */
static void poke(void)
{
	struct command command = { .kind = COMMAND_SIGNAL, .name = S("x"), .by = S("ada") };
	command.output = rig_json(&rig, "1");
	rig_do(&rig, &command);
}

static const struct budget_total *total(const char *name)
{
	for (size_t i = 0; rig.run->usages != NULL && i < rig.run->usages->budget_count; i++)
		if (str_equal(rig.run->usages->budgets[i].name, str_from_c(name)))
			return &rig.run->usages->budgets[i];
	return NULL;
}

Test(budget, a_turn_reserves_of_every_budget_that_has_a_limit)
{
	world[0] = (struct engine_budget){ .limit = 20000 };
	world[2] = (struct engine_budget){ .limit = 20000, .used = 3 };
	begin_named();
	cr_assert(is_open("a") && is_open("b"));
	cr_assert_eq(total("agent:ada")->taken, 16384);
	cr_assert_eq(total("server")->taken, 16384);
	cr_assert_null(total("day:1970-01-01"), "it has no limit");
	answer("a", "{\"text\":\"a\"}", spent);
	cr_assert_eq(total("server")->spent, 5);
	cr_assert_eq(total("server")->released, 8192);
	answer("b", NULL, NULL);
	cr_assert_eq(total("agent:ada")->spent, 5 + 8192, "an unknown cost is booked in full");
	cr_assert_eq(total("agent:ada")->released, 16384);
}

/* What the decision has reserved itself counts, too. */
Test(budget, the_turns_of_one_decision_share_a_named_budget)
{
	world[2] = (struct engine_budget){ .limit = 10000 };
	begin_named();
	cr_assert(is_open("a") && !is_open("b"), "the second would exceed it");
	cr_assert(!rig.run->paused, "it waits for the first");
}

Test(budget, a_turn_waits_for_the_reservations_of_other_runs_and_behind_them)
{
	world[2] = (struct engine_budget){ .limit = 10000, .used = 9000, .reserved = 9000 };
	begin_named();
	cr_assert(!is_open("a") && !rig.run->paused);
	/* They have settled; but another run came before. */
	world[2] = (struct engine_budget){ .limit = 10000, .used = 5, .ahead = true };
	poke();
	cr_assert(!is_open("a") && !rig.run->paused);
	world[2].ahead = false;
	poke();
	cr_assert(is_open("a"));
}

Test(budget, a_named_budget_that_is_used_up_pauses_the_run)
{
	world[0] = (struct engine_budget){ .limit = 10000, .used = 9000 };
	begin_named();
	cr_assert(rig.run->paused);
	cr_assert(str_equal(rig.run->pause.budget, S("agent:ada")));
	cr_assert_eq(rig.run->pause.amount, 8192);
	cr_assert_eq(rig.run->pause.until, 0);
	struct command command = { .kind = COMMAND_RESUME, .by = S("baton"), .name = S("server") };
	rig_refused(&rig, &command, ERROR_CONFLICT);
	world[0].limit = 20000;
	command.name = S("agent:ada");
	rig_do(&rig, &command);
	cr_assert(is_open("a") && !rig.run->paused);
	cr_assert_eq(rig.run->pause.budget.size, 0);
}

Test(budget, the_end_of_the_day_resumes_a_run_that_waits_for_it)
{
	const int64_t day = 86400LL * 1000000;
	world[1] = (struct engine_budget){ .limit = 10000, .used = 9000 };
	world[3] = (struct engine_budget){ .limit = 10000 };
	begin_named();
	cr_assert(rig.run->paused);
	cr_assert(str_equal(rig.run->pause.budget, S("day:1970-01-01")));
	cr_assert_eq(rig.run->pause.until, day);
	struct command due = { .kind = COMMAND_DUE };
	rig.now = day - 10;
	rig_refused(&rig, &due, ERROR_CONFLICT);
	rig.now = day;
	rig_do(&rig, &due);
	cr_assert(is_open("a") && !rig.run->paused);
	/* The turn belongs to the day of its request, also when it ends on the next one. */
	rig.now = 2 * day + 5;
	answer("a", "{\"text\":\"a\"}", spent);
	cr_assert_eq(total("day:1970-01-02")->spent, 5);
	cr_assert_eq(total("day:1970-01-02")->released, 8192);
}
