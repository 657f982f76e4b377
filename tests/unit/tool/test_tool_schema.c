/* What a model gets to know about a tool. */
#include "tool_rig.h"

#include "schema/schema.h"
#include "tool/tool_schema.h"

/* Every member of the schema and below it, by key. */
static void check_keywords(const struct json *schema, const char *tool)
{
	if (schema->kind == JSON_LIST)
		for (size_t i = 0; i < schema->as.list.count; i++)
			check_keywords(&schema->as.list.at[i], tool);
	if (schema->kind != JSON_OBJECT)
		return;
	for (size_t i = 0; i < schema->as.object.count; i++) {
		const struct json_member *member = &schema->as.object.at[i];
		cr_assert(!str_starts(member->key, S("x-")), "%s has " STR_FMT, tool,
			  STR_ARG(member->key));
		if (str_equal(member->key, S("$ref")))
			cr_assert(str_starts(json_text(&member->value), S("#/$defs/")), "%s", tool);
		check_keywords(&member->value, tool);
	}
}

Test(schema, every_tool_has_parameters_that_are_complete_in_themselves)
{
	for (size_t i = 0; i < tool_table.count; i++) {
		AUTO(arena) arena = { 0 };
		const struct tool *tool = tool_table.at[i];
		const struct json *parameters = tool_parameters(tool, &arena);
		struct problems problems = { .arena = &arena };
		struct schema *schema;
		cr_assert(schema_compile(parameters, NULL, &arena, &schema, &problems), "%s",
			  tool->name);
		schema_done(schema);
		cr_assert(str_equal(json_text(json_member(parameters, S("type"))), S("object")));
		check_keywords(parameters, tool->name);
		const struct json *more = json_member(parameters, S("additionalProperties"));
		cr_assert_eq(more->as.boolean, tool->inputs == NULL, "%s", tool->name);
		const struct json *fields = json_member(parameters, S("properties"));
		for (size_t j = 0; j < fields->as.object.count; j++)
			cr_assert_gt(json_text(json_member(&fields->as.object.at[j].value,
							   S("description")))
					     .size,
				     5, "%s", tool->name);
	}
}

static bool accepts(struct schema *schema, const char *text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = arena };
	cr_assert(json_read(str_from_c(text), arena, &json, &error));
	return schema_check(schema, json, arena, &problems);
}

/* A type that contains itself, an enum, a range, a nested entity and a default. */
Test(schema, parameters_accept_what_the_contract_accepts)
{
	static const struct {
		const char *tool, *inputs;
		bool good;
	} cases[] = {
		{ "json_transform",
		  "{\"input\":[],\"operations\":[{\"map\":[{\"map\":[{\"get\":\"/a\"}]}]}]}",
		  true },
		{ "json_transform",
		  "{\"input\":[],\"operations\":[{\"map\":[{\"map\":[{\"got\":\"/a\"}]}]}]}",
		  false },
		{ "http_fetch", "{\"url\":\"http://a/\",\"method\":\"HEAD\"}", true },
		{ "http_fetch", "{\"url\":\"http://a/\",\"method\":\"POST\"}", false },
		{ "http_fetch", "{\"url\":\"http://a/\",\"waits\":{\"idle_seconds\":1}}", true },
		{ "http_fetch", "{\"url\":\"http://a/\",\"waits\":{\"idle_seconds\":0}}", false },
		{ "http_fetch", "{\"url\":\"http://a/\",\"waits\":{\"idle\":1}}", false },
		{ "shell", "{}", false },
		{ "echo", "{\"anything\":1}", true },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(arena) arena = { 0 };
		const struct tool *tool = tool_find(&tool_table, str_from_c(cases[i].tool));
		struct problems problems = { .arena = &arena };
		struct schema *schema;
		cr_assert(schema_compile(tool_parameters(tool, &arena), NULL, &arena, &schema,
					 &problems));
		cr_expect_eq(accepts(schema, cases[i].inputs, &arena), cases[i].good, "%s",
			     cases[i].inputs);
		schema_done(schema);
	}
}

Test(schema, the_meanings_of_words_stand_in_the_description)
{
	AUTO(arena) arena = { 0 };
	const struct json *parameters =
		tool_parameters(tool_find(&tool_table, S("read_file")), &arena);
	const struct json *encoding =
		json_member(json_member(parameters, S("properties")), S("encoding"));
	cr_assert(str_equal(json_text(json_member(encoding, S("description"))),
			    S("Encoding of the content. text = Plain text; must be UTF-8.")));
	cr_assert(str_equal(json_text(json_member(encoding, S("default"))), S("text")));
}

static struct custom_tool custom_of(const char *text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = arena };
	cr_assert(json_read(str_from_c(text), arena, &json, &error));
	struct contract_source source = { .json = json };
	struct custom_tool tool = { .definition =
					    run_custom_tool_parse(&source, arena, &problems) };
	cr_assert_not_null(tool.definition);
	return tool;
}

Test(schema, a_custom_tool_has_its_own)
{
	AUTO(arena) arena = { 0 };
	struct custom_tool given =
		custom_of("{\"name\":\"a\",\"command\":[\"/bin/a\"],\"class\":\"idempotent\","
			  "\"inputs\":{\"required\":[\"who\"]}}",
			  &arena);
	cr_assert(str_equal(json_print(&arena, tool_custom_parameters(&given, &arena)),
			    S("{\"type\":\"object\",\"required\":[\"who\"]}")));
	struct custom_tool broken = { .definition = NULL };
	cr_assert(str_equal(
		json_print(&arena, tool_custom_parameters(&broken, &arena)),
		S("{\"type\":\"object\",\"properties\":{},\"additionalProperties\":true}")));
	cr_assert_eq(tool_custom_risk(&broken), RUN_RISK_HIGH);
	cr_assert_eq(tool_custom_timeout_seconds(&given), 300);
}

Test(schema, the_risk_of_a_custom_tool_follows_from_what_it_can_do)
{
	static const struct {
		const char *members;
		enum run_risk risk;
	} cases[] = {
		{ "\"class\":\"idempotent\"", RUN_RISK_LOW },
		{ "\"class\":\"contained\"", RUN_RISK_MEDIUM },
		{ "\"class\":\"keyed\"", RUN_RISK_HIGH },
		{ "\"class\":\"once\"", RUN_RISK_HIGH },
		{ "\"class\":\"idempotent\",\"network\":true", RUN_RISK_HIGH },
		{ "\"class\":\"once\",\"risk\":\"low\"", RUN_RISK_LOW },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(arena) arena = { 0 };
		struct custom_tool tool =
			custom_of(str_format(&arena, "{\"name\":\"a\",\"command\":[\"/bin/a\"],%s}",
					     cases[i].members)
					  .at,
				  &arena);
		cr_expect_eq(tool_custom_risk(&tool), cases[i].risk, "%s", cases[i].members);
	}
}
