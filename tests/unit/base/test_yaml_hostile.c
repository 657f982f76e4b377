/* Hostile YAML: every document must fail quickly, at a limit. */
#include "tests/unit/base/expect.h"

#include "base/limits.h"
#include "base/yaml.h"

static enum error_code refusal(struct str text, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	*error = (struct error){ 0 };
	return yaml_read(text, &arena, &json, error) ? ERROR_NONE : error->code;
}

static void repeat(struct buf *text, const char *piece, int count)
{
	for (int i = 0; i < count; i++)
		buf_add(text, str_from_c(piece));
}

Test(yaml_hostile, ends_deep_nesting_early)
{
	static const char *const pieces[] = { "[", "{a: ", "- ", "[{a: ", "[\n" };
	for (size_t i = 0; i < COUNT(pieces); i++) {
		AUTO(buf) text = { 0 };
		repeat(&text, pieces[i], 100000);
		struct error error;
		cr_expect_eq(refusal(buf_str(&text), &error), ERROR_TOO_LARGE, "%s: %s", pieces[i],
			     error.text);
	}
}

Test(yaml_hostile, takes_the_deepest_allowed_and_no_deeper)
{
	for (int depth = LIMIT_JSON_DEPTH; depth <= LIMIT_JSON_DEPTH + 1; depth++) {
		AUTO(buf) text = { 0 };
		repeat(&text, "[", depth);
		repeat(&text, "]", depth);
		struct error error;
		cr_expect_eq(refusal(buf_str(&text), &error),
			     depth == LIMIT_JSON_DEPTH ? ERROR_NONE : ERROR_TOO_LARGE);
	}
}

Test(yaml_hostile, counts_the_depth_an_alias_brings)
{
	for (int depth = LIMIT_JSON_DEPTH - 2; depth <= LIMIT_JSON_DEPTH; depth++) {
		AUTO(buf) text = { 0 };
		buf_add(&text, S("a: &a "));
		repeat(&text, "[", LIMIT_JSON_DEPTH / 2);
		repeat(&text, "]", LIMIT_JSON_DEPTH / 2);
		buf_add(&text, S("\nb: "));
		int above = depth - LIMIT_JSON_DEPTH / 2;
		repeat(&text, "[", above);
		buf_add(&text, S("*a"));
		repeat(&text, "]", above);
		struct error error; /* the root mapping adds one level */
		cr_expect_eq(refusal(buf_str(&text), &error),
			     depth < LIMIT_JSON_DEPTH ? ERROR_NONE : ERROR_TOO_LARGE, "%d", depth);
	}
}

Test(yaml_hostile, defuses_the_alias_bomb)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"));
	for (int i = 1; i < 10; i++) {
		buf_add_format(&text, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			buf_add_format(&text, "*a%d%s", i - 1, k < 9 ? ", " : "]\n");
	}
	struct error error;
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_TOO_LARGE);
	expect_error(&error, ERROR_TOO_LARGE, 5, 45, "more than 100000 nodes");
}

/* Few nodes, but a gigabyte of text when the tree is printed. */
Test(yaml_hostile, defuses_the_bomb_of_long_text)
{
	static const char *const pieces[] = { "- *a\n", "- {<<: *b}\n", "- {*a : 1}\n" };
	for (size_t i = 0; i < COUNT(pieces); i++) {
		AUTO(buf) text = { 0 };
		buf_add(&text, S("- &a "));
		repeat(&text, "xxxxxxxxxx", 50000);
		buf_add(&text, S("\n- &b {*a : *a}\n"));
		repeat(&text, pieces[i], 1000);
		struct error error;
		cr_expect_eq(refusal(buf_str(&text), &error), ERROR_TOO_LARGE, "%s", pieces[i]);
		cr_expect_not_null(strstr(error.text, "more than 16777216 bytes"));
	}
}

Test(yaml_hostile, defuses_the_merge_bomb)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("- &m {"));
	for (int i = 0; i < 1000; i++)
		buf_add_format(&text, "k%d: 1, ", i);
	buf_add(&text, S("z: 1}\n"));
	repeat(&text, "- {<<: *m}\n", 1000);
	struct error error;
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_TOO_LARGE);
}

Test(yaml_hostile, refuses_a_text_over_the_limit)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("a: "));
	repeat(&text, "xxxxxxxxxxxxxxxx", LIMIT_YAML_BYTES / 16);
	struct error error;
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_TOO_LARGE);
	text.size = LIMIT_YAML_BYTES;
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_NONE, "%s", error.text);
}

Test(yaml_hostile, refuses_more_nodes_than_the_limit)
{
	AUTO(buf) text = { 0 };
	repeat(&text, "- 1\n", LIMIT_YAML_NODES - 1);
	struct error error;
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_NONE);
	buf_add(&text, S("- 1\n"));
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_TOO_LARGE);
}

Test(yaml_hostile, takes_sixty_thousand_keys_and_finds_the_one_that_is_there_twice)
{
	AUTO(buf) text = { 0 };
	for (int i = 0; i < 60000; i++)
		buf_add_format(&text, "k%d: %d\n", i, i);
	struct error error;
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_NONE, "%s", error.text);
	buf_add(&text, S("k0: 1\n"));
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_SYNTAX);
	expect_error(&error, ERROR_SYNTAX, 60001, 1, "duplicate key \"k0\"");
}

Test(yaml_hostile, takes_many_anchors)
{
	AUTO(buf) text = { 0 };
	for (int i = 0; i < 40000; i++)
		buf_add_format(&text, "- &a%d x\n- *a%d\n", i, i);
	struct error error;
	cr_expect_eq(refusal(buf_str(&text), &error), ERROR_NONE, "%s", error.text);
}
