/* WebSockets: handshake, valid and invalid frames, close, idle timeout, slow readers. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sha1.h"
#include "net/websocket.h"
#include "net/websocket_handshake.h"
#include "socket_client.h"

/* ---- the handshake ------------------------------------------------------------------------- */

static void expect_sha1(struct str text, const char *hex)
{
	uint8_t hash[SHA1_SIZE];
	char got[2 * SHA1_SIZE + 1];
	sha1(text, hash);
	for (size_t i = 0; i < SHA1_SIZE; i++)
		snprintf(got + 2 * i, 3, "%02x", hash[i]);
	cr_assert_str_eq(got, hex);
}

Test(websocket, sha1_as_published)
{
	expect_sha1(S(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	expect_sha1(S("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
	expect_sha1(S("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
		    "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
	AUTO(buf) a = { 0 };
	for (size_t i = 0; i < 1000000; i++)
		buf_add_char(&a, 'a');
	expect_sha1(buf_str(&a), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
	/* Sizes around block boundaries, where the padding changes. */
	expect_sha1(str_head(buf_str(&a), 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
	expect_sha1(str_head(buf_str(&a), 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
	expect_sha1(str_head(buf_str(&a), 63), "03f09f5b158a7a8cdad920bddc29b81c18a551f5");
	expect_sha1(str_head(buf_str(&a), 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

Test(websocket, the_accept_key_of_the_rfc)
{
	char accept[WEBSOCKET_ACCEPT_SIZE];
	websocket_accept_key(S("dGhlIHNhbXBsZSBub25jZQ=="), accept);
	cr_assert_str_eq(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

Test(websocket, a_handshake)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = client_open(&rig);
	client_send(client, socket_request);
	AUTO(response) response;
	client_read(client, true, &response);
	cr_assert_eq(response.status, 101);
	cr_assert(response_has(&response, "\r\nUpgrade: websocket\r\n"));
	cr_assert(response_has(&response, "\r\nConnection: Upgrade\r\n"));
	cr_assert(response_has(&response,
			       "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	cr_assert(!response_has(&response, "Content-Length"));
	cr_assert(!response_has(&response, "Transfer-Encoding"));
	socket_send(client, FIN | TEXT, S("hello"));
	socket_expect(client, FIN | TEXT, S("hello"));
	close(client);
	rig_wait(&rig, RIG_GONE, 1);
	rig_close(&rig);
}

#define WS_HOST    "Host: x\r\n"
#define WS_UPGRADE "Upgrade: websocket\r\n"
#define WS_CONNECT "Connection: Upgrade\r\n"
#define WS_VERSION "Sec-WebSocket-Version: 13\r\n"
#define WS_KEY     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static const struct {
	const char *line, *headers;
	int status;
} handshakes[] = {
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY, 101 },
	/* Tokens in any case, in lists, in any order. */
	{ "GET /socket HTTP/1.1",
	  WS_KEY WS_VERSION "connection: keep-alive,  uPGRADE\r\nupgrade: h2c, WebSocket\r\n",
	  101 },
	{ "GET /socket HTTP/1.1", "Upgrade: h2c\r\n" WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY, 101 },
	{ "GET /socket HTTP/1.1", "", 426 },
	{ "GET /socket HTTP/1.1", WS_CONNECT WS_VERSION WS_KEY, 426 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_VERSION WS_KEY, 426 },
	{ "GET /socket HTTP/1.1", "Upgrade: websockets\r\n" WS_CONNECT WS_VERSION WS_KEY, 426 },
	{ "GET /socket HTTP/1.0", WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY, 426 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT WS_KEY, 426 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT WS_VERSION WS_VERSION WS_KEY, 426 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT "Sec-WebSocket-Version: 8\r\n" WS_KEY,
	  426 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT "Sec-WebSocket-Version: 13, 8\r\n" WS_KEY,
	  426 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT WS_VERSION, 400 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY WS_KEY, 400 },
	{ "GET /socket HTTP/1.1",
	  WS_UPGRADE WS_CONNECT WS_VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j\r\n", 400 },
	{ "GET /socket HTTP/1.1",
	  WS_UPGRADE WS_CONNECT WS_VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQAA\r\n", 400 },
	{ "GET /socket HTTP/1.1",
	  WS_UPGRADE WS_CONNECT WS_VERSION "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==\r\n", 400 },
	{ "GET /socket HTTP/1.1",
	  WS_UPGRADE WS_CONNECT WS_VERSION "Sec-WebSocket-Key: dGhl*HNhbXBsZSBub25jZQ==\r\n", 400 },
	{ "GET /socket HTTP/1.1", WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY "Content-Length: 1\r\n",
	  400 },
	{ "POST /socket HTTP/1.1", WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY, 400 },
	{ "HEAD /socket HTTP/1.1", "", 426 },
};

Test(websocket, handshakes_good_and_bad)
{
	struct rig rig;
	rig_open(&rig, NULL);
	for (size_t i = 0; i < COUNT(handshakes); i++) {
		char request[1024];
		snprintf(request, sizeof(request), "%s\r\n" WS_HOST "%s\r\n%s", handshakes[i].line,
			 handshakes[i].headers,
			 strstr(handshakes[i].headers, "Length: 1") == NULL ? "" : "x");
		int client = client_open(&rig);
		client_send(client, request);
		AUTO(response) response;
		client_read(client, handshakes[i].line[0] == 'H', &response);
		cr_expect_eq(response.status, handshakes[i].status, "%zu: %s", i, response.head.at);
		if (response.status == 426) {
			cr_expect(response_has(&response, "\r\nUpgrade: websocket\r\n"));
			cr_expect(response_has(&response, "\r\nSec-WebSocket-Version: 13\r\n"));
			cr_expect(response_has(&response, "\r\nConnection: Upgrade"));
		}
		close(client);
	}
	rig_close(&rig);
}

Test(websocket, an_upgrade_nobody_asked_for_is_an_ordinary_request)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = client_open(&rig);
	client_send(client, "GET /echo HTTP/1.1\r\n" WS_HOST WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY
			    "\r\nGET /echo?2 HTTP/1.1\r\n" WS_HOST "\r\n");
	for (int i = 0; i < 2; i++) {
		AUTO(response) response;
		client_read(client, false, &response);
		cr_assert_eq(response.status, 200);
	}
	close(client);
	rig_close(&rig);
}

Test(websocket, what_came_before_it_was_accepted_is_not_lost)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = client_open(&rig);
	AUTO(buf) bytes = { 0 };
	buf_add_format(&bytes, "GET /socket-later HTTP/1.1\r\n" WS_HOST WS_UPGRADE WS_CONNECT
				       WS_VERSION WS_KEY "\r\n");
	frame_add(&bytes, FIN | TEXT, S("early"));
	socket_send_buf(client, &bytes);
	rig_wait(&rig, RIG_REQUEST, 1);
	cr_assert_eq(rig_count(&rig, RIG_MESSAGE), 0);
	rig_accept(&rig);
	AUTO(response) response;
	client_read(client, true, &response);
	cr_assert_eq(response.status, 101);
	socket_expect(client, FIN | TEXT, S("early"));
	close(client);
	rig_wait(&rig, RIG_GONE, 1);
	rig_close(&rig);
}

Test(websocket, a_client_that_left_before_it_was_accepted)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = client_open(&rig);
	client_send(client,
		    "GET /socket-later HTTP/1.1\r\n" WS_HOST WS_UPGRADE WS_CONNECT WS_VERSION WS_KEY
		    "\r\n");
	rig_wait(&rig, RIG_REQUEST, 1);
	close(client);
	rig_wait(&rig, RIG_GONE, 1);
	rig_accept(&rig);
	rig_close(&rig);
}

Test(websocket, over_the_local_socket_too)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = client_open_local(rig.path);
	client_send(client, socket_request);
	AUTO(response) response;
	client_read(client, true, &response);
	cr_assert_eq(response.status, 101);
	socket_send(client, FIN | TEXT, S("local"));
	socket_expect(client, FIN | TEXT, S("local"));
	socket_send(client, FIN | CLOSE, S("\x03\xe8"));
	socket_expect_close(client, 1000);
	close(client);
	rig_close(&rig);
}

/* ---- frames -------------------------------------------------------------------------------- */

Test(websocket, messages_of_every_size_form)
{
	static const size_t sizes[] = { 0, 1, 125, 126, 127, 65535, 65536 };
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket_open(&rig);
	AUTO(buf) text = { 0 };
	memset(buf_reserve(&text, 65536), 'm', 65536);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		text.size = sizes[i];
		socket_send(client, FIN | TEXT, buf_str(&text));
		socket_expect(client, FIN | TEXT, buf_str(&text));
	}
	close(client);
	rig_close(&rig);
}

Test(websocket, fragments_with_control_frames_between_them_and_every_byte_alone)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket_open(&rig);
	AUTO(buf) bytes = { 0 };
	frame_add(&bytes, TEXT, S("gr\xc3"));
	frame_add(&bytes, FIN | PING, S("p1"));
	frame_add(&bytes, 0, S(""));
	frame_add(&bytes, 0, S("\xbc\xc3\x9f"));
	frame_add(&bytes, FIN | PONG, S("nobody asked"));
	frame_add(&bytes, FIN, S("e"));
	for (size_t i = 0; i < bytes.size; i++)
		client_send_bytes(client, bytes.at + i, 1);
	socket_expect(client, FIN | PONG, S("p1"));
	socket_expect(client, FIN | TEXT,
		      S("gr\xc3\xbc\xc3\x9f"
			"e"));
	rig_wait(&rig, RIG_MESSAGE, 1);
	close(client);
	rig_close(&rig);
}

static struct str repeat(struct buf *buf, char c, size_t size)
{
	buf_clear(buf);
	memset(buf_reserve(buf, size + 1), c, size);
	buf->size = size;
	return buf_str(buf);
}

/* Sends these bytes on a new WebSocket and expects a close with the code. */
static void expect_refusal(struct rig *rig, const struct buf *bytes, int code)
{
	unsigned gone = rig_count(rig, RIG_GONE);
	int client = socket_open(rig);
	socket_send_buf(client, bytes);
	socket_expect_close(client, code);
	close(client);
	rig_wait(rig, RIG_GONE, gone + 1);
}

static void expect_refused_frame(struct rig *rig, int first, struct str payload, int code)
{
	AUTO(buf) bytes = { 0 };
	frame_add(&bytes, first, payload);
	expect_refusal(rig, &bytes, code);
}

Test(websocket, reserved_bits_and_opcodes)
{
	struct rig rig;
	rig_open(&rig, NULL);
	for (int bit = 0x10; bit < 0x80; bit <<= 1)
		expect_refused_frame(&rig, FIN | bit | TEXT, S("x"), 1002);
	for (int opcode = 3; opcode < 16; opcode++)
		if (opcode < CLOSE || opcode > PONG)
			expect_refused_frame(&rig, FIN | opcode, S(""), 1002);
	cr_assert_eq(rig_count(&rig, RIG_MESSAGE), 0);
	rig_close(&rig);
}

Test(websocket, control_frames_are_short_and_whole)
{
	struct rig rig;
	rig_open(&rig, NULL);
	AUTO(buf) long_one = { 0 };
	repeat(&long_one, 'p', 126);
	for (int opcode = CLOSE; opcode <= PONG; opcode++) {
		expect_refused_frame(&rig, opcode, S(""), 1002);
		expect_refused_frame(&rig, FIN | opcode, buf_str(&long_one), 1002);
	}
	rig_close(&rig);
}

Test(websocket, fragments_out_of_order)
{
	struct rig rig;
	rig_open(&rig, NULL);
	expect_refused_frame(&rig, FIN, S("continues nothing"), 1002);
	expect_refused_frame(&rig, 0, S("continues nothing"), 1002);
	AUTO(buf) bytes = { 0 };
	frame_add(&bytes, TEXT, S("begun"));
	frame_add(&bytes, FIN | TEXT, S("and begun again"));
	expect_refusal(&rig, &bytes, 1002);
	cr_assert_eq(rig_count(&rig, RIG_MESSAGE), 0);
	rig_close(&rig);
}

Test(websocket, lengths_that_are_none)
{
	struct rig rig;
	rig_open(&rig, NULL);
	AUTO(buf) bytes = { 0 };
	/* 2^63 violates the protocol; 2^63 - 1 is only too long, which the header reveals. */
	frame_add_bare(&bytes, FIN | TEXT, MASKED | 127, S("\x80\0\0\0\0\0\0\0mask"));
	expect_refusal(&rig, &bytes, 1002);
	buf_clear(&bytes);
	frame_add_bare(&bytes, FIN | TEXT, MASKED | 127,
		       S("\x7f\xff\xff\xff\xff\xff\xff\xffmask!"));
	expect_refusal(&rig, &bytes, 1009);
	/* A length that is not in its shortest form. */
	buf_clear(&bytes);
	frame_add_bare(&bytes, FIN | TEXT, MASKED | 126, S("\0\x7dmask"));
	expect_refusal(&rig, &bytes, 1002);
	buf_clear(&bytes);
	frame_add_bare(&bytes, FIN | TEXT, MASKED | 127, S("\0\0\0\0\0\0\xff\xffmask"));
	expect_refusal(&rig, &bytes, 1002);
	rig_close(&rig);
}

Test(websocket, an_unmasked_frame)
{
	struct rig rig;
	rig_open(&rig, NULL);
	AUTO(buf) bytes = { 0 };
	frame_add_bare(&bytes, FIN | TEXT, 2, S("hi"));
	expect_refusal(&rig, &bytes, 1002);
	buf_clear(&bytes);
	frame_add_bare(&bytes, FIN | PING, 0, S(""));
	expect_refusal(&rig, &bytes, 1002);
	cr_assert_eq(rig_count(&rig, RIG_MESSAGE), 0);
	rig_close(&rig);
}

Test(websocket, binary_is_not_taken)
{
	struct rig rig;
	rig_open(&rig, NULL);
	expect_refused_frame(&rig, FIN | BINARY, S("x"), 1003);
	expect_refused_frame(&rig, BINARY, S(""), 1003);
	rig_close(&rig);
}

Test(websocket, text_that_is_not_utf8)
{
	static const struct str bad[] = {
		{ "\xff", 1 },         { "\xc0\x80", 2 },
		{ "\xed\xa0\x80", 3 }, { "\xf4\x90\x80\x80", 4 },
		{ "a\x80", 2 },        { "half \xc3", 6 },
	};
	struct rig rig;
	rig_open(&rig, NULL);
	for (size_t i = 0; i < COUNT(bad); i++)
		expect_refused_frame(&rig, FIN | TEXT, bad[i], 1007);
	/* A character split between fragments: the error is detected at the first invalid byte. */
	AUTO(buf) bytes = { 0 };
	frame_add(&bytes, TEXT, S("\xed"));
	frame_add(&bytes, 0, S("\xa0"));
	expect_refusal(&rig, &bytes, 1007);
	buf_clear(&bytes);
	frame_add(&bytes, TEXT, S("\xc3"));
	frame_add(&bytes, FIN, S(""));
	expect_refusal(&rig, &bytes, 1007);
	cr_assert_eq(rig_count(&rig, RIG_MESSAGE), 0);
	rig_close(&rig);
}

Test(websocket, messages_that_are_too_long)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.socket_message_bytes = 100;
	rig_open(&rig, &settings);
	AUTO(buf) text = { 0 };
	expect_refused_frame(&rig, FIN | TEXT, repeat(&text, 'x', 101), 1009);
	/* A message of fragments, each of which is below the limit. */
	AUTO(buf) bytes = { 0 };
	for (int i = 0; i < 101; i++)
		frame_add(&bytes, i == 0 ? TEXT : 0, S("y"));
	expect_refusal(&rig, &bytes, 1009);
	int client = socket_open(&rig);
	socket_send(client, FIN | TEXT, repeat(&text, 'x', 100));
	socket_expect(client, FIN | TEXT, repeat(&text, 'x', 100));
	/* A control frame between fragments does not count toward the limit. */
	socket_send(client, TEXT, repeat(&text, 'z', 99));
	socket_send(client, FIN | PING, S("12"));
	socket_send(client, FIN, S("z"));
	socket_expect(client, FIN | PONG, S("12"));
	socket_expect(client, FIN | TEXT, repeat(&text, 'z', 100));
	close(client);
	rig_close(&rig);
}

/* ---- close --------------------------------------------------------------------------------- */

static void expect_close_answered(struct rig *rig, struct str payload, int code)
{
	AUTO(buf) bytes = { 0 };
	frame_add(&bytes, FIN | CLOSE, payload);
	/* Bytes after a close are ignored. */
	frame_add(&bytes, FIN | TEXT, S("late"));
	expect_refusal(rig, &bytes, code);
}

Test(websocket, close_codes)
{
	static const int good[] = { 1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010,
				    1011, 1012, 1014, 3000, 3999, 4000, 4999 };
	static const int bad[] = { 0,    1,    999,  1004, 1005, 1006, 1015,
				   1016, 1100, 2000, 2999, 5000, 65535 };
	struct rig rig;
	rig_open(&rig, NULL);
	expect_close_answered(&rig, S(""), 0);
	expect_close_answered(&rig, S("\x03"), 1002);
	expect_close_answered(&rig, S("\x03\xe8the reason"), 1000);
	expect_close_answered(&rig, S("\x03\xe8\xff"), 1007);
	for (size_t i = 0; i < COUNT(good) + COUNT(bad); i++) {
		int code = i < COUNT(good) ? good[i] : bad[i - COUNT(good)];
		const char payload[] = { (char)(code >> 8), (char)code };
		expect_close_answered(&rig, (struct str){ payload, 2 },
				      i < COUNT(good) ? code : 1002);
	}
	cr_assert_eq(rig_count(&rig, RIG_MESSAGE), 0);
	rig_close(&rig);
}

Test(websocket, the_handler_closes)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket_open(&rig);
	AUTO(buf) bytes = { 0 };
	frame_add(&bytes, FIN | TEXT, S("close"));
	frame_add(&bytes, FIN | TEXT, S("said too late"));
	socket_send_buf(client, &bytes);
	socket_expect(client, FIN | CLOSE,
		      S("\x0f\xa0"
			"bye"));
	cr_assert(client_at_end(client));
	/* The server waits for the client's close frame. */
	socket_send(client, FIN | CLOSE, S("\x0f\xa0"));
	close(client);
	/* The handler closed the WebSocket itself, so `gone` is not called. */
	int second = socket_open(&rig);
	socket_send(second, FIN | TEXT, S("still served"));
	socket_expect(second, FIN | TEXT, S("still served"));
	rig_wait(&rig, RIG_MESSAGE, 2);
	cr_assert_eq(rig_count(&rig, RIG_GONE), 0);
	close(second);
	rig_wait(&rig, RIG_GONE, 1);
	rig_close(&rig);
}

Test(websocket, a_long_reason_is_cut_between_characters)
{
	struct websocket_frames frames;
	websocket_frames_init(&frames, 10, NULL, NULL);
	AUTO(buf) reason = { 0 };
	buf_add(&reason, S("x"));
	for (int i = 0; i < 80; i++)
		buf_add(&reason, S("\xc3\xa9"));
	websocket_frames_close(&frames, 1008, buf_str(&reason));
	/* 1 + 61 two-byte characters are 123 bytes; a limit of 122 would split one. */
	cr_assert_eq(frames.out.size, 2 + 2 + 123);
	buf_clear(&frames.out);
	websocket_frames_text(&frames, S("never"), true, true);
	websocket_frames_ping(&frames);
	websocket_frames_close(&frames, 1000, S(""));
	cr_assert_eq(frames.out.size, 0);
	websocket_frames_done(&frames);
	websocket_frames_init(&frames, 10, NULL, NULL);
	websocket_frames_close(&frames, 1008, str_skip(buf_str(&reason), 1));
	cr_assert_eq(frames.out.size, 2 + 2 + 122);
	websocket_frames_done(&frames);
}

Test(websocket, a_drain_says_goodbye)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket_open(&rig), half = socket_open(&rig);
	socket_send(half, TEXT, S("not finished"));
	rig_drain(&rig);
	socket_expect_close(client, 1001);
	socket_expect_close(half, 1001);
	rig_wait(&rig, RIG_GONE, 2);
	close(client);
	close(half);
	rig_wait(&rig, RIG_DRAINED, 1);
	rig_close(&rig);
}

Test(websocket, the_server_is_freed_with_one_open)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket_open(&rig);
	socket_send(client, TEXT, S("half a"));
	socket_send(client, FIN | PING, S(""));
	socket_expect(client, FIN | PONG, S(""));
	rig_close(&rig);
	cr_assert(client_at_end(client));
	close(client);
}

/* ---- idle timeout and slow readers --------------------------------------------------------- */

Test(websocket, pings_and_a_client_that_answers_stays)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.socket_ping_ms = 5;
	settings.socket_idle_ms = 20000;
	/* The timeouts of plain HTTP do not apply. */
	settings.body_ms = settings.idle_ms = 1;
	rig_open(&rig, &settings);
	int client = socket_open(&rig);
	for (int i = 0; i < 20; i++) {
		socket_expect(client, FIN | PING, S(""));
		socket_send(client, FIN | PONG, S(""));
	}
	close(client);
	rig_wait(&rig, RIG_GONE, 1);
	rig_close(&rig);
}

Test(websocket, many_are_pinged_by_one_timer)
{
	enum { MANY = 300, ROUNDS = 3 };
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.socket_ping_ms = 50;
	settings.socket_idle_ms = 60000;
	rig_open(&rig, &settings);
	static int clients[MANY];
	for (size_t i = 0; i < MANY; i++)
		clients[i] = socket_open(&rig);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < MANY; i++)
			socket_expect(clients[i], FIN | PING, S(""));
	/* WebSockets in the middle of the list close; the others still get pings. */
	for (size_t i = 0; i < MANY; i += 2)
		close(clients[i]);
	rig_wait(&rig, RIG_GONE, MANY / 2);
	for (size_t i = 1; i < MANY; i += 2) {
		socket_expect(clients[i], FIN | PING, S(""));
		close(clients[i]);
	}
	rig_wait(&rig, RIG_GONE, MANY);
	rig_close(&rig);
}

Test(websocket, a_client_that_falls_silent_is_put_out)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.socket_ping_ms = 20;
	settings.socket_idle_ms = 1000;
	rig_open(&rig, &settings);
	int client = socket_open(&rig);
	unsigned pings = 0;
	for (bool open = true; open;) {
		AUTO(frame) frame;
		socket_read(client, &frame);
		open = frame.first == (FIN | PING);
		pings += open;
		if (!open)
			cr_assert(str_starts(buf_str(&frame.payload), S("\x03\xe9")));
	}
	cr_assert_gt(pings, 0);
	cr_assert(client_at_end(client));
	rig_wait(&rig, RIG_GONE, 1);
	close(client);
	rig_close(&rig);
}

static void lose_patience(struct rig *rig)
{
	websocket_set_idle_timeout(rig->server, 1000);
}

static void regain_patience(struct rig *rig)
{
	websocket_set_idle_timeout(rig->server, 0);
}

/* A new idle timeout, and the pings for it, apply to open WebSockets too: with the old settings
 * this client would get no ping within the time of the test. */
Test(websocket, less_patience_meets_open_sockets_too)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket_open(&rig);
	rig_call(&rig, lose_patience);
	unsigned pings = 0;
	for (bool open = true; open;) {
		AUTO(frame) frame;
		socket_read(client, &frame);
		open = frame.first == (FIN | PING);
		pings += open;
		if (!open)
			cr_assert(str_starts(buf_str(&frame.payload), S("\x03\xe9")));
	}
	cr_assert_gt(pings, 0);
	rig_wait(&rig, RIG_GONE, 1);
	close(client);
	rig_call(&rig, regain_patience);
	client = socket_open(&rig);
	socket_send(client, FIN | TEXT, S("still here"));
	socket_expect(client, FIN | TEXT, S("still here"));
	close(client);
	rig_wait(&rig, RIG_GONE, 2);
	rig_close(&rig);
}

Test(websocket, a_slow_reader_is_refused_bytes_and_then_gets_all)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
	setsockopt(client, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	client_open_on(&rig, client);
	client_send(client, socket_request);
	AUTO(response) response;
	client_read(client, true, &response);
	enum { PIECES = 1000 };
	socket_send(client, FIN | TEXT, S("flood 1000"));
	rig_wait(&rig, RIG_MESSAGE, 1);
	cr_assert_geq(rig_count(&rig, RIG_REFUSED), 1);
	cr_assert_eq(rig_count(&rig, RIG_ENDED), 0);
	/* Other clients are served meanwhile. */
	int other = socket_open(&rig);
	socket_send(other, FIN | TEXT, S("quick"));
	socket_expect(other, FIN | TEXT, S("quick"));
	close(other);
	AUTO(buf) piece = { 0 };
	repeat(&piece, 'x', PIECE);
	for (int i = 0; i < PIECES; i++)
		socket_expect(client, FIN | TEXT, buf_str(&piece));
	socket_expect(client, FIN | TEXT, S("end"));
	rig_wait(&rig, RIG_ENDED, 1);
	cr_assert_gt(rig_count(&rig, RIG_WRITABLE), 1);
	cr_assert_eq(rig_count(&rig, RIG_WRITABLE), rig_count(&rig, RIG_REFUSED));
	close(client);
	rig_close(&rig);
}

Test(websocket, a_reader_that_takes_nothing_is_put_out)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.send_ms = 50;
	rig_open(&rig, &settings);
	int client = socket_open(&rig);
	socket_send(client, FIN | TEXT, S("flood 100000"));
	rig_wait(&rig, RIG_GONE, 1);
	cr_assert_eq(rig_count(&rig, RIG_ENDED), 0);
	close(client);
	rig_close(&rig);
}

static void ask_queue(struct rig *rig)
{
	uint32_t index = 0;
	uint64_t id;
	struct http_connection *connection = slots_next(&rig->server->connections, &index, &id);
	rig->stream_left = (long)http_connection_queue(connection);
}

Test(websocket, pings_of_a_client_that_reads_no_pongs_are_bounded)
{
	struct rig rig;
	rig_open(&rig, NULL);
	int client = socket_open(&rig);
	AUTO(buf) pings = { 0 };
	AUTO(buf) payload = { 0 };
	repeat(&payload, 'p', 125);
	for (int i = 0; i < 500; i++)
		frame_add(&pings, FIN | PING, buf_str(&payload));
	/* Send until the socket accepts no more: the server has stopped reading. */
	struct timeval patience = { .tv_usec = 300000 };
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	size_t sent = 0;
	for (ssize_t took = 1; took > 0 && sent < (size_t)1 << 28;) {
		took = send(client, pings.at + sent % pings.size, pings.size - sent % pings.size,
			    MSG_NOSIGNAL);
		sent += took > 0 ? (size_t)took : 0;
	}
	cr_assert_lt(sent, (size_t)1 << 28);
	rig_call(&rig, ask_queue);
	cr_assert_leq(rig.stream_left, LIMIT_HTTP_WRITE_QUEUE_BYTES + 2 * HTTP_READ_BYTES);
	rig.stream_left = -1;
	close(client);
	rig_close(&rig);
}
