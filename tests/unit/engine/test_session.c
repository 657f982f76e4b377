/* Sessions: turns of an agent and calls of its tools.  The rig folds every history from every snapshot
 * of it, so each test here also shows that a session is restored as it was. */
#include <stdio.h>

#include "contract/run_event_types.h"
#include "engine/engine_rig.h"
#include "engine/run.h"
#include "engine/session.h"

static struct rig rig;

static void begin_with(const char *agent, const char *step, const char *more)
{
	AUTO(buf) yaml = { 0 };
	buf_add_format(&yaml,
		       "name: w\n%sagents:\n  dev: {driver: script, %s}\nsteps:\n"
		       "  - {name: s, agent: dev, inputs: {prompt: go}%s}\n"
		       "outputs: {text: {from: \"${steps.s.outputs.text}\", optional: true}}\n",
		       more, agent, step);
	buf_add_char(&yaml, '\0');
	rig_init(&rig, yaml.at);
	rig_create(&rig, "{}");
}

static void begin(const char *agent, const char *step)
{
	begin_with(agent, step, "");
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(session, .fini = end);

static void expect_log(const char *log)
{
	cr_assert_str_eq(rig_log(&rig), log);
}

static const char *fault_of_run(void)
{
	return str_c(&rig.arena, rig.run->fault.text);
}

#define TOOLS "tools: [put, echo, box]"
#define PUT   "{\"id\":\"1\",\"name\":\"put\",\"arguments\":{\"a\":1}}"
#define ECHO  "{\"id\":\"2\",\"name\":\"echo\",\"arguments\":{\"b\":2}}"
#define DONE  "{\"text\":\"done\"}"

Test(session, takes_turns_until_a_reply_has_no_calls)
{
	begin(TOOLS, "");
	expect_log("run.created\nstep.entered s\nturn.requested s[1]/turn\n");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	expect_log("turn.finished s[1]/turn\ntool.requested s[1]/put\n");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "s[1]/put")->inputs), "{\"a\":1}");
	rig_finish(&rig, "s[1]/put", "{\"put\":true}");
	expect_log("tool.finished s[1]/put\nstep.entered s\nturn.requested s[2]/turn\n");
	rig_finish(&rig, "s[2]/turn", DONE);
	expect_log("turn.finished s[2]/turn\nstep.left s\nrun.finished\n");
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs), "{\"text\":\"done\"}");
}

Test(session, makes_all_calls_of_a_reply_and_waits_for_all_of_them)
{
	begin(TOOLS, "");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "," ECHO "," PUT "]}");
	rig_log(&rig);
	rig_finish(&rig, "s[1]/put#2", "{}");
	expect_log("tool.finished s[1]/put#2\n");
	rig_compute(&rig, "s[1]/echo");
	expect_log("step.computed s[1]/echo\n");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "s[1]/echo")->result), "{\"b\":2}");
	rig_finish(&rig, "s[1]/put", NULL);
	expect_log("tool.finished s[1]/put\nstep.entered s\nturn.requested s[2]/turn\n");
	cr_assert_str_eq(rig_state(&rig, "s[1]/put"), "failed");
	cr_assert_str_eq(rig_state(&rig, "s[1]/put#2"), "succeeded");
	rig_finish(&rig, "s[2]/turn", DONE);
}

Test(session, refuses_calls_that_cannot_be_made_and_goes_on)
{
	begin(TOOLS, "");
	rig_finish(&rig, "s[1]/turn",
		   "{\"text\":\"\",\"calls\":[{\"id\":\"1\",\"name\":\"pt\",\"arguments\":{}},"
		   "{\"id\":\"2\",\"name\":\"put\",\"malformed\":\"{\"}]}");
	const struct activation *turn = rig_step(&rig, "s[1]/turn");
	cr_assert_eq(turn->refused_count, 2);
	cr_assert(str_equal(turn->refused[0].fault.text,
			    S("there is no tool pt; the tools are put, echo, box")));
	cr_assert(str_equal(turn->refused[1].fault.code, S("invalid")));
	cr_assert_str_eq(rig_state(&rig, "s[2]/turn"), "running");
	rig_finish(&rig, "s[2]/turn", DONE);
}

Test(session, has_a_limit_of_turns)
{
	begin(TOOLS ", max_turns: 2", "");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	rig_finish(&rig, "s[1]/put", "1");
	rig_finish(&rig, "s[2]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	rig_finish(&rig, "s[2]/put", "2");
	cr_assert_str_eq(rig_state(&rig, "s"), "failed");
	cr_assert(strstr(fault_of_run(), "agent dev has taken 2 turns and is not done"));
}

Test(session, is_stuck_when_the_same_calls_have_the_same_results)
{
	char turn[32], put[32];
	begin(TOOLS ", max_turns: 100", "");
	for (int i = 1; i <= 5; i++) {
		snprintf(turn, sizeof(turn), "s[%d]/turn", i);
		snprintf(put, sizeof(put), "s[%d]/put", i);
		rig_finish(&rig, turn, "{\"text\":\"\",\"calls\":[" PUT "]}");
		rig_finish(&rig, put, "1");
	}
	cr_assert_str_eq(rig_state(&rig, "s"), "failed");
	cr_assert(strstr(fault_of_run(), "the agent is stuck: 5 turns"));
}

Test(session, sends_a_reply_back_that_does_not_fit_its_schema)
{
	begin("schema: {type: object, required: [a]}", "");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"x\"}");
	cr_assert_eq(rig.last.type, EVENT_TURN_REQUESTED);
	const struct scope *second = rig_step(&rig, "s")->scopes;
	cr_assert_eq(second->item, 2);
	cr_assert(str_starts(second->turn.note, S("Your reply is not JSON.")));
	rig_finish(&rig, "s[2]/turn", "{\"text\":\"{}\",\"json\":{}}");
	cr_assert_eq(rig_step(&rig, "s")->scopes->turn.corrections, 2);
	rig_finish(&rig, "s[3]/turn", "{\"text\":\"\",\"json\":{\"a\":1}}");
	cr_assert_str_eq(rig_state(&rig, "s"), "succeeded");
}

Test(session, fails_with_its_turn_and_continues_in_it_after_a_retry)
{
	begin(TOOLS, "");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "," PUT "]}");
	rig_finish(&rig, "s[1]/put", "1");
	rig_finish(&rig, "s[1]/put#2", NULL);
	rig_finish(&rig, "s[2]/turn", NULL);
	cr_assert(strstr(fault_of_run(), "turn 2: "));
	struct command retry = { .kind = COMMAND_RETRY, .by = S("ann") };
	rig_log(&rig);
	rig_do(&rig, &retry);
	expect_log("run.retried\nturn.requested s[2]/turn#2\n");
	rig_finish(&rig, "s[2]/turn#2", DONE);
	cr_assert_str_eq(rig_state(&rig, "s"), "succeeded");
}

Test(session, is_cancelled_with_its_calls)
{
	begin(TOOLS, "");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "," PUT "]}");
	rig_finish(&rig, "s[1]/put#2", "1");
	struct command cancel = { .kind = COMMAND_CANCEL, .by = S("ann") };
	rig_do(&rig, &cancel);
	cr_assert_eq(rig.stops, 1);
	struct command stopped = rig_finished(&rig, "s[1]/put", NULL);
	stopped.outcome = RUN_OUTCOME_CANCELLED;
	rig_do(&rig, &stopped);
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
	cr_assert_str_eq(rig_state(&rig, "s"), "cancelled");
}

Test(session, does_not_make_the_calls_of_a_reply_that_comes_too_late)
{
	begin(TOOLS, "");
	struct command cancel = { .kind = COMMAND_CANCEL, .by = S("ann") };
	rig_do(&rig, &cancel);
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	cr_assert_eq(rig.run->state, RUN_CANCELLED);
	cr_assert_null(run_activation(rig.run, S("s[1]/put")));
}

Test(session, asks_again_after_a_retry_when_the_reply_came_too_late)
{
	begin_with(TOOLS, "", "timeout: 60\n");
	rig_due(&rig, "");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	struct command retry = { .kind = COMMAND_RETRY, .by = S("ann") };
	rig_do(&rig, &retry);
	cr_assert_str_eq(rig_state(&rig, "s[1]/turn#2"), "running");
	cr_assert_null(run_activation(rig.run, S("s[1]/put")));
	rig_finish(&rig, "s[1]/turn#2", DONE);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(session, asks_a_person_before_a_call_that_needs_approval)
{
	begin(TOOLS ", approve: [put]", "");
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "," ECHO "," PUT "]}");
	rig_compute(&rig, "s[1]/echo");
	cr_assert_str_eq(rig_state(&rig, "s[1]/approve"), "waiting_human");
	rig_answer(&rig, "s[1]/approve", RUN_DECISION_REJECT);
	rig_log(&rig);
	struct command answer = rig_answered(&rig, "s[1]/approve#2", RUN_DECISION_MODIFY);
	answer.output = rig_json(&rig, "[1]");
	rig_refused(&rig, &answer, ERROR_USAGE);
	answer.output = rig_json(&rig, "{\"a\":7}");
	rig_do(&rig, &answer);
	expect_log("human.finished s[1]/approve#2\ntool.requested s[1]/put\n");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "s[1]/put")->inputs), "{\"a\":7}");
	rig_finish(&rig, "s[1]/put", "1");
	cr_assert_str_eq(rig_state(&rig, "s[2]/turn"), "running");
	rig_finish(&rig, "s[2]/turn", DONE);
	cr_assert_str_eq(rig_state(&rig, "s"), "succeeded");
}

Test(session, waits_for_a_person_only_until_its_own_timeout)
{
	begin(TOOLS ", approve: [put]", ", timeout: 60");
	int64_t begun = rig.now;
	rig_finish(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	cr_assert_eq(rig_step(&rig, "s[1]/approve")->due_at, begun + 60 * 1000000);
	rig_due(&rig, "s[1]/approve");
	cr_assert_str_eq(rig_state(&rig, "s"), "failed");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert_str_eq(str_c(&rig.arena, rig.run->fault.code), "timeout");
}

Test(session, asks_a_person_when_the_agent_does)
{
	begin("tools: [ask_human]", "");
	rig_finish(
		&rig, "s[1]/turn",
		"{\"text\":\"\",\"calls\":[{\"id\":\"1\",\"name\":\"ask_human\",\"arguments\":{\"question\":\"Why?\"}},"
		"{\"id\":\"2\",\"name\":\"ask_human\",\"arguments\":{}}]}");
	cr_assert_str_eq(rig_state(&rig, "s[1]/ask_human"), "waiting_human");
	cr_assert_str_eq(rig_state(&rig, "s[1]/ask_human#2"), "failed");
	rig_answer(&rig, "s[1]/ask_human", RUN_DECISION_APPROVE);
	rig_finish(&rig, "s[2]/turn", DONE);
	cr_assert_str_eq(rig_state(&rig, "s"), "succeeded");
}

Test(session, leaves_the_oldest_turns_out_when_the_window_is_full)
{
	begin(TOOLS ", context_tokens: 1000, max_tokens: 100", "");
	struct command turn =
		rig_finished(&rig, "s[1]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	turn.usage = rig_json(&rig, "{\"input_tokens\":500,\"output_tokens\":1}");
	rig_do(&rig, &turn);
	rig_finish(&rig, "s[1]/put", "1");
	cr_assert_eq(rig_step(&rig, "s")->scopes->turn.kept_from, 1);
	turn = rig_finished(&rig, "s[2]/turn", "{\"text\":\"\",\"calls\":[" PUT "]}");
	turn.usage = rig_json(&rig, "{\"input_tokens\":890,\"output_tokens\":20}");
	rig_do(&rig, &turn);
	rig_finish(&rig, "s[2]/put", "2");
	cr_assert_eq(rig_step(&rig, "s")->scopes->turn.kept_from, 2);
	cr_assert_eq(rig.run->warnings.count, 2);
	rig_finish(&rig, "s[3]/turn", DONE);
}

/* A turn with a call whose result is never the same. */
static void take_turn(int64_t number)
{
	AUTO(buf) reply = { 0 };
	char turn[32], call[32], result[32];
	const char *tool = number == 2 ? "box" : "put";
	snprintf(turn, sizeof(turn), "s[%lld]/turn", (long long)number);
	snprintf(call, sizeof(call), "s[%lld]/%s", (long long)number, tool);
	snprintf(result, sizeof(result), "%lld", (long long)number);
	buf_add_format(&reply,
		       "{\"text\":\"turn %lld\",\"calls\":[{\"id\":\"1\",\"name\":\"%s\","
		       "\"arguments\":{}}]}",
		       (long long)number, tool);
	buf_add_char(&reply, '\0');
	rig_finish(&rig, turn, reply.at);
	rig_finish(&rig, call, result);
}

static int64_t turns_of(const struct activation *session)
{
	int64_t count = 0;
	for (const struct scope *scope = session->scopes; scope != NULL; scope = scope->next)
		count++;
	return count;
}

/* The mirror has all turns: what a walk over them gives. */
static int64_t bytes_of_all_turns(void)
{
	const struct activation *session = run_activation(rig.mirror, S("s"));
	int64_t bytes = session->opening.size + SESSION_AROUND_MESSAGE;
	for (const struct scope *scope = session->scopes; scope != NULL; scope = scope->next) {
		bytes += SESSION_AROUND_MESSAGE;
		for (const struct activation *a = scope->first; a != NULL; a = a->next)
			bytes += SESSION_AROUND_MESSAGE + a->result.size;
	}
	return bytes;
}

Test(session, decides_turn_500_with_as_many_turns_as_turn_5)
{
	const struct activation *session;
	begin(TOOLS ", required_tools: [box], context_tokens: 1000000, max_turns: 600", "");
	rig.forgets_turns = true;
	for (int64_t number = 1; number < 500; number++) {
		take_turn(number);
		session = rig_step(&rig, "s");
		cr_assert_eq(session->scopes->item, number + 1);
		cr_assert_leq(turns_of(session), 2);
	}
	session = rig_step(&rig, "s");
	cr_assert_eq(turns_of(session), 2);
	cr_assert_eq(turns_of(run_activation(rig.mirror, S("s"))), 500);
	cr_assert_eq(session_bytes(session), bytes_of_all_turns());
	/* The required tool was called in the second turn. */
	rig_finish(&rig, "s[500]/turn", DONE);
	cr_assert_str_eq(rig_state(&rig, "s"), "succeeded");
}

Test(session, fills_the_window_with_results_when_no_tokens_are_reported)
{
	begin(TOOLS ", context_tokens: 2000, max_tokens: 900, max_turns: 200", "");
	int64_t number = 1;
	while (rig_step(&rig, "s")->scopes->turn.kept_from == 1 && number < 190)
		take_turn(number++);
	/* The older half of the turns that were taken is left out, and so are their bytes. */
	const struct scope *newest = rig_step(&rig, "s")->scopes;
	struct transcript_size kept = { 0 };
	cr_assert_eq(newest->turn.kept_from, 1 + (number - 1) / 2);
	for (const struct scope *scope = newest->next; scope->item >= newest->turn.kept_from;
	     scope = scope->next) {
		kept.told += session_turn_size(scope).told;
		kept.results += session_turn_size(scope).results;
	}
	cr_assert_eq(newest->turn.kept.told, kept.told);
	cr_assert_eq(newest->turn.kept.results, kept.results);
	take_turn(number);
	cr_assert_eq(rig_step(&rig, "s")->scopes->turn.kept.told,
		     kept.told + session_turn_size(newest).told);
}
