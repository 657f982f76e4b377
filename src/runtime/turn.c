/* runtime/turn.c -- commands in, appends out, effects behind the commit (architecture R2).
 *
 * A turn is one command with everything that came of it: the decision, the rows, and what must
 * happen once they are on the disk.  Turns of one run are committed in order; the next command is
 * decided while the one before is still at the writer.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "os/point.h"
#include "runtime/inside.h"

void turn_free(struct turn *turn)
{
	item_free(turn->item);
	arena_done(&turn->arena);
	free(turn);
}

/* What is due at another time, or not at all any more. */
static void set_alarms(struct turn *turn)
{
	const struct store_append *append = &turn->ticket.append;
	for (size_t i = 0; i < append->closed_count; i++)
		alarm_clear(turn->runtime, &append->closed[i]);
	for (size_t i = 0; i < append->opened_count; i++) {
		const struct store_effect *row = &append->opened[i];
		if (row->due_at > 0)
			alarm_set(turn->runtime, &append->run.id, &row->id, turn->opened_steps[i],
				  row->due_at);
		else
			alarm_clear(turn->runtime, &row->id);
	}
}

static void begin_effect(struct live *live, const struct event *event)
{
	if (event->type == EVENT_TOOL_REQUESTED)
		effect_begin(live, event->as.run_tool_requested->step);
	else if (event->type == EVENT_TOOL_RESTARTED)
		effect_begin(live, event->as.run_tool_restarted->step);
	else if (event->type == EVENT_TURN_REQUESTED)
		effect_begin(live, event->as.run_turn_requested->step);
	else if (event->type == EVENT_SUBRUN_REQUESTED)
		effect_begin(live, event->as.run_subrun_requested->step);
}

/* How long it took: the run's next event will tell, which could not name one without events. */
static void note_commit(const struct turn *turn, struct live *live)
{
	if (turn->decision.event_count == 0)
		return;
	int64_t now_us = system_mono_us(turn->runtime->settings.system);
	int64_t queued_us = turn->ticket.queued_us;
	struct run_commit commit = { 0 };
	SET(&commit, first, turn->ticket.append.expected_seq + 1);
	SET(&commit, last, turn->notice.seq);
	SET(&commit, made_us, queued_us - turn->begun_us);
	SET(&commit, us, now_us - queued_us);
	if (live->commit_count == LIMIT_COMMITS_TOLD) {
		live->commit_count--;
		for (size_t i = 0; i < live->commit_count; i++)
			live->commits[i] = live->commits[i + 1];
	}
	live->commits[live->commit_count++] = commit;
}

/* These are told with the append that is on its way; others may have come since. */
static void forget_commits(const struct turn *turn, struct live *live)
{
	if (turn->decision.event_count == 0)
		return;
	struct run_commit_list told = turn->decision.commits;
	size_t kept = 0;
	for (size_t i = 0; i < live->commit_count; i++)
		if (told.count == 0 || live->commits[i].last > told.at[told.count - 1].last)
			live->commits[kept++] = live->commits[i];
	live->commit_count = kept;
}

/* What waited for the commit leaves now: the reply, the notice, the effects. */
static void turn_act(struct turn *turn, struct live *live)
{
	item_reply(turn->item, &live->run_id, NULL);
	turn->notice.position = turn->ticket.append.last_position;
	bus_notify(turn->runtime, &turn->notice);
	set_alarms(turn);
	queue_committed(turn, live);
	if (turn->notice.ended && !uuid_is_zero(&turn->parent))
		subrun_ended(turn->runtime, &live->run_id);
	for (size_t i = 0; i < turn->decision.event_count; i++)
		begin_effect(live, &turn->decision.events[i]);
	for (size_t i = 0; i < turn->computing_count; i++)
		compute_begin(live, turn->computing[i]);
	for (size_t i = 0; i < turn->decision.stop_count; i++)
		effect_stop(live, &turn->decision.stops[i]);
}

static void fed(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	struct live *live = slots_get(&runtime->lives, argument);
	require(live != NULL);
	live->holds--;
	live_load(live);
}

/* Once nothing decided on the old state is under way, everything is decided again on a new one; for
 * want of room not before some time has passed. */
static void reload_when_quiet(struct live *live)
{
	if (live->in_flight > 0 || live->turn != NULL)
		return;
	bool starved = live->starved;
	live->stale = live->starved = false;
	while (live->refused.first != NULL)
		queue_add(&live->redo, queue_take(&live->refused));
	while (live->inbox.first != NULL)
		queue_add(&live->redo, queue_take(&live->inbox));
	live->inbox = live->redo;
	live->redo = (struct item_queue){ 0 };
	live_drop_state(live);
	if (!starved) {
		live_load(live);
		return;
	}
	live->phase = LIVE_LOADING;
	live->holds++;
	system_timer_start(live->runtime->settings.system, LIMIT_STORE_FULL_RETRY_MS * 1000, fed,
			   live->runtime, live->id);
}

/* Its item goes back to be decided again; the rest of the turn is forgotten. */
static void turn_redo(struct turn *turn, struct live *live)
{
	if (live->renewed) { /* decided behind a creation that is tried again */
		queue_add(&live->inbox, turn->item);
		arena_done(&turn->arena);
		free(turn);
		live->holds++;
		live_pump(live);
		live->holds--;
		return;
	}
	queue_add(&live->redo, turn->item);
	live->stale = true;
	arena_done(&turn->arena);
	free(turn);
	reload_when_quiet(live);
}

/* Nothing of a run's first turn is stored, so the run never was. */
static void turn_never_was(struct turn *turn, struct live *live, const struct error *error)
{
	item_reply(turn->item, &live->run_id, error);
	turn_free(turn);
	live_drop_state(live);
	if (live->inbox.first != NULL || live->refused.first != NULL)
		reload_when_quiet(live);
}

/* Somebody else wrote this stream: a new run whose id is taken, or a state that is behind. */
static void turn_refused(struct turn *turn, struct live *live)
{
	if (turn->item->command.kind != COMMAND_CREATE) {
		turn_redo(turn, live);
		return;
	}
	struct error error;
	fail(&error, ERROR_CONFLICT, "there is already a run with this id");
	turn_never_was(turn, live, &error);
}

void runtime_note_room(struct runtime *runtime, bool full)
{
	if (full != runtime->full)
		log_line(full ? LOG_ERROR : LOG_INFO, "%s",
			 full ? "there is no room on the disk: commands are refused and results "
				"wait until there is"
			      : "there is room on the disk again");
	runtime->full = full;
}

/* The store knew the key: somebody else did this already, so what was decided here is not true. */
static void turn_repeated(struct turn *turn, struct live *live)
{
	item_reply_repeated(turn->item, &turn->ticket.append.request);
	if (turn->item->command.kind == COMMAND_CREATE) {
		turn_never_was(turn, live, NULL);
		return;
	}
	turn_free(turn);
	live->stale = true;
	reload_when_quiet(live);
}

/* Nothing of a run's first turn is stored, and it shall be created all the same: its item comes
 * first again, what came for the run meanwhile stays behind it. */
static void turn_create_anew(struct turn *turn, struct live *live)
{
	struct graph_use *graph = live->graph;
	live->graph = NULL; /* it stays */
	live_drop_state(live);
	live->graph = graph;
	live->run = run_new(&live->arena, live->run_id, graph->graph);
	live->stale = live->starved = false;
	live->renewed = true;
	struct item_queue behind[] = { live->redo, live->refused, live->inbox };
	live->inbox = live->redo = live->refused = (struct item_queue){ 0 };
	queue_add(&live->inbox, turn->item);
	for (size_t i = 0; i < COUNT(behind); i++)
		while (behind[i].first != NULL)
			queue_add(&live->inbox, queue_take(&behind[i]));
	arena_done(&turn->arena);
	free(turn);
}

static void create_again(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	struct live *live = slots_get(&runtime->lives, argument);
	require(live != NULL);
	live->holds--;
	live->phase = LIVE_READY;
	live_pump(live);
}

/* Every place of its kind is taken: the run is created all the same and waits for its turn. */
static void create_queued(struct turn *turn, struct live *live)
{
	struct runtime *runtime = live->runtime;
	struct item *item = turn->item;
	if (runtime->queue.count >= LIMIT_QUEUED) {
		struct error error;
		fail(&error, ERROR_OVERLOADED,
		     "%d runs wait for their turn already; try again later", LIMIT_QUEUED);
		turn_never_was(turn, live, &error);
		return;
	}
	item->command.queued = true;
	turn_create_anew(turn, live);
	live_pump(live);
}

/* A guard stands at its limit (R13). */
static void turn_guarded(struct turn *turn, struct live *live)
{
	enum command_kind kind = turn->item->command.kind;
	if (kind == COMMAND_CREATE) {
		create_queued(turn, live);
	} else if (kind == COMMAND_START) {
		queue_refused(live->runtime, &live->run_id);
		turn_free(turn);
		live->stale = true;
		reload_when_quiet(live);
	} else {
		/* Only a count that is wrong refuses an end; the end is what counts. */
		log_line(LOG_WARNING, "the count of runs under way is too low; it is left alone");
		live->uncounted = true;
		turn_redo(turn, live);
	}
}

/* There is no room on the disk.  Who asked is told so and may ask again; the result of an effect
 * has nobody who would bring it again, so it stays until it is stored. */
static void turn_starved(struct turn *turn, struct live *live)
{
	struct error error;
	fail(&error, ERROR_STORAGE_FULL,
	     "there is no room on the disk, nothing was changed; make room and try again");
	if (turn->item->command.kind == COMMAND_CREATE && turn->item->replied != NULL) {
		turn_never_was(turn, live, &error);
	} else if (turn->item->command.kind == COMMAND_CREATE) {
		/* A part of another run, which waits for it. */
		turn_create_anew(turn, live);
		live->phase = LIVE_LOADING;
		live->holds++;
		system_timer_start(live->runtime->settings.system, LIMIT_STORE_FULL_RETRY_MS * 1000,
				   create_again, live->runtime, live->id);
	} else if (turn->item->replied != NULL) {
		item_reply(turn->item, &live->run_id, &error);
		turn_free(turn);
		if (live->renewed)
			return;
		live->stale = true;
		reload_when_quiet(live);
	} else {
		live->starved = !live->renewed;
		turn_redo(turn, live);
	}
}

/* A refusal is an answer too: it leaves only when the state it was measured against is stored. */
static void tell_refused(struct live *live)
{
	for (struct item *item; (item = queue_take(&live->refused)) != NULL;) {
		item_reply(item, &live->run_id, item->refusal);
		item_free(item);
	}
}

static void turn_committed(struct writer_ticket *ticket)
{
	struct turn *turn = (struct turn *)ticket;
	struct live *live = slots_get(&turn->runtime->lives, turn->live);
	require(live != NULL);
	live->in_flight--;
	/* The writer answers in the order in which it was asked. */
	require(live->flying == turn);
	live->flying = turn->next;
	POINT("runtime.committed");
	if (ticket->append.outcome == STORE_COMMITTED || ticket->append.outcome == STORE_FULL)
		runtime_note_room(turn->runtime, ticket->append.outcome == STORE_FULL);
	if (ticket->append.outcome == STORE_CONFLICT) {
		turn_refused(turn, live);
	} else if (ticket->append.outcome == STORE_REPEATED) {
		turn_repeated(turn, live);
	} else if (ticket->append.outcome == STORE_GUARDED) {
		turn_guarded(turn, live);
	} else if (ticket->append.outcome == STORE_FULL) {
		turn_starved(turn, live);
	} else {
		/* The turn still looks at the old one. */
		struct arena old = live_renew(live);
		live->holds++;
		live->renewed = false;
		note_commit(turn, live);
		turn_act(turn, live);
		if (live->in_flight == 0)
			tell_refused(live);
		live->holds--;
		turn_free(turn);
		arena_done(&old);
	}
	live_settle(live);
}

static void turn_commit(struct turn *turn, struct live *live)
{
	struct run *run = live->run;
	turn_rows(turn, live);
	turn->ticket.done = turn_committed;
	turn->notice = (struct runtime_notice){ .run = run->id,
						.seq = run->seq,
						.ended = run_ended(run),
						.waiting = run->state == RUN_WAITING_HUMAN };
	turn->parent = run->parent;
	if (uuid_equal(&turn->runtime->folding, &run->id))
		turn->runtime->folding_is_old = true;
	forget_commits(turn, live);
	live->in_flight++;
	if (live->flying != NULL)
		live->last_flying->next = turn;
	else
		live->flying = turn;
	live->last_flying = turn;
	POINT("runtime.before_append");
	writer_append(turn->runtime->writer, &turn->ticket);
}

static bool has_blob(const struct turn *turn, const struct hash *hash, struct str *out_bytes)
{
	for (size_t i = 0; i < turn->decision.blob_count; i++)
		if (hash_equal(&turn->decision.blobs[i].hash, hash)) {
			*out_bytes = turn->decision.blobs[i].bytes;
			return true;
		}
	return false;
}

bool live_unwritten(const struct live *live, const struct hash *hash, struct str *out_bytes)
{
	if (live->turn != NULL && has_blob(live->turn, hash, out_bytes))
		return true;
	for (const struct turn *turn = live->flying; turn != NULL; turn = turn->next)
		if (has_blob(turn, hash, out_bytes))
			return true;
	return false;
}

/* ---- deciding ------------------------------------------------------------------------ */

static void turn_go_on(struct turn *turn, struct live *live);

static void turn_fetched(struct runtime *runtime, uint64_t id, uint64_t argument,
			 const struct error *error)
{
	(void)argument;
	struct live *live = slots_get(&runtime->lives, id);
	require(live != NULL);
	if (error != NULL) {
		runtime_fail(runtime, error);
		return;
	}
	live->phase = LIVE_READY;
	struct turn *turn = live->turn;
	if (live->stale) {
		live->turn = NULL;
		turn_redo(turn, live);
		return;
	}
	turn_go_on(turn, live);
	live_pump(live);
}

/* The pure steps this turn started: they are computed once it is committed. */
static void note_computing(struct turn *turn, const struct run *run)
{
	int64_t before = run->seq - (int64_t)turn->decision.event_count;
	size_t room = run->computing.tail - run->computing.head;
	turn->computing = arena_array(&turn->arena, struct str, room);
	for (uint32_t i = run->computing.head; i < run->computing.tail; i++) {
		const struct activation *activation = run->computing.at[i];
		if (activation->started_seq > before)
			turn->computing[turn->computing_count++] = activation->path;
	}
}

/* The first pure steps need nothing that is not here: their results are stored with the run's
 * creation, so that a run of n steps is n commits. */
static void compute_with_creation(struct turn *turn, struct live *live)
{
	struct run *run = live->run;
	uint32_t count = run->computing.tail - run->computing.head;
	struct activation **first = arena_copy(
		&turn->arena, run->computing.at + run->computing.head, count * sizeof(*first));
	struct engine_values values = live_values(live);
	turn->computed = true;
	for (uint32_t i = 0; i < count; i++) {
		struct command command = { .kind = COMMAND_COMPUTED, .now = turn->now };
		struct decision seen = { .arena = &turn->arena };
		struct error error;
		/* What the one before came to may have called the run off. */
		if (first[i]->state == STEP_RUNNING &&
		    compute_command(live, first[i], &seen, &command)) {
			enum engine_answer answer =
				decide(run, &command, &values, &turn->decision, &error);
			require(answer != ENGINE_REFUSED);
		}
	}
}

/* Values or the tree are needed before it can go on. */
static void turn_fetch(struct turn *turn, struct live *live)
{
	live->phase = LIVE_FETCHING;
	live->turn = turn;
	fetch(live, &turn->decision, turn_fetched, 0);
}

/* Nothing came of it that would be stored.  What shall end is told so all the same, and who asked
 * hears once what it was measured against is on the disk. */
static void turn_settle(struct turn *turn, struct live *live)
{
	struct item *item = turn->item;
	for (size_t i = 0; i < turn->decision.stop_count; i++)
		effect_stop(live, &turn->decision.stops[i]);
	arena_done(&turn->arena);
	free(turn);
	live_let_go(live);
	queue_add(&live->refused, item);
	if (live->in_flight == 0)
		tell_refused(live);
}

static void turn_advance(struct turn *turn, struct live *live)
{
	struct engine_values values = live_values(live);
	/* What has ended is recorded, and the run's own end too; what would begin is not even
	 * requested, because a request that nobody has begun looks like one that was cut off. */
	turn->held_back = live->runtime->draining && live->run->live > 0;
	if (!turn->held_back &&
	    advance(live->run, turn->now, &values, &turn->decision) == ENGINE_NEED) {
		turn_fetch(turn, live);
		return;
	}
	live->turn = NULL;
	if (turn->item->command.kind == COMMAND_CREATE && !turn->computed && !turn->held_back) {
		compute_with_creation(turn, live);
		turn_advance(turn, live);
		return;
	}
	/* An answer to a request with a key is remembered even if nothing came of it. */
	if (turn->decision.event_count == 0 && turn->item->claim.key.key.size == 0) {
		turn_settle(turn, live);
		return;
	}
	note_computing(turn, live->run);
	turn_commit(turn, live);
	/* Only now: the events were printed from it. */
	live_let_go(live);
}

static void turn_refuse(struct turn *turn, struct live *live, const struct error *error)
{
	struct item *item = turn->item;
	if (item->command.kind == COMMAND_START)
		queue_gone(live->runtime, &live->run_id);
	item->refusal = arena_copy(&item->arena, error, sizeof(*error));
	queue_add(&live->refused, item);
	arena_done(&turn->arena);
	free(turn);
	live->turn = NULL;
	live_let_go(live);
	if (live->in_flight == 0)
		tell_refused(live);
}

/* The command, then what follows from it. */
static void turn_go_on(struct turn *turn, struct live *live)
{
	struct engine_values values = live_values(live);
	struct error error;
	if (!turn->decided && !turn->item->bare)
		switch (decide(live->run, &turn->item->command, &values, &turn->decision, &error)) {
		case ENGINE_NEED:
			turn_fetch(turn, live);
			return;
		case ENGINE_REFUSED:
			turn_refuse(turn, live, &error);
			return;
		case ENGINE_DONE:
			break;
		}
	turn->decided = true;
	turn_advance(turn, live);
}

/* A call that a crash left open was about to be made again when the run was called off. */
static void give_up_restart(struct item *item)
{
	item->command.kind = COMMAND_FINISHED;
	item->command.outcome = RUN_OUTCOME_CANCELLED;
	item->command.fault = (struct fault){ error_row(ERROR_CANCELLED)->name,
					      S("it was called off before it was made again") };
}

static void turn_begin(struct live *live, struct item *item)
{
	if (item->command.kind == COMMAND_RESTARTED && live->run->cancelling)
		give_up_restart(item);
	if (item->command.kind == COMMAND_FINISHED)
		live_take_missed_stop(live, &item->command.effect);
	struct turn *turn = calloc(1, sizeof(*turn));
	require(turn != NULL);
	turn->runtime = live->runtime;
	turn->live = live->id;
	turn->item = item;
	turn->decision.arena = &turn->arena;
	turn->now = runtime_now(live->runtime);
	if (turn->now < item->not_before)
		turn->now = item->not_before;
	turn->begun_us = system_mono_us(live->runtime->settings.system);
	turn->decision.commits =
		(struct run_commit_list){ arena_copy(&turn->arena, live->commits,
						     live->commit_count * sizeof(live->commits[0])),
					  live->commit_count };
	item->command.now = turn->now;
	turn_go_on(turn, live);
}

void live_pump(struct live *live)
{
	if (live->pumping)
		return;
	live->pumping = true;
	while (live->phase == LIVE_READY && live->run != NULL && !live->stale &&
	       !live->runtime->failed) {
		struct item *item = queue_take(&live->inbox);
		if (item == NULL)
			break;
		turn_begin(live, item);
	}
	live->pumping = false;
	live_settle(live);
}

void live_command(struct live *live, struct item *item)
{
	queue_add(&live->inbox, item);
	live_pump(live);
}

void live_go_on(struct live *live)
{
	/* Its kind is looked at only where a command was refused: it is no creation. */
	struct item *item = item_new(COMMAND_COMPUTED);
	item->bare = true;
	live_command(live, item);
}
