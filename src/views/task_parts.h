/* views/task_parts.h -- ids, calls and parts that the steps and the events of the task vocabulary
 * share; private to src/views. */
#ifndef VIEWS_TASK_PARTS_H
#define VIEWS_TASK_PARTS_H

#include "contract/task_types.h"
#include "views/view.h"

struct run_write_artifact_outputs;

struct str task_parts_run_id(const struct timeline *timeline);
struct str task_parts_step_id(const struct timeline *timeline, const struct timeline_step *step);
const struct task_tool_call *task_parts_call(const struct timeline *timeline,
					     const struct timeline_step *step,
					     const struct timeline_call *call);
const struct task_tool_result *task_parts_result(const struct timeline *timeline,
						 const struct timeline_step *step,
						 const struct timeline_call *call);
/* The artifact that a call has written; NULL = none. */
const struct run_write_artifact_outputs *task_parts_artifact(const struct timeline *timeline,
							     const struct timeline_step *step,
							     const struct timeline_call *call);
/* The parts that the event at `index` adds, at most two; returns their number. */
size_t task_parts_of(const struct timeline *timeline, size_t index, struct task_part *out);

/* The artifact that a call has written, as the vocabulary shows it. */
const struct task_artifact *task_parts_written(const struct timeline *timeline,
					       const struct timeline_step *step,
					       const struct run_write_artifact_outputs *written);

const struct task_execution_event *task_event(const struct view_group *group, size_t n);

#endif
