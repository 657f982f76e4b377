/* net/local_answer.h -- parser of one HTTP response, on llhttp, without a socket.
 *
 * The parser accepts bytes in pieces of any size; how they are split does not change the result.  A
 * response to HEAD has no body; interim responses (1xx) are skipped.
 */
#ifndef NET_LOCAL_ANSWER_H
#define NET_LOCAL_ANSWER_H

#include <llhttp.h>

#include "base/buf.h"
#include "net/local_client.h"

struct local_reader {
	bool whole;          /* the response is complete */
	bool sink_ended;     /* the sink returned false */
	bool too_large;      /* the body is larger than LIMIT_JSON_BYTES */
	int status;          /* known from the first byte of the body on, and when complete */
	const char *problem; /* why the response is invalid, or "" */
	struct buf content_type, body;

	/* Private: */
	llhttp_t reader;
	bool head_only;
	local_sink *sink; /* NULL: the body is collected in `body` */
	void *context;
	struct buf header, value; /* the header being read */
};

void local_reader_init(struct local_reader *answer, bool head_only, local_sink *sink,
		       void *context);
void local_reader_done(struct local_reader *answer);
/* False when reading must stop: the response is complete or invalid, or the sink ended it. */
bool local_reader_feed(struct local_reader *answer, struct str bytes);
/* The connection was closed; returns false like local_reader_feed(). */
bool local_reader_end(struct local_reader *answer);

#endif
