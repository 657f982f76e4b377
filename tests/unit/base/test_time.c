/* RFC 3339: edge cases of the calendar, and texts that only resemble a time. */
#include "tests/unit/base/expect.h"

#include "base/time.h"

static void expect_time(struct str text, int64_t expected)
{
	int64_t us = -1;
	cr_expect(time_parse(text, &us), STR_FMT, STR_ARG(text));
	cr_expect(us == expected, STR_FMT ": %lld instead of %lld", STR_ARG(text), (long long)us,
		  (long long)expected);
}

static void expect_text(int64_t us, struct str expected)
{
	char text[TIME_TEXT_SIZE];
	expect_str(time_text(us, text), expected);
}

Test(time, reads_known_moments)
{
	expect_time(S("1970-01-01T00:00:00Z"), 0);
	expect_time(S("2000-02-29T12:34:56Z"), 951827696000000);
	expect_time(S("2026-11-15T20:03:21.123456Z"), 1794773001123456);
	expect_time(S("1969-12-31T23:59:59.999999Z"), -1);
	expect_time(S("0000-01-01T00:00:00Z"), -62167219200000000);
	expect_time(S("0001-01-01T00:00:00Z"), -62135596800000000);
	expect_time(S("9999-12-31T23:59:59.999999Z"), 253402300799999999);
}

Test(time, takes_what_the_header_says_it_takes)
{
	expect_time(S("1970-01-01t00:00:01z"), 1000000);
	expect_time(S("1970-01-01 00:00:01Z"), 1000000);
	expect_time(S("1970-01-01T00:00:01"), 1000000);
	expect_time(S("1970-01-01T00:00:01.5"), 1500000);
	expect_time(S("1970-01-01T00:00:01.123456789Z"), 1123456);
	expect_time(S("1970-01-01T01:00:00+01:00"), 0);
	expect_time(S("1969-12-31T18:30:00-05:30"), 0);
	expect_time(S("1970-01-01T00:00:00-00:00"), 0);
}

Test(time, turns_the_leap_second_into_the_next_minute)
{
	expect_time(S("2016-12-31T23:59:60Z"), 1483228800000000);
	expect_time(S("2016-12-31T23:59:60.7Z"), 1483228800000000);
	expect_time(S("2017-01-01T00:59:60+01:00"), 1483228800000000);
}

Test(time, refuses_everything_else)
{
	static const char *const bad[] = {
		"",
		"1970-01-01",
		"1970-01-01T00:00Z",
		"1970-1-01T00:00:00Z",
		"1970-13-01T00:00:00Z",
		"1970-00-01T00:00:00Z",
		"1970-01-00T00:00:00Z",
		"1970-04-31T00:00:00Z",
		"2023-02-29T00:00:00Z",
		"1900-02-29T00:00:00Z",
		"1970-01-01T24:00:00Z",
		"1970-01-01T00:60:00Z",
		"1970-01-01T00:00:61Z",
		"1970-01-01T00:00:00.Z",
		"1970-01-01T00:00:00,5Z",
		"1970-01-01T00:00:00+0100",
		"1970-01-01T00:00:00+24:00",
		"1970-01-01T00:00:00+01:60",
		"1970-01-01T00:00:00+01",
		"1970-01-01T00:00:00Zx",
		" 1970-01-01T00:00:00Z",
		"+1970-01-01T00:00:00Z",
		"1970-01-01T00:00:0-1Z",
		"1970-01-01_00:00:00Z",
	};
	for (size_t i = 0; i < COUNT(bad); i++) {
		int64_t us = 77;
		cr_expect(!time_parse(str_from_c(bad[i]), &us), "%s", bad[i]);
		cr_expect_eq(us, 77);
	}
}

Test(time, writes_as_many_digits_as_needed)
{
	expect_text(0, S("1970-01-01T00:00:00Z"));
	expect_text(1000, S("1970-01-01T00:00:00.001Z"));
	expect_text(1, S("1970-01-01T00:00:00.000001Z"));
	expect_text(-1, S("1969-12-31T23:59:59.999999Z"));
	expect_text(1794773001120000, S("2026-11-15T20:03:21.120Z"));
	expect_text(951827696000000, S("2000-02-29T12:34:56Z"));
}

Test(time, survives_the_ends_of_int64)
{
	char text[TIME_TEXT_SIZE];
	cr_expect_gt(time_text(INT64_MAX, text).size, 20);
	cr_expect_gt(time_text(INT64_MIN, text).size, 20);
}

Test(time, reads_back_every_day_of_four_centuries)
{
	const int64_t day = 86400000000;
	for (int64_t us = -700 * 365 * day + 3723000004; us < 700 * 365 * day; us += day) {
		char text[TIME_TEXT_SIZE];
		int64_t back = 0;
		struct str s = time_text(us, text);
		cr_assert(time_parse(s, &back) && back == us, STR_FMT, STR_ARG(s));
	}
}
