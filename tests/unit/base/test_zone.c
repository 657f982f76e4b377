/* Time zones: the same offsets as libc for every installed zone file, and damaged files. */
#include <string.h>

#include "base/date.h"
#include "expect.h"
#include "zones.h"

enum { DAY = 86400 };

static const char *const names[] = {
	"UTC",
	"Europe/Berlin",
	"Europe/London",
	"Europe/Dublin",
	"America/New_York",
	"America/Sao_Paulo",
	"America/St_Johns",
	"America/Santiago",
	"Africa/Casablanca",
	"Africa/Cairo",
	"Asia/Kolkata",
	"Asia/Kathmandu",
	"Asia/Tehran",
	"Asia/Gaza",
	"Australia/Lord_Howe",
	"Australia/Sydney",
	"Pacific/Apia",
	"Pacific/Chatham",
	"Pacific/Kiritimati",
	"Pacific/Auckland",
	"Antarctica/Troll",
	"America/Nuuk",
	"America/Havana",
	"Etc/GMT+12",
	"America/Scoresbysund",
	"Asia/Pyongyang",
	"Africa/El_Aaiun",
	"America/Argentina/Ushuaia",
};

static void same_as_libc(const struct zone *zone, const char *name, int64_t at)
{
	struct tm tm;
	time_t seconds = (time_t)at;
	cr_assert_not_null(localtime_r(&seconds, &tm));
	struct zone_span span = zone_span(zone, at);
	cr_assert(span.from <= at && at < span.until);
	cr_assert_eq(span.offset, tm.tm_gmtoff, "%s at %lld: %d, libc has %ld", name, (long long)at,
		     span.offset, tm.tm_gmtoff);
}

Test(zone, has_the_offsets_that_libc_has)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		AUTO(arena) arena = { 0 };
		struct zone zone = zone_of(names[i], &arena);
		libc_zone(names[i]);
		size_t spans = 0;
		for (int64_t at = INT64_C(-2000) * 366 * DAY / 20; at < INT64_C(4102444800) * 3;
		     at += 97 * DAY + 12345)
			same_as_libc(&zone, names[i], at);
		/* Immediately before and at every change until 2200. */
		for (int64_t at = INT64_C(-5000000000); at < INT64_C(7258118400); spans++) {
			struct zone_span span = zone_span(&zone, at);
			if (span.until >= INT64_C(7258118400))
				break;
			same_as_libc(&zone, names[i], span.until - 1);
			same_as_libc(&zone, names[i], span.until);
			at = span.until;
		}
		cr_assert_lt(spans, 1000, "%s", names[i]);
	}
}

/* A file with a single type and this rule in its footer. */
static struct str file_of(const char *rule, struct arena *arena)
{
	static const char header[44] = { 'T', 'Z', 'i', 'f', '3' };
	char *bytes = arena_take_text(arena, 512);
	size_t size = 0;
	for (int block = 0; block < 2; block++) {
		memcpy(bytes + size, header, sizeof(header));
		bytes[size + 39] = 1; /* types */
		bytes[size + 43] = 4; /* letters */
		size += sizeof(header);
		memcpy(bytes + size, "\0\0\x0E\x10\0\0XXX\0", 10); /* an hour east */
		size += 10;
	}
	size += (size_t)snprintf(bytes + size, 512 - size, "\n%s\n", rule);
	return (struct str){ bytes, size };
}

static bool reads(const char *rule)
{
	AUTO(arena) arena = { 0 };
	struct zone zone;
	struct error error;
	return zone_read(file_of(rule, &arena), &arena, &zone, &error);
}

static int32_t offset_of(const char *rule, struct date date, int hour)
{
	AUTO(arena) arena = { 0 };
	struct zone zone;
	struct error error;
	cr_assert(zone_read(file_of(rule, &arena), &arena, &zone, &error), "%s", rule);
	return zone_span(&zone, date_to_days(date) * DAY + hour * 3600).offset;
}

Test(zone, rules)
{
	cr_expect_eq(offset_of("", (struct date){ 2030, 1, 1 }, 0), 3600);
	cr_expect_eq(offset_of("XXX-2", (struct date){ 2030, 1, 1 }, 0), 7200);
	cr_expect_eq(offset_of("<-03>3", (struct date){ 2030, 1, 1 }, 0), -10800);
	cr_expect_eq(offset_of("<+0530>-5:30", (struct date){ 2030, 1, 1 }, 0), 19800);
	const char *berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
	cr_expect_eq(offset_of(berlin, (struct date){ 2030, 3, 31 }, 0), 3600);
	cr_expect_eq(offset_of(berlin, (struct date){ 2030, 3, 31 }, 1), 7200);
	cr_expect_eq(offset_of(berlin, (struct date){ 2030, 10, 27 }, 0), 7200);
	cr_expect_eq(offset_of(berlin, (struct date){ 2030, 10, 27 }, 1), 3600);
	/* Summer time that spans the new year. */
	cr_expect_eq(offset_of("AEST-10AEDT,M10.1.0,M4.1.0/3", (struct date){ 2030, 1, 1 }, 0),
		     39600);
}

Test(zone, rules_by_day_of_the_year)
{
	const char *julian = "AAA0BBB,J60/0,J300/0", *plain = "AAA0BBB,59/0,300/0";
	cr_expect_eq(offset_of(julian, (struct date){ 2031, 3, 1 }, 0), 3600);
	cr_expect_eq(offset_of(julian, (struct date){ 2032, 2, 29 }, 0), 0);
	cr_expect_eq(offset_of(julian, (struct date){ 2032, 3, 1 }, 0), 3600);
	cr_expect_eq(offset_of(plain, (struct date){ 2031, 2, 28 }, 23), 0);
	cr_expect_eq(offset_of(plain, (struct date){ 2032, 2, 29 }, 0), 3600);
	/* Change times beyond 24 hours, and negative ones. */
	cr_expect_eq(offset_of("AAA0BBB,M3.4.4/50,M10.4.4/50", (struct date){ 2031, 3, 29 }, 2),
		     3600);
	cr_expect_eq(offset_of("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", (struct date){ 2031, 3, 30 }, 1),
		     -3600);
	/* Summer time all year. */
	for (int month = 1; month <= 12; month++)
		cr_expect_eq(offset_of("XXX3YYY2,0/0,J365/25", (struct date){ 2031, month, 1 }, 3),
			     -7200);
}

Test(zone, refuses_rules_that_are_none)
{
	static const char *const bad[] = { "XX-1",
					   "XXX",
					   "XXX25",
					   "XXX1:60",
					   "XXX1YYY",
					   "XXX1YYY,M3.5.0",
					   "XXX1YYY,M13.1.0,M4.1.0",
					   "XXX1YYY,M3.6.0,M4.1.0",
					   "XXX1YYY,M3.1.7,M4.1.0",
					   "XXX1YYY,J0,J1",
					   "XXX1YYY,J366,J1",
					   "XXX1YYY,366,1",
					   "XXX1YYY,M3.1.0/168,M4.1.0",
					   "XXX1YYY,M3.1.0,M4.1.0,",
					   "<XX>1",
					   "<XXX1",
					   "XXX1 ",
					   "XXX99999" };
	cr_expect(reads("XXX1YYY,M3.1.0/-167,M4.1.0/167"));
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_expect(!reads(bad[i]), "%s", bad[i]);
}

/* Changes every byte of a real file and tries every length: the sanitizers catch reads beyond the
 * bytes, and a file that is accepted must still answer lookups. */
Test(zone, survives_damage)
{
	AUTO(arena) arena = { 0 };
	struct str good = zone_bytes("America/New_York", &arena);
	struct error error;
	struct zone zone;
	size_t taken = 0;
	cr_assert_gt(good.size, 1000);
	for (size_t size = 0; size < good.size; size++) {
		AUTO(arena) try = { 0 };
		char *cut = malloc(size + 1);
		memcpy(cut, good.at, size);
		cr_expect(!zone_read((struct str){ cut, size }, &try, &zone, &error), "%zu", size);
		free(cut);
	}
	for (size_t i = 0; i < good.size; i++) {
		AUTO(arena) try = { 0 };
		char *bent = malloc(good.size);
		memcpy(bent, good.at, good.size);
		bent[i] = (char)(bent[i] ^ 0xA5);
		if (zone_read((struct str){ bent, good.size }, &try, &zone, &error)) {
			taken++;
			struct zone_span span = zone_span(&zone, 1700000000);
			cr_assert(span.from <= 1700000000 && span.until > 1700000000);
		} else {
			cr_assert_eq(error.code, ERROR_INVALID);
		}
		free(bent);
	}
	cr_expect_gt(taken, 0);
}

Test(zone, names)
{
	static const struct str good[] = { { "UTC", 3 },
					   { "Etc/GMT+5", 9 },
					   { "America/Argentina/Buenos_Aires", 30 },
					   { "America/Port-au-Prince", 22 } };
	static const struct str bad[] = { { "", 0 },        { "/etc/passwd", 11 },
					  { "..", 2 },      { "Europe/../../etc", 16 },
					  { "Europe/", 7 }, { "Europe//Berlin", 14 },
					  { "a b", 3 },     { "a\0b", 3 },
					  { ".", 1 } };
	for (size_t i = 0; i < COUNT(good); i++)
		cr_expect(zone_name_good(good[i]));
	for (size_t i = 0; i < COUNT(bad); i++)
		cr_expect(!zone_name_good(bad[i]), "%zu", i);
}
