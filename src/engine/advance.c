/* engine/advance.c -- starts every activation that can start, in the order in which they became
 * ready, and ends the run. */
#include "engine/engine_internal.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_output_types.h"
#include "engine/mailbox.h"
#include "engine/undo.h"
#include "engine/workspace_folder.h"

static struct activation *earlier(struct activation *a, struct activation *b)
{
	return a == NULL || (b != NULL && b->arrival < a->arrival) ? b : a;
}

/* While the tree of a folder is taken for one step, other steps that write there wait. */
static bool waits_for_tree(const struct run *run, const struct activation *activation,
			   const struct decision *d)
{
	const struct branch *branch = branch_of(run, activation);
	for (size_t i = 0; d != NULL && i < d->tree_count; i++)
		if (d->trees[i].branch == branch && d->trees[i].ends == NULL)
			return true;
	return false;
}

/* The first contained tool, or container with own_trees, that can start or be left.  Containers
 * need no slot. */
static struct activation *next_contained(const struct run *run, const struct decision *d)
{
	bool full = run->busy >= run->graph->concurrency;
	for (uint32_t i = run->contained.head; i < run->contained.tail; i++) {
		struct activation *a = run->contained.at[i];
		const struct graph_node *node = run_node(run, a);
		if ((full && !run_is_container(node->kind)) || !folder_allows(run, a) ||
		    (!node->read_only && waits_for_tree(run, a, d)))
			continue;
		return a;
	}
	return NULL;
}

static bool is_turn(const struct run *run, const struct activation *activation)
{
	return activation != NULL && run_node(run, activation)->kind == RUN_NODE_AGENT;
}

/* Of the activations that can start, the one that became ready first; NULL when none can.  Steps
 * that wait for a tree by the decision are left out. */
static struct activation *next_to_start(const struct run *run, const struct decision *d)
{
	struct activation *next = earlier(ready_list_head(&run->parked), next_contained(run, d));
	if (run->busy >= run->graph->concurrency)
		return next;
	struct activation *head = ready_list_head(&run->tools);
	return d != NULL && d->budget.waits && is_turn(run, head) ? next : earlier(next, head);
}

/* The activation whose retry has been due longest; NULL when none is due.  A retry still holds its
 * slot; a retry that has lost the workspace waits until the workspace is free. */
static struct activation *next_retry(const struct run *run, int64_t now, const struct decision *d)
{
	struct activation *next = NULL;
	for (uint32_t i = 0; run->retrying > 0 && i < run->paths.room; i++) {
		struct activation *a = run->paths.at[i];
		if (a == NULL || a->state != STEP_RETRYING || a->due_at > now)
			continue;
		if (run_node(run, a)->row->class == RUN_CLASS_CONTAINED &&
		    (!folder_allows(run, a) ||
		     (!run_node(run, a)->read_only && waits_for_tree(run, a, d))))
			continue;
		if (d->budget.waits && is_turn(run, a))
			continue;
		if (next == NULL || a->due_at < next->due_at ||
		    (a->due_at == next->due_at && a->arrival < next->arrival))
			next = a;
	}
	return next;
}

static void emit_skipped(struct run *run, const struct activation *activation, int64_t now,
			 struct decision *d)
{
	struct run_step_skipped *body = run_step_skipped_new(d->arena);
	SET(body, step, activation->path);
	SET(body, reason, S("condition"));
	decision_emit(run, d,
		      (struct event){ EVENT_STEP_SKIPPED, now, { .run_step_skipped = body } });
}

static enum engine_answer compute_condition(struct run *run, const struct activation *activation,
					    int64_t now, const struct engine_values *values,
					    struct decision *d)
{
	static const struct json nothing = { .kind = JSON_NULL };
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	const struct json *value;
	struct error error;
	bool good =
		eval_expression(&eval_context, run_node(run, activation)->value, &value, &error);
	if (eval_context.missing)
		return ENGINE_NEED;
	if (!good || eval_context.fault.code.size > 0) {
		request_fail_ready(run, activation,
				   good ? eval_context.fault
					: failure_make(ERROR_INVALID,
						       str_copy(d->arena, str_from_c(error.text))),
				   now, d);
		return ENGINE_DONE;
	}
	struct run_condition_result *result = run_condition_result_new(d->arena);
	SET(result, value, value == NULL ? &nothing : value);
	const struct json *output = run_condition_result_tree(result, d->arena);
	struct step_continuation continuation;
	if (!continuation_after_success(&eval_context, activation, output, &continuation))
		return ENGINE_NEED;
	struct run_value *stored;
	if (!decision_value(d, output, &stored))
		return ENGINE_NEED;
	if (stored == NULL) {
		request_fail_ready(run, activation,
				   failure_make(ERROR_TOO_LARGE,
						S("the value is larger than the limit of a value")),
				   now, d);
		return ENGINE_DONE;
	}
	decision_emit_computed(run, activation, now, stored, continuation.fault, continuation.next,
			       d);
	enforce_iteration_limit(run, &continuation, now, d);
	return ENGINE_DONE;
}

static void start_computing(struct run *run, const struct activation *activation, int64_t now,
			    struct decision *d)
{
	struct run_step_started *body = run_step_started_new(d->arena);
	SET(body, step, activation->path);
	decision_emit(run, d,
		      (struct event){ EVENT_STEP_STARTED, now, { .run_step_started = body } });
}

static enum engine_answer start(struct run *run, struct activation *activation, int64_t now,
				const struct engine_values *values, struct decision *d)
{
	const struct graph_node *node = run_node(run, activation);
	if (activation->state == STEP_RETRYING)
		return request_effect(run, activation, now, values, d);
	if (activation->leaving)
		return body_leave(run, activation, now, values, d);
	if (node->when != NULL) {
		struct eval_context eval_context = eval_context_make(run, activation, values, d);
		bool holds = eval_holds(&eval_context, node->when);
		if (eval_context.missing)
			return ENGINE_NEED;
		if (eval_context.fault.code.size > 0) {
			request_fail_ready(run, activation, eval_context.fault, now, d);
			return ENGINE_DONE;
		}
		if (!holds) {
			emit_skipped(run, activation, now, d);
			return ENGINE_DONE;
		}
	}
	struct failure fault;
	if (!milestone_render(run, activation, values, d, &fault))
		return ENGINE_NEED;
	if (fault.code.size > 0) {
		request_fail_ready(run, activation, fault, now, d);
		return ENGINE_DONE;
	}
	if (node->kind == RUN_NODE_CONDITION)
		return compute_condition(run, activation, now, values, d);
	if (node->kind == RUN_NODE_MAILBOX)
		return mailbox_call(run, activation, now, values, d);
	if (run_is_container(node->kind))
		return body_enter(run, activation, now, values, d);
	if (node->kind == RUN_NODE_TOOL && node->row->class == RUN_CLASS_PURE) {
		start_computing(run, activation, now, d);
		return ENGINE_DONE;
	}
	return request_effect(run, activation, now, values, d);
}

/* ---- the end ------------------------------------------------------------------------- */

static struct failure fault_of_root(const struct run *run, struct arena *arena)
{
	struct str path = run->root->failed.path;
	struct failure fault = run->root->failed.fault;
	if (path.size == 0)
		return (struct failure){ S(""), S("") };
	return (struct failure){ fault.code, str_format(arena, "step " STR_FMT ": " STR_FMT,
							STR_ARG(path), STR_ARG(fault.text)) };
}

/* The outputs of the workflow by name.  A missing required output is a fault of the run. */
static const struct json *render_outputs(struct eval_context *eval_context, struct failure *fault)
{
	const struct run_graph *rows = eval_context->run->graph->rows;
	struct arena *arena = eval_context->d->arena;
	struct json_member *members = arena_array(arena, struct json_member, rows->outputs.count);
	for (size_t i = 0; i < rows->outputs.count; i++) {
		const struct run_graph_output *row = &rows->outputs.at[i];
		eval_context->quiet = row->optional;
		const struct json *value = eval_render(eval_context, row->from);
		members[i].key = row->name;
		if (value != NULL)
			members[i].value = *value;
		bool missing = value == NULL || value->kind == JSON_NULL;
		if (missing && !row->optional && fault->code.size == 0)
			*fault = failure_make(ERROR_INVALID,
					      str_format(arena,
							 "output " STR_FMT
							 " is missing; mark it optional "
							 "if it may be",
							 STR_ARG(row->name)));
	}
	struct json *outputs = arena_new(arena, struct json);
	*outputs =
		(struct json){ .kind = JSON_OBJECT, .as.object = { members, rows->outputs.count } };
	return outputs;
}

/* The text of one issue: at most LIMIT_ISSUE_BYTES of it. */
static struct str issue_text(const struct json *issue, struct arena *arena)
{
	return utf8_head(issue->kind == JSON_STRING ? issue->as.string : json_print(arena, issue),
			 LIMIT_ISSUE_BYTES);
}

/* What is open at the end: a list, or one text; nothing = no issues. */
static struct str_list render_issues(struct eval_context *eval_context)
{
	const struct run_graph *rows = eval_context->run->graph->rows;
	struct arena *arena = eval_context->d->arena;
	if (!has(rows, issues))
		return (struct str_list){ NULL, 0 };
	eval_context->quiet = true;
	const struct json *value = eval_render(eval_context, rows->issues->from);
	if (value == NULL || value->kind == JSON_NULL)
		return (struct str_list){ NULL, 0 };
	bool many = value->kind == JSON_LIST;
	size_t all = many ? value->as.list.count : 1;
	size_t count = all < LIMIT_RUN_ISSUES ? all : LIMIT_RUN_ISSUES;
	struct str *texts = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		texts[i] = issue_text(many ? &value->as.list.at[i] : value, arena);
	if (all > count)
		texts[count - 1] = str_format(arena, "and %zu further issues", all - count + 1);
	return (struct str_list){ texts, count };
}

static void emit_finished(struct run *run, int64_t now, enum run_outcome outcome,
			  struct run_value *outputs, struct str_list issues, struct failure fault,
			  struct decision *d)
{
	struct run_finished *body = run_finished_new(d->arena);
	SET(body, outcome, outcome);
	if (issues.count > 0)
		SET(body, issues, issues);
	if (outputs != NULL)
		SET(body, outputs, outputs);
	if (fault.code.size > 0)
		SET(body, fault, decision_failure(d, fault));
	decision_emit(run, d, (struct event){ EVENT_RUN_FINISHED, now, { .run_finished = body } });
}

/* Whether a cancelled run waits for nothing but its finally and undo steps. */
static bool must_unwind(const struct run *run)
{
	return run->cancelling && !run->unwinding && run->stops == 0 &&
	       (run->live > 0 || undo_is_left(run));
}

/* `fault` code "" = the run was cancelled. */
static void emit_unwinding(struct run *run, int64_t now, struct failure fault, struct decision *d)
{
	struct run_unwinding *body = run_unwinding_new(d->arena);
	SET(body, due_at, engine_unwind_due_at(run, now));
	if (fault.code.size > 0)
		SET(body, fault, decision_failure(d, fault));
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_UNWINDING, now, { .run_unwinding = body } });
}

/* A run that has failed ends when its undo steps are over: these start first. */
static enum engine_answer end_run(struct run *run, int64_t now, const struct engine_values *values,
				  struct decision *d)
{
	if (run->cancelling) {
		bool failed = run->stopped.code.size > 0;
		emit_finished(run, now, failed ? RUN_OUTCOME_FAILED : RUN_OUTCOME_CANCELLED, NULL,
			      (struct str_list){ NULL, 0 },
			      failed ? run->stopped
				     : failure_make(ERROR_CANCELLED, S("the run was cancelled")),
			      d);
		return ENGINE_DONE;
	}
	struct eval_context eval_context = eval_context_make(run, NULL, values, d);
	struct failure fault = fault_of_root(run, d->arena);
	const struct json *outputs = render_outputs(&eval_context, &fault);
	struct str_list issues = render_issues(&eval_context);
	if (eval_context.missing)
		return ENGINE_NEED;
	if (fault.code.size == 0)
		fault = eval_context.fault;
	/* The outputs are not stored before the event that names them. */
	bool unwinds = !run->unwinding && undo_is_left(run);
	struct run_value *value = NULL;
	if (!(unwinds && fault.code.size > 0) && !decision_value(d, outputs, &value))
		return ENGINE_NEED;
	if (value == NULL && fault.code.size == 0)
		fault = failure_make(ERROR_TOO_LARGE,
				     S("the outputs are larger than the limit of a value"));
	if (unwinds && fault.code.size > 0)
		emit_unwinding(run, now, fault, d);
	else
		emit_finished(run, now,
			      fault.code.size > 0 ? RUN_OUTCOME_FAILED
			      : issues.count > 0  ? RUN_OUTCOME_WITH_ISSUES
						  : RUN_OUTCOME_OK,
			      value, fault.code.size > 0 ? (struct str_list){ NULL, 0 } : issues,
			      fault, d);
	return ENGINE_DONE;
}

/* The trees of branches that are over. */
static void want_branch_ends(const struct run *run, struct decision *d)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *a = run->paths.at[i];
		if (a == NULL || a->state != STEP_RUNNING)
			continue;
		for (struct branch *over = NULL; (over = branch_next_over(run, a, over)) != NULL;)
			decision_want_tree(d, (struct decision_tree){ .step = a->path,
								      .branch = over,
								      .ends = over });
	}
}

bool engine_could_go_on(const struct run *run)
{
	if (run->seq == 0 || run_ended(run) || run->paused || run->queued)
		return false;
	return run->live == 0 || must_unwind(run) ||
	       (run_may_start(run) && (next_to_start(run, NULL) != NULL || branch_any_over(run)));
}

static enum engine_answer start_all(struct run *run, int64_t now,
				    const struct engine_values *values, struct decision *d)
{
	while (run_may_start(run) || must_unwind(run)) {
		if (must_unwind(run)) {
			emit_unwinding(run, now, (struct failure){ S(""), S("") }, d);
			continue;
		}
		struct activation *next = next_retry(run, now, d);
		if (next == NULL && (next = next_to_start(run, d)) == NULL)
			break;
		if (start(run, next, now, values, d) == ENGINE_NEED)
			return ENGINE_NEED;
	}
	if (run->graph->own_trees && run_may_start(run))
		want_branch_ends(run, d);
	return ENGINE_DONE;
}

enum engine_answer advance(struct run *run, int64_t now, const struct engine_values *values,
			   struct decision *d)
{
	enum engine_answer answer = ENGINE_DONE;
	d->need_count = 0;
	d->tree_count = 0;
	d->budget.waits = false;
	d->budget.waited_for = S("");
	d->to_print = NULL;
	d->print_prefix = S("");
	d->print_key = (struct print_key){ 0 };
	if (run_ended(run) || run->paused || run->queued)
		return ENGINE_DONE;
	/* The end of a run that has failed may be the beginning of its undo steps. */
	while (answer == ENGINE_DONE && !run_ended(run)) {
		answer = start_all(run, now, values, d);
		if (answer == ENGINE_DONE && run->live > 0)
			break;
		if (answer == ENGINE_DONE)
			answer = end_run(run, now, values, d);
	}
	return answer;
}
