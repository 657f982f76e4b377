/* net/websocket_frames.h -- server side of the WebSocket protocol (RFC 6455), without a socket.
 *
 * Bytes from the client go in, messages are delivered, and bytes for the client collect in `out`.
 * The input may be split into pieces of any size; how it is split does not change the result.
 * wslay reads and writes single frames; this module assembles messages and detects errors:
 *
 *	1002  frames that violate the protocol: unmasked, reserved bits or opcodes, a control frame
 *	      that is too long or fragmented, a length not in its shortest form or beyond 2^63,
 *	      a close without a valid code
 *	1003  a binary message
 *	1007  text that is not UTF-8, at its first invalid byte
 *	1009  a message over the limit, as soon as the frame header announces its size
 *
 * Each of these errors, and a close frame of the client, puts a close frame into `out` and sets
 * `ended`; further bytes are ignored.  Each ping puts a pong into `out`.
 */
#ifndef NET_WEBSOCKET_FRAMES_H
#define NET_WEBSOCKET_FRAMES_H

#include "base/buf.h"

struct wslay_frame_context;

enum websocket_code {
	WEBSOCKET_DONE = 1000,
	WEBSOCKET_LEAVING = 1001,
	WEBSOCKET_PROTOCOL = 1002,
	WEBSOCKET_KIND = 1003,
	WEBSOCKET_NO_CODE = 1005, /* a close frame without a code; never sent */
	WEBSOCKET_TEXT = 1007,
	WEBSOCKET_POLICY = 1008,
	WEBSOCKET_SIZE = 1009,
	WEBSOCKET_INTERNAL = 1011,
};

struct websocket_frames {
	struct buf out; /* bytes to send; the owner sends and clears them */
	bool ended;     /* reading has ended */
	int code;       /* when ended: the code of the close frame, sent or received */

	/* Private: */
	struct wslay_frame_context *wslay;
	struct str input;
	/* the current frame */
	bool in_frame, last;
	unsigned opcode;
	uint64_t left; /* bytes not received yet */
	/* the current message, and the position within a UTF-8 character */
	bool in_message;
	struct buf message;
	unsigned character_left;
	uint8_t character_low, character_high;
	struct buf control;
	void (*deliver)(void *context, struct str text);
	void *context;
};

/* deliver() receives each complete message; it may send and close, but must not call
 * websocket_frames_feed() or websocket_frames_done(). */
void websocket_frames_init(struct websocket_frames *frames, size_t message_limit,
			   void (*deliver)(void *context, struct str text), void *context);
void websocket_frames_done(struct websocket_frames *frames);
void websocket_frames_feed(struct websocket_frames *frames, struct str bytes);

/* These do nothing when `ended` is set.  A text, all its parts together, must be UTF-8; a reason is
 * truncated to 123 bytes. */
void websocket_frames_text(struct websocket_frames *frames, struct str text, bool first, bool last);
void websocket_frames_ping(struct websocket_frames *frames);
void websocket_frames_close(struct websocket_frames *frames, int code, struct str reason);

#endif
