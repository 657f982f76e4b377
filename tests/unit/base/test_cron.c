/* Cron expressions: valid and invalid texts; cron_next() is compared with an independent search
 * that checks every minute and uses libc's time zones.
 */
#include "base/cron.h"

#include "base/date.h"
#include "base/limits.h"
#include "expect.h"
#include "zones.h"

enum { DAY = 86400 };

static struct cron parsed(const char *text)
{
	struct cron cron = { 0 };
	struct error error = { 0 };
	cr_assert(cron_parse(str_from_c(text), &cron, &error), "%s: %s", text, error.text);
	return cron;
}

/* ---- reading ----------------------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
	struct cron one = parsed(a), other = parsed(b);
	return one.minutes == other.minutes && one.hours == other.hours && one.days == other.days &&
	       one.months == other.months && one.weekdays == other.weekdays &&
	       one.either_day == other.either_day;
}

Test(cron, fields)
{
	struct cron cron = parsed("*/20 8-18/5,23 1,15 feb-APR,12 mon-Fri");
	cr_expect_eq(cron.minutes, UINT64_C(1) | UINT64_C(1) << 20 | UINT64_C(1) << 40);
	cr_expect_eq(cron.hours, 1u << 8 | 1u << 13 | 1u << 18 | 1u << 23);
	cr_expect_eq(cron.days, 1u << 1 | 1u << 15);
	cr_expect_eq(cron.months, 1u << 2 | 1u << 3 | 1u << 4 | 1u << 12);
	cr_expect_eq(cron.weekdays, 0x3Eu);
	cr_expect(cron.either_day);
	cr_expect(!parsed("0 0 */2 * mon").either_day);
	cr_expect(!parsed("0 0 1 * *").either_day);
	cr_expect(same("0 0 * * 7", "0 0 * * 0"));
	cr_expect(same("0 0 * * 5-7", "0 0 * * fri-sat,sun"));
	cr_expect(same("  0\t0  1 1 *  ", "@yearly"));
	cr_expect(same("@annually", "@yearly"));
	cr_expect(same("@monthly", "0 0 1 * *"));
	cr_expect(same("@weekly", "0 0 * * sun"));
	cr_expect(same("@daily", "@midnight"));
	cr_expect(same("@hourly", "0 * * * *"));
	cr_expect(same("0-59/1 0-23 1-31 1-12 0-6", "0-59 0-23 1-31 1-12 0-7"));
}

Test(cron, reports_position_and_problem)
{
	static const struct {
		const char *text;
		uint32_t column;
		const char *message;
	} rows[] = {
		{ "", 1, "five fields" },
		{ "* * * *", 8, "five fields" },
		{ "* * * * * *", 11, "text follows the last field" },
		{ "60 * * * *", 1, "minute field (0-59): the number is out of range" },
		{ "* 24 * * *", 3, "hour field (0-23)" },
		{ "* * 0 * *", 5, "day field (1-31)" },
		{ "* * * 13 *", 7, "month field (1-12)" },
		{ "* * * * 8", 9, "weekday field (0-7)" },
		{ "99999 * * * *", 1, "out of range" },
		{ "5-1 * * * *", 1, "from the smaller to the larger" },
		{ "* * * * fri-mon", 9, "fri-sat,sun-mon" },
		{ "*/0 * * * *", 3, "a step must be between 1" },
		{ "*/60 * * * *", 3, "a step must be between 1" },
		{ "*/ * * * *", 3, "a step must be between 1" },
		{ "5/10 * * * *", 2, "5-59/10" },
		{ "1, * * * *", 3, "expected a number, a name or *" },
		{ ",1 * * * *", 1, "expected a number, a name or *" },
		{ "1- * * * *", 3, "expected a number, a name or *" },
		{ "-1 * * * *", 1, "expected a number, a name or *" },
		{ "1-2-3 * * * *", 4, "may follow a value" },
		{ "1x * * * *", 2, "may follow a value" },
		{ "x * * * *", 1, "names are allowed only" },
		{ "* * * january *", 7, "first three letters" },
		{ "* * * * moon", 9, "first three letters" },
		{ "* * ? * *", 5, "expected a number, a name or *" },
		{ "* * L * *", 5, "names are allowed only" },
		{ "@reboot", 1, "@hourly" },
		{ "@Daily", 1, "@hourly" },
		{ "@daily ", 1, "@hourly" },
		{ "0 0 30 2 *", 1, "no date ever matches" },
		{ "0 0 31 4,6,9,11 *", 1, "no date ever matches" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cron cron;
		struct error error = { 0 };
		cr_expect(!cron_parse(str_from_c(rows[i].text), &cron, &error), "%s", rows[i].text);
		expect_error(&error, ERROR_INVALID, 1, rows[i].column, rows[i].message);
	}
	char longest[LIMIT_CRON_BYTES + 2];
	memset(longest, ' ', sizeof(longest));
	struct cron cron;
	struct error error;
	cr_expect(!cron_parse((struct str){ longest, LIMIT_CRON_BYTES + 1 }, &cron, &error));
}

/* ---- cron_next --------------------------------------------------------------------------- */

static bool fits(const struct cron *cron, const struct tm *tm)
{
	bool day = cron->days >> tm->tm_mday & 1, weekday = cron->weekdays >> tm->tm_wday & 1;
	return (cron->minutes >> tm->tm_min & 1) && (cron->hours >> tm->tm_hour & 1) &&
	       (cron->months >> (tm->tm_mon + 1) & 1) &&
	       (cron->either_day ? day || weekday : day && weekday);
}

static struct tm wall(time_t at)
{
	struct tm tm;
	cr_assert_not_null(localtime_r(&at, &tm));
	return tm;
}

static bool fits_between(const struct cron *cron, int64_t from, int64_t until)
{
	for (time_t local = (time_t)from; local < until; local += 60) {
		struct tm tm;
		gmtime_r(&local, &tm);
		if (fits(cron, &tm))
			return true;
	}
	return false;
}

static const char *const texts[] = { "0 0 * * *",         "30 2 * * *",    "*/15 * * * *",
				     "0 */3 * * *",       "59 23 31 12 *", "0 9 13 * fri",
				     "15,45 1-3 * * sun", "0 0 29 2 *",    "7 1 * mar,oct *",
				     "* 2 * * *",         "0 0-23 * * *",  "30 0,1,2,3 * * *",
				     "0 12 */10 * *",     "0 0 */2 * mon", "17 4 1-7 * 1-5" };

/* Finds every due time of the range by checking every minute; cron_next() must return the same
 * times.  In the years tested, clock changes are whole minutes. */
static void walk(const char *zone_name, int64_t from, int days)
{
	AUTO(arena) arena = { 0 };
	struct zone zone = zone_of(zone_name, &arena);
	struct cron crons[COUNT(texts)];
	int64_t at[COUNT(texts)], due, until = from + (int64_t)days * DAY;
	for (size_t i = 0; i < COUNT(texts); i++) {
		crons[i] = parsed(texts[i]);
		at[i] = from - 1;
	}
	libc_zone(zone_name);
	int64_t shown = from - 60 + wall((time_t)from - 60).tm_gmtoff; /* the latest local time */
	for (int64_t minute = from; minute < until; minute += 60) {
		struct tm tm = wall((time_t)minute);
		int64_t local = minute + tm.tm_gmtoff;
		for (size_t i = 0; i < COUNT(texts); i++) {
			bool is = fits(&crons[i], &tm);
			if (crons[i].hours != 0xFFFFFF)
				is = (is && local > shown) ||
				     fits_between(&crons[i], shown + 60, local);
			if (!is)
				continue;
			cr_assert(cron_next(&crons[i], &zone, at[i], &due));
			cr_assert_eq(due, minute, "%s in %s behind %lld: %lld instead of %lld",
				     texts[i], zone_name, (long long)at[i], (long long)due,
				     (long long)minute);
			at[i] = due;
		}
		if (local > shown)
			shown = local;
	}
	for (size_t i = 0; i < COUNT(texts); i++) {
		cr_assert(cron_next(&crons[i], &zone, at[i], &due));
		cr_assert_geq(due, until, "%s in %s", texts[i], zone_name);
	}
}

static int64_t utc(int64_t year, int month, int day, int hour, int minute)
{
	return date_to_days((struct date){ year, month, day }) * DAY + hour * 3600 + minute * 60;
}

Test(cron, next_is_the_next_that_fits)
{
	static const char *const zones[] = { "UTC",
					     "Europe/Berlin",
					     "America/New_York",
					     "Australia/Lord_Howe",
					     "America/Sao_Paulo",
					     "Asia/Kathmandu",
					     "Pacific/Apia",
					     "Africa/Casablanca",
					     "Antarctica/Troll",
					     "America/Havana" };
	/* 2010-12-31 to 2012-03-04: both clock changes, and the day that Samoa skipped. */
	for (size_t i = 0; i < COUNT(zones); i++)
		walk(zones[i], utc(2010, 12, 31, 0, 0), 430);
	/* Times covered by the table, and times covered by the footer's rule. */
	walk("Europe/Berlin", utc(2027, 1, 1, 0, 0), 430);
	walk("America/New_York", utc(2060, 1, 1, 0, 0), 430);
}

Test(cron, a_time_that_is_left_out_comes_when_the_clock_jumps)
{
	AUTO(arena) arena = { 0 };
	struct zone berlin = zone_of("Europe/Berlin", &arena);
	struct cron half = parsed("30 2 * * *"), quarter = parsed("*/15 * * * *");
	int64_t jump = utc(2026, 3, 29, 1, 0), due; /* 2026-03-29 02:00 becomes 03:00 */
	cr_assert(cron_next(&half, &berlin, jump - 3600, &due));
	cr_expect_eq(due, jump);
	cr_assert(cron_next(&half, &berlin, due, &due));
	cr_expect_eq(due, utc(2026, 3, 30, 0, 30));
	/* An expression for every hour follows the clock. */
	cr_assert(cron_next(&quarter, &berlin, jump - 1, &due));
	cr_expect_eq(due, jump);
	cr_assert(cron_next(&quarter, &berlin, jump, &due));
	cr_expect_eq(due, jump + 900);
}

Test(cron, a_time_that_is_shown_twice_comes_the_first_time)
{
	AUTO(arena) arena = { 0 };
	struct zone berlin = zone_of("Europe/Berlin", &arena);
	struct cron half = parsed("30 2 * * *"), quarter = parsed("30 * * * *");
	int64_t back = utc(2026, 10, 25, 1, 0), due; /* 2026-10-25 03:00 becomes 02:00 */
	cr_assert(cron_next(&half, &berlin, back - 7200, &due));
	cr_expect_eq(due, back - 1800);
	cr_assert(cron_next(&half, &berlin, due, &due));
	cr_expect_eq(due, utc(2026, 10, 26, 1, 30));
	cr_assert(cron_next(&quarter, &berlin, back - 1800, &due));
	cr_expect_eq(due, back + 1800);
}

Test(cron, a_day_that_is_far_away_is_found)
{
	int64_t due, days = 0;
	struct cron leap = parsed("0 0 29 2 *"), rare = parsed("0 0 29 2 */7");
	/* 2100 has no February 29. */
	int64_t before = date_to_days((struct date){ 2096, 2, 29 }) * DAY;
	cr_assert(cron_next(&leap, &zone_utc, before, &due));
	cr_expect_eq(due, date_to_days((struct date){ 2104, 2, 29 }) * DAY);
	for (int64_t at = 0; at < utc(2200, 1, 1, 0, 0); at = due, days++) {
		cr_assert(cron_next(&rare, &zone_utc, at, &due));
		struct tm tm;
		time_t seconds = (time_t)due;
		gmtime_r(&seconds, &tm);
		cr_assert(tm.tm_mon == 1 && tm.tm_mday == 29 && tm.tm_wday == 0);
	}
	cr_expect_gt(days, 6);
}

/* ---- intervals --------------------------------------------------------------------------- */

Test(cron, intervals)
{
	static const struct {
		const char *text;
		int64_t seconds; /* 0 = refused */
	} rows[] = { { "1s", 1 },      { "90s", 90 },
		     { "5m", 300 },    { "36h", 129600 },
		     { "7d", 604800 }, { "366d", 366 * DAY },
		     { "367d", 0 },    { "0s", 0 },
		     { "", 0 },        { "5", 0 },
		     { "m", 0 },       { "5 m", 0 },
		     { "-5m", 0 },     { "5M", 0 },
		     { "5ms", 0 },     { "99999999999s", 0 },
		     { "1.5h", 0 } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t us = 0;
		struct error error = { 0 };
		bool good = cron_interval_parse(str_from_c(rows[i].text), &us, &error);
		cr_expect_eq(good, rows[i].seconds > 0, "%s", rows[i].text);
		cr_expect_eq(us, rows[i].seconds * 1000000, "%s", rows[i].text);
	}
}
