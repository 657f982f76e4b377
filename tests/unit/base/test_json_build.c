/* Trees without text: a copy and a built tree are what printing and reading back would give. */
#include "tests/unit/base/expect.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "base/work.h"

static const struct json *read(struct str text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	cr_assert(json_read(text, arena, &json, &error), "%s", error.text);
	return json;
}

/* Kinds too, which json_equal() does not look at: 1 and 1.0 are equal there. */
static bool same(const struct json *a, const struct json *b)
{
	if (a->kind != b->kind || !json_equal(a, b))
		return false;
	for (size_t i = 0; a->kind == JSON_LIST && i < a->as.list.count; i++)
		if (!same(&a->as.list.at[i], &b->as.list.at[i]))
			return false;
	for (size_t i = 0; a->kind == JSON_OBJECT && i < a->as.object.count; i++)
		if (!str_equal(a->as.object.at[i].key, b->as.object.at[i].key) ||
		    !same(&a->as.object.at[i].value, &b->as.object.at[i].value))
			return false;
	return true;
}

static const char *const texts[] = {
	"null",
	"true",
	"-9223372036854775808",
	"1.0",
	"1e3",
	"-0",
	"-0.0",
	"0.5",
	"1e300",
	"9223372036854775808",
	"\"\"",
	"\"a\\u0000b\\n\"",
	"[]",
	"{}",
	"[1,2.0,[3.5,{\"a\":[]}],\"x\"]",
	"{\"a\":{\"b\":{\"c\":[null,false,{\"d\":1.0}]}},\"\":\"\"}",
};

Test(json_build, a_copy_is_what_reading_the_printed_text_gives)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO(arena) arena = { 0 };
		const struct json *tree = read(str_from_c(texts[i]), &arena);
		const struct json *copy = json_copy(&arena, tree);
		cr_expect(same(copy, read(json_print(&arena, tree), &arena)), "%s", texts[i]);
	}
}

Test(json_build, a_copy_shares_nothing_with_its_source)
{
	AUTO(arena) kept = { 0 };
	const struct json *copy;
	struct str printed;
	{
		AUTO(arena) gone = { 0 };
		struct str text =
			str_copy(&gone, S("{\"key\":[\"plain\",\"esc\\n\",{\"k\":2.5}]}"));
		copy = json_copy(&kept, read(text, &gone));
	}
	printed = json_print(&kept, copy);
	expect_str(printed, S("{\"key\":[\"plain\",\"esc\\n\",{\"k\":2.5}]}"));
}

Test(json_build, a_writer_that_builds_gives_the_tree_of_its_text)
{
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO(arena) arena = { 0 };
		const struct json *tree = read(str_from_c(texts[i]), &arena);
		struct json_writer writer = { .builder = json_builder_new(&arena) };
		char key[] = "key";
		json_open(&writer, '{');
		json_key(&writer, (struct str){ key, 3 });
		json_put_tree(&writer, json_copy(&arena, tree));
		key[0] = 'X'; /* the builder has its own */
		json_key(&writer, S("list"));
		json_open(&writer, '[');
		json_put_null(&writer);
		json_put_bool(&writer, true);
		json_put_int(&writer, -1);
		json_put_real(&writer, 2.0);
		json_put_real(&writer, 2.5);
		json_put_str(&writer, S("text"));
		json_open(&writer, '{');
		json_close(&writer, '}');
		json_close(&writer, ']');
		json_close(&writer, '}');
		const struct json *made = json_builder_end(writer.builder);
		struct str expected = str_format(
			&arena, "{\"key\":" STR_FMT ",\"list\":[null,true,-1,2,2.5,\"text\",{}]}",
			STR_ARG(json_print(&arena, tree)));
		cr_expect(same(made, read(expected, &arena)), "%s", texts[i]);
	}
}

/* More children than the builder's first memory holds. */
Test(json_build, a_long_list_is_built_whole)
{
	enum { MANY = 5000 };
	AUTO(arena) arena = { 0 };
	struct json_writer writer = { .builder = json_builder_new(&arena) };
	json_open(&writer, '[');
	for (int i = 0; i < MANY; i++)
		json_put_int(&writer, i);
	json_close(&writer, ']');
	const struct json *list = json_builder_end(writer.builder);
	cr_assert_eq(list->as.list.count, MANY);
	cr_expect_eq(json_item(list, MANY - 1)->as.integer, MANY - 1);
}

Test(json_build, as_deep_as_a_text_may_be)
{
	AUTO(arena) arena = { 0 };
	struct json_writer writer = { .builder = json_builder_new(&arena) };
	for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
		json_open(&writer, '[');
	for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
		json_close(&writer, ']');
	const struct json *deep = json_builder_end(writer.builder);
	cr_expect(same(deep, read(json_print(&arena, deep), &arena)));
}

/* ---- how long a text would be ------------------------------------------------------------ */

Test(json_build, whether_a_text_fits_is_known_without_printing_it)
{
	static const char *const more[] = { "\"\\n\\u0001\\u00e4\"",
					    "{\"a\\nb\":\"c\"}",
					    "[[[],{}]]",
					    "-1",
					    "1234567890123456789",
					    "false" };
	for (size_t i = 0; i < COUNT(texts) + COUNT(more); i++) {
		AUTO(arena) arena = { 0 };
		const char *text = i < COUNT(texts) ? texts[i] : more[i - COUNT(texts)];
		const struct json *tree = read(str_from_c(text), &arena);
		size_t size = json_print(&arena, tree).size;
		/* Never said of one that is longer; always of one with room to spare. */
		cr_expect(!json_text_within(tree, size - 1), "%s", text);
		cr_expect(json_text_within(tree, size + 64), "%s", text);
	}
}

Test(json_build, a_text_that_cannot_fit_is_given_up_at_once)
{
	enum { MANY = 100000 };
	AUTO(arena) arena = { 0 };
	struct json *items = arena_array(&arena, struct json, MANY);
	struct json list = { .kind = JSON_LIST, .as.list = { items, MANY } };
	AUTO(buf) out = buf_limited(1000);
	struct json_writer writer = { .out = &out };
	struct work before = work_done;
	json_put_tree(&writer, &list);
	cr_expect(out.full);
	cr_expect_eq(work_done.bytes[WORK_PRINTED], before.bytes[WORK_PRINTED]);
	/* To the byte: a list of nulls is five bytes an item and a bracket more. */
	for (size_t limit = 49; limit <= 51; limit++) {
		struct json few = { .kind = JSON_LIST, .as.list = { items, 10 } };
		AUTO(buf) text = buf_limited(limit);
		struct json_writer short_writer = { .out = &text };
		json_put_tree(&short_writer, &few);
		cr_expect_eq(text.full, limit < 51, "%zu", limit);
	}
}

/* ---- what is counted --------------------------------------------------------------------- */

Test(json_build, work_is_counted_by_its_bytes)
{
	struct work before = work_done;
	{
		AUTO(arena) arena = { 0 };
		const struct json *tree = read(S("[1,2,3]"), &arena);
		json_print(&arena, json_copy(&arena, tree));
		hash_of(S("abc"));
	}
	cr_expect_eq(work_done.bytes[WORK_PARSED] - before.bytes[WORK_PARSED], 7);
	cr_expect_eq(work_done.bytes[WORK_PRINTED] - before.bytes[WORK_PRINTED], 7);
	cr_expect_eq(work_done.bytes[WORK_COPIED] - before.bytes[WORK_COPIED],
		     3 * sizeof(struct json));
	cr_expect_eq(work_done.bytes[WORK_HASHED] - before.bytes[WORK_HASHED], 3);
	cr_expect_geq(work_done.bytes[WORK_FREED] - before.bytes[WORK_FREED], 4096);
}
