/* active/pure_step_job.c -- a pure step with large inputs is computed on a reader thread.
 *
 * The inputs were rendered on the loop, which shares what they refer to; the tool, the text of its
 * result and the hash of that are worked out here.  The result comes back as a command like any
 * other, with memory of its own.
 */
#include <stdlib.h>

#include "active/executor_state.h"
#include "active/large_value.h"
#include "active/pure_step.h"
#include "tool/tool.h"

struct pure_step_job {
	struct executor_read read;
	uint64_t active;
	struct pending_command *pending; /* the command that will carry the result */
	const struct tool *tool;
	const struct json *inputs; /* in the command's arena, and in what is pinned */
	struct value_pins pins;
};

static bool compute(struct pure_step_job *job, const struct json **out_output, struct error *error)
{
	struct arena *arena = &job->pending->arena;
	if (!json_text_within(job->inputs, LIMIT_VALUE_BYTES) &&
	    large_value_text(job->inputs, arena)->text.at == NULL)
		return fail(error, ERROR_TOO_LARGE, PURE_STEP_TOO_LARGE);
	return job->tool->compute(job->inputs, arena, out_output, error);
}

static void pure_step_work(struct executor_read *read, struct store_reader *reader)
{
	struct pure_step_job *job = (struct pure_step_job *)read;
	struct arena *arena = &job->pending->arena;
	struct command *command = &job->pending->command;
	const struct json *output;
	struct error error;
	(void)reader;
	if (compute(job, &output, &error)) {
		command->output = json_copy(arena, output);
		job->pending->printed = large_value_text(command->output, arena);
	} else {
		command->fault = (struct failure){ error_row(error.code)->name,
						   str_copy(arena, str_from_c(error.text)) };
	}
}

static void pure_step_done(struct executor_read *read)
{
	struct pure_step_job *job = (struct pure_step_job *)read;
	struct active_run *active = active_run_by_id(read->executor, job->active);
	require(active != NULL);
	value_fetch_unpin(read->executor, &job->pins);
	active_run_unpin(active);
	active_run_command(active, job->pending);
	free(job);
}

void pure_step_compute_elsewhere(struct active_run *active, struct pending_command *pending,
				 const struct pure_step *step)
{
	struct pure_step_job *job = calloc(1, sizeof(*job));
	require(job != NULL);
	job->active = active->id;
	job->pending = pending;
	job->tool = step->tool;
	job->inputs = step->inputs;
	job->read.work = pure_step_work;
	job->read.done = pure_step_done;
	value_fetch_pin(active, &job->pins);
	active_run_pin(active);
	executor_read(active->executor, &job->read);
}
