/* tool/tool_plan.c -- plan_check and design_read: plans and designs as recorded values.
 *
 * Both are pure.  plan_check never fails on a bad plan: its issues are what the architect gets to read
 * in the next round, so they are outputs.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "contract/pipeline_v1_types.h"
#include "contract/run_plan_types.h"
#include "plan/plan.h"
#include "tool/tool_context.h"

/* ---- plan_check ---------------------------------------------------------------------- */

static enum pipeline_severity severity_of(enum plan_severity severity)
{
	switch (severity) {
	case PLAN_SEVERITY_NONE:
		return PIPELINE_SEVERITY_NONE;
	case PLAN_SEVERITY_MAJOR:
		return PIPELINE_SEVERITY_MAJOR;
	case PLAN_SEVERITY_CRITICAL:
		break;
	}
	return PIPELINE_SEVERITY_CRITICAL;
}

static bool is_given(struct str text)
{
	return str_trim(text).size > 0;
}

static struct str why_no_plan(struct str fallback, struct arena *arena)
{
	if (!is_given(fallback))
		return S("no plan: write_plan was not called, and there is no other text");
	struct plan_likeness found = plan_likeness(fallback, arena);
	if (fallback.size > LIMIT_PLAN_BYTES)
		return str_format(
			arena,
			"no plan: write_plan was not called, and the reply has %zu bytes, "
			"more than the %d of a plan",
			fallback.size, LIMIT_PLAN_BYTES);
	return str_format(
		arena,
		"no plan: write_plan was not called, and the reply does not look like a plan: "
		"%zu characters (at least 100), %zu of %d marks of a plan (at least 3), "
		"%zu task headings such as \"### Task 1: Title\" (at least 1)",
		found.characters, found.markers, PLAN_MARKERS, found.tasks);
}

static void set_tasks(struct run_plan_check_outputs *outputs, const struct plan *plan,
		      struct arena *arena)
{
	struct run_plan_task *tasks = arena_array(arena, struct run_plan_task, plan->task_count);
	for (size_t i = 0; i < plan->task_count; i++) {
		SET(&tasks[i], number, plan->tasks[i].number);
		SET(&tasks[i], title, plan->tasks[i].title);
		if (plan->tasks[i].phase.size > 0)
			SET(&tasks[i], phase, plan->tasks[i].phase);
		SET(&tasks[i], markdown, plan->tasks[i].markdown);
	}
	outputs->tasks.at = tasks;
	outputs->tasks.count = plan->task_count;
	outputs->is.tasks = GIVEN;
	SET(outputs, total_tasks, (int64_t)plan->task_count);
}

static void set_none(struct run_plan_check_outputs *outputs, struct str why, struct arena *arena)
{
	struct str *issue = arena_new(arena, struct str);
	*issue = why;
	outputs->issues.at = issue;
	outputs->issues.count = 1;
	outputs->is.issues = GIVEN;
	SET(outputs, severity, PIPELINE_SEVERITY_CRITICAL);
	SET(outputs, diagnostic, why);
	SET(outputs, source, RUN_PLAN_SOURCE_NONE);
}

static void set_plan(struct run_plan_check_outputs *outputs, struct str markdown,
		     struct arena *arena)
{
	struct plan plan;
	plan_read(markdown, arena, &plan);
	SET(outputs, valid, plan.issues.count == 0);
	outputs->issues.at = plan.issues.at;
	outputs->issues.count = plan.issues.count;
	outputs->is.issues = GIVEN;
	outputs->key_files.at = plan.key_files.at;
	outputs->key_files.count = plan.key_files.count;
	outputs->is.key_files = GIVEN;
	SET(outputs, severity, severity_of(plan.severity));
	SET(outputs, goal, plan.goal);
	SET(outputs, header, plan.header);
	/* A text that is too large is not repeated: the output could become too large as well. */
	SET(outputs, markdown, markdown.size > LIMIT_PLAN_BYTES ? S("") : markdown);
	set_tasks(outputs, &plan, arena);
}

static bool check_compute(const struct json *inputs, struct arena *arena,
			  const struct json **out_output, struct error *error)
{
	const struct run_plan_check_inputs *given =
		tool_context_inputs(run_plan_check_inputs_type(), inputs, arena, error);
	if (given == NULL)
		return false;
	struct run_plan_check_outputs *outputs = run_plan_check_outputs_new(arena);
	struct plan none = { .goal = S(PLAN_NO_GOAL) };
	SET(outputs, valid, false);
	SET(outputs, goal, none.goal);
	SET(outputs, header, S(""));
	SET(outputs, markdown, S(""));
	outputs->is.key_files = GIVEN;
	set_tasks(outputs, &none, arena);
	if (is_given(given->path))
		SET(outputs, path, given->path);
	struct str fallback = plan_unwrap(given->fallback);
	if (is_given(given->markdown)) {
		SET(outputs, source, RUN_PLAN_SOURCE_MARKDOWN);
		set_plan(outputs, given->markdown, arena);
	} else if (plan_likeness(fallback, arena).is_plan) {
		SET(outputs, source, RUN_PLAN_SOURCE_FALLBACK);
		set_plan(outputs, fallback, arena);
	} else {
		set_none(outputs, why_no_plan(fallback, arena), arena);
	}
	*out_output = TOOL_OUTPUT(run_plan_check_outputs, outputs, arena);
	return true;
}

const struct tool tool_plan_check = {
	.name = "plan_check",
	.text = "Reads a plan in Markdown: goal, files, tasks, and what is wrong with it. A bad plan is "
		"an output with valid: false, not an error.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_plan_check_inputs_type,
	.outputs = run_plan_check_outputs_type,
	.compute = check_compute,
};

/* ---- design_read --------------------------------------------------------------------- */

static void add_section(struct buf *buf, const char *heading, struct str text)
{
	if (is_given(text))
		buf_add_format(buf, "\n\n## %s\n\n" STR_FMT, heading, STR_ARG(str_trim(text)));
}

static void add_items(struct buf *buf, const char *heading, const struct str *items, size_t count)
{
	if (count > 0)
		buf_add_format(buf, "\n\n## %s\n", heading);
	for (size_t i = 0; i < count; i++)
		buf_add_format(buf, "\n- " STR_FMT, STR_ARG(items[i]));
}

/* The original text says more than its parts; without it the parts are all there is. */
static struct str structured_text(const struct pipeline_v1_design *design, struct arena *arena)
{
	AUTO(buf) buf = { 0 };
	if (is_given(design->raw_content))
		return design->raw_content;
	buf_add_format(&buf, "# " STR_FMT, STR_ARG(design->title));
	add_section(&buf, "Goal", design->goal);
	add_section(&buf, "Architecture", design->architecture);
	add_items(&buf, "Tech stack", design->tech_stack.at, design->tech_stack.count);
	add_items(&buf, "Components", design->components.at, design->components.count);
	add_section(&buf, "Data flow", design->data_flow);
	add_section(&buf, "Error handling", design->error_handling);
	add_section(&buf, "Testing strategy", design->testing_strategy);
	add_items(&buf, "Relevant files", design->relevant_files.at, design->relevant_files.count);
	add_section(&buf, "Conventions", design->conventions);
	buf_add_char(&buf, '\n');
	return str_copy(arena, buf_str(&buf));
}

static bool design_text(const struct json *design, struct arena *arena, struct str *out_text,
			struct error *error)
{
	if (design == NULL || design->kind == JSON_NULL ||
	    (design->kind == JSON_OBJECT && design->as.object.count == 0)) {
		*out_text = S("");
		return true;
	}
	if (design->kind == JSON_STRING) {
		*out_text = design->as.string;
		return true;
	}
	if (design->kind != JSON_OBJECT)
		return fail(error, ERROR_INVALID, "inputs: /design must be a design or its text");
	if (json_member(design, S("content")) != NULL) {
		const struct pipeline_design *plain =
			tool_context_inputs(pipeline_design_type(), design, arena, error);
		if (plain == NULL)
			return false;
		*out_text = plain->content;
		return true;
	}
	const struct pipeline_v1_design *structured =
		tool_context_inputs(pipeline_v1_design_type(), design, arena, error);
	if (structured == NULL)
		return false;
	*out_text = structured_text(structured, arena);
	return true;
}

static bool design_compute(const struct json *inputs, struct arena *arena,
			   const struct json **out_output, struct error *error)
{
	const struct run_design_read_inputs *given =
		tool_context_inputs(run_design_read_inputs_type(), inputs, arena, error);
	struct str text;
	if (given == NULL || !design_text(given->design, arena, &text, error))
		return false;
	struct run_design_read_outputs *outputs = run_design_read_outputs_new(arena);
	SET(outputs, markdown, text);
	*out_output = TOOL_OUTPUT(run_design_read_outputs, outputs, arena);
	return true;
}

const struct tool tool_design_read = {
	.name = "design_read",
	.text = "Returns a design as Markdown, whether it is structured, a text with its source, or plain "
		"text.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_design_read_inputs_type,
	.outputs = run_design_read_outputs_type,
	.compute = design_compute,
};
