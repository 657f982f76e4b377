/* Random graphs, driven to their end in random order: the bound on rows, the room, the workspace
 * and the mirror hold at every step. */
#include "contract/run_class_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"

static uint64_t dice_state;

static size_t roll(size_t limit)
{
	dice_state = dice_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (size_t)(dice_state >> 33) % limit;
}

static void draw(struct buf *yaml, size_t steps)
{
	static const char *const kinds[] = { "tool: echo",
					     "tool: echo",
					     "tool: put",
					     "tool: box",
					     "tool: send",
					     "wait: {seconds: 1}",
					     "human: {question: ok}" };
	buf_add(yaml, S("name: w\nsteps:\n"));
	for (size_t i = 0; i < steps; i++) {
		buf_add_format(yaml, "  - {name: s%zu, %s, depends_on: [", i,
			       kinds[roll(COUNT(kinds))]);
		size_t first = i, second = i;
		if (i > 0 && roll(4) > 0) {
			first = roll(i);
			buf_add_format(yaml, "s%zu", first);
			second = roll(i);
			if (second != first)
				buf_add_format(yaml, ", s%zu", second);
		}
		buf_add(yaml, S("]"));
		if (first < i)
			buf_add_format(yaml,
				       ", inputs: {a: '${steps.s%zu.outputs}', b: "
				       "'x${steps.s%zu.outputs.k}'}",
				       first, second);
		buf_add(yaml, S("}\n"));
	}
}

static void check_bounds(struct rig *rig)
{
	size_t busy = 0, contained = 0;
	struct rig_list list = rig_activations(rig);
	for (size_t i = 0; i < list.count; i++) {
		const struct activation *step = list.at[i];
		const struct graph_node *node = run_node(rig->run, step);
		if (node->kind != RUN_NODE_TOOL || step->state != STEP_RUNNING)
			continue;
		busy++;
		contained += node->row->class == RUN_CLASS_CONTAINED;
	}
	cr_assert_eq(busy, rig->run->busy);
	cr_assert(busy <= rig->graph->concurrency);
	cr_assert(contained <= 1);
	cr_assert_eq((bool)contained, rig->run->folder.holder != NULL);
	cr_assert(rig->events <= 2 * (size_t)rig->graph->node_count + 3);
	cr_assert_eq((size_t)rig->run->seq, rig->events);
}

/* Some step that can be closed, closed; false when there is none. */
static bool close_one(struct rig *rig)
{
	struct rig_list list = rig_activations(rig);
	size_t from = roll(list.count);
	for (size_t i = 0; i < list.count; i++) {
		const struct activation *step = list.at[(from + i) % list.count];
		const char *name = str_c(&rig->arena, step->path);
		if (step->state == STEP_WAITING_HUMAN)
			rig_answer(rig, name,
				   roll(6) == 0 ? RUN_DECISION_REJECT : RUN_DECISION_APPROVE);
		else if (step->open)
			rig_finish(rig, name, roll(8) == 0 ? NULL : "{\"k\":\"v\"}");
		else if (step->state == STEP_RUNNING)
			rig_compute(rig, name);
		else
			continue;
		return true;
	}
	return false;
}

Test(random, every_graph_comes_to_its_end_within_its_rows)
{
	for (unsigned seed = 1; seed <= 150; seed++) {
		dice_state = seed;
		AUTO(buf) yaml = { 0 };
		struct rig rig;
		draw(&yaml, 1 + roll(40));
		buf_add_char(&yaml, '\0');
		rig_init(&rig, yaml.at);
		rig_create(&rig, "{}");
		check_bounds(&rig);
		while (close_one(&rig))
			check_bounds(&rig);
		cr_assert(run_ended(rig.run), "seed %u: stuck", seed);
		cr_assert_eq(rig.run->live, 0);
		cr_assert_eq(rig_open(&rig), 0);
		rig_done(&rig);
	}
}
