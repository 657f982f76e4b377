/* engine/verify.c -- verification of the runtime vocabulary: criteria, corrections, and when to stop.
 *
 * The first round checks the output of the target.  Every further round runs the body, which corrects
 * the output, and checks the corrected output.  The result itself carries the list of corrections
 * from round to round.
 */
#include "engine/engine_internal.h"

#include "contract/run_graph_types.h"
#include "contract/runtime_types.h"

struct round {
	const struct json *checked; /* the output being verified */
	const struct run_graph_node *row;
	bool *held; /* one per criterion */
	size_t passed;
	struct str critical; /* a critical criterion that failed; "" = none */
	bool broken;         /* the correction itself failed */
	const struct runtime_verification_result
		*before; /* the previous round; NULL in the first */
};

/* Whether enough criteria hold. */
static bool is_good(const struct runtime_verification_policy *policy, size_t passed, size_t all)
{
	return policy->require_all_criteria ? passed == all : passed * 2 > all;
}

/* Every combination of inputs has exactly one status, which also decides whether there is another
 * round. */
static enum runtime_verification_status judge(const struct runtime_verification_policy *policy,
					      const struct round *round, size_t all, int64_t number,
					      bool correctable, int64_t elapsed_us, bool *out_again)
{
	bool late =
		has(policy, timeout_seconds) && (double)elapsed_us > policy->timeout_seconds * 1e6;
	*out_again = false;
	if (!round->broken && is_good(policy, round->passed, all))
		return number == 1 ? RUNTIME_VERIFICATION_PASSED : RUNTIME_VERIFICATION_CORRECTED;
	if (round->critical.size > 0 && policy->halt_on_critical)
		return RUNTIME_VERIFICATION_FAILED;
	if (!correctable)
		return RUNTIME_VERIFICATION_FAILED;
	if (number > policy->max_correction_attempts || late)
		return RUNTIME_VERIFICATION_UNCORRECTABLE;
	*out_again = true;
	return RUNTIME_VERIFICATION_FAILED;
}

static const struct runtime_verification_result *result_before(struct eval_context *eval_context,
							       const struct activation *activation)
{
	const struct json *json = eval_value(eval_context, &activation->before);
	if (json == NULL)
		return NULL;
	struct problems problems = { .arena = eval_context->d->arena };
	struct contract_source source = { .json = json, .text = S(""), .lenient = true };
	return runtime_verification_result_parse(&source, eval_context->d->arena, &problems);
}

static bool held_before(const struct round *round, struct str name)
{
	const struct runtime_verification_result *before = round->before;
	for (size_t i = 0; before != NULL && i < before->criteria_results.count; i++)
		if (str_equal(before->criteria_results.at[i].key, name))
			return before->criteria_results.at[i].value;
	return false;
}

/* The target is in the body of the verification or, in graphs of newer versions, in one around it. */
static const struct activation *find_target(const struct run *run,
					    const struct activation *activation)
{
	struct str name = run_node(run, activation)->row->target;
	for (struct scope *scope = activation->scope; scope != NULL;
	     scope = scope->owner == NULL ? NULL : scope->owner->scope) {
		int64_t target = graph_find(
			run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node, name);
		if (target >= 0)
			return run_place(run, scope, (uint32_t)target)->final;
		if (run->graph->rules < GRAPH_RULES_ERROR_OBJECT)
			break;
	}
	return NULL;
}

static const struct json *checked_output(struct eval_context *eval_context,
					 const struct activation *activation)
{
	if (activation->round > 1)
		return body_output(eval_context, activation->scopes, activation->node);
	const struct activation *final = find_target(eval_context->run, activation);
	return final == NULL ? NULL : eval_value(eval_context, &final->output);
}

static struct round look(struct eval_context *eval_context, const struct activation *activation)
{
	const struct graph_node *node = run_node(eval_context->run, activation);
	struct round round = { .row = node->row, .critical = S("") };
	round.before = result_before(eval_context, activation);
	round.broken = activation->round > 1 && activation->scopes->failed.path.size > 0;
	round.checked = round.broken ? NULL : checked_output(eval_context, activation);
	round.held = arena_array(eval_context->d->arena, bool, node->criterion_count);
	eval_context->output = round.checked;
	for (size_t i = 0; i < node->criterion_count; i++) {
		const struct graph_criterion *criterion = &node->criteria[i];
		round.held[i] = round.broken ? held_before(&round, criterion->name)
					     : eval_holds(eval_context, criterion->check);
		round.passed += round.held[i];
		if (!round.held[i] && criterion->critical && round.critical.size == 0)
			round.critical = criterion->name;
	}
	return round;
}

/* ---- the record -------------------------------------------------------------------------- */

static struct runtime_correction_attempt correction(const struct round *round, int64_t number,
						    int64_t duration_us, struct arena *arena)
{
	const struct run_graph_node *row = round->row;
	struct str *resolved = arena_array(arena, struct str, row->criteria.count);
	struct str *remaining = arena_array(arena, struct str, row->criteria.count);
	size_t good = 0, bad = 0;
	for (size_t i = 0; i < row->criteria.count; i++) {
		struct str name = row->criteria.at[i].name;
		if (!round->held[i])
			remaining[bad++] = name;
		else if (!held_before(round, name))
			resolved[good++] = name;
	}
	struct runtime_correction_attempt attempt = *runtime_correction_attempt_new(arena);
	SET(&attempt, attempt_number, number);
	SET(&attempt, outcome,
	    bad == 0   ? RUNTIME_CORRECTION_SUCCESS
	    : good > 0 ? RUNTIME_CORRECTION_PARTIAL
		       : RUNTIME_CORRECTION_FAILED);
	SET(&attempt, issues_resolved, ((struct str_list){ resolved, good }));
	SET(&attempt, issues_remaining, ((struct str_list){ remaining, bad }));
	if (round->checked != NULL)
		SET(&attempt, corrected_output, round->checked);
	SET(&attempt, duration_ms, duration_us / 1000);
	return attempt;
}

static const struct json *record(const struct round *round, const struct activation *activation,
				 enum runtime_verification_status status, int64_t now,
				 int64_t elapsed_us, struct arena *arena)
{
	const struct run_graph_node *row = round->row;
	size_t before = round->before == NULL ? 0 : round->before->corrections.count;
	size_t count = activation->round > 1 ? before + 1 : 0;
	struct runtime_correction_attempt *attempts =
		arena_array(arena, struct runtime_correction_attempt, count);
	for (size_t i = 0; i + 1 < count; i++)
		attempts[i] = round->before->corrections.at[i];
	if (count > 0)
		attempts[count - 1] =
			correction(round, (int64_t)count, now - activation->started_at, arena);
	struct bool_entry *results = arena_array(arena, struct bool_entry, row->criteria.count);
	for (size_t i = 0; i < row->criteria.count; i++)
		results[i] = (struct bool_entry){ row->criteria.at[i].name, round->held[i] };
	struct runtime_verification_result *result = runtime_verification_result_new(arena);
	SET(result, status, status);
	SET(result, criteria_results, ((struct bool_map){ results, row->criteria.count }));
	SET(result, corrections, ((struct runtime_correction_attempt_list){ attempts, count }));
	if ((status == RUNTIME_VERIFICATION_PASSED || status == RUNTIME_VERIFICATION_CORRECTED) &&
	    round->checked != NULL)
		SET(result, final_output, round->checked);
	SET(result, total_duration_ms, elapsed_us / 1000);
	if (status == RUNTIME_VERIFICATION_UNCORRECTABLE)
		SET(result, error,
		    S("all correction attempts are used up, or the time limit has passed"));
	return runtime_verification_result_tree(result, arena);
}

enum engine_answer verify_round(struct run *run, struct activation *activation, int64_t now,
				const struct engine_values *values, struct decision *d)
{
	const struct graph_node *node = run_node(run, activation);
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	struct round round = look(&eval_context, activation);
	if (eval_context.missing)
		return ENGINE_NEED;
	int64_t elapsed = activation->begun_at == 0 ? 0 : now - activation->begun_at;
	bool again;
	enum runtime_verification_status status =
		judge(node->row->policy, &round, node->criterion_count, activation->round,
		      node->body.count > 0, elapsed, &again);
	const struct json *output = record(&round, activation, status, now, elapsed, d->arena);
	bool good =
		status == RUNTIME_VERIFICATION_PASSED || status == RUNTIME_VERIFICATION_CORRECTED;
	struct step_continuation continuation = NO_CONTINUATION;
	struct failure fault = { S(""), S("") };
	again = again && eval_context.fault.code.size == 0;
	if (again) {
		continuation.next = run_next_new(d->arena);
		SET(continuation.next, again, true);
	} else if (eval_context.fault.code.size > 0) {
		fault = eval_context.fault;
	} else if (!good) {
		fault = failure_make(ERROR_UNVERIFIED,
				     str_format(d->arena, "%zu of %zu criteria hold", round.passed,
						node->criterion_count));
	} else if (!continuation_after_success(&eval_context, activation, output, &continuation)) {
		return ENGINE_NEED;
	}
	if (fault.code.size == 0)
		fault = continuation.fault;
	struct run_value *value;
	if (!decision_value(d, output, &value))
		return ENGINE_NEED;
	if (activation->round == 1)
		decision_emit_computed(run, activation, now, value, fault, continuation.next, d);
	else
		body_left(run, activation, now, value, fault, continuation.next, d);
	if (fault.code.size > 0 && round.critical.size > 0 && node->row->policy->halt_on_critical)
		engine_cancel_run(run, now, S("baton"), S(""), fault, d);
	else
		enforce_iteration_limit(run, &continuation, now, d);
	return ENGINE_DONE;
}
