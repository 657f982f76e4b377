/* definition/graph.c -- names become numbers once, so that the engine never compares text. */
#include "definition/graph.h"

#include <stdlib.h>

#include "base/map.h"

/* Nodes come dependencies first, so a name that is not known yet means a broken graph. */
static bool numbers_of(const struct map *names, struct str_list list, struct arena *arena,
		       struct graph_numbers *out, struct error *error)
{
	uint32_t *numbers = arena_array(arena, uint32_t, list.count);
	for (size_t i = 0; i < list.count; i++) {
		const void *found = map_get(names, list.at[i]); /* number + 1 */
		if (found == NULL)
			return fail(error, ERROR_INVALID,
				    "graph: " STR_FMT " is named before it stands",
				    STR_ARG(list.at[i]));
		numbers[i] = (uint32_t)(uintptr_t)found - 1;
	}
	*out = (struct graph_numbers){ numbers, list.count };
	return true;
}

static bool load_node(struct graph_node *node, const struct run_graph_node *row,
		      const struct map *names, struct arena *arena, struct error *error)
{
	node->name = row->name;
	node->kind = row->kind;
	node->class = row->class;
	node->tool = has(row, tool) ? row->tool : S("");
	node->question = has(row, question) ? row->question : S("");
	node->wait_us = has(row, wait_us) ? row->wait_us : 0;
	node->inputs = row->inputs;
	return numbers_of(names, row->depends_on, arena, &node->depends_on, error) &&
	       numbers_of(names, row->reads, arena, &node->reads, error);
}

static void link_dependents(struct graph_node *nodes, uint32_t count, struct arena *arena)
{
	uint32_t *sizes = arena_array(arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++)
		for (size_t d = 0; d < nodes[i].depends_on.count; d++)
			sizes[nodes[i].depends_on.at[d]]++;
	uint32_t **lists = arena_array(arena, uint32_t *, count);
	for (uint32_t i = 0; i < count; i++) {
		lists[i] = arena_array(arena, uint32_t, sizes[i]);
		nodes[i].dependents = (struct graph_numbers){ lists[i], 0 };
	}
	for (uint32_t i = 0; i < count; i++) {
		for (size_t d = 0; d < nodes[i].depends_on.count; d++) {
			uint32_t from = nodes[i].depends_on.at[d];
			lists[from][nodes[from].dependents.count++] = i;
		}
		for (size_t r = 0; r < nodes[i].reads.count; r++)
			nodes[nodes[i].reads.at[r]].reader_count++;
	}
}

static bool link_outputs(const struct run_graph *rows, struct graph_node *nodes,
			 const struct map *names, struct arena *arena, struct error *error)
{
	for (size_t i = 0; i < rows->outputs.count; i++) {
		struct graph_numbers reads;
		if (!numbers_of(names, rows->outputs.at[i].reads, arena, &reads, error))
			return false;
		for (size_t r = 0; r < reads.count; r++)
			nodes[reads.at[r]].read_by_outputs = true;
	}
	return true;
}

static int compare_names(const void *a, const void *b, void *nodes)
{
	const struct graph_node *all = nodes;
	return str_compare(all[*(const uint32_t *)a].name, all[*(const uint32_t *)b].name);
}

static const uint32_t *sorted_by_name(struct graph_node *nodes, uint32_t count, struct arena *arena)
{
	uint32_t *numbers = arena_array(arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = i;
	qsort_r(numbers, count, sizeof(*numbers), compare_names, nodes);
	return numbers;
}

static bool load_rows(struct graph *graph, struct map *names, struct arena *arena,
		      struct error *error)
{
	const struct run_graph *rows = graph->rows;
	uint32_t count = (uint32_t)rows->nodes.count;
	struct graph_node *nodes = arena_array(arena, struct graph_node, count);
	for (uint32_t i = 0; i < count; i++) {
		if (!load_node(&nodes[i], &rows->nodes.at[i], names, arena, error))
			return false;
		map_put(names, nodes[i].name, (void *)(uintptr_t)(i + 1));
	}
	link_dependents(nodes, count, arena);
	graph->nodes = nodes;
	graph->by_name = sorted_by_name(nodes, count, arena);
	graph->node_count = count;
	return link_outputs(rows, nodes, names, arena, error);
}

bool graph_load(struct str text, struct arena *arena, const struct graph **out_graph,
		struct error *error)
{
	const struct json *json;
	struct str copy = str_copy(arena, text);
	if (!json_read(copy, arena, &json, error))
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = copy, .lenient = true };
	const struct run_graph *rows = run_graph_parse(&source, arena, &problems);
	if (rows == NULL)
		return problems_fail(&problems, error);
	struct graph *graph = arena_new(arena, struct graph);
	graph->hash = hash_of(text);
	graph->name = rows->name;
	graph->rows = rows;
	AUTO(map) names = { 0 };
	if (!load_rows(graph, &names, arena, error))
		return false;
	*out_graph = graph;
	return true;
}

int64_t graph_find(const struct graph *graph, struct str name)
{
	uint32_t low = 0, high = graph->node_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = str_compare(graph->nodes[graph->by_name[middle]].name, name);
		if (order == 0)
			return graph->by_name[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* ---- inputs -------------------------------------------------------------------------- */

bool graph_input_fits(enum run_input_type type, const struct json *value)
{
	switch (type) {
	case RUN_INPUT_STRING:
		return value->kind == JSON_STRING;
	case RUN_INPUT_NUMBER:
		return value->kind == JSON_INT || value->kind == JSON_REAL;
	case RUN_INPUT_BOOLEAN:
		return value->kind == JSON_BOOL;
	case RUN_INPUT_OBJECT:
		return value->kind == JSON_OBJECT;
	case RUN_INPUT_ARRAY:
		return value->kind == JSON_LIST;
	}
	return false;
}

static bool is_choice(const struct run_graph_input *row, const struct json *value,
		      struct arena *arena)
{
	struct str text = json_print(arena, value);
	for (size_t i = 0; i < row->choices.count; i++)
		if (str_equal(text, json_print(arena, row->choices.at[i])))
			return true;
	return false;
}

static void check_input(const struct run_graph_input *row, const struct json *value,
			struct arena *arena, struct problems *problems)
{
	struct str pointer = str_format(arena, "/" STR_FMT, STR_ARG(row->name));
	if (!graph_input_fits(row->type, value))
		problems_add(problems, pointer, 0, 0, "must be of type " STR_FMT ", not %s",
			     STR_ARG(run_input_type_name(row->type)), json_kind_name(value->kind));
	else if (has(row, choices) && !is_choice(row, value, arena))
		problems_add(problems, pointer, 0, 0, "is not one of the workflow's choices");
}

static void check_unknown(const struct graph *graph, const struct json *given, struct arena *arena,
			  struct problems *problems)
{
	for (size_t i = 0; i < given->as.object.count; i++) {
		struct str key = given->as.object.at[i].key;
		bool known = false;
		for (size_t k = 0; k < graph->rows->inputs.count && !known; k++)
			known = str_equal(graph->rows->inputs.at[k].name, key);
		if (!known)
			problems_add(problems, str_format(arena, "/" STR_FMT, STR_ARG(key)), 0, 0,
				     "is not an input of " STR_FMT, STR_ARG(graph->name));
	}
}

const struct json *graph_inputs(const struct graph *graph, const struct json *given,
				struct arena *arena, struct problems *problems)
{
	size_t before = problems->count + problems->hidden;
	size_t declared = graph->rows->inputs.count;
	struct json_member *members = arena_array(arena, struct json_member, declared);
	size_t count = 0;
	for (size_t i = 0; i < declared; i++) {
		const struct run_graph_input *row = &graph->rows->inputs.at[i];
		const struct json *value = json_member(given, row->name);
		if (value != NULL)
			check_input(row, value, arena, problems);
		else if (has(row, fallback))
			value = row->fallback;
		else if (row->required)
			problems_add(problems, str_format(arena, "/" STR_FMT, STR_ARG(row->name)),
				     0, 0, "is required by " STR_FMT, STR_ARG(graph->name));
		if (value != NULL)
			members[count++] =
				(struct json_member){ .key = row->name, .value = *value };
	}
	check_unknown(graph, given, arena, problems);
	if (problems->count + problems->hidden > before)
		return NULL;
	struct json *inputs = arena_new(arena, struct json);
	*inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return inputs;
}
