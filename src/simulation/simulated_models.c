/* simulation/simulated_models.c -- models that reply what the script says.
 *
 * Agents whose driver is `script` reply by their own script.  All other drivers are replaced: the reply is that of the
 * simulation's script, or the smallest value that fits the agent's schema, or "ok".
 */
#include <stdlib.h>

#include "contract/run_simulation_types.h"
#include "llm/llm_sample.h"
#include "simulation/simulation_world.h"

static struct simulated_world *current;

struct turning {
	struct simulated_world *world;
	struct str text;
	struct error fault, stopped;
	bool ended;
	llm_done *done;
	void *context;
	uint64_t argument;
};

static struct turning **turnings;
static size_t turning_count, turning_room;

static struct str reply_of(struct simulated_world *world, const struct llm_call *call)
{
	const struct run_simulation_script *script = world->spec->script;
	struct arena *arena = &world->arena;
	for (size_t i = 0; script != NULL && has(script, agents) && i < script->agents.count; i++) {
		const struct run_simulated_reply *reply = &script->agents.at[i].value;
		size_t at;
		if (!str_find(call->step, script->agents.at[i].key, &at))
			continue;
		return has(reply, json) ? json_print(arena, reply->json)
					: str_copy(arena, reply->text);
	}
	return llm_sample(has(call->turn, schema) ? call->turn->schema : NULL, arena);
}

static void ended(void *context, uint64_t argument)
{
	struct turning *turning = context;
	struct llm_result result = { .text = turning->text, .stop = RUN_TURN_STOP_END };
	(void)argument;
	if (turning->ended)
		return;
	simulated_point(turning->world);
	turning->ended = true;
	if (turning->stopped.code != ERROR_NONE || turning->fault.code != ERROR_NONE) {
		result = (struct llm_result){ .error = turning->stopped.code != ERROR_NONE
							       ? turning->stopped
							       : turning->fault };
	}
	turning->done(turning->context, turning->argument, &result);
}

static struct turning *turning_new(const struct llm_call *call, uint64_t *out_running)
{
	struct simulated_world *world = current;
	struct turning *turning = arena_new(&world->arena, struct turning);
	*turning = (struct turning){ .world = world,
				     .done = call->done,
				     .context = call->context,
				     .argument = call->argument };
	if (turning_count == turning_room) {
		turning_room = turning_room == 0 ? 64 : turning_room * 2;
		turnings = reallocarray(turnings, turning_room, sizeof(struct turning *));
		require(turnings != NULL);
	}
	turnings[turning_count++] = turning;
	*out_running = turning_count;
	return turning;
}

static bool start(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct simulated_world *world = current;
	struct turning *turning = turning_new(call, out_running);
	(void)host;
	(void)error;
	turning->text = reply_of(world, call);
	struct simulated_fault *fault = simulated_fault_at(world, SIMULATION_MODEL, ++world->turns);
	if (fault != NULL)
		fail(&turning->fault, fault->code, "simulated failure of the model");
	platform_timer_start(&world->platform.base,
			     simulated_delay(world, world->call_count + world->turns), ended,
			     turning, 0);
	return true;
}

static void stop(struct llm_host *host, uint64_t running, const struct error *why)
{
	struct turning *turning = turnings[running - 1];
	(void)host;
	if (turning->ended || turning->stopped.code != ERROR_NONE)
		return;
	turning->stopped = *why;
	platform_timer_start(&turning->world->platform.base, 1000, ended, turning, 0);
}

/* ---- the driver script: its own replies, with the faults of the plan ----------------------------- */

static const struct llm_driver *script_driver;

static bool script_start(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
			 struct error *error)
{
	struct simulated_world *world = current;
	struct simulated_fault *fault = simulated_fault_at(world, SIMULATION_MODEL, ++world->turns);
	if (fault == NULL)
		return script_driver->start(host, call, out_running, error);
	struct turning *turning = turning_new(call, out_running);
	*out_running |= UINT64_C(1) << 62; /* told apart from the script's own numbers */
	fail(&turning->fault, fault->code, "simulated failure of the model");
	platform_timer_start(&world->platform.base, 1000, ended, turning, 0);
	return true;
}

static void script_stop(struct llm_host *host, uint64_t running, const struct error *why)
{
	if ((running >> 62 & 1) != 0)
		stop(host, running & ~(UINT64_C(1) << 62), why);
	else
		script_driver->stop(host, running, why);
}

const struct llm_table *simulated_drivers(struct simulated_world *world)
{
	static struct llm_driver copies[16];
	static const struct llm_driver *rows[COUNT(copies)];
	static struct llm_table table;
	current = world;
	if (table.count > 0)
		return &table;
	require(llm_table.count <= COUNT(copies));
	for (size_t i = 0; i < llm_table.count; i++) {
		bool scripted = str_equal(str_from_c(llm_table.at[i]->name), S("script"));
		copies[i] = *llm_table.at[i];
		rows[i] = &copies[i];
		copies[i].start = scripted ? script_start : start;
		copies[i].stop = scripted ? script_stop : stop;
		if (scripted)
			script_driver = llm_table.at[i];
	}
	table = (struct llm_table){ rows, llm_table.count };
	return &table;
}
