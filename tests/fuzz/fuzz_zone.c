/* Time zones under libFuzzer: whatever the bytes are, a zone that is read covers all time with
 * spans that hold what they were asked for and follow each other.
 *
 * The first byte cuts the input: a TZif file, or (below 128) only a rule behind a small good one.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct zone *zone)
{
	static const int64_t moments[] = {
		INT64_MIN,  INT64_C(-62135596801), INT64_C(-2000000000),  0,
		1700000000, INT64_C(4102444800),   INT64_C(253402300800), INT64_MAX - 1
	};
	for (size_t i = 0; i < COUNT(moments); i++) {
		int64_t at = moments[i];
		for (int hops = 0; hops < 6; hops++) {
			struct zone_span span = zone_span(zone, at);
			require(span.from <= at && at < span.until);
			require(span.offset >= -100000 && span.offset <= 100000);
			if (span.until == INT64_MAX)
				break;
			at = span.until;
		}
	}
}

static void put_block(struct buf *out)
{
	static const char header[44] = { 'T', 'Z', 'i', 'f', '2', [39] = 1, [43] = 4 };
	buf_add(out, (struct str){ header, sizeof(header) });
	buf_add(out, (struct str){ "\0\0\0\0\0\0UTC\0", 10 });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) file = { 0 };
	struct zone zone;
	struct error error = { 0 };
	if (size < 1)
		return 0;
	struct str bytes = { (const char *)data + 1, size - 1 };
	if (data[0] < 128) {
		put_block(&file);
		put_block(&file);
		buf_add_char(&file, '\n');
		buf_add(&file, bytes);
		buf_add_char(&file, '\n');
		bytes = buf_str(&file);
	}
	(void)zone_name_good(bytes);
	if (zone_read(bytes, &arena, &zone, &error))
		check(&zone);
	else
		require(error.code == ERROR_INVALID || error.code == ERROR_TOO_LARGE);
	return 0;
}
