/* active/commit_cycle.c -- commands in, appends out, effects behind the commit (architecture R2).
 *
 * A turn is one command with everything that came of it: the decision, the rows, and what must
 * happen once they are on the disk.  Turns of one run are committed in order; the next command is
 * decided while the one before is still at the writer.
 */
#include "active/commit_cycle.h"

#include <stdlib.h>

#include "active/alarm.h"
#include "active/effect_kind.h"
#include "active/executor_state.h"
#include "active/pure_step.h"
#include "active/value_fetch.h"
#include "base/limits.h"
#include "base/log.h"
#include "os/failpoint.h"

void commit_cycle_free(struct commit_cycle *cycle)
{
	pending_command_free(cycle->pending);
	arena_done(&cycle->arena);
	free(cycle);
}

/* What is due at another time, or not at all any more. */
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
}

/* How long it took: the run's next event will tell, which could not name one without events. */
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

/* These are told with the append that is on its way; others may have come since. */
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

/* What waited for the commit leaves now: the reply, the notice, the effects. */
static void cycle_act(struct commit_cycle *cycle, struct active_run *active)
{
	pending_command_reply(cycle->pending, &active->run_id, NULL);
	cycle->notice.position = cycle->ticket.append.last_position;
	notice_publish(cycle->executor, &cycle->notice);
	set_alarms(cycle);
	admission_committed(cycle, active);
	if (cycle->notice.ended && !uuid_is_zero(&cycle->parent))
		cycle->executor->settings.effects->subrun_ended(cycle->executor, &active->run_id);
	for (size_t i = 0; i < cycle->decision.event_count; i++)
		begin_effect(active, &cycle->decision.events[i]);
	for (size_t i = 0; i < cycle->computing_count; i++)
		pure_step_begin(active, cycle->computing[i]);
	for (size_t i = 0; i < cycle->decision.stop_count; i++)
		effect_kind_stop(active, &cycle->decision.stops[i]);
}

static void fed(void *context, uint64_t argument)
{
	struct executor *executor = context;
	struct active_run *active = active_run_by_id(executor, argument);
	require(active != NULL);
	active_run_unpin(active);
	active_run_load(active);
}

/* Once nothing decided on the old state is under way, everything is decided again on a new one; for
 * want of room not before some time has passed. */
static void reload_when_quiet(struct active_run *active)
{
	if (active->in_flight > 0 || active->cycle != NULL)
		return;
	bool starved = active->starved;
	active->stale = active->starved = false;
	while (active->refused.first != NULL)
		command_list_push(&active->redo, command_list_pop(&active->refused));
	while (active->inbox.first != NULL)
		command_list_push(&active->redo, command_list_pop(&active->inbox));
	active->inbox = active->redo;
	active->redo = (struct command_list){ 0 };
	active_run_drop_state(active);
	if (!starved) {
		active_run_load(active);
		return;
	}
	active->phase = ACTIVE_RUN_LOADING;
	active_run_pin(active);
	platform_timer_start(active->executor->settings.platform, LIMIT_STORE_FULL_RETRY_MS * 1000,
			     fed, active->executor, active->id);
}

/* Its item goes back to be decided again; the rest of the turn is forgotten. */
static void cycle_redo(struct commit_cycle *cycle, struct active_run *active)
{
	if (active->renewed) { /* decided behind a creation that is tried again */
		command_list_push(&active->inbox, cycle->pending);
		arena_done(&cycle->arena);
		free(cycle);
		active_run_pin(active);
		active_run_pump(active);
		active_run_unpin(active);
		return;
	}
	command_list_push(&active->redo, cycle->pending);
	active->stale = true;
	arena_done(&cycle->arena);
	free(cycle);
	reload_when_quiet(active);
}

/* Nothing of a run's first turn is stored, so the run never was. */
static void cycle_never_was(struct commit_cycle *cycle, struct active_run *active,
			    const struct error *error)
{
	pending_command_reply(cycle->pending, &active->run_id, error);
	commit_cycle_free(cycle);
	active_run_drop_state(active);
	if (active->inbox.first != NULL || active->refused.first != NULL)
		reload_when_quiet(active);
}

/* Somebody else wrote this stream: a new run whose id is taken, or a state that is behind. */
static void cycle_refused(struct commit_cycle *cycle, struct active_run *active)
{
	if (cycle->pending->command.kind != COMMAND_CREATE) {
		cycle_redo(cycle, active);
		return;
	}
	struct error error;
	fail(&error, ERROR_CONFLICT, "there is already a run with this id");
	cycle_never_was(cycle, active, &error);
}

/* The store knew the key: somebody else did this already, so what was decided here is not true. */
static void cycle_repeated(struct commit_cycle *cycle, struct active_run *active)
{
	pending_command_reply_repeated(cycle->pending, &cycle->ticket.append.request);
	if (cycle->pending->command.kind == COMMAND_CREATE) {
		cycle_never_was(cycle, active, NULL);
		return;
	}
	commit_cycle_free(cycle);
	active->stale = true;
	reload_when_quiet(active);
}

/* Nothing of a run's first turn is stored, and it shall be created all the same: its item comes
 * first again, what came for the run meanwhile stays behind it. */
static void cycle_create_anew(struct commit_cycle *cycle, struct active_run *active)
{
	struct cached_graph *graph = active->graph;
	active->graph = NULL; /* it stays */
	active_run_drop_state(active);
	active->graph = graph;
	active->run = run_new(&active->arena, active->run_id, graph->graph);
	active->stale = active->starved = false;
	active->renewed = true;
	struct command_list behind[] = { active->redo, active->refused, active->inbox };
	active->inbox = active->redo = active->refused = (struct command_list){ 0 };
	command_list_push(&active->inbox, cycle->pending);
	for (size_t i = 0; i < COUNT(behind); i++)
		while (behind[i].first != NULL)
			command_list_push(&active->inbox, command_list_pop(&behind[i]));
	arena_done(&cycle->arena);
	free(cycle);
}

static void create_again(void *context, uint64_t argument)
{
	struct executor *executor = context;
	struct active_run *active = active_run_by_id(executor, argument);
	require(active != NULL);
	active_run_unpin(active);
	active->phase = ACTIVE_RUN_READY;
	active_run_pump(active);
}

/* Every place of its kind is taken: the run is created all the same and waits for its turn. */
static void create_queued(struct commit_cycle *cycle, struct active_run *active)
{
	struct executor *executor = active->executor;
	struct pending_command *pending = cycle->pending;
	if (executor->admission.count >= LIMIT_QUEUED) {
		struct error error;
		fail(&error, ERROR_OVERLOADED,
		     "%d runs wait for their turn already; try again later", LIMIT_QUEUED);
		cycle_never_was(cycle, active, &error);
		return;
	}
	pending->command.queued = true;
	cycle_create_anew(cycle, active);
	active_run_pump(active);
}

/* A guard stands at its limit (R13). */
static void cycle_guarded(struct commit_cycle *cycle, struct active_run *active)
{
	enum command_kind kind = cycle->pending->command.kind;
	if (kind == COMMAND_CREATE) {
		create_queued(cycle, active);
	} else if (kind == COMMAND_START) {
		admission_refused(active->executor, &active->run_id);
		commit_cycle_free(cycle);
		active->stale = true;
		reload_when_quiet(active);
	} else {
		/* Only a count that is wrong refuses an end; the end is what counts. */
		log_line(LOG_WARNING, "the count of runs under way is too low; it is left alone");
		active->uncounted = true;
		cycle_redo(cycle, active);
	}
}

/* There is no room on the disk.  Who asked is told so and may ask again; the result of an effect
 * has nobody who would bring it again, so it stays until it is stored. */
static void cycle_starved(struct commit_cycle *cycle, struct active_run *active)
{
	struct error error;
	fail(&error, ERROR_STORAGE_FULL,
	     "there is no room on the disk, nothing was changed; make room and try again");
	if (cycle->pending->command.kind == COMMAND_CREATE && cycle->pending->replied != NULL) {
		cycle_never_was(cycle, active, &error);
	} else if (cycle->pending->command.kind == COMMAND_CREATE) {
		/* A part of another run, which waits for it. */
		cycle_create_anew(cycle, active);
		active->phase = ACTIVE_RUN_LOADING;
		active_run_pin(active);
		platform_timer_start(active->executor->settings.platform,
				     LIMIT_STORE_FULL_RETRY_MS * 1000, create_again,
				     active->executor, active->id);
	} else if (cycle->pending->replied != NULL) {
		pending_command_reply(cycle->pending, &active->run_id, &error);
		commit_cycle_free(cycle);
		if (active->renewed)
			return;
		active->stale = true;
		reload_when_quiet(active);
	} else {
		active->starved = !active->renewed;
		cycle_redo(cycle, active);
	}
}

/* A refusal is an answer too: it leaves only when the state it was measured against is stored. */
static void tell_refused(struct active_run *active)
{
	for (struct pending_command *pending;
	     (pending = command_list_pop(&active->refused)) != NULL;) {
		pending_command_reply(pending, &active->run_id, pending->refusal);
		pending_command_free(pending);
	}
}

static void cycle_committed(struct writer_ticket *ticket)
{
	struct commit_cycle *cycle = (struct commit_cycle *)ticket;
	struct active_run *active = active_run_by_id(cycle->executor, cycle->active);
	require(active != NULL);
	active->in_flight--;
	/* The writer answers in the order in which it was asked. */
	require(active->flying == cycle);
	active->flying = cycle->next;
	FAILPOINT("runtime.committed");
	if (ticket->append.outcome == STORE_COMMITTED || ticket->append.outcome == STORE_FULL)
		executor_note_disk_space(cycle->executor, ticket->append.outcome == STORE_FULL);
	if (ticket->append.outcome == STORE_CONFLICT) {
		cycle_refused(cycle, active);
	} else if (ticket->append.outcome == STORE_REPEATED) {
		cycle_repeated(cycle, active);
	} else if (ticket->append.outcome == STORE_GUARDED) {
		cycle_guarded(cycle, active);
	} else if (ticket->append.outcome == STORE_FULL) {
		cycle_starved(cycle, active);
	} else {
		/* The turn still looks at the old one. */
		struct arena old = active_run_renew(active);
		active_run_pin(active);
		active->renewed = false;
		note_commit(cycle, active);
		cycle_act(cycle, active);
		if (active->in_flight == 0)
			tell_refused(active);
		active_run_unpin(active);
		commit_cycle_free(cycle);
		arena_done(&old);
	}
	active_run_settle(active);
}

static void cycle_commit(struct commit_cycle *cycle, struct active_run *active)
{
	struct run *run = active->run;
	append_build(cycle, active);
	cycle->ticket.done = cycle_committed;
	cycle->notice = (struct executor_notice){ .run = run->id,
						  .seq = run->seq,
						  .ended = run_ended(run),
						  .waiting = run->state == RUN_WAITING_HUMAN };
	cycle->parent = run->parent;
	struct append_watch *watch = cycle->executor->append_watch;
	if (watch != NULL && uuid_equal(&watch->run, &run->id))
		watch->appended = true;
	forget_commits(cycle, active);
	active->in_flight++;
	if (active->flying != NULL)
		active->last_flying->next = cycle;
	else
		active->flying = cycle;
	active->last_flying = cycle;
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
	if (active->cycle != NULL && has_blob(active->cycle, hash, out_bytes))
		return true;
	for (const struct commit_cycle *cycle = active->flying; cycle != NULL; cycle = cycle->next)
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
	active->phase = ACTIVE_RUN_READY;
	struct commit_cycle *cycle = active->cycle;
	if (active->stale) {
		active->cycle = NULL;
		cycle_redo(cycle, active);
		return;
	}
	cycle_go_on(cycle, active);
	active_run_pump(active);
}

/* The pure steps this turn started: they are computed once it is committed. */
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

/* The first pure steps need nothing that is not here: their results are stored with the run's
 * creation, so that a run of n steps is n commits. */
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
		struct error error;
		/* What the one before came to may have called the run off. */
		if (first[i]->state == STEP_RUNNING &&
		    pure_step_command(active, first[i], &seen, &command)) {
			enum engine_answer answer =
				decide(run, &command, &values, &cycle->decision, &error);
			require(answer != ENGINE_REFUSED);
		}
	}
}

/* Values or the tree are needed before it can go on. */
static void cycle_fetch(struct commit_cycle *cycle, struct active_run *active)
{
	active->phase = ACTIVE_RUN_FETCHING;
	active->cycle = cycle;
	value_fetch(active, &cycle->decision, cycle_fetched, 0);
}

/* Nothing came of it that would be stored.  What shall end is told so all the same, and who asked
 * hears once what it was measured against is on the disk. */
static void cycle_settle(struct commit_cycle *cycle, struct active_run *active)
{
	struct pending_command *pending = cycle->pending;
	for (size_t i = 0; i < cycle->decision.stop_count; i++)
		effect_kind_stop(active, &cycle->decision.stops[i]);
	arena_done(&cycle->arena);
	free(cycle);
	active_run_release_loaded(active);
	command_list_push(&active->refused, pending);
	if (active->in_flight == 0)
		tell_refused(active);
}

static void cycle_advance(struct commit_cycle *cycle, struct active_run *active)
{
	struct engine_values values = active_run_values(active);
	/* What has ended is recorded, and the run's own end too; what would begin is not even
	 * requested, because a request that nobody has begun looks like one that was cut off. */
	cycle->held_back = active->executor->draining && active->run->live > 0;
	if (!cycle->held_back &&
	    advance(active->run, cycle->now, &values, &cycle->decision) == ENGINE_NEED) {
		cycle_fetch(cycle, active);
		return;
	}
	active->cycle = NULL;
	if (cycle->pending->command.kind == COMMAND_CREATE && !cycle->computed &&
	    !cycle->held_back) {
		compute_with_creation(cycle, active);
		cycle_advance(cycle, active);
		return;
	}
	/* An answer to a request with a key is remembered even if nothing came of it. */
	if (cycle->decision.event_count == 0 && cycle->pending->claim.key.key.size == 0) {
		cycle_settle(cycle, active);
		return;
	}
	note_computing(cycle, active->run);
	cycle_commit(cycle, active);
	/* Only now: the events were printed from it. */
	active_run_release_loaded(active);
}

static void cycle_refuse(struct commit_cycle *cycle, struct active_run *active,
			 const struct error *error)
{
	struct pending_command *pending = cycle->pending;
	if (pending->command.kind == COMMAND_START)
		admission_forget(active->executor, &active->run_id);
	pending->refusal = arena_copy(&pending->arena, error, sizeof(*error));
	command_list_push(&active->refused, pending);
	arena_done(&cycle->arena);
	free(cycle);
	active->cycle = NULL;
	active_run_release_loaded(active);
	if (active->in_flight == 0)
		tell_refused(active);
}

/* The command, then what follows from it. */
static void cycle_go_on(struct commit_cycle *cycle, struct active_run *active)
{
	struct engine_values values = active_run_values(active);
	struct error error;
	if (!cycle->decided && !cycle->pending->is_wakeup)
		switch (decide(active->run, &cycle->pending->command, &values, &cycle->decision,
			       &error)) {
		case ENGINE_NEED:
			cycle_fetch(cycle, active);
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

/* A call that a crash left open was about to be made again when the run was called off. */
static void give_up_restart(struct pending_command *pending)
{
	pending->command.kind = COMMAND_FINISHED;
	pending->command.outcome = RUN_OUTCOME_CANCELLED;
	pending->command.fault =
		(struct failure){ error_row(ERROR_CANCELLED)->name,
				  S("it was called off before it was made again") };
}

static void cycle_begin(struct active_run *active, struct pending_command *pending)
{
	if (pending->command.kind == COMMAND_RESTARTED && active->run->cancelling)
		give_up_restart(pending);
	if (pending->command.kind == COMMAND_FINISHED)
		active_run_take_early_stop(active, &pending->command.effect);
	struct commit_cycle *cycle = calloc(1, sizeof(*cycle));
	require(cycle != NULL);
	cycle->executor = active->executor;
	cycle->active = active->id;
	cycle->pending = pending;
	cycle->decision.arena = &cycle->arena;
	cycle->now = executor_now(active->executor);
	if (cycle->now < pending->not_before)
		cycle->now = pending->not_before;
	cycle->begun_us = platform_mono_us(active->executor->settings.platform);
	cycle->decision.commits = (struct run_commit_list){
		arena_copy(&cycle->arena, active->commits,
			   active->commit_count * sizeof(active->commits[0])),
		active->commit_count
	};
	pending->command.now = cycle->now;
	cycle_go_on(cycle, active);
}

void active_run_pump(struct active_run *active)
{
	if (active->pumping)
		return;
	active->pumping = true;
	while (active->phase == ACTIVE_RUN_READY && active->run != NULL && !active->stale &&
	       !active->executor->failed) {
		struct pending_command *pending = command_list_pop(&active->inbox);
		if (pending == NULL)
			break;
		cycle_begin(active, pending);
	}
	active->pumping = false;
	active_run_settle(active);
}

void active_run_command(struct active_run *active, struct pending_command *pending)
{
	command_list_push(&active->inbox, pending);
	active_run_pump(active);
}

void active_run_wake(struct active_run *active)
{
	/* Its kind is looked at only where a command was refused: it is no creation. */
	struct pending_command *pending = pending_command_new(COMMAND_COMPUTED);
	pending->is_wakeup = true;
	active_run_command(active, pending);
}
