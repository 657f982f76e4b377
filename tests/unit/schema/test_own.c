/* 2020-12 where it differs from draft 7, messages about wrong values, and limits. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "schema/schema.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(own, .init = begin, .fini = end);

static const struct json *read_text(const char *text)
{
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(str_from_c(text), &arena, &json, &error);
	cr_assert(good, "%s", text);
	return json;
}

static struct problems problems;

static bool fits(const char *schema_text, const char *value)
{
	struct schema *schema = NULL;
	problems = (struct problems){ .arena = &arena };
	bool good = schema_compile(read_text(schema_text), NULL, &arena, &schema, &problems);
	cr_assert(good, "%s: " STR_FMT, schema_text, STR_ARG(problems_text(&problems, &arena)));
	good = schema_check(schema, read_text(value), &arena, &problems);
	cr_assert_eq(good, problems.count == 0);
	schema_done(schema);
	return good;
}

static void broken(const char *schema_text, const char *pointer, const char *says)
{
	struct schema *schema = NULL;
	problems = (struct problems){ .arena = &arena };
	cr_assert_not(schema_compile(read_text(schema_text), NULL, &arena, &schema, &problems),
		      "%s was taken", schema_text);
	cr_assert_str_eq(str_c(&arena, problems.at[0].pointer), pointer);
	cr_assert(strstr(str_c(&arena, problems.at[0].text), says) != NULL);
}

Test(own, prefix_items_and_items)
{
	const char *schema =
		"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"integer\"}}";
	cr_assert(fits(schema, "[\"a\",1,2]"));
	cr_assert_not(fits(schema, "[\"a\",\"b\"]"));
	cr_assert_not(fits(schema, "[1]"));
	cr_assert(fits(schema, "[]"));
	cr_assert_not(fits("{\"prefixItems\":[true],\"items\":false}", "[1,2]"));
}

Test(own, neighbours_of_a_reference_count)
{
	const char *schema =
		"{\"$defs\":{\"a\":{\"type\":\"integer\"}},\"properties\":{\"x\":{\"$ref\":"
		"\"#/$defs/a\",\"minimum\":3}}}";
	cr_assert(fits(schema, "{\"x\":3}"));
	cr_assert_not(fits(schema, "{\"x\":2}"));
	cr_assert_not(fits(schema, "{\"x\":\"3\"}"));
}

Test(own, anchors_and_ids)
{
	cr_assert_not(
		fits("{\"$defs\":{\"a\":{\"$anchor\":\"n\",\"type\":\"number\"}},\"$ref\":\"#n\"}",
		     "\"x\""));
	const char *schema =
		"{\"$id\":\"http://x/root\",\"$defs\":{\"a\":{\"$id\":\"leaf\",\"$defs\":{"
		"\"i\":{\"type\":\"integer\"}},\"$ref\":\"#/$defs/i\"}},\"items\":{\"$ref\":"
		"\"leaf\"}}";
	cr_assert(fits(schema, "[1]"));
	cr_assert_not(fits(schema, "[1.5]"));
}

Test(own, a_tree_is_closed_by_a_dynamic_anchor)
{
	const char *schema =
		"{\"$id\":\"http://x/strict\",\"$dynamicAnchor\":\"node\",\"$ref\":\"tree\","
		"\"unevaluatedProperties\":false,\"$defs\":{\"tree\":{\"$id\":\"tree\","
		"\"$dynamicAnchor\":\"node\",\"properties\":{\"data\":true,\"children\":{\"items\":{"
		"\"$dynamicRef\":\"#node\"}}}}}}";
	cr_assert(fits(schema, "{\"data\":1,\"children\":[{\"data\":2}]}"));
	cr_assert_not(fits(schema, "{\"data\":1,\"children\":[{\"daat\":2}]}"));
}

Test(own, what_nobody_looked_at)
{
	const char *schema =
		"{\"allOf\":[{\"properties\":{\"a\":true}}],\"if\":{\"required\":[\"b\"]},"
		"\"then\":{\"properties\":{\"b\":true}},\"unevaluatedProperties\":false}";
	cr_assert(fits(schema, "{\"a\":1,\"b\":2}"));
	cr_assert_not(fits(schema, "{\"a\":1,\"c\":2}"));
	const char *any =
		"{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"integer\"}}},{\"properties\":{"
		"\"b\":true}}],\"unevaluatedProperties\":false}";
	cr_assert(fits(any, "{\"a\":1,\"b\":2}"));
	cr_assert_not(fits(any, "{\"a\":\"x\",\"b\":2}"));
	cr_assert_not(
		fits("{\"not\":{\"not\":{\"properties\":{\"a\":true}}},\"unevaluatedProperties\":"
		     "false}",
		     "{\"a\":1}"));
	const char *items = "{\"prefixItems\":[true],\"contains\":{\"type\":\"string\"},"
			    "\"unevaluatedItems\":false}";
	cr_assert(fits(items, "[1,\"a\"]"));
	cr_assert_not(fits(items, "[1,\"a\",2]"));
}

Test(own, counts_of_what_is_contained)
{
	const char *schema = "{\"contains\":{\"const\":1},\"minContains\":2,\"maxContains\":3}";
	cr_assert_not(fits(schema, "[1]"));
	cr_assert(fits(schema, "[1,0,1]"));
	cr_assert_not(fits(schema, "[1,1,1,1]"));
	cr_assert(fits("{\"contains\":{\"const\":1},\"minContains\":0}", "[]"));
}

Test(own, dependents)
{
	const char *schema = "{\"dependentRequired\":{\"a\":[\"b\"]},\"dependentSchemas\":{\"c\":{"
			     "\"minProperties\":2}}}";
	cr_assert(fits(schema, "{\"b\":1}"));
	cr_assert_not(fits(schema, "{\"a\":1}"));
	cr_assert_not(fits(schema, "{\"c\":1}"));
	cr_assert(fits(schema, "{\"c\":1,\"d\":2}"));
}

Test(own, every_problem_is_told_with_its_place)
{
	cr_assert_not(fits(
		"{\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"items\":{\"maxLength\":1"
		"}}},\"required\":[\"z\"],\"additionalProperties\":false}",
		"{\"a\":\"x\",\"b\":[\"o\",\"long\"],\"q\":1}"));
	cr_assert_eq(problems.count, 4);
	cr_assert_str_eq(str_c(&arena, problems_text(&problems, &arena)),
			 "needs the member z\n/a: has the wrong type: string\n/b/1: is longer than "
			 "1 characters\nhas an unknown member: q\n");
}

Test(own, a_broken_schema_is_named)
{
	broken("{\"type\":\"text\"}", "/type", "must be one of");
	broken("{\"properties\":{\"a\":3}}", "/properties/a", "a schema must be");
	broken("{\"items\":{\"pattern\":\"(\"}}", "/items/pattern", "valid regular expression");
	broken("{\"minLength\":-1}", "/minLength", "whole number");
	broken("{\"properties\":{\"a/b\":{\"$ref\":\"#/nowhere\"}}}", "/properties/a~1b",
	       "cannot be resolved");
	broken("{\"$ref\":\"http://elsewhere/schema\"}", "", "cannot be resolved");
	broken("{\"required\":\"a\"}", "/required", "list of strings");
}

Test(own, cycles_that_descend_into_the_value_are_allowed)
{
	const char *list =
		"{\"properties\":{\"next\":{\"$ref\":\"#\"}},\"additionalProperties\":false}";
	cr_assert(fits(list, "{\"next\":{\"next\":{}}}"));
	cr_assert_not(fits(list, "{\"next\":{\"nest\":{}}}"));
}

Test(own, cycles_that_do_not_are_reported)
{
	cr_assert_not(fits("{\"$ref\":\"#\"}", "1"));
	cr_assert(strstr(str_c(&arena, problems.at[0].text), "endless cycle") != NULL);
	cr_assert_not(fits("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"anyOf\":[{\"$ref\":"
			   "\"#/$defs/a\"}]}},\"$ref\":\"#/$defs/a\"}",
			   "{}"));
}

Test(own, a_pattern_that_explodes_does_not)
{
	cr_assert_not(fits("{\"pattern\":\"^(a+)+$\"}",
			   "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\""));
}

Test(own, a_schema_that_explodes_does_not)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"$defs\":{\"d0\":true"));
	for (int i = 1; i < 40; i++)
		buf_add_format(
			&text,
			",\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/"
			"d%d\"}]}",
			i, i - 1, i - 1);
	buf_add(&text, S("},\"$ref\":\"#/$defs/d39\"}"));
	buf_add_char(&text, '\0');
	cr_assert_not(fits(text.at, "1"));
	cr_assert(strstr(str_c(&arena, problems.at[0].text), "too many steps") != NULL);
}

Test(own, numbers_are_exact)
{
	cr_assert_not(fits("{\"maximum\":9007199254740992}", "9007199254740993"));
	cr_assert(fits("{\"multipleOf\":0.01}", "19.99"));
	cr_assert(fits("{\"type\":\"integer\"}", "1.0"));
	cr_assert(fits("{\"const\":1}", "1.0"));
	cr_assert_not(fits("{\"enum\":[false]}", "0"));
}
