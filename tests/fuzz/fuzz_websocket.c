/* The WebSocket's frames under libFuzzer: whatever the bytes and however they are cut, the outcome
 * is the same, every message is whole UTF-8 within its limit, and what goes back is well-formed.
 *
 * The first byte seeds the cutting, the rest is what a client sends.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "net/websocket_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MESSAGE_LIMIT = 300 };

struct notes {
	struct buf text;
	struct websocket_frames frames;
};

static void deliver(void *context, struct str text)
{
	struct notes *notes = context;
	size_t bad;
	require(!notes->frames.ended);
	require(text.size <= MESSAGE_LIMIT && utf8_valid(text, &bad));
	buf_add_format(&notes->text, "%zu:", text.size);
	buf_add(&notes->text, text);
	if (str_starts(text, S("close")))
		websocket_frames_close(&notes->frames, WEBSOCKET_DONE, text);
	else
		websocket_frames_text(&notes->frames, text, true, true);
}

/* What a server sends: unmasked, whole frames in the shortest form, a close last and only one. */
static void check_out(struct str out, bool ended)
{
	bool closed = false;
	while (out.size > 0) {
		require(out.size >= 2 && !closed);
		unsigned first = (uint8_t)out.at[0], length = (uint8_t)out.at[1];
		size_t head = 2, size = length;
		require(first == 0x81 || first == 0x88 || first == 0x8a);
		require(length <= 126);
		if (length == 126) {
			require(out.size >= 4 && first == 0x81);
			size = (size_t)(uint8_t)out.at[2] << 8 | (uint8_t)out.at[3];
			head = 4;
			require(size >= 126);
		}
		require(out.size - head >= size);
		closed = first == 0x88;
		require(!closed || size != 1);
		out = str_skip(out, head + size);
	}
	require(closed == ended);
}

/* Reads all of it in pieces of at most `most` bytes and writes down what came out. */
static void read_all(struct str bytes, size_t most, uint32_t seed, struct buf *out_notes)
{
	struct notes notes = { 0 };
	websocket_frames_init(&notes.frames, MESSAGE_LIMIT, deliver, &notes);
	while (bytes.size > 0) {
		seed = seed * 1664525 + 1013904223;
		size_t piece = most >= bytes.size ? bytes.size : 1 + (seed >> 16) % most;
		websocket_frames_feed(&notes.frames, str_head(bytes, piece));
		bytes = str_skip(bytes, piece);
	}
	check_out(buf_str(&notes.frames.out), notes.frames.ended);
	*out_notes = notes.text;
	buf_add_format(out_notes, " ended %d code %d ", notes.frames.ended, notes.frames.code);
	buf_add(out_notes, buf_str(&notes.frames.out));
	websocket_frames_done(&notes.frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	struct str bytes = { (const char *)data + 1, size - 1 };
	AUTO(buf) whole = { 0 };
	AUTO(buf) cut = { 0 };
	AUTO(buf) single = { 0 };
	read_all(bytes, SIZE_MAX, 0, &whole);
	read_all(bytes, 40, data[0], &cut);
	read_all(bytes, 1, 0, &single);
	require(str_equal(buf_str(&whole), buf_str(&cut)));
	require(str_equal(buf_str(&whole), buf_str(&single)));
	return 0;
}
