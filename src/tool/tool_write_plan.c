/* tool/tool_write_plan.c -- write_plan and plan_path: an architect's plan as a file of the workspace.
 *
 * The plan is made of its parts, so that it always has the form that plan_check and other readers
 * expect.  The output has the whole text: what follows reads the plan from there, and the file is for
 * people and for the commit.
 *
 * write_plan is contained, as write_file is: see there.  plan_path is not pure, because the pattern and
 * the day belong to the run and not to the inputs.  Both are recorded with the run, so every attempt of
 * a call, also of another day, returns the same path.
 */
#include <stdlib.h>

#include "base/time.h"
#include "base/utf8.h"
#include "contract/run_plan_types.h"
#include "os/confined_path.h"
#include "plan/plan.h"
#include "tool/tool_context.h"

struct plan_work {
	struct tool_running running; /* first */
	struct job job;
	struct arena arena;
	const char *root, *path;
	struct str file_path, markdown;
	struct tool_result result;
};

static struct plan_work *work_of(struct job *job)
{
	return (struct plan_work *)(void *)((char *)job - offsetof(struct plan_work, job));
}

static void work_free(struct plan_work *work)
{
	arena_done(&work->arena);
	free(work);
}

static void ended(struct job *job)
{
	struct plan_work *work = work_of(job);
	tool_context_done(&work->running, &work->result);
	work_free(work);
}

static void write_work(struct job *job, unsigned thread)
{
	struct plan_work *work = work_of(job);
	const struct confined_write how = { .make_folders = true };
	(void)thread;
	if (!confined_replace(work->root, work->path, work->markdown, how, &work->result.error))
		return;
	struct run_write_plan_outputs *outputs = run_write_plan_outputs_new(&work->arena);
	SET(outputs, path, work->file_path);
	SET(outputs, markdown, work->markdown);
	work->result.output = TOOL_OUTPUT(run_write_plan_outputs, outputs, &work->arena);
}

static bool render(struct plan_work *work, const struct run_write_plan_inputs *inputs,
		   struct error *error)
{
	struct plan_draft_task *tasks =
		arena_array(&work->arena, struct plan_draft_task, inputs->tasks.count);
	for (size_t i = 0; i < inputs->tasks.count; i++) {
		const struct run_draft_task *task = &inputs->tasks.at[i];
		tasks[i] = (struct plan_draft_task){
			.number = task->number,
			.title = task->title,
			.create = { task->files_to_create.at, task->files_to_create.count },
			.modify = { task->files_to_modify.at, task->files_to_modify.count },
			.steps = { task->steps.at, task->steps.count },
		};
	}
	const struct plan_draft draft = {
		.goal = inputs->goal,
		.architecture = inputs->architecture_summary,
		.tech_stack = { inputs->tech_stack.at, inputs->tech_stack.count },
		.tasks = tasks,
		.task_count = inputs->tasks.count,
	};
	return plan_write(&draft, &work->arena, &work->markdown, error);
}

/* Copies the inputs, which are valid only during start(). */
static bool prepare(struct plan_work *work, const struct tool_call *call, struct error *error)
{
	const struct run_write_plan_inputs *inputs =
		tool_context_inputs(run_write_plan_inputs_type(),
				    json_copy(&work->arena, call->inputs), &work->arena, error);
	if (inputs == NULL)
		return false;
	work->root = str_c(&work->arena, str_from_c(call->workspace));
	work->file_path = inputs->file_path;
	return tool_context_path(inputs->file_path, &work->arena, &work->path, error) &&
	       render(work, inputs, error);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct plan_work *work = calloc(1, sizeof(*work));
	require(work != NULL);
	if (!prepare(work, call, error)) {
		work_free(work);
		return false;
	}
	tool_context_begin(&work->running, host, call);
	work->job = (struct job){ .run = write_work, .done = ended, .name = "plan" };
	*out_running = work->running.id;
	platform_submit(loop_platform(host->loop), LANE_READER, &work->job);
	return true;
}

const struct tool tool_write_plan = {
	.name = "write_plan",
	.text = "Writes the implementation plan to a file of the workspace. Call it once, when the "
		"exploration is finished, with the complete plan: its goal and every task with its "
		"files and steps.",
	.class = RUN_CLASS_CONTAINED,
	.risk = RUN_RISK_LOW,
	.inputs = run_write_plan_inputs_type,
	.outputs = run_write_plan_outputs_type,
	.start = start,
	.stop = tool_context_stop,
};

/* ---- plan_path ----------------------------------------------------------------------- */

enum { DATE_SIZE = 10, TITLE_BYTES = 48 };

struct path_call {
	struct tool_running running; /* first */
	struct arena arena;
	struct str path, date;
};

static void path_ready(void *context, uint64_t id)
{
	struct path_call *work = (struct path_call *)tool_context_find(context, id);
	if (work == NULL)
		return;
	struct tool_result result = { 0 };
	struct run_plan_path_outputs *outputs = run_plan_path_outputs_new(&work->arena);
	SET(outputs, path, work->path);
	SET(outputs, date, work->date);
	result.output = TOOL_OUTPUT(run_plan_path_outputs, outputs, &work->arena);
	tool_context_done(&work->running, &result);
	arena_done(&work->arena);
	free(work);
}

static bool path_prepare(struct path_call *work, const struct tool_call *call, struct error *error)
{
	struct arena *arena = &work->arena;
	const struct run_plan_path_inputs *inputs = tool_context_inputs(
		run_plan_path_inputs_type(), json_copy(arena, call->inputs), arena, error);
	char text[TIME_TEXT_SIZE];
	if (inputs == NULL)
		return false;
	work->date = str_copy(arena, str_head(time_text(call->run_created_at, text), DATE_SIZE));
	struct str pattern = call->plan_path_pattern;
	struct str key = str_trim(inputs->issue_key);
	return plan_path(pattern.size > 0 ? pattern : S("docs/plans/{date}-{issue_key}.md"),
			 work->date, key.size > 0 ? key : utf8_head(inputs->title, TITLE_BYTES),
			 arena, &work->path, error);
}

static bool path_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	struct path_call *work = calloc(1, sizeof(*work));
	require(work != NULL);
	if (!path_prepare(work, call, error)) {
		arena_done(&work->arena);
		free(work);
		return false;
	}
	tool_context_begin(&work->running, host, call);
	*out_running = work->running.id;
	platform_timer_start(loop_platform(host->loop), 0, path_ready, work->running.tool_context,
			     work->running.id);
	return true;
}

const struct tool tool_plan_path = {
	.name = "plan_path",
	.text = "Returns the path of the run's plan: the pattern of the run's profile, with the day on which "
		"the run was created and the key of the issue.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_plan_path_inputs_type,
	.outputs = run_plan_path_outputs_type,
	.start = path_start,
	.stop = tool_context_stop,
};
