/* What decide() and evolve() refuse; a refusal changes nothing. */
#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void begin(void)
{
	rig_init(&rig,
		 "name: w\nsteps:\n  - {name: a, tool: put}\n  - {name: e, tool: echo}\n"
		 "  - {name: t, wait: {seconds: 1}}\n  - {name: b, tool: put, depends_on: [a]}\n");
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(refusals, .init = begin, .fini = end);

Test(refusals, a_run_is_created_once)
{
	rig_create(&rig, "{}");
	struct command command = { .kind = COMMAND_CREATE, .inputs = rig_json(&rig, "{}") };
	rig_refused(&rig, &command, ERROR_CONFLICT);
}

Test(refusals, steps_and_effects_must_be_there)
{
	rig_create(&rig, "{}");
	struct command command = rig_finished(&rig, "a", "{}");
	command.step = S("nobody");
	rig_refused(&rig, &command, ERROR_NOT_FOUND);
	command.kind = COMMAND_COMPUTED;
	rig_refused(&rig, &command, ERROR_NOT_FOUND);
	command = rig_finished(&rig, "a", "{}");
	command.effect.bytes[0] ^= 1;
	rig_refused(&rig, &command, ERROR_NOT_FOUND);
	command.kind = COMMAND_RESTARTED;
	rig_refused(&rig, &command, ERROR_NOT_FOUND);
	command.kind = COMMAND_ANSWERED;
	rig_refused(&rig, &command, ERROR_CONFLICT);
}

Test(refusals, results_come_once)
{
	rig_create(&rig, "{}");
	struct command finish = rig_finished(&rig, "a", "{}");
	rig_do(&rig, &finish);
	rig_refused(&rig, &finish, ERROR_CONFLICT);
	finish.kind = COMMAND_RESTARTED;
	rig_refused(&rig, &finish, ERROR_CONFLICT);
	struct command compute = { .kind = COMMAND_COMPUTED,
				   .step = S("e"),
				   .output = rig_json(&rig, "{}") };
	rig_do(&rig, &compute);
	rig_refused(&rig, &compute, ERROR_CONFLICT);
}

Test(refusals, a_step_that_has_not_begun_has_no_result)
{
	rig_create(&rig, "{}");
	struct command command = rig_finished(&rig, "b", "{}");
	rig_refused(&rig, &command, ERROR_CONFLICT);
	struct command compute = { .kind = COMMAND_COMPUTED, .step = S("b") };
	rig_refused(&rig, &compute, ERROR_CONFLICT);
	compute.step = S("a");
	rig_refused(&rig, &compute, ERROR_CONFLICT);
}

Test(refusals, each_kind_is_closed_in_its_own_way)
{
	rig_create(&rig, "{}");
	struct command command = rig_answered(&rig, "a", RUN_DECISION_APPROVE);
	rig_refused(&rig, &command, ERROR_CONFLICT);
	command = rig_answered(&rig, "t", RUN_DECISION_APPROVE);
	rig_refused(&rig, &command, ERROR_CONFLICT);
	command = rig_finished(&rig, "t", "{}");
	rig_refused(&rig, &command, ERROR_CONFLICT);
	command.kind = COMMAND_RESTARTED;
	rig_refused(&rig, &command, ERROR_CONFLICT);
}

Test(refusals, an_ended_run_takes_nothing)
{
	rig_create(&rig, "{}");
	struct command late = rig_finished(&rig, "a", "{}");
	rig_finish(&rig, "a", NULL);
	rig_compute(&rig, "e");
	rig_finish(&rig, "t", "{}");
	cr_assert(run_ended(rig.run));
	rig_refused(&rig, &late, ERROR_CONFLICT);
	late.kind = COMMAND_CREATE;
	rig_refused(&rig, &late, ERROR_CONFLICT);
	struct engine_values values = { 0 };
	struct decision decision = { .arena = &rig.arena };
	cr_assert_eq(advance(rig.run, 1, &values, &decision), ENGINE_DONE);
	cr_assert_eq(decision.event_count, 0);
}

/* ---- evolve ------------------------------------------------------------------------- */

static void not_folded(const char *type, const char *body, const char *says)
{
	struct event event;
	struct error error = { 0 };
	bool good = event_read(str_from_c(type), 5, str_from_c(body), &rig.arena, &event, &error);
	cr_assert(good, "%s", error.text);
	const char *before = str_c(&rig.arena, run_dump(rig.run, &rig.arena));
	cr_assert_not(evolve(rig.run, &event, &error), "%s was folded", type);
	cr_assert_eq(error.code, ERROR_INVALID);
	cr_assert(strstr(error.text, says) != NULL, "%s", error.text);
	cr_assert_str_eq(str_c(&rig.arena, run_dump(rig.run, &rig.arena)), before);
}

#define SOME_ID   "\"00000000-0000-4000-8000-000000000001\""
#define SOME_HASH "\"0000000000000000000000000000000000000000000000000000000000000000\""

Test(refusals, a_stream_begins_with_its_beginning)
{
	not_folded("step.computed", "{\"v\":1,\"step\":\"e\"}", "begins with run.created");
	rig_create(&rig, "{}");
	not_folded("run.created",
		   "{\"v\":1,\"name\":\"w\",\"definition\":" SOME_HASH ",\"inputs\":{\"is\":{}}}",
		   "only once");
}

Test(refusals, events_come_in_turn)
{
	rig_create(&rig, "{}");
	not_folded("tool.requested",
		   "{\"v\":1,\"step\":\"b\",\"effect\":" SOME_ID
		   ",\"tool\":\"put\",\"class\":\"idempotent\","
		   "\"inputs\":{\"is\":{}}}",
		   "step b is requested out of turn");
	not_folded("tool.finished",
		   "{\"v\":1,\"step\":\"a\",\"effect\":" SOME_ID ",\"outcome\":\"ok\"}",
		   "tool.finished at seq 4: step a has no such effect open");
	not_folded("timer.finished",
		   "{\"v\":1,\"step\":\"t\",\"effect\":" SOME_ID ",\"outcome\":\"ok\"}",
		   "no such effect");
	not_folded("step.computed", "{\"v\":1,\"step\":\"a\"}", "step a is not being computed");
	not_folded("step.computed", "{\"v\":1,\"step\":\"nobody\"}", "not being computed");
	not_folded("tool.restarted",
		   "{\"v\":1,\"step\":\"b\",\"effect\":" SOME_ID ",\"attempt\":2}",
		   "no call to make again");
	not_folded("tool.restarted",
		   "{\"v\":1,\"step\":\"a\",\"effect\":" SOME_ID ",\"attempt\":2}",
		   "no call to make again");
	not_folded("run.finished", "{\"v\":1,\"outcome\":\"ok\"}", "the run ends out of turn");
}
