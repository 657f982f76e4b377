/* sim/sim_tools.c -- tools whose results are fixed by their effect's id and whose moments are not.
 *
 * What a call gives depends only on its id and its inputs, so a world full of crashes must end like
 * a calm one.  Each real start is written into the ledger, which no crash takes back.  A child may
 * outlive its program for a while and, when it works in a folder, writes there to the last.
 */
#include "sim/sim.h"

enum {
	SALT_RESULT = 1,
	WRITE_HALF = 1,  /* the child has begun */
	WRITE_WHOLE = 2, /* the child is through */
	WRITE_LATE = 3,  /* by one whose program is gone */
};

static struct sim *world;

void sim_tools_use(struct sim *sim)
{
	world = sim;
}

bool sim_child_lives(const struct sim *sim, const struct uuid *effect)
{
	for (size_t i = 0; i < sim->child_count; i++)
		if (sim->children[i].alive && uuid_equal(&sim->children[i].effect, effect))
			return true;
	return false;
}

static void child_writes(struct sim *sim, const struct sim_child *child, uint64_t what)
{
	if (child->class == RUN_CLASS_CONTAINED)
		sim_workspace_write(&sim->workspace, &child->run, child->fate * 4 + what);
}

void sim_children_crash(struct sim *sim)
{
	for (size_t i = 0; i < sim->child_count; i++) {
		struct sim_child *child = &sim->children[i];
		if (!child->alive || child->lingering)
			continue;
		child->lingering = sim_chance(&sim->dice, 40);
		child->alive = child->lingering;
		child->dies_at = sim->mono + (int64_t)sim_below(&sim->dice, 150000);
	}
}

void sim_children_tick(struct sim *sim)
{
	for (size_t i = 0; i < sim->child_count; i++) {
		struct sim_child *child = &sim->children[i];
		if (!child->lingering || !child->alive || child->dies_at > sim->mono)
			continue;
		child_writes(sim, child, WRITE_LATE);
		child->alive = false;
	}
}

static const struct json *make_output(const struct sim_child *child, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	buf_add_format(&text, "{\"h\":\"%016llx\",\"in\":\"%016llx\"",
		       (unsigned long long)child->fate, (unsigned long long)child->seen);
	if (child->fate / 8 % 4 == 0) {
		buf_add(&text, S(",\"fill\":\""));
		for (int i = 0; i < 400; i++)
			buf_add_char(&text, (char)('a' + (child->fate >> (i % 50)) % 26));
		buf_add(&text, S("\""));
	}
	buf_add(&text, S("}"));
	const struct json *json;
	struct error error;
	bool good = json_read(str_copy(arena, buf_str(&text)), arena, &json, &error);
	require(good);
	return json;
}

static void child_ended(void *context, uint64_t argument)
{
	struct sim *sim = context;
	struct sim_child *child = &sim->children[argument];
	AUTO(arena) arena = { 0 };
	struct tool_result result = { 0 };
	child_writes(sim, child, WRITE_WHOLE);
	sim_point(sim);
	child->alive = false;
	if (child->fate % 8 == 0)
		fail(&result.error, ERROR_TOOL_FAILED, "failed by fate");
	else
		result.output = make_output(child, &arena);
	child->done(child->context, child->argument, &result);
}

/* One that hangs is ended only by a crash, so there must be one to come. */
static bool child_hangs(struct sim *sim)
{
	if (sim->mode == SIM_CALM || sim->crashes_left == 0 || !sim_chance(&sim->dice, 4))
		return false;
	sim->hung = true;
	return true;
}

static uint64_t hash_number(struct str text)
{
	struct hash hash = hash_of(text);
	uint64_t number = 0;
	for (size_t i = 0; i < 8; i++)
		number = number << 8 | hash.bytes[i];
	return number;
}

static bool start(enum run_effect_class class, const struct tool_call *call, struct error *error)
{
	struct sim *sim = world;
	uint64_t fate = sim_fate(&call->effect, SALT_RESULT);
	sim_check_start(sim, call);
	if (fate % 16 == 3)
		return fail(error, ERROR_IO, "no such program, by fate");
	if (sim->mode != SIM_CALM && sim_chance(&sim->dice, 5))
		return fail(error, ERROR_UNAVAILABLE, "no place for a child");
	require(sim->child_count < SIM_CHILDREN);
	AUTO(arena) arena = { 0 };
	size_t number = sim->child_count++;
	struct sim_child *child = &sim->children[number];
	*child = (struct sim_child){ .run = call->run,
				     .effect = call->effect,
				     .attempt = call->attempt,
				     .class = class,
				     .alive = true,
				     .life = sim->counts.lives,
				     .fate = fate,
				     .seen = hash_number(json_print(&arena, call->inputs)),
				     .done = call->done,
				     .context = call->context,
				     .argument = call->argument };
	sim->counts.starts++;
	sim->counts.restarts += call->attempt > 1;
	child_writes(sim, child, WRITE_HALF);
	if (!child_hangs(sim))
		system_timer_start(&sim->system.base, (int64_t)sim_below(&sim->dice, 60000),
				   child_ended, sim, number);
	return true;
}

#define SCRIPTED(word, class_)                                                               \
	static bool start_##word(const struct tool_host *host, const struct tool_call *call, \
				 uint64_t *out_running, struct error *error)                 \
	{                                                                                    \
		(void)host;                                                                  \
		*out_running = 0;                                                            \
		return start(class_, call, error);                                           \
	}                                                                                    \
	static const struct tool tool_##word = {                                             \
		.name = #word, .text = "Scripted.", .class = class_, .start = start_##word   \
	};

SCRIPTED(box, RUN_CLASS_CONTAINED)
SCRIPTED(put, RUN_CLASS_IDEMPOTENT)
SCRIPTED(pay, RUN_CLASS_KEYED)
SCRIPTED(send, RUN_CLASS_ONCE)

extern const struct tool tool_echo;
static const struct tool *const tools[] = { &tool_echo, &tool_box, &tool_put, &tool_pay,
					    &tool_send };
const struct tool_table sim_tool_table = { tools, COUNT(tools), NULL };
