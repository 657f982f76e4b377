/* runtime/effect_timer.c -- a wait: its row says until when, and an alarm tells when that is
 * (alarm.c); one for a signal may have no time at all. */
#include "runtime/inside.h"

static void wait_for_time(struct live *live, struct activation *activation)
{
	(void)live;
	(void)activation;
}

/* The engine ends a wait by itself. */
static void stop(struct live *live, const struct uuid *effect)
{
	(void)live;
	(void)effect;
}

const struct effect_kind effect_timer = {
	.name = "timer",
	.node = RUN_NODE_WAIT,
	.begin = wait_for_time,
	.resume = wait_for_time,
	.stop = stop,
};
