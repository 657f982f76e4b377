/* runtime/effect_human.c -- a question waits in the inbox; nothing to do until somebody answers. */
#include "runtime/inside.h"

static void wait_for_answer(struct live *live, struct activation *activation)
{
	(void)live;
	(void)activation;
}

/* The engine closes a question by itself. */
static void stop(struct live *live, const struct uuid *effect)
{
	(void)live;
	(void)effect;
}

const struct effect_kind effect_human = {
	.name = "human",
	.node = RUN_NODE_HUMAN,
	.begin = wait_for_answer,
	.resume = wait_for_answer,
	.stop = stop,
};
