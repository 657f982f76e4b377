/* Presence: what is absent, null, defaulted, made, computed, and how each prints. */
#include <signal.h>

#include "contract_support.h"

#define LEAST "{\"must\":\"abc\",\"must_or_null\":null}"

Test(presence, marks_of_what_is_left_out)
{
	AUTO(arena) arena = { 0 };
	const struct sample_presence *value = read_good(sample_presence_type(), S(LEAST), &arena);
	cr_assert_eq(value->is.must, GIVEN);
	cr_assert_eq(value->is.must_or_null, IS_NULL);
	cr_assert_eq(value->is.may, ABSENT);
	cr_assert_eq(value->is.may_or_null, ABSENT);
	cr_assert_eq(value->is.nullable, IS_NULL);
	cr_assert_eq(value->is.usual, DEFAULTED);
	assert_str(value->usual, S("x, y"));
	cr_assert_eq(value->is.usual_or_null, DEFAULTED);
	cr_assert_eq(value->usual_or_null, 7);
	cr_assert_eq(value->is.usually_null, IS_NULL);
	cr_assert_eq(value->is.nested, DEFAULTED);
	cr_assert_eq(value->nested->number, 5);
	cr_assert_eq(value->nested->words.count, 2);
	cr_assert_eq(value->is.made, GIVEN);
	cr_assert_eq(value->made_at, test_world.now);
	cr_assert(has(value, usual) && has(value, must) && !has(value, may) &&
		  !has(value, nullable));
}

Test(presence, printed_without_a_value)
{
	AUTO(arena) arena = { 0 };
	struct str text = round_trip(
		sample_presence_type(),
		S("{\"must\":\"abc\",\"must_or_null\":null,"
		  "\"made\":\"00000000-0000-4000-8000-000000000000\",\"made_text\":\"t\","
		  "\"made_hex\":\"h\",\"made_at\":\"1970-01-01T00:00:00Z\"}"),
		&arena);
	assert_str(text,
		   S("{\"must\":\"abc\",\"must_or_null\":null,\"nullable\":null,\"usual\":\"x, y\","
		     "\"usual_or_null\":7,\"usually_null\":null,\"nested\":{\"number\":5,\"words\":"
		     "[\"a\",\"b\"],\"colour\":\"green\"},\"made\":\"00000000-0000-4000-8000-"
		     "000000000000\",\"made_text\":\"t\",\"made_hex\":\"h\","
		     "\"made_at\":\"1970-01-01T00:00:00Z\",\"length\":3}"));
}

Test(presence, null_where_it_is_and_is_not_allowed)
{
	AUTO(arena) arena = { 0 };
	const struct sample_presence *value =
		read_good(sample_presence_type(),
			  S("{\"must\":\"a\",\"must_or_null\":null,\"may_or_null\":null,"
			    "\"nullable\":null,\"usual_or_null\":null,\"length\":null}"),
			  &arena);
	cr_assert_eq(value->is.may_or_null, IS_NULL);
	cr_assert_eq(value->is.usual_or_null, IS_NULL);
	cr_assert_eq(value->length, 1);
	assert_lines(
		sample_presence_type(),
		"{\"must\":null,\"must_or_null\":null,\"may\":null,\"usual\":null,\"made\":null}",
		"1:9 /must: must be a string, got null\n"
		"1:40 /may: must be a string, got null\n"
		"1:53 /usual: must be a string, got null\n"
		"1:65 /made: must be a UUID, got null\n");
}

Test(presence, required_fields_are_all_told)
{
	assert_lines(sample_presence_type(), " {}",
		     "1:2 /must: is required\n1:2 /must_or_null: is required\n");
}

Test(presence, optional_null_prints_null)
{
	AUTO(arena) arena = { 0 };
	struct str text = round_trip(
		sample_presence_type(),
		S("{\"must\":\"a\",\"must_or_null\":\"b\",\"may_or_null\":null}"), &arena);
	size_t at;
	cr_assert(str_find(text, S("\"may_or_null\":null"), &at));
	cr_assert(!str_find(text, S("\"may\""), &at));
}

Test(presence, what_is_made)
{
	AUTO(arena) arena = { 0 };
	const struct sample_presence *one = read_good(sample_presence_type(), S(LEAST), &arena);
	const struct sample_presence *two = read_good(sample_presence_type(), S(LEAST), &arena);
	cr_assert(!uuid_equal(&one->made, &two->made));
	cr_assert_eq(one->made_text.size, 36);
	cr_assert_eq(one->made_hex.size, 3 + 32);
	cr_assert(str_starts(one->made_hex, S("tc_")));
	cr_assert(!str_equal(one->made_hex, two->made_hex));
}

Test(presence, without_a_world_nothing_is_made)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = NULL };
	const struct json *json;
	struct error error;
	cr_assert(json_read(S("{}"), &arena, &json, &error));
	struct contract_source source = { .json = json };
	cr_assert_null(sample_inherited_parse(&source, &arena, &problems));
	assert_str(problems_text(&problems, &arena), S("/id: is required\n/since: is required\n"));
}

Test(presence, computed_is_ignored_on_input)
{
	AUTO(arena) arena = { 0 };
	const struct sample_presence *value = read_good(
		sample_presence_type(),
		S("{\"must\":\"four\",\"must_or_null\":null,\"length\":\"nonsense\"}"), &arena);
	cr_assert_eq(value->length, 4);
	cr_assert_eq(value->is.length, GIVEN);
}

Test(presence, a_value_made_by_code)
{
	AUTO(arena) arena = { 0 };
	struct sample_presence *value = sample_presence_new(&arena);
	cr_assert_eq(value->is.must, ABSENT);
	cr_assert_eq(value->is.made, ABSENT);
	cr_assert_eq(value->is.usual, DEFAULTED);
	SET(value, must, S("code"));
	SET_NULL(value, must_or_null);
	SET(value, nullable, 3);
	SET(value, made_hex, S("mine"));
	sample_presence_make(value, &arena, &test_world);
	assert_str(value->made_hex, S("mine"));
	struct str text = sample_presence_text(value, &arena);
	const struct sample_presence *again = read_good(sample_presence_type(), text, &arena);
	cr_assert_eq(again->nullable, 3);
	cr_assert_eq(again->length, 4);
	assert_str(sample_presence_text(again, &arena), text);
	SET_NULL(value, nullable);
	cr_assert(!has(value, nullable));
}

Test(presence, lists_and_unions_made_by_code)
{
	AUTO(arena) arena = { 0 };
	struct sample_text_part *part = sample_text_part_new(&arena);
	SET(part, text, S("hello"));
	struct sample_part parts[] = { { .kind = SAMPLE_PART_TEXT, .as.text = part } };
	struct sample_message *message = sample_message_new(&arena);
	SET(message, parts, (struct sample_part_list){ parts, COUNT(parts) });
	SET(message, first, &parts[0]);
	assert_str(sample_message_text(message, &arena),
		   S("{\"first\":{\"type\":\"text\",\"text\":\"hello\"},"
		     "\"parts\":[{\"type\":\"text\",\"text\":\"hello\"}],\"open\":[]}"));
	assert_str(sample_part_text(&parts[0], &arena),
		   S("{\"type\":\"text\",\"text\":\"hello\"}"));
}

Test(presence, new_values_do_not_share_their_marks)
{
	AUTO(arena) arena = { 0 };
	struct sample_small *one = sample_small_new(&arena);
	SET(one, number, 99);
	struct sample_small *two = sample_small_new(&arena);
	cr_assert_eq(two->number, 10);
	cr_assert_eq(two->is.number, DEFAULTED);
	cr_assert_eq(two->words.at, one->words.at);
}

Test(presence, printing_what_was_never_set_is_our_bug, .signal = SIGABRT)
{
	AUTO(arena) arena = { 0 };
	sample_text_part_text(sample_text_part_new(&arena), &arena);
}
