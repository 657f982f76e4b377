/* active/append_builder.c -- a decision as the store takes it: events, values, the run's row, opened
 * and closed effects, guards, a snapshot.
 */
#include "active/commit_cycle.h"
#include "active/executor_state.h"
#include "active/idempotency.h"
#include "active/projection.h"
#include "base/json.h"
#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "engine/snapshot.h"
#include "os/failpoint.h"

/* The effect that an event closes, and the step whose open effect is new or has another due time
 * ("" = none). */
struct change {
	bool closes;
	struct uuid closed;
	struct str step;
};

/* A further attempt is an effect with another id; the retry is open under the id of the attempt
 * before. */
static struct change change_of_subrun(const struct run *run,
				      const struct run_subrun_requested *event)
{
	struct change change = { .step = event->step };
	if (!has(event, attempt) || event->attempt < 2)
		return change;
	change.closes = true;
	change.closed = engine_effect_id(run, event->step, S("subrun"), event->attempt - 1);
	return change;
}

static struct change change_of(const struct run *run, const struct event *event)
{
	switch (event->type) {
	case EVENT_TOOL_REQUESTED:
		return (struct change){ .step = event->as.run_tool_requested->step };
	case EVENT_TURN_REQUESTED:
		return (struct change){ .step = event->as.run_turn_requested->step };
	case EVENT_SUBRUN_REQUESTED:
		return change_of_subrun(run, event->as.run_subrun_requested);
	case EVENT_TIMER_REQUESTED:
		return (struct change){ .step = event->as.run_timer_requested->step };
	case EVENT_HUMAN_REQUESTED:
		return (struct change){ .step = event->as.run_human_requested->step };
	case EVENT_HUMAN_ESCALATED:
		return (struct change){ .step = event->as.run_human_escalated->step };
	case EVENT_TOOL_FINISHED:
		return (struct change){ true, event->as.run_tool_finished->effect,
					event->as.run_tool_finished->step };
	case EVENT_TURN_FINISHED:
		return (struct change){ true, event->as.run_turn_finished->effect,
					event->as.run_turn_finished->step };
	case EVENT_SUBRUN_FINISHED:
		return (struct change){ true, event->as.run_subrun_finished->effect,
					event->as.run_subrun_finished->step };
	case EVENT_TIMER_FINISHED:
		return (struct change){ true, event->as.run_timer_finished->effect, S("") };
	case EVENT_HUMAN_FINISHED:
		return (struct change){ true, event->as.run_human_finished->effect,
					event->as.run_human_finished->step };
	case EVENT_RUN_CREATED:
	case EVENT_RUN_STARTED:
	case EVENT_RUN_PAUSED:
	case EVENT_RUN_RESUMED:
	case EVENT_RUN_RETRIED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_UNWINDING:
	case EVENT_RUN_SIGNALLED:
	case EVENT_MESSAGE_SENT:
	case EVENT_MESSAGE_READ:
	case EVENT_RUN_FINISHED:
	case EVENT_BRANCH_ENDED:
	case EVENT_RUN_COMPACTED:
	case EVENT_STEP_COMPUTED:
	case EVENT_STEP_SKIPPED:
	case EVENT_STEP_STARTED:
	case EVENT_STEP_ENTERED:
	case EVENT_STEP_LEFT:
	case EVENT_TOOL_RESTARTED:
	case EVENT_DOCUMENT_CHANGED:
		break;
	}
	return (struct change){ 0 };
}

static void add_opened(struct commit_cycle *cycle, struct store_append *append,
		       struct store_effect *opened, struct str step)
{
	cycle->opened_steps[append->opened_count++] = step;
	append->opened = opened;
}

/* Opens and closes the rows of the run itself: its deadline, its place in the admission queue. */
static void change_run(struct commit_cycle *cycle, struct store_append *append,
		       const struct run *run, enum event_type type, struct store_effect *opened,
		       struct uuid *closed)
{
	struct arena *arena = &cycle->arena;
	bool begins = type == EVENT_RUN_CREATED || type == EVENT_RUN_STARTED ||
		      type == EVENT_RUN_RETRIED || type == EVENT_RUN_UNWINDING ||
		      (type == EVENT_RUN_CANCELLING && !run->unwinding);
	bool ends = type == EVENT_RUN_FINISHED || type == EVENT_RUN_CANCELLING;
	/* A run that has failed and unwinds has the deadline of the run no more. */
	if ((ends || type == EVENT_RUN_UNWINDING) && has(run->graph->rows, timeout_us))
		closed[append->closed_count++] = projection_deadline_id(run);
	if (run->unwinding && (type == EVENT_RUN_FINISHED || (ends && run->abandoned)))
		closed[append->closed_count++] = projection_unwind_deadline_id(run);
	if (run->cancelling && (type == EVENT_RUN_FINISHED || type == EVENT_RUN_UNWINDING))
		closed[append->closed_count++] = projection_subruns_deadline_id(run);
	if (type == EVENT_RUN_STARTED || type == EVENT_RUN_CANCELLING)
		closed[append->closed_count++] = projection_admission_id(run);
	if (type == EVENT_RUN_RESUMED || type == EVENT_RUN_CANCELLING)
		closed[append->closed_count++] = projection_pause_id(run);
	if (type == EVENT_RUN_PAUSED && run->pause.budget.size > 0) {
		opened[append->opened_count] = projection_pause(run, arena);
		add_opened(cycle, append, opened, S(""));
	}
	if (begins && projection_has_deadline(run)) {
		opened[append->opened_count] = projection_deadline(run, arena);
		add_opened(cycle, append, opened, S(""));
	}
	if ((type == EVENT_RUN_CREATED || type == EVENT_RUN_RETRIED) && run->queued) {
		opened[append->opened_count] = projection_admission(run, arena);
		add_opened(cycle, append, opened, S(""));
		cycle->enters_queue = true;
	}
}

static struct store_event event_row(const struct event *event, struct arena *arena)
{
	struct hash *names = arena_array(arena, struct hash, EVENT_NAMES);
	return (struct store_event){ .type = event_name(event->type),
				     .at = event->at,
				     .body = event_body(event, arena),
				     .kept = event_persistence(event->type) ==
					     EVENT_PERSISTENCE_KEPT,
				     .names = names,
				     .name_count = event_names(event, names) };
}

static void fill_events(struct commit_cycle *cycle, struct store_append *append,
			struct active_run *active)
{
	const struct decision *decision = &cycle->decision;
	size_t count = decision->event_count;
	struct store_event *events = arena_array(&cycle->arena, struct store_event, count);
	for (size_t i = 0; i < count; i++) {
		events[i] = event_row(&decision->events[i], &cycle->arena);
		active->weight += events[i].body.size;
	}
	append->events = events;
	append->event_count = count;
}

/* An effect that one event opens and a later event of the same append closes is never open. */
static void fill_effects(struct commit_cycle *cycle, struct store_append *append,
			 const struct run *run)
{
	const struct decision *decision = &cycle->decision;
	struct arena *arena = &cycle->arena;
	size_t count = decision->event_count;
	struct store_effect *opened = arena_array(arena, struct store_effect, count + 1);
	struct uuid *closed = arena_array(arena, struct uuid, 4 * count + decision->close_count);
	cycle->opened_steps = arena_array(arena, struct str, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &decision->events[i];
		struct change change = change_of(run, event);
		const struct activation *step =
			change.step.size == 0 ? NULL : run_activation(run, change.step);
		if (change.closes)
			closed[append->closed_count++] = change.closed;
		if (step != NULL && projection_open_effect(cycle->executor, run, step, arena,
							   &opened[append->opened_count]))
			add_opened(cycle, append, opened, str_copy(arena, step->path));
		change_run(cycle, append, run, event->type, opened, closed);
	}
	for (size_t i = 0; i < decision->close_count; i++)
		closed[append->closed_count++] = decision->closes[i];
	append->closed = closed;
}

/* The first append of a run also stores its graph. */
static void fill_blobs(struct commit_cycle *cycle, struct store_append *append,
		       const struct active_run *active)
{
	const struct decision *decision = &cycle->decision;
	size_t count = decision->blob_count + 1;
	struct store_blob *blobs = arena_array(&cycle->arena, struct store_blob, count);
	for (size_t i = 0; i < decision->blob_count; i++)
		blobs[append->blob_count++] =
			(struct store_blob){ decision->blobs[i].hash, decision->blobs[i].bytes };
	if (append->expected_seq == 0)
		blobs[append->blob_count++] =
			(struct store_blob){ active->graph->graph->hash, active->graph->text };
	append->blobs = blobs;
}

/* Whether the reader would accept the snapshot, even if it is a few bytes longer then. */
static bool snapshot_fits(struct str text)
{
	enum { MARGIN = 4096 };
	int64_t most = FAILPOINT_LIMIT("snapshot.bytes", (int64_t)LIMIT_JSON_BYTES);
	return (int64_t)text.size <= most - MARGIN && json_fits(text);
}

bool append_can_compact(struct commit_cycle *cycle, const struct active_run *active,
			struct error *error)
{
	struct run_names names;
	const struct run_snapshot *snapshot = run_snapshot(active->run, &cycle->arena, &names);
	struct str text = run_snapshot_text(snapshot, &cycle->arena);
	return snapshot_fits(text) ||
	       fail(error, ERROR_TOO_LARGE,
		    "its state of %zu bytes is larger than a snapshot can be; its events are kept",
		    text.size);
}

/* The run's state goes with the events when these have become as heavy as the last snapshot, so
 * that a run is never loaded from more than twice its weight and a step costs the same however long
 * the run has become; and when events below it go. */
static void fill_snapshot(struct commit_cycle *cycle, struct store_append *append,
			  struct active_run *active)
{
	size_t least = active->executor->settings.snapshot_bytes;
	size_t due = least > 0 ? least : LIMIT_SNAPSHOT_LEAST_BYTES;
	if (due < active->snapshot_size)
		due = active->snapshot_size;
	if (active->weight < due && append->floor == 0)
		return;
	struct run_names names;
	const struct run_snapshot *snapshot = run_snapshot(active->run, &cycle->arena, &names);
	struct str text = run_snapshot_text(snapshot, &cycle->arena);
	active->weight = 0;
	active->snapshot_size = text.size;
	/* A compaction was refused before if its snapshot is too large. */
	if (append->floor == 0 && !snapshot_fits(text))
		return;
	append->snapshot = (struct store_snapshot){
		.seq = active->run->seq, .body = text, .names = names.at, .name_count = names.count
	};
	active->executor->snapshots++;
}

static void add_guard(struct commit_cycle *cycle, struct store_guard guard)
{
	struct store_append *append = &cycle->ticket.append;
	enum { MOST = 3 };
	if (cycle->guards == NULL)
		cycle->guards = arena_array(&cycle->arena, struct store_guard, MOST);
	require(append->guard_count < MOST);
	cycle->guards[append->guard_count++] = guard;
	append->guards = cycle->guards;
}

/* A run with a retention of its own is counted from its creation until nothing of it is left to
 * take. */
static void fill_retention(struct commit_cycle *cycle, struct store_append *append,
			   const struct run *run)
{
	const struct decision *decision = &cycle->decision;
	int64_t change = 0;
	for (size_t i = 0; i < decision->event_count; i++) {
		const struct event *event = &decision->events[i];
		if (event->type == EVENT_RUN_CREATED)
			change = 1;
		/* It was counted out when everything up to its end was removed. */
		if (event->type == EVENT_RUN_RETRIED && run->floor == append->expected_seq)
			change = 1;
		if (event->type != EVENT_RUN_COMPACTED)
			continue;
		append->floor = event->as.run_compacted->floor;
		if (run_ended(run) && append->floor == run->seq)
			change = -1;
	}
	if (has(run->start, retention_days) && change != 0)
		add_guard(cycle, (struct store_guard){ PROJECTION_OWN_RETENTION, change, -1 });
}

/* The limit for what a guard shows after this turn: one that begins needs a place, even if it gives
 * it back at once. */
static int64_t guard_limit(int64_t limit, bool begins, int64_t change)
{
	return !begins || limit < 0 ? -1 : limit - 1 + change;
}

/* Guards count the runs under way: of each kind, and of each concurrency key. */
static void fill_admission(struct commit_cycle *cycle, const struct run *run, bool uncounted)
{
	const struct decision *decision = &cycle->decision;
	bool begins = false, ends = false;
	for (size_t i = 0; i < decision->event_count; i++) {
		enum event_type type = decision->events[i].type;
		begins = begins ||
			 ((type == EVENT_RUN_CREATED || type == EVENT_RUN_RETRIED) &&
			  !run->queued) ||
			 type == EVENT_RUN_STARTED;
		ends = ends || (type == EVENT_RUN_FINISHED && run->begun_at > 0);
	}
	int64_t change = (int64_t)begins - (int64_t)ends;
	if (!(begins || ends) || !admission_counts(run))
		return;
	cycle->admission_delta = change;
	if (uncounted)
		return;
	struct str kind = projection_kind(run);
	int64_t limit = admission_limit(cycle->executor, kind);
	add_guard(cycle, (struct store_guard){ admission_guard(kind, &cycle->arena), change,
					       guard_limit(limit, begins, change) });
	if (run->start->key.size > 0)
		add_guard(cycle,
			  (struct store_guard){ admission_key_guard(run->start->key, &cycle->arena),
						change, guard_limit(1, begins, change) });
}

void append_build(struct commit_cycle *cycle, struct active_run *active)
{
	const struct run *run = active->run;
	struct store_append *append = &cycle->ticket.append;
	append->expected_seq = run->seq - (int64_t)cycle->decision.event_count;
	idempotency_claim_fill(cycle->pending, &run->id, cycle->now, &append->request);
	append->run = projection_run_row(run, &cycle->arena);
	append->run.usage = projection_usage(run, append->expected_seq, &cycle->arena);
	append->urgent = cycle->pending->command.kind == COMMAND_CANCEL;
	fill_events(cycle, append, active);
	fill_effects(cycle, append, run);
	fill_blobs(cycle, append, active);
	fill_retention(cycle, append, run);
	fill_admission(cycle, run, active->uncounted);
	ledger_fill_append(cycle, active);
	append->run.budgets =
		projection_budgets(run, cycle->moves, cycle->move_count, &cycle->arena);
	fill_snapshot(cycle, append, active);
}
