/* tool/tool_plan_path.c -- plan_path: where the plan of a run is.
 *
 * Not pure, because the pattern and the day belong to the run and not to the inputs.  Both are recorded
 * with the run, so every attempt of a call, also of another day, returns the same path.
 */
#include <stdlib.h>

#include "base/time.h"
#include "base/utf8.h"
#include "contract/run_plan_types.h"
#include "plan/plan.h"
#include "tool/tool_context.h"

enum { DATE_SIZE = 10, TITLE_BYTES = 48 };

struct path_call {
	struct tool_running running; /* first */
	struct arena arena;
	struct str path, date;
};

static void ready(void *context, uint64_t id)
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

static bool prepare(struct path_call *work, const struct tool_call *call, struct error *error)
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

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct path_call *work = calloc(1, sizeof(*work));
	require(work != NULL);
	if (!prepare(work, call, error)) {
		arena_done(&work->arena);
		free(work);
		return false;
	}
	tool_context_begin(&work->running, host, call);
	*out_running = work->running.id;
	platform_timer_start(loop_platform(host->loop), 0, ready, work->running.tool_context,
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
	.start = start,
	.stop = tool_context_stop,
};
