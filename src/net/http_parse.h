/* net/http_parse.h -- from bytes to one request, without a socket.
 *
 * Bytes go in in any pieces; the outcome is the same for every way of cutting them.  After each
 * http_parse_feed() `state` says how it stands:
 *
 *	HEAD     more of the request line and headers is needed
 *	BODY     the head is read and valid, more of the body is needed
 *	WHOLE    http_parse_request() gives it; http_parse_next() makes ready for the one after it
 *	REFUSED  `code` and `detail` say why; nothing more can be read from this connection
 *
 * feed() takes bytes up to the end of one request and says how many: the rest belongs to the next.
 *
 * Two readers must agree on every head: ours finds its end and insists on whole line ends, no
 * folding and no control characters; llhttp in strict mode then reads it.  Trailers after a
 * chunked body are refused: nobody here would look at them.
 */
#ifndef NET_HTTP_PARSE_H
#define NET_HTTP_PARSE_H

#include <llhttp.h>

#include "base/buf.h"
#include "base/limits.h"
#include "net/http_server.h"

enum http_parse_state {
	HTTP_PARSE_HEAD,
	HTTP_PARSE_BODY,
	HTTP_PARSE_WHOLE,
	HTTP_PARSE_REFUSED,
};

struct http_parse {
	enum http_parse_state state;
	enum error_code code; /* REFUSED: a row of errors.def */
	const char *detail;

	/* Known from BODY on: */
	bool keep_alive;     /* the client would go on after this one */
	bool old;            /* HTTP/1.0: no chunks in the answer */
	bool head_only;      /* HEAD */
	bool wants_continue; /* Expect: 100-continue, and a body is to come */

	/* Not the caller's: */
	llhttp_t reader;
	struct buf head, body;
	size_t line_size, lines; /* of the head: bytes of this line, lines before it */
	bool after_return;       /* the last byte was a carriage return */
	bool head_read;
	bool ending;       /* the last chunk's size line has been read */
	size_t wire_bytes; /* of the body, framing included */
	struct str target;
	struct http_header headers[LIMIT_HTTP_HEADERS];
	size_t header_count;
};

void http_parse_init(struct http_parse *parse);
void http_parse_done(struct http_parse *parse);
size_t http_parse_feed(struct http_parse *parse, struct str bytes);
/* Has any byte of the request in work arrived? */
bool http_parse_begun(const struct http_parse *parse);
/* Borrowed until http_parse_next(); exchange and local are left alone. */
void http_parse_request(const struct http_parse *parse, struct http_request *out_request);
void http_parse_next(struct http_parse *parse);

#endif
