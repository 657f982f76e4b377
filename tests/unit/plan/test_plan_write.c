/* Plans made of their parts, and their paths. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "plan/plan.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct arena arena;
static struct error error;

static void begin(void)
{
	arena = (struct arena){ 0 };
	error = (struct error){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(plan_write, .init = begin, .fini = end);

static struct str one(const char *goal, const char *architecture, const char *title,
		      const char *step)
{
	struct str *texts = arena_array(&arena, struct str, 2);
	texts[0] = str_from_c("src/a.py");
	texts[1] = str_from_c(step);
	const struct plan_draft_task task = { .number = S("1"),
					      .title = str_from_c(title),
					      .create = { texts, 1 },
					      .steps = { texts + 1, 1 } };
	const struct plan_draft draft = { .goal = str_from_c(goal),
					  .architecture = str_from_c(architecture),
					  .tasks = &task,
					  .task_count = 1 };
	struct str markdown = S("");
	return plan_write(&draft, &arena, &markdown, &error) ? markdown : S("");
}

Test(plan_write, a_plan_reads_back)
{
	struct str markdown =
		one("Requests beyond the limit\nare refused.", "A counter.\n\nAnd a lock.", "Count",
		    "Write it:\n```py\nx = 1\n```");
	struct plan plan;
	cr_assert_gt(markdown.size, 0, "%s", error.text);
	plan_read(markdown, &arena, &plan);
	cr_assert_eq(plan.issues.count, 0);
	cr_assert(str_equal(plan.goal, S("Requests beyond the limit are refused.")));
	cr_assert(str_equal(plan.title,
			    S("Requests beyond the limit are refused Implementation Plan")));
	cr_assert(str_equal(plan.key_files.at[0], S("src/a.py")));
	cr_assert(str_equal(
		plan.tasks[0].markdown,
		S("### Task 1: Count\n\n**Files:**\n\n- Create: `src/a.py`\n\n**Steps:**\n\n"
		  "1. Write it:\n   ```py\n   x = 1\n   ```")));
}

/* Whatever a model writes into the parts, the plan has the one task. */
Test(plan_write, odd_parts_do_not_change_the_tasks)
{
	static const char *const odd[] = {
		"x",
		"```",
		"```\n### Task 9: not one",
		"a\n\n### Task 9: not one\n",
		"a\n---\nb",
		"~~~~\n**Goal:** other",
		"# X\n## Phase 1: a\n### Task 1: b",
		"> ```\nx",
		"a\r\n### Task 9: not one\r\n",
		"- ```\n\n\n### Task 9: b",
		"\xf0\x9f\x8e\xb5 \xc3\xb6 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"<!-- a\nb",
		"1. a\n1. b",
		"\\",
	};
	struct plan plan;
	for (size_t i = 0; i < COUNT(odd); i++) {
		for (size_t k = 0; k < COUNT(odd); k++) {
			struct str markdown = one(odd[k], odd[i], odd[i], odd[i]);
			cr_assert_gt(markdown.size, 0, "%s: %s", odd[i], error.text);
			plan_read(markdown, &arena, &plan);
			cr_assert_eq(plan.issues.count, 0, "%s", odd[i]);
			cr_assert_eq(plan.task_count, 1, "%s", odd[i]);
		}
	}
}

Test(plan_write, refusals)
{
	cr_assert_eq(one(" \n", "", "a", "b").size, 0);
	cr_assert_not_null(strstr(error.text, "/goal is blank"), "%s", error.text);
	cr_assert_eq(one("Implementation plan", "", "a", "b").size, 0);
	cr_assert_not_null(strstr(error.text, "no goal"), "%s", error.text);
	const struct plan_draft none = { .goal = S("x") };
	struct str markdown;
	cr_assert(!plan_write(&none, &arena, &markdown, &error));
	char *large = arena_take_text(&arena, LIMIT_PLAN_BYTES + 1);
	memset(large, 'x', LIMIT_PLAN_BYTES);
	large[LIMIT_PLAN_BYTES] = '\0';
	cr_assert_eq(one("x", "", "a", large).size, 0);
	cr_assert_not_null(strstr(error.text, "more than"), "%s", error.text);
}

static void expect_path(const char *pattern, const char *key, const char *wanted)
{
	struct str path = S("");
	bool good = plan_path(str_from_c(pattern), S("2026-11-18"), str_from_c(key), &arena, &path,
			      &error);
	cr_assert(good, "%s", error.text);
	cr_assert(str_equal(path, str_from_c(wanted)), "got " STR_FMT, STR_ARG(path));
}

Test(plan_write, paths)
{
	expect_path("docs/plans/{date}-{issue_key}.md", "BAT-12",
		    "docs/plans/2026-11-18-BAT-12.md");
	expect_path("{issue_key}/{issue_key}/{dat}.md", "1", "1/1/{dat}.md");
	expect_path("p/{issue_key}.md", "acme/site#12", "p/acme-site-12.md");
	expect_path("p/{issue_key}.md", "../../etc/passwd", "p/etc-passwd.md");
	expect_path("p/{issue_key}.md", "v1.2", "p/v1.2.md");
	expect_path("p/{issue_key}.md", "..", "p/plan.md");
	expect_path("p/{issue_key}.md", "{date}", "p/date.md");
	expect_path("p/{issue_key}.md", "\xc3\xb6", "p/plan.md");
	static const char *const wrong[] = { "", "/etc/{date}", "../{date}", "a/../b", "a/.." };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct str path;
		cr_assert(!plan_path(str_from_c(wrong[i]), S("d"), S("k"), &arena, &path, &error),
			  "%s", wrong[i]);
		cr_assert_eq(error.code, ERROR_INVALID);
	}
}
