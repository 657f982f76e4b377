/* YAML reader: the core schema, tags, anchors, merge keys, positions. */
#include "tests/unit/base/expect.h"

#include "base/yaml.h"

static void expect_yaml_at(struct str text, struct str printed, int line)
{
	AUTO(arena) arena = { 0 };
	const struct json *json = NULL;
	struct error error = { 0 };
	cr_assert(yaml_read(text, &arena, &json, &error), "line %d: %u:%u %s", line, error.line,
		  error.column, error.text);
	expect_str_at(json_print(&arena, json), printed, line);
}
#define expect_yaml(text, printed) expect_yaml_at(S(text), S(printed), __LINE__)

static void expect_bad_at(struct str text, uint32_t line, uint32_t column, const char *words,
			  int test_line)
{
	AUTO(arena) arena = { 0 };
	const struct json *json = NULL;
	struct error error = { 0 };
	cr_assert(!yaml_read(text, &arena, &json, &error), "line %d: was taken", test_line);
	cr_expect_null(json);
	expect_error_at(&error, ERROR_SYNTAX, line, column, words, test_line);
}
#define expect_bad(text, line, column, words) \
	expect_bad_at(S(text), (line), (column), (words), __LINE__)

Test(yaml, takes_an_empty_document_as_null)
{
	expect_yaml("", "null");
	expect_yaml("\n# only a comment\n", "null");
	expect_yaml("---\n", "null");
	expect_yaml("---\n...\n", "null");
	expect_yaml("\xEF\xBB\xBF"
		    "a: 1\n",
		    "{\"a\":1}");
}

Test(yaml, takes_block_and_flow)
{
	expect_yaml("a: 1\nb:\n  - x\n  - y: z\n  -\nc: {d: [1, 2], e: }\n",
		    "{\"a\":1,\"b\":[\"x\",{\"y\":\"z\"},null],\"c\":{\"d\":[1,2],\"e\":null}}");
	expect_yaml("text: |\n  one\n  two\nfolded: >-\n  one\n  two\n",
		    "{\"text\":\"one\\ntwo\\n\",\"folded\":\"one two\"}");
	expect_yaml("{\"a\": [1, 2.5, \"x\\u0041\"], \"b\": null}",
		    "{\"a\":[1,2.5,\"xA\"],\"b\":null}");
	expect_yaml("? a\n: b\n", "{\"a\":\"b\"}");
}

Test(yaml, follows_the_core_schema)
{
	expect_yaml("[null, Null, NULL, ~, ]", "[null,null,null,null]");
	expect_yaml("[true, True, TRUE, false, False, FALSE]",
		    "[true,true,true,false,false,false]");
	expect_yaml("[0, 12, -12, +12, 007, 0o17, 0x1F, 0xff]", "[0,12,-12,12,7,15,31,255]");
	expect_yaml("[1.5, -0.5, .5, 5., 1e3, 1E-2, +1.5e+1, -0]",
		    "[1.5,-0.5,0.5,5,1000,0.01,15,-0]");
}

Test(yaml, takes_the_rest_as_text)
{
	expect_yaml("[no, on, yes, off, y, n, nUll, tRue]",
		    "[\"no\",\"on\",\"yes\",\"off\",\"y\",\"n\",\"nUll\",\"tRue\"]");
	expect_yaml("[1_000, 1:30, 2026-11-15, 0b1, 0o8, 0xG, 0x, 0o, -0x1, +0o7]",
		    "[\"1_000\",\"1:30\",\"2026-11-15\",\"0b1\",\"0o8\",\"0xG\",\"0x\",\"0o\","
		    "\"-0x1\",\"+0o7\"]");
	expect_yaml("[., -., +, 1e, 1e+, e1, .e1, 1.2.3, --1, 1-, 1.5x]",
		    "[\".\",\"-.\",\"+\",\"1e\",\"1e+\",\"e1\",\".e1\",\"1.2.3\",\"--1\",\"1-\","
		    "\"1.5x\"]");
	expect_yaml("[.infinity, inf, nan, Infinity]",
		    "[\".infinity\",\"inf\",\"nan\",\"Infinity\"]");
}

Test(yaml, takes_quoted_and_block_scalars_as_text)
{
	expect_yaml("['1', \"true\", 'null', \"\", '~']", "[\"1\",\"true\",\"null\",\"\",\"~\"]");
	expect_yaml("|-\n  12\n", "\"12\"");
	expect_yaml(">-\n  true\n", "\"true\"");
	expect_yaml("\"a\\0b\"", "\"a\\u0000b\"");
}

Test(yaml, keeps_integers_exact_and_large_ones_real)
{
	expect_yaml("[9223372036854775807, -9223372036854775808, 0x7fffffffffffffff]",
		    "[9223372036854775807,-9223372036854775808,9223372036854775807]");
	expect_yaml("[9223372036854775808, 0x8000000000000000, 0o1000000000000000000000]",
		    "[9223372036854776000,9223372036854776000,9223372036854776000]");
	/* 2^64 + 2^11 is halfway between two doubles; 2^64 + 2^11 + 1 is just above halfway. */
	expect_yaml("[0x10000000000000801, 0x10000000000000800]",
		    "[18446744073709556000,18446744073709552000]");
}

Test(yaml, refuses_numbers_json_has_not)
{
	expect_bad("a: .inf", 1, 4, "infinity and NaN");
	expect_bad("[-.Inf]", 1, 2, "infinity and NaN");
	expect_bad("- +.INF", 1, 3, "infinity and NaN");
	expect_bad("- .nan", 1, 3, "infinity and NaN");
	expect_bad("- .NaN", 1, 3, "infinity and NaN");
	expect_bad("a: 1e400", 1, 4, "too large for a double");
	expect_yaml("['.inf', .inf: 1]", "[\".inf\",{\".inf\":1}]");
}

Test(yaml, honors_core_tags)
{
	expect_yaml("[!!str 12, !!str true, !!str ]", "[\"12\",\"true\",\"\"]");
	expect_yaml("[!!int '12', !!int 0x10, !!float 3, !!float '1.5']", "[12,16,3,1.5]");
	expect_yaml("[!!bool 'true', !!bool FALSE, !!null '', !!null ~]", "[true,false,null,null]");
	expect_yaml("!!map {a: !!seq [1]}", "{\"a\":[1]}");
	expect_yaml("!<tag:yaml.org,2002:str> 1", "\"1\"");
	expect_yaml("{!!str 1: a}", "{\"1\":\"a\"}");
}

Test(yaml, refuses_other_tags_and_wrong_ones)
{
	expect_bad("a:\n  b: !secret x\n", 2, 6, "!secret");
	expect_bad("!!binary aGk=", 1, 1, "binary");
	expect_bad("- !!python/object:os.system x", 1, 3, "python");
	expect_bad("- !!set {a}", 1, 3, "set");
	expect_bad("- !!map [a]", 1, 3, "is not allowed here");
	expect_bad("- !!seq {a: 1}", 1, 3, "is not allowed here");
	expect_bad("- !!seq a", 1, 3, "on a scalar");
	expect_bad("- !!int x", 1, 3, "not a number");
	expect_bad("- !!int 1.5", 1, 3, "not an integer");
	expect_bad("- !!float x", 1, 3, "not a number");
	expect_bad("- !!bool yes", 1, 3, "neither true nor false");
	expect_bad("- !!null x", 1, 3, "not null");
	expect_bad("!x key: 1", 1, 1, "!x");
	expect_bad("!x!y z", 1, 1, "undefined tag handle");
	expect_bad("%TAG !y! tag:yaml.org,2002:\n--- !y!str 1\n", 1, 1, "%TAG is not supported");
	expect_bad("a\n...\n%TAG !y! x\n---\n", 3, 1, "%TAG is not supported");
	expect_bad("\n# c\n%YAML 1.1\r%TAG !y! x\n---\n", 4, 1, "%TAG is not supported");
	expect_bad("\xEF\xBB\xBF%TAG !y! x\n---\n", 1, 2, "%TAG is not supported");
	expect_bad("\xC3\xA9: 1\n%TAG !y! x\n---\n", 2, 1, "%TAG is not supported");
	expect_bad("{}\n...\n# c\n...\n%TAG !y! x\n---\n", 5, 1, "%TAG is not supported");
	expect_bad("a\n---\n%TAG b\n", 2, 1, "second document");
	expect_yaml("a: 100%TAG\nb: |\n  %TAG\n", "{\"a\":\"100%TAG\",\"b\":\"%TAG\\n\"}");
}

Test(yaml, tag_directive_inside_text_is_text)
{
	expect_yaml("a: \xC3\xA9%TAG\n", "{\"a\":\"\xC3\xA9%TAG\"}");
	expect_yaml("\"a\n%TAG b\"", "\"a %TAG b\"");
	expect_yaml("'a\n%TAG b'", "\"a %TAG b\"");
	expect_yaml("--- a\n%TAG b\n", "\"a %TAG b\"");
	expect_yaml("- |\n %TAG\n - %TAG\n", "[\"%TAG\\n- %TAG\\n\"]");
	expect_yaml("# %TAG\n%YAML 1.1\n--- x\n...\n# %TAG\n", "\"x\"");
}

Test(yaml, refuses_unescaped_unicode_line_breaks)
{
	expect_bad("a: x\r\nb: \xC3\xA9\xC2\x85z\n", 2, 5, "U+0085 must be escaped; write \\N");
	expect_bad("a: \"y\xE2\x80\xA8z\"\n", 1, 6, "U+2028 must be escaped; write \\L");
	expect_bad("a: |\n  y\n  \xE2\x80\xA9z\n", 3, 3, "U+2029 must be escaped; write \\P");
	expect_bad("# hidden:\xE2\x80\xA8"
		   "a: 1\n",
		   1, 10, "U+2028 must be escaped");
	expect_yaml("\"\\N\\L\\P\"", "\"\xC2\x85\xE2\x80\xA8\xE2\x80\xA9\"");
	expect_yaml("\xE2\x80\xA7\xC2\xA9\xC3\x85", "\"\xE2\x80\xA7\xC2\xA9\xC3\x85\"");
}

Test(yaml, takes_scalars_as_keys_by_their_text)
{
	expect_yaml("{1: a, true: b, ~: c, 1.50: d, 'q': e, 0x1: f}",
		    "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"1.50\":\"d\",\"q\":\"e\",\"0x1\":"
		    "\"f\"}");
	expect_yaml("? \n: x\n", "{\"\":\"x\"}");
	expect_yaml("[&k name, {*k : 1}]", "[\"name\",{\"name\":1}]");
	expect_yaml("[&k 0x10, {*k : 1}]", "[16,{\"0x10\":1}]");
	expect_yaml("{&k a: 1, b: *k}", "{\"a\":1,\"b\":\"a\"}");
}

Test(yaml, refuses_keys_that_are_not_scalars)
{
	expect_bad("? [a]\n: 1\n", 1, 3, "a key must be a scalar");
	expect_bad("? {a: 1}\n: 1\n", 1, 3, "a key must be a scalar");
	expect_bad("- &a [1]\n- {*a : 1}\n", 2, 4, "a key must be a scalar");
}

Test(yaml, refuses_duplicate_keys)
{
	expect_bad("a: 1\nb: 2\na: 3\n", 3, 1, "duplicate key \"a\"");
	expect_bad("{a: 1, 'a': 2}", 1, 8, "duplicate key");
	expect_bad("x:\n  - {1: a, 1: b}\n", 2, 12, "duplicate key");
	expect_bad("<<: {a: 1}\n<<: {b: 2}\n", 2, 1, "duplicate merge key");
}

Test(yaml, expands_aliases)
{
	expect_yaml("a: &x [1, {b: 2}]\nc: *x\nd: [*x, *x]\n",
		    "{\"a\":[1,{\"b\":2}],\"c\":[1,{\"b\":2}],"
		    "\"d\":[[1,{\"b\":2}],[1,{\"b\":2}]]}");
	expect_yaml("[&a 1, *a, &a 2, *a]", "[1,1,2,2]");
	expect_yaml("[&a [&a 1, *a], *a]", "[[1,1],1]");
}

Test(yaml, refuses_aliases_without_sense)
{
	expect_bad("a: *nobody\n", 1, 4, "*nobody has no preceding anchor");
	expect_bad("- *x\n- &x 1\n", 1, 3, "has no preceding anchor");
	expect_bad("&a [1, *a]", 1, 8, "inside its own anchor");
	expect_bad("&a\nb: {c: *a}\n", 2, 8, "inside its own anchor");
	expect_bad("a: &m\n  <<: *m\n", 2, 7, "inside its own anchor");
}

Test(yaml, merges)
{
	expect_yaml("base: &b {x: 1, y: 2}\nuse:\n  y: 3\n  <<: *b\n  z: 4\n",
		    "{\"base\":{\"x\":1,\"y\":2},\"use\":{\"y\":3,\"z\":4,\"x\":1}}");
	expect_yaml("{<<: {a: 1, b: 1}, b: 2}", "{\"b\":2,\"a\":1}");
	expect_yaml("{<<: [{a: 1}, {a: 2, b: 2}], c: 3}", "{\"c\":3,\"a\":1,\"b\":2}");
	expect_yaml("- &a {x: 1}\n- &b {<<: *a, y: 2}\n- {<<: *b, z: 3}\n",
		    "[{\"x\":1},{\"y\":2,\"x\":1},{\"z\":3,\"y\":2,\"x\":1}]");
	expect_yaml("{<<: {}, a: 1}", "{\"a\":1}");
	expect_yaml("{<<: []}", "{}");
	expect_yaml("{'<<': 1, \"a\": <<}", "{\"<<\":1,\"a\":\"<<\"}");
	expect_yaml("{!!str <<: 1}", "{\"<<\":1}");
}

Test(yaml, refuses_merges_of_anything_but_mappings)
{
	expect_bad("<<: 1\n", 1, 5, "found: integer");
	expect_bad("a: 1\n<<: [x]\n", 2, 5, "found: string");
	expect_bad("<<: [[{a: 1}]]\n", 1, 5, "found: list");
	expect_bad("<<:\n", 1, 4, "found: null");
}

Test(yaml, refuses_a_second_document)
{
	expect_bad("a: 1\n---\nb: 2\n", 2, 1, "a second document");
	expect_bad("--- 1\n--- 2\n", 2, 1, "a second document");
	expect_yaml("--- {a: 1}\n...\n", "{\"a\":1}");
}

Test(yaml, says_where_the_syntax_breaks)
{
	expect_bad("a: [1, 2\nb: 3\n", 2, 2,
		   "while parsing a flow sequence, which began on line 1");
	expect_bad("a: 1\n  b: 2\n", 2, 4, "mapping values are not allowed");
	expect_bad("a:\n\t- b\n", 2, 1, "cannot start any token");
	expect_bad("\"abc", 1, 5, "unexpected end of stream");
	expect_bad("a: \"\\ud800\"\n", 1, 7, "invalid Unicode character");
	expect_bad("a: b\nc: \xFF\n", 2, 4, "0xff is not valid UTF-8");
	expect_bad("a: b\nc: \x01\n", 2, 4, "control characters are not allowed");
	expect_bad("%YAML 3.0\n--- a\n", 1, 1, "incompatible YAML document");
}

Test(yaml, gives_every_node_its_place)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct str text = S("steps:\n  - name: \xC3\xA4\n    run: [a, b]\n");
	cr_assert(yaml_read(text, &arena, &json, &error));
	cr_expect(json->line == 1 && json->column == 1);
	const struct json *steps = json_member(json, S("steps"));
	cr_expect(steps->line == 2 && steps->column == 3);
	const struct json *first = json_item(steps, 0);
	cr_expect(first->line == 2 && first->column == 5);
	const struct json_member *run = &first->as.object.at[1];
	cr_expect(run->line == 3 && run->column == 5);
	const struct json *b = json_item(&run->value, 1);
	cr_expect(b->line == 3 && b->column == 14);
	uint32_t line, column;
	json_place(text, b->line, b->column, &line, &column);
	cr_expect(line == 3 && column == 14);
}

Test(yaml, does_not_need_the_text_afterwards)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("key: [plain, 'quoted']\n"));
	const struct json *json;
	struct error error;
	cr_assert(yaml_read(buf_str(&text), &arena, &json, &error));
	memset(text.at, 'X', text.size);
	expect_str(json_print(&arena, json), S("{\"key\":[\"plain\",\"quoted\"]}"));
}

/* JSON is YAML: both readers build the same tree. */
Test(yaml, reads_json_like_json)
{
	static const char *const texts[] = {
		"{\"a\":[1,-2,2.5,1e3,-0,true,null,\"x\\n\\u00e4\\/\"],\"b\":{\"\":{}}}",
		"[9223372036854775807,9223372036854775808,1.7976931348623157e308,\"\\\"\"]",
		"\"text\"",
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO(arena) arena = { 0 };
		const struct json *as_json, *as_yaml;
		struct error error;
		cr_assert(json_read(str_from_c(texts[i]), &arena, &as_json, &error));
		cr_assert(yaml_read(str_from_c(texts[i]), &arena, &as_yaml, &error), "%s",
			  error.text);
		expect_str(json_print(&arena, as_yaml), json_print(&arena, as_json));
	}
}
