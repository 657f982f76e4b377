/* engine/session_state.c -- how events change a session: turns are entered, calls are opened, and a
 * retry continues in the turn that failed. */
#include "engine/session.h"

#include "base/limits.h"
#include "contract/run_class_types.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "engine/activation.h"

/* The node that asks the model is the first of the body. */
enum { TURN_SLOT = 0 };

bool session_has(const struct run *run, const struct scope *scope)
{
	return scope->owner != NULL && run_node(run, scope->owner)->kind == RUN_NODE_SESSION;
}

struct activation *session_turn_of(const struct scope *scope)
{
	return scope->places[TURN_SLOT].newest;
}

/* ---- sums over turns ------------------------------------------------------------------------- */

/* Stored sizes are not to be trusted: the sums must not overflow. */
static int64_t size_within(const struct value *value, int64_t most)
{
	int64_t size = value->size < 0 ? 0 : value->size;
	return size < most ? size : most;
}

struct transcript_size session_turn_size(const struct scope *scope)
{
	const struct activation *turn = session_turn_of(scope);
	struct transcript_size size = { SESSION_AROUND_MESSAGE + (int64_t)scope->turn.note.size,
					0 };
	for (const struct activation *a = scope->first; a != NULL; a = a->next) {
		int64_t shown = size_within(&a->result, LIMIT_RESULT_SHOWN);
		size.told += SESSION_AROUND_MESSAGE + (int64_t)a->fault.text.size +
			     (a == turn ? size_within(&a->result, LIMIT_VALUE_BYTES) : shown);
		size.results += shown;
	}
	return size;
}

bool session_turn_called(const struct run *run, const struct scope *scope, struct str tool)
{
	int64_t node = graph_find(run->graph, scope->owner->node, tool);
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		if (a->call > 0 && a->node == node && a->state == STEP_SUCCEEDED)
			return true;
	return false;
}

/* The turns share the list until a turn calls a tool for the first time. */
static const bool *add_called(struct run *run, const struct scope *before)
{
	struct graph_numbers body = graph_body(run->graph, before->owner->node);
	const struct run_graph_agent *agent = run->graph->nodes[body.at[TURN_SLOT]].row->agent;
	const bool *known = before->turn.called;
	bool *more = NULL;
	size_t count = has(agent, required_tools) ? agent->required_tools.count : 0;
	for (size_t i = 0; i < count; i++) {
		if ((known != NULL && known[i]) ||
		    !session_turn_called(run, before, agent->required_tools.at[i]))
			continue;
		if (more == NULL) {
			more = arena_array(run->arena, bool, count);
			for (size_t k = 0; k < count; k++)
				more[k] = known != NULL && known[k];
		}
		more[i] = true;
	}
	return more != NULL ? more : known;
}

static void add_size(struct transcript_size *sum, struct transcript_size more)
{
	sum->told += more.told;
	sum->results += more.results;
}

void session_add_up(struct run *run, struct scope *scope)
{
	const struct scope *before = scope->next;
	int64_t from = scope->turn.kept_from;
	scope->turn.kept = (struct transcript_size){ 0 };
	scope->turn.called = NULL;
	if (before == NULL)
		return;
	scope->turn.called = add_called(run, before);
	if (from == before->turn.kept_from && before->item >= from) {
		scope->turn.kept = before->turn.kept;
		add_size(&scope->turn.kept, session_turn_size(before));
		return;
	}
	/* The older half of the transcript has gone: this is as rare as the transcript is long. */
	for (; before != NULL && before->item >= from; before = before->next)
		add_size(&scope->turn.kept, session_turn_size(before));
}

void session_enter_turn(struct run *run, struct activation *session,
			const struct run_step_entered *event, int64_t at)
{
	if (has(event, opening))
		session->opening = run_value_copy(run, event->opening);
	struct scope *scope = scope_new(run, session, ++session->items_entered);
	scope->turn = (struct session_turn){
		.entered_seq = run->seq + 1,
		.entered_at = at,
		.note = has(event, note) ? str_copy(run->arena, event->note) : S(""),
		.is_signed = has(event, signature),
		.repeats = has(event, repeats) ? event->repeats : 1,
		.corrections = has(event, corrections) ? event->corrections : 0,
		.attachments = has(event, attachments) ? event->attachments : 0,
		.summarizes = has(event, summarizes) ? event->summarizes : 0,
		.summary = has(event, summary) ? event->summary : 0,
		.summaries = has(event, summaries) ? event->summaries : 0,
		.kept_from = has(event, kept_from) ? event->kept_from : 1,
	};
	if (has(event, signature))
		scope->turn.signature = event->signature;
	session_add_up(run, scope);
	struct graph_numbers body = graph_body(run->graph, session->node);
	activation_ready(run, activation_new(run, scope, body.at[TURN_SLOT]));
}

/* Whether the call only reads: it may run beside others that do. */
static bool only_reads(const struct run *run, const struct activation *call)
{
	const struct graph_node *node =
		call->asks_for > 0 ? &run->graph->nodes[call->asks_for - 1] : run_node(run, call);
	return node->kind == RUN_NODE_HUMAN ||
	       (node->kind == RUN_NODE_TOOL &&
		(node->row->class == RUN_CLASS_PURE || node->row->class == RUN_CLASS_IDEMPOTENT));
}

/* A model that asks for an edit and then for a test means that order.  So a call that may change
 * something waits for all calls before it in the reply, and every call waits for those. */
void session_release_calls(struct run *run, struct scope *scope)
{
	AUTO(arena) scratch = { 0 };
	uint32_t count = 0;
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		count = a->call > count ? a->call : count;
	struct activation **open = arena_array(&scratch, struct activation *, (size_t)count + 1);
	for (struct activation *a = scope->first; a != NULL; a = a->next)
		if (!step_state_row(a->state)->final)
			open[a->call] = a;
	bool before = false; /* an earlier call is not final */
	for (uint32_t number = 1; number <= count; number++) {
		struct activation *call = open[number];
		if (call == NULL)
			continue;
		bool reads = only_reads(run, call);
		if (before && !reads)
			return;
		if (call->state == STEP_PENDING && call->arrival == 0)
			activation_ready(run, call);
		if (!reads)
			return;
		before = true;
	}
}

static void refuse(struct run *run, struct activation *turn, size_t count, uint32_t call,
		   const struct run_call_opened *row)
{
	struct refused_call *at = arena_array(run->arena, struct refused_call, count);
	for (uint32_t i = 0; i < turn->refused_count; i++)
		at[i] = turn->refused[i];
	at[turn->refused_count++] =
		(struct refused_call){ .call = call,
				       .name = str_copy(run->arena, row->name),
				       .fault = run_failure_copy(run, row->fault) };
	turn->refused = at;
}

bool session_open_calls(struct run *run, struct activation *turn, struct run_call_opened_list calls,
			struct error *error)
{
	struct scope *scope = turn->scope;
	for (size_t i = 0; i < calls.count; i++) {
		const struct run_call_opened *row = &calls.at[i];
		if (has(row, fault)) {
			refuse(run, turn, calls.count, (uint32_t)i + 1, row);
			continue;
		}
		struct str made_by = has(row, node) ? row->node : row->name;
		int64_t node = graph_find(run->graph, scope->owner->node, made_by);
		if (node < 0)
			return fail(error, ERROR_INVALID, "the agent has no tool " STR_FMT,
				    STR_ARG(row->name));
		bool approve = has(row, approve) && row->approve;
		int64_t question = graph_find(run->graph, scope->owner->node, S("approve"));
		if (approve && question < 0)
			return fail(error, ERROR_INVALID, "the agent asks nobody for approval");
		struct activation *call =
			activation_new(run, scope, (uint32_t)(approve ? question : node));
		call->call = (uint32_t)i + 1;
		call->asks_for = approve ? (uint32_t)node + 1 : 0;
	}
	session_release_calls(run, scope);
	return true;
}

void session_open_approved(struct run *run, const struct activation *question)
{
	struct activation *call = activation_new(run, question->scope, question->asks_for - 1);
	call->call = question->call; /* it becomes ready when the question ends */
}

void session_open_fallback(struct run *run, struct activation *failed, const struct run_next *next)
{
	int64_t node = next->then.count == 0 ? -1
					     : graph_find(run->graph, failed->scope->owner->node,
							  next->then.at[0]);
	if (node < 0)
		return;
	struct activation *call = activation_new(run, failed->scope, (uint32_t)node);
	call->call = failed->call; /* it becomes ready with the other calls whose turn it is */
	failed->instead = str_copy(run->arena, next->fallback);
}

const struct activation *session_find_call(const struct scope *scope, uint32_t number)
{
	const struct activation *found = NULL;
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		if (a->call == number && (found == NULL || found->asks_for > 0))
			found = a;
	return found;
}

const struct activation *session_find_approval(const struct scope *scope, uint32_t number)
{
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		if (a->call == number && a->asks_for > 0)
			return a;
	return NULL;
}

/* ---- retries --------------------------------------------------------------------------- */

/* A call that failed is a result like any other: the model has seen it, or will.  A reply that came
 * while the run was being stopped has no calls yet, so the model is asked again. */
static bool is_repeated(const struct activation *a)
{
	bool turn = a->call == 0;
	return a->state == STEP_CANCELLED ||
	       (turn && (a->state == STEP_FAILED || (a->state == STEP_SUCCEEDED && a->cut)));
}

bool session_can_reopen(const struct run *run, const struct scope *scope)
{
	(void)run;
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		if (is_repeated(a))
			return true;
	return false;
}

/* In the order in which they were created, so that a history folds the same wherever it begins. */
void session_reopen(struct run *run, struct scope *scope)
{
	size_t count = 0;
	scope->failed = (struct first_failure){ 0 };
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		count += is_repeated(a);
	struct activation **repeated = arena_array(run->arena, struct activation *, count);
	size_t place = count;
	for (struct activation *a = scope->first; a != NULL; a = a->next)
		if (is_repeated(a))
			repeated[--place] = a;
	for (size_t i = 0; i < count; i++) {
		struct activation *last = repeated[i];
		struct place *of = run_place(run, scope, last->node);
		if (of->final == last)
			of->final = NULL;
		activation_forget(run, last);
		struct activation *next = activation_new(run, scope, last->node);
		next->call = last->call;
		next->asks_for = last->asks_for;
		of->extra++;
		if (next->call == 0)
			activation_ready(run, next);
	}
	session_release_calls(run, scope);
}
