/* Starts of definitions that were compiled before: while the file's signature stays the same no reader
 * thread is asked.  The platform counts the jobs of its reader lane. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "active/executor.h"
#include "active/executor_command.h"
#include "active/run_commands.h"
#include "effect/effects.h"
#include "tool/tool.h"
#include "simstore/simstore.h"

enum { JOBS = 64 };

static struct scene {
	struct platform platform; /* first */
	struct job *queued[JOBS];
	size_t first, last, reads;
	int64_t now;
	uint8_t dice;
	struct store *store;
	struct effects *effects;
	struct executor *executor;
	const char *text;
	struct file_signature signature;
	bool has_signature;
	unsigned replies;
	enum error_code code; /* of the newest reply */
} scene;

static int64_t next_us(struct platform *platform)
{
	(void)platform;
	return ++scene.now;
}

static void next_bytes(struct platform *platform, void *bytes, size_t size)
{
	(void)platform;
	memset(bytes, ++scene.dice, size);
}

static void queue_job(struct platform *platform, enum platform_lane lane, struct job *job)
{
	(void)platform;
	cr_assert_lt(scene.last - scene.first, JOBS);
	scene.queued[scene.last++ % JOBS] = job;
	scene.reads += lane == LANE_READER;
}

static unsigned one_reader(struct platform *platform)
{
	(void)platform;
	return 1;
}

static const struct platform_ops ops = { .wall_us = next_us,
					 .mono_us = next_us,
					 .random = next_bytes,
					 .submit = queue_job,
					 .reader_threads = one_reader };

static void run_jobs(void)
{
	while (scene.first != scene.last) {
		struct job *job = scene.queued[scene.first++ % JOBS];
		job->run(job, 0);
		job->done(job);
	}
}

static bool read_definition(void *context, struct store_reader *reader, struct str name,
			    struct arena *arena, struct str *out_yaml, struct error *error)
{
	(void)context;
	(void)reader;
	(void)name;
	(void)error;
	*out_yaml = str_copy(arena, str_from_c(scene.text));
	return true;
}

static bool read_signature(void *context, struct str name, struct file_signature *out_signature)
{
	(void)context;
	(void)name;
	*out_signature = scene.signature;
	return scene.has_signature;
}

static void store_failed(void *context, const struct error *error)
{
	(void)context;
	cr_assert_fail("%s", error->text);
}

static void begin(const char *text)
{
	struct error error;
	memset(&scene, 0, sizeof(scene));
	scene.platform.ops = &ops;
	scene.now = INT64_C(1700000000000000);
	scene.text = text;
	scene.has_signature = true;
	scene.signature = (struct file_signature){ 1, 2, 3, 4, 5, true };
	cr_assert(simstore_backend(S("memory"))->open("", &scene.store, &error), "%s", error.text);
	scene.effects = effects_new();
	const struct executor_settings settings = { .platform = &scene.platform,
						    .store = scene.store,
						    .effects = scene.effects,
						    .tools = &tool_table,
						    .definition = read_definition,
						    .definition_signature = read_signature,
						    .fatal = store_failed };
	cr_assert(executor_new(&settings, &scene.executor, &error), "%s", error.text);
}

static void end(void)
{
	run_jobs();
	executor_free(scene.executor);
	effects_free(scene.effects);
	scene.store->backend->close(scene.store);
}

static void replied(void *context, uint64_t argument, const struct executor_reply *reply)
{
	(void)context;
	(void)argument;
	scene.replies++;
	scene.code = reply->error == NULL ? ERROR_NONE : reply->error->code;
}

/* How many reader jobs the start took; the run itself takes none. */
static size_t start(struct executor_start how)
{
	how.workflow = S("w");
	size_t before = scene.reads, replies = scene.replies;
	executor_start(scene.executor, &how, replied, NULL, 0);
	run_jobs();
	cr_assert_eq(scene.replies, replies + 1);
	return scene.reads - before;
}

static const char pure[] = "name: w\nsteps: [{name: a, tool: echo}]\n";

Test(start, an_unchanged_definition_needs_no_reader)
{
	begin(pure);
	cr_expect_eq(start((struct executor_start){ 0 }), 1, "the first one is compiled");
	cr_expect_eq(start((struct executor_start){ 0 }), 0);
	cr_expect_eq(scene.code, ERROR_NONE);
	scene.signature.changed_ns++;
	cr_expect_eq(start((struct executor_start){ 0 }), 1, "it was changed");
	cr_expect_eq(start((struct executor_start){ 0 }), 0);
	end();
}

Test(start, what_must_be_looked_up_takes_a_reader)
{
	static const uint8_t dice[16] = { 7 };
	begin(pure);
	start((struct executor_start){ 0 });
	struct executor_start chosen = { .run = uuid_from_random(dice) };
	cr_expect_eq(start(chosen), 1, "there may be a run with this id");
	struct executor_start keyed = { .key = { .key = S("k") } };
	cr_expect_eq(start(keyed), 1, "the key may have been used before");
	struct executor_start given = { .yaml = str_from_c(pure) };
	cr_expect_eq(start(given), 1, "a text of its own is compiled");
	end();
}

Test(start, nobody_relies_on_a_file_that_changed_a_moment_ago_or_cannot_be_looked_at)
{
	begin(pure);
	scene.signature.settled = false;
	for (int i = 0; i < 3; i++)
		cr_expect_eq(start((struct executor_start){ 0 }), 1);
	scene.signature.settled = true;
	scene.has_signature = false;
	for (int i = 0; i < 3; i++)
		cr_expect_eq(start((struct executor_start){ 0 }), 1);
	end();
}

Test(start, a_changed_text_is_what_runs)
{
	begin(pure);
	start((struct executor_start){ 0 });
	scene.text = "name: w\ninputs: {must: {type: string, required: true}}\n"
		     "steps: [{name: a, tool: echo}]\n";
	scene.signature.size++;
	start((struct executor_start){ 0 });
	cr_expect_eq(scene.code, ERROR_INVALID, "an input is missing");
	/* The same on the loop, from the graph that was compiled. */
	cr_expect_eq(start((struct executor_start){ 0 }), 0);
	cr_expect_eq(scene.code, ERROR_INVALID);
	struct json text = { .kind = JSON_STRING, .as.string = S("x") };
	struct json_member member = { .key = S("must"), .value = text };
	struct json inputs = { .kind = JSON_OBJECT, .as.object = { &member, 1 } };
	cr_expect_eq(start((struct executor_start){ .inputs = { .json = &inputs } }), 0);
	cr_expect_eq(scene.code, ERROR_NONE);
	end();
}

/* ---- an id that another command asks for ------------------------------------------------ */

static enum error_code codes[3];

static void noted(void *context, uint64_t argument, const struct executor_reply *reply)
{
	(void)context;
	scene.replies++;
	codes[argument] = reply->error == NULL ? ERROR_NONE : reply->error->code;
}

static void cancel(struct uuid run, uint64_t argument)
{
	struct executor_command command = { .kind = COMMAND_CANCEL, .run = run, .by = S("ann") };
	executor_command(scene.executor, &command, noted, NULL, argument);
}

Test(start, a_run_that_is_only_looked_for_does_not_take_the_id)
{
	static const uint8_t dice[16] = { 9 };
	begin(pure);
	struct executor_start how = { .workflow = S("w"), .run = uuid_from_random(dice) };
	executor_start(scene.executor, &how, noted, NULL, 0);
	cancel(how.run, 1); /* it is being looked up when the start comes back */
	run_jobs();
	cr_expect_eq(scene.replies, 2);
	cr_expect_eq(codes[0], ERROR_NONE, "there is no other run with this id");
	cr_expect_eq(codes[1], ERROR_NOT_FOUND);
	end();
}

Test(start, of_two_starts_with_one_id_one_is_refused_whoever_looks_for_it)
{
	static const uint8_t dice[16] = { 10 };
	begin(pure);
	struct executor_start how = { .workflow = S("w"), .run = uuid_from_random(dice) };
	executor_start(scene.executor, &how, noted, NULL, 0);
	cancel(how.run, 1);
	executor_start(scene.executor, &how, noted, NULL, 2);
	run_jobs();
	cr_expect_eq(scene.replies, 3);
	cr_expect_neq(codes[0], codes[2]);
	cr_expect(codes[0] == ERROR_NONE || codes[2] == ERROR_NONE);
	cr_expect(codes[0] == ERROR_CONFLICT || codes[2] == ERROR_CONFLICT);
	end();
}
