/* engine/verify.c -- verification of the runtime vocabulary: criteria, corrections, and when to stop.
 *
 * The first round checks the output of the target.  Every further round runs the body, which corrects
 * the output, and checks the corrected output.  The result itself carries the list of corrections
 * from round to round.
 *
 * A verification that repeats a node of its own body has no target: every round runs the body and
 * checks the output of that node.  The output is the node's with the member `verification`, which the
 * next round reads to learn what did not hold.
 */
#include "engine/engine_internal.h"

#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/runtime_types.h"
#include "schema/schema.h"

struct round {
	const struct json *checked; /* the output being verified */
	const struct run_graph_node *row;
	bool *held;          /* one per criterion */
	struct str *reasons; /* one per criterion, of those that do not hold */
	bool stuck;          /* what does not hold is the same as in the previous round */
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
	if (number > policy->max_correction_attempts || late || round->stuck)
		return RUNTIME_VERIFICATION_UNCORRECTABLE;
	*out_again = true;
	return RUNTIME_VERIFICATION_FAILED;
}

static const struct runtime_verification_result *result_before(struct eval_context *eval_context,
							       const struct activation *activation)
{
	const struct json *json = eval_value(eval_context, &activation->before);
	if (has(run_node(eval_context->run, activation)->row, repeats))
		json = json_member(json, S("verification"));
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
	const struct run *run = eval_context->run;
	const struct run_graph_node *row = run_node(run, activation)->row;
	if (has(row, repeats)) {
		int64_t node = graph_find(run->graph, activation->node, row->repeats);
		const struct activation *repeated =
			node < 0 ? NULL : run_place(run, activation->scopes, (uint32_t)node)->final;
		return repeated == NULL ? NULL : eval_value(eval_context, &repeated->output);
	}
	if (activation->round > 1)
		return body_output(eval_context, activation->scopes, activation->node);
	const struct activation *final = find_target(eval_context->run, activation);
	return final == NULL ? NULL : eval_value(eval_context, &final->output);
}

/* ---- the criteria ------------------------------------------------------------------------ */

static bool fits(const struct run_graph_criterion *row, const struct json *value,
		 struct arena *arena, struct str *out_reason)
{
	static const struct json nothing = { .kind = JSON_NULL };
	struct problems problems = { .arena = arena };
	struct schema *schema;
	struct error error = { 0 };
	bool good = schema_compile_formats(row->schema, NULL, has(row, format_assertion), arena,
					   &schema, &problems);
	if (good) {
		good = schema_check(schema, value == NULL ? &nothing : value, arena, &problems);
		schema_done(schema);
	}
	if (!good) {
		problems_fail(&problems, &error);
		*out_reason = str_copy(arena, str_from_c(error.text));
	}
	return good;
}

/* A long text is cut at its beginning. */
static struct str end_of(struct str text, struct arena *arena)
{
	if (text.size <= LIMIT_VERIFICATION_REASON_BYTES)
		return text;
	size_t from = text.size - LIMIT_VERIFICATION_REASON_BYTES;
	while (from < text.size && ((unsigned char)text.at[from] & 0xc0) == 0x80)
		from++;
	return str_format(arena, "[...]" STR_FMT, STR_ARG(str_skip(text, from)));
}

static struct str reason_of(struct eval_context *eval_context,
			    const struct graph_criterion *criterion, struct str check)
{
	struct arena *arena = eval_context->d->arena;
	const struct json *value = NULL;
	struct error error = { 0 };
	bool quiet = eval_context->quiet;
	if (criterion->reason == NULL)
		return str_format(arena, "does not hold: " STR_FMT, STR_ARG(check));
	eval_context->quiet = true;
	bool good = eval_expression(eval_context, criterion->reason, &value, &error);
	eval_context->quiet = quiet;
	if (!good || value == NULL || value->kind == JSON_NULL)
		return S("");
	return end_of(value->kind == JSON_STRING ? value->as.string : json_print(arena, value),
		      arena);
}

static bool criterion_holds(struct eval_context *eval_context, const struct round *round, size_t i,
			    const struct graph_criterion *criterion)
{
	const struct run_graph_criterion *row = &round->row->criteria.at[i];
	struct arena *arena = eval_context->d->arena;
	if (!eval_holds(eval_context, criterion->check)) {
		round->reasons[i] = has(round->row, repeats)
					    ? reason_of(eval_context, criterion, row->check)
					    : S("");
		return false;
	}
	return !has(row, schema) || fits(row, round->checked, arena, &round->reasons[i]);
}

static bool is_nothing(const struct json *json)
{
	return json == NULL || json->kind == JSON_NULL;
}

static size_t count_own(const struct json *object)
{
	return object->as.object.count - (json_member(object, S("verification")) != NULL);
}

/* Whether the previous round had this output.  `before` is what with_output() made of it. */
static bool is_same_output(const struct json *before, const struct json *now)
{
	if (before == NULL || before->kind != JSON_OBJECT)
		return false;
	if (is_nothing(now))
		return count_own(before) == 0;
	if (now->kind != JSON_OBJECT)
		return count_own(before) == 1 && json_member(before, S("output")) != NULL &&
		       json_equal(json_member(before, S("output")), now);
	if (count_own(before) != count_own(now))
		return false;
	for (size_t i = 0; i < now->as.object.count; i++) {
		const struct json_member *member = &now->as.object.at[i];
		const struct json *old = json_member(before, member->key);
		if (!str_equal(member->key, S("verification")) &&
		    (old == NULL || !json_equal(old, &member->value)))
			return false;
	}
	return true;
}

/* The same criteria failed for the same reasons.  A check without a reason of its own always has the same,
 * so the output must be the same, too. */
static bool is_stuck(const struct round *round, const struct graph_node *node,
		     const struct json *output_before)
{
	const struct runtime_verification_result *before = round->before;
	size_t issue = 0;
	bool has_reasons = true;
	if (before == NULL || !has(before, issues) ||
	    before->issues.count != node->criterion_count - round->passed)
		return false;
	for (size_t i = 0; i < node->criterion_count; i++) {
		if (round->held[i])
			continue;
		if (!str_equal(before->issues.at[issue].criterion, node->criteria[i].name) ||
		    !str_equal(before->issues.at[issue].reason, round->reasons[i]))
			return false;
		has_reasons = has_reasons && (node->criteria[i].reason != NULL ||
					      has(&round->row->criteria.at[i], schema));
		issue++;
	}
	return has_reasons || is_same_output(output_before, round->checked);
}

static struct round look(struct eval_context *eval_context, const struct activation *activation)
{
	const struct graph_node *node = run_node(eval_context->run, activation);
	struct scope *around = eval_context->scope;
	bool repeats = has(node->row, repeats);
	struct round round = { .row = node->row, .critical = S("") };
	round.before = result_before(eval_context, activation);
	round.broken =
		!repeats && activation->round > 1 && activation->scopes->failed.path.size > 0;
	round.checked = round.broken ? NULL : checked_output(eval_context, activation);
	round.held = arena_array(eval_context->d->arena, bool, node->criterion_count);
	round.reasons = arena_array(eval_context->d->arena, struct str, node->criterion_count);
	eval_context->output = round.checked;
	/* The criteria read the steps that check the output, which are in the body. */
	if (repeats)
		eval_context->scope = activation->scopes;
	for (size_t i = 0; i < node->criterion_count; i++) {
		const struct graph_criterion *criterion = &node->criteria[i];
		round.reasons[i] = S("");
		round.held[i] = round.broken ? held_before(&round, criterion->name)
					     : criterion_holds(eval_context, &round, i, criterion);
		round.passed += round.held[i];
		if (!round.held[i] && criterion->critical && round.critical.size == 0)
			round.critical = criterion->name;
	}
	eval_context->scope = around;
	round.stuck =
		repeats && is_stuck(&round, node, eval_value(eval_context, &activation->before));
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
	if (round->checked != NULL && !has(row, repeats))
		SET(&attempt, corrected_output, round->checked);
	SET(&attempt, duration_ms, duration_us / 1000);
	return attempt;
}

static void record_issues(const struct round *round, enum runtime_verification_status status,
			  struct arena *arena, struct runtime_verification_result *result)
{
	AUTO(buf) text = { 0 };
	size_t all = round->row->criteria.count, count = 0;
	struct runtime_verification_issue *issues =
		arena_array(arena, struct runtime_verification_issue, all);
	for (size_t i = 0; i < all; i++) {
		if (round->held[i])
			continue;
		struct str name = round->row->criteria.at[i].name;
		issues[count] = *runtime_verification_issue_new(arena);
		SET(&issues[count], criterion, name);
		SET(&issues[count], reason, round->reasons[i]);
		count++;
		buf_add_format(&text, "%s" STR_FMT ": " STR_FMT, count == 1 ? "" : "\n",
			       STR_ARG(name), STR_ARG(round->reasons[i]));
	}
	SET(result, issues, ((struct runtime_verification_issue_list){ issues, count }));
	if (status == RUNTIME_VERIFICATION_PASSED || status == RUNTIME_VERIFICATION_CORRECTED)
		return;
	SET(result, error,
	    status == RUNTIME_VERIFICATION_FAILED
		    ? str_copy(arena, buf_str(&text))
		    : str_format(arena, "%s\n" STR_FMT,
				 round->stuck ? "the same failures occurred twice in a row"
					      : "all correction attempts are used up, or the time "
						"limit has passed",
				 STR_ARG(buf_str(&text))));
}

/* The output of the repeated step, with the result of the verification. */
static const struct json *with_output(const struct round *round, const struct json *result,
				      struct arena *arena)
{
	const struct json *output = round->checked;
	bool is_object = output != NULL && output->kind == JSON_OBJECT;
	size_t most = is_object ? output->as.object.count : 1, count = 0;
	struct json_member *members = arena_array(arena, struct json_member, most + 1);
	for (size_t i = 0; is_object && i < most; i++)
		if (!str_equal(output->as.object.at[i].key, S("verification")))
			members[count++] = output->as.object.at[i];
	if (!is_object && !is_nothing(output))
		members[count++] = (struct json_member){ .key = S("output"), .value = *output };
	members[count++] = (struct json_member){ .key = S("verification"), .value = *result };
	struct json *json = arena_new(arena, struct json);
	*json = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return json;
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
	SET(result, total_duration_ms, elapsed_us / 1000);
	if (has(row, repeats)) {
		record_issues(round, status, arena, result);
		return with_output(round, runtime_verification_result_tree(result, arena), arena);
	}
	if ((status == RUNTIME_VERIFICATION_PASSED || status == RUNTIME_VERIFICATION_CORRECTED) &&
	    round->checked != NULL)
		SET(result, final_output, round->checked);
	if (status == RUNTIME_VERIFICATION_UNCORRECTABLE)
		SET(result, error,
		    S("all correction attempts are used up, or the time limit has passed"));
	return runtime_verification_result_tree(result, arena);
}

/* With the first criterion that does not hold, of a step that is repeated. */
static struct failure unverified(const struct round *round, size_t all, struct arena *arena)
{
	struct str text = str_format(arena, "%zu of %zu criteria hold", round->passed, all);
	for (size_t i = 0; i < all && has(round->row, repeats); i++)
		if (!round->held[i])
			return failure_make(
				ERROR_UNVERIFIED,
				str_format(
					arena, STR_FMT "%s: " STR_FMT ": " STR_FMT, STR_ARG(text),
					round->stuck ? ", with the same failures twice in a row"
						     : "",
					STR_ARG(round->row->criteria.at[i].name),
					STR_ARG(str_head(round->reasons[i], LIMIT_QUOTE_BYTES))));
	return failure_make(ERROR_UNVERIFIED, text);
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
		fault = unverified(&round, node->criterion_count, d->arena);
	} else if (!continuation_after_success(&eval_context, activation, output, &continuation)) {
		return ENGINE_NEED;
	}
	if (fault.code.size == 0)
		fault = continuation.fault;
	struct run_value *value;
	if (!decision_value(d, output, &value))
		return ENGINE_NEED;
	if (value == NULL && has(node->row, repeats)) {
		continuation.next = NULL;
		fault = failure_make(ERROR_TOO_LARGE,
				     S("the output is larger than the limit of a value"));
	}
	if (activation->round == 1 && !has(node->row, repeats))
		decision_emit_computed(run, activation, now, value, fault, continuation.next, d);
	else
		body_left(run, activation, now, value, fault, continuation.next, d);
	if (fault.code.size > 0 && round.critical.size > 0 && node->row->policy->halt_on_critical)
		engine_cancel_run(run, now, S("baton"), S(""), fault, d);
	else
		enforce_iteration_limit(run, &continuation, now, d);
	return ENGINE_DONE;
}
