/* net/http_client.h -- HTTP requests to the world, on the loop, by libcurl's multi interface.
 *
 * A call is one request and its answer, named by an id; whatever way it ends, done() is called
 * once.  head() comes before the first piece; pieces come as they arrive.  A piece that is refused
 * is given again after http_call_resume(): meanwhile nothing is read, so the server has to wait.
 * No callback comes from inside a function of this header.
 *
 * Redirects of GET and HEAD are followed here, up to LIMIT_FETCH_REDIRECTS, each hop checked like
 * the first; to another origin go only Accept, Accept-Language and User-Agent.  A redirect of any
 * other method is the answer.  Four times are measured: until the connection stands (name, TCP and
 * TLS), then until the first byte, between two pieces (not while the taker refuses), and over all.
 *
 * Where it connects to is judged by the address that the socket is opened for, redirects and
 * resumed names included: public addresses, and those of the policy's ranges; our own listener
 * never.  http and https only, certificates verified, no proxy, nothing from the environment or
 * .netrc.  Connections are kept and used again, by callers of the same client only.
 *
 * libcurl is opened with the first call.  One thread: the loop's.
 */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include "net/address.h"
#include "net/http_server.h"

struct http_policy {
	const struct address_range *ranges; /* allowed beside the public ones; borrowed for new */
	size_t range_count;
};

struct http_client;
struct http_client *http_client_new(struct loop *loop, const struct http_policy *policy);
/* Ends every call without its done(); run the loop on, or free it. */
void http_client_free(struct http_client *client);
/* The port that we listen on ourselves; 0 = none. */
void http_client_own_port(struct http_client *client, int port);

struct http_waits {
	int64_t connect_ms, first_byte_ms, idle_ms, total_ms; /* 0 = the row of limits.def; the
							       * total has none */
};

struct http_head {
	int status;
	const struct http_header *headers;
	size_t header_count;
	struct str url; /* of the last hop */
};

struct http_call {
	const char *method;
	struct str url;
	const struct http_header *headers;
	size_t header_count;
	struct str body; /* sent when the method takes one */
	struct http_waits waits;
	/* On a connection of its own and never a kept one: when that turns out to be dead, libcurl
	 * sends the request again by itself, whatever its method. */
	bool alone;
	/* The connection stands and the request is about to leave; NULL = nobody asks. */
	void (*leaves)(void *context, uint64_t argument);
	/* Everything told is borrowed for the call. */
	void (*head)(void *context, uint64_t argument, const struct http_head *head);
	bool (*piece)(void *context, uint64_t argument, struct str bytes);
	/* `error` is NULL when the answer is whole. */
	void (*done)(void *context, uint64_t argument, const struct error *error);
	void *context;
	uint64_t argument;
};

/* INVALID: the address or a header is none.  UNAVAILABLE: LIMIT_FETCHES are under way. */
MUST_CHECK bool http_call_start(struct http_client *client, const struct http_call *call,
				uint64_t *out_id, struct error *error);
void http_call_resume(struct http_client *client, uint64_t id);
/* Its done() is told this; an id whose call is over is harmless. */
void http_call_stop(struct http_client *client, uint64_t id, const struct error *why);

struct http_client_counts {
	size_t under_way;
	uint64_t connections; /* opened since the start */
	uint64_t refused;     /* addresses that the policy kept us from */
};
struct http_client_counts http_client_counts(const struct http_client *client);

#endif
