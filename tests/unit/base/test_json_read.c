/* JSON reader: what RFC 8259 allows, what it forbids, and hostile documents. */
#include "tests/unit/base/expect.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"

/* Reads the text and prints the tree; the tests below state expectations in the printed form. */
static void expect_json_at(struct str text, struct str printed, int line)
{
	AUTO(arena) arena = { 0 };
	const struct json *json = NULL;
	struct error error = { 0 };
	cr_assert(json_read(text, &arena, &json, &error), "line %d: %s", line, error.text);
	expect_str_at(json_print(&arena, json), printed, line);
}
#define expect_json(text, printed) expect_json_at((text), (printed), __LINE__)

static void expect_bad_at(struct str text, uint32_t line, uint32_t column, const char *words,
			  int test_line)
{
	AUTO(arena) arena = { 0 };
	const struct json *json = NULL;
	struct error error = { 0 };
	cr_assert(!json_read(text, &arena, &json, &error), "line %d: was taken", test_line);
	cr_expect_null(json);
	expect_error_at(&error, ERROR_SYNTAX, line, column, words, test_line);
}
#define expect_bad(text, line, column, words) \
	expect_bad_at((text), (line), (column), (words), __LINE__)

static enum error_code refusal(struct str text)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	return json_read(text, &arena, &json, &error) ? ERROR_NONE : error.code;
}

Test(json_read, takes_every_kind)
{
	expect_json(S("null"), S("null"));
	expect_json(S(" true\n"), S("true"));
	expect_json(S("false"), S("false"));
	expect_json(S("\t[ ]\r\n"), S("[]"));
	expect_json(S("{ }"), S("{}"));
	expect_json(S("\"\""), S("\"\""));
	expect_json(S("[1, -2 ,\"a\",[null],{\"b\" : {\"c\":[]}}]"),
		    S("[1,-2,\"a\",[null],{\"b\":{\"c\":[]}}]"));
	expect_json(S("{\"a\":1,\"b\":2,\"\":3}"), S("{\"a\":1,\"b\":2,\"\":3}"));
}

Test(json_read, decodes_escapes)
{
	expect_json(S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), S("\"\\\"\\\\/\\b\\f\\n\\r\\t\""));
	expect_json(S("\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\""),
		    S("\"A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\""));
	expect_json(S("\"a\\u0000b\""), S("\"a\\u0000b\""));
	expect_json(S("\"\\u001f\\u007f\""), S("\"\\u001f\x7f\""));
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	cr_assert(json_read(S("\"a\\u0000b\""), &arena, &json, &error));
	expect_str(json_text(json), S("a\0b"));
}

Test(json_read, borrows_strings_without_escapes)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct str text = S("[\"plain\",\"esc\\n\"]");
	cr_assert(json_read(text, &arena, &json, &error));
	cr_expect_eq(json_text(json_item(json, 0)).at, text.at + 2);
	expect_str(json_text(json_item(json, 1)), S("esc\n"));
}

Test(json_read, refuses_broken_structure_with_a_place)
{
	expect_bad(S(""), 1, 1, "expected a value, found the end of the text");
	expect_bad(S("  "), 1, 3, "expected a value, found the end of the text");
	expect_bad(S("nul"), 1, 1, "expected a value, found \"n\"");
	expect_bad(S("True"), 1, 1, "expected a value, found \"T\"");
	expect_bad(S("[1,]"), 1, 4, "expected a value, found \"]\"");
	expect_bad(S("[1 2]"), 1, 4, "expected ',' or ']' after an item, found \"2\"");
	expect_bad(S("[1"), 1, 3, "expected ',' or ']' after an item, found the end of the text");
	expect_bad(S("["), 1, 2, "expected a value");
	expect_bad(S("[1}"), 1, 3, "',' or ']'");
	expect_bad(S("{\n \"a\": 1,\n \"b\": 2 x}"), 3, 9,
		   "expected ',' or '}' after a member, found \"x\"");
	expect_bad(S("{\"a\":1,}"), 1, 8, "expected a key in quotes, found \"}\"");
	expect_bad(S("{a:1}"), 1, 2, "expected a key in quotes, found \"a\"");
	expect_bad(S("{\"a\" 1}"), 1, 6, "expected ':' after a key, found \"1\"");
	expect_bad(S("{\"a\":}"), 1, 6, "expected a value");
	expect_bad(S("{\"a\""), 1, 5, "expected ':' after a key");
	expect_bad(S("1 2"), 1, 3, "expected the end of the text after the value, found \"2\"");
	expect_bad(S("nullx"), 1, 5, "expected the end of the text");
	expect_bad(S("[1]\n]"), 2, 1, "expected the end of the text");
	expect_bad(S("1\0"), 1, 2, "found the byte 0x00");
	expect_bad(S("/* */ 1"), 1, 1, "expected a value, found \"/\"");
	expect_bad(S("\xEF\xBB\xBF{}"), 1, 1, "byte order mark");
	expect_bad(S("\xC3\xA4"), 1, 1, "found the byte 0xc3");
	expect_bad(S("\f1"), 1, 1, "found the byte 0x0c");
}

Test(json_read, does_not_put_the_place_into_the_text_too)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	cr_assert(!json_read(S("{\"a\":1 x"), &arena, &json, &error));
	cr_expect_str_eq(error.text, "expected ',' or '}' after a member, found \"x\"");
}

Test(json_read, refuses_broken_strings)
{
	expect_bad(S("\"abc"), 1, 1, "is not closed");
	expect_bad(S("[\"abc\\\"]"), 1, 2, "is not closed");
	expect_bad(S("\"\\"), 1, 1, "is not closed");
	expect_bad(S("\""), 1, 1, "is not closed");
	expect_bad(S("\"a\nb\""), 1, 3, "control character 0x0a");
	expect_bad(S("\"aaaaaaaaaaaaaaaaaaaaaaaaa\x1f\""), 1, 27, "control character 0x1f");
	expect_bad(S("\"a\0b\""), 1, 3, "control character 0x00");
	expect_bad(S("\"\\x41\""), 1, 2, "unknown escape");
	expect_bad(S("\"\\'\""), 1, 2, "unknown escape");
	expect_bad(S("\"\\\xC3\xA4\""), 1, 2, "unknown escape");
	expect_bad(S("\"\\u12\""), 1, 2, "four hex digits");
	expect_bad(S("\"\\u12G4\""), 1, 2, "four hex digits");
	expect_bad(S("\"\\u\""), 1, 2, "four hex digits");
}

Test(json_read, refuses_lone_surrogates)
{
	expect_bad(S("\"\\ud800\""), 1, 2, "other half is missing");
	expect_bad(S("\"x\\udc00\""), 1, 3, "other half is missing");
	expect_bad(S("\"\\ud800\\ud800\""), 1, 2, "other half is missing");
	expect_bad(S("\"\\ud800\\n\""), 1, 2, "other half is missing");
	expect_bad(S("\"\\udc00\\ud800\""), 1, 2, "other half is missing");
	expect_bad(S("\"\\ud800\\udc0\""), 1, 2, "other half is missing");
	expect_bad(S("\"\\ud800udc00aa\""), 1, 2, "other half is missing");
	expect_bad(S("{\"\\udbff\":1}"), 1, 3, "other half is missing");
}

Test(json_read, refuses_text_that_is_not_utf8)
{
	expect_bad(S("\"\xFF\""), 1, 2, "0xff is not valid UTF-8");
	expect_bad(S("[\"ok\",\n\"\xC3\"]"), 2, 2, "0xc3 is not valid UTF-8");
	expect_bad(S("\"\\n\xED\xA0\x80\""), 1, 4, "0xed is not valid UTF-8");
	expect_bad(S("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x80\""), 1, 34, "0x80 is not valid UTF-8");
	expect_bad(S("{\"\xC0\xAF\":1}"), 1, 3, "0xc0 is not valid UTF-8");
}

/* Each special byte at each position within the 16-byte and 8-byte steps of the scan. */
Test(json_read, finds_the_end_of_a_string_at_every_offset)
{
	char text[128];
	for (size_t size = 0; size < 70; size++) {
		for (size_t lead = 0; lead < 3; lead++) {
			memset(text, ' ', lead);
			text[lead] = '"';
			memset(text + lead + 1, 'x', size);
			text[lead + 1 + size] = '"';
			AUTO(arena) arena = { 0 };
			const struct json *json;
			struct error error;
			struct str whole = { text, lead + size + 2 };
			cr_assert(json_read(whole, &arena, &json, &error), "%s", error.text);
			cr_assert_eq(json_text(json).size, size);
			if (size == 0)
				continue;
			text[lead + size] = '\x01';
			cr_assert(!json_read(whole, &arena, &json, &error));
			cr_assert_eq(error.column, lead + size + 1);
			text[lead + size] = '\x80';
			cr_assert(!json_read(whole, &arena, &json, &error));
			cr_assert_eq(error.column, lead + size + 1);
		}
	}
}

Test(json_read, refuses_duplicate_keys)
{
	expect_bad(S("{\"a\":1,\n\"b\":2,\n \"a\":3}"), 3, 2, "duplicate key \"a\"");
	expect_bad(S("{\"a\":1,\"\\u0061\":2}"), 1, 8, "duplicate key");
	expect_bad(S("[{\"\":1,\"\":2}]"), 1, 8, "duplicate key");
	expect_json(S("{\"a\":{\"a\":{\"a\":1}}}"), S("{\"a\":{\"a\":{\"a\":1}}}"));
	expect_json(S("{\"ab\":1,\"ba\":2,\"aab\":3,\"a b\":4}"),
		    S("{\"ab\":1,\"ba\":2,\"aab\":3,\"a b\":4}"));
}

Test(json_read, finds_duplicates_far_apart_among_many_keys)
{
	for (int count = 30; count <= 60000; count = count < 36 ? count + 1 : count * 40) {
		AUTO(buf) text = { 0 };
		buf_add_char(&text, '{');
		for (int i = 0; i < count; i++)
			buf_add_format(&text, "\"key%d\":%d,", i, i);
		size_t mark = text.size;
		buf_add(&text, S("\"last\":0}"));
		cr_expect_eq(refusal(buf_str(&text)), ERROR_NONE);
		text.size = mark;
		buf_add(&text, S("\"key0\":0}"));
		AUTO(arena) arena = { 0 };
		const struct json *json;
		struct error error;
		cr_assert(!json_read(buf_str(&text), &arena, &json, &error));
		expect_error(&error, ERROR_SYNTAX, 1, (uint32_t)mark + 1, "duplicate key \"key0\"");
	}
}

Test(json_read, takes_the_deepest_allowed_and_no_deeper)
{
	for (int depth = LIMIT_JSON_DEPTH; depth <= LIMIT_JSON_DEPTH + 1; depth++) {
		AUTO(buf) text = { 0 };
		for (int i = 0; i < depth; i++)
			buf_add_char(&text, '[');
		for (int i = 0; i < depth; i++)
			buf_add_char(&text, ']');
		cr_expect_eq(refusal(buf_str(&text)),
			     depth == LIMIT_JSON_DEPTH ? ERROR_NONE : ERROR_TOO_LARGE);
	}
}

/* Depth counts nesting, not the number of containers. */
Test(json_read, leaves_a_level_when_a_container_ends)
{
	AUTO(buf) text = { 0 };
	buf_add_char(&text, '[');
	for (int i = 0; i < 1000; i++)
		buf_add(&text, S("[],{},[1],{\"a\":1},"));
	buf_add(&text, S("1]"));
	cr_expect_eq(refusal(buf_str(&text)), ERROR_NONE);
}

Test(json_read, ends_a_hundred_thousand_levels_early)
{
	static const char *const pieces[] = { "[", "{\"a\":", "[{\"a\":" };
	for (size_t k = 0; k < COUNT(pieces); k++) {
		AUTO(buf) text = { 0 };
		for (int i = 0; i < 100000; i++)
			buf_add(&text, str_from_c(pieces[k]));
		cr_expect_eq(refusal(buf_str(&text)), ERROR_TOO_LARGE);
	}
}

Test(json_read, takes_a_string_of_ten_megabytes)
{
	AUTO(buf) text = { 0 };
	const size_t size = 10 * 1024 * 1024;
	memset(buf_reserve(&text, size + 2), 'x', size + 2);
	text.size = size + 2;
	text.at[0] = text.at[size + 1] = '"';
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	cr_assert(json_read(buf_str(&text), &arena, &json, &error));
	cr_expect_eq(json_text(json).size, size);
	text.at[size] = '\\';
	cr_assert(!json_read(buf_str(&text), &arena, &json, &error));
	expect_error(&error, ERROR_SYNTAX, 1, 1, "not closed");
}

Test(json_read, refuses_a_text_over_the_limit)
{
	AUTO(buf) text = { 0 };
	memset(buf_reserve(&text, LIMIT_JSON_BYTES + 1), ' ', LIMIT_JSON_BYTES + 1);
	text.size = LIMIT_JSON_BYTES;
	text.at[0] = '1';
	cr_expect_eq(refusal(buf_str(&text)), ERROR_NONE);
	text.size++;
	cr_expect_eq(refusal(buf_str(&text)), ERROR_TOO_LARGE);
}

Test(json_read, refuses_more_nodes_than_the_limit)
{
	AUTO(buf) text = { 0 };
	buf_add_char(&text, '[');
	for (int i = 0; i < LIMIT_JSON_NODES - 2; i++)
		buf_add(&text, S("1,"));
	size_t mark = text.size;
	buf_add(&text, S("1]"));
	cr_expect_eq(refusal(buf_str(&text)), ERROR_NONE);
	text.size = mark;
	buf_add(&text, S("1,1]"));
	cr_expect_eq(refusal(buf_str(&text)), ERROR_TOO_LARGE);
}

Test(json_read, places_nodes_and_members)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct str text = S("{\n  \"key\": [10,\n 20]\n}");
	cr_assert(json_read(text, &arena, &json, &error));
	const struct json_member *member = &json->as.object.at[0];
	uint32_t line, column;
	json_place(text, member->line, member->column, &line, &column);
	cr_expect(line == 2 && column == 3);
	const struct json *second = json_item(&member->value, 1);
	json_place(text, second->line, second->column, &line, &column);
	cr_expect(line == 3 && column == 2);
	json_place(text, 7, 9, &line, &column);
	cr_expect(line == 7 && column == 9, "a YAML place stays as it is");
}

Test(json_read, looks_up_without_fear_of_null)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	cr_assert(json_read(S("{\"a\":[\"x\"],\"b\":1}"), &arena, &json, &error));
	expect_str(json_text(json_item(json_member(json, S("a")), 0)), S("x"));
	cr_expect_null(json_member(NULL, S("a")));
	cr_expect_null(json_member(json, S("c")));
	cr_expect_null(json_member(json_member(json, S("a")), S("a")));
	cr_expect_null(json_item(json, 0));
	cr_expect_null(json_item(json_member(json, S("a")), 1));
	cr_expect_null(json_item(NULL, 0));
	expect_str(json_text(NULL), S(""));
	expect_str(json_text(json_member(json, S("b"))), S(""));
	cr_expect_str_eq(json_kind_name(JSON_INT), "integer");
	cr_expect_str_eq(json_kind_name(JSON_OBJECT), "object");
}

Test(json_read, equality_is_of_values)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{ "null", "null", true },
		{ "null", "false", false },
		{ "true", "true", true },
		{ "1", "1.0", true },
		{ "1", "\"1\"", false },
		{ "0.5", "0.5", true },
		/* as doubles these two would be equal */
		{ "9007199254740993", "9007199254740992", false },
		{ "\"a\"", "\"a\"", true },
		{ "\"a\"", "\"b\"", false },
		{ "[1, [2]]", "[1, [2.0]]", true },
		{ "[1, 2]", "[2, 1]", false },
		{ "[1]", "[1, 1]", false },
		{ "{\"a\": 1, \"b\": {}}", "{\"b\": {}, \"a\": 1}", true },
		{ "{\"a\": 1}", "{\"b\": 1}", false },
		{ "{\"a\": 1}", "{\"a\": 2}", false },
		{ "{}", "[]", false },
		{ "{}", "{\"a\": null}", false },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		AUTO(arena) arena = { 0 };
		const struct json *a, *b;
		struct error error;
		cr_assert(json_read(str_from_c(rows[i].a), &arena, &a, &error));
		cr_assert(json_read(str_from_c(rows[i].b), &arena, &b, &error));
		cr_expect_eq(json_equal(a, b), rows[i].equal, "%s and %s", rows[i].a, rows[i].b);
		cr_expect_eq(json_equal(b, a), rows[i].equal, "%s and %s", rows[i].b, rows[i].a);
	}
}

static bool is_read(struct str text)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	return json_read(text, &arena, &json, &error);
}

/* Lists around the largest number of values, and strings around the largest size: commas and brackets
 * in strings are no values. */
Test(json_read, what_fits_can_be_read)
{
	cr_assert(json_fits(S("null")) && json_fits(S("{\"a\":[1,\"[,\\\",{\"]}")));
	for (int values = LIMIT_JSON_NODES - 2; values <= LIMIT_JSON_NODES; values++) {
		AUTO(buf) text = { 0 };
		buf_add(&text, S("[0"));
		for (int i = 1; i < values; i++)
			buf_add(&text, S(",0"));
		buf_add_char(&text, ']');
		cr_expect_eq(json_fits(buf_str(&text)), values < LIMIT_JSON_NODES);
		cr_expect_eq(json_fits(buf_str(&text)), is_read(buf_str(&text)));
	}
	for (size_t size = LIMIT_JSON_BYTES - 1; size <= LIMIT_JSON_BYTES + 1; size++) {
		AUTO(buf) text = { 0 };
		memset(buf_reserve(&text, size), ',', size);
		text.size = size;
		text.at[0] = text.at[size - 1] = '"';
		cr_expect_eq(json_fits(buf_str(&text)), size <= LIMIT_JSON_BYTES);
		cr_expect_eq(json_fits(buf_str(&text)), is_read(buf_str(&text)));
	}
}
