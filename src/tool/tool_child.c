/* tool/tool_child.c -- one child process of a tool. */
#include "tool/tool_child.h"

#include "base/limits.h"
#include "os/failpoint.h"
#include "tool/tool_context.h"

enum { STDERR_TAIL_BYTES = 300 };

static void ended(void *context, uint64_t argument, const struct process_result *result)
{
	struct tool_child *child = context;
	(void)argument;
	platform_timer_stop(loop_platform(child->loop), child->timer);
	child->ended(child, result);
}

static void output_received(void *context, uint64_t argument, struct str bytes)
{
	struct tool_child *child = context;
	(void)argument;
	child->piece(child, bytes);
}

static void timed_out(void *context, uint64_t argument)
{
	struct tool_child *child = context;
	(void)argument;
	child->timed_out = true;
	tool_child_end(child);
}

void tool_child_end(struct tool_child *child)
{
	sandbox_lifeline_cut(&child->lifeline);
	process_end(child->loop, child->process);
}

static bool spawn(struct tool_child *child, const struct tool_child_spec *spec, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct sandbox_spec box = spec->box;
	box.status_descriptor = 4;
	box.lifeline_descriptor = 5;
	const int keep[] = { spec->lock, child->lifeline.status, child->lifeline.lifeline };
	const struct process_spec process = {
		.argv = spec->sandbox->command(&box, &arena),
		.input = spec->input,
		.converse = spec->converse,
		.keep = keep,
		.keep_count = COUNT(keep),
		.output_limit = LIMIT_TOOL_OUTPUT_BYTES,
		.piece = child->piece == NULL ? NULL : output_received,
		.done = ended,
		.context = child,
	};
	FAILPOINT("tool.before_spawn");
	if (!process_start(child->loop, &process, &child->process, error)) {
		if (error->code == ERROR_IO) {
			error->code = ERROR_ISOLATION;
			error_prefix(error,
				     "the sandbox cannot be built, so the tool was not started: ");
		}
		return false;
	}
	FAILPOINT("tool.after_spawn");
	return true;
}

bool tool_child_start(struct tool_child *child, struct loop *loop,
		      const struct tool_child_spec *spec, struct error *error)
{
	child->loop = loop;
	child->timed_out = false;
	child->timeout_seconds = spec->timeout_seconds;
	child->timer = 0;
	if (!sandbox_lifeline_open(&child->lifeline, error))
		return false;
	if (!spawn(child, spec, error)) {
		sandbox_lifeline_close(&child->lifeline);
		return false;
	}
	if (spec->timeout_seconds > 0)
		child->timer = platform_timer_start(loop_platform(loop),
						    (int64_t)(spec->timeout_seconds * 1e6),
						    timed_out, child, 0);
	return true;
}

bool tool_child_succeeded(const struct tool_child *child, const struct process_result *result,
			  struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str stderr_tail = tool_context_utf8(&arena, str_trim(result->errors));
	if (stderr_tail.size > STDERR_TAIL_BYTES)
		stderr_tail = tool_context_utf8(
			&arena, str_skip(stderr_tail, stderr_tail.size - STDERR_TAIL_BYTES));
	if (!sandbox_was_built(&child->lifeline))
		return fail(error, ERROR_ISOLATION,
			    "the sandbox cannot be built, so the tool was not started: " STR_FMT,
			    STR_ARG(stderr_tail));
	if (child->timed_out)
		return fail(error, ERROR_TIMEOUT, "timed out after %g seconds",
			    child->timeout_seconds);
	if (result->signal != 0)
		return fail(error, ERROR_TOOL_FAILED, "killed by signal %d: " STR_FMT,
			    result->signal, STR_ARG(stderr_tail));
	return result->exit_status == 0 ||
	       fail(error, ERROR_TOOL_FAILED, "exit status %d: " STR_FMT, result->exit_status,
		    STR_ARG(stderr_tail));
}

bool tool_child_was_cut_off(const struct tool_child *child, const struct process_result *result)
{
	return child->timed_out || result->signal != 0 || result->exit_status > 128;
}

bool tool_child_began(const struct tool_child *child)
{
	return sandbox_was_built(&child->lifeline);
}

void tool_child_close(struct tool_child *child)
{
	sandbox_lifeline_close(&child->lifeline);
}
