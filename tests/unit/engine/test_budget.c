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
