/* tests/unit/net/socket_client.h -- a WebSocket client that can also do everything wrong. */
#ifndef TESTS_NET_SOCKET_CLIENT_H
#define TESTS_NET_SOCKET_CLIENT_H

#include "net_rig.h"

enum { FIN = 0x80, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10, MASKED = 0x80 };

extern const char socket_request[]; /* of RFC 6455, section 1.2, for /socket */

/* A frame as a client sends it: `first` is the first byte, flags and opcode together. */
void frame_add(struct buf *out, int first, struct str payload);
/* The same with nothing put right: the second byte and the length as given, no mask. */
void frame_add_bare(struct buf *out, int first, int second, struct str rest);

int socket_open(struct rig *rig); /* upgraded */
void socket_send(int client, int first, struct str payload);
void socket_send_buf(int client, const struct buf *bytes);

struct frame {
	int first;
	struct buf payload;
};

void frame_done(struct frame *frame);
/* The next frame; asserts that it is sent as a server must. */
void socket_read(int client, struct frame *out_frame);
/* The next frame is this one. */
void socket_expect(int client, int first, struct str payload);
/* It is a close with this code, and the server's side ends behind it. */
void socket_expect_close(int client, int code);

#endif
