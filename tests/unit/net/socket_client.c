/* tests/unit/net/socket_client.c -- see socket_client.h. */
#include "socket_client.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>

const char socket_request[] = "GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
			      "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
			      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

static void add_number(struct buf *out, uint64_t number, int bytes)
{
	for (int i = bytes; i-- > 0;)
		buf_add_char(out, (char)(number >> (8 * i)));
}

void frame_add(struct buf *out, int first, struct str payload)
{
	static const char mask[4] = { 0x12, 0x34, 0x56, 0x78 };
	buf_add_char(out, (char)first);
	if (payload.size < 126) {
		buf_add_char(out, (char)(MASKED | (int)payload.size));
	} else if (payload.size < 65536) {
		buf_add_char(out, (char)(MASKED | 126));
		add_number(out, payload.size, 2);
	} else {
		buf_add_char(out, (char)(MASKED | 127));
		add_number(out, payload.size, 8);
	}
	buf_add(out, (struct str){ mask, sizeof(mask) });
	for (size_t i = 0; i < payload.size; i++)
		buf_add_char(out, (char)(payload.at[i] ^ mask[i % 4]));
}

void frame_add_bare(struct buf *out, int first, int second, struct str rest)
{
	buf_add_char(out, (char)first);
	buf_add_char(out, (char)second);
	buf_add(out, rest);
}

void socket_send_buf(int client, const struct buf *bytes)
{
	client_send_bytes(client, bytes->at, bytes->size);
}

void socket_send(int client, int first, struct str payload)
{
	AUTO(buf) bytes = { 0 };
	frame_add(&bytes, first, payload);
	socket_send_buf(client, &bytes);
}

int socket_open(struct rig *rig)
{
	int client = client_open(rig);
	client_send(client, socket_request);
	AUTO(response) response;
	client_read(client, true, &response);
	cr_assert_eq(response.status, 101, "%s", response.head.at);
	return client;
}

static void take(int client, void *into, size_t size)
{
	for (size_t taken = 0; taken < size;) {
		ssize_t got = recv(client, (char *)into + taken, size - taken, 0);
		cr_assert_gt(got, 0, "cut in a frame");
		taken += (size_t)got;
	}
}

static uint64_t take_number(int client, size_t bytes)
{
	uint8_t text[8];
	uint64_t number = 0;
	take(client, text, bytes);
	for (size_t i = 0; i < bytes; i++)
		number = number << 8 | text[i];
	return number;
}

void socket_read(int client, struct frame *out_frame)
{
	uint8_t head[2];
	take(client, head, sizeof(head));
	*out_frame = (struct frame){ .first = head[0] };
	cr_assert_lt(head[1], MASKED, "a server does not mask");
	uint64_t size = head[1];
	if (size == 126) {
		size = take_number(client, 2);
		cr_assert_geq(size, 126);
	} else if (size == 127) {
		size = take_number(client, 8);
		cr_assert_geq(size, 65536);
	}
	if (size > 0)
		take(client, buf_reserve(&out_frame->payload, size), size);
	out_frame->payload.size = size;
}

void frame_done(struct frame *frame)
{
	buf_done(&frame->payload);
}

void socket_expect(int client, int first, struct str payload)
{
	AUTO(frame) frame;
	socket_read(client, &frame);
	cr_assert_eq(frame.first, first, "first byte %#x, wanted %#x", (unsigned)frame.first,
		     (unsigned)first);
	cr_assert(str_equal(buf_str(&frame.payload), payload), "got " STR_FMT,
		  STR_ARG(buf_str(&frame.payload)));
}

void socket_expect_close(int client, int code)
{
	AUTO(frame) frame;
	socket_read(client, &frame);
	cr_assert_eq(frame.first, FIN | CLOSE, "first byte %#x", (unsigned)frame.first);
	int got = 0;
	if (frame.payload.size >= 2)
		got = (uint8_t)frame.payload.at[0] << 8 | (uint8_t)frame.payload.at[1];
	cr_assert_eq(got, code, "close code %d, wanted %d", got, code);
	cr_assert(client_at_end(client));
}
