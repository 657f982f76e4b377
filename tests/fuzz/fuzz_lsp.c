/* The language server under libFuzzer: bytes of a client, and questions about any text at any place.
 *
 * With an odd first byte the rest is what a client sends, cut into pieces.  Otherwise it is a workflow file: all
 * questions are asked at places spread over it.  Whatever is answered must be messages of JSON.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/utf8.h"
#include "lsp/language_server.h"
#include "lsp/lsp_frame.h"
#include "lsp/text_position.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct json *read_text(struct str text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	return json_read(text, arena, &json, &error) ? json : NULL;
}

static const struct json *check(void *context, struct str name, struct str text,
				struct arena *arena)
{
	(void)context;
	return name.size + text.size == 0
		       ? NULL
		       : read_text(
				 S("{\"is_valid\":false,\"problems\":[{\"text\":\"t\",\"line\":2,\"column\":3},"
				   "{\"text\":\"u\"}],\"warnings\":[\"w\"]}"),
				 arena);
}

static const struct json *catalog(void *context, enum lsp_catalog which, struct arena *arena)
{
	(void)context;
	(void)which;
	return read_text(
		S("[{\"name\":\"shell\",\"text\":\"x\",\"parameters\":{\"properties\":{\"command\":{}}},"
		  "\"outputs\":{\"properties\":{\"stdout\":{\"type\":\"string\"}}}}]"),
		arena);
}

static bool exists(void *context, struct str path)
{
	(void)context;
	return path.size % 2 == 0;
}

static const struct lsp_host host = { check, catalog, exists, NULL };

/* Everything that was answered is a sequence of messages of JSON. */
static void judge(struct buf *out)
{
	struct lsp_frame frame;
	struct error error;
	struct str body;
	bool found = true;
	AUTO(arena) arena = { 0 };
	lsp_frame_init(&frame);
	lsp_frame_feed(&frame, buf_str(out));
	while (found) {
		bool good = lsp_frame_take(&frame, &body, &found, &error);
		require(good);
		require(!found || read_text(body, &arena) != NULL);
	}
	require(frame.scanned == frame.bytes.size);
	lsp_frame_done(&frame);
	buf_clear(out);
}

static void converse(struct str bytes, uint32_t seed)
{
	struct language_server *server = language_server_new(&host);
	AUTO(buf) out = { 0 };
	struct error error;
	bool good = true;
	while (good && bytes.size > 0) {
		seed = seed * 1664525 + 1013904223;
		struct str piece = str_head(bytes, 1 + (seed >> 16) % 40);
		good = language_server_feed(server, piece, &out, &error);
		if (seed % 3 == 0)
			(void)language_server_settle(server, &out);
		bytes = str_skip(bytes, piece.size);
	}
	(void)language_server_settle(server, &out);
	judge(&out);
	language_server_free(server);
}

static void send(struct language_server *server, struct str body, struct buf *out)
{
	AUTO(buf) bytes = { 0 };
	struct error error;
	lsp_frame_put(&bytes, body);
	bool good = language_server_feed(server, buf_str(&bytes), out, &error);
	require(good);
}

static void open_file(struct language_server *server, struct str text, struct buf *out)
{
	AUTO(buf) body = { 0 };
	struct json_writer writer = { .out = &body };
	buf_add(&body, S("{\"method\":\"textDocument/didOpen\",\"params\":{\"textDocument\":"
			 "{\"uri\":\"file:///a/b.yaml\",\"version\":1,\"text\":"));
	json_put_str(&writer, text);
	buf_add(&body, S("}}}"));
	send(server, S("{\"id\":1,\"method\":\"initialize\",\"params\":{}}"), out);
	send(server, buf_str(&body), out);
}

static void ask(struct str text, uint32_t seed)
{
	static const char *const methods[] = { "completion", "hover", "definition" };
	struct language_server *server = language_server_new(&host);
	AUTO(buf) out = { 0 };
	AUTO(arena) arena = { 0 };
	open_file(server, text, &out);
	for (uint32_t i = 0; i < 24; i++) {
		seed = seed * 1664525 + 1013904223;
		struct str body = str_format(
			&arena,
			"{\"id\":%u,\"method\":\"textDocument/%s\",\"params\":{\"textDocument\":"
			"{\"uri\":\"file:///a/b.yaml\"},\"position\":{\"line\":%u,\"character\":%u}}}",
			i, methods[i % 3], (seed >> 8) % 12, (seed >> 20) % 48);
		send(server, body, &out);
		judge(&out);
	}
	(void)language_server_settle(server, &out);
	judge(&out);
	language_server_free(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bad;
	if (size < 1)
		return 0;
	struct str bytes = { (const char *)data + 1, size - 1 };
	if (data[0] % 2 == 1)
		converse(bytes, data[0]);
	else if (utf8_valid(bytes, &bad))
		ask(bytes, data[0]);
	return 0;
}
