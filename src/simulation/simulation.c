/* simulation/simulation.c -- plans of faults, the comparison with the calm world, and shrinking. */
#include "simulation/simulation.h"

#include "contract/event.h"
#include "contract/problem.h"
#include "contract/run_event_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_value_types.h"
#include "expr/expr.h"
#include "simstore/store_memory.h"
#include "simulation/simulation_world.h"

/* ---- what a world came to ---------------------------------------------------------------------- */

static const struct json *value_of(struct simulated_world *world, const struct run_value *value,
				   struct arena *arena)
{
	struct error error;
	const struct json *json = NULL;
	struct str bytes;
	bool found;
	if (has(value, json))
		return value->json;
	if (world->reader->ops->read_blob(world->reader, &value->sha256, arena, &bytes, &found,
					  &error) &&
	    found && json_read(bytes, arena, &json, &error))
		return json;
	return NULL;
}

static void read_end(struct simulated_world *world, const struct run_finished *end,
		     struct arena *arena, struct simulation_outcome *out)
{
	const struct json *outputs =
		has(end, outputs) ? value_of(world, end->outputs, arena) : NULL;
	out->status = run_outcome_name(end->outcome);
	out->outputs = outputs == NULL ? S("null") : json_print(arena, outputs);
	if (has(end, fault))
		out->reason = str_copy(arena, end->fault->text);
}

/* One line per event: time, type, step. */
static void read_history(struct simulated_world *world, struct arena *arena,
			 struct simulation_outcome *out)
{
	struct store_event_page page;
	struct error error;
	AUTO(buf) text = { 0 };
	bool good = world->reader->ops->read_all(world->reader, 0, SIMULATED_EVENTS, arena, &page,
						 &error);
	require(good);
	for (size_t i = 0; i < page.count; i++) {
		const struct store_event_row *row = &page.at[i];
		const struct json *body;
		struct event event;
		if (uuid_is_zero(&row->run))
			continue;
		good = json_read(row->body, arena, &body, &error);
		require(good);
		buf_add_format(&text, "%8.3f s  %s" STR_FMT "  " STR_FMT "\n",
			       (double)(row->at - page.at[0].at) / 1e6,
			       uuid_equal(&row->run, &world->run) ? "" : "sub-run ",
			       STR_ARG(row->type),
			       STR_ARG(json_text(json_member(body, S("step")))));
		if (uuid_equal(&row->run, &world->run) && str_equal(row->type, S("run.finished")) &&
		    event_read(row->type, row->at, row->body, arena, &event, &error))
			read_end(world, event.as.run_finished, arena, out);
	}
	out->history = str_copy(arena, buf_str(&text));
}

static const char *const fault_words[] = { "crash", "tool", "model", "late", "duplicate" };

static void print_faults(const struct simulated_world *world, struct arena *arena,
			 struct simulation_outcome *out)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < world->plan.count; i++) {
		const struct simulated_fault *fault = &world->plan.at[i];
		if (!fault->happened)
			continue;
		out->fault_count++;
		unsigned kind = (unsigned)__builtin_ctz((unsigned)fault->kind);
		static const char *const occasions[] = { "the process dies at point",
							 "a tool fails at call",
							 "a model fails at turn",
							 "a result is late at call or turn",
							 "an answer arrives twice, question" };
		buf_add_format(&text, "%-9s  %s %llu", fault_words[kind], occasions[kind],
			       (unsigned long long)fault->at);
		if (fault->kind == SIMULATION_TOOL && fault->at <= world->call_count)
			buf_add_format(&text, ", step " STR_FMT,
				       STR_ARG(world->calls[fault->at - 1].step));
		if (fault->code != ERROR_NONE)
			buf_add_format(&text, ": " STR_FMT, STR_ARG(error_row(fault->code)->name));
		buf_add(&text, S("\n"));
		out->crashes += fault->kind == SIMULATION_CRASH;
	}
	out->faults = str_copy(arena, buf_str(&text));
}

static void conclude(struct simulated_world *world, struct arena *arena,
		     struct simulation_outcome *out)
{
	*out = (struct simulation_outcome){ .status = S("unfinished"),
					    .outputs = S("null"),
					    .reason = S("") };
	read_history(world, arena, out);
	print_faults(world, arena, out);
	out->calls = (unsigned)world->call_count;
	out->turns = (unsigned)world->turns;
	out->store = str_copy(arena, store_memory_dump(world->store, arena));
	out->failed = world->failure.size > 0;
	if (out->failed)
		out->reason = str_copy(arena, world->failure);
}

/* ---- the check --------------------------------------------------------------------------------- */

struct check_names {
	struct json status, calm_status;
	const struct json *outputs, *calm_outputs, *inputs;
};

static const struct json *check_variable(void *context, struct str name)
{
	struct check_names *names = context;
	if (str_equal(name, S("status")))
		return &names->status;
	if (str_equal(name, S("outputs")))
		return names->outputs;
	if (str_equal(name, S("calm_status")))
		return &names->calm_status;
	if (str_equal(name, S("calm_outputs")))
		return names->calm_outputs;
	return str_equal(name, S("inputs")) ? names->inputs : NULL;
}

static const struct json *read_json(struct str text, struct arena *arena)
{
	const struct json *json = NULL;
	struct error error;
	return json_read(text, arena, &json, &error) ? json : NULL;
}

static void check_expression(const struct simulation_spec *spec,
			     const struct simulation_outcome *calm, struct arena *arena,
			     struct simulation_outcome *out)
{
	const struct expr *expr;
	const struct json *value = NULL;
	struct error error;
	struct check_names names = { .status = { .kind = JSON_STRING, .as.string = out->status },
				     .calm_status = { .kind = JSON_STRING,
						      .as.string = calm->status },
				     .outputs = read_json(out->outputs, arena),
				     .calm_outputs = read_json(calm->outputs, arena),
				     .inputs = spec->inputs };
	const struct expr_scope scope = { .variable = check_variable, .context = &names };
	bool good = expr_parse(spec->check, arena, &expr, &error) &&
		    expr_evaluate(expr, &scope, arena, &value, &error);
	out->failed = !good || !expr_is_true(value);
	if (!good)
		out->reason = str_format(arena, "the check cannot be evaluated: %s", error.text);
	else if (out->failed)
		out->reason = str_format(arena,
					 "the check does not hold: " STR_FMT " (status " STR_FMT
					 ", outputs " STR_FMT ")",
					 STR_ARG(spec->check), STR_ARG(out->status),
					 STR_ARG(out->outputs));
}

/* The end must be that of the calm world. */
static void compare(const struct simulation_outcome *calm, struct arena *arena,
		    struct simulation_outcome *out)
{
	out->failed =
		!str_equal(calm->status, out->status) || !str_equal(calm->outputs, out->outputs);
	if (!out->failed)
		return;
	if (str_equal(calm->status, out->status))
		out->reason = str_format(
			arena, "the outputs are " STR_FMT "; without faults they are " STR_FMT,
			STR_ARG(out->outputs), STR_ARG(calm->outputs));
	else
		out->reason = str_format(arena,
					 "the run ended as " STR_FMT "%s" STR_FMT
					 "; without faults it ends as " STR_FMT,
					 STR_ARG(out->status), out->reason.size > 0 ? ", " : "",
					 STR_ARG(out->reason), STR_ARG(calm->status));
}

static void judge(const struct simulation_spec *spec, const struct simulation_outcome *calm,
		  struct arena *arena, struct simulation_outcome *out)
{
	if (out->failed)
		return;
	if (spec->check.size > 0)
		check_expression(spec, calm, arena, out);
	else
		compare(calm, arena, out);
	if (!out->failed)
		out->reason = S("");
}

/* ---- plans ------------------------------------------------------------------------------------- */

static const enum error_code tool_faults[] = { ERROR_TOOL_FAILED, ERROR_UNAVAILABLE, ERROR_TIMEOUT,
					       ERROR_IO };
static const enum error_code model_faults[] = { ERROR_RATE_LIMITED, ERROR_OVERLOADED,
						ERROR_UNAVAILABLE };

/* The occasions of a fault in the calm world, and some more: faults make a world longer. */
static uint64_t occasions(enum simulation_fault kind, const struct simulated_world *calm)
{
	switch (kind) {
	case SIMULATION_CRASH:
		return calm->points + 20;
	case SIMULATION_TOOL:
		return calm->call_count;
	case SIMULATION_MODEL:
		return calm->turns;
	case SIMULATION_LATE:
		return calm->call_count + calm->turns;
	case SIMULATION_DUPLICATE:
		return calm->answers;
	case SIMULATION_ALL:
		break;
	}
	return 0;
}

static struct simulated_plan plan_of(const struct simulation_spec *spec,
				     const struct simulated_world *calm, uint64_t seed)
{
	struct simulated_plan plan = { 0 };
	struct simulated_world dice = { .dice = seed * UINT64_C(0xa0761d6478bd642f) + 7 };
	size_t count = 1 + (size_t)simulated_roll(&dice, 6);
	for (size_t i = 0; i < count; i++) {
		enum simulation_fault kind =
			(enum simulation_fault)(1u << simulated_roll(&dice, COUNT(fault_words)));
		uint64_t room = occasions(kind, calm);
		if ((spec->faults & kind) == 0 || room == 0)
			continue;
		struct simulated_fault *fault = &plan.at[plan.count++];
		*fault = (struct simulated_fault){ .kind = kind,
						   .at = 1 + simulated_roll(&dice, room) };
		if (kind == SIMULATION_TOOL)
			fault->code = tool_faults[simulated_roll(&dice, COUNT(tool_faults))];
		if (kind == SIMULATION_MODEL)
			fault->code = model_faults[simulated_roll(&dice, COUNT(model_faults))];
	}
	return plan;
}

static void play(const struct simulation_spec *spec, const struct simulation_outcome *calm,
		 uint64_t seed, const struct simulated_plan *plan, struct arena *arena,
		 struct simulation_outcome *out)
{
	struct simulated_world *world = simulated_world_new(spec, seed, plan);
	simulated_world_play(world);
	conclude(world, arena, out);
	judge(spec, calm, arena, out);
	simulated_world_free(world);
}

bool simulation_calm(const struct simulation_spec *spec, struct arena *arena,
		     struct simulation_outcome *out, struct problems *problems, struct error *error)
{
	const struct simulated_plan none = { 0 };
	struct simulated_world *world = simulated_world_new(spec, 0, &none);
	world->problems = problems;
	simulated_world_play(world);
	bool good = world->fatal.code == ERROR_NONE;
	if (good)
		conclude(world, arena, out);
	else
		*error = world->fatal;
	simulated_world_free(world);
	return good;
}

/* The world of the seed without faults: how many points, calls, turns and answers it has. */
static struct simulated_plan plan_for_seed(const struct simulation_spec *spec, uint64_t seed)
{
	const struct simulated_plan none = { 0 };
	struct simulated_world *world = simulated_world_new(spec, seed, &none);
	simulated_world_play(world);
	struct simulated_plan plan = plan_of(spec, world, seed);
	simulated_world_free(world);
	return plan;
}

void simulation_seed(const struct simulation_spec *spec, const struct simulation_outcome *calm,
		     uint64_t seed, struct arena *arena, struct simulation_outcome *out)
{
	struct simulated_plan plan = plan_for_seed(spec, seed);
	play(spec, calm, seed, &plan, arena, out);
}

/* ---- shrinking --------------------------------------------------------------------------------- */

struct shrinking {
	const struct simulation_spec *spec;
	const struct simulation_outcome *calm;
	uint64_t seed;
	struct arena *arena;
	struct simulated_plan plan; /* the smallest that fails */
	struct simulation_outcome *out;
	unsigned tried;
};

enum { SHRINK_WORLDS = 300 };

static bool still_fails(struct shrinking *shrinking, const struct simulated_plan *plan)
{
	struct simulation_outcome outcome;
	if (shrinking->tried == SHRINK_WORLDS)
		return false;
	shrinking->tried++;
	play(shrinking->spec, shrinking->calm, shrinking->seed, plan, shrinking->arena, &outcome);
	if (!outcome.failed)
		return false;
	shrinking->plan = *plan;
	*shrinking->out = outcome;
	return true;
}

static bool leave_one_out(struct shrinking *shrinking)
{
	for (size_t i = 0; i < shrinking->plan.count; i++) {
		struct simulated_plan less = shrinking->plan;
		for (size_t k = i; k + 1 < less.count; k++)
			less.at[k] = less.at[k + 1];
		less.count--;
		if (still_fails(shrinking, &less))
			return true;
	}
	return false;
}

/* Moves a fault to the front: half way, then one step at a time. */
static bool move_forward(struct shrinking *shrinking)
{
	for (size_t i = 0; i < shrinking->plan.count; i++)
		for (uint64_t at = shrinking->plan.at[i].at; at > 1; at = at / 2) {
			struct simulated_plan earlier = shrinking->plan;
			earlier.at[i].at = at / 2;
			if (at / 2 > 0 && still_fails(shrinking, &earlier))
				return true;
		}
	return false;
}

unsigned simulation_shrink(const struct simulation_spec *spec,
			   const struct simulation_outcome *calm, uint64_t seed,
			   struct arena *arena, struct simulation_outcome *out)
{
	struct shrinking shrinking = { .spec = spec,
				       .calm = calm,
				       .seed = seed,
				       .arena = arena,
				       .plan = plan_for_seed(spec, seed),
				       .out = out };
	while (leave_one_out(&shrinking) || move_forward(&shrinking))
		;
	return shrinking.tried;
}
