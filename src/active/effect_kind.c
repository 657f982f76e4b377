/* active/effect_kind.c -- when an effect may begin, resume and stop, whatever its kind. */
#include "active/effect_kind.h"

#include "active/executor_state.h"

const struct effect_kind *effect_kind_of(const struct executor *executor, enum run_node_kind node)
{
	return executor->settings.effects->kinds[node];
}

bool effect_kind_can_wait(const struct executor *executor, enum run_effect_class class)
{
	return executor->draining && class != RUN_CLASS_ONCE && class != RUN_CLASS_PROBE;
}

void effect_kind_begin(struct active_run *active, struct str step)
{
	struct activation *activation = run_activation(active->run, step);
	/* The state is ahead of the commit: it may have been closed since (a request refused at
	 * once for its size), called off, or even forgotten. */
	if (activation == NULL || !activation->open || activation->state != STEP_RUNNING)
		return;
	const struct graph_node *node = run_node(active->run, activation);
	if (!effect_kind_can_wait(active->executor, node->class))
		effect_kind_of(active->executor, node->kind)->begin(active, activation);
}

void effect_kind_resume(struct active_run *active, struct activation *activation)
{
	if (activation->open && activation->state == STEP_RUNNING)
		effect_kind_of(active->executor, run_node(active->run, activation)->kind)
			->resume(active, activation);
}

void effect_kind_stop(struct active_run *active, const struct decision_stop *stop)
{
	const struct activation *activation = run_activation(active->run, stop->step);
	/* The state is ahead of the commit: what has ended since, or waits for its next attempt,
	 * must not be told, or the next attempt would be taken for it. */
	if (activation != NULL && activation->open && activation->state == STEP_RUNNING &&
	    uuid_equal(&activation->effect, &stop->effect))
		effect_kind_of(active->executor, run_node(active->run, activation)->kind)
			->stop(active, &stop->effect);
}
