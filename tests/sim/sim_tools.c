/* sim/sim_tools.c -- scripted tools with deterministic results and random timing.
 *
 * The result of a call depends only on its effect id, its inputs and the number of failed attempts,
 * so a world with crashes must end like a calm one.  Each real start is recorded in the ledger, which
 * survives crashes.  A child process may outlive its program for a while; if it works in a folder, it
 * writes there until it ends.
 *
 * A child that is asked to stop ends soon, or when it is killed, or its result comes first.  The tool
 * `hang` ends only when it is asked to stop.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "contract/run_class_types.h"
#include "sim/sim.h"
#include "tool/output_log.h"

enum {
	SALT_RESULT = 1,
	WRITE_HALF = 1,  /* the child has begun */
	WRITE_WHOLE = 2, /* the child is done */
	WRITE_LATE = 3,  /* by a child whose program has crashed */
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
		sim_workspace_write(&sim->workspace, child->folder, child->fate * 4 + what);
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
		child->happened = sim_chance(&sim->dice, 50);
	}
}

/* ---- results ------------------------------------------------------------------------ */

static bool fate_fails(uint64_t fate)
{
	return fate % 8 == 0;
}

static void fail_by_fate(uint64_t fate, struct error *error)
{
	static const enum error_code codes[] = { ERROR_TOOL_FAILED, ERROR_TOOL_FAILED, ERROR_IO,
						 ERROR_UNAVAILABLE, ERROR_INVALID };
	fail(error, codes[fate / 8 % COUNT(codes)], "failed by fate");
}

static const struct json *make_output(const struct sim_child *child, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	uint64_t fate = child->fate;
	buf_add_format(&text, "{\"h\":\"%016llx\",\"in\":\"%016llx\",\"n\":%u,\"ok\":%s,\"list\":[",
		       (unsigned long long)fate, (unsigned long long)child->seen,
		       (unsigned)(fate / 128 % 4), fate / 512 % 2 == 0 ? "true" : "false");
	for (uint64_t i = 0; i < fate / 1024 % 4; i++)
		buf_add_format(&text, "%s%u", i == 0 ? "" : ",", (unsigned)i);
	buf_add(&text, S("]"));
	if (fate / 4096 % 4 == 0)
		buf_add_format(&text, ",\"passed\":%s", fate / 16384 % 2 == 0 ? "true" : "false");
	if (fate / 8 % 4 == 0) {
		buf_add(&text, S(",\"fill\":\""));
		for (int i = 0; i < 400; i++)
			buf_add_char(&text, (char)('a' + (fate >> (i % 50)) % 26));
		buf_add(&text, S("\""));
	}
	buf_add(&text, S("}"));
	const struct json *json;
	struct error error;
	bool good = json_read(str_copy(arena, buf_str(&text)), arena, &json, &error);
	require(good);
	return json;
}

/* Nothing, a short log, or one that is long enough to be stored by its hash. */
static void write_log(const struct tool_call *call, uint64_t fate)
{
	AUTO(arena) arena = { 0 };
	uint64_t lines = fate / 32 % 3 * 20;
	if (call->log == NULL)
		return;
	for (uint64_t i = 0; i < lines / (fate / 256 % 2 == 0 ? 1 : 20); i++)
		output_log_add(call->log, i % 5 == 4 ? OUTPUT_STDERR : OUTPUT_STDOUT,
			       str_format(&arena, "%016llx line %u of attempt %u\n",
					  (unsigned long long)fate, (unsigned)i,
					  (unsigned)call->attempt));
}

/* ---- a child ------------------------------------------------------------------------ */

static void child_ended(void *context, uint64_t argument)
{
	struct sim *sim = context;
	struct sim_child *child = &sim->children[argument];
	AUTO(arena) arena = { 0 };
	struct tool_result result = { 0 };
	if (!child->alive || child->lingering)
		return; /* it was asked to stop, and did */
	child_writes(sim, child, WRITE_WHOLE);
	sim_point(sim);
	child->alive = false;
	child->happened = !fate_fails(child->fate);
	if (fate_fails(child->fate))
		fail_by_fate(child->fate, &result.error);
	else
		result.output = make_output(child, &arena);
	child->done(child->context, child->argument, &result);
}

static void child_stopped(void *context, uint64_t argument)
{
	struct sim *sim = context;
	struct sim_child *child = &sim->children[argument];
	struct tool_result result = { 0 };
	if (!child->alive || child->lingering)
		return;
	child_writes(sim, child, WRITE_LATE);
	sim_point(sim);
	child->alive = false;
	fail(&result.error, ERROR_CANCELLED, "it was told to stop");
	child->done(child->context, child->argument, &result);
}

static void stop(const struct tool_host *host, uint64_t running, const struct error *why)
{
	struct sim *sim = world;
	struct sim_child *child = &sim->children[running - 1];
	(void)host;
	(void)why;
	if (!child->alive || child->lingering || child->told)
		return;
	sim_trace(sim, "child %u is told to stop", (unsigned)running - 1);
	child->told = true;
	sim->counts.told++;
	int64_t after = sim_chance(&sim->dice, 25) ? LIMIT_TOOL_KILL_MS * INT64_C(1000)
						   : (int64_t)sim_below(&sim->dice, 30000);
	platform_timer_start(&sim->platform.base, after, child_stopped, sim, running - 1);
}

/* A hanging child ends only by a stop or a crash, so one must be planned. */
static bool child_hangs(struct sim *sim, const struct tool_call *call)
{
	if (str_equal(call->name, S("hang")))
		return true;
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

static uint64_t fate_of(struct sim *sim, const struct tool_call *call)
{
	sim_memory_outside();
	size_t failures = sim_failures(sim, &call->run, &call->effect);
	sim_memory_inside();
	return sim_fate(&call->effect, SALT_RESULT + 16 * (unsigned)failures);
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	struct sim *sim = world;
	uint64_t fate = fate_of(sim, call);
	(void)host;
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
				     .class = call->class,
				     .folder = strtoul(call->workspace, NULL, 10),
				     .alive = true,
				     .life = sim->counts.active_runs,
				     .fate = fate,
				     .seen = hash_number(json_print(&arena, call->inputs)),
				     .done = call->done,
				     .context = call->context,
				     .argument = call->argument };
	*out_running = number + 1;
	sim_trace(sim, "child %zu begins", number);
	sim->counts.starts++;
	sim->counts.restarts += call->attempt > 1;
	child_writes(sim, child, WRITE_HALF);
	write_log(call, fate);
	if (!child_hangs(sim, call))
		platform_timer_start(&sim->platform.base, (int64_t)sim_below(&sim->dice, 60000),
				     child_ended, sim, number);
	return true;
}

/* ---- class probe: what became of it? -------------------------------------------------- */

struct asking {
	struct tool_call call;
	uint64_t fate, seen;
};

static void asked(void *context, uint64_t argument)
{
	struct sim *sim = world;
	struct asking *asking = context;
	const struct tool_call *call = &asking->call;
	AUTO(arena) arena = { 0 };
	bool happened = false;
	(void)argument;
	for (size_t i = 0; i < sim->child_count; i++)
		if (uuid_equal(&sim->children[i].effect, &call->effect))
			happened = happened || sim->children[i].happened;
	sim->counts.asked++;
	struct sim_child as = { .fate = asking->fate, .seen = asking->seen };
	if (sim_chance(&sim->dice, 15))
		call->asked(call->context, call->argument, TOOL_UNKNOWN, NULL);
	else if (happened && !fate_fails(asking->fate))
		call->asked(call->context, call->argument, TOOL_HAPPENED, make_output(&as, &arena));
	else
		call->asked(call->context, call->argument, TOOL_NOT_HAPPENED, NULL);
}

static bool probe(const struct tool_host *host, const struct tool_call *call, struct error *error)
{
	struct sim *sim = world;
	(void)host;
	(void)error;
	AUTO(arena) arena = { 0 };
	struct asking *asking = arena_new(&sim->scratch, struct asking);
	*asking = (struct asking){ .call = *call,
				   .fate = fate_of(sim, call),
				   .seen = hash_number(json_print(&arena, call->inputs)) };
	platform_timer_start(&sim->platform.base, (int64_t)sim_below(&sim->dice, 20000), asked,
			     asking, 0);
	return true;
}

/* The calls of an agent have their tool's timeout.  These have none: a child that hangs waits for a
 * crash. */
#define SCRIPTED(word, class_, probe_)                                   \
	static const struct tool tool_##word = { .name = #word,          \
						 .text = "Scripted.",    \
						 .timeout_seconds = 1e9, \
						 .class = class_,        \
						 .child = true,          \
						 .start = start,         \
						 .stop = stop,           \
						 .probe = probe_ };

SCRIPTED(box, RUN_CLASS_CONTAINED, NULL)
SCRIPTED(put, RUN_CLASS_IDEMPOTENT, NULL)
SCRIPTED(pay, RUN_CLASS_KEYED, NULL)
SCRIPTED(send, RUN_CLASS_ONCE, NULL)
SCRIPTED(ask, RUN_CLASS_PROBE, probe)
SCRIPTED(hang, RUN_CLASS_IDEMPOTENT, NULL)

extern const struct tool tool_echo;
static const struct tool *const tools[] = { &tool_echo, &tool_box, &tool_put, &tool_pay,
					    &tool_send, &tool_ask, &tool_hang };
const struct tool_table sim_tool_table = { tools, COUNT(tools), NULL };
