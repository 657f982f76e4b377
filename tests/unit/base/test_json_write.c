/* JSON writer: commas, escapes, limits. */
#include "tests/unit/base/expect.h"

#include "base/json.h"

Test(json_write, puts_commas_and_colons_itself)
{
	AUTO(buf) out = { 0 };
	struct json_writer w = { .out = &out };
	json_open(&w, '{');
	json_key(&w, S("a"));
	json_put_int(&w, -1);
	json_key(&w, S("b"));
	json_open(&w, '[');
	json_put_null(&w);
	json_put_bool(&w, true);
	json_put_bool(&w, false);
	json_open(&w, '{');
	json_close(&w, '}');
	json_open(&w, '[');
	json_close(&w, ']');
	json_put_real(&w, 0.5);
	json_close(&w, ']');
	json_key(&w, S("c"));
	json_put_raw(&w, S("{\"raw\":1}"));
	json_key(&w, S(""));
	json_put_str(&w, S(""));
	json_close(&w, '}');
	expect_str(buf_str(&out), S("{\"a\":-1,\"b\":[null,true,false,{},[],0.5],"
				    "\"c\":{\"raw\":1},\"\":\"\"}"));
	cr_expect(!out.full);
}

Test(json_write, escapes_what_it_must_and_nothing_else)
{
	AUTO(buf) out = { 0 };
	struct json_writer w = { .out = &out };
	json_put_str(&w, S("\"\\/\b\f\n\r\t\x00\x01\x1f\x7f\xC3\xA4\xE2\x80\xA8"));
	expect_str(buf_str(&out), S("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u0001\\u001f\x7f"
				    "\xC3\xA4\xE2\x80\xA8\""));
}

Test(json_write, escapes_keys_too)
{
	AUTO(buf) out = { 0 };
	struct json_writer w = { .out = &out };
	json_open(&w, '{');
	json_key(&w, S("a\"b\n"));
	json_put_null(&w);
	json_close(&w, '}');
	expect_str(buf_str(&out), S("{\"a\\\"b\\n\":null}"));
}

/* Every byte value at every position of a string slightly longer than two 16-byte steps. */
Test(json_write, reads_back_every_byte_at_every_place)
{
	for (unsigned byte = 0; byte < 0x80; byte++) {
		for (size_t at = 0; at < 41; at++) {
			char text[41];
			memset(text, 'x', sizeof(text));
			text[at] = (char)byte;
			AUTO(buf) out = { 0 };
			struct json_writer w = { .out = &out };
			json_put_str(&w, (struct str){ text, sizeof(text) });
			AUTO(arena) arena = { 0 };
			const struct json *json;
			struct error error;
			cr_assert(json_read(buf_str(&out), &arena, &json, &error), "%s",
				  error.text);
			cr_assert(str_equal(json_text(json), (struct str){ text, sizeof(text) }));
		}
	}
}

/* The limit is exact: a text fits a buffer of its size, and not one that is a byte smaller. */
Test(json_write, fits_in_exactly_its_size)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct str text = S("{\"a\":[1,2.5,\"x\\ny\",\"\\u0001\"],\"b\":{\"c\":null}}");
	cr_assert(json_read(text, &arena, &json, &error));
	for (size_t limit = 1; limit <= text.size; limit++) {
		AUTO(buf) out = buf_limited(limit);
		struct json_writer w = { .out = &out };
		json_put_tree(&w, json);
		cr_expect_eq(out.full, limit < text.size);
		cr_expect_leq(out.size, limit);
		if (limit == text.size)
			expect_str(buf_str(&out), text);
	}
}

Test(json_write, prints_what_was_read)
{
	static const char *const texts[] = {
		"[]",
		"{\"a\":{\"b\":[[],[[]],{}]}}",
		"[0,-0,1,-1,0.5,1e300,1e-7,9223372036854775807,-9223372036854775808]",
		"[\"\",\"\\u0000\",\"\\\\\",\"\xF0\x9F\x98\x80\"]",
		"[null,true,false]",
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO(arena) arena = { 0 };
		const struct json *json;
		struct error error;
		cr_assert(json_read(str_from_c(texts[i]), &arena, &json, &error));
		expect_str(json_print(&arena, json), str_from_c(texts[i]));
	}
}
