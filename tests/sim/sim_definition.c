/* sim/sim_definition.c -- the plan of a world: its runs and their definitions.  The definitions are
 * YAML text, so that the YAML reader and the compiler are tested as well.  The definitions of this
 * file are flat and wide; sim_graph.c makes those with nested bodies.
 *
 * Each step refers to one earlier output as a whole and to parts of others: values grow along the
 * graph, but only linearly.
 */
#include "sim/sim.h"

struct drafting {
	struct sim_dice dice;
	struct buf text;
	size_t count;
	uint32_t before[25]; /* bit i: step i is an ancestor */
	uint32_t depends[25];
};

static const char *const kinds[] = { "echo", "echo", "echo", "echo", "box",   "box", "put",
				     "pay",  "send", "wait", "wait", "human", "echo" };

static void draw_edges(struct drafting *d, size_t step)
{
	size_t wanted = step == 0 ? 0 : (size_t)sim_below(&d->dice, 4);
	for (size_t i = 0; i < wanted; i++) {
		size_t to = sim_chance(&d->dice, 50) ? step - 1 : (size_t)sim_below(&d->dice, step);
		d->depends[step] |= UINT32_C(1) << to;
		d->before[step] |= UINT32_C(1) << to | d->before[to];
	}
}

static bool draw_ancestor(struct drafting *d, size_t step, size_t *out)
{
	if (d->before[step] == 0)
		return false;
	do
		*out = (size_t)sim_below(&d->dice, step);
	while ((d->before[step] >> *out & 1) == 0);
	return true;
}

static void add_filler(struct drafting *d)
{
	for (size_t i = 0; i < 300; i++)
		buf_add_char(&d->text, (char)('a' + sim_below(&d->dice, 26)));
}

static void add_inputs(struct drafting *d, size_t step)
{
	size_t from;
	buf_add_format(&d->text, "    inputs:\n      h: \"step %zu ${inputs.text}\"\n", step);
	if (draw_ancestor(d, step, &from) && sim_chance(&d->dice, 70))
		buf_add_format(&d->text, "      whole: ${steps.s%zu.outputs}\n", from);
	if (draw_ancestor(d, step, &from) && sim_chance(&d->dice, 70))
		buf_add_format(&d->text, "      part: \"${steps.s%zu.outputs.h} of ${inputs.n}\"\n",
			       from);
	if (draw_ancestor(d, step, &from) && sim_chance(&d->dice, 30))
		buf_add_format(&d->text, "      bare: ${steps.s%zu.outputs.h}\n", from);
	if (sim_chance(&d->dice, 15)) {
		buf_add(&d->text, S("      fill: "));
		add_filler(d);
		buf_add(&d->text, S("\n"));
	}
}

static void add_step(struct drafting *d, size_t step)
{
	const char *kind = kinds[sim_below(&d->dice, COUNT(kinds))];
	size_t from;
	buf_add_format(&d->text, "  - name: s%zu\n    depends_on: [", step);
	bool first = true;
	for (size_t i = 0; i < step; i++)
		if ((d->depends[step] >> i & 1) != 0) {
			buf_add_format(&d->text, "%ss%zu", first ? "" : ", ", i);
			first = false;
		}
	buf_add(&d->text, S("]\n"));
	if (kind[0] == 'w') {
		buf_add_format(&d->text, "    wait: {seconds: %llu.%llu}\n",
			       (unsigned long long)sim_below(&d->dice, 4),
			       (unsigned long long)sim_below(&d->dice, 10));
		return;
	}
	if (kind[0] == 'h') {
		buf_add(&d->text, S("    human:\n      question: \"go on"));
		if (draw_ancestor(d, step, &from))
			buf_add_format(&d->text, " after ${steps.s%zu.outputs.h}", from);
		buf_add(&d->text, S("?\"\n"));
	} else {
		buf_add_format(&d->text, "    tool: %s\n", kind);
	}
	add_inputs(d, step);
}

static void add_outputs(struct drafting *d)
{
	buf_add(&d->text, S("outputs:\n  text: {from: \"${inputs.text}\"}\n"));
	for (size_t i = 0; i < 3; i++) {
		size_t step = (size_t)sim_below(&d->dice, d->count);
		buf_add_format(&d->text,
			       "  o%zu: {from: \"${steps.s%zu.outputs}\", optional: %s}\n", i, step,
			       sim_chance(&d->dice, 80) ? "true" : "false");
	}
}

static struct str draft(uint64_t seed, size_t number, struct arena *arena)
{
	struct drafting d = { .dice = { seed * 31 + number } };
	d.count = 1 + (size_t)sim_below(&d.dice, 25);
	buf_add_format(&d.text,
		       "name: w%zu\ninputs:\n  text: {type: string}\n"
		       "  n: {type: number, default: 7}\n",
		       number);
	for (size_t i = 0; i < d.count; i++)
		draw_edges(&d, i);
	add_outputs(&d);
	buf_add(&d.text, S("steps:\n"));
	bool backwards = sim_chance(&d.dice, 30);
	for (size_t i = 0; i < d.count; i++)
		add_step(&d, backwards ? d.count - 1 - i : i);
	struct str yaml = str_copy(arena, buf_str(&d.text));
	buf_done(&d.text);
	return yaml;
}

void sim_plan_make(struct sim_plan *plan, uint64_t seed)
{
	struct sim_dice dice = { seed ^ UINT64_C(0x51a7) };
	*plan = (struct sim_plan){ .budgets = seed % 3 == 0 };
	for (size_t i = 0; i < SIM_DEFINITIONS; i++) {
		plan->steady[i] = true;
		plan->yaml[i] = sim_chance(&dice, 30) ? draft(seed, i, &plan->arena)
						      : sim_graph_make(plan, i, &dice);
	}
	plan->run_count = 1 + (size_t)sim_below(&dice, SIM_RUNS);
	for (size_t i = 0; i < plan->run_count; i++) {
		struct sim_run *run = &plan->runs[i];
		uint8_t bytes[16];
		for (size_t b = 0; b < sizeof(bytes); b++)
			bytes[b] = (uint8_t)sim_roll(&dice);
		run->id = uuid_from_random(bytes);
		run->definition = SIM_DEFINITIONS - 1 - (size_t)sim_below(&dice, 3);
		run->alone = sim_chance(&dice, seed % 5 < 2 ? 60 : 20);
		size_t size = sim_chance(&dice, 20) ? 300 : 5;
		char *text = arena_take_text(&plan->arena, size);
		for (size_t c = 0; c < size; c++)
			text[c] = (char)('A' + sim_below(&dice, 26));
		run->inputs = str_format(&plan->arena, "{\"text\":\"%.*s\"}", (int)size, text);
	}
}
