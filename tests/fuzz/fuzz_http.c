/* The request reader under libFuzzer: whatever the bytes and however they are cut, the outcome is
 * the same, and every request it gives keeps the reader's promises.
 *
 * The first byte seeds the cutting, the rest is what a client sends.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "net/http_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(struct buf *notes, struct str text)
{
	buf_add_format(notes, "%zu:", text.size);
	buf_add(notes, text);
}

static void note_request(struct buf *notes, const struct http_parse *parse)
{
	struct http_request request = { 0 };
	http_parse_request(parse, &request);
	note(notes, request.method);
	note(notes, request.path);
	note(notes, request.query);
	for (size_t i = 0; i < request.header_count; i++) {
		note(notes, request.headers[i].name);
		note(notes, request.headers[i].value);
		require(request.headers[i].name.size > 0);
	}
	note(notes, request.body);
	buf_add_format(notes, "%d%d%d%d\n", parse->keep_alive, parse->old, parse->head_only,
		       parse->wants_continue);
	require(request.path.size > 0 && (request.path.at[0] == '/' || request.path.at[0] == '*'));
	require(request.header_count <= LIMIT_HTTP_HEADERS);
	require(request.body.size <= LIMIT_HTTP_BODY_BYTES);
}

/* Reads all of it in pieces of at most `most` bytes and writes down what came out. */
static void read_all(struct str bytes, size_t most, uint32_t seed, struct buf *notes)
{
	struct http_parse parse;
	http_parse_init(&parse);
	size_t at = 0, piece_end = 0;
	while (at < bytes.size) {
		if (at == piece_end) {
			seed = seed * 1664525 + 1013904223;
			piece_end += most == bytes.size ? most : 1 + (seed >> 16) % most;
			if (piece_end > bytes.size)
				piece_end = bytes.size;
		}
		size_t used =
			http_parse_feed(&parse, str_head(str_skip(bytes, at), piece_end - at));
		require(used <= piece_end - at);
		at += used;
		if (parse.state == HTTP_PARSE_REFUSED) {
			buf_add_format(notes, "refused %d %s\n", (int)parse.code, parse.detail);
			break;
		}
		if (parse.state == HTTP_PARSE_WHOLE) {
			note_request(notes, &parse);
			http_parse_next(&parse);
		} else {
			require(at == piece_end);
		}
	}
	if (parse.state != HTTP_PARSE_REFUSED)
		buf_add_format(notes, "state %d begun %d body %zu\n", (int)parse.state,
			       http_parse_begun(&parse), parse.body.size);
	http_parse_done(&parse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	struct str bytes = { (const char *)data + 1, size - 1 };
	AUTO(buf) whole = { 0 };
	AUTO(buf) cut = { 0 };
	AUTO(buf) single = { 0 };
	read_all(bytes, bytes.size, 0, &whole);
	read_all(bytes, 40, data[0], &cut);
	read_all(bytes, 1, 0, &single);
	require(str_equal(buf_str(&whole), buf_str(&cut)));
	require(str_equal(buf_str(&whole), buf_str(&single)));
	return 0;
}
