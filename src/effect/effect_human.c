/* effect/effect_human.c -- a question to a person: nothing to do until an answer comes.
 *
 * In a simulated run the answer is `approve`.  A question that cannot be answered so stays open for a person.
 */
#include "effect/effect.h"

#include "active/executor_command.h"
#include "contract/run_outcome_types.h"

static void answered(void *context, uint64_t argument, const struct executor_reply *reply)
{
	(void)context;
	(void)argument;
	(void)reply;
}

void effect_human_asked(struct active_run *active, const struct uuid *question)
{
	const struct executor_answer answer = { .request = *question,
						.run = active->run_id,
						.decision = RUN_DECISION_APPROVE,
						.by = S("simulation") };
	if (effect_is_simulated(active))
		executor_answer(active->executor, &answer, answered, NULL, 0);
}

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
