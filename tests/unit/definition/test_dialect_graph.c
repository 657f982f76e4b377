/* definition/dialect_graph.c: graph workflows become the same graphs as workflows with steps, and every
 * problem has the place in the author's file and the name of the dialect.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "contract/run_class_types.h"
#include "definition/graph.h"
#include "definition/tools.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(dialect_graph, .init = begin, .fini = end);

static struct problems broken(struct str yaml)
{
	struct problems problems = { .arena = &arena };
	struct str graph;
	cr_assert_not(definition_compile(yaml, &tools, &arena, &graph, &problems));
	cr_assert(problems.count > 0);
	for (size_t i = 0; i < problems.count; i++)
		cr_assert(str_starts(problems.at[i].text, S("graph workflow: ")), STR_FMT,
			  STR_ARG(problems.at[i].text));
	return problems;
}

static void only(const char *yaml, uint32_t line, uint32_t column, const char *pointer,
		 const char *says)
{
	struct problems problems = broken(str_from_c(yaml));
	cr_expect_eq(problems.count, 1, "%s", str_c(&arena, problems_text(&problems, &arena)));
	const char *text = str_c(&arena, problems.at[0].text);
	cr_expect(strstr(text, says) != NULL, "%s", text);
	cr_expect_eq(problems.at[0].line, line, "%s: line %u", text, problems.at[0].line);
	cr_expect_eq(problems.at[0].column, column, "%s: column %u", text, problems.at[0].column);
	cr_expect_str_eq(str_c(&arena, problems.at[0].pointer), pointer);
}

static struct str compile_with(const char *yaml, struct problems *warnings)
{
	struct problems problems = { .arena = &arena };
	struct definition_tools with = tools;
	struct str graph;
	with.warnings = warnings;
	bool good = definition_compile(str_from_c(yaml), &with, &arena, &graph, &problems);
	cr_assert(good, "%s", str_c(&arena, problems_text(&problems, &arena)));
	return graph;
}

static struct str compiled(const char *yaml)
{
	return compile_with(yaml, NULL);
}

#define HEAD "name: g\nentry_point: a\n"

Test(dialect_graph, is_the_graph_of_the_same_steps)
{
	struct str nodes =
		compiled(HEAD "max_iterations: 7\n"
			      "nodes:\n"
			      "  a: {type: tool, tool: echo, inputs: {n: 1}}\n"
			      "  b: {type: tool, tool: send, inputs: {}, max_iterations: 3}\n"
			      "edges:\n"
			      "  - {from: a, to: b, condition: 'steps.a.outputs.n > 0'}\n"
			      "  - {from: b, to: __end__}\n"
			      "outputs: {n: {from: '${steps.a.outputs.n}'}}\n");
	struct str steps =
		compiled("name: g\nmax_iterations: 7\nstate: {}\n"
			 "inputs: {task: {required: false}}\n"
			 "steps:\n"
			 "  - name: a\n    tool: echo\n    inputs: {n: 1}\n    join: any\n"
			 "    entry: true\n    max_iterations: 10\n"
			 "    next: [{to: b, when: 'steps.a.outputs.n > 0'}]\n"
			 "  - {name: b, tool: send, join: any, entry: false, max_iterations: 3}\n"
			 "outputs: {n: {from: '${steps.a.outputs.n}'}}\n");
	cr_assert(str_equal(nodes, steps), STR_FMT "\n" STR_FMT, STR_ARG(nodes), STR_ARG(steps));
}

Test(dialect_graph, json_is_accepted_where_yaml_is)
{
	cr_assert(str_equal(
		compiled("{\"name\": \"g\",\n\t\"entry_point\": \"a\", \"nodes\":\n"
			 "\t{\"a\": {\"type\": \"tool\", \"tool\": \"echo\"}}, \"edges\": []}"),
		compiled(HEAD "nodes: {a: {type: tool, tool: echo}}\nedges: []\n")));
}

Test(dialect_graph, a_routing_map_is_an_edge_for_each_key)
{
	struct str graph =
		compiled(HEAD "nodes:\n"
			      "  a: {type: condition, condition: '1 > 0'}\n"
			      "  b: {type: tool, tool: echo}\n"
			      "edges: [{from: a, to: {x: b, y: __end__, '*': b}, condition: n}]\n"
			      "state: {n: number}\n");
	const char *text = str_c(&arena, graph);
	cr_assert(strstr(text, "\"routes\":[\"x\",\"y\",\"*\"]") != NULL, "%s", text);
	cr_assert(strstr(text, "(n) and state.routing_key == 'x'") != NULL, "%s", text);
	cr_assert(strstr(text, "(n) and not (state.routing_key in ['x', 'y'])") != NULL, "%s",
		  text);
}

Test(dialect_graph, a_node_that_nothing_leads_to_is_a_warning)
{
	struct problems warnings = { .arena = &arena };
	compile_with(HEAD
		     "nodes:\n  a: {type: tool, tool: echo}\n  lost: {type: tool, tool: echo}\n"
		     "edges: [{from: lost, to: a}]\n",
		     &warnings);
	cr_assert_eq(warnings.count, 1);
	cr_assert_eq(warnings.at[0].line, 5);
	cr_assert_eq(warnings.at[0].column, 3);
	cr_assert_str_eq(
		str_c(&arena, warnings.at[0].text),
		"graph workflow: no edge leads to node lost from the entry point, so it never "
		"runs");
}

Test(dialect_graph, problems_have_places_and_fixes)
{
	only(HEAD "nodes:\n  a: {type: tool, tool: echo}\nedges:\n  - from: a\n    to: bb\n", 7, 9,
	     "/edges/0/to", "there is no node bb");
	only("name: g\nentry_point: start\nnodes:\n  strat: {type: tool, tool: echo}\nedges: []\n",
	     2, 14, "/entry_point", "there is no node start; did you mean \"strat\"?");
	only(HEAD "nodes:\n  a: {type: tool, tool: ekko}\nedges: []\n", 4, 25, "/nodes/a/tool",
	     "did you mean \"echo\"?");
	only(HEAD "nodes:\n  a: {type: agent, agent: ada}\nedges: []\n", 4, 27, "/nodes/a/agent",
	     "agent ada does not exist");
	only(HEAD "nodes:\n  a: {type: tool}\nedges: []\n", 4, 6, "/nodes/a",
	     "a node of type tool needs tool");
	only(HEAD "nodes:\n  a: {type: tool, tool: echo, agnet: x}\nedges: []\n", 4, 31,
	     "/nodes/a/agnet", "is not a field of");
	only(HEAD "nodes:\n  a: {type: robot}\nedges: []\n", 4, 13, "/nodes/a/type", "human");
	only(HEAD "nodes:\n  a: {type: human, tool: echo}\nedges: []\n", 4, 26, "/nodes/a/tool",
	     "a node of type human has no tool");
	only(HEAD "nodes:\n  a: {type: condition, condition: 'x >'}\nedges: []\n", 4, 38,
	     "/nodes/a/condition", "");
	only(HEAD "nodes:\n  a: {type: tool, tool: echo}\nedges: []\ncheckpoints: [b]\n", 6, 15,
	     "/checkpoints/0", "checkpoints: there is no node b");
	only(HEAD "nodes:\n  a: {type: tool, tool: echo}\nedges: []\nstate:\n  n: {type: number, "
		  "default: x}\n",
	     7, 30, "/state/n/default", "must be of type number");
	only(HEAD
	     "nodes:\n  a: {type: parallel, parallel_tasks: [h]}\n  h: {type: human}\nedges: []\n",
	     4, 40, "/nodes/a/parallel_tasks/0", "a task is an agent or a tool");
	only(HEAD "nodes:\n  a: {type: parallel, parallel_tasks: [{name: t}]}\nedges: []\n", 4, 40,
	     "/nodes/a/parallel_tasks/0", "task t needs an agent or a tool");
	only(HEAD "nodes:\n  a: {type: tool, tool: echo}\nedges: [{from: a, to: {\"k'\": a}}]\n", 5,
	     30, "/edges/0/to/k'", "keys without quotes");
	only(HEAD "nodes:\n  a: {type: tool, tool: echo}\nedges: []\nsteps: []\n", 6, 1, "/steps",
	     "is not a field of");
}

Test(dialect_graph, a_cycle_without_a_condition_is_named_with_its_path)
{
	struct problems problems = broken(
		S(HEAD "nodes:\n  a: {type: tool, tool: echo}\n  b: {type: tool, tool: echo}\n"
		       "edges:\n  - {from: a, to: b}\n  - {from: b, to: a}\n"));
	cr_assert_eq(problems.count, 1);
	cr_assert(strstr(str_c(&arena, problems.at[0].text), "a -> b -> a") != NULL, STR_FMT,
		  STR_ARG(problems.at[0].text));
	cr_assert_eq(problems.at[0].line, 7);
	compiled(HEAD
		 "nodes:\n  a: {type: tool, tool: echo}\n  b: {type: tool, tool: echo}\n"
		 "edges:\n  - {from: a, to: b}\n  - {from: b, to: a, condition: 'messages'}\n");
}

Test(dialect_graph, data_decides_the_order_of_tasks)
{
	struct str graph =
		compiled(HEAD "nodes:\n  a:\n    type: parallel\n    parallel_tasks:\n"
			      "      - {name: late, tool: echo, consumes: [x, task]}\n"
			      "      - {name: early, tool: echo, produces: [x]}\nedges: []\n");
	cr_assert(strstr(str_c(&arena, graph), "\"depends_on\":[\"early\"]") != NULL, STR_FMT,
		  STR_ARG(graph));
	only(HEAD "nodes:\n  a:\n    type: parallel\n    parallel_tasks:\n"
		  "      - {name: t, tool: echo, consumes: [facst]}\n"
		  "      - {name: u, tool: echo, produces: [facts]}\nedges: []\n",
	     7, 42, "/nodes/a/parallel_tasks/0/consumes", "did you mean \"facts\"?");
	struct problems problems = broken(
		S(HEAD "nodes:\n  a:\n    type: parallel\n    parallel_tasks:\n"
		       "      - {name: t, tool: echo, consumes: [x], produces: [y]}\n"
		       "      - {name: u, tool: echo, produces: [x], consumes: [y]}\nedges: []\n"));
	cr_assert(strstr(str_c(&arena, problems.at[0].text), "cycle: t -> u -> t") != NULL, STR_FMT,
		  STR_ARG(problems.at[0].text));
}

/* Bounded: a file of more nodes than a definition may have, an alias bomb, and very deep input. */
Test(dialect_graph, hostile_files_are_refused)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S(HEAD "edges: []\nnodes:\n"));
	for (int i = 0; i < LIMIT_STEPS + 5; i++)
		buf_add_format(&text, "  n%d: {type: tool, tool: echo}\n", i);
	struct problems many = broken(buf_str(&text));
	cr_assert(many.count <= LIMIT_PROBLEMS);
	AUTO(buf) bomb = { 0 };
	buf_add(&bomb, S(HEAD "nodes: {a: {type: tool, tool: echo}}\nedges: []\n"
			      "inputs:\n  l0: &l0 {default: [x, x, x, x, x, x, x, x, x, x]}\n"));
	for (int i = 1; i < 9; i++)
		buf_add_format(
			&bomb,
			"  l%d: &l%d {default: [*l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d, *l%d]}\n",
			i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	struct problems problems = { .arena = &arena };
	struct str graph;
	cr_assert_not(definition_compile(buf_str(&bomb), &tools, &arena, &graph, &problems));
}

/* 10,000 nodes in one chain compile, load, and keep their order. */
Test(dialect_graph, ten_thousand_nodes)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("name: g\nentry_point: n0\nmax_iterations: 1000\nnodes:\n"));
	for (int i = 0; i < 9999; i++)
		buf_add_format(&text, "  n%d: {type: tool, tool: echo}\n", i);
	buf_add(&text, S("edges:\n"));
	for (int i = 0; i + 1 < 9999; i++)
		buf_add_format(&text, "  - {from: n%d, to: n%d}\n", i, i + 1);
	const struct graph *graph;
	struct error error;
	struct problems problems = { .arena = &arena };
	struct str out;
	bool good = definition_compile(buf_str(&text), &tools, &arena, &out, &problems);
	cr_assert(good, "%s", str_c(&arena, problems_text(&problems, &arena)));
	cr_assert(graph_load(out, &arena, &graph, &error), "%s", error.text);
	cr_assert_eq(graph->node_count, 9999);
}

/* ---- patterns ---------------------------------------------------------------------------------- */

static bool has_text(struct str text, const char *part)
{
	size_t at;
	return str_find(text, str_from_c(part), &at);
}

#define ADA "agents: {ada: {driver: script, options: {replies: [{text: x}]}}}\n"

Test(dialect_graph, patterns_become_nodes)
{
	struct str graph = compile_with("name: g\npatterns: [cot, reflection]\n" ADA, NULL);
	cr_expect(has_text(graph, "\"cot_think\"") && has_text(graph, "\"cot_answer\""));
	cr_expect(has_text(graph, "\"reflection_generate\"") &&
		  has_text(graph, "state.reflection_rounds < 3"));
}

Test(dialect_graph, an_edge_names_a_pattern)
{
	struct str graph = compile_with("name: g\npatterns: [cot]\nentry_point: cot\n"
					"nodes: {last: {type: human}}\n"
					"edges: [{from: cot, to: last}]\n" ADA,
					NULL);
	cr_expect(has_text(graph, "\"cot_end\"") && has_text(graph, "\"last\""));
}

Test(dialect_graph, an_unknown_pattern_has_its_place)
{
	only("name: g\npatterns: [reakt]\n" ADA, 2, 12, "/patterns/0", "did you mean \"react\"?");
}
