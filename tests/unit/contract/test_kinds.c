/* Every kind and shape: what is read, what it becomes in C, how it prints again. */
#include "contract_support.h"

#define ID  "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
#define HEX "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define ALL                                                                                    \
	"{\"text\":\"a\\u00e9\\n\",\"whole\":-9223372036854775808,\"real\":0.25,\"yes\":true," \
	"\"at\":\"1970-01-01T00:00:01.500Z\",\"uuid\":\"" ID "\",\"hash\":\"" HEX "\","        \
	"\"secret\":\"env:KEY\",\"object\":{\"k\":[1]},\"any\":null,\"colour\":\"blue\","      \
	"\"small\":{\"number\":3,\"words\":[],\"colour\":\"red\"}}"

Test(kinds, every_kind_becomes_plain_c)
{
	AUTO(arena) arena = { 0 };
	const struct sample_kinds *value = read_good(sample_kinds_type(), S(ALL), &arena);
	assert_str(value->text, S("a\xC3\xA9\n"));
	cr_assert_eq(value->whole, INT64_MIN);
	cr_assert_eq(value->real, 0.25);
	cr_assert(value->yes);
	cr_assert_eq(value->at, 1500000);
	cr_assert_eq(value->uuid.bytes[0], 0x6b);
	cr_assert_eq(value->hash.bytes[31], 0xad);
	assert_str(value->secret.reference, S("env:KEY"));
	cr_assert_eq(value->object->as.object.count, 1);
	cr_assert_eq(value->any->kind, JSON_NULL);
	cr_assert_eq(value->colour, SAMPLE_BLUE);
	cr_assert_eq(value->small->number, 3);
	cr_assert_eq(value->small->words.count, 0);
	cr_assert_eq(value->is.any, GIVEN);
}

Test(kinds, every_kind_survives_a_round_trip)
{
	AUTO(arena) arena = { 0 };
	struct str text = round_trip(sample_kinds_type(), S(ALL), &arena);
	assert_str(text,
		   S("{\"text\":\"a\xC3\xA9\\n\",\"whole\":-9223372036854775808,\"real\":0.25,"
		     "\"yes\":true,\"at\":\"1970-01-01T00:00:01.500Z\",\"uuid\":\"" ID
		     "\",\"hash\":\"" HEX "\",\"secret\":\"env:KEY\",\"object\":{\"k\":[1]},"
		     "\"any\":null,\"colour\":\"blue\",\"small\":{\"number\":3,\"words\":[],"
		     "\"colour\":\"red\"}}"));
}

Test(kinds, a_tree_without_text_prints_as_the_value_does)
{
	AUTO(arena) arena = { 0 };
	const struct sample_kinds *value = read_good(sample_kinds_type(), S(ALL), &arena);
	const struct json *tree = sample_kinds_tree(value, &arena);
	assert_str(json_print(&arena, tree), sample_kinds_text(value, &arena));
	cr_assert_eq(json_member(tree, S("whole"))->kind, JSON_INT);
	/* It is a document like any other, and its own. */
	struct problems problems = { .arena = &arena };
	struct contract_source source = { .json = tree };
	cr_assert_not_null(sample_kinds_parse(&source, &arena, &problems));
	cr_assert_neq(json_member(tree, S("object")), value->object);
}

Test(kinds, wrong_kinds_are_all_told_at_once)
{
	assert_lines(
		sample_kinds_type(),
		"{\"text\":1,\"whole\":1.5,\"real\":\"x\",\"yes\":0,\"at\":\"noon\",\n"
		"\"uuid\":\"no\",\"hash\":\"12\",\"secret\":\"hunter2\",\"object\":[],\n"
		"\"any\":1,\"colour\":\"gren\",\"small\":true}",
		"1:9 /text: must be a string, got integer 1\n"
		"1:19 /whole: must be a whole number, got number 1.5\n"
		"1:30 /real: must be a number, got string \"x\"\n"
		"1:40 /yes: must be true or false, got integer 0\n"
		"1:47 /at: must be a time such as \"2026-01-31T09:30:00Z\", got string \"noon\"\n"
		"2:8 /uuid: must be a UUID, got string \"no\"\n"
		"2:20 /hash: must be a SHA-256 hash of 64 hex digits, got string \"12\"\n"
		"2:34 /secret: must be a reference to the secret, \"env:NAME\" or \"file:path\", "
		"not the secret itself\n"
		"2:53 /object: must be an object, got list\n"
		"3:18 /colour: \"gren\" is not one of red, green, blue; did you mean \"green\"?\n"
		"3:33 /small: must be an object, got boolean true\n");
}

Test(kinds, null_is_a_value_only_of_any)
{
	AUTO(arena) arena = { 0 };
	struct outcome outcome = read_as(
		sample_kinds_type(),
		S("{\"text\":null,\"whole\":null,\"real\":null,\"yes\":null,\"at\":null,\"uuid\":"
		  "null,"
		  "\"hash\":null,\"secret\":null,\"object\":null,\"any\":null,\"colour\":null,"
		  "\"small\":null}"),
		&arena);
	cr_assert_eq(outcome.problems.count, 11);
}

Test(kinds, whole_numbers_may_be_written_as_reals)
{
	AUTO(arena) arena = { 0 };
	const struct sample_rules *value =
		read_good(sample_rules_type(), S("{\"range\":5.0,\"unique_n\":[1e3,-4]}"), &arena);
	cr_assert_eq(value->range, 5);
	cr_assert_eq(value->unique_n.at[0], 1000);
	cr_assert_eq(value->unique_n.at[1], -4);
	assert_lines(sample_rules_type(), "{\"unique_n\":[1e300]}",
		     "1:14 /unique_n/0: must be a whole number, got number 1e300\n");
}

Test(kinds, minus_zero_is_zero)
{
	AUTO(arena) arena = { 0 };
	struct str text = round_trip(sample_lists_type(), S("{\"reals\":[-0.0]}"), &arena);
	size_t at;
	cr_assert(str_find(text, S("\"reals\":[0]"), &at));
}

Test(kinds, secrets_are_references)
{
	AUTO(arena) arena = { 0 };
	static const char *const good[] = { "env:A", "env:_a9", "file:key", "file:a/b" };
	static const char *const bad[] = { "",      "env:",    "env:9", "env:A B",
					   "file:", "sk-live", "ENV:A" };
	for (size_t i = 0; i < COUNT(good) + COUNT(bad); i++) {
		const char *secret = i < COUNT(good) ? good[i] : bad[i - COUNT(good)];
		struct str text = str_format(
			&arena,
			"{\"transport\":\"http\",\"config\":{\"url\":\"u\",\"key\":\"%s\"}}",
			secret);
		struct outcome outcome = read_as(sample_server_type(), text, &arena);
		cr_assert_eq(outcome.value != NULL, i < COUNT(good), "%s", secret);
		size_t at;
		if (secret[0] != '\0' && i >= COUNT(good))
			cr_assert(!str_find(outcome.lines, S("sk-live"), &at));
	}
}

Test(kinds, lists_of_every_kind)
{
	AUTO(arena) arena = { 0 };
	struct str text = round_trip(
		sample_lists_type(),
		S("{\"strs\":[\"a\",\"\"],\"ints\":[1,-2],\"reals\":[0.5,3],\"bools\":[true,false],"
		  "\"times\":[\"2026-01-31T09:30:00Z\"],\"uuids\":[\"" ID "\"],\"hashes\":[\"" HEX
		  "\"],\"objects\":[{},{\"a\":1}],\"anys\":[null,[],\"x\"],"
		  "\"colours\":[\"verde\",\"red\"],\"smalls\":[{},{\"number\":4}],"
		  "\"parts\":[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"image\",\"url\":\"u\"}"
		  "]}"),
		&arena);
	assert_str(
		text,
		S("{\"strs\":[\"a\",\"\"],\"ints\":[1,-2],\"reals\":[0.5,3],\"bools\":[true,false],"
		  "\"times\":[\"2026-01-31T09:30:00Z\"],\"uuids\":[\"" ID "\"],\"hashes\":[\"" HEX
		  "\"],\"objects\":[{},{\"a\":1}],\"anys\":[null,[],\"x\"],"
		  "\"colours\":[\"green\",\"red\"],\"smalls\":[{\"number\":10,\"words\":[\"a\","
		  "\"b\"],"
		  "\"colour\":\"green\"},{\"number\":4,\"words\":[\"a\",\"b\"],\"colour\":"
		  "\"green\"}],"
		  "\"parts\":[{\"type\":\"text\",\"text\":\"t\"},{\"type\":\"image\",\"url\":\"u\"}"
		  "]}"));
}

Test(kinds, list_items_are_plain_values)
{
	AUTO(arena) arena = { 0 };
	const struct sample_lists *value = read_good(
		sample_lists_type(),
		S("{\"colours\":[\"blue\",\"green\"],\"smalls\":[{\"number\":1},{\"number\":2}],"
		  "\"bools\":[false,true]}"),
		&arena);
	cr_assert_eq(value->colours.count, 2);
	cr_assert_eq(value->colours.at[0], SAMPLE_BLUE);
	cr_assert_eq(value->smalls.at[1].number, 2);
	cr_assert(value->bools.at[1]);
	cr_assert_eq(value->strs.count, 0);
	cr_assert_eq(value->is.strs, DEFAULTED);
}

Test(kinds, maps_of_every_kind)
{
	AUTO(arena) arena = { 0 };
	struct str text =
		S("{\"strs\":{\"a\":\"x\",\"\":\"y\"},\"ints\":{\"a\":1},\"reals\":{\"a\":0.5},"
		  "\"bools\":{\"a\":true},\"times\":{\"a\":\"2026-01-31T09:30:00Z\"},"
		  "\"uuids\":{\"a\":\"" ID "\"},\"objects\":{\"a\":{}},\"anys\":{\"a\":null},"
		  "\"colours\":{\"a\":\"red\"},\"smalls\":{\"a\":{\"number\":1,\"words\":[],"
		  "\"colour\":\"red\"}},\"parts\":{\"a\":{\"type\":\"text\",\"text\":\"t\"}}}");
	assert_str(round_trip(sample_maps_type(), text, &arena), text);
	const struct sample_maps *value = read_good(sample_maps_type(), text, &arena);
	assert_str(value->strs.at[1].key, S(""));
	assert_str(value->strs.at[1].value, S("y"));
	cr_assert(value->bools.at[0].value);
	cr_assert_eq(value->smalls.at[0].value.number, 1);
	assert_str(value->parts.at[0].value.as.text->text, S("t"));
}

Test(kinds, lists_and_maps_want_their_own_brackets)
{
	assert_lines(sample_lists_type(), "{\"ints\":{},\"strs\":\"a\"}",
		     "1:9 /ints: must be a list, got object\n"
		     "1:19 /strs: must be a list, got string \"a\"\n");
	assert_lines(sample_maps_type(), "{\"ints\":[],\"smalls\":{\"a/b~\":{\"number\":0}}}",
		     "1:9 /ints: must be an object, got list\n"
		     "1:39 /smalls/a~1b~0/number: must be at least 1, got 0\n");
}

Test(kinds, the_document_must_be_an_object)
{
	assert_lines(sample_small_type(), " [1]", "1:2 must be an object, got list\n");
	assert_lines(sample_part_type(), "\"text\"",
		     "1:1 must be an object, got string \"text\"\n");
}

Test(kinds, enums_have_words)
{
	enum sample_colour colour = SAMPLE_RED;
	cr_assert_eq(sample_colour_count(), 3);
	assert_str(sample_colour_name(SAMPLE_GREEN), S("green"));
	cr_assert(sample_colour_from(S("verde"), &colour));
	cr_assert_eq(colour, SAMPLE_GREEN);
	cr_assert(sample_colour_from(S("blue"), &colour));
	cr_assert_eq(colour, SAMPLE_BLUE);
	cr_assert(!sample_colour_from(S("Blue"), &colour));
	cr_assert(!sample_colour_from(S(""), &colour));
	cr_assert_eq(colour, SAMPLE_BLUE);
	for (size_t i = 0; i < sample_colour_count(); i++) {
		cr_assert(sample_colour_from(sample_colour_name((enum sample_colour)i), &colour));
		cr_assert_eq(colour, (enum sample_colour)i);
	}
}

Test(kinds, recursive_types)
{
	AUTO(arena) arena = { 0 };
	struct str text =
		S("{\"name\":\"a\",\"left\":{\"name\":\"b\",\"children\":[],\"by_name\":{}},"
		  "\"children\":[{\"name\":\"c\",\"children\":[],\"by_name\":{\"d\":"
		  "{\"name\":\"d\",\"children\":[],\"by_name\":{}}}}],\"by_name\":{}}");
	assert_str(round_trip(sample_node_type(), text, &arena), text);
	assert_lines(sample_node_type(),
		     "{\"name\":\"a\",\"children\":[{},{\"name\":\"b\",\"left\":{}}]}",
		     "1:25 /children/0/name: is required\n"
		     "1:47 /children/1/left/name: is required\n");
}

Test(kinds, an_entity_of_consts_only)
{
	AUTO(arena) arena = { 0 };
	assert_str(round_trip(sample_const_type(), S("{}"), &arena), S("{\"type\":\"constant\"}"));
	assert_lines(sample_const_type(), "{\"type\":\"other\"}",
		     "1:9 /type: must be \"constant\", got string \"other\"\n");
	assert_lines(sample_const_type(), "{\"\":1}", "1:2 /: is not a field of sample.Const\n");
}

Test(kinds, rows_of_another_file)
{
	AUTO(arena) arena = { 0 };
	const struct sample_inherited *value =
		read_good(sample_inherited_type(), S("{\"id\":\"" ID "\"}"), &arena);
	cr_assert_eq(value->id.bytes[0], 0x6b);
	cr_assert_eq(value->since, test_world.now);
	cr_assert(!has(value, own));
}
