/* net/websocket_frames.h -- a server's side of RFC 6455 without a socket: bytes in, messages out,
 * and the bytes that the peer is owed.
 *
 * Bytes go in in any pieces; the outcome is the same for every way of cutting them.  wslay reads
 * and writes single frames; what they add up to is worked out here.
 *
 *	1002  frames that break the protocol: unmasked, reserved bits or opcodes, a control frame
 *	      that is long or in fragments, a length not in its shortest form or beyond 2^63,
 *	      a close without a proper code
 *	1003  a binary message
 *	1007  text that is not UTF-8, at its first bad byte
 *	1009  a message over the limit, at the first byte behind the header that says so
 *
 * Each of these, and the peer's own close, puts a close frame into `out` and ends the reading:
 * `ended`, after which bytes are ignored.  Pings are answered into `out` at once.
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
	WEBSOCKET_NO_CODE = 1005, /* the peer gave none; never sent */
	WEBSOCKET_TEXT = 1007,
	WEBSOCKET_POLICY = 1008,
	WEBSOCKET_SIZE = 1009,
	WEBSOCKET_INTERNAL = 1011,
};

struct websocket_frames {
	struct buf out; /* for the peer; taking it away is the owner's part */
	bool ended;     /* nothing is read any more */
	int code;       /* then: the code of the close that ended it, sent or received */

	/* Not the caller's: */
	struct wslay_frame_context *wslay;
	struct str input;
	/* the frame in work */
	bool in_frame, last;
	unsigned opcode;
	uint64_t left; /* bytes of it to come */
	/* the message in work, and where in a character it stands */
	bool in_message;
	struct buf message;
	unsigned character_left;
	uint8_t character_low, character_high;
	struct buf control;
	void (*deliver)(void *context, struct str text);
	void *context;
};

/* deliver() gets each whole message; it may send and close, but not feed or end. */
void websocket_frames_init(struct websocket_frames *frames, size_t message_limit,
			   void (*deliver)(void *context, struct str text), void *context);
void websocket_frames_done(struct websocket_frames *frames);
void websocket_frames_feed(struct websocket_frames *frames, struct str bytes);

/* These do nothing once it has ended.  The text is UTF-8; of the reason 123 bytes are sent. */
void websocket_frames_text(struct websocket_frames *frames, struct str text);
void websocket_frames_ping(struct websocket_frames *frames);
void websocket_frames_close(struct websocket_frames *frames, int code, struct str reason);

#endif
