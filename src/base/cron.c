/* base/cron.c -- fields as bit sets, and a search that walks days instead of minutes.
 *
 * cron_next() visits the spans of the time zone one after the other.  The UTC offset is constant
 * within a span, so the search for the next matching local minute is plain arithmetic there.
 * Skipped and repeated local times exist only at the boundary between two spans and are handled
 * there.
 */
#include "base/cron.h"

#include "base/date.h"
#include "base/limits.h"

enum { DAY = 86400 };

/* ---- parsing ----------------------------------------------------------------------------- */

struct field_row {
	const char *name;
	int least, most;
	const char *names; /* three letters each */
	int first_name;    /* value of the first name */
};

static const struct field_row field_rows[] = {
	{ "minute", 0, 59, "", 0 },
	{ "hour", 0, 23, "", 0 },
	{ "day", 1, 31, "", 0 },
	{ "month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec", 1 },
	{ "weekday", 0, 7, "sunmontuewedthufrisat", 0 },
};

static const struct macro {
	struct str name, text;
} macros[] = {
	{ { "@hourly", 7 }, { "0 * * * *", 9 } },   { { "@daily", 6 }, { "0 0 * * *", 9 } },
	{ { "@midnight", 9 }, { "0 0 * * *", 9 } }, { { "@weekly", 7 }, { "0 0 * * 0", 9 } },
	{ { "@monthly", 8 }, { "0 0 1 * *", 9 } },  { { "@yearly", 7 }, { "0 0 1 1 *", 9 } },
	{ { "@annually", 9 }, { "0 0 1 1 *", 9 } },
};

struct parser {
	struct str text;
	size_t at;
	struct error *error;
};

static bool field_fail(struct parser *parser, size_t at, const char *problem,
		       const struct field_row *row)
{
	fail(parser->error, ERROR_INVALID, "column %zu: %s field (%d-%d): %s", at + 1, row->name,
	     row->least, row->most, problem);
	parser->error->line = 1;
	parser->error->column = (uint32_t)at + 1;
	return false;
}

static char peek(const struct parser *parser)
{
	return parser->at < parser->text.size ? parser->text.at[parser->at] : '\0';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool take_name(struct parser *parser, const struct field_row *row, int *out_value)
{
	size_t begin = parser->at, size = 0;
	struct str names = str_from_c(row->names);
	while (parser->at < parser->text.size && is_letter(peek(parser)))
		parser->at++;
	size = parser->at - begin;
	struct str name = str_head(str_skip(parser->text, begin), size);
	for (size_t i = 0; i + 3 <= names.size && size == 3; i += 3)
		if (str_equal_folded(name, str_head(str_skip(names, i), 3))) {
			*out_value = row->first_name + (int)(i / 3);
			return true;
		}
	return field_fail(parser, begin,
			  names.size > 0
				  ? "unknown name; write the first three letters of the English "
				    "name, such as jan or mon"
				  : "names are allowed only for months and weekdays",
			  row);
}

static bool take_value(struct parser *parser, const struct field_row *row, int *out_value)
{
	size_t begin = parser->at;
	int value = 0;
	if (is_letter(peek(parser)))
		return take_name(parser, row, out_value);
	while (peek(parser) >= '0' && peek(parser) <= '9' && parser->at - begin < 4)
		value = value * 10 + (parser->text.at[parser->at++] - '0');
	if (parser->at == begin)
		return field_fail(parser, begin, "expected a number, a name or *", row);
	if (value < row->least || value > row->most)
		return field_fail(parser, begin, "the number is out of range", row);
	*out_value = value;
	return true;
}

static bool take_step(struct parser *parser, const struct field_row *row, bool ranges,
		      int *out_step)
{
	size_t begin = parser->at;
	int step = 0;
	if (peek(parser) != '/')
		return true;
	if (!ranges)
		return field_fail(parser, begin,
				  "a step needs a range before it, such as 5-59/10 or */10", row);
	parser->at++;
	while (peek(parser) >= '0' && peek(parser) <= '9' && parser->at - begin < 5)
		step = step * 10 + (parser->text.at[parser->at++] - '0');
	if (step < 1 || step > row->most)
		return field_fail(parser, begin + 1,
				  "a step must be between 1 and the field's largest value", row);
	*out_step = step;
	return true;
}

/* One element of a comma-separated list. */
static bool take_part(struct parser *parser, const struct field_row *row, uint64_t *bits)
{
	size_t begin = parser->at;
	int low = row->least, high = row->most, step = 1;
	bool ranges = true;
	if (peek(parser) == '*') {
		parser->at++;
	} else {
		if (!take_value(parser, row, &low))
			return false;
		high = low;
		ranges = peek(parser) == '-';
		if (ranges) {
			parser->at++;
			if (!take_value(parser, row, &high))
				return false;
		}
	}
	if (high < low)
		return field_fail(
			parser, begin,
			"a range must go from the smaller to the larger value; write two ranges, "
			"such as fri-sat,sun-mon",
			row);
	if (!take_step(parser, row, ranges, &step))
		return false;
	for (int value = low; value <= high; value += step)
		*bits |= UINT64_C(1) << value;
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool take_field(struct parser *parser, const struct field_row *row, uint64_t *out_bits,
		       bool *out_star)
{
	uint64_t bits = 0;
	while (is_blank(peek(parser)))
		parser->at++;
	*out_star = peek(parser) == '*';
	if (parser->at == parser->text.size)
		return field_fail(
			parser, parser->at,
			"the field is missing; an expression has five fields: minute hour day "
			"month weekday",
			row);
	for (;;) {
		if (!take_part(parser, row, &bits))
			return false;
		if (peek(parser) != ',')
			break;
		parser->at++;
	}
	if (parser->at < parser->text.size && !is_blank(peek(parser)))
		return field_fail(parser, parser->at, "only a comma, - or / may follow a value",
				  row);
	*out_bits = bits;
	return true;
}

static bool expand(struct str *text, struct error *error)
{
	if (!str_starts(*text, S("@")))
		return true;
	for (size_t i = 0; i < COUNT(macros); i++)
		if (str_equal(macros[i].name, *text)) {
			*text = macros[i].text;
			return true;
		}
	fail(error, ERROR_INVALID,
	     "column 1: unknown macro; expected one of @hourly, @daily, @midnight, @weekly, "
	     "@monthly, @yearly, @annually");
	error->line = error->column = 1;
	return false;
}

bool cron_parse(struct str text, struct cron *out_cron, struct error *error)
{
	uint64_t bits[COUNT(field_rows)];
	bool stars[COUNT(field_rows)];
	if (text.size > LIMIT_CRON_BYTES)
		return fail(error, ERROR_INVALID,
			    "the cron expression has %zu bytes; at most %d are allowed", text.size,
			    LIMIT_CRON_BYTES);
	if (!expand(&text, error))
		return false;
	struct parser parser = { .text = text, .error = error };
	for (size_t i = 0; i < COUNT(field_rows); i++)
		if (!take_field(&parser, &field_rows[i], &bits[i], &stars[i]))
			return false;
	while (is_blank(peek(&parser)))
		parser.at++;
	if (parser.at < text.size)
		return field_fail(&parser, parser.at,
				  "text follows the last field; an expression has five fields",
				  &field_rows[4]);
	struct cron cron = { .minutes = bits[0],
			     .hours = (uint32_t)bits[1],
			     .days = (uint32_t)bits[2],
			     .months = (uint32_t)bits[3],
			     .weekdays = (uint32_t)((bits[4] | bits[4] >> 7) & 0x7F),
			     .either_day = !stars[2] && !stars[4] };
	int64_t first_match;
	if (!cron_next(&cron, &zone_utc, 0, &first_match)) {
		fail(error, ERROR_INVALID, "column 1: no date ever matches this expression");
		error->line = error->column = 1;
		return false;
	}
	*out_cron = cron;
	return true;
}

/* ---- searching --------------------------------------------------------------------------- */

static bool day_matches(const struct cron *cron, int64_t day, const struct date *date)
{
	bool by_day = cron->days >> date->day & 1;
	bool by_weekday = cron->weekdays >> date_weekday(day) & 1;
	return cron->either_day ? by_day || by_weekday : by_day && by_weekday;
}

/* The first matching minute of a day that is not before `minute`; -1 = none. */
static int minute_of_day(const struct cron *cron, int minute)
{
	for (int hour = minute / 60; hour < 24; hour++, minute = hour * 60) {
		if (!(cron->hours >> hour & 1))
			continue;
		uint64_t left = cron->minutes >> (minute % 60) << (minute % 60);
		if (left != 0)
			return hour * 60 + __builtin_ctzll(left);
	}
	return -1;
}

/* The first matching local time with from <= time < until. */
static bool next_local(const struct cron *cron, int64_t from, int64_t until, int64_t *out_local)
{
	int64_t minute = -date_floor_divide(-from, 60);
	int64_t day = date_floor_divide(minute, 1440);
	int first = (int)(minute - day * 1440);
	for (; day * DAY < until; day++, first = 0) {
		struct date date = date_from_days(day);
		if (!(cron->months >> date.month & 1)) {
			bool last = date.month == 12;
			day = date_to_days((struct date){ date.year + last,
							  last ? 1 : date.month + 1, 1 }) -
			      1;
			continue;
		}
		if (!day_matches(cron, day, &date))
			continue;
		int found = minute_of_day(cron, first);
		if (found < 0)
			continue;
		int64_t local = day * DAY + found * 60;
		if (local >= until)
			return false;
		*out_local = local;
		return true;
	}
	return false;
}

bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after, int64_t *out_time)
{
	int64_t horizon = after + LIMIT_CRON_YEARS * INT64_C(366) * DAY;
	bool all_hours = cron->hours == 0xFFFFFF;
	for (int64_t time = after + 1; time < horizon;) {
		struct zone_span span = zone_span(zone, time);
		int64_t until = span.until < horizon ? span.until : horizon, local;
		int64_t from = time + span.offset;
		if (!all_hours && span.from > INT64_MIN) {
			int64_t before = span.from + zone_span(zone, span.from - 1).offset;
			/* The clock skipped a matching time: fire at the moment of the change. */
			if (span.from > after &&
			    next_local(cron, before, span.from + span.offset, &local)) {
				*out_time = span.from;
				return true;
			}
			/* The clock repeats times that already fired: continue after them. */
			if (from < before)
				from = before;
		}
		if (next_local(cron, from, until + span.offset, &local)) {
			*out_time = local - span.offset;
			return true;
		}
		time = until;
	}
	return false;
}

/* ---- intervals --------------------------------------------------------------------------- */

bool cron_interval_parse(struct str text, int64_t *out_us, struct error *error)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY } };
	int64_t number = 0, seconds = 0;
	size_t digits = 0;
	for (; digits < text.size && digits < 9 && text.at[digits] >= '0' && text.at[digits] <= '9';
	     digits++)
		number = number * 10 + (text.at[digits] - '0');
	for (size_t i = 0; i < COUNT(units) && digits > 0 && digits + 1 == text.size; i++)
		if (units[i].unit == text.at[digits])
			seconds = number * units[i].seconds;
	if (seconds < 1 || seconds > LIMIT_INTERVAL_DAYS * INT64_C(86400))
		return fail(error, ERROR_INVALID,
			    "an interval is a number followed by s, m, h or d, such as 90s or 5m, "
			    "between 1s and %dd",
			    LIMIT_INTERVAL_DAYS);
	*out_us = seconds * 1000000;
	return true;
}
