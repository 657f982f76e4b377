/* The log of one attempt: order of arrival, characters split between writes, head and tail, cursors. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "tool/output_log.h"

TestSuite(output_log);

static struct str text_of(struct output_log *log, struct arena *arena)
{
	const struct json *json = output_log_json(log, arena);
	AUTO(buf) out = { 0 };
	const struct json *parts = json_member(json, S("parts"));
	for (size_t i = 0; json_item(parts, i) != NULL; i++) {
		const struct json *part = json_item(parts, i);
		const struct json *omitted = json_member(part, S("omitted"));
		if (omitted != NULL)
			buf_add_format(&out, "<%lld>", (long long)omitted->as.integer);
		buf_add(&out, str_equal(json_text(json_member(part, S("stream"))), S("stderr"))
				      ? S("E:")
				      : S("O:"));
		buf_add(&out, json_text(json_member(part, S("text"))));
		buf_add(&out, S("|"));
	}
	return str_copy(arena, buf_str(&out));
}

static void assert_text(struct output_log *log, const char *wanted)
{
	AUTO(arena) arena = { 0 };
	struct str text = text_of(log, &arena);
	cr_assert(str_equal(text, str_from_c(wanted)), STR_FMT, STR_ARG(text));
}

Test(output_log, order_of_arrival)
{
	AUTO(arena) arena = { 0 };
	struct output_log *log = output_log_new();
	cr_assert_null(output_log_json(log, &arena));
	output_log_add(log, OUTPUT_STDOUT, S("a"));
	output_log_add(log, OUTPUT_STDOUT, S("b\n"));
	output_log_add(log, OUTPUT_STDERR, S("c\n"));
	output_log_add(log, OUTPUT_STDERR, S(""));
	output_log_add(log, OUTPUT_STDOUT, S("d\n"));
	assert_text(log, "O:ab\n|E:c\n|O:d\n|");
	cr_assert_eq(output_log_size(log), 7);
	output_log_free(log);
}

Test(output_log, characters_split_between_writes)
{
	struct output_log *log = output_log_new();
	output_log_add(log, OUTPUT_STDOUT, S("\xE2\x82"));
	output_log_add(log, OUTPUT_STDERR, S("\xF0\x9F"));
	output_log_add(log, OUTPUT_STDOUT, S("\xAC!"));
	output_log_add(log, OUTPUT_STDERR, S("\x98"));
	output_log_add(log, OUTPUT_STDERR, S("\x80"));
	output_log_add(log, OUTPUT_STDOUT, S("\xFFx\xE2\x28\xC3"));
	assert_text(log, "O:\xE2\x82\xAC!|E:\xF0\x9F\x98\x80|O:\xEF\xBF\xBDx\xEF\xBF\xBD(|");
	output_log_close(log);
	assert_text(log, "O:\xE2\x82\xAC!|E:\xF0\x9F\x98\x80|"
			 "O:\xEF\xBF\xBDx\xEF\xBF\xBD(\xEF\xBF\xBD|");
	output_log_free(log);
}

/* Adds lines of 10 bytes, the number first. */
static void add_lines(struct output_log *log, int from, int to)
{
	char line[16];
	for (int i = from; i < to; i++) {
		__builtin_snprintf(line, sizeof(line), "%09d\n", i);
		output_log_add(log, i % 7 == 0 ? OUTPUT_STDERR : OUTPUT_STDOUT,
			       (struct str){ line, 10 });
	}
}

Test(output_log, first_and_last_bytes_and_the_number_between)
{
	enum { LINES = 100000 };
	AUTO(arena) arena = { 0 };
	struct output_log *log = output_log_new();
	add_lines(log, 0, LINES);
	const struct json *json = output_log_json(log, &arena);
	const struct json *parts = json_member(json, S("parts"));
	int64_t kept = 0, omitted = 0;
	struct str last = S("");
	for (size_t i = 0; json_item(parts, i) != NULL; i++) {
		last = json_text(json_member(json_item(parts, i), S("text")));
		kept += (int64_t)last.size;
		if (json_member(json_item(parts, i), S("omitted")) != NULL)
			omitted += json_member(json_item(parts, i), S("omitted"))->as.integer;
	}
	cr_assert_eq(json_member(json, S("size"))->as.integer, LINES * 10);
	cr_assert_eq(json_member(json, S("omitted"))->as.integer, omitted);
	cr_assert_eq(kept + omitted, LINES * 10);
	cr_assert(str_ends(last, S("000099999\n")));
	cr_assert(str_starts(json_text(json_member(json_item(parts, 0), S("text"))),
			     S("000000000\n")));
	/* A change of the stream after 60 and after 10 bytes: about half is text. */
	cr_assert_gt(kept, (LIMIT_STEP_LOG_HEAD_BYTES + LIMIT_STEP_LOG_TAIL_BYTES) / 3);
	output_log_free(log);
}

/* What costs most as JSON: a part for each byte, and bytes that need six. */
Test(output_log, any_log_fits_into_a_value)
{
	static const char *const bytes[] = { "x", "\x01", "\"", "\xC3\xA4", "\xFF" };
	for (size_t i = 0; i < COUNT(bytes); i++) {
		AUTO(arena) arena = { 0 };
		struct output_log *log = output_log_new();
		for (int k = 0; k < 400000; k++)
			output_log_add(log, k % 2 == 0 ? OUTPUT_STDOUT : OUTPUT_STDERR,
				       str_from_c(bytes[i]));
		struct str text = json_print(&arena, output_log_json(log, &arena));
		cr_assert_leq(text.size,
			      LIMIT_STEP_LOG_HEAD_BYTES + LIMIT_STEP_LOG_TAIL_BYTES + 4096);
		output_log_free(log);
	}
}

/* Reads as a client does: in pieces, at different times. */
Test(output_log, a_cursor_misses_nothing_that_is_kept)
{
	struct output_log *log = output_log_new();
	struct output_chunk chunk;
	AUTO(buf) seen = { 0 };
	uint64_t offset = 0;
	for (int i = 0; i < 3000; i += 100) {
		add_lines(log, i, i + 100);
		if (i % 300 != 0)
			continue; /* a slow client reads later */
		while (output_log_read(log, offset, &chunk)) {
			cr_assert_eq(chunk.omitted, 0);
			cr_assert_eq(chunk.offset, offset);
			buf_add(&seen, chunk.text);
			offset = chunk.offset + chunk.text.size;
		}
	}
	while (output_log_read(log, offset, &chunk)) {
		buf_add(&seen, chunk.text);
		offset = chunk.offset + chunk.text.size;
	}
	cr_assert_eq(seen.size, 30000);
	for (size_t i = 0; i < 3000; i++) {
		char line[16];
		__builtin_snprintf(line, sizeof(line), "%09zu\n", i);
		cr_assert_eq(memcmp(seen.at + i * 10, line, 10), 0);
	}
	output_log_free(log);
}

Test(output_log, a_cursor_in_dropped_text_learns_how_much_it_missed)
{
	struct output_log *log = output_log_new();
	struct output_chunk chunk;
	add_lines(log, 0, 200000);
	uint64_t missed = 0, read = 0, offset = 0;
	while (output_log_read(log, offset, &chunk)) {
		size_t bad;
		cr_assert(utf8_valid(chunk.text, &bad));
		missed += chunk.omitted;
		read += chunk.text.size;
		offset = chunk.offset + chunk.text.size;
	}
	cr_assert_gt(missed, 0);
	cr_assert_eq(missed + read, 2000000);
	cr_assert_eq(offset, output_log_size(log));
	output_log_free(log);
}
