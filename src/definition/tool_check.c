/* definition/tool_check.c -- inputs and outputs of tools against their contracts.
 *
 * An input that contains an expression is known only when the step runs; the tool checks it then.
 * Everything else is checked here, so that an author learns of it before anything has run.
 */
#include "contract/closest.h"
#include "contract/type.h"
#include "definition/compile_internal.h"

const struct definition_tool *definition_find_tool(const struct compiler *compiler, struct str name)
{
	for (size_t i = 0; i < compiler->tools->count; i++)
		if (str_equal(compiler->tools->at[i].name, name))
			return &compiler->tools->at[i];
	return NULL;
}

/* The depth of a YAML document bounds the recursion. */
static bool has_expression(const struct json *value)
{
	size_t at;
	if (value == NULL)
		return false;
	if (value->kind == JSON_STRING)
		return str_find(value->as.string, S("${"), &at);
	bool found = false;
	if (value->kind == JSON_LIST)
		for (size_t i = 0; i < value->as.list.count && !found; i++)
			found = has_expression(&value->as.list.at[i]);
	if (value->kind == JSON_OBJECT)
		for (size_t i = 0; i < value->as.object.count && !found; i++)
			found = has_expression(&value->as.object.at[i].value);
	return found;
}

/* The input that a problem is about: the first part of its pointer. */
static const struct json *input_of(const struct json *inputs, struct str pointer)
{
	struct str rest = str_skip(pointer, 1), name;
	return str_cut(&rest, '/', &name) ? json_member(inputs, name) : NULL;
}

/* An author knows the tool, not the name of its contract. */
static struct str in_words_of_tool(struct str text, const struct definition_tool *tool,
				   struct arena *arena)
{
	struct str field =
		str_format(arena, "is not a field of " STR_FMT, STR_ARG(tool->inputs->name));
	if (!str_starts(text, field))
		return text;
	return str_format(arena, "is not an input of " STR_FMT STR_FMT, STR_ARG(tool->name),
			  STR_ARG(str_skip(text, field.size)));
}

void definition_check_inputs(const struct body *body, size_t number,
			     const struct definition_tool *tool)
{
	const struct run_definition_step *step = &body->steps.at[number];
	struct compiler *c = body->compiler;
	if (tool->inputs == NULL)
		return;
	struct problems found = { .arena = c->arena };
	const struct contract_source source = { .json = step->inputs };
	if (contract_parse(tool->inputs, &source, c->arena, &found) != NULL)
		return;
	for (size_t i = 0; i < found.count; i++) {
		const struct problem *problem = &found.at[i];
		struct str text = in_words_of_tool(problem->text, tool, c->arena);
		if (has_expression(input_of(step->inputs, problem->pointer)))
			continue;
		if (problem->line == 0)
			definition_step_problem(
				body, number, S("tool"),
				"tool " STR_FMT ": input " STR_FMT " " STR_FMT, STR_ARG(tool->name),
				STR_ARG(str_skip(problem->pointer, 1)), STR_ARG(text));
		else
			problems_add(c->problems,
				     str_format(c->arena, STR_FMT "/inputs" STR_FMT,
						STR_ARG(definition_step_pointer(body, number)),
						STR_ARG(problem->pointer)),
				     problem->line, problem->column, STR_FMT, STR_ARG(text));
	}
}

/* The names of the outputs, for a message. */
static struct str_list output_names(const struct type *type, struct arena *arena)
{
	size_t count = 0;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		count++;
	struct str *names = arena_array(arena, struct str, count);
	count = 0;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (!field_is_hook(field))
			names[count++] = field->name;
	return (struct str_list){ names, count };
}

bool definition_check_output(const struct body *body, size_t number, struct str key,
			     struct error *error)
{
	const struct run_definition_step *step = &body->steps.at[number];
	/* The output of a step with catch may be that of its catch steps. */
	const struct definition_tool *tool =
		has(step, tool) && !has(step, catch)
			? definition_find_tool(body->compiler, step->tool)
			: NULL;
	if (key.size == 0 || tool == NULL || tool->outputs == NULL ||
	    tool->outputs->openness != CONTRACT_CLOSED)
		return true;
	struct str_list names = output_names(tool->outputs, body->compiler->arena);
	AUTO(buf) all = { 0 };
	for (size_t i = 0; i < names.count; i++) {
		if (str_equal(names.at[i], key))
			return true;
		buf_add_format(&all, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(names.at[i]));
	}
	struct str close = closest_word(names, key);
	if (close.size > 0)
		return fail(error, ERROR_INVALID,
			    "step " STR_FMT " (tool " STR_FMT ") has no output \"" STR_FMT
			    "\"; did you mean \"" STR_FMT "\"?",
			    STR_ARG(step->name), STR_ARG(tool->name), STR_ARG(str_head(key, 60)),
			    STR_ARG(close));
	return fail(error, ERROR_INVALID,
		    "step " STR_FMT " (tool " STR_FMT ") has no output \"" STR_FMT
		    "\"; it has " STR_FMT,
		    STR_ARG(step->name), STR_ARG(tool->name), STR_ARG(str_head(key, 60)),
		    STR_ARG(buf_str(&all)));
}
