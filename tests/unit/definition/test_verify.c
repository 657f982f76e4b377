/* definition/dialect_verify.c, verify_compile.c: `verify` on a step becomes a verification that repeats it. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/json.h"
#include "definition/graph.h"
#include "definition/tools.h"

static struct arena arena;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(verify, .init = begin, .fini = end);

static const struct json *node_of(const char *yaml)
{
	struct problems problems = { .arena = &arena };
	struct str graph;
	const struct json *json;
	struct error error;
	bool good = definition_compile(str_from_c(yaml), &tools, &arena, &graph, &problems);
	cr_assert(good, "%s", str_c(&arena, problems_text(&problems, &arena)));
	cr_assert(json_read(graph, &arena, &json, &error));
	return json_item(json_member(json, S("nodes")), 0);
}

static void refused(const char *criterion, const char *says)
{
	struct problems problems = { .arena = &arena };
	struct str graph, yaml = str_format(&arena,
					    "name: w\nsteps:\n- name: a\n  tool: echo\n  verify:\n"
					    "    criteria:\n    - %s\n",
					    criterion);
	cr_assert_not(definition_compile(yaml, &tools, &arena, &graph, &problems), "%s", criterion);
	const char *text = str_c(&arena, problems_text(&problems, &arena));
	cr_expect(strstr(text, says) != NULL, "%s", text);
	for (size_t i = 0; i < problems.count; i++)
		cr_expect(problems.at[i].line >= 3, "%s", text);
}

static struct str text_at(const struct json *object, const char *key)
{
	return json_text(json_member(object, str_from_c(key)));
}

Test(verify, a_step_with_criteria_is_repeated)
{
	const struct json *node =
		node_of("name: w\n"
			"steps:\n"
			"- name: a\n"
			"  tool: echo\n"
			"  when: 'true'\n"
			"  inputs: {n: 1}\n"
			"  verify:\n"
			"    policy: {max_correction_attempts: 7}\n"
			"    criteria:\n"
			"    - {name: one, check: output.n == 1}\n"
			"    - {name: shape, schema: {type: object}, critical: true}\n");
	const struct json *body = json_member(node, S("body"));
	const struct json *criteria = json_member(node, S("criteria"));
	cr_expect(str_equal(text_at(node, "name"), S("a")));
	cr_expect(str_equal(text_at(node, "kind"), S("verify")));
	cr_expect(str_equal(text_at(node, "repeats"), S("a_attempt")));
	cr_expect_null(json_member(node, S("target")));
	cr_expect_not_null(json_member(node, S("when")), "the condition is that of the whole");
	cr_expect_eq(body->as.list.count, 1);
	cr_expect(str_equal(text_at(json_item(body, 0), "name"), S("a_attempt")));
	cr_expect_null(json_member(json_item(body, 0), S("when")));
	cr_expect_eq(json_member(json_member(node, S("policy")), S("max_correction_attempts"))
			     ->as.integer,
		     7);
	cr_expect(str_equal(text_at(json_item(criteria, 0), "check"), S("output.n == 1")));
	cr_expect(str_equal(text_at(json_item(criteria, 1), "check"), S("true")));
	cr_expect_not_null(json_member(json_item(criteria, 1), S("schema")));
	cr_expect(json_member(json_item(criteria, 1), S("critical"))->as.boolean);
}

Test(verify, a_command_is_a_step_behind_the_attempt)
{
	const struct json *node =
		node_of("name: w\n"
			"steps:\n"
			"- name: a\n"
			"  tool: echo\n"
			"  verify:\n"
			"    criteria:\n"
			"    - {name: tests, command: make test}\n"
			"    - {name: 'no spaces', command: make lint, timeout_seconds: 9}\n");
	const struct json *body = json_member(node, S("body"));
	cr_assert_eq(body->as.list.count, 3);
	const struct json *first = json_item(body, 1), *second = json_item(body, 2);
	cr_expect(str_equal(text_at(first, "name"), S("a_check_tests")));
	cr_expect(str_equal(text_at(first, "tool"), S("shell")));
	cr_expect(str_equal(json_item(json_member(first, S("depends_on")), 0)->as.string,
			    S("a_attempt")));
	cr_expect_eq(json_member(json_member(first, S("inputs")), S("timeout_seconds"))->as.integer,
		     120);
	cr_expect(str_equal(text_at(second, "name"), S("a_check_no_spaces_2")));
	cr_expect_eq(
		json_member(json_member(second, S("inputs")), S("timeout_seconds"))->as.integer, 9);
}

Test(verify, wrong_criteria_are_refused_with_their_place)
{
	refused("{name: a}", "exactly one of check, command, schema and judge");
	refused("{name: a, check: 'true', schema: {}}", "exactly one of");
	refused("{name: a, judge: ada}", "the judge needs a question");
	refused("{name: a, schema: {type: 7}}", "is not a JSON Schema");
	refused("{name: a, check: 'steps.b.outputs'}", "unknown step b");
	refused("{name: a, check: 'output.'}", "output");
	refused("7", "must be");
	refused("{name: a, command: 7}", "must be");
}
