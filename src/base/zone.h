/* base/zone.h -- a time zone's offsets from UTC, read from a TZif file (RFC 9636).
 *
 * libc supports only one time zone per process; here a zone is a value, built from the bytes of a
 * file of the tz database.  zone_read() refuses everything that the format does not allow, so that
 * lookups need no checks.  Files that count leap seconds ("right/...") are refused as well, because
 * Baton's clock does not count them.
 *
 *	if (!zone_read(bytes, &arena, &zone, error))
 *		return false;
 *	struct zone_span span = zone_span(&zone, seconds);
 *	int64_t local = seconds + span.offset;
 *
 * Times are seconds since 1970 UTC.  These functions read neither files nor clocks.  A zone lives
 * in its arena and never changes, so any thread may use it.
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include "base/error.h"

/* A period with a constant offset.  Adjacent spans may have the same offset. */
struct zone_span {
	int64_t from, until; /* from <= t < until; INT64_MIN and INT64_MAX mean unbounded */
	int32_t offset;      /* local time minus UTC */
};

/* A yearly clock change, as the footer of the file describes it. */
enum zone_day_kind { ZONE_DAY_MONTH, ZONE_DAY_JULIAN, ZONE_DAY_PLAIN };

struct zone_change {
	enum zone_day_kind kind;
	int month, week, weekday; /* MONTH: week 5 is the last week */
	int day;                  /* JULIAN: 1 to 365, never February 29; PLAIN: 0 to 365 */
	int32_t seconds;          /* local time, counted from midnight of that day */
};

struct zone {
	const int64_t *times;   /* of offset changes, ascending */
	const int32_t *offsets; /* offsets[i] holds from times[i] on */
	size_t count;
	int32_t first; /* the offset before times[0] */
	/* The footer's rule, which holds after the last of `times`. */
	bool has_footer, has_summer;
	int32_t standard, summer; /* offsets */
	struct zone_change begins, ends;
};

extern const struct zone zone_utc;

/* True when the name is safe to use as a path inside the tz database: slash-separated parts of
 * letters, digits, + - and _, at most LIMIT_ZONE_NAME_BYTES long. */
bool zone_name_good(struct str name);
/* INVALID or TOO_LARGE when the file is not acceptable. */
MUST_CHECK bool zone_read(struct str bytes, struct arena *arena, struct zone *out_zone,
			  struct error *error);
struct zone_span zone_span(const struct zone *zone, int64_t seconds);

#endif
