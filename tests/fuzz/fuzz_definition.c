/* tests/fuzz/fuzz_definition.c -- any text as a definition: it compiles into a graph that loads
 * and is the same when compiled again, or it has problems with texts.
 */
#include <stdint.h>

#include "definition/definition_compile.h"
#include "definition/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct definition_tool tool_rows[] = {
	{ .name = { "echo", 4 }, .class = RUN_CLASS_PURE },
	{ .name = { "shell", 5 }, .class = RUN_CLASS_CONTAINED },
};

static bool compile(struct str text, struct arena *arena, struct str *out_graph)
{
	const struct definition_tools tools = { .at = tool_rows, .count = COUNT(tool_rows) };
	struct problems problems = { .arena = arena };
	bool good = definition_compile(text, &tools, arena, out_graph, &problems);
	require(good == (problems.count == 0));
	for (size_t i = 0; i < problems.count; i++)
		require(problems.at[i].text.size > 0);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	struct str text = { (const char *)data, size }, first, second;
	if (!compile(text, &arena, &first))
		return 0;
	bool again = compile(text, &arena, &second);
	require(again && str_equal(first, second));
	const struct graph *graph;
	struct error error;
	bool loaded = graph_load(first, &arena, &graph, &error);
	require(loaded);
	for (uint32_t i = 0; i < graph->node_count; i++)
		require(graph_find(graph, graph->nodes[i].parent, graph->nodes[i].name) == i);
	return 0;
}
