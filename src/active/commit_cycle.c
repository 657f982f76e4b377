/* active/commit_cycle.c -- decide, commit, act (architecture R2).
 *
 * A command is decided on the state in memory, which is ahead of the disk; its append is queued; the
 * next command is decided.  The writer answers the appends of a run in order.  A committed one lets
 * its reply, its notice and its effects leave.  A refused one makes the state stale: then everything
 * in flight comes back first, and every command that is not answered is decided again.
 */
#include "active/commit_cycle.h"

#include <stdlib.h>

#include "active/active_run_shell.h"
#include "active/alarm.h"
#include "active/effect_kind.h"
#include "active/executor_state.h"
#include "active/large_value.h"
#include "active/pure_step.h"
#include "active/tree_taking.h"
#include "active/value_fetch.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/run_event_types.h"
#include "contract/run_start_types.h"
#include "engine/run.h"
#include "os/failpoint.h"

void commit_cycle_free(struct commit_cycle *cycle)
{
	pending_command_free(cycle->pending);
	executor_discard(cycle->executor, &cycle->arena);
	free(cycle);
}

/* While a run is paused its alarms ring in vain.  A time that had come may lie ahead again when the
 * run is resumed, because the wall clock was set back meanwhile: then it needs its alarm again. */
static void set_alarms_of_resumed(const struct commit_cycle *cycle)
{
	for (size_t i = 0; i < cycle->decision.event_count; i++)
		if (cycle->decision.events[i].type == EVENT_RUN_RESUMED)
			alarm_scan(cycle->executor);
}

/* Alarms follow the rows of open effects: set, moved or cleared. */
static void set_alarms(struct commit_cycle *cycle)
{
	const struct store_append *append = &cycle->ticket.append;
	for (size_t i = 0; i < append->closed_count; i++)
		alarm_clear(cycle->executor, &append->closed[i]);
	for (size_t i = 0; i < append->opened_count; i++) {
		const struct store_effect *row = &append->opened[i];
		if (row->due_at > 0)
			alarm_set(cycle->executor, &append->run.id, &row->id,
				  cycle->opened_steps[i], row->due_at);
		else
			alarm_clear(cycle->executor, &row->id);
	}
}

static void begin_effect(struct active_run *active, const struct event *event)
{
	if (event->type == EVENT_TOOL_REQUESTED)
		effect_kind_begin(active, event->as.run_tool_requested->step);
	else if (event->type == EVENT_TOOL_RESTARTED)
		effect_kind_begin(active, event->as.run_tool_restarted->step);
	else if (event->type == EVENT_TURN_REQUESTED)
		effect_kind_begin(active, event->as.run_turn_requested->step);
	else if (event->type == EVENT_SUBRUN_REQUESTED)
		effect_kind_begin(active, event->as.run_subrun_requested->step);
	else if (event->type == EVENT_HUMAN_REQUESTED &&
		 active->executor->settings.effects->human_asked != NULL)
		active->executor->settings.effects->human_asked(
			active, &event->as.run_human_requested->effect);
}

/* How long the commit took is recorded with the run's next event.  A commit without events cannot be
 * named there. */
static void note_commit(const struct commit_cycle *cycle, struct active_run *active)
{
	if (cycle->decision.event_count == 0)
		return;
	int64_t now_us = platform_mono_us(cycle->executor->settings.platform);
	int64_t queued_us = cycle->ticket.queued_us;
	struct run_commit commit = { 0 };
	SET(&commit, first, cycle->ticket.append.expected_seq + 1);
	SET(&commit, last, cycle->notice.seq);
	SET(&commit, made_us, queued_us - cycle->begun_us);
	SET(&commit, us, now_us - queued_us);
	if (active->commit_count == LIMIT_COMMITS_TOLD) {
		active->commit_count--;
		for (size_t i = 0; i < active->commit_count; i++)
			active->commits[i] = active->commits[i + 1];
	}
	active->commits[active->commit_count++] = commit;
}

/* These commits are recorded by the append that is now at the writer; newer ones may have come. */
static void forget_commits(const struct commit_cycle *cycle, struct active_run *active)
{
	if (cycle->decision.event_count == 0)
		return;
	struct run_commit_list told = cycle->decision.commits;
	size_t kept = 0;
	for (size_t i = 0; i < active->commit_count; i++)
		if (told.count == 0 || active->commits[i].last > told.at[told.count - 1].last)
			active->commits[kept++] = active->commits[i];
	active->commit_count = kept;
}

/* Everything that waited for the commit leaves now: the reply, the notice, the effects. */
static void cycle_act(struct commit_cycle *cycle, struct active_run *active)
{
	pending_command_reply(cycle->pending, &active->run_id, NULL);
	cycle->notice.position = cycle->ticket.append.last_position;
	notice_publish(cycle->executor, &cycle->notice);
	set_alarms(cycle);
	set_alarms_of_resumed(cycle);
	admission_committed(cycle, active);
	ledger_committed(cycle, active);
	if (cycle->notice.ended && !uuid_is_zero(&cycle->parent))
		cycle->executor->settings.effects->subrun_ended(cycle->executor, &active->run_id);
	for (size_t i = 0; i < cycle->decision.event_count; i++) {
		if (cycle->decision.events[i].type == EVENT_RUN_UNWINDING &&
		    !uuid_is_zero(&cycle->parent))
			cycle->executor->settings.effects->subrun_unwinds(cycle->executor,
									  &active->run_id);
		begin_effect(active, &cycle->decision.events[i]);
		tree_taking_drop(active, &cycle->decision.events[i]);
	}
	for (size_t i = 0; i < cycle->computing_count; i++)
		pure_step_begin(active, cycle->computing[i]);
	for (size_t i = 0; i < cycle->decision.stop_count; i++)
		effect_kind_stop(active, &cycle->decision.stops[i]);
}

/* ---- the writer answers -------------------------------------------------------------- */

static enum append_sender sender_of(const struct pending_command *pending)
{
	if (pending->command.kind == COMMAND_CREATE)
		return pending->replied != NULL ? SENDER_CREATION : SENDER_SUBRUN;
	if (pending->command.kind == COMMAND_START)
		return SENDER_START;
	if (pending->command.kind == COMMAND_RETRY)
		return SENDER_RETRY;
	return pending->replied != NULL ? SENDER_REQUEST : SENDER_RESULT;
}

static enum append_outcome outcome_of(const struct commit_cycle *cycle, struct active_run *active)
{
	switch (cycle->ticket.append.outcome) {
	case STORE_COMMITTED:
		return OUTCOME_DONE;
	case STORE_REPEATED:
		return OUTCOME_REPEATED;
	case STORE_GUARDED:
		if (ledger_learn(cycle, active))
			return OUTCOME_BUDGET_REFUSED;
		if ((cycle->pending->command.kind == COMMAND_CREATE ||
		     cycle->pending->command.kind == COMMAND_RETRY) &&
		    (int64_t)cycle->executor->admission.count >=
			    FAILPOINT_LIMIT("admission.queue", (int64_t)LIMIT_QUEUED))
			return OUTCOME_QUEUE_FULL;
		return OUTCOME_GUARD_REFUSED;
	case STORE_FULL:
		return OUTCOME_DISK_FULL;
	case STORE_PENDING:
	case STORE_CONFLICT:
		break;
	}
	return OUTCOME_CONFLICT;
}

static void cycle_answered(struct writer_ticket *ticket)
{
	struct commit_cycle *cycle = (struct commit_cycle *)ticket;
	struct active_run *active = active_run_by_id(cycle->executor, cycle->active);
	require(active != NULL);
	/* The writer answers in the order in which it was asked. */
	require(active->oldest_append == cycle);
	active->oldest_append = cycle->next;
	active->appends_in_flight--;
	FAILPOINT("runtime.committed");
	enum append_outcome outcome = outcome_of(cycle, active);
	if (outcome != OUTCOME_DONE)
		ledger_refused(cycle);
	if (outcome == OUTCOME_DONE || outcome == OUTCOME_DISK_FULL)
		executor_note_disk_space(cycle->executor, outcome == OUTCOME_DISK_FULL);
	struct append_answer answer = active_run_answer_next(outcome, sender_of(cycle->pending));
	active_run_enter(active, &(struct active_run_event){ .input = answer.input,
							     .cycle = cycle,
							     .remedy = answer.remedy });
}

/* Tells the client, or changes what must be different when the command is decided again. */
static void apply_remedy(const struct active_run_event *event, struct active_run *active)
{
	struct pending_command *pending = event->cycle->pending;
	struct error error = { 0 };
	switch (event->remedy) {
	case REMEDY_ACT_ON_IT:
	case REMEDY_DECIDE_AGAIN:
	case APPEND_REMEDY_COUNT:
		return;
	case REMEDY_QUEUE_CREATION:
		pending->command.queued = true;
		return;
	case REMEDY_STAY_QUEUED:
		admission_refused(active->executor, &active->run_id);
		return;
	case REMEDY_LEAVE_UNCOUNTED:
		log_line(LOG_WARNING, "the count of runs under way is too low; it is left alone");
		active->uncounted = true;
		return;
	case REMEDY_REPLY_REPEATED:
		pending_command_reply_repeated(pending, &event->cycle->ticket.append.request);
		return;
	case REMEDY_REPLY_ID_TAKEN:
		fail(&error, ERROR_CONFLICT, "there is already a run with this id");
		break;
	case REMEDY_REPLY_OVERLOADED:
		fail(&error, ERROR_OVERLOADED,
		     "%d runs wait for admission already; try again later", LIMIT_QUEUED);
		break;
	case REMEDY_REPLY_FULL:
		fail(&error, ERROR_STORAGE_FULL,
		     "there is no room on the disk, nothing was changed; make room and try again");
		break;
	}
	pending_command_reply(pending, &active->run_id, &error);
}

/* ---- committed ----------------------------------------------------------------------- */

static void act(struct commit_cycle *cycle, struct active_run *active)
{
	active->stored = true;
	note_commit(cycle, active);
	cycle_act(cycle, active);
}

/* A refusal is an answer too: it leaves only when the state it was decided on is stored. */
static void tell_refused(struct active_run *active)
{
	for (struct pending_command *pending;
	     (pending = command_list_pop(&active->refused)) != NULL;) {
		pending_command_reply(pending, &active->run_id, pending->refusal);
		pending_command_free(pending);
	}
}

void active_run_do_act(struct active_run *active, const struct active_run_event *event)
{
	/* The cycle still looks at the old state. */
	struct arena old = active_run_renew(active);
	active_run_pin(active);
	act(event->cycle, active);
	if (active->appends_in_flight == 0)
		tell_refused(active);
	active_run_unpin(active);
	commit_cycle_free(event->cycle);
	executor_discard(active->executor, &old);
	tree_taking_begin(active);
	active_run_settle(active);
}

/* ---- refused ------------------------------------------------------------------------- */

static enum active_run_input drained_input(const struct active_run *active)
{
	const struct pending_command *first = active->inbox.first;
	if (first != NULL && first->command.kind == COMMAND_CREATE)
		return INPUT_DRAINED_CREATE;
	return first == NULL && !active->stored ? INPUT_DRAINED_GONE : INPUT_DRAINED;
}

/* When nothing that was decided on the wrong state is in flight, every command that is not answered
 * waits again, in arrival order. */
static void enter_drained(struct active_run *active)
{
	if (active->appends_in_flight > 0 || active->deciding != NULL)
		return;
	command_list_merge(&active->inbox, &active->refused);
	command_list_merge(&active->inbox, &active->redo);
	active_run_enter(active, &(struct active_run_event){ .input = drained_input(active) });
}

void active_run_do_act_and_drain(struct active_run *active, const struct active_run_event *event)
{
	act(event->cycle, active);
	commit_cycle_free(event->cycle);
	enter_drained(active);
}

/* Frees the cycle and keeps its command. */
static void requeue(struct commit_cycle *cycle, struct active_run *active)
{
	struct command_list kept = { 0 };
	command_list_push(&kept, cycle->pending);
	command_list_merge(&active->redo, &kept);
	executor_discard(cycle->executor, &cycle->arena);
	free(cycle);
}

void active_run_do_requeue(struct active_run *active, const struct active_run_event *event)
{
	apply_remedy(event, active);
	requeue(event->cycle, active);
	enter_drained(active);
}

void active_run_do_requeue_fetched(struct active_run *active, const struct active_run_event *event)
{
	struct commit_cycle *cycle = active->deciding;
	(void)event;
	active->deciding = NULL;
	requeue(cycle, active);
	enter_drained(active);
}

void active_run_do_drain(struct active_run *active, const struct active_run_event *event)
{
	apply_remedy(event, active);
	commit_cycle_free(event->cycle);
	enter_drained(active);
}

void active_run_do_create_and_decide(struct active_run *active,
				     const struct active_run_event *event)
{
	(void)event;
	active_run_new_state(active);
	active_run_decide(active);
}

/* ---- appending ----------------------------------------------------------------------- */

static void cycle_commit(struct commit_cycle *cycle, struct active_run *active)
{
	struct run *run = active->run;
	append_build(cycle, active);
	cycle->ticket.done = cycle_answered;
	cycle->notice = (struct executor_notice){ .run = run->id,
						  .seq = run->seq,
						  .ended = run_ended(run),
						  .waiting = run->state == RUN_WAITING_HUMAN };
	cycle->parent = run->start->parent;
	struct append_watch *watch = cycle->executor->append_watch;
	if (watch != NULL && uuid_equal(&watch->run, &run->id))
		watch->appended = true;
	forget_commits(cycle, active);
	active->appends_in_flight++;
	if (active->oldest_append != NULL)
		active->newest_append->next = cycle;
	else
		active->oldest_append = cycle;
	active->newest_append = cycle;
	FAILPOINT("runtime.before_append");
	writer_append(cycle->executor->writer, &cycle->ticket);
}

static bool has_blob(const struct commit_cycle *cycle, const struct hash *hash,
		     struct str *out_bytes)
{
	for (size_t i = 0; i < cycle->decision.blob_count; i++)
		if (hash_equal(&cycle->decision.blobs[i].hash, hash)) {
			*out_bytes = cycle->decision.blobs[i].bytes;
			return true;
		}
	return false;
}

bool active_run_find_unwritten(const struct active_run *active, const struct hash *hash,
			       struct str *out_bytes)
{
	if (active->deciding != NULL && has_blob(active->deciding, hash, out_bytes))
		return true;
	for (const struct commit_cycle *cycle = active->oldest_append; cycle != NULL;
	     cycle = cycle->next)
		if (has_blob(cycle, hash, out_bytes))
			return true;
	return false;
}

/* ---- deciding ------------------------------------------------------------------------ */

static void cycle_go_on(struct commit_cycle *cycle, struct active_run *active);

static void cycle_fetched(struct executor *executor, uint64_t id, uint64_t argument,
			  const struct error *error)
{
	(void)argument;
	struct active_run *active = active_run_by_id(executor, id);
	require(active != NULL);
	if (error != NULL) {
		executor_fail(executor, error);
		return;
	}
	active_run_enter(active, &(struct active_run_event){ .input = INPUT_FETCHED });
}

void active_run_do_decide_on(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	cycle_go_on(active->deciding, active);
	active_run_decide(active);
}

/* The pure steps that this cycle started; they are computed once it is committed. */
static void note_computing(struct commit_cycle *cycle, const struct run *run)
{
	int64_t before = run->seq - (int64_t)cycle->decision.event_count;
	size_t room = run->computing.tail - run->computing.head;
	cycle->computing = arena_array(&cycle->arena, struct str, room);
	for (uint32_t i = run->computing.head; i < run->computing.tail; i++) {
		const struct activation *activation = run->computing.at[i];
		if (activation->started_seq > before)
			cycle->computing[cycle->computing_count++] = activation->path;
	}
}

/* The first pure steps need only the run's inputs, which are here.  Their results are stored with the
 * run's creation, so that a run of n steps takes n commits and not n + 1. */
static void compute_with_creation(struct commit_cycle *cycle, struct active_run *active)
{
	struct run *run = active->run;
	uint32_t count = run->computing.tail - run->computing.head;
	struct activation **first = arena_copy(
		&cycle->arena, run->computing.at + run->computing.head, count * sizeof(*first));
	struct engine_values values = active_run_values(active);
	cycle->computed = true;
	for (uint32_t i = 0; i < count; i++) {
		struct command command = { .kind = COMMAND_COMPUTED, .now = cycle->now };
		struct decision seen = { .arena = &cycle->arena };
		struct pure_step step = { .activation = first[i] };
		struct error error;
		/* The result of the step before may have ended the run. */
		if (first[i]->state == STEP_RUNNING &&
		    pure_step_compute(active, &step, &seen, &command) == PURE_STEP_DONE) {
			enum engine_answer answer =
				decide(run, &command, &values, &cycle->decision, &error);
			require(answer != ENGINE_REFUSED);
		}
	}
}

void active_run_do_fetch(struct active_run *active, const struct active_run_event *event)
{
	active->deciding = event->cycle;
	if (event->cycle->decision.to_print != NULL)
		large_value_print(active, &event->cycle->decision, cycle_fetched);
	else
		value_fetch(active, &event->cycle->decision, cycle_fetched, 0);
}

static void enter_need(struct commit_cycle *cycle, struct active_run *active)
{
	active_run_enter(active, &(struct active_run_event){ .input = INPUT_NEED, .cycle = cycle });
}

/* The cycle is at the writer, or gone. */
static void enter_decided(struct active_run *active)
{
	active_run_release_loaded(active);
	active->has_tree = false;
	tree_taking_begin(active);
	active_run_enter(active, &(struct active_run_event){ .input = INPUT_DECIDED });
}

/* The command is answered without an append: once the state it was decided on is stored. */
static void answer_when_stored(struct commit_cycle *cycle, struct active_run *active)
{
	command_list_push(&active->refused, cycle->pending);
	active->deciding = NULL;
	executor_discard(cycle->executor, &cycle->arena);
	free(cycle);
	if (active->appends_in_flight == 0)
		tell_refused(active);
	enter_decided(active);
}

/* The decision has no events.  Effects that should end are stopped all the same. */
static void cycle_settle(struct commit_cycle *cycle, struct active_run *active)
{
	for (size_t i = 0; i < cycle->decision.stop_count; i++)
		effect_kind_stop(active, &cycle->decision.stops[i]);
	answer_when_stored(cycle, active);
}

static void cycle_refuse(struct commit_cycle *cycle, struct active_run *active,
			 const struct error *error)
{
	struct pending_command *pending = cycle->pending;
	if (pending->command.kind == COMMAND_START)
		admission_forget(active->executor, &active->run_id);
	pending->refusal = arena_copy(&pending->arena, error, sizeof(*error));
	answer_when_stored(cycle, active);
}

static void cycle_advance(struct commit_cycle *cycle, struct active_run *active)
{
	struct engine_values values = active_run_values(active);
	/* While the program stops no effect is requested: a request that never began would look
	 * like one that a crash cut off.  Ends are recorded, the run's own end too. */
	cycle->held_back = active->executor->draining && active->run->live > 0;
	if (!cycle->held_back &&
	    advance(active->run, cycle->now, &values, &cycle->decision) == ENGINE_NEED) {
		enter_need(cycle, active);
		return;
	}
	active->deciding = NULL;
	if (cycle->pending->command.kind == COMMAND_CREATE && !cycle->computed &&
	    !cycle->held_back) {
		compute_with_creation(cycle, active);
		cycle_advance(cycle, active);
		return;
	}
	tree_taking_want(active, &cycle->decision);
	if (!cycle->held_back)
		ledger_decided(cycle, active);
	/* The answer to a command with a key is remembered even if it has no events. */
	if (cycle->decision.event_count == 0 && cycle->pending->claim.key.key.size == 0) {
		cycle_settle(cycle, active);
		return;
	}
	note_computing(cycle, active->run);
	cycle_commit(cycle, active);
	/* Only now the fetched values may go: the events were printed from them. */
	enter_decided(active);
}

/* Decides the command, then the steps that follow from it. */
static void cycle_go_on(struct commit_cycle *cycle, struct active_run *active)
{
	struct engine_values values = active_run_values(active);
	struct error error;
	if (cycle->command.kind == COMMAND_COMPACT && active->run->seq > 0 &&
	    !append_can_compact(cycle, active, &error)) {
		cycle_refuse(cycle, active, &error);
		return;
	}
	if (!cycle->decided && !cycle->pending->is_wakeup)
		switch (decide(active->run, &cycle->command, &values, &cycle->decision, &error)) {
		case ENGINE_NEED:
			enter_need(cycle, active);
			return;
		case ENGINE_REFUSED:
			cycle_refuse(cycle, active, &error);
			return;
		case ENGINE_DONE:
			break;
		}
	cycle->decided = true;
	cycle_advance(cycle, active);
}

/* A call that a crash left open was about to be made again when the run was cancelled.  Only this
 * decision is changed: the cancel may be refused by the store, and then the call is made again. */
static void give_up_restart(struct command *command)
{
	command->kind = COMMAND_FINISHED;
	command->outcome = RUN_OUTCOME_CANCELLED;
	command->fault = (struct failure){ error_row(ERROR_CANCELLED)->name,
					   S("it was called off before it was made again") };
}

static void cycle_begin(struct active_run *active, struct pending_command *pending)
{
	struct commit_cycle *cycle = calloc(1, sizeof(*cycle));
	require(cycle != NULL);
	cycle->executor = active->executor;
	cycle->active = active->id;
	cycle->pending = pending;
	cycle->decision.arena = &cycle->arena;
	cycle->decision.print_most = executor_value_on_loop(active->executor);
	cycle->decision.printed = pending->printed;
	cycle->now = executor_now(active->executor);
	if (cycle->now < pending->not_before)
		cycle->now = pending->not_before;
	cycle->begun_us = platform_mono_us(active->executor->settings.platform);
	cycle->decision.commits = (struct run_commit_list){
		arena_copy(&cycle->arena, active->commits,
			   active->commit_count * sizeof(active->commits[0])),
		active->commit_count
	};
	cycle->command = pending->command;
	cycle->command.now = cycle->now;
	const struct activation *step = cycle->command.kind == COMMAND_RESTARTED
						? run_activation(active->run, cycle->command.step)
						: NULL;
	if (step != NULL && step->stopping)
		give_up_restart(&cycle->command);
	active->has_tree = cycle->command.kind == COMMAND_TREE_TAKEN;
	active->tree = (struct engine_tree){ cycle->command.step, cycle->command.branch,
					     cycle->command.tree, cycle->command.fault,
					     cycle->command.begun_at };
	if (cycle->command.kind == COMMAND_FINISHED)
		active_run_take_early_stop(active, &cycle->command.effect);
	pending->refusal = NULL; /* of an earlier decision */
	cycle_go_on(cycle, active);
}

void active_run_do_decide_next(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	cycle_begin(active, command_list_pop(&active->inbox));
}

void active_run_decide(struct active_run *active)
{
	active_run_pin(active); /* a decision may end with nothing left to do */
	while (active->state == ACTIVE_RUN_READY && active->inbox.first != NULL &&
	       !active->executor->failed)
		active_run_enter(active, &(struct active_run_event){ .input = INPUT_NEXT });
	active_run_unpin(active);
	active_run_settle(active);
}

void active_run_do_decide(struct active_run *active, const struct active_run_event *event)
{
	(void)event;
	active_run_decide(active);
}

void active_run_do_queue(struct active_run *active, const struct active_run_event *event)
{
	event->pending->arrival = ++active->arrivals;
	command_list_push(&active->inbox, event->pending);
}

void active_run_do_queue_and_decide(struct active_run *active, const struct active_run_event *event)
{
	active_run_do_queue(active, event);
	active_run_decide(active);
}

void active_run_command(struct active_run *active, struct pending_command *pending)
{
	pending->executor = active->executor;
	active_run_enter(active,
			 &(struct active_run_event){ .input = INPUT_COMMAND, .pending = pending });
}

void active_run_wake(struct active_run *active)
{
	/* The kind of a wakeup is never decided; it must not be COMMAND_CREATE. */
	struct pending_command *pending = pending_command_new(COMMAND_COMPUTED);
	pending->is_wakeup = true;
	active_run_command(active, pending);
}
