/* Rounds: what happens when they are used up, and how many there may be.  The rig's mirror folds each event a
 * second time. */
#include <string.h>

#include "contract/run_graph_types.h"
#include "engine/engine_rig.h"

static struct rig rig;

static void prepare(const char *text)
{
	AUTO(buf) yaml = { 0 };
	buf_add_format(&yaml, "name: w\ninputs: {o: {type: object, default: {}}}\n%s", text);
	buf_add_char(&yaml, '\0');
	rig_init(&rig, yaml.at);
}

static void begin(const char *text, const char *inputs)
{
	prepare(text);
	rig_create(&rig, inputs);
	rig_log(&rig);
}

static void end(void)
{
	rig_done(&rig);
}

TestSuite(rounds, .fini = end);

#define LOOP(more)                                                                     \
	"steps:\n  - name: l\n    loop: {until: 'steps.a.outputs.k == 3', max: 2" more \
	", steps: [{name: a, tool: put}]}\n"                                           \
	"  - {name: b, tool: put, depends_on: [l]}\n"

static void expect_fault(const char *step, enum error_code code, const char *part)
{
	struct failure fault = rig_step(&rig, step)->fault;
	size_t at;
	cr_expect(str_equal(fault.code, error_row(code)->name), STR_FMT, STR_ARG(fault.code));
	cr_expect(str_find(fault.text, str_from_c(part), &at), STR_FMT, STR_ARG(fault.text));
}

static void expect_snapshots(void)
{
	check_snapshots(rig.history, rig.events, rig.run->id, rig.graph);
}

Test(rounds, a_loop_at_its_limit_fails_with_its_last_output)
{
	begin(LOOP(""), "{}");
	rig_finish(&rig, "l/a", "{\"k\":1}");
	rig_finish(&rig, "l#2/a", "{\"k\":2}");
	cr_assert_eq(rig.run->state, RUN_FAILED);
	expect_fault("l#2", ERROR_LIMIT_REACHED,
		     "after 2 rounds: steps.a.outputs.k == 3; raise "
		     "loop: max, or continue");
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "l#2")->result), "{\"k\":2}");
	cr_expect_str_eq(rig_state(&rig, "b"), "skipped");
	cr_expect_not(rig_step(&rig, "l#2")->limit_reached);
	expect_snapshots();
}

Test(rounds, a_retry_begins_with_the_first_round)
{
	begin(LOOP(""), "{}");
	rig_finish(&rig, "l/a", "{\"k\":1}");
	rig_finish(&rig, "l#2/a", "{\"k\":2}");
	rig_do(&rig, &(struct command){ .kind = COMMAND_RETRY, .by = S("ann") });
	rig_finish(&rig, "l#3/a", "{\"k\":1}");
	rig_finish(&rig, "l#4/a", "{\"k\":3}");
	cr_expect_str_eq(rig_state(&rig, "l#4"), "succeeded");
	cr_expect_str_eq(rig_state(&rig, "b#2"), "running");
	expect_snapshots();
}

Test(rounds, a_loop_may_continue_with_its_last_result)
{
	begin(LOOP(", on_limit: continue"), "{}");
	rig_finish(&rig, "l/a", "{\"k\":1}");
	rig_finish(&rig, "l#2/a", "{\"k\":2}");
	cr_expect_str_eq(rig_state(&rig, "l#2"), "succeeded");
	cr_expect(rig_step(&rig, "l#2")->limit_reached);
	cr_expect_str_eq(rig_state(&rig, "b"), "running");
}

Test(rounds, the_condition_is_asked_in_the_last_round_too)
{
	begin(LOOP(""), "{}");
	rig_finish(&rig, "l/a", "{\"k\":1}");
	rig_finish(&rig, "l#2/a", "{\"k\":3}");
	cr_expect_str_eq(rig_state(&rig, "l#2"), "succeeded");
	cr_expect_not(rig_step(&rig, "l#2")->limit_reached);
}

static const char of_steps[] =
	"steps:\n"
	"  - {name: t, tool: put, loop_until: 'false', loop_max: '${inputs.o.n}', retry: "
	"{max_retries: 2, on: [invalid, limit_reached]}}\n"
	"  - {name: e, tool: echo, loop_until: 'false', loop_max: '${inputs.o.n}'}\n"
	"  - {name: c, condition: 'true', loop_until: 'false', loop_max: '${inputs.o.n}'}\n"
	"  - {name: s, wait: {signal: go}, loop_until: 'false', loop_max: '${inputs.o.n}'}\n"
	"  - {name: h, human: {question: 'q?'}, loop_until: 'false', loop_max: '${inputs.o.n}'}\n"
	"  - {name: p, gate: {steps: [{name: x, tool: put}]}, loop_until: 'false', loop_max: "
	"'${inputs.o.n}'}\n";

static void play_steps(const char *inputs)
{
	begin(of_steps, inputs);
	rig_finish(&rig, "t", "{\"k\":1}");
	rig_compute(&rig, "e");
	rig_do(&rig, &(struct command){ .kind = COMMAND_SIGNAL,
					.name = S("go"),
					.by = S("ann"),
					.output = rig_json(&rig, "{\"g\":1}") });
	rig_answer(&rig, "h", RUN_DECISION_APPROVE);
	rig_finish(&rig, "p/x", "{}");
	cr_assert(run_ended(rig.run));
}

static const char *const names[] = { "t", "e", "c", "s", "h", "p" };

Test(rounds, a_snapshot_keeps_what_reached_its_limit)
{
	play_steps("{\"o\":{\"n\":1}}");
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
	for (size_t i = 0; i < COUNT(names); i++) {
		cr_expect_str_eq(rig_state(&rig, names[i]), "succeeded", "%s", names[i]);
		cr_expect(rig_step(&rig, names[i])->limit_reached, "%s", names[i]);
	}
	expect_snapshots();
}

Test(rounds, a_number_of_rounds_that_cannot_be_fails_every_kind_of_step)
{
	play_steps("{\"o\":{\"n\":2.5}}");
	cr_expect_eq(rig.run->state, RUN_FAILED);
	for (size_t i = 0; i < COUNT(names); i++) {
		cr_expect_str_eq(rig_state(&rig, names[i]), "failed", "%s", names[i]);
		expect_fault(names[i], ERROR_INVALID,
			     "loop_max is 2.5, and must be a whole number from 1 on; correct the "
			     "value that ${inputs.o.n} refers to");
	}
	cr_expect_null(rig.run->signals, "the wait has taken its signal");
	expect_snapshots();
}

Test(rounds, neither_zero_nor_nothing_nor_text_is_a_number_of_rounds)
{
	static const char *const inputs[] = { "{\"o\":{\"n\":0}}", "{\"o\":{\"n\":\"2\"}}",
					      "{\"o\":{\"n\":null}}", "{\"o\":{\"n\":-1}}",
					      "{\"o\":{\"n\":true}}" };
	for (size_t i = 0; i < COUNT(inputs); i++) {
		begin("steps: [{name: t, tool: put, loop_until: 'true', loop_max: "
		      "'${inputs.o.n}'}]\n",
		      inputs[i]);
		rig_finish(&rig, "t", "{}");
		expect_fault("t", ERROR_INVALID, "loop_max is ");
		if (i + 1 < COUNT(inputs))
			rig_done(&rig);
	}
}

/* The graph as an older version has compiled it. */
static void without_on_limit(void)
{
	struct graph *graph = arena_copy(&rig.arena, rig.graph, sizeof(*graph));
	struct graph_node *nodes =
		arena_copy(&rig.arena, graph->nodes, graph->node_count * sizeof(*nodes));
	for (size_t i = 0; i < graph->node_count; i++) {
		struct run_graph_node *row = arena_copy(&rig.arena, nodes[i].row, sizeof(*row));
		row->is.on_limit = ABSENT;
		nodes[i].row = row;
	}
	graph->nodes = nodes;
	rig.graph = graph;
	rig.run = run_new(&rig.arena, rig.run->id, graph);
	rig.mirror = run_new(&rig.arena, rig.mirror->id, graph);
}

Test(rounds, a_graph_of_an_older_version_keeps_its_rules)
{
	prepare("steps:\n"
		"  - {name: l, loop: {until: 'false', max: 2, steps: [{name: a, tool: put}]}}\n"
		"  - {name: t, tool: put, loop_until: 'false', loop_max: '${inputs.o.n}'}\n"
		"  - {name: u, tool: put, loop_until: 'false', loop_max: '${inputs.o.m}'}\n");
	without_on_limit();
	rig_create(&rig, "{\"o\":{\"n\":0}}");
	rig_finish(&rig, "l/a", "{}");
	rig_finish(&rig, "l#2/a", "{}");
	rig_finish(&rig, "t", "{}");
	rig_finish(&rig, "u", "{}");
	rig_finish(&rig, "u#2", "{}");
	rig_finish(&rig, "u#3", "{}");
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
	cr_expect_not(rig_step(&rig, "l#2")->limit_reached);
	cr_expect_not(rig_step(&rig, "t")->limit_reached);
	cr_expect_not(rig_step(&rig, "u#3")->limit_reached);
}
