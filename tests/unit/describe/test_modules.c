/* The list of modules, the self-test of all rows together, and what describers share. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "contract/config_rows.h"
#include "contract/describe.h"
#include "contract/modules.h"

#define assert_str(got, expected)                                                                \
	do {                                                                                     \
		struct str got_ = (got), expected_ = (expected);                                 \
		cr_assert(str_equal(got_, expected_), "got      " STR_FMT "\nexpected " STR_FMT, \
			  STR_ARG(got_), STR_ARG(expected_));                                    \
	} while (0)

/* Names must be unique over all modules, so they are tested as one list. */
Test(modules, all_rows_together_pass_the_self_test)
{
	AUTO(arena) arena = { 0 };
	enum { ROOM = 2000 };
	const struct type **types = arena_array(&arena, const struct type *, ROOM);
	const struct contract_module *module;
	const struct type *type;
	size_t count = 0;
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++) {
		cr_assert(contract_type_at(module, 0) != NULL);
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++) {
			struct str dotted = str_format(&arena, STR_FMT ".", STR_ARG(module->name));
			cr_assert(str_starts(type->name, dotted), STR_FMT, STR_ARG(type->name));
			cr_assert(type->text.size > 0, STR_FMT " has no text", STR_ARG(type->name));
			cr_assert(count < ROOM);
			types[count++] = type;
		}
	}
	struct error error;
	cr_assert(contract_self_test(types, count, &error), "%s", error.text);
	cr_assert(count > 200);
}

Test(modules, every_field_has_a_text)
{
	const struct contract_module *module;
	const struct type *type;
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++)
			for (const struct field *field =
				     type->kind == KIND_ENTITY ? type_fields(type) : NULL;
			     field != NULL && field->shape != SHAPE_END; field++)
				cr_expect(field->text.size > 0, STR_FMT "." STR_FMT,
					  STR_ARG(type->name), STR_ARG(field->name));
}

Test(modules, types_are_found_by_name)
{
	const struct type *type = contract_find(S("run.Definition"));
	cr_assert(type != NULL);
	assert_str(type->name, S("run.Definition"));
	assert_str(contract_short_name(type), S("Definition"));
	cr_assert(contract_find(S("run.definition")) == NULL);
	cr_assert(contract_find(S("")) == NULL);
	cr_assert_str_eq(contract_kind_name(type->kind), "entity");
}

Test(modules, a_misspelt_name_has_a_neighbour)
{
	assert_str(contract_closest(S("run.Definitoin")), S("run.Definition"));
	assert_str(contract_closest(S("run.definition")), S("run.Definition"));
	assert_str(contract_closest(S("EffectClas")), S("run.EffectClass"));
	assert_str(contract_closest(S("something else altogether")), S(""));
	assert_str(contract_closest(S("")), S(""));
}

Test(describe, documents_are_named_and_the_same_every_time)
{
	const struct description *description;
	size_t count = 0;
	for (; (description = description_at(count)) != NULL; count++) {
		AUTO(buf) first = { 0 };
		AUTO(buf) second = { 0 };
		description->print(&first);
		description->print(&second);
		cr_assert(first.size > 100);
		cr_assert(str_equal(buf_str(&first), buf_str(&second)));
		cr_assert(first.at[first.size - 1] == '\n');
		cr_assert(description_find(description->name) == description);
	}
	cr_assert_eq(count, 14);
	cr_assert(description_find(S("nothing")) == NULL);
}

Test(describe, the_kept_document_is_the_printed_one)
{
	AUTO(buf) printed = { 0 };
	describe_openapi(&printed);
	struct str kept = describe_openapi_kept();
	cr_assert(str_equal(kept, buf_str(&printed)));
	cr_assert(describe_openapi_kept().at == kept.at);
}

static void assert_indented(struct str json, struct str expected)
{
	AUTO(buf) out = { 0 };
	describe_indented(json, &out);
	assert_str(buf_str(&out), expected);
}

Test(describe, json_is_indented)
{
	assert_indented(S("{}"), S("{}\n"));
	assert_indented(S("[ ]"), S("[]\n"));
	assert_indented(S("7"), S("7\n"));
	assert_indented(S("{\"a\":1,\"b\":[true, null],\"c\":{},\"d\":[{}]}"),
			S("{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ],\n  \"c\": {},\n"
			  "  \"d\": [\n    {}\n  ]\n}\n"));
	assert_indented(S("[\"a, {b}: [c] \\\" \\\\\"]"), S("[\n  \"a, {b}: [c] \\\" \\\\\"\n]\n"));
}

/* The server alone goes by limits.def; with a configuration the settings win.  One default. */
Test(config, patience_is_what_the_limits_say)
{
	static const struct {
		enum config_key key;
		int64_t ms;
	} times[] = { { CONFIG_HEADER_SECONDS, LIMIT_HTTP_HEADER_MS },
		      { CONFIG_BODY_SECONDS, LIMIT_HTTP_BODY_MS },
		      { CONFIG_IDLE_SECONDS, LIMIT_HTTP_IDLE_MS },
		      { CONFIG_SEND_SECONDS, LIMIT_HTTP_SEND_MS },
		      { CONFIG_SOCKET_IDLE_SECONDS, LIMIT_WS_IDLE_MS } };
	for (size_t i = 0; i < COUNT(times); i++) {
		int64_t seconds;
		cr_assert(str_to_int(str_from_c(config_row(times[i].key)->fallback), &seconds));
		cr_assert_eq(seconds * 1000, times[i].ms);
	}
}

Test(config, settings_have_names_of_their_own)
{
	const struct config_row *row, *other;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		char name[CONFIG_ENVIRONMENT_SIZE], other_name[CONFIG_ENVIRONMENT_SIZE];
		const char *environment = config_environment(row, name);
		cr_assert(row->name.size > 0 && row->text.size > 0);
		/* Tokens and addresses of trackers have the names that other programs know. */
		cr_assert(str_starts(str_from_c(environment), S("BATON_")) ||
			  str_starts(row->name, S("tracker.")));
		cr_assert(config_find(row->name) == row && config_at(config_key_of(row)) == row);
		cr_assert(row->least <= row->most);
		for (size_t j = 0; j < i; j++) {
			other = config_at(j);
			cr_assert(!str_equal(row->name, other->name));
			cr_assert(!str_equal(str_from_c(environment),
					     str_from_c(config_environment(other, other_name))));
			cr_assert(row->flag[0] == '\0' ||
				  !str_equal(str_from_c(row->flag), str_from_c(other->flag)));
		}
		int64_t port;
		if (row->type == CONFIG_PORT)
			cr_assert(str_to_int(str_from_c(row->fallback), &port) && port <= 65535);
	}
	cr_assert(config_row(CONFIG_HOME) == config_at(0));
	cr_assert_null(config_at(CONFIG_COUNT));
	cr_assert_null(config_find(S("serve")));
	assert_str(config_closest(S("serve.prot")), S("serve.port"));
	assert_str(config_closest(S("nothing.like.it")), S(""));
}
