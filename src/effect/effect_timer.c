/* effect/effect_timer.c -- a wait: its row says until when, and an alarm tells when that is
 * (alarm.c); one for a signal may have no time at all. */
#include "active/effect_kind.h"

static void wait_for_time(struct active_run *active, struct activation *activation)
{
	(void)active;
	(void)activation;
}

/* The engine ends a wait by itself. */
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
