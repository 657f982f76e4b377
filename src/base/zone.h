/* base/zone.h -- a time zone's offsets from UTC, read from a TZif file (RFC 9636).
 *
 * libc's zones are one global for the whole process; here a zone is a value, made from the bytes
 * of a file of the tz database.  It is read strictly: what the format does not allow is refused,
 * so that a lookup afterwards needs no checks.  Files that count leap seconds ("right/...") are
 * refused as well: Baton's clock does not count them.
 *
 *	if (!zone_read(bytes, &arena, &zone, error))
 *		return false;
 *	struct zone_span span = zone_span(&zone, seconds);
 *	int64_t local = seconds + span.offset;
 *
 * Times are seconds since 1970 UTC.  No file and no clock here.  A zone is read-only once made and
 * lives in its arena.
 */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include "base/error.h"

/* A time during which the offset stays the same; neighbours may have the same offset too. */
struct zone_span {
	int64_t from, until; /* from <= t < until; INT64_MIN and INT64_MAX where there is no end */
	int32_t offset;      /* local time minus UTC */
};

/* One change of a year, as the file's footer has it. */
enum zone_day_kind { ZONE_DAY_MONTH, ZONE_DAY_JULIAN, ZONE_DAY_PLAIN };

struct zone_change {
	enum zone_day_kind kind;
	int month, week, weekday; /* MONTH: week 5 is the last one */
	int day;                  /* JULIAN: 1 to 365, never February 29; PLAIN: 0 to 365 */
	int32_t seconds;          /* of local time, from that day's midnight */
};

struct zone {
	const int64_t *times;   /* growing */
	const int32_t *offsets; /* from each of them on */
	size_t count;
	int32_t first; /* the offset before all of them */
	/* What holds behind the last of them. */
	bool has_footer, has_summer;
	int32_t standard, summer; /* offsets */
	struct zone_change begins, ends;
};

extern const struct zone zone_utc;

/* A name of the tz database that can be a path in its folder: parts of letters, digits, + - and _
 * between slashes, LIMIT_ZONE_NAME_BYTES at most. */
bool zone_name_good(struct str name);
/* INVALID, saying what is wrong with the file. */
MUST_CHECK bool zone_read(struct str bytes, struct arena *arena, struct zone *out_zone,
			  struct error *error);
struct zone_span zone_span(const struct zone *zone, int64_t seconds);

#endif
