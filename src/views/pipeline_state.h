/* views/pipeline_state.h -- what a run says about the fields of a pipeline's state.
 *
 * A field of the state comes from the first of these that has it:
 *
 *	variables    the newest step, in any body, whose `outputs` set a variable of the field's name
 *	milestones   counters and results of plan validations, reviews and tasks
 *	answers      human_approved and human_feedback
 *	inputs       the run's input of the same name
 *
 * A value that does not fit its field is left out.  Everything is a function of the events, so the
 * state is the same while the run goes on, afterwards, and on another machine.
 */
#ifndef VIEWS_PIPELINE_STATE_H
#define VIEWS_PIPELINE_STATE_H

#include "views/timeline.h"

struct type;

/* The value with what the run says about its fields: a value of the same type.  Fields that the caller has
 * filled out of events are in `own`, by name, and stay. */
const void *pipeline_state_fill(const struct timeline *timeline, const struct type *type,
				const void *value, const struct str *own, size_t own_count);

#endif
