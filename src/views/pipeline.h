/* views/pipeline.h -- what the two pipeline vocabularies have in common. */
#ifndef VIEWS_PIPELINE_H
#define VIEWS_PIPELINE_H

#include "views/story.h"

/* Steps that called a tool, in the order of the stream; a pure step begins where it ends. */
struct pipeline_calls {
	const struct story_step **begun, **ended;
	size_t begun_count, ended_count;
};

struct pipeline_calls pipeline_calls(const struct story *story);
/* "system" for the run itself. */
struct str pipeline_agent_name(const struct story *story, const struct event *event);
/* NULL while nobody has answered anything. */
const struct run_human_finished *pipeline_last_answer(const struct story *story);
struct str pipeline_time(const struct story *story, int64_t at); /* ISO 8601 text */

#endif
