/* runtime/effect.c -- the table of effects.def, and what all kinds share. */
#include "runtime/inside.h"

#define EFFECT(name, node) extern const struct effect_kind effect_##name;
#include "runtime/effects.def"
#undef EFFECT

static const struct effect_kind *const kinds[] = {
#define EFFECT(name, node) [node] = &effect_##name,
#include "runtime/effects.def"
#undef EFFECT
};

const struct effect_kind *effect_kind_of(enum run_node_kind node)
{
	return kinds[node];
}

bool effect_can_wait(const struct runtime *runtime, enum run_effect_class class)
{
	return runtime->draining && class != RUN_CLASS_ONCE && class != RUN_CLASS_PROBE;
}

void effect_begin(struct live *live, struct str step)
{
	struct activation *activation = run_activation(live->run, step);
	/* The state is ahead of the commit: it may have been closed since (a request refused at
	 * once for its size), called off, or even forgotten. */
	if (activation == NULL || !activation->open || activation->state != STEP_RUNNING)
		return;
	const struct graph_node *node = run_node(live->run, activation);
	if (!effect_can_wait(live->runtime, node->class))
		effect_kind_of(node->kind)->begin(live, activation);
}

void effect_resume(struct live *live, struct activation *activation)
{
	if (activation->open && activation->state == STEP_RUNNING)
		effect_kind_of(run_node(live->run, activation)->kind)->resume(live, activation);
}

void effect_stop(struct live *live, const struct decision_stop *stop)
{
	const struct activation *activation = run_activation(live->run, stop->step);
	/* The state is ahead of the commit: what has ended since, or waits for its next attempt,
	 * must not be told, or the next attempt would be taken for it. */
	if (activation != NULL && activation->open && activation->state == STEP_RUNNING &&
	    uuid_equal(&activation->effect, &stop->effect))
		effect_kind_of(run_node(live->run, activation)->kind)->stop(live, &stop->effect);
}

struct item *effect_closing(struct str step, const struct uuid *effect, enum run_outcome outcome,
			    const struct json *output, const struct error *error)
{
	struct item *item = item_new(COMMAND_FINISHED);
	item->command.step = str_copy(&item->arena, step);
	item->command.effect = *effect;
	item->command.outcome = outcome;
	if (output != NULL)
		item->command.output = json_copy(&item->arena, output);
	if (error != NULL)
		item->command.fault =
			(struct fault){ error_row(error->code)->name,
					str_copy(&item->arena, str_from_c(error->text)) };
	return item;
}

void effect_finish(struct live *live, struct str step, const struct uuid *effect,
		   enum run_outcome outcome, const struct json *output, const struct error *error)
{
	live_command(live, effect_closing(step, effect, outcome, output, error));
}

void effect_restart(struct live *live, struct str step, const struct uuid *effect)
{
	struct item *item = item_new(COMMAND_RESTARTED);
	item->command.step = str_copy(&item->arena, step);
	item->command.effect = *effect;
	live_command(live, item);
}
