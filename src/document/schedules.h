/* document/schedules.h -- schedules: definitions that are run at times of a calendar.
 *
 * A schedule is two documents with one name: `schedule` is what a person asked for,
 * `schedule_progress` is how far it has come.  engine/schedule.h decides what happens next; this
 * room reads, stores and starts runs.  A restart finds the due times in `schedule_progress`, and a
 * schedule that is paused costs no memory.
 *
 *	struct schedules_change change = { .verb = SCHEDULE_PAUSE, .name = S("nightly"),
 *					   .revision = DOCUMENTS_ANY, .by = who };
 *	schedules_change(documents, &change, changed, context, 0);
 *
 * On the loop thread, except where noted.
 */
#ifndef DOCUMENT_SCHEDULES_H
#define DOCUMENT_SCHEDULES_H

#include "document/documents.h"

struct run_schedule;
struct run_schedule_progress;
struct run_schedule_times;

/* From now on schedules come due.  Call it once, after recovery: then the runs that schedules wait for
 * are active again.  Due times that have passed are subject to catch_up. */
void schedules_open(struct documents *documents);

enum schedules_verb { SCHEDULE_SET, SCHEDULE_DELETE, SCHEDULE_PAUSE, SCHEDULE_RESUME };

struct schedules_change {
	enum schedules_verb verb;
	struct str name;
	int64_t revision; /* that `schedule` must have, as in struct documents_change */
	struct str body;  /* SET: JSON of run.Schedule */
	struct str by;
	struct idempotency_key key;
};

/* Changes a schedule and its progress in one commit.  The reply is about `schedule`.  INVALID with
 * problems: its time zone or its definition does not exist. */
void schedules_change(struct documents *documents, const struct schedules_change *change,
		      executor_replied *replied, void *context, uint64_t argument);

/* ---- on a reader's thread --------------------------------------------------------------- */

/* Both are NULL when there is no such schedule. */
MUST_CHECK bool schedules_read(struct store_reader *reader, struct str name, struct arena *arena,
			       const struct run_schedule **out_schedule,
			       const struct run_schedule_progress **out_progress,
			       int64_t *out_revision, struct error *error);
/* The next due times after `now` and after those that are dealt with, at most `count`
 * (LIMIT_SCHEDULE_TIMES); none while the schedule is paused. */
MUST_CHECK bool schedules_times(const struct run_schedule *schedule,
				const struct run_schedule_progress *progress, int64_t now,
				size_t count, struct arena *arena,
				const struct run_schedule_times **out_times, struct error *error);

#endif
