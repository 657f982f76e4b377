/* What turns used, as part of a run's state.  The rig takes every history up at every place in it, so
 * these tests also show that snapshots keep it. */
#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"
#include "engine/usage.h"

static struct rig rig;

static void end(void)
{
	rig_done(&rig);
}

TestSuite(usage, .fini = end);

static const char two_agents[] =
	"name: w\n"
	"agents:\n"
	"  ada: {driver: script, model: m, options: {replies: [{text: a}]}}\n"
	"  bob: {driver: script, options: {replies: [{text: b}]}}\n"
	"steps:\n"
	"  - {name: a, agent: ada, inputs: {prompt: x}, retry: {max_retries: 1, on: [tool_failed]}}\n"
	"  - {name: b, agent: bob, depends_on: [a], inputs: {prompt: x}}\n"
	"  - {name: c, agent: ada, depends_on: [b], inputs: {prompt: x}}\n";

static void answer(const char *step, const char *output, const char *usage)
{
	struct command command = rig_finished(&rig, step, output);
	command.usage = usage == NULL ? NULL : rig_json(&rig, usage);
	rig_do(&rig, &command);
}

Test(usage, is_summed_up_by_day_agent_provider_and_model)
{
	const int64_t day_us = 86400LL * 1000000;
	rig_init(&rig, two_agents);
	rig.now = 20000 * day_us + 5;
	rig_create(&rig, "{}");
	answer("a", NULL, "{\"input_tokens\":5,\"cost\":50,\"provider\":\"p\",\"model\":\"m\"}");
	rig_due(&rig, "a");
	answer("a", "{\"text\":\"a\"}",
	       "{\"input_tokens\":7,\"output_tokens\":2,\"cache_read_tokens\":3,\"saved\":-4,"
	       "\"cost\":70,\"provider\":\"p\",\"model\":\"m\"}");
	answer("b", "{\"text\":\"b\"}", "{\"input_tokens\":1}");
	rig.now += day_us;
	answer("c", "{\"text\":\"c\"}", NULL);
	const struct usages *all = rig.run->usages;
	cr_assert_eq(all->count, 2, "a turn without usage is not counted");
	const struct usage *ada = &all->at[0], *bob = &all->at[1];
	cr_assert_eq(ada->day, 20000);
	cr_assert(str_equal(ada->agent, S("ada")) && str_equal(ada->provider, S("p")));
	cr_assert_eq(ada->turns, 2);
	cr_assert_eq(ada->unpriced, 0);
	cr_assert_eq(ada->input_tokens, 12);
	cr_assert_eq(ada->output_tokens, 2);
	cr_assert_eq(ada->cache_read_tokens, 3);
	cr_assert_eq(ada->cost, 120);
	cr_assert_eq(ada->saved, -4);
	cr_assert(str_equal(bob->provider, S("script")) && bob->unpriced == 1 && bob->cost == 0);
	struct usage total = usage_total(rig.run);
	cr_assert_eq(total.turns, 3);
	cr_assert_eq(total.cost, 120);
	/* A commit has the rows that its events changed. */
	cr_assert_eq(usage_since(rig.run, 0, &rig.arena).count, 2);
	cr_assert_eq(usage_since(rig.run, ada->seq, &rig.arena).count, 1);
	cr_assert_eq(usage_since(rig.run, bob->seq, &rig.arena).count, 0);
}

/* Before costs were recorded, a turn had the driver's dollars alone. */
Test(usage, of_older_turns_has_the_reported_dollars)
{
	rig_init(&rig, two_agents);
	rig_create(&rig, "{}");
	answer("a", "{\"text\":\"a\"}", "{\"input_tokens\":5,\"cost_usd\":0.25}");
	answer("b", "{\"text\":\"b\"}", "{\"input_tokens\":5,\"cost_usd\":0}");
	struct usage total = usage_total(rig.run);
	cr_assert_eq(total.cost, 250000000000LL);
	cr_assert_eq(total.unpriced, 1);
}

Test(usage, sums_stop_at_the_greatest_number)
{
	rig_init(&rig, two_agents);
	rig_create(&rig, "{}");
	answer("a", "{\"text\":\"a\"}", "{\"input_tokens\":9223372036854775807}");
	answer("b", "{\"text\":\"b\"}", "{\"input_tokens\":9223372036854775807}");
	cr_assert_eq(usage_total(rig.run).input_tokens, INT64_MAX);
}

/* A usage that this version cannot read does not make the run unreadable. */
Test(usage, that_cannot_be_read_is_ignored)
{
	rig_init(&rig, two_agents);
	rig_create(&rig, "{}");
	answer("a", "{\"text\":\"a\"}", "{\"input_tokens\":\"many\"}");
	cr_assert_null(rig.run->usages);
}
