/* Templates: checking, then rendering. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "expr/template.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(template, .init = begin, .fini = end);

static const struct json *read_text(const char *text)
{
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(str_from_c(text), &arena, &json, &error);
	cr_assert(good, "%s", text);
	return json;
}

/* ---- checking ----------------------------------------------------------------------- */

struct visited {
	char text[256];
};

static bool visit(void *context, enum expr_name kind, struct str name, struct str key,
		  struct error *error)
{
	static const char *const kinds[] = { "input", "step", "ctx", "variable" };
	struct visited *visited = context;
	size_t used = strlen(visited->text);
	(void)key;
	if (str_equal(name, S("bad")))
		return fail(error, ERROR_INVALID, "no such input");
	snprintf(visited->text + used, sizeof(visited->text) - used, "%s:%.*s ", kinds[kind],
		 STR_ARG(name));
	return true;
}

static bool check(const char *template, struct visited *visited, struct error *error)
{
	*visited = (struct visited){ 0 };
	*error = (struct error){ 0 };
	return template_check(read_text(template), &arena, visit, visited, error);
}

static void refused(const char *template, const char *says)
{
	struct visited visited;
	struct error error;
	cr_assert_not(check(template, &visited, &error), "%s was taken", template);
	cr_assert(error.code == ERROR_INVALID);
	cr_assert(strstr(error.text, says) != NULL, "%s: %s", template, error.text);
}

Test(template, visits_every_reference_in_order)
{
	struct visited visited;
	struct error error;
	cr_assert(check("{\"a\":\"${inputs.x.y[3]}\",\"b\":[\"t ${steps.one.outputs} "
			"${steps.two.output.k}\"],"
			"\"${inputs.key}\":1,\"c\":null}",
			&visited, &error));
	cr_assert_str_eq(visited.text, "input:x step:one step:two ");
}

Test(template, takes_blanks_inside_the_braces)
{
	struct visited visited;
	struct error error;
	cr_assert(check("\"${ inputs.x }\"", &visited, &error));
	cr_assert_str_eq(visited.text, "input:x ");
}

Test(template, refuses_what_is_not_an_expression)
{
	static const char *const texts[] = {
		"\"${}\"",
		"\"${inputs.}\"",
		"\"${steps.a}\"",
		"\"${steps.a.secret}\"",
		"\"${inputs.a || 1}\"",
		"\"${open(inputs.a)}\"",
		"\"${inputs.a[]}\"",
		"\"${inputs.a[1}\"",
		"\"${inputs.a..b}\"",
		"\"${steps[0].outputs}\"",
		"\"${steps.a.outputs b}\"",
		"\"x ${ } y\"",
		"\"${inputs.a ==}\"",
		"\"${ctx}\"",
	};
	for (size_t i = 0; i < COUNT(texts); i++)
		refused(texts[i], "at character");
}

Test(template, refuses_an_unclosed_brace)
{
	refused("\"${inputs.a\"", "no closing brace");
	refused("[\"fine\",{\"k\":\"x ${\"}]", "no closing brace");
}

Test(template, says_where_the_string_stands)
{
	struct visited visited = { 0 };
	struct error error;
	const struct json *tree;
	bool good = yaml_read(S("a: 1\nb:\n  - fine\n  - ${nothing +}\n"), &arena, &tree, &error);
	cr_assert(good);
	cr_assert_not(template_check(tree, &arena, visit, &visited, &error));
	cr_assert_eq(error.line, 4);
	cr_assert_eq(error.column, 5);
	good = yaml_read(S("k: ${inputs.bad}\n"), &arena, &tree, &error);
	cr_assert(good);
	cr_assert_not(template_check(tree, &arena, visit, &visited, &error));
	cr_assert_str_eq(error.text, "no such input");
	cr_assert_eq(error.line, 1);
	cr_assert_eq(error.column, 4);
}

/* ---- rendering ---------------------------------------------------------------------- */

struct world {
	const struct json *inputs, *outputs;
};

static const struct json *find_step(void *context, struct str name, enum expr_field field)
{
	const struct world *world = context;
	return field == EXPR_OUTPUTS ? json_member(world->outputs, name) : NULL;
}

static const struct json *find_ctx(void *context, struct str name)
{
	(void)context, (void)name;
	return NULL;
}

static const struct json *find_variable(void *context, struct str name)
{
	const struct world *world = context;
	return str_equal(name, S("inputs")) ? world->inputs : NULL;
}

static const char *const given = "{\"s\":\"text\",\"n\":7,\"r\":1.5,\"t\":true,\"z\":null,"
				 "\"l\":[10,[20]],\"o\":{\"k\":{\"d-e_p\":\"deep\"}},"
				 "\"trick\":\"${inputs.n}\"}";

static const struct json *render_tree(const char *template, const struct json *inputs)
{
	struct visited visited;
	struct error error;
	struct world world = { inputs, read_text("{\"one\":{\"v\":[1,2]},\"two\":\"plain\"}") };
	struct expr_scope scope = { find_step, find_ctx, find_variable, &world, NULL };
	cr_assert(check(template, &visited, &error), "%s: %s", template, error.text);
	return template_render(read_text(template), &scope, &arena);
}

static void renders(const char *template, const char *expected)
{
	const struct json *rendered = render_tree(template, read_text(given));
	cr_assert(rendered != NULL);
	const char *text = str_c(&arena, json_print(&arena, rendered));
	cr_assert_str_eq(text, expected, "%s gave %s", template, text);
}

Test(template, one_reference_keeps_its_type)
{
	renders("\"${inputs.s}\"", "\"text\"");
	renders("\"${inputs.n}\"", "7");
	renders("\"${inputs.r}\"", "1.5");
	renders("\"${inputs.t}\"", "true");
	renders("\"${inputs.z}\"", "null");
	renders("\"${ inputs.l }\"", "[10,[20]]");
	renders("\"${inputs.o.k.d-e_p}\"", "\"deep\"");
	renders("\"${inputs.l[1][0]}\"", "20");
	renders("\"${steps.one.outputs}\"", "{\"v\":[1,2]}");
	renders("\"${steps.one.output.v[1]}\"", "2");
}

Test(template, an_expression_may_stand_wherever_a_reference_may)
{
	renders("\"${inputs.n + 1}\"", "8");
	renders("\"n is ${inputs.n * 2} and ${coalesce(inputs.z, 'none')}\"",
		"\"n is 14 and none\"");
	renders("\"${'a}b' + inputs.s}\"", "\"a}btext\"");
	renders("\"${inputs.n < 'x'}\"", "null");
}

Test(template, inside_text_everything_becomes_text)
{
	renders("\"<${inputs.s}|${inputs.n}|${inputs.t}|${inputs.z}|"
		"${inputs.l}|${steps.one.outputs}>\"",
		"\"<text|7|true||[10,[20]]|{\\\"v\\\":[1,2]}>\"");
	renders("\"${inputs.n} \"", "\"7 \"");
	renders("\"${inputs.n}${inputs.n}\"", "\"77\"");
}

Test(template, missing_things_are_null)
{
	renders("\"${inputs.nothing}\"", "null");
	renders("\"${inputs.s.deeper[3].still}\"", "null");
	renders("\"${inputs.l[9]}\"", "null");
	renders("\"${inputs.o[0]}\"", "null");
	renders("\"${steps.gone.outputs.x}\"", "null");
	renders("\"a${steps.gone.outputs.x}b\"", "\"ab\"");
	const struct json *rendered = render_tree("\"${inputs.s}\"", NULL);
	cr_assert(rendered != NULL && rendered->kind == JSON_NULL);
}

Test(template, an_escape_is_a_literal)
{
	renders("\"$${inputs.n}\"", "\"${inputs.n}\"");
	renders("\"$${\"", "\"${\"");
	renders("\"$$${inputs.n}\"", "\"$${inputs.n}\"");
	renders("\"5$ $$ $x ${inputs.n}$\"", "\"5$ $$ $x 7$\"");
	renders("\"$\"", "\"$\"");
	renders("\"\"", "\"\"");
}

Test(template, what_is_rendered_is_not_read_again)
{
	renders("\"${inputs.trick}\"", "\"${inputs.n}\"");
	renders("\"x ${inputs.trick}\"", "\"x ${inputs.n}\"");
}

Test(template, structures_are_walked_and_keys_left_alone)
{
	renders("{\"${inputs.n}\":[\"${inputs.n}\",{\"a\":\"${inputs.s}!\"},3,null,false]}",
		"{\"${inputs.n}\":[7,{\"a\":\"text!\"},3,null,false]}");
	renders("{}", "{}");
	renders("[]", "[]");
}

/* ---- the budget --------------------------------------------------------------------- */

static const struct json *string_of(size_t size)
{
	struct json *json = arena_new(&arena, struct json);
	char *text = arena_take_text(&arena, size);
	memset(text, 'x', size);
	*json = (struct json){ .kind = JSON_STRING, .as.string = { text, size } };
	return json;
}

static const struct json *object_of(const char *key, const struct json *value)
{
	struct json_member *member = arena_new(&arena, struct json_member);
	*member = (struct json_member){ .key = str_from_c(key), .value = *value };
	struct json *json = arena_new(&arena, struct json);
	*json = (struct json){ .kind = JSON_OBJECT, .as.object = { member, 1 } };
	return json;
}

Test(template, texts_it_makes_have_a_limit)
{
	const struct json *inputs = object_of("s", string_of(LIMIT_VALUE_BYTES - 1));
	const struct json *fits = render_tree("\"${inputs.s}!\"", inputs);
	cr_assert(fits != NULL);
	cr_assert_eq(fits->as.string.size, (size_t)LIMIT_VALUE_BYTES);
	cr_assert_null(render_tree("\"${inputs.s}!!\"", inputs));
	cr_assert_null(render_tree("[\"${inputs.s}!\",\"$${\"]", inputs));
	cr_assert_null(render_tree("{\"a\":\"!${inputs.s}!\"}", inputs));
}

Test(template, whole_values_are_shared_not_copied)
{
	const struct json *big = string_of(LIMIT_VALUE_BYTES);
	const struct json *list = render_tree("[\"${inputs.s}\",\"${inputs.s}\",\"${inputs.s}\"]",
					      object_of("s", big));
	cr_assert(list != NULL);
	for (size_t i = 0; i < 3; i++)
		cr_assert(list->as.list.at[i].as.string.at == big->as.string.at);
}
