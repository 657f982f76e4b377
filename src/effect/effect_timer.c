/* effect/effect_timer.c -- a wait.
 *
 * Its row has the due time, and an alarm (active/alarm.h) ends it.  A wait for a signal may have no
 * due time.
 */
#include "active/effect_kind.h"

static void wait_for_time(struct active_run *active, struct activation *activation)
{
	(void)active;
	(void)activation;
}

/* The engine closes the wait. */
static void stop(struct active_run *active, const struct uuid *effect)
{
	(void)active;
	(void)effect;
}

const struct effect_kind effect_timer = {
	.name = "timer",
	.node = RUN_NODE_WAIT,
	.begin = wait_for_time,
	.resume = wait_for_time,
	.stop = stop,
};
