/* The command line's reader of answers under libFuzzer: however an answer is cut, the outcome is
 * the same, and it never keeps more than its limits.
 *
 * The first byte seeds the cutting and says whether HEAD was asked; the rest is what a server
 * sends.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "net/local_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct str bytes, size_t most, uint8_t first, struct buf *notes)
{
	struct local_reader answer;
	uint32_t seed = first;
	local_reader_init(&answer, (first & 1) != 0, NULL, NULL);
	bool more = true;
	while (bytes.size > 0 && more) {
		seed = seed * 1664525 + 1013904223;
		struct str piece =
			str_head(bytes, most == 0 ? bytes.size : 1 + (seed >> 16) % most);
		more = local_reader_feed(&answer, piece);
		bytes = str_skip(bytes, piece.size);
	}
	if (more)
		local_reader_end(&answer);
	require(!local_reader_feed(&answer, S("x")) ||
		!(answer.whole || answer.problem[0] != '\0'));
	require(answer.body.size <= LIMIT_JSON_BYTES && !answer.sink_ended);
	require(!answer.whole || answer.status >= 200);
	buf_add_format(notes, "whole %d too_large %d wrong %d status %d ", answer.whole,
		       answer.too_large, !answer.whole, answer.whole ? answer.status : 0);
	if (answer.whole) {
		buf_add(notes, buf_str(&answer.content_type));
		buf_add(notes, S("|"));
		buf_add(notes, buf_str(&answer.body));
	}
	local_reader_done(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	struct str bytes = { (const char *)data + 1, size - 1 };
	AUTO(buf) whole = { 0 };
	AUTO(buf) cut = { 0 };
	AUTO(buf) single = { 0 };
	read_all(bytes, 0, data[0], &whole);
	read_all(bytes, 20, data[0], &cut);
	read_all(bytes, 1, data[0], &single);
	require(str_equal(buf_str(&whole), buf_str(&cut)));
	require(str_equal(buf_str(&whole), buf_str(&single)));
	return 0;
}
