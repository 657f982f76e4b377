/* definition/dialect_graph.c -- graph workflows: nodes, edges and a shared state become steps.
 *
 * A node becomes a step with `join: any` that its edges start; the entry point starts by itself.  A
 * routing map becomes one edge per key, whose condition compares state.routing_key.  A node that a
 * person interrupts gets a question before or behind it, which takes over its edges.  What a node
 * without `inputs` gets is decided here: dialect_graph_node.c.
 */
#include "base/limits.h"
#include "contract/closest.h"
#include "definition/dialect_graph.h"

struct problem *dialect_graph_problem(const struct graph_file *g, const struct json *place,
				      const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(g->arena, format, list);
	va_end(list);
	return problems_add(g->compiler->problems, S(""), place == NULL ? 0 : place->line,
			    place == NULL ? 0 : place->column, STR_FMT, STR_ARG(text));
}

/* ---- names ----------------------------------------------------------------------------------- */

int64_t dialect_graph_node(const struct graph_file *g, struct str name)
{
	return (int64_t)(uintptr_t)map_get(&g->names, name) - 1;
}

/* The node with this name; -1 after adding a problem. */
static int64_t find_node(const struct graph_file *g, struct str name, const struct json *place,
			 const char *what)
{
	int64_t node = dialect_graph_node(g, name);
	struct str close = node >= 0 || g->file->nodes.count > LIMIT_SUGGESTED_NAMES
				   ? S("")
				   : closest_word(g->node_names, name);
	if (node < 0)
		problem_suggest(dialect_graph_problem(
					g, place, "%s: there is no node " STR_FMT "%s" STR_FMT "%s",
					what, STR_ARG(name),
					close.size > 0 ? "; did you mean \"" : "", STR_ARG(close),
					close.size > 0 ? "\"?" : ""),
				name, close);
	return node;
}

/* Name patterns of nodes and steps are the same but for the hyphen, which the questions before and
 * behind a node have. */
static bool is_node_name(struct str name)
{
	bool good = name.size > 0 && name.size <= 100 && !(name.at[0] >= '0' && name.at[0] <= '9');
	for (size_t i = 0; i < name.size && good; i++)
		good = name.at[i] == '_' || (name.at[i] >= 'a' && name.at[i] <= 'z') ||
		       (name.at[i] >= 'A' && name.at[i] <= 'Z') ||
		       (name.at[i] >= '0' && name.at[i] <= '9');
	return good;
}

static void collect_names(struct graph_file *g)
{
	struct str *names = arena_array(g->arena, struct str, g->file->nodes.count);
	for (size_t i = 0; i < g->file->nodes.count; i++) {
		names[i] = g->file->nodes.at[i].key;
		if (!is_node_name(names[i]) || str_equal(names[i], S("__end__")))
			dialect_graph_problem(
				g, g->nodes[i].key_place,
				"a node cannot be called " STR_FMT
				": names have letters, digits and _, and __end__ is reserved",
				STR_ARG(names[i]));
		map_put(&g->names, names[i], (void *)(uintptr_t)(i + 1));
	}
	g->node_names = (struct str_list){ names, g->file->nodes.count };
}

static void mark(struct graph_file *g, struct str_list names, const char *key, size_t offset)
{
	const struct json *list = json_member(g->tree, str_from_c(key));
	for (size_t i = 0; i < names.count; i++) {
		int64_t node = find_node(g, names.at[i], json_item(list, i), key);
		if (node >= 0)
			*(bool *)((char *)&g->nodes[node] + offset) = true;
	}
}

/* ---- edges ----------------------------------------------------------------------------------- */

/* The step that an edge to the node starts. */
static struct str first_step(const struct graph_file *g, size_t node)
{
	struct str name = g->file->nodes.at[node].key;
	return g->nodes[node].before ? str_format(g->arena, STR_FMT "-before", STR_ARG(name))
				     : name;
}

static void add_edge(struct graph_file *g, size_t from, struct str to, const struct json *place,
		     struct str condition)
{
	struct graph_file_node *node = &g->nodes[from];
	if (str_equal(to, S("__end__")))
		return;
	int64_t target = find_node(g, to, place, "edge");
	if (target < 0)
		return;
	struct graph_file_link *link = arena_new(g->arena, struct graph_file_link);
	link->to = (size_t)target;
	*node->last_link = link;
	node->last_link = &link->next;
	struct tree_object edge = { .arena = g->arena, .place = place };
	tree_add(&edge, S("to"), tree_text(first_step(g, (size_t)target), place));
	if (condition.size > 0)
		tree_add(&edge, S("when"), tree_text(condition, place));
	node->edges.arena = g->arena;
	if (node->edges.place == NULL)
		node->edges.place = place;
	tree_append(&node->edges, tree_object(&edge));
}

static struct str both(const struct graph_file *g, struct str condition, struct str more)
{
	return condition.size == 0 ? more
				   : str_format(g->arena, "(" STR_FMT ") and " STR_FMT,
						STR_ARG(condition), STR_ARG(more));
}

static bool is_plain_key(struct str key)
{
	bool good = key.size > 0 && key.size <= 128;
	for (size_t i = 0; i < key.size && good; i++)
		good = (unsigned char)key.at[i] >= ' ' && key.at[i] != '\'' && key.at[i] != '\\' &&
		       key.at[i] != '$' && key.at[i] != '{' && key.at[i] != '}';
	return good;
}

/* "state.routing_key not in ['a', 'b']", for the key * of a map. */
static struct str other_keys(const struct graph_file *g, const struct json *map)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("not (state.routing_key in ["));
	for (size_t i = 0, count = 0; i < map->as.object.count; i++) {
		struct str key = map->as.object.at[i].key;
		if (!str_equal(key, S("*")))
			buf_add_format(&text, "%s'" STR_FMT "'", count++ == 0 ? "" : ", ",
				       STR_ARG(key));
	}
	buf_add(&text, S("])"));
	return str_copy(g->arena, buf_str(&text));
}

static void add_route(struct graph_file *g, size_t from, struct str key, const struct json *place)
{
	struct graph_file_node *node = &g->nodes[from];
	node->routes.arena = g->arena;
	if (node->routes.place == NULL)
		node->routes.place = place;
	for (size_t i = 0; i < node->routes.count; i++)
		if (str_equal(node->routes.at[i].as.string, key))
			return;
	tree_append(&node->routes, tree_text(key, place));
}

static void add_map(struct graph_file *g, size_t from, const struct json *map, struct str condition)
{
	if (map->as.object.count == 0 || map->as.object.count > LIMIT_ROUTES)
		dialect_graph_problem(g, map, "a routing map has from 1 to %d keys", LIMIT_ROUTES);
	for (size_t i = 0; i < map->as.object.count && i < LIMIT_ROUTES; i++) {
		struct str key = map->as.object.at[i].key;
		const struct json *to = &map->as.object.at[i].value;
		if (to->kind != JSON_STRING || !is_plain_key(key)) {
			dialect_graph_problem(
				g, to,
				"a routing map leads from keys without quotes and braces to the "
				"names of nodes");
			continue;
		}
		struct str when =
			str_equal(key, S("*"))
				? other_keys(g, map)
				: str_format(g->arena, "state.routing_key == '" STR_FMT "'",
					     STR_ARG(key));
		add_route(g, from, key, to);
		add_edge(g, from, to->as.string, to, both(g, condition, when));
	}
}

static void read_edge(struct graph_file *g, const struct run_graph_file_edge *edge,
		      const struct json *tree)
{
	const struct json *to = edge->to;
	int64_t from = find_node(g, edge->from, json_member(tree, S("from")), "edge");
	struct str condition = has(edge, condition) ? edge->condition : S("");
	if (from < 0)
		return;
	if (to->kind == JSON_STRING) {
		add_edge(g, (size_t)from, to->as.string, to, condition);
	} else if (to->kind == JSON_OBJECT) {
		add_map(g, (size_t)from, to, condition);
	} else if (to->kind == JSON_LIST) {
		for (size_t i = 0; i < to->as.list.count; i++)
			add_edge(g, (size_t)from, json_text(&to->as.list.at[i]), &to->as.list.at[i],
				 condition);
	} else {
		dialect_graph_problem(
			g, to,
			"to is the name of a node, a list of names, or a mapping from "
			"routing keys to names, not %s",
			json_kind_name(to->kind));
	}
}

/* ---- reachability -------------------------------------------------------------------------------- */

static void find_reachable(struct graph_file *g, size_t entry)
{
	size_t *stack = arena_array(g->arena, size_t, g->file->nodes.count), depth = 0;
	g->nodes[entry].reached = true;
	stack[depth++] = entry;
	while (depth > 0) {
		const struct graph_file_link *link = g->nodes[stack[--depth]].links;
		for (; link != NULL; link = link->next) {
			if (g->nodes[link->to].reached)
				continue;
			g->nodes[link->to].reached = true;
			stack[depth++] = link->to;
		}
	}
	for (size_t i = 0; i < g->file->nodes.count; i++)
		if (!g->nodes[i].reached && !g->nodes[i].is_task)
			definition_warn(g->compiler, g->nodes[i].key_place,
					"no edge leads to node " STR_FMT
					" from the entry point, so it never runs",
					STR_ARG(g->file->nodes.at[i].key));
}

/* ---- the file ------------------------------------------------------------------------------------ */

/* A field is written as {type, reducer, default}, or as its reducer or its type alone. */
static struct json field_of(const struct graph_file *g, const struct json *given)
{
	struct tree_object field = { .arena = g->arena, .place = given };
	enum run_reducer reducer;
	if (given->kind != JSON_STRING)
		return *given;
	tree_add(&field, run_reducer_from(given->as.string, &reducer) ? S("reducer") : S("type"),
		 *given);
	return tree_object(&field);
}

static bool is_built_in(struct str name)
{
	static const struct str names[] = { { "messages", 8 },       { "next_action", 11 },
					    { "current_agent", 13 }, { "routing_key", 11 },
					    { "metadata", 8 },       { "state", 5 },
					    { "transcript", 10 },    { "task", 4 } };
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_equal(name, names[i]))
			return true;
	return false;
}

static struct json state_of(struct graph_file *g)
{
	const struct json *tree = json_member(g->tree, S("state"));
	if (tree == NULL)
		tree = json_member(g->tree, S("state_schema"));
	struct tree_object fields = { .arena = g->arena, .place = tree };
	struct str *names = arena_array(g->arena, struct str, g->file->state.count);
	size_t count = 0;
	for (size_t i = 0; i < g->file->state.count; i++) {
		struct str name = g->file->state.at[i].key;
		/* The built-in fields may be listed for documentation. */
		if (is_built_in(name))
			continue;
		names[count++] = name;
		tree_add(&fields, name, field_of(g, json_member(tree, name)));
	}
	g->fields = (struct str_list){ names, count };
	return tree_object(&fields);
}

/* The task, the fields of the state, and what the file declares itself. */
static struct json inputs_of(const struct graph_file *g, const struct json *fields)
{
	const struct json *given = json_member(g->tree, S("inputs"));
	struct tree_object inputs = { .arena = g->arena, .place = given };
	struct tree_object task = { .arena = g->arena };
	tree_add(&task, S("required"), tree_bool(false, NULL));
	if (json_member(given, S("task")) == NULL)
		tree_add(&inputs, S("task"), tree_object(&task));
	for (size_t i = 0; i < fields->as.object.count; i++) {
		const struct json_member *field = &fields->as.object.at[i];
		struct tree_object input = { .arena = g->arena, .place = &field->value };
		const struct json *type = json_member(&field->value, S("type"));
		if (type == NULL || json_member(given, field->key) != NULL)
			continue;
		tree_add(&input, S("type"), *type);
		tree_add(&input, S("required"), tree_bool(false, type));
		tree_add(&inputs, field->key, tree_object(&input));
	}
	for (size_t i = 0; given != NULL && i < given->as.object.count; i++)
		tree_add(&inputs, given->as.object.at[i].key, given->as.object.at[i].value);
	return tree_object(&inputs);
}

static struct json default_outputs(const struct graph_file *g)
{
	struct tree_object state = { .arena = g->arena }, outputs = { .arena = g->arena };
	tree_add(&state, S("from"), tree_text(S("${state}"), NULL));
	tree_add(&outputs, S("state"), tree_object(&state));
	return tree_object(&outputs);
}

static void read_file(struct graph_file *g)
{
	const struct json *edges = json_member(g->tree, S("edges"));
	const struct json *nodes = json_member(g->tree, S("nodes"));
	g->nodes = arena_array(g->arena, struct graph_file_node, g->file->nodes.count);
	for (size_t i = 0; i < g->file->nodes.count; i++) {
		struct json *place = arena_new(g->arena, struct json);
		place->line = nodes->as.object.at[i].line;
		place->column = nodes->as.object.at[i].column;
		g->nodes[i].key_place = place;
		g->nodes[i].tree = &nodes->as.object.at[i].value;
		g->nodes[i].last_link = &g->nodes[i].links;
		g->nodes[i].before = g->file->nodes.at[i].value.allow_human_input;
	}
	collect_names(g);
	mark(g, g->file->interrupt_before, "interrupt_before",
	     offsetof(struct graph_file_node, before));
	mark(g, g->file->interrupt_after, "interrupt_after",
	     offsetof(struct graph_file_node, after));
	if (has(g->file, checkpoints))
		mark(g, g->file->checkpoints, "checkpoints",
		     offsetof(struct graph_file_node, checkpoint));
	for (size_t i = 0; i < g->file->edges.count; i++)
		read_edge(g, &g->file->edges.at[i], json_item(edges, i));
}

static struct json steps_of(struct graph_file *g, size_t entry)
{
	struct tree_list steps = { .arena = g->arena, .place = json_member(g->tree, S("nodes")) };
	for (size_t i = 0; i < g->file->nodes.count; i++)
		if (!g->nodes[i].is_task || g->nodes[i].reached)
			dialect_graph_steps(g, i, i == entry, &steps);
	return tree_list(&steps);
}

static const struct json *translate(struct graph_file *g)
{
	static const struct str same[] = { { "name", 4 },         { "version", 7 },
					   { "description", 11 }, { "agents", 6 },
					   { "strict", 6 },       { "concurrency", 11 },
					   { "timeout", 7 },      { "budget_usd", 10 },
					   { "checkpoints", 11 }, { "outputs", 7 } };
	struct tree_object out = { .arena = g->arena, .place = g->tree };
	size_t before = g->compiler->problems->count;
	read_file(g);
	int64_t entry = find_node(g, g->file->entry_point, json_member(g->tree, S("entry_point")),
				  "entry_point");
	dialect_graph_tasks(g);
	if (g->compiler->problems->count > before)
		return NULL;
	find_reachable(g, (size_t)entry);
	struct json state = state_of(g);
	for (size_t i = 0; i < COUNT(same); i++)
		tree_take(&out, g->tree, same[i]);
	tree_add(&out, S("state"), state);
	tree_add(&out, S("inputs"), inputs_of(g, &state));
	if (!has(g->file, outputs))
		tree_add(&out, S("outputs"), default_outputs(g));
	tree_add(&out, S("max_iterations"),
		 tree_int(g->file->max_iterations, json_member(g->tree, S("max_iterations"))));
	tree_add(&out, S("steps"), steps_of(g, (size_t)entry));
	struct json *tree = arena_new(g->arena, struct json);
	*tree = tree_object(&out);
	return g->compiler->problems->count > before ? NULL : tree;
}

const struct json *dialect_graph_translate(struct compiler *c, const struct json *tree,
					   struct str text)
{
	tree = dialect_graph_expand(c, tree);
	const struct contract_source source = { .json = tree, .text = text };
	struct graph_file g = { .compiler = c, .arena = c->arena, .tree = tree };
	if (tree == NULL)
		return NULL;
	g.file = run_graph_file_parse(&source, c->arena, c->problems);
	if (g.file == NULL)
		return NULL;
	const struct json *out = translate(&g);
	map_done(&g.names);
	return out;
}
