/* Values (R3): inline up to 256 bytes, by hash beyond, refused over the limit, gone when nobody can
 * read them; and what becomes of a workflow's outputs. */
#include <stdlib.h>

#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void end(void)
{
	rig_done(&rig);
}

TestSuite(values, .fini = end);

/* {"t":"xxx…"} of exactly this many bytes. */
static const char *text_of(size_t size)
{
	char *text = arena_take_text(&rig.arena, size + 1);
	memset(text, 'x', size);
	memcpy(text, "{\"t\":\"", 6);
	memcpy(text + size - 2, "\"}", 3);
	return text;
}

static const char *const two =
	"name: w\noutputs: {o: {from: '${steps.b.outputs.n}', optional: true}}\n"
	"steps:\n  - {name: a, tool: put}\n"
	"  - {name: b, tool: echo, depends_on: [a], inputs: {n: '${steps.a.outputs.k}', "
	"whole: '${steps.a.outputs}'}}\n"
	"  - {name: c, tool: put, depends_on: [a], inputs: {all: '${steps.a.outputs}'}}\n";

Test(values, up_to_256_bytes_stand_in_the_event)
{
	rig_init(&rig, two);
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", text_of(LIMIT_VALUE_INLINE));
	cr_assert_eq(rig_step(&rig, "a")->output.kind, VALUE_INLINE);
	cr_assert_eq(rig.needs, 0);
}

Test(values, longer_ones_are_stored_and_asked_for)
{
	rig_init(&rig, two);
	rig_create(&rig, "{}");
	const char *text = text_of(LIMIT_VALUE_INLINE + 1);
	rig_finish(&rig, "a", text);
	const struct value *output = &rig_step(&rig, "a")->output;
	cr_assert_eq(output->kind, VALUE_STORED);
	cr_assert_eq(output->size, LIMIT_VALUE_INLINE + 1);
	cr_assert_str_eq(rig_value(&rig, output), text);
	cr_assert_eq(rig.needs, 1, "the request of c asks once");
	cr_assert_eq(rig_step(&rig, "c")->inputs.kind, VALUE_STORED);
	rig_compute(&rig, "b");
	cr_assert_eq(rig.needs, 2);
	rig_finish(&rig, "c", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs), "{\"o\":null}");
}

Test(values, the_runs_inputs_may_be_long)
{
	rig_init(&rig, "name: w\ninputs: {t: {type: string}}\n"
		       "outputs: {o: {from: '${inputs.t}'}}\n"
		       "steps:\n  - {name: a, tool: put, inputs: {x: 'is ${inputs.t}'}}\n");
	rig_create(&rig, text_of(5000));
	cr_assert_eq(rig.run->inputs.kind, VALUE_STORED);
	cr_assert_eq(rig_step(&rig, "a")->inputs.size, 5000 + 3);
	rig_finish(&rig, "a", "{}");
	cr_assert_eq(rig.run->outputs.kind, VALUE_STORED);
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
}

Test(values, inputs_over_the_limit_are_refused)
{
	rig_init(&rig, "name: w\ninputs: {t: {type: string}}\nsteps:\n  - {name: a, tool: put}\n");
	struct command command = { .kind = COMMAND_CREATE,
				   .inputs = rig_json(&rig, text_of(LIMIT_VALUE_BYTES + 1)) };
	rig_refused(&rig, &command, ERROR_TOO_LARGE);
	cr_assert_eq(rig.run->seq, 0);
	rig_create(&rig, text_of(LIMIT_VALUE_BYTES));
}

Test(values, an_output_over_the_limit_fails_its_step)
{
	rig_init(&rig, two);
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", text_of(LIMIT_VALUE_BYTES + 1));
	cr_assert_str_eq(rig_state(&rig, "a"), "failed");
	cr_assert(str_equal(rig_step(&rig, "a")->fault.code, S("too_large")));
	cr_assert_eq(rig_step(&rig, "a")->output.kind, VALUE_ABSENT);
	cr_assert_eq(rig.run->state, RUN_FAILED);
}

/* Whole references are shared, so only what is printed shows their size. */
static const char *const doubling =
	"name: w\ninputs: {t: {type: string}}\nsteps:\n"
	"  - {name: a, tool: put, inputs: {x: '${inputs.t}', y: '${inputs.t}'}}\n"
	"  - {name: b, tool: echo, inputs: {x: ['${inputs.t}', '${inputs.t}']}}\n"
	"  - {name: q, human: {question: 'go ${inputs.t}${inputs.t}'}, inputs: {x: "
	"'${inputs.t}${inputs.t}'}}\n"
	"  - {name: d, tool: put, depends_on: [a]}\n";

Test(values, a_request_over_the_limit_is_closed_at_once)
{
	rig_init(&rig, doubling);
	rig_create(&rig, text_of(LIMIT_VALUE_BYTES / 2 + 100));
	cr_assert_str_eq(rig_state(&rig, "a"), "failed");
	cr_assert(str_equal(rig_step(&rig, "a")->fault.code, S("too_large")));
	cr_assert_str_eq(rig_state(&rig, "d"), "skipped");
	cr_assert_str_eq(rig_state(&rig, "q"), "waiting_human");
	cr_assert_str_eq(rig_value(&rig, &rig_step(&rig, "q")->inputs), "{}");
	rig_compute(&rig, "b");
	cr_assert(str_equal(rig_step(&rig, "b")->fault.code, S("too_large")));
	rig_answer(&rig, "q", RUN_DECISION_APPROVE);
	cr_assert_eq(rig.run->state, RUN_FAILED);
}

/* ---- leaving the state -------------------------------------------------------------- */

Test(values, an_output_goes_with_its_last_reader)
{
	rig_init(&rig, two);
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", "{\"k\":5}");
	cr_assert_eq(run_place(rig.run, rig.run->root, rig_step(&rig, "a")->node)->readers_left, 2);
	rig_compute(&rig, "b");
	cr_assert_eq(rig_step(&rig, "a")->output.kind, VALUE_INLINE);
	rig_finish(&rig, "c", "{\"unread\":1}");
	cr_assert_eq(rig_step(&rig, "a")->output.kind, VALUE_ABSENT);
	cr_assert_eq(rig_step(&rig, "c")->output.kind, VALUE_ABSENT, "nobody reads it at all");
	cr_assert_eq(rig_step(&rig, "b")->output.kind, VALUE_INLINE, "the workflow's outputs do");
}

Test(values, a_skipped_reader_reads_no_more)
{
	rig_init(&rig, "name: w\nsteps:\n  - {name: a, tool: put}\n  - {name: x, tool: put}\n"
		       "  - {name: y, tool: put}\n"
		       "  - {name: r, tool: put, depends_on: [a, x], inputs: {v: "
		       "'${steps.a.outputs}'}}\n");
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", "{\"k\":1}");
	cr_assert_eq(rig_step(&rig, "a")->output.kind, VALUE_INLINE);
	rig_finish(&rig, "x", NULL);
	cr_assert_str_eq(rig_state(&rig, "r"), "skipped");
	cr_assert_eq(rig_step(&rig, "a")->output.kind, VALUE_ABSENT);
}

/* ---- the workflow's outputs --------------------------------------------------------- */

Test(values, a_required_output_that_is_missing_fails_the_run)
{
	rig_init(&rig, "name: w\noutputs:\n  gone: {from: '${steps.a.outputs.nothing}'}\n"
		       "  maybe: {from: '${steps.a.outputs.nothing}', optional: true}\n"
		       "  deep: {from: {n: ['${steps.a.outputs.k}', 2]}}\nsteps:\n  - {name: a, "
		       "tool: put}\n");
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", "{\"k\":1}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig.run->fault.code, S("invalid")));
	cr_assert(str_equal(rig.run->fault.text,
			    S("output gone is missing; mark it optional if it may be")));
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs),
			 "{\"gone\":null,\"maybe\":null,\"deep\":{\"n\":[1,2]}}");
}

Test(values, an_optional_output_may_be_null)
{
	rig_init(&rig, "name: w\noutputs: {o: {from: '${steps.t.outputs}', optional: true}}\n"
		       "steps:\n  - {name: t, wait: {seconds: 0}}\n");
	rig_create(&rig, "{}");
	rig_finish(&rig, "t", "{}");
	cr_assert_eq(rig.run->state, RUN_SUCCEEDED);
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs), "{\"o\":null}");
}

Test(values, outputs_over_the_limit_fail_the_run)
{
	rig_init(&rig, "name: w\noutputs: {a: {from: '${steps.s.outputs}'}, b: {from: "
		       "'${steps.s.outputs}'}}\n"
		       "steps:\n  - {name: s, tool: put}\n");
	rig_create(&rig, "{}");
	rig_finish(&rig, "s", text_of(LIMIT_VALUE_BYTES - 10));
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert(str_equal(rig.run->fault.code, S("too_large")));
	cr_assert_eq(rig.run->outputs.kind, VALUE_ABSENT);
}

Test(values, a_failed_run_still_gives_what_it_has)
{
	rig_init(&rig, "name: w\noutputs: {a: {from: '${steps.s.outputs.k}'}}\n"
		       "steps:\n  - {name: s, tool: put}\n  - {name: f, tool: put}\n");
	rig_create(&rig, "{}");
	rig_finish(&rig, "s", "{\"k\":3}");
	rig_finish(&rig, "f", NULL);
	cr_assert_eq(rig.run->state, RUN_FAILED);
	cr_assert_str_eq(rig_value(&rig, &rig.run->outputs), "{\"a\":3}");
}
