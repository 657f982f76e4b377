/* Idempotency keys through the runtime, on every store that a server can have, and a system that
 * takes one step at a time: step() is one job's half, on its lane or back on the loop, so a test
 * says what happens between looking and committing.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "active/executor.h"
#include "active/run_commands.h"
#include "effect/effects.h"
#include "base/limits.h"
#include "contract/event.h"
#include "active/executor_command.h"
#include "contract/run_outcome_types.h"
#include "simstore/simstore.h"
#include "tool/tool.h"

enum { JOBS = 64, ANSWERS = 16 };

struct answer {
	bool came, repeated;
	enum error_code code; /* NONE: good */
	struct uuid run;
};

static struct scene {
	struct platform system; /* first */
	struct job *queued[JOBS];
	size_t first, last;
	bool ran; /* the first of them, on its lane */
	int64_t now;
	uint8_t dice;
	char folder[64], path[96];
	struct store *store;
	struct store_reader *reader;
	struct effects *effects;
	struct executor *executor;
	struct arena arena;
	struct error error;
	struct answer answers[ANSWERS];
	size_t failures;
} scene;

static int64_t steps_clock(struct platform *system)
{
	(void)system;
	return ++scene.now;
}

static void steps_random(struct platform *system, void *bytes, size_t size)
{
	(void)system;
	memset(bytes, ++scene.dice, size);
}

static void steps_submit(struct platform *system, enum platform_lane lane, struct job *job)
{
	(void)system;
	(void)lane;
	cr_assert_lt(scene.last - scene.first, JOBS);
	scene.queued[scene.last++ % JOBS] = job;
}

static unsigned steps_readers(struct platform *system)
{
	(void)system;
	return 1;
}

static const struct platform_ops steps_ops = { .wall_us = steps_clock,
					       .mono_us = steps_clock,
					       .random = steps_random,
					       .submit = steps_submit,
					       .reader_threads = steps_readers };

static bool step(void)
{
	if (scene.first == scene.last)
		return false;
	struct job *job = scene.queued[scene.first % JOBS];
	scene.ran = !scene.ran;
	if (scene.ran) {
		job->run(job, 0);
	} else {
		scene.first++;
		job->done(job);
	}
	return true;
}

static void run(void)
{
	while (step())
		;
}

static void fatal(void *context, const struct error *error)
{
	(void)context;
	(void)error;
	scene.failures++;
}

static void open_runtime(void)
{
	scene.effects = effects_new();
	const struct executor_settings settings = { .platform = &scene.system,
						    .store = scene.store,
						    .effects = scene.effects,
						    .tools = &tool_table,
						    .fatal = fatal };
	cr_assert(executor_new(&settings, &scene.executor, &scene.error), "%s", scene.error.text);
}

static void begin(const char *name)
{
	const struct store_backend *backend = simstore_backend(str_from_c(name));
	memset(&scene, 0, sizeof(scene));
	scene.system.ops = &steps_ops;
	scene.now = INT64_C(1700000000000000);
	strcpy(scene.folder, "/tmp/baton-keyed-XXXXXX");
	cr_assert(mkdtemp(scene.folder) != NULL);
	snprintf(scene.path, sizeof(scene.path), "%s/db", scene.folder);
	cr_assert(backend->open(scene.path, &scene.store, &scene.error), "%s", scene.error.text);
	cr_assert(backend->open_reader(scene.store, &scene.reader, &scene.error));
	open_runtime();
}

static void end(void)
{
	cr_assert_eq(scene.failures, 0);
	executor_free(scene.executor);
	effects_free(scene.effects);
	scene.store->backend->close_reader(scene.reader);
	scene.store->backend->close(scene.store);
	arena_done(&scene.arena);
	static const char *const files[] = { "db", "db-wal", "db-shm", "db-mark" };
	for (size_t i = 0; i < COUNT(files); i++) {
		char path[128];
		snprintf(path, sizeof(path), "%s/%s", scene.folder, files[i]);
		unlink(path);
	}
	rmdir(scene.folder);
}

/* ---- asking ------------------------------------------------------------------------------ */

static const char pure[] = "name: w\nsteps: [{name: a, tool: echo}]\n";
static const char asks[] = "name: w\nsteps: [{name: a, human: {question: 'well?'}}]\n";

static void replied(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct answer *answer = &scene.answers[argument];
	(void)context;
	cr_assert(!answer->came, "answered twice");
	*answer = (struct answer){ .came = true,
				   .repeated = reply->repeated,
				   .code = reply->error == NULL ? ERROR_NONE : reply->error->code,
				   .run = reply->run };
}

static struct idempotency_key key_of(const char *key, const char *said)
{
	return (struct idempotency_key){ str_from_c(key), hash_of(str_from_c(said)) };
}

static void start(unsigned number, const char *yaml, const char *key, const char *said)
{
	scene.answers[number] = (struct answer){ 0 };
	const struct executor_start how = { .workflow = S("w"),
					    .yaml = str_from_c(yaml),
					    .key = key_of(key, said) };
	executor_start(scene.executor, &how, replied, NULL, number);
}

static size_t runs(void)
{
	struct store_run_page page;
	bool good = scene.reader->ops->list_runs(scene.reader, NULL, NULL, 100, &scene.arena, &page,
						 &scene.error);
	cr_assert(good);
	return page.count;
}

static bool same_run(unsigned a, unsigned b)
{
	return uuid_equal(&scene.answers[a].run, &scene.answers[b].run);
}

/* ---- the tests, for each store ------------------------------------------------------------ */

ParameterizedTestParameters(keyed, start_again)
{
	static char names[2][16] = { "memory", "sqlite" };
	return cr_make_param_array(char[16], names, 2);
}

ParameterizedTest(char (*backend)[16], keyed, start_again)
{
	begin(*backend);
	start(0, pure, "k", "this");
	run();
	start(1, pure, "k", "this");
	run();
	start(2, pure, "k", "that");
	run();
	start(3, pure, "other", "this");
	run();
	start(4, pure, "", "this");
	run();
	cr_assert(scene.answers[0].came && scene.answers[0].code == ERROR_NONE);
	cr_assert(!scene.answers[0].repeated);
	cr_assert(scene.answers[1].repeated && same_run(0, 1));
	cr_assert_eq(scene.answers[2].code, ERROR_CONFLICT);
	cr_assert(!scene.answers[3].repeated && !same_run(0, 3));
	cr_assert(!scene.answers[4].repeated && !same_run(0, 4));
	cr_assert_eq(runs(), 3);
	end();
}

ParameterizedTestParameters(keyed, side_by_side)
{
	static char names[2][16] = { "memory", "sqlite" };
	return cr_make_param_array(char[16], names, 2);
}

ParameterizedTest(char (*backend)[16], keyed, side_by_side)
{
	begin(*backend);
	for (unsigned i = 0; i < 4; i++)
		start(i, pure, "k", "this");
	start(4, pure, "k", "that");
	run();
	size_t repeated = 0;
	for (unsigned i = 0; i < 4; i++) {
		cr_assert(scene.answers[i].came && scene.answers[i].code == ERROR_NONE);
		cr_assert(same_run(0, i));
		repeated += scene.answers[i].repeated;
	}
	cr_assert_eq(repeated, 3);
	cr_assert_eq(scene.answers[4].code, ERROR_CONFLICT);
	cr_assert_eq(runs(), 1);
	end();
}

/* The first is refused, so the one behind it tries for itself. */
Test(keyed, a_refused_one_leaves_nothing)
{
	begin("memory");
	start(0, "name: w\nsteps: [{name: a, tool: nobody}]\n", "k", "this");
	start(1, pure, "k", "this");
	run();
	cr_assert_eq(scene.answers[0].code, ERROR_INVALID);
	cr_assert(scene.answers[1].code == ERROR_NONE && !scene.answers[1].repeated);
	cr_assert_eq(runs(), 1);
	end();
}

/* Between the look and the append somebody else stores the key, against all rules. */
ParameterizedTestParameters(keyed, somebody_was_faster)
{
	static char names[2][16] = { "memory", "sqlite" };
	return cr_make_param_array(char[16], names, 2);
}

ParameterizedTest(char (*backend)[16], keyed, somebody_was_faster)
{
	static const struct uuid other = { { 9, 9, 9 } };
	begin(*backend);
	start(0, pure, "k", "this");
	step(); /* old keys are forgotten */
	step();
	step(); /* it has looked */
	const struct store_event event = { .type = S("run.created"), .at = 1, .body = S("{}") };
	struct store_append append = { .run = { .id = other,
						.name = S("w"),
						.state = S("running"),
						.created_at = 1,
						.updated_at = 1,
						.summary = S("{}") },
				       .events = &event,
				       .event_count = 1,
				       .request = { .key = S("k"),
						    .said = hash_of(S("this")),
						    .subject = other,
						    .at = scene.now } };
	struct store_append *one = &append;
	cr_assert(scene.store->writer->commit(scene.store, &one, 1, &scene.error));
	cr_assert_eq(append.outcome, STORE_COMMITTED);
	run();
	cr_assert(scene.answers[0].came && scene.answers[0].repeated);
	cr_assert(uuid_equal(&scene.answers[0].run, &other));
	cr_assert_eq(runs(), 1);
	cr_assert_eq(executor_counts(scene.executor).active_runs, 0);
	end();
}

ParameterizedTestParameters(keyed, a_day_later)
{
	static char names[2][16] = { "memory", "sqlite" };
	return cr_make_param_array(char[16], names, 2);
}

ParameterizedTest(char (*backend)[16], keyed, a_day_later)
{
	begin(*backend);
	start(0, pure, "k", "this");
	run();
	scene.now += (int64_t)LIMIT_REQUEST_KEPT_MS * 1000 - 1000000;
	start(1, pure, "k", "this");
	run();
	scene.now += (int64_t)LIMIT_REQUEST_FORGET_MS * 1000;
	start(2, pure, "k", "this");
	run();
	cr_assert(scene.answers[1].repeated);
	cr_assert(scene.answers[2].code == ERROR_NONE && !scene.answers[2].repeated);
	cr_assert_eq(runs(), 2);
	end();
}

static void answer(unsigned number, const struct uuid *request, const char *key)
{
	scene.answers[number] = (struct answer){ 0 };
	const struct executor_answer how = { .request = *request,
					     .decision = RUN_DECISION_APPROVE,
					     .comment = S(""),
					     .by = S("me"),
					     .key = key_of(key, "approve") };
	executor_answer(scene.executor, &how, replied, NULL, number);
}

ParameterizedTestParameters(keyed, answers)
{
	static char names[2][16] = { "memory", "sqlite" };
	return cr_make_param_array(char[16], names, 2);
}

ParameterizedTest(char (*backend)[16], keyed, answers)
{
	begin(*backend);
	start(0, asks, "k", "this");
	run();
	struct store_effect_page page;
	bool good = scene.reader->ops->list_effects(scene.reader, S("human"), NULL, 10,
						    &scene.arena, &page, &scene.error);
	cr_assert(good && page.count == 1);
	answer(1, &page.at[0].id, "a");
	answer(2, &page.at[0].id, "a");
	answer(3, &page.at[0].id, "b");
	run();
	cr_assert(scene.answers[1].code == ERROR_NONE && !scene.answers[1].repeated);
	cr_assert(scene.answers[2].repeated && same_run(1, 2) && same_run(0, 1));
	cr_assert_eq(scene.answers[3].code, ERROR_CONFLICT);
	answer(4, &page.at[0].id, "a");
	run();
	cr_assert(scene.answers[4].repeated && same_run(0, 4));
	end();
}

/* Nobody who waits for a key is left behind when the program ends. */
Test(keyed, the_end_while_some_wait)
{
	begin("memory");
	start(0, asks, "", "");
	run();
	for (unsigned i = 1; i < 4; i++)
		start(i, pure, "k", "this");
	while (scene.first != scene.last) /* jobs are finished before a runtime is freed */
		step();
	end();
}
