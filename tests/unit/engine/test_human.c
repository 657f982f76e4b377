/* Questions to a person: asked, answered once, bound to what was shown. */
#include "contract/run_event_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void begin(void)
{
	rig_init(&rig,
		 "name: w\ninputs: {who: {type: string}}\n"
		 "outputs: {by: {from: '${steps.next.outputs.v.by}', optional: true}}\nsteps:\n"
		 "  - {name: ask, human: {question: 'ok, ${inputs.who}?'}, inputs: {n: 1}}\n"
		 "  - {name: next, tool: echo, depends_on: [ask], inputs: {v: "
		 "'${steps.ask.outputs}'}}\n");
	rig_create(&rig, "{\"who\":\"bob\"}");
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(human, .init = begin, .fini = end);

Test(human, a_question_is_asked_with_its_references_filled_in)
{
	cr_assert_eq(rig.last.type, EVENT_HUMAN_REQUESTED);
	cr_assert(str_equal(rig.last.as.run_human_requested->question, S("ok, bob?")));
	cr_assert_str_eq(rig_state(&rig, "ask"), "waiting_human");
	cr_assert_eq(rig.run->state, RUN_WAITING_HUMAN);
	cr_assert_not(run_needs_recovery(rig.run));
}

Test(human, approval_goes_on_with_the_answer_as_output)
{
	struct command command = rig_answered(&rig, "ask", RUN_DECISION_APPROVE);
	command.comment = S("fine \"so\"");
	rig_do(&rig, &command);
	cr_assert_eq(rig.run->state, RUN_RUNNING);
	cr_assert_str_eq(
		rig_value(&rig, &rig_step(&rig, "ask")->output),
		"{\"decision\":\"approve\",\"comment\":\"fine \\\"so\\\"\",\"by\":\"ada\"}");
	rig_compute(&rig, "next");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs), "{\"by\":\"ada\"}");
}

Test(human, rejection_fails_the_step)
{
	struct command command = rig_answered(&rig, "ask", RUN_DECISION_REJECT);
	command.comment = S("not now");
	rig_do(&rig, &command);
	cr_assert_str_eq(rig_state(&rig, "ask"), "failed");
	cr_assert_str_eq(rig_state(&rig, "next"), "skipped");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig.run->fault.code, S("rejected")));
	cr_assert(str_equal(rig_step(&rig, "ask")->fault.text, S("rejected by ada: not now")));
}

Test(human, a_second_answer_is_a_conflict)
{
	struct command command = rig_answered(&rig, "ask", RUN_DECISION_APPROVE);
	rig_do(&rig, &command);
	rig_refused(&rig, &command, ERROR_CONFLICT);
	command.decision = RUN_DECISION_REJECT;
	rig_refused(&rig, &command, ERROR_CONFLICT);
}

Test(human, an_answer_is_bound_to_what_was_shown)
{
	struct command command = rig_answered(&rig, "ask", RUN_DECISION_APPROVE);
	struct hash other = hash_of(S("something else"));
	command.revision = &other;
	rig_refused(&rig, &command, ERROR_CONFLICT);
	struct hash shown = rig_step(&rig, "ask")->question.asked->revision;
	command.revision = &shown;
	rig_do(&rig, &command);
}

Test(human, the_revision_depends_on_question_and_inputs)
{
	struct rig other;
	struct hash revision = rig_step(&rig, "ask")->question.asked->revision;
	rig_init(&other,
		 "name: w\nsteps:\n  - {name: ask, human: {question: 'ok, bob?'}, inputs: {n: 1}}\n"
		 "  - {name: two, human: {question: 'ok, bob?'}, inputs: {n: 2}}\n"
		 "  - {name: three, human: {question: 'ok, eve?'}, inputs: {n: 1}}\n");
	rig_create(&other, "{}");
	cr_assert(hash_equal(&rig_step(&other, "ask")->question.asked->revision, &revision));
	cr_assert_not(hash_equal(&rig_step(&other, "two")->question.asked->revision, &revision));
	cr_assert_not(hash_equal(&rig_step(&other, "three")->question.asked->revision, &revision));
	rig_done(&other);
}

Test(human, a_question_is_not_closed_by_a_result)
{
	struct command command = rig_finished(&rig, "ask", "{}");
	rig_refused(&rig, &command, ERROR_CONFLICT);
	command.kind = COMMAND_RESTARTED;
	rig_refused(&rig, &command, ERROR_CONFLICT);
}

Test(human, the_run_waits_only_when_nothing_else_is_open)
{
	struct rig other;
	rig_init(&other, "name: w\nsteps:\n  - {name: q, human: {question: x}}\n"
			 "  - {name: r, human: {question: y}}\n  - {name: t, wait: {seconds: 1}}\n"
			 "  - {name: p, tool: put}\n");
	rig_create(&other, "{}");
	cr_assert_eq(other.run->state, RUN_RUNNING);
	rig_finish(&other, "p", "{}");
	cr_assert_eq(other.run->state, RUN_RUNNING);
	rig_finish(&other, "t", "{}");
	cr_assert_eq(other.run->state, RUN_WAITING_HUMAN);
	rig_answer(&other, "q", RUN_DECISION_APPROVE);
	cr_assert_eq(other.run->state, RUN_WAITING_HUMAN);
	rig_answer(&other, "r", RUN_DECISION_REJECT);
	cr_assert_eq(other.run->state, RUN_FAILED);
	rig_done(&other);
}
