/* engine/continuation.c -- the continuation that is recorded with a result: edges taken, rounds,
 * retries. */
#include "engine/engine_internal.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"

enum { DEFAULT_ROUNDS = 3 };

/* `max` is a number or a template that evaluates to one; otherwise the default of the runtime
 * vocabulary applies. */
static int64_t most_rounds(struct eval_context *eval_context, const struct graph_node *node)
{
	if (!has(node->row, max))
		return DEFAULT_ROUNDS;
	const struct json *value = eval_render(eval_context, node->row->max);
	if (value == NULL || value->kind != JSON_INT || value->as.integer < 1)
		return value != NULL && value->kind == JSON_INT ? 1 : DEFAULT_ROUNDS;
	return value->as.integer < LIMIT_ROUNDS ? value->as.integer : LIMIT_ROUNDS;
}

static bool runs_again(struct eval_context *eval_context, const struct activation *activation)
{
	const struct graph_node *node = run_node(eval_context->run, activation);
	return node->until != NULL && activation->round < most_rounds(eval_context, node) &&
	       !eval_holds(eval_context, node->until);
}

/* An edge may be taken while both the target and the whole run have activations left; `then` has the
 * edges already taken. */
static bool may_lead(struct eval_context *eval_context, const struct activation *from, uint32_t to,
		     struct str_list then)
{
	const struct run *run = eval_context->run;
	const struct graph_node *node = &run->graph->nodes[to];
	uint64_t count = run_place(run, from->scope, to)->count;
	for (size_t i = 0; i < then.count; i++)
		count += str_equal(then.at[i], node->name);
	return (!has(node->row, max_iterations) || count < (uint64_t)node->row->max_iterations) &&
	       run->iterations + (int64_t)then.count < run->graph->max_iterations;
}

bool continuation_after_success(struct eval_context *eval_context,
				const struct activation *activation, const struct json *output,
				struct step_continuation *out)
{
	const struct graph_node *node = run_node(eval_context->run, activation);
	struct arena *arena = eval_context->d->arena;
	*out = (struct step_continuation){ NULL, S("") };
	if (node->until == NULL && node->edges.count == 0)
		return true;
	eval_context->closing = activation;
	eval_context->output = output;
	bool again = runs_again(eval_context, activation);
	struct str *then = arena_array(arena, struct str, node->edges.count);
	size_t taken = 0;
	for (size_t i = 0; i < node->edges.count && !again; i++) {
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
	if (taken == 0 && !again)
		return true;
	out->next = run_next_new(arena);
	if (taken > 0 && out->over.size == 0)
		SET(out->next, then, ((struct str_list){ then, taken }));
	if (again)
		SET(out->next, again, true);
	return true;
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
	if (!has(row, retry) || run->cancelling || activation->retries >= row->retry->max_retries ||
	    !is_worth_it(row->retry, fault->code))
		return NULL;
	struct run_next *next = run_next_new(d->arena);
	SET(next, retry_at, now + delay_of(run, activation, row->retry));
	return next;
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
		if (a != NULL && a->open && run_can_stop(run_node(run, a)->kind))
			decision_stop_effect(d, a);
	}
}

/* Waits and questions end immediately. */
static void close_waiting(const struct run *run, struct decision *d)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *a = run->paths.at[i];
		if (a == NULL || step_state_row(a->state)->final)
			continue;
		if (a->state == STEP_WAITING_HUMAN)
			decision_close_silently(d, &a->question.id);
		else if (a->state == STEP_RETRYING ||
			 (a->open && !run_can_stop(run_node(run, a)->kind)))
			decision_close_silently(d, &a->effect);
	}
}

void engine_cancel_run(struct run *run, int64_t now, struct str by, struct str reason,
		       struct failure fault, struct decision *d)
{
	struct run_cancelling *body = run_cancelling_new(d->arena);
	SET(body, by, by);
	if (reason.size > 0)
		SET(body, reason, reason);
	if (fault.code.size > 0)
		SET(body, fault, decision_failure(d, fault));
	close_waiting(run, d);
	decision_emit(run, d,
		      (struct event){ EVENT_RUN_CANCELLING, now, { .run_cancelling = body } });
	stop_open(run, d);
}
