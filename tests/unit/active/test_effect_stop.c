/* A stop is meant for one effect.  It is carried out behind a commit, when the step may have another
 * effect already: that one goes on. */
#include <criterion/criterion.h>

#include "active/effect_kind.h"
#include "active/executor_state.h"
#include "definition/definition_compile.h"
#include "engine/run.h"

static struct arena arena;
static struct executor executor;
static struct active_run active;
static size_t stops;
static struct uuid stopped;

static void note_stop(struct active_run *run, const struct uuid *effect)
{
	cr_assert_eq(run, &active);
	stopped = *effect;
	stops++;
}

/* A run whose only step is a call that is under way. */
static void begin(void)
{
	static const struct effect_kind tool = { .name = "tool",
						 .node = RUN_NODE_TOOL,
						 .stop = note_stop };
	static const struct effect_kind *const kinds[] = { [RUN_NODE_TOOL] = &tool };
	static struct effects effects = { .kinds = kinds };
	static const struct definition_tool put = { .name = { "put", 3 },
						    .class = RUN_CLASS_KEYED };
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct definition_tools tools = { .at = &put, .count = 1 };
	const struct graph *graph;
	struct problems problems = { .arena = &arena };
	struct error error;
	struct str text;
	cr_assert(definition_compile(S("name: w\nsteps: [{name: s, tool: put}]\n"), &tools, &arena,
				     &text, &problems));
	cr_assert(graph_load(text, &arena, &graph, &error));
	executor.settings.effects = &effects;
	active.executor = &executor;
	active.run = run_new(&arena, (struct uuid){ { 1 } }, graph);
	struct command create = { .kind = COMMAND_CREATE, .now = 1, .inputs = &nothing };
	struct engine_values values = { 0 };
	struct decision decision = { .arena = &arena };
	cr_assert_eq(decide(active.run, &create, &values, &decision, &error), ENGINE_DONE);
	cr_assert_eq(advance(active.run, 1, &values, &decision), ENGINE_DONE);
	cr_assert(run_activation(active.run, S("s"))->open);
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(effect_stop, .init = begin, .fini = end);

Test(effect_stop, reaches_the_effect_it_is_meant_for)
{
	struct decision_stop stop = { S("s"), run_activation(active.run, S("s"))->effect, false };
	effect_kind_stop(&active, &stop);
	cr_assert_eq(stops, 1);
	cr_assert(uuid_equal(&stopped, &stop.effect));
}

Test(effect_stop, leaves_another_effect_of_the_step_alone)
{
	effect_kind_stop(&active, &(struct decision_stop){ S("s"), { { 9 } }, false });
	cr_assert_eq(stops, 0);
}

Test(effect_stop, leaves_a_step_alone_that_waits_for_its_next_attempt)
{
	struct activation *step = run_activation(active.run, S("s"));
	step->state = STEP_RETRYING;
	effect_kind_stop(&active, &(struct decision_stop){ S("s"), step->effect, false });
	cr_assert_eq(stops, 0);
}

Test(effect_stop, of_a_step_that_is_gone_is_nothing)
{
	effect_kind_stop(&active, &(struct decision_stop){ S("other"), { { 9 } }, false });
	cr_assert_eq(stops, 0);
}
