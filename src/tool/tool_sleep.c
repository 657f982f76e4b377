/* tool/tool_sleep.c -- sleep: waits on a timer of the loop.
 *
 * For short pauses: after a crash it sleeps for the whole time again.  For hours and days use a
 * `wait` step, which keeps its due time.
 */
#include <stdlib.h>

#include "tool/tool_context.h"

#include "contract/run_tool_types.h"

struct sleep_call {
	struct tool_running running; /* first */
	double seconds;
	uint64_t timer;
};

static void timer_fired(void *context, uint64_t id)
{
	struct sleep_call *sleep = (struct sleep_call *)tool_context_find(context, id);
	if (sleep == NULL)
		return;
	AUTO(arena) arena = { 0 };
	struct tool_result result = { 0 };
	struct run_sleep_outputs *outputs = run_sleep_outputs_new(&arena);
	SET(outputs, seconds, sleep->seconds);
	if (sleep->running.stop_error.code == ERROR_NONE)
		result.output = TOOL_OUTPUT(run_sleep_outputs, outputs, &arena);
	tool_context_done(&sleep->running, &result);
	free(sleep);
}

static void start_timer(struct sleep_call *sleep, double seconds)
{
	sleep->timer =
		platform_timer_start(loop_platform(sleep->running.loop), (int64_t)(seconds * 1e6),
				     timer_fired, sleep->running.tool_context, sleep->running.id);
}

static void end(struct tool_running *running)
{
	struct sleep_call *sleep = (struct sleep_call *)running;
	platform_timer_stop(loop_platform(running->loop), sleep->timer);
	start_timer(sleep, 0);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_sleep_inputs *inputs = TOOL_INPUTS(run_sleep_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct sleep_call *sleep = calloc(1, sizeof(*sleep));
	require(sleep != NULL);
	sleep->seconds = inputs->seconds;
	sleep->running.end = end;
	tool_context_begin(&sleep->running, host, call);
	start_timer(sleep, sleep->seconds);
	*out_running = sleep->running.id;
	return true;
}

const struct tool tool_sleep = {
	.name = "sleep",
	.text = "Waits for some seconds. Use it before something is asked again.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.timeout_seconds = 86400,
	.inputs = run_sleep_inputs_type,
	.outputs = run_sleep_outputs_type,
	.start = start,
	.stop = tool_context_stop,
};
