/* Rules on values, aliases, checks across fields, openness. */
#include "contract_support.h"

Test(rules, good_values_pass)
{
	AUTO(arena) arena = { 0 };
	read_good(sample_rules_type(),
		  S("{\"range\":1,\"at_least\":0.5,\"above\":1e-9,\"length\":\"\\u00e9\\u00e9\","
		    "\"items\":[0,9,5],\"pattern\":\"a_9\",\"names\":[\"a\",\"bc\"],"
		    "\"unique\":[\"a\",\"A\",\"\"],\"unique_n\":[1,2],\"unique_o\":[{},{\"number\":"
		    "9}],"
		    "\"pairs\":{\"a\":1,\"b\":2},\"renamed\":\"r\"}"),
		  &arena);
	read_good(sample_rules_type(), S("{\"range\":10,\"length\":\"abcd\",\"items\":[1]}"),
		  &arena);
}

Test(rules, numbers_out_of_range)
{
	assert_lines(sample_rules_type(), "{\"range\":0,\"at_least\":0.25,\"above\":0}",
		     "1:10 /range: must be at least 1, got 0\n"
		     "1:23 /at_least: must be at least 0.5, got 0.25\n"
		     "1:36 /above: must be above 0, got 0\n");
	assert_lines(sample_rules_type(), "{\"range\":11,\"items\":[10]}",
		     "1:10 /range: must be at most 10, got 11\n"
		     "1:22 /items/0: must be at most 9, got 10\n");
}

Test(rules, lengths_count_characters_and_items)
{
	assert_lines(sample_rules_type(),
		     "{\"length\":\"\\u00e9\",\"items\":[],\"pairs\":{\"a\":1,\"b\":2,\"c\":3}}",
		     "1:11 /length: must have at least 2 characters, got 1\n"
		     "1:28 /items: must have at least 1 items, got 0\n"
		     "1:39 /pairs: must have at most 2 items, got 3\n");
	assert_lines(sample_rules_type(), "{\"length\":\"abcde\",\"items\":[1,2,3,4]}",
		     "1:11 /length: must have at most 4 characters, got 5\n"
		     "1:27 /items: must have at most 3 items, got 4\n");
}

Test(rules, patterns)
{
	assert_lines(sample_rules_type(), "{\"pattern\":\"9a\",\"names\":[\"ok\",\"no!\"]}",
		     "1:12 /pattern: \"9a\" does not match ^[a-z][a-z0-9_]*$\n"
		     "1:31 /names/1: \"no!\" does not match ^[a-z]+$\n");
	/* A NUL or a line end is a character like any other to a pattern. */
	assert_lines(sample_rules_type(), "{\"pattern\":\"a\\u0000\"}",
		     "1:12 /pattern: \"a\\u0000\" does not match ^[a-z][a-z0-9_]*$\n");
	assert_lines(sample_rules_type(), "{\"pattern\":\"a\\nb\"}",
		     "1:12 /pattern: \"a\\u000ab\" does not match ^[a-z][a-z0-9_]*$\n");
	assert_lines(sample_rules_type(), "{\"pattern\":\"\"}",
		     "1:12 /pattern: \"\" does not match ^[a-z][a-z0-9_]*$\n");
}

Test(rules, unique)
{
	assert_lines(sample_rules_type(),
		     "{\"unique\":[\"a\",\"b\",\"a\"],\"unique_n\":[1,1.0],"
		     "\"unique_o\":[{\"number\":10},{}]}",
		     "1:20 /unique/2: is listed twice\n"
		     "1:39 /unique_n/1: is listed twice\n"
		     "1:70 /unique_o/1: is listed twice\n");
}

Test(rules, unique_among_many)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"unique_n\":["));
	for (int i = 0; i < 100; i++)
		buf_add_format(&text, "%d,", i);
	buf_add(&text, S("57]}"));
	struct outcome outcome = read_as(sample_rules_type(), buf_str(&text), &arena);
	cr_assert_eq(outcome.problems.count, 1);
	assert_str(outcome.problems.at[0].pointer, S("/unique_n/100"));
}

Test(rules, aliases_are_read_and_not_printed)
{
	AUTO(arena) arena = { 0 };
	assert_str(round_trip(sample_rules_type(), S("{\"former_name\":\"x\"}"), &arena),
		   S("{\"renamed\":\"x\"}"));
	assert_lines(sample_rules_type(), "{\"former_name\":\"x\",\"renamed\":\"y\"}",
		     "1:2 /former_name: is the old name of \"renamed\", which is given too\n");
	assert_lines(sample_rules_type(), "{\"former_name\":3}",
		     "1:16 /former_name: must be a string, got integer 3\n");
}

Test(rules, checks_name_the_field)
{
	AUTO(arena) arena = { 0 };
	read_good(sample_checked_type(), S("{\"low\":1,\"high\":2}"), &arena);
	assert_lines(sample_checked_type(), "{\"high\":2,\n \"low\":3}",
		     "2:8 /low: must not be above high, 2\n");
	assert_lines(sample_checked_type(), "{\"high\":2,\"low\":2}", "1:1 is empty\n");
	/* Not run while a member is wrong: it may trust them. */
	assert_lines(sample_checked_type(), "{\"low\":3}", "1:1 /high: is required\n");
}

Test(openness, closed_suggests)
{
	assert_lines(sample_closed_type(), "{\"color\":\"x\",\n\"retyr\":1,\"unrelated\":2}",
		     "1:2 /color: is not a field of sample.Closed; did you mean \"colour\"?\n"
		     "2:1 /retyr: is not a field of sample.Closed; did you mean \"retry\"?\n"
		     "2:11 /unrelated: is not a field of sample.Closed\n");
	/* A letter is one slip away from everything: no advice. */
	assert_lines(sample_checked_type(), "{\"low\":1,\"high\":2,\"x\":0}",
		     "1:19 /x: is not a field of sample.Checked\n");
}

Test(openness, wire_ignores_and_drops)
{
	AUTO(arena) arena = { 0 };
	assert_str(
		round_trip(sample_wire_type(), S("{\"x\":{},\"mimeType\":\"a/b\",\"\":1}"), &arena),
		S("{\"mimeType\":\"a/b\"}"));
}

Test(openness, kept_comes_back)
{
	AUTO(arena) arena = { 0 };
	struct str text = S("{\"known\":\"k\",\"inner\":{\"known\":null,\"deep\":[1,{}]},"
			    "\"zeta\":{\"a\":[null]},\"alpha\":0.5}");
	assert_str(round_trip(sample_kept_type(), text, &arena), text);
	const struct sample_kept *value = read_good(sample_kept_type(), text, &arena);
	cr_assert_eq(value->kept_fields.count, 2);
	assert_str(value->kept_fields.at[1].key, S("alpha"));
	cr_assert_eq(value->inner->kept_fields.count, 1);
	cr_assert_eq(sample_kept_new(&arena)->kept_fields.count, 0);
}

Test(openness, lenient_ignores_unknown_fields_only)
{
	AUTO(arena) arena = { 0 };
	struct outcome outcome =
		read_leniently(sample_closed_type(), S("{\"new\":1,\"retry\":2}"), &arena);
	const struct sample_closed *value = outcome.value;
	cr_assert_not_null(value);
	cr_assert_eq(value->retry, 2);
	outcome = read_leniently(sample_small_type(), S("{\"new\":1,\"colour\":\"pink\"}"), &arena);
	assert_str(outcome.lines, S("1:19 /colour: \"pink\" is not one of red, green, blue\n"));
	outcome = read_leniently(sample_message_type(), S("{\"parts\":[{\"type\":\"video\"}]}"),
				 &arena);
	cr_assert_eq(outcome.problems.count, 1);
	outcome = read_leniently(sample_kept_type(), S("{\"new\":1}"), &arena);
	cr_assert_eq(((const struct sample_kept *)outcome.value)->kept_fields.count, 1);
}
