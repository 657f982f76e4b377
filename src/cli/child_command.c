/* cli/child_command.c -- children of commands.
 *
 * A command that lives long, such as the language server, asks Baton through short-lived children: while it rests, the
 * data folder is free for others.
 */
#include "cli/child_command.h"

#include "base/limits.h"
#include "os/loop.h"
#include "os/process.h"

struct child_run {
	struct loop *loop;
	struct arena *arena;
	uint64_t process;
	struct child_command result;
};

static void child_ended(void *context, uint64_t argument, const struct process_result *result)
{
	struct child_run *run = context;
	(void)argument;
	run->result.status = result->exit_status;
	run->result.output = str_copy(run->arena, str_trim(result->output));
	run->result.errors = str_copy(run->arena, str_trim(result->errors));
	loop_stop(run->loop);
}

static void child_too_slow(void *context, uint64_t argument)
{
	struct child_run *run = context;
	(void)argument;
	process_end(run->loop, run->process);
}

static struct child_command run_child(const struct process_spec *wanted, bool limited,
				      struct arena *arena)
{
	struct child_run run = { .arena = arena, .result = { .status = -1 } };
	struct process_spec spec = *wanted;
	struct error error;
	if (!loop_new(&run.loop, &error)) {
		run.result.errors = str_copy(run.arena, str_from_c(error.text));
		return run.result;
	}
	if (spec.output_limit == 0)
		spec.output_limit = LIMIT_TOOL_OUTPUT_BYTES;
	spec.done = child_ended;
	spec.context = &run;
	if (process_start(run.loop, &spec, &run.process, &error)) {
		if (limited)
			platform_timer_start(loop_platform(run.loop), LIMIT_DOCTOR_CHILD_MS * 1000,
					     child_too_slow, &run, 0);
		loop_run(run.loop);
	} else {
		run.result.errors = str_copy(run.arena, str_from_c(error.text));
	}
	loop_free(run.loop);
	return run.result;
}

struct child_command child_command_run(const struct process_spec *wanted, struct arena *arena)
{
	return run_child(wanted, true, arena);
}

struct child_command child_command_wait(const struct process_spec *wanted, struct arena *arena)
{
	return run_child(wanted, false, arena);
}

struct child_command child_command_baton(const struct cli *cli, bool here, const char *const *words,
					 struct str input, struct arena *arena)
{
	enum { ARGV_SIZE = 12 };
	bool local = here || !str_starts(str_from_c(cli->address), S("http"));
	const char *argv[ARGV_SIZE] = { "/proc/self/exe",          "--home",
					cli->data_folder,          "--server",
					local ? "" : cli->address, "--json" };
	size_t count = 6;
	for (; *words != NULL && count + 1 < ARGV_SIZE; words++)
		argv[count++] = *words;
	const struct process_spec spec = { .argv = argv,
					   .environment = cli->environment,
					   .input = input,
					   .output_limit = LIMIT_JSON_BYTES };
	return child_command_run(&spec, arena);
}
