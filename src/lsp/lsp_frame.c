/* lsp/lsp_frame.c -- headers and bodies of the Language Server Protocol. */
#include "lsp/lsp_frame.h"

#include "base/limits.h"

void lsp_frame_init(struct lsp_frame *frame)
{
	/* A whole message and the bytes that came behind it. */
	*frame = (struct lsp_frame){ .bytes = buf_limited(LIMIT_LSP_MESSAGE_BYTES +
							  LIMIT_LSP_HEADER_BYTES +
							  LIMIT_LSP_READ_BYTES) };
}

void lsp_frame_done(struct lsp_frame *frame)
{
	buf_done(&frame->bytes);
}

void lsp_frame_feed(struct lsp_frame *frame, struct str bytes)
{
	if (frame->scanned > 0) {
		buf_drop_front(&frame->bytes, frame->scanned);
		frame->scanned = 0;
	}
	buf_add(&frame->bytes, bytes);
}

/* The number in Content-Length; the other headers of the block are ignored. */
static bool length_of(struct str headers, int64_t *out_length, struct error *error)
{
	struct str line;
	bool found = false;
	while (str_cut(&headers, '\n', &line)) {
		struct str name;
		line = str_trim(line);
		if (line.size == 0)
			continue;
		if (!str_cut(&line, ':', &name) || name.size == 0)
			return fail(error, ERROR_INVALID, "a header of the message has no name");
		if (!str_equal_folded(name, S("Content-Length")))
			continue;
		if (found || !str_to_int(str_trim(line), out_length) || *out_length < 0)
			return fail(error, ERROR_INVALID,
				    "Content-Length must be one whole number");
		found = true;
	}
	if (!found)
		return fail(error, ERROR_INVALID, "a message has no Content-Length");
	if (*out_length > LIMIT_LSP_MESSAGE_BYTES)
		return fail(error, ERROR_TOO_LARGE, "a message has %lld bytes; at most %d are read",
			    (long long)*out_length, LIMIT_LSP_MESSAGE_BYTES);
	return true;
}

bool lsp_frame_take(struct lsp_frame *frame, struct str *out_body, bool *out_found,
		    struct error *error)
{
	struct str rest = str_skip(buf_str(&frame->bytes), frame->scanned);
	size_t end;
	int64_t length = 0;
	*out_found = false;
	if (frame->bytes.full)
		return fail(error, ERROR_TOO_LARGE, "more than %d bytes were sent ahead",
			    LIMIT_LSP_MESSAGE_BYTES);
	if (!str_find(rest, S("\r\n\r\n"), &end)) {
		if (rest.size > LIMIT_LSP_HEADER_BYTES)
			return fail(error, ERROR_INVALID, "the headers of a message do not end");
		return true;
	}
	if (end > LIMIT_LSP_HEADER_BYTES)
		return fail(error, ERROR_INVALID, "the headers of a message are too long");
	if (!length_of(str_head(rest, end), &length, error))
		return false;
	end += 4;
	if (rest.size - end < (size_t)length)
		return true;
	*out_body = (struct str){ rest.at + end, (size_t)length };
	*out_found = true;
	frame->scanned += end + (size_t)length;
	return true;
}

void lsp_frame_put(struct buf *out, struct str body)
{
	buf_add_format(out, "Content-Length: %zu\r\n\r\n", body.size);
	buf_add(out, body);
}
