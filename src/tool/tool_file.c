/* tool/tool_file.c -- read_file and write_file: access to the run's workspace without a shell.
 *
 * The work is done by a job on a reader thread, because the disk may be slow.  It runs in this
 * process, not in a sandbox: the kernel confines the paths to the workspace (os/confined_path.h),
 * and only regular files are read and written.
 *
 * read_file is idempotent. write_file is contained, although repeating it would be harmless: the
 * contained calls of a run execute one at a time, and the workspace is recorded before each of
 * them, so restoring the workspace for an interrupted shell step never removes a file that
 * write_file wrote.
 */
#include <stdlib.h>

#include "base/base64.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_tool_types.h"
#include "os/confined_path.h"
#include "tool/tool_context.h"

struct file_work {
	struct tool_running running; /* first */
	struct job job;
	struct arena arena;
	const char *root, *path;
	struct run_read_file_inputs read;
	struct run_write_file_inputs write;
	struct str bytes; /* to write */
	struct tool_result result;
};

static struct file_work *work_of(struct job *job)
{
	return (struct file_work *)(void *)((char *)job - offsetof(struct file_work, job));
}

static struct file_work *work_new(const struct tool_call *call)
{
	struct file_work *work = calloc(1, sizeof(*work));
	require(work != NULL);
	work->root = str_c(&work->arena, str_from_c(call->workspace));
	return work;
}

static void work_free(struct file_work *work)
{
	arena_done(&work->arena);
	free(work);
}

static void ended(struct job *job)
{
	struct file_work *work = work_of(job);
	tool_context_done(&work->running, &work->result);
	work_free(work);
}

static void submit(struct file_work *work, const struct tool_host *host,
		   const struct tool_call *call, void (*run)(struct job *job, unsigned thread),
		   uint64_t *out_running)
{
	tool_context_begin(&work->running, host, call);
	work->job = (struct job){ .run = run, .done = ended, .name = "file" };
	*out_running = work->running.id;
	platform_submit(loop_platform(host->loop), LANE_READER, &work->job);
}

/* Copies the inputs, which are valid only during start(). */
static const void *own_inputs(struct file_work *work, const struct type *type,
			      const struct tool_call *call, struct error *error)
{
	return tool_context_inputs(type, json_copy(&work->arena, call->inputs), &work->arena,
				   error);
}

/* ---- reading ------------------------------------------------------------------------- */

static void read_work(struct job *job, unsigned thread)
{
	struct file_work *work = work_of(job);
	const struct run_read_file_inputs *inputs = &work->read;
	struct arena *arena = &work->arena;
	struct error *error = &work->result.error;
	struct str bytes;
	uint64_t size;
	size_t bad;
	(void)thread;
	if (!confined_read(work->root, work->path, (uint64_t)inputs->offset,
			   (size_t)inputs->max_bytes, arena, &bytes, &size, error))
		return;
	bool truncated = (uint64_t)inputs->offset + bytes.size < size;
	bool text = inputs->encoding == RUN_ENCODING_TEXT;
	if (text && truncated)
		bytes = tool_context_whole_characters(bytes);
	if (text && !utf8_valid(bytes, &bad)) {
		fail(error, ERROR_INVALID,
		     "%s is not UTF-8 at byte %zu; read it with encoding: base64", work->path,
		     (size_t)inputs->offset + bad);
		return;
	}
	struct run_read_file_outputs *outputs = run_read_file_outputs_new(arena);
	SET(outputs, path, inputs->path);
	SET(outputs, content, text ? bytes : base64_text(arena, bytes));
	SET(outputs, encoding, inputs->encoding);
	SET(outputs, size, (int64_t)size);
	SET(outputs, truncated, truncated);
	work->result.output = TOOL_OUTPUT(run_read_file_outputs, outputs, arena);
}

static bool read_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	struct file_work *work = work_new(call);
	const struct run_read_file_inputs *inputs =
		own_inputs(work, run_read_file_inputs_type(), call, error);
	if (inputs == NULL || !tool_context_path(inputs->path, &work->arena, &work->path, error)) {
		work_free(work);
		return false;
	}
	work->read = *inputs;
	submit(work, host, call, read_work, out_running);
	return true;
}

/* ---- writing ------------------------------------------------------------------------- */

static void write_work(struct job *job, unsigned thread)
{
	struct file_work *work = work_of(job);
	const struct run_write_file_inputs *inputs = &work->write;
	const struct confined_write how = { .make_folders = true,
					    .keep_existing = !inputs->overwrite };
	(void)thread;
	if (!confined_replace(work->root, work->path, work->bytes, how, &work->result.error))
		return;
	struct run_write_file_outputs *outputs = run_write_file_outputs_new(&work->arena);
	SET(outputs, path, inputs->path);
	SET(outputs, size, (int64_t)work->bytes.size);
	SET(outputs, sha256, hash_of(work->bytes));
	work->result.output = TOOL_OUTPUT(run_write_file_outputs, outputs, &work->arena);
}

static bool take_content(struct file_work *work, const struct run_write_file_inputs *inputs,
			 struct error *error)
{
	work->bytes = inputs->content;
	return inputs->encoding == RUN_ENCODING_TEXT ||
	       base64_read(&work->arena, inputs->content, &work->bytes) ||
	       fail(error, ERROR_INVALID, "inputs: /content is not base64");
}

static bool write_start(const struct tool_host *host, const struct tool_call *call,
			uint64_t *out_running, struct error *error)
{
	struct file_work *work = work_new(call);
	const struct run_write_file_inputs *inputs =
		own_inputs(work, run_write_file_inputs_type(), call, error);
	if (inputs == NULL || !tool_context_path(inputs->path, &work->arena, &work->path, error) ||
	    !take_content(work, inputs, error)) {
		work_free(work);
		return false;
	}
	work->write = *inputs;
	submit(work, host, call, write_work, out_running);
	return true;
}

const struct tool tool_read_file = {
	.name = "read_file",
	.text = "Reads a file in the run's workspace. Use offset and max_bytes to page through a "
		"long one, and grep to find the place first.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_read_file_inputs_type,
	.outputs = run_read_file_outputs_type,
	.start = read_start,
	.stop = tool_context_stop,
};

const struct tool tool_write_file = {
	.name = "write_file",
	.text = "Writes a file in the run's workspace atomically. Use it for new files and complete "
		"rewrites; edit_file changes a part of a file.",
	.class = RUN_CLASS_CONTAINED,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_write_file_inputs_type,
	.outputs = run_write_file_outputs_type,
	.start = write_start,
	.stop = tool_context_stop,
};
