/* net/sse.h -- server-sent events: formats one event, parses a stream of events.
 *
 * The reader accepts bytes in pieces of any size; how they are split does not change the result. It
 * follows the HTML standard: lines end with CR LF, LF or CR; a byte order mark at the beginning,
 * lines that begin with a colon, and unknown fields are ignored; several data lines are joined with
 * line feeds; an event without a data line is dropped; an id stays in force until the next id.  An
 * incomplete event at the end of the stream is never delivered.  The reader does not validate
 * UTF-8.
 */
#ifndef NET_SSE_H
#define NET_SSE_H

#include "base/buf.h"

/* Appends one event.  Each line of the data becomes a data line.  An empty id or type is omitted; a
 * line end or NUL in them is written as '?'. */
void sse_write(struct buf *out, struct str id, struct str type, struct str data);

/* Receives one event; returns false to end reading. */
typedef bool sse_deliver(void *context, struct str id, struct str type, struct str data);

struct sse_reader {
	bool ended;    /* deliver() returned false, or `too_long` */
	bool too_long; /* an event or a line exceeded the limit */
	int64_t retry; /* reconnection delay that the server sent last, in ms; -1 = none */

	/* Private: */
	struct buf line, data, type, id;
	size_t mark_size; /* bytes of a possible byte order mark so far; 3 = decided */
	bool has_data;
	bool after_return; /* the last byte was a carriage return */
	sse_deliver *deliver;
	void *context;
};

/* `limit` bounds the bytes of a line and of an event. */
void sse_reader_init(struct sse_reader *reader, size_t limit, sse_deliver *deliver, void *context);
void sse_reader_done(struct sse_reader *reader);
void sse_feed(struct sse_reader *reader, struct str bytes);

#endif
