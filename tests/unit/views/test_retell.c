/* A compacted run tells the story it told before, but for what its effects were given. */
#include <criterion/criterion.h>

#include "engine/retell.h"
#include "engine/snapshot.h"
#include "sample.h"

enum { ROOM = SAMPLE_EVENTS + 1 };

static const struct run_snapshot *snapshot_of(struct sample *sample, size_t count)
{
	const struct graph *graph;
	struct error error;
	struct run_names names;
	cr_assert(graph_load(sample_graph_text(), &sample->arena, &graph, &error), "%s",
		  error.text);
	struct run *run = run_new(&sample->arena, sample->source.run, graph);
	for (size_t i = 0; i < count; i++)
		cr_assert(evolve(run, &sample->events[i], &error), "%s", error.text);
	struct str text =
		run_snapshot_text(run_snapshot(run, &sample->arena, &names), &sample->arena);
	const struct run_snapshot *read;
	cr_assert(run_snapshot_read(text, &sample->arena, &read, &error), "%s", error.text);
	return read;
}

static bool is_closed(const struct run_snapshot *snapshot, struct str step)
{
	for (size_t i = 0; i < snapshot->steps.count; i++)
		if (str_equal(snapshot->steps.at[i].step, step))
			return !has(&snapshot->steps.at[i], open);
	return true;
}

/* The event without what the effect was given. */
static struct event emptied(const struct event *event, struct arena *arena)
{
	struct event copy = *event;
	if (event->type == EVENT_TOOL_REQUESTED) {
		struct run_tool_requested *body = arena_copy(arena, event->as.run_tool_requested,
							     sizeof(struct run_tool_requested));
		body->inputs = run_value_new(arena);
		copy.as.run_tool_requested = body;
	} else if (event->type == EVENT_HUMAN_REQUESTED) {
		struct run_human_requested *body = arena_copy(arena, event->as.run_human_requested,
							      sizeof(struct run_human_requested));
		body->inputs = run_value_new(arena);
		copy.as.run_human_requested = body;
	}
	return copy;
}

static struct str step_of(const struct event *event)
{
	if (event->type == EVENT_TOOL_REQUESTED)
		return event->as.run_tool_requested->step;
	if (event->type == EVENT_HUMAN_REQUESTED)
		return event->as.run_human_requested->step;
	return S("");
}

/* What is left in the store below the floor, what the snapshot tells, and the rest. */
static struct view_source compacted(struct sample *sample, size_t count, int64_t floor)
{
	struct view_source source = sample_prefix(sample, count);
	struct run_retold retold;
	run_retell(snapshot_of(sample, count), source.graph, floor, &sample->arena, &retold);
	struct event *events = arena_array(&sample->arena, struct event, ROOM);
	int64_t *seqs = arena_array(&sample->arena, int64_t, ROOM);
	size_t told = 0;
	source.event_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &sample->events[i];
		int64_t seq = (int64_t)i + 1;
		bool kept = event_persistence(event->type) == EVENT_PERSISTENCE_KEPT;
		if (seq < floor && !kept) {
			cr_assert(told < retold.count, "seq %zu is not told again", i + 1);
			cr_assert_eq(retold.seqs[told], seq);
			events[source.event_count] = retold.events[told++];
		} else {
			events[source.event_count] = *event;
		}
		seqs[source.event_count++] = seq;
	}
	cr_assert_eq(told, retold.count);
	source.events = events;
	source.seqs = seqs;
	return source;
}

static struct view_source without_inputs(struct sample *sample, size_t count, int64_t floor)
{
	struct view_source source = sample_prefix(sample, count);
	const struct run_snapshot *snapshot = snapshot_of(sample, count);
	struct event *events = arena_array(&sample->arena, struct event, ROOM);
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &sample->events[i];
		bool gone = (int64_t)i + 1 < floor && is_closed(snapshot, step_of(event));
		events[i] = gone ? emptied(event, &sample->arena) : *event;
	}
	source.events = events;
	return source;
}

static void compare(struct sample *sample, size_t count, int64_t floor)
{
	struct view_source left = without_inputs(sample, count, floor);
	struct view_source right = compacted(sample, count, floor);
	AUTO(story) whole = { 0 };
	AUTO(story) again = { 0 };
	story_read(&whole, &left, &sample->arena);
	story_read(&again, &right, &sample->arena);
	for (int i = 0; i < VIEW_COUNT; i++) {
		const struct view *view = view_at((enum view_number)i);
		struct str before = view_whole(view, &whole, &sample->arena);
		struct str behind = view_whole(view, &again, &sample->arena);
		cr_assert(str_equal(before, behind),
			  "%zu events, floor %lld\n" STR_FMT "\n---- compacted:\n" STR_FMT, count,
			  (long long)floor, STR_ARG(before), STR_ARG(behind));
	}
}

Test(retell, every_view_is_the_same_at_every_moment_and_every_floor)
{
	size_t compared = 0;
	for (size_t count = 1; count <= SAMPLE_EVENTS; count++)
		for (int64_t floor = 2; floor <= (int64_t)count + 1; floor++) {
			struct sample sample;
			sample_init(&sample);
			compare(&sample, count, floor);
			compared++;
			sample_done(&sample);
		}
	cr_assert_eq(compared, SAMPLE_EVENTS * (SAMPLE_EVENTS + 1) / 2);
}

Test(retell, a_compaction_itself_is_shown_in_no_view)
{
	struct sample sample;
	sample_init(&sample);
	struct event events[ROOM];
	struct run_compacted *body = run_compacted_new(&sample.arena);
	SET(body, floor, 2);
	for (size_t i = 0; i < SAMPLE_EVENTS; i++)
		events[i] = sample.events[i];
	events[SAMPLE_EVENTS] = (struct event){ EVENT_RUN_COMPACTED,
						sample.events[SAMPLE_EVENTS - 1].at + 1000000,
						{ .run_compacted = body } };
	struct view_source longer = sample.source;
	longer.events = events;
	longer.event_count = ROOM;
	AUTO(story) before = { 0 };
	AUTO(story) behind = { 0 };
	story_read(&before, &sample.source, &sample.arena);
	story_read(&behind, &longer, &sample.arena);
	for (int i = 0; i < VIEW_COUNT; i++) {
		const struct view *view = view_at((enum view_number)i);
		cr_assert(str_equal(view_whole(view, &before, &sample.arena),
				    view_whole(view, &behind, &sample.arena)));
	}
	sample_done(&sample);
}

Test(retell, an_event_is_found_by_its_seq)
{
	struct sample sample;
	sample_init(&sample);
	const int64_t seqs[] = { 1, 4, 5, 9 };
	struct view_source source = sample_prefix(&sample, COUNT(seqs));
	source.seqs = seqs;
	AUTO(story) story = { 0 };
	story_read(&story, &source, &sample.arena);
	for (size_t i = 0; i < COUNT(seqs); i++) {
		cr_assert_eq(story_index(&story, seqs[i]), i);
		cr_assert_eq(story_seq(&story, i), seqs[i]);
	}
	const int64_t gone[] = { 0, 2, 3, 6, 10 };
	for (size_t i = 0; i < COUNT(gone); i++)
		cr_assert_eq(story_index(&story, gone[i]), COUNT(seqs));
	sample_done(&sample);
}
