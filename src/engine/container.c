/* engine/container.c -- containers: entering a body, and the result of a body. */
#include "engine/engine_internal.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_output_types.h"
#include "contract/runtime_types.h"
#include "engine/session.h"
#include "engine/workspace_folder.h"

static void emit_entered(struct run *run, const struct activation *activation, int64_t now,
			 struct run_value *items, int64_t count, struct str tree,
			 struct decision *d)
{
	struct run_step_entered *body = run_step_entered_new(d->arena);
	SET(body, step, activation->path);
	if (tree.size > 0)
		SET(body, tree, tree);
	if (activation->undoes.size > 0)
		SET(body, undoes, activation->undoes);
	if (items != NULL) {
		SET(body, items, items);
		SET(body, count, count);
	}
	decision_emit(run, d,
		      (struct event){ EVENT_STEP_ENTERED, now, { .run_step_entered = body } });
}

/* The bodies of a map stay in the state until the map is left, so all of them count. */
static bool has_room_for(const struct run *run, const struct activation *map, size_t items)
{
	size_t each = run_node(run, map)->body.count;
	return run->paths.count + items * each <= LIMIT_ACTIVATIONS;
}

static enum engine_answer enter_map(struct run *run, struct activation *activation, int64_t now,
				    const struct engine_values *values, struct str tree,
				    struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	const struct json *items = eval_render(&eval_context, row->over);
	if (eval_context.missing)
		return ENGINE_NEED;
	struct run_value *value = NULL;
	struct failure fault = eval_context.fault;
	if (fault.code.size > 0)
		; /* the items cannot be known */
	else if (items == NULL || items->kind != JSON_LIST)
		fault = failure_make(ERROR_INVALID, S("the items of the map are not a list"));
	else if (items->as.list.count > LIMIT_MAP_ITEMS)
		fault = failure_make(ERROR_TOO_LARGE, S("the map has too many items"));
	else if (!has_room_for(run, activation, items->as.list.count))
		fault = failure_make(
			ERROR_LIMIT_REACHED,
			str_format(d->arena,
				   "%zu items would give the run more than %d steps; divide the "
				   "work among sub-workflows",
				   items->as.list.count, LIMIT_ACTIVATIONS));
	else if (tree.size > 0 && items->as.list.count > LIMIT_WRITING_ITEMS)
		fault = failure_make(
			ERROR_TOO_LARGE,
			str_format(d->arena,
				   "the map has %zu items whose steps write to folders of their "
				   "own, and %d are allowed; use serial: true, or nest maps",
				   items->as.list.count, LIMIT_WRITING_ITEMS));
	else if (!decision_value(d, items, &value))
		return ENGINE_NEED;
	else if (value == NULL)
		fault = failure_make(ERROR_TOO_LARGE,
				     S("the items are larger than the limit of a value"));
	if (fault.code.size > 0)
		request_fail_ready(run, activation, fault, now, d);
	else
		emit_entered(run, activation, now, value, (int64_t)items->as.list.count, tree, d);
	return ENGINE_DONE;
}

/* Branches need a tree to begin at. */
static struct failure no_tree(const struct engine_tree *tree)
{
	if (tree->fault.code.size > 0)
		return tree->fault;
	return failure_make(ERROR_IO, S("the workspace cannot be stored, so the steps cannot work "
					"in folders of their own; use serial: true"));
}

static bool is_tree(const struct engine_tree *tree)
{
	return tree->fault.code.size == 0 && !str_equal(tree->tree, S("none"));
}

enum engine_answer body_enter(struct run *run, struct activation *activation, int64_t now,
			      const struct engine_values *values, struct decision *d)
{
	const struct graph_node *node = run_node(run, activation);
	struct str base = S("");
	if (node->own_trees) {
		const struct engine_tree *tree = request_tree(activation, values);
		if (tree == NULL) {
			request_want_tree(run, activation, d);
			return ENGINE_DONE;
		}
		if (!is_tree(tree)) {
			request_fail_ready(run, activation, no_tree(tree), now, d);
			return ENGINE_DONE;
		}
		base = tree->tree;
	}
	if (node->kind == RUN_NODE_SESSION)
		return session_begin(run, activation, now, values, d);
	if (node->kind == RUN_NODE_MAP)
		return enter_map(run, activation, now, values, base, d);
	if (node->kind == RUN_NODE_VERIFY && activation->round == 1 && !has(node->row, repeats))
		return verify_round(run, activation, now, values, d);
	if (node->kind == RUN_NODE_LOOP && activation->round == 1 && has(node->row, on_limit)) {
		struct eval_context eval_context = eval_context_make(run, activation, values, d);
		struct failure fault = { S(""), S("") };
		continuation_rounds(&eval_context, node, &fault);
		if (eval_context.missing)
			return ENGINE_NEED;
		if (fault.code.size > 0) {
			request_fail_ready(run, activation, fault, now, d);
			return ENGINE_DONE;
		}
	}
	emit_entered(run, activation, now, NULL, 0, base, d);
	return ENGINE_DONE;
}

/* Whether a branch has changed anything. */
static bool needs_merge(const struct activation *activation)
{
	for (const struct branch *at = activation->branches; at != NULL; at = at->next)
		if (at->requested && !str_equal(at->tree, activation->tree))
			return true;
	return false;
}

/* The merged tree of the branches, or why there is none.  False: it is wanted. */
static bool merge_branches(const struct run *run, const struct activation *activation,
			   const struct engine_values *values, struct decision *d,
			   struct str *out_tree, struct failure *out_fault)
{
	if (!needs_merge(activation))
		return true;
	const struct engine_tree *tree = request_tree(activation, values);
	if (tree == NULL) {
		decision_want_tree(d, (struct decision_tree){ .step = activation->path,
							      .branch = branch_of(run, activation),
							      .merges = true,
							      .base = activation->tree,
							      .container = activation });
		return false;
	}
	if (is_tree(tree))
		*out_tree = tree->tree;
	else
		*out_fault = no_tree(tree);
	return true;
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
	const struct graph *graph = eval_context->run->graph;
	struct graph_numbers body = graph_body(graph, owner);
	struct json *output = arena_new(arena, struct json);
	bool parallel = owner != GRAPH_ROOT && graph->nodes[owner].kind == RUN_NODE_PARALLEL;
	/* A failure that was caught has the output of what caught it. */
	enum run_section section =
		scope->caught.path.size > 0 ? RUN_SECTION_CATCH : RUN_SECTION_STEPS;
	struct json_member *members = arena_array(arena, struct json_member, body.count);
	size_t count = 0;
	for (size_t i = 0; i < body.count; i++)
		if (graph->nodes[body.at[i]].section == section)
			members[count++] = (struct json_member){
				.key = graph->nodes[body.at[i]].name,
				.value = output_of(eval_context, &scope->places[i]),
			};
	if (count == 1 && !parallel)
		*output = members[0].value;
	else
		*output = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
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

static void emit_left(struct run *run, const struct activation *activation, int64_t now,
		      struct run_value *output, struct failure fault, struct run_next *next,
		      struct str tree, struct decision *d)
{
	struct run_step_left *body = run_step_left_new(d->arena);
	SET(body, step, activation->path);
	if (tree.size > 0)
		SET(body, tree, tree);
	SET(body, outcome,
	    activation->stopping  ? RUN_OUTCOME_CANCELLED
	    : fault.code.size > 0 ? RUN_OUTCOME_FAILED
				  : RUN_OUTCOME_OK);
	if (output != NULL)
		SET(body, output, output);
	if (fault.code.size > 0)
		SET(body, fault, decision_failure(d, fault));
	if (next != NULL)
		SET(body, next, next);
	decision_emit(run, d, (struct event){ EVENT_STEP_LEFT, now, { .run_step_left = body } });
}

void body_left(struct run *run, const struct activation *activation, int64_t now,
	       struct run_value *output, struct failure fault, struct run_next *next,
	       struct decision *d)
{
	emit_left(run, activation, now, output, fault, next, S(""), d);
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
	if (activation->stopping) {
		/* A try whose finally steps were left alone by the cancel. */
		body_left(run, activation, now, NULL,
			  failure_make(ERROR_CANCELLED, S("the run was cancelled")), NULL, d);
		return ENGINE_DONE;
	}
	/* A step that is repeated fails with what it does; a correction that fails is one that did not help. */
	if (node->kind == RUN_NODE_VERIFY &&
	    !(has(node->row, repeats) && first_failed(activation) != NULL))
		return verify_round(run, activation, now, values, d);
	if (node->kind == RUN_NODE_GATE)
		return body_leave_gate(run, activation, now, values, d);
	if (node->kind == RUN_NODE_SESSION)
		return session_continue(run, activation, now, values, d);
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	const struct json *output =
		node->kind == RUN_NODE_MAP
			? map_output(&eval_context, activation)
			: body_output(&eval_context, activation->scopes, activation->node);
	const struct scope *failed = first_failed(activation);
	struct str tree = S("");
	struct failure unmerged = activation->fault;
	if (failed == NULL && unmerged.code.size == 0 && node->own_trees &&
	    !merge_branches(run, activation, values, d, &tree, &unmerged))
		return ENGINE_DONE;
	struct step_continuation continuation = NO_CONTINUATION;
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
	else
		fault = unmerged.code.size > 0 ? unmerged : continuation.fault;
	struct run_value *value;
	if (!decision_value(d, output, &value))
		return ENGINE_NEED;
	if (value == NULL && fault.code.size == 0)
		fault = failure_make(ERROR_TOO_LARGE,
				     S("the output is larger than the limit of a value"));
	emit_left(run, activation, now, value, fault,
		  fault.code.size > 0 ? NULL : continuation.next, tree, d);
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
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
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
	struct step_continuation continuation = NO_CONTINUATION;
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
	if (good)
		fault = continuation.fault;
	body_left(run, activation, now, value, fault, continuation.next, d);
	enforce_iteration_limit(run, &continuation, now, d);
	return ENGINE_DONE;
}
