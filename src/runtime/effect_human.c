/* runtime/effect_human.c -- a question waits in the inbox; nothing to do until somebody answers. */
#include "runtime/inside.h"

static void wait_for_answer(struct live *live, struct activation *activation)
{
	(void)live;
	(void)activation;
}

const struct effect_kind effect_human = {
	.name = "human",
	.node = RUN_NODE_HUMAN,
	.begin = wait_for_answer,
	.resume = wait_for_answer,
};
