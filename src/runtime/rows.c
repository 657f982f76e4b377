/* runtime/rows.c -- a turn as the store takes it: events, values, the run's row, what opens and
 * closes.
 */
#include "runtime/inside.h"

static struct store_effect open_row(const struct event *event, struct arena *arena)
{
	struct store_effect row = { .kind = S("tool") };
	struct run_open_effect *body = run_open_effect_new(arena);
	if (event->type == EVENT_HUMAN_REQUESTED) {
		const struct run_human_requested *asked = event->as.run_human_requested;
		struct run_open_question *question = run_open_question_new(arena);
		SET(question, step, asked->step);
		SET(question, kind, asked->kind);
		SET(question, question, asked->question);
		SET(question, inputs, asked->inputs);
		SET(question, revision, asked->revision);
		SET(question, asked_at, event->at);
		row.id = asked->effect;
		row.kind = S("human");
		row.body = run_open_question_text(question, arena);
		return row;
	}
	if (event->type == EVENT_TIMER_REQUESTED) {
		row.id = event->as.run_timer_requested->effect;
		row.kind = S("timer");
		row.due_at = event->as.run_timer_requested->due_at;
		SET(body, step, event->as.run_timer_requested->step);
	} else {
		row.id = event->as.run_tool_requested->effect;
		SET(body, step, event->as.run_tool_requested->step);
	}
	row.body = run_open_effect_text(body, arena);
	return row;
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

static bool opens(const struct event *event)
{
	return event->type == EVENT_TOOL_REQUESTED || event->type == EVENT_TIMER_REQUESTED ||
	       event->type == EVENT_HUMAN_REQUESTED;
}

/* An effect that is requested and refused in one go (inputs over the limit) never was open. */
static bool closed_again(const struct decision *decision, size_t opening)
{
	struct uuid effect;
	return opening + 1 < decision->event_count &&
	       decision->events[opening].type == EVENT_TOOL_REQUESTED &&
	       closes(&decision->events[opening + 1], &effect) &&
	       uuid_equal(&effect, &decision->events[opening].as.run_tool_requested->effect);
}

static void fill_events(struct turn *turn, struct store_append *append)
{
	const struct decision *decision = &turn->decision;
	size_t count = decision->event_count;
	struct store_event *events = arena_array(&turn->arena, struct store_event, count);
	struct store_effect *opened = arena_array(&turn->arena, struct store_effect, count);
	struct uuid *closed = arena_array(&turn->arena, struct uuid, count);
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &decision->events[i];
		events[i] = (struct store_event){ .type = event_name(event->type),
						  .at = event->at,
						  .body = event_body(event, &turn->arena) };
		if (closes(event, &closed[append->closed_count]))
			append->closed_count++;
	}
	for (size_t i = 0; i < count; i++)
		if (opens(&decision->events[i]) && !closed_again(decision, i))
			opened[append->opened_count++] =
				open_row(&decision->events[i], &turn->arena);
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

static void fill_run_row(struct turn *turn, struct store_run *row, const struct run *run)
{
	struct run_summary *summary = run_summary_new(&turn->arena);
	SET(summary, steps_ended, run_steps_ended(run));
	SET(summary, steps, run->count);
	if (run->fault.code.size > 0)
		SET(summary, error, run->fault.text);
	*row = (struct store_run){ .id = run->id,
				   .name = run->graph->name,
				   .state = run_state_row(run->state)->word,
				   .stepping = run_is_stepping(run) || turn->held_back,
				   .created_at = run->created_at,
				   .updated_at = run->updated_at,
				   .ended_at = run->ended_at,
				   .summary = run_summary_text(summary, &turn->arena) };
}

void turn_rows(struct turn *turn, const struct live *live)
{
	const struct run *run = live->run;
	struct store_append *append = &turn->ticket.append;
	append->expected_seq = run->seq - (int64_t)turn->decision.event_count;
	claim_fill(turn->item, &run->id, turn->now, &append->request);
	fill_run_row(turn, &append->run, run);
	fill_events(turn, append);
	fill_blobs(turn, append, live);
}
