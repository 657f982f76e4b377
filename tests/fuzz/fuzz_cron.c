/* Cron expressions under libFuzzer: what is taken has a next time that lies ahead and shows what
 * the fields say; what is refused says where, within the text.
 *
 * The first four bytes are a moment, the fifth picks a zone, the rest is the expression, which is
 * tried as an interval too.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/cron.h"
#include "base/date.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DAY = 86400 };

/* Changes at two o'clock by an hour, and at midnight by half an hour, the other way round. */
static const struct zone zones[] = {
	{ .has_footer = true },
	{ .has_footer = true,
	  .has_summer = true,
	  .standard = 3600,
	  .summer = 7200,
	  .begins = { .month = 3, .week = 5, .seconds = 7200 },
	  .ends = { .month = 10, .week = 5, .seconds = 10800 } },
	{ .has_footer = true,
	  .has_summer = true,
	  .standard = 37800,
	  .summer = 39600,
	  .begins = { .month = 10, .week = 1, .seconds = 0 },
	  .ends = { .month = 4, .week = 1, .seconds = 0 } },
};

static void check_next(const struct cron *cron, const struct zone *zone, int64_t after)
{
	for (int i = 0; i < 8; i++) {
		int64_t due, again;
		if (!cron_next(cron, zone, after, &due))
			return; /* too far away in this zone's calendar */
		require(due > after);
		require(cron_next(cron, zone, due - 1, &again) && again == due);
		struct zone_span span = zone_span(zone, due);
		int64_t local = due + span.offset, day = date_floor_divide(local, DAY);
		struct date date = date_from_days(day);
		bool fits = local % 60 == 0 && (cron->minutes >> (local % 3600 / 60) & 1) &&
			    (cron->hours >> (local - day * DAY) / 3600 & 1) &&
			    (cron->months >> date.month & 1);
		/* Only a clock's jump is an excuse. */
		require(fits || due == span.from);
		after = due;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct cron cron;
	int64_t us;
	if (size < 5)
		return 0;
	uint32_t moment = (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 |
			  (uint32_t)data[2] << 8 | data[3];
	struct str text = { (const char *)data + 5, size - 5 };
	if (cron_interval_parse(text, &us, &error))
		require(us >= 1000000);
	error = (struct error){ 0 };
	if (cron_parse(text, &cron, &error))
		check_next(&cron, &zones[data[4] % COUNT(zones)], moment);
	else
		require(error.code == ERROR_INVALID && error.column <= text.size + 1);
	return 0;
}
