/* document/schedules.h -- definitions that are run by themselves, at times of a calendar.
 *
 * A schedule is two documents of one name: `schedule` is what was asked for, `schedule_progress`
 * how far it has come.  What happens next is decided by engine/schedule.h; here it is read, stored
 * and done.  The row of its progress is the schedule's timer: a restart finds it, and one that is
 * paused or far away costs the few bytes that know when to look.
 *
 * On the loop, unless said otherwise.
 */
#ifndef DOCUMENT_SCHEDULES_H
#define DOCUMENT_SCHEDULES_H

#include "document/documents.h"

/* From now on schedules come due; due times up to now are for catch_up to decide.  Once, behind
 * recovery: then the runs that a schedule waits for are under way again. */
void schedules_open(struct documents *documents);

enum schedules_verb { SCHEDULE_SET, SCHEDULE_DELETE, SCHEDULE_PAUSE, SCHEDULE_RESUME };

struct schedules_change {
	enum schedules_verb verb;
	struct str name;
	int64_t revision; /* of `schedule`, as documents_change() takes it */
	struct str body;  /* SET: JSON of run.Schedule */
	struct str by;
	struct idempotency_key key;
};

/* Changes a schedule and its progress in one go.  The reply is about `schedule`.  INVALID with
 * problems when its zone or its definition does not exist. */
void schedules_change(struct documents *documents, const struct schedules_change *change,
		      executor_replied *replied, void *context, uint64_t argument);

/* ---- on a reader's thread --------------------------------------------------------------- */

/* NULL in both when there is no such schedule. */
MUST_CHECK bool schedules_read(struct store_reader *reader, struct str name, struct arena *arena,
			       const struct run_schedule **out_schedule,
			       const struct run_schedule_progress **out_progress,
			       int64_t *out_revision, struct error *error);
/* The next due times behind `now` and behind those that were dealt with, `count` at most
 * (LIMIT_SCHEDULE_TIMES); none while paused. */
MUST_CHECK bool schedules_times(const struct run_schedule *schedule,
				const struct run_schedule_progress *progress, int64_t now,
				size_t count, struct arena *arena,
				const struct run_schedule_times **out_times, struct error *error);

#endif
