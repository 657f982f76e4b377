/* definition/dependency_order.c -- names, dependencies, edges and order of a body. */
#include "definition/compile_internal.h"

void body_done(struct body *body)
{
	map_done(&body->names);
}

size_t definition_body_step(const struct body *body, struct str name)
{
	return (size_t)(uintptr_t)map_get(&body->names, name);
}

static struct arena *arena_of(const struct body *body)
{
	return body->compiler->arena;
}

struct str definition_step_pointer(const struct body *body, size_t number)
{
	return body->pointers != NULL
		       ? body->pointers[number]
		       : str_format(arena_of(body), STR_FMT "/%zu", STR_ARG(body->pointer), number);
}

enum run_section definition_section(const struct body *body, size_t number)
{
	return body->sections == NULL ? RUN_SECTION_STEPS : body->sections[number];
}

void definition_step_problem(const struct body *body, size_t number, struct str key,
			     const char *format, ...)
{
	const struct json *step = json_item(body->tree, number);
	const struct json *member = json_member(step, key);
	const struct json *at = member != NULL ? member : step;
	struct str pointer = definition_step_pointer(body, number);
	if (member != NULL)
		pointer = str_format(arena_of(body), STR_FMT "/" STR_FMT, STR_ARG(pointer),
				     STR_ARG(key));
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(arena_of(body), format, list);
	va_end(list);
	problems_add(body->compiler->problems, pointer, at == NULL ? 0 : at->line,
		     at == NULL ? 0 : at->column, STR_FMT, STR_ARG(text));
}

static void collect_names(struct body *body)
{
	for (size_t i = 0; i < body->steps.count; i++) {
		struct str name = body->steps.at[i].name;
		size_t first = definition_body_step(body, name);
		if (first != 0)
			definition_step_problem(body, i, S("name"),
						"duplicate step name " STR_FMT
						": step %zu has it already",
						STR_ARG(name), first);
		else
			map_put(&body->names, name, (void *)(uintptr_t)(i + 1));
	}
}

/* The parts of a try follow each other, so no dependency or edge leads from one to another. */
static void check_section(const struct body *body, size_t number, size_t other, struct str key)
{
	if (definition_section(body, number) == definition_section(body, other))
		return;
	definition_step_problem(body, number, key,
				"step " STR_FMT " is in another part of the try (" STR_FMT
				"): catch starts when the steps have ended, finally after both",
				STR_ARG(body->steps.at[other].name),
				STR_ARG(run_section_name(definition_section(body, other))));
}

static void check_dependencies(const struct body *body)
{
	for (size_t i = 0; i < body->steps.count; i++) {
		const struct run_definition_step *step = &body->steps.at[i];
		for (size_t d = 0; d < step->depends_on.count; d++) {
			struct str name = step->depends_on.at[d];
			if (str_equal(name, step->name))
				definition_step_problem(body, i, S("depends_on"),
							"step " STR_FMT " depends on itself",
							STR_ARG(name));
			else if (definition_body_step(body, name) == 0)
				definition_step_problem(body, i, S("depends_on"),
							"unknown step " STR_FMT, STR_ARG(name));
			else
				check_section(body, i, definition_body_step(body, name) - 1,
					      S("depends_on"));
		}
		if (step->join == RUN_JOIN_ANY && step->depends_on.count > 0)
			definition_step_problem(
				body, i, S("depends_on"),
				"a step with join: any is started by edges and cannot have "
				"depends_on");
	}
}

static void check_edges(struct body *body)
{
	for (size_t i = 0; i < body->steps.count; i++) {
		const struct run_definition_step *step = &body->steps.at[i];
		body->edges |= step->next.count > 0 || step->join == RUN_JOIN_ANY;
		for (size_t e = 0; e < step->next.count; e++) {
			size_t to = definition_body_step(body, step->next.at[e].to);
			if (to == 0)
				definition_step_problem(body, i, S("next"), "unknown step " STR_FMT,
							STR_ARG(step->next.at[e].to));
			else if (body->steps.at[to - 1].join != RUN_JOIN_ANY)
				definition_step_problem(
					body, i, S("next"),
					"step " STR_FMT
					" cannot be started by an edge: set join: any on it",
					STR_ARG(step->next.at[e].to));
			else
				check_section(body, i, to - 1, S("next"));
		}
	}
}

/* ---- cycles -------------------------------------------------------------------------- */
/* The nth successor of a step in a walk, or -1. */
typedef int64_t successor_function(const struct body *body, size_t step, size_t nth);

static int64_t dependency_at(const struct body *body, size_t step, size_t nth)
{
	const struct run_definition_step *from = &body->steps.at[step];
	return nth < from->depends_on.count
		       ? (int64_t)definition_body_step(body, from->depends_on.at[nth]) - 1
		       : -1;
}

/* Edges without a condition. */
static int64_t unconditional_edge_at(const struct body *body, size_t step, size_t nth)
{
	const struct run_definition_step *from = &body->steps.at[step];
	for (size_t e = 0; e < from->next.count; e++)
		if (!has(&from->next.at[e], when) && nth-- == 0)
			return (int64_t)definition_body_step(body, from->next.at[e].to) - 1;
	return -1;
}

struct walk {
	size_t *path, *nth;
	uint8_t *color; /* 0 not visited, 1 on the path, 2 done */
	size_t length;
};

static void report_cycle(const struct body *body, const struct walk *walk, size_t again,
			 bool reversed, struct str key, const char *what)
{
	size_t begin = 0;
	while (walk->path[begin] != again)
		begin++;
	AUTO(buf) path = { 0 };
	buf_add(&path, body->steps.at[again].name);
	for (size_t i = 1; i <= walk->length - begin; i++) {
		size_t at = reversed ? walk->length - i : begin + (i % (walk->length - begin));
		buf_add_format(&path, " -> " STR_FMT, STR_ARG(body->steps.at[walk->path[at]].name));
	}
	definition_step_problem(body, again, key, "%s: " STR_FMT, what, STR_ARG(buf_str(&path)));
}

/* Depth-first search without recursion; false after reporting the first cycle. */
static bool check_acyclic(const struct body *body, successor_function *successor, bool reversed,
			  struct str key, const char *what)
{
	size_t count = body->steps.count;
	struct walk walk = { .path = arena_array(arena_of(body), size_t, count + 1),
			     .nth = arena_array(arena_of(body), size_t, count + 1),
			     .color = arena_array(arena_of(body), uint8_t, count) };
	for (size_t start = 0; start < count; start++) {
		if (walk.color[start] != 0)
			continue;
		walk.path[0] = start;
		walk.nth[0] = 0;
		walk.color[start] = 1;
		walk.length = 1;
		while (walk.length > 0) {
			size_t top = walk.length - 1, step = walk.path[top];
			int64_t to = successor(body, step, walk.nth[top]++);
			if (to < 0) {
				walk.color[step] = 2;
				walk.length--;
			} else if (walk.color[to] == 1) {
				report_cycle(body, &walk, (size_t)to, reversed, key, what);
				return false;
			} else if (walk.color[to] == 0) {
				walk.color[to] = 1;
				walk.path[walk.length] = (size_t)to;
				walk.nth[walk.length++] = 0;
			}
		}
	}
	return true;
}

/* ---- order --------------------------------------------------------------------------- */

/* An entry in a step's list of dependents. */
struct dependent {
	uint32_t to;
	struct dependent *next;
};

/* The parts of a try in the order in which they run. */
static void order_sections(struct body *body)
{
	size_t count = body->steps.count, placed = 0;
	uint32_t *order = arena_array(arena_of(body), uint32_t, count);
	for (int section = RUN_SECTION_STEPS; section <= RUN_SECTION_FINALLY; section++)
		for (size_t i = 0; i < count; i++)
			if ((int)definition_section(body, body->order[i]) == section)
				order[placed++] = body->order[i];
	body->order = order;
}

/* Kahn's algorithm, stable: of the steps that are ready, the first one in the file comes first. */
static void order_steps(struct body *body)
{
	size_t count = body->steps.count, placed = 0;
	size_t *missing = arena_array(arena_of(body), size_t, count);
	body->order = arena_array(arena_of(body), uint32_t, count);
	struct dependent **out = arena_array(arena_of(body), struct dependent *, count);
	for (size_t i = count; i-- > 0;) {
		missing[i] = body->steps.at[i].depends_on.count;
		for (size_t d = 0; d < missing[i]; d++) {
			size_t from =
				definition_body_step(body, body->steps.at[i].depends_on.at[d]) - 1;
			struct dependent *dependent = arena_new(arena_of(body), struct dependent);
			*dependent = (struct dependent){ (uint32_t)i, out[from] };
			out[from] = dependent;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (missing[i] == 0)
			body->order[placed++] = (uint32_t)i;
	for (size_t done = 0; done < placed; done++)
		for (struct dependent *a = out[body->order[done]]; a != NULL; a = a->next)
			if (--missing[a->to] == 0)
				body->order[placed++] = a->to;
	require(placed == count);
	order_sections(body);
}

static void find_ancestors(struct body *body)
{
	size_t count = body->steps.count;
	body->words = (count + 63) / 64;
	body->ancestors = arena_array(arena_of(body), uint64_t, body->words * count);
	for (size_t i = 0; i < count; i++) {
		size_t number = body->order[i];
		uint64_t *row = body->ancestors + number * body->words;
		const struct run_definition_step *step = &body->steps.at[number];
		for (size_t s = 0; s < count && body->sections != NULL; s++)
			if (body->sections[s] < body->sections[number])
				row[s / 64] |= UINT64_C(1) << (s % 64);
		for (size_t d = 0; d < step->depends_on.count; d++) {
			size_t before = definition_body_step(body, step->depends_on.at[d]) - 1;
			for (size_t w = 0; w < body->words; w++)
				row[w] |= body->ancestors[before * body->words + w];
			row[before / 64] |= UINT64_C(1) << (before % 64);
		}
	}
}

bool definition_body_order(struct body *body)
{
	const struct problems *problems = body->compiler->problems;
	size_t before = problems->count + problems->hidden;
	collect_names(body);
	check_dependencies(body);
	check_edges(body);
	if (problems->count + problems->hidden > before)
		return false;
	if (!check_acyclic(body, dependency_at, true, S("depends_on"),
			   "the dependencies form a cycle") ||
	    !check_acyclic(body, unconditional_edge_at, false, S("next"),
			   "the edges form an endless cycle; give one of them a condition (when)"))
		return false;
	order_steps(body);
	find_ancestors(body);
	body->reads = arena_array(arena_of(body), struct str_list, body->steps.count);
	return true;
}
