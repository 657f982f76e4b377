/* Documents made to hurt: bounded problems, bounded memory, no crash. */
#include "contract_support.h"

static void expect_capped(const struct outcome *outcome, size_t total)
{
	cr_assert_null(outcome->value);
	cr_assert_eq(outcome->problems.count, (size_t)LIMIT_PROBLEMS);
	cr_assert_eq(outcome->problems.count + outcome->problems.hidden, total);
}

Test(hostile, sixty_thousand_unknown_keys)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{"));
	for (int i = 0; i < 60000; i++)
		buf_add_format(&text, "%s\"coluor%d\":\n%d", i == 0 ? "" : ",", i, i);
	buf_add(&text, S("}"));
	struct outcome outcome = read_as(sample_closed_type(), buf_str(&text), &arena);
	expect_capped(&outcome, 60000);
	struct error error;
	cr_assert(!problems_fail(&outcome.problems, &error));
	cr_assert_not_null(strstr(error.text, "(and 59999 more)"));
	outcome = read_as(sample_wire_type(), buf_str(&text), &arena);
	cr_assert_not_null(outcome.value);
	const struct sample_kept *kept = read_good(sample_kept_type(), buf_str(&text), &arena);
	cr_assert_eq(kept->kept_fields.count, 60000);
}

Test(hostile, a_hundred_and_fifty_thousand_problems)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"ints\":["));
	for (int i = 0; i < 150000; i++)
		buf_add(&text, i == 0 ? S("\"x\"") : S(",\n\"x\""));
	buf_add(&text, S("]}"));
	struct outcome outcome = read_as(sample_lists_type(), buf_str(&text), &arena);
	expect_capped(&outcome, 150000);
	cr_assert_eq(outcome.problems.at[63].line, 64);
	cr_assert_eq(outcome.problems.at[63].column, 1);
}

Test(hostile, fifty_thousand_in_a_unique_list_and_a_map)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"unique\":["));
	for (int i = 0; i < 50000; i++)
		buf_add_format(&text, "%s\"%d\"", i == 0 ? "" : ",", i % 49990);
	buf_add(&text, S("]}"));
	struct outcome outcome = read_as(sample_rules_type(), buf_str(&text), &arena);
	cr_assert_eq(outcome.problems.count, 10);
	buf_clear(&text);
	buf_add(&text, S("{\"ints\":{"));
	for (int i = 0; i < 50000; i++)
		buf_add_format(&text, "%s\"%d\":%d", i == 0 ? "" : ",", i, i);
	buf_add(&text, S("}}"));
	const struct sample_maps *maps = read_good(sample_maps_type(), buf_str(&text), &arena);
	cr_assert_eq(maps->ints.count, 50000);
	cr_assert_eq(maps->ints.at[49999].value, 49999);
}

static void add_nested(struct buf *text, int depth)
{
	for (int i = 0; i < depth; i++)
		buf_add(text, S("{\"name\":\"n\",\"left\":"));
	buf_add(text, S("{\"name\":\"n\"}"));
	for (int i = 0; i < depth; i++)
		buf_add_char(text, '}');
}

Test(hostile, deep_nesting)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	add_nested(&text, LIMIT_JSON_DEPTH - 2);
	round_trip(sample_node_type(), buf_str(&text), &arena);
	buf_clear(&text);
	add_nested(&text, 100000);
	const struct json *json;
	struct error error;
	cr_assert(!json_read(buf_str(&text), &arena, &json, &error));
}

/* A tree that no reader made may be deeper than any reader allows. */
Test(hostile, deep_trees_that_were_not_read)
{
	AUTO(arena) arena = { 0 };
	struct json tree = { .kind = JSON_OBJECT };
	for (int i = 0; i < 5000; i++) {
		struct json_member *members = arena_array(&arena, struct json_member, 2);
		members[0].key = S("name");
		members[0].value = (struct json){ .kind = JSON_STRING, .as.string = S("n") };
		members[1].key = S("left");
		members[1].value = tree;
		tree = (struct json){ .kind = JSON_OBJECT, .as.object = { members, 2 } };
	}
	struct problems problems = { .arena = &arena };
	struct contract_source source = { .json = &tree };
	cr_assert_null(sample_node_parse(&source, &arena, &problems));
	cr_assert_eq(problems.count, 1);
	assert_str(problems.at[0].text, S("is nested too deeply"));
}

Test(hostile, a_tree_with_a_key_twice)
{
	AUTO(arena) arena = { 0 };
	static const struct json one = { .kind = JSON_INT, .as.integer = 1 };
	struct json_member members[] = { { .key = S("a"), .value = one },
					 { .key = S("a"), .value = one } };
	struct json_member outer = {
		.key = S("ints"), .value = { .kind = JSON_OBJECT, .as.object = { members, 2 } }
	};
	struct json tree = { .kind = JSON_OBJECT, .as.object = { &outer, 1 } };
	struct problems problems = { .arena = &arena };
	struct contract_source source = { .json = &tree };
	cr_assert_null(sample_maps_parse(&source, &arena, &problems));
	assert_str(problems_text(&problems, &arena), S("/ints/a: is given twice\n"));
}

/* Two bytes of text ask for a struct of hundreds: refused before the memory is taken. */
Test(hostile, small_text_that_asks_for_much_memory)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"lists\":["));
	size_t count = (size_t)LIMIT_CONTRACT_BYTES / sizeof(struct sample_lists) + 1;
	cr_assert(count < LIMIT_JSON_NODES - 10, "the sample is too small for this test");
	for (size_t i = 0; i < count; i++)
		buf_add(&text, i == 0 ? S("{}") : S(",{}"));
	buf_add(&text, S("]}"));
	struct outcome outcome = read_as(sample_many_type(), buf_str(&text), &arena);
	assert_str(outcome.lines, S("1:10 /lists: has too many items to be held\n"));
}

Test(hostile, a_pattern_meets_a_long_text)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"pattern\":\""));
	for (int i = 0; i <= LIMIT_PATTERN_BYTES; i++)
		buf_add_char(&text, 'a');
	buf_add(&text, S("\"}"));
	struct outcome outcome = read_as(sample_rules_type(), buf_str(&text), &arena);
	cr_assert_eq(outcome.problems.count, 1);
}
