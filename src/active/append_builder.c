/* active/append_builder.c -- a turn as the store takes it: events, values, the run's row, what
 * opens and closes.
 */
#include "base/limits.h"
#include "active/executor_internal.h"

static const struct run_value *value_row(const struct value *value, struct arena *arena)
{
	struct run_value *out = run_value_new(arena);
	if (value->kind == VALUE_STORED) {
		SET(out, sha256, value->hash);
		SET(out, size, value->size);
	} else if (value->kind == VALUE_INLINE) {
		const struct json *json;
		struct error error;
		bool good = json_read(value->text, arena, &json, &error);
		require(good);
		SET(out, json, json);
	}
	return out;
}

static struct str question_row(const struct run *run, const struct activation *step,
			       struct arena *arena)
{
	struct run_open_question *question = run_open_question_new(arena);
	SET(question, step, step->path);
	SET(question, kind, step->question.kind);
	SET(question, question, step->question.text);
	SET(question, inputs, value_row(&step->inputs, arena));
	SET(question, revision, step->question.revision);
	SET(question, asked_at, step->question.at);
	const struct run_graph_node *node = run_node(run, step)->row;
	if (step->question.level > 0 && step->question.level <= (int64_t)node->levels.count)
		SET(question, to, node->levels.at[step->question.level - 1].to);
	if (step->due_at > 0)
		SET(question, due_at, step->due_at);
	if (has(node, four_eyes) && node->four_eyes && !step->settling)
		SET(question, four_eyes, true);
	return run_open_question_text(question, arena);
}

static struct str effect_row(struct str step, int64_t since, struct arena *arena)
{
	struct run_open_effect *body = run_open_effect_new(arena);
	SET(body, step, step);
	if (since > 0)
		SET(body, since, since);
	return run_open_effect_text(body, arena);
}

/* What is open is made from the state, so that a row that is made again is the same.  False when
 * nothing of the step is. */
static bool open_row(const struct run *run, const struct activation *step, struct arena *arena,
		     struct store_effect *out)
{
	*out = (struct store_effect){ .id = step->effect, .due_at = step->due_at };
	if (step->state == STEP_WAITING_HUMAN) {
		out->id = step->question.id;
		out->kind = S("human");
		out->body = question_row(run, step, arena);
		return true;
	}
	if (step->state == STEP_RETRYING)
		out->kind = S("retry");
	else if (step->state == STEP_RUNNING && step->open)
		out->kind = str_from_c(effect_kind_of(run_node(run, step)->kind)->name);
	else
		return false;
	bool waits = run_node(run, step)->kind == RUN_NODE_WAIT;
	out->body = effect_row(step->path, waits ? step->started_at : 0, arena);
	return true;
}

/* The time of the run itself. */
static struct store_effect deadline_row(const struct run *run, struct arena *arena)
{
	return (struct store_effect){ .id = projection_deadline_id(run),
				      .kind = S("deadline"),
				      .due_at = run->due_at,
				      .body = effect_row(S(""), 0, arena) };
}

static bool has_deadline(const struct run *run)
{
	return run->due_at > 0 && !run_ended(run) && !run->cancelling;
}

/* Its place in the queue. */
static struct store_effect place_row(const struct run *run, struct arena *arena)
{
	struct run_open_place *place = run_open_place_new(arena);
	SET(place, step, S(""));
	SET(place, kind, projection_kind(run));
	if (run->key.size > 0)
		SET(place, key, run->key);
	SET(place, priority, run->priority);
	SET(place, queued_at, run->created_at);
	return (struct store_effect){ .id = projection_admission_id(run),
				      .kind = S("queue"),
				      .body = run_open_place_text(place, arena) };
}

struct uuid projection_admission_id(const struct run *run)
{
	return engine_effect_id(run, S(""), S("queue"), 1);
}

struct str projection_kind(const struct run *run)
{
	return has(run->graph->rows, kind) ? run->graph->rows->kind : S("run");
}

struct uuid projection_deadline_id(const struct run *run)
{
	return engine_effect_id(run, S(""), S("deadline"), 1);
}

struct store_effect *projection_open_effects(const struct run *run, struct arena *arena,
					     size_t *out_count)
{
	size_t count = 0;
	struct store_effect *rows =
		arena_array(arena, struct store_effect, (size_t)run->paths.count + 2);
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL)
			count += open_row(run, run->paths.at[i], arena, &rows[count]);
	if (has_deadline(run))
		rows[count++] = deadline_row(run, arena);
	if (run->queued)
		rows[count++] = place_row(run, arena);
	*out_count = count;
	return rows;
}

/* The effect that this event closes, and the step that something new is open of, or due at another
 * time; "" when there is none. */
struct change {
	bool closes;
	struct uuid closed;
	struct str step;
};

/* A further attempt is another effect: what was to come is open under the id of the one before. */
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
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_SIGNALLED:
	case EVENT_RUN_FINISHED:
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

/* What of the run itself is open from this event on, or no longer. */
static void change_run(struct commit_cycle *cycle, struct store_append *append,
		       const struct run *run, enum event_type type, struct store_effect *opened,
		       struct uuid *closed)
{
	struct arena *arena = &cycle->arena;
	bool begins = type == EVENT_RUN_CREATED || type == EVENT_RUN_STARTED;
	bool ends = type == EVENT_RUN_FINISHED || type == EVENT_RUN_CANCELLING;
	if (ends && has(run->graph->rows, timeout_us))
		closed[append->closed_count++] = projection_deadline_id(run);
	if (type == EVENT_RUN_STARTED || type == EVENT_RUN_CANCELLING)
		closed[append->closed_count++] = projection_admission_id(run);
	if (begins && has_deadline(run)) {
		opened[append->opened_count] = deadline_row(run, arena);
		add_opened(cycle, append, opened, S(""));
	}
	if (type == EVENT_RUN_CREATED && run->queued) {
		opened[append->opened_count] = place_row(run, arena);
		add_opened(cycle, append, opened, S(""));
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

/* What one event opened and a later one of the same turn closed never was open. */
static void fill_effects(struct commit_cycle *cycle, struct store_append *append,
			 const struct run *run)
{
	const struct decision *decision = &cycle->decision;
	struct arena *arena = &cycle->arena;
	size_t count = decision->event_count;
	struct store_effect *opened = arena_array(arena, struct store_effect, count + 1);
	struct uuid *closed = arena_array(arena, struct uuid, 2 * count + decision->close_count);
	cycle->opened_steps = arena_array(arena, struct str, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &decision->events[i];
		struct change change = change_of(run, event);
		const struct activation *step =
			change.step.size == 0 ? NULL : run_activation(run, change.step);
		if (change.closes)
			closed[append->closed_count++] = change.closed;
		if (step != NULL && open_row(run, step, arena, &opened[append->opened_count]))
			add_opened(cycle, append, opened, str_copy(arena, step->path));
		change_run(cycle, append, run, event->type, opened, closed);
	}
	for (size_t i = 0; i < decision->close_count; i++)
		closed[append->closed_count++] = decision->closes[i];
	append->closed = closed;
}

/* A run's first append brings its graph along. */
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

struct store_run projection_run_row(const struct run *run, struct arena *arena)
{
	struct run_summary *summary = run_summary_new(arena);
	SET(summary, steps_ended, run_steps_ended(run));
	SET(summary, steps, (int64_t)run->graph->body.count);
	if (run->fault.code.size > 0)
		SET(summary, error, run->fault.text);
	if (run->retention_days >= 0)
		SET(summary, retention_days, run->retention_days);
	return (struct store_run){ .id = run->id,
				   .name = run->graph->name,
				   .state = run_state_row(run->state)->word,
				   .stepping = run->busy > 0 || engine_could_go_on(run),
				   .created_at = run->created_at,
				   .updated_at = run->updated_at,
				   .ended_at = run->ended_at,
				   .seq = run->seq,
				   .floor = run->floor,
				   .summary = run_summary_text(summary, arena) };
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
	append->snapshot =
		(struct store_snapshot){ .seq = active->run->seq,
					 .body = run_snapshot_text(snapshot, &cycle->arena),
					 .names = names.at,
					 .name_count = names.count };
	active->weight = 0;
	active->snapshot_size = append->snapshot.body.size;
	active->executor->snapshots++;
}

static void add_guard(struct commit_cycle *cycle, struct store_guard guard)
{
	struct store_append *append = &cycle->ticket.append;
	require(append->guard_count < COUNT(cycle->guards));
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
		if (event->type != EVENT_RUN_COMPACTED)
			continue;
		append->floor = event->as.run_compacted->floor;
		if (run_ended(run) && append->floor == run->seq)
			change = -1;
	}
	if (run->retention_days >= 0 && change != 0)
		add_guard(cycle, (struct store_guard){ RETENTION_OWN, change, -1 });
}

/* The limit for what a guard shows after this turn: one that begins needs a place, even if it gives
 * it back at once. */
static int64_t guard_limit(int64_t limit, bool begins, int64_t change)
{
	return !begins || limit < 0 ? -1 : limit - 1 + change;
}

/* Who is under way is counted: of each kind that has a queue, and of each key. */
static void fill_turn_taking(struct commit_cycle *cycle, const struct run *run, bool uncounted)
{
	const struct decision *decision = &cycle->decision;
	bool begins = false, ends = false;
	for (size_t i = 0; i < decision->event_count; i++) {
		enum event_type type = decision->events[i].type;
		begins = begins || (type == EVENT_RUN_CREATED && !run->queued) ||
			 type == EVENT_RUN_STARTED;
		ends = ends || (type == EVENT_RUN_FINISHED && run->begun_at > 0);
	}
	int64_t change = (int64_t)begins - (int64_t)ends;
	if (!(begins || ends) || uncounted || !admission_counts(run))
		return;
	struct str kind = projection_kind(run);
	int64_t limit = admission_limit(cycle->executor, kind);
	add_guard(cycle, (struct store_guard){ admission_guard(kind, &cycle->arena), change,
					       guard_limit(limit, begins, change) });
	if (run->key.size > 0)
		add_guard(cycle, (struct store_guard){ admission_key_guard(run->key, &cycle->arena),
						       change, guard_limit(1, begins, change) });
	cycle->admission_delta = change;
}

void append_build(struct commit_cycle *cycle, struct active_run *active)
{
	const struct run *run = active->run;
	struct store_append *append = &cycle->ticket.append;
	append->expected_seq = run->seq - (int64_t)cycle->decision.event_count;
	idempotency_claim_fill(cycle->pending, &run->id, cycle->now, &append->request);
	append->run = projection_run_row(run, &cycle->arena);
	append->urgent = cycle->pending->command.kind == COMMAND_CANCEL;
	fill_events(cycle, append, active);
	fill_effects(cycle, append, run);
	fill_blobs(cycle, append, active);
	fill_retention(cycle, append, run);
	fill_turn_taking(cycle, run, active->uncounted);
	fill_snapshot(cycle, append, active);
}
