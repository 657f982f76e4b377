/* tool/tool_shell.c -- shell: runs `sh -c COMMAND` in the run's workspace, inside the sandbox.
 *
 * The processes of the command hold the effect's lock as long as they live.  An exit status other
 * than 0 is a failure, whose message quotes the end of stderr.  Without isolation the class is
 * once; then a command that was killed, timed out or stopped ends with OUTCOME_UNKNOWN.  Output
 * that is not UTF-8 gets replacement characters, because events are JSON.
 */
#include <stdlib.h>

#include "contract/run_tool_types.h"
#include "os/failpoint.h"
#include "tool/tool_child.h"
#include "tool/tool_context.h"

struct shell {
	struct tool_running running; /* first */
	struct tool_child child;
	bool once; /* class once: no isolation */
};

static const struct json *output_of(const struct process_result *result, struct arena *arena)
{
	struct run_shell_outputs *outputs = run_shell_outputs_new(arena);
	SET(outputs, exit_code, result->exit_status);
	SET(outputs, stdout, tool_context_utf8(arena, result->output));
	SET(outputs, stderr, tool_context_utf8(arena, result->errors));
	if (result->output_dropped + result->errors_dropped > 0)
		SET(outputs, dropped, (int64_t)(result->output_dropped + result->errors_dropped));
	return TOOL_OUTPUT(run_shell_outputs, outputs, arena);
}

static void shell_ended(struct tool_child *child, const struct process_result *result)
{
	struct shell *shell =
		(struct shell *)(void *)((char *)child - offsetof(struct shell, child));
	FAILPOINT("tool.shell_ended");
	AUTO(arena) arena = { 0 };
	struct tool_result answer = { 0 };
	if (tool_child_succeeded(child, result, &answer.error))
		answer.output = output_of(result, &arena);
	else if (shell->once && tool_child_began(child) &&
		 (shell->running.stop_error.code != ERROR_NONE ||
		  tool_child_was_cut_off(child, result)))
		tool_fail_unknown(&shell->running, "it was started", &answer.error);
	tool_child_close(child);
	tool_context_done(&shell->running, &answer);
	free(shell);
}

static void shell_end(struct tool_running *running)
{
	tool_child_end(&((struct shell *)running)->child);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_shell_inputs *inputs = TOOL_INPUTS(run_shell_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	const char *const command[] = { "/bin/sh", "-c", str_c(&arena, inputs->command), NULL };
	const struct tool_child_spec spec = {
		.sandbox = host->sandbox,
		.box = { .workspace = call->workspace, .command = command },
		.lock = call->lock,
		.timeout_seconds = inputs->timeout_seconds,
	};
	struct shell *shell = calloc(1, sizeof(*shell));
	require(shell != NULL);
	shell->once = call->class == RUN_CLASS_ONCE;
	shell->running.end = shell_end;
	shell->child.ended = shell_ended;
	if (!tool_child_start(&shell->child, host->loop, &spec, error)) {
		free(shell);
		return false;
	}
	tool_context_begin(&shell->running, host, call);
	*out_running = shell->running.id;
	return true;
}

const struct tool tool_shell = {
	.name = "shell",
	.text = "Runs a shell command in the run's workspace.",
	.class = RUN_CLASS_CONTAINED,
	.inputs = run_shell_inputs_type,
	.outputs = run_shell_outputs_type,
	.start = start,
	.child = true,
	.stop = tool_context_stop,
};
