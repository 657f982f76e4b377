/* views/step_log.h -- the log of a step: what its tool wrote to stdout and stderr, by attempt.
 *
 * An attempt begins with its request, or with its repetition after a crash, and ends with the event
 * that closes it and names its log.  An attempt that a crash interrupted has no log.
 */
#ifndef VIEWS_STEP_LOG_H
#define VIEWS_STEP_LOG_H

#include "views/timeline.h"

struct run_step_log;

/* With `attempt` 0 all attempts, else only that one.  The text of the newest attempts is read, up to
 * LIMIT_STEP_LOG_ANSWER_BYTES.  The result lives in the timeline's arena. */
struct run_step_log *step_log(const struct timeline *timeline, const struct timeline_step *step,
			      int64_t attempt);

#endif
