/* definition/tool_check.c -- inputs and outputs of tools against their contracts.
 *
 * An input that contains an expression is known only when the step runs; the tool checks it then.
 * Everything else is checked here, so that an author learns of it before anything has run.
 *
 * An input that is a single `${steps.NAME.outputs.KEY}` or `${inputs.NAME}` keeps the type of its value.  Where
 * that type is declared, by the contract of a tool or by the workflow, and the input of the tool cannot take
 * it, the step would always fail; so it is an error of the file.
 */
#include "contract/closest.h"
#include "contract/type.h"
#include "definition/compile_internal.h"
#include "definition/name_scope.h"

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
	if (tool->inputs == NULL || (c->names_unknown && step->inputs->line == 0))
		return;
	struct problems found = { .arena = c->arena };
	const struct contract_source source = { .json = step->inputs };
	if (contract_parse(tool->inputs, &source, c->arena, &found) != NULL)
		return;
	for (size_t i = 0; i < found.count; i++) {
		const struct problem *problem = &found.at[i];
		struct str text = in_words_of_tool(problem->text, tool, c->arena);
		bool is_unknown = str_starts(text, S("is not an input of "));
		if (!is_unknown && has_expression(input_of(step->inputs, problem->pointer)))
			continue;
		if (problem->line == 0)
			definition_step_problem(
				body, number, S("tool"),
				"tool " STR_FMT ": input " STR_FMT " " STR_FMT, STR_ARG(tool->name),
				STR_ARG(str_skip(problem->pointer, 1)), STR_ARG(text));
		else
			problem_suggest(
				problems_add(
					c->problems,
					str_format(c->arena, STR_FMT "/inputs" STR_FMT,
						   STR_ARG(definition_step_pointer(body, number)),
						   STR_ARG(problem->pointer)),
					problem->line, problem->column, STR_FMT, STR_ARG(text)),
				problem->hint.word, problem->hint.replacement);
	}
}

/* An agent takes any inputs.  But without `prompt` and `messages` all of them become the prompt as JSON,
 * which an author who misspelled one of these does not want. */
void definition_check_agent_inputs(const struct body *body, size_t number)
{
	static const struct str names[] = { { "prompt", 6 }, { "messages", 8 } };
	const struct json *inputs = body->steps.at[number].inputs;
	struct compiler *c = body->compiler;
	if (inputs == NULL || inputs->kind != JSON_OBJECT)
		return;
	for (size_t i = 0; i < COUNT(names); i++)
		if (json_member(inputs, names[i]) != NULL)
			return;
	for (size_t i = 0; i < inputs->as.object.count; i++) {
		const struct json_member *member = &inputs->as.object.at[i];
		struct str close =
			closest_word((struct str_list){ names, COUNT(names) }, member->key);
		/* Singular and plural are words of their own. */
		if (close.size == 0 || str_equal(member->key, S("message")) ||
		    str_equal(member->key, S("prompts")))
			continue;
		problem_suggest(
			problems_add(c->problems,
				     str_format(c->arena, STR_FMT "/inputs/" STR_FMT,
						STR_ARG(definition_step_pointer(body, number)),
						STR_ARG(member->key)),
				     member->line, member->column,
				     "is not an input that an agent knows; did you mean \"" STR_FMT
				     "\"?",
				     STR_ARG(close)),
			member->key, close);
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

/* The outputs that an agent's reply certainly or probably has: text and json, what the step publishes, and the
 * members of its schema. */
static struct str_list reply_names(const struct body *body, const struct run_definition_step *step)
{
	const struct run_definition_agent *agent =
		definition_own_agent(body->compiler, step->agent);
	const struct json *schema = has(step, schema)                     ? step->schema
				    : agent != NULL && has(agent, schema) ? agent->schema
									  : NULL;
	const struct json *members = json_member(schema, S("properties"));
	size_t declared =
		members != NULL && members->kind == JSON_OBJECT ? members->as.object.count : 0;
	size_t count = 2;
	struct str *names = arena_array(body->compiler->arena, struct str,
					count + declared + step->outputs.count);
	names[0] = S("text");
	names[1] = S("json");
	for (size_t i = 0; i < step->outputs.count; i++)
		names[count++] = step->outputs.at[i].key;
	for (size_t i = 0; i < declared; i++)
		names[count++] = members->as.object.at[i].key;
	return (struct str_list){ names, count };
}

/* The members of an agent's reply are outputs, and not known beforehand: a word that is almost one that the
 * reply has is only a warning. */
static void check_reply_output(const struct body *body, size_t number, struct str key,
			       struct name_advice *advice)
{
	const struct run_definition_step *step = &body->steps.at[number];
	struct str_list names = reply_names(body, step);
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], key))
			return;
	struct str close = closest_word(names, key);
	if (close.size == 0)
		return;
	advice->part = key;
	advice->replacement = close;
	advice->warning =
		str_format(body->compiler->arena,
			   "output \"" STR_FMT "\" of step " STR_FMT " (agent " STR_FMT
			   ") must be a member of its reply; did you mean \"" STR_FMT "\"?",
			   STR_ARG(str_head(key, 60)), STR_ARG(step->name), STR_ARG(step->agent),
			   STR_ARG(close));
}

bool definition_check_output(const struct body *body, size_t number, struct str key,
			     struct name_advice *advice, struct error *error)
{
	const struct run_definition_step *step = &body->steps.at[number];
	/* The output of a step with catch may be that of its catch steps. */
	const struct definition_tool *tool =
		has(step, tool) && !has(step, catch)
			? definition_find_tool(body->compiler, step->tool)
			: NULL;
	const struct type *type = tool != NULL ? tool->outputs : NULL;
	if (has(step, agent) && !has(step, catch) && key.size > 0)
		check_reply_output(body, number, key, advice);
	if (key.size == 0 || type == NULL || type->openness != CONTRACT_CLOSED)
		return true;
	struct str_list names = output_names(type, body->compiler->arena);
	AUTO(buf) all = { 0 };
	for (size_t i = 0; i < names.count; i++) {
		if (str_equal(names.at[i], key))
			return true;
		buf_add_format(&all, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(names.at[i]));
	}
	struct str close = closest_word(names, key);
	advice->part = key;
	advice->replacement = close;
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

/* A tool that an MCP server may have: the definition can be looked at, and not be started. */
static bool report_mcp_tool(const struct body *body, size_t number, struct str tool)
{
	const struct compiler *c = body->compiler;
	const struct json *step = json_item(body->tree, number);
	if (c->tools->mcp == NULL || !c->tools->mcp(c->tools->context) || !c->tools->draws)
		return false;
	definition_warn(c, json_member(step, S("tool")),
			"tool " STR_FMT
			" is not known; it may be one of an MCP server, and those cannot be called "
			"yet: a start is refused",
			STR_ARG(tool));
	return true;
}

void definition_report_tool(const struct body *body, size_t number, struct str tool)
{
	const struct compiler *c = body->compiler;
	if (report_mcp_tool(body, number, tool))
		return;
	struct str *words = arena_array(c->arena, struct str, c->tools->count);
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < c->tools->count; i++) {
		words[i] = c->tools->at[i].name;
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(words[i]));
	}
	struct str close = closest_word((struct str_list){ words, c->tools->count }, tool);
	const char *mcp =
		c->tools->mcp != NULL && c->tools->mcp(c->tools->context)
			? "it may be one of an MCP server, and those cannot be called yet; "
			: "";
	struct problem *problem =
		close.size > 0
			? definition_step_problem(body, number, S("tool"),
						  "unknown tool " STR_FMT
						  "; %sdid you mean \"" STR_FMT "\"?",
						  STR_ARG(tool), mcp, STR_ARG(close))
			: definition_step_problem(body, number, S("tool"),
						  "unknown tool " STR_FMT
						  "; %sexpected one of " STR_FMT,
						  STR_ARG(tool), mcp, STR_ARG(buf_str(&names)));
	problem_suggest(problem, tool, close);
}

/* ---- types of values that are passed on ---------------------------------------------------- */

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
