/* definition/type_check.c -- types of values that are passed from step to step.
 *
 * An input that is a single `${steps.NAME.outputs.KEY}` or `${inputs.NAME}` keeps the type of its value.  Where
 * that type is declared, by the contract of a tool or by the workflow, and the input of the tool cannot take
 * it, the step would always fail; so it is an error of the file.  Everything else is left to the run.
 */
#include "contract/type.h"
#include "definition/compile_internal.h"

/* A set of kinds of JSON values. */
enum {
	KINDS_STRING = 1 << 0,
	KINDS_INTEGER = 1 << 1,
	KINDS_NUMBER = 1 << 2,
	KINDS_BOOLEAN = 1 << 3,
	KINDS_LIST = 1 << 4,
	KINDS_OBJECT = 1 << 5,
	KINDS_ANY = (1 << 6) - 1,
};

static const struct {
	unsigned kinds;
	const char *words;
} kind_words[] = {
	{ KINDS_STRING, "a string" }, { KINDS_INTEGER, "a whole number" },
	{ KINDS_NUMBER, "a number" }, { KINDS_BOOLEAN, "true or false" },
	{ KINDS_LIST, "a list" },     { KINDS_OBJECT, "a mapping" },
};

static const char *words_of(unsigned kinds)
{
	for (size_t i = COUNT(kind_words); i-- > 0;)
		if ((kinds & kind_words[i].kinds) != 0)
			return kind_words[i].words;
	return "null";
}

static unsigned kinds_of_type(const struct type *type)
{
	switch (type->kind) {
	case KIND_STR:
	case KIND_TIME:
	case KIND_UUID:
	case KIND_HASH:
	case KIND_SECRET:
	case KIND_ENUM:
		return KINDS_STRING;
	case KIND_INT:
		return KINDS_INTEGER;
	case KIND_REAL:
		return KINDS_NUMBER | KINDS_INTEGER;
	case KIND_BOOL:
		return KINDS_BOOLEAN;
	case KIND_OBJECT:
	case KIND_ENTITY:
	case KIND_UNION:
		return KINDS_OBJECT;
	case KIND_ANY:
		break;
	}
	return KINDS_ANY;
}

/* The kinds of values of a field; any, if the type has no such field. */
static unsigned kinds_of_field(const struct type *type, struct str name)
{
	if (type == NULL || type->kind != KIND_ENTITY)
		return KINDS_ANY;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (field_is_hook(field) || !str_equal(field->name, name))
			continue;
		if (field->shape == SHAPE_LIST)
			return KINDS_LIST;
		if (field->shape == SHAPE_MAP)
			return KINDS_OBJECT;
		return field->shape == SHAPE_ONE ? kinds_of_type(field_type(field)) : KINDS_STRING;
	}
	return KINDS_ANY;
}

static unsigned kinds_of_input(enum run_input_type type)
{
	switch (type) {
	case RUN_INPUT_STRING:
	case RUN_INPUT_FILE:
		return KINDS_STRING;
	case RUN_INPUT_NUMBER:
		return KINDS_NUMBER | KINDS_INTEGER;
	case RUN_INPUT_INTEGER:
		return KINDS_INTEGER;
	case RUN_INPUT_BOOLEAN:
		return KINDS_BOOLEAN;
	case RUN_INPUT_ARRAY:
		return KINDS_LIST;
	case RUN_INPUT_OBJECT:
		break;
	}
	return KINDS_OBJECT;
}

/* A value that is nothing but a reference. */
struct reference {
	enum expr_name kind;
	struct str name, key;
	size_t count; /* of names in the expression */
};

static bool note_reference(void *context, enum expr_name kind, struct str name, struct str key,
			   struct error *error)
{
	struct reference *found = context;
	(void)error;
	*found = (struct reference){ kind, name, key, found->count + 1 };
	return true;
}

static bool is_reference(const struct json *value, struct arena *arena,
			 struct reference *out_reference)
{
	struct error error;
	const struct expr *expr;
	if (value->kind != JSON_STRING || !str_starts(value->as.string, S("${")) ||
	    !str_ends(value->as.string, S("}")))
		return false;
	struct str text =
		str_trim(str_head(str_skip(value->as.string, 2), value->as.string.size - 3));
	*out_reference = (struct reference){ 0 };
	if (!expr_parse(text, arena, &expr, &error) ||
	    !expr_names(expr, note_reference, out_reference, &error) || out_reference->count != 1)
		return false;
	const struct reference *found = out_reference;
	if (found->kind == EXPR_NAME_INPUT)
		return str_equal(text, str_format(arena, "inputs." STR_FMT, STR_ARG(found->name)));
	return found->kind == EXPR_NAME_STEP &&
	       (str_equal(text, str_format(arena, "steps." STR_FMT ".outputs." STR_FMT,
					   STR_ARG(found->name), STR_ARG(found->key))) ||
		str_equal(text, str_format(arena, "steps." STR_FMT ".output." STR_FMT,
					   STR_ARG(found->name), STR_ARG(found->key))));
}

/* The kinds of an output of a step that calls a tool. */
static unsigned kinds_of_output(const struct body *body, struct str name, struct str key)
{
	size_t number = 0;
	for (; body != NULL && number == 0; body = number == 0 ? body->outer : body)
		number = definition_body_step(body, name);
	if (body == NULL)
		return KINDS_ANY;
	const struct run_definition_step *step = &body->steps.at[number - 1];
	/* The output of a step with catch may be that of its catch steps. */
	const struct definition_tool *tool =
		has(step, tool) && !has(step, catch) && !has(step, verify)
			? definition_find_tool(body->compiler, step->tool)
			: NULL;
	return tool == NULL ? KINDS_ANY : kinds_of_field(tool->outputs, key);
}

/* What is known of the value, or any. */
static unsigned kinds_of_reference(const struct body *body, const struct reference *reference)
{
	const struct run_definition *file = body->compiler->file;
	if (reference->kind == EXPR_NAME_STEP)
		return kinds_of_output(body, reference->name, reference->key);
	for (size_t i = 0; i < file->inputs.count; i++)
		if (str_equal(file->inputs.at[i].key, reference->name))
			return kinds_of_input(file->inputs.at[i].value.type);
	return KINDS_ANY;
}

void definition_check_types(const struct body *body, size_t number,
			    const struct definition_tool *tool)
{
	const struct json *inputs = body->steps.at[number].inputs;
	struct compiler *c = body->compiler;
	if (inputs == NULL || inputs->kind != JSON_OBJECT || c->names_unknown || c->kinds_unknown)
		return;
	for (size_t i = 0; i < inputs->as.object.count; i++) {
		const struct json_member *member = &inputs->as.object.at[i];
		unsigned wanted = kinds_of_field(tool->inputs, member->key), given;
		struct reference reference;
		if (wanted == KINDS_ANY || !is_reference(&member->value, c->arena, &reference))
			continue;
		given = kinds_of_reference(body, &reference);
		if ((given & wanted) != 0)
			continue;
		bool is_step = reference.kind == EXPR_NAME_STEP;
		struct problem *problem =
			problems_add(c->problems,
				     str_format(c->arena, STR_FMT "/inputs/" STR_FMT,
						STR_ARG(definition_step_pointer(body, number)),
						STR_ARG(member->key)),
				     member->value.line, member->value.column,
				     "%s " STR_FMT "%s" STR_FMT " is %s, but input " STR_FMT
				     " of tool " STR_FMT " must be %s",
				     is_step ? "output" : "input",
				     STR_ARG(is_step ? reference.key : reference.name),
				     is_step ? " of step " : "",
				     STR_ARG(is_step ? reference.name : S("")), words_of(given),
				     STR_ARG(member->key), STR_ARG(tool->name), words_of(wanted));
		problem_suggest(problem, is_step ? reference.key : reference.name, S(""));
		if (problem != NULL && is_step && str_equal(reference.key, reference.name))
			problem->hint.skip = 1;
	}
}
