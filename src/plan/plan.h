/* plan/plan.h -- implementation plans in Markdown: what a plan says, what is wrong with it, and a plan
 * made of its parts.
 *
 *	# Rate limits Implementation Plan
 *	**Goal:** Requests beyond the limit are refused.
 *	## Phase 1: The counter
 *	### Task 1.1: Count requests
 *	- Create: `src/counter.py`
 *
 * Pure.  Lines inside code blocks say nothing about the plan; md4c finds them.  Everything else is
 * decided line by line, so the work grows with the size of the text, which is at most LIMIT_PLAN_BYTES.
 * Results point into the text and into the arena.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/error.h"
#include "base/str.h"

struct plan_task {
	struct str number; /* "2" or "2.1" */
	struct str title;
	struct str phase;    /* "Phase 1: The counter"; empty = the task is in no phase */
	struct str markdown; /* from its heading to the next task, phase or chapter */
};

enum plan_severity {
	PLAN_SEVERITY_NONE,     /* no issue */
	PLAN_SEVERITY_MAJOR,    /* one */
	PLAN_SEVERITY_CRITICAL, /* more */
};

struct plan {
	struct str title;          /* the first heading; empty = none */
	struct str goal;           /* from **Goal:**, else from the title, else PLAN_NO_GOAL */
	struct str header;         /* everything before the first phase, rule (---) or task */
	struct str_list key_files; /* to create, modify, test, edit, update or delete; each once */
	const struct plan_task *tasks;
	size_t task_count; /* without task headings: the whole text is one task */
	struct str_list issues;
	enum plan_severity severity;
};

#define PLAN_NO_GOAL "Implementation plan"

/* Never fails: what is wrong with the text is in `issues`. */
void plan_read(struct str markdown, struct arena *arena, struct plan *out_plan);

/* What makes a text look like a plan. */
struct plan_likeness {
	size_t characters, markers, tasks;
	bool is_plan;
};
enum { PLAN_MARKERS = 10 };
struct plan_likeness plan_likeness(struct str markdown, struct arena *arena);
/* The text inside of a code block that is the whole of `text`, as models often wrap documents; else
 * `text` itself. */
struct str plan_unwrap(struct str text);

/* ---- making a plan --------------------------------------------------------------------- */

struct plan_draft_task {
	struct str number, title;
	struct str_list create, modify, steps;
};

struct plan_draft {
	struct str goal, architecture;
	struct str_list tech_stack;
	const struct plan_draft_task *tasks;
	size_t task_count;
};

/* Markdown that plan_read() finds nothing wrong with, and in which it finds these tasks.  Fails with
 * INVALID when the draft cannot give that: a blank goal, or too much text. */
MUST_CHECK bool plan_write(const struct plan_draft *draft, struct arena *arena,
			   struct str *out_markdown, struct error *error);

/* ---- where plans are ------------------------------------------------------------------- */

/* `pattern` with {date} and {issue_key} replaced.  What a path cannot contain becomes "-" in the key.
 * Fails with INVALID when the result is no path inside of a folder. */
MUST_CHECK bool plan_path(struct str pattern, struct str date, struct str issue_key,
			  struct arena *arena, struct str *out_path, struct error *error);

#endif
