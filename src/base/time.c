/* base/time.c -- RFC 3339 times without libc's time zone and locale. */
#include "base/time.h"

#include <stdio.h>

#include "base/date.h"

static const int64_t US_PER_SECOND = 1000000;
static const int64_t SECONDS_PER_DAY = 86400;

static char *put_digits(char *at, int number, int count)
{
	for (int i = count - 1; i >= 0; i--, number /= 10)
		at[i] = (char)('0' + number % 10);
	return at + count;
}

/* Fast path for four-digit years: every event prints a time, and snprintf() is slow. */
static struct str four_digit_year_text(const struct date *date, int rest, int fraction,
				       char out[TIME_TEXT_SIZE])
{
	char *at = put_digits(out, (int)date->year, 4);
	const struct {
		char before;
		int number;
	} parts[] = { { '-', date->month },
		      { '-', date->day },
		      { 'T', rest / 3600 },
		      { ':', rest / 60 % 60 },
		      { ':', rest % 60 } };
	for (size_t i = 0; i < COUNT(parts); i++) {
		*at++ = parts[i].before;
		at = put_digits(at, parts[i].number, 2);
	}
	if (fraction != 0) {
		*at++ = '.';
		at = fraction % 1000 == 0 ? put_digits(at, fraction / 1000, 3)
					  : put_digits(at, fraction, 6);
	}
	*at++ = 'Z';
	*at = '\0';
	return (struct str){ out, (size_t)(at - out) };
}

struct str time_text(int64_t us, char out[TIME_TEXT_SIZE])
{
	int64_t seconds = date_floor_divide(us, US_PER_SECOND);
	int fraction = (int)((us % US_PER_SECOND + US_PER_SECOND) % US_PER_SECOND);
	int64_t days = date_floor_divide(seconds, SECONDS_PER_DAY);
	int rest = (int)(seconds - days * SECONDS_PER_DAY);
	struct date date = date_from_days(days);
	if (date.year >= 0 && date.year <= 9999)
		return four_digit_year_text(&date, rest, fraction, out);
	int size = snprintf(out, TIME_TEXT_SIZE, "%04lld-%02d-%02dT%02d:%02d:%02d",
			    (long long)date.year, date.month, date.day, rest / 3600, rest / 60 % 60,
			    rest % 60);
	size_t room = TIME_TEXT_SIZE - (size_t)size;
	if (fraction == 0)
		size += snprintf(out + size, room, "Z");
	else if (fraction % 1000 == 0)
		size += snprintf(out + size, room, ".%03dZ", fraction / 1000);
	else
		size += snprintf(out + size, room, ".%06dZ", fraction);
	return (struct str){ out, (size_t)size };
}

/* Removes exactly `count` digits from the front. */
static bool cut_digits(struct str *rest, size_t count, int *out_number)
{
	if (rest->size < count)
		return false;
	int number = 0;
	for (size_t i = 0; i < count; i++) {
		char c = rest->at[i];
		if (c < '0' || c > '9')
			return false;
		number = number * 10 + (c - '0');
	}
	*rest = str_skip(*rest, count);
	*out_number = number;
	return true;
}

static bool cut_char(struct str *rest, char c)
{
	if (rest->size == 0 || rest->at[0] != c)
		return false;
	*rest = str_skip(*rest, 1);
	return true;
}

static int days_of_month(int64_t year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return days[month - 1] + (month == 2 && leap);
}

static bool cut_date(struct str *rest, struct date *out_date)
{
	int year;
	struct date date = { 0 };
	if (!cut_digits(rest, 4, &year) || !cut_char(rest, '-') ||
	    !cut_digits(rest, 2, &date.month) || !cut_char(rest, '-') ||
	    !cut_digits(rest, 2, &date.day))
		return false;
	date.year = year;
	if (date.month < 1 || date.month > 12 || date.day < 1 ||
	    date.day > days_of_month(date.year, date.month))
		return false;
	*out_date = date;
	return true;
}

/* ".123456": digits beyond the sixth are checked and dropped. */
static bool cut_fraction(struct str *rest, int64_t *out_us)
{
	int64_t us = 0, unit = US_PER_SECOND / 10;
	size_t count = 0;
	for (; count < rest->size && rest->at[count] >= '0' && rest->at[count] <= '9'; count++) {
		us += unit * (rest->at[count] - '0');
		unit /= 10;
	}
	*rest = str_skip(*rest, count);
	*out_us = us;
	return count > 0;
}

/* "Z", "+02:00" or nothing, which means UTC. */
static bool cut_zone(struct str *rest, int64_t *out_seconds)
{
	*out_seconds = 0;
	if (rest->size == 0 || cut_char(rest, 'Z') || cut_char(rest, 'z'))
		return true;
	bool behind = cut_char(rest, '-');
	int hours, minutes;
	if ((!behind && !cut_char(rest, '+')) || !cut_digits(rest, 2, &hours) ||
	    !cut_char(rest, ':') || !cut_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	int64_t seconds = hours * 3600 + minutes * 60;
	*out_seconds = behind ? -seconds : seconds;
	return true;
}

bool time_parse(struct str text, int64_t *out_us)
{
	struct date date;
	int hour, minute, second;
	int64_t us = 0, zone;
	if (!cut_date(&text, &date) ||
	    (!cut_char(&text, 'T') && !cut_char(&text, 't') && !cut_char(&text, ' ')) ||
	    !cut_digits(&text, 2, &hour) || !cut_char(&text, ':') ||
	    !cut_digits(&text, 2, &minute) || !cut_char(&text, ':') ||
	    !cut_digits(&text, 2, &second) || hour > 23 || minute > 59 || second > 60)
		return false;
	if (cut_char(&text, '.') && !cut_fraction(&text, &us))
		return false;
	if (!cut_zone(&text, &zone) || text.size > 0)
		return false;
	if (second == 60) /* leap second: the first second of the next minute */
		us = 0;
	int64_t seconds =
		date_to_days(date) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - zone;
	*out_us = seconds * US_PER_SECOND + us;
	return true;
}
