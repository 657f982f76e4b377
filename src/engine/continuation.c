/* engine/continuation.c -- the continuation that is recorded with a result: edges taken, rounds,
 * retries. */
#include "engine/engine_internal.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "engine/activation.h"
#include "engine/graph_state.h"
#include "engine/undo.h"

enum { DEFAULT_ROUNDS = 3 };

/* In a graph without on_limit: `max` is a number or a template that evaluates to one; otherwise the
 * default of the runtime vocabulary applies. */
static int64_t most_rounds(struct eval_context *eval_context, const struct graph_node *node)
{
	if (!has(node->row, max))
		return DEFAULT_ROUNDS;
	const struct json *value = eval_render(eval_context, node->row->max);
	if (value == NULL || value->kind != JSON_INT || value->as.integer < 1)
		return value != NULL && value->kind == JSON_INT ? 1 : DEFAULT_ROUNDS;
	return value->as.integer < LIMIT_ROUNDS ? value->as.integer : LIMIT_ROUNDS;
}

/* What the author calls the rounds of the node. */
static const char *name_of_max(const struct graph_node *node)
{
	return node->kind == RUN_NODE_LOOP ? "loop: max" : "loop_max";
}

static struct failure bad_max(struct eval_context *eval_context, const struct graph_node *node,
			      const struct json *value)
{
	AUTO(buf) text = buf_limited(LIMIT_QUOTE_BYTES);
	struct json_writer writer = { .out = &text };
	json_put_tree(&writer, value);
	return failure_make(ERROR_INVALID,
			    str_format(eval_context->d->arena,
				       "%s is " STR_FMT "%s, and must be a whole number from 1 on; "
				       "correct the value that " STR_FMT " refers to",
				       name_of_max(node), STR_ARG(buf_str(&text)),
				       text.full ? "…" : "", STR_ARG(node->row->max->as.string)));
}

static struct failure limit_failure(const struct eval_context *eval_context,
				    const struct graph_node *node, int64_t rounds)
{
	return failure_make(
		ERROR_LIMIT_REACHED,
		str_format(eval_context->d->arena,
			   "the condition does not hold after %lld rounds: " STR_FMT "; raise "
			   "%s%s",
			   (long long)rounds, STR_ARG(node->row->until), name_of_max(node),
			   node->kind == RUN_NODE_LOOP
				   ? ", or continue with the last result by on_limit: continue"
				   : ""));
}

int64_t continuation_rounds(struct eval_context *eval_context, const struct graph_node *node,
			    struct failure *out_fault)
{
	static const struct json nothing = { .kind = JSON_NULL };
	int64_t most = DEFAULT_ROUNDS;
	if (has(node->row, max)) {
		const struct json *value = eval_render(eval_context, node->row->max);
		value = value == NULL ? &nothing : value;
		if (!eval_context->missing && (value->kind != JSON_INT || value->as.integer < 1))
			*out_fault = bad_max(eval_context, node, value);
		most = value->kind == JSON_INT ? value->as.integer : most;
	}
	return most < LIMIT_ROUNDS ? most : LIMIT_ROUNDS;
}

/* Whether there is another round, by the rules of graphs whose nodes have on_limit. */
static bool runs_again_or_ends(struct eval_context *eval_context, const struct graph_node *node,
			       uint32_t round, struct step_continuation *out, bool *out_reached)
{
	int64_t most = continuation_rounds(eval_context, node, &out->fault);
	if (out->fault.code.size > 0)
		return false;
	if (eval_holds(eval_context, node->until))
		return false;
	if (round < most)
		return true;
	if (node->row->on_limit == RUN_LIMIT_FAILS)
		out->fault = limit_failure(eval_context, node, most);
	else
		*out_reached = true;
	/* A loop was told to continue by its author. */
	if (*out_reached && node->kind != RUN_NODE_LOOP && !eval_context->missing)
		decision_warn(eval_context->d, RUN_WARNING_LIMIT_REACHED,
			      str_copy(eval_context->d->arena, eval_context->step),
			      str_format(eval_context->d->arena,
					 "the condition does not hold after %lld rounds: " STR_FMT
					 "; the last result stands; raise loop_max",
					 (long long)most, STR_ARG(node->row->until)));
	return false;
}

static bool runs_again(struct eval_context *eval_context, const struct activation *activation,
		       struct step_continuation *out, bool *out_reached)
{
	const struct graph_node *node = run_node(eval_context->run, activation);
	if (node->until == NULL)
		return false;
	if (has(node->row, on_limit))
		return runs_again_or_ends(eval_context, node, activation->round, out, out_reached);
	return activation->round < most_rounds(eval_context, node) &&
	       !eval_holds(eval_context, node->until);
}

/* An edge may be taken while both the target and the whole run have activations left; `then` has the
 * edges already taken. */
static bool may_lead(struct eval_context *eval_context, const struct activation *from, uint32_t to,
		     struct str_list then)
{
	const struct run *run = eval_context->run;
	const struct graph_node *node = &run->graph->nodes[to];
	const struct place *place = run_place(run, from->scope, to);
	uint64_t count = place->count - place->extra;
	for (size_t i = 0; i < then.count; i++)
		count += str_equal(then.at[i], node->name);
	return (!has(node->row, max_iterations) || count < (uint64_t)node->row->max_iterations) &&
	       run->iterations + (int64_t)then.count < run->graph->max_iterations;
}

/* The edges taken, and whether there is another round. */
static bool edges_and_rounds(struct eval_context *eval_context, const struct activation *activation,
			     const struct json *output, struct step_continuation *out)
{
	const struct graph_node *node = run_node(eval_context->run, activation);
	struct arena *arena = eval_context->d->arena;
	bool reached = false;
	*out = NO_CONTINUATION;
	if (node->until == NULL && node->edges.count == 0)
		return true;
	eval_context->closing = activation;
	eval_context->output = output;
	bool again = runs_again(eval_context, activation, out, &reached);
	bool leads = !again && out->fault.code.size == 0;
	struct str *then = arena_array(arena, struct str, node->edges.count);
	size_t taken = 0;
	for (size_t i = 0; i < node->edges.count && leads; i++) {
		const struct graph_edge *edge = &node->edges.at[i];
		if (edge->when != NULL && !eval_holds(eval_context, edge->when))
			continue;
		if (may_lead(eval_context, activation, edge->to, (struct str_list){ then, taken }))
			then[taken++] = eval_context->run->graph->nodes[edge->to].name;
		else
			out->over = eval_context->run->graph->nodes[edge->to].name;
	}
	if (eval_context->missing)
		return false;
	if (eval_context->fault.code.size > 0) {
		*out = NO_CONTINUATION;
		out->fault = eval_context->fault;
		return true;
	}
	if (taken == 0 && !again && !reached)
		return true;
	out->next = run_next_new(arena);
	if (taken > 0 && out->over.size == 0)
		SET(out->next, then, ((struct str_list){ then, taken }));
	if (again)
		SET(out->next, again, true);
	if (reached)
		SET(out->next, limit_reached, true);
	return true;
}

bool continuation_after_success(struct eval_context *eval_context,
				const struct activation *activation, const struct json *output,
				struct step_continuation *out)
{
	struct run_value *state = NULL;
	struct failure fault = { S(""), S("") };
	*out = NO_CONTINUATION;
	/* Nothing follows from the end of a step that is being stopped, but it can be undone. */
	if (!activation->stopping) {
		if (!graph_state_update(eval_context, activation, output, &state, &fault))
			return false;
		if (fault.code.size == 0 &&
		    !edges_and_rounds(eval_context, activation, output, out))
			return false;
		if (fault.code.size > 0)
			out->fault = fault;
	}
	if (!activation->stopping && out->fault.code.size == 0 &&
	    (out->next == NULL || !out->next->again)) {
		milestone_judge(eval_context, activation, output);
		if (eval_context->missing)
			return false;
		out->fault = eval_context->fault;
	}
	if (state != NULL && out->fault.code.size == 0) {
		if (out->next == NULL)
			out->next = run_next_new(eval_context->d->arena);
		SET(out->next, state, state);
	}
	return undo_render(eval_context, activation, output, out);
}

void enforce_iteration_limit(struct run *run, const struct step_continuation *continuation,
			     int64_t now, struct decision *d)
{
	if (continuation->over.size == 0)
		return;
	struct str text =
		str_format(d->arena,
			   "step " STR_FMT " would exceed its max_iterations: another activation "
			   "is not allowed",
			   STR_ARG(continuation->over));
	engine_cancel_run(run, now, S("baton"), S(""), failure_make(ERROR_LIMIT_REACHED, text), d);
}

/* ---- retries ------------------------------------------------------------------------- */

static bool is_worth_it(const struct run_graph_retry *retry, struct str code)
{
	enum error_code known;
	for (size_t i = 0; i < retry->on.count; i++)
		if (str_equal(retry->on.at[i], code))
			return true;
	return retry->on.count == 0 && error_code_from_name(code, &known) &&
	       (error_row(known)->retry == ERROR_RETRY_AGAIN || known == ERROR_TOOL_FAILED) &&
	       known != ERROR_TIMEOUT;
}

/* Full jitter: a delay between zero and the doubled delay, derived from run id and seq, so that a
 * replay waits equally long. */
static int64_t delay_of(const struct run *run, const struct activation *activation,
			const struct run_graph_retry *retry)
{
	int64_t most = retry->base_delay_us;
	for (int64_t i = 0; i < activation->retries && most < retry->max_delay_us; i++)
		most *= 2;
	most = most < retry->max_delay_us ? most : retry->max_delay_us;
	struct uuid dice = engine_effect_id(run, activation->path, S("delay"), run->seq);
	uint64_t roll = 0;
	for (size_t i = 8; i < 16; i++)
		roll = roll << 8 | dice.bytes[i];
	return most <= 0 ? 0 : (int64_t)(roll % ((uint64_t)most + 1));
}

struct run_next *continuation_after_failure(const struct run *run,
					    const struct activation *activation,
					    const struct failure *fault, int64_t now,
					    struct decision *d)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	if (!has(row, retry) || activation->stopping ||
	    activation->retries >= row->retry->max_retries || !is_worth_it(row->retry, fault->code))
		return NULL;
	struct run_next *next = run_next_new(d->arena);
	SET(next, retry_at, now + delay_of(run, activation, row->retry));
	return next;
}

void continuation_delay(struct run_next *next, int64_t earliest)
{
	if (has(next, retry_at) && next->retry_at < earliest)
		SET(next, retry_at, earliest);
}

void decision_emit_computed(struct run *run, const struct activation *activation, int64_t now,
			    struct run_value *output, struct failure fault, struct run_next *next,
			    struct decision *d)
{
	struct run_step_computed *body = run_step_computed_new(d->arena);
	SET(body, step, activation->path);
	if (output != NULL)
		SET(body, output, output);
	if (fault.code.size > 0)
		SET(body, fault, decision_failure(d, fault));
	if (next != NULL)
		SET(body, next, next);
	decision_emit(run, d,
		      (struct event){ EVENT_STEP_COMPUTED, now, { .run_step_computed = body } });
}

/* ---- the end of everything ------------------------------------------------------------- */

static void stop_open(const struct run *run, struct decision *d)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *a = run->paths.at[i];
		if (a != NULL && a->open && a->stopping && run_can_stop(run_node(run, a)->kind))
			decision_stop_effect(d, a, run->abandoned);
	}
}

/* Waits and questions end immediately, except those of finally steps, which only a second cancel ends. */
static void close_waiting(const struct run *run, struct decision *d)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *a = run->paths.at[i];
		if (a == NULL || step_state_row(a->state)->final ||
		    (!run->unwinding && activation_is_exempt(run, a)))
			continue;
		if (a->state == STEP_WAITING_HUMAN)
			decision_close_silently(d, &a->question.id);
		else if (a->state == STEP_RETRYING ||
			 (a->open && !run_can_stop(run_node(run, a)->kind)))
			decision_close_silently(d, &a->effect);
	}
}

/* A sub-run that is stopped may have finally and undo steps, which run before it ends. */
static bool waits_for_subrun(const struct run *run)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *a = run->paths.at[i];
		if (a != NULL && a->open && run_node(run, a)->kind == RUN_NODE_SUBRUN &&
		    !activation_is_exempt(run, a))
			return true;
	}
	return false;
}

int64_t engine_unwind_due_at(const struct run *run, int64_t now)
{
	const struct run_graph *rows = run->graph->rows;
	return now +
	       (has(rows, unwind_us) ? rows->unwind_us : (int64_t)LIMIT_UNWIND_SECONDS * 1000000);
}

void engine_cancel_run(struct run *run, int64_t now, struct str by, struct str reason,
		       struct failure fault, struct decision *d)
{
	/* A finally step may reach a limit while the run is being cancelled anyway. */
	if (run->abandoned || (run->cancelling && !run->unwinding))
		return;
	struct run_cancelling *body = run_cancelling_new(d->arena);
	SET(body, by, by);
	if (reason.size > 0)
		SET(body, reason, reason);
	if (fault.code.size > 0)
		SET(body, fault, decision_failure(d, fault));
	if (!run->unwinding && waits_for_subrun(run))
		SET(body, due_at, engine_unwind_due_at(run, now));
	close_waiting(run, d);
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_CANCELLING, now, { .run_cancelling = body } });
	stop_open(run, d);
}
