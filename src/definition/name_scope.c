/* definition/name_scope.c -- checks the names that templates and expressions use.
 *
 * A step may read the steps of its own body that have certainly ended before it.  From an outer
 * body it may read the steps that have ended before the container it is in; this counts as a read
 * by the container.  The name of a container that has rounds means the result of its previous
 * round.  In a body with edges the order is unknown; there a step may read any other step, and a
 * step that has not run reads as null.  Undo steps may read what their step may, and the step itself.
 */
#include "base/limits.h"
#include "contract/closest.h"
#include "definition/compile_internal.h"
#include "definition/name_scope.h"

static bool is_ancestor(const struct body *body, size_t of, size_t number)
{
	return (body->ancestors[of * body->words + number / 64] >> (number % 64) & 1) != 0;
}

static void add_read(struct body *body, size_t reader, struct str name)
{
	struct str_list *reads = &body->reads[reader];
	for (size_t i = 0; i < reads->count; i++)
		if (str_equal(reads->at[i], name))
			return;
	struct str *grown = arena_array(body->compiler->arena, struct str, reads->count + 1);
	for (size_t i = 0; i < reads->count; i++)
		grown[i] = reads->at[i];
	grown[reads->count] = name;
	*reads = (struct str_list){ grown, reads->count + 1 };
}

/* Fails with the text, and with the closest of the names as a suggestion. */
static bool fail_unknown(struct name_advice *advice, struct str_list names, struct str text,
			 struct error *error)
{
	struct str close =
		names.count > LIMIT_SUGGESTED_NAMES ? S("") : closest_word(names, advice->part);
	advice->replacement = close;
	if (close.size == 0)
		return fail(error, ERROR_INVALID, STR_FMT, STR_ARG(text));
	return fail(error, ERROR_INVALID, STR_FMT "; did you mean \"" STR_FMT "\"?", STR_ARG(text),
		    STR_ARG(close));
}

static struct str_list input_names(const struct compiler *c)
{
	struct str *names = arena_array(c->arena, struct str, c->file->inputs.count);
	for (size_t i = 0; i < c->file->inputs.count; i++)
		names[i] = c->file->inputs.at[i].key;
	return (struct str_list){ names, c->file->inputs.count };
}

static struct str_list variable_names(const struct compiler *c)
{
	struct str key, *names;
	size_t count = 0, index = 0;
	while (map_next(&c->variables, &index, &key) != NULL)
		count++;
	names = arena_array(c->arena, struct str, count);
	for (index = count = 0; map_next(&c->variables, &index, &key) != NULL;)
		names[count++] = key;
	return (struct str_list){ names, count };
}

struct str_list definition_step_names(const struct body *body, bool around)
{
	size_t count = 0, all = 0;
	for (const struct body *b = body; b != NULL; b = around ? b->outer : NULL)
		all += b->steps.count;
	struct str *names = arena_array(body->compiler->arena, struct str, all);
	for (const struct body *b = body; b != NULL; b = around ? b->outer : NULL)
		for (size_t i = 0; i < b->steps.count; i++)
			names[count++] = b->steps.at[i].name;
	return (struct str_list){ names, count };
}

static bool check_input(const struct compiler *c, struct str name, struct name_advice *advice,
			struct error *error)
{
	for (size_t i = 0; i < c->file->inputs.count; i++)
		if (str_equal(c->file->inputs.at[i].key, name))
			return true;
	if (c->names_unknown)
		return true;
	return fail_unknown(
		advice, input_names(c),
		str_format(c->arena, "unknown input " STR_FMT ": the workflow does not declare it",
			   STR_ARG(name)),
		error);
}

/* Can the step's output of the previous round be read?  A step with loop_until reads its own; of a
 * loop and a verification, the steps inside read it. */
static bool has_rounds(const struct run_definition_step *step, bool asks_itself)
{
	return has(step, loop_until) || (!asks_itself && (has(step, loop) || has(step, verify)));
}

static bool check_step(const struct reader *reader, struct str name, struct str key,
		       struct name_advice *advice, struct error *error)
{
	size_t user = (size_t)reader->step;
	struct undo_reads *undo = NULL; /* of the undo steps that the name is not one of */
	const struct body *inner = NULL;
	for (struct body *body = reader->body; body != NULL;
	     inner = body, body = (struct body *)(uintptr_t)body->outer) {
		size_t number = definition_body_step(body, name);
		bool innermost = body == reader->body;
		bool is_undone = inner != NULL && inner->undo != NULL && number == user + 1;
		if (inner != NULL && inner->undo != NULL)
			undo = inner->undo;
		if (number == 0) {
			user = body->owner;
			continue;
		}
		if (!definition_check_output(body, number - 1, key, advice, error))
			return false;
		if (innermost && (reader->step < 0 || reader->inside))
			return true;
		if (innermost && reader->own && number - 1 == user)
			return true;
		if (undo != NULL)
			definition_undo_read(body->compiler, &undo->steps, name);
		if (!body->edges && !body->unordered && !is_undone &&
		    !is_ancestor(body, user, number - 1) &&
		    !(number - 1 == user && has_rounds(&body->steps.at[user], innermost))) {
			if (number - 1 != user && !is_ancestor(body, number - 1, user)) {
				advice->body = body;
				advice->user = user;
			}
			return fail(error, ERROR_INVALID,
				    "reads step " STR_FMT
				    " without depending on it: add it to depends_on",
				    STR_ARG(name));
		}
		if (number - 1 != user)
			add_read(body, user, name);
		return true;
	}
	if (reader->body->compiler->names_unknown)
		return true;
	return fail_unknown(
		advice, definition_step_names(reader->body, true),
		str_format(reader->body->compiler->arena, "unknown step " STR_FMT, STR_ARG(name)),
		error);
}

/* Whether the reader is in the catch or finally steps of a try, which can read its error. */
static bool has_error(const struct reader *reader)
{
	int64_t number = reader->step;
	for (const struct body *body = reader->body; body != NULL; body = body->outer) {
		if (number >= 0 && !(body == reader->body && reader->inside) &&
		    definition_section(body, (size_t)number) != RUN_SECTION_STEPS)
			return true;
		number = (int64_t)body->owner;
	}
	return false;
}

/* The state, its transcript, and its fields by their own names. */
static bool is_state_name(const struct run_definition *file, struct str name)
{
	static const struct str built_in[] = { { "state", 5 },          { "transcript", 10 },
					       { "messages", 8 },       { "next_action", 11 },
					       { "current_agent", 13 }, { "routing_key", 11 },
					       { "metadata", 8 } };
	for (size_t i = 0; has(file, state) && i < COUNT(built_in); i++)
		if (str_equal(name, built_in[i]))
			return true;
	for (size_t i = 0; has(file, state) && i < file->state.count; i++)
		if (str_equal(name, file->state.at[i].key))
			return true;
	return false;
}

/* The names that an expression can begin with. */
static struct str_list first_names(const struct reader *reader)
{
	static const struct str always[] = { { "inputs", 6 }, { "steps", 5 }, { "ctx", 3 } };
	const struct run_definition *file = reader->body->compiler->file;
	size_t count = 0, all = COUNT(always) + 2 + file->state.count;
	for (const struct body *body = reader->body; body != NULL; body = body->outer)
		all++;
	struct str *names = arena_array(reader->body->compiler->arena, struct str, all);
	for (; count < COUNT(always); count++)
		names[count] = always[count];
	if (reader->has_output)
		names[count++] = S("output");
	for (const struct body *body = reader->body; body != NULL; body = body->outer)
		if (body->item.size > 0)
			names[count++] = body->item;
	if (has(file, state))
		for (size_t i = 0; i < file->state.count; i++)
			names[count++] = file->state.at[i].key;
	return (struct str_list){ names, count };
}

static bool check_variable(const struct reader *reader, struct str name, struct name_advice *advice,
			   struct error *error)
{
	struct undo_reads *undo = definition_undo_around(reader);
	if (str_equal(name, S("inputs")) || (reader->has_output && str_equal(name, S("output"))))
		return true;
	if (undo != NULL)
		definition_undo_read(reader->body->compiler, &undo->names, name);
	if (str_equal(name, S("secrets")))
		return fail(error, ERROR_INVALID,
			    "a secret has no value here: write ${secrets.NAME} by itself, in an "
			    "input of a tool that takes secrets");
	for (const struct body *body = reader->body; body != NULL; body = body->outer)
		if (body->item.size > 0 &&
		    (str_equal(name, body->item) || str_equal(name, S("index"))))
			return true;
	if ((str_equal(name, S("error")) && has_error(reader)) ||
	    reader->body->compiler->names_unknown)
		return true;
	if (is_state_name(reader->body->compiler->file, name))
		return true;
	return fail_unknown(
		advice, first_names(reader),
		str_format(reader->body->compiler->arena,
			   "unknown name " STR_FMT
			   ": write inputs.<name>, steps.<name>.outputs.<key> or ctx.<name>%s",
			   STR_ARG(name), reader->has_output ? ", or output" : ""),
		error);
}

static void add_secret(struct compiler *c, struct str name)
{
	for (size_t i = 0; i < c->secrets.count; i++)
		if (str_equal(c->secrets.at[i], name))
			return;
	struct str *grown = arena_array(c->arena, struct str, c->secrets.count + 1);
	for (size_t i = 0; i < c->secrets.count; i++)
		grown[i] = c->secrets.at[i];
	grown[c->secrets.count] = name;
	c->secrets = (struct str_list){ grown, c->secrets.count + 1 };
}

static bool check_secret(const struct reader *reader, struct str name, struct error *error)
{
	AUTO(buf) inputs = { 0 };
	if (reader->takes_secrets) {
		add_secret(reader->body->compiler, name);
		return true;
	}
	for (size_t i = 0; i < reader->secret_inputs.count; i++)
		buf_add_format(&inputs, "%s" STR_FMT, i == 0 ? "" : " or ",
			       STR_ARG(reader->secret_inputs.at[i]));
	if (inputs.size == 0)
		return fail(error, ERROR_INVALID,
			    "${secrets." STR_FMT
			    "} cannot be used here: only inputs of tools that take secrets can "
			    "contain one, such as env of shell or headers of http_fetch",
			    STR_ARG(name));
	return fail(error, ERROR_INVALID,
		    "${secrets." STR_FMT
		    "} cannot be used here: this tool takes secrets only in " STR_FMT,
		    STR_ARG(name), STR_ARG(buf_str(&inputs)));
}

bool definition_check_name(const struct reader *reader, enum expr_name kind, struct str name,
			   struct str key, struct name_advice *advice, struct error *error)
{
	const struct compiler *c = reader->body->compiler;
	*advice = (struct name_advice){ .part = name };
	switch (kind) {
	case EXPR_NAME_INPUT:
		return check_input(c, name, advice, error);
	case EXPR_NAME_STEP:
		return check_step(reader, name, key, advice, error);
	case EXPR_NAME_CTX:
		if (definition_undo_around(reader) != NULL)
			definition_undo_read(c, &definition_undo_around(reader)->ctx, name);
		if (map_get(&c->variables, name) != NULL || c->names_unknown)
			return true;
		return fail_unknown(advice, variable_names(c),
				    str_format(c->arena,
					       "unknown variable " STR_FMT ": no step sets it",
					       STR_ARG(name)),
				    error);
	case EXPR_NAME_SECRET:
		return check_secret(reader, name, error);
	case EXPR_NAME_VARIABLE:
		break;
	}
	return check_variable(reader, name, advice, error);
}

static struct run_definition_step_list inner_steps(const struct run_definition_step *step)
{
	if (has(step, parallel))
		return step->parallel->steps;
	if (has(step, map))
		return step->map->steps;
	if (has(step, loop))
		return step->loop->steps;
	if (has(step, verify))
		return step->verify->steps;
	if (has(step, gate))
		return step->gate->steps;
	if (has(step, try))
		return step->try->steps;
	return (struct run_definition_step_list){ 0 };
}

void definition_collect_variables(struct compiler *c, struct run_definition_step_list steps)
{
	for (size_t i = 0; i < steps.count; i++) {
		const struct run_definition_step *step = &steps.at[i];
		for (size_t o = 0; o < step->outputs.count; o++)
			map_put(&c->variables, step->outputs.at[o].value, c);
		definition_collect_variables(c, inner_steps(step));
		definition_collect_variables(c, step->catch);
		definition_collect_variables(c, step->finally);
		definition_collect_variables(c, step->undo);
		if (has(step, try)) {
			definition_collect_variables(c, step->try->catch);
			definition_collect_variables(c, step->try->finally);
		}
	}
}

/* ---- undo steps ------------------------------------------------------------------------ */
/* Undo steps run long after their step, when the bodies and outputs around it may be gone.  So they are
 * not part of the body: they become a try among the undos of the graph, and everything that they read
 * from outside is collected in the inputs of that try.  The engine renders these inputs where the step
 * is, at the moment it succeeds, and looks names up in them later. */

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
		members[count++] =
			(struct json_member){ .key = S("steps"),
					      .value = templates_of(c, reads->steps, NULL) };
	if (reads->ctx.count > 0)
		members[count++] =
			(struct json_member){ .key = S("ctx"),
					      .value = templates_of(c, reads->ctx, "ctx.") };
	if (reads->names.count > 0)
		members[count++] =
			(struct json_member){ .key = S("names"),
					      .value = templates_of(c, reads->names, "") };
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
