/* The timeline of a run that failed, was retried and succeeded: as the engine has it after every event,
 * and every event shown as it was when it was the last. */
#include <criterion/criterion.h>

#include "engine/run.h"
#include "sample_run.h"

static struct run *fold(struct sample *sample, size_t count)
{
	const struct graph *graph;
	struct error error;
	cr_assert(graph_load(sample_graph_text(sample), &sample->arena, &graph, &error), "%s",
		  error.text);
	struct run *run = run_new(&sample->arena, sample->source.run, graph);
	for (size_t i = 0; i < count; i++)
		cr_assert(evolve(run, &sample->events[i], &error), "%s", error.text);
	return run;
}

/* A pure step is seen at its end, and a step of a body with its first event. */
static bool is_unseen(const struct activation *step)
{
	return step->state == STEP_PENDING || step->state == STEP_RUNNING;
}

static void compare(const struct run *run, const struct timeline *timeline, size_t count)
{
	cr_expect(str_equal(timeline_words(timeline)->word, run_state_row(run->state)->word),
		  "after %zu events", count);
	cr_expect_eq(timeline->ended_at, run->ended_at);
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *step = run->paths.at[i];
		if (step == NULL)
			continue;
		const struct timeline_step *told = timeline_find(timeline, step->path);
		if (is_unseen(step) && (told == NULL || told->state == VOCABULARY_STEP_PENDING))
			continue;
		/* A container continues with the first event inside it. */
		if (step->state == STEP_RUNNING && run_is_container(run_node(run, step)->kind) &&
		    told->ended)
			continue;
		cr_assert_not_null(told, STR_FMT, STR_ARG(step->path));
		cr_expect(str_equal(vocabulary_step(told->state)->word,
				    step_state_row(step->state)->word),
			  STR_FMT " after %zu events", STR_ARG(step->path), count);
	}
}

Test(retried, every_step_is_in_the_state_the_engine_has_it_in)
{
	for (size_t count = 1; count <= play_retried.count; count++) {
		struct sample sample;
		sample_init_play(&sample, &play_retried);
		struct view_source source = sample_prefix(&sample, count);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		compare(fold(&sample, count), &timeline, count);
		sample_done(&sample);
	}
}

/* What a stream has sent is what it would send again. */
Test(retried, an_event_is_shown_as_it_was_when_it_was_the_last)
{
	struct sample sample;
	sample_init_play(&sample, &play_retried);
	AUTO(timeline) whole = { 0 };
	timeline_read(&whole, &sample.source, &sample.arena);
	size_t shown = 0;
	for (size_t count = 1; count <= play_retried.count; count++) {
		struct view_source source = sample_prefix(&sample, count);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		for (int v = 0; v < VIEW_COUNT; v++) {
			struct view_document then, now;
			const struct view *view = view_at((enum view_number)v);
			if (!view_event(view, &timeline, count - 1, &then))
				continue;
			cr_assert(view_event(view, &whole, count - 1, &now));
			cr_expect(str_equal(view_text(&then, &sample.arena),
					    view_text(&now, &sample.arena)),
				  "event %zu in view %d: " STR_FMT "; " STR_FMT, count, v,
				  STR_ARG(view_text(&then, &sample.arena)),
				  STR_ARG(view_text(&now, &sample.arena)));
			shown++;
		}
	}
	cr_expect_gt(shown, 60);
	sample_done(&sample);
}
