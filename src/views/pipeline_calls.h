/* views/pipeline_calls.h -- code that the pipeline and pipeline_v1 views share. */
#ifndef VIEWS_PIPELINE_CALLS_H
#define VIEWS_PIPELINE_CALLS_H

#include "contract/run_graph_enum_types.h"
#include "views/timeline.h"

/* A tool call.  The lists below have every attempt in stream order.  The call of a pure step starts
 * at its end, unless the step had a condition. */
struct pipeline_call {
	const struct timeline_step *step;
	const struct timeline_call *call;
};

struct pipeline_calls {
	struct pipeline_call *begun, *ended;
	size_t begun_count, ended_count;
};

struct pipeline_calls pipeline_calls(const struct timeline *timeline);
/* The agent of the event's step; "system" for the run itself. */
struct str pipeline_agent_name(const struct timeline *timeline, const struct event *event);
/* The latest answer to a question of the definition; NULL = none yet. */
const struct run_human_finished *pipeline_last_answer(const struct timeline *timeline);
bool pipeline_is_approval(const struct run_human_finished *answer);
struct str pipeline_time(const struct timeline *timeline, int64_t at); /* ISO 8601 text */

/* The pipeline that the run is; false = none. */
bool pipeline_of_run(const struct timeline *timeline, enum run_pipeline *out_pipeline);

#endif
