/* definition/compile.c -- one pass a question: parse, resolve names, order, check references.
 *
 * Each pass goes on after a problem as long as what it needs is there, so that an author sees
 * everything at once; a cycle or an unknown name ends the passes that would stumble over it.
 */
#include "definition/compile.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/yaml.h"
#include "definition/graph.h"
#include "expr/template.h"

struct compiling {
	const struct definition_tools *tools;
	struct arena *arena;
	struct problems *problems;
	const struct json *tree; /* the file, for places */
	const struct run_definition *file;
	struct map names;    /* step name -> number + 1 */
	uint32_t *order;     /* numbers, dependencies first */
	uint64_t *ancestors; /* bit rows: what is certainly final before a step */
	size_t words;        /* 64-bit words of a row */
};

static void compiling_done(struct compiling *compiling)
{
	map_done(&compiling->names);
}

static size_t step_count(const struct compiling *c)
{
	return c->file->steps.count;
}

static const struct run_definition_step *step_at(const struct compiling *c, size_t number)
{
	return &c->file->steps.at[number];
}

/* A problem of a step, at the place of its member `key` when it has one. */
__attribute__((format(printf, 4, 5))) static void
step_problem(struct compiling *c, size_t number, struct str key, const char *format, ...)
{
	const struct json *step = json_item(json_member(c->tree, S("steps")), number);
	const struct json *member = json_member(step, key);
	const struct json *at = member != NULL ? member : step;
	struct str pointer =
		member != NULL ? str_format(c->arena, "/steps/%zu/" STR_FMT, number, STR_ARG(key))
			       : str_format(c->arena, "/steps/%zu", number);
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(c->arena, format, list);
	va_end(list);
	problems_add(c->problems, pointer, at == NULL ? 0 : at->line, at == NULL ? 0 : at->column,
		     STR_FMT, STR_ARG(text));
}

/* ---- what each step does ------------------------------------------------------------- */

static const struct definition_tool *find_tool(const struct compiling *c, struct str name)
{
	for (size_t i = 0; i < c->tools->count; i++)
		if (str_equal(c->tools->at[i].name, name))
			return &c->tools->at[i];
	return NULL;
}

/* Of a tool that check_kinds() has found. */
static enum run_effect_class class_of(const struct compiling *c, struct str name)
{
	const struct definition_tool *tool = find_tool(c, name);
	require(tool != NULL);
	return tool->class;
}

static struct str tool_names(const struct compiling *c)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < c->tools->count; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(c->tools->at[i].name));
	return str_copy(c->arena, buf_str(&names));
}

static void check_kinds(struct compiling *c)
{
	for (size_t i = 0; i < step_count(c); i++) {
		const struct run_definition_step *step = step_at(c, i);
		int kinds = has(step, tool) + has(step, human) + has(step, wait);
		if (kinds != 1)
			step_problem(c, i, S("name"),
				     "step " STR_FMT
				     " must have exactly one of tool, human and wait",
				     STR_ARG(step->name));
		if (has(step, tool) && find_tool(c, step->tool) == NULL)
			step_problem(c, i, S("tool"),
				     "no tool is called " STR_FMT "; there are " STR_FMT,
				     STR_ARG(step->tool), STR_ARG(tool_names(c)));
	}
}

/* ---- names and edges ----------------------------------------------------------------- */

static size_t step_number(const struct compiling *c, struct str name)
{
	return (size_t)(uintptr_t)map_get(&c->names, name); /* number + 1, 0 = unknown */
}

static void collect_names(struct compiling *c)
{
	for (size_t i = 0; i < step_count(c); i++) {
		struct str name = step_at(c, i)->name;
		size_t first = step_number(c, name);
		if (first != 0)
			step_problem(c, i, S("name"),
				     "there is already a step " STR_FMT " (number %zu)",
				     STR_ARG(name), first);
		else
			map_put(&c->names, name, (void *)(uintptr_t)(i + 1));
	}
}

static void check_dependencies(struct compiling *c)
{
	for (size_t i = 0; i < step_count(c); i++) {
		const struct run_definition_step *step = step_at(c, i);
		for (size_t d = 0; d < step->depends_on.count; d++) {
			struct str name = step->depends_on.at[d];
			if (str_equal(name, step->name))
				step_problem(c, i, S("depends_on"),
					     "step " STR_FMT " depends on itself", STR_ARG(name));
			else if (step_number(c, name) == 0)
				step_problem(c, i, S("depends_on"), "there is no step " STR_FMT,
					     STR_ARG(name));
		}
	}
}

/* Walks back along unordered dependencies until a step comes again: that is the cycle. */
static void name_cycle(struct compiling *c, const bool *ordered)
{
	size_t at = 0;
	while (ordered[at])
		at++;
	size_t *seen = arena_array(c->arena, size_t, step_count(c)); /* place on the walk + 1 */
	size_t *walk = arena_array(c->arena, size_t, step_count(c) + 1);
	size_t length = 0;
	while (seen[at] == 0) {
		walk[length] = at;
		seen[at] = ++length;
		const struct run_definition_step *step = step_at(c, at);
		for (size_t d = 0; d < step->depends_on.count; d++) {
			size_t before = step_number(c, step->depends_on.at[d]) - 1;
			if (!ordered[before]) {
				at = before;
				break;
			}
		}
	}
	AUTO(buf) path = { 0 };
	buf_add(&path, step_at(c, at)->name);
	for (size_t i = length; i-- > seen[at] - 1;)
		buf_add_format(&path, " -> " STR_FMT, STR_ARG(step_at(c, walk[i])->name));
	step_problem(c, at, S("depends_on"), "the steps depend on each other in a circle: " STR_FMT,
		     STR_ARG(buf_str(&path)));
}

/* From a step to one that depends on it. */
struct edge {
	uint32_t to;
	struct edge *next;
};

/* Kahn's order, stable: among the steps that are free the one that stands first in the file. */
static bool order_steps(struct compiling *c)
{
	size_t count = step_count(c), placed = 0;
	bool *ordered = arena_array(c->arena, bool, count);
	size_t *missing = arena_array(c->arena, size_t, count);
	c->order = arena_array(c->arena, uint32_t, count);
	struct edge **out = arena_array(c->arena, struct edge *, count);
	for (size_t i = count; i-- > 0;) {
		missing[i] = step_at(c, i)->depends_on.count;
		for (size_t d = 0; d < missing[i]; d++) {
			size_t from = step_number(c, step_at(c, i)->depends_on.at[d]) - 1;
			struct edge *edge = arena_new(c->arena, struct edge);
			*edge = (struct edge){ (uint32_t)i, out[from] };
			out[from] = edge;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (missing[i] == 0)
			c->order[placed++] = (uint32_t)i;
	for (size_t done = 0; done < placed; done++) {
		ordered[c->order[done]] = true;
		for (struct edge *e = out[c->order[done]]; e != NULL; e = e->next)
			if (--missing[e->to] == 0)
				c->order[placed++] = e->to;
	}
	if (placed == count)
		return true;
	name_cycle(c, ordered);
	return false;
}

/* ---- references ---------------------------------------------------------------------- */

static bool is_ancestor(const struct compiling *c, size_t of, size_t number)
{
	return (c->ancestors[of * c->words + number / 64] >> (number % 64) & 1) != 0;
}

static void find_ancestors(struct compiling *c)
{
	c->words = (step_count(c) + 63) / 64;
	c->ancestors = arena_array(c->arena, uint64_t, c->words * step_count(c));
	for (size_t i = 0; i < step_count(c); i++) {
		size_t number = c->order[i];
		uint64_t *row = c->ancestors + number * c->words;
		const struct run_definition_step *step = step_at(c, number);
		for (size_t d = 0; d < step->depends_on.count; d++) {
			size_t before = step_number(c, step->depends_on.at[d]) - 1;
			for (size_t w = 0; w < c->words; w++)
				row[w] |= c->ancestors[before * c->words + w];
			row[before / 64] |= UINT64_C(1) << (before % 64);
		}
	}
}

struct reading {
	struct compiling *compiling;
	int64_t step; /* whose template this is; -1 = the workflow's outputs */
	struct str *reads;
	size_t read_count, read_room;
};

static bool input_is_declared(const struct compiling *c, struct str name)
{
	for (size_t i = 0; i < c->file->inputs.count; i++)
		if (str_equal(c->file->inputs.at[i].key, name))
			return true;
	return false;
}

static bool visit_reference(void *context, const struct json *at, struct str step, struct str input,
			    struct error *error)
{
	struct reading *reading = context;
	struct compiling *c = reading->compiling;
	(void)at;
	if (step.size == 0) {
		if (input_is_declared(c, input))
			return true;
		return fail(error, ERROR_INVALID, "the workflow declares no input " STR_FMT,
			    STR_ARG(input));
	}
	size_t number = step_number(c, step);
	if (number == 0)
		return fail(error, ERROR_INVALID, "there is no step " STR_FMT, STR_ARG(step));
	if (reading->step >= 0 && !is_ancestor(c, (size_t)reading->step, number - 1))
		return fail(error, ERROR_INVALID,
			    "reads step " STR_FMT " without depending on it: add it to depends_on",
			    STR_ARG(step));
	for (size_t i = 0; i < reading->read_count; i++)
		if (str_equal(reading->reads[i], step))
			return true;
	if (reading->read_count == reading->read_room) {
		reading->read_room = reading->read_room == 0 ? 4 : reading->read_room * 2;
		struct str *grown = arena_array(c->arena, struct str, reading->read_room);
		for (size_t i = 0; i < reading->read_count; i++)
			grown[i] = reading->reads[i];
		reading->reads = grown;
	}
	reading->reads[reading->read_count++] = step;
	return true;
}

/* The steps a template reads, each once; a bad reference becomes a problem. */
static struct str_list reads_of(struct compiling *c, int64_t step,
				const struct json *const *templates, size_t count,
				struct str pointer)
{
	struct reading reading = { .compiling = c, .step = step };
	for (size_t i = 0; i < count; i++) {
		struct error error;
		if (templates[i] == NULL ||
		    template_check(templates[i], visit_reference, &reading, &error))
			continue;
		problems_add(c->problems, pointer, error.line, error.column, "%s", error.text);
	}
	return (struct str_list){ reading.reads, reading.read_count };
}

/* ---- the result ---------------------------------------------------------------------- */

static void emit_node(struct compiling *c, size_t number, struct run_graph_node *node)
{
	const struct run_definition_step *step = step_at(c, number);
	SET(node, name, step->name);
	SET(node, join, RUN_JOIN_ALL);
	SET(node, depends_on, step->depends_on);
	SET(node, inputs, step->inputs);
	const struct json *templates[2] = { step->inputs, NULL };
	if (has(step, tool)) {
		SET(node, kind, RUN_NODE_TOOL);
		SET(node, class, class_of(c, step->tool));
		SET(node, tool, step->tool);
	} else if (has(step, human)) {
		struct json *question = arena_new(c->arena, struct json);
		*question =
			(struct json){ .kind = JSON_STRING, .as.string = step->human->question };
		const struct json *tree = json_item(json_member(c->tree, S("steps")), number);
		const struct json *place =
			json_member(json_member(tree, S("human")), S("question"));
		if (place != NULL) {
			question->line = place->line;
			question->column = place->column;
		}
		templates[1] = question;
		SET(node, kind, RUN_NODE_HUMAN);
		SET(node, class, RUN_CLASS_IDEMPOTENT);
		SET(node, question, step->human->question);
	} else {
		SET(node, kind, RUN_NODE_WAIT);
		SET(node, class, RUN_CLASS_IDEMPOTENT);
		SET(node, wait_us, (int64_t)(step->wait->seconds * 1e6));
	}
	struct str pointer = str_format(c->arena, "/steps/%zu", number);
	SET(node, reads, reads_of(c, (int64_t)number, templates, 2, pointer));
}

static void check_default(struct compiling *c, const struct run_definition_input_entry *input)
{
	const struct json *value = input->value.fallback;
	if (graph_input_fits(input->value.type, value))
		return;
	problems_add(c->problems,
		     str_format(c->arena, "/inputs/" STR_FMT "/default", STR_ARG(input->key)),
		     value->line, value->column, "must be of type " STR_FMT ", not %s",
		     STR_ARG(run_input_type_name(input->value.type)), json_kind_name(value->kind));
}

static struct run_graph *emit_graph(struct compiling *c)
{
	const struct run_definition *file = c->file;
	struct run_graph *graph = run_graph_new(c->arena);
	SET(graph, name, file->name);
	struct run_graph_input *inputs =
		arena_array(c->arena, struct run_graph_input, file->inputs.count);
	for (size_t i = 0; i < file->inputs.count; i++) {
		const struct run_definition_input *from = &file->inputs.at[i].value;
		inputs[i] = *run_graph_input_new(c->arena);
		SET(&inputs[i], name, file->inputs.at[i].key);
		SET(&inputs[i], type, from->type);
		SET(&inputs[i], required, from->required);
		if (has(from, fallback)) {
			SET(&inputs[i], fallback, from->fallback);
			check_default(c, &file->inputs.at[i]);
		}
		if (has(from, choices))
			SET(&inputs[i], choices, from->choices);
	}
	SET(graph, inputs, ((struct run_graph_input_list){ inputs, file->inputs.count }));
	struct run_graph_node *nodes = arena_array(c->arena, struct run_graph_node, step_count(c));
	for (size_t i = 0; i < step_count(c); i++) {
		nodes[i] = *run_graph_node_new(c->arena);
		emit_node(c, c->order[i], &nodes[i]);
	}
	SET(graph, nodes, ((struct run_graph_node_list){ nodes, step_count(c) }));
	struct run_graph_output *outputs =
		arena_array(c->arena, struct run_graph_output, file->outputs.count);
	for (size_t i = 0; i < file->outputs.count; i++) {
		struct str name = file->outputs.at[i].key;
		struct str pointer =
			str_format(c->arena, "/outputs/" STR_FMT "/from", STR_ARG(name));
		outputs[i] = *run_graph_output_new(c->arena);
		SET(&outputs[i], name, name);
		SET(&outputs[i], from, file->outputs.at[i].value.from);
		SET(&outputs[i], optional, file->outputs.at[i].value.optional);
		SET(&outputs[i], reads, reads_of(c, -1, &outputs[i].from, 1, pointer));
	}
	SET(graph, outputs, ((struct run_graph_output_list){ outputs, file->outputs.count }));
	return graph;
}

/* ---- the door ------------------------------------------------------------------------ */

static bool parse_file(struct compiling *c, struct str yaml)
{
	struct error error;
	if (!yaml_read(yaml, c->arena, &c->tree, &error)) {
		problems_add(c->problems, S(""), error.line, error.column, "%s", error.text);
		return false;
	}
	struct contract_source source = { .json = c->tree, .text = yaml };
	c->file = run_definition_parse(&source, c->arena, c->problems);
	return c->file != NULL;
}

bool definition_compile(struct str yaml, const struct definition_tools *tools, struct arena *arena,
			struct str *out_graph, struct problems *problems)
{
	AUTO(compiling) c = { .tools = tools, .arena = arena, .problems = problems };
	if (!parse_file(&c, yaml))
		return false;
	check_kinds(&c);
	collect_names(&c);
	check_dependencies(&c);
	if (problems->count > 0 || !order_steps(&c))
		return false;
	find_ancestors(&c);
	const struct run_graph *graph = emit_graph(&c);
	if (problems->count > 0)
		return false;
	*out_graph = run_graph_text(graph, arena);
	return true;
}
