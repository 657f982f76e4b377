/* engine/see.c -- what templates and expressions read of a run.
 *
 * `steps.x` is looked for from the innermost body outwards.  A value that is stored and not loaded
 * reads as null and is noted: the caller throws the result away, has it loaded and asks again, so
 * exactly what is read is fetched.
 */
#include "engine/inside.h"

#include "expr/template.h"

struct seeing see_from(struct run *run, struct scope *scope, const struct engine_values *values,
		       struct decision *d)
{
	return (struct seeing){ .run = run, .scope = scope, .values = values, .d = d };
}

const struct json *see_value(struct seeing *seeing, const struct value *value)
{
	const struct json *json;
	switch (value->kind) {
	case VALUE_ABSENT:
		return NULL;
	case VALUE_STORED:
		json = seeing->values->look(seeing->values->context, &value->hash);
		if (json == NULL) {
			need(seeing->d, &value->hash);
			seeing->missing = true;
		}
		return json;
	case VALUE_INLINE:
		break;
	}
	return json_of(value->text, seeing->d->arena);
}

static const struct json *text_of(struct seeing *seeing, struct str text)
{
	struct json *json = arena_new(seeing->d->arena, struct json);
	*json = (struct json){ .kind = JSON_STRING, .as.string = text };
	return json;
}

/* S2's word for a step's state. */
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

static struct scope *outer(const struct scope *scope)
{
	return scope->owner == NULL ? NULL : scope->owner->scope;
}

static uint32_t body_owner(const struct scope *scope)
{
	return scope->owner == NULL ? GRAPH_ROOT : scope->owner->node;
}

static const struct json *see_closing(struct seeing *seeing, enum expr_field field)
{
	if (field == EXPR_OUTPUTS)
		return seeing->output;
	return field == EXPR_STATUS ? text_of(seeing, S("success")) : NULL;
}

static const struct json *see_step(void *context, struct str name, enum expr_field field)
{
	struct seeing *seeing = context;
	for (struct scope *scope = seeing->scope; scope != NULL; scope = outer(scope)) {
		int64_t node = graph_find(seeing->run->graph, body_owner(scope), name);
		if (node < 0)
			continue;
		const struct place *place = run_place(seeing->run, scope, (uint32_t)node);
		if (seeing->closing != NULL && seeing->closing->scope == scope &&
		    seeing->closing->node == (uint32_t)node)
			return see_closing(seeing, field);
		const struct activation *final = place->final;
		if (field == EXPR_STATUS) {
			const struct activation *shown = final != NULL ? final : place->newest;
			return shown == NULL ? NULL : text_of(seeing, status_word(shown->state));
		}
		if (final == NULL)
			return NULL;
		if (field == EXPR_ERROR)
			return final->fault.code.size == 0 ? NULL
							   : text_of(seeing, final->fault.text);
		return see_value(seeing, &final->output);
	}
	return NULL;
}

/* Does the step that is being closed set the variable? */
static bool sets_now(const struct seeing *seeing, const struct scope *scope, struct str name,
		     const struct json **out_value)
{
	if (seeing->closing == NULL || seeing->closing->scope != scope)
		return false;
	const struct run_graph_node *row = run_node(seeing->run, seeing->closing)->row;
	for (size_t s = 0; s < row->sets.count; s++)
		if (str_equal(row->sets.at[s].value, name)) {
			*out_value = json_member(seeing->output, row->sets.at[s].key);
			return true;
		}
	return false;
}

/* The newest step that has set the variable, from the innermost body outwards. */
static const struct json *see_ctx(void *context, struct str name)
{
	struct seeing *seeing = context;
	for (struct scope *scope = seeing->scope; scope != NULL; scope = outer(scope)) {
		const struct json *value;
		if (sets_now(seeing, scope, name, &value))
			return value;
		struct graph_numbers body = graph_body(seeing->run->graph, body_owner(scope));
		const struct activation *newest = NULL;
		struct str key = S("");
		for (size_t i = 0; i < body.count; i++) {
			const struct run_graph_node *row =
				seeing->run->graph->nodes[body.at[i]].row;
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
			return json_member(see_value(seeing, &newest->output), key);
	}
	return NULL;
}

static const struct json *number_of(struct seeing *seeing, int64_t number)
{
	struct json *json = arena_new(seeing->d->arena, struct json);
	*json = (struct json){ .kind = JSON_INT, .as.integer = number };
	return json;
}

/* Names that a body brings: an item and its index, under the map's own words. */
static bool see_item(struct seeing *seeing, const struct scope *scope, struct str name,
		     const struct json **out)
{
	if (scope->owner == NULL || scope->item < 0)
		return false;
	const struct run_graph_node *row = run_node(seeing->run, scope->owner)->row;
	if (str_equal(name, has(row, item) ? row->item : S("item"))) {
		*out = json_item(see_value(seeing, &scope->owner->items), (size_t)scope->item);
		return true;
	}
	if (str_equal(name, S("index"))) {
		*out = number_of(seeing, scope->item);
		return true;
	}
	return false;
}

static const struct json *see_variable(void *context, struct str name)
{
	struct seeing *seeing = context;
	const struct json *found = NULL;
	if (str_equal(name, S("inputs")))
		return see_value(seeing, &seeing->run->inputs);
	if (str_equal(name, S("output")))
		return seeing->output;
	for (const struct scope *scope = seeing->scope; scope != NULL; scope = outer(scope))
		if (see_item(seeing, scope, name, &found))
			return found;
	return NULL;
}

static struct expr_scope scope_of(struct seeing *seeing)
{
	return (struct expr_scope){
		.step = see_step, .ctx = see_ctx, .variable = see_variable, .context = seeing
	};
}

const struct json *see_render(struct seeing *seeing, const struct json *template)
{
	struct expr_scope scope = scope_of(seeing);
	return template_render(template, &scope, seeing->d->arena);
}

bool see_holds(struct seeing *seeing, const struct expr *condition)
{
	struct expr_scope scope = scope_of(seeing);
	return expr_holds(condition, &scope, seeing->d->arena);
}

bool see_evaluate(struct seeing *seeing, const struct expr *expr, const struct json **out,
		  struct error *error)
{
	struct expr_scope scope = scope_of(seeing);
	return expr_evaluate(expr, &scope, seeing->d->arena, out, error);
}
