/* Plans under libFuzzer: every text is read, twice to the same result; everything that is found is in
 * the text; a draft made of the text reads back.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_within(struct str part, struct str whole)
{
	return part.size == 0 ||
	       ((uintptr_t)part.at >= (uintptr_t)whole.at &&
		(uintptr_t)part.at + part.size <= (uintptr_t)whole.at + whole.size);
}

static void check_plan(struct str text, const struct plan *plan)
{
	require(plan->task_count <= LIMIT_PLAN_TASKS && plan->key_files.count <= LIMIT_PLAN_FILES);
	require((plan->severity == PLAN_SEVERITY_NONE) == (plan->issues.count == 0));
	require(is_within(plan->header, text) && plan->goal.size > 0);
	const char *end = text.at;
	for (size_t i = 0; i < plan->task_count; i++) {
		require(is_within(plan->tasks[i].markdown, text));
		require(plan->tasks[i].number.size > 0 && plan->tasks[i].markdown.at >= end);
		end = plan->tasks[i].markdown.at + plan->tasks[i].markdown.size;
	}
	for (size_t i = 0; i < plan->key_files.count; i++)
		require(plan->key_files.at[i].size > 0 && is_within(plan->key_files.at[i], text));
}

static void check_draft(struct str text, struct arena *arena)
{
	const struct plan_draft_task task = { .number = S("1"),
					      .title = S("a"),
					      .steps = { &text, 1 } };
	const struct plan_draft draft = {
		.goal = S("A goal"), .architecture = text, .tasks = &task, .task_count = 1
	};
	struct str markdown;
	struct error error = { 0 };
	struct plan plan;
	if (memchr(text.at, '\0', text.size) != NULL || text.size > LIMIT_PLAN_BYTES / 8)
		return;
	bool written = plan_write(&draft, arena, &markdown, &error);
	require(written);
	plan_read(markdown, arena, &plan);
	require(plan.issues.count == 0 && plan.task_count == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	struct str text = { (const char *)data, size };
	struct plan plan, again;
	if (size == 0)
		return 0;
	plan_read(text, &arena, &plan);
	check_plan(text, &plan);
	plan_read(text, &arena, &again);
	require(plan.task_count == again.task_count && plan.issues.count == again.issues.count &&
		str_equal(plan.goal, again.goal));
	struct plan_likeness likeness = plan_likeness(text, &arena);
	require(!likeness.is_plan || (likeness.tasks > 0 && plan.task_count > 0));
	require(is_within(plan_unwrap(text), text));
	check_draft(text, &arena);
	return 0;
}
