/* tool/tool_child.c -- one child process of a tool. */
#include "tool/tool_child.h"

#include "base/limits.h"
#include "base/secret_mask.h"
#include "contract/run_value_types.h"
#include "os/failpoint.h"
#include "sandbox/sandbox_layers.h"
#include "tool/limit_watch.h"
#include "tool/tool_text.h"

enum { QUOTED_BYTES = 300 };

static void watch_end(struct tool_child *child)
{
	struct error excess;
	if (child->watch != NULL && limit_watch_end(child->watch, &excess) &&
	    child->excess.code == ERROR_NONE && !child->timed_out)
		child->excess = excess;
	child->watch = NULL;
}

static void limit_exceeded(void *context, const struct error *excess)
{
	struct tool_child *child = context;
	child->excess = *excess;
	tool_child_end(child);
}

static void line_close(struct tool_child *child)
{
	if (child->proxy != NULL)
		connect_proxy_close(child->proxy, child->proxy_line);
	child->proxy = NULL;
}

static void ended(void *context, uint64_t argument, const struct process_result *result)
{
	struct tool_child *child = context;
	(void)argument;
	platform_timer_stop(loop_platform(child->loop), child->timer);
	watch_end(child);
	line_close(child);
	child->ended(child, result);
}

static void output_received(void *context, uint64_t argument, struct str bytes)
{
	struct tool_child *child = context;
	(void)argument;
	child->piece(child, bytes);
}

static void output_observed(void *context, uint64_t argument, bool is_stderr, struct str bytes)
{
	struct tool_child *child = context;
	(void)argument;
	if (child->log != NULL && (is_stderr || child->log_stdout))
		output_log_add(child->log, is_stderr ? OUTPUT_STDERR : OUTPUT_STDOUT, bytes);
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

/* What the child inherits: its descriptors 3, 4, ... */
struct inherited {
	int keep[PROCESS_KEEP];
	size_t count;
	int variables, line; /* closed after the start; -1 = none */
};

static int inherit(struct inherited *inherited, int descriptor)
{
	inherited->keep[inherited->count++] = descriptor;
	return (int)inherited->count + 2;
}

static void inherited_close(struct inherited *inherited)
{
	sandbox_environment_close(inherited->variables);
	sandbox_environment_close(inherited->line);
}

static bool line_open(struct tool_child *child, const struct tool_child_spec *spec,
		      struct inherited *inherited, struct sandbox_spec *box, struct error *error)
{
	if (!spec->network || !spec->sandbox->contained)
		return true;
	if (spec->proxy == NULL)
		return fail(
			error, ERROR_ISOLATION,
			"tool " STR_FMT
			" needs the network, but sandbox.network allows no host and the profile "
			"has no list of its own, so it was not started",
			STR_ARG(spec->user.tool));
	if (!connect_proxy_open(spec->proxy, &spec->user, &inherited->line, &child->proxy_line,
				error))
		return false;
	child->proxy = spec->proxy;
	box->proxy_descriptor = inherit(inherited, inherited->line);
	return true;
}

/* Fills the numbers of the descriptors into the box. */
static bool inherited_open(struct tool_child *child, const struct tool_child_spec *spec,
			   struct inherited *inherited, struct sandbox_spec *box,
			   struct error *error)
{
	*inherited = (struct inherited){ .variables = -1, .line = -1 };
	if (spec->lock >= 0)
		inherit(inherited, spec->lock);
	box->status_descriptor = inherit(inherited, child->lifeline.status);
	box->lifeline_descriptor = inherit(inherited, child->lifeline.lifeline);
	box->keeper_descriptor = inherit(inherited, child->lifeline.keeper);
	box->started_descriptor = inherit(inherited, child->lifeline.status);
	if (spec->environment_count > 0) {
		if (!sandbox_environment_open(spec->environment, spec->environment_count,
					      &inherited->variables, error))
			return false;
		box->arguments_descriptor = inherit(inherited, inherited->variables);
	}
	return line_open(child, spec, inherited, box, error);
}

static bool spawn(struct tool_child *child, const struct tool_child_spec *spec, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct sandbox_spec box = spec->box;
	struct inherited inherited;
	box.limits = child->limits;
	box.layers = spec->layers;
	box.group = child->watch == NULL ? NULL : limit_watch_group(child->watch);
	if (!inherited_open(child, spec, &inherited, &box, error)) {
		inherited_close(&inherited);
		return false;
	}
	const struct process_spec process = {
		.argv = spec->sandbox->command(&box, &arena),
		.input = spec->input,
		.converse = spec->converse,
		.keep = inherited.keep,
		.keep_count = inherited.count,
		.output_limit = LIMIT_TOOL_OUTPUT_BYTES,
		.piece = child->piece == NULL ? NULL : output_received,
		.observe = output_observed,
		.done = ended,
		.context = child,
	};
	FAILPOINT("tool.before_spawn");
	bool started = process_start(child->loop, &process, &child->process, error);
	inherited_close(&inherited);
	if (!started) {
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
	child->limits = spec->sandbox->contained ? spec->limits : NULL;
	child->watch = NULL;
	child->proxy = NULL;
	child->excess = (struct error){ 0 };
	if (spec->sandbox->contained && spec->layers != NULL && spec->layers->refusal != NULL)
		return fail(error, ERROR_ISOLATION,
			    "the sandbox cannot be built, so the tool was not started: %s",
			    spec->layers->refusal);
	if (child->limits != NULL &&
	    !limit_watch_new(loop, child->limits, spec->box.read_only ? NULL : spec->box.workspace,
			     &child->watch, error))
		return false;
	bool opened = sandbox_lifeline_open(&child->lifeline, error);
	if (!opened || !spawn(child, spec, error)) {
		watch_end(child);
		line_close(child);
		if (opened)
			sandbox_lifeline_close(&child->lifeline);
		return false;
	}
	if (child->watch != NULL)
		limit_watch_begin(child->watch, &child->lifeline, limit_exceeded, child);
	if (spec->timeout_seconds > 0)
		child->timer = platform_timer_start(loop_platform(loop),
						    (int64_t)(spec->timeout_seconds * 1e6),
						    timed_out, child, 0);
	return true;
}

/* The last whole lines, within QUOTED_BYTES; a longer last line loses its beginning.  stdout is kept
 * up to a limit, so of a long one these are the last lines that were kept. */
static struct str last_lines(const struct tool_child *child, const struct process_result *result,
			     struct arena *arena)
{
	AUTO(buf) masked = { 0 };
	struct str text = tool_context_utf8(arena, str_trim(result->errors));
	size_t at;
	if (text.size == 0 && child->log_stdout)
		text = tool_context_utf8(arena, str_trim(result->output));
	/* Before it is cut: the rest of a secret would not be recognized. */
	if (child->mask != NULL) {
		secret_mask_add(child->mask, text, &masked);
		text = str_copy(arena, buf_str(&masked));
	}
	if (text.size <= QUOTED_BYTES)
		return text;
	text = tool_context_utf8(arena, str_skip(text, text.size - QUOTED_BYTES));
	if (str_find(text, S("\n"), &at))
		text = str_skip(text, at + 1);
	return text;
}

bool tool_child_succeeded(const struct tool_child *child, const struct process_result *result,
			  struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str quoted = last_lines(child, result, &arena);
	if (!sandbox_was_built(&child->lifeline))
		return fail(error, ERROR_ISOLATION,
			    "the sandbox cannot be built, so the tool was not started: " STR_FMT,
			    STR_ARG(quoted));
	if (child->excess.code != ERROR_NONE) {
		*error = child->excess;
		return false;
	}
	if (child->timed_out)
		return fail(error, ERROR_TIMEOUT, "timed out after %g seconds",
			    child->timeout_seconds);
	if (result->signal != 0)
		return fail(error, ERROR_TOOL_FAILED, "killed by signal %d%s" STR_FMT,
			    result->signal, quoted.size > 0 ? ": " : "", STR_ARG(quoted));
	if (result->exit_status == 0)
		return true;
	struct str hint = child->limits == NULL
				  ? S("")
				  : sandbox_limits_hint(child->limits, result->exit_status,
							result->errors, &arena);
	return fail(error, ERROR_TOOL_FAILED, "exit status %d%s" STR_FMT STR_FMT,
		    result->exit_status, quoted.size > 0 ? ": " : "", STR_ARG(quoted),
		    STR_ARG(hint));
}

bool tool_child_was_cut_off(const struct tool_child *child, const struct process_result *result)
{
	return child->timed_out || child->excess.code != ERROR_NONE || result->signal != 0 ||
	       result->exit_status > 128;
}

const struct run_call_figures *tool_child_figures(const struct tool_child *child,
						  const struct process_result *result,
						  struct arena *arena)
{
	enum { BY_SIGNAL = 128 };
	struct run_call_figures *figures = run_call_figures_new(arena);
	struct sandbox_figures used;
	if (!sandbox_was_built(&child->lifeline))
		return NULL;
	SET(figures, exit_code,
	    result->signal != 0 ? BY_SIGNAL + result->signal : result->exit_status);
	if (sandbox_figures(&child->lifeline, &used)) {
		SET(figures, cpu_us, used.cpu_us);
		SET(figures, memory_bytes, used.memory_bytes);
		SET(figures, written_bytes, used.written_bytes);
	}
	return figures;
}

bool tool_child_began(const struct tool_child *child)
{
	return sandbox_was_built(&child->lifeline);
}

void tool_child_close(struct tool_child *child)
{
	sandbox_lifeline_close(&child->lifeline);
}
