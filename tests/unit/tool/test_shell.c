/* A sandbox that cannot be built: the tool does not run and reports why. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "os/loop.h"
#include "sandbox/sandbox.h"
#include "tool/tool_context.h"

struct ended {
	struct loop *loop;
	int times;
	struct error error;
	bool output;
};

static void note_end(void *context, uint64_t argument, const struct tool_result *result)
{
	struct ended *ended = context;
	cr_assert_eq(argument, 7);
	ended->times++;
	ended->error = result->error;
	ended->output = result->output != NULL;
	loop_stop(ended->loop);
}

static const char *const *no_such_program(const struct sandbox_spec *spec, struct arena *arena)
{
	static const char *const words[] = { "no-such-sandbox-program", NULL };
	(void)spec;
	(void)arena;
	return words;
}

static const char *const *gives_up(const struct sandbox_spec *spec, struct arena *arena)
{
	static const char *const words[] = { "sh", "-c", "echo no namespaces here >&2; exit 1",
					     NULL };
	(void)spec;
	(void)arena;
	return words;
}

/* Starts the shell tool in this sandbox and runs the loop until it has ended. */
static bool run_shell(const char *const *(*command)(const struct sandbox_spec *, struct arena *),
		      struct ended *ended, struct error *error)
{
	const struct sandbox sandbox = { .name = "broken", .contained = true, .command = command };
	AUTO(arena) arena = { 0 };
	const struct json *inputs;
	cr_assert(json_read(S("{\"command\":\"true\"}"), &arena, &inputs, error));
	cr_assert(loop_new(&ended->loop, error));
	const struct tool_context_settings settings = { .loop = ended->loop, .append_root = "" };
	struct tool_context *tool_context;
	cr_assert(tool_context_new(&settings, &tool_context, error));
	const struct tool_host host = { .loop = ended->loop,
					.sandbox = &sandbox,
					.tool_context = tool_context };
	int lock = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct tool_call call = { .inputs = inputs,
					.workspace = "/",
					.lock = lock,
					.done = note_end,
					.context = ended,
					.argument = 7 };
	const struct tool *shell = tool_find(&tool_table, S("shell"));
	cr_assert_not_null(shell);
	uint64_t running;
	bool started = shell->start(&host, &call, &running, error);
	if (started)
		loop_run(ended->loop);
	tool_context_free(tool_context);
	loop_free(ended->loop);
	close(lock);
	return started;
}

Test(shell, a_sandbox_program_that_is_missing)
{
	struct ended ended = { 0 };
	struct error error;
	cr_assert(!run_shell(no_such_program, &ended, &error));
	cr_assert_eq(error.code, ERROR_ISOLATION);
	cr_assert_not_null(strstr(error.text, "no-such-sandbox-program"), "%s", error.text);
	cr_assert_eq(ended.times, 0);
}

Test(shell, a_sandbox_that_gives_up_before_the_command)
{
	struct ended ended = { 0 };
	struct error error;
	cr_assert(run_shell(gives_up, &ended, &error));
	cr_assert_eq(ended.times, 1);
	cr_assert(!ended.output);
	cr_assert_eq(ended.error.code, ERROR_ISOLATION);
	cr_assert_not_null(strstr(ended.error.text, "no namespaces here"), "%s", ended.error.text);
}

Test(shell, inputs_that_break_their_contract)
{
	struct ended ended = { 0 };
	struct error error;
	AUTO(arena) arena = { 0 };
	const struct json *inputs;
	cr_assert(json_read(S("{\"comand\":\"true\"}"), &arena, &inputs, &error));
	const struct tool_host host = { .loop = NULL, .sandbox = sandbox_find(S("native")) };
	const struct tool_call call = { .inputs = inputs, .done = note_end, .context = &ended };
	uint64_t running;
	cr_assert(!tool_find(&tool_table, S("shell"))->start(&host, &call, &running, &error));
	cr_assert_eq(error.code, ERROR_INVALID);
	cr_assert_eq(ended.times, 0);
}
