/* Server-sent events under libFuzzer: however a stream is cut, the same events come out, each
 * within its limits; and what is written is read back as it was meant.
 *
 * The first byte seeds the cutting, the rest is what a server sends.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "net/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 300 };

static bool note(void *context, struct str id, struct str type, struct str data)
{
	struct buf *notes = context;
	size_t at;
	require(id.size <= LIMIT && type.size <= LIMIT && data.size <= LIMIT);
	require(!str_find(id, S("\0"), &at));
	const struct str parts[] = { id, type, data };
	for (size_t i = 0; i < COUNT(parts); i++) {
		require(!str_find(parts[i], S("\r"), &at));
		require(i == 2 || !str_find(parts[i], S("\n"), &at));
		buf_add_format(notes, "%zu:", parts[i].size);
		buf_add(notes, parts[i]);
	}
	return !str_equal(data, S("stop"));
}

static void read_all(struct str bytes, size_t most, uint32_t seed, struct buf *notes)
{
	struct sse_reader reader;
	sse_reader_init(&reader, LIMIT, note, notes);
	while (bytes.size > 0) {
		seed = seed * 1664525 + 1013904223;
		struct str piece =
			str_head(bytes, most == 0 ? bytes.size : 1 + (seed >> 16) % most);
		sse_feed(&reader, piece);
		bytes = str_skip(bytes, piece.size);
	}
	buf_add_format(notes, "ended %d too_long %d retry %lld", reader.ended, reader.too_long,
		       (long long)reader.retry);
	require(!reader.too_long || reader.ended);
	sse_reader_done(&reader);
}

struct meant {
	struct str data;
	unsigned count;
};

/* Line ends of every kind are read as line feeds. */
static bool is_meant(void *context, struct str id, struct str type, struct str data)
{
	struct meant *meant = context;
	AUTO(buf) folded = { 0 };
	for (size_t i = 0; i < meant->data.size; i++) {
		char c = meant->data.at[i];
		if (c == '\r' && i + 1 < meant->data.size && meant->data.at[i + 1] == '\n')
			continue;
		buf_add_char(&folded, c == '\r' ? '\n' : c);
	}
	require(str_equal(id, S("7?8")) && str_equal(type, S("kind")));
	require(str_equal(data, buf_str(&folded)));
	meant->count++;
	return true;
}

static void write_and_read(struct str data)
{
	AUTO(buf) text = { 0 };
	struct meant meant = { .data = data };
	struct sse_reader reader;
	sse_write(&text, S("7\n8"), S("kind"), data);
	sse_reader_init(&reader, data.size + 100, is_meant, &meant);
	sse_feed(&reader, buf_str(&text));
	require(meant.count == 1 && !reader.ended);
	sse_reader_done(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	struct str bytes = { (const char *)data + 1, size - 1 };
	AUTO(buf) whole = { 0 };
	AUTO(buf) cut = { 0 };
	AUTO(buf) single = { 0 };
	read_all(bytes, 0, 0, &whole);
	read_all(bytes, 20, data[0], &cut);
	read_all(bytes, 1, 0, &single);
	require(str_equal(buf_str(&whole), buf_str(&cut)));
	require(str_equal(buf_str(&whole), buf_str(&single)));
	write_and_read(bytes);
	return 0;
}
