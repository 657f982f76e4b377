/* document/schedule_read.h -- what is stored of a schedule, and what that means now.
 *
 * On a reader thread; results live in the arena.
 */
#ifndef DOCUMENT_SCHEDULE_READ_H
#define DOCUMENT_SCHEDULE_READ_H

#include "engine/schedule.h"
#include "document/schedules.h"

/* A zone of this machine's tz database; UTC needs none.  INVALID when there is no such zone. */
MUST_CHECK bool schedule_zone(struct str name, struct arena *arena, struct zone *out_zone,
			      struct error *error);

/* The progress as of `now`: ended runs are removed, due times that have come are added. */
MUST_CHECK bool schedule_progress_now(struct store_reader *reader,
				      const struct run_schedule *schedule,
				      const struct run_schedule_progress *before, int64_t now,
				      int64_t opened_at, struct arena *arena,
				      const struct run_schedule_progress **out_progress,
				      struct error *error);

#endif
