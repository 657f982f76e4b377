/* views/run_outline.h -- the outline of a run: its steps without inputs and outputs; one step in full.
 *
 * The outline shows where a run stands: every activation with its state, attempts and times, why it
 * failed, and what it waits for.  Inputs and outputs are left out, so that the outline of a long
 * run is small enough to be polled.
 */
#ifndef VIEWS_RUN_OUTLINE_H
#define VIEWS_RUN_OUTLINE_H

#include "views/timeline.h"

struct run_outline;
struct run_step_details;

/* The result lives in the timeline's arena. */
struct run_outline *run_outline(const struct timeline *timeline);
/* One step with its inputs, its output and its attempts. */
struct run_step_details *run_step_details(const struct timeline *timeline,
					  const struct timeline_step *step);

#endif
