/* engine/restore.c -- restores the state of a run from run.Snapshot.
 *
 * First the fields of the snapshot are set.  Then the rest is derived once, in the order in which
 * steps became ready, because that is the order of every ready list.
 */
#include <stdlib.h>

#include "contract/field_copy.h"
#include "contract/run_class_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_question_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "engine/activation.h"
#include "engine/budget.h"
#include "engine/mailbox.h"
#include "engine/milestone.h"
#include "engine/session.h"
#include "engine/undo.h"
#include "engine/workspace_folder.h"
#include "engine/snapshot.h"

struct restoring {
	struct run *run;
	struct error *error;
	struct activation **ready; /* every activation with an arrival number */
	size_t count, room;
};

static bool run_state_from(struct str word, enum run_state *out)
{
	for (size_t i = 0; i < run_state_count(); i++)
		if (str_equal(run_state_row((enum run_state)i)->word, word)) {
			*out = (enum run_state)i;
			return true;
		}
	return false;
}

static bool step_state_from(struct str word, enum step_state *out)
{
	for (size_t i = 0; i < step_state_count(); i++)
		if (str_equal(step_state_row((enum step_state)i)->word, word)) {
			*out = (enum step_state)i;
			return true;
		}
	return false;
}

/* ---- a step -------------------------------------------------------------------------- */

static struct restart *restore_moments(struct run *run, struct run_snapshot_moment_list from)
{
	struct restart *at = arena_array(run->arena, struct restart, from.count);
	for (size_t i = 0; i < from.count; i++)
		at[i] = (struct restart){ from.at[i].seq, from.at[i].at, 0, 0 };
	return at;
}

static void restore_question(struct run *run, struct activation *step,
			     const struct run_snapshot_step *row)
{
	const struct run_snapshot_question *from = row->question;
	struct question *question = &step->question;
	struct run_question *asked = run_question_new(run->arena);
	COPY_FIELDS(run_snapshot_question, from, run_question, asked, run->arena);
	*question = (struct question){ .id = has(from, id) ? from->id : step->effect,
				       .asked = asked,
				       .seq = has(from, seq) ? from->seq : step->started_seq,
				       .at = has(from, at) ? from->at : step->started_at,
				       .level = has(from, level) ? from->level : 0 };
	/* Old snapshots do not have the escalation levels: derive them as older versions did. */
	if (has(from, passed_on) && (int64_t)from->passed_on.count == question->level)
		question->passed_on = restore_moments(run, from->passed_on);
	if (!has(row, answer))
		return;
	const struct run_snapshot_answer *answer = row->answer;
	question->answered = true;
	question->decision = answer->decision;
	question->comment = has(answer, comment) ? str_copy(run->arena, answer->comment) : S("");
	question->by = str_copy(run->arena, answer->by);
	question->continues = has(answer, continues) && answer->continues;
	if (has(answer, seq) && has(answer, at))
		run_attempts(run, step)->answered =
			(struct restart){ answer->seq, answer->at, 0, 0 };
	/* A question that settled an unknown outcome has no output of its own.  After a good answer the step
	 * may have failed because of its rounds. */
	if ((step->state == STEP_SUCCEEDED || step->state == STEP_FAILED) &&
	    (answer->decision == RUN_DECISION_APPROVE || question->continues) && !has(row, output))
		step->output = run_answer_value(run, question);
}

static struct restart restore_request(const struct run_snapshot_restart *from)
{
	return (struct restart){ from->seq, from->at, from->attempt,
				 has(from, due_at) ? from->due_at : 0 };
}

static void restore_restarts(struct run *run, struct activation *step,
			     const struct run_snapshot_step *from)
{
	struct restart *at = arena_array(run->arena, struct restart, from->restarts.count);
	for (size_t i = 0; i < from->restarts.count; i++)
		at[i] = restore_request(&from->restarts.at[i]);
	step->restarts = at;
	step->restart_count = (uint32_t)from->restarts.count;
	if (from->restarts.count > 0)
		step->attempt = at[from->restarts.count - 1].attempt;
}

static void restore_attempts(struct run *run, struct activation *step,
			     const struct run_snapshot_step *from)
{
	struct attempts *attempts = run_attempts(run, step);
	size_t count = has(from, failed) ? from->failed.count : 0;
	attempts->failed = arena_array(run->arena, struct attempt, count);
	attempts->failed_count = (uint32_t)count;
	if (has(from, request))
		attempts->request = restore_request(from->request);
	for (size_t i = 0; i < count; i++) {
		const struct run_snapshot_attempt *row = &from->failed.at[i];
		attempts->failed[i] = (struct attempt){
			.effect = has(row, effect) ? row->effect : from->effect,
			.seq = row->seq,
			.at = row->at,
			.outcome = has(row, outcome) ? row->outcome : RUN_OUTCOME_FAILED,
			.fault = run_failure_copy(run, has(row, fault) ? row->fault : NULL),
			.output = run_value_copy(run, has(row, output) ? row->output : NULL),
			.log = run_value_copy(run, has(row, log) ? row->log : NULL),
			.figures = has(row, figures) ? arena_copy(run->arena, row->figures,
								  sizeof(*row->figures))
						     : NULL,
			.files = run_value_copy(run, has(row, files) ? row->files : NULL),
			.file_count = has(row, file_count) ? row->file_count : 0,
			.retry_at = row->retry_at
		};
		if (has(row, request))
			attempts->failed[i].request = restore_request(row->request);
	}
}

static void restore_effect(struct run *run, struct activation *step,
			   const struct run_snapshot_step *from)
{
	step->effect = from->effect;
	step->open = has(from, open) && from->open;
	step->outcome = has(from, outcome) ? from->outcome : RUN_OUTCOME_OK;
	step->retries = has(from, retries) ? from->retries : 0;
	step->settling = has(from, settling) && from->settling;
	/* Old snapshots do not have this field: an open effect holds the workspace. */
	bool works = (has(from, workspace) && from->workspace) ||
		     (step->open && run_node(run, step)->kind == RUN_NODE_TOOL &&
		      run_node(run, step)->row->class == RUN_CLASS_CONTAINED &&
		      step->state == STEP_RUNNING);
	step->holds_workspace = works && !run_node(run, step)->read_only;
	step->reads_workspace = works && run_node(run, step)->read_only;
	if (has(from, inputs))
		step->inputs = run_value_copy(run, from->inputs);
	if (has(from, secrets))
		run_secrets_copy(run, step, from->secrets);
	if (has(from, tree))
		step->tree = str_copy(run->arena, from->tree);
	if (has(from, restarts))
		restore_restarts(run, step, from);
	if (has(from, attempt))
		step->attempt = from->attempt;
	if (has(from, failed) || has(from, request))
		restore_attempts(run, step, from);
}

static void restore_refused(struct run *run, struct activation *step,
			    struct run_snapshot_refusal_list from)
{
	struct refused_call *at = arena_array(run->arena, struct refused_call, from.count);
	for (size_t i = 0; i < from.count; i++)
		at[i] = (struct refused_call){ .call = (uint32_t)from.at[i].call,
					       .name = str_copy(run->arena, from.at[i].name),
					       .fault = run_failure_copy(run, from.at[i].fault) };
	step->refused = at;
	step->refused_count = (uint32_t)from.count;
}

static void restore_step(struct run *run, struct activation *step,
			 const struct run_snapshot_step *from)
{
	step->arrival = has(from, arrival) ? (uint64_t)from->arrival : 0;
	step->round = has(from, round) ? (uint32_t)from->round : 1;
	step->started_seq = has(from, started_seq) ? from->started_seq : 0;
	step->started_at = has(from, started_at) ? from->started_at : 0;
	step->ended_seq = has(from, ended_seq) ? from->ended_seq : 0;
	step->ended_at = has(from, ended_at) ? from->ended_at : 0;
	step->due_at = has(from, due_at) ? from->due_at : 0;
	step->begun_at = has(from, begun_at) ? from->begun_at : 0;
	step->item_count = has(from, item_count) ? from->item_count : 0;
	step->items_entered = has(from, entered) ? from->entered : 0;
	step->leaving = has(from, leaving) && from->leaving;
	step->limit_reached = has(from, limit_reached) && from->limit_reached;
	step->cut = has(from, cut) && from->cut;
	step->holds_workspace = has(from, workspace) && from->workspace;
	if (has(from, tree))
		step->tree = str_copy(run->arena, from->tree);
	/* Old snapshots do not have this field: without finally steps a cancel stops everything. */
	step->stopping = (has(from, stopping) && from->stopping) ||
			 (run->cancelling && !run->unwinding && !run->graph->has_finally &&
			  !step_state_row(step->state)->final);
	step->reason = has(from, reason) ? str_copy(run->arena, from->reason) : S("");
	if (has(from, output))
		step->output = run_value_copy(run, from->output);
	if (has(from, log))
		step->log = run_value_copy(run, from->log);
	if (has(from, figures))
		step->figures = arena_copy(run->arena, from->figures, sizeof(*from->figures));
	if (has(from, instead))
		step->instead = str_copy(run->arena, from->instead);
	if (has(from, files))
		step->files = run_value_copy(run, from->files);
	step->file_count = has(from, file_count) ? from->file_count : 0;
	if (has(from, before))
		step->before = run_value_copy(run, from->before);
	if (has(from, items))
		step->items = run_value_copy(run, from->items);
	if (has(from, fault))
		step->fault = run_failure_copy(run, from->fault);
	if (has(from, opening))
		step->opening = run_value_copy(run, from->opening);
	step->call = has(from, call) ? (uint32_t)from->call : 0;
	step->tokens = has(from, tokens) ? from->tokens : 0;
	int64_t asks_for =
		has(from, asks_for) && step->scope->owner != NULL
			? graph_find(run->graph, step->scope->owner->node, from->asks_for)
			: -1;
	step->asks_for = asks_for < 0 ? 0 : (uint32_t)asks_for + 1;
	if (has(from, refused))
		restore_refused(run, step, from->refused);
	if (has(from, undoes))
		step->undoes = str_copy(run->arena, from->undoes);
	if (has(from, undoes) && has(from, inputs))
		step->inputs = run_value_copy(run, from->inputs);
	if (has(from, effect))
		restore_effect(run, step, from);
	if (has(from, question))
		restore_question(run, step, from);
	if (has(from, milestone))
		milestone_restore(run, step, from->milestone);
}

/* ---- a body -------------------------------------------------------------------------- */

/* Parses node#n; false when the body has no such node. */
static bool read_name(const struct run *run, const struct scope *scope, struct str name,
		      uint32_t *out_node, int64_t *out_ordinal)
{
	uint32_t parent = scope->owner == NULL ? GRAPH_ROOT : scope->owner->node;
	struct str ordinal_text = S("");
	size_t mark;
	*out_ordinal = 1;
	if (str_find(name, S("#"), &mark)) {
		ordinal_text = str_skip(name, mark + 1);
		name.size = mark;
	}
	int64_t node = graph_find(run->graph, parent, name);
	if (node < 0 || (ordinal_text.size > 0 && !str_to_int(ordinal_text, out_ordinal)) ||
	    *out_ordinal < 1 || *out_ordinal > UINT32_MAX)
		return false;
	*out_node = (uint32_t)node;
	return true;
}

/* Creates an activation of the node; its path must match the snapshot. */
static struct activation *place_step(struct restoring *r, struct scope *scope,
				     const struct run_snapshot_step *row)
{
	struct str name = row->step;
	uint32_t node;
	int64_t ordinal;
	if (scope->path.size > 0)
		name = str_skip(name,
				scope->path.size < name.size ? scope->path.size + 1 : name.size);
	if (!read_name(r->run, scope, name, &node, &ordinal))
		return NULL;
	struct place *place = run_place(r->run, scope, node);
	if ((int64_t)place->count >= ordinal)
		return NULL;
	place->count = (uint32_t)ordinal - 1;
	struct activation *step = activation_new(r->run, scope, node);
	return str_equal(step->path, row->step) ? step : NULL;
}

static bool restore_gone(struct restoring *r, struct scope *scope, struct str name)
{
	uint32_t node;
	int64_t ordinal;
	if (!read_name(r->run, scope, name, &node, &ordinal) ||
	    run_place(r->run, scope, node)->count >= ordinal)
		return fail(r->error, ERROR_INVALID,
			    "the snapshot has forgotten " STR_FMT " that it cannot have had",
			    STR_ARG(name));
	run_place(r->run, scope, node)->count = (uint32_t)ordinal;
	return true;
}

/* Counts of activations that the state does not have, as node#count. */
static bool restore_counts(struct restoring *r, struct scope *scope,
			   const struct run_snapshot_body *from)
{
	uint32_t node;
	int64_t count;
	for (size_t i = 0; has(from, lost) && i < from->lost.count; i++) {
		if (!read_name(r->run, scope, from->lost.at[i], &node, &count))
			return fail(r->error, ERROR_INVALID,
				    "the snapshot has lost " STR_FMT
				    " that its graph does not have",
				    STR_ARG(from->lost.at[i]));
		run_place(r->run, scope, node)->lost = (uint32_t)count;
	}
	for (size_t i = 0; has(from, extra) && i < from->extra.count; i++) {
		if (!read_name(r->run, scope, from->extra.at[i], &node, &count) ||
		    run_place(r->run, scope, node)->count < count)
			return fail(r->error, ERROR_INVALID,
				    "the snapshot has retried " STR_FMT " that it cannot have had",
				    STR_ARG(from->extra.at[i]));
		run_place(r->run, scope, node)->extra = (uint32_t)count;
	}
	return true;
}

static void remember_ready(struct restoring *r, struct activation *step)
{
	if (r->count == r->room) {
		r->room = r->room == 0 ? 16 : r->room * 2;
		struct activation **more = arena_array(r->run->arena, struct activation *, r->room);
		for (size_t i = 0; i < r->count; i++)
			more[i] = r->ready[i];
		r->ready = more;
	}
	r->ready[r->count++] = step;
}

static bool restore_row(struct restoring *r, struct scope *scope,
			const struct run_snapshot_step *row, struct activation **out)
{
	struct activation *step = place_step(r, scope, row);
	struct str state = has(row, state) ? row->state : step_state_row(STEP_SUCCEEDED)->word;
	if (step == NULL || !step_state_from(state, &step->state))
		return fail(r->error, ERROR_INVALID,
			    "the snapshot has a step " STR_FMT " in a state " STR_FMT
			    " that this program does not know",
			    STR_ARG(row->step), STR_ARG(state));
	bool final = step_state_row(step->state)->final;
	restore_step(r->run, step, row);
	if (step->state == STEP_WAITING_HUMAN && step->question.asked == NULL)
		return fail(r->error, ERROR_INVALID,
			    "the snapshot's step " STR_FMT " waits for a person without a question",
			    STR_ARG(row->step));
	if (step->arrival > r->run->arrivals)
		return fail(r->error, ERROR_INVALID,
			    "the snapshot's steps became ready in no order");
	scope->waiting -= final || step->arrival > 0;
	/* All final calls of a session stay, not only the newest of each node. */
	if (final && session_has(r->run, scope))
		step->result = step->output;
	if (final) {
		run_place(r->run, scope, step->node)->final = step;
		scope->live--;
		r->run->live--;
	} else if (step->arrival > 0) {
		remember_ready(r, step);
	}
	*out = step;
	return true;
}

static bool is_named(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

/* Dependents do not wait for a node that is done, and a final reader no longer needs its inputs. */
static void restore_places(struct run *run, struct scope *scope, struct graph_numbers body,
			   const struct run_snapshot_body *from)
{
	static const struct str_list nobody = { NULL, 0 };
	struct str_list told = has(from, told) ? from->told : nobody;
	struct str_list untold = has(from, untold) ? from->untold : nobody;
	for (size_t i = 0; i < body.count; i++) {
		const struct graph_node *node = &run->graph->nodes[body.at[i]];
		struct place *place = &scope->places[i];
		place->done = !session_has(run, scope) &&
			      ((place_seems_done(run, place) && !is_named(untold, node->name)) ||
			       is_named(told, node->name));
		for (size_t d = 0; place->done && d < node->dependents.count; d++)
			run_place(run, scope, node->dependents.at[d])->waiting_on--;
		for (size_t k = 0; place->final != NULL && k < node->reads.count; k++)
			if (!run->graph->nodes[node->reads.at[k]].keeps)
				run_place(run, scope, node->reads.at[k])->readers_left--;
	}
	for (size_t i = 0; i < body.count; i++) {
		struct activation *final = scope->places[i].final;
		if (final == NULL)
			continue;
		final->result = final->output;
		if (scope->places[i].readers_left == 0 && !run->graph->nodes[body.at[i]].keeps)
			final->output = (struct value){ .kind = VALUE_ABSENT };
	}
}

static struct first_failure copy_failure(struct run *run, const struct run_snapshot_failure *from)
{
	return (struct first_failure){ str_copy(run->arena, from->step),
				       run_failure_copy(run, from->fault), from->seq };
}

static void restore_failure(struct run *run, struct scope *scope,
			    const struct run_snapshot_body *from)
{
	const struct activation *first = scope_first_failed(run, scope);
	if (has(from, failed))
		scope->failed = copy_failure(run, from->failed);
	else if (first != NULL)
		scope->failed =
			(struct first_failure){ first->path, first->fault, first->ended_seq };
}

/* The parts of a try that were entered have their activations. */
static bool was_entered(const struct scope *scope, const struct graph_node *node)
{
	if (node->section == RUN_SECTION_CATCH)
		return scope->caught.path.size > 0;
	return node->section <= scope->section;
}

static bool restore_branches(struct restoring *r, struct activation *step,
			     const struct run_snapshot_step *from)
{
	for (size_t i = 0; i < from->branches.count; i++) {
		const struct run_snapshot_branch *row = &from->branches.at[i];
		struct branch *branch = branch_find(step, row->branch);
		if (branch == NULL)
			return fail(r->error, ERROR_INVALID,
				    "the snapshot has a branch " STR_FMT " that it cannot have",
				    STR_ARG(row->branch));
		branch->requested = true;
		branch->ended = has(row, ended) && row->ended;
		branch->tree = has(row, tree) ? str_copy(r->run->arena, row->tree) : S("");
	}
	return true;
}

static void restore_session_turn(struct run *run, struct scope *scope,
				 const struct run_snapshot_body *from)
{
	scope->turn = (struct session_turn){
		.entered_seq = has(from, entered_seq) ? from->entered_seq : 0,
		.entered_at = has(from, entered_at) ? from->entered_at : 0,
		.note = has(from, note) ? str_copy(run->arena, from->note) : S(""),
		.is_signed = has(from, signature),
		.repeats = has(from, repeats) ? from->repeats : 1,
		.corrections = has(from, corrections) ? from->corrections : 0,
		.attachments = has(from, attachments) ? from->attachments : 0,
		.summarizes = has(from, summarizes) ? from->summarizes : 0,
		.summary = has(from, summary) ? from->summary : 0,
		.summaries = has(from, summaries) ? from->summaries : 0,
		.kept_from = has(from, kept_from) ? from->kept_from : 1,
	};
	if (has(from, signature))
		scope->turn.signature = from->signature;
}

static bool restore_body(struct restoring *r, struct scope *scope,
			 const struct run_snapshot_body *from)
{
	uint32_t parent = scope->owner == NULL ? GRAPH_ROOT : scope->owner->node;
	struct graph_numbers body = graph_body(r->run->graph, parent);
	for (size_t i = 0; i < from->steps.count; i++) {
		const struct run_snapshot_step *row = &from->steps.at[i];
		struct activation *step;
		if (!restore_row(r, scope, row, &step))
			return false;
		bool container = run_is_container(run_node(r->run, step)->kind);
		for (size_t k = 0; has(row, bodies) && k < row->bodies.count; k++) {
			const struct run_snapshot_body *inner = &row->bodies.at[k];
			int64_t item = has(inner, item) ? inner->item : -1;
			bool session =
				container && run_node(r->run, step)->kind == RUN_NODE_SESSION;
			if (!container || (session ? item < 1 : item >= step->item_count))
				return fail(r->error, ERROR_INVALID,
					    "the snapshot has a body of " STR_FMT
					    " that it cannot have",
					    STR_ARG(row->step));
			struct scope *entered = scope_new(r->run, step, item);
			if (session)
				restore_session_turn(r->run, entered, inner);
			if (!restore_body(r, entered, inner))
				return false;
			if (session)
				session_add_up(r->run, entered);
			step->scopes_live -= entered->live == 0;
		}
		if (has(row, branches) && !restore_branches(r, step, row))
			return false;
	}
	bool is_try = scope->owner != NULL && run_node(r->run, scope->owner)->kind == RUN_NODE_TRY;
	if (is_try && has(from, section))
		scope->section = from->section;
	if (is_try && has(from, caught))
		scope->caught = copy_failure(r->run, from->caught);
	for (size_t i = 0; i < body.count; i++) {
		const struct graph_node *node = &r->run->graph->nodes[body.at[i]];
		if (scope->places[i].count == 0 && !node->any && was_entered(scope, node))
			activation_new(r->run, scope, body.at[i]);
	}
	for (size_t i = 0; has(from, gone) && i < from->gone.count; i++)
		if (!restore_gone(r, scope, from->gone.at[i]))
			return false;
	if (!restore_counts(r, scope, from))
		return false;
	restore_places(r->run, scope, body, from);
	restore_failure(r->run, scope, from);
	return true;
}

/* ---- open effects and ready lists ---------------------------------------------------- */

static int by_arrival(const void *left, const void *right)
{
	const struct activation *a = *(const struct activation *const *)left;
	const struct activation *b = *(const struct activation *const *)right;
	return (a->arrival > b->arrival) - (a->arrival < b->arrival);
}

static int by_start(const void *left, const void *right)
{
	const struct activation *a = *(const struct activation *const *)left;
	const struct activation *b = *(const struct activation *const *)right;
	if (a->started_seq != b->started_seq)
		return a->started_seq < b->started_seq ? -1 : 1;
	return by_arrival(left, right);
}

static void settle_step(struct run *run, struct activation *step)
{
	const struct graph_node *node = run_node(run, step);
	if (step->state == STEP_PENDING || step->leaving) {
		ready_list_push(run, ready_list_of(run, step), step);
	} else if (step->state == STEP_WAITING_HUMAN) {
		run->humans++;
	} else if (step->state == STEP_RETRYING) {
		run->busy++;
		run->retrying++;
	} else if (node->kind == RUN_NODE_WAIT) {
		run->timers++;
	} else if (run_can_stop(node->kind) && !step->settling) {
		run->busy++;
		run->stops += step->stopping && step->open;
		if (!step->open)
			ready_list_push(run, &run->computing, step);
	}
}

static bool settle_all(struct restoring *r)
{
	if (r->count > 1)
		qsort(r->ready, r->count, sizeof(struct activation *), by_arrival);
	for (size_t i = 0; i < r->count; i++) {
		if (i > 0 && r->ready[i]->arrival == r->ready[i - 1]->arrival)
			return fail(r->error, ERROR_INVALID,
				    "the snapshot's steps became ready in no order");
		settle_step(r->run, r->ready[i]);
	}
	folder_restore_all(r->run);
	struct ready_list *computing = &r->run->computing;
	if (computing->tail > 1)
		qsort(computing->at, computing->tail, sizeof(struct activation *), by_start);
	return true;
}

/* ---- the run ------------------------------------------------------------------------- */

static void restore_signals(struct run *run, const struct run_snapshot *from)
{
	struct run_signal **link = &run->signals;
	for (size_t i = 0; has(from, signals) && i < from->signals.count; i++) {
		struct run_signal *signal = arena_new(run->arena, struct run_signal);
		signal->name = str_copy(run->arena, from->signals.at[i].name);
		signal->data = run_value_copy(run, from->signals.at[i].data);
		*link = signal;
		link = &signal->next;
	}
}

static bool restore_undos(struct run *run, const struct run_snapshot *from, struct error *error)
{
	for (size_t i = 0; has(from, undos) && i < from->undos.count; i++) {
		const struct run_snapshot_undo *row = &from->undos.at[i];
		int64_t node = graph_find(run->graph, GRAPH_ROOT, row->undo);
		if (node < 0 || run->graph->nodes[node].section != RUN_SECTION_UNDO)
			return fail(error, ERROR_INVALID,
				    "the snapshot has an undo " STR_FMT
				    " that its graph does not have",
				    STR_ARG(row->undo));
		undo_record_add(run, row->step, (uint32_t)node, row->inputs);
	}
	return true;
}

static void restore_life(struct run *run, const struct run_snapshot *from)
{
	run->seq = from->seq;
	run->floor = has(from, floor) ? from->floor : 0;
	run->created_at = from->created_at;
	run->updated_at = from->updated_at;
	run->ended_at = has(from, ended_at) ? from->ended_at : 0;
	run->due_at = has(from, due_at) ? from->due_at : 0;
	run->retried_at = has(from, retried_at) ? from->retried_at : 0;
	run->arrivals = (uint64_t)from->arrivals;
	run->steps_started =
		has(from, steps_started) ? (uint64_t)from->steps_started : run->arrivals;
	COPY_FIELDS(run_snapshot, from, run_start, run->start, run->arena);
	run->queued = has(from, queued) && from->queued;
	run->begun_at = has(from, begun_at) ? from->begun_at
			: has(from, queued) ? 0
					    : from->created_at;
	run->paused = has(from, paused) && from->paused;
	run->cancelling = has(from, cancelling) && from->cancelling;
	run->workspace_removed = has(from, workspace_removed) && from->workspace_removed;
	run->unwinding = has(from, unwinding) && from->unwinding;
	run->abandoned = has(from, abandoned) && from->abandoned;
	run->inputs = run_value_copy(run, from->inputs);
	run->outputs = run_value_copy(run, has(from, outputs) ? from->outputs : NULL);
	if (has(from, issues))
		run->issues = run_texts_copy(run, from->issues);
	run->graph_state = run_value_copy(run, has(from, graph_state) ? from->graph_state : NULL);
	if (has(from, fault))
		run->fault = run_failure_copy(run, from->fault);
	if (has(from, stopped))
		run->stopped = run_failure_copy(run, from->stopped);
	restore_signals(run, from);
	if (has(from, warnings))
		run_warnings_add(run, from->warnings, 0);
	run->warnings.dropped = has(from, warnings_dropped) ? from->warnings_dropped : 0;
	if (has(from, usage))
		usage_restore(run, from->usage);
	budget_restore(run, from);
}

static const struct run_snapshot_body *root_of(const struct run_snapshot *from, struct arena *arena)
{
	struct run_snapshot_body *root = run_snapshot_body_new(arena);
	COPY_FIELDS(run_snapshot, from, run_snapshot_body, root, NULL);
	return root;
}

bool run_restore(const struct run_snapshot *from, struct uuid id, const struct graph *graph,
		 struct arena *arena, struct run **out_run, struct error *error)
{
	if (!hash_equal(&from->definition, &graph->hash))
		return fail(error, ERROR_INVALID, "the snapshot is one of another graph");
	if (from->seq < 1)
		return fail(error, ERROR_INVALID, "the snapshot is at seq %lld",
			    (long long)from->seq);
	if (from->arrivals < 0)
		return fail(error, ERROR_INVALID, "the snapshot counts less than no steps");
	struct run *run = run_new(arena, id, graph);
	struct restoring r = { .run = run, .error = error };
	if (!run_state_from(from->state, &run->state))
		return fail(error, ERROR_INVALID,
			    "the snapshot has a state " STR_FMT " that this program does not know",
			    STR_ARG(from->state));
	restore_life(run, from);
	if (!restore_undos(run, from, error) || !mailbox_restore(run, from, error))
		return false;
	run->root = scope_new(run, NULL, -1);
	if (!restore_body(&r, run->root, root_of(from, arena)) || !settle_all(&r))
		return false;
	run->iterations = has(from, iterations) ? from->iterations : 0;
	*out_run = run;
	return true;
}
