/* What every driver promises (llm/llm.h), checked over every row of drivers.def.
 *
 * A stand makes a driver's options for an answer, a failure and a turn that lasts.  The driver api asks
 * a server on the same loop, once for each wire format. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "contract/run_turn_types.h"
#include "llm/cassette.h"
#include "llm/models.h"
#include "net/http_server.h"
#include "os/file.h"
#include "os/loop.h"
#include "streams.h"
#include "../folder.h"

enum wanted { ANSWER, FAILURE, HANG };

static struct scene {
	struct loop *loop;
	struct http_server *server;
	int port;
	struct llm_host host;
	char folder[TEST_FOLDER_SIZE];
	struct arena arena;
	bool inside; /* a function of the driver */
	int dones;
	uint64_t running;
	struct buf text, thinking, names;
	/* the result */
	struct str reply;
	size_t calls, thoughts;
	enum run_turn_stop stop;
	struct error error;
} scene;

/* ---- the provider -------------------------------------------------------------------- */

static void serve(void *context, const struct http_request *request)
{
	(void)context;
	const struct http_header type = { S("Content-Type"), S("text/event-stream") };
	size_t at;
	if (str_find(request->path, S("/hang/"), &at))
		return;
	if (str_find(request->path, S("/fail/"), &at)) {
		http_reply(scene.server, request->exchange, 500, NULL, 0, S("{}"));
		return;
	}
	for (size_t i = 0; i < sample_count; i++)
		if (samples[i].streams &&
		    str_ends(request->path, str_from_c(samples[i].wire->path))) {
			struct str rest = str_from_c(samples[i].bytes);
			http_begin(scene.server, request->exchange, 200, &type, 1);
			for (; rest.size > 0;
			     rest = str_skip(rest, rest.size < 700 ? rest.size : 700))
				http_write(scene.server, request->exchange, str_head(rest, 700));
			http_end(scene.server, request->exchange);
			return;
		}
	http_reply(scene.server, request->exchange, 404, NULL, 0, S("{}"));
}

static void nothing(void *context, uint64_t exchange)
{
	(void)context;
	(void)exchange;
}

static bool read_key(void *context, struct secret reference, struct arena *arena,
		     struct str *out_value, struct error *error)
{
	(void)context;
	(void)arena;
	*out_value = S("sk-the-key");
	return str_equal(reference.reference, S("env:MINE")) ||
	       fail(error, ERROR_NOT_FOUND, STR_FMT " is not set", STR_ARG(reference.reference));
}

static void set_up(void)
{
	static const struct http_handler handler = { NULL, serve, nothing, nothing, NULL };
	static const struct str ranges[] = { { "127.0.0.1", 9 } };
	struct error error;
	memset(&scene, 0, sizeof(scene));
	test_folder_make(scene.folder);
	cr_assert(loop_new(&scene.loop, &error));
	scene.server = http_server_new(scene.loop, &handler);
	cr_assert(http_listen_tcp(scene.server, "127.0.0.1", 0, &scene.port, &error), "%s",
		  error.text);
	const struct models_settings settings = { .loop = scene.loop,
						  .data_folder = scene.folder,
						  .private_addresses = { ranges, 1 },
						  .concurrency = 8,
						  .key = read_key };
	scene.host.platform = loop_platform(scene.loop);
	cr_assert(models_new(&settings, &scene.host.models, &error), "%s", error.text);
}

static void tear_down(void)
{
	models_free(scene.host.models);
	http_server_free(scene.server);
	llm_host_done(&scene.host);
	loop_free(scene.loop);
	buf_done(&scene.text);
	buf_done(&scene.thinking);
	buf_done(&scene.names);
	arena_done(&scene.arena);
	test_folder_drop(scene.folder);
}

TestSuite(conformance, .init = set_up, .fini = tear_down, .timeout = 120);

/* ---- stands -------------------------------------------------------------------------- */

static const struct run_turn *make_turn(const char *options)
{
	struct contract_source source = { 0 };
	struct problems problems = { .arena = &scene.arena };
	struct error error;
	struct str text = str_format(
		&scene.arena,
		"{system: Be brief., messages: [{role: user, content: Speak.}], options: %s}",
		options);
	cr_assert(yaml_read(text, &scene.arena, &source.json, &error), "%s", error.text);
	const struct run_turn *turn = run_turn_parse(&source, &scene.arena, &problems);
	cr_assert(turn != NULL, STR_FMT, STR_ARG(problems_text(&problems, &scene.arena)));
	return turn;
}

static const char *script_options(enum wanted wanted, const char *variant)
{
	(void)variant;
	return wanted == ANSWER
		       ? "{replies: [{text: Grüß dich, thinking: Hm, pieces: 5, calls: [{name: grep, arguments: {p: 1}}, "
			 "{name: glob, arguments: '[1'}]}]}"
	       : wanted == FAILURE ? "{replies: [{fail: {code: unavailable}}]}"
				   : "{replies: [{hang: true}]}";
}

static const char *api_options(enum wanted wanted, const char *variant)
{
	return str_format(
		       &scene.arena,
		       "{provider: custom, base_url: 'http://127.0.0.1:%d/%s/v1', api_key: 'env:MINE', format: %s}",
		       scene.port,
		       wanted == ANSWER    ? "good"
		       : wanted == FAILURE ? "fail"
					   : "hang",
		       variant)
		.at;
}

/* The reply is recorded first; a failure is a cassette that has none. */
static const char *replay_options(enum wanted wanted, const char *variant)
{
	(void)variant;
	if (wanted == FAILURE)
		return "{cassette: empty}";
	struct run_turn_call *call = run_turn_call_new(&scene.arena);
	struct run_turn_thinking *thinking = run_turn_thinking_new(&scene.arena);
	static const struct json arguments = { .kind = JSON_OBJECT };
	SET(call, id, S("a"));
	SET(call, name, S("grep"));
	SET(call, arguments, &arguments);
	SET(thinking, text, S("Hm"));
	const struct llm_result result = { .text = S("Grüß dich"),
					   .thinking = { thinking, 1 },
					   .calls = { call, 1 },
					   .stop = RUN_TURN_STOP_CALLS };
	struct hash hash = cassette_request(S("m"), make_turn("{}"));
	char hex[HASH_TEXT_SIZE];
	struct error error;
	const char *folder = str_format(&scene.arena, "%s/cassettes", scene.folder).at;
	const char *inner = str_format(&scene.arena, "%s/full", folder).at;
	cr_assert(folder_make(folder, &error) && folder_make(inner, &error) &&
		  file_replace(str_format(&scene.arena, "%s/" STR_FMT ".json", inner,
					  STR_ARG(hash_text(&hash, hex)))
				       .at,
			       cassette_text(&hash, S("m"), &result, &scene.arena), &error));
	return "{cassette: full}";
}

static const struct stand {
	const char *driver, *variant;
	const char *(*options)(enum wanted wanted, const char *variant);
	bool hangs; /* it can */
} stands[] = {
	{ "script", "", script_options, true },    { "api", "chat", api_options, true },
	{ "api", "responses", api_options, true }, { "api", "messages", api_options, true },
	{ "replay", "", replay_options, false },
};

/* ---- a turn -------------------------------------------------------------------------- */

static void hear(void *context, uint64_t argument, enum llm_part part, struct str delta)
{
	size_t bad;
	cr_assert(!scene.inside && scene.dones == 0 && context == &scene && argument == 7);
	cr_assert(delta.size > 0 && utf8_valid(delta, &bad));
	buf_add(part == LLM_PART_TEXT       ? &scene.text
		: part == LLM_PART_THINKING ? &scene.thinking
					    : &scene.names,
		delta);
}

static void done(void *context, uint64_t argument, const struct llm_result *result)
{
	cr_assert(!scene.inside && context == &scene && argument == 7);
	scene.dones++;
	scene.error = result->error;
	scene.reply = str_copy(&scene.arena, result->text);
	scene.calls = result->calls.count;
	scene.thoughts = result->thinking.count;
	scene.stop = result->stop;
	for (size_t i = 0; i < result->calls.count; i++) {
		const struct run_turn_call *call = &result->calls.at[i];
		cr_assert(call->id.size > 0 && call->name.size > 0);
		cr_assert_neq(has(call, arguments), has(call, malformed));
		for (size_t k = 0; k < i; k++)
			cr_assert_not(str_equal(call->id, result->calls.at[k].id));
	}
	loop_stop(scene.loop);
}

static bool start(const struct llm_driver *driver, const char *options)
{
	scene.dones = 0;
	scene.error = (struct error){ 0 };
	buf_clear(&scene.text);
	buf_clear(&scene.thinking);
	buf_clear(&scene.names);
	const struct llm_call call = { .model = S("m"),
				       .turn = make_turn(options),
				       .step = S("say"),
				       .attempt = 1,
				       .done = done,
				       .piece = hear,
				       .context = &scene,
				       .argument = 7 };
	scene.inside = true;
	bool started = driver->start(&scene.host, &call, &scene.running, &scene.error);
	scene.inside = false;
	return started;
}

static void stop(const struct llm_driver *driver)
{
	struct error why;
	fail(&why, ERROR_CANCELLED, "it was told to stop");
	scene.inside = true;
	driver->stop(&scene.host, scene.running, &why);
	scene.inside = false;
}

static const struct llm_driver *driver_of(const struct stand *stand)
{
	const struct llm_driver *driver = llm_find(&llm_table, str_from_c(stand->driver));
	cr_assert_not_null(driver);
	return driver;
}

#define EACH_STAND(stand)                        \
	for (const struct stand *stand = stands; \
	     stand < stands + sizeof(stands) / sizeof(*stands); stand++)

Test(conformance, every_driver_has_a_stand)
{
	for (size_t i = 0; i < llm_table.count; i++) {
		bool found = false;
		EACH_STAND(stand)
		found = found || strcmp(stand->driver, llm_table.at[i]->name) == 0;
		cr_expect(found, "add a stand for the driver %s", llm_table.at[i]->name);
	}
}

Test(conformance, an_answer_comes_once_and_is_what_its_pieces_were)
{
	EACH_STAND(stand)
	{
		cr_assert(start(driver_of(stand), stand->options(ANSWER, stand->variant)), "%s",
			  scene.error.text);
		loop_run(scene.loop);
		cr_assert(scene.dones == 1 && scene.error.code == ERROR_NONE, "%s %s: %s",
			  stand->driver, stand->variant, scene.error.text);
		cr_expect(str_starts(scene.reply, S("Grüß")));
		cr_expect(str_equal(buf_str(&scene.text), scene.reply));
		cr_expect(scene.thoughts > 0 && scene.thinking.size > 0);
		cr_expect(scene.calls > 0 && scene.stop == RUN_TURN_STOP_CALLS);
		cr_expect(str_starts(buf_str(&scene.names), S("grep")));
		stop(driver_of(stand)); /* it has ended: harmless */
		cr_expect_eq(scene.host.calls.live, 0);
	}
}

Test(conformance, the_same_turn_gets_the_same_answer)
{
	EACH_STAND(stand)
	{
		struct str first = S("");
		for (int i = 0; i < 2; i++) {
			cr_assert(start(driver_of(stand), stand->options(ANSWER, stand->variant)));
			loop_run(scene.loop);
			cr_expect(i == 0 || str_equal(first, scene.reply));
			first = scene.reply;
		}
	}
}

Test(conformance, a_failure_has_a_code_of_turns)
{
	EACH_STAND(stand)
	{
		enum run_turn_fault fault;
		cr_assert(start(driver_of(stand), stand->options(FAILURE, stand->variant)));
		loop_run(scene.loop);
		cr_expect(scene.dones == 1 &&
				  run_turn_fault_from(error_row(scene.error.code)->name, &fault),
			  "%s: %s", stand->driver, scene.error.text);
	}
}

Test(conformance, a_stopped_turn_ends_once)
{
	EACH_STAND(stand)
	{
		cr_assert(start(driver_of(stand),
				stand->options(stand->hangs ? HANG : ANSWER, stand->variant)));
		stop(driver_of(stand));
		stop(driver_of(stand));
		cr_assert_eq(scene.dones, 0);
		loop_run(scene.loop);
		cr_expect_eq(scene.dones, 1);
		cr_expect(scene.error.code == ERROR_CANCELLED || !stand->hangs);
		cr_expect_eq(scene.host.calls.live, 0);
	}
}

Test(conformance, turns_run_at_the_same_time)
{
	EACH_STAND(stand)
	{
		if (!stand->hangs)
			continue;
		cr_assert(start(driver_of(stand), stand->options(HANG, stand->variant)));
		uint64_t first = scene.running;
		cr_assert(start(driver_of(stand), stand->options(ANSWER, stand->variant)));
		loop_run(scene.loop);
		cr_assert(scene.dones == 1 && scene.error.code == ERROR_NONE, "%s",
			  scene.error.text);
		scene.running = first;
		scene.dones = 0;
		stop(driver_of(stand));
		loop_run(scene.loop);
		cr_assert(scene.dones == 1 && scene.error.code == ERROR_CANCELLED);
	}
}

Test(conformance, bad_options_are_found_before_and_when_a_turn_starts)
{
	EACH_STAND(stand)
	{
		const struct json *options;
		struct problems problems = { .arena = &scene.arena };
		struct error error;
		cr_assert(yaml_read(S("{nonsense: 1}"), &scene.arena, &options, &error));
		driver_of(stand)->check(S("m"), options, &scene.arena, &problems);
		cr_expect_gt(problems.count, 0, "%s", stand->driver);
		cr_expect_not(start(driver_of(stand), "{nonsense: 1}"));
		cr_expect_eq(scene.error.code, ERROR_INVALID);
		struct problems none = { .arena = &scene.arena };
		const struct run_turn *turn = make_turn(stand->options(ANSWER, stand->variant));
		driver_of(stand)->check(S("m"), turn->options, &scene.arena, &none);
		cr_expect_eq(none.count, 0, "%s", stand->driver);
	}
}

/* ---- of the driver api alone ------------------------------------------------------------- */

Test(conformance, a_missing_key_is_named)
{
	const struct llm_driver *api = llm_find(&llm_table, S("api"));
	cr_assert_not(start(api, "{provider: openai}"));
	cr_expect_eq(scene.error.code, ERROR_UNAUTHENTICATED);
	cr_expect_str_eq(scene.error.text,
			 "openai m, turn 1: the API key is missing: env:OPENAI_API_KEY is not set");
}

Test(conformance, a_program_without_models_says_so)
{
	struct models *models = scene.host.models;
	scene.host.models = NULL;
	cr_expect_not(start(llm_find(&llm_table, S("api")), "{}"));
	cr_expect_not(start(llm_find(&llm_table, S("replay")), "{cassette: a}"));
	cr_expect_eq(scene.error.code, ERROR_INTERNAL);
	scene.host.models = models;
}

/* What the driver leaves behind when the program ends is freed. */
Test(conformance, turns_under_way_are_freed)
{
	EACH_STAND(stand)
	cr_assert(start(driver_of(stand),
			stand->options(stand->hangs ? HANG : ANSWER, stand->variant)));
}
