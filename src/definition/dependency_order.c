/* definition/dependency_order.c -- names, dependencies, edges and order of a body. */
#include "base/limits.h"
#include "contract/closest.h"
#include "definition/compile_internal.h"
#include "definition/name_scope.h"

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

static struct problem *add_problem(const struct body *body, size_t number, struct str key,
				   int64_t item, struct str text)
{
	const struct json *step = json_item(body->tree, number);
	const struct json *member = json_member(step, key);
	const struct json *at = member != NULL ? member : step;
	struct str pointer = definition_step_pointer(body, number);
	if (member != NULL)
		pointer = str_format(arena_of(body), STR_FMT "/" STR_FMT, STR_ARG(pointer),
				     STR_ARG(key));
	if (member != NULL && item >= 0 && json_item(member, (size_t)item) != NULL) {
		at = json_item(member, (size_t)item);
		pointer = str_format(arena_of(body), STR_FMT "/%lld", STR_ARG(pointer),
				     (long long)item);
	}
	return problems_add(body->compiler->problems, pointer, at == NULL ? 0 : at->line,
			    at == NULL ? 0 : at->column, STR_FMT, STR_ARG(text));
}

struct problem *definition_step_problem(const struct body *body, size_t number, struct str key,
					const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(arena_of(body), format, list);
	va_end(list);
	return add_problem(body, number, key, -1, text);
}

struct problem *definition_item_problem(const struct body *body, size_t number, struct str key,
					size_t item, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(arena_of(body), format, list);
	va_end(list);
	return add_problem(body, number, key, (int64_t)item, text);
}

/* A name that no step of the body has, for a second step that has it. */
static struct str free_name(const struct body *body, struct str name)
{
	for (size_t i = 2; i < body->steps.count + 2; i++) {
		struct str other = str_format(arena_of(body), STR_FMT "_%zu", STR_ARG(name), i);
		if (definition_body_step(body, other) == 0)
			return other;
	}
	return S("");
}

static void collect_names(struct body *body)
{
	for (size_t i = 0; i < body->steps.count; i++) {
		struct str name = body->steps.at[i].name;
		size_t first = definition_body_step(body, name);
		if (first == 0)
			map_put(&body->names, name, (void *)(uintptr_t)(i + 1));
	}
	for (size_t i = 0; i < body->steps.count; i++) {
		struct str name = body->steps.at[i].name;
		size_t first = definition_body_step(body, name);
		if (first != i + 1)
			problem_suggest(definition_step_problem(body, i, S("name"),
								"duplicate step name " STR_FMT
								": step %zu has it already",
								STR_ARG(name), first),
					name, free_name(body, name));
	}
}

/* Reports a name of a step that does not exist, with the closest one that does. */
static void report_unknown(const struct body *body, size_t number, struct str key, size_t item,
			   struct str name)
{
	struct str close = body->steps.count > LIMIT_SUGGESTED_NAMES
				   ? S("")
				   : closest_word(definition_step_names(body, false), name);
	problem_suggest(definition_item_problem(
				body, number, key, item, "unknown step " STR_FMT "%s" STR_FMT "%s",
				STR_ARG(name), close.size > 0 ? "; did you mean \"" : "",
				STR_ARG(close), close.size > 0 ? "\"?" : ""),
			name, close);
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
				definition_item_problem(
					body, i, S("depends_on"), d,
					"step " STR_FMT " depends on itself: " STR_FMT
					" -> " STR_FMT,
					STR_ARG(name), STR_ARG(name), STR_ARG(name));
			else if (definition_body_step(body, name) == 0) {
				if (!body->compiler->names_unknown)
					report_unknown(body, i, S("depends_on"), d, name);
			} else
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
			if (to == 0 && body->compiler->names_unknown)
				continue;
			if (to == 0)
				report_unknown(body, i, S("next"), e, step->next.at[e].to);
			else if (body->steps.at[to - 1].join != RUN_JOIN_ANY)
				definition_item_problem(
					body, i, S("next"), e,
					"step " STR_FMT
					" cannot be started by an edge: set join: any on it",
					STR_ARG(step->next.at[e].to));
			else
				check_section(body, i, to - 1, S("next"));
		}
	}
}

/* ---- cycles -------------------------------------------------------------------------- */
/* The next successor of a step in a walk, or -1; *next is how far its list has been read. */
typedef int64_t successor_function(const struct body *body, size_t step, size_t *next);

static int64_t next_dependency(const struct body *body, size_t step, size_t *next)
{
	const struct run_definition_step *from = &body->steps.at[step];
	while (*next < from->depends_on.count) {
		size_t to = definition_body_step(body, from->depends_on.at[(*next)++]);
		if (to != 0 && to != step + 1)
			return (int64_t)to - 1;
	}
	return -1;
}

/* Edges without a condition. */
static int64_t next_unconditional_edge(const struct body *body, size_t step, size_t *next)
{
	const struct run_definition_step *from = &body->steps.at[step];
	while (*next < from->next.count) {
		const struct run_definition_edge *edge = &from->next.at[(*next)++];
		size_t to = definition_body_step(body, edge->to);
		if (to != 0 && !has(edge, when))
			return (int64_t)to - 1;
	}
	return -1;
}

struct walk {
	size_t *path, *next;
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

/* Depth-first search without recursion; reports each cycle once. */
static void check_acyclic(const struct body *body, successor_function *successor, bool reversed,
			  struct str key, const char *what)
{
	size_t count = body->steps.count;
	struct walk walk = { .path = arena_array(arena_of(body), size_t, count + 1),
			     .next = arena_array(arena_of(body), size_t, count + 1),
			     .color = arena_array(arena_of(body), uint8_t, count) };
	for (size_t start = 0; start < count; start++) {
		if (walk.color[start] != 0)
			continue;
		walk.path[0] = start;
		walk.next[0] = 0;
		walk.color[start] = 1;
		walk.length = 1;
		while (walk.length > 0) {
			size_t top = walk.length - 1, step = walk.path[top];
			int64_t to = successor(body, step, &walk.next[top]);
			if (to < 0) {
				walk.color[step] = 2;
				walk.length--;
			} else if (walk.color[to] == 1) {
				report_cycle(body, &walk, (size_t)to, reversed, key, what);
			} else if (walk.color[to] == 0) {
				walk.color[to] = 1;
				walk.path[walk.length] = (size_t)to;
				walk.next[walk.length++] = 0;
			}
		}
	}
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

/* ---- data ---------------------------------------------------------------------------- */

/* A step in the list of those that produce the same data. */
struct producer {
	size_t step;
	struct producer *next;
};

static struct str_list produced_names(const struct map *producers, struct arena *arena)
{
	size_t count = 0, index = 0;
	struct str key;
	while (map_next(producers, &index, &key) != NULL)
		count++;
	struct str *names = arena_array(arena, struct str, count);
	for (index = count = 0; map_next(producers, &index, &key) != NULL;)
		names[count++] = key;
	return (struct str_list){ names, count };
}

static bool is_input(const struct compiler *c, struct str name)
{
	for (size_t i = 0; i < c->file->inputs.count; i++)
		if (str_equal(c->file->inputs.at[i].key, name))
			return true;
	return false;
}

static void report_unproduced(const struct body *body, size_t number, struct str name,
			      const struct map *producers)
{
	struct str close = closest_word(produced_names(producers, arena_of(body)), name);
	problem_suggest(definition_step_problem(
				body, number, S("consumes"),
				"consumes " STR_FMT
				", which is no input and which no step beside it produces%s" STR_FMT
				"%s",
				STR_ARG(name), close.size > 0 ? "; did you mean \"" : "",
				STR_ARG(close), close.size > 0 ? "\"?" : ""),
			name, close);
}

/* The dependencies of a step, with those that follow from the data it needs. */
static struct str_list with_data(const struct body *body, size_t number,
				 const struct map *producers)
{
	const struct run_definition_step *step = &body->steps.at[number];
	size_t room = step->depends_on.count, count = room;
	for (size_t i = 0; i < step->consumes.count; i++)
		for (const struct producer *p = map_get(producers, step->consumes.at[i]); p != NULL;
		     p = p->next)
			room++;
	struct str *names = arena_array(arena_of(body), struct str, room);
	for (size_t i = 0; i < count; i++)
		names[i] = step->depends_on.at[i];
	for (size_t i = 0; i < step->consumes.count; i++) {
		const struct producer *p = map_get(producers, step->consumes.at[i]);
		if (p == NULL && !is_input(body->compiler, step->consumes.at[i]))
			report_unproduced(body, number, step->consumes.at[i], producers);
		for (; p != NULL; p = p->next) {
			struct str name = body->steps.at[p->step].name;
			bool known = p->step == number;
			for (size_t k = 0; k < count && !known; k++)
				known = str_equal(names[k], name);
			if (!known)
				names[count++] = name;
		}
	}
	return (struct str_list){ names, count };
}

/* A step that needs data depends on the steps of its body that produce them. */
static void add_data_dependencies(struct body *body)
{
	AUTO(map) producers = { 0 };
	bool consumes = false;
	for (size_t i = body->steps.count; i-- > 0;) {
		const struct run_definition_step *step = &body->steps.at[i];
		consumes |= step->consumes.count > 0;
		for (size_t k = 0; k < step->produces.count; k++) {
			struct producer *producer = arena_new(arena_of(body), struct producer);
			*producer =
				(struct producer){ i, map_get(&producers, step->produces.at[k]) };
			map_put(&producers, step->produces.at[k], producer);
		}
	}
	if (!consumes)
		return;
	struct run_definition_step *steps =
		arena_array(arena_of(body), struct run_definition_step, body->steps.count);
	for (size_t i = 0; i < body->steps.count; i++) {
		steps[i] = body->steps.at[i];
		if (steps[i].consumes.count > 0)
			SET(&steps[i], depends_on, with_data(body, i, &producers));
	}
	body->steps.at = steps;
}

static bool check_order(struct body *body)
{
	const struct problems *problems = body->compiler->problems;
	size_t before = problems->count + problems->hidden;
	collect_names(body);
	add_data_dependencies(body);
	check_dependencies(body);
	check_edges(body);
	check_acyclic(body, next_dependency, true, S("depends_on"),
		      "the dependencies form a cycle");
	check_acyclic(body, next_unconditional_edge, false, S("next"),
		      "the edges form an endless cycle; give one of them a condition (when)");
	return problems->count + problems->hidden == before && !body->compiler->order_unknown &&
	       !body->compiler->names_unknown;
}

/* ---- where a body starts ---------------------------------------------------------------- */

static bool has_incoming_edge(const struct body *body, struct str name)
{
	for (size_t i = 0; i < body->steps.count; i++)
		for (size_t e = 0; e < body->steps.at[i].next.count; e++)
			if (str_equal(body->steps.at[i].next.at[e].to, name))
				return true;
	return false;
}

bool definition_is_entry(const struct body *body, const struct run_definition_step *step)
{
	return has(step, entry) ? step->entry : !has_incoming_edge(body, step->name);
}

/* Marks the steps that start with the body or that an edge leads to from one of these. */
static void find_reachable(const struct body *body, bool *reached)
{
	size_t count = body->steps.count, depth = 0;
	size_t *stack = arena_array(arena_of(body), size_t, count);
	bool *has_edge = arena_array(arena_of(body), bool, count);
	for (size_t i = 0; i < count; i++)
		for (size_t e = 0; e < body->steps.at[i].next.count; e++) {
			size_t to = definition_body_step(body, body->steps.at[i].next.at[e].to);
			if (to != 0)
				has_edge[to - 1] = true;
		}
	for (size_t i = 0; i < count; i++) {
		const struct run_definition_step *step = &body->steps.at[i];
		bool entry = has(step, entry) ? step->entry : !has_edge[i];
		reached[i] = step->join != RUN_JOIN_ANY || entry;
		if (reached[i])
			stack[depth++] = i;
	}
	while (depth > 0) {
		const struct run_definition_step *from = &body->steps.at[stack[--depth]];
		for (size_t e = 0; e < from->next.count; e++) {
			size_t to = definition_body_step(body, from->next.at[e].to);
			if (to == 0 || reached[to - 1])
				continue;
			reached[to - 1] = true;
			stack[depth++] = to - 1;
		}
	}
}

/* A translated file has had its own check of this. */
static void warn_unreachable(const struct body *body)
{
	const struct compiler *c = body->compiler;
	if (!body->edges || c->translated || c->names_unknown || c->order_unknown)
		return;
	bool *reached = arena_array(c->arena, bool, body->steps.count);
	find_reachable(body, reached);
	for (size_t i = 0; i < body->steps.count; i++) {
		const struct json *name = json_member(json_item(body->tree, i), S("name"));
		if (!reached[i])
			definition_warn(c, name,
					"no edge leads to step " STR_FMT
					" from a step that starts, so it never runs",
					STR_ARG(body->steps.at[i].name));
	}
}

/* A body, or a part of a try, in which every step waits for an edge would never start. */
void definition_check_start(const struct body *body, enum run_section section)
{
	size_t count = 0, first = 0;
	for (size_t i = body->steps.count; i-- > 0;) {
		if (definition_section(body, i) != section)
			continue;
		if (body->steps.at[i].join != RUN_JOIN_ANY ||
		    definition_is_entry(body, &body->steps.at[i]))
			return;
		first = i;
		count++;
	}
	if (count > 0)
		definition_step_problem(
			body, first, S("join"),
			"no step can start: every step waits for an edge; set entry: true on the first "
			"step");
}

/* ---- the body ---------------------------------------------------------------------------- */

void definition_body_order(struct body *body)
{
	size_t count = body->steps.count;
	body->reads = arena_array(arena_of(body), struct str_list, count);
	if (check_order(body)) {
		warn_unreachable(body);
		order_steps(body);
		find_ancestors(body);
		return;
	}
	body->unordered = true;
	body->order = arena_array(arena_of(body), uint32_t, count);
	for (size_t i = 0; i < count; i++)
		body->order[i] = (uint32_t)i;
}
