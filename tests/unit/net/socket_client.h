/* tests/unit/net/socket_client.h -- a WebSocket client that can also violate the protocol. */
#ifndef TESTS_NET_SOCKET_CLIENT_H
#define TESTS_NET_SOCKET_CLIENT_H

#include "net_rig.h"

enum { FIN = 0x80, TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9, PONG = 10, MASKED = 0x80 };

extern const char socket_request[]; /* of RFC 6455, section 1.2, for /socket */

/* A frame as a client sends it: `first` is the first byte, flags and opcode together. */
void frame_add(struct buf *out, int first, struct str payload);
/* A raw frame: the second byte and the length as given, no mask. */
void frame_add_bare(struct buf *out, int first, int second, struct str rest);

int socket_open(struct rig *rig); /* upgraded */
void socket_send(int client, int first, struct str payload);
void socket_send_buf(int client, const struct buf *bytes);

struct frame {
	int first;
	struct buf payload;
};

void frame_done(struct frame *frame);
/* Reads the next frame; asserts that it obeys the rules for servers. */
void socket_read(int client, struct frame *out_frame);
/* Expects this frame next. */
void socket_expect(int client, int first, struct str payload);
/* Expects a close frame with this code, and then the end of the server's side. */
void socket_expect_close(int client, int code);

#endif
