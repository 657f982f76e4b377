/* effect/effect.c -- the table of effects.def, and what all kinds of effects share. */
#include "effect/effect.h"

#include <stdlib.h>

#include "contract/run_start_types.h"
#include "effect/effects.h"

#define EFFECT(name, node) extern const struct effect_kind effect_##name;
#include "effect/effects.def"
#undef EFFECT

static const struct effect_kind *const kinds[] = {
#define EFFECT(name, node) [node] = &effect_##name,
#include "effect/effects.def"
#undef EFFECT
};

struct effect_room *effect_room(const struct executor *executor)
{
	return (struct effect_room *)executor_config(executor)->effects;
}

struct effects *effects_new(void)
{
	struct effect_room *room = calloc(1, sizeof(*room));
	require(room != NULL);
	room->base.kinds = kinds;
	room->base.subrun_ended = effect_subrun_ended;
	room->base.human_asked = effect_human_asked;
	room->base.subrun_unwinds = effect_subrun_unwinds;
	return &room->base;
}

void effects_free(struct effects *effects)
{
	struct effect_room *room = (struct effect_room *)effects;
	uint32_t index = 0;
	uint64_t id;
	for (struct arena *effect; (effect = slots_next(&room->under_way, &index, &id)) != NULL;) {
		arena_done(effect);
		free(effect);
	}
	slots_done(&room->under_way);
	map_done(&room->calls);
	map_done(&room->turns);
	free(room);
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

bool effect_is_simulated(const struct active_run *active)
{
	const struct run_start *start = active->run->start;
	return has(start, simulated) && start->simulated;
}

void effect_restart(struct active_run *active, struct str step, const struct uuid *effect)
{
	struct pending_command *pending = pending_command_new(COMMAND_RESTARTED);
	pending->command.step = str_copy(&pending->arena, step);
	pending->command.effect = *effect;
	active_run_command(active, pending);
}
