/* write_plan, plan_check and design_read. */
#include "tool_rig.h"

#define PLAN_INPUTS                                                                                         \
	"{\"goal\": \"add() adds\", \"architecture_summary\": \"One function.\", \"tech_stack\": [\"C\"], " \
	"\"tasks\": [{\"number\": \"1\", \"title\": \"Fix add\", \"files_to_modify\": [\"src/add.c\"], "    \
	"\"steps\": [\"Use +.\", \"Run make test.\"]}], \"file_path\": \"docs/plans/a.md\"}"

static struct rig the_rig, *rig = &the_rig;

static void setup(void)
{
	rig_open(rig);
}

static void teardown(void)
{
	rig_close(rig);
}

TestSuite(plan_tools, .init = setup, .fini = teardown);

static const struct json *output(void)
{
	return rig_json(rig, str_c(&rig->arena, rig->output));
}

static const struct json *check(const char *inputs)
{
	struct str text = rig_compute(rig, "plan_check", inputs);
	cr_assert_gt(text.size, 0, "%s", rig->error.text);
	return rig_json(rig, str_c(&rig->arena, text));
}

static struct str text_of(const struct json *object, const char *key)
{
	const struct json *value = json_member(object, str_from_c(key));
	cr_assert(value != NULL && value->kind == JSON_STRING, "%s", key);
	return value->as.string;
}

static bool is_valid(const struct json *object)
{
	return json_member(object, S("valid"))->as.boolean;
}

Test(plan_tools, a_written_plan_is_a_file_and_passes_the_check)
{
	cr_assert(rig_call(rig, "write_plan", PLAN_INPUTS), "%s", rig->error.text);
	struct str markdown = text_of(output(), "markdown");
	cr_assert(str_equal(text_of(output(), "path"), S("docs/plans/a.md")));
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"docs/plans/a.md\"}"));
	cr_assert(str_equal(text_of(output(), "content"), markdown));
	struct json text = { .kind = JSON_STRING, .as.string = markdown };
	struct json_member member = { .key = S("markdown"), .value = text };
	struct json object = { .kind = JSON_OBJECT, .as.object = { &member, 1 } };
	const struct json *checked = check(str_c(&rig->arena, json_print(&rig->arena, &object)));
	cr_assert(is_valid(checked));
	cr_assert(str_equal(text_of(checked, "goal"), S("add() adds")));
	cr_assert(str_equal(text_of(checked, "source"), S("markdown")));
	cr_assert(str_equal(json_item(json_member(checked, S("key_files")), 0)->as.string,
			    S("src/add.c")));
	cr_assert_eq(json_member(checked, S("total_tasks"))->as.integer, 1);
}

Test(plan_tools, bad_drafts_are_refused)
{
	static const char *const wrong[][2] = {
		{ "{}", "goal" },
		{ "{\"goal\": \"g\", \"tasks\": [], \"file_path\": \"a\"}", "tasks" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"0\", \"title\": \"t\", \"steps\": [\"s\"]}], "
		  "\"file_path\": \"a\"}",
		  "number" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"1.2.3\", \"title\": \"t\", \"steps\": [\"s\"]}], "
		  "\"file_path\": \"a\"}",
		  "number" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"1\", \"title\": \"t\", \"steps\": []}], "
		  "\"file_path\": \"a\"}",
		  "steps" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"1\", \"title\": \"t\", \"steps\": [\" \"]}], "
		  "\"file_path\": \"a\"}",
		  "step 1 is blank" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"1\", \"title\": \"t\", \"steps\": [\"s\"]}], "
		  "\"file_path\": \"a/../../b\"}",
		  "\"..\"" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"1\", \"title\": \"t\", \"steps\": [\"s\"]}, "
		  "{\"number\": \"1\", \"title\": \"t\", \"steps\": [\"s\"]}], \"file_path\": \"a\"}",
		  "two tasks have the number 1" },
		{ "{\"goal\": \" \", \"tasks\": [{\"number\": \"1\", \"title\": \"t\", \"steps\": [\"s\"]}], "
		  "\"file_path\": \"a\"}",
		  "goal is blank" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"1\", \"title\": \"t\", \"steps\": [\"s\"], "
		  "\"files_to_create\": [\"a`b\"]}], \"file_path\": \"a\"}",
		  "files_to_create" },
		{ "{\"goal\": \"g\", \"tasks\": [{\"number\": \"1\", \"title\": \"t\", \"steps\": [\"s\"]}], "
		  "\"file_path\": \"/etc/plan.md\"}",
		  "/etc/plan.md" },
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		bool called = rig_call(rig, "write_plan", wrong[i][0]);
		cr_assert(!called || rig->output.size == 0, "%s", wrong[i][0]);
		cr_assert_not_null(strstr(rig->error.text, wrong[i][1]), "%s: %s", wrong[i][1],
				   rig->error.text);
	}
}

#define REPLY                                                                                                   \
	"Here it is:\\n\\n# Adding Implementation Plan\\n\\n**Goal:** add() adds\\n\\n### Task 1: Fix it\\n\\n" \
	"- Modify: `src/add.c`\\n\\nReplace the minus sign by a plus sign, and run the tests again. Then look " \
	"for other functions with the same mistake, and correct them in the same way."

Test(plan_tools, the_reply_is_used_only_without_a_plan)
{
	const struct json *found = check("{\"markdown\": null, \"fallback\": \"" REPLY "\"}");
	cr_assert(is_valid(found));
	cr_assert(str_equal(text_of(found, "source"), S("fallback")));
	cr_assert(str_equal(text_of(found, "goal"), S("add() adds")));
	found = check("{\"markdown\": \" \\n\", \"fallback\": \"```markdown\\n" REPLY "\\n```\"}");
	cr_assert(is_valid(found));
	/* A bad plan is not replaced by a good reply. */
	found = check("{\"markdown\": \"nothing\", \"fallback\": \"" REPLY "\"}");
	cr_assert(!is_valid(found));
	cr_assert(str_equal(text_of(found, "severity"), S("critical")));
	cr_assert(str_equal(text_of(found, "markdown"), S("nothing")));
	cr_assert_eq(json_member(found, S("issues"))->as.list.count, 3);
}

Test(plan_tools, without_a_plan_there_is_a_diagnostic)
{
	const struct json *found =
		check("{\"fallback\": \"I could not do it.\", \"path\": \"a.md\"}");
	cr_assert(!is_valid(found));
	cr_assert(str_equal(text_of(found, "source"), S("none")));
	cr_assert(str_equal(text_of(found, "severity"), S("critical")));
	cr_assert(str_equal(text_of(found, "path"), S("a.md")));
	cr_assert(str_ends(
		text_of(found, "diagnostic"),
		S("18 characters (at least 100), 0 of 10 marks of a plan (at least 3), 0 task "
		  "headings such as \"### Task 1: Title\" (at least 1)")));
	cr_assert_eq(json_member(found, S("total_tasks"))->as.integer, 0);
	found = check("{}");
	cr_assert(str_ends(text_of(found, "diagnostic"), S("there is no other text")));
	cr_assert_eq(rig_compute(rig, "plan_check", "{\"markdown\": 1}").size, 0);
}

static void expect_design(const char *inputs, const char *markdown)
{
	struct str text = rig_compute(rig, "design_read", inputs);
	cr_assert_gt(text.size, 0, "%s", rig->error.text);
	struct str got = text_of(rig_json(rig, str_c(&rig->arena, text)), "markdown");
	cr_assert(str_equal(got, str_from_c(markdown)), "got " STR_FMT, STR_ARG(got));
}

Test(plan_tools, every_shape_of_a_design)
{
	expect_design("{\"design\": {\"content\": \"# A\", \"source\": \"file\"}}", "# A");
	expect_design("{\"design\": {\"content\": \"# A\"}}", "# A");
	expect_design("{\"design\": \"# A\"}", "# A");
	expect_design("{\"design\": null}", "");
	expect_design("{}", "");
	expect_design("{\"design\": {}}", "");
	expect_design(
		"{\"design\": {\"title\": \"T\", \"goal\": \"G\", \"architecture\": \"A\", "
		"\"tech_stack\": [\"C\"], \"components\": [\"x\", \"y\"], \"raw_content\": \"# Raw\"}}",
		"# Raw");
	expect_design(
		"{\"design\": {\"title\": \"T\", \"goal\": \"G\", \"architecture\": \"A\", "
		"\"tech_stack\": [], \"components\": [\"x\", \"y\"], \"conventions\": \"none\", "
		"\"raw_content\": \"\"}}",
		"# T\n\n## Goal\n\nG\n\n## Architecture\n\nA\n\n## Components\n\n- x\n- y\n\n"
		"## Conventions\n\nnone\n");
	static const char *const wrong[] = {
		"{\"design\": 1}", "{\"design\": []}", "{\"design\": {\"content\": 1}}",
		"{\"design\": {\"title\": \"T\", \"content\": \"x\"}}"
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		cr_assert_eq(rig_compute(rig, "design_read", wrong[i]).size, 0, "%s", wrong[i]);
		cr_assert_eq(rig->error.code, ERROR_INVALID);
	}
}
