/* views/pipeline_calls.h -- what the two pipeline vocabularies have in common. */
#ifndef VIEWS_PIPELINE_H
#define VIEWS_PIPELINE_H

#include "views/timeline.h"

/* Calls of tools, every attempt, in the order of the stream; one of a pure step begins where it
 * ends, unless it had a condition. */
struct pipeline_call {
	const struct timeline_step *step;
	const struct timeline_call *call;
};

struct pipeline_calls {
	struct pipeline_call *begun, *ended;
	size_t begun_count, ended_count;
};

struct pipeline_calls pipeline_calls(const struct timeline *timeline);
/* "system" for the run itself. */
struct str pipeline_agent_name(const struct timeline *timeline, const struct event *event);
/* The latest answer to a question of the definition; NULL while there is none. */
const struct run_human_finished *pipeline_last_answer(const struct timeline *timeline);
bool pipeline_is_approval(const struct run_human_finished *answer);
struct str pipeline_time(const struct timeline *timeline, int64_t at); /* ISO 8601 text */

#endif
