/* net/http_internal.h -- the server's insides, for http_*.c of this room and its tests only.
 *
 * A connection goes round: READING a request, ANSWERING it (an exchange is open), ANSWERED, and
 * again; or LINGERING, when the last answer is on its way and the client's close is awaited.  An
 * exchange that was accepted as a WebSocket stays in SOCKET until it is ANSWERED for good.
 * Nothing of the handler's is called from inside an http_* call: what follows from one happens on
 * the loop's next turn (http_tick).
 *
 * Every uv handle counts in server->handles; a freed server's memory goes with the last of them.
 */
#ifndef NET_HTTP_INSIDE_H
#define NET_HTTP_INSIDE_H

#include <uv.h>

#include "base/slots.h"
#include "net/http_parse.h"
#include "net/http_server.h"

/* Taken from limits.def; a test makes them small. */
struct http_settings {
	uint64_t header_ms, body_ms, idle_ms, send_ms, linger_ms, accept_pause_ms;
	uint64_t socket_ping_ms, socket_idle_ms;
	size_t socket_message_bytes;
	size_t connections, local_connections;
	size_t new_connections; /* that have not sent a whole request yet */
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
	bool turn_pending, delivering;

	enum http_phase phase;
	struct http_parse parse;
	struct buf ahead;  /* came while it was not yet its turn */
	size_t ahead_used; /* of these, while they are worked off */
	bool had_request;
	struct http_connection *new_earlier, *new_later; /* until it had one */

	uint64_t exchange;           /* 0 unless ANSWERING or SOCKET */
	struct websocket *websocket; /* from SOCKET on */
	bool streaming, chunked;
	bool mute; /* HEAD, or a status without a body: only the head is sent */
	bool close_after;
	bool refused_bytes;    /* the producer waits for `writable` */
	uint64_t queued_bytes; /* ever given to the socket */
	uint64_t sent_seen;    /* of these sent, when the send timer was last looked at */
};

struct http_listener {
	struct http_server *server;
	uv_poll_t poll;
	uv_timer_t pause;
	unsigned handles;
	int socket;
	bool local, open;
	char *path; /* of a local one: removed when it closes */
};

struct http_server {
	struct loop *loop;
	struct http_handler handler;
	struct http_settings settings;
	struct slots exchanges, connections;
	size_t exchanges_local, connections_local;
	struct http_listener *listeners[HTTP_LISTENERS];
	size_t listener_count;
	uv_timer_t beat; /* pings of WebSockets, the first due first */
	struct http_connection *beat_first, *beat_last;
	struct http_connection *new_first, *new_last; /* no whole request yet, the oldest first */
	size_t new_count;
	unsigned handles;
	bool draining, freed;
	platform_callback *drained;
	void *drained_context;
	uint64_t turn;   /* the timer of the next turn, 0 = none asked for */
	uint64_t *turns; /* connections that want it */
	size_t turn_count, turn_room;
	uint64_t refusals[HTTP_REFUSALS];
	int64_t date_second;
	char date[HTTP_DATE_SIZE];
	char read_bytes[HTTP_READ_BYTES];
};

/* http_server.c */
struct http_settings http_settings_default(void);
void http_settings_change(struct http_server *server, const struct http_settings *settings);
void http_tick(struct http_server *server, struct http_connection *connection); /* NULL: only look
										 * at the drain */
void http_release_handle(struct http_server *server); /* in a close callback, its last act */
struct str http_date(struct http_server *server);

/* The server's handler is called as a phase of the loop's flight recorder. */
struct flight *http_flight(struct http_server *server);

/* A request that is answered before the handler sees it: counted, and named like any other. */
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
/* The exchange has its answer. */
void http_connection_answered(struct http_connection *connection);
void http_connection_drain(struct http_connection *connection);
void http_connection_close(struct http_connection *connection); /* at once, telling nobody */

/* websocket.c */
void websocket_advance(struct http_connection *connection);
void websocket_drain(struct http_connection *connection);
/* The connection closes; the memory goes with its last handle. */
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
/* A whole problem answer that closes the connection. */
struct http_problem {
	enum error_code code;
	const char *detail;
	struct str date, request_id;
	bool head_only;
};

void http_answer_problem(struct buf *out, const struct http_problem *problem);

#endif
