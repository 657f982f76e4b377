/* views/task_parts.h -- what the steps and events of the task view are both made of; private to
 * this room. */
#ifndef VIEWS_TASK_PARTS_H
#define VIEWS_TASK_PARTS_H

#include "contract/task_types.h"
#include "views/view.h"

struct str task_parts_run_id(const struct timeline *timeline);
struct str task_parts_step_id(const struct timeline *timeline, const struct timeline_step *step);
const struct task_tool_call *task_parts_call(const struct timeline *timeline,
					     const struct timeline_step *step,
					     const struct timeline_call *call);
const struct task_tool_result *task_parts_result(const struct timeline *timeline,
						 const struct timeline_call *call);
/* The parts that event number `index` adds, two at most; returns how many. */
size_t task_parts_of(const struct timeline *timeline, size_t index, struct task_part *out);

/* An event of the stream as S3's, called `word` (task_event.c). */
const struct task_execution_event *task_event(const struct timeline *timeline, size_t index,
					      struct str word);

#endif
