/* engine/schedule.h -- the next action of a schedule, as pure functions of the schedule, its progress
 * and the time.
 *
 * A due time goes through three stages; each is recorded before the next begins:
 *
 *	next_at    the due time is in the future
 *	waiting    the due time has passed, the policies grant it a run, and next_at is the one after it
 *	running    its run was started, with an id derived from the schedule and the due time
 *
 * A crash at any point leaves the due time in its last recorded stage.  A run that was started but
 * not recorded is started again with the same id, which has no effect.  So each due time either has
 * one run or counts as skipped, never both.  All due times up to seen_at have been handled: a changed
 * schedule has no due times before seen_at, even if the clock was set back since.
 *
 * The catch_up policy applies to due times up to `opened_at`, the time when this server started; the
 * overlap policy applies to all others.
 *
 * A function that changes the progress returns a new one in the arena, which shares the lists of the
 * old one.
 */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include "base/cron.h"
#include "contract/run_schedule_types.h"

/* The parsed due times of a schedule.  Borrows the zone. */
struct schedule_clock {
	struct cron cron;
	int64_t every_us; /* 0 = by cron */
	const struct zone *zone;
};

MUST_CHECK bool schedule_clock_init(struct schedule_clock *clock,
				    const struct run_schedule *schedule, const struct zone *zone,
				    struct error *error);
/* The first due time later than `after`; 0 = none. */
int64_t schedule_next(const struct schedule_clock *clock, int64_t begun_at, int64_t after);

/* The progress of a new schedule, or of a changed one whose old progress is `before`.  The first due
 * time is after `now`. */
struct run_schedule_progress *schedule_begin(const struct run_schedule *schedule,
					     const struct schedule_clock *clock,
					     const struct run_schedule_progress *before,
					     int64_t now, struct arena *arena);

struct schedule_world {
	int64_t now, opened_at;
	const bool *ended; /* for each of progress->running: whether the run has ended */
};

/* Removes runs that have ended and takes the due times that have passed. */
struct run_schedule_progress *schedule_step(const struct run_schedule *schedule,
					    const struct schedule_clock *clock,
					    const struct run_schedule_progress *before,
					    const struct schedule_world *world,
					    struct arena *arena);

/* The due time whose run can start now; 0 = none. */
int64_t schedule_ready(const struct run_schedule *schedule,
		       const struct run_schedule_progress *progress);
struct uuid schedule_run_id(struct str name, int64_t due_at);

/* Records that a waiting due time has its run, or, with `fault`, why it has none.  Does nothing when
 * the due time is not waiting any more. */
struct run_schedule_progress *schedule_note(const struct run_schedule_progress *before,
					    int64_t due_at, const struct uuid *run,
					    struct str fault, struct arena *arena);

#endif
