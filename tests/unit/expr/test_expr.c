/* Expressions: results of all operators, errors, and limits. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "expr/expr.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(expr, .init = begin, .fini = end);

static const struct json *read_text(const char *text)
{
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(str_from_c(text), &arena, &json, &error);
	cr_assert(good, "%s", text);
	return json;
}

static const struct json *world(void)
{
	return read_text("{\"inputs\":{\"n\":7,\"r\":2.5,\"s\":\"abc\",\"z\":null,\"l\":[1,2,3],"
			 "\"o\":{\"k\":{\"d-e\":4},\"__class__\":1},\"e\":\"\"},"
			 "\"steps\":{\"a\":{\"ok\":true},\"b-c\":{\"x\":1}},"
			 "\"ctx\":{\"best\":9},\"item\":{\"name\":\"it\"}}");
}

static const struct json *find_step(void *context, struct str name, enum expr_field field)
{
	const struct json *step = json_member(json_member(context, S("steps")), name);
	static const struct json status = { .kind = JSON_STRING, .as.string = { "success", 7 } };
	if (step == NULL || field == EXPR_ERROR)
		return NULL;
	return field == EXPR_STATUS ? &status : step;
}

static const struct json *find_ctx(void *context, struct str name)
{
	return json_member(json_member(context, S("ctx")), name);
}

static const struct json *find_variable(void *context, struct str name)
{
	return json_member(context, name);
}

static struct expr_scope scope(void)
{
	union {
		const struct json *read;
		void *given;
	} context = { .read = world() };
	return (struct expr_scope){ find_step, find_ctx, find_variable, context.given, NULL };
}

static const struct expr *parse(const char *text)
{
	const struct expr *expr = NULL;
	struct error error;
	bool good = expr_parse(str_from_c(text), &arena, &expr, &error);
	cr_assert(good, "%s: %s", text, error.text);
	return expr;
}

static void gives(const char *text, const char *expected)
{
	struct expr_scope names = scope();
	const struct json *value = NULL;
	struct error error;
	bool good = expr_evaluate(parse(text), &names, &arena, &value, &error);
	cr_assert(good, "%s: %s", text, error.text);
	const char *printed = str_c(&arena, json_print(&arena, value));
	cr_assert_str_eq(printed, expected, "%s gave %s", text, printed);
}

static void fails(const char *text, const char *says)
{
	struct expr_scope names = scope();
	const struct json *value = NULL;
	struct error error;
	cr_assert_not(expr_evaluate(parse(text), &names, &arena, &value, &error), "%s", text);
	cr_assert(strstr(error.text, says) != NULL, "%s: %s", text, error.text);
}

static bool holds(const char *text)
{
	struct expr_scope names = scope();
	return expr_holds(parse(text), &names, &arena);
}

Test(expr, literals)
{
	gives("1", "1");
	gives("2.50", "2.5");
	gives("'it\\'s'", "\"it's\"");
	gives("\"a\\nb\"", "\"a\\nb\"");
	gives("True", "true");
	gives("None", "null");
	gives("[1, 'x', [null]]", "[1,\"x\",[null]]");
	gives("[]", "[]");
}

Test(expr, names_and_paths)
{
	gives("inputs.n", "7");
	gives("steps.a.outputs.ok", "true");
	gives("steps.b-c.output.x", "1");
	gives("steps.a.status", "\"success\"");
	gives("steps.a.error", "null");
	gives("ctx.best", "9");
	gives("item.name", "\"it\"");
	gives("inputs.o.k.d-e", "4");
	gives("inputs.o['k']['d-e']", "4");
	gives("inputs.l[-1]", "3");
	gives("inputs.l[inputs.n - 6]", "2");
}

Test(expr, what_is_missing_is_null_and_the_path_goes_on)
{
	gives("inputs.nothing.at.all[3].here", "null");
	gives("steps.gone.outputs.x", "null");
	gives("nobody.here", "null");
	gives("inputs.l[9]", "null");
	gives("inputs.s.length", "null");
	gives("inputs.nothing == null", "true");
	gives("inputs.nothing is None", "true");
	gives("inputs.n is not null", "true");
}

Test(expr, braces_are_parentheses)
{
	gives("${inputs.n} > 3 and not ${inputs.z}", "true");
	gives("${inputs.n + 1} * 2", "16");
	cr_assert(holds("${inputs.s} != 'quick' and not ${inputs.e}"));
}

Test(expr, numbers)
{
	gives("inputs.n + 1 * 2 - -3", "12");
	gives("(inputs.n + 1) * 2", "16");
	gives("7 / 2", "3.5");
	gives("7 % 3", "1");
	gives("-7 % 3", "2");
	gives("7 % -3", "-2");
	gives("inputs.r * 2", "5");
	gives("9223372036854775807 - 1", "9223372036854775806");
	fails("9223372036854775807 + 1", "64 bits");
	fails("1 / 0", "divided by 0");
	fails("1 % 0", "divided by 0");
	fails("1 + 'x'", "+ needs");
	fails("1 - null", "need two numbers");
	fails("1e308 * 10", "not a finite number");
}

Test(expr, comparisons)
{
	gives("1 == 1.0", "true");
	gives("'a' == \"a\"", "true");
	gives("[1, [2]] == [1]", "false");
	gives("[1, [2]] == [1.0, [2]]", "true");
	gives("inputs.o == inputs.o", "true");
	gives("1 == '1'", "false");
	gives("null == false", "false");
	gives("2 < 2.5", "true");
	gives("'abc' < 'abd'", "true");
	gives("3 >= 3 and 3 <= 3", "true");
	fails("1 < 'x'", "ordered");
	fails("null < 1", "ordered");
}

Test(expr, membership)
{
	gives("2 in inputs.l", "true");
	gives("9 not in inputs.l", "true");
	gives("'b' in inputs.s", "true");
	gives("'k' in inputs.o", "true");
	gives("'k' not in inputs.o", "false");
	fails("1 in 2", "`in` needs");
}

Test(expr, logic_gives_one_of_its_sides)
{
	gives("0 or 'x'", "\"x\"");
	gives("inputs.n or 1 / 0", "7");
	gives("inputs.e and 1 / 0", "\"\"");
	gives("not []", "true");
	gives("not inputs.n in [1]", "true");
	gives("true or false and false", "true");
}

Test(expr, functions)
{
	gives("coalesce(inputs.z, inputs.nothing, 5, 6)", "5");
	gives("coalesce(null)", "null");
	gives("coalesce(1, 1 / 0)", "1");
	gives("len(inputs.l) + len('ä') + len(inputs.o) + len(null)", "6");
	gives("upper(inputs.s) + lower('X')", "\"ABCx\"");
	gives("int('12') + int(2.9) + int(true)", "15");
	gives("str(12) + str([1])", "\"12[1]\"");
	fails("len(1)", "len()");
	fails("int('x')", "int()");
}

Test(expr, what_cannot_be_evaluated_holds_only_when_it_says_not)
{
	cr_assert_not(holds("1 < 'x'"));
	cr_assert(holds("inputs.z < 1 or inputs.s != 'abc'"));
	cr_assert(holds("1 not in 2"));
	cr_assert_not(holds("inputs.z > 1"));
	cr_assert(holds("inputs.n"));
	cr_assert_not(holds("inputs.z"));
}

Test(expr, there_is_nothing_behind_a_value)
{
	gives("inputs.s.__class__", "null");
	gives("inputs.l.append", "null");
	gives("inputs.o.__class__", "1");
}

static void refused(const char *text, const char *says)
{
	const struct expr *expr;
	struct error error;
	cr_assert_not(expr_parse(str_from_c(text), &arena, &expr, &error), "%s was taken", text);
	cr_assert(strstr(error.text, says) != NULL, "%s: %s", text, error.text);
}

Test(expr, broken_texts_are_refused_with_their_place)
{
	refused("", "a value is missing");
	refused("1 +", "a value is missing");
	refused("(1", "a ) is missing");
	refused("${1", "a } is missing");
	refused("[1, 2", "expected a comma or the end of the list");
	refused("'x", "no closing quote");
	refused("1 2", "unexpected text");
	refused("open('x')", "unknown function");
	refused("len()", "wrong number of arguments");
	refused("steps.a", "steps.<name>.outputs");
	refused("steps.a.secret", "unknown field of a step");
	refused("a.b.", "a key is missing");
	refused("1 = 1", "unexpected text after the expression, at character 3");
	refused("1.2.3", "not a number");
}

Test(expr, nothing_is_unbounded)
{
	AUTO(buf) deep = { 0 };
	for (int i = 0; i < 2000; i++)
		buf_add(&deep, S("("));
	buf_add_char(&deep, '\0');
	refused(deep.at, "too deep");
	AUTO(buf) not = { 0 };
	for (int i = 0; i < 1000; i++)
		buf_add(&not, S("not "));
	buf_add_char(&not, '\0');
	refused(not .at, "too deep");
	AUTO(buf) many = { 0 };
	for (int i = 0; i < 1000; i++)
		buf_add(&many, S("1+"));
	buf_add_char(&many, '\0');
	refused(many.at, "too large");
	AUTO(buf) large = { 0 };
	for (int i = 0; i <= LIMIT_EXPR_BYTES; i++)
		buf_add_char(&large, ' ');
	buf_add_char(&large, '\0');
	refused(large.at, "longer than");
}

Test(expr, work_is_budgeted)
{
	struct json *items = arena_array(&arena, struct json, LIMIT_EXPR_STEPS + 1);
	struct json list = { .kind = JSON_LIST, .as.list = { items, LIMIT_EXPR_STEPS + 1 } };
	struct expr_scope names = scope();
	struct json_member member = { .key = S("big"), .value = list };
	struct json context = { .kind = JSON_OBJECT, .as.object = { &member, 1 } };
	names.context = &context;
	const struct json *value = NULL;
	struct error error;
	cr_assert_not(expr_evaluate(parse("7 in big"), &names, &arena, &value, &error));
	cr_assert(strstr(error.text, "too many steps") != NULL);
}

/* ---- lenient rules ------------------------------------------------------------------- */

static struct buf noted;

static void note(void *context, enum expr_leniency rule, struct str what, const char *why)
{
	static const char *const words[] = { "missing ", "null ", "false ", "true " };
	(void)context, (void)why;
	buf_add_format(&noted, "%s" STR_FMT ";", words[rule], STR_ARG(what));
}

static void expect_noted(const char *text, const char *expected)
{
	const struct expr *expr;
	struct error error;
	struct expr_scope telling = scope();
	telling.lenient = note;
	noted = (struct buf){ 0 };
	cr_assert(expr_parse(str_from_c(text), &arena, &expr, &error), "%s", text);
	(void)expr_holds(expr, &telling, &arena);
	buf_add_char(&noted, '\0');
	cr_expect_str_eq(noted.at, expected, "%s", text);
	buf_done(&noted);
}

Test(expr, a_missing_value_that_is_read_as_null_is_told_once)
{
	expect_noted("steps.a.outputs.ko", "missing steps.a.outputs.ko;");
	expect_noted("steps.a.outputs.ko.deep[1].x", "missing steps.a.outputs.ko;");
	expect_noted("steps.nobody.outputs.x", "missing steps.nobody.outputs;");
	expect_noted("ctx.worst", "missing ctx.worst;");
	expect_noted("item.size", "missing item.size;");
	expect_noted("inputs.l[3]", "missing inputs.l[3];");
	expect_noted("inputs.o['x']", "missing inputs.o[\"x\"];");
	expect_noted("inputs.s.length", "missing inputs.s.length;");
	expect_noted("inputs.z.deep", "missing inputs.z.deep;");
	expect_noted("coalesce(ctx.worst, ctx.other)", "missing ctx.other;");
	expect_noted("ctx.worst or ctx.other", "missing ctx.worst;missing ctx.other;");
}

Test(expr, an_expected_null_is_not_told)
{
	expect_noted("steps.a.outputs.ok", "");
	expect_noted("coalesce(ctx.worst, steps.a.outputs.ko.deep, 1)", "");
	expect_noted("ctx.worst is null", "");
	expect_noted("null != steps.a.outputs.ko", "");
	expect_noted("inputs.not_given", "");
	expect_noted("inputs.not_given.deep", "");
	expect_noted("inputs.z", "");
	expect_noted("steps.a.error.code == 'x'", "");
	expect_noted("steps.nobody.status == 'x'", "");
	expect_noted("ctx.best or ctx.worst", "");
}

Test(expr, a_condition_that_cannot_be_evaluated_is_told)
{
	expect_noted("inputs.s > 3", "false inputs.s > 3;");
	expect_noted("inputs.s > 3 or 1 != 2", "true inputs.s > 3 or 1 != 2;");
	expect_noted("ctx.worst > 3", "missing ctx.worst;false ctx.worst > 3;");
}
