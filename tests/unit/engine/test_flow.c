/* engine/run.h: how steps start, fail, skip and end. */
#include <stdio.h>

#include "engine/engine_rig.h"

enum { ROOM = 10 }; /* what a definition that says nothing gets */

static struct rig rig;

static void end(void)
{
	rig_done(&rig);
}

TestSuite(flow, .fini = end);

Test(flow, a_chain_of_pure_steps_is_one_row_a_step)
{
	rig_init(&rig,
		 "name: w\noutputs: {o: {from: '${steps.c.outputs.x}'}}\nsteps:\n"
		 "  - {name: a, tool: echo, inputs: {x: 1}}\n"
		 "  - {name: b, tool: echo, depends_on: [a], inputs: {x: '${steps.a.outputs.x}'}}\n"
		 "  - {name: c, tool: echo, depends_on: [b], inputs: {x: "
		 "'${steps.b.outputs.x}'}}\n");
	rig_create(&rig, "{}");
	cr_assert(run_needs_recovery(rig.run));
	cr_assert_str_eq(rig_log(&rig), "run.created\n");
	rig_compute(&rig, "a");
	rig_compute(&rig, "b");
	cr_assert_eq(run_steps_ended(rig.run), 2);
	rig_compute(&rig, "c");
	cr_assert_str_eq(rig_log(&rig), "step.computed a\nstep.computed b\nstep.computed c\n"
					"run.finished\n");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs), "{\"o\":1}");
	cr_assert_not(run_needs_recovery(rig.run));
	cr_assert_eq(rig.run->ended_at, rig.now);
}

Test(flow, finished_and_the_next_request_are_one_decision)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: put}\n"
		       "  - {name: b, tool: send, depends_on: [a]}\n");
	rig_create(&rig, "{}");
	cr_assert_str_eq(rig_log(&rig), "run.created\ntool.requested a\n");
	rig_finish(&rig, "a", "{}");
	cr_assert_str_eq(rig_log(&rig), "tool.finished a\ntool.requested b\n");
	rig_finish(&rig, "b", "{}");
	cr_assert_str_eq(rig_log(&rig), "tool.finished b\nrun.finished\n");
}

Test(flow, a_join_waits_for_every_branch)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: echo}\n"
		       "  - {name: b, tool: put, depends_on: [a]}\n"
		       "  - {name: c, tool: put, depends_on: [a]}\n"
		       "  - {name: d, tool: put, depends_on: [a, b, c]}\n");
	rig_create(&rig, "{}");
	rig_compute(&rig, "a");
	cr_assert_eq(rig_open(&rig), 2);
	rig_finish(&rig, "c", "{}");
	cr_assert_str_eq(rig_state(&rig, "d"), "pending");
	rig_finish(&rig, "b", "{}");
	cr_assert_str_eq(rig_state(&rig, "d"), "running");
	rig_finish(&rig, "d", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(flow, a_failure_skips_what_follows_and_the_rest_goes_on)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: put}\n  - {name: x, tool: put}\n"
		       "  - {name: b, tool: put, depends_on: [a]}\n"
		       "  - {name: c, tool: put, depends_on: [b, x]}\n"
		       "  - {name: y, tool: put, depends_on: [x]}\n");
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", NULL);
	cr_assert_str_eq(rig_state(&rig, "a"), "failed");
	cr_assert_str_eq(rig_state(&rig, "b"), "skipped");
	cr_assert_str_eq(rig_state(&rig, "c"), "skipped");
	cr_assert(str_equal(rig_step(&rig, "c")->fault.code, S("dependency_failed")));
	cr_assert(str_equal(rig_step(&rig, "c")->fault.text, S("b")));
	cr_assert_eq(rig.run->state, RUN_RUNNING);
	rig_finish(&rig, "x", "{}");
	cr_assert_str_eq(rig_state(&rig, "c"), "skipped");
	rig_finish(&rig, "y", "{}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig.run->fault.code, S("tool_failed")));
	cr_assert(str_equal(rig.run->fault.text, S("step a: it broke")));
}

Test(flow, a_pure_step_can_fail_too)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: echo}\n"
		       "  - {name: b, tool: echo, depends_on: [a]}\n");
	rig_create(&rig, "{}");
	struct command command = { .kind = COMMAND_COMPUTED,
				   .step = S("a"),
				   .fault = { S("invalid"), S("no") } };
	rig_do(&rig, &command);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert_str_eq(rig_state(&rig, "b"), "skipped");
}

static const char *many(const char *line, int count, const char *more)
{
	static char yaml[8192];
	size_t used = (size_t)snprintf(yaml, sizeof(yaml), "name: w\nsteps:\n%s", more);
	for (int i = 0; i < count; i++)
		used += (size_t)snprintf(yaml + used, sizeof(yaml) - used,
					 "  - {name: s%02d, %s}\n", i, line);
	return yaml;
}

Test(flow, only_so_many_run_at_once)
{
	rig_init(&rig, many("tool: put", ROOM + 5, ""));
	rig_create(&rig, "{}");
	cr_assert_eq(rig_open(&rig), ROOM);
	cr_assert_eq(rig.run->busy, ROOM);
	rig_finish(&rig, "s03", "{}");
	cr_assert_eq(rig_open(&rig), ROOM);
	cr_assert_str_eq(rig_state(&rig, "s10"), "running");
	cr_assert_str_eq(rig_state(&rig, "s11"), "pending");
}

Test(flow, pure_steps_share_the_room)
{
	rig_init(&rig, many("tool: echo", ROOM + 2, "  - {name: t, tool: put}\n"));
	rig_create(&rig, "{}");
	cr_assert_eq(rig.run->busy, ROOM);
	cr_assert_eq(rig.run->computing.tail - rig.run->computing.head, ROOM - 1);
	rig_compute_all(&rig);
	rig_finish(&rig, "t", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(flow, waits_and_questions_take_no_room)
{
	rig_init(&rig, many("tool: put", ROOM,
			    "  - {name: t, wait: {seconds: 1}}\n"
			    "  - {name: q, human: {question: x}}\n"));
	rig_create(&rig, "{}");
	cr_assert_eq(rig_open(&rig), ROOM + 2);
	cr_assert_eq(rig.run->busy, ROOM);
}

Test(flow, results_may_come_in_any_order)
{
	rig_init(&rig, many("tool: echo", 4, ""));
	rig_create(&rig, "{}");
	rig_compute(&rig, "s02");
	rig_compute(&rig, "s00");
	rig_compute(&rig, "s03");
	rig_compute(&rig, "s01");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

static void tree_taken(const char *step, const char *tree, struct failure fault)
{
	rig_do(&rig, &(struct command){ .kind = COMMAND_TREE_TAKEN,
					.step = str_from_c(step),
					.tree = str_from_c(tree),
					.fault = fault,
					.begun_at = rig.now - 500 });
}

Test(flow, a_contained_tool_waits_for_its_tree_and_delays_nothing)
{
	rig_init(&rig, "name: t\nsteps:\n"
		       "  - {name: a, tool: box, timeout: 1}\n"
		       "  - {name: b, tool: box}\n"
		       "  - {name: other, tool: put}\n");
	rig.takes_trees = true;
	rig_create(&rig, "{}");
	cr_assert(str_equal(rig.wanted, S("a")));
	cr_assert_str_eq(rig_state(&rig, "a"), "pending");
	cr_assert_str_eq(rig_state(&rig, "other"), "running");
	cr_assert(engine_could_go_on(rig.run)); /* a restart goes on with it */
	tree_taken("a", "tree-7", (struct failure){ S(""), S("") });
	cr_assert_str_eq(rig_state(&rig, "a"), "running");
	cr_assert(str_equal(rig_step(&rig, "a")->tree, S("tree-7")));
	/* Taking the tree counts towards the step's timeout. */
	cr_assert_eq(rig_step(&rig, "a")->due_at, rig.now - 1500 + 1000000);
	cr_assert_eq(rig.wanted.size, 0);
	rig_finish(&rig, "a", NULL);
	cr_assert(str_equal(rig.wanted, S("b")));
	tree_taken("b", "", (struct failure){ S("too_large"), S("too many files") });
	cr_assert_str_eq(rig_state(&rig, "b"), "failed");
}

Test(flow, a_paused_or_cancelled_run_wants_no_tree)
{
	rig_init(&rig, "name: t\nsteps:\n  - {name: a, tool: box}\n");
	rig.takes_trees = true;
	rig_create(&rig, "{}");
	struct command late = { .kind = COMMAND_TREE_TAKEN, .step = S("a"), .tree = S("tree-7") };
	cr_assert(str_equal(rig.wanted, S("a")));
	rig_do(&rig, &(struct command){ .kind = COMMAND_PAUSE, .by = S("ann") });
	cr_assert_eq(rig.wanted.size, 0);
	rig_refused(&rig, &late, ERROR_CONFLICT);
	rig_do(&rig, &(struct command){ .kind = COMMAND_RESUME, .by = S("ann") });
	cr_assert(str_equal(rig.wanted, S("a")));
	rig_do(&rig, &(struct command){ .kind = COMMAND_CANCEL, .by = S("ann") });
	cr_assert_eq(rig.wanted.size, 0);
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
	rig_refused(&rig, &late, ERROR_CONFLICT);
}

Test(flow, contained_tools_go_one_at_a_time)
{
	rig_init(&rig, many("tool: box", 3, "  - {name: other, tool: put}\n"));
	rig_create(&rig, "{}");
	cr_assert_eq(rig.trees, 1);
	cr_assert_str_eq(rig_state(&rig, "s00"), "running");
	cr_assert_str_eq(rig_state(&rig, "s01"), "pending");
	cr_assert_str_eq(rig_state(&rig, "other"), "running");
	cr_assert(str_equal(rig_step(&rig, "s00")->tree, S("tree-1")));
	cr_assert_eq(rig_step(&rig, "other")->tree.size, 0);
	rig_finish(&rig, "s00", NULL);
	cr_assert_eq(rig.trees, 2);
	cr_assert_str_eq(rig_state(&rig, "s01"), "running");
	cr_assert_str_eq(rig_state(&rig, "s02"), "pending");
}

Test(flow, a_waiting_contained_tool_does_not_hold_up_others)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: box}\n  - {name: b, tool: box}\n"
		       "  - {name: c, tool: echo}\n  - {name: d, tool: put}\n");
	rig_create(&rig, "{}");
	cr_assert_str_eq(rig_state(&rig, "b"), "pending");
	cr_assert_str_eq(rig_state(&rig, "c"), "running");
	cr_assert_str_eq(rig_state(&rig, "d"), "running");
}

Test(flow, a_wait_is_due_after_its_time)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: t, wait: {seconds: 2.5}}\n");
	rig_create(&rig, "{}");
	cr_assert_eq(rig.run->timers, 1);
	cr_assert_eq(rig.run->state, RUN_RUNNING);
	cr_assert_eq(rig_step(&rig, "t")->due_at, rig.now + 2500000);
	struct command early = { .kind = COMMAND_DUE, .step = S("t"), .now = rig.now };
	rig_refused(&rig, &early, ERROR_CONFLICT);
	rig_due(&rig, "t");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_eq(rig.run->timers, 0);
}

Test(flow, a_repeated_call_counts_its_attempts)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: put}\n");
	rig_create(&rig, "{}");
	struct uuid effect = rig_step(&rig, "a")->effect;
	struct command command = { .kind = COMMAND_RESTARTED, .step = S("a"), .effect = effect };
	cr_assert_eq(rig_step(&rig, "a")->attempt, 1);
	rig_do(&rig, &command);
	rig_do(&rig, &command);
	cr_assert_eq(rig_step(&rig, "a")->attempt, 3);
	cr_assert(uuid_equal(&rig_step(&rig, "a")->effect, &effect));
	rig_finish(&rig, "a", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}
