/* runtime/effect_timer.c -- a wait: the row says when by the wall clock, the loop counts what is
 * left monotonically (architecture R18).
 *
 * While the process lives a delay is a delay, whatever happens to the wall clock; after a restart
 * the wall decides, and one that is late fires at once.
 */
#include <stdlib.h>

#include "os/point.h"
#include "runtime/inside.h"

struct timer_effect {
	struct arena arena; /* first, as in every effect under way */
	struct runtime *runtime;
	uint64_t live;
	struct str step;
	struct uuid effect;
};

static void fired(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	struct timer_effect *timer = slots_get(&runtime->effects, argument);
	if (timer == NULL)
		return;
	slots_remove(&runtime->effects, argument);
	POINT("timer.fired");
	struct live *live = slots_get(&runtime->lives, timer->live);
	require(live != NULL);
	live->holds--;
	effect_finish(live, timer->step, &timer->effect, RUN_OUTCOME_OK, NULL, NULL);
	arena_done(&timer->arena);
	free(timer);
}

static void arm(struct live *live, const struct activation *activation, int64_t delay_us)
{
	struct runtime *runtime = live->runtime;
	struct timer_effect *timer = calloc(1, sizeof(*timer));
	require(timer != NULL);
	timer->runtime = runtime;
	timer->live = live->id;
	timer->step = str_copy(&timer->arena, activation->path);
	timer->effect = activation->effect;
	live->holds++;
	uint64_t id = slots_add(&runtime->effects, timer);
	system_timer_start(runtime->settings.system, delay_us, fired, runtime, id);
}

static void begin(struct live *live, struct activation *activation)
{
	arm(live, activation, activation->due_at - activation->started_at);
}

static void resume(struct live *live, struct activation *activation)
{
	arm(live, activation, activation->due_at - runtime_now(live->runtime));
}

const struct effect_kind effect_timer = {
	.name = "timer",
	.node = RUN_NODE_WAIT,
	.begin = begin,
	.resume = resume,
};
