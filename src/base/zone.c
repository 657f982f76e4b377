/* base/zone.c -- TZif files and the rule in their footer.
 *
 * A file has two blocks.  The first block holds 32-bit times for old readers and is skipped.  The
 * second block is followed by a rule (a POSIX TZ string with the extensions of the RFC) for all
 * times after the last entry of the table.  Some files have tables up to 2037, others end the table
 * where the rule begins; both forms occur.
 */
#include "base/zone.h"

#include "base/date.h"
#include "base/limits.h"

const struct zone zone_utc = { .has_footer = true };

enum { HEADER_BYTES = 44, DAY = 86400, OFFSET_LEAST = -89999, OFFSET_MOST = 93599 };

/* The rule is evaluated only in the years 1 to 9999. */
static const int64_t RULE_LEAST = INT64_C(-62135596800), RULE_MOST = INT64_C(253402300799);
/* Wider than any time in use, and narrow enough that sums do not overflow. */
static const int64_t TIME_LEAST = -(INT64_C(1) << 59), TIME_MOST = INT64_C(1) << 59;

/* ---- names ----------------------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool zone_name_good(struct str name)
{
	bool part_begins = true;
	if (name.size == 0 || name.size > LIMIT_ZONE_NAME_BYTES)
		return false;
	for (size_t i = 0; i < name.size; i++) {
		char c = name.at[i];
		bool plain = is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '+';
		if (!plain && (c != '/' || part_begins))
			return false;
		part_begins = c == '/';
	}
	return !part_begins;
}

/* ---- the footer's rule ------------------------------------------------------------------ */

static bool take(struct str *rest, char c)
{
	if (rest->size == 0 || rest->at[0] != c)
		return false;
	*rest = str_skip(*rest, 1);
	return true;
}

static bool take_number(struct str *rest, int most, int *out_number)
{
	int number = 0;
	size_t digits = 0;
	for (; digits < rest->size && is_digit(rest->at[digits]) && digits < 4; digits++)
		number = number * 10 + (rest->at[digits] - '0');
	if (digits == 0 || number > most)
		return false;
	*rest = str_skip(*rest, digits);
	*out_number = number;
	return true;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct str *rest, int hours_most, int32_t *out_seconds)
{
	int hours, minutes = 0, seconds = 0;
	bool negative = take(rest, '-');
	if (!negative)
		(void)take(rest, '+');
	if (!take_number(rest, hours_most, &hours))
		return false;
	if (take(rest, ':') && (!take_number(rest, 59, &minutes) ||
				(take(rest, ':') && !take_number(rest, 59, &seconds))))
		return false;
	int32_t sum = hours * 3600 + minutes * 60 + seconds;
	*out_seconds = negative ? -sum : sum;
	return true;
}

/* CET, or <+03>. */
static bool take_abbreviation(struct str *rest)
{
	bool quoted = take(rest, '<');
	size_t size = 0;
	while (size < rest->size && (is_letter(rest->at[size]) ||
				     (quoted && (is_digit(rest->at[size]) ||
						 rest->at[size] == '+' || rest->at[size] == '-'))))
		size++;
	if (size < 3 || size > 16)
		return false;
	*rest = str_skip(*rest, size);
	return !quoted || take(rest, '>');
}

/* ,M3.5.0/2 ,J60 ,59 */
static bool take_change(struct str *rest, struct zone_change *out_change)
{
	struct zone_change change = { .seconds = 2 * 3600 };
	if (!take(rest, ','))
		return false;
	if (take(rest, 'M')) {
		change.kind = ZONE_DAY_MONTH;
		if (!take_number(rest, 12, &change.month) || change.month < 1 || !take(rest, '.') ||
		    !take_number(rest, 5, &change.week) || change.week < 1 || !take(rest, '.') ||
		    !take_number(rest, 6, &change.weekday))
			return false;
	} else if (take(rest, 'J')) {
		change.kind = ZONE_DAY_JULIAN;
		if (!take_number(rest, 365, &change.day) || change.day < 1)
			return false;
	} else {
		change.kind = ZONE_DAY_PLAIN;
		if (!take_number(rest, 365, &change.day))
			return false;
	}
	if (take(rest, '/') && !take_time(rest, 167, &change.seconds))
		return false;
	*out_change = change;
	return true;
}

/* A POSIX TZ offset is added to local time to get UTC, so its sign is the opposite of ours. */
static bool read_rule(struct str text, struct zone *zone)
{
	int32_t west;
	if (text.size == 0)
		return true;
	if (!take_abbreviation(&text) || !take_time(&text, 24, &west))
		return false;
	zone->has_footer = true;
	zone->standard = -west;
	if (text.size == 0)
		return true;
	zone->has_summer = true;
	zone->summer = zone->standard + 3600;
	if (!take_abbreviation(&text))
		return false;
	if (text.size > 0 && text.at[0] != ',') {
		if (!take_time(&text, 24, &west))
			return false;
		zone->summer = -west;
	}
	return take_change(&text, &zone->begins) && take_change(&text, &zone->ends) &&
	       text.size == 0;
}

/* ---- the file ---------------------------------------------------------------------------- */

struct header {
	uint32_t utc_count, standard_count, leap_count, time_count, type_count, char_count;
};

static uint64_t big_endian(const char *at, size_t size)
{
	uint64_t number = 0;
	for (size_t i = 0; i < size; i++)
		number = number << 8 | (unsigned char)at[i];
	return number;
}

static bool take_header(struct str *rest, struct header *out_header)
{
	uint32_t *fields[] = { &out_header->utc_count,  &out_header->standard_count,
			       &out_header->leap_count, &out_header->time_count,
			       &out_header->type_count, &out_header->char_count };
	if (rest->size < HEADER_BYTES || !str_starts(*rest, S("TZif")) || rest->at[4] < '2' ||
	    rest->at[4] > '4')
		return false;
	for (size_t i = 0; i < COUNT(fields); i++)
		*fields[i] = (uint32_t)big_endian(rest->at + 20 + i * 4, 4);
	*rest = str_skip(*rest, HEADER_BYTES);
	return true;
}

static uint64_t block_bytes(const struct header *header, uint64_t time_bytes)
{
	return header->time_count * (time_bytes + 1) + header->type_count * UINT64_C(6) +
	       header->char_count + header->leap_count * (time_bytes + 4) + header->standard_count +
	       header->utc_count;
}

static bool read_offset(const char *type, int32_t *out_offset)
{
	int32_t offset = (int32_t)(uint32_t)big_endian(type, 4);
	if (offset < OFFSET_LEAST || offset > OFFSET_MOST || (unsigned char)type[4] > 1)
		return false;
	*out_offset = offset;
	return true;
}

static bool read_table(const char *at, const struct header *header, struct arena *arena,
		       struct zone *zone)
{
	size_t count = header->time_count;
	const char *indexes = at + count * 8, *types = indexes + count;
	int64_t *times = arena_array(arena, int64_t, count);
	int32_t *offsets = arena_array(arena, int32_t, count);
	for (size_t i = 0; i < header->type_count; i++)
		if (!read_offset(types + i * 6, &zone->first))
			return false;
	for (size_t i = 0; i < count; i++) {
		size_t type = (unsigned char)indexes[i];
		times[i] = (int64_t)big_endian(at + i * 8, 8);
		if (type >= header->type_count || !read_offset(types + type * 6, &offsets[i]) ||
		    times[i] < TIME_LEAST || times[i] > TIME_MOST ||
		    (i > 0 && times[i] <= times[i - 1]))
			return false;
	}
	zone->times = times;
	zone->offsets = offsets;
	zone->count = count;
	return read_offset(types, &zone->first);
}

bool zone_read(struct str bytes, struct arena *arena, struct zone *out_zone, struct error *error)
{
	struct header header;
	struct zone zone = { 0 };
	size_t end;
	if (bytes.size > LIMIT_ZONE_BYTES)
		return fail(error, ERROR_TOO_LARGE,
			    "the TZif file has %zu bytes; at most %d are allowed", bytes.size,
			    LIMIT_ZONE_BYTES);
	if (!take_header(&bytes, &header) || block_bytes(&header, 4) > bytes.size)
		return fail(error, ERROR_INVALID, "not a TZif file of version 2, 3 or 4");
	bytes = str_skip(bytes, (size_t)block_bytes(&header, 4));
	if (!take_header(&bytes, &header) || header.type_count == 0 || header.type_count > 256 ||
	    block_bytes(&header, 8) > bytes.size)
		return fail(error, ERROR_INVALID, "the TZif file's second block is damaged");
	if (header.leap_count > 0)
		return fail(error, ERROR_INVALID,
			    "the TZif file counts leap seconds; use the zone name without right/");
	if (!read_table(bytes.at, &header, arena, &zone))
		return fail(error, ERROR_INVALID, "the TZif file's table is damaged");
	bytes = str_skip(bytes, (size_t)block_bytes(&header, 8));
	if (!take(&bytes, '\n') || !str_find(bytes, S("\n"), &end) || end + 1 != bytes.size ||
	    !read_rule(str_head(bytes, end), &zone))
		return fail(error, ERROR_INVALID, "the TZif file's footer is damaged");
	*out_zone = zone;
	return true;
}

/* ---- looking up -------------------------------------------------------------------------- */

static int64_t change_day(const struct zone_change *change, int64_t year)
{
	int64_t first = date_to_days((struct date){ year, 1, 1 });
	if (change->kind == ZONE_DAY_PLAIN)
		return first + change->day;
	if (change->kind == ZONE_DAY_JULIAN) {
		bool leap = date_to_days((struct date){ year + 1, 1, 1 }) - first == 366;
		return first + change->day - 1 + (leap && change->day >= 60);
	}
	int64_t day = date_to_days((struct date){ year, change->month, 1 });
	int64_t next = change->month == 12
			       ? date_to_days((struct date){ year + 1, 1, 1 })
			       : date_to_days((struct date){ year, change->month + 1, 1 });
	day += (change->weekday - date_weekday(day) + 7) % 7 + (change->week - 1) * 7;
	return day < next ? day : day - 7;
}

/* Examines the six changes of the year, the year before and the year after.  When two changes
 * happen at the same moment, the beginning of summer time wins because it is examined last. */
static struct zone_span rule_span(const struct zone *zone, int64_t seconds)
{
	struct zone_span span = { INT64_MIN, INT64_MAX, zone->standard };
	if (!zone->has_summer || seconds < RULE_LEAST || seconds > RULE_MOST)
		return span;
	int64_t local_day = date_floor_divide(seconds + zone->standard, DAY);
	int64_t year = date_from_days(local_day).year;
	for (int64_t y = year - 1; y <= year + 1; y++) {
		const struct {
			int64_t at;
			int32_t offset;
		} changes[] = {
			{ change_day(&zone->ends, y) * DAY + zone->ends.seconds - zone->summer,
			  zone->standard },
			{ change_day(&zone->begins, y) * DAY + zone->begins.seconds -
				  zone->standard,
			  zone->summer },
		};
		for (size_t i = 0; i < COUNT(changes); i++)
			if (changes[i].at <= seconds && changes[i].at >= span.from) {
				span.from = changes[i].at;
				span.offset = changes[i].offset;
			} else if (changes[i].at > seconds && changes[i].at < span.until) {
				span.until = changes[i].at;
			}
	}
	return span;
}

struct zone_span zone_span(const struct zone *zone, int64_t seconds)
{
	size_t low = 0, high = zone->count; /* times[low - 1] <= seconds < times[high] */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (zone->times[middle] <= seconds)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == zone->count && zone->has_footer) {
		struct zone_span span = rule_span(zone, seconds);
		if (low > 0 && span.from < zone->times[low - 1])
			span.from = zone->times[low - 1];
		return span;
	}
	return (struct zone_span){ low == 0 ? INT64_MIN : zone->times[low - 1],
				   low == zone->count ? INT64_MAX : zone->times[low],
				   low == 0 ? zone->first : zone->offsets[low - 1] };
}
