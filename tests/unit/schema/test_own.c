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

Test(own, multiples_are_exact)
{
	cr_assert(fits("{\"multipleOf\":0.1}", "0.3"));
	cr_assert(fits("{\"multipleOf\":0.0001}", "0.0075"));
	cr_assert_not(fits("{\"multipleOf\":0.1}", "0.35"));
	cr_assert_not(fits("{\"multipleOf\":0.1}", "1000000.0000001"));
	cr_assert_not(fits("{\"multipleOf\":0.5}", "9007199254.25"));
	cr_assert(fits("{\"multipleOf\":1e-308}", "1e308"));
	cr_assert_not(fits("{\"multipleOf\":0.123456789}", "1e308"));
	cr_assert_not(fits("{\"multipleOf\":1e308}", "1e-308"));
	cr_assert(fits("{\"multipleOf\":1e308}", "0"));
	cr_assert(fits("{\"multipleOf\":0.5}", "-9223372036854775808"));
	cr_assert(fits("{\"multipleOf\":3}", "-9.0"));
	cr_assert(fits("{\"multipleOf\":2.5e1}", "100"));
}

Test(own, integers_are_exact_beside_doubles)
{
	cr_assert_not(fits("{\"const\":9007199254740993}", "9007199254740992.0"));
	cr_assert_not(fits("{\"enum\":[[9007199254740993]]}", "[9007199254740992.0]"));
	cr_assert_not(
		fits("{\"const\":{\"a\":9223372036854775807}}", "{\"a\":9223372036854775808}"));
	cr_assert(fits("{\"const\":9007199254740992}", "9007199254740992.0"));
	cr_assert_not(fits("{\"maximum\":9007199254740992.0}", "9007199254740993"));
	cr_assert(fits("{\"uniqueItems\":true}", "[9007199254740993,9007199254740992.0]"));
}

Test(own, keywords_of_the_wrong_type)
{
	broken("{\"items\":{\"uniqueItems\":\"yes\"}}", "/items/uniqueItems", "true or false");
	broken("{\"type\":[\"string\",\"text\"]}", "/type", "must be one of");
	broken("{\"type\":[]}", "/type", "must be one of");
	broken("{\"multipleOf\":0}", "/multipleOf", "greater than 0");
	broken("{\"dependentRequired\":{\"a\":{}}}", "/dependentRequired/a", "list of strings");
	broken("{\"$ref\":1}", "/$ref", "must be a string");
	broken("{\"$dynamicRef\":{}}", "/$dynamicRef", "must be a string");
	broken("{\"properties\":{\"a\":{\"$anchor\":[]}}}", "/properties/a/$anchor", "string");
	broken("{\"$defs\":[]}", "/$defs", "must be");
	broken("{\"description\":1}", "/description", "must be a string");
	broken("{\"readOnly\":1}", "/readOnly", "must be");
	cr_assert(
		fits("{\"properties\":{\"$ref\":{},\"description\":{\"type\":\"string\"}}}", "{}"));
}

Test(own, patterns_follow_ecma_262)
{
	cr_assert(fits("{\"pattern\":\"^\\\\d\\\\w$\"}", "\"1a\""));
	cr_assert_not(fits("{\"pattern\":\"^\\\\d$\"}", "\"\u0663\""));
	cr_assert_not(fits("{\"pattern\":\"^\\\\w$\"}", "\"\u00e9\""));
	cr_assert(fits("{\"pattern\":\"^\\\\W[\\\\D]$\"}", "\"\u00e9\u0663\""));
	cr_assert(fits("{\"pattern\":\"^\\\\s[\\\\s]\\\\S[^\\\\S]$\"}", "\"\u00a0\u2029x\ufeff\""));
	cr_assert_not(fits("{\"pattern\":\"^[\\\\S]$\"}", "\"\u3000\""));
	cr_assert_not(fits("{\"pattern\":\"^\\\\s$\"}", "\"\u200b\""));
	cr_assert(fits("{\"pattern\":\"^\\\\p{Letter}[\\\\p{gc=Decimal_Number}]\\\\P{Lu}$\"}",
		       "\"\u00e9\u06631\""));
	cr_assert_not(fits("{\"pattern\":\"^\\\\p{Letter}$\"}", "\"1\""));
	cr_assert(fits("{\"pattern\":\"^\\\\p{Script=Greek}$\"}", "\"\u03b1\""));
	cr_assert(fits("{\"pattern\":\"^\\\\u00e9\\\\ud83d\\\\ude00$\"}", "\"\u00e9\U0001F600\""));
	cr_assert_not(fits("{\"pattern\":\"^.$\"}", "\"\u2028\""));
	cr_assert(fits("{\"pattern\":\"^[.[]$\"}", "\"[\""));
	broken("{\"pattern\":\"\\\\p{Nonsense}\"}", "/pattern", "valid regular expression");
	broken("{\"pattern\":\"\\\\\"}", "/pattern", "valid regular expression");
}

Test(own, relative_ids_with_folders)
{
	static const char *const refs[] = { "b/leaf.json", "./b/leaf.json", "../a/b/leaf.json",
					    "/a/b/../b/./leaf.json", "../../a/b/leaf.json" };
	static const char *const ids[] = { "/a/root.json", "http://x/a/root.json" };
	for (size_t i = 0; i < COUNT(ids); i++)
		for (size_t r = 0; r < COUNT(refs); r++) {
			struct str text = str_format(
				&arena,
				"{\"$id\":\"%s\",\"$defs\":{\"f\":{\"$id\":\"b/\",\"$defs\":{\"l\":"
				"{\"$id\":\"leaf.json\",\"type\":\"integer\"}}}},\"$ref\":\"%s\"}",
				ids[i], refs[r]);
			cr_assert(fits(str_c(&arena, text), "1"));
			cr_assert_not(fits(str_c(&arena, text), "\"x\""));
		}
	const char *schema =
		"{\"$id\":\"a/root.json\",\"$defs\":{\"f\":{\"$id\":\"../b/leaf.json\","
		"\"type\":\"integer\"}},\"$ref\":\"../b/leaf.json\",\"items\":{\"$ref\":"
		"\".././b/leaf.json\"}}";
	cr_assert_not(fits(schema, "\"x\""));
	cr_assert(fits("{\"$id\":\"a/root.json\",\"$defs\":{\"f\":{\"$id\":\"../b.json\"},\"g\":{"
		       "\"$id\":\"/c/g.json\",\"$ref\":\"../b.json\"},\"h\":{\"$id\":\"/b.json\"}},"
		       "\"allOf\":[{\"$ref\":\"../b.json\"},{\"$ref\":\"/c/g.json\"}]}",
		       "1"));
	broken("{\"$id\":\"a/root.json\",\"$defs\":{\"h\":{\"$id\":\"/b.json\"}},\"$ref\":\"../b.json\"}",
	       "", "cannot be resolved");
}

Test(own, a_dynamic_reference_into_definitions_that_nothing_refers_to)
{
	const char *schema =
		"{\"$id\":\"http://x/root\",\"$ref\":\"list\",\"$defs\":{\"item\":{"
		"\"$dynamicAnchor\":\"item\",\"type\":\"string\"},\"list\":{\"$id\":\"list\","
		"\"items\":{\"$dynamicRef\":\"#item\"},\"$defs\":{\"any\":{\"$dynamicAnchor\":"
		"\"item\"}}}}}";
	cr_assert(fits(schema, "[\"a\"]"));
	cr_assert_not(fits(schema, "[1]"));
}

Test(own, anchors_below_properties_named_like_keywords)
{
	static const char *const names[] = { "enum", "const", "default", "examples", "properties" };
	for (size_t i = 0; i < COUNT(names); i++) {
		struct str text = str_format(&arena,
					     "{\"properties\":{\"%s\":{\"$anchor\":\"n\",\"type\":"
					     "\"integer\"}},\"additionalProperties\":{\"$ref\":"
					     "\"#n\"}}",
					     names[i]);
		cr_assert(fits(str_c(&arena, text), "{\"x\":1}"), "%s", names[i]);
		cr_assert_not(fits(str_c(&arena, text), "{\"x\":\"1\"}"), "%s", names[i]);
	}
	broken("{\"const\":{\"$anchor\":\"n\"},\"$ref\":\"#n\"}", "", "cannot be resolved");
	broken("{\"properties\":{\"$anchor\":\"n\"}}", "/properties/$anchor", "a schema must be");
}

static bool fits_meta(const char *vocabularies, const char *value, bool *out_compiled)
{
	struct schema_document meta = {
		S("http://x/meta"),
		read_text(str_c(&arena, str_format(&arena, "{\"$vocabulary\":{%s}}", vocabularies)))
	};
	struct schema_library library = { &meta, 1 };
	const struct json *json =
		read_text("{\"$schema\":\"http://x/meta#\",\"properties\":{\"a\":{\"minimum\":3},"
			  "\"b\":false}}");
	struct schema *schema = NULL;
	problems = (struct problems){ .arena = &arena };
	*out_compiled = schema_compile(json, &library, &arena, &schema, &problems);
	bool good = *out_compiled && schema_check(schema, read_text(value), &arena, &problems);
	schema_done(schema);
	return good;
}

#define VOCABULARY(name, needed) "\"https://json-schema.org/draft/2020-12/vocab/" name "\":" needed

Test(own, vocabularies)
{
	const char *both = VOCABULARY("applicator", "true") "," VOCABULARY("validation", "false");
	const char *applicator = VOCABULARY("core", "true") "," VOCABULARY("applicator", "true");
	bool compiled;
	cr_assert_not(fits_meta(both, "{\"a\":1}", &compiled));
	cr_assert(compiled);
	cr_assert(fits_meta(applicator, "{\"a\":1}", &compiled));
	cr_assert_not(fits_meta(applicator, "{\"b\":1}", &compiled));
	cr_assert(fits_meta(VOCABULARY("validation", "true"), "{\"b\":1}", &compiled));
	cr_assert(fits_meta("\"http://x/unknown\":false", "{\"b\":1}", &compiled));
	cr_assert_not(fits_meta("\"http://x/unknown\":true", "{}", &compiled));
	cr_assert_not(compiled);
	cr_assert_str_eq(str_c(&arena, problems.at[0].pointer), "/$schema");
	cr_assert(strstr(str_c(&arena, problems.at[0].text), "http://x/unknown") != NULL);
	cr_assert_not(fits_meta(VOCABULARY("format-assertion", "true"), "{}", &compiled));
	cr_assert_not(compiled);
}

static bool has_format(const char *format, const char *text)
{
	struct json_member member = { .key = S("format"),
				      .value = { .kind = JSON_STRING,
						 .as.string = str_from_c(format) } };
	struct json json = { .kind = JSON_OBJECT, .as.object = { &member, 1 } };
	struct json value = { .kind = JSON_STRING, .as.string = str_from_c(text) };
	struct schema *schema = NULL;
	problems = (struct problems){ .arena = &arena };
	cr_assert(schema_compile_formats(&json, NULL, true, &arena, &schema, &problems));
	bool good = schema_check(schema, &value, &arena, &problems);
	schema_done(schema);
	return good;
}

Test(own, formats_are_checked_on_request)
{
	cr_assert(fits("{\"format\":\"date\"}", "\"x\""));
	cr_assert_not(has_format("date", "x"));
	cr_assert_str_eq(str_c(&arena, problems.at[0].text), "does not have the format date");
	cr_assert(has_format("date", "2024-02-29") && has_format("date", "2000-02-29"));
	cr_assert_not(has_format("date", "2023-02-29") || has_format("date", "1900-02-29") ||
		      has_format("date", "2024-04-31") || has_format("date", "2024-00-01") ||
		      has_format("date", "2024-01-00") || has_format("date", "2024-1-01") ||
		      has_format("date", "2024-01-011") || has_format("date", ""));
	cr_assert(has_format("time", "23:59:60Z") && has_format("time", "01:29:60+01:30") &&
		  has_format("time", "00:00:00.5-23:59"));
	cr_assert_not(has_format("time", "22:59:60Z") || has_format("time", "24:00:00Z") ||
		      has_format("time", "00:00:00") || has_format("time", "00:00:00.Z"));
	cr_assert(has_format("date-time", "2024-02-29t12:00:00z"));
	cr_assert_not(has_format("date-time", "2024-02-29 12:00:00Z"));
	cr_assert(has_format("uuid", "2EB8AA08-aa98-11ea-b4aa-73b441d16380"));
	cr_assert_not(has_format("uuid", "2eb8aa08-aa98-11ea-b4aa73b441d16380-") ||
		      has_format("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d1638"));
	cr_assert(has_format("ipv6", "::ffff:192.168.0.1") && has_format("ipv4", "1.2.3.4"));
	cr_assert(has_format("ipv6", "::") && has_format("ipv6", "1:2:3:4:5:6:7:8") &&
		  has_format("ipv6", "1:2:3:4:5:6:1.2.3.4") && has_format("ipv6", "1::"));
	cr_assert_not(has_format("ipv6", "::1%eth0") || has_format("ipv6", ":::") ||
		      has_format("ipv6", "1::2::3") || has_format("ipv6", "1:2:3:4:5:6:7::8") ||
		      has_format("ipv6", "1:2:3:4:5:6:7") || has_format("ipv6", "12345::") ||
		      has_format("ipv6", ":1") || has_format("ipv6", "1.2.3.4::") ||
		      has_format("ipv6", "1:2:3:4:5:6:7:8:9") || has_format("ipv6", ""));
	cr_assert_not(has_format("ipv4", "1.2.3") || has_format("ipv4", "1.2.3.256") ||
		      has_format("ipv4", "1.2.3.04") || has_format("ipv4", "1.2.3.4."));
	struct schema *schema = NULL;
	problems = (struct problems){ .arena = &arena };
	cr_assert_not(schema_compile_formats(read_text("{\"items\":{\"format\":\"colour\"}}"), NULL,
					     true, &arena, &schema, &problems));
	cr_assert_str_eq(str_c(&arena, problems.at[0].pointer), "/items/format");
}
