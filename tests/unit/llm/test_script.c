/* The script driver with a simulated clock. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "contract/run_turn_types.h"
#include "llm/llm.h"

enum { TIMERS = 512 };

/* ---- simulated timers ------------------------------------------------------------------ */

struct timer {
	int64_t due;
	platform_callback *callback; /* NULL = stopped or fired */
	void *context;
	uint64_t argument;
};

static struct scene {
	struct platform system; /* first */
	struct timer timers[TIMERS];
	size_t timer_count;
	int64_t now;
	struct llm_host host;
	struct arena arena;
	bool in_start;
	/* result of the last call: */
	int ends, pieces;
	struct str text, streamed;
	struct error error;
	bool counted;
	struct run_turn_usage usage;
} scene;

static uint64_t timer_start(struct platform *system, int64_t delay_us, platform_callback *callback,
			    void *context, uint64_t argument)
{
	(void)system;
	cr_assert_lt(scene.timer_count, TIMERS);
	scene.timers[scene.timer_count] =
		(struct timer){ scene.now + delay_us, callback, context, argument };
	return ++scene.timer_count;
}

static void timer_stop(struct platform *system, uint64_t timer)
{
	(void)system;
	scene.timers[timer - 1].callback = NULL;
}

static const struct platform_ops timer_ops = { .timer_start = timer_start,
					       .timer_stop = timer_stop };

/* Fires the timers that are due by then; false when there were none. */
static bool move_to(int64_t now)
{
	bool fired = false;
	size_t count = scene.timer_count; /* timers started meanwhile wait for the next call */
	scene.now = now;
	for (size_t i = 0; i < count; i++) {
		struct timer timer = scene.timers[i];
		if (timer.callback == NULL || timer.due > now)
			continue;
		scene.timers[i].callback = NULL;
		timer.callback(timer.context, timer.argument);
		fired = true;
	}
	return fired;
}

static void begin(void)
{
	memset(&scene, 0, sizeof(scene));
	scene.system.ops = &timer_ops;
	scene.host.platform = &scene.system;
}

static void finish(void)
{
	llm_host_done(&scene.host);
	arena_done(&scene.arena);
}

TestSuite(script, .init = begin, .fini = finish);

/* ---- calls ----------------------------------------------------------------------------- */

static void ended(void *context, uint64_t argument, const struct llm_result *result)
{
	cr_assert_eq(context, &scene);
	cr_assert_eq(argument, 7);
	cr_assert_not(scene.in_start);
	scene.ends++;
	scene.text = str_copy(&scene.arena, result->text);
	scene.error = result->error;
	scene.counted = result->usage != NULL;
	if (scene.counted)
		scene.usage = *result->usage;
}

static void told(void *context, uint64_t argument, enum llm_part part, struct str delta)
{
	cr_assert_eq(part, LLM_PART_TEXT);
	cr_assert_eq(context, &scene);
	cr_assert_eq(argument, 7);
	cr_assert_not(scene.in_start);
	scene.pieces++;
	scene.streamed =
		str_format(&scene.arena, STR_FMT STR_FMT, STR_ARG(scene.streamed), STR_ARG(delta));
}

struct ask {
	const char *script, *prompt, *step;
	int64_t attempt;
	bool listens;
};

static uint64_t start(struct ask ask)
{
	const struct json *options;
	struct error error;
	uint64_t id = 0;
	cr_assert(yaml_read(str_from_c(ask.script), &scene.arena, &options, &error), "%s",
		  error.text);
	struct run_turn_message *message = run_turn_message_new(&scene.arena);
	SET(message, role, S("user"));
	SET(message, content, str_from_c(ask.prompt == NULL ? "Do it." : ask.prompt));
	struct run_turn *turn = run_turn_new(&scene.arena);
	SET(turn, system, S("Be brief."));
	SET(turn, messages, ((struct run_turn_message_list){ message, 1 }));
	SET(turn, options, options);
	const struct llm_call call = { .model = S("none"),
				       .turn = turn,
				       .step = str_from_c(ask.step == NULL ? "plan" : ask.step),
				       .attempt = ask.attempt == 0 ? 1 : ask.attempt,
				       .done = ended,
				       .piece = ask.listens ? told : NULL,
				       .context = &scene,
				       .argument = 7 };
	scene.ends = 0;
	scene.in_start = true;
	bool good = llm_find(&llm_table, S("script"))->start(&scene.host, &call, &id, &scene.error);
	scene.in_start = false;
	cr_assert_eq(good, id != 0);
	return id;
}

/* The text of the reply, or the error's name. */
static struct str reply(struct ask ask)
{
	uint64_t id = start(ask);
	while (id != 0 && move_to(scene.now))
		;
	cr_assert_eq(scene.ends, id != 0);
	return scene.error.code == ERROR_NONE ? scene.text : error_row(scene.error.code)->name;
}

#define expect(said, ...)                                                            \
	do {                                                                         \
		struct str got_ = reply((struct ask){ .script = __VA_ARGS__ });      \
		cr_assert(str_equal(got_, str_from_c(said)), "got " STR_FMT " (%s)", \
			  STR_ARG(got_), scene.error.text);                          \
	} while (0)

static void stop(uint64_t id)
{
	struct error why;
	fail(&why, ERROR_CANCELLED, "it was told to stop");
	llm_find(&llm_table, S("script"))->stop(&scene.host, id, &why);
}

/* ---- choosing the reply ---------------------------------------------------------------- */

Test(script, the_first_that_fits)
{
	const char *script = "replies:\n- {contains: plan, text: a plan}\n"
			     "- {contains: code, text: some code}\n- {text: what}\n";
	expect("a plan", script, .prompt = "Make a plan for the code.");
	expect("some code", script, .prompt = "Write code.");
	expect("what", script, .prompt = "Hm.");
	expect("what", script, .prompt = "PLAN");
}

Test(script, conditions_hold_together)
{
	const char *script = "replies:\n- {contains: a, attempt: 2, text: both}\n- {text: no}\n";
	expect("both", script, .prompt = "a", .attempt = 2);
	expect("no", script, .prompt = "a", .attempt = 1);
	expect("no", script, .prompt = "b", .attempt = 2);
}

Test(script, attempts)
{
	const char *script = "replies:\n- {attempt: 1, fail: {code: rate_limited}}\n"
			     "- {attempt: 2, fail: {code: overloaded}}\n- {text: third}\n";
	expect("rate_limited", script, .attempt = 1);
	expect("overloaded", script, .attempt = 2);
	expect("third", script, .attempt = 3);
	/* The driver keeps no state: each reply is the same again. */
	expect("rate_limited", script, .attempt = 1);
}

Test(script, rounds_are_in_the_path)
{
	const char *script = "replies:\n- {round: 1, text: one}\n- {round: 2, text: two}\n"
			     "- {round: 12, text: twelve}\n- {text: more}\n";
	expect("one", script, .step = "draft");
	expect("one", script, .step = "each[2]/draft");
	expect("two", script, .step = "draft#2");
	expect("two", script, .step = "improve#2/draft");
	expect("two", script, .step = "improve#5/draft#2");
	expect("two", script, .step = "improve#2/each[3]/draft");
	expect("twelve", script, .step = "draft#12");
	expect("more", script, .step = "draft#3");
}

Test(script, steps)
{
	const char *script = "replies:\n- {step: \"each[1]/draft\", text: second}\n- {text: other}";
	expect("second", script, .step = "each[1]/draft");
	expect("other", script, .step = "each[1]/draft#2");
	expect("other", script, .step = "each[0]/draft");
}

Test(script, nothing_fits)
{
	expect("invalid", "replies:\n- {contains: a, text: b}\n", .prompt = "c", .step = "x#3");
	cr_assert_not_null(strstr(scene.error.text, "step x#3, round 3, turn 1, attempt 1"));
	cr_assert_eq(scene.host.calls.live, 0);
}

/* A graph that another version of the program compiled. */
Test(script, options_that_are_none)
{
	expect("invalid", "replies: 3");
	expect("invalid", "{}");
	expect("invalid", "replies: [{json: {}, hang: true}]");
}

/* ---- sending the reply ----------------------------------------------------------------- */

Test(script, json)
{
	expect("{\"files\":[\"a\"],\"done\":false}",
	       "replies: [{json: {files: [a], done: false}}]");
	expect("null", "replies: [{json: null}]");
}

Test(script, failures_say_why)
{
	expect("too_large", "replies: [{fail: {code: too_large, text: over the window}}]");
	cr_assert_str_eq(scene.error.text, "over the window");
	cr_assert_not(scene.counted);
}

Test(script, usage)
{
	expect("a", "replies: [{text: a, usage: {input_tokens: 12, output_tokens: 3, "
		    "cost_usd: 0.5}}]");
	cr_assert(scene.counted);
	cr_assert_eq(scene.usage.input_tokens, 12);
	cr_assert_eq(scene.usage.output_tokens, 3);
	cr_assert_eq(scene.usage.cache_read_tokens, 0);
	cr_assert_float_eq(scene.usage.cost_usd, 0.5, 0);
	expect("overloaded", "replies: [{fail: {code: overloaded}, usage: {input_tokens: 12}}]");
	cr_assert(scene.counted);
	expect("a", "replies: [{text: a}]");
	cr_assert_not(scene.counted);
}

Test(script, takes_its_time)
{
	cr_assert_neq(start((struct ask){ .script = "replies: [{text: a, after_ms: 50}]" }), 0);
	move_to(49999);
	cr_assert_eq(scene.ends, 0);
	move_to(50000);
	cr_assert_eq(scene.ends, 1);
	cr_assert_eq(scene.host.calls.live, 0);
}

Test(script, streams_whole_characters)
{
	expect("grüße", "replies: [{text: grüße, pieces: 7}]", .listens = true);
	cr_assert(str_equal(scene.streamed, S("grüße")));
	cr_assert_eq(scene.pieces, 5);
	scene.streamed = S("");
	scene.pieces = 0;
	expect("one", "replies: [{text: one}]", .listens = true);
	cr_assert_eq(scene.pieces, 1);
	expect("overloaded", "replies: [{fail: {code: overloaded}, pieces: 3}]", .listens = true);
	cr_assert_eq(scene.pieces, 1);
}

Test(script, waits_between_pieces)
{
	cr_assert_neq(
		start((struct ask){ .script = "replies: [{text: ab, pieces: 2, every_ms: 50}]",
				    .listens = true }),
		0);
	move_to(0);
	cr_assert_eq(scene.pieces, 1);
	move_to(49999);
	cr_assert_eq(scene.pieces, 1);
	move_to(50000);
	cr_assert_eq(scene.pieces, 2);
	move_to(50000);
	cr_assert_eq(scene.ends, 1);
}

Test(script, stalls_behind_its_text)
{
	uint64_t id = start((struct ask){ .script = "replies: [{text: ab, pieces: 2, hang: true}]",
					  .listens = true });
	while (move_to(scene.now))
		;
	cr_assert(str_equal(scene.streamed, S("ab")));
	cr_assert_eq(scene.ends, 0);
	stop(id);
	while (move_to(scene.now))
		;
	cr_assert_eq(scene.ends, 1);
	cr_assert_eq(scene.error.code, ERROR_CANCELLED);
}

/* ---- stopping -------------------------------------------------------------------------- */

Test(script, hangs_until_it_is_told)
{
	uint64_t id = start((struct ask){ .script = "replies: [{hang: true}]" });
	cr_assert_not(move_to(INT64_C(1000000000000)));
	cr_assert_eq(scene.ends, 0);
	scene.in_start = true; /* done() must not be called from inside stop() either */
	stop(id);
	stop(id);
	scene.in_start = false;
	while (move_to(scene.now))
		;
	cr_assert_eq(scene.ends, 1);
	cr_assert_eq(scene.error.code, ERROR_CANCELLED);
	stop(id);
	cr_assert_not(move_to(scene.now));
}

Test(script, is_stopped_before_its_time)
{
	uint64_t id =
		start((struct ask){ .script = "replies: [{text: a, after_ms: 50, usage: {}}]" });
	stop(id);
	move_to(0);
	cr_assert_eq(scene.ends, 1);
	cr_assert_eq(scene.error.code, ERROR_CANCELLED);
	move_to(100000);
	cr_assert_eq(scene.ends, 1);
}

Test(script, is_stopped_between_pieces)
{
	uint64_t id = start(
		(struct ask){ .script = "replies: [{text: abcd, pieces: 4}]", .listens = true });
	cr_assert(move_to(0));
	cr_assert_eq(scene.pieces, 1);
	cr_assert_eq(scene.ends, 0);
	stop(id);
	while (move_to(scene.now))
		;
	cr_assert_eq(scene.pieces, 1);
	cr_assert_eq(scene.ends, 1);
	cr_assert_eq(scene.error.code, ERROR_CANCELLED);
}

Test(script, places)
{
	for (int i = 0; i < LIMIT_TURNS; i++)
		cr_assert_neq(start((struct ask){ .script = "replies: [{hang: true}]" }), 0);
	cr_assert_eq(start((struct ask){ .script = "replies: [{text: a}]" }), 0);
	cr_assert_eq(scene.error.code, ERROR_UNAVAILABLE);
}
