/* simulation/simulated_world.c -- the lives of a world: it plays until its run has ended. */
#include <stdarg.h>
#include <stdlib.h>

#include "active/run_commands.h"
#include "contract/problem.h"
#include "effect/effects.h"
#include "os/failpoint.h"
#include "simstore/simstore.h"
#include "simulation/simulation_world.h"

/* A crashed life leaves its memory behind on purpose, so a search for leaks leaves worlds out. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
static void __lsan_disable(void)
{
}
static void __lsan_enable(void)
{
}
#endif

/* The current world, because failpoints have no context. */
static struct simulated_world *current;

uint64_t simulated_roll(struct simulated_world *world, uint64_t limit)
{
	uint64_t z = world->dice += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % limit;
}

struct simulated_fault *simulated_fault_at(struct simulated_world *world,
					   enum simulation_fault kind, uint64_t at)
{
	for (size_t i = 0; i < world->plan.count; i++) {
		struct simulated_fault *fault = &world->plan.at[i];
		if (fault->kind != kind || fault->at != at || fault->happened)
			continue;
		fault->happened = true;
		return fault;
	}
	return NULL;
}

void simulated_point(struct simulated_world *world)
{
	world->points++;
	if (world->living && simulated_fault_at(world, SIMULATION_CRASH, world->points) != NULL)
		longjmp(world->plug, 1);
}

int64_t simulated_delay(struct simulated_world *world, uint64_t occasion)
{
	if (simulated_fault_at(world, SIMULATION_LATE, occasion) != NULL)
		return INT64_C(3600) * 1000000;
	return 1000 + (int64_t)simulated_roll(world, 50000);
}

void simulated_fail(struct simulated_world *world, const char *format, ...)
{
	if (world->failure.size > 0)
		return;
	va_list list;
	va_start(list, format);
	world->failure = str_format_list(&world->arena, format, list);
	va_end(list);
}

static void passed(const char *name)
{
	(void)name;
	simulated_point(current);
}

/* ---- a life ------------------------------------------------------------------------------------ */

static void store_failed(void *context, const struct error *error)
{
	simulated_fail(context, "the program gave up: %s", error->text);
}

static bool find_definition(void *context, struct store_reader *reader, struct str name,
			    struct arena *arena, struct str *out_yaml, struct error *error)
{
	const struct simulation_spec *spec = ((struct simulated_world *)context)->spec;
	(void)reader; /* nothing is stored but the run */
	if (spec->definition == NULL)
		return fail(error, ERROR_NOT_FOUND, "no workflow is called " STR_FMT,
			    STR_ARG(name));
	return spec->definition(spec->context, name, arena, out_yaml, error);
}

/* Simulated models do not read what they are told. */
static bool find_prompt(void *context, struct store_reader *reader, struct str id,
			struct arena *arena, struct str *out_text, int64_t *out_version,
			struct error *error)
{
	(void)context;
	(void)reader;
	(void)error;
	*out_text = str_format(arena, "The prompt " STR_FMT ".", STR_ARG(id));
	*out_version = 0;
	return true;
}

static void recovered(void *context, uint64_t count)
{
	(void)context;
	(void)count;
}

static void life_begin(struct simulated_world *world)
{
	struct error error;
	world->lives++;
	world->asked = false;
	simulated_platform_init(&world->platform, world);
	world->models = (struct llm_host){ .platform = &world->platform.base };
	world->effects = effects_new();
	const struct executor_settings settings = { .platform = &world->platform.base,
						    .store = world->store,
						    .workspace = &world->workspace.base,
						    .effects = world->effects,
						    .tools = simulated_tools(world),
						    .drivers = simulated_drivers(world),
						    .models = &world->models,
						    .contained = true,
						    .definition = find_definition,
						    .named_prompt = find_prompt,
						    .fatal = store_failed,
						    .context = world };
	bool good = executor_new(&settings, &world->executor, &error);
	require(good);
	executor_recover(world->executor, recovered, world);
}

static void started(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct simulated_world *world = context;
	(void)argument;
	world->started = true;
	if (reply->error == NULL || reply->error->code == ERROR_CONFLICT)
		return;
	world->fatal = *reply->error;
	for (size_t i = 0;
	     world->problems != NULL && reply->problems != NULL && i < reply->problems->count;
	     i++) {
		const struct problem *problem = &reply->problems->at[i];
		problems_add(world->problems, problem->pointer, problem->line, problem->column,
			     STR_FMT, STR_ARG(problem->text));
	}
}

static void ask_for_start(struct simulated_world *world)
{
	struct executor_start start = { .yaml = world->spec->yaml,
					.inputs = { .json = world->spec->inputs },
					.run = world->run };
	world->asked = true;
	executor_start(world->executor, &start, started, world, 0);
}

static bool read_row(struct simulated_world *world, struct arena *arena, struct store_run *row)
{
	struct error error;
	bool found;
	bool good = world->reader->ops->read_run(world->reader, &world->run, arena, row, &found,
						 &error);
	require(good);
	return found;
}

static bool has_ended(struct simulated_world *world)
{
	AUTO(arena) arena = { 0 };
	struct store_run row;
	return read_row(world, &arena, &row) && row.ended_at != 0;
}

static bool is_stored(struct simulated_world *world)
{
	AUTO(arena) arena = { 0 };
	struct store_run row;
	return read_row(world, &arena, &row);
}

enum life { LIFE_GOES_ON, LIFE_IS_OVER, LIFE_IS_DONE };

static enum life live(struct simulated_world *world)
{
	simulated_point(world);
	if (world->fatal.code != ERROR_NONE || world->failure.size > 0)
		return LIFE_IS_DONE;
	if (!world->asked && !is_stored(world)) {
		ask_for_start(world);
		return LIFE_GOES_ON;
	}
	if (simulated_roll(world, 16) == 0 && simulated_people_act(world))
		return LIFE_GOES_ON;
	if (has_ended(world))
		return LIFE_IS_DONE;
	if (simulated_platform_step(&world->platform) || simulated_people_act(world))
		return LIFE_GOES_ON;
	simulated_fail(world, "the run does not end: nothing is left to happen");
	return LIFE_IS_DONE;
}

static enum life life_play(struct simulated_world *world)
{
	if (setjmp(world->plug) != 0)
		return LIFE_IS_OVER;
	world->living = true;
	for (int i = 0; i < SIMULATED_STEPS; i++) {
		enum life life = live(world);
		if (life != LIFE_GOES_ON)
			return life;
	}
	simulated_fail(world, "the run has not ended after %d events", SIMULATED_STEPS);
	return LIFE_IS_DONE;
}

static void life_end(struct simulated_world *world)
{
	simulated_platform_drain(&world->platform);
	executor_free(world->executor);
	effects_free(world->effects);
	llm_host_done(&world->models);
	simulated_platform_done(&world->platform);
}

void simulated_world_play(struct simulated_world *world)
{
	enum life life;
	current = world;
	__lsan_disable();
	failpoint_watch(passed);
	do {
		life_begin(world);
		life = life_play(world);
		world->living = false;
		if (life == LIFE_IS_DONE)
			life_end(world);
		/* the process was down for a moment */
		world->mono += (int64_t)simulated_roll(world, 1000000);
		if (life == LIFE_IS_OVER && world->lives == SIMULATED_LIVES)
			simulated_fail(world, "the run has not ended after %u restarts",
				       world->lives);
	} while (life == LIFE_IS_OVER && world->failure.size == 0);
	failpoint_watch(NULL);
	__lsan_enable();
}

struct simulated_world *simulated_world_new(const struct simulation_spec *spec, uint64_t seed,
					    const struct simulated_plan *plan)
{
	struct simulated_world *world = calloc(1, sizeof(*world));
	struct error error;
	require(world != NULL);
	const struct store_backend *backend = simstore_backend(S("memory"));
	bool good = backend->open("", &world->store, &error) &&
		    backend->open_reader(world->store, &world->reader, &error);
	require(good);
	world->spec = spec;
	world->dice = seed * UINT64_C(0xd1342543de82ef95) + 1;
	world->plan = *plan;
	world->mono = 1000000;
	world->run.bytes[0] = 0x51;
	world->run.bytes[6] = 0x40;
	world->run.bytes[8] = 0x80;
	simulated_workspace_init(&world->workspace, world);
	return world;
}

void simulated_world_free(struct simulated_world *world)
{
	const struct store_backend *memory = world->store->backend;
	memory->close_reader(world->reader);
	memory->close(world->store);
	free(world->workspace.folders);
	free(world->calls);
	arena_done(&world->arena);
	free(world);
}
