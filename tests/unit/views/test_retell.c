/* A compacted run has the same timeline as before, except for the inputs of its effects. */
#include <criterion/criterion.h>

#include "contract/run_event_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_value_types.h"
#include "engine/history_synthesis.h"
#include "engine/snapshot.h"
#include "sample_run.h"

enum { ROOM = SAMPLE_MOST + 1 };

static const struct run_snapshot *snapshot_of(struct sample *sample, size_t count)
{
	const struct graph *graph;
	struct error error;
	struct run_names names;
	cr_assert(graph_load(sample_graph_text(sample), &sample->arena, &graph, &error), "%s",
		  error.text);
	struct run *run = run_new(&sample->arena, sample->source.run, graph);
	for (size_t i = 0; i < count; i++)
		cr_assert(evolve(run, &sample->events[i], &error), "%s", error.text);
	cr_assert(str_equal(run_state_row(run->state)->word, sample_prefix(sample, count).state),
		  "after %zu events", count);
	struct str text =
		run_snapshot_text(run_snapshot(run, &sample->arena, &names), &sample->arena);
	const struct run_snapshot *read;
	cr_assert(run_snapshot_read(text, &sample->arena, &read, &error), "%s", error.text);
	return read;
}

static const struct json *json_of(const char *text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	cr_assert(json_read(str_from_c(text), arena, &json, &error), "%s", error.text);
	return json;
}

static bool is_closed(const struct run_snapshot *snapshot, struct str step)
{
	for (size_t i = 0; i < snapshot->steps.count; i++)
		if (str_equal(snapshot->steps.at[i].step, step))
			return !has(&snapshot->steps.at[i], open);
	return true;
}

/* The event without the inputs of its effect. */
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

/* The events that remain below the floor, the synthesized ones, and the rest. */
static struct view_source compacted(struct sample *sample, size_t count, int64_t floor)
{
	struct view_source source = sample_prefix(sample, count);
	struct synthesized_history retold;
	history_synthesize(snapshot_of(sample, count), source.graph, floor, &sample->arena,
			   &retold);
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
	AUTO(timeline) whole = { 0 };
	AUTO(timeline) again = { 0 };
	timeline_read(&whole, &left, &sample->arena);
	timeline_read(&again, &right, &sample->arena);
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

/* The first tool call of the sample, with files that it changed. */
static void change_files(struct sample *sample)
{
	for (size_t i = 0; i < SAMPLE_EVENTS; i++) {
		if (sample->events[i].type != EVENT_TOOL_FINISHED)
			continue;
		struct run_tool_finished *body =
			arena_copy(&sample->arena, sample->events[i].as.run_tool_finished,
				   sizeof(struct run_tool_finished));
		struct run_value *value = run_value_new(&sample->arena);
		SET(value, json,
		    json_of("{\"files\":[{\"path\":\"a\",\"change\":\"created\",\"size\":1,"
			    "\"object\":\"aa\"},{\"path\":\"b\",\"change\":\"deleted\"}],"
			    "\"left_out\":7}",
			    &sample->arena));
		SET(body, files, value);
		SET(body, file_count, 2);
		sample->events[i].as.run_tool_finished = body;
		return;
	}
	cr_assert_fail("the sample calls no tool");
}

Test(retell, the_groups_are_the_same_at_every_moment_and_every_floor)
{
	size_t groups = 0;
	for (size_t count = 1; count <= SAMPLE_EVENTS; count++)
		for (int64_t floor = 2; floor <= (int64_t)count + 1; floor++) {
			struct sample sample;
			struct view_group group;
			AUTO(timeline) again = { 0 };
			sample_init(&sample);
			change_files(&sample);
			compare(&sample, count, floor);
			struct view_source source = compacted(&sample, count, floor);
			timeline_read(&again, &source, &sample.arena);
			for (size_t i = 0; i < count; i++) {
				view_group_make(&group, view_at(VIEW_pipeline), &again, i);
				groups += group.count == 3 && group.left_out == 7;
			}
			sample_done(&sample);
		}
	cr_assert_gt(groups, SAMPLE_EVENTS);
}

/* ---- bodies and rounds ------------------------------------------------------------- */

/* The stream with everything below the floor replaced by what the store and the snapshot have; it
 * may be shorter. */
static struct view_source shortened(struct sample *sample, size_t count, int64_t floor)
{
	struct view_source source = sample_prefix(sample, count);
	struct synthesized_history retold;
	history_synthesize(snapshot_of(sample, count), source.graph, floor, &sample->arena,
			   &retold);
	struct event *events = arena_array(&sample->arena, struct event, 2 * ROOM);
	int64_t *seqs = arena_array(&sample->arena, int64_t, 2 * ROOM);
	size_t told = 0;
	source.event_count = 0;
	for (int64_t seq = 1; seq <= (int64_t)count; seq++) {
		const struct event *event = &sample->events[seq - 1];
		bool kept = event_persistence(event->type) == EVENT_PERSISTENCE_KEPT;
		for (; told < retold.count && retold.seqs[told] <= seq; told++) {
			cr_assert_eq(retold.events[told].type,
				     sample->events[retold.seqs[told] - 1].type,
				     "seq %lld is told as another event",
				     (long long)retold.seqs[told]);
			events[source.event_count] = retold.events[told];
			seqs[source.event_count++] = retold.seqs[told];
		}
		if (seq < floor && !kept)
			continue;
		events[source.event_count] = *event;
		seqs[source.event_count++] = seq;
	}
	cr_assert_eq(told, retold.count);
	source.events = events;
	source.seqs = seqs;
	return source;
}

static struct str text_of(const struct json *json, struct arena *arena)
{
	return json == NULL ? S("") : json_print(arena, json);
}

/* Compares the attempts of a step whose outcome no person settled: start and end of each. */
static void expect_same_attempts(const struct timeline *again, const struct timeline *whole,
				 const struct timeline_step *step,
				 const struct timeline_step *before)
{
	cr_assert_eq(step->call_count, before->call_count, STR_FMT, STR_ARG(step->path));
	const struct timeline_call **told = timeline_calls(again, step);
	const struct timeline_call **were = timeline_calls(whole, before);
	for (size_t i = 0; i < step->call_count; i++) {
		cr_expect_eq(told[i]->begun_seq, were[i]->begun_seq);
		cr_expect_eq(told[i]->begun_at, were[i]->begun_at);
		cr_expect_eq(told[i]->ended_seq, were[i]->ended_seq);
		cr_expect_eq(told[i]->ended_at, were[i]->ended_at);
		cr_expect_eq(told[i]->attempt, were[i]->attempt);
		cr_expect_eq(told[i]->retry_at, were[i]->retry_at);
		cr_expect_eq(told[i]->due_at, were[i]->due_at, STR_FMT, STR_ARG(step->path));
		cr_expect_eq(told[i]->state, were[i]->state);
		cr_expect(str_equal(told[i]->fault, were[i]->fault));
		cr_expect(str_equal(text_of(told[i]->output, again->arena),
				    text_of(were[i]->output, whole->arena)));
		cr_expect(uuid_equal(&told[i]->effect, &were[i]->effect));
	}
}

static void expect_same_question(const struct timeline_step *step,
				 const struct timeline_step *before)
{
	cr_assert_eq(step->question == NULL, before->question == NULL);
	cr_assert_eq(step->escalation == NULL, before->escalation == NULL, STR_FMT,
		     STR_ARG(step->path));
	if (step->question != NULL) {
		cr_expect_eq(has(step->question, due_at), has(before->question, due_at));
		cr_expect_eq(step->question->due_at, before->question->due_at);
		cr_expect_eq(has(step->question, four_eyes), has(before->question, four_eyes));
	}
	if (step->escalation != NULL) {
		cr_expect_eq(step->escalation->level, before->escalation->level);
		cr_expect(str_equal(step->escalation->to, before->escalation->to));
		cr_expect_eq(has(step->escalation, due_at), has(before->escalation, due_at));
		cr_expect_eq(step->escalation->due_at, before->escalation->due_at);
	}
}

/* The facts of a step are the same as before, except for inputs.  `beheaded`: the floor is
 * inside the step and its body is finished or it was run again, so only its end is left. */
static void expect_same_step(const struct timeline_step *step, const struct timeline_step *before,
			     bool beheaded, struct arena *arena)
{
	struct str path = step->path;
	cr_expect_eq(step->state, before->state, STR_FMT, STR_ARG(path));
	cr_expect_eq(step->started, before->started, STR_FMT, STR_ARG(path));
	cr_expect_eq(step->ended, before->ended, STR_FMT, STR_ARG(path));
	cr_expect_eq(step->ended_seq, before->ended_seq, STR_FMT, STR_ARG(path));
	cr_expect(str_equal(step->fault, before->fault), STR_FMT, STR_ARG(path));
	cr_expect_eq(step->limit_reached, before->limit_reached, STR_FMT, STR_ARG(path));
	if (step->ended_seq > 0)
		cr_expect_eq(step->ended_at, before->ended_at, STR_FMT, STR_ARG(path));
	if (step->ended)
		cr_expect(str_equal(text_of(step->output, arena), text_of(before->output, arena)),
			  STR_FMT, STR_ARG(path));
	if (beheaded)
		return;
	cr_expect_eq(step->started_at, before->started_at, STR_FMT, STR_ARG(path));
	cr_expect_eq(step->begun_seq, before->begun_seq, STR_FMT, STR_ARG(path));
	cr_expect(uuid_equal(&step->effect, &before->effect), STR_FMT, STR_ARG(path));
	cr_expect_eq(step->attempts, before->attempts, STR_FMT, STR_ARG(path));
	expect_same_question(step, before);
}

/* True for the last activation of its node in its body. */
static bool is_last(const struct timeline *whole, const struct timeline_step *step)
{
	for (size_t i = 0; i < whole->count; i++)
		if (whole->steps[i]->scope == step->scope && whole->steps[i]->slot == step->slot &&
		    whole->steps[i]->ordinal > step->ordinal)
			return false;
	return true;
}

static void expect_same_steps(const struct timeline *whole, const struct timeline *again,
			      int64_t floor)
{
	for (size_t i = 0; i < again->count; i++) {
		const struct timeline_step *step = again->steps[i];
		const struct timeline_step *before = timeline_find(whole, step->path);
		cr_assert_not_null(before, STR_FMT, STR_ARG(step->path));
		bool over = before->parent != NULL && before->parent->ended;
		bool beheaded = before->begun_seq < floor && (over || !is_last(whole, before));
		expect_same_step(step, before, beheaded, again->arena);
		bool unsettled = before->call != NULL && before->call->ended_at != 0 &&
				 !before->ended && before->state != VOCABULARY_STEP_RETRYING;
		if (!beheaded && !unsettled && !uuid_is_zero(&before->effect) &&
		    before->question == NULL)
			expect_same_attempts(again, whole, step, before);
	}
}

/* The last activation of every root node is present; finished bodies are not. */
static void expect_told(const struct timeline *whole, const struct timeline *again, bool all_gone)
{
	for (size_t i = 0; i < whole->count; i++) {
		const struct timeline_step *step = whole->steps[i];
		if (step->parent == NULL && is_last(whole, step))
			cr_expect_not_null(timeline_find(again, step->path), STR_FMT,
					   STR_ARG(step->path));
		if (all_gone && step->parent != NULL && step->parent->ended &&
		    step->parent->ended_seq > 0)
			cr_expect_null(timeline_find(again, step->path), STR_FMT,
				       STR_ARG(step->path));
	}
}

static size_t compare_at_every_floor(const struct play *play)
{
	size_t compared = 0;
	for (size_t count = 1; count <= play->count; count++)
		for (int64_t floor = 2; floor <= (int64_t)count + 1; floor++) {
			struct sample sample;
			sample_init_play(&sample, play);
			struct view_source left = sample_prefix(&sample, count);
			struct view_source right = shortened(&sample, count, floor);
			AUTO(timeline) whole = { 0 };
			AUTO(timeline) again = { 0 };
			timeline_read(&whole, &left, &sample.arena);
			timeline_read(&again, &right, &sample.arena);
			cr_expect_eq(again.state, whole.state);
			expect_same_steps(&whole, &again, floor);
			expect_told(&whole, &again, floor == (int64_t)count + 1);
			compared += again.count;
			sample_done(&sample);
		}
	return compared;
}

Test(retell, a_step_with_a_body_keeps_its_beginning_and_its_end)
{
	cr_expect_gt(compare_at_every_floor(&play_long), 10000);
}

Test(retell, a_try_keeps_its_beginning_and_its_end)
{
	cr_expect_gt(compare_at_every_floor(&play_unwind), 500);
}

Test(retell, a_step_that_reached_its_limit_keeps_that)
{
	struct sample sample;
	sample_init_play(&sample, &play_rounds);
	struct view_source source =
		shortened(&sample, play_rounds.count, (int64_t)play_rounds.count);
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	static const char *const names[] = { "say", "fetch", "pause", "ask", "again" };
	for (size_t i = 0; i < COUNT(names); i++)
		cr_expect(timeline_find(&timeline, str_from_c(names[i]))->limit_reached, "%s",
			  names[i]);
	sample_done(&sample);
	cr_expect_gt(compare_at_every_floor(&play_rounds), 100);
}

Test(retell, a_compaction_itself_is_shown_in_no_view)
{
	struct sample sample;
	sample_init(&sample);
	struct event events[SAMPLE_EVENTS + 1];
	struct run_compacted *body = run_compacted_new(&sample.arena);
	SET(body, floor, 2);
	for (size_t i = 0; i < SAMPLE_EVENTS; i++)
		events[i] = sample.events[i];
	events[SAMPLE_EVENTS] = (struct event){ EVENT_RUN_COMPACTED,
						sample.events[SAMPLE_EVENTS - 1].at + 1000000,
						{ .run_compacted = body } };
	struct view_source longer = sample.source;
	longer.events = events;
	longer.event_count = SAMPLE_EVENTS + 1;
	AUTO(timeline) before = { 0 };
	AUTO(timeline) behind = { 0 };
	timeline_read(&before, &sample.source, &sample.arena);
	timeline_read(&behind, &longer, &sample.arena);
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
	AUTO(timeline) timeline = { 0 };
	timeline_read(&timeline, &source, &sample.arena);
	for (size_t i = 0; i < COUNT(seqs); i++) {
		cr_assert_eq(timeline_index(&timeline, seqs[i]), i);
		cr_assert_eq(timeline_seq(&timeline, i), seqs[i]);
	}
	const int64_t gone[] = { 0, 2, 3, 6, 10 };
	for (size_t i = 0; i < COUNT(gone); i++)
		cr_assert_eq(timeline_index(&timeline, gone[i]), COUNT(seqs));
	sample_done(&sample);
}
