/* definition/graph.c -- loads a graph.
 *
 * Names are converted to numbers once, so that the engine never compares text.
 */
#include "definition/graph.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"
#include "contract/run_graph_types.h"

enum { RUN_CONCURRENCY = 10 };

/* State while a graph is loaded. */
struct graph_loader {
	struct arena *arena;
	struct graph_node *nodes;
	uint32_t count;
	bool own_trees, has_finally;
	struct error *error;
};

static uint32_t count_nodes(struct run_graph_node_list rows)
{
	uint32_t count = (uint32_t)rows.count;
	for (size_t i = 0; i < rows.count; i++)
		count += count_nodes(rows.at[i].body);
	return count;
}

static bool expression(struct graph_loader *l, bool given, struct str text, const struct expr **out)
{
	return !given || expr_parse(text, l->arena, out, l->error);
}

static bool load_criteria(struct graph_loader *l, struct graph_node *node)
{
	const struct run_graph_node *row = node->row;
	struct graph_criterion *criteria =
		arena_array(l->arena, struct graph_criterion, row->criteria.count);
	for (size_t i = 0; i < row->criteria.count; i++) {
		criteria[i].name = row->criteria.at[i].name;
		criteria[i].critical = row->criteria.at[i].critical;
		criteria[i].reason = NULL;
		if (!expression(l, true, row->criteria.at[i].check, &criteria[i].check) ||
		    !expression(l, has(&row->criteria.at[i], reason), row->criteria.at[i].reason,
				&criteria[i].reason))
			return false;
	}
	node->criteria = criteria;
	node->criterion_count = row->criteria.count;
	return true;
}

static bool load_node(struct graph_loader *l, struct graph_node *node,
		      const struct run_graph_node *row)
{
	node->row = row;
	node->name = row->name;
	node->kind = row->kind;
	node->any = row->join == RUN_JOIN_ANY;
	node->entry = has(row, entry) && row->entry;
	node->read_only = has(row, read_only) && row->read_only;
	node->section = has(row, section) ? row->section : RUN_SECTION_STEPS;
	node->continues = has(row, continue_on_error) && row->continue_on_error;
	bool judged = has(row, milestone) && has(row->milestone, passed);
	return expression(l, judged, judged ? row->milestone->passed : S(""), &node->passed) &&
	       expression(l, has(row, when), row->when, &node->when) &&
	       expression(l, has(row, until), row->until, &node->until) &&
	       expression(l, has(row, value), row->value, &node->value) && load_criteria(l, node);
}

/* The number of the node with this name; `names` has the nodes of one body. */
static bool number_of(struct graph_loader *l, const struct map *names, struct str name,
		      uint32_t *out)
{
	const void *found = map_get(names, name); /* number + 1 */
	if (found == NULL)
		return fail(l->error, ERROR_INVALID, "graph: unknown node " STR_FMT, STR_ARG(name));
	*out = (uint32_t)(uintptr_t)found - 1;
	return true;
}

static bool numbers_of(struct graph_loader *l, const struct map *names, struct str_list list,
		       struct graph_numbers *out)
{
	uint32_t *numbers = arena_array(l->arena, uint32_t, list.count);
	for (size_t i = 0; i < list.count; i++)
		if (!number_of(l, names, list.at[i], &numbers[i]))
			return false;
	*out = (struct graph_numbers){ numbers, list.count };
	return true;
}

static bool link_node(struct graph_loader *l, const struct map *names, struct graph_node *node)
{
	const struct run_graph_node *row = node->row;
	struct graph_edge *edges = arena_array(l->arena, struct graph_edge, row->edges.count);
	for (size_t i = 0; i < row->edges.count; i++) {
		const struct run_graph_edge *edge = &row->edges.at[i];
		if (!number_of(l, names, edge->to, &edges[i].to) ||
		    !expression(l, has(edge, when), edge->when, &edges[i].when))
			return false;
	}
	node->edges = (struct graph_edges){ edges, row->edges.count };
	return numbers_of(l, names, row->depends_on, &node->depends_on) &&
	       numbers_of(l, names, row->reads, &node->reads);
}

static void link_dependents(struct graph_loader *l, struct graph_numbers body)
{
	struct graph_node *nodes = l->nodes;
	for (size_t i = 0; i < body.count; i++) {
		const struct graph_node *node = &nodes[body.at[i]];
		for (size_t d = 0; d < node->depends_on.count; d++)
			nodes[node->depends_on.at[d]].dependents.count++;
	}
	uint32_t **lists = arena_array(l->arena, uint32_t *, body.count);
	for (size_t i = 0; i < body.count; i++) {
		struct graph_node *node = &nodes[body.at[i]];
		lists[i] = arena_array(l->arena, uint32_t, node->dependents.count);
		node->dependents = (struct graph_numbers){ lists[i], 0 };
	}
	for (size_t i = 0; i < body.count; i++) {
		const struct graph_node *node = &nodes[body.at[i]];
		for (size_t d = 0; d < node->depends_on.count; d++) {
			struct graph_node *from = &nodes[node->depends_on.at[d]];
			lists[from->slot][from->dependents.count++] = body.at[i];
		}
	}
}

/* Outputs are kept for nodes that may run again, because they read them again. */
static void link_readers(struct graph_loader *l, struct graph_numbers body, bool inside)
{
	for (size_t i = 0; i < body.count; i++) {
		struct graph_node *node = &l->nodes[body.at[i]];
		bool comes_again = node->any || node->until != NULL ||
				   node->kind == RUN_NODE_VERIFY || node->edges.count > 0;
		node->keeps |= inside || comes_again || node->row->sets.count > 0;
		for (size_t r = 0; r < node->reads.count; r++) {
			struct graph_node *read = &l->nodes[node->reads.at[r]];
			read->reader_count++;
			read->keeps |= comes_again;
		}
	}
}

/* Steps of a parallel body that depend on each other, or lead to each other, are one branch. */
static void link_branches(struct graph_loader *l, struct graph_numbers body)
{
	for (size_t i = 0; i < body.count; i++)
		l->nodes[body.at[i]].branch = (uint32_t)i;
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < body.count; i++) {
			struct graph_node *node = &l->nodes[body.at[i]];
			for (size_t k = 0; k < node->depends_on.count + node->edges.count; k++) {
				struct graph_node *other =
					&l->nodes[k < node->depends_on.count
							  ? node->depends_on.at[k]
							  : node->edges
								    .at[k - node->depends_on.count]
								    .to];
				uint32_t least =
					node->branch < other->branch ? node->branch : other->branch;
				changed |= node->branch != least || other->branch != least;
				node->branch = other->branch = least;
			}
		}
	}
}

/* The body of the node is loaded. */
static void link_writes(struct graph_loader *l, struct graph_node *node)
{
	node->writes = node->kind == RUN_NODE_TOOL && node->row->class == RUN_CLASS_CONTAINED &&
		       !node->read_only;
	for (size_t i = 0; i < node->body.count; i++)
		node->writes |= l->nodes[node->body.at[i]].writes;
	node->own_trees = node->writes && has(node->row, own_trees) && node->row->own_trees;
	l->own_trees |= node->own_trees;
	if (node->own_trees && node->kind == RUN_NODE_PARALLEL)
		link_branches(l, node->body);
}

static bool load_body(struct graph_loader *l, struct run_graph_node_list rows, uint32_t parent,
		      struct graph_numbers *out)
{
	AUTO(map) names = { 0 };
	uint32_t *numbers = arena_array(l->arena, uint32_t, rows.count);
	for (size_t i = 0; i < rows.count; i++) {
		numbers[i] = l->count++;
		struct graph_node *node = &l->nodes[numbers[i]];
		node->parent = parent;
		node->slot = (uint32_t)i;
		if (!load_node(l, node, &rows.at[i]))
			return false;
		if (map_get(&names, node->name) != NULL)
			return fail(l->error, ERROR_INVALID, "graph: duplicate node name " STR_FMT,
				    STR_ARG(node->name));
		map_put(&names, node->name, (void *)(uintptr_t)(numbers[i] + 1));
	}
	*out = (struct graph_numbers){ numbers, rows.count };
	for (size_t i = 0; i < rows.count; i++) {
		struct graph_node *node = &l->nodes[numbers[i]];
		if (!link_node(l, &names, node) ||
		    !load_body(l, rows.at[i].body, numbers[i], &node->body))
			return false;
		link_writes(l, node);
	}
	for (size_t i = 0; i < rows.count && parent != GRAPH_ROOT; i++) {
		l->nodes[parent].has_catch |= l->nodes[numbers[i]].section == RUN_SECTION_CATCH;
		l->nodes[parent].has_finally |= l->nodes[numbers[i]].section == RUN_SECTION_FINALLY;
		l->has_finally |= l->nodes[parent].has_finally;
	}
	link_dependents(l, *out);
	link_readers(l, *out, parent != GRAPH_ROOT);
	return true;
}

static bool link_output(struct graph_loader *l, struct graph *graph,
			const struct run_graph_output *output)
{
	for (size_t r = 0; r < output->reads.count; r++) {
		int64_t node = graph_find(graph, GRAPH_ROOT, output->reads.at[r]);
		if (node < 0)
			return fail(l->error, ERROR_INVALID,
				    "graph: an output reads an unknown node");
		l->nodes[node].keeps = true;
	}
	return true;
}

static bool link_outputs(struct graph_loader *l, struct graph *graph)
{
	const struct run_graph *rows = graph->rows;
	for (size_t i = 0; i < rows->outputs.count; i++)
		if (!link_output(l, graph, &rows->outputs.at[i]))
			return false;
	return !has(rows, issues) || link_output(l, graph, rows->issues);
}

static int compare_names(const void *a, const void *b, void *nodes)
{
	const struct graph_node *all = nodes;
	const struct graph_node *left = &all[*(const uint32_t *)a];
	const struct graph_node *right = &all[*(const uint32_t *)b];
	if (left->parent != right->parent)
		return left->parent < right->parent ? -1 : 1;
	return str_compare(left->name, right->name);
}

static const uint32_t *sorted_by_name(struct graph_node *nodes, uint32_t count, struct arena *arena)
{
	uint32_t *numbers = arena_array(arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = i;
	qsort_r(numbers, count, sizeof(*numbers), compare_names, nodes);
	return numbers;
}

/* The undos of a graph are nodes of its root that nothing starts before the end. */
static struct run_graph_node_list root_rows(const struct run_graph *rows, struct arena *arena)
{
	size_t steps = rows->nodes.count, undos = has(rows, undos) ? rows->undos.count : 0;
	if (undos == 0)
		return rows->nodes;
	struct run_graph_node *all = arena_array(arena, struct run_graph_node, steps + undos);
	for (size_t i = 0; i < steps + undos; i++)
		all[i] = i < steps ? rows->nodes.at[i] : rows->undos.at[i - steps];
	return (struct run_graph_node_list){ all, steps + undos };
}

static bool link_undos(struct graph_loader *l, const struct graph *graph)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		struct graph_node *node = &l->nodes[i];
		if (!has(node->row, undo))
			continue;
		int64_t undo = graph_find(graph, GRAPH_ROOT, node->row->undo);
		if (undo < 0 || l->nodes[undo].section != RUN_SECTION_UNDO ||
		    l->nodes[undo].kind != RUN_NODE_TRY)
			return fail(l->error, ERROR_INVALID, "graph: unknown undo " STR_FMT,
				    STR_ARG(node->row->undo));
		node->undo = (uint32_t)undo;
	}
	return true;
}

static bool load_rows(struct graph *graph, const struct run_graph *rows, struct arena *arena,
		      struct error *error)
{
	struct graph_loader loader = { .arena = arena, .error = error };
	graph->name = rows->name;
	graph->rows = rows;
	struct run_graph_node_list root = root_rows(rows, arena);
	graph->node_count = count_nodes(root);
	graph->step_count = (uint32_t)rows->nodes.count;
	graph->concurrency = has(rows, concurrency) ? (uint32_t)rows->concurrency : RUN_CONCURRENCY;
	graph->rules = has(rows, rules) ? rows->rules : 1;
	graph->kept_steps = has(rows, kept_steps) ? rows->kept_steps : 0;
	graph->max_iterations = has(rows, max_iterations) ? rows->max_iterations : LIMIT_ITERATIONS;
	loader.nodes = arena_array(arena, struct graph_node, graph->node_count);
	graph->nodes = loader.nodes;
	if (!load_body(&loader, root, GRAPH_ROOT, &graph->body))
		return false;
	graph->own_trees = loader.own_trees;
	graph->has_finally = loader.has_finally;
	graph->by_name = sorted_by_name(loader.nodes, graph->node_count, arena);
	return link_undos(&loader, graph) && link_outputs(&loader, graph);
}

bool graph_load_rows(const struct run_graph *rows, struct arena *arena,
		     const struct graph **out_graph, struct error *error)
{
	struct graph *graph = arena_new(arena, struct graph);
	graph->hash = hash_of(run_graph_text(rows, arena));
	if (!load_rows(graph, rows, arena, error))
		return false;
	*out_graph = graph;
	return true;
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
	if (!load_rows(graph, rows, arena, error))
		return false;
	*out_graph = graph;
	return true;
}

struct graph_numbers graph_body(const struct graph *graph, uint32_t parent)
{
	return parent == GRAPH_ROOT ? graph->body : graph->nodes[parent].body;
}

/* Binary search.  GRAPH_ROOT is the greatest parent number, so the names of the root come last. */
int64_t graph_find(const struct graph *graph, uint32_t parent, struct str name)
{
	uint32_t low = 0, high = graph->node_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct graph_node *node = &graph->nodes[graph->by_name[middle]];
		int order = node->parent != parent ? (node->parent < parent ? -1 : 1)
						   : str_compare(node->name, name);
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

/* A path that cannot lead out of the folder it is resolved in. */
static bool is_relative_path(struct str path)
{
	struct str rest = path, piece;
	bool good = path.size > 0 && path.at[0] != '/' && path.size <= LIMIT_PATH_BYTES;
	for (size_t i = 0; i < path.size && good; i++)
		good = (unsigned char)path.at[i] >= ' ';
	while (good && str_cut(&rest, '/', &piece))
		good = !str_equal(piece, S(".."));
	return good;
}

bool graph_input_fits(enum run_input_type type, const struct json *value)
{
	switch (type) {
	case RUN_INPUT_STRING:
		return value->kind == JSON_STRING;
	case RUN_INPUT_NUMBER:
		return json_is_number(value);
	case RUN_INPUT_INTEGER:
		return value->kind == JSON_INT;
	case RUN_INPUT_FILE:
		return value->kind == JSON_STRING && is_relative_path(value->as.string);
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
		problems_add(problems, pointer, 0, 0,
			     "is not one of the choices that the workflow declares");
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
