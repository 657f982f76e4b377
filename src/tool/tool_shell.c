/* tool/tool_shell.c -- shell: runs `sh -c COMMAND` in the run's workspace, inside the sandbox.
 *
 * The processes of the command hold the effect's lock as long as they live.  An exit status other
 * than 0 is a failure, whose message quotes the last lines of stderr or stdout, unless
 * `fail_on_status` is false: then it is data.  A command that was killed or timed out has always
 * failed.  `env` is set for the command only, so that it cannot affect the program that builds and
 * watches the sandbox, and never stands on a command line.  Without isolation the class is
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
	bool once;           /* class once: no isolation */
	bool fail_on_status; /* an exit status other than 0 is a failure */
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

/* Whether the exit status is the command's own answer. */
static bool status_is_data(const struct shell *shell, const struct process_result *result)
{
	return !shell->fail_on_status && sandbox_was_built(&shell->child.lifeline) &&
	       shell->running.stop_error.code == ERROR_NONE &&
	       !tool_child_was_cut_off(&shell->child, result);
}

static void shell_ended(struct tool_child *child, const struct process_result *result)
{
	struct shell *shell =
		(struct shell *)(void *)((char *)child - offsetof(struct shell, child));
	FAILPOINT("tool.shell_ended");
	AUTO(arena) arena = { 0 };
	struct tool_result answer = { 0 };
	if (status_is_data(shell, result) || tool_child_succeeded(child, result, &answer.error))
		answer.output = output_of(result, &arena);
	else if (shell->once && tool_child_began(child) &&
		 (shell->running.stop_error.code != ERROR_NONE ||
		  tool_child_was_cut_off(child, result)))
		tool_fail_unknown(&shell->running, "it was started", &answer.error);
	answer.figures = tool_child_figures(child, result, &arena);
	tool_child_close(child);
	tool_context_done(&shell->running, &answer);
	free(shell);
}

static void shell_end(struct tool_running *running)
{
	tool_child_end(&((struct shell *)running)->child);
}

/* The variables reach the sandbox under names of our own, because BASH_ENV and the like would affect
 * the script that sets the limits of the command; the shell renames them. */
static struct sandbox_variable *environment_of(const struct run_shell_inputs *inputs,
					       struct arena *arena)
{
	struct sandbox_variable *at =
		arena_array(arena, struct sandbox_variable, inputs->env.count);
	for (size_t i = 0; i < inputs->env.count; i++)
		at[i] = (struct sandbox_variable){ str_format(arena, "BATON_ENV_%zu", i),
						   inputs->env.at[i].value };
	return at;
}

/* sh -c COMMAND, below a shell that sets the variables if there are any.  Their names consist of
 * letters, digits and underscores. */
static const char *const *command_line(const struct run_shell_inputs *inputs, struct arena *arena)
{
	const char **words = arena_array(arena, const char *, 6);
	AUTO(buf) script = { 0 };
	size_t count = 0;
	words[count++] = "/bin/sh";
	words[count++] = "-c";
	for (size_t i = 0; i < inputs->env.count; i++)
		buf_add_format(&script,
			       "export " STR_FMT "=\"$BATON_ENV_%zu\"; unset BATON_ENV_%zu; ",
			       STR_ARG(inputs->env.at[i].key), i, i);
	if (inputs->env.count > 0) {
		buf_add(&script, S("exec /bin/sh -c \"$1\""));
		words[count++] = str_c(arena, buf_str(&script));
		words[count++] = "sh";
	}
	words[count++] = str_c(arena, inputs->command);
	words[count] = NULL;
	return words;
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_shell_inputs *inputs = TOOL_INPUTS(run_shell_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	const char *const *command = command_line(inputs, &arena);
	char run[UUID_TEXT_SIZE];
	uuid_text(&call->run, run);
	const struct tool_child_spec spec = {
		.sandbox = host->sandbox,
		.limits = host->limits,
		.layers = host->layers,
		.box = { .workspace = call->workspace,
			 .read_only = call->read_only,
			 .command = command },
		/* A call that was recorded as contained reaches nothing, whatever the setting is now. */
		.network = host->proxy != NULL && call->class != RUN_CLASS_CONTAINED,
		.proxy = host->proxy,
		.user = { .run = str_from_c(run),
			  .step = call->step,
			  .tool = S("shell"),
			  .hosts = host->hosts },
		.lock = call->lock,
		.timeout_seconds = inputs->timeout_seconds,
		.environment = environment_of(inputs, &arena),
		.environment_count = inputs->env.count,
	};
	struct shell *shell = calloc(1, sizeof(*shell));
	require(shell != NULL);
	shell->once = call->class == RUN_CLASS_ONCE;
	shell->fail_on_status = inputs->fail_on_status;
	shell->running.end = shell_end;
	shell->child.ended = shell_ended;
	shell->child.log = call->log;
	shell->child.mask = call->mask;
	shell->child.log_stdout = true;
	if (!tool_child_start(&shell->child, host->loop, &spec, error)) {
		free(shell);
		return false;
	}
	tool_context_begin(&shell->running, host, call);
	*out_running = shell->running.id;
	return true;
}

static const struct str secret_inputs[] = { { "env", 3 } };

const struct tool tool_shell = {
	.name = "shell",
	.text = "Runs a shell command in the run's workspace. Use it to build, to test and for what "
		"no other tool does.",
	.class = RUN_CLASS_CONTAINED,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_shell_inputs_type,
	.outputs = run_shell_outputs_type,
	.start = start,
	.child = true,
	.secrets = { secret_inputs, COUNT(secret_inputs) },
	.stop = tool_context_stop,
};
