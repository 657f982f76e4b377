/* The table of drivers, and the check of an agent. */
#include <criterion/criterion.h>

#include "base/yaml.h"
#include "contract/modules.h"
#include "contract/run_agent_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_turn_types.h"
#include "llm/llm.h"

static struct arena arena;

static void forget(void)
{
	arena_done(&arena);
}

TestSuite(table, .fini = forget);

static struct str problems_of(const char *driver, const char *yaml)
{
	struct run_graph_agent *agent = run_graph_agent_new(&arena);
	struct problems problems = { .arena = &arena };
	const struct json *options = NULL;
	struct error error;
	if (yaml != NULL)
		cr_assert(yaml_read(str_from_c(yaml), &arena, &options, &error), "%s", error.text);
	SET(agent, name, S("ada"));
	SET(agent, driver, str_from_c(driver));
	SET(agent, model, S("any"));
	SET(agent, system, S(""));
	if (options != NULL)
		SET(agent, options, options);
	llm_check(&llm_table, agent, &arena, &problems);
	return problems_text(&problems, &arena);
}

static void expect(struct str got, const char *part)
{
	size_t at;
	cr_assert(str_find(got, str_from_c(part), &at), "no \"%s\" in: " STR_FMT, part,
		  STR_ARG(got));
}

Test(table, every_row_is_whole)
{
	cr_assert_gt(llm_table.count, 0);
	for (size_t i = 0; i < llm_table.count; i++) {
		const struct llm_driver *driver = llm_table.at[i];
		cr_assert_eq(llm_find(&llm_table, str_from_c(driver->name)), driver);
		cr_assert(driver->text != NULL && driver->check != NULL && driver->start != NULL &&
			  driver->stop != NULL);
	}
	cr_assert_null(llm_find(&llm_table, S("nobody")));
	cr_assert_null(llm_find(NULL, S("script")));
}

/* A document that leaves its driver out must get one that exists. */
Test(table, every_default_driver_is_a_row)
{
	size_t defaults = 0;
	const struct contract_module *module;
	const struct type *type;
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++) {
			if (type->kind != KIND_ENTITY)
				continue;
			for (const struct field *field = type_fields(type);
			     field->shape != SHAPE_END; field++) {
				const struct json *word;
				struct error error;
				if (field->of != run_driver_type || field->fallback.size == 0)
					continue;
				cr_assert(json_read(field->fallback, &arena, &word, &error));
				cr_expect(llm_find(&llm_table, json_text(word)) != NULL,
					  STR_FMT "." STR_FMT " defaults to " STR_FMT
						  ", which is no row of drivers.def",
					  STR_ARG(type->name), STR_ARG(field->name),
					  STR_ARG(field->fallback));
				defaults++;
			}
		}
	cr_assert_gt(defaults, 0);
}

/* Every code that a turn can fail with is valid in a definition's retry. */
Test(table, faults_are_errors)
{
	for (size_t i = 0; i < run_turn_fault_count(); i++) {
		enum error_code code;
		cr_assert(error_code_from_name(run_turn_fault_name((enum run_turn_fault)i), &code));
		cr_assert_neq(code, ERROR_NONE);
		cr_assert_neq(code, ERROR_CANCELLED);
	}
}

Test(table, an_unknown_driver_is_named)
{
	struct str got = problems_of("oracle", NULL);
	expect(got, "/driver: unknown driver oracle; expected one of script");
}

Test(table, good_options)
{
	cr_assert_eq(problems_of("script", "replies: [{text: a}]").size, 0);
	cr_assert_eq(problems_of("script", "replies:\n- contains: x\n  round: 2\n  attempt: 1\n"
					   "  step: a#2\n  fail: {code: overloaded}\n"
					   "- {json: {a: 1}, usage: {input_tokens: 4}}\n"
					   "- {hang: true}\n")
			     .size,
		     0);
}

Test(table, bad_options_have_a_place)
{
	expect(problems_of("script", NULL), "/options/replies");
	expect(problems_of("script", "replies: []"), "/options/replies");
	struct str got = problems_of("script", "replies:\n- text: a\n- {text: a, json: 1}\n"
					       "- {tekst: a}\n- {fail: {code: tired}}\n"
					       "- {text: a, after_ms: -1}\n- {hang: false}\n");
	expect(got,
	       "3:3 /options/replies/1: a reply must have exactly one of text, json, fail and hang");
	expect(got, "4:4 /options/replies/2");
	expect(got, "/options/replies/3/fail/code");
	expect(got, "/options/replies/4/after_ms");
	expect(got, "/options/replies/5: a reply must have exactly one of");
}
