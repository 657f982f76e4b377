/* net/http_client.h -- HTTP client on the loop, built on libcurl's multi interface.
 *
 * A call is one request and its response, addressed by an id; done() is called exactly once,
 * however the call ends.  head() is called before the first piece(); piece() is called as bytes
 * arrive.  When piece() returns false, reading pauses until http_call_resume(), and the same bytes
 * are delivered again; meanwhile TCP flow control holds the server back.  No callback is called
 * from inside a function of this header.
 *
 * Redirects of GET and HEAD are followed, at most LIMIT_FETCH_REDIRECTS, and every hop passes the
 * same checks as the first.  A hop to another origin carries only the headers Accept,
 * Accept-Language and User-Agent.  For other methods a redirect is the response.  There are four
 * timeouts: connecting (name lookup, TCP and TLS), first byte, silence between two pieces (not
 * while reading is paused), and the whole call.
 *
 * The policy is checked against the address that each socket connects to, on every hop: public
 * addresses and the policy's ranges are allowed; this server's own listener never is.  Only http
 * and https; certificates are verified; proxies, environment variables and .netrc are ignored.
 * Connections are reused between calls of the same client.
 *
 * A call with `mail` sends an e-mail instead: the policy and the timeouts are the same.
 *
 * The first call loads libcurl.  Use a client on the loop thread only.
 */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include "net/address.h"
#include "net/http_server.h"

struct http_policy {
	const struct address_range *ranges; /* allowed besides public addresses; copied */
	size_t range_count;
	const char *setting;     /* with these ranges, for errors; NULL = tools.private_addresses */
	size_t most_calls;       /* at once; 0 = LIMIT_FETCHES */
	size_t kept_connections; /* for reuse; 0 = LIMIT_FETCH_CONNECTIONS */
};

struct http_client;
struct http_client *http_client_new(struct loop *loop, const struct http_policy *policy);
/* Ends every call without calling done().  Afterwards run the loop once more, or free it. */
void http_client_free(struct http_client *client);
/* Forbids connections to this port on this machine: the server's own listener; 0 = none. */
void http_client_set_own_port(struct http_client *client, int port);

/* 0 = the default of contracts/limits.def; total_ms: 0 = unlimited. */
struct http_call_timeouts {
	int64_t connect_ms, first_byte_ms, idle_ms, total_ms;
};

struct http_head {
	int status;
	const struct http_header *headers;
	size_t header_count;
	struct str url; /* of the last hop */
};

/* Makes a call to smtp:// or smtps:// send an e-mail: the body of the call is the message with its
 * headers.  There is no response: only done() is called. */
struct http_mail {
	struct str from;
	struct str_list to;
	struct str user, password; /* "" = no authentication */
	bool starttls;             /* smtp://: TLS, or the call fails */
	const char
		*ca_file; /* certificates that the server is verified with; NULL = the system's */
};

struct http_call {
	const struct http_mail *mail; /* NULL = an HTTP request; `method` is then NULL */
	const char *method;
	struct str url;
	const struct http_header *headers;
	size_t header_count;
	struct str body; /* not sent with HEAD */
	struct http_call_timeouts timeouts;
	/* Use a new connection.  When a reused connection turns out to be dead, libcurl sends the
	 * request again by itself, even if the method is not idempotent. */
	bool fresh_connection;
	bool same_origin; /* a redirect to another origin fails with FORBIDDEN */
	/* The connection is established and the request is about to be sent; may be NULL. */
	void (*before_send)(void *context, uint64_t argument);
	/* The arguments of head(), piece() and done() are borrowed during the callback. */
	void (*head)(void *context, uint64_t argument, const struct http_head *head);
	bool (*piece)(void *context, uint64_t argument, struct str bytes);
	/* `error` is NULL when the response is complete. */
	void (*done)(void *context, uint64_t argument, const struct error *error);
	void *context;
	uint64_t argument;
};

/* INVALID: the URL or a header is malformed.  UNAVAILABLE: too many calls are in progress, or libcurl
 * cannot be loaded.  Everything in `call` is copied. */
MUST_CHECK bool http_call_start(struct http_client *client, const struct http_call *call,
				uint64_t *out_id, struct error *error);
void http_call_resume(struct http_client *client, uint64_t id);
/* Ends the call; done() gets the error `why`.  Does nothing when the call has ended. */
void http_call_stop(struct http_client *client, uint64_t id, const struct error *why);

struct http_client_counts {
	size_t under_way;     /* calls in progress */
	uint64_t connections; /* opened so far */
	uint64_t refused;     /* connections forbidden by the policy */
};
struct http_client_counts http_client_counts(const struct http_client *client);

#endif
