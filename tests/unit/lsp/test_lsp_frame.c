/* Messages of the Language Server Protocol, and its positions. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/limits.h"
#include "lsp/lsp_frame.h"
#include "lsp/text_position.h"

Test(lsp_frame, messages_come_out_however_they_are_cut)
{
	AUTO(buf) sent = { 0 };
	const struct str bodies[] = { { "{}", 2 }, { "", 0 }, { "{\"a\":\r\n\r\n1}", 11 } };
	for (size_t i = 0; i < COUNT(bodies); i++)
		lsp_frame_put(&sent, bodies[i]);
	buf_add(&sent, S("X-Other: 7\r\ncontent-length: 2\r\n\r\n[]"));
	for (size_t piece = 1; piece <= sent.size; piece++) {
		struct lsp_frame frame;
		struct error error;
		struct str body;
		size_t count = 0;
		bool found;
		lsp_frame_init(&frame);
		for (size_t at = 0; at < sent.size; at += piece) {
			lsp_frame_feed(&frame, str_head(str_skip(buf_str(&sent), at), piece));
			while (lsp_frame_take(&frame, &body, &found, &error) && found) {
				struct str wanted = count < COUNT(bodies) ? bodies[count] : S("[]");
				cr_assert(str_equal(body, wanted));
				count++;
			}
		}
		cr_assert_eq(count, COUNT(bodies) + 1, "pieces of %zu", piece);
		lsp_frame_done(&frame);
	}
}

static void expect_refusal(struct str bytes, enum error_code code)
{
	struct lsp_frame frame;
	struct error error = { 0 };
	struct str body;
	bool found;
	lsp_frame_init(&frame);
	lsp_frame_feed(&frame, bytes);
	cr_expect(!lsp_frame_take(&frame, &body, &found, &error), STR_FMT, STR_ARG(bytes));
	cr_expect_eq(error.code, code);
	lsp_frame_done(&frame);
}

Test(lsp_frame, what_is_no_message_is_refused)
{
	char *long_header = malloc(LIMIT_LSP_HEADER_BYTES + 1);
	expect_refusal(S("Content-Length: -1\r\n\r\n"), ERROR_INVALID);
	expect_refusal(S("Content-Length: 1x\r\n\r\n"), ERROR_INVALID);
	expect_refusal(S("Content-Length: 1\r\nContent-Length: 1\r\n\r\n"), ERROR_INVALID);
	expect_refusal(S("X: y\r\n\r\n"), ERROR_INVALID);
	expect_refusal(S("no header\r\n\r\n"), ERROR_INVALID);
	expect_refusal(S("Content-Length: 8388609\r\n\r\n"), ERROR_TOO_LARGE);
	for (size_t i = 0; i <= LIMIT_LSP_HEADER_BYTES; i++)
		long_header[i] = 'a';
	expect_refusal((struct str){ long_header, LIMIT_LSP_HEADER_BYTES + 1 }, ERROR_INVALID);
	free(long_header);
}

Test(text_position, units_and_bytes)
{
	struct str line = S("a\xC3\xA9\xF0\x9F\x98\x80z");
	cr_expect_eq(text_bytes(line, 2, false), 3);
	cr_expect_eq(text_bytes(line, 4, false), 7);
	cr_expect_eq(text_bytes(line, 3, true), 3);
	cr_expect_eq(text_bytes(line, 99, false), 8);
	cr_expect_eq(text_bytes(line, -1, false), 0);
	cr_expect_eq(text_characters(line, 7, false), 4);
	cr_expect_eq(text_characters(line, 7, true), 7);
	cr_expect_eq(text_column_bytes(line, 2), 3);
	cr_expect(str_equal(text_line(S("a\r\nb\n"), 0), S("a")));
	cr_expect(str_equal(text_line(S("a\r\nb\n"), 1), S("b")));
	cr_expect(str_equal(text_line(S("a\r\nb\n"), 9), S("")));
}
