/* active/effect_kind.c -- when an effect may begin, resume and stop, whatever its kind. */
#include "active/effect_kind.h"

#include "active/effect_wait.h"
#include "active/executor_state.h"
#include "contract/run_graph_types.h"
#include "engine/run.h"
#include "engine/states.h"

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
	/* The state is ahead of the commit: the effect may have been closed since (its request was
	 * too large), cancelled, or removed with its step. */
	if (activation == NULL || !activation->open || activation->state != STEP_RUNNING)
		return;
	const struct graph_node *node = run_node(active->run, activation);
	if (!effect_kind_can_wait(active->executor, node->row->class))
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
	/* The state is ahead of the commit: an effect that has ended, or waits for its next attempt,
	 * must not be stopped, or the stop would hit the next attempt. */
	if (activation == NULL || !activation->open || activation->state != STEP_RUNNING ||
	    !uuid_equal(&activation->effect, &stop->effect))
		return;
	const struct effect_kind *kind =
		effect_kind_of(active->executor, run_node(active->run, activation)->kind);
	if (stop->again && kind->stop_again != NULL)
		kind->stop_again(active, &stop->effect);
	else
		kind->stop(active, &stop->effect);
}
