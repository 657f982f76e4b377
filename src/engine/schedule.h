/* engine/schedule.h -- what a schedule does next: pure, from what was asked for, how far
 * it has come, and the time.
 *
 * A due time goes three steps, each of them recorded before the next:
 *
 *	next_at    it comes due
 *	waiting    it was taken: the policies have said that it gets a run, and next_at is the next
 *	running    its run was started, under an id that is derived from schedule and due time
 *
 * Whatever is killed in between finds the due time where it was: a run that was started and not
 * noted is started again under the same id, which does nothing.  So each due time has one run, or
 * is counted among those that were let pass, and never both.  seen_at says up to when they have
 * been dealt with: a change that brings other due times brings none from before it, even when the
 * clock has been set back since.
 *
 * catch_up decides about due times that were not later than `opened_at`, when this server began to
 * look; overlap about every one that is left.
 *
 * Functions that change progress give a new one in the arena; lists of the old one are shared.
 */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include "base/cron.h"
#include "contract/run_schedule_types.h"

/* When it comes due: what the schedule's words mean.  Borrows the zone. */
struct schedule_clock {
	struct cron cron;
	int64_t every_us; /* 0 = by cron */
	const struct zone *zone;
};

MUST_CHECK bool schedule_clock_init(struct schedule_clock *clock,
				    const struct run_schedule *schedule, const struct zone *zone,
				    struct error *error);
/* The first due time behind `after`; 0 = there is none. */
int64_t schedule_next(const struct schedule_clock *clock, int64_t begun_at, int64_t after);

/* A new schedule, or one that was changed (`before`: how far it had come): due from `now` on. */
struct run_schedule_progress *schedule_begin(const struct run_schedule *schedule,
					     const struct schedule_clock *clock,
					     const struct run_schedule_progress *before,
					     int64_t now, struct arena *arena);

struct schedule_world {
	int64_t now, opened_at;
	const bool *ended; /* which of progress->running are over */
};

/* Forgets runs that are over and takes what has come due. */
struct run_schedule_progress *schedule_step(const struct run_schedule *schedule,
					    const struct schedule_clock *clock,
					    const struct run_schedule_progress *before,
					    const struct schedule_world *world,
					    struct arena *arena);

/* The due time whose run is to be started now; 0 = none. */
int64_t schedule_ready(const struct run_schedule *schedule,
		       const struct run_schedule_progress *progress);
struct uuid schedule_run_id(struct str name, int64_t due_at);

/* A due time that waited has its run, or (`fault` says why) will have none.  One that does not wait
 * any more changes nothing. */
struct run_schedule_progress *schedule_note(const struct run_schedule_progress *before,
					    int64_t due_at, const struct uuid *run,
					    struct str fault, struct arena *arena);

#endif
