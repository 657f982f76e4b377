/* Replies of models under libFuzzer: whatever a provider sends, however it is cut, the three formats
 * read it the same way, within their limits, and never as a reply without its end.
 *
 * The first byte chooses the format, whether it streams, and the cutting; the rest is what arrives.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "llm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
	struct buf text, notes;
};

static void hear(void *context, enum llm_part part, struct str delta)
{
	struct heard *heard = context;
	size_t bad;
	require(delta.size > 0 && utf8_valid(delta, &bad));
	if (part == LLM_PART_TEXT)
		buf_add(&heard->text, delta);
}

static void note(struct heard *heard, const struct llm_result *result)
{
	AUTO(arena) arena = { 0 };
	const struct json *output = llm_output(result, true, &arena);
	struct str text = json_print(&arena, output);
	require(str_equal(buf_str(&heard->text), result->text));
	buf_add(&heard->notes, text);
	for (size_t i = 0; i < result->calls.count; i++)
		for (size_t k = 0; k < i; k++)
			require(!str_equal(result->calls.at[i].id, result->calls.at[k].id));
}

static void read_all(const struct wire *wire, bool streams, struct str bytes, size_t most,
		     uint32_t seed, struct heard *heard)
{
	struct wire_reply reply;
	struct llm_result result;
	struct error error = { 0 };
	wire_reply_init(&reply, wire, streams, hear, heard);
	while (bytes.size > 0) {
		seed = seed * 1664525 + 1013904223;
		struct str piece =
			str_head(bytes, most == 0 ? bytes.size : 1 + (seed >> 16) % most);
		wire_reply_feed(&reply, piece);
		bytes = str_skip(bytes, piece.size);
	}
	if (wire_reply_end(&reply, S("call"), &result, &error)) {
		require(reply.ended);
		note(heard, &result);
	} else {
		require(error.code != ERROR_NONE);
		buf_add_format(&heard->notes, "code %d", (int)error.code);
	}
	wire_reply_done(&reply);
}

static void heard_done(struct heard *heard)
{
	buf_done(&heard->text);
	buf_done(&heard->notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct wire *const wires[] = { &wire_openai_chat, &wire_openai_responses,
						    &wire_anthropic };
	if (size < 1)
		return 0;
	const struct wire *wire = wires[data[0] % 3];
	bool streams = data[0] / 3 % 2 == 0;
	struct str bytes = { (const char *)data + 1, size - 1 };
	struct heard whole = { 0 }, cut = { 0 };
	read_all(wire, streams, bytes, 0, 0, &whole);
	read_all(wire, streams, bytes, 20, data[0], &cut);
	require(str_equal(buf_str(&whole.notes), buf_str(&cut.notes)));
	heard_done(&whole);
	heard_done(&cut);
	return 0;
}
