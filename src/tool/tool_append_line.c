/* tool/tool_append_line.c -- adds a line to a file outside the workspace, once for each effect.
 *
 * The files are beneath tools.append_root.  A line cannot be taken back and two of them are not
 * one, so the class is `probe`: behind each line stands the effect's id, and after a crash the
 * probe looks whether a line with it is there.  The line is written in one write and is on the disk
 * before the call is done, so it is there whole, or it never happened.  Lines that wait for the
 * disk wait for it together (tool/line_writer.h).
 *
 *	LINE <blank> EFFECT-ID
 *
 * Not in the workspace: what another step restores there after a crash would take the line with
 * it.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "tool/line_writer.h"
#include "tool/tool_context.h"

struct append {
	struct tool_running running; /* first */
	struct line on_its_way;
	struct job job; /* of a probe */
	struct arena arena;
	const char *root, *path;
	struct str given_path, line; /* the line with its mark */
	struct str mark;             /* blank and id */
	struct tool_result result;
	/* a probe's */
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

/* Line ends would make two lines of it, and the probe might find the wrong one. */
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
		fail(error, ERROR_INVALID, "inputs: path and line take no line ends or NUL bytes");
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

/* The same whether the call was made or the line was found. */
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
		(struct append *)(void *)((char *)line - offsetof(struct append, on_its_way));
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
	append->on_its_way = (struct line){ .root = append->root,
					    .path = append->path,
					    .text = append->line,
					    .done = append_ended };
	*out_running = append->running.id;
	line_writer_add(tool_context_line_writer(host->tool_context), &append->on_its_way);
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
	.text = "Adds a line, with the effect's id behind it, to a file beneath tools.append_root.",
	.class = RUN_CLASS_PROBE,
	.inputs = run_append_line_inputs_type,
	.outputs = run_append_line_outputs_type,
	.start = start,
	.stop = tool_context_stop,
	.probe = probe,
};
