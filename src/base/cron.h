/* base/cron.h -- cron expressions: parsing them and computing the next time that matches.
 *
 *	minute hour day month weekday      0-59 0-23 1-31 1-12 0-7 (0 and 7 are Sunday)
 *
 * A field is `*`, a number, a range `a-b`, a stepped range (`*` `/n`, `a-b/n`), or a
 * comma-separated list of these.  Months and weekdays may be written as the first three letters of
 * their English names.  The macros @hourly @daily @midnight @weekly @monthly @yearly @annually
 * stand for whole expressions.  When both day and weekday are restricted (neither field begins
 * with a star), a date matches when either of them matches, as in every cron.
 *
 * Daylight saving time:
 *   - If the hour field matches every hour, the expression follows the wall clock minute by
 *     minute: a local time that occurs twice matches twice, a local time that is skipped never
 *     matches.  So "every fifteen minutes" stays every fifteen minutes.
 *   - Otherwise each matching local time fires exactly once: at its first occurrence when it occurs
 *     twice, and at the moment of the clock change when it is skipped.
 *
 * All functions are pure and bounded.  Times are seconds since 1970 UTC.
 */
#ifndef BASE_CRON_H
#define BASE_CRON_H

#include "base/zone.h"

struct cron {
	uint64_t minutes; /* bit n: minute n */
	uint32_t hours, days, months, weekdays;
	bool either_day; /* a match of day or weekday suffices; else both must match */
};

/* INVALID with line 1 and the column of the mistake; also INVALID when no date can ever match. */
MUST_CHECK bool cron_parse(struct str text, struct cron *out_cron, struct error *error);

/* The first matching time later than `after`.  False when none lies within LIMIT_CRON_YEARS. */
MUST_CHECK bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after,
			  int64_t *out_time);

/* Converts "90s" "5m" "2h" "1d" to microseconds; from 1 second to LIMIT_INTERVAL_DAYS. */
MUST_CHECK bool cron_interval_parse(struct str text, int64_t *out_us, struct error *error);

#endif
