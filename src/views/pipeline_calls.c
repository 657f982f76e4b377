/* views/pipeline_calls.c -- code that the pipeline and pipeline_v1 views share: their entities
 * differ, the facts they need do not. */
#include "views/pipeline_calls.h"

#include "base/time.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"

struct pipeline_calls pipeline_calls(const struct timeline *timeline)
{
	size_t count = timeline->source->event_count;
	struct pipeline_calls calls = {
		.begun = arena_array(timeline->arena, struct pipeline_call, count),
		.ended = arena_array(timeline->arena, struct pipeline_call, count)
	};
	for (size_t i = 0; i < count; i++) {
		const struct timeline_step *step =
			timeline_step(timeline, &timeline->source->events[i]);
		const struct timeline_call *call = timeline_call(timeline, i);
		int64_t seq = timeline_seq(timeline, i);
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

struct str pipeline_agent_name(const struct timeline *timeline, const struct event *event)
{
	const struct timeline_step *step = timeline_step(timeline, event);
	if (event->type == EVENT_MESSAGE_SENT)
		return event->as.run_message_sent->from;
	return step == NULL ? S("system") : timeline_agent(step);
}

const struct run_human_finished *pipeline_last_answer(const struct timeline *timeline)
{
	for (size_t i = timeline->source->event_count; i > 0; i--) {
		const struct event *event = &timeline->source->events[i - 1];
		const struct timeline_step *step = timeline_step(timeline, event);
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

struct str pipeline_time(const struct timeline *timeline, int64_t at)
{
	char text[TIME_TEXT_SIZE];
	return str_copy(timeline->arena, time_text(at, text));
}

bool pipeline_of_run(const struct timeline *timeline, enum run_pipeline *out_pipeline)
{
	const struct run_graph *graph = timeline->source->graph;
	if (!has(graph, pipeline))
		return false;
	*out_pipeline = graph->pipeline;
	return true;
}
