/* engine/container.c -- containers: entering a body, and the result of a body. */
#include "engine/engine_internal.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_output_types.h"
#include "contract/runtime_types.h"

static void emit_entered(struct run *run, const struct activation *activation, int64_t now,
			 struct run_value *items, int64_t count, struct decision *d)
{
	struct run_step_entered *body = run_step_entered_new(d->arena);
	SET(body, step, activation->path);
	if (items != NULL) {
		SET(body, items, items);
		SET(body, count, count);
	}
	decision_emit(run, d,
		      (struct event){ EVENT_STEP_ENTERED, now, { .run_step_entered = body } });
}

static enum engine_answer enter_map(struct run *run, struct activation *activation, int64_t now,
				    const struct engine_values *values, struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	struct eval_context eval_context = eval_context_make(run, activation->scope, values, d);
	const struct json *items = eval_render(&eval_context, row->over);
	if (eval_context.missing)
		return ENGINE_NEED;
	struct run_value *value = NULL;
	struct failure fault = { S(""), S("") };
	if (items == NULL || items->kind != JSON_LIST)
		fault = failure_make(ERROR_INVALID, S("the items of the map are not a list"));
	else if (items->as.list.count > LIMIT_MAP_ITEMS)
		fault = failure_make(ERROR_TOO_LARGE, S("the map has too many items"));
	else if (!decision_value(d, items, &value))
		return ENGINE_NEED;
	else if (value == NULL)
		fault = failure_make(ERROR_TOO_LARGE,
				     S("the items are larger than the limit of a value"));
	if (fault.code.size > 0)
		request_fail_ready(run, activation, fault, now, d);
	else
		emit_entered(run, activation, now, value, (int64_t)items->as.list.count, d);
	return ENGINE_DONE;
}

enum engine_answer body_enter(struct run *run, struct activation *activation, int64_t now,
			      const struct engine_values *values, struct decision *d)
{
	const struct graph_node *node = run_node(run, activation);
	if (node->kind == RUN_NODE_MAP)
		return enter_map(run, activation, now, values, d);
	if (node->kind == RUN_NODE_VERIFY && activation->round == 1)
		return verify_round(run, activation, now, values, d);
	emit_entered(run, activation, now, NULL, 0, d);
	return ENGINE_DONE;
}

/* ---- what it comes to ---------------------------------------------------------------- */

static struct json output_of(struct eval_context *eval_context, const struct place *place)
{
	const struct json *output =
		place->final == NULL ? NULL : eval_value(eval_context, &place->final->output);
	return output == NULL ? (struct json){ .kind = JSON_NULL } : *output;
}

const struct json *body_output(struct eval_context *eval_context, struct scope *scope,
			       uint32_t owner)
{
	struct arena *arena = eval_context->d->arena;
	struct graph_numbers body = graph_body(eval_context->run->graph, owner);
	struct json *output = arena_new(arena, struct json);
	bool parallel = owner != GRAPH_ROOT &&
			eval_context->run->graph->nodes[owner].kind == RUN_NODE_PARALLEL;
	if (body.count == 1 && !parallel) {
		*output = output_of(eval_context, &scope->places[0]);
		return output;
	}
	struct json_member *members = arena_array(arena, struct json_member, body.count);
	for (size_t i = 0; i < body.count; i++)
		members[i] = (struct json_member){
			.key = eval_context->run->graph->nodes[body.at[i]].name,
			.value = output_of(eval_context, &scope->places[i]),
		};
	*output = (struct json){ .kind = JSON_OBJECT, .as.object = { members, body.count } };
	return output;
}

/* The bodies of a map in the order of their items.  The scopes are linked newest first. */
static const struct json *map_output(struct eval_context *eval_context,
				     const struct activation *activation)
{
	struct json *list = arena_new(eval_context->d->arena, struct json);
	size_t count = (size_t)activation->item_count;
	struct json *items = arena_array(eval_context->d->arena, struct json, count);
	for (struct scope *scope = activation->scopes; scope != NULL; scope = scope->next)
		items[scope->item] = *body_output(eval_context, scope, activation->node);
	*list = (struct json){ .kind = JSON_LIST, .as.list = { items, count } };
	return list;
}

/* The first failed activation in all bodies of the container. */
static const struct scope *first_failed(const struct activation *activation)
{
	const struct scope *first = NULL;
	for (const struct scope *scope = activation->scopes; scope != NULL; scope = scope->next)
		if (scope->failed.path.size > 0 &&
		    (first == NULL || scope->failed.seq < first->failed.seq))
			first = scope;
	return first;
}

void body_left(struct run *run, const struct activation *activation, int64_t now,
	       struct run_value *output, struct failure fault, struct run_next *next,
	       struct decision *d)
{
	struct run_step_left *body = run_step_left_new(d->arena);
	SET(body, step, activation->path);
	SET(body, outcome, fault.code.size > 0 ? RUN_OUTCOME_FAILED : RUN_OUTCOME_OK);
	if (output != NULL)
		SET(body, output, output);
	if (fault.code.size > 0)
		SET(body, fault, decision_failure(d, fault));
	if (next != NULL)
		SET(body, next, next);
	decision_emit(run, d, (struct event){ EVENT_STEP_LEFT, now, { .run_step_left = body } });
}

/* `until` is evaluated inside the body, on the newest activations of its steps. */
static bool words_inside(struct eval_context *eval_context, const struct activation *activation,
			 const struct json *output, struct step_continuation *out)
{
	struct scope *inside = activation->scopes;
	if (run_node(eval_context->run, activation)->kind == RUN_NODE_LOOP && inside != NULL)
		eval_context->scope = inside;
	return continuation_after_success(eval_context, activation, output, out);
}

enum engine_answer body_leave(struct run *run, struct activation *activation, int64_t now,
			      const struct engine_values *values, struct decision *d)
{
	const struct graph_node *node = run_node(run, activation);
	if (node->kind == RUN_NODE_VERIFY)
		return verify_round(run, activation, now, values, d);
	if (node->kind == RUN_NODE_GATE)
		return body_leave_gate(run, activation, now, values, d);
	struct eval_context eval_context = eval_context_make(run, activation->scope, values, d);
	const struct json *output =
		node->kind == RUN_NODE_MAP
			? map_output(&eval_context, activation)
			: body_output(&eval_context, activation->scopes, activation->node);
	const struct scope *failed = first_failed(activation);
	struct step_continuation continuation = { NULL, S("") };
	if (failed == NULL && !eval_context.missing)
		words_inside(&eval_context, activation, output, &continuation);
	if (eval_context.missing)
		return ENGINE_NEED;
	struct failure fault = { S(""), S("") };
	if (failed != NULL)
		fault = (struct failure){ failed->failed.fault.code,
					  str_format(d->arena, "step " STR_FMT ": " STR_FMT,
						     STR_ARG(failed->failed.path),
						     STR_ARG(failed->failed.fault.text)) };
	struct run_value *value;
	if (!decision_value(d, output, &value))
		return ENGINE_NEED;
	if (value == NULL && failed == NULL)
		fault = failure_make(ERROR_TOO_LARGE,
				     S("the output is larger than the limit of a value"));
	body_left(run, activation, now, value, fault,
		  fault.code.size > 0 ? NULL : continuation.next, d);
	if (fault.code.size == 0)
		enforce_iteration_limit(run, &continuation, now, d);
	return ENGINE_DONE;
}

/* ---- gates ----------------------------------------------------------------------------- */

/* A test passes when its step succeeded and its output does not report a failure. */
static bool test_passed(struct eval_context *eval_context, const struct activation *test)
{
	if (test->state != STEP_SUCCEEDED)
		return false;
	const struct json *output = eval_value(eval_context, &test->output);
	const struct json *passed = json_member(output, S("passed"));
	const struct json *exit_code = json_member(output, S("exit_code"));
	if (passed != NULL)
		return expr_is_true(passed);
	return exit_code == NULL || (exit_code->kind == JSON_INT && exit_code->as.integer == 0);
}

static bool is_required(const struct run_graph_node *row, struct str name)
{
	for (size_t i = 0; i < row->required.count; i++)
		if (str_equal(row->required.at[i], name))
			return true;
	return false;
}

struct tests {
	size_t all, passed;
	bool required_failed;
	struct str first_failed;
};

static struct tests count_tests(struct eval_context *eval_context,
				const struct activation *activation)
{
	const struct graph *graph = eval_context->run->graph;
	const struct graph_node *node = run_node(eval_context->run, activation);
	struct tests tests = { .first_failed = S("") };
	for (size_t i = 0; i < node->body.count; i++) {
		const struct activation *test = activation->scopes->places[i].final;
		struct str name = graph->nodes[node->body.at[i]].name;
		if (test == NULL || (test->state == STEP_SKIPPED && test->fault.code.size == 0))
			continue;
		tests.all++;
		if (test_passed(eval_context, test)) {
			tests.passed++;
			continue;
		}
		tests.required_failed |= is_required(node->row, name);
		if (tests.first_failed.size == 0)
			tests.first_failed = name;
	}
	return tests;
}

static enum runtime_test_gate_status gate_status(const struct tests *tests, double threshold)
{
	if (tests->all == 0)
		return RUNTIME_GATE_SKIPPED;
	if (tests->required_failed)
		return RUNTIME_GATE_FAILED;
	if ((double)tests->passed >= threshold * (double)tests->all)
		return RUNTIME_GATE_PASSED;
	return tests->passed == 0 ? RUNTIME_GATE_FAILED : RUNTIME_GATE_PARTIAL;
}

enum engine_answer body_leave_gate(struct run *run, struct activation *activation, int64_t now,
				   const struct engine_values *values, struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	struct eval_context eval_context = eval_context_make(run, activation->scope, values, d);
	struct tests tests = count_tests(&eval_context, activation);
	if (eval_context.missing)
		return ENGINE_NEED;
	enum runtime_test_gate_status status =
		gate_status(&tests, has(row, threshold) ? row->threshold : 1);
	struct run_gate_result *result = run_gate_result_new(d->arena);
	SET(result, status, status);
	SET(result, passed, (int64_t)tests.passed);
	SET(result, tests, (int64_t)tests.all);
	const struct json *output = run_gate_result_tree(result, d->arena);
	bool good = status == RUNTIME_GATE_PASSED || status == RUNTIME_GATE_SKIPPED;
	struct failure fault = { S(""), S("") };
	struct step_continuation continuation = { NULL, S("") };
	if (!good)
		fault = failure_make(
			ERROR_GATE_CLOSED,
			str_format(d->arena, "%zu of %zu tests passed; " STR_FMT " did not",
				   tests.passed, tests.all, STR_ARG(tests.first_failed)));
	else if (!continuation_after_success(&eval_context, activation, output, &continuation))
		return ENGINE_NEED;
	struct run_value *value;
	if (!decision_value(d, output, &value))
		return ENGINE_NEED;
	body_left(run, activation, now, value, fault, continuation.next, d);
	enforce_iteration_limit(run, &continuation, now, d);
	return ENGINE_DONE;
}
