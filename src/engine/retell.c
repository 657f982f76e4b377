/* engine/retell.c -- the events that a snapshot stands for, made again.
 *
 * A step of a snapshot says which events began and ended it, when, and what they said, so each of
 * them can be told once more in its old place.  What an effect was given went with its event: a
 * value without content, which a story shows as {}.
 */
#include "engine/retell.h"

#include "base/map.h"

struct retelling {
	struct arena *arena;
	struct run_retold *out;
	size_t room;
	int64_t floor;
};

static void add(struct retelling *r, int64_t seq, int64_t at, struct event event)
{
	if (seq <= 0 || seq >= r->floor)
		return;
	require(r->out->count < r->room);
	event.at = at;
	r->out->events[r->out->count] = event;
	r->out->seqs[r->out->count++] = seq;
}

static const struct run_value *given(const struct retelling *r,
				     const struct run_snapshot_step *step)
{
	return has(step, inputs) ? step->inputs : run_value_new(r->arena);
}

static enum run_outcome outcome_of(const struct run_snapshot_step *step)
{
	return has(step, outcome) ? step->outcome : RUN_OUTCOME_OK;
}

/* The engine notes a fault of its own for an effect that failed without one: it has no text. */
static bool has_fault(const struct run_snapshot_step *step)
{
	return has(step, fault) && step->fault->text.size > 0;
}

/* ---- by kind of node ----------------------------------------------------------------- */

static void retell_pure(struct retelling *r, const struct run_snapshot_step *step)
{
	struct run_step_computed *body = run_step_computed_new(r->arena);
	SET(body, step, step->step);
	if (has(step, output))
		SET(body, output, step->output);
	if (has_fault(step))
		SET(body, fault, step->fault);
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_STEP_COMPUTED, .as.run_step_computed = body });
}

static void retell_tool(struct retelling *r, const struct run_snapshot_step *step,
			const struct run_graph_node *node)
{
	struct run_tool_requested *asked = run_tool_requested_new(r->arena);
	SET(asked, step, step->step);
	SET(asked, effect, step->effect);
	SET(asked, tool, node->tool);
	SET(asked, class, node->class);
	SET(asked, inputs, given(r, step));
	add(r, step->started_seq, step->started_at,
	    (struct event){ .type = EVENT_TOOL_REQUESTED, .as.run_tool_requested = asked });
	for (size_t i = 0; has(step, restarts) && i < step->restarts.count; i++) {
		const struct run_snapshot_restart *restart = &step->restarts.at[i];
		struct run_tool_restarted *again = run_tool_restarted_new(r->arena);
		SET(again, step, step->step);
		SET(again, effect, step->effect);
		SET(again, attempt, restart->attempt);
		add(r, restart->seq, restart->at,
		    (struct event){ .type = EVENT_TOOL_RESTARTED, .as.run_tool_restarted = again });
	}
	if (has(step, open) && step->open)
		return;
	struct run_tool_finished *closed = run_tool_finished_new(r->arena);
	SET(closed, step, step->step);
	SET(closed, effect, step->effect);
	SET(closed, outcome, outcome_of(step));
	if (has(step, output))
		SET(closed, output, step->output);
	if (has_fault(step))
		SET(closed, fault, step->fault);
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_TOOL_FINISHED, .as.run_tool_finished = closed });
}

static void retell_wait(struct retelling *r, const struct run_snapshot_step *step)
{
	struct run_timer_requested *begun = run_timer_requested_new(r->arena);
	SET(begun, step, step->step);
	SET(begun, effect, step->effect);
	SET(begun, due_at, step->due_at);
	add(r, step->started_seq, step->started_at,
	    (struct event){ .type = EVENT_TIMER_REQUESTED, .as.run_timer_requested = begun });
	if (has(step, open) && step->open)
		return;
	struct run_timer_finished *over = run_timer_finished_new(r->arena);
	SET(over, step, step->step);
	SET(over, effect, step->effect);
	SET(over, outcome, outcome_of(step));
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_TIMER_FINISHED, .as.run_timer_finished = over });
}

static void retell_human(struct retelling *r, const struct run_snapshot_step *step)
{
	if (!has(step, question))
		return;
	struct run_human_requested *asked = run_human_requested_new(r->arena);
	SET(asked, step, step->step);
	SET(asked, effect, step->effect);
	SET(asked, kind, step->question->kind);
	SET(asked, question, step->question->question);
	SET(asked, inputs, given(r, step));
	SET(asked, revision, step->question->revision);
	add(r, step->started_seq, step->started_at,
	    (struct event){ .type = EVENT_HUMAN_REQUESTED, .as.run_human_requested = asked });
	if (!has(step, answer))
		return;
	struct run_human_finished *answered = run_human_finished_new(r->arena);
	SET(answered, step, step->step);
	SET(answered, effect, step->effect);
	SET(answered, outcome, outcome_of(step));
	SET(answered, decision, step->answer->decision);
	if (has(step->answer, comment))
		SET(answered, comment, step->answer->comment);
	SET(answered, by, step->answer->by);
	add(r, step->ended_seq, step->ended_at,
	    (struct event){ .type = EVENT_HUMAN_FINISHED, .as.run_human_finished = answered });
}

static void retell_step(struct retelling *r, const struct run_snapshot_step *step,
			const struct run_graph_node *node)
{
	switch (node->kind) {
	case RUN_NODE_TOOL:
		if (node->class == RUN_CLASS_PURE)
			retell_pure(r, step);
		else if (has(step, effect))
			retell_tool(r, step, node);
		break;
	case RUN_NODE_WAIT:
		if (has(step, effect))
			retell_wait(r, step);
		break;
	case RUN_NODE_HUMAN:
		retell_human(r, step);
		break;
	}
}

/* ---- in the stream's order ----------------------------------------------------------- */

/* Merges runs of `width` into runs of twice that. */
static void merge(const struct run_retold *from, struct run_retold *to, size_t width)
{
	size_t count = from->count;
	for (size_t low = 0; low < count; low += 2 * width) {
		size_t middle = low + width < count ? low + width : count;
		size_t high = low + 2 * width < count ? low + 2 * width : count;
		size_t left = low, right = middle;
		for (size_t i = low; i < high; i++) {
			bool first = left < middle &&
				     (right == high || from->seqs[left] <= from->seqs[right]);
			size_t taken = first ? left++ : right++;
			to->seqs[i] = from->seqs[taken];
			to->events[i] = from->events[taken];
		}
	}
	to->count = count;
}

static struct run_retold room_for(struct arena *arena, size_t count)
{
	return (struct run_retold){ .events = arena_array(arena, struct event, count),
				    .seqs = arena_array(arena, int64_t, count) };
}

static void sort(struct run_retold *retold, struct arena *arena)
{
	struct run_retold other = room_for(arena, retold->count);
	for (size_t width = 1; width < retold->count; width *= 2) {
		merge(retold, &other, width);
		struct run_retold sorted = other;
		other = *retold;
		*retold = sorted;
	}
}

void run_retell(const struct run_snapshot *snapshot, const struct run_graph *graph, int64_t floor,
		struct arena *arena, struct run_retold *out_retold)
{
	struct retelling r = { .arena = arena, .out = out_retold, .floor = floor };
	AUTO(map) nodes = { 0 };
	for (size_t i = 0; i < graph->nodes.count; i++)
		map_put(&nodes, graph->nodes.at[i].name, (void *)(uintptr_t)(i + 1));
	for (size_t i = 0; i < snapshot->steps.count; i++)
		r.room += 2 + (has(&snapshot->steps.at[i], restarts)
				       ? snapshot->steps.at[i].restarts.count
				       : 0);
	*out_retold = room_for(arena, r.room);
	for (size_t i = 0; i < snapshot->steps.count; i++) {
		const struct run_snapshot_step *step = &snapshot->steps.at[i];
		size_t number = (size_t)(uintptr_t)map_get(&nodes, step->step);
		if (number > 0)
			retell_step(&r, step, &graph->nodes.at[number - 1]);
	}
	sort(out_retold, arena);
}
