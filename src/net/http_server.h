/* net/http_server.h -- HTTP/1.1 server on the loop: listeners, connections, exchanges.
 *
 * An exchange is one request and its response, addressed by an id.  When the client has
 * disconnected, the functions that take the id do nothing.  A connection has one exchange at a
 * time; pipelined requests wait.
 *
 * llhttp parses the bytes in strict mode.  An ambiguous request (two lengths, length together with
 * transfer-encoding, obsolete line folding, bare line ends, a missing or second Host …) gets 400
 * and the connection is closed.  The limits are in contracts/limits.def: headers too large 431,
 * body too large 413, headers or body too slow 408, too many connections 503.  Connections that
 * have not sent a complete request yet have their own limit: when it is reached, the oldest of them
 * is closed, so that clients which only hold connections open cannot lock others out.
 *
 * A response is either complete (http_reply) or a stream (http_begin, http_write…, http_end), which
 * is sent chunked.  http_write() returns false, and sends nothing, while
 * LIMIT_HTTP_WRITE_QUEUE_BYTES wait for the client; `writable` is called when there is room again.
 * So a producer keeps a cursor instead of a queue.  http_write() also returns false when the client
 * has disconnected; `writable` is not called then.  HEAD gets the response of GET without the body;
 * `Expect: 100-continue` is honored. An exchange may also become a WebSocket (websocket.h).
 *
 * A client that closes its sending side before the response is finished counts as disconnected.  No
 * handler function is called from inside an http_* function, so a handler may respond immediately
 * or later.  `gone` is called at most once per exchange.
 *
 * The server sets the framing, Date and Connection headers; the handler provides all others.
 */
#ifndef NET_HTTP_SERVER_H
#define NET_HTTP_SERVER_H

#include "base/error.h"
#include "os/loop.h"

struct http_header {
	struct str name, value;
};

struct http_request {
	uint64_t exchange;
	struct str method; /* "GET" */
	struct str path;   /* before '?', as sent (percent escapes untouched) */
	struct str query;  /* after '?', "" when none */
	const struct http_header *headers;
	size_t header_count;
	struct str body;
	bool local;      /* arrived through baton.sock: the client is the data folder's owner */
	bool old;        /* HTTP/1.0 */
	struct str peer; /* the client's address without its port, "" when local */
};

/* The value of a header, "" when absent; the case of the name does not matter. */
struct str http_header(const struct http_request *request, struct str name);

struct http_handler {
	void *context;
	/* A complete request has arrived; everything in it is borrowed during the call. */
	void (*request)(void *context, const struct http_request *request);
	/* A stream whose http_write() returned false accepts bytes again. */
	void (*writable)(void *context, uint64_t exchange);
	/* The client disconnected, or was disconnected, before its response was finished. */
	void (*gone)(void *context, uint64_t exchange);
	/* A WebSocket message (websocket.h); NULL when the handler never accepts a WebSocket. */
	void (*message)(void *context, uint64_t exchange, struct str text);
};

struct http_server;

struct http_server *http_server_new(struct loop *loop, const struct http_handler *handler);
/* Port 0 picks a free port; *out_port is the port in use. */
MUST_CHECK bool http_listen_tcp(struct http_server *server, const char *host, int port,
				int *out_port, struct error *error);
/* Creates a Unix socket with mode 0600; replaces a stale socket. */
MUST_CHECK bool http_listen_local(struct http_server *server, const char *path,
				  struct error *error);

/* Limits the number of connections, when the process may not open enough descriptors.  At most half
 * of them may be connections without a complete request. */
void http_server_set_connection_limit(struct http_server *server, size_t connections);

/* Timeouts for clients; the defaults are in contracts/limits.def. */
struct http_timeouts {
	uint64_t header_ms, body_ms, idle_ms, send_ms, socket_idle_ms;
};
void http_server_set_timeouts(struct http_server *server, const struct http_timeouts *timeouts);

void http_reply(struct http_server *server, uint64_t exchange, int status,
		const struct http_header *headers, size_t header_count, struct str body);
void http_begin(struct http_server *server, uint64_t exchange, int status,
		const struct http_header *headers, size_t header_count);
bool http_write(struct http_server *server, uint64_t exchange, struct str bytes);
void http_end(struct http_server *server, uint64_t exchange);
/* The exchange may last for hours and its client may not read: the kernel buffers at most
 * LIMIT_STREAM_SEND_BUFFER bytes for it, instead of megabytes.  Also for a WebSocket. */
void http_bound_buffer(struct http_server *server, uint64_t exchange);

/* Requests refused without calling the handler: the index-th status and its count. */
enum { HTTP_REFUSALS = 5 };
uint64_t http_refusals(const struct http_server *server, size_t index, int *out_status);
size_t http_open_connections(const struct http_server *server);
size_t http_queued_bytes(const struct http_server *server);    /* waiting to be sent */
size_t http_new_connections(const struct http_server *server); /* without a complete request */
size_t http_open_exchanges(const struct http_server *server);
size_t http_open_exchanges_local(const struct http_server *server);
/* Stops listening and closes idle connections; closes each other connection when its response is
 * sent.  Calls `done` when no connection is left. */
void http_server_drain(struct http_server *server, platform_callback *done, void *context);
/* Closes everything; the memory is freed while the loop runs on. */
void http_server_free(struct http_server *server);

#endif
