/* What a plan says, rule by rule, and odd plans. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "plan/plan.h"

#define LONG                                                                                          \
	"\nThis sentence is repeated to reach the size of a plan, which has two hundred characters. " \
	"This sentence is repeated to reach the size of a plan, which has two hundred characters. "   \
	"This sentence is repeated to reach the size of a plan.\n"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct arena arena;
static struct plan plan;

static void begin(void)
{
	arena = (struct arena){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(plan_read, .init = begin, .fini = end);

static void take(const char *text)
{
	plan_read(str_from_c(text), &arena, &plan);
}

static void expect(struct str got, const char *wanted)
{
	cr_assert(str_equal(got, str_from_c(wanted)), "got \"" STR_FMT "\", wanted \"%s\"",
		  STR_ARG(got), wanted);
}

static void expect_goal(const char *text, const char *goal)
{
	take(text);
	expect(plan.goal, goal);
}

static void expect_tasks(const char *text, size_t count)
{
	take(text);
	cr_assert_eq(plan.task_count, count, "%zu tasks in %s", plan.task_count, text);
}

Test(plan_read, a_whole_plan)
{
	take("# Rate limits Implementation Plan\n\n"
	     "**Goal:** Refuse requests beyond\nthe limit.\n\n"
	     "**Architecture:** A counter.\n\n---\n\n"
	     "## Phase 1: The counter\n\nIt counts.\n\n"
	     "### Task 1.1: Count requests\n\n- Create: `src/counter.py`\n- Test: `tests/test_counter.py`\n\n"
	     "1. Write it.\n\n"
	     "### Task 1.2: Reset\n\n- Modify: `src/counter.py`\n\n"
	     "## Phase 2: The limit\n\n### Task 2.1: Refuse\n- Edit: `src/app.py`\n- Delete: `old.py`\n"
	     "\n## Notes\n\nNothing.\n");
	expect(plan.title, "Rate limits Implementation Plan");
	expect(plan.goal, "Refuse requests beyond the limit.");
	expect(plan.header,
	       "# Rate limits Implementation Plan\n\n**Goal:** Refuse requests beyond\n"
	       "the limit.\n\n**Architecture:** A counter.");
	cr_assert_eq(plan.issues.count, 0);
	cr_assert_eq(plan.severity, PLAN_SEVERITY_NONE);
	cr_assert_eq(plan.key_files.count, 4);
	expect(plan.key_files.at[0], "src/counter.py");
	expect(plan.key_files.at[1], "tests/test_counter.py");
	expect(plan.key_files.at[2], "src/app.py");
	expect(plan.key_files.at[3], "old.py");
	cr_assert_eq(plan.task_count, 3);
	expect(plan.tasks[0].number, "1.1");
	expect(plan.tasks[0].title, "Count requests");
	expect(plan.tasks[0].phase, "Phase 1: The counter");
	expect(plan.tasks[0].markdown,
	       "### Task 1.1: Count requests\n\n- Create: `src/counter.py`\n- Test: "
	       "`tests/test_counter.py`\n\n1. Write it.");
	expect(plan.tasks[1].phase, "Phase 1: The counter");
	expect(plan.tasks[2].phase, "Phase 2: The limit");
	expect(plan.tasks[2].markdown,
	       "### Task 2.1: Refuse\n- Edit: `src/app.py`\n- Delete: `old.py`");
}

Test(plan_read, goals)
{
	expect_goal("**Goal:** one line", "one line");
	expect_goal("**Goal:** over\n  several \r\nlines\n\nnot this", "over several lines");
	expect_goal("**Goal:**\non the next line\n", "on the next line");
	expect_goal("**Goal:** until a heading\n# X", "until a heading");
	expect_goal("**Goal:** until bold\n**Architecture:** y", "until bold");
	expect_goal("**Goal:** first\n\n**Goal:** second", "first");
	expect_goal("- **Goal:** in a list", "in a list");
	expect_goal("**Goal:** with **bold** words", "with **bold** words");
	expect_goal("```\n**Goal:** in code\n```\n**Goal:** outside", "outside");
	expect_goal("# Login Implementation Plan\n", "Implement Login");
	expect_goal("# Implementation Plan: Login\n", "Implement Login");
	expect_goal("# Login implementation plan", "Implement Login");
	expect_goal("## Not a title\n# Login\n", "Implement Login");
	expect_goal("# Implementation Plan\n", "Implementation plan");
	expect_goal("", "Implementation plan");
	expect_goal("#Login\n", "Implementation plan");
	expect_goal("**Goal:**\n\n# Login", "Implement Login");
	expect_goal("**Goal:** ", "Implementation plan");
}

Test(plan_read, task_headings)
{
	expect_tasks("### Task 1: a\n### Task 2: b\n### Task 10: c", 3);
	expect_tasks("### Task 1.1: a\r\n### Task 1.2: b\r\n", 2);
	expect_tasks("### Task 1:\n### Task 0: zero\n", 2);
	/* None of these is one; a text without any is one task. */
	static const char *const none[] = {
		"### Task: a",
		"### Task 1 a",
		"### Task 1.2.3: a",
		"### Task 1.: a",
		"### Task .1: a",
		"### Task a: b",
		"## Task 1: a",
		"#### Task 1: a",
		" ### Task 1: a",
		"###Task 1: a",
		"### task 1: a",
		"###  Task 1: a",
		"> ### Task 1: a",
		"- ### Task 1: a",
		"text ### Task 1: a",
		"\t### Task 1: a",
		"```\n### Task 1: a\n```",
		"~~~\n### Task 1: a\n~~~\n",
		"````md\n```\n### Task 1: a\n```\n### Task 2: b\n````",
		"```python\n### Task 1: a\n", /* never closed */
	};
	for (size_t i = 0; i < COUNT(none); i++) {
		expect_tasks(none[i], 1);
		expect(plan.tasks[0].number, "1");
		expect(plan.tasks[0].markdown, str_c(&arena, str_trim(str_from_c(none[i]))));
		cr_assert_geq(plan.issues.count, 1);
	}
	expect_tasks("", 0);
	expect_tasks(" \n\n", 0);
}

Test(plan_read, code_blocks_end_where_markdown_ends_them)
{
	/* A fence inside of an item ends with the item. */
	expect_tasks("1. Do\n   ```sh\n   make\n### Task 1: a\n### Task 2: b\n", 2);
	/* A shorter or other fence does not end one; an info string does not either. */
	expect_tasks("````\n```\n~~~\n```` x\n### Task 1: a\n````\n### Task 2: b\n### Task 3: c",
		     2);
	/* Backticks inside of a line are no fence, nor is a fence with backticks behind it. */
	expect_tasks("``` a ` b\n### Task 1: a\n### Task 2: b", 2);
	expect_tasks("`x ``` y`\n### Task 1: a\n### Task 2: b", 2);
	/* Four blanks do not make a fence, but in a list they do. */
	expect_tasks("    ```\n### Task 1: a\n    ```\n### Task 2: b", 2);
	/* HTML does not hide headings. */
	expect_tasks("<details>\n### Task 1: a\n</details>\n<!--\n### Task 2: b\n-->", 2);
	/* A quotation that stops ends its code. */
	expect_tasks("> ```\n> x\n### Task 1: a\n### Task 2: b", 2);
	/* Fences far behind the beginning of a long line are text. */
	AUTO(buf) text = { 0 };
	for (int i = 0; i < 50; i++)
		buf_add(&text, S("long words "));
	buf_add(&text, S("``` x\n### Task 1: a\n### Task 2: b\n"));
	plan_read(buf_str(&text), &arena, &plan);
	cr_assert_eq(plan.task_count, 2);
}

Test(plan_read, key_files)
{
	take("Create: `a`\n- Modify:`b`\n* **Test:** `no`\nTest: `a`\nUpdate:\t`c d`\nEdit: none\n"
	     "Recreate: `no`\nPreTest: `no`\ncreate: `no`\nDelete: `` \nDelete: `d`, Create: `e`\n"
	     "```\nCreate: `code`\n```\n    - Create: `indented`\nCreate: ` `\nCreate: `open\n"
	     "Modify: `src/x.py:10-20`\n");
	static const char *const wanted[] = { "a", "b",        "c d",           "d",
					      "e", "indented", "src/x.py:10-20" };
	cr_assert_eq(plan.key_files.count, COUNT(wanted), "%zu", plan.key_files.count);
	for (size_t i = 0; i < COUNT(wanted); i++)
		expect(plan.key_files.at[i], wanted[i]);
}

Test(plan_read, headers)
{
	take("# A\nx\n\n---\n## Phase 1: b\n### Task 1: c");
	expect(plan.header, "# A\nx");
	take("# A\nx\n## Phase 1: b\n---\n");
	expect(plan.header, "# A\nx");
	take("# A\n### Task 1: b\n---\n");
	expect(plan.header, "# A");
	take("# A\n```\n---\n```\ny\n---");
	expect(plan.header, "# A\n```\n---\n```\ny");
	take("---\n# A\n");
	expect(plan.header, "");
	take("# A\n\nwithout an end\n");
	expect(plan.header, "# A\n\nwithout an end");
	take("# A\n----\n- ---\n---  \n");
	expect(plan.header, "# A\n----\n- ---");
}

static void expect_issues(const char *text, size_t count, enum plan_severity severity)
{
	take(text);
	cr_assert_eq(plan.issues.count, count, "%zu issues of %s", plan.issues.count, text);
	cr_assert_eq(plan.severity, severity);
}

Test(plan_read, issues)
{
	expect_issues("**Goal:** x\n### Task 1: a" LONG, 0, PLAN_SEVERITY_NONE);
	expect_issues("# X\n### Task 1: a" LONG, 0, PLAN_SEVERITY_NONE);
	expect_issues("**Goal:** x\n### Task 1: a", 1, PLAN_SEVERITY_MAJOR);
	expect_issues("**Goal:** x\n" LONG, 1, PLAN_SEVERITY_MAJOR);
	expect_issues("### Task 1: a" LONG, 1, PLAN_SEVERITY_MAJOR);
	expect_issues("**Goal:** implementation plan\n### Task 1: a" LONG, 1, PLAN_SEVERITY_MAJOR);
	expect_issues("### Task 1: a", 2, PLAN_SEVERITY_CRITICAL);
	expect_issues("", 3, PLAN_SEVERITY_CRITICAL);
}

Test(plan_read, characters_are_counted_not_bytes)
{
	AUTO(buf) text = { 0 };
	const struct str start = S("# X\n### Task 1: a\n");
	buf_add(&text, start);
	for (size_t i = start.size; i < 199; i++)
		buf_add(&text, S("\xc3\xb6"));
	plan_read(buf_str(&text), &arena, &plan);
	cr_assert_eq(plan.issues.count, 1);
	buf_add(&text, S("\xc3\xb6 \n \n"));
	plan_read(buf_str(&text), &arena, &plan);
	cr_assert_eq(plan.issues.count, 0);
}

Test(plan_read, limits)
{
	AUTO(buf) text = { 0 };
	for (int i = 1; i <= LIMIT_PLAN_TASKS + 1; i++)
		buf_add_format(&text, "### Task %d: a\n", i);
	plan_read(buf_str(&text), &arena, &plan);
	cr_assert_eq(plan.task_count, LIMIT_PLAN_TASKS);
	cr_assert_eq(plan.issues.count, 2); /* and no goal */
	buf_clear(&text);
	for (int i = 0; i <= LIMIT_PLAN_FILES; i++)
		buf_add_format(&text, "Create: `%d`\n", i);
	buf_add(&text, S("**Goal:** x\n### Task 1: a"));
	plan_read(buf_str(&text), &arena, &plan);
	cr_assert_eq(plan.key_files.count, LIMIT_PLAN_FILES);
	cr_assert_eq(plan.issues.count, 1);
	while (text.size <= LIMIT_PLAN_BYTES)
		buf_add(&text, S("more and more "));
	plan_read(buf_str(&text), &arena, &plan);
	cr_assert_eq(plan.issues.count, 1);
	cr_assert_eq(plan.task_count, 0);
	cr_assert(!plan_likeness(buf_str(&text), &arena).is_plan);
}

/* Each of these is as large as a plan can be; a quadratic parser would need minutes. */
Test(plan_read, hostile_texts_take_no_longer_than_others, .timeout = 60)
{
	static const char *const pieces[] = {
		"- ",       "> ",     "[",     "![",      "*a_",       "`",
		"`` ` ",    "a\n\n",  "1. ",   "<a ",     "&amp",      "\\",
		"[a]: b\n", "\t- ",   "* * ",  "]()",     "Create: `", "**Goal:**\n",
		"\r",       "<!--\n", "~~~\n", "```\n> ", "#",         "| a |\n|---|\n"
	};
	for (size_t i = 0; i < COUNT(pieces); i++) {
		AUTO(buf) text = buf_limited(LIMIT_PLAN_BYTES);
		while (text.size < LIMIT_PLAN_BYTES / 2)
			buf_add(&text, str_from_c(pieces[i]));
		while (!text.full)
			buf_add(&text, S("\n"));
		plan_read(buf_str(&text), &arena, &plan);
		plan_likeness(buf_str(&text), &arena);
		arena_reset(&arena);
	}
	/* Nested lists, each line deeper than the one before. */
	AUTO(buf) text = buf_limited(LIMIT_PLAN_BYTES);
	for (int depth = 0; depth < 100000 && !text.full; depth++)
		buf_add_format(&text, "%*s- x\n", depth % 700, "");
	plan_read(buf_str(&text), &arena, &plan);
}

Test(plan_read, likeness)
{
	struct plan_likeness found;
	found = plan_likeness(S("# X Implementation Plan\n\n**Goal:** y\n\n### Task 1: z\n" LONG),
			      &arena);
	cr_assert(found.is_plan);
	cr_assert_eq(found.markers, 4);
	cr_assert_eq(found.tasks, 1);
	cr_assert(!plan_likeness(S("# X\n**Goal:** y\n### Task 1: z\n"), &arena).is_plan);
	cr_assert(!plan_likeness(S("# X\n**Goal:** y\n## Phase 1: z\n" LONG), &arena).is_plan);
	cr_assert(!plan_likeness(S("### Task 1: z\n" LONG), &arena).is_plan);
	cr_assert(!plan_likeness(S("```\n# X\n**Goal:** y\n### Task 1: z\n" LONG "```"), &arena)
			   .is_plan);
	cr_assert(!plan_likeness(S(""), &arena).is_plan);
}

Test(plan_read, a_wrapped_text_is_unwrapped)
{
	expect(plan_unwrap(S("\n```markdown\n# A\n```sh\nx\n```\nb\n```\n ")),
	       "# A\n```sh\nx\n```\nb\n");
	expect(plan_unwrap(S("````md\n# A\n````")), "# A\n");
	static const char *const kept[] = { "",
					    "# A",
					    "```python\nx\n```",
					    "```markdown\n# A\n``",
					    "```markdown",
					    "```markdown\n# A\n```\nand more",
					    "````md\nx\n```" };
	for (size_t i = 0; i < COUNT(kept); i++)
		expect(plan_unwrap(str_from_c(kept[i])), kept[i]);
}
