/* Secrets in text: every form, every cut, nothing left of them. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/base64.h"
#include "base/secret_mask.h"

TestSuite(secret_mask);

static const struct str canary[] = { { "s3cr3t/canary+v\xC3\xA4lue \"9\"", 24 } };

static const struct secret_mask *mask_of(struct arena *arena)
{
	return secret_mask_new((struct str_list){ canary, 1 }, arena);
}

static void assert_masked(const char *text, const char *wanted)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) out = { 0 };
	secret_mask_add(mask_of(&arena), str_from_c(text), &out);
	cr_assert(str_equal(buf_str(&out), str_from_c(wanted)), "%s: " STR_FMT, text,
		  STR_ARG(buf_str(&out)));
}

Test(secret_mask, every_form)
{
	assert_masked("nothing here", "nothing here");
	assert_masked("a s3cr3t/canary+v\xC3\xA4lue \"9\" b", "a *** b");
	assert_masked("{\"a\":\"s3cr3t/canary+v\xC3\xA4lue \\\"9\\\"\"}", "{\"a\":\"***\"}");
	assert_masked("s3cr3t/canary+v\\u00e4lue \\\"9\\\"", "***");
	assert_masked("s3cr3t\\/canary+v\\u00e4lue \\\"9\\\"", "***");
	assert_masked("?t=s3cr3t%2Fcanary%2Bv%C3%A4lue%20%229%22&u=1", "?t=***&u=1");
	assert_masked("?t=s3cr3t%2fcanary%2bv%c3%a4lue%20%229%22", "?t=***");
	assert_masked("t=s3cr3t%2Fcanary%2Bv%C3%A4lue+%229%22", "t=***");
	assert_masked("7333637233742f63616e6172792b76c3a46c75652022392"
		      "2",
		      "***");
	assert_masked("7333637233742F63616E6172792B76C3A46C756520223922", "***");
}

/* Whatever stands before and behind it, nothing of six characters of its base64 is left. */
Test(secret_mask, base64_at_every_alignment)
{
	for (size_t before = 0; before < 7; before++)
		for (size_t behind = 0; behind < 4; behind++) {
			AUTO(arena) arena = { 0 };
			AUTO(buf) whole = { 0 };
			AUTO(buf) out = { 0 };
			buf_add(&whole, str_head(S("abcdefg"), before));
			buf_add(&whole, canary[0]);
			buf_add(&whole, str_head(S("xyz"), behind));
			struct str text = base64_text(&arena, buf_str(&whole));
			secret_mask_add(mask_of(&arena), text, &out);
			size_t at;
			cr_assert(str_find(buf_str(&out), S("***"), &at), STR_FMT,
				  STR_ARG(buf_str(&out)));
			/* What is left holds the bytes around the secret and at most parts of a
			 * byte at each end. */
			cr_assert_leq(out.size, before * 4 / 3 + behind * 4 / 3 + 3 + 4 + 4,
				      STR_FMT, STR_ARG(buf_str(&out)));
		}
}

Test(secret_mask, a_stream_cut_anywhere)
{
	AUTO(arena) arena = { 0 };
	const struct secret_mask *mask = mask_of(&arena);
	AUTO(buf) text = { 0 };
	buf_add(&text, S("one s3 "));
	buf_add(&text, canary[0]);
	buf_add(&text, S(" two s3cr3t "));
	for (size_t cut = 0; cut <= text.size; cut++) {
		AUTO(buf) held = { 0 };
		AUTO(buf) out = { 0 };
		buf_add(&held, str_head(buf_str(&text), cut));
		buf_drop_front(&held, secret_mask_stream(mask, buf_str(&held), false, &out));
		cr_assert_leq(held.size, 3 * canary[0].size);
		buf_add(&held, str_skip(buf_str(&text), cut));
		buf_drop_front(&held, secret_mask_stream(mask, buf_str(&held), true, &out));
		cr_assert_eq(held.size, 0);
		cr_assert(str_equal(buf_str(&out), S("one s3 *** two s3cr3t ")), "%zu: " STR_FMT,
			  cut, STR_ARG(buf_str(&out)));
	}
}

Test(secret_mask, text_that_was_cut_within_a_secret)
{
	assert_masked("ends with s3cr3t/can", "ends with ***");
	assert_masked("ends with s3c", "ends with s3c");
}

Test(secret_mask, trees_and_errors)
{
	AUTO(arena) arena = { 0 };
	const struct secret_mask *mask = mask_of(&arena);
	const struct json *json;
	struct error error;
	cr_assert(json_read(S("{\"a\":[1,\"s3cr3t/canary+v\xC3\xA4lue \\\"9\\\"\"],"
			      "\"s3cr3t/canary+v\xC3\xA4lue \\\"9\\\"\":null}"),
			    &arena, &json, &error));
	struct str text = json_print(&arena, secret_mask_json(mask, json, &arena));
	cr_assert(str_equal(text, S("{\"a\":[1,\"***\"],\"***\":null}")), STR_FMT, STR_ARG(text));
	(void)!fail(&error, ERROR_TOOL_FAILED, "exit status 1: " STR_FMT, STR_ARG(canary[0]));
	secret_mask_error(mask, &error);
	cr_assert_str_eq(error.text, "exit status 1: ***");
	cr_assert_eq(error.code, ERROR_TOOL_FAILED);
}
