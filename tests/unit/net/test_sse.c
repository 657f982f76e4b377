/* Server-sent events: edge cases of the format, in one piece and byte by byte. */
#include <criterion/criterion.h>

#include "net/sse.h"

static bool note(void *context, struct str id, struct str type, struct str data)
{
	struct buf *notes = context;
	buf_add_format(notes, "[" STR_FMT "|" STR_FMT "|" STR_FMT "]", STR_ARG(id), STR_ARG(type),
		       STR_ARG(data));
	return !str_equal(data, S("stop"));
}

/* Expects these events, however the text is split. */
static void expect(struct str text, const char *events)
{
	for (size_t most = 1; most <= text.size; most = most == 1 ? text.size : most + 1) {
		AUTO(buf) notes = { 0 };
		struct sse_reader reader;
		sse_reader_init(&reader, 64, note, &notes);
		for (struct str rest = text; rest.size > 0; rest = str_skip(rest, most))
			sse_feed(&reader, str_head(rest, most));
		cr_assert(str_equal(buf_str(&notes), str_from_c(events)), "%.*s instead of %s",
			  (int)notes.size, notes.at, events);
		sse_reader_done(&reader);
	}
}

Test(sse, events)
{
	expect(S("data: one\n\n"), "[||one]");
	expect(S("id: 7\nevent: kind\ndata: one\n\ndata: two\n\n"), "[7|kind|one][7||two]");
	expect(S("data:one\ndata:  two\n\n"), "[||one\n two]");
	expect(S("data\n\n"), "[||]");
	expect(S("data\ndata\n\n"), "[||\n]");
}

Test(sse, line_ends_of_every_kind)
{
	expect(S("data: a\r\ndata: b\r\n\r\n"), "[||a\nb]");
	expect(S("data: a\rdata: b\r\r"), "[||a\nb]");
	expect(S("data: a\n\r\ndata: b\r\n\n"), "[||a][||b]");
}

Test(sse, what_is_passed_over)
{
	expect(S(": a comment\n\n"), "");
	expect(S("event: nothing\nid: 3\n\ndata: x\n\n"), "[3||x]");
	expect(S("other: y\ndata: x\n\n"), "[||x]");
	expect(S("id: a\0b\ndata: x\n\n"), "[||x]");
	expect(S("id: 5\nid\ndata: x\n\n"), "[||x]");
	/* The end of the stream does not end an event. */
	expect(S("data: x\n\ndata: y\n"), "[||x]");
}

Test(sse, a_byte_order_mark_is_one_only_in_front)
{
	expect(S("\xef\xbb\xbf"
		 "data: x\n\n"),
	       "[||x]");
	expect(S("\xef\xbb"
		 "data: x\n\ndata: y\n\n"),
	       "[||y]");
	expect(S("data: x\n\n\xef\xbb\xbf"
		 "data: y\n\n"),
	       "[||x]");
}

Test(sse, an_end_is_an_end)
{
	expect(S("data: stop\n\ndata: more\n\n"), "[||stop]");
}

Test(sse, limits_and_retry)
{
	AUTO(buf) notes = { 0 };
	struct sse_reader reader;
	sse_reader_init(&reader, 8, note, &notes);
	sse_feed(&reader, S("retry:15\nretry:x\nretry:-1\n"));
	cr_assert_eq(reader.retry, 15);
	cr_assert_not(reader.ended);
	sse_feed(&reader, S("data:123456789\n\n"));
	cr_assert(reader.ended && reader.too_long);
	sse_reader_done(&reader);
	/* The limit also applies to an event of many short lines. */
	sse_reader_init(&reader, 8, note, &notes);
	sse_feed(&reader, S("data:123\ndata:456\ndata:7\n\n"));
	cr_assert(reader.too_long);
	sse_reader_done(&reader);
	cr_assert_eq(notes.size, 0);
}

static void expect_written(struct str id, struct str type, struct str data, const char *text)
{
	AUTO(buf) out = { 0 };
	sse_write(&out, id, type, data);
	cr_assert(str_equal(buf_str(&out), str_from_c(text)), "%.*s", (int)out.size, out.at);
}

Test(sse, writing)
{
	expect_written(S("7"), S(""), S("{}"), "id: 7\ndata: {}\n\n");
	expect_written(S(""), S("kind"), S(""), "event: kind\ndata: \n\n");
	expect_written(S(""), S(""), S("a\r\nb\rc\nd"), "data: a\ndata: b\ndata: c\ndata: d\n\n");
	/* A line end in an id must not start another field. */
	expect_written(S("1\ndata: x"), S("a\rb"), S("y"),
		       "id: 1?data: x\nevent: a?b\ndata: y\n\n");
}
