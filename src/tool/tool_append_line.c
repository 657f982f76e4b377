/* tool/tool_append_line.c -- append_line: appends a line to a file outside the workspace, exactly
 * once.
 *
 * The files are in tools.append_root.  A line cannot be removed again, and appending it twice is an
 * error, so the class is `probe`: each line ends with the effect's id, and after a crash the probe
 * searches the file for that id.  The line is written in one write and synced before the call is
 * done, so after a crash it is either complete or absent.  Lines are synced in batches
 * (tool/line_writer.h).
 *
 *	LINE <space> EFFECT-ID
 *
 * The files are not in the workspace, because restoring the workspace after a crash of another step
 * would remove the line.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "tool/line_writer.h"
#include "tool/tool_context.h"

struct append {
	struct tool_running running; /* first */
	struct line queued_line;
	struct job job; /* of a probe */
	struct arena arena;
	const char *root, *path;
	struct str given_path, line; /* line: with its mark */
	struct str mark;             /* a space and the effect's id */
	struct tool_result result;
	/* of a probe: */
	enum tool_answer answer;
	tool_asked *asked;
	void *context;
	uint64_t argument;
};

static struct append *append_of(struct job *job)
{
	return (struct append *)(void *)((char *)job - offsetof(struct append, job));
}

static void append_free(struct append *append)
{
	arena_done(&append->arena);
	free(append);
}

/* A newline would make two lines of it, and the probe could match the wrong one. */
static bool is_one_line(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] == '\n' || text.at[i] == '\r' || text.at[i] == '\0')
			return false;
	return true;
}

static struct append *append_new(const struct tool_host *host, const struct tool_call *call,
				 struct error *error)
{
	AUTO(arena) scratch = { 0 };
	const struct run_append_line_inputs *inputs =
		TOOL_INPUTS(run_append_line_inputs, call, &scratch, error);
	char id[UUID_TEXT_SIZE];
	if (inputs == NULL)
		return NULL;
	if (!is_one_line(inputs->line) || !is_one_line(inputs->path)) {
		fail(error, ERROR_INVALID,
		     "inputs: path and line must not contain newlines or NUL bytes");
		return NULL;
	}
	struct append *append = calloc(1, sizeof(*append));
	require(append != NULL);
	struct arena *arena = &append->arena;
	append->root = str_c(arena, str_from_c(tool_context_append_root(host->tool_context)));
	append->path = str_c(arena, inputs->path);
	append->given_path = str_copy(arena, inputs->path);
	append->mark = str_format(arena, " " STR_FMT, STR_ARG(uuid_text(&call->effect, id)));
	append->line =
		str_format(arena, STR_FMT STR_FMT, STR_ARG(inputs->line), STR_ARG(append->mark));
	return append;
}

/* The output is the same after a call and after a probe that found the line. */
static const struct json *output_of(struct append *append)
{
	struct run_append_line_outputs *outputs = run_append_line_outputs_new(&append->arena);
	SET(outputs, path, append->given_path);
	SET(outputs, line, append->line);
	return TOOL_OUTPUT(run_append_line_outputs, outputs, &append->arena);
}

static void append_ended(struct line *line)
{
	struct append *append =
		(struct append *)(void *)((char *)line - offsetof(struct append, queued_line));
	append->result.error = line->error;
	if (line->error.code == ERROR_NONE)
		append->result.output = output_of(append);
	tool_context_done(&append->running, &append->result);
	append_free(append);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct append *append = append_new(host, call, error);
	if (append == NULL)
		return false;
	tool_context_begin(&append->running, host, call);
	append->queued_line = (struct line){ .root = append->root,
					     .path = append->path,
					     .text = append->line,
					     .done = append_ended };
	*out_running = append->running.id;
	line_writer_add(tool_context_line_writer(host->tool_context), &append->queued_line);
	return true;
}

/* ---- after a crash ------------------------------------------------------------------- */

static void probe_work(struct job *job, unsigned thread)
{
	struct append *append = append_of(job);
	struct error error;
	bool found, whole;
	(void)thread;
	append->answer = TOOL_UNKNOWN;
	if (!file_exists(append->root)) {
		append->answer = TOOL_NOT_HAPPENED;
		return;
	}
	if (!confined_find_line(append->root, append->path, append->mark, LIMIT_PROBE_BYTES, &found,
				&whole, &error))
		return;
	if (found)
		append->result.output = output_of(append);
	append->answer = found ? TOOL_HAPPENED : whole ? TOOL_NOT_HAPPENED : TOOL_UNKNOWN;
}

static void probe_ended(struct job *job)
{
	struct append *append = append_of(job);
	append->asked(append->context, append->argument, append->answer, append->result.output);
	append_free(append);
}

static bool probe(const struct tool_host *host, const struct tool_call *call, struct error *error)
{
	struct append *append = append_new(host, call, error);
	if (append == NULL)
		return false;
	append->asked = call->asked;
	append->context = call->context;
	append->argument = call->argument;
	append->job = (struct job){ .run = probe_work, .done = probe_ended, .name = "probe" };
	platform_submit(loop_platform(host->loop), LANE_READER, &append->job);
	return true;
}

const struct tool tool_append_line = {
	.name = "append_line",
	.text = "Appends a line, followed by the effect's id, to a file in tools.append_root. "
		"Use it for logs and ledgers that outlive the run.",
	.class = RUN_CLASS_PROBE,
	.risk = RUN_RISK_HIGH,
	.inputs = run_append_line_inputs_type,
	.outputs = run_append_line_outputs_type,
	.start = start,
	.stop = tool_context_stop,
	.probe = probe,
};
