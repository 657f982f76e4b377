/* Undo steps.  The rig folds every history from every snapshot of it, so each test here also shows that
 * the records of what can be undone are restored. */
#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"
#include "engine/undo.h"

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

static void end(void)
{
	rig_done(&rig);
}

TestSuite(undo, .fini = end);

static void cancel(void)
{
	struct command command = { .kind = COMMAND_CANCEL, .by = S("ann") };
	rig_do(&rig, &command);
}

static const char three[] =
	"steps:\n"
	"  - {name: a, tool: put, undo: [{name: u, tool: put, inputs: {n: '${steps.a.outputs.n}'}}]}\n"
	"  - {name: b, tool: put, depends_on: [a], undo: [{name: u, tool: put, inputs: {n: "
	"'${steps.a.outputs.n} ${steps.b.outputs.n}'}}]}\n"
	"  - {name: c, tool: put, depends_on: [b], undo: [{name: u, tool: put}]}\n";

Test(undo, a_failed_run_undoes_what_succeeded_newest_first)
{
	begin(three);
	rig_finish(&rig, "a", "{\"n\": 1}");
	rig_finish(&rig, "b", "{\"n\": 2}");
	rig_log(&rig);
	rig_finish(&rig, "c", NULL);
	cr_expect_str_eq(rig_log(&rig), "tool.finished c\nrun.unwinding\nstep.entered b~undo\n"
					"tool.requested b~undo/u\n");
	cr_expect_eq(rig.run->state, RUN_RUNNING);
	cr_expect_not(rig.run->cancelling);
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "b~undo/u")->inputs), "{\"n\":\"1 2\"}");
	rig_finish(&rig, "b~undo/u", NULL);
	cr_expect_str_eq(rig_state(&rig, "b~undo"), "failed");
	cr_expect_str_eq(rig_log(&rig), "tool.finished b~undo/u\nstep.left b~undo\n"
					"step.entered a~undo\ntool.requested a~undo/u\n");
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "a~undo/u")->inputs), "{\"n\":1}");
	rig_finish(&rig, "a~undo/u", "{}");
	cr_expect_str_eq(rig_log(&rig), "tool.finished a~undo/u\nstep.left a~undo\nrun.finished\n");
	cr_expect_eq(rig.run->state, RUN_FAILED);
	cr_expect_null(rig.run->undos);
	struct command again = { .kind = COMMAND_RETRY, .by = S("ann") };
	rig_refused(&rig, &again, ERROR_CONFLICT);
}

Test(undo, a_step_that_succeeds_while_it_is_stopped_is_undone)
{
	begin(three);
	rig_finish(&rig, "a", "{\"n\": 1}");
	cancel();
	rig_log(&rig);
	rig_finish(&rig, "b", "{\"n\": 2}");
	cr_expect_str_eq(rig_log(&rig), "tool.finished b\nrun.unwinding\nstep.entered b~undo\n"
					"tool.requested b~undo/u\n");
	rig_finish(&rig, "b~undo/u", "{}");
	rig_finish(&rig, "a~undo/u", "{}");
	cr_expect_eq(rig.run->state, RUN_CANCELLED);
}

Test(undo, a_cancelled_run_without_anything_to_undo_ends)
{
	begin(three);
	cancel();
	struct command stopped = rig_finished(&rig, "a", NULL);
	stopped.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &stopped);
	cr_expect_null(strstr(rig_log(&rig), "run.unwinding"));
	cr_expect_eq(rig.run->state, RUN_CANCELLED);
}

Test(undo, a_second_cancel_leaves_the_rest_and_a_failed_run_has_failed)
{
	begin(three);
	rig_finish(&rig, "a", "{\"n\": 1}");
	rig_finish(&rig, "b", "{\"n\": 2}");
	rig_finish(&rig, "c", NULL);
	cancel();
	struct command stopped = rig_finished(&rig, "b~undo/u", NULL);
	stopped.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &stopped);
	cr_expect_eq(rig.run->state, RUN_FAILED);
	cr_expect_str_eq(rig_state(&rig, "b~undo"), "cancelled");
	cr_assert_not_null(rig.run->undos);
	cr_expect(str_equal(rig.run->undos->path, S("a")));
	struct command again = { .kind = COMMAND_RETRY, .by = S("ann") };
	rig_refused(&rig, &again, ERROR_CONFLICT);
}

Test(undo, the_deadline_of_unwinding_ends_undo_steps)
{
	begin(three);
	rig_finish(&rig, "a", "{\"n\": 1}");
	rig_finish(&rig, "b", NULL);
	cr_assert_gt(rig.run->due_at, rig.now);
	rig_due(&rig, "");
	cr_expect(rig.run->abandoned);
	cr_expect_eq(rig.run->due_at, 0);
}

Test(undo, a_cancelled_run_waits_for_a_sub_run_until_its_deadline)
{
	begin("unwind_timeout: 5\nsteps: [{name: s, workflow: other}]\n");
	cancel();
	cr_expect(rig.run->cancelling && !rig.run->unwinding);
	cr_assert_gt(rig.run->due_at, rig.now);
	size_t stops = rig.stops;
	rig_due(&rig, "");
	cr_expect_eq(rig.stops, stops + 1);
	cr_expect_not(rig.run->abandoned);
	struct command stopped = rig_finished(&rig, "s", NULL);
	stopped.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &stopped);
	cr_expect_eq(rig.run->state, RUN_CANCELLED);
}

Test(undo, of_items_and_rounds_reads_what_was_there_then)
{
	begin("steps:\n"
	      "  - name: m\n    map:\n      over: [7, 8]\n      steps:\n"
	      "        - {name: x, tool: put, undo: [{name: u, tool: put, inputs: {i: "
	      "'${item} ${index} ${steps.x.outputs.n}'}}]}\n"
	      "  - {name: bad, tool: put, depends_on: [m]}\n");
	rig_finish(&rig, "m[1]/x", "{\"n\": 11}");
	rig_finish(&rig, "m[0]/x", "{\"n\": 10}");
	rig_finish(&rig, "bad", NULL);
	cr_expect(str_equal(rig_step(&rig, "m.x~undo")->undoes, S("m[0]/x")));
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "m.x~undo/u")->inputs),
			 "{\"i\":\"7 0 10\"}");
	rig_finish(&rig, "m.x~undo/u", "{}");
	cr_expect(str_equal(rig_step(&rig, "m.x~undo#2")->undoes, S("m[1]/x")));
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "m.x~undo#2/u")->inputs),
			 "{\"i\":\"8 1 11\"}");
	rig_finish(&rig, "m.x~undo#2/u", "{}");
	cr_expect_eq(rig.run->state, RUN_FAILED);
}

Test(undo, records_stay_when_a_run_is_retried_before_anything_was_undone)
{
	begin("timeout: 5\nsteps:\n"
	      "  - {name: a, tool: put, undo: [{name: u, tool: put}]}\n"
	      "  - name: t\n    depends_on: [a]\n    try: {steps: [{name: b, tool: put}], "
	      "finally: [{name: f, tool: put}]}\n");
	rig_finish(&rig, "a", "{}");
	rig_due(&rig, "");
	struct command stopped = rig_finished(&rig, "t/b", NULL);
	stopped.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &stopped);
	cancel(); /* ends the finally steps; no undo has begun */
	stopped = rig_finished(&rig, "t/f", NULL);
	stopped.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &stopped);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	struct command again = { .kind = COMMAND_RETRY, .by = S("ann") };
	rig_do(&rig, &again);
	cr_assert_eq(rig.run->undo_count, 1);
	rig_finish(&rig, "t#2/b", "{}");
	rig_finish(&rig, "t#2/f", NULL);
	cr_expect_str_eq(rig_state(&rig, "a~undo/u"), "running");
	rig_finish(&rig, "a~undo/u", "{}");
	cr_expect_eq(rig.run->state, RUN_FAILED);
}
