/* views/pipeline.c -- S0 and S1 differ in their entities, not in what they ask of a stream. */
#include "views/pipeline.h"

#include "base/time.h"

struct pipeline_calls pipeline_calls(const struct story *story)
{
	size_t count = story->source->event_count;
	struct pipeline_calls calls = {
		.begun = arena_array(story->arena, struct pipeline_call, count),
		.ended = arena_array(story->arena, struct pipeline_call, count)
	};
	for (size_t i = 0; i < count; i++) {
		const struct story_step *step = story_step(story, &story->source->events[i]);
		const struct story_call *call = story_call(story, i);
		int64_t seq = story_seq(story, i);
		if (step == NULL || step->node->kind != RUN_NODE_TOOL || call->question != NULL)
			continue;
		struct pipeline_call made = { step, call };
		if (seq == call->begun_seq || (call->begun_seq == 0 && seq == call->ended_seq))
			calls.begun[calls.begun_count++] = made;
		if (seq == call->ended_seq)
			calls.ended[calls.ended_count++] = made;
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
	for (size_t i = story->source->event_count; i > 0; i--) {
		const struct event *event = &story->source->events[i - 1];
		const struct story_step *step = story_step(story, event);
		if (event->type == EVENT_HUMAN_FINISHED && step != NULL &&
		    step->node->kind == RUN_NODE_HUMAN)
			return event->as.run_human_finished;
	}
	return NULL;
}

bool pipeline_is_approval(const struct run_human_finished *answer)
{
	return answer->decision == RUN_DECISION_APPROVE || answer->decision == RUN_DECISION_MODIFY;
}

struct str pipeline_time(const struct story *story, int64_t at)
{
	char text[TIME_TEXT_SIZE];
	return str_copy(story->arena, time_text(at, text));
}
