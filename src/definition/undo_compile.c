/* definition/undo_compile.c -- compiles the undo steps of a step.
 *
 * Undo steps run long after their step, when the bodies and outputs around it may be gone.  So they
 * are not part of the body: they become a try among the undos of the graph, and everything that they
 * read from outside is collected in the inputs of that try.  The engine renders these inputs where
 * the step is, at the moment it succeeds, and looks names up in them later.
 */
#include "base/limits.h"
#include "definition/compile_internal.h"

/* ---- what it reads -------------------------------------------------------------------- */

struct undo_reads *definition_undo_around(const struct reader *reader)
{
	for (const struct body *body = reader->body; body != NULL; body = body->outer)
		if (body->undo != NULL)
			return body->undo;
	return NULL;
}

void definition_undo_read(const struct compiler *compiler, struct str_list *names, struct str name)
{
	for (size_t i = 0; i < names->count; i++)
		if (str_equal(names->at[i], name))
			return;
	struct str *grown = arena_array(compiler->arena, struct str, names->count + 1);
	for (size_t i = 0; i < names->count; i++)
		grown[i] = names->at[i];
	grown[names->count] = name;
	*names = (struct str_list){ grown, names->count + 1 };
}

static struct json reference(const struct compiler *c, const char *before, struct str name,
			     const char *after)
{
	return (struct json){ .kind = JSON_STRING,
			      .as.string = str_format(c->arena, "${%s" STR_FMT "%s}", before,
						      STR_ARG(name), after) };
}

static struct json object(struct json_member *members, size_t count)
{
	return (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
}

static struct json step_template(const struct compiler *c, struct str name)
{
	struct json_member *fields = arena_array(c->arena, struct json_member, 3);
	fields[0] = (struct json_member){ .key = S("outputs"),
					  .value = reference(c, "steps.", name, ".outputs") };
	fields[1] = (struct json_member){ .key = S("status"),
					  .value = reference(c, "steps.", name, ".status") };
	fields[2] = (struct json_member){ .key = S("error"),
					  .value = reference(c, "steps.", name, ".error") };
	return object(fields, 3);
}

static struct json templates_of(const struct compiler *c, struct str_list names, const char *before)
{
	struct json_member *members = arena_array(c->arena, struct json_member, names.count);
	for (size_t i = 0; i < names.count; i++) {
		members[i].key = names.at[i];
		members[i].value = before == NULL ? step_template(c, names.at[i])
						  : reference(c, before, names.at[i], "");
	}
	return object(members, names.count);
}

/* {steps: {NAME: {outputs, status, error}}, ctx: {NAME: …}, names: {NAME: …}} */
static const struct json *inputs_of(const struct compiler *c, const struct undo_reads *reads)
{
	struct json *inputs = arena_new(c->arena, struct json);
	struct json_member *members = arena_array(c->arena, struct json_member, 3);
	size_t count = 0;
	if (reads->steps.count > 0)
		members[count++] = (struct json_member){
			.key = S("steps"), .value = templates_of(c, reads->steps, NULL)
		};
	if (reads->ctx.count > 0)
		members[count++] = (struct json_member){
			.key = S("ctx"), .value = templates_of(c, reads->ctx, "ctx.")
		};
	if (reads->names.count > 0)
		members[count++] = (struct json_member){
			.key = S("names"), .value = templates_of(c, reads->names, "")
		};
	*inputs = object(members, count);
	return inputs;
}

/* ---- the node -------------------------------------------------------------------------- */

/* The names of the steps around it, so that the name is unique in the graph.  A step name has neither
 * "." nor "~". */
static struct str undo_name(const struct body *body, size_t number)
{
	struct arena *arena = body->compiler->arena;
	struct str inner = body->steps.at[number].name;
	struct str name = str_format(arena, STR_FMT "~undo", STR_ARG(inner));
	for (; body->outer != NULL; body = body->outer) {
		const struct run_definition_step *owner = &body->outer->steps.at[body->owner];
		bool is_shorthand = !has(owner, try) && (has(owner, catch) || has(owner, finally));
		/* A step with catch or finally is in a try of the same name. */
		if (!is_shorthand || !str_equal(owner->name, inner))
			name = str_format(arena, STR_FMT "." STR_FMT, STR_ARG(owner->name),
					  STR_ARG(name));
		inner = owner->name;
	}
	return name;
}

static bool check_place(const struct body *body, size_t number)
{
	const struct body *around = body;
	size_t inside = number;
	for (; around != NULL; inside = around->owner, around = around->outer) {
		if (around->undo != NULL)
			definition_step_problem(body, number, S("undo"),
						"undo steps cannot have undo steps of their own");
		else if (definition_section(around, inside) == RUN_SECTION_FINALLY)
			definition_step_problem(
				body, number, S("undo"),
				"finally steps cannot have undo steps: they run when everything else "
				"is over, and what they do stays");
		else
			continue;
		return false;
	}
	if (body->nesting + 1 <= LIMIT_BODY_NESTING)
		return true;
	definition_step_problem(body, number, S("undo"), "steps are nested more than %d deep",
				LIMIT_BODY_NESTING);
	return false;
}

static void add_undo(struct compiler *c, const struct run_graph_node *node)
{
	struct run_graph_node *grown =
		arena_array(c->arena, struct run_graph_node, c->undos.count + 1);
	for (size_t i = 0; i < c->undos.count; i++)
		grown[i] = c->undos.at[i];
	grown[c->undos.count] = *node;
	c->undos = (struct run_graph_node_list){ grown, c->undos.count + 1 };
}

void definition_compile_undo(struct body *outer, size_t number, struct run_graph_node *node)
{
	struct compiler *c = outer->compiler;
	const struct run_definition_step *step = &outer->steps.at[number];
	struct undo_reads reads = { 0 };
	if (!check_place(outer, number))
		return;
	AUTO(body)
	body = { .compiler = c,
		 .outer = outer,
		 .owner = number,
		 .steps = step->undo,
		 .tree = json_member(json_item(outer->tree, number), S("undo")),
		 .pointer = str_format(c->arena, STR_FMT "/undo",
				       STR_ARG(definition_step_pointer(outer, number))),
		 .undo = &reads,
		 .nesting = outer->nesting + 1 };
	struct run_graph_node *undo = run_graph_node_new(c->arena);
	SET(undo, name, undo_name(outer, number));
	SET(undo, kind, RUN_NODE_TRY);
	SET(undo, join, RUN_JOIN_ALL);
	SET(undo, class, RUN_CLASS_IDEMPOTENT);
	SET(undo, depends_on, ((struct str_list){ 0 }));
	SET(undo, reads, ((struct str_list){ 0 }));
	SET(undo, body, definition_compile_body(&body));
	SET(undo, inputs, inputs_of(c, &reads));
	SET(undo, section, RUN_SECTION_UNDO);
	SET(undo, continue_on_error, true);
	SET(node, undo, undo->name);
	add_undo(c, undo);
}
