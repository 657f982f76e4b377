/* base/cron.h -- cron expressions: when the clock on the wall shows one of them next.
 *
 *	minute hour day month weekday      0-59 0-23 1-31 1-12 0-7 (0 and 7 are Sunday)
 *
 * A field is `*`, a number, a range `a-b`, either of the latter two kinds with a step (`*` `/n`,
 * `a-b/n`), or a list of these with commas.  Months and weekdays may be named by the first three
 * letters of their English names.  Beside it: @hourly @daily @midnight @weekly @monthly @yearly
 * @annually.  Where both day and weekday are given (neither begins with a star) a date needs to be
 * only one of the two, as cron has always had it.
 *
 * When clocks are changed:
 *   - Where the hours are all given, every minute that the clock shows counts: one that comes twice
 *     twice, one that is left out not at all.  `every fifteen minutes` stays that.
 *   - Otherwise each time of the calendar comes exactly once: one that the clock shows twice the
 *     first time, one that it leaves out at the moment it jumps.
 *
 * Everything here is bounded and pure.  Times are seconds since 1970 UTC.
 */
#ifndef BASE_CRON_H
#define BASE_CRON_H

#include "base/zone.h"

struct cron {
	uint64_t minutes; /* bit n: minute n */
	uint32_t hours, days, months, weekdays;
	bool either_day; /* day or weekday is enough */
};

/* INVALID with line 1 and the column; an expression that no date ever fits is one too. */
MUST_CHECK bool cron_parse(struct str text, struct cron *out_cron, struct error *error);

/* The first time behind `after`.  False when there is none within LIMIT_CRON_YEARS. */
MUST_CHECK bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after,
			  int64_t *out_time);

/* "90s" "5m" "2h" "1d": microseconds, from a second to LIMIT_INTERVAL_DAYS. */
MUST_CHECK bool interval_parse(struct str text, int64_t *out_us, struct error *error);

#endif
