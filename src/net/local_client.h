/* net/local_client.h -- blocking HTTP client of the command line: one request per connection.
 *
 * The address is the path of a Unix socket, or http://host:port of a remote server.  The functions
 * connect, send one request, and pass the response's body to the sink as it arrives.  They block,
 * so only processes without a loop use them.  ERROR_UNAVAILABLE when no server listens at the
 * address; ERROR_IO when the connection breaks before the end of the response.
 */
#ifndef NET_LOCAL_CLIENT_H
#define NET_LOCAL_CLIENT_H

#include "base/error.h"

struct local_answer {
	int status;
	struct str content_type;
	struct str body; /* empty when a sink received it */
};

/* Receives a piece of the body; returns false to end the request, which is not an error. */
typedef bool local_sink(void *context, int status, struct str bytes);

MUST_CHECK bool local_request(const char *address, struct str method, struct str target,
			      struct str headers, /* complete lines, each with \r\n */
			      struct str body, struct arena *arena, local_sink *sink, void *context,
			      struct local_answer *out_answer, struct error *error);
/* A GET whose sink is also called with no bytes whenever nothing has arrived for idle_ms. */
MUST_CHECK bool local_follow(const char *address, struct str target, struct str headers,
			     int idle_ms, struct arena *arena, local_sink *sink, void *context,
			     struct local_answer *out_answer, struct error *error);

#endif
