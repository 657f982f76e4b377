/* Every kind of node and every way to go on, as docs/engine.md has it; the rig's mirror folds each
 * event a second time, so a decision that depended on anything else would show. */
#include <stdio.h>

#include "contract/run_event_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void begin(const char *steps)
{
	AUTO(buf) yaml = { 0 };
	buf_add_format(&yaml,
		       "name: w\ninputs: {n: {type: number, default: 2}, l: {type: array, "
		       "default: [1, 2, 3]}}\n%s",
		       steps);
	buf_add_char(&yaml, '\0');
	rig_init(&rig, yaml.at);
	rig_create(&rig, "{}");
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(kinds, .fini = end);

static const char *outputs(void)
{
	return rig_value(&rig, &rig.run->outputs);
}

/* ---- conditions ---------------------------------------------------------------------- */

Test(kinds, a_step_whose_condition_fails_is_skipped_and_its_dependents_see_null)
{
	begin("steps:\n  - {name: a, tool: put, when: 'inputs.n > 5'}\n"
	      "  - {name: b, tool: echo, depends_on: [a], inputs: {x: '${steps.a.outputs.k}'}}\n"
	      "outputs: {b: {from: '${steps.b.outputs}'}, s: {from: '${steps.a.status}'}}\n");
	cr_assert_str_eq(rig_log(&rig), "run.created\nstep.skipped a\n");
	rig_compute_all(&rig);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_str_eq(outputs(), "{\"b\":{\"x\":null},\"s\":\"skipped\"}");
}

Test(kinds, unless_is_when_turned_round)
{
	begin("steps:\n  - {name: a, tool: echo, unless: '${inputs.n} == 2'}\n"
	      "  - {name: b, tool: echo, when: 'inputs.n == 2', unless: 'inputs.n == 3'}\n");
	cr_assert_str_eq(rig_log(&rig), "run.created\nstep.skipped a\nstep.started b\n");
	rig_compute_all(&rig);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(kinds, a_condition_chooses_its_edges)
{
	begin("steps:\n  - {name: c, condition: 'inputs.n * 2', next: [{to: x, when: "
	      "'output.value == 4'}, {to: y, when: 'output.value == 5'}]}\n"
	      "  - {name: x, tool: put, join: any}\n  - {name: y, tool: put, join: any}\n");
	cr_assert_str_eq(rig_log(&rig), "run.created\nstep.computed c\ntool.requested x\n");
	rig_finish(&rig, "x", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

/* ---- rounds -------------------------------------------------------------------------- */

Test(kinds, a_step_is_run_until_its_condition_holds)
{
	begin("steps:\n  - {name: a, tool: put, loop_until: 'output.k == 3', loop_max: 5, inputs: "
	      "{before: '${steps.a.outputs.k}'}}\n"
	      "  - {name: b, tool: put, depends_on: [a]}\n"
	      "outputs: {k: {from: '${steps.a.outputs.k}'}}\n");
	rig_finish(&rig, "a", "{\"k\":1}");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "a#2")->inputs), "{\"before\":1}");
	cr_assert_str_eq(rig_state(&rig, "b"), "pending");
	rig_finish(&rig, "a#2", "{\"k\":2}");
	cr_assert(run_activation(rig.run, S("a")) == NULL, "the first is left behind");
	rig_finish(&rig, "a#3", "{\"k\":3}");
	cr_assert_str_eq(rig_state(&rig, "b"), "running");
	rig_finish(&rig, "b", "{}");
	cr_assert_str_eq(outputs(), "{\"k\":3}");
}

Test(kinds, when_the_rounds_are_over_the_last_result_stands)
{
	begin("steps:\n  - {name: a, tool: put, loop_until: 'false', loop_max: '${inputs.n}'}\n");
	rig_finish(&rig, "a", "{}");
	rig_finish(&rig, "a#2", "{\"last\":1}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(kinds, a_loop_runs_its_body_until_it_is_good)
{
	begin("steps:\n  - name: improve\n    loop:\n      until: 'steps.check.outputs.ok'\n"
	      "      max: 4\n      steps:\n        - {name: draft, tool: put}\n"
	      "        - {name: check, tool: put, depends_on: [draft], inputs: {d: "
	      "'${steps.draft.outputs.d}'}}\n"
	      "outputs: {all: {from: '${steps.improve.outputs}'}}\n");
	rig_finish(&rig, "improve/draft", "{\"d\":1}");
	rig_finish(&rig, "improve/check", "{\"ok\":false}");
	rig_finish(&rig, "improve#2/draft", "{\"d\":2}");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "improve#2/check")->inputs), "{\"d\":2}");
	rig_finish(&rig, "improve#2/check", "{\"ok\":true}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_str_eq(outputs(), "{\"all\":{\"draft\":{\"d\":2},\"check\":{\"ok\":true}}}");
}

/* ---- bodies -------------------------------------------------------------------------- */

Test(kinds, a_map_runs_its_body_for_every_item)
{
	begin("steps:\n  - name: each\n    map:\n      over: '${inputs.l}'\n      at_once: 2\n"
	      "      steps: [{name: one, tool: put, inputs: {x: '${item}', i: '${index}'}}]\n"
	      "outputs: {all: {from: '${steps.each.outputs}'}}\n");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "each[1]/one")->inputs),
			 "{\"x\":2,\"i\":1}");
	cr_assert(run_activation(rig.run, S("each[2]/one")) == NULL, "two at once");
	rig_finish(&rig, "each[1]/one", "\"b\"");
	rig_finish(&rig, "each[2]/one", "\"c\"");
	rig_finish(&rig, "each[0]/one", "\"a\"");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_str_eq(outputs(), "{\"all\":[\"a\",\"b\",\"c\"]}");
}

Test(kinds, a_map_over_nothing_gives_nothing)
{
	begin("steps:\n  - name: each\n    map: {over: [], steps: [{name: one, tool: put}]}\n"
	      "  - {name: next, tool: put, depends_on: [each]}\n"
	      "outputs: {all: {from: '${steps.each.outputs}'}}\n");
	cr_assert_str_eq(rig_log(&rig),
			 "run.created\nstep.entered each\nstep.left each\ntool.requested next\n");
	rig_finish(&rig, "next", "{}");
	cr_assert_str_eq(outputs(), "{\"all\":[]}");
}

Test(kinds, a_map_over_no_list_fails)
{
	begin("steps:\n  - name: each\n    map: {over: '${inputs.n}', steps: [{name: one, tool: "
	      "put}]}\n");
	cr_assert_eq(rig.run->state, RUN_FAILED);
}

Test(kinds, a_failure_in_a_body_fails_its_container_and_skips_what_depends_on_it)
{
	begin("steps:\n  - name: p\n    parallel: {steps: [{name: a, tool: put}, {name: b, tool: "
	      "put}, {name: c, tool: put, depends_on: [a]}]}\n"
	      "  - {name: after, tool: put, depends_on: [p]}\n");
	rig_finish(&rig, "p/a", NULL);
	cr_assert_str_eq(rig_state(&rig, "p/c"), "skipped");
	rig_finish(&rig, "p/b", "{}");
	cr_assert_str_eq(rig_state(&rig, "p"), "failed");
	cr_assert_str_eq(rig_state(&rig, "after"), "skipped");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_starts(rig.run->fault.text, S("step p: step p/a: ")));
}

Test(kinds, variables_are_the_newest_that_was_set)
{
	begin("steps:\n  - {name: a, tool: put, outputs: {k: best}}\n"
	      "  - {name: b, tool: put, depends_on: [a], outputs: {k: best}}\n"
	      "  - {name: c, tool: echo, depends_on: [b], inputs: {best: '${ctx.best}'}}\n"
	      "outputs: {c: {from: '${steps.c.outputs.best}'}}\n");
	rig_finish(&rig, "a", "{\"k\":1}");
	rig_finish(&rig, "b", "{\"k\":2}");
	rig_compute_all(&rig);
	cr_assert_str_eq(outputs(), "{\"c\":2}");
}

Test(kinds, what_a_step_sets_is_seen_by_its_own_condition)
{
	begin("steps:\n  - {name: a, tool: echo, inputs: {n: '${coalesce(ctx.n, 0) + 1}'},"
	      " outputs: {n: n}, loop_until: ctx.n >= 3, loop_max: 10}\n"
	      "outputs: {n: {from: '${ctx.n}'}}\n");
	rig_compute_all(&rig);
	cr_assert_str_eq(outputs(), "{\"n\":3}");
}

Test(kinds, a_round_reads_the_round_before_it)
{
	begin("steps:\n  - name: l\n    loop:\n      until: steps.b.outputs.text == 'xxx'\n      max: 9\n"
	      "      steps:\n"
	      "        - {name: a, tool: echo, inputs: {old: '${steps.l.outputs.b.text}', status: '${steps.l.status}'}}\n"
	      "        - name: p\n          parallel:\n            steps:\n"
	      "              - {name: deep, tool: echo, inputs: {text: \"${coalesce(steps.l.outputs.b.text, '')}x\"}}\n"
	      "        - {name: b, tool: echo, depends_on: [a, p], inputs: {text: '${steps.p.outputs.deep.text}'}}\n"
	      "outputs: {all: {from: '${steps.l.outputs}'}}\n");
	rig_compute_all(&rig);
	cr_assert_str_eq(outputs(),
			 "{\"all\":{\"a\":{\"old\":\"xx\",\"status\":\"success\"},"
			 "\"p\":{\"deep\":{\"text\":\"xxx\"}},\"b\":{\"text\":\"xxx\"}}}");
}

Test(kinds, a_correction_reads_what_was_wrong)
{
	begin("steps:\n  - {name: a, tool: echo, inputs: {n: 1}}\n"
	      "  - name: v\n    depends_on: [a]\n    verify:\n      target: a\n"
	      "      criteria: [{name: told, check: \"output.why == 'failed'\"}]\n"
	      "      steps: [{name: fix, tool: echo, inputs: {why: '${steps.v.outputs.status}'}}]\n"
	      "outputs: {status: {from: '${steps.v.outputs.status}'}}\n");
	rig_compute_all(&rig);
	cr_assert_str_eq(outputs(), "{\"status\":\"corrected\"}");
}

/* ---- edges --------------------------------------------------------------------------- */

static const char *const cycle =
	"steps:\n  - {name: think, tool: put, join: any, entry: true, next: [{to: act, when: "
	"'not output.done'}]}\n"
	"  - {name: act, tool: put, join: any, max_iterations: 2, next: [{to: think}]}\n";

Test(kinds, edges_may_lead_in_a_circle_that_a_condition_ends)
{
	begin(cycle);
	rig_finish(&rig, "think", "{\"done\":false}");
	rig_finish(&rig, "act", "{}");
	rig_finish(&rig, "think#2", "{\"done\":true}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(kinds, a_circle_that_goes_on_too_long_ends_the_run)
{
	begin(cycle);
	rig_finish(&rig, "think", "{\"done\":false}");
	rig_finish(&rig, "act", "{}");
	rig_finish(&rig, "think#2", "{\"done\":false}");
	rig_finish(&rig, "act#2", "{}");
	rig_finish(&rig, "think#3", "{\"done\":false}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig.run->fault.code, S("limit_reached")));
}

/* ---- retries and deadlines -------------------------------------------------------------- */

Test(kinds, a_failed_attempt_is_made_again_with_the_same_effect)
{
	begin("steps:\n  - {name: a, tool: put, retry: {max_retries: 2, base_delay: 1}}\n");
	struct uuid effect = rig_step(&rig, "a")->effect;
	rig_finish(&rig, "a", NULL);
	cr_assert_str_eq(rig_state(&rig, "a"), "retrying");
	cr_assert(rig_step(&rig, "a")->due_at <= rig.now + 1000000);
	cr_assert_eq(rig.run->busy, 1, "it keeps its room");
	rig_due(&rig, "a");
	cr_assert_eq(rig_step(&rig, "a")->attempt, 2);
	cr_assert(uuid_equal(&rig_step(&rig, "a")->effect, &effect));
	rig_finish(&rig, "a", NULL);
	cr_assert(rig_step(&rig, "a")->due_at <= rig.now + 2000000);
	rig_due(&rig, "a");
	rig_finish(&rig, "a", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert_eq(rig_step(&rig, "a")->attempt, 3);
}

/* Steps that fail together are not tried again together: each waits anything up to the doubled
 * delay, and a replay of the history waits as long (the mirror). */
Test(kinds, retries_are_spread_over_the_whole_delay)
{
	enum { STEPS = 8 };
	AUTO(buf) yaml = { 0 };
	size_t early = 0, late = 0;
	buf_add(&yaml, S("steps:\n"));
	for (int i = 0; i < STEPS; i++)
		buf_add_format(&yaml,
			       "  - {name: s%d, tool: put, retry: {max_retries: 3, base_delay: "
			       "8, max_delay: 16}}\n",
			       i);
	buf_add_char(&yaml, '\0');
	begin(yaml.at);
	for (int64_t attempt = 1, most = 8000000; attempt <= 3; attempt++, most = 16000000) {
		int64_t delays[STEPS];
		char name[16];
		for (int i = 0; i < STEPS; i++) {
			snprintf(name, sizeof(name), "s%d", i);
			rig_finish(&rig, name, NULL);
			delays[i] = rig_step(&rig, name)->due_at - rig.run->updated_at;
			cr_assert(delays[i] >= 0 && delays[i] <= most, "%lld of %lld",
				  (long long)delays[i], (long long)most);
			early += delays[i] < most / 2;
			late += delays[i] >= most / 2;
			for (int k = 0; k < i; k++)
				cr_assert_neq(delays[k], delays[i]);
		}
		for (int i = 0; i < STEPS; i++) {
			snprintf(name, sizeof(name), "s%d", i);
			if (rig_step(&rig, name)->state == STEP_RETRYING)
				rig_due(&rig, name);
		}
	}
	cr_assert(early >= 6 && late >= 6, "%zu early, %zu late", early, late);
}

Test(kinds, only_named_errors_are_worth_a_retry)
{
	begin("steps:\n  - {name: a, tool: put, retry: {on: [unavailable]}}\n");
	rig_finish(&rig, "a", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
}

/* A tool that has given up for its own time limit would take as long again. */
Test(kinds, a_call_that_ran_out_of_time_is_not_retried_unless_it_is_named)
{
	begin("steps:\n  - {name: a, tool: put, retry: {max_retries: 3}}\n"
	      "  - {name: b, tool: put, retry: {max_retries: 3, on: [timeout]}}\n");
	for (const char *step = "a"; step != NULL; step = step[0] == 'a' ? "b" : NULL) {
		struct command late = rig_finished(&rig, step, NULL);
		late.fault = (struct failure){ S("timeout"), S("it took too long") };
		rig_do(&rig, &late);
	}
	cr_assert_str_eq(rig_state(&rig, "a"), "failed");
	cr_assert_str_eq(rig_state(&rig, "b"), "retrying");
}

Test(kinds, a_deadline_stops_a_call_and_is_not_retried)
{
	begin("steps:\n  - {name: a, tool: put, timeout: 5, retry: {max_retries: 3}}\n");
	rig_due(&rig, "a");
	cr_assert_eq(rig.stops, 1);
	cr_assert_str_eq(rig_state(&rig, "a"), "running");
	struct command command = rig_finished(&rig, "a", NULL);
	command.outcome = RUN_OUTCOME_CANCELLED;
	command.fault = (struct failure){ S(""), S("") };
	rig_do(&rig, &command);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig_step(&rig, "a")->fault.code, S("timeout")));
}

Test(kinds, the_time_of_the_whole_run)
{
	begin("timeout: 3\nsteps:\n  - {name: a, tool: put}\n  - {name: q, human: {question: x}}\n");
	rig_due(&rig, "");
	cr_assert_eq(rig.stops, 1);
	cr_assert_str_eq(rig_state(&rig, "q"), "cancelled");
	rig_finish(&rig, "a", "{}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig.run->fault.code, S("timeout")));
}

/* ---- people -------------------------------------------------------------------------- */

Test(kinds, an_unknown_outcome_is_settled_by_a_person)
{
	static const enum run_decision ways[] = { RUN_DECISION_HAPPENED, RUN_DECISION_NOT_HAPPENED,
						  RUN_DECISION_RETRY,
						  RUN_DECISION_HAPPENED /* and gave nothing */ };
	for (size_t i = 0; i < COUNT(ways); i++) {
		if (i > 0)
			rig_done(&rig);
		begin("steps:\n  - {name: a, tool: send}\n"
		      "outputs: {k: {from: '${steps.a.outputs.k}', optional: true}}\n");
		struct command command = rig_finished(&rig, "a", NULL);
		command.outcome = RUN_OUTCOME_UNKNOWN;
		command.fault = (struct failure){ S("outcome_unknown"), S("look") };
		rig_do(&rig, &command);
		cr_assert_eq(rig.run->state, RUN_WAITING_HUMAN);
		struct command answer = rig_answered(&rig, "a", RUN_DECISION_APPROVE);
		rig_refused(&rig, &answer, ERROR_USAGE);
		answer.decision = ways[i];
		answer.output = i == 0 ? rig_json(&rig, "{\"k\":7}") : NULL;
		rig_do(&rig, &answer);
		if (i == 2) {
			cr_assert_str_eq(rig_state(&rig, "a"), "running");
			cr_assert_eq(rig_step(&rig, "a")->attempt, 2);
			rig_finish(&rig, "a", "{\"k\":8}");
		}
		cr_assert_eq(rig.run->state, i == 1 ? RUN_FAILED : RUN_SUCCEEDED);
		cr_assert_str_eq(outputs(), i == 0   ? "{\"k\":7}"
					    : i == 2 ? "{\"k\":8}"
						     : "{\"k\":null}");
	}
}

Test(kinds, a_question_is_escalated_and_then_over)
{
	begin("steps:\n  - {name: q, human: {question: x, timeout: 10, escalate: [{to: lead, "
	      "timeout: 20}, {to: boss, timeout: 5}]}}\n");
	rig_due(&rig, "q");
	cr_assert_eq(rig_step(&rig, "q")->due_at, rig.now + 20000000);
	rig_due(&rig, "q");
	cr_assert_eq(rig_step(&rig, "q")->question.level, 2);
	rig_due(&rig, "q");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig_step(&rig, "q")->fault.code, S("timeout")));
}

Test(kinds, an_answer_may_bring_other_values)
{
	begin("steps:\n  - {name: q, human: {question: x}, inputs: {n: 1}}\n"
	      "outputs: {v: {from: '${steps.q.outputs.value.n}'}, d: {from: "
	      "'${steps.q.outputs.decision}'}}\n");
	struct command answer = rig_answered(&rig, "q", RUN_DECISION_MODIFY);
	rig_refused(&rig, &answer, ERROR_USAGE);
	answer.output = rig_json(&rig, "{\"n\":5}");
	rig_do(&rig, &answer);
	cr_assert_str_eq(outputs(), "{\"v\":5,\"d\":\"modify\"}");
}

Test(kinds, four_eyes_see_more_than_two)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: q, human: {question: x, four_eyes: true}}\n");
	const struct run_start start = { .by = S("ada"), .is.by = GIVEN };
	struct command create = { .kind = COMMAND_CREATE,
				  .inputs = rig_json(&rig, "{}"),
				  .start = &start };
	rig_do(&rig, &create);
	struct command answer = rig_answered(&rig, "q", RUN_DECISION_APPROVE);
	rig_refused(&rig, &answer, ERROR_FORBIDDEN);
	answer.by = S("bob");
	rig_do(&rig, &answer);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

/* ---- commands of people ------------------------------------------------------------------ */

static void command(enum command_kind kind)
{
	struct command given = { .kind = kind, .by = S("ada") };
	rig_do(&rig, &given);
}

Test(kinds, a_paused_run_starts_nothing_and_ends_nothing)
{
	begin("steps:\n  - {name: a, tool: put}\n  - {name: b, tool: echo, depends_on: [a]}\n");
	command(COMMAND_PAUSE);
	struct command again = { .kind = COMMAND_PAUSE, .by = S("ada") };
	rig_refused(&rig, &again, ERROR_CONFLICT);
	rig_finish(&rig, "a", "{}");
	cr_assert_eq(rig.run->state, RUN_PAUSED);
	cr_assert_str_eq(rig_state(&rig, "b"), "pending");
	command(COMMAND_RESUME);
	rig_compute_all(&rig);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(kinds, a_cancelled_run_ends_when_its_last_call_does)
{
	begin("steps:\n  - {name: a, tool: put}\n  - {name: t, wait: {seconds: 9}}\n"
	      "  - {name: q, human: {question: x}}\n"
	      "  - name: m\n    map: {over: [1, 2], steps: [{name: s, tool: send}, {name: w, wait: "
	      "{seconds: 1}}]}\n  - {name: b, tool: put, depends_on: [a]}\n");
	command(COMMAND_CANCEL);
	cr_assert_eq(rig.stops, 3);
	cr_assert_str_eq(rig_state(&rig, "t"), "cancelled");
	cr_assert_str_eq(rig_state(&rig, "q"), "cancelled");
	cr_assert_str_eq(rig_state(&rig, "b"), "cancelled");
	cr_assert_str_eq(rig_state(&rig, "m"), "running");
	cr_assert_eq(rig_open(&rig), 3);
	command(COMMAND_CANCEL);
	rig_finish(&rig, "a", "{\"late\":1}");
	rig_finish(&rig, "m[0]/s", NULL);
	struct command stopped = rig_finished(&rig, "m[1]/s", NULL);
	stopped.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &stopped);
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
	cr_assert_str_eq(rig_state(&rig, "m"), "cancelled");
}

Test(kinds, a_signal_ends_the_oldest_wait_or_is_kept)
{
	begin("steps:\n  - {name: a, wait: {signal: go, timeout: 60}}\n"
	      "  - {name: b, wait: {signal: go}, depends_on: [a]}\n"
	      "  - {name: c, wait: {signal: no, timeout: 1}}\n"
	      "outputs: {a: {from: '${steps.a.outputs.n}'}, b: {from: '${steps.b.outputs.n}'}}\n");
	struct command signal = { .kind = COMMAND_SIGNAL,
				  .by = S("ada"),
				  .name = S("go"),
				  .output = rig_json(&rig, "{\"n\":1}") };
	rig_do(&rig, &signal);
	signal.output = rig_json(&rig, "{\"n\":2}");
	rig_do(&rig, &signal);
	signal.output = rig_json(&rig, "{\"n\":3}");
	rig_do(&rig, &signal);
	cr_assert_str_eq(rig_state(&rig, "b"), "succeeded");
	cr_assert(rig.run->signals != NULL && rig.run->signals->next == NULL);
	rig_due(&rig, "c");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert_str_eq(outputs(), "{\"a\":1,\"b\":2}");
}

Test(kinds, a_queued_run_waits_for_its_start)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: e, tool: echo}\n");
	struct command create = { .kind = COMMAND_CREATE,
				  .inputs = rig_json(&rig, "{}"),
				  .queued = true };
	rig_do(&rig, &create);
	cr_assert_eq(rig.run->state, RUN_QUEUED);
	cr_assert_not(run_needs_recovery(rig.run));
	command(COMMAND_START);
	rig_compute_all(&rig);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(kinds, a_queued_run_can_be_cancelled)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: e, tool: echo}\n");
	struct command create = { .kind = COMMAND_CREATE,
				  .inputs = rig_json(&rig, "{}"),
				  .queued = true };
	rig_do(&rig, &create);
	command(COMMAND_CANCEL);
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
}

/* ---- runs of their own ------------------------------------------------------------------- */

Test(kinds, a_sub_run_is_named_by_its_effect)
{
	begin("steps:\n  - {name: s, workflow: other, inputs: {x: '${inputs.n}'}, retry: "
	      "{max_retries: 1}}\n");
	struct uuid first = rig_step(&rig, "s")->effect;
	cr_assert_str_eq(rig_log(&rig), "run.created\nsubrun.requested s\n");
	rig_finish(&rig, "s", NULL);
	rig_due(&rig, "s");
	cr_assert_not(uuid_equal(&first, &rig_step(&rig, "s")->effect), "another child");
	rig_finish(&rig, "s", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

/* ---- verify and gate ----------------------------------------------------------------------- */

static const char *const checked =
	"steps:\n  - {name: a, tool: put}\n  - name: v\n    depends_on: [a]\n    verify:\n"
	"      target: a\n      criteria: [{name: big, check: 'output.n > 3'}, {name: even, check: "
	"'output.n % 2 == 0'}]\n      policy: {max_correction_attempts: 2}\n"
	"      steps: [{name: fix, tool: put, inputs: {bad: '${steps.a.outputs.n}'}}]\n"
	"outputs: {s: {from: '${steps.v.outputs.status}', optional: true}, f: {from: "
	"'${steps.v.outputs.final_output.n}', optional: true}}\n";

Test(kinds, a_verification_passes_at_once)
{
	begin(checked);
	rig_finish(&rig, "a", "{\"n\":4}");
	cr_assert_str_eq(outputs(), "{\"s\":\"passed\",\"f\":4}");
}

Test(kinds, a_verification_is_corrected)
{
	begin(checked);
	rig_finish(&rig, "a", "{\"n\":1}");
	rig_finish(&rig, "v#2/fix", "{\"n\":2}");
	rig_finish(&rig, "v#3/fix", "{\"n\":6}");
	cr_assert_str_eq(outputs(), "{\"s\":\"corrected\",\"f\":6}");
	const char *record = rig_value(&rig, &rig_step(&rig, "v#3")->output);
	cr_assert(strstr(record, "\"outcome\":\"partial\"") != NULL, "%s", record);
	cr_assert(strstr(record, "\"outcome\":\"success\"") != NULL, "%s", record);
}

Test(kinds, a_verification_gives_up)
{
	begin(checked);
	rig_finish(&rig, "a", "{\"n\":1}");
	rig_finish(&rig, "v#2/fix", "{\"n\":3}");
	rig_finish(&rig, "v#3/fix", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert_str_eq(outputs(), "{\"s\":\"uncorrectable\",\"f\":null}");
}

Test(kinds, a_critical_criterion_halts_the_run)
{
	begin("steps:\n  - {name: a, tool: put}\n  - {name: q, human: {question: x}}\n"
	      "  - name: v\n    depends_on: [a]\n    verify: {target: a, criteria: [{name: c, check: "
	      "'output.ok', critical: true}]}\n");
	rig_finish(&rig, "a", "{\"ok\":false}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig.run->fault.code, S("unverified")));
	cr_assert_str_eq(rig_state(&rig, "q"), "cancelled");
}

static void gate(const char *first, const char *second, const char *third, const char *status,
		 bool open)
{
	begin("steps:\n  - name: g\n    gate: {threshold: 0.6, required: [a], steps: [{name: a, tool: "
	      "put}, {name: b, tool: put}, {name: c, tool: put}]}\n"
	      "  - {name: after, tool: put, depends_on: [g]}\n"
	      "outputs: {s: {from: '${steps.g.outputs.status}', optional: true}}\n");
	rig_finish(&rig, "g/a", first);
	rig_finish(&rig, "g/b", second);
	rig_finish(&rig, "g/c", third);
	cr_assert_str_eq(rig_state(&rig, "after"), open ? "running" : "skipped");
	if (open)
		rig_finish(&rig, "after", "{}");
	cr_assert(strstr(outputs(), status) != NULL, "%s", outputs());
	rig_done(&rig);
}

Test(kinds, a_gate_opens_when_enough_tests_pass)
{
	gate("{}", "{\"exit_code\":0}", "{\"passed\":true}", "passed", true);
	gate("{}", "{\"exit_code\":1}", "{}", "passed", true);
	gate("{}", "{\"exit_code\":1}", NULL, "partial", false);
	gate("{\"passed\":false}", "{}", "{}", "failed", false);
	gate(NULL, NULL, NULL, "failed", false);
	rig_init(&rig, "name: w\nsteps: [{name: a, tool: echo}]\n");
}

/* ---- lenient rules ------------------------------------------------------------------- */

#define READS_NOTHING                                                                         \
	"steps:\n  - {name: a, tool: put}\n"                                                  \
	"  - {name: t, tool: put, depends_on: [a], inputs: {x: '${steps.a.outputs.no}'}}\n"   \
	"  - {name: w, tool: put, depends_on: [a], when: 'steps.a.outputs.k > []'}\n"         \
	"  - {name: m, depends_on: [a], map: {over: '${steps.a.outputs.no}', steps: [{name: " \
	"x, tool: put}]}}\n"                                                                  \
	"  - {name: h, depends_on: [a], human: {question: '${steps.a.outputs.no}?'}}\n"

static void expect_kept(size_t warnings)
{
	cr_expect_eq(rig.run->warnings.count, warnings, "%zu", rig.run->warnings.count);
	cr_expect_eq(rig.run->warnings.dropped, 0);
	check_snapshots(rig.history, rig.events, rig.run->id, rig.graph);
}

Test(kinds, a_lenient_rule_leaves_a_warning_that_snapshots_keep)
{
	begin(READS_NOTHING);
	rig_finish(&rig, "a", "{\"k\":1}");
	cr_expect_str_eq(rig_state(&rig, "t"), "running");
	cr_expect_str_eq(rig_state(&rig, "w"), "skipped");
	cr_expect_str_eq(rig_state(&rig, "h"), "waiting_human");
	expect_kept(4);
	rig_do(&rig, &(struct command){ .kind = COMMAND_COMPACT, .floor = rig.run->seq });
	cr_expect_eq(rig.last.as.run_compacted->warnings.count, 4);
	expect_kept(4);
}

Test(kinds, a_strict_definition_fails_these_steps_before_they_start)
{
	static const char *const names[] = { "t", "w", "m", "h" };
	begin("strict: true\n" READS_NOTHING);
	rig_log(&rig);
	rig_finish(&rig, "a", "{\"k\":1}");
	for (size_t i = 0; i < COUNT(names); i++) {
		cr_expect_str_eq(rig_state(&rig, names[i]), "failed", "%s", names[i]);
		cr_expect(str_equal(rig_step(&rig, names[i])->fault.code, S("invalid")));
	}
	cr_expect_str_eq(rig_log(&rig), "tool.finished a\nstep.computed t\nstep.computed w\n"
					"step.computed m\nstep.computed h\nrun.finished\n");
	cr_expect_eq(rig.run->state, RUN_FAILED);
	expect_kept(0);
}
