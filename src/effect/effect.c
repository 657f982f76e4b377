/* effect/effect.c -- the table of effects.def, and what all kinds share. */
#include "active/executor_internal.h"

#define EFFECT(name, node) extern const struct effect_kind effect_##name;
#include "effect/effects.def"
#undef EFFECT

static const struct effect_kind *const kinds[] = {
#define EFFECT(name, node) [node] = &effect_##name,
#include "effect/effects.def"
#undef EFFECT
};

const struct effect_kind *effect_kind_of(enum run_node_kind node)
{
	return kinds[node];
}

bool effect_can_wait(const struct executor *executor, enum run_effect_class class)
{
	return executor->draining && class != RUN_CLASS_ONCE && class != RUN_CLASS_PROBE;
}

void effect_begin(struct active_run *active, struct str step)
{
	struct activation *activation = run_activation(active->run, step);
	/* The state is ahead of the commit: it may have been closed since (a request refused at
	 * once for its size), called off, or even forgotten. */
	if (activation == NULL || !activation->open || activation->state != STEP_RUNNING)
		return;
	const struct graph_node *node = run_node(active->run, activation);
	if (!effect_can_wait(active->executor, node->class))
		effect_kind_of(node->kind)->begin(active, activation);
}

void effect_resume(struct active_run *active, struct activation *activation)
{
	if (activation->open && activation->state == STEP_RUNNING)
		effect_kind_of(run_node(active->run, activation)->kind)->resume(active, activation);
}

void effect_stop(struct active_run *active, const struct decision_stop *stop)
{
	const struct activation *activation = run_activation(active->run, stop->step);
	/* The state is ahead of the commit: what has ended since, or waits for its next attempt,
	 * must not be told, or the next attempt would be taken for it. */
	if (activation != NULL && activation->open && activation->state == STEP_RUNNING &&
	    uuid_equal(&activation->effect, &stop->effect))
		effect_kind_of(run_node(active->run, activation)->kind)
			->stop(active, &stop->effect);
}

struct pending_command *effect_close_command(struct str step, const struct uuid *effect,
					     enum run_outcome outcome, const struct json *output,
					     const struct error *error)
{
	struct pending_command *pending = pending_command_new(COMMAND_FINISHED);
	pending->command.step = str_copy(&pending->arena, step);
	pending->command.effect = *effect;
	pending->command.outcome = outcome;
	if (output != NULL)
		pending->command.output = json_copy(&pending->arena, output);
	if (error != NULL)
		pending->command.fault =
			(struct failure){ error_row(error->code)->name,
					  str_copy(&pending->arena, str_from_c(error->text)) };
	return pending;
}

void effect_finish(struct active_run *active, struct str step, const struct uuid *effect,
		   enum run_outcome outcome, const struct json *output, const struct error *error)
{
	active_run_command(active, effect_close_command(step, effect, outcome, output, error));
}

void effect_restart(struct active_run *active, struct str step, const struct uuid *effect)
{
	struct pending_command *pending = pending_command_new(COMMAND_RESTARTED);
	pending->command.step = str_copy(&pending->arena, step);
	pending->command.effect = *effect;
	active_run_command(active, pending);
}
