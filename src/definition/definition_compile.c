/* definition/definition_compile.c -- compiles the file: inputs, outputs, and the workflows it runs.
 *
 * Every pass continues after a problem, so that an author sees all problems at once: what does not
 * fit the contract is left out (definition_repair.c), and without an order any step may read any other.
 */
#include "definition/definition_compile.h"

#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "contract/pipeline_types.h"
#include "definition/graph.h"
#include "definition/compile_internal.h"
#include "definition/name_scope.h"
#include "definition/dialect.h"
#include "definition/problem_range.h"
#include "expr/template.h"

struct problem *definition_warn(const struct compiler *c, const struct json *place,
				const char *format, ...)
{
	if (c->tools->warnings == NULL || c->depth > 0)
		return NULL;
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(c->arena, format, list);
	va_end(list);
	return problems_add(c->tools->warnings, S(""), place == NULL ? 0 : place->line,
			    place == NULL ? 0 : place->column, STR_FMT, STR_ARG(text));
}

void definition_refuse_start(const struct compiler *c, const struct json *place, const char *format,
			     ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(c->arena, format, list);
	va_end(list);
	if (c->tools->draws)
		definition_warn(c, place, STR_FMT, STR_ARG(text));
	else
		problems_add(c->problems, S(""), place == NULL ? 0 : place->line,
			     place == NULL ? 0 : place->column, STR_FMT, STR_ARG(text));
}

static void compiler_done(struct compiler *compiler)
{
	map_done(&compiler->variables);
}

static void check_default(struct compiler *c, const struct run_definition_input_entry *input)
{
	const struct json *value = input->value.fallback;
	if (c->kinds_unknown || graph_input_fits(input->value.type, value))
		return;
	problems_add(c->problems,
		     str_format(c->arena, "/inputs/" STR_FMT "/default", STR_ARG(input->key)),
		     value->line, value->column, "must be of type " STR_FMT ", not %s",
		     STR_ARG(run_input_type_name(input->value.type)), json_kind_name(value->kind));
}

/* The value of the first of these paths that the profile of the run has; NULL = none. */
static const struct json *profile_value(const struct compiler *c, struct str_list paths)
{
	if (c->tools->profile == NULL)
		return NULL;
	const struct json *profile = pipeline_profile_tree(c->tools->profile, c->arena);
	for (size_t i = 0; i < paths.count; i++) {
		const struct json *value = profile;
		struct str path = paths.at[i];
		while (value != NULL && path.size > 0) {
			size_t dot;
			if (!str_find(path, S("."), &dot))
				dot = path.size;
			value = value->kind == JSON_OBJECT ? json_member(value, str_head(path, dot))
							   : NULL;
			path = str_skip(path, dot < path.size ? dot + 1 : dot);
		}
		if (value != NULL && value->kind != JSON_NULL)
			return value;
	}
	return NULL;
}

/* The default that the profile gives, if it fits the type of the input. */
static const struct json *profile_default(struct compiler *c,
					  const struct run_definition_input_entry *input)
{
	const struct json *value =
		has(&input->value, profile) ? profile_value(c, input->value.profile) : NULL;
	if (value == NULL || graph_input_fits(input->value.type, value))
		return value;
	problems_add(c->problems, str_format(c->arena, "/inputs/" STR_FMT, STR_ARG(input->key)), 0,
		     0,
		     "profile " STR_FMT ": the default of input " STR_FMT
		     " must be of type " STR_FMT ", not %s; correct " STR_FMT " in the profile",
		     STR_ARG(c->tools->profile->name), STR_ARG(input->key),
		     STR_ARG(run_input_type_name(input->value.type)), json_kind_name(value->kind),
		     STR_ARG(input->value.profile.at[0]));
	return NULL;
}

static void emit_inputs(struct compiler *c, struct run_graph *graph)
{
	const struct run_definition *file = c->file;
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
		const struct json *preset = profile_default(c, &file->inputs.at[i]);
		if (preset != NULL)
			SET(&inputs[i], fallback, preset);
		if (has(from, choices))
			SET(&inputs[i], choices, from->choices);
	}
	SET(graph, inputs, ((struct run_graph_input_list){ inputs, file->inputs.count }));
}

/* The steps that an output reads; their outputs are kept until the end of the run. */
struct output_reads {
	const struct body *body;
	struct str *names;
	size_t count;
};

static bool visit_output(void *context, enum expr_name kind, struct str name, struct str key,
			 struct error *error)
{
	struct output_reads *reads = context;
	(void)key, (void)error;
	if (kind != EXPR_NAME_STEP || definition_body_step(reads->body, name) == 0)
		return true;
	for (size_t i = 0; i < reads->count; i++)
		if (str_equal(reads->names[i], name))
			return true;
	reads->names[reads->count++] = name;
	return true;
}

/* One output, or what the issues of a run are read from. */
static struct run_graph_output output_of(struct body *body, struct str name,
					 const struct json *from, bool optional)
{
	struct compiler *c = body->compiler;
	const struct reader reader = { .body = body, .step = -1 };
	struct output_reads reads = {
		.body = body,
		.names = arena_array(c->arena, struct str, body->steps.count),
	};
	struct error error;
	size_t before = c->problems->count;
	struct run_graph_output output = *run_graph_output_new(c->arena);
	SET(&output, name, name);
	SET(&output, from, from);
	SET(&output, optional, optional);
	definition_read_template(&reader, from, name);
	if (c->problems->count == before) {
		bool good = template_check(from, c->arena, visit_output, &reads, &error);
		require(good);
	}
	SET(&output, reads, ((struct str_list){ reads.names, reads.count }));
	return output;
}

static void emit_outputs(struct body *body, struct run_graph *graph)
{
	struct compiler *c = body->compiler;
	const struct run_definition *file = c->file;
	struct run_graph_output *outputs =
		arena_array(c->arena, struct run_graph_output, file->outputs.count);
	for (size_t i = 0; i < file->outputs.count; i++)
		outputs[i] =
			output_of(body, file->outputs.at[i].key, file->outputs.at[i].value.from,
				  file->outputs.at[i].value.optional);
	SET(graph, outputs, ((struct run_graph_output_list){ outputs, file->outputs.count }));
}

/* The expression as a template, which has its value. */
static void emit_issues(struct body *body, const struct json *tree, struct run_graph *graph)
{
	struct compiler *c = body->compiler;
	const struct json *place = json_member(tree, S("issues"));
	struct str text = c->file->issues;
	struct json *from = arena_new(c->arena, struct json);
	*from = (struct json){ .kind = JSON_STRING,
			       .as.string = str_starts(text, S("${"))
						    ? text
						    : str_format(c->arena, "${" STR_FMT "}",
								 STR_ARG(text)) };
	if (place != NULL) {
		from->line = place->line;
		from->column = place->column;
	}
	struct run_graph_output issues = output_of(body, S("issues"), from, true);
	SET(graph, issues,
	    (const struct run_graph_output *)arena_copy(c->arena, &issues, sizeof(issues)));
}

static void check_checkpoints(const struct compiler *c, const struct json *tree)
{
	const struct json *list = json_member(tree, S("checkpoints"));
	for (size_t i = 0; has(c->file, checkpoints) && i < c->file->checkpoints.count; i++) {
		bool known = false;
		for (size_t k = 0; k < c->file->steps.count && !known; k++)
			known = str_equal(c->file->steps.at[k].name, c->file->checkpoints.at[i]);
		const struct json *place = json_item(list, i);
		if (!known)
			problem_suggest(problems_add(c->problems,
						     str_format(c->arena, "/checkpoints/%zu", i),
						     place->line, place->column,
						     "unknown step " STR_FMT,
						     STR_ARG(c->file->checkpoints.at[i])),
					c->file->checkpoints.at[i], S(""));
	}
}

static void emit_state(struct compiler *c, const struct json *tree, struct run_graph *graph)
{
	struct run_graph_state *state = run_graph_state_new(c->arena);
	struct run_graph_field *fields =
		arena_array(c->arena, struct run_graph_field, c->file->state.count);
	for (size_t i = 0; i < c->file->state.count; i++) {
		const struct run_definition_field *from = &c->file->state.at[i].value;
		fields[i] = *run_graph_field_new(c->arena);
		SET(&fields[i], name, c->file->state.at[i].key);
		SET(&fields[i], reducer, from->reducer);
		if (has(from, initial))
			SET(&fields[i], initial, from->initial);
		if (has(from, initial) && has(from, type) &&
		    !graph_input_fits(from->type, from->initial))
			problems_add(c->problems,
				     str_format(c->arena, "/state/" STR_FMT "/default",
						STR_ARG(c->file->state.at[i].key)),
				     from->initial->line, from->initial->column,
				     "must be of type " STR_FMT ", not %s",
				     STR_ARG(run_input_type_name(from->type)),
				     json_kind_name(from->initial->kind));
	}
	SET(state, fields, ((struct run_graph_field_list){ fields, c->file->state.count }));
	SET(graph, state, (const struct run_graph_state *)state);
	if (has(c->file, checkpoints))
		SET(graph, checkpoints, c->file->checkpoints);
	check_checkpoints(c, tree);
}

static const struct run_graph *compile_file(struct compiler *c, const struct json *tree)
{
	AUTO(body)
	body = { .compiler = c,
		 .steps = c->file->steps,
		 .tree = json_member(tree, S("steps")),
		 .pointer = S("/steps") };
	struct run_graph *graph = run_graph_new(c->arena);
	SET(graph, name, c->file->name);
	SET(graph, rules, GRAPH_RULES);
	definition_collect_variables(c, c->file->steps);
	emit_inputs(c, graph);
	definition_find_sandbox(c);
	if (c->sandbox != NULL)
		SET(graph, sandbox, c->sandbox);
	definition_check_agents(c, tree);
	SET(graph, nodes, definition_compile_body(&body));
	if (c->undos.count > 0)
		SET(graph, undos, c->undos);
	if (body.order == NULL)
		return graph;
	emit_outputs(&body, graph);
	if (has(c->file, issues))
		emit_issues(&body, tree, graph);
	if (has(c->file, pipeline))
		SET(graph, pipeline, c->file->pipeline);
	if (c->secrets.count > 0)
		SET(graph, secrets, c->secrets);
	if (c->file->strict)
		SET(graph, strict, true);
	if (has(c->file, state))
		emit_state(c, tree, graph);
	if (has(c->file, kind))
		SET(graph, kind, c->file->kind);
	if (has(c->file, concurrency))
		SET(graph, concurrency, c->file->concurrency);
	if (has(c->file, max_iterations))
		SET(graph, max_iterations, c->file->max_iterations);
	if (has(c->file, budget_usd))
		SET(graph, budget_usd, c->file->budget_usd);
	if (has(c->file, unwind_timeout))
		SET(graph, unwind_us, (int64_t)(c->file->unwind_timeout * 1e6));
	if (has(c->file, timeout))
		SET(graph, timeout_us, (int64_t)(c->file->timeout * 1e6));
	SET(graph, kept_steps, LIMIT_KEPT_STEPS);
	return graph;
}

/* An author knows steps and nodes, not the names of their contracts: run.DefinitionStep is "a step". */
static struct str kind_in_words(struct str type, struct arena *arena)
{
	static const struct str prefixes[] = { { "run.Definition", 14 }, { "run.GraphFile", 13 } };
	AUTO(buf) words = { 0 };
	for (size_t i = 0; i < COUNT(prefixes); i++) {
		if (!str_starts(type, prefixes[i]))
			continue;
		struct str rest = str_skip(type, prefixes[i].size);
		for (size_t k = 0; k < rest.size; k++) {
			bool upper = rest.at[k] >= 'A' && rest.at[k] <= 'Z';
			if (upper && k > 0)
				buf_add_char(&words, ' ');
			buf_add_char(&words, (char)(upper ? rest.at[k] - 'A' + 'a' : rest.at[k]));
		}
		struct str text = rest.size == 0 ? S("workflow") : buf_str(&words);
		const char *article = memchr("aeio", text.at[0], 4) != NULL ? "an" : "a";
		return str_format(arena, "%s " STR_FMT, article, STR_ARG(text));
	}
	return type;
}

static void name_kinds(struct problems *problems, size_t first, struct arena *arena)
{
	static const struct str not_a_field = { "is not a field of ", 18 };
	for (size_t i = first; i < problems->count; i++) {
		struct problem *problem = &problems->at[i];
		if (!str_starts(problem->text, not_a_field))
			continue;
		struct str rest = str_skip(problem->text, not_a_field.size), type;
		bool found = str_cut(&rest, ';', &type);
		bool more = found && type.size + not_a_field.size < problem->text.size;
		problem->text = str_format(
			arena, STR_FMT STR_FMT "%s" STR_FMT, STR_ARG(not_a_field),
			STR_ARG(kind_in_words(type, arena)), more ? ";" : "", STR_ARG(rest));
	}
}

static const struct run_graph *compile_tree(struct compiler *c, const struct json *tree,
					    struct str yaml)
{
	struct contract_source source = { .json = tree, .text = yaml };
	c->file = run_definition_parse(&source, c->arena, c->problems);
	size_t unfit = c->problems->count;
	if (c->file == NULL)
		c->file = definition_repair(c, yaml, &tree);
	if (c->file == NULL)
		return NULL;
	const struct run_graph *graph = compile_file(c, tree);
	definition_drop_consequences(c->problems, unfit);
	return c->problems->count > 0 ? NULL : graph;
}

static const struct run_graph *compile_text(struct compiler *c, struct str yaml)
{
	const struct json *tree;
	struct error error;
	if (!yaml_read(yaml, c->arena, &tree, &error)) {
		problems_add(c->problems, S(""), error.line, error.column, "%s", error.text);
		return NULL;
	}
	enum dialect dialect = dialect_of(tree);
	struct problems *warnings = c->tools->warnings;
	size_t first = c->problems->count, first_warning = warnings == NULL ? 0 : warnings->count;
	c->translated = dialect != DIALECT_RUNTIME;
	const struct json *steps = dialect_translate(c, dialect, tree, yaml);
	const struct run_graph *graph = steps == NULL ? NULL : compile_tree(c, steps, yaml);
	name_kinds(c->problems, first, c->arena);
	dialect_name_problems(c, dialect, tree, c->problems, first);
	if (warnings != NULL)
		dialect_name_problems(c, dialect, tree, warnings, first_warning);
	problem_range_find_all(c->problems, yaml, c->arena);
	if (warnings != NULL && c->depth == 0)
		problem_range_find_all(warnings, yaml, c->arena);
	return graph;
}

const struct run_graph *definition_compile_other(const struct body *body, size_t number,
						 struct str name)
{
	const struct compiler *outer = body->compiler;
	const struct definition_tools *tools = outer->tools;
	struct str yaml;
	struct error error;
	if (outer->depth + 1 >= LIMIT_WORKFLOW_DEPTH) {
		definition_step_problem(body, number, S("workflow"),
					"workflows are nested more than %d levels deep",
					LIMIT_WORKFLOW_DEPTH);
		return NULL;
	}
	if (tools->workflow == NULL ||
	    !tools->workflow(tools->context, name, outer->arena, &yaml, &error)) {
		definition_step_problem(
			body, number, S("workflow"), "%s",
			tools->workflow == NULL
				? "a workflow step is not possible here: there are no other workflows"
				: error.text);
		return NULL;
	}
	struct problems problems = { .arena = outer->arena };
	AUTO(compiler)
	c = { .tools = tools,
	      .arena = outer->arena,
	      .problems = &problems,
	      .depth = outer->depth + 1,
	      .steps = outer->steps };
	const struct run_graph *graph = compile_text(&c, yaml);
	if (graph == NULL && problems.count > 0 && problems.at[0].configuration)
		problems_add_configuration(outer->problems, "workflow " STR_FMT ": " STR_FMT,
					   STR_ARG(name), STR_ARG(problems.at[0].text));
	else if (graph == NULL && problems.count > 0)
		definition_step_problem(body, number, S("workflow"),
					"workflow " STR_FMT " has an error: %u:%u: " STR_FMT,
					STR_ARG(name), problems.at[0].line, problems.at[0].column,
					STR_ARG(problems.at[0].text));
	return graph;
}

/* Compiles a definition that the compiler has written itself, with the agents of the file. */
static const struct run_graph *compile_written(struct compiler *c, const struct compiler *outer,
					       struct str yaml)
{
	const struct json *tree;
	struct error error;
	bool good = yaml_read(yaml, c->arena, &tree, &error);
	require(good);
	struct contract_source source = { .json = tree, .text = yaml };
	const struct run_definition *written = run_definition_parse(&source, c->arena, c->problems);
	if (written == NULL)
		return NULL;
	struct run_definition *file = arena_copy(c->arena, written, sizeof(*written));
	SET(file, agents, outer->file->agents);
	c->file = file;
	const struct run_graph *graph = compile_file(c, tree);
	return c->problems->count > 0 ? NULL : graph;
}

const struct run_graph *definition_compile_for_agent(const struct body *body, size_t number,
						     struct str name, struct str yaml,
						     struct str_list delegates)
{
	const struct compiler *outer = body->compiler;
	struct problems problems = { .arena = outer->arena };
	AUTO(compiler)
	c = { .tools = outer->tools,
	      .arena = outer->arena,
	      .problems = &problems,
	      .depth = outer->depth + 1,
	      .delegates = delegates,
	      .steps = outer->steps };
	const struct run_graph *graph = compile_written(&c, outer, yaml);
	if (graph == NULL && problems.count > 0)
		definition_step_problem(body, number, S("agent"),
					"the sub-agent " STR_FMT " has an error: " STR_FMT,
					STR_ARG(name), STR_ARG(problems.at[0].text));
	return graph;
}

bool definition_compile(struct str yaml, const struct definition_tools *tools, struct arena *arena,
			struct str *out_graph, struct problems *problems)
{
	AUTO(compiler) c = { .tools = tools, .arena = arena, .problems = problems };
	const struct run_graph *graph = compile_text(&c, yaml);
	if (graph == NULL)
		return false;
	*out_graph = run_graph_text(graph, arena);
	return true;
}

const struct run_definition *definition_read(struct str yaml, struct arena *arena)
{
	const struct definition_tools none = { .draws = true };
	struct problems problems = { .arena = arena };
	AUTO(compiler) c = { .tools = &none, .arena = arena, .problems = &problems };
	const struct json *tree;
	struct error error;
	if (!yaml_read(yaml, arena, &tree, &error))
		return NULL;
	tree = dialect_translate(&c, dialect_of(tree), tree, yaml);
	const struct contract_source source = { .json = tree, .text = yaml };
	return tree == NULL ? NULL : run_definition_parse(&source, arena, &problems);
}
