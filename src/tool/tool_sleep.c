/* tool/tool_sleep.c -- lets time pass on the loop's timer.
 *
 * For pauses within a run; after a crash it sleeps its whole time again.  A `wait` step keeps its
 * due time instead, and is the thing for hours and days.
 */
#include <stdlib.h>

#include "tool/tool_context.h"

struct nap {
	struct tool_running running; /* first */
	double seconds;
	uint64_t timer;
};

static void woke(void *context, uint64_t id)
{
	struct nap *nap = (struct nap *)tool_context_find(context, id);
	if (nap == NULL)
		return;
	AUTO(arena) arena = { 0 };
	struct tool_result result = { 0 };
	struct run_sleep_outputs *outputs = run_sleep_outputs_new(&arena);
	SET(outputs, seconds, nap->seconds);
	if (nap->running.told.code == ERROR_NONE)
		result.output = TOOL_OUTPUT(run_sleep_outputs, outputs, &arena);
	tool_context_done(&nap->running, &result);
	free(nap);
}

static void start_timer(struct nap *nap, double seconds)
{
	nap->timer =
		platform_timer_start(loop_platform(nap->running.loop), (int64_t)(seconds * 1e6),
				     woke, nap->running.tool_context, nap->running.id);
}

static void end(struct tool_running *running)
{
	struct nap *nap = (struct nap *)running;
	platform_timer_stop(loop_platform(running->loop), nap->timer);
	start_timer(nap, 0);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_sleep_inputs *inputs = TOOL_INPUTS(run_sleep_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct nap *nap = calloc(1, sizeof(*nap));
	require(nap != NULL);
	nap->seconds = inputs->seconds;
	nap->running.end = end;
	tool_context_begin(&nap->running, host, call);
	start_timer(nap, nap->seconds);
	*out_running = nap->running.id;
	return true;
}

const struct tool tool_sleep = {
	.name = "sleep",
	.text = "Lets some seconds pass.",
	.class = RUN_CLASS_IDEMPOTENT,
	.inputs = run_sleep_inputs_type,
	.outputs = run_sleep_outputs_type,
	.start = start,
	.stop = tool_context_stop,
};
