/* Retries of a failed run.  The rig folds every history from every snapshot of it, so each test here
 * also shows that a retried run is restored as it was. */
#include <stdio.h>

#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void begin(const char *text)
{
	AUTO(buf) yaml = { 0 };
	buf_add_format(&yaml, "name: w\n%s", text);
	buf_add_char(&yaml, '\0');
	rig_init(&rig, yaml.at);
	rig_create(&rig, "{}");
	rig_log(&rig);
}

/* As begin(), with a graph that keeps the bodies of failed containers only while its state has at
 * most so many steps; 0 = a graph of an older version. */
static void begin_keeping(const char *text, int64_t kept_steps)
{
	AUTO(buf) yaml = { 0 };
	buf_add_format(&yaml, "name: w\n%s", text);
	buf_add_char(&yaml, '\0');
	rig_init(&rig, yaml.at);
	struct graph *graph = arena_copy(&rig.arena, rig.graph, sizeof(*graph));
	graph->kept_steps = kept_steps;
	rig.graph = graph;
	rig.run = run_new(&rig.arena, rig.run->id, graph);
	rig.mirror = run_new(&rig.arena, rig.mirror->id, graph);
	rig_create(&rig, "{}");
	rig_log(&rig);
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(retry, .fini = end);

static struct command retry(void)
{
	return (struct command){ .kind = COMMAND_RETRY, .by = S("ann") };
}

static void do_retry(void)
{
	struct command command = retry();
	rig_log(&rig);
	rig_do(&rig, &command);
}

static void expect_refused(const char *word)
{
	struct command command = retry();
	struct decision decision = { .arena = &rig.arena };
	struct engine_values values = { 0 };
	struct error error;
	cr_assert_eq(decide(rig.run, &command, &values, &decision, &error), ENGINE_REFUSED);
	cr_expect_eq(error.code, ERROR_CONFLICT);
	cr_expect_not_null(strstr(error.text, word), "%s", error.text);
	rig_refused(&rig, &command, ERROR_CONFLICT);
}

static const char *outputs(void)
{
	return rig_value(&rig, &rig.run->outputs);
}

static const char chain[] =
	"outputs: {c: {from: '${steps.c.outputs}'}}\n"
	"steps:\n  - {name: a, tool: put}\n"
	"  - {name: b, tool: put, depends_on: [a], inputs: {x: '${steps.a.outputs.n}'}}\n"
	"  - {name: c, tool: echo, depends_on: [b], inputs: {y: '${steps.b.outputs.n} "
	"${steps.a.outputs.n}'}}\n";

Test(retry, what_failed_and_what_was_skipped_for_it_runs_again_and_the_rest_is_kept)
{
	begin(chain);
	rig_finish(&rig, "a", "{\"n\": 1}");
	struct uuid effect = rig_step(&rig, "b")->effect;
	rig_finish(&rig, "b", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(rig.run->ended_at > 0);
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\ntool.requested b#2\n");
	cr_expect_eq(rig.run->state, RUN_RUNNING);
	cr_expect_eq(rig.run->ended_at, 0);
	cr_expect_eq(rig.run->fault.code.size, 0);
	cr_expect_not(uuid_equal(&effect, &rig_step(&rig, "b#2")->effect));
	cr_expect_str_eq(rig_state(&rig, "c#2"), "pending");
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "b#2")->inputs), "{\"x\":1}");
	rig_finish(&rig, "b#2", "{\"n\": 2}");
	rig_compute_all(&rig);
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
	cr_expect_str_eq(outputs(), "{\"c\":{\"y\":\"2 1\"}}");
	expect_refused("succeeded");
}

Test(retry, as_often_as_one_likes)
{
	begin("steps: [{name: a, tool: put}]\n");
	char step[16];
	rig_finish(&rig, "a", NULL);
	for (int i = 2; i < 6; i++) {
		do_retry();
		snprintf(step, sizeof(step), "a#%d", i);
		rig_finish(&rig, step, NULL);
		cr_assert_eq(rig.run->state, RUN_FAILED);
	}
}

Test(retry, only_a_failed_run)
{
	begin("steps: [{name: a, tool: put}]\n");
	expect_refused("running");
	struct command cancel = { .kind = COMMAND_CANCEL, .by = S("ann") };
	rig_do(&rig, &cancel);
	rig_finish(&rig, "a", "1");
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
	expect_refused("cancelled");
}

Test(retry, not_when_nothing_would_be_executed_again)
{
	begin("outputs: {o: {from: '${steps.a.outputs.missing}'}}\nsteps: [{name: a, tool: put}]\n");
	rig_finish(&rig, "a", "{}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	expect_refused("nothing to execute again");
}

Test(retry, not_when_it_would_reach_the_same_limit)
{
	begin("max_iterations: 2\nsteps:\n"
	      "  - {name: a, condition: '1 == 1', next: [{to: b}]}\n"
	      "  - {name: b, join: any, tool: put, next: [{to: b, when: 'output == 1'}]}\n");
	rig_finish(&rig, "b", "1");
	rig_finish(&rig, "b#2", "1");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	expect_refused("limit");
}

Test(retry, a_sub_run_through_its_parent)
{
	rig_init(&rig, "name: w\nsteps: [{name: a, tool: put}]\n");
	struct run_start *start = run_start_new(&rig.arena);
	struct uuid parent = { { 0xab, 0xcd } };
	SET(start, parent, parent);
	struct command create = { .kind = COMMAND_CREATE,
				  .inputs = rig_json(&rig, "{}"),
				  .start = start };
	rig_do(&rig, &create);
	rig_finish(&rig, "a", NULL);
	expect_refused("abcd0000-0000-0000-0000-000000000000");
}

Test(retry, the_parent_starts_a_new_child)
{
	begin("steps: [{name: s, workflow: other}]\n");
	struct uuid child = rig_step(&rig, "s")->effect;
	rig_finish(&rig, "s", NULL);
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\nsubrun.requested s#2\n");
	cr_expect_not(uuid_equal(&child, &rig_step(&rig, "s#2")->effect));
}

/* ---- containers ------------------------------------------------------------------------ */

static const char fan[] = "outputs: {f: {from: '${steps.f.outputs}'}}\n"
			  "steps:\n  - name: f\n    parallel:\n      steps:\n"
			  "        - {name: x, tool: put}\n"
			  "        - {name: y, tool: put}\n"
			  "        - {name: z, tool: echo, depends_on: [y]}\n"
			  "  - {name: t, tool: echo, depends_on: [f]}\n";

static void fail_fan(void)
{
	rig_finish(&rig, "f/x", "1");
	rig_finish(&rig, "f/y", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
}

Test(retry, a_container_continues_inside)
{
	begin(fan);
	fail_fan();
	cr_expect_str_eq(rig_state(&rig, "f/x"), "succeeded");
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\ntool.requested f/y#2\n");
	cr_expect_str_eq(rig_state(&rig, "f"), "running");
	rig_finish(&rig, "f/y#2", "2");
	rig_compute_all(&rig);
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
	cr_expect_str_eq(outputs(), "{\"f\":{\"x\":1,\"y\":2,\"z\":{}}}");
	cr_expect_null(run_activation(rig.run, S("f/x")), "its bodies are forgotten now");
}

Test(retry, a_container_of_an_older_graph_runs_from_the_start)
{
	begin_keeping(fan, 0);
	fail_fan();
	cr_expect_null(run_activation(rig.run, S("f/x")));
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\nstep.entered f#2\ntool.requested f#2/x\n"
					"tool.requested f#2/y\n");
}

Test(retry, bodies_are_kept_only_while_the_state_is_small)
{
	begin_keeping(fan, 4); /* f, x, y, z and t are five */
	fail_fan();
	cr_expect_null(run_activation(rig.run, S("f/x")));
	do_retry();
	cr_expect_str_eq(rig_state(&rig, "f#2/x"), "running");
}

Test(retry, a_map_repeats_its_failed_items)
{
	begin("outputs: {m: {from: '${steps.m.outputs}'}}\n"
	      "steps: [{name: m, map: {over: [5, 6, 7], steps: [{name: x, tool: put, inputs: {i: "
	      "'${item}'}}]}}]\n");
	rig_finish(&rig, "m[0]/x", "10");
	rig_finish(&rig, "m[1]/x", NULL);
	rig_finish(&rig, "m[2]/x", "12");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\ntool.requested m[1]/x#2\n");
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "m[1]/x#2")->inputs), "{\"i\":6}");
	rig_finish(&rig, "m[1]/x#2", "11");
	cr_expect_str_eq(outputs(), "{\"m\":[10,11,12]}");
}

Test(retry, a_loop_repeats_its_failed_round_and_does_not_count_it)
{
	begin("steps: [{name: l, loop: {until: 'false', max: 2, steps: [{name: x, tool: put}]}}]\n");
	rig_finish(&rig, "l/x", "1");
	rig_finish(&rig, "l#2/x", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\ntool.requested l#2/x#2\n");
	rig_finish(&rig, "l#2/x#2", "1");
	cr_expect_null(run_activation(rig.run, S("l#3")));
}

Test(retry, a_gate_is_asked_again_from_the_start)
{
	begin("steps: [{name: g, gate: {steps: [{name: x, tool: put}, {name: y, tool: put}]}}]\n");
	rig_finish(&rig, "g/x", "{\"passed\": true}");
	rig_finish(&rig, "g/y", "{\"passed\": false}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\nstep.entered g#2\ntool.requested g#2/x\n"
					"tool.requested g#2/y\n");
}

/* ---- runs that were stopped ------------------------------------------------------------ */

Test(retry, a_run_that_ran_out_of_time_has_its_time_again)
{
	begin("timeout: 10\nsteps:\n  - {name: a, tool: put}\n"
	      "  - {name: b, tool: put, depends_on: [a]}\n");
	rig_due(&rig, "");
	struct command late = rig_finished(&rig, "a", "{\"n\": 1}");
	rig_do(&rig, &late); /* it succeeded all the same: that is kept */
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_expect_str_eq(rig_state(&rig, "a"), "succeeded");
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\ntool.requested b#2\n");
	cr_expect_eq(rig.run->due_at, rig.run->begun_at + 10000000);
	rig_finish(&rig, "b#2", "1");
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(retry, a_map_that_was_stopped_goes_on_with_the_items_it_has_not_entered)
{
	begin("timeout: 10\nsteps: [{name: m, map: {over: [1, 2, 3], at_once: 1, steps: [{name: x, "
	      "tool: put}]}}]\n");
	rig_finish(&rig, "m[0]/x", "1");
	rig_due(&rig, "");
	rig_finish(&rig, "m[1]/x", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\ntool.requested m[1]/x#2\n");
	rig_finish(&rig, "m[1]/x#2", "2");
	rig_finish(&rig, "m[2]/x", "3");
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(retry, a_stopped_run_of_an_older_version_is_left_alone)
{
	begin_keeping("timeout: 10\nsteps: [{name: a, tool: put}]\n", 0);
	rig_due(&rig, "");
	rig_finish(&rig, "a", NULL);
	expect_refused("older version");
}

/* ---- edges ----------------------------------------------------------------------------- */

Test(retry, is_not_counted_in_max_iterations)
{
	begin("steps:\n  - {name: a, condition: '1 == 1', next: [{to: b}]}\n"
	      "  - {name: b, join: any, tool: put, max_iterations: 2, next: [{to: b, when: "
	      "'output == 1'}]}\n");
	rig_finish(&rig, "b", NULL);
	do_retry();
	cr_expect_eq(rig.run->iterations, 1);
	rig_finish(&rig, "b#2", "1");
	rig_finish(&rig, "b#3", "0");
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(retry, a_failure_that_a_later_arrival_replaced_is_repeated_too)
{
	begin("steps:\n  - {name: a, condition: '1 == 1', next: [{to: b}, {to: b}]}\n"
	      "  - {name: b, join: any, tool: put}\n");
	rig_finish(&rig, "b", NULL);
	rig_finish(&rig, "b#2", "1");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	do_retry();
	cr_expect_str_eq(rig_log(&rig), "run.retried\ntool.requested b#3\n");
	rig_finish(&rig, "b#3", "1");
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(retry, may_wait_for_admission)
{
	begin("timeout: 10\nsteps: [{name: a, tool: put}]\n");
	rig_finish(&rig, "a", NULL);
	struct command command = retry();
	command.queued = true;
	rig_log(&rig);
	rig_do(&rig, &command);
	cr_expect_eq(rig.run->state, RUN_QUEUED);
	cr_expect_eq(rig.run->due_at, 0);
	cr_expect_str_eq(rig_log(&rig), "run.retried\n");
	struct command start = { .kind = COMMAND_START };
	rig_do(&rig, &start);
	cr_expect(rig.run->due_at > 0);
	cr_expect_str_eq(rig_log(&rig), "run.started\ntool.requested a#2\n");
}
