/* net/local_answer.h -- an HTTP answer from bytes, without a socket.
 *
 * Bytes go in in any pieces; the outcome is the same for every way of cutting them.  The answer
 * goes through llhttp, so it is read exactly as any client would; what was asked for with HEAD has
 * no body, and interim answers (1xx) are passed over.
 */
#ifndef NET_LOCAL_ANSWER_H
#define NET_LOCAL_ANSWER_H

#include <llhttp.h>

#include "base/buf.h"
#include "net/local_client.h"

struct local_reader {
	bool whole;        /* the answer is there */
	bool sink_ended;   /* whoever takes the body wants no more */
	bool too_large;    /* the body is over LIMIT_JSON_BYTES */
	int status;        /* from the body's first byte on, and when whole */
	const char *wrong; /* why it cannot be read, "" while it can */
	struct buf content_type, body;

	/* Not the caller's: */
	llhttp_t reader;
	bool head_only;
	local_sink *sink; /* NULL: the body is kept */
	void *context;
	struct buf header, value; /* in work */
};

void local_reader_init(struct local_reader *answer, bool head_only, local_sink *sink,
		       void *context);
void local_reader_done(struct local_reader *answer);
/* False when it cannot be read on: whole, ended by the sink, or wrong. */
bool local_reader_feed(struct local_reader *answer, struct str bytes);
bool local_reader_end(struct local_reader *answer); /* nothing more comes; false as above */

#endif
