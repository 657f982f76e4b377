/* net/local_client.h -- the command line's side of a server: one blocking request.
 *
 * The address is the path of a Unix socket, or http://host:port of a server elsewhere.  Connects,
 * sends one request, and hands the answer's body on as it arrives.  Used
 * only by processes that own no loop.  A socket nobody listens on (or none at all) is
 * ERROR_UNAVAILABLE; a connection cut before the answer's end is ERROR_IO.
 */
#ifndef NET_LOCAL_CLIENT_H
#define NET_LOCAL_CLIENT_H

#include "base/error.h"

struct local_answer {
	int status;
	struct str content_type;
	struct str body; /* empty when a sink took it */
};

/* Takes a piece of the body; false ends the request (and is no error). */
typedef bool local_sink(void *context, int status, struct str bytes);

MUST_CHECK bool local_request(const char *address, struct str method, struct str target,
			      struct str headers, /* whole lines, each with \r\n */
			      struct str body, struct arena *arena, local_sink *sink, void *context,
			      struct local_answer *out_answer, struct error *error);
/* A GET whose sink is also called, with no bytes, whenever nothing has arrived for idle_ms. */
MUST_CHECK bool local_follow(const char *address, struct str target, struct str headers,
			     int idle_ms, struct arena *arena, local_sink *sink, void *context,
			     struct local_answer *out_answer, struct error *error);

#endif
