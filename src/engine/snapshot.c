/* engine/snapshot.c -- converts the state of a run to run.Snapshot. */
#include "engine/snapshot.h"

#include <stdlib.h>

#include "contract/field_copy.h"
#include "contract/run_question_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "contract/run_value_types.h"
#include "engine/activation.h"
#include "engine/budget.h"
#include "engine/mailbox.h"
#include "engine/milestone.h"
#include "engine/session.h"
#include "engine/undo.h"

struct printing {
	struct arena *arena;
	const struct run *run;
	struct hash *names;
	size_t name_count, name_room;
};

static void print_name(struct printing *p, struct hash name)
{
	if (p->name_count == p->name_room) {
		p->name_room = p->name_room == 0 ? 16 : p->name_room * 2;
		struct hash *more = arena_array(p->arena, struct hash, p->name_room);
		for (size_t i = 0; i < p->name_count; i++)
			more[i] = p->names[i];
		p->names = more;
	}
	p->names[p->name_count++] = name;
}

/* NULL for an absent value. */
static const struct run_value *print_value(struct printing *p, const struct value *value)
{
	if (value->kind == VALUE_ABSENT)
		return NULL;
	struct run_value *out = run_value_new(p->arena);
	if (value->kind == VALUE_STORED) {
		SET(out, sha256, value->hash);
		SET(out, size, value->size);
		print_name(p, value->hash);
		return out;
	}
	const struct json *json;
	struct error error;
	bool good = json_read(value->text, p->arena, &json, &error);
	require(good);
	SET(out, json, json);
	return out;
}

static const struct run_fault *print_fault(struct printing *p, const struct failure *fault)
{
	if (fault->code.size == 0)
		return NULL;
	struct run_fault *out = run_fault_new(p->arena);
	SET(out, code, fault->code);
	SET(out, text, fault->text);
	return out;
}

/* ---- a step -------------------------------------------------------------------------- */

static struct run_snapshot_moment_list print_moments(struct printing *p, const struct restart *from,
						     int64_t count)
{
	struct run_snapshot_moment *at =
		arena_array(p->arena, struct run_snapshot_moment, (size_t)count);
	for (int64_t i = 0; i < count; i++) {
		at[i] = *run_snapshot_moment_new(p->arena);
		SET(&at[i], seq, from[i].seq);
		SET(&at[i], at, from[i].at);
	}
	return (struct run_snapshot_moment_list){ at, (size_t)count };
}

static void print_human(struct printing *p, const struct activation *step,
			struct run_snapshot_step *out)
{
	const struct question *from = &step->question;
	struct run_snapshot_question *question = run_snapshot_question_new(p->arena);
	COPY_FIELDS(run_question, from->asked, run_snapshot_question, question, NULL);
	if (!uuid_equal(&from->id, &step->effect))
		SET(question, id, from->id);
	if (from->seq != step->started_seq) {
		SET(question, seq, from->seq);
		SET(question, at, from->at);
	}
	if (from->level > 0)
		SET(question, level, from->level);
	if (from->passed_on != NULL)
		SET(question, passed_on, print_moments(p, from->passed_on, from->level));
	SET(out, question, question);
	if (!from->answered)
		return;
	struct run_snapshot_answer *answer = run_snapshot_answer_new(p->arena);
	SET(answer, decision, from->decision);
	if (from->comment.size > 0)
		SET(answer, comment, from->comment);
	SET(answer, by, from->by);
	if (from->continues)
		SET(answer, continues, true);
	if (step->attempts != NULL && step->attempts->answered.seq > from->seq) {
		SET(answer, seq, step->attempts->answered.seq);
		SET(answer, at, step->attempts->answered.at);
	}
	SET(out, answer, answer);
}

static struct run_snapshot_restart print_restart(struct printing *p, struct restart restart)
{
	struct run_snapshot_restart *out = run_snapshot_restart_new(p->arena);
	SET(out, seq, restart.seq);
	SET(out, at, restart.at);
	SET(out, attempt, restart.attempt);
	if (restart.due_at > 0)
		SET(out, due_at, restart.due_at);
	return *out;
}

static const struct run_snapshot_restart *print_request(struct printing *p, struct restart request)
{
	struct run_snapshot_restart row = print_restart(p, request);
	return arena_copy(p->arena, &row, sizeof(row));
}

static void print_attempts(struct printing *p, const struct activation *step,
			   struct run_snapshot_step *out)
{
	const struct attempts *from = step->attempts;
	struct run_snapshot_attempt *at =
		arena_array(p->arena, struct run_snapshot_attempt, from->failed_count);
	for (uint32_t i = 0; i < from->failed_count; i++) {
		const struct attempt *failed = &from->failed[i];
		const struct run_fault *fault = print_fault(p, &failed->fault);
		at[i] = *run_snapshot_attempt_new(p->arena);
		if (failed->request.seq > 0)
			SET(&at[i], request, print_request(p, failed->request));
		if (!uuid_equal(&failed->effect, &step->effect))
			SET(&at[i], effect, failed->effect);
		SET(&at[i], seq, failed->seq);
		SET(&at[i], at, failed->at);
		if (failed->outcome != RUN_OUTCOME_FAILED)
			SET(&at[i], outcome, failed->outcome);
		if (fault != NULL)
			SET(&at[i], fault, fault);
		const struct run_value *output = print_value(p, &failed->output);
		const struct run_value *log = print_value(p, &failed->log);
		if (output != NULL)
			SET(&at[i], output, output);
		const struct run_value *files = print_value(p, &failed->files);
		if (log != NULL)
			SET(&at[i], log, log);
		if (failed->figures != NULL)
			SET(&at[i], figures, failed->figures);
		if (files != NULL)
			SET(&at[i], files, files);
		if (failed->file_count > 0)
			SET(&at[i], file_count, failed->file_count);
		SET(&at[i], retry_at, failed->retry_at);
	}
	if (from->failed_count > 0)
		SET(out, failed, ((struct run_snapshot_attempt_list){ at, from->failed_count }));
	if (from->request.seq > 0)
		SET(out, request, print_request(p, from->request));
}

static void print_restarts(struct printing *p, const struct activation *step,
			   struct run_snapshot_step *out)
{
	struct run_snapshot_restart *at =
		arena_array(p->arena, struct run_snapshot_restart, step->restart_count);
	for (uint32_t i = 0; i < step->restart_count; i++)
		at[i] = print_restart(p, step->restarts[i]);
	SET(out, restarts, ((struct run_snapshot_restart_list){ at, step->restart_count }));
}

static struct run_secret_use_list print_secrets(struct printing *p, const struct activation *step)
{
	struct run_secret_use *at =
		arena_array(p->arena, struct run_secret_use, step->secret_count);
	for (uint32_t i = 0; i < step->secret_count; i++) {
		at[i] = *run_secret_use_new(p->arena);
		SET(&at[i], pointer, step->secrets[i].pointer);
		SET(&at[i], offset, step->secrets[i].offset);
		SET(&at[i], name, step->secrets[i].name);
	}
	return (struct run_secret_use_list){ at, step->secret_count };
}

static void print_effect(struct printing *p, const struct activation *step,
			 struct run_snapshot_step *out)
{
	SET(out, effect, step->effect);
	if (step->open)
		SET(out, open, true);
	if (step->outcome != RUN_OUTCOME_OK)
		SET(out, outcome, step->outcome);
	const struct run_value *inputs = print_value(p, &step->inputs);
	if (inputs != NULL)
		SET(out, inputs, inputs);
	if (step->tree.size > 0)
		SET(out, tree, step->tree);
	if (step->secret_count > 0)
		SET(out, secrets, print_secrets(p, step));
	if (step->question.seq > 0)
		print_human(p, step, out);
	if (step->restart_count > 0)
		print_restarts(p, step, out);
	if (step->attempts != NULL)
		print_attempts(p, step, out);
	uint32_t restarts = step->restart_count;
	if (step->attempt != (restarts > 0 ? step->restarts[restarts - 1].attempt : 1))
		SET(out, attempt, step->attempt);
	if (step->retries > 0)
		SET(out, retries, step->retries);
	if (step->settling)
		SET(out, settling, true);
	if (step->holds_workspace || step->reads_workspace)
		SET(out, workspace, true);
}

static struct run_snapshot_body_list print_bodies(struct printing *p,
						  const struct activation *step);

static void print_branches(struct printing *p, const struct activation *step,
			   struct run_snapshot_step *out)
{
	size_t count = 0;
	for (const struct branch *at = step->branches; at != NULL; at = at->next)
		count += at->requested;
	struct run_snapshot_branch *rows = arena_array(p->arena, struct run_snapshot_branch, count);
	count = 0;
	for (const struct branch *at = step->branches; at != NULL; at = at->next) {
		if (!at->requested)
			continue;
		struct run_snapshot_branch *row = &rows[count++];
		*row = *run_snapshot_branch_new(p->arena);
		SET(row, branch, at->path);
		if (at->ended)
			SET(row, ended, true);
		if (at->tree.size > 0)
			SET(row, tree, at->tree);
	}
	if (count > 0)
		SET(out, branches, ((struct run_snapshot_branch_list){ rows, count }));
}

static void print_container(struct printing *p, const struct activation *step,
			    struct run_snapshot_step *out)
{
	if (step->holds_workspace)
		SET(out, workspace, true);
	if (step->tree.size > 0)
		SET(out, tree, step->tree);
	if (step->undoes.size > 0)
		SET(out, undoes, step->undoes);
	const struct run_value *inputs = print_value(p, &step->inputs);
	if (inputs != NULL)
		SET(out, inputs, inputs);
	print_branches(p, step, out);
	const struct run_value *items = print_value(p, &step->items);
	if (items != NULL)
		SET(out, items, items);
	if (step->item_count > 0)
		SET(out, item_count, step->item_count);
	if (step->items_entered > 0 || step->item_count > 0)
		SET(out, entered, step->items_entered);
	const struct run_value *opening = print_value(p, &step->opening);
	if (opening != NULL)
		SET(out, opening, opening);
	if (step->leaving)
		SET(out, leaving, true);
	if (step->scopes != NULL)
		SET(out, bodies, print_bodies(p, step));
}

/* The output of an answered question follows from the answer, unless the person supplied values. */
static bool output_follows(const struct graph_node *node, const struct activation *step)
{
	return node->kind == RUN_NODE_HUMAN && step->question.answered &&
	       (step->question.decision == RUN_DECISION_APPROVE || step->question.continues);
}

static void print_result(struct printing *p, const struct activation *step,
			 struct run_snapshot_step *out)
{
	const struct graph_node *node = run_node(p->run, step);
	bool final = step_state_row(step->state)->final;
	const struct run_value *output =
		output_follows(node, step) ? NULL
					   : print_value(p, final ? &step->result : &step->output);
	const struct run_fault *fault = print_fault(p, &step->fault);
	const struct run_value *before = print_value(p, &step->before);
	const struct run_value *log = print_value(p, &step->log);
	if (output != NULL)
		SET(out, output, output);
	const struct run_value *files = print_value(p, &step->files);
	if (log != NULL)
		SET(out, log, log);
	if (step->figures != NULL)
		SET(out, figures, step->figures);
	if (step->instead.size > 0)
		SET(out, instead, step->instead);
	if (files != NULL)
		SET(out, files, files);
	if (step->file_count > 0)
		SET(out, file_count, step->file_count);
	if (fault != NULL)
		SET(out, fault, fault);
	if (before != NULL)
		SET(out, before, before);
	if (step->reason.size > 0)
		SET(out, reason, step->reason);
	if (step->begun_at > 0)
		SET(out, begun_at, step->begun_at);
	if (step->ended_seq > 0)
		SET(out, ended_seq, step->ended_seq);
	if (final)
		SET(out, ended_at, step->ended_at);
	if (step->limit_reached)
		SET(out, limit_reached, true);
	if (step->cut)
		SET(out, cut, true);
}

/* Of a session: which call of a reply it is, and of a turn, what it took and refused. */
static void print_turn(struct printing *p, const struct activation *step,
		       struct run_snapshot_step *out)
{
	struct run_snapshot_refusal *at =
		arena_array(p->arena, struct run_snapshot_refusal, step->refused_count);
	for (uint32_t i = 0; i < step->refused_count; i++) {
		at[i] = *run_snapshot_refusal_new(p->arena);
		SET(&at[i], call, (int64_t)step->refused[i].call);
		SET(&at[i], name, step->refused[i].name);
		SET(&at[i], fault, print_fault(p, &step->refused[i].fault));
	}
	if (step->call > 0)
		SET(out, call, (int64_t)step->call);
	if (step->asks_for > 0)
		SET(out, asks_for, p->run->graph->nodes[step->asks_for - 1].name);
	if (step->tokens > 0)
		SET(out, tokens, step->tokens);
	if (step->refused_count > 0)
		SET(out, refused, ((struct run_snapshot_refusal_list){ at, step->refused_count }));
}

static struct run_snapshot_step print_step(struct printing *p, const struct activation *step)
{
	struct run_snapshot_step *out = run_snapshot_step_new(p->arena);
	SET(out, step, step->path);
	if (step->state != STEP_SUCCEEDED)
		SET(out, state, step_state_row(step->state)->word);
	if (step->arrival > 0)
		SET(out, arrival, (int64_t)step->arrival);
	if (step->started_seq > 0) {
		SET(out, started_seq, step->started_seq);
		SET(out, started_at, step->started_at);
	}
	if (step->due_at > 0)
		SET(out, due_at, step->due_at);
	if (step->round > 1)
		SET(out, round, (int64_t)step->round);
	if (step->stopping && !step_state_row(step->state)->final)
		SET(out, stopping, true);
	if (!uuid_is_zero(&step->effect))
		print_effect(p, step, out);
	if (run_is_container(run_node(p->run, step)->kind))
		print_container(p, step, out);
	if (session_has(p->run, step->scope))
		print_turn(p, step, out);
	print_result(p, step, out);
	milestone_print(p->run, step, out, p->arena);
	return *out;
}

/* ---- a body -------------------------------------------------------------------------- */

static int in_the_order_of_the_graph(const void *left, const void *right)
{
	const struct activation *a = *(const struct activation *const *)left;
	const struct activation *b = *(const struct activation *const *)right;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

/* An activation in its initial state need not be printed: every body has it. */
static bool follows(const struct activation *step)
{
	return step->call == 0 && step->state == STEP_PENDING && step->arrival == 0 &&
	       step->ordinal == 1 && step->round == 1;
}

static struct run_snapshot_step_list print_steps(struct printing *p, const struct scope *scope)
{
	size_t count = 0;
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		count += !follows(a);
	const struct activation **steps = arena_array(p->arena, const struct activation *, count);
	struct run_snapshot_step *at = arena_array(p->arena, struct run_snapshot_step, count);
	count = 0;
	for (const struct activation *a = scope->first; a != NULL; a = a->next)
		if (!follows(a))
			steps[count++] = a;
	if (count > 1)
		qsort(steps, count, sizeof(*steps), in_the_order_of_the_graph);
	for (size_t i = 0; i < count; i++)
		at[i] = print_step(p, steps[i]);
	return (struct run_snapshot_step_list){ at, count };
}

static struct str_list names_where(struct printing *p, const struct scope *scope, bool done)
{
	struct graph_numbers body =
		graph_body(p->run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node);
	struct str *at = arena_array(p->arena, struct str, body.count);
	size_t count = 0;
	/* Nothing in a session depends on anything else there. */
	for (size_t i = 0; !session_has(p->run, scope) && i < body.count; i++)
		if (scope->places[i].done == done &&
		    place_seems_done(p->run, &scope->places[i]) != done)
			at[count++] = p->run->graph->nodes[body.at[i]].name;
	return (struct str_list){ at, count };
}

static struct str_list print_gone(struct printing *p, const struct scope *scope)
{
	struct graph_numbers body =
		graph_body(p->run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node);
	struct str *at = arena_array(p->arena, struct str, body.count);
	size_t count = 0;
	for (size_t i = 0; i < body.count; i++) {
		const struct place *place = &scope->places[i];
		if (place->newest != NULL && place->count > place->newest->ordinal)
			at[count++] = str_format(p->arena, STR_FMT "#%u",
						 STR_ARG(p->run->graph->nodes[body.at[i]].name),
						 place->count);
	}
	return (struct str_list){ at, count };
}

/* node#count for every node of the body with a count. */
static struct str_list print_counts(struct printing *p, const struct scope *scope, bool lost)
{
	struct graph_numbers body =
		graph_body(p->run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node);
	struct str *at = NULL;
	size_t count = 0;
	for (size_t i = 0; i < body.count; i++) {
		uint32_t number = lost ? scope->places[i].lost : scope->places[i].extra;
		if (number == 0)
			continue;
		if (at == NULL)
			at = arena_array(p->arena, struct str, body.count);
		at[count++] = str_format(p->arena, STR_FMT "#%u",
					 STR_ARG(p->run->graph->nodes[body.at[i]].name), number);
	}
	return (struct str_list){ at, count };
}

static const struct run_snapshot_failure *print_failure(struct printing *p,
							const struct first_failure *failure)
{
	if (failure->path.size == 0)
		return NULL;
	struct run_snapshot_failure *out = run_snapshot_failure_new(p->arena);
	SET(out, step, failure->path);
	SET(out, seq, failure->seq);
	SET(out, fault, print_fault(p, &failure->fault));
	return out;
}

static bool failure_follows(const struct run *run, const struct scope *scope)
{
	const struct activation *first = scope_first_failed(run, scope);
	return first != NULL && str_equal(first->path, scope->failed.path);
}

static void print_session_turn(const struct scope *scope, struct run_snapshot_body *out)
{
	const struct session_turn *turn = &scope->turn;
	SET(out, entered_seq, turn->entered_seq);
	SET(out, entered_at, turn->entered_at);
	if (turn->note.size > 0)
		SET(out, note, turn->note);
	if (turn->is_signed)
		SET(out, signature, turn->signature);
	if (turn->repeats > 1)
		SET(out, repeats, turn->repeats);
	if (turn->corrections > 0)
		SET(out, corrections, turn->corrections);
	if (turn->attachments > 0)
		SET(out, attachments, turn->attachments);
	if (turn->summarizes > 0)
		SET(out, summarizes, turn->summarizes);
	if (turn->summary > 0)
		SET(out, summary, turn->summary);
	if (turn->summaries > 0)
		SET(out, summaries, turn->summaries);
	if (turn->kept_from > 1)
		SET(out, kept_from, turn->kept_from);
}

static struct run_snapshot_body *print_body(struct printing *p, const struct scope *scope)
{
	struct run_snapshot_body *out = run_snapshot_body_new(p->arena);
	struct str_list told = names_where(p, scope, true);
	struct str_list untold = names_where(p, scope, false);
	struct str_list gone = print_gone(p, scope);
	struct str_list lost = print_counts(p, scope, true), extra = print_counts(p, scope, false);
	const struct run_snapshot_failure *failure =
		failure_follows(p->run, scope) ? NULL : print_failure(p, &scope->failed);
	const struct run_snapshot_failure *caught = print_failure(p, &scope->caught);
	if (scope->item >= 0)
		SET(out, item, scope->item);
	if (session_has(p->run, scope))
		print_session_turn(scope, out);
	SET(out, steps, print_steps(p, scope));
	if (failure != NULL)
		SET(out, failed, failure);
	if (scope->section != RUN_SECTION_STEPS)
		SET(out, section, scope->section);
	if (caught != NULL)
		SET(out, caught, caught);
	if (told.count > 0)
		SET(out, told, told);
	if (untold.count > 0)
		SET(out, untold, untold);
	if (gone.count > 0)
		SET(out, gone, gone);
	if (lost.count > 0)
		SET(out, lost, lost);
	if (extra.count > 0)
		SET(out, extra, extra);
	return out;
}

static struct run_snapshot_body_list print_bodies(struct printing *p, const struct activation *step)
{
	size_t count = 0, i = 0;
	for (const struct scope *scope = step->scopes; scope != NULL; scope = scope->next)
		count++;
	struct run_snapshot_body *at = arena_array(p->arena, struct run_snapshot_body, count);
	for (const struct scope *scope = step->scopes; scope != NULL; scope = scope->next)
		at[count - ++i] = *print_body(p, scope);
	return (struct run_snapshot_body_list){ at, count };
}

/* ---- the run ------------------------------------------------------------------------- */

static struct run_snapshot_signal_list print_signals(struct printing *p)
{
	size_t count = 0, i = 0;
	for (const struct run_signal *signal = p->run->signals; signal != NULL;
	     signal = signal->next)
		count++;
	struct run_snapshot_signal *at = arena_array(p->arena, struct run_snapshot_signal, count);
	for (const struct run_signal *signal = p->run->signals; signal != NULL;
	     signal = signal->next) {
		at[i] = *run_snapshot_signal_new(p->arena);
		SET(&at[i], name, signal->name);
		SET(&at[i], data, print_value(p, &signal->data));
		i++;
	}
	return (struct run_snapshot_signal_list){ at, count };
}

static void print_mailbox(struct printing *p, struct run_snapshot *out)
{
	const struct mailbox *from = p->run->mailbox;
	for (size_t i = 0; i < from->message_count; i++)
		if (from->messages[i].content.kind == VALUE_STORED)
			print_name(p, from->messages[i].content.hash);
	mailbox_print(from, p->arena, out);
}

static struct run_snapshot_undo_list print_undos(struct printing *p)
{
	size_t left = p->run->undo_count;
	struct run_snapshot_undo *at = arena_array(p->arena, struct run_snapshot_undo, left);
	for (const struct undo_record *undo = p->run->undos; undo != NULL; undo = undo->before) {
		struct run_snapshot_undo *row = &at[--left];
		*row = *run_snapshot_undo_new(p->arena);
		SET(row, step, undo->path);
		SET(row, undo, p->run->graph->nodes[undo->node].name);
		SET(row, inputs, print_value(p, &undo->inputs));
	}
	return (struct run_snapshot_undo_list){ at, p->run->undo_count };
}

static void print_life(struct printing *p, struct run_snapshot *out)
{
	const struct run *run = p->run;
	const struct run_fault *stopped = print_fault(p, &run->stopped);
	COPY_FIELDS(run_start, run->start, run_snapshot, out, NULL);
	if (run->begun_at != run->created_at && run->begun_at > 0)
		SET(out, begun_at, run->begun_at);
	if (run->due_at > 0)
		SET(out, due_at, run->due_at);
	if (run->retried_at > 0)
		SET(out, retried_at, run->retried_at);
	/* A run that was cancelled while queued never began. */
	if (run->begun_at == 0)
		SET(out, queued, run->queued);
	if (run->paused)
		SET(out, paused, true);
	if (run->cancelling)
		SET(out, cancelling, true);
	if (run->workspace_removed)
		SET(out, workspace_removed, true);
	if (run->unwinding)
		SET(out, unwinding, true);
	if (run->abandoned)
		SET(out, abandoned, true);
	if (stopped != NULL)
		SET(out, stopped, stopped);
	if (run->iterations > 0)
		SET(out, iterations, run->iterations);
	if (run->undos != NULL)
		SET(out, undos, print_undos(p));
	if (run->graph_state.kind != VALUE_ABSENT)
		SET(out, graph_state, print_value(p, &run->graph_state));
	if (run->signals != NULL)
		SET(out, signals, print_signals(p));
	if (run->mailbox != NULL)
		print_mailbox(p, out);
	if (run->warnings.count > 0)
		SET(out, warnings, run_warnings_print(&run->warnings, p->arena));
	if (run->warnings.dropped > 0)
		SET(out, warnings_dropped, run->warnings.dropped);
	if (run->usages != NULL && run->usages->count > 0)
		SET(out, usage, usage_print(run, p->arena));
	budget_print(run, p->arena, out);
}

static void print_root(struct printing *p, struct run_snapshot *out)
{
	const struct run_snapshot_body *root = print_body(p, p->run->root);
	COPY_FIELDS(run_snapshot_body, root, run_snapshot, out, NULL);
}

const struct run_snapshot *run_snapshot(const struct run *run, struct arena *arena,
					struct run_names *out_names)
{
	require(run->seq > 0);
	struct printing p = { .arena = arena, .run = run };
	struct run_snapshot *out = run_snapshot_new(arena);
	print_name(&p, run->graph->hash);
	SET(out, name, run->graph->name);
	SET(out, definition, run->graph->hash);
	SET(out, seq, run->seq);
	if (run->floor > 0)
		SET(out, floor, run->floor);
	SET(out, state, run_state_row(run->state)->word);
	SET(out, created_at, run->created_at);
	SET(out, updated_at, run->updated_at);
	if (run_ended(run))
		SET(out, ended_at, run->ended_at);
	SET(out, arrivals, (int64_t)run->arrivals);
	if (run->steps_started != run->arrivals)
		SET(out, steps_started, (int64_t)run->steps_started);
	print_life(&p, out);
	SET(out, inputs, print_value(&p, &run->inputs));
	const struct run_value *outputs = print_value(&p, &run->outputs);
	const struct run_fault *fault = print_fault(&p, &run->fault);
	if (outputs != NULL)
		SET(out, outputs, outputs);
	if (run->issues.count > 0)
		SET(out, issues, run->issues);
	if (fault != NULL)
		SET(out, fault, fault);
	print_root(&p, out);
	*out_names = (struct run_names){ p.names, p.name_count };
	return out;
}

bool run_snapshot_read(struct str text, struct arena *arena,
		       const struct run_snapshot **out_snapshot, struct error *error)
{
	const struct json *json;
	if (!json_read(text, arena, &json, error))
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = text, .lenient = true };
	const struct run_snapshot *snapshot = run_snapshot_parse(&source, arena, &problems);
	if (snapshot == NULL) {
		problems_fail(&problems, error);
		error_prefix(error, "snapshot: ");
		return false;
	}
	*out_snapshot = snapshot;
	return true;
}
