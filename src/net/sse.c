/* net/sse.c -- server-sent events, processed line by line.
 *
 * A carriage return ends a line immediately, and a line feed directly after it is dropped.  So an
 * event is delivered with its last byte, without waiting for the first byte of the next event.
 */
#include "net/sse.h"

static const char mark[] = "\xef\xbb\xbf";

/* ---- writing ----------------------------------------------------------------------------- */

static void put_field(struct buf *out, struct str name, struct str value)
{
	buf_add(out, name);
	for (size_t i = 0; i < value.size; i++) {
		char c = value.at[i];
		buf_add_char(out, c == '\n' || c == '\r' || c == '\0' ? '?' : c);
	}
	buf_add_char(out, '\n');
}

void sse_write(struct buf *out, struct str id, struct str type, struct str data)
{
	if (id.size > 0)
		put_field(out, S("id: "), id);
	if (type.size > 0)
		put_field(out, S("event: "), type);
	buf_add(out, S("data: "));
	for (size_t i = 0; i < data.size; i++) {
		char c = data.at[i];
		if (c == '\r' && i + 1 < data.size && data.at[i + 1] == '\n')
			continue;
		if (c == '\r' || c == '\n')
			buf_add(out, S("\ndata: "));
		else
			buf_add_char(out, c);
	}
	buf_add(out, S("\n\n"));
}

/* ---- reading ----------------------------------------------------------------------------- */

static void reader_end(struct sse_reader *reader, bool too_long)
{
	reader->ended = true;
	reader->too_long = too_long;
}

static void dispatch(struct sse_reader *reader)
{
	if (reader->has_data && !reader->deliver(reader->context, buf_str(&reader->id),
						 buf_str(&reader->type), buf_str(&reader->data)))
		reader_end(reader, false);
	buf_clear(&reader->data);
	buf_clear(&reader->type);
	reader->has_data = false;
}

static void take_data(struct sse_reader *reader, struct str value)
{
	bool fits = !reader->has_data || buf_add_char(&reader->data, '\n');
	reader->has_data = true;
	if (!fits || !buf_add(&reader->data, value))
		reader_end(reader, true);
}

/* Accepts only a decimal number; ignores any other value. */
static void take_retry(struct sse_reader *reader, struct str value)
{
	int64_t number;
	bool digits = value.size > 0 && value.at[0] >= '0' && value.at[0] <= '9';
	if (digits && str_to_int(value, &number))
		reader->retry = number;
}

static void take_line(struct sse_reader *reader)
{
	struct str value = buf_str(&reader->line), name = value;
	size_t colon, nul;
	if (value.size == 0) {
		dispatch(reader);
		return;
	}
	bool has_value = str_find(value, S(":"), &colon);
	name = has_value ? str_head(value, colon) : value;
	value = has_value ? str_skip(value, colon + 1) : S("");
	if (str_starts(value, S(" ")))
		value = str_skip(value, 1);
	if (str_equal(name, S("data"))) {
		take_data(reader, value);
	} else if (str_equal(name, S("event"))) {
		buf_clear(&reader->type);
		buf_add(&reader->type, value);
	} else if (str_equal(name, S("id")) && !str_find(value, S("\0"), &nul)) {
		buf_clear(&reader->id);
		buf_add(&reader->id, value);
	} else if (str_equal(name, S("retry"))) {
		take_retry(reader, value);
	}
}

/* Consumes a byte of a byte order mark at the beginning of the stream.  If the bytes turn out not
 * to be one, they become part of the first line. */
static bool take_mark(struct sse_reader *reader, char c)
{
	if (c == mark[reader->mark_size]) {
		reader->mark_size++;
		return true;
	}
	buf_add(&reader->line, (struct str){ mark, reader->mark_size });
	reader->mark_size = 3;
	return false;
}

void sse_feed(struct sse_reader *reader, struct str bytes)
{
	for (size_t i = 0; i < bytes.size && !reader->ended; i++) {
		char c = bytes.at[i];
		if (reader->mark_size < 3 && take_mark(reader, c))
			continue;
		bool second = reader->after_return && c == '\n';
		reader->after_return = c == '\r';
		if (second)
			continue;
		if (c == '\r' || c == '\n') {
			take_line(reader);
			buf_clear(&reader->line);
		} else if (!buf_add_char(&reader->line, c)) {
			reader_end(reader, true);
		}
	}
}

void sse_reader_init(struct sse_reader *reader, size_t limit, sse_deliver *deliver, void *context)
{
	*reader = (struct sse_reader){ .retry = -1,
				       .line = buf_limited(limit),
				       .data = buf_limited(limit),
				       .type = buf_limited(limit),
				       .id = buf_limited(limit),
				       .deliver = deliver,
				       .context = context };
}

void sse_reader_done(struct sse_reader *reader)
{
	buf_done(&reader->line);
	buf_done(&reader->data);
	buf_done(&reader->type);
	buf_done(&reader->id);
}
