/* JSON Schema: the form that is printed and the form that is taken. */
#include "contract_support.h"
#include "contract/describe.h"

static struct str schema(const struct type *type, bool input, struct arena *arena)
{
	AUTO(buf) buf = { 0 };
	struct json_writer writer = { .out = &buf };
	if (input)
		describe_schema_input(type, S("#/$defs/"), &writer);
	else
		describe_schema(type, S("#/$defs/"), &writer);
	struct str text = str_copy(arena, buf_str(&buf));
	const struct json *json;
	struct error error;
	cr_assert(json_read(text, arena, &json, &error), STR_FMT ": %s", STR_ARG(type->name),
		  error.text);
	return text;
}

Test(schema, an_entity_as_it_is_printed)
{
	AUTO(arena) arena = { 0 };
	assert_str(schema(sample_small_type(), false, &arena),
		   S("{\"type\":\"object\",\"description\":\"All defaults.\",\"properties\":{"
		     "\"number\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,"
		     "\"description\":\"A number.\",\"default\":10},"
		     "\"words\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
		     "\"description\":\"Words.\",\"default\":[\"a\", \"b\"]},"
		     "\"colour\":{\"$ref\":\"#/$defs/sample.Colour\",\"description\":\"A colour.\","
		     "\"default\":\"green\"}},\"required\":[\"number\",\"words\",\"colour\"],"
		     "\"additionalProperties\":false}"));
}

Test(schema, an_entity_as_it_is_taken)
{
	AUTO(arena) arena = { 0 };
	size_t at;
	cr_assert(!str_find(schema(sample_small_type(), true, &arena), S("required"), &at));
	cr_assert(str_find(schema(sample_presence_type(), true, &arena),
			   S("\"required\":[\"must\",\"must_or_null\"]"), &at));
	cr_assert(str_find(schema(sample_presence_type(), false, &arena),
			   S("\"required\":[\"must\",\"must_or_null\",\"nullable\",\"usual\","
			     "\"usual_or_null\",\"usually_null\",\"nested\",\"made\",\"made_text\","
			     "\"made_hex\",\"made_at\",\"length\"]"),
			   &at));
	cr_assert(str_find(schema(sample_kinds_type(), true, &arena),
			   S("\"$ref\":\"#/$defs/sample.Small.Input\""), &at));
	cr_assert(str_find(schema(sample_kinds_type(), false, &arena),
			   S("\"$ref\":\"#/$defs/sample.Small\""), &at));
}

Test(schema, where_the_forms_differ)
{
	cr_assert(describe_schema_differs(sample_small_type()));
	cr_assert(describe_schema_differs(sample_kinds_type()));
	cr_assert(describe_schema_differs(sample_node_type()));
	cr_assert(!describe_schema_differs(sample_closed_type()));
	cr_assert(!describe_schema_differs(sample_checked_type()));
	cr_assert(!describe_schema_differs(sample_colour_type()));
	cr_assert(!describe_schema_differs(sample_stdio_type()));
}

Test(schema, unions_and_enums)
{
	AUTO(arena) arena = { 0 };
	assert_str(schema(sample_part_type(), false, &arena),
		   S("{\"description\":\"One "
		     "piece.\",\"anyOf\":[{\"$ref\":\"#/$defs/sample.TextPart\","
		     "\"required\":[\"type\"]},{\"type\":\"object\",\"description\":"
		     "\"An image; its tag is the union's.\",\"properties\":{\"type\":{\"type\":"
		     "\"string\",\"const\":\"image\"},\"url\":{\"type\":\"string\",\"description\":"
		     "\"Where it is.\"}},\"required\":[\"type\",\"url\"],"
		     "\"additionalProperties\":false}]}"));
	assert_str(
		schema(sample_colour_type(), false, &arena),
		S("{\"type\":\"string\",\"description\":\"A colour.\","
		  "\"enum\":[\"red\",\"green\",\"blue\"],\"x-enumDescriptions\":{"
		  "\"red\":\"Like blood.\",\"green\":\"Like grass.\",\"blue\":\"Like the sky.\"},"
		  "\"x-oldValues\":{\"verde\":\"green\"}}"));
	size_t at;
	cr_assert(str_find(schema(sample_server_type(), false, &arena),
			   S("\"spare\":{\"anyOf\":[{\"$ref\":\"#/$defs/sample.Settings\"},"
			     "{\"type\":\"null\"}]"),
			   &at));
}

Test(schema, every_type_gives_a_document)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < sample_module_type_count; i++) {
		schema(sample_module_types[i], false, &arena);
		schema(sample_module_types[i], true, &arena);
	}
}
