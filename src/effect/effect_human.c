/* effect/effect_human.c -- a question to a person: nothing to do until somebody answers. */
#include "active/effect_kind.h"

static void wait_for_answer(struct active_run *active, struct activation *activation)
{
	(void)active;
	(void)activation;
}

/* The engine closes the question. */
static void stop(struct active_run *active, const struct uuid *effect)
{
	(void)active;
	(void)effect;
}

const struct effect_kind effect_human = {
	.name = "human",
	.node = RUN_NODE_HUMAN,
	.begin = wait_for_answer,
	.resume = wait_for_answer,
	.stop = stop,
};
