/* runtime/rows.c -- a turn as the store takes it: events, values, the run's row, what opens and
 * closes.
 */
#include "base/limits.h"
#include "runtime/inside.h"

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

static struct str question_row(const struct activation *step, struct arena *arena)
{
	struct run_open_question *question = run_open_question_new(arena);
	SET(question, step, step->path);
	SET(question, kind, step->question.kind);
	SET(question, question, step->question.text);
	SET(question, inputs, value_row(&step->inputs, arena));
	SET(question, revision, step->revision);
	SET(question, asked_at, step->started_at);
	return run_open_question_text(question, arena);
}

/* What is open is made from the state, so that a row that is made again is the same. */
static struct store_effect open_row(const struct run *run, const struct activation *step,
				    struct arena *arena)
{
	struct store_effect row = { .id = step->effect };
	struct run_open_effect *body = run_open_effect_new(arena);
	SET(body, step, step->path);
	switch (run->graph->nodes[step->node].kind) {
	case RUN_NODE_HUMAN:
		row.kind = S("human");
		row.body = question_row(step, arena);
		return row;
	case RUN_NODE_WAIT:
		row.kind = S("timer");
		row.due_at = step->due_at;
		break;
	case RUN_NODE_TOOL:
		row.kind = S("tool");
		break;
	}
	row.body = run_open_effect_text(body, arena);
	return row;
}

struct store_effect *run_open_rows(const struct run *run, struct arena *arena, size_t *out_count)
{
	size_t count = 0;
	for (uint32_t i = 0; i < run->count; i++)
		count += run->activations[i].open;
	struct store_effect *rows = arena_array(arena, struct store_effect, count);
	*out_count = 0;
	for (uint32_t i = 0; i < run->count; i++)
		if (run->activations[i].open)
			rows[(*out_count)++] = open_row(run, &run->activations[i], arena);
	return rows;
}

static bool closes(const struct event *event, struct uuid *out_effect)
{
	if (event->type == EVENT_TOOL_FINISHED)
		*out_effect = event->as.run_tool_finished->effect;
	else if (event->type == EVENT_TIMER_FINISHED)
		*out_effect = event->as.run_timer_finished->effect;
	else if (event->type == EVENT_HUMAN_FINISHED)
		*out_effect = event->as.run_human_finished->effect;
	else
		return false;
	return true;
}

/* The step whose effect this event opens; "" when it opens none. */
static struct str opens(const struct event *event)
{
	if (event->type == EVENT_TOOL_REQUESTED)
		return event->as.run_tool_requested->step;
	if (event->type == EVENT_TIMER_REQUESTED)
		return event->as.run_timer_requested->step;
	if (event->type == EVENT_HUMAN_REQUESTED)
		return event->as.run_human_requested->step;
	return S("");
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

static void fill_events(struct turn *turn, struct store_append *append, struct live *live)
{
	const struct decision *decision = &turn->decision;
	size_t count = decision->event_count;
	struct store_event *events = arena_array(&turn->arena, struct store_event, count);
	struct store_effect *opened = arena_array(&turn->arena, struct store_effect, count);
	struct uuid *closed = arena_array(&turn->arena, struct uuid, count);
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &decision->events[i];
		events[i] = event_row(event, &turn->arena);
		live->weight += events[i].body.size;
		if (closes(event, &closed[append->closed_count]))
			append->closed_count++;
		struct str step = opens(event);
		const struct activation *activation =
			step.size == 0 ? NULL : run_activation(live->run, step);
		/* One that is refused in one go (inputs over the limit) never was open. */
		if (activation != NULL && activation->open)
			opened[append->opened_count++] =
				open_row(live->run, activation, &turn->arena);
	}
	append->events = events;
	append->event_count = count;
	append->opened = opened;
	append->closed = closed;
}

/* A run's first append brings its graph along. */
static void fill_blobs(struct turn *turn, struct store_append *append, const struct live *live)
{
	const struct decision *decision = &turn->decision;
	size_t count = decision->blob_count + 1;
	struct store_blob *blobs = arena_array(&turn->arena, struct store_blob, count);
	for (size_t i = 0; i < decision->blob_count; i++)
		blobs[append->blob_count++] =
			(struct store_blob){ decision->blobs[i].hash, decision->blobs[i].bytes };
	if (append->expected_seq == 0)
		blobs[append->blob_count++] =
			(struct store_blob){ live->graph->graph->hash, live->graph->text };
	append->blobs = blobs;
}

struct store_run run_row(const struct run *run, struct arena *arena)
{
	struct run_summary *summary = run_summary_new(arena);
	SET(summary, steps_ended, run_steps_ended(run));
	SET(summary, steps, run->count);
	if (run->fault.code.size > 0)
		SET(summary, error, run->fault.text);
	if (run->retention_days >= 0)
		SET(summary, retention_days, run->retention_days);
	return (struct store_run){ .id = run->id,
				   .name = run->graph->name,
				   .state = run_state_row(run->state)->word,
				   .stepping = run_is_stepping(run),
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
static void fill_snapshot(struct turn *turn, struct store_append *append, struct live *live)
{
	size_t least = live->runtime->settings.snapshot_bytes;
	size_t due = least > 0 ? least : LIMIT_SNAPSHOT_LEAST_BYTES;
	if (due < live->snapshot_size)
		due = live->snapshot_size;
	if (live->weight < due && append->floor == 0)
		return;
	struct run_names names;
	const struct run_snapshot *snapshot = run_snapshot(live->run, &turn->arena, &names);
	append->snapshot =
		(struct store_snapshot){ .seq = live->run->seq,
					 .body = run_snapshot_text(snapshot, &turn->arena),
					 .names = names.at,
					 .name_count = names.count };
	live->weight = 0;
	live->snapshot_size = append->snapshot.body.size;
	live->runtime->snapshots++;
}

/* A run with a retention of its own is counted from its creation until nothing of it is left to
 * take. */
static void fill_retention(struct turn *turn, struct store_append *append, const struct run *run)
{
	const struct decision *decision = &turn->decision;
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
	if (run->retention_days < 0 || change == 0)
		return;
	struct store_guard *guard = arena_new(&turn->arena, struct store_guard);
	*guard = (struct store_guard){ .name = RETENTION_OWN, .change = change, .limit = -1 };
	append->guards = guard;
	append->guard_count = 1;
}

void turn_rows(struct turn *turn, struct live *live)
{
	const struct run *run = live->run;
	struct store_append *append = &turn->ticket.append;
	append->expected_seq = run->seq - (int64_t)turn->decision.event_count;
	claim_fill(turn->item, &run->id, turn->now, &append->request);
	append->run = run_row(run, &turn->arena);
	/* What was held back is found by recovery like a step that is to be computed. */
	append->run.stepping = append->run.stepping || turn->held_back;
	fill_events(turn, append, live);
	fill_blobs(turn, append, live);
	fill_retention(turn, append, run);
	fill_snapshot(turn, append, live);
}
