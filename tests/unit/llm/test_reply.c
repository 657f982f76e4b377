/* Conversion of a reply into the output of a step. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "llm/llm.h"

static struct arena arena;

static void forget(void)
{
	arena_done(&arena);
}

TestSuite(reply, .fini = forget);

static const struct json *output_of(struct str text)
{
	return llm_output(&(struct llm_result){ .text = text }, false, &arena);
}

static void expect(const char *text, const char *output)
{
	struct str got = json_print(&arena, output_of(str_from_c(text)));
	cr_assert(str_equal(got, str_from_c(output)), "got " STR_FMT, STR_ARG(got));
}

Test(reply, words_are_text)
{
	expect("Hello.", "{\"text\":\"Hello.\"}");
	expect("", "{\"text\":\"\"}");
	expect("say {\"a\":1}", "{\"text\":\"say {\\\"a\\\":1}\"}");
	expect("{\"a\":1} and more", "{\"text\":\"{\\\"a\\\":1} and more\"}");
	expect("{\"a\":", "{\"text\":\"{\\\"a\\\":\"}");
}

/* A number or a word is JSON by chance; it stays text. */
Test(reply, scalars_are_text)
{
	expect("42", "{\"text\":\"42\"}");
	expect("true", "{\"text\":\"true\"}");
	expect("\"a\"", "{\"text\":\"\\\"a\\\"\"}");
}

Test(reply, objects_and_lists_are_read)
{
	expect("{\"a\":1}", "{\"text\":\"{\\\"a\\\":1}\",\"json\":{\"a\":1}}");
	expect(" [1,2]\n", "{\"text\":\" [1,2]\\n\",\"json\":[1,2]}");
}

Test(reply, one_fenced_block_is_its_inside)
{
	expect("```json\n{\"a\":1}\n```",
	       "{\"text\":\"```json\\n{\\\"a\\\":1}\\n```\",\"json\":{\"a\":1}}");
	expect("```\n[1]\n```\n", "{\"text\":\"```\\n[1]\\n```\\n\",\"json\":[1]}");
	expect("```\n[1]\n```\n```\n[2]\n```", "{\"text\":\"```\\n[1]\\n```\\n```\\n[2]\\n```\"}");
	expect("``````", "{\"text\":\"``````\"}");
	expect("```", "{\"text\":\"```\"}");
}

static const struct json *json_of_depth(size_t depth)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < depth; i++)
		buf_add_char(&text, '[');
	for (size_t i = 0; i < depth; i++)
		buf_add_char(&text, ']');
	return json_member(output_of(str_copy(&arena, buf_str(&text))), S("json"));
}

Test(reply, too_deep_is_text)
{
	cr_assert_not_null(json_of_depth(LIMIT_REPLY_DEPTH));
	cr_assert_null(json_of_depth(LIMIT_REPLY_DEPTH + 1));
	cr_assert_null(json_of_depth(LIMIT_JSON_DEPTH + 1));
}

Test(reply, too_long_is_text)
{
	AUTO(buf) text = { 0 };
	buf_add_char(&text, '[');
	while (text.size < LIMIT_PARSE_ON_LOOP_BYTES)
		buf_add_char(&text, ' ');
	struct str fits = str_copy(&arena, buf_str(&text));
	((char *)(uintptr_t)fits.at)[fits.size - 1] = ']';
	cr_assert_not_null(json_member(output_of(fits), S("json")));
	buf_add_char(&text, ']');
	cr_assert_null(json_member(output_of(str_copy(&arena, buf_str(&text))), S("json")));
}

static void expect_calls(const char *text, const char *output)
{
	struct llm_result result = { .text = str_from_c(text) };
	struct str got = json_print(&arena, llm_output(&result, true, &arena));
	cr_assert(str_equal(got, str_from_c(output)), "got " STR_FMT, STR_ARG(got));
}

Test(reply, calls_in_the_text_count_if_there_are_tools)
{
	expect("TOOL_CALL: {\"name\":\"a\"}", "{\"text\":\"TOOL_CALL: {\\\"name\\\":\\\"a\\\"}\"}");
	expect_calls(
		"Look.\nTOOL_CALL: {\"name\":\"a\",\"arguments\":{\"s\":\"}{\\\"\"}}\nTOOL_CALL:\n{\"tool\":\"b\"}",
		"{\"text\":\"Look.\",\"calls\":[{\"id\":\"text_1\",\"name\":\"a\",\"arguments\":{\"s\":\"}{"
		"\\\"\"}},{\"id\":\"text_2\",\"name\":\"b\",\"arguments\":{}}],\"stop\":\"calls\"}");
	expect_calls("no call", "{\"text\":\"no call\"}");
}

Test(reply, a_call_in_the_text_that_is_none_is_malformed)
{
	expect_calls("TOOL_CALL: {\"name\":",
		     "{\"text\":\"{\\\"name\\\":\",\"calls\":[{\"id\":\"text_1\",\"name\":"
		     "\"\",\"malformed\":\"\"}],\"stop\":\"calls\"}");
	expect_calls("TOOL_CALL: {\"name\":\"a\",\"args\":3}",
		     "{\"text\":\"\",\"calls\":[{\"id\":\"text_1\",\"name\":\"a\",\"malformed\":"
		     "\"{\\\"name\\\":\\\"a\\\",\\\"args\\\":3}\"}],\"stop\":\"calls\"}");
}
