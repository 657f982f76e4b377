/* net/http_internal.h -- private to the HTTP server (http_*.c, websocket.c) and its tests.
 *
 * A connection cycles through the phases READING a request, ANSWERING it (an exchange is open) and
 * ANSWERED; or it is LINGERING: the last response is being sent, then the server waits for the
 * client to close.  An exchange that was accepted as a WebSocket stays in SOCKET until its final
 * ANSWERED. No handler function is called from inside an http_* function: the consequences of a
 * call are processed in the loop's next tick (http_tick).
 *
 * server->handles counts all open uv handles; the memory of a freed server is released with the
 * last.
 */
#ifndef NET_HTTP_INTERNAL_H
#define NET_HTTP_INTERNAL_H

#include <uv.h>

#include "base/slots.h"
#include "net/http_parse.h"
#include "net/http_server.h"

/* From contracts/limits.def; tests use smaller values. */
struct http_settings {
	uint64_t header_ms, body_ms, idle_ms, send_ms, linger_ms, accept_pause_ms;
	uint64_t socket_ping_ms, socket_idle_ms;
	size_t socket_message_bytes;
	size_t connections, local_connections;
	size_t new_connections; /* connections without a complete request */
};

enum http_phase { HTTP_READING, HTTP_ANSWERING, HTTP_SOCKET, HTTP_ANSWERED, HTTP_LINGERING };
enum http_timer {
	HTTP_TIMER_NONE,
	HTTP_TIMER_HEADER,
	HTTP_TIMER_BODY,
	HTTP_TIMER_IDLE,
	HTTP_TIMER_SEND,
	HTTP_TIMER_LINGER
};

enum { HTTP_READ_BYTES = 65536, HTTP_LISTENERS = 4, HTTP_DATE_SIZE = 32, HTTP_PEER_SIZE = 64 };

struct websocket;

struct http_connection {
	struct http_server *server;
	uint64_t id;
	bool local;
	char peer[HTTP_PEER_SIZE];
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} socket;
	uv_timer_t timer;
	enum http_timer timer_kind;
	uv_shutdown_t shutdown;
	unsigned handles;
	bool reading, closing;
	bool broken; /* a write could not even be queued */
	bool input_ended, output_ended;
	bool tick_pending; /* in the server's list for the next tick */
	bool delivering;   /* inside a call of the handler */

	enum http_phase phase;
	struct http_parse parse;
	struct buf input;  /* received but not parsed yet */
	size_t input_used; /* the part of `input` that is already parsed */
	bool had_request;
	struct http_connection *new_earlier, *new_later; /* list of those without a request */

	uint64_t exchange;           /* 0 unless ANSWERING or SOCKET */
	struct websocket *websocket; /* from SOCKET on */
	bool streaming, chunked;
	bool omit_body; /* HEAD, or a status without a body */
	bool close_after;
	bool refused_bytes;    /* the producer waits for `writable` */
	uint64_t queued_bytes; /* total bytes given to the socket */
	uint64_t sent_before;  /* bytes sent when the send timer was started */
};

struct http_listener {
	struct http_server *server;
	uv_poll_t poll;
	uv_timer_t pause;
	unsigned handles;
	int socket;
	bool local, open;
	char *path; /* of a Unix socket, which is removed on close; else NULL */
};

struct http_server {
	struct loop *loop;
	struct http_handler handler;
	struct http_settings settings;
	struct slots exchanges, connections;
	size_t exchanges_local, connections_local;
	struct http_listener *listeners[HTTP_LISTENERS];
	size_t listener_count;
	uv_timer_t ping_timer;
	struct http_connection *ping_first, *ping_last; /* WebSockets by the time of their ping */
	struct http_connection *new_first, *new_last; /* without a complete request, oldest first */
	size_t new_count;
	unsigned handles;
	bool draining, freed;
	platform_callback *drained;
	void *drained_context;
	uint64_t tick_timer; /* 0 = no tick requested */
	uint64_t *tick_list; /* connections to advance in the next tick */
	size_t tick_count, tick_room;
	uint64_t refusals[HTTP_REFUSALS];
	int64_t date_second;
	char date[HTTP_DATE_SIZE];
	char read_bytes[HTTP_READ_BYTES];
};

/* http_server.c */
struct http_settings http_settings_default(void);
void http_settings_change(struct http_server *server, const struct http_settings *settings);
/* Advances the connection in the loop's next tick; NULL: only checks whether the drain is done. */
void http_tick(struct http_server *server, struct http_connection *connection);
void http_release_handle(struct http_server *server); /* the last call of a close callback */
struct str http_date(struct http_server *server);

/* The flight recorder, in which every call of the handler is a phase. */
struct flight *http_flight(struct http_server *server);

/* Builds and counts an error response that the server sends without calling the handler. */
void http_refuse(struct http_server *server, enum error_code code, const char *detail,
		 bool head_only, struct buf *out_answer);

/* http_listen.c */
void http_listener_close(struct http_listener *listener);

/* http_connection.c */
void http_connection_open(struct http_server *server, int socket, bool local);
void http_connection_advance(struct http_connection *connection);
void http_connection_write(struct http_connection *connection, struct str first, struct str second,
			   struct str third);
size_t http_connection_queue(const struct http_connection *connection);
/* Whether a stream must wait with its next bytes; also by order of a test (os/failpoint.h). */
bool http_connection_is_full(const struct http_connection *connection);
/* The response of the exchange is complete. */
void http_connection_answered(struct http_connection *connection);
void http_connection_drain(struct http_connection *connection);
/* Closes immediately, without calling the handler. */
void http_connection_close(struct http_connection *connection);

/* websocket.c */
void websocket_advance(struct http_connection *connection);
void websocket_drain(struct http_connection *connection);
/* The connection is closing; websocket_free() follows when its last handle is closed. */
void websocket_stop(struct http_connection *connection);
void websocket_free(struct http_connection *connection);

/* http_answer.c */
enum http_framing { HTTP_FRAMING_NONE, HTTP_FRAMING_LENGTH, HTTP_FRAMING_CHUNKED };

struct http_answer {
	int status;
	const struct http_header *headers;
	size_t header_count;
	struct str date;
	enum http_framing framing;
	size_t length;
	bool close; /* Connection: close */
	bool keep;  /* Connection: keep-alive, for HTTP/1.0 */
};

bool http_status_has_body(int status);
void http_answer_head(struct buf *out, const struct http_answer *answer);
/* A complete application/problem+json response that closes the connection. */
struct http_problem {
	enum error_code code;
	const char *detail;
	struct str date, request_id;
	bool head_only;
};

void http_answer_problem(struct buf *out, const struct http_problem *problem);

#endif
