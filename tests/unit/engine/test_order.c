/* What comes first, what waits, and what must not be there at once: mostly what the model of
 * tests/model found. */
#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void begin(const char *yaml)
{
	rig_init(&rig, yaml);
	rig_create(&rig, "{}");
	rig_log(&rig);
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(order, .fini = end);

static void order(enum command_kind kind)
{
	struct command command = { .kind = kind, .by = S("ada") };
	rig_do(&rig, &command);
}

static void unknown(const char *step)
{
	struct command command = rig_finished(&rig, step, NULL);
	command.outcome = RUN_OUTCOME_UNKNOWN;
	command.fault = (struct failure){ S(""), S("") };
	rig_do(&rig, &command);
}

/* ---- retries ---------------------------------------------------------------------------- */

Test(order, nothing_is_tried_again_while_the_run_is_paused)
{
	begin("name: w\nsteps:\n  - {name: a, tool: put, retry: {base_delay: 1}}\n");
	rig_finish(&rig, "a", NULL);
	order(COMMAND_PAUSE);
	rig.now = rig_step(&rig, "a")->due_at;
	struct command due = { .kind = COMMAND_DUE, .step = S("a"), .now = rig.now };
	rig_refused(&rig, &due, ERROR_CONFLICT);
	cr_assert_str_eq(rig_log(&rig), "tool.finished a\nrun.paused\n");
	order(COMMAND_RESUME);
	cr_assert_str_eq(rig_log(&rig), "run.resumed\ntool.requested a\n");
	cr_assert_eq(rig_step(&rig, "a")->attempt, 2);
	cr_assert_eq(rig.run->busy, 1);
}

Test(order, a_person_s_retry_waits_for_the_run_to_be_resumed)
{
	begin("name: w\nsteps:\n  - {name: a, tool: send}\n");
	unknown("a");
	order(COMMAND_PAUSE);
	rig_answer(&rig, "a", RUN_DECISION_RETRY);
	cr_assert_str_eq(rig_state(&rig, "a"), "retrying");
	rig_log(&rig);
	order(COMMAND_RESUME);
	cr_assert_str_eq(rig_log(&rig), "run.resumed\ntool.requested a\n");
}

Test(order, a_person_s_retry_of_a_contained_tool_waits_for_the_workspace)
{
	begin("name: w\nsteps:\n  - {name: a, tool: box}\n  - {name: b, tool: box}\n"
	      "  - {name: c, tool: box}\n");
	unknown("a");
	cr_assert_str_eq(rig_log(&rig), "tool.finished a\nhuman.requested a\ntool.requested b\n");
	rig_answer(&rig, "a", RUN_DECISION_RETRY);
	cr_assert_str_eq(rig_log(&rig), "human.finished a\n");
	rig_finish(&rig, "b", "{}");
	cr_assert_str_eq(rig_log(&rig), "tool.finished b\ntool.requested a\n");
	rig_finish(&rig, "a", "{}");
	cr_assert_str_eq(rig_log(&rig), "tool.finished a\ntool.requested c\n");
}

/* ---- starting --------------------------------------------------------------------------- */

Test(order, what_needs_no_room_does_not_overtake_what_has_it)
{
	begin("name: w\nsteps:\n  - {name: a, wait: {seconds: 1}}\n"
	      "  - {name: b, tool: put, depends_on: [a]}\n"
	      "  - {name: c, wait: {seconds: 1}, depends_on: [a]}\n"
	      "  - {name: d, tool: box, depends_on: [a]}\n");
	rig_finish(&rig, "a", NULL);
	cr_assert_str_eq(rig_log(&rig), "timer.finished a\ntool.requested b\ntimer.requested c\n"
					"tool.requested d\n");
}

/* ---- results ---------------------------------------------------------------------------- */

Test(order, the_first_to_fail_is_named_even_within_one_moment)
{
	begin("name: w\nsteps:\n  - {name: m, map: {over: [1, 2], steps: [{name: a, tool: put}]}}\n");
	struct command second = rig_finished(&rig, "m[1]/a", NULL);
	struct command first = rig_finished(&rig, "m[0]/a", NULL);
	second.fault.code = S("io");
	rig_do(&rig, &second);
	rig.now -= 1000;
	rig_do(&rig, &first);
	cr_assert(str_equal(rig_step(&rig, "m")->fault.code, S("io")));
}

Test(order, two_edges_to_one_step_count_twice)
{
	begin("name: w\nsteps:\n  - {name: a, tool: put, next: [{to: b}, {to: b}]}\n"
	      "  - {name: b, tool: put, join: any, max_iterations: 1}\n");
	rig_finish(&rig, "a", "{}");
	cr_assert_str_eq(rig_log(&rig), "tool.finished a\nrun.cancelling\nrun.finished\n");
	cr_assert(str_equal(rig.run->fault.code, S("limit_reached")));
}

Test(order, an_unknown_outcome_says_so)
{
	begin("name: w\nsteps:\n  - {name: a, tool: send}\n");
	unknown("a");
	cr_assert(str_equal(rig_step(&rig, "a")->fault.code, S("outcome_unknown")));
}

Test(order, values_that_come_with_an_approval_change_nothing)
{
	begin("name: w\nsteps:\n  - {name: a, human: {question: x}, loop_until: "
	      "'output.value == 1'}\n");
	struct command command = rig_answered(&rig, "a", RUN_DECISION_APPROVE);
	command.output = rig_json(&rig, "1");
	rig_do(&rig, &command);
	cr_assert_str_eq(rig_log(&rig), "human.finished a\nhuman.requested a#2\n");
}

Test(order, a_step_that_does_not_exist_has_nothing_that_is_due)
{
	begin("name: w\nsteps:\n  - {name: a, tool: put}\n");
	struct command command = { .kind = COMMAND_DUE, .step = S("b"), .now = rig.now };
	rig_refused(&rig, &command, ERROR_NOT_FOUND);
	command.step = S("a");
	rig_refused(&rig, &command, ERROR_CONFLICT);
}

Test(order, nobody_is_asked_any_more_when_the_run_is_called_off)
{
	begin("name: w\nsteps:\n  - {name: a, tool: send}\n");
	unknown("a");
	order(COMMAND_CANCEL);
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
	cr_assert_not(rig_step(&rig, "a")->settling);
}

Test(order, a_parallel_step_names_its_outputs_even_if_there_is_one)
{
	begin("name: w\noutputs: {o: {from: '${steps.p.outputs}'}}\nsteps:\n"
	      "  - {name: p, parallel: {steps: [{name: a, tool: put}]}}\n");
	rig_finish(&rig, "p/a", "1");
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs), "{\"o\":{\"a\":1}}");
}

/* ---- edges and dependencies ---------------------------------------------------------------- */

Test(order, a_branch_that_was_not_taken_holds_up_nobody)
{
	begin("name: w\nsteps:\n"
	      "  - {name: pick, condition: '1 == 2', next: [{to: a, when: output.value}, "
	      "{to: b, when: not output.value}]}\n"
	      "  - {name: a, tool: put, join: any}\n  - {name: b, tool: put, join: any}\n"
	      "  - {name: both, tool: put, depends_on: [a, b]}\n"
	      "  - {name: more, tool: put, depends_on: [both]}\n");
	cr_assert_str_eq(rig_state(&rig, "both"), "pending");
	rig_finish(&rig, "b", "{}");
	cr_assert_str_eq(rig_log(&rig), "tool.finished b\ntool.requested both\n");
	rig_finish(&rig, "both", "{}");
	rig_finish(&rig, "more", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(order, those_that_go_on_together_do_so_in_the_order_of_their_body)
{
	begin("name: w\nsteps:\n  - {name: a, condition: 'false', next: [{to: x, when: 'false'}, {to: y, "
	      "when: 'false'}]}\n"
	      "  - {name: x, tool: put, join: any}\n  - {name: y, tool: put, join: any}\n"
	      "  - {name: first, wait: {signal: s}, depends_on: [x, y]}\n"
	      "  - {name: z, condition: 'true', depends_on: [a]}\n"
	      "  - {name: second, wait: {signal: s}, depends_on: [x, z]}\n");
	cr_assert(rig_step(&rig, "first")->arrival < rig_step(&rig, "second")->arrival);
}

Test(order, a_body_in_which_everything_waits_begins_all_the_same)
{
	begin("name: w\nsteps:\n  - {name: p, parallel: {steps: [\n"
	      "      {name: a, tool: put, depends_on: [b], next: [{to: b}]},\n"
	      "      {name: b, tool: put, join: any}]}}\n");
	rig_finish(&rig, "p/a", "{}");
	rig_finish(&rig, "p/b", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(order, each_arrival_has_its_own_rounds)
{
	begin("name: w\nsteps:\n  - {name: a, tool: put, next: [{to: b}, {to: b}]}\n"
	      "  - {name: b, tool: put, join: any, loop_until: 'false', loop_max: 2}\n");
	rig_finish(&rig, "a", "{}");
	rig_finish(&rig, "b", "{}");
	rig_finish(&rig, "b#2", "{}");
	rig_log(&rig);
	rig_finish(&rig, "b#3", "{}");
	cr_assert_str_eq(rig_log(&rig), "tool.finished b#3\n");
	rig_finish(&rig, "b#4", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(order, each_arrival_is_verified_anew)
{
	begin("name: w\nsteps:\n  - {name: a, tool: put, next: [{to: v}, {to: v}]}\n"
	      "  - {name: v, join: any, verify: {target: a, criteria: [{name: c, check: 'output > "
	      "1'}], steps: [{name: fix, tool: put}]}}\n");
	rig_finish(&rig, "a", "1");
	cr_assert_str_eq(rig_log(&rig),
			 "tool.finished a\nstep.computed v\nstep.computed v#2\nstep.entered v#3\n"
			 "step.entered v#4\ntool.requested v#3/fix\ntool.requested v#4/fix\n");
	rig_finish(&rig, "v#3/fix", "2");
	rig_finish(&rig, "v#4/fix", "2");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(order, what_a_step_reads_is_there_when_it_comes_again)
{
	begin("name: w\nsteps:\n  - {name: a, tool: put}\n"
	      "  - {name: c, tool: put, depends_on: [a], next: [{to: b}]}\n"
	      "  - {name: b, tool: put, join: any, inputs: {x: '${steps.a.outputs}'}, next: [{to: b, "
	      "when: output.more}]}\n");
	rig_finish(&rig, "a", "1");
	rig_finish(&rig, "c", "{}");
	rig_finish(&rig, "b", "{\"more\":true}");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "b#2")->inputs), "{\"x\":1}");
}
