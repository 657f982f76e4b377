/* active/workflow_list.c -- the definitions that a run can be started from by name. */
#include "active/workflow_list.h"

#include "active/definition_reading.h"
#include "active/run_profile.h"
#include "active/executor_state.h"
#include "base/limits.h"
#include "base/yaml.h"
#include "contract/run_definition_types.h"
#include "contract/runtime_types.h"
#include "definition/definition_compile.h"
#include "definition/graph.h"
#include "definition/problem_range.h"

struct str_list executor_workflow_names(struct executor *executor, struct store_reader *reader,
					struct arena *arena)
{
	const struct executor_settings *settings = &executor->settings;
	if (settings->definitions == NULL)
		return (struct str_list){ 0 };
	return settings->definitions(settings->context, reader, LIMIT_WORKFLOWS_LISTED, arena);
}

/* Copies one declared input; the definition's memory is freed afterwards. */
static struct runtime_workflow_input
copy_input(struct str name, const struct run_definition_input *input, struct arena *arena)
{
	struct runtime_workflow_input *copy = runtime_workflow_input_new(arena);
	SET(copy, name, str_copy(arena, name));
	SET(copy, type, run_input_type_name(input->type));
	SET(copy, required, input->required && !has(input, fallback));
	if (has(input, description))
		SET(copy, description, str_copy(arena, input->description));
	if (has(input, fallback))
		SET(copy, fallback, json_copy(arena, input->fallback));
	if (has(input, choices)) {
		const struct json **all =
			arena_array(arena, const struct json *, input->choices.count);
		for (size_t i = 0; i < input->choices.count; i++)
			all[i] = json_copy(arena, input->choices.at[i]);
		SET(copy, choices, ((struct any_list){ all, input->choices.count }));
	}
	return *copy;
}

/* Description and inputs, if the text can be read as a definition at all; then its own name. */
static struct str describe(struct runtime_workflow_item *item, struct str yaml,
			   struct arena *scratch, struct arena *arena)
{
	const struct json *tree;
	struct error error;
	if (!yaml_read(yaml, scratch, &tree, &error))
		return S("");
	const struct json *experimental = json_member(tree, S("experimental"));
	if (experimental != NULL && experimental->kind == JSON_BOOL && experimental->as.boolean)
		SET(item, experimental, true);
	const struct run_definition *definition = definition_read(yaml, scratch);
	if (definition == NULL)
		return S("");
	if (has(definition, description))
		SET(item, description, str_copy(arena, definition->description));
	size_t count = definition->inputs.count;
	struct runtime_workflow_input *inputs =
		arena_array(arena, struct runtime_workflow_input, count);
	for (size_t i = 0; i < count; i++)
		inputs[i] = copy_input(definition->inputs.at[i].key,
				       &definition->inputs.at[i].value, arena);
	SET(item, inputs, ((struct runtime_workflow_input_list){ inputs, count }));
	return definition->name;
}

/* False with the error that a start would answer with. */
static bool check(struct definition_reading *reading, struct str name, struct str yaml,
		  struct str own_name, struct error *error)
{
	struct problems problems = { .arena = reading->arena };
	struct str graph;
	if (!definition_reading_compile(reading, yaml, &graph, &problems)) {
		problems_fail(&problems, error);
		if (problems.at[0].line > 0)
			error_prefix(error, "line %u:%u: ", problems.at[0].line,
				     problems.at[0].column);
		return false;
	}
	return str_equal(name, own_name) || definition_reading_misnamed(own_name, name, error);
}

struct runtime_workflow_item executor_workflow_item(struct executor *executor,
						    struct store_reader *reader, struct str name,
						    struct str yaml, struct arena *arena)
{
	AUTO(arena) scratch = { 0 }; /* a definition may be large, and a page has many */
	struct runtime_workflow_item *item = runtime_workflow_item_new(arena);
	struct definition_reading reading = { .executor = executor,
					      .reader = reader,
					      .arena = &scratch };
	struct error error;
	SET(item, name, name);
	struct str own_name = describe(item, yaml, &scratch, arena);
	if (!run_profile_read(executor, reader, S(""), &scratch, &reading.profile, &error) ||
	    !check(&reading, name, yaml, own_name, &error))
		SET(item, problem, str_copy(arena, str_from_c(error.text)));
	return *item;
}

/* A definition is started by its own name. */
static void check_own_name(const struct json *own, struct str name, struct str yaml,
			   struct arena *arena, struct problems *warnings)
{
	struct str own_name = json_text(own);
	if (name.size == 0 || own_name.size == 0 || str_equal(own_name, name))
		return;
	problem_suggest(problems_add(warnings, S("/name"), own->line, own->column,
				     "the definition calls itself " STR_FMT ", not " STR_FMT
				     ": it cannot be started by that name",
				     STR_ARG(own_name), STR_ARG(name)),
			own_name, name);
	problem_range_find_all(warnings, yaml, arena);
}

bool executor_workflow_check(struct executor *executor, struct store_reader *reader,
			     struct str name, const struct workflow_text *text, struct arena *arena,
			     struct str *out_name, struct str *out_graph, struct problems *problems,
			     struct problems *warnings)
{
	struct definition_reading reading = { .executor = executor,
					      .reader = reader,
					      .arena = arena,
					      .prompts_folder = text->prompts_folder,
					      .agents = text->agents,
					      .agent_count = text->agent_count,
					      .mcp = text->mcp,
					      .draws = text->draws };
	const struct json *tree;
	struct error error;
	const struct json *own =
		yaml_read(text->yaml, arena, &tree, &error) ? json_member(tree, S("name")) : NULL;
	*out_name = json_text(own);
	check_own_name(own, name, text->yaml, arena, warnings);
	reading.warnings = warnings;
	if (!run_profile_read(executor, reader, S(""), arena, &reading.profile, &error)) {
		problems_add_configuration(problems, "%s", error.text);
		return false;
	}
	return definition_reading_compile(&reading, text->yaml, out_graph, problems);
}

bool executor_knows_tool(struct executor *executor, struct store_reader *reader, struct str name)
{
	static const struct str of_agents[] = { { "ask_human", 9 },
						{ "delegate", 8 },
						{ "send_message", 12 },
						{ "read_messages", 13 } };
	AUTO(arena) scratch = { 0 };
	struct definition_reading reading = { .executor = executor,
					      .reader = reader,
					      .arena = &scratch };
	struct definition_tools tools = definition_reading_tools(&reading, NULL);
	for (size_t i = 0; i < tools.count; i++)
		if (str_equal(tools.at[i].name, name))
			return true;
	for (size_t i = 0; i < COUNT(of_agents); i++)
		if (str_equal(of_agents[i], name))
			return true;
	return str_starts(name, S("workflow:"));
}

const struct json *executor_workflow_inputs(struct str graph, const struct json *given,
					    struct arena *arena, struct problems *problems,
					    struct error *error)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct graph *loaded;
	if (!graph_load(graph, arena, &loaded, error))
		return NULL;
	const struct json *inputs =
		graph_inputs(loaded, given == NULL ? &nothing : given, arena, problems);
	if (inputs == NULL) {
		problems_fail(problems, error);
		error_prefix(error, "inputs: ");
	}
	return inputs;
}
