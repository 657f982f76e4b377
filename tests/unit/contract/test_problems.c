/* Problems: places, pointers, the cap, and how they become an error. */
#include "contract_support.h"

#include "base/yaml.h"

Test(problems, all_at_once_with_their_places)
{
	assert_lines(sample_presence_type(),
		     "{\n  \"must\": 5,\n\t\"nested\": {\"number\": 500,\n \"words\": [1, \"x\", "
		     "null]},\n"
		     "  \"wat\": 1}",
		     "2:11 /must: must be a string, got integer 5\n"
		     "3:23 /nested/number: must be at most 100, got 500\n"
		     "4:12 /nested/words/0: must be a string, got integer 1\n"
		     "4:20 /nested/words/2: must be a string, got null\n"
		     "5:3 /wat: is not a field of sample.Presence; did you mean \"may\"?\n"
		     "1:1 /must_or_null: is required\n");
}

Test(problems, yaml_has_places_too)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	struct str text = S("low: 1\nhigh: x\nmore: 1\n");
	const struct json *json;
	struct error error;
	cr_assert(yaml_read(text, &arena, &json, &error), "%s", error.text);
	struct contract_source source = { .json = json, .text = text };
	cr_assert_null(sample_checked_parse(&source, &arena, &problems));
	assert_str(problems_text(&problems, &arena),
		   S("2:7 /high: must be a whole number, got string \"x\"\n"
		     "3:1 /more: is not a field of sample.Checked\n"));
}

Test(problems, without_text_there_is_no_place)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	const struct json *json;
	struct error error;
	cr_assert(json_read(S("{\"low\":true,\"high\":1}"), &arena, &json, &error));
	struct contract_source source = { .json = json };
	cr_assert_null(sample_checked_parse(&source, &arena, &problems));
	cr_assert_eq(problems.at[0].line, 0);
	assert_str(problems_text(&problems, &arena),
		   S("/low: must be a whole number, got boolean true\n"));
}

Test(problems, become_an_error)
{
	AUTO(arena) arena = { 0 };
	struct error error = { .code = ERROR_NONE };
	struct outcome outcome = read_as(sample_checked_type(), S("{}"), &arena);
	cr_assert(!problems_fail(&outcome.problems, &error));
	cr_assert_eq(error.code, ERROR_INVALID);
	cr_assert_str_eq(error.text, "/low: is required (and 1 more)");
	cr_assert_eq(error.line, 1);
	cr_assert_eq(error.column, 1);
	outcome = read_as(sample_checked_type(), S("[]"), &arena);
	cr_assert(!problems_fail(&outcome.problems, &error));
	cr_assert_str_eq(error.text, "must be an object, got list");
	struct problems none = { .arena = &arena };
	error.code = ERROR_NONE;
	cr_assert(problems_fail(&none, &error));
	cr_assert_eq(error.code, ERROR_NONE);
}

Test(problems, two_documents_may_share_a_list)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	for (int i = 0; i < 2; i++) {
		struct str text = i == 0 ? S("\n{\"low\":1}") : S("{\"low\":1,\"high\":2}");
		const struct json *json;
		struct error error;
		cr_assert(json_read(text, &arena, &json, &error));
		struct contract_source source = { .json = json, .text = text };
		const struct sample_checked *value =
			sample_checked_parse(&source, &arena, &problems);
		cr_assert_eq(value != NULL, i == 1);
	}
	assert_str(problems_text(&problems, &arena), S("2:1 /high: is required\n"));
}

Test(problems, long_and_strange_values_are_cut_and_escaped)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"colour\":\"\\u001b[31m\\n"));
	for (int i = 0; i < 500; i++)
		buf_add(&text, S("\xC3\xA9"));
	buf_add(&text, S("\",\"a\\nb"));
	for (int i = 0; i < 5000; i++)
		buf_add_char(&text, 'k');
	buf_add(&text, S("\":1}"));
	struct outcome outcome = read_as(sample_small_type(), buf_str(&text), &arena);
	cr_assert_eq(outcome.problems.count, 2);
	cr_assert(outcome.problems.at[0].text.size < 200);
	cr_assert(outcome.problems.at[1].pointer.size <= LIMIT_POINTER_BYTES);
	size_t lines = 0;
	for (size_t i = 0; i < outcome.lines.size; i++) {
		cr_assert((unsigned char)outcome.lines.at[i] >= 0x20 ||
			  outcome.lines.at[i] == '\n');
		lines += outcome.lines.at[i] == '\n';
	}
	cr_assert_eq(lines, 2);
}
