/* plan/plan_write.c -- a plan made of its parts.
 *
 * The parts are texts of a model: a step may contain a fence that never ends, a summary a heading that
 * looks like a task.  Steps are items of a list, whose blocks end with the item.  A summary is kept as
 * it is if the plan reads back as it was given, and otherwise becomes one line, which can contain no
 * block.  plan_read() itself is the judge.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "plan/plan.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* On one line, words separated by one blank. */
static void add_line(struct buf *buf, struct str text)
{
	bool gap = false;
	text = str_trim(text);
	for (size_t i = 0; i < text.size; i++) {
		if (is_space(text.at[i])) {
			gap = true;
			continue;
		}
		if (gap)
			buf_add_char(buf, ' ');
		gap = false;
		buf_add_char(buf, text.at[i]);
	}
}

/* The first words of a goal, for the title. */
static struct str short_goal(struct str goal, struct arena *arena)
{
	enum { LONGEST = 72 };
	AUTO(buf) line = { 0 };
	add_line(&line, goal);
	struct str text = buf_str(&line);
	if (text.size > LONGEST) {
		size_t size = LONGEST;
		while (size > 0 && text.at[size] != ' ')
			size--;
		if (size == 0) {
			size = LONGEST;
			while (size > 0 && ((unsigned char)text.at[size] & 0xc0) == 0x80)
				size--;
		}
		text = str_head(text, size);
	}
	while (text.size > 0 && (text.at[text.size - 1] == '.' || text.at[text.size - 1] == ':'))
		text.size--;
	return str_copy(arena, text);
}

static void add_files(struct buf *buf, struct str word, struct str_list files)
{
	for (size_t i = 0; i < files.count; i++)
		buf_add_format(buf, "- " STR_FMT ": `" STR_FMT "`\n", STR_ARG(word),
			       STR_ARG(files.at[i]));
}

/* An item of a numbered list; its further lines are indented, so that its blocks end with it. */
static void add_step(struct buf *buf, size_t number, struct str step)
{
	struct str rest = str_trim(step), line;
	size_t begin = buf->size;
	buf_add_format(buf, "%zu. ", number);
	size_t indent = buf->size - begin;
	for (bool first = true; str_cut(&rest, '\n', &line); first = false) {
		if (line.size > 0 && line.at[line.size - 1] == '\r')
			line.size--;
		if (!first)
			buf_add_char(buf, '\n');
		if (!first && str_trim(line).size > 0)
			buf_add_format(buf, "%*s", (int)indent, "");
		buf_add(buf, line);
	}
	buf_add_char(buf, '\n');
}

static void add_task(struct buf *buf, const struct plan_draft_task *task)
{
	buf_add_format(buf, "\n### Task " STR_FMT ": ", STR_ARG(task->number));
	add_line(buf, task->title);
	buf_add(buf, S("\n\n"));
	if (task->create.count + task->modify.count > 0) {
		buf_add(buf, S("**Files:**\n\n"));
		add_files(buf, S("Create"), task->create);
		add_files(buf, S("Modify"), task->modify);
		buf_add_char(buf, '\n');
	}
	buf_add(buf, S("**Steps:**\n\n"));
	for (size_t i = 0; i < task->steps.count; i++)
		add_step(buf, i + 1, task->steps.at[i]);
}

static void add_header(struct buf *buf, const struct plan_draft *draft, bool one_line,
		       struct arena *arena)
{
	buf_add_format(buf, "# " STR_FMT " Implementation Plan\n\n**Goal:** ",
		       STR_ARG(short_goal(draft->goal, arena)));
	add_line(buf, draft->goal);
	if (str_trim(draft->architecture).size > 0) {
		buf_add(buf, S("\n\n**Architecture:** "));
		if (one_line)
			add_line(buf, draft->architecture);
		else
			buf_add(buf, str_trim(draft->architecture));
	}
	if (draft->tech_stack.count > 0)
		buf_add(buf, S("\n\n**Tech Stack:** "));
	for (size_t i = 0; i < draft->tech_stack.count; i++) {
		buf_add(buf, i > 0 ? S(", ") : S(""));
		add_line(buf, draft->tech_stack.at[i]);
	}
	buf_add(buf,
		S("\n\n> Carry out the tasks in order. A task is done when its steps are done, "
		  "the tests of the repository pass, and its change is complete by itself.\n"
		  "> Change no files that the task does not need.\n\n---\n"));
}

static struct str render(const struct plan_draft *draft, bool one_line, struct arena *arena)
{
	AUTO(buf) buf = buf_limited(LIMIT_PLAN_BYTES);
	add_header(&buf, draft, one_line, arena);
	for (size_t i = 0; i < draft->task_count; i++)
		add_task(&buf, &draft->tasks[i]);
	return buf.full ? S("") : str_copy(arena, buf_str(&buf));
}

/* Whether the text reads back as the draft. */
static bool is_faithful(const struct plan_draft *draft, struct str markdown, struct arena *arena,
			struct plan *out_plan)
{
	plan_read(markdown, arena, out_plan);
	if (out_plan->issues.count > 0 || out_plan->task_count != draft->task_count)
		return false;
	for (size_t i = 0; i < draft->task_count; i++) {
		if (!str_equal(out_plan->tasks[i].number, draft->tasks[i].number))
			return false;
	}
	return true;
}

bool plan_write(const struct plan_draft *draft, struct arena *arena, struct str *out_markdown,
		struct error *error)
{
	struct plan plan;
	if (str_trim(draft->goal).size == 0)
		return fail(error, ERROR_INVALID,
			    "inputs: /goal is blank; say what is true when the "
			    "plan is done");
	if (draft->task_count == 0)
		return fail(error, ERROR_INVALID,
			    "inputs: /tasks is empty; a plan has at least one task");
	for (int one_line = 0; one_line < 2; one_line++) {
		struct str markdown = render(draft, one_line == 1, arena);
		if (markdown.size == 0)
			return fail(error, ERROR_INVALID,
				    "the plan has more than %d bytes; shorten its steps",
				    LIMIT_PLAN_BYTES);
		if (is_faithful(draft, markdown, arena, &plan)) {
			*out_markdown = markdown;
			return true;
		}
	}
	return fail(error, ERROR_INVALID, "inputs: the plan cannot be written: " STR_FMT,
		    STR_ARG(plan.issues.count > 0
				    ? plan.issues.at[0]
				    : S("its tasks do not read back as they were given")));
}
