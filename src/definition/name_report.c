/* definition/name_report.c -- reads templates and expressions, and reports their problems at their places.
 *
 * Values are read string by string, and a string goes on behind a wrong name, so that no error hides another.  A
 * problem points at the name in the string, not at the string: the names of an expression are parts of its
 * text, so their offsets are known.
 */
#include "base/limits.h"
#include "definition/compile_internal.h"
#include "definition/name_scope.h"
#include "definition/problem_range.h"
#include "expr/template.h"

/* A template or expression that is read, and where its errors are reported. */
struct reading {
	struct reader reader;
	struct str key;
	struct str text;          /* the string */
	const struct json *place; /* of the string; NULL = the step's member */
	struct problems found;    /* a name that is used twice is reported once */
};

/* The string in the tree whose text this is.  The depth of a YAML document bounds the recursion. */
static const struct json *find_string(const struct json *json, struct str text)
{
	const struct json *found = NULL;
	if (json == NULL)
		return NULL;
	if (json->kind == JSON_STRING && json->as.string.at == text.at)
		return json;
	if (json->kind == JSON_LIST)
		for (size_t i = 0; i < json->as.list.count && found == NULL; i++)
			found = find_string(&json->as.list.at[i], text);
	if (json->kind == JSON_OBJECT)
		for (size_t i = 0; i < json->as.object.count && found == NULL; i++)
			found = find_string(&json->as.object.at[i].value, text);
	return found;
}

static const struct json *place_of(const struct reading *reading)
{
	const struct reader *reader = &reading->reader;
	if (reading->place != NULL || reader->step < 0)
		return reading->place;
	const struct json *step = json_item(reader->body->tree, (size_t)reader->step);
	return find_string(json_member(step, reading->key), reading->text);
}

static bool is_repeated(struct reading *reading, struct str text)
{
	for (size_t i = 0; i < reading->found.count; i++)
		if (str_equal(reading->found.at[i].text, text))
			return true;
	problems_add(&reading->found, S(""), 0, 0, STR_FMT, STR_ARG(text));
	return false;
}

static struct problem *add_problem(const struct reading *reading, const char *text)
{
	const struct reader *reader = &reading->reader;
	struct compiler *c = reader->body->compiler;
	const struct json *place = place_of(reading);
	if (reader->step >= 0 && place == NULL)
		return definition_step_problem(reader->body, (size_t)reader->step, reading->key,
					       "%s", text);
	struct str pointer =
		reader->step < 0
			? str_format(c->arena, "/outputs/" STR_FMT "/from", STR_ARG(reading->key))
			: str_format(c->arena, STR_FMT "/" STR_FMT,
				     STR_ARG(definition_step_pointer(reader->body,
								     (size_t)reader->step)),
				     STR_ARG(reading->key));
	return problems_add(c->problems, pointer, place == NULL ? 0 : place->line,
			    place == NULL ? 0 : place->column, "%s", text);
}

/* Points the problem at a part of the string. */
static void point_at(const struct reading *reading, struct problem *problem, struct str part,
		     struct str replacement)
{
	const char *begin = reading->text.at;
	problem_suggest(problem, part, replacement);
	if (problem != NULL && part.at >= begin && part.at < begin + reading->text.size)
		problem->hint.skip =
			problem_word_skip(reading->text, (size_t)(part.at - begin), part);
}

/* Where the step gets the dependency: in its list, or in front of its second member. */
static void suggest_dependency(struct problem *problem, const struct name_advice *advice,
			       struct str name)
{
	const struct json *step =
		advice->body == NULL ? NULL : json_item(advice->body->tree, advice->user);
	const struct json *list = json_member(step, S("depends_on"));
	if (problem == NULL || step == NULL || step->kind != JSON_OBJECT ||
	    step->as.object.count < 2)
		return;
	problem->hint.is_list = list != NULL;
	problem->hint.line = list != NULL ? list->line : step->as.object.at[1].line;
	problem->hint.column = list != NULL ? list->column : step->as.object.at[1].column;
	if (problem->hint.line > 0)
		problem->hint.dependency = name;
}

/* Reports a wrong name and goes on with the next one. */
static bool report_name(void *context, enum expr_name kind, struct str name, struct str key,
			struct error *ignored)
{
	struct reading *reading = context;
	struct name_advice advice;
	struct error error = { 0 };
	(void)ignored;
	bool good = definition_check_name(&reading->reader, kind, name, key, &advice, &error);
	if (!good && !is_repeated(reading, str_from_c(error.text))) {
		struct problem *problem = add_problem(reading, error.text);
		point_at(reading, problem, advice.part, advice.replacement);
		suggest_dependency(problem, &advice, name);
	} else if (good && advice.warning.size > 0 && !is_repeated(reading, advice.warning)) {
		struct problem *warning =
			definition_warn(reading->reader.body->compiler, place_of(reading), STR_FMT,
					STR_ARG(advice.warning));
		point_at(reading, warning, advice.part, advice.replacement);
	}
	return true;
}

/* Reports an expression that cannot be parsed, at the characters that are wrong. */
static void report_error(struct reading *reading, const struct error *error, size_t offset)
{
	struct problem *problem = add_problem(reading, error->text);
	struct str text = reading->text;
	if (offset == 0 || text.size == 0)
		return;
	size_t at = offset <= text.size ? offset - 1 : text.size - 1, end = at;
	if (offset > text.size || text.at[at] == '}')
		while (at > 0 && (text.at[at] == '}' || text.at[at] == ' '))
			end = --at; /* the end of an expression: its last character */
	while (end < text.size && text.at[end] != ' ' && text.at[end] != '}' &&
	       text.at[end] != '\n')
		end++;
	point_at(reading, problem, str_head(str_skip(text, at), end > at ? end - at : 1), S(""));
}

void definition_read_template(const struct reader *reader, const struct json *template,
			      struct str key)
{
	struct arena *arena = reader->body->compiler->arena;
	struct error error = { 0 };
	if (template == NULL)
		return;
	if (template->kind == JSON_LIST)
		for (size_t i = 0; i < template->as.list.count; i++)
			definition_read_template(reader, &template->as.list.at[i], key);
	if (template->kind == JSON_OBJECT)
		for (size_t i = 0; i < template->as.object.count; i++)
			definition_read_template(reader, &template->as.object.at[i].value, key);
	if (template->kind != JSON_STRING)
		return;
	struct reading reading = { .reader = *reader,
				   .key = key,
				   .text = template->as.string,
				   .place = template,
				   .found = { .arena = arena } };
	if (!template_check(template, arena, report_name, &reading, &error))
		report_error(&reading, &error, error.offset);
}

static bool note_name(void *context, enum expr_name kind, struct str name, struct str key,
		      struct error *error)
{
	bool *has_names = context;
	(void)kind, (void)name, (void)key, (void)error;
	*has_names = true;
	return true;
}

/* Evaluates an expression that reads nothing; true when it has a value or reads something. */
static bool check_constant(const struct expr *expr, struct arena *arena, struct error *error)
{
	const struct expr_scope nothing = { 0 };
	const struct json *value;
	bool has_names = false;
	return (expr_names(expr, note_name, &has_names, error) && has_names) ||
	       expr_evaluate(expr, &nothing, arena, &value, error);
}

void definition_read_expression(const struct reader *reader, struct str text, struct str key)
{
	const struct compiler *compiler = reader->body->compiler;
	struct reading reading = {
		.reader = *reader, .key = key, .text = text, .found = { .arena = compiler->arena }
	};
	struct error error = { 0 };
	const struct expr *expr;
	if (!expr_parse(text, compiler->arena, &expr, &error) ||
	    !expr_names(expr, report_name, &reading, &error)) {
		report_error(&reading, &error, error.column);
	} else if (compiler->file->strict && !check_constant(expr, compiler->arena, &error)) {
		error_prefix(&error, "the condition " STR_FMT " can never be evaluated: ",
			     STR_ARG(str_head(text, LIMIT_QUOTE_BYTES)));
		report_error(&reading, &error, 0);
	}
}
