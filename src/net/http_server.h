/* net/http_server.h -- HTTP/1.1 on the loop: listeners, connections, exchanges.
 *
 * An exchange is one request and its answer, named by an id; an id whose client has gone is
 * answered with silence (http_reply and http_write then do nothing).  One exchange at a time on a
 * connection; what a client pipelines waits.
 *
 * llhttp in strict mode reads the bytes.  Anything ambiguous (two lengths, length with
 * transfer-encoding, obsolete folding, bare line ends, a missing or second Host …) is answered
 * 400 and the connection closed.  Limits are those of limits.def: headers 431, body 413, slow
 * headers and bodies 408, too many connections 503 and closed.  Who has not sent a whole request
 * yet counts apart: when there are too many of these, the oldest gives way to the newest, so that
 * clients that only hold connections open keep nobody else out.
 *
 * An answer is either whole (http_reply) or a stream (http_begin, http_write…, http_end) sent
 * chunked.  http_write() answers false once LIMIT_HTTP_WRITE_QUEUE_BYTES wait for the client;
 * `writable` is called when there is room again: the producer keeps a cursor, never a queue.
 * False means not taken; a client that has gone takes nothing either, but is never `writable`.
 * HEAD is answered like GET without the body; `Expect: 100-continue` is honoured.  Or the exchange
 * becomes a WebSocket (websocket.h).
 *
 * A client that closes its side while its answer is outstanding has gone, half-closed or not.
 * Handler calls never come from inside an http_* call of the handler's own, so a request may be
 * answered at once or later, and `gone` comes exactly once or not at all.
 *
 * The answer's framing, Date and Connection headers are made here; the handler gives the rest.
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
	bool local;      /* came through baton.sock: the data folder's owner */
	bool old;        /* HTTP/1.0 */
	struct str peer; /* the client's address without its port, "" when local */
};

/* The value of a header, "" when absent; names compare without case. */
struct str http_header(const struct http_request *request, struct str name);

struct http_handler {
	void *context;
	/* A whole request has arrived; everything in it is borrowed for the call. */
	void (*request)(void *context, const struct http_request *request);
	/* A stream that had refused bytes takes them again. */
	void (*writable)(void *context, uint64_t exchange);
	/* The client went away (or was put out) before its answer was finished. */
	void (*gone)(void *context, uint64_t exchange);
	/* A WebSocket's client said this (websocket.h); NULL where none is ever accepted. */
	void (*message)(void *context, uint64_t exchange, struct str text);
};

struct http_server;

struct http_server *http_server_new(struct loop *loop, const struct http_handler *handler);
/* Port 0 picks one; *out_port is what it became. */
MUST_CHECK bool http_listen_tcp(struct http_server *server, const char *host, int port,
				int *out_port, struct error *error);
/* Makes the socket (0600), replacing a stale one. */
MUST_CHECK bool http_listen_local(struct http_server *server, const char *path,
				  struct error *error);

/* At most so many connections, because there are no more descriptors; half of them may be of
 * clients that have not sent a whole request yet. */
void http_server_make_room(struct http_server *server, size_t connections);

/* How long clients may take; the defaults are the rows of limits.def. */
struct http_patience {
	uint64_t header_ms, body_ms, idle_ms, send_ms, socket_idle_ms;
};
void http_server_be_patient(struct http_server *server, const struct http_patience *patience);

void http_reply(struct http_server *server, uint64_t exchange, int status,
		const struct http_header *headers, size_t header_count, struct str body);
void http_begin(struct http_server *server, uint64_t exchange, int status,
		const struct http_header *headers, size_t header_count);
bool http_write(struct http_server *server, uint64_t exchange, struct str bytes);
void http_end(struct http_server *server, uint64_t exchange);

/* Of requests that the handler never saw, the i-th status and how often it was given. */
enum { HTTP_REFUSALS = 5 };
uint64_t http_refusals(const struct http_server *server, size_t index, int *out_status);
size_t http_open_connections(const struct http_server *server);
size_t http_new_connections(const struct http_server *server); /* no whole request yet */
size_t http_open_exchanges(const struct http_server *server);
size_t http_open_exchanges_local(const struct http_server *server);
/* Stops listening and closes idle connections at once; the others when their answer is sent.
 * `done` is called when none is left. */
void http_server_drain(struct http_server *server, platform_callback *done, void *context);
void http_server_free(struct http_server *server); /* closes everything; run the loop on */

#endif
