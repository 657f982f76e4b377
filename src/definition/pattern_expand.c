/* definition/pattern_expand.c -- `patterns` of a graph workflow become nodes and edges.
 *
 * A file without nodes is its patterns, one behind the other.  In a file with nodes a pattern is expanded where an edge
 * or the entry point names it: edges lead to its first node, and those from it leave a node that its ways out
 * lead to.  A pattern that neither is the case for is only a name for readers, and the author is warned.
 *
 * The nodes of a pattern are a row of patterns.def, so that a pattern can be read and changed as what it is: a piece
 * of a graph workflow.  Every value of an expanded pattern has the place of its name in the author's file.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "contract/closest.h"
#include "contract/run_graph_file_types.h"
#include "definition/dialect.h"
#include "definition/tree_build.h"

enum { DEFAULT_ROUNDS = 3, DEFAULT_PARTS = 3 };

static const struct pattern {
	struct str name, nodes;
} patterns[] = {
#define PATTERN(name, text, nodes) { { name, sizeof(name) - 1 }, { nodes, sizeof(nodes) - 1 } },
#include "definition/patterns.def"
#undef PATTERN
};

/* One use of a pattern. */
struct use {
	const struct pattern *pattern;
	const struct json *place;
	const struct run_graph_file_pattern *given;
	struct str name;  /* prefix of its nodes; unique in the file */
	struct str entry; /* its first node */
	struct str next;  /* what follows it */
	bool named;       /* the entry point or an edge of the file names it */
	bool left;        /* an edge of the file begins at it */
};

struct expansion {
	struct compiler *compiler;
	struct arena *arena;
	const struct json *tree;
	struct use *uses;
	size_t count;
	struct tree_object nodes, state;
	struct tree_list edges;
};

static void problem(const struct expansion *e, const struct json *place, const char *format, ...)
	PRINTF_LIKE(3, 4);

static void problem(const struct expansion *e, const struct json *place, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(e->arena, format, list);
	va_end(list);
	problems_add(e->compiler->problems, S(""), place->line, place->column, STR_FMT,
		     STR_ARG(text));
}

/* ---- which patterns ------------------------------------------------------------------------------- */

static const struct pattern *find_pattern(const struct expansion *e, struct str name,
					  const struct json *place)
{
	struct str names[COUNT(patterns)];
	for (size_t i = 0; i < COUNT(patterns); i++) {
		if (str_equal(patterns[i].name, name))
			return &patterns[i];
		names[i] = patterns[i].name;
	}
	struct str close = closest_word((struct str_list){ names, COUNT(names) }, name);
	problem(e, place, "unknown pattern " STR_FMT "%s" STR_FMT "%s", STR_ARG(name),
		close.size > 0 ? "; did you mean \"" : "", STR_ARG(close),
		close.size > 0 ? "\"?" : "");
	return NULL;
}

static const struct run_graph_file_pattern *read_use(const struct expansion *e,
						     const struct json *item)
{
	struct problems found = { .arena = e->arena };
	const struct contract_source source = { .json = item };
	if (item->kind == JSON_STRING) {
		struct run_graph_file_pattern *plain = run_graph_file_pattern_new(e->arena);
		SET(plain, pattern, item->as.string);
		return plain;
	}
	const struct run_graph_file_pattern *given =
		run_graph_file_pattern_parse(&source, e->arena, &found);
	for (size_t i = 0; i < found.count; i++)
		problem(e,
			found.at[i].line == 0 ? item
					      : &(struct json){ .line = found.at[i].line,
								.column = found.at[i].column },
			"pattern" STR_FMT ": " STR_FMT, STR_ARG(found.at[i].pointer),
			STR_ARG(found.at[i].text));
	return given;
}

static bool is_taken(const struct expansion *e, size_t before, struct str name)
{
	for (size_t i = 0; i < before; i++)
		if (str_equal(e->uses[i].name, name))
			return true;
	return false;
}

static void read_uses(struct expansion *e, const struct json *list)
{
	size_t count = list->as.list.count;
	e->uses = arena_array(e->arena, struct use, count);
	for (size_t i = 0; i < count; i++) {
		const struct json *item = &list->as.list.at[i];
		const struct run_graph_file_pattern *given = read_use(e, item);
		if (given == NULL)
			continue;
		struct use *use = &e->uses[e->count];
		*use = (struct use){ .given = given, .place = item, .next = S("__end__") };
		use->pattern = find_pattern(e, given->pattern, item);
		if (use->pattern == NULL)
			continue;
		use->name = has(given, name) ? given->name : given->pattern;
		for (size_t n = 2; is_taken(e, e->count, use->name); n++)
			use->name =
				str_format(e->arena, STR_FMT "_%zu", STR_ARG(given->pattern), n);
		e->count++;
	}
}

static struct use *use_of(const struct expansion *e, struct str name)
{
	for (size_t i = 0; i < e->count; i++)
		if (str_equal(e->uses[i].name, name))
			return &e->uses[i];
	return NULL;
}

static void note_name(const struct expansion *e, const struct json *name)
{
	const struct json *nodes = json_member(e->tree, S("nodes"));
	struct use *use = name != NULL && name->kind == JSON_STRING &&
					  json_member(nodes, name->as.string) == NULL
				  ? use_of(e, name->as.string)
				  : NULL;
	if (use != NULL)
		use->named = true;
}

static void note_target(const struct expansion *e, const struct json *to)
{
	for (size_t i = 0; to != NULL && to->kind == JSON_LIST && i < to->as.list.count; i++)
		note_name(e, &to->as.list.at[i]);
	for (size_t i = 0; to != NULL && to->kind == JSON_OBJECT && i < to->as.object.count; i++)
		note_name(e, &to->as.object.at[i].value);
	note_name(e, to);
}

/* Marks the patterns that edges and the entry point of the file name. */
static void note_names(const struct expansion *e)
{
	const struct json *edges = json_member(e->tree, S("edges")), *edge;
	note_name(e, json_member(e->tree, S("entry_point")));
	for (size_t i = 0; edges != NULL && (edge = json_item(edges, i)) != NULL; i++) {
		const struct json *from = json_member(edge, S("from"));
		note_target(e, json_member(edge, S("to")));
		note_name(e, from);
		struct use *use = from == NULL || json_member(json_member(e->tree, S("nodes")),
							      json_text(from)) != NULL
					  ? NULL
					  : use_of(e, json_text(from));
		if (use != NULL)
			use->left = true;
	}
}

/* ---- agents ----------------------------------------------------------------------------------------- */

/* The agent in a role: as the use says, else the agent of the file with that name, else its only one, else an agent
 * of the registry with the name of the role. */
static struct str agent_in(const struct expansion *e, const struct use *use, struct str role)
{
	const struct json *agents = json_member(e->tree, S("agents"));
	for (size_t i = 0; has(use->given, agents) && i < use->given->agents.count; i++)
		if (str_equal(use->given->agents.at[i].key, role))
			return use->given->agents.at[i].value;
	if (has(use->given, agent))
		return use->given->agent;
	if (json_member(agents, role) == NULL && agents != NULL && agents->kind == JSON_OBJECT &&
	    agents->as.object.count == 1)
		return agents->as.object.at[0].key;
	return role;
}

/* The agents that do the work: as the use says, else all of the file but those with a role of their own. */
static struct str_list workers_of(const struct expansion *e, const struct use *use, struct str role)
{
	const struct json *agents = json_member(e->tree, S("agents"));
	size_t count = 0;
	if (has(use->given, workers))
		return use->given->workers;
	if (agents == NULL || agents->kind != JSON_OBJECT)
		return (struct str_list){ NULL, 0 };
	struct str *names = arena_array(e->arena, struct str, agents->as.object.count);
	for (size_t i = 0; i < agents->as.object.count; i++)
		if (role.size == 0 ||
		    !str_equal(agents->as.object.at[i].key, agent_in(e, use, role)))
			names[count++] = agents->as.object.at[i].key;
	return (struct str_list){ names, count };
}

static struct str node_of(const struct expansion *e, const struct use *use, struct str name)
{
	return str_format(e->arena, STR_FMT "_" STR_FMT, STR_ARG(use->name), STR_ARG(name));
}

/* ---- writing the nodes ---------------------------------------------------------------------------- */

struct part {
	size_t number, count; /* number from 1; 0 = no part */
};

static bool replace(struct str text, struct str what, struct str with, struct arena *arena,
		    struct str *out)
{
	size_t at;
	AUTO(buf) made = { 0 };
	bool found = false;
	while (str_find(text, what, &at)) {
		buf_add(&made, str_head(text, at));
		buf_add(&made, with);
		text = str_skip(text, at + what.size);
		found = true;
	}
	buf_add(&made, text);
	if (found)
		*out = str_copy(arena, buf_str(&made));
	return found;
}

static struct str number(const struct expansion *e, size_t value)
{
	return str_format(e->arena, "%zu", value);
}

static size_t rounds_of(const struct use *use)
{
	return has(use->given, rounds) ? (size_t)use->given->rounds : DEFAULT_ROUNDS;
}

static size_t parts_of(const struct use *use)
{
	return has(use->given, parts) ? (size_t)use->given->parts : DEFAULT_PARTS;
}

static struct str fill(const struct expansion *e, const struct use *use, struct str text,
		       struct part part)
{
	struct str own = str_format(e->arena, STR_FMT "_", STR_ARG(use->name));
	if (str_equal(text, S("$next")))
		return use->next;
	(void)replace(text, S("@"), own, e->arena, &text);
	(void)replace(text, S("$rounds"), number(e, rounds_of(use)), e->arena, &text);
	(void)replace(text, S("$count"), number(e, parts_of(use)), e->arena, &text);
	if (part.number > 0) {
		(void)replace(text, S("$part"), number(e, part.number), e->arena, &text);
		(void)replace(text, S("$index"), number(e, part.number - 1), e->arena, &text);
	}
	return text;
}

static struct json fill_tree(const struct expansion *e, const struct use *use,
			     const struct json *from, struct part part);

/* {$parts: ROLE, prompt: TEXT}: a task for each part. */
static struct json tasks_of(const struct expansion *e, const struct use *use,
			    const struct json *from, struct str role)
{
	struct tree_list tasks = { .arena = e->arena, .place = use->place };
	struct str prompt = json_text(json_member(from, S("prompt")));
	for (size_t i = 1; i <= parts_of(use); i++) {
		struct tree_object task = { .arena = e->arena, .place = use->place };
		struct part part = { i, parts_of(use) };
		tree_add(&task, S("name"),
			 tree_text(str_format(e->arena, "part_%zu", i), use->place));
		tree_add(&task, S("agent"),
			 tree_text(agent_in(e, use, str_skip(role, 1)), use->place));
		tree_add(&task, S("prompt"), tree_text(fill(e, use, prompt, part), use->place));
		tree_append(&tasks, tree_object(&task));
	}
	return tree_list(&tasks);
}

static struct json fill_object(const struct expansion *e, const struct use *use,
			       const struct json *from, struct part part)
{
	struct tree_object out = { .arena = e->arena, .place = use->place };
	for (size_t i = 0; i < from->as.object.count; i++) {
		const struct json_member *member = &from->as.object.at[i];
		struct json value = fill_tree(e, use, &member->value, part);
		if (str_equal(member->key, S("$parts")))
			return tasks_of(e, use, from, member->value.as.string);
		if (str_equal(member->key, S("$workers"))) {
			struct str lead = str_equal(use->pattern->name, S("router"))
						  ? S("router")
						  : S("supervisor");
			struct str_list workers = workers_of(e, use, lead);
			for (size_t k = 0; k < workers.count; k++)
				tree_add(&out, workers.at[k],
					 tree_text(node_of(e, use, workers.at[k]), use->place));
			continue;
		}
		if (str_equal(member->key, S("agent")))
			value = tree_text(agent_in(e, use, str_skip(member->value.as.string, 1)),
					  use->place);
		tree_add(&out, fill(e, use, member->key, part), value);
	}
	return tree_object(&out);
}

static struct json fill_tree(const struct expansion *e, const struct use *use,
			     const struct json *from, struct part part)
{
	struct tree_list list = { .arena = e->arena, .place = use->place };
	if (from->kind == JSON_OBJECT)
		return fill_object(e, use, from, part);
	if (from->kind == JSON_STRING)
		return tree_text(fill(e, use, from->as.string, part), use->place);
	if (from->kind != JSON_LIST)
		return tree_at(*from, use->place);
	for (size_t i = 0; i < from->as.list.count; i++)
		tree_append(&list, fill_tree(e, use, &from->as.list.at[i], part));
	return tree_list(&list);
}

static void add_edge(struct expansion *e, struct str from, struct str to, const struct json *place)
{
	struct tree_object edge = { .arena = e->arena, .place = place };
	tree_add(&edge, S("from"), tree_text(from, place));
	tree_add(&edge, S("to"), tree_text(to, place));
	tree_append(&e->edges, tree_object(&edge));
}

static void add_worker(struct expansion *e, const struct use *use, struct str agent, struct str to)
{
	struct tree_object node = { .arena = e->arena, .place = use->place };
	struct str name = node_of(e, use, agent);
	tree_add(&node, S("type"), tree_text(S("agent"), use->place));
	tree_add(&node, S("agent"), tree_text(agent, use->place));
	tree_add(&node, S("prompt"),
		 tree_text(S("Do your part of the task, with what was said so far."), use->place));
	tree_add(&node, S("max_iterations"), tree_int(1000, use->place));
	tree_add(&e->nodes, name, tree_object(&node));
	add_edge(e, name, to, use->place);
}

static void add_workers(struct expansion *e, struct use *use)
{
	bool chain = str_equal(use->pattern->name, S("chain"));
	bool router = str_equal(use->pattern->name, S("router"));
	bool supervisor = str_equal(use->pattern->name, S("supervisor"));
	if (!chain && !router && !supervisor)
		return;
	struct str_list workers = workers_of(e, use,
					     chain    ? S("")
					     : router ? S("router")
						      : S("supervisor"));
	if (workers.count == 0)
		problem(e, use->place,
			"pattern " STR_FMT
			": it needs agents that do the work; name them in `workers`, or describe them "
			"in the `agents` of the file",
			STR_ARG(use->pattern->name));
	for (size_t i = 0; i < workers.count; i++)
		add_worker(e, use, workers.at[i],
			   supervisor              ? node_of(e, use, S("lead"))
			   : router                ? use->next
			   : i + 1 < workers.count ? node_of(e, use, workers.at[i + 1])
						   : use->next);
	if (chain)
		use->entry = workers.count == 0 ? S("") : node_of(e, use, workers.at[0]);
}

static const struct json *template_of(const struct expansion *e, const struct use *use)
{
	const struct json *tree = NULL;
	struct error error;
	bool good = yaml_read(use->pattern->nodes, e->arena, &tree, &error);
	require(good);
	return tree;
}

/* The name of the first node, which edges of other patterns need before the nodes are written. */
static struct str entry_of(const struct expansion *e, const struct use *use)
{
	struct str entry = json_text(json_member(template_of(e, use), S("entry")));
	if (!str_equal(entry, S("$chain")))
		return fill(e, use, entry, (struct part){ 0 });
	struct str_list workers = workers_of(e, use, S(""));
	return workers.count == 0 ? S("__end__") : node_of(e, use, workers.at[0]);
}

static void write_use(struct expansion *e, struct use *use)
{
	const struct json *template = template_of(e, use);
	struct json filled = fill_tree(e, use, template, (struct part){ 0 });
	const struct json *nodes = json_member(&filled, S("nodes"));
	const struct json *edges = json_member(&filled, S("edges"));
	const struct json *state = json_member(&filled, S("state"));
	for (size_t i = 0; i < nodes->as.object.count; i++)
		tree_add(&e->nodes, nodes->as.object.at[i].key, nodes->as.object.at[i].value);
	for (size_t i = 0; i < edges->as.list.count; i++)
		tree_append(&e->edges, edges->as.list.at[i]);
	for (size_t i = 0; state != NULL && i < state->as.object.count; i++)
		tree_add(&e->state, state->as.object.at[i].key, state->as.object.at[i].value);
	add_workers(e, use);
	if (!use->left)
		return;
	struct tree_object end = { .arena = e->arena, .place = use->place };
	tree_add(&end, S("type"), tree_text(S("condition"), use->place));
	tree_add(&end, S("condition"), tree_text(S("true"), use->place));
	tree_add(&end, S("description"), tree_text(S("The end of the pattern."), use->place));
	tree_add(&end, S("max_iterations"), tree_int(1000, use->place));
	tree_add(&e->nodes, use->next, tree_object(&end));
}

/* ---- the file --------------------------------------------------------------------------------------- */

/* A name in an edge of the file: of a pattern, its first or last node. */
static struct json renamed(const struct expansion *e, const struct json *name, bool from)
{
	const struct use *use = name->kind != JSON_STRING ? NULL : use_of(e, name->as.string);
	if (use == NULL || !use->named)
		return *name;
	return tree_text(from ? use->next : use->entry, name);
}

static struct json renamed_target(const struct expansion *e, const struct json *to)
{
	struct tree_object map = { .arena = e->arena, .place = to };
	struct tree_list list = { .arena = e->arena, .place = to };
	if (to->kind == JSON_OBJECT) {
		for (size_t i = 0; i < to->as.object.count; i++)
			tree_add_member(&map, &to->as.object.at[i],
					renamed(e, &to->as.object.at[i].value, false));
		return tree_object(&map);
	}
	if (to->kind != JSON_LIST)
		return renamed(e, to, false);
	for (size_t i = 0; i < to->as.list.count; i++)
		tree_append(&list, renamed(e, &to->as.list.at[i], false));
	return tree_list(&list);
}

static void copy_edge(struct expansion *e, const struct json *from)
{
	struct tree_object edge = { .arena = e->arena, .place = from };
	for (size_t i = 0; i < from->as.object.count; i++) {
		const struct json_member *member = &from->as.object.at[i];
		bool to = str_equal(member->key, S("to"));
		tree_add_member(&edge, member,
				to ? renamed_target(e, &member->value)
				: str_equal(member->key, S("from"))
					? renamed(e, &member->value, true)
					: member->value);
	}
	tree_append(&e->edges, tree_object(&edge));
}

static void copy_file(struct expansion *e)
{
	const struct json *nodes = json_member(e->tree, S("nodes"));
	const struct json *edges = json_member(e->tree, S("edges")), *edge;
	const struct json *state = json_member(e->tree, S("state"));
	if (state == NULL)
		state = json_member(e->tree, S("state_schema"));
	for (size_t i = 0;
	     nodes != NULL && nodes->kind == JSON_OBJECT && i < nodes->as.object.count; i++)
		tree_add_member(&e->nodes, &nodes->as.object.at[i], nodes->as.object.at[i].value);
	for (size_t i = 0;
	     state != NULL && state->kind == JSON_OBJECT && i < state->as.object.count; i++)
		tree_add_member(&e->state, &state->as.object.at[i], state->as.object.at[i].value);
	for (size_t i = 0; edges != NULL && (edge = json_item(edges, i)) != NULL; i++) {
		if (edge->kind == JSON_OBJECT)
			copy_edge(e, edge);
		else
			tree_append(&e->edges, *edge);
	}
}

/* Which patterns are written, and what is in front of and behind each. */
static bool connect(struct expansion *e)
{
	bool alone = json_member(e->tree, S("nodes")) == NULL;
	bool any = false;
	note_names(e);
	for (size_t i = 0; i < e->count; i++) {
		struct use *use = &e->uses[i];
		if (alone && !use->named)
			use->named = true;
		if (!use->named)
			definition_warn(
				e->compiler, use->place,
				"pattern " STR_FMT
				" has no nodes: the file has nodes of its own, and no edge or "
				"entry_point leads to " STR_FMT,
				STR_ARG(use->pattern->name), STR_ARG(use->name));
		any |= use->named;
	}
	for (size_t i = 0; i < e->count; i++)
		e->uses[i].entry = entry_of(e, &e->uses[i]);
	for (size_t i = 0; i < e->count; i++) {
		struct use *use = &e->uses[i];
		if (use->left)
			use->next = node_of(e, use, S("end"));
		else if (alone && i + 1 < e->count && json_member(e->tree, S("edges")) == NULL)
			use->next = e->uses[i + 1].entry;
	}
	return any;
}

static const struct json *expanded_tree(struct expansion *e)
{
	struct tree_object out = { .arena = e->arena, .place = e->tree };
	const struct json *entry = json_member(e->tree, S("entry_point"));
	for (size_t i = 0; i < e->tree->as.object.count; i++) {
		const struct json_member *member = &e->tree->as.object.at[i];
		if (!str_equal(member->key, S("nodes")) && !str_equal(member->key, S("edges")) &&
		    !str_equal(member->key, S("state")) &&
		    !str_equal(member->key, S("state_schema")) &&
		    !str_equal(member->key, S("entry_point")))
			tree_add_member(&out, member, member->value);
	}
	tree_add(&out, S("entry_point"),
		 entry != NULL ? renamed(e, entry, false)
			       : tree_text(e->uses[0].entry, e->uses[0].place));
	tree_add(&out, S("nodes"), tree_object(&e->nodes));
	tree_add(&out, S("edges"), tree_list(&e->edges));
	if (e->state.count > 0)
		tree_add(&out, S("state"), tree_object(&e->state));
	struct json *tree = arena_new(e->arena, struct json);
	*tree = tree_object(&out);
	return tree;
}

const struct json *dialect_graph_expand(struct compiler *c, const struct json *tree)
{
	const struct json *list = json_member(tree, S("patterns"));
	struct expansion e = { .compiler = c, .arena = c->arena, .tree = tree };
	size_t before = c->problems->count;
	if (list == NULL || list->kind != JSON_LIST || list->as.list.count == 0)
		return tree; /* the contract says what is wrong with it */
	if (list->as.list.count > LIMIT_PATTERNS) {
		problem(&e, list, "a graph workflow has at most %d patterns", LIMIT_PATTERNS);
		return NULL;
	}
	e.nodes = (struct tree_object){ .arena = e.arena, .place = list };
	e.state = (struct tree_object){ .arena = e.arena, .place = list };
	e.edges = (struct tree_list){ .arena = e.arena, .place = list };
	read_uses(&e, list);
	if (c->problems->count > before || !connect(&e))
		return c->problems->count > before ? NULL : tree;
	copy_file(&e);
	for (size_t i = 0; i < e.count; i++)
		if (e.uses[i].named)
			write_use(&e, &e.uses[i]);
	return c->problems->count > before ? NULL : expanded_tree(&e);
}
