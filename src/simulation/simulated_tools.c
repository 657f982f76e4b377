/* simulation/simulated_tools.c -- tools that return what the script says.
 *
 * The tables have the real tools with their names, classes and contracts.  Pure tools compute as always; of all others
 * only the start, the stop and the probe are replaced.
 */
#include <stdlib.h>

#include "contract/run_simulation_types.h"
#include "simulation/simulation_world.h"
#include "tool/tool.h"
#include "tool/tool_sample.h"

/* The current world, because the interface of tools has no context. */
static struct simulated_world *current;

/* ---- outputs ----------------------------------------------------------------------------------- */

/* The name of a step in a path: `each[3]/build#2` is build. */
static struct str name_of(struct str path)
{
	size_t begin = path.size, end;
	while (begin > 0 && path.at[begin - 1] != '/')
		begin--;
	struct str name = str_skip(path, begin);
	for (end = 0; end < name.size && name.at[end] != '#' && name.at[end] != '['; end++)
		;
	return str_head(name, end);
}

static const struct json *scripted(const struct object_map *map, struct str name)
{
	for (size_t i = 0; i < map->count; i++)
		if (str_equal(map->at[i].key, name))
			return map->at[i].value;
	return NULL;
}

const struct json *simulated_output(struct simulated_world *world, const struct tool *tool,
				    struct str step, struct arena *arena)
{
	const struct run_simulation_script *script = world->spec->script;
	const struct json *output = NULL;
	if (script != NULL && has(script, steps))
		output = scripted(&script->steps, name_of(step));
	if (output == NULL && script != NULL && has(script, tools))
		output = scripted(&script->tools, str_from_c(tool->name));
	return output != NULL ? output : tool_sample(tool, arena);
}

/* ---- calls ------------------------------------------------------------------------------------- */

/* A call under way; it lives in the world's arena, like everything that a crash may interrupt. */
struct calling {
	struct simulated_world *world;
	const struct tool *tool;
	struct uuid effect;
	struct str step;
	const char *folder;
	enum run_effect_class class;
	size_t entry; /* of the ledger */
	struct error fault, stopped;
	bool ended;
	tool_done *done;
	tool_asked *asked;
	void *context;
	uint64_t argument;
};

static struct calling **callings;
static size_t calling_count, calling_room;

static size_t ledger_add(struct simulated_world *world, const struct tool_call *call)
{
	if (world->call_count == world->call_room) {
		world->call_room = world->call_room == 0 ? 64 : world->call_room * 2;
		world->calls = reallocarray(world->calls, world->call_room, sizeof(*world->calls));
		require(world->calls != NULL);
	}
	world->calls[world->call_count] =
		(struct simulated_call){ .effect = call->effect,
					 .step = str_copy(&world->arena, call->step),
					 .tool = call->tool };
	return world->call_count++;
}

static bool has_happened(const struct simulated_world *world, const struct uuid *effect)
{
	for (size_t i = 0; i < world->call_count; i++)
		if (world->calls[i].happened && uuid_equal(&world->calls[i].effect, effect))
			return true;
	return false;
}

static void take_effect(struct calling *calling)
{
	struct simulated_world *world = calling->world;
	if (calling->class == RUN_CLASS_ONCE && has_happened(world, &calling->effect))
		simulated_fail(world, "step " STR_FMT ": %s must happen once, and happened twice",
			       STR_ARG(calling->step), calling->tool->name);
	world->calls[calling->entry].happened = true;
	if (calling->class == RUN_CLASS_CONTAINED)
		simulated_workspace_write(world, calling->folder, &calling->effect);
}

static void ended(void *context, uint64_t argument)
{
	struct calling *calling = context;
	AUTO(arena) arena = { 0 };
	struct tool_result result = { 0 };
	(void)argument;
	if (calling->ended)
		return;
	simulated_point(calling->world);
	calling->ended = true;
	if (calling->stopped.code != ERROR_NONE) {
		result.error = calling->stopped;
	} else if (calling->fault.code != ERROR_NONE) {
		result.error = calling->fault;
	} else {
		take_effect(calling);
		simulated_point(calling->world);
		result.output =
			simulated_output(calling->world, calling->tool, calling->step, &arena);
	}
	calling->done(calling->context, calling->argument, &result);
}

static struct calling *calling_new(const struct tool_call *call)
{
	struct simulated_world *world = current;
	struct calling *calling = arena_new(&world->arena, struct calling);
	*calling = (struct calling){ .world = world,
				     .tool = call->tool,
				     .effect = call->effect,
				     .step = str_copy(&world->arena, call->step),
				     .folder = call->workspace == NULL
						       ? ""
						       : str_c(&world->arena,
							       str_from_c(call->workspace)),
				     .class = call->class,
				     .done = call->done,
				     .asked = call->asked,
				     .context = call->context,
				     .argument = call->argument };
	return calling;
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct simulated_world *world = current;
	struct calling *calling = calling_new(call);
	(void)host;
	(void)error;
	calling->entry = ledger_add(world, call);
	struct simulated_fault *fault =
		simulated_fault_at(world, SIMULATION_TOOL, world->call_count);
	if (fault != NULL)
		fail(&calling->fault, fault->code, "simulated failure");
	if (calling_count == calling_room) {
		calling_room = calling_room == 0 ? 64 : calling_room * 2;
		callings = reallocarray(callings, calling_room, sizeof(struct calling *));
		require(callings != NULL);
	}
	callings[calling_count++] = calling;
	*out_running = calling_count;
	platform_timer_start(&world->platform.base,
			     simulated_delay(world, world->call_count + world->turns), ended,
			     calling, 0);
	return true;
}

static void stop(const struct tool_host *host, uint64_t running, const struct error *why)
{
	struct calling *calling = callings[running - 1];
	(void)host;
	if (calling->ended || calling->stopped.code != ERROR_NONE)
		return;
	calling->stopped = *why;
	if (calling->class == RUN_CLASS_ONCE)
		fail(&calling->stopped, ERROR_OUTCOME_UNKNOWN,
		     "it was stopped and has not answered");
	platform_timer_start(&calling->world->platform.base, 1000, ended, calling, 0);
}

static void probed(void *context, uint64_t argument)
{
	struct calling *calling = context;
	AUTO(arena) arena = { 0 };
	(void)argument;
	bool happened = has_happened(calling->world, &calling->effect);
	calling->asked(
		calling->context, calling->argument, happened ? TOOL_HAPPENED : TOOL_NOT_HAPPENED,
		happened ? simulated_output(calling->world, calling->tool, calling->step, &arena)
			 : NULL);
}

static bool probe(const struct tool_host *host, const struct tool_call *call, struct error *error)
{
	(void)host;
	(void)error;
	platform_timer_start(&current->platform.base, 1000, probed, calling_new(call), 0);
	return true;
}

const struct tool_table *simulated_tools(struct simulated_world *world)
{
	static struct tool copies[256];
	static const struct tool *rows[COUNT(copies)];
	static struct tool_table table;
	current = world;
	if (table.count > 0)
		return &table;
	require(tool_table.count <= COUNT(copies));
	for (size_t i = 0; i < tool_table.count; i++) {
		copies[i] = *tool_table.at[i];
		rows[i] = &copies[i];
		if (copies[i].compute != NULL)
			continue;
		copies[i].start = start;
		copies[i].stop = stop;
		copies[i].probe = copies[i].probe == NULL ? NULL : probe;
		copies[i].locks_itself = false;
	}
	table = (struct tool_table){ rows, tool_table.count, NULL };
	return &table;
}
