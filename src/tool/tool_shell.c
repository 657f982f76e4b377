/* tool/tool_shell.c -- `sh -c command` in the run's workspace, inside the sandbox.
 *
 * The child tree holds the effect's lock for as long as it lives.  A command that exits with
 * another status than 0 has failed; what it printed is in the error then, and in the output when
 * it succeeded.  Output that is not UTF-8 is shown with replacement characters, because events
 * are JSON.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "os/point.h"
#include "os/process.h"
#include "sandbox/sandbox.h"
#include "tool/works.h"

struct shell {
	struct tool_running running; /* first */
	struct sandbox_tie tie;
	uint64_t process, timer;
	bool timed_out;
	double timeout_seconds;
};

static const struct json *output_of(const struct process_result *result, struct arena *arena)
{
	struct run_shell_outputs *outputs = run_shell_outputs_new(arena);
	SET(outputs, exit_code, result->exit_status);
	SET(outputs, stdout, works_utf8(arena, result->output));
	SET(outputs, stderr, works_utf8(arena, result->errors));
	if (result->output_dropped + result->errors_dropped > 0)
		SET(outputs, dropped, (int64_t)(result->output_dropped + result->errors_dropped));
	return TOOL_OUTPUT(run_shell_outputs, outputs, arena);
}

static void explain_failure(const struct shell *shell, const struct process_result *result,
			    struct arena *arena, struct error *error)
{
	struct str said = works_utf8(arena, str_trim(result->errors));
	if (said.size > 300)
		said = works_utf8(arena, str_skip(said, said.size - 300));
	if (!sandbox_was_built(&shell->tie))
		fail(error, ERROR_ISOLATION,
		     "the sandbox cannot be built, so the tool does not run: " STR_FMT,
		     STR_ARG(said));
	else if (shell->timed_out)
		fail(error, ERROR_TIMEOUT, "ended after %g seconds", shell->timeout_seconds);
	else if (result->signal != 0)
		fail(error, ERROR_TOOL_FAILED, "ended by signal %d: " STR_FMT, result->signal,
		     STR_ARG(said));
	else
		fail(error, ERROR_TOOL_FAILED, "exit status %d: " STR_FMT, result->exit_status,
		     STR_ARG(said));
}

static void shell_ended(void *context, uint64_t argument, const struct process_result *result)
{
	struct shell *shell = context;
	(void)argument;
	POINT("tool.shell_ended");
	system_timer_stop(loop_system(shell->running.loop), shell->timer);
	AUTO(arena) arena = { 0 };
	struct tool_result answer = { 0 };
	if (result->exit_status == 0 && !shell->timed_out && sandbox_was_built(&shell->tie))
		answer.output = output_of(result, &arena);
	else
		explain_failure(shell, result, &arena, &answer.error);
	sandbox_tie_close(&shell->tie);
	works_done(&shell->running, &answer);
	free(shell);
}

static void shell_end(struct tool_running *running)
{
	struct shell *shell = (struct shell *)running;
	sandbox_tie_cut(&shell->tie);
	process_end(running->loop, shell->process);
}

static void shell_timed_out(void *context, uint64_t argument)
{
	struct shell *shell = context;
	(void)argument;
	shell->timed_out = true;
	shell_end(&shell->running);
}

static bool shell_spawn(struct shell *shell, const struct tool_host *host,
			const struct tool_call *call, const struct run_shell_inputs *inputs,
			struct arena *arena, struct error *error)
{
	const char *const command[] = { "/bin/sh", "-c", str_c(arena, inputs->command), NULL };
	const struct sandbox_spec sandbox = { .workspace = call->workspace,
					      .status_descriptor = 4,
					      .lifeline_descriptor = 5,
					      .command = command };
	const int keep[] = { call->lock, shell->tie.status, shell->tie.lifeline };
	const struct process_spec spec = {
		.argv = host->sandbox->command(&sandbox, arena),
		.keep = keep,
		.keep_count = COUNT(keep),
		.output_limit = LIMIT_TOOL_OUTPUT_BYTES,
		.done = shell_ended,
		.context = shell,
	};
	POINT("tool.before_spawn");
	if (!process_start(host->loop, &spec, &shell->process, error)) {
		if (error->code == ERROR_IO) {
			error->code = ERROR_ISOLATION;
			error_prefix(error,
				     "the sandbox cannot be built, so the tool does not run: ");
		}
		return false;
	}
	POINT("tool.after_spawn");
	shell->timer = system_timer_start(loop_system(host->loop),
					  (int64_t)(inputs->timeout_seconds * 1e6), shell_timed_out,
					  shell, 0);
	return true;
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_shell_inputs *inputs = TOOL_INPUTS(run_shell_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct shell *shell = calloc(1, sizeof(*shell));
	require(shell != NULL);
	shell->timeout_seconds = inputs->timeout_seconds;
	shell->running.end = shell_end;
	if (!sandbox_tie_open(&shell->tie, error)) {
		free(shell);
		return false;
	}
	if (shell_spawn(shell, host, call, inputs, &arena, error)) {
		works_begin(&shell->running, host, call);
		*out_running = shell->running.id;
		return true;
	}
	sandbox_tie_close(&shell->tie);
	free(shell);
	return false;
}

const struct tool tool_shell = {
	.name = "shell",
	.text = "Runs a shell command in the run's workspace.",
	.class = RUN_CLASS_CONTAINED,
	.inputs = run_shell_inputs_type,
	.outputs = run_shell_outputs_type,
	.start = start,
	.stop = works_stop,
};
