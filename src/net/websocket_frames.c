/* net/websocket_frames.c -- assembles frames into messages, answers pings, handles the close.
 *
 * This module uses wslay's frame reader, not its event layer.  The event layer keeps an allocation
 * for every fragment, validates the text of a close frame only when it arrives in one piece, treats
 * half a close code as no code, and closes without a code when a frame is malformed.
 */
#include "net/websocket_frames.h"

#include <wslay/wslay.h>

#include "base/limits.h"
#include "base/utf8.h"

enum { CODE_BYTES = 2, CONTROL_BYTES = 125, KEPT_BYTES = 4096 };

/* ---- sending ------------------------------------------------------------------------------- */

static ssize_t on_send(const uint8_t *bytes, size_t size, int flags, void *context)
{
	(void)flags;
	struct websocket_frames *frames = context;
	buf_add(&frames->out, (struct str){ (const char *)bytes, size });
	return (ssize_t)size;
}

/* Appends one complete frame to `out`, which has no limit. */
static void send_part(struct websocket_frames *frames, unsigned opcode, struct str payload,
		      bool last)
{
	struct wslay_frame_iocb frame = { .fin = last,
					  .opcode = (uint8_t)opcode,
					  .payload_length = payload.size,
					  .data = (const uint8_t *)payload.at,
					  .data_length = payload.size };
	ssize_t sent = wslay_frame_send(frames->wslay, &frame);
	require(sent == (ssize_t)payload.size);
}

static void send_frame(struct websocket_frames *frames, unsigned opcode, struct str payload)
{
	send_part(frames, opcode, payload, true);
}

static void frames_end(struct websocket_frames *frames, int code, struct str reason)
{
	if (frames->ended)
		return;
	frames->ended = true;
	frames->code = code;
	reason = str_head(reason, CONTROL_BYTES - CODE_BYTES);
	size_t whole;
	/* Drop a character that the truncation cut in two. */
	if (!utf8_valid(reason, &whole))
		reason = str_head(reason, whole);
	AUTO(buf) payload = { 0 };
	buf_add_char(&payload, (char)(code >> 8));
	buf_add_char(&payload, (char)(code & 0xff));
	buf_add(&payload, reason);
	send_frame(frames, WSLAY_CONNECTION_CLOSE, buf_str(&payload));
}

/* ---- receiving ----------------------------------------------------------------------------- */

static ssize_t on_read(uint8_t *room, size_t size, int flags, void *context)
{
	(void)flags;
	struct websocket_frames *frames = context;
	struct str bytes = str_head(frames->input, size);
	for (size_t i = 0; i < bytes.size; i++)
		room[i] = (uint8_t)bytes.at[i];
	frames->input = str_skip(frames->input, bytes.size);
	return bytes.size == 0 ? -1 : (ssize_t)bytes.size;
}

/* Validates the next byte of a text; false when it is not valid UTF-8 there (RFC 3629). */
static bool take_character_byte(struct websocket_frames *frames, uint8_t c)
{
	if (frames->character_left > 0) {
		bool good = c >= frames->character_low && c <= frames->character_high;
		frames->character_left--;
		frames->character_low = 0x80;
		frames->character_high = 0xbf;
		return good;
	}
	if (c < 0x80)
		return true;
	if (c < 0xc2 || c > 0xf4)
		return false;
	frames->character_left = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	/* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
	frames->character_low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	frames->character_high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
	return true;
}

/* True when a peer may send the code (RFC 6455, section 7.4, and codes registered since). */
static bool is_close_code(int code)
{
	return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
	       (code >= 3000 && code <= 4999);
}

static void take_close(struct websocket_frames *frames, struct str payload)
{
	size_t bad;
	if (payload.size == 0) {
		frames->ended = true;
		frames->code = WEBSOCKET_NO_CODE;
		send_frame(frames, WSLAY_CONNECTION_CLOSE, S(""));
		return;
	}
	int code = payload.size < CODE_BYTES ? 0
					     : (uint8_t)payload.at[0] << 8 | (uint8_t)payload.at[1];
	if (!is_close_code(code))
		frames_end(frames, WEBSOCKET_PROTOCOL, S("invalid close code"));
	else if (!utf8_valid(str_skip(payload, CODE_BYTES), &bad))
		frames_end(frames, WEBSOCKET_TEXT, S("the reason is not valid UTF-8"));
	else
		frames_end(frames, code, S(""));
}

static void take_control(struct websocket_frames *frames)
{
	struct str payload = buf_str(&frames->control);
	if (frames->opcode == WSLAY_CONNECTION_CLOSE)
		take_close(frames, payload);
	else if (frames->opcode == WSLAY_PING)
		send_frame(frames, WSLAY_PONG, payload);
	buf_clear(&frames->control);
}

static void take_message(struct websocket_frames *frames)
{
	if (frames->character_left > 0) {
		frames_end(frames, WEBSOCKET_TEXT, S("the text is not UTF-8"));
		return;
	}
	frames->in_message = false;
	frames->deliver(frames->context, buf_str(&frames->message));
	size_t limit = frames->message.limit;
	if (frames->message.room > KEPT_BYTES) {
		buf_done(&frames->message);
		frames->message = buf_limited(limit);
	} else {
		buf_clear(&frames->message);
	}
}

/* Checks the header of a frame; an invalid header ends reading. */
static void begin_frame(struct websocket_frames *frames, const struct wslay_frame_iocb *head)
{
	frames->in_frame = true;
	frames->last = head->fin;
	frames->opcode = head->opcode;
	frames->left = head->payload_length;
	if (!head->mask)
		frames_end(frames, WEBSOCKET_PROTOCOL, S("a client must mask its frames"));
	else if (head->rsv != 0)
		frames_end(frames, WEBSOCKET_PROTOCOL, S("a reserved bit is set"));
	switch (head->opcode) {
	case WSLAY_CONNECTION_CLOSE:
	case WSLAY_PING:
	case WSLAY_PONG:
		if (!head->fin || head->payload_length > CONTROL_BYTES)
			frames_end(frames, WEBSOCKET_PROTOCOL,
				   S("a control frame is too long or fragmented"));
		return;
	case WSLAY_BINARY_FRAME:
		frames_end(frames, WEBSOCKET_KIND, S("only text messages are accepted"));
		return;
	case WSLAY_TEXT_FRAME:
	case WSLAY_CONTINUATION_FRAME:
		break;
	default:
		frames_end(frames, WEBSOCKET_PROTOCOL, S("unknown opcode"));
		return;
	}
	if (frames->in_message != (head->opcode == WSLAY_CONTINUATION_FRAME)) {
		frames_end(frames, WEBSOCKET_PROTOCOL, S("the fragments are out of order"));
	} else if (head->payload_length > frames->message.limit - frames->message.size) {
		limit_hit(REJECTION_WS_MESSAGE_BYTES);
		frames_end(frames, WEBSOCKET_SIZE, S("the message is too long"));
	}
	frames->in_message = true;
}

static void take_bytes(struct websocket_frames *frames, struct str bytes)
{
	bool control = wslay_is_ctrl_frame(frames->opcode);
	for (size_t i = 0; !control && i < bytes.size; i++)
		if (!take_character_byte(frames, (uint8_t)bytes.at[i])) {
			frames_end(frames, WEBSOCKET_TEXT, S("the text is not UTF-8"));
			return;
		}
	bool fits = buf_add(control ? &frames->control : &frames->message, bytes);
	require(fits);
}

static void take_piece(struct websocket_frames *frames, const struct wslay_frame_iocb *piece)
{
	if (!frames->in_frame)
		begin_frame(frames, piece);
	if (!frames->ended && piece->data_length > 0)
		take_bytes(frames, (struct str){ (const char *)piece->data, piece->data_length });
	frames->left -= piece->data_length;
	if (frames->ended || frames->left > 0)
		return;
	frames->in_frame = false;
	if (wslay_is_ctrl_frame(frames->opcode))
		take_control(frames);
	else if (frames->last)
		take_message(frames);
}

/* ---- public functions ---------------------------------------------------------------------- */

void websocket_frames_init(struct websocket_frames *frames, size_t message_limit,
			   void (*deliver)(void *context, struct str text), void *context)
{
	static const struct wslay_frame_callbacks callbacks = { .send_callback = on_send,
								.recv_callback = on_read };
	*frames = (struct websocket_frames){ .message = buf_limited(message_limit),
					     .control = buf_limited(CONTROL_BYTES),
					     .deliver = deliver,
					     .context = context };
	int code = wslay_frame_context_init(&frames->wslay, &callbacks, frames);
	require(code == 0);
}

void websocket_frames_done(struct websocket_frames *frames)
{
	wslay_frame_context_free(frames->wslay);
	buf_done(&frames->out);
	buf_done(&frames->message);
	buf_done(&frames->control);
}

void websocket_frames_feed(struct websocket_frames *frames, struct str bytes)
{
	frames->input = bytes;
	while (!frames->ended) {
		struct wslay_frame_iocb piece = { 0 };
		ssize_t got = wslay_frame_recv(frames->wslay, &piece);
		if (got == WSLAY_ERR_WANT_READ)
			return;
		if (got < 0)
			frames_end(frames, WEBSOCKET_PROTOCOL, S("the frame is malformed"));
		else
			take_piece(frames, &piece);
	}
}

void websocket_frames_text(struct websocket_frames *frames, struct str text, bool first, bool last)
{
	if (!frames->ended)
		send_part(frames, first ? WSLAY_TEXT_FRAME : WSLAY_CONTINUATION_FRAME, text, last);
}

void websocket_frames_ping(struct websocket_frames *frames)
{
	if (!frames->ended)
		send_frame(frames, WSLAY_PING, S(""));
}

void websocket_frames_close(struct websocket_frames *frames, int code, struct str reason)
{
	frames_end(frames, code, reason);
}
