/* net/http_parse.h -- parser of HTTP/1.1 requests, without a socket.
 *
 * The parser accepts bytes in pieces of any size; how they are split does not change the result.
 * After each http_parse_feed(), `state` is one of:
 *
 *	HEAD     more of the request line and headers is needed
 *	BODY     the request line and headers are valid, more of the body is needed
 *	WHOLE    http_parse_request() returns the request; http_parse_next() starts the next one
 *	REFUSED  `code` and `detail` give the reason; the connection cannot be read any further
 *
 * http_parse_feed() consumes bytes up to the end of one request and returns their number: the rest
 * belongs to the next request.
 *
 * The request line and headers must pass two parsers: the first one, in http_parse.c, finds their
 * end and requires CR LF line ends, no folding and no control characters; llhttp in strict mode
 * then parses them.  A target may be absolute (`http://host/path`): its host becomes the value of
 * Host, and the request has the path.  Trailers after a chunked body are refused, because no code would use them.
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
	enum error_code code; /* when REFUSED */
	const char *detail;

	/* Known from BODY on: */
	bool keep_alive;     /* the client may send another request */
	bool old;            /* HTTP/1.0: no chunks in the response */
	bool head_only;      /* HEAD */
	bool wants_continue; /* Expect: 100-continue, and a body follows */

	/* Private: */
	llhttp_t reader;
	struct buf head, body;
	size_t line_size, lines; /* of the head: bytes of the current line, lines before it */
	bool after_return;       /* the last byte was a carriage return */
	bool head_read;
	bool ending;       /* the size line of the last chunk has been read */
	size_t wire_bytes; /* size of the body including its framing */
	struct str target;
	struct http_header headers[LIMIT_HTTP_HEADERS];
	size_t header_count;
};

void http_parse_init(struct http_parse *parse);
void http_parse_done(struct http_parse *parse);
size_t http_parse_feed(struct http_parse *parse, struct str bytes);
/* True when at least one byte of the current request has arrived. */
bool http_parse_begun(const struct http_parse *parse);
/* The request is borrowed until http_parse_next(); `exchange`, `local` and `peer` are not set. */
void http_parse_request(const struct http_parse *parse, struct http_request *out_request);
void http_parse_next(struct http_parse *parse);

#endif
