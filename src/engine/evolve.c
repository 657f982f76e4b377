/* engine/evolve.c -- applies an event to the state: events of the run, and of steps without an
 * effect.  evolve_effect.c has the events of effects.
 *
 * Changes that follow from an event without an event of their own are derived from the state alone,
 * in activation.c and settle(): a dependent becomes ready, a pure step starts, skips cascade, the run
 * is running or waiting_human.
 */
#include "engine/evolve.h"

#include "contract/field_copy.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "engine/mailbox.h"
#include "engine/milestone.h"
#include "engine/session.h"
#include "engine/undo.h"
#include "engine/workspace_folder.h"

struct run *run_new(struct arena *arena, struct uuid id, const struct graph *graph)
{
	struct run *run = arena_new(arena, struct run);
	run->arena = arena;
	run->id = id;
	run->graph = graph;
	run->start = run_start_new(arena);
	return run;
}

bool run_needs_recovery(const struct run *run)
{
	return !run_ended(run) && run->computing.head < run->computing.tail;
}

uint32_t run_steps_ended(const struct run *run)
{
	uint32_t ended = 0;
	for (size_t i = 0; run->root != NULL && i < run->graph->step_count; i++) {
		const struct place *place = &run->root->places[i];
		ended += place->final != NULL && place->final == place->newest;
	}
	return ended;
}

/* ---- derived changes ----------------------------------------------------------------- */

static void run_move(struct run *run, enum run_state to)
{
	if (run->state == to)
		return;
	require(run_may_move(run->state, to));
	run->state = to;
}

static uint64_t head_arrival(const struct ready_list *queue)
{
	const struct activation *head = ready_list_head(queue);
	return head == NULL ? UINT64_MAX : head->arrival;
}

/* Of the first contained tool whose folder is free. */
static uint64_t contained_arrival(const struct run *run)
{
	for (uint32_t i = run->contained.head; i < run->contained.tail; i++) {
		const struct activation *a = run->contained.at[i];
		if (run_can_stop(run_node(run, a)->kind) && folder_allows(run, a))
			return a->arrival;
	}
	return UINT64_MAX;
}

/* Starts pure steps, unless an effect that became ready earlier could take the slot. */
static void start_pure(struct run *run, int64_t at)
{
	while (run->busy < run->graph->concurrency && run->pure.head < run->pure.tail) {
		uint64_t mine = head_arrival(&run->pure);
		if (head_arrival(&run->tools) < mine || contained_arrival(run) < mine)
			break;
		struct activation *activation = run->pure.at[run->pure.head++];
		activation_move(activation, STEP_RUNNING);
		activation->started_at = at;
		activation->started_seq = run->seq;
		run->steps_started++;
		run->busy++;
		ready_list_push(run, &run->computing, activation);
	}
}

static void settle(struct run *run, int64_t at)
{
	if (run_ended(run))
		return;
	if (run_may_start(run))
		start_pure(run, at);
	bool parked = run->humans > 0 && run->busy == 0 && run->timers == 0 &&
		      (!run->cancelling || run->unwinding);
	run_move(run, run->queued   ? RUN_QUEUED
		      : run->paused ? RUN_PAUSED
		      : parked      ? RUN_WAITING_HUMAN
				    : RUN_RUNNING);
}

/* ---- the run ------------------------------------------------------------------------- */

bool evolve_run_created(struct run *run, const struct run_created *event, int64_t at,
			struct error *error)
{
	if (run->seq != 0)
		return fail(error, ERROR_INVALID, "the run exists already");
	run->created_at = at;
	run->inputs = run_value_copy(run, event->inputs);
	COPY_FIELDS(run_created, event, run_start, run->start, run->arena);
	run->queued = has(event, queued) && event->queued;
	run->state = run->queued ? RUN_QUEUED : RUN_RUNNING;
	run->begun_at = run->queued ? 0 : at;
	run->root = scope_enter(run, NULL, -1);
	if (!run->queued && has(run->graph->rows, timeout_us))
		run->due_at = at + run->graph->rows->timeout_us;
	return true;
}

bool evolve_run_started(struct run *run, const struct run_started *event, int64_t at,
			struct error *error)
{
	(void)event;
	if (!run->queued)
		return fail(error, ERROR_INVALID, "the run is in no queue");
	run->queued = false;
	run->begun_at = at;
	if (has(run->graph->rows, timeout_us))
		run->due_at = at + run->graph->rows->timeout_us;
	return true;
}

bool evolve_run_paused(struct run *run, const struct run_paused *event, int64_t at,
		       struct error *error)
{
	if (run->paused || run->cancelling || run->queued)
		return fail(error, ERROR_INVALID, "the run cannot be paused");
	run->paused = true;
	if (has(event, budget))
		run->pause = (struct budget_pause){
			.budget = str_copy(run->arena, event->budget),
			.amount = has(event, amount) ? event->amount : 0,
			.at = at,
			.until = has(event, until) ? event->until : 0,
		};
	return true;
}

bool evolve_run_resumed(struct run *run, const struct run_resumed *event, int64_t at,
			struct error *error)
{
	(void)at;
	if (!run->paused)
		return fail(error, ERROR_INVALID, "the run is not paused");
	run->paused = false;
	run->pause = (struct budget_pause){ .budget = S("") };
	if (has(event, budget_usd))
		SET(run->start, budget_usd, event->budget_usd);
	return true;
}

bool evolve_run_cancelling(struct run *run, const struct run_cancelling *event, int64_t at,
			   struct error *error)
{
	if (run->abandoned || (run->cancelling && !run->unwinding))
		return fail(error, ERROR_INVALID, "the run is being cancelled already");
	/* The second cancel ends the finally and undo steps and does not change how the run ends. */
	run->abandoned = run->unwinding;
	if (!run->cancelling && !run->unwinding)
		run->stopped = run_failure_copy(run, has(event, fault) ? event->fault : NULL);
	run->due_at = has(event, due_at) ? event->due_at : 0;
	run_stop(run, at);
	return true;
}

bool evolve_run_unwinding(struct run *run, const struct run_unwinding *event, int64_t at,
			  struct error *error)
{
	bool failed = has(event, fault);
	bool undoes = undo_is_left(run);
	bool fits = failed ? !run->cancelling && run->live == 0 && undoes
			   : run->cancelling && run->stops == 0 && (run->live > 0 || undoes);
	(void)at;
	if (run->unwinding || !fits)
		return fail(error, ERROR_INVALID, "the run has nothing to unwind");
	run->unwinding = true;
	if (failed)
		run->stopped = run_failure_copy(run, event->fault);
	run->due_at = has(event, due_at) ? event->due_at : 0;
	activation_unwind(run);
	return true;
}

bool evolve_run_signalled(struct run *run, const struct run_signalled *event, int64_t at,
			  struct error *error)
{
	(void)at, (void)error;
	struct run_signal *signal = arena_new(run->arena, struct run_signal);
	signal->name = str_copy(run->arena, event->name);
	signal->data = run_value_copy(run, event->data);
	struct run_signal **link = &run->signals;
	while (*link != NULL)
		link = &(*link)->next;
	*link = signal;
	return true;
}

bool evolve_run_message_sent(struct run *run, const struct run_message_sent *event, int64_t at,
			     struct error *error)
{
	return mailbox_apply_sent(run, event, at, error);
}

bool evolve_run_message_read(struct run *run, const struct run_message_read *event, int64_t at,
			     struct error *error)
{
	return mailbox_apply_read(run, event, at, error);
}

/* Only a state that failed can be reopened; deciding has checked the rest. */
bool evolve_run_retried(struct run *run, const struct run_retried *event, int64_t at,
			struct error *error)
{
	if (run->state != RUN_FAILED || !reopen_is_possible(run))
		return fail(error, ERROR_INVALID, "the run cannot be retried");
	run->queued = has(event, queued) && event->queued;
	run->cancelling = run->paused = run->unwinding = run->abandoned = false;
	run->stops = 0;
	run->stopped = run->fault = (struct failure){ S(""), S("") };
	run->outputs = (struct value){ .kind = VALUE_ABSENT };
	engine_warnings_forget_outputs(&run->warnings);
	run->retried_at = at;
	run->ended_at = run->due_at = 0;
	run->begun_at = run->queued ? 0 : at;
	if (!run->queued && has(run->graph->rows, timeout_us))
		run->due_at = at + run->graph->rows->timeout_us;
	run_move(run, run->queued ? RUN_QUEUED : RUN_RUNNING);
	reopen_run(run);
	return true;
}

bool evolve_run_finished(struct run *run, const struct run_finished *event, int64_t at,
			 struct error *error)
{
	if (run_ended(run) || run->live > 0)
		return fail(error, ERROR_INVALID, "the run ends out of turn");
	run_move(run, event->outcome == RUN_OUTCOME_OK || event->outcome == RUN_OUTCOME_WITH_ISSUES
			      ? RUN_SUCCEEDED
		      : event->outcome == RUN_OUTCOME_CANCELLED ? RUN_CANCELLED
								: RUN_FAILED);
	run->ended_at = at;
	run->outputs = run_value_copy(run, has(event, outputs) ? event->outputs : NULL);
	if (has(event, issues))
		run->issues = run_texts_copy(run, event->issues);
	run->fault = run_failure_copy(run, has(event, fault) ? event->fault : NULL);
	return true;
}

/* ---- steps --------------------------------------------------------------------------- */

/* The activation of a step without an effect, which must be at the head of its ready list. */
static bool take_ready(struct run *run, struct str path, struct activation **out,
		       struct error *error)
{
	struct activation *activation = run_activation(run, path);
	struct ready_list *queue = activation == NULL ? NULL : ready_list_of(run, activation);
	if (activation == NULL || !activation_take_ready(run, queue, activation))
		return fail(error, ERROR_INVALID, "step " STR_FMT " is out of turn", STR_ARG(path));
	*out = activation;
	return true;
}

bool evolve_run_step_skipped(struct run *run, const struct run_step_skipped *event, int64_t at,
			     struct error *error)
{
	struct activation *activation;
	if (!take_ready(run, event->step, &activation, error))
		return false;
	activation->reason = str_copy(run->arena, event->reason);
	activation_end(run, activation, STEP_SKIPPED, at, NULL);
	return true;
}

bool evolve_run_step_started(struct run *run, const struct run_step_started *event, int64_t at,
			     struct error *error)
{
	struct activation *activation;
	if (!take_ready(run, event->step, &activation, error))
		return false;
	activation_move(activation, STEP_RUNNING);
	activation->started_at = at;
	activation->started_seq = run->seq + 1;
	run->steps_started++;
	run->busy++;
	ready_list_push(run, &run->computing, activation);
	return true;
}

bool evolve_run_step_computed(struct run *run, const struct run_step_computed *event, int64_t at,
			      struct error *error)
{
	struct activation *activation = run_activation(run, event->step);
	if (activation != NULL && activation->state == STEP_RUNNING &&
	    ready_list_remove(&run->computing, activation)) {
		run->busy--;
		/* No event started it, so there is no start time to record. */
		if (run_starts_itself(run_node(run, activation)))
			activation->started_at = activation->started_seq = 0;
	} else if (activation != NULL && activation->state == STEP_PENDING &&
		   !run_starts_itself(run_node(run, activation)) && activation->arrival != 0) {
		/* A condition or the first round of a verification: evaluated in place, without being started. */
		if (!take_ready(run, event->step, &activation, error))
			return false;
		activation_move(activation, STEP_RUNNING);
		activation->started_at = at;
		activation->started_seq = run->seq + 1;
		run->steps_started++;
		activation->begun_at = activation->begun_at == 0 ? at : activation->begun_at;
	} else {
		return fail(error, ERROR_INVALID, "step " STR_FMT " is not being computed",
			    STR_ARG(event->step));
	}
	activation->output = run_value_copy(run, has(event, output) ? event->output : NULL);
	activation->fault = run_failure_copy(run, has(event, fault) ? event->fault : NULL);
	activation_end(run, activation,
		       activation->fault.code.size > 0 ? STEP_FAILED : STEP_SUCCEEDED, at,
		       has(event, next) ? event->next : NULL);
	return true;
}

bool evolve_run_step_entered(struct run *run, const struct run_step_entered *event, int64_t at,
			     struct error *error)
{
	struct activation *activation;
	if (!take_ready(run, event->step, &activation, error))
		return false;
	const struct graph_node *node = run_node(run, activation);
	if (!run_is_container(node->kind))
		return fail(error, ERROR_INVALID, "step " STR_FMT " has no body",
			    STR_ARG(event->step));
	if (activation->leaving && node->kind == RUN_NODE_SESSION) {
		activation->leaving = false;
		session_enter_turn(run, activation, event, at);
		return true;
	}
	activation_move(activation, STEP_RUNNING);
	activation->started_at = at;
	activation->started_seq = run->seq + 1;
	run->steps_started++;
	activation->tree = has(event, tree) ? str_copy(run->arena, event->tree) : S("");
	if (has(node->row, repeats) && activation->begun_at == 0)
		activation->begun_at = at;
	if (node->own_trees)
		folder_take(run, activation);
	if (node->kind == RUN_NODE_SESSION) {
		session_enter_turn(run, activation, event, at);
		return true;
	}
	if (node->kind != RUN_NODE_MAP) {
		scope_enter(run, activation, -1);
		return true;
	}
	activation->items = run_value_copy(run, has(event, items) ? event->items : NULL);
	activation->item_count = has(event, count) ? event->count : 0;
	int64_t at_once = activation_at_once(run, activation);
	while (activation->items_entered < activation->item_count &&
	       activation->items_entered < at_once)
		scope_enter(run, activation, activation->items_entered++);
	if (activation->item_count == 0) {
		activation->leaving = true;
		activation_ready(run, activation);
	}
	return true;
}

/* A branch whose workspace could not be stored fails its container. */
bool evolve_run_branch_ended(struct run *run, const struct run_branch_ended *event, int64_t at,
			     struct error *error)
{
	struct activation *container = run_activation(run, event->step);
	struct branch *branch = container == NULL ? NULL : branch_find(container, event->branch);
	(void)at;
	if (branch == NULL || !branch->requested || branch->ended)
		return fail(error, ERROR_INVALID, "branch " STR_FMT " is not open",
			    STR_ARG(event->branch));
	branch->ended = true;
	branch->tree = has(event, tree) ? str_copy(run->arena, event->tree) : S("");
	if (has(event, fault) && container->fault.code.size == 0)
		container->fault = run_failure_copy(run, event->fault);
	return true;
}

bool evolve_run_step_left(struct run *run, const struct run_step_left *event, int64_t at,
			  struct error *error)
{
	struct activation *activation;
	if (!take_ready(run, event->step, &activation, error))
		return false;
	if (!activation->leaving)
		return fail(error, ERROR_INVALID, "the body of " STR_FMT " is not over",
			    STR_ARG(event->step));
	activation->output = run_value_copy(run, has(event, output) ? event->output : NULL);
	activation->fault = run_failure_copy(run, has(event, fault) ? event->fault : NULL);
	activation_end(run, activation,
		       event->outcome == RUN_OUTCOME_OK          ? STEP_SUCCEEDED
		       : event->outcome == RUN_OUTCOME_CANCELLED ? STEP_CANCELLED
								 : STEP_FAILED,
		       at, has(event, next) ? event->next : NULL);
	if (activation->scopes == NULL)
		activation->items = (struct value){ .kind = VALUE_ABSENT };
	return true;
}

/* -------------------------------------------------------------------------------------- */

/* document.changed belongs to the system stream, never to the stream of a run. */
bool evolve_run_document_changed(struct run *run, const struct run_document_changed *event,
				 int64_t at, struct error *error)
{
	(void)run, (void)event, (void)at;
	return fail(error, ERROR_INVALID, "it belongs to the system stream");
}

bool evolve_run_compacted(struct run *run, const struct run_compacted *event, int64_t at,
			  struct error *error)
{
	(void)at;
	if (event->floor <= run->floor || event->floor > run->seq + 1)
		return fail(error, ERROR_INVALID, "the floor does not rise");
	run->floor = event->floor;
	run->workspace_removed |= has(event, workspace_removed) && event->workspace_removed;
	return true;
}

static bool apply(struct run *run, const struct event *event, struct error *error)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text) \
	case EVENT_##constant:                                \
		return evolve_##body(run, event->as.body, event->at, error);
#include "contracts/events.def"
#undef EVENT
	}
	return fail(error, ERROR_INTERNAL, "unknown event");
}

bool evolve(struct run *run, const struct event *event, struct error *error)
{
	if ((run->seq == 0) != (event->type == EVENT_RUN_CREATED))
		return fail(error, ERROR_INVALID, "a run begins with run.created, and only once");
	milestone_apply(run, event);
	if (!apply(run, event, error)) {
		error_prefix(error, STR_FMT " at seq %lld: ", STR_ARG(event_name(event->type)),
			     (long long)run->seq + 1);
		return false;
	}
	run->seq++;
	undo_advance(run);
	/* run.compacted repeats what the state has. */
	int64_t dropped;
	struct run_warning_list warnings = event_warnings(event, &dropped);
	if (event->type != EVENT_RUN_COMPACTED)
		run_warnings_add(run, warnings, dropped);
	/* Compaction does not count as an update of the run. */
	if (event->type != EVENT_RUN_COMPACTED)
		run->updated_at = event->at;
	settle(run, event->at);
	return true;
}
