/* views/pipeline.c -- S0 and S1 differ in their entities, not in what they ask of a stream. */
#include "views/pipeline.h"

#include "base/time.h"

struct pipeline_calls pipeline_calls(const struct story *story)
{
	size_t count = story->source->event_count;
	struct pipeline_calls calls = {
		.begun = arena_array(story->arena, const struct story_step *, count),
		.ended = arena_array(story->arena, const struct story_step *, count)
	};
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &story->source->events[i];
		const struct story_step *step = story_step(story, event);
		if (step == NULL || step->node->kind != RUN_NODE_TOOL)
			continue;
		if (event->type == EVENT_TOOL_REQUESTED || event->type == EVENT_STEP_COMPUTED)
			calls.begun[calls.begun_count++] = step;
		if (story_seq(story, i) == step->ended_seq)
			calls.ended[calls.ended_count++] = step;
	}
	return calls;
}

struct str pipeline_agent_name(const struct story *story, const struct event *event)
{
	const struct story_step *step = story_step(story, event);
	return step == NULL ? S("system") : story_agent(step);
}

const struct run_human_finished *pipeline_last_answer(const struct story *story)
{
	for (size_t i = story->source->event_count; i > 0; i--)
		if (story->source->events[i - 1].type == EVENT_HUMAN_FINISHED)
			return story->source->events[i - 1].as.run_human_finished;
	return NULL;
}

struct str pipeline_time(const struct story *story, int64_t at)
{
	char text[TIME_TEXT_SIZE];
	return str_copy(story->arena, time_text(at, text));
}
