/* definition/graph.h: loading of graphs, and checks of a run's inputs. */
#include <criterion/criterion.h>
#include <string.h>

#include "contract/run_graph_types.h"
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

TestSuite(graph, .init = begin, .fini = end);

static const struct graph *loaded(const char *yaml)
{
	struct problems problems = { .arena = &arena };
	struct str text;
	bool good = definition_compile(str_from_c(yaml), &tools, &arena, &text, &problems);
	cr_assert(good, "%s", str_c(&arena, problems_text(&problems, &arena)));
	const struct graph *graph = NULL;
	struct error error;
	good = graph_load(text, &arena, &graph, &error);
	cr_assert(good);
	struct hash hash = hash_of(text);
	cr_assert(hash_equal(&hash, &graph->hash));
	return graph;
}

Test(graph, knows_edges_both_ways_and_readers)
{
	const struct graph *graph =
		loaded("name: w\noutputs: {o: {from: '${steps.b.outputs}'}}\nsteps:\n"
		       "  - name: c\n    tool: echo\n    depends_on: [b, a]\n"
		       "    inputs: {x: '${steps.a.outputs}', y: '${steps.a.outputs.z}'}\n"
		       "  - name: a\n    tool: echo\n"
		       "  - name: b\n    tool: send\n    depends_on: [a]\n"
		       "    inputs: {x: '${steps.a.outputs}'}\n");
	cr_assert_eq(graph->node_count, 3);
	int64_t a = graph_find(graph, GRAPH_ROOT, S("a")),
		b = graph_find(graph, GRAPH_ROOT, S("b")),
		c = graph_find(graph, GRAPH_ROOT, S("c"));
	cr_assert(a == 0 && b == 1 && c == 2);
	cr_assert_eq(graph_find(graph, GRAPH_ROOT, S("d")), -1);
	cr_assert_eq(graph_find(graph, GRAPH_ROOT, S("")), -1);
	const struct graph_node *nodes = graph->nodes;
	cr_assert_eq(nodes[a].dependents.count, 2);
	cr_assert_eq(nodes[b].depends_on.count, 1);
	cr_assert_eq(nodes[b].depends_on.at[0], a);
	cr_assert_eq(nodes[c].depends_on.count, 2);
	cr_assert_eq(nodes[c].reads.count, 1);
	cr_assert_eq(nodes[a].reader_count, 2);
	cr_assert(nodes[b].keeps && !nodes[a].keeps);
	cr_assert_eq(nodes[b].row->class, RUN_CLASS_ONCE);
}

/* A dependency and an output that refer to an unknown node. */
static const char named_too_early[] =
	"{\"name\":\"w\",\"inputs\":[],\"nodes\":[{\"name\":\"a\",\"kind\":\"wait\","
	"\"join\":\"all\",\"class\":\"pure\",\"depends_on\":[\"b\"],\"inputs\":{},\"reads\":[]}],"
	"\"outputs\":[]}";
static const char outputs_read_nothing[] =
	"{\"name\":\"w\",\"inputs\":[],\"nodes\":[],\"outputs\":[{\"name\":\"o\",\"from\":1,"
	"\"optional\":false,\"reads\":[\"x\"]}]}";

Test(graph, refuses_what_is_not_a_graph)
{
	static const char *const texts[] = {
		"", "[]", "{}", "{\"name\":\"w\"}", named_too_early, outputs_read_nothing,
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		const struct graph *graph;
		struct error error;
		cr_assert_not(graph_load(str_from_c(texts[i]), &arena, &graph, &error), "%s",
			      texts[i]);
	}
}

/* ---- inputs ------------------------------------------------------------------------- */

static const char *const with_inputs = "name: w\ninputs:\n"
				       "  s: {type: string}\n"
				       "  n: {type: number, default: 7}\n"
				       "  b: {type: boolean, required: false}\n"
				       "  o: {type: object, required: false}\n"
				       "  l: {type: array, required: false}\n"
				       "  c: {enum: [red, green], default: red}\n"
				       "steps:\n  - name: a\n    tool: echo\n";

static struct problems problems;

static const char *given(const char *text)
{
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(str_from_c(text), &arena, &json, &error);
	cr_assert(good);
	problems = (struct problems){ .arena = &arena };
	const struct json *inputs = graph_inputs(loaded(with_inputs), json, &arena, &problems);
	return inputs == NULL ? NULL : str_c(&arena, json_print(&arena, inputs));
}

static void input_refused(const char *text, const char *pointer, const char *says)
{
	cr_assert_null(given(text), "%s was taken", text);
	cr_assert_eq(problems.count, 1);
	cr_assert_str_eq(str_c(&arena, problems.at[0].pointer), pointer);
	const char *said = str_c(&arena, problems.at[0].text);
	cr_assert(strstr(said, says) != NULL, "%s", said);
}

Test(graph, defaults_are_filled_in_the_declared_order)
{
	cr_assert_str_eq(given("{\"s\":\"x\"}"), "{\"s\":\"x\",\"n\":7,\"c\":\"red\"}");
	cr_assert_str_eq(
		given("{\"c\":\"green\",\"b\":false,\"n\":1.5,\"s\":\"\",\"o\":{},\"l\":[]}"),
		"{\"s\":\"\",\"n\":1.5,\"b\":false,\"o\":{},\"l\":[],\"c\":\"green\"}");
}

Test(graph, wrong_inputs_are_named)
{
	input_refused("{}", "/s", "is required by w");
	input_refused("{\"s\":\"x\",\"other\":1}", "/other", "is not an input of w");
	input_refused("{\"s\":1}", "/s", "must be of type string, not integer");
	input_refused("{\"s\":null}", "/s", "must be of type string");
	input_refused("{\"s\":\"x\",\"n\":\"7\"}", "/n", "must be of type number");
	input_refused("{\"s\":\"x\",\"b\":0}", "/b", "must be of type boolean");
	input_refused("{\"s\":\"x\",\"o\":[]}", "/o", "must be of type object");
	input_refused("{\"s\":\"x\",\"l\":{}}", "/l", "must be of type array");
	input_refused("{\"s\":\"x\",\"c\":\"blue\"}", "/c",
		      "is not one of the choices that the workflow declares");
}

Test(graph, all_wrong_inputs_are_listed)
{
	cr_assert_null(given("{\"n\":\"x\",\"q\":1,\"c\":\"blue\"}"));
	cr_assert_eq(problems.count, 4);
}
