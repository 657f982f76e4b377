/* net/websocket_handshake.c -- checks a request to open a WebSocket and computes the accept key.
 *
 * A request without a correct upgrade offer gets 426, which names the upgrade.  A request with a
 * correct offer but an invalid key or a body gets 400.
 */
#include "net/websocket_handshake.h"

#include <string.h>

#include "net/sha1.h"
#include "net/websocket.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static size_t header_count(const struct http_request *request, struct str name)
{
	size_t count = 0;
	for (size_t i = 0; i < request->header_count; i++)
		count += str_equal_folded(request->headers[i].name, name);
	return count;
}

/* True when the header, a comma-separated list, contains the word. */
static bool header_contains(const struct http_request *request, struct str name, struct str word)
{
	for (size_t i = 0; i < request->header_count; i++) {
		struct str rest = request->headers[i].value, item;
		if (!str_equal_folded(request->headers[i].name, name))
			continue;
		while (str_cut(&rest, ',', &item))
			if (str_equal_folded(str_trim(item), word))
				return true;
	}
	return false;
}

/* True for 16 bytes in base64: 22 characters, the last of which has only its upper two bits set,
 * and the padding. */
static bool is_key(struct str key)
{
	if (key.size != 24 || !str_ends(key, S("==")))
		return false;
	for (size_t i = 0; i < 22; i++)
		if (key.at[i] == '\0' || strchr(alphabet, key.at[i]) == NULL)
			return false;
	return strchr("AQgw", key.at[21]) != NULL;
}

bool websocket_is_requested(const struct http_request *request)
{
	return header_contains(request, S("Upgrade"), S("websocket"));
}

bool websocket_offers(const struct http_request *request, struct str protocol)
{
	return header_contains(request, S("Sec-WebSocket-Protocol"), protocol);
}

bool websocket_check(const struct http_request *request, struct error *error)
{
	if (!websocket_is_requested(request) || request->old ||
	    !header_contains(request, S("Connection"), S("upgrade")))
		return fail(error, ERROR_UPGRADE_REQUIRED,
			    "this path is a WebSocket; request it with HTTP/1.1, "
			    "Connection: Upgrade and Upgrade: websocket");
	if (!str_equal(request->method, S("GET")))
		return fail(error, ERROR_USAGE, "a WebSocket must be opened with GET");
	if (header_count(request, S("Sec-WebSocket-Version")) != 1 ||
	    !str_equal(http_header(request, S("Sec-WebSocket-Version")), S("13")))
		return fail(error, ERROR_UPGRADE_REQUIRED,
			    "unsupported Sec-WebSocket-Version; expected 13");
	if (header_count(request, S("Sec-WebSocket-Key")) != 1 ||
	    !is_key(http_header(request, S("Sec-WebSocket-Key"))))
		return fail(error, ERROR_USAGE,
			    "Sec-WebSocket-Key is missing or invalid; send 16 bytes in base64");
	if (request->body.size > 0)
		return fail(error, ERROR_USAGE,
			    "a request to open a WebSocket must not have a body");
	return true;
}

void websocket_accept_key(struct str key, char out[WEBSOCKET_ACCEPT_SIZE])
{
	AUTO(buf) text = { 0 };
	buf_add(&text, key);
	buf_add(&text, S("258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
	uint8_t hash[SHA1_SIZE + 1] = { 0 };
	sha1(buf_str(&text), hash);
	for (size_t i = 0; i < 7; i++) {
		uint32_t three = (uint32_t)hash[3 * i] << 16 | (uint32_t)hash[3 * i + 1] << 8 |
				 hash[3 * i + 2];
		for (size_t j = 0; j < 4; j++)
			out[4 * i + j] = alphabet[three >> (18 - 6 * j) & 63];
	}
	out[27] = '=';
	out[28] = '\0';
}
