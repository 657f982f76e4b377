/* net/sse.h -- server-sent events as text: one written, a stream of them read.
 *
 * The reader takes bytes in any pieces; the outcome is the same for every way of cutting them.  It
 * follows the HTML standard: lines end with CR LF, LF or CR; a byte order mark at the beginning,
 * lines that begin with a colon, and fields it does not know are passed over; several data lines
 * are one text with line feeds between; an event without a data line is none; an id stays in force
 * until another comes. What the stream's end cuts off is never delivered.  Whether the text is
 * UTF-8 is the receiver's to check.
 */
#ifndef NET_SSE_H
#define NET_SSE_H

#include "base/buf.h"

/* Appends one event.  Lines of the data become data lines; id and type "" are left out, and a line
 * end or NUL in them is written as '?'. */
void sse_write(struct buf *out, struct str id, struct str type, struct str data);

/* False ends the reading. */
typedef bool sse_deliver(void *context, struct str id, struct str type, struct str data);

struct sse_reader {
	bool ended;    /* deliver() said so, or `too_long` */
	bool too_long; /* an event, or a line, is over the limit */
	int64_t retry; /* ms, as the server last asked for; -1 = it has not */

	/* Not the caller's: */
	struct buf line, data, type, id;
	size_t begun; /* bytes of the byte order mark that may be there; 3 = it is decided */
	bool has_data;
	bool after_return; /* the last byte was a carriage return */
	sse_deliver *deliver;
	void *context;
};

/* Lines and events up to `limit` bytes. */
void sse_reader_init(struct sse_reader *reader, size_t limit, sse_deliver *deliver, void *context);
void sse_reader_done(struct sse_reader *reader);
void sse_feed(struct sse_reader *reader, struct str bytes);

#endif
