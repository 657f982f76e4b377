/* engine/eval_context.c -- the names that templates and expressions can read from a run.
 *
 * `steps.x` is resolved from the innermost body outwards.  A stored value that is not loaded reads as
 * null and becomes a need: the caller discards the result, loads the value and evaluates again.  So
 * exactly the values that are read get fetched.
 *
 * A rendered value refers to nothing in the run's own memory: another thread may print it or compute
 * with it after the run's state was discarded.
 */
#include "engine/engine_internal.h"

#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "engine/graph_state.h"
#include "engine/undo.h"
#include "expr/template.h"

/* A retry renders what was rendered before, so it has passed. */
static bool is_strict(const struct run *run, const struct activation *activation)
{
	const struct run_graph *rows = run->graph->rows;
	return has(rows, strict) && rows->strict &&
	       (activation == NULL || activation->state != STEP_RETRYING);
}

struct eval_context eval_context_make(struct run *run, const struct activation *activation,
				      const struct engine_values *values, struct decision *d)
{
	return (struct eval_context){ .run = run,
				      .scope = activation == NULL ? run->root : activation->scope,
				      .step = activation == NULL ? S("") : activation->path,
				      .values = values,
				      .d = d,
				      .strict = is_strict(run, activation),
				      .fault = { S(""), S("") } };
}

const struct json *eval_value(struct eval_context *eval_context, const struct value *value)
{
	const struct json *json;
	switch (value->kind) {
	case VALUE_ABSENT:
		return NULL;
	case VALUE_STORED:
		json = eval_context->values->look(eval_context->values->context, &value->hash);
		if (json == NULL) {
			decision_need_value(eval_context->d, &value->hash);
			eval_context->missing = true;
		}
		return json;
	case VALUE_INLINE:
		break;
	}
	struct arena *arena = eval_context->d->arena;
	return json_parse_own(str_copy(arena, value->text), arena);
}

static const struct json *text_of(struct eval_context *eval_context, struct str text)
{
	struct json *json = arena_new(eval_context->d->arena, struct json);
	*json = (struct json){ .kind = JSON_STRING,
			       .as.string = str_copy(eval_context->d->arena, text) };
	return json;
}

/* The state of a step in the words of the runtime vocabulary. */
static struct str status_word(enum step_state state)
{
	switch (state) {
	case STEP_SUCCEEDED:
		return S("success");
	case STEP_WAITING_HUMAN:
		return S("running");
	case STEP_CANCELLED:
		return S("failed");
	case STEP_PENDING:
	case STEP_RUNNING:
	case STEP_RETRYING:
	case STEP_FAILED:
	case STEP_SKIPPED:
		break;
	}
	return step_state_row(state)->word;
}

/* The body around it; undo steps see none, but what they were given. */
static struct scope *outer(const struct eval_context *eval_context, const struct scope *scope)
{
	return scope->owner == NULL || undo_is_body(eval_context->run, scope) ? NULL
									      : scope->owner->scope;
}

/* A member of what undo steps were given; NULL = not there, or null. */
static const struct json *see_given(struct eval_context *eval_context, struct str group,
				    struct str name)
{
	const struct json *found = json_member(
		json_member(undo_given(eval_context, eval_context->scope), group), name);
	return found == NULL || found->kind == JSON_NULL ? NULL : found;
}

static uint32_t body_owner(const struct scope *scope)
{
	return scope->owner == NULL ? GRAPH_ROOT : scope->owner->node;
}

static const struct json *see_closing(struct eval_context *eval_context, enum expr_field field)
{
	if (field == EXPR_OUTPUTS)
		return eval_context->output;
	return field == EXPR_STATUS ? text_of(eval_context, S("success")) : NULL;
}

static struct json_member text_member(struct eval_context *eval_context, struct str key,
				      struct str text)
{
	return (struct json_member){ .key = key, .value = *text_of(eval_context, text) };
}

static const struct json *error_tree(struct eval_context *eval_context, struct str path,
				     const struct failure *fault)
{
	struct arena *arena = eval_context->d->arena;
	struct json_member *members = arena_array(arena, struct json_member, 3);
	size_t count = 0;
	if (path.size > 0)
		members[count++] = text_member(eval_context, S("step"), path);
	members[count++] = text_member(eval_context, S("code"), fault->code);
	members[count++] = text_member(eval_context, S("message"), fault->text);
	struct json *error = arena_new(arena, struct json);
	*error = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return error;
}

/* {code, message}; in graphs of older versions the message alone; NULL = no error. */
static const struct json *error_of(struct eval_context *eval_context, const struct failure *fault)
{
	if (fault->code.size == 0)
		return NULL;
	return eval_context->run->graph->rules < GRAPH_RULES_ERROR_OBJECT
		       ? text_of(eval_context, fault->text)
		       : error_tree(eval_context, S(""), fault);
}

static const struct json *see_step(void *context, struct str name, enum expr_field field)
{
	struct eval_context *eval_context = context;
	for (struct scope *scope = eval_context->scope; scope != NULL;
	     scope = outer(eval_context, scope)) {
		int64_t node = graph_find(eval_context->run->graph, body_owner(scope), name);
		if (node < 0)
			continue;
		const struct place *place = run_place(eval_context->run, scope, (uint32_t)node);
		if (eval_context->closing != NULL && eval_context->closing->scope == scope &&
		    eval_context->closing->node == (uint32_t)node)
			return see_closing(eval_context, field);
		const struct activation *final = place->final;
		if (field == EXPR_STATUS) {
			const struct activation *shown = final != NULL ? final : place->newest;
			return shown == NULL ? NULL
					     : text_of(eval_context, status_word(shown->state));
		}
		if (final == NULL)
			return NULL;
		if (field == EXPR_ERROR)
			return error_of(eval_context, &final->fault);
		return eval_value(eval_context, &final->output);
	}
	const struct json *given = json_member(see_given(eval_context, S("steps"), name),
					       field == EXPR_OUTPUTS  ? S("outputs")
					       : field == EXPR_STATUS ? S("status")
								      : S("error"));
	return given == NULL || given->kind == JSON_NULL ? NULL : given;
}

/* Whether the step that is being closed sets the variable. */
static bool sets_now(const struct eval_context *eval_context, const struct scope *scope,
		     struct str name, const struct json **out_value)
{
	if (eval_context->closing == NULL || eval_context->closing->scope != scope)
		return false;
	const struct run_graph_node *row = run_node(eval_context->run, eval_context->closing)->row;
	for (size_t s = 0; s < row->sets.count; s++)
		if (str_equal(row->sets.at[s].value, name)) {
			*out_value = json_member(eval_context->output, row->sets.at[s].key);
			return true;
		}
	return false;
}

/* The newest step that has set the variable, from the innermost body outwards. */
static const struct json *see_ctx(void *context, struct str name)
{
	struct eval_context *eval_context = context;
	for (struct scope *scope = eval_context->scope; scope != NULL;
	     scope = outer(eval_context, scope)) {
		const struct json *value;
		if (sets_now(eval_context, scope, name, &value))
			return value;
		struct graph_numbers body = graph_body(eval_context->run->graph, body_owner(scope));
		const struct activation *newest = NULL;
		struct str key = S("");
		for (size_t i = 0; i < body.count; i++) {
			const struct run_graph_node *row =
				eval_context->run->graph->nodes[body.at[i]].row;
			const struct activation *final = scope->places[i].final;
			for (size_t s = 0; s < row->sets.count && final != NULL; s++)
				if (str_equal(row->sets.at[s].value, name) &&
				    final->state == STEP_SUCCEEDED &&
				    (newest == NULL || final->ended_seq > newest->ended_seq)) {
					newest = final;
					key = row->sets.at[s].key;
				}
		}
		if (newest != NULL)
			return json_member(eval_value(eval_context, &newest->output), key);
	}
	return see_given(eval_context, S("ctx"), name);
}

static const struct json *number_of(struct eval_context *eval_context, int64_t number)
{
	struct json *json = arena_new(eval_context->d->arena, struct json);
	*json = (struct json){ .kind = JSON_INT, .as.integer = number };
	return json;
}

/* The names that a map defines in its body: the item and its index, under the names the map gives. */
static bool see_item(struct eval_context *eval_context, const struct scope *scope, struct str name,
		     const struct json **out)
{
	if (scope->owner == NULL || scope->item < 0)
		return false;
	const struct run_graph_node *row = run_node(eval_context->run, scope->owner)->row;
	if (str_equal(name, has(row, item) ? row->item : S("item"))) {
		*out = json_item(eval_value(eval_context, &scope->owner->items),
				 (size_t)scope->item);
		return true;
	}
	if (str_equal(name, S("index"))) {
		*out = number_of(eval_context, scope->item);
		return true;
	}
	return false;
}

/* The error in the catch and finally steps of a try: {step, code, message}, or null. */
static bool see_error(struct eval_context *eval_context, const struct scope *scope, struct str name,
		      const struct json **out)
{
	if (scope->section == RUN_SECTION_STEPS || !str_equal(name, S("error")))
		return false;
	const struct first_failure *failure =
		scope->failed.path.size > 0 ? &scope->failed : &scope->caught;
	struct first_failure cancelled = {
		.path = scope->owner->path,
		.fault = eval_context->run->stopped.code.size > 0
				 ? eval_context->run->stopped
				 : failure_make(ERROR_CANCELLED, S("the run was cancelled"))
	};
	*out = NULL;
	if (scope->owner->stopping)
		failure = &cancelled;
	if (failure->path.size > 0)
		*out = error_tree(eval_context, failure->path, &failure->fault);
	return true;
}

static const struct json *see_variable(void *context, struct str name)
{
	struct eval_context *eval_context = context;
	const struct json *found = NULL;
	if (str_equal(name, S("inputs")))
		return eval_value(eval_context, &eval_context->run->inputs);
	if (str_equal(name, S("output")))
		return eval_context->output;
	for (const struct scope *scope = eval_context->scope; scope != NULL;
	     scope = outer(eval_context, scope))
		if (see_item(eval_context, scope, name, &found) ||
		    see_error(eval_context, scope, name, &found))
			return found;
	if (has(eval_context->run->graph->rows, state) &&
	    graph_state_variable(eval_context, name, &found))
		return found;
	return see_given(eval_context, S("names"), name);
}

/* ---- lenient rules --------------------------------------------------------------------- */

/* What happened, what was made of it, and how to correct it. */
struct leniency {
	enum run_warning_code code;
	struct str problem, consequence, fix;
};

static struct leniency describe(struct arena *arena, enum expr_leniency rule, struct str what,
				const char *why)
{
	struct str quoted = str_head(what, LIMIT_WARNING_BYTES);
	switch (rule) {
	case EXPR_READ_AS_NULL:
		return (struct leniency){
			RUN_WARNING_MISSING,
			str_format(arena, STR_FMT " is missing", STR_ARG(quoted)),
			S(" and was read as null"),
			str_format(arena,
				   "correct the name, or give a default: coalesce(" STR_FMT ", …)",
				   STR_ARG(quoted))
		};
	case EXPR_FAILED_AS_NULL:
		return (struct leniency){ RUN_WARNING_EXPRESSION,
					  str_format(arena,
						     "${" STR_FMT "} cannot be evaluated: %s",
						     STR_ARG(quoted), why),
					  S("; it was read as null"),
					  S("correct the expression or the values it reads") };
	case EXPR_CONDITION_FALSE:
	case EXPR_CONDITION_TRUE:
		break;
	}
	return (struct leniency){
		RUN_WARNING_CONDITION,
		str_format(arena, "the condition " STR_FMT " cannot be evaluated: %s",
			   STR_ARG(quoted), why),
		rule == EXPR_CONDITION_TRUE ? S("; it counts as true") : S("; it counts as false"),
		S("correct it, or test the values it reads first")
	};
}

/* While a value is not loaded, nothing is known about what is missing. */
static void note_lenient(void *context, enum expr_leniency rule, struct str what, const char *why)
{
	struct eval_context *eval_context = context;
	struct arena *arena = eval_context->d->arena;
	if (eval_context->missing || eval_context->quiet)
		return;
	struct leniency note = describe(arena, rule, what, why);
	if (eval_context->strict) {
		if (eval_context->fault.code.size == 0)
			eval_context->fault =
				failure_make(ERROR_INVALID,
					     str_format(arena, STR_FMT "; " STR_FMT,
							STR_ARG(note.problem), STR_ARG(note.fix)));
		return;
	}
	decision_warn(eval_context->d, note.code, str_copy(arena, eval_context->step),
		      str_format(arena, STR_FMT STR_FMT "; " STR_FMT, STR_ARG(note.problem),
				 STR_ARG(note.consequence), STR_ARG(note.fix)));
}

static struct expr_scope scope_of(struct eval_context *eval_context)
{
	return (struct expr_scope){
		.step = see_step,
		.ctx = see_ctx,
		.variable = see_variable,
		.lenient = note_lenient,
		.context = eval_context,
	};
}

const struct json *eval_render_secrets(struct eval_context *eval_context,
				       const struct json *template,
				       struct template_secrets *secrets)
{
	struct expr_scope scope = scope_of(eval_context);
	return template_render_secrets(template, &scope, eval_context->d->arena, secrets);
}

const struct json *eval_render(struct eval_context *eval_context, const struct json *template)
{
	struct expr_scope scope = scope_of(eval_context);
	return template_render(template, &scope, eval_context->d->arena);
}

bool eval_holds(struct eval_context *eval_context, const struct expr *condition)
{
	struct expr_scope scope = scope_of(eval_context);
	return expr_holds(condition, &scope, eval_context->d->arena);
}

bool eval_expression(struct eval_context *eval_context, const struct expr *expr,
		     const struct json **out, struct error *error)
{
	struct expr_scope scope = scope_of(eval_context);
	return expr_evaluate(expr, &scope, eval_context->d->arena, out, error);
}
