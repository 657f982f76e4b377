/* net/websocket.c -- WebSockets on top of HTTP connections: messages, pings, idle timeout, close.
 *
 * The HTTP connection still owns the socket, the write queue and the send timeout.  While bytes are
 * queued for a client the send timeout applies, so the idle timeout applies only when the queue is
 * empty.
 *
 * One timer serves the pings of all WebSockets: they form a list ordered by due time, and each tick
 * handles a limited number, so that thousands of pings due at the same time do not block the loop.
 */
#include "net/websocket.h"

#include <stdlib.h>

#include "net/http_internal.h"
#include "net/websocket_handshake.h"

enum { PINGS_PER_TICK = 64 };

struct websocket {
	struct websocket_frames frames;
	struct http_connection *earlier, *later; /* in the server's list, by due_ms */
	bool listed;
	uint64_t due_ms;
	uint64_t received_ms; /* the loop's time when bytes last arrived */
};

static uint64_t now_ms(const struct http_server *server)
{
	return uv_now(loop_uv(server->loop));
}

static void flush(struct http_connection *connection)
{
	struct buf *out = &connection->websocket->frames.out;
	if (out->size > 0)
		http_connection_write(connection, buf_str(out), S(""), S(""));
	buf_done(out);
	*out = (struct buf){ 0 };
}

static void ping_unschedule(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	struct websocket *websocket = connection->websocket;
	if (!websocket->listed)
		return;
	websocket->listed = false;
	if (websocket->earlier != NULL)
		websocket->earlier->websocket->later = websocket->later;
	else
		server->ping_first = websocket->later;
	if (websocket->later != NULL)
		websocket->later->websocket->earlier = websocket->earlier;
	else
		server->ping_last = websocket->earlier;
}

/* The close frame is queued: the connection sends it and then shuts our side down. */
static void finish(struct http_connection *connection)
{
	ping_unschedule(connection);
	connection->close_after = true;
	http_connection_answered(connection);
}

/* Ends the WebSocket and calls the handler's `gone`. */
static void client_lost(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	uint64_t exchange = connection->exchange;
	finish(connection);
	struct flight_mark mark = flight_begin(http_flight(server), "gone", exchange);
	server->handler.gone(server->handler.context, exchange);
	flight_end(http_flight(server), mark);
}

/* ---- pings and the idle timeout ------------------------------------------------------------ */

static void pings_due(uv_timer_t *timer);

static void ping_timer_start(struct http_server *server)
{
	if (server->ping_first == NULL) {
		uv_timer_stop(&server->ping_timer);
		return;
	}
	uint64_t due = server->ping_first->websocket->due_ms, now = now_ms(server);
	/* A ping that is overdue is sent in the next tick, after the sockets are served. */
	uv_timer_start(&server->ping_timer, pings_due, due > now ? due - now : 1, 0);
}

/* Schedules the next ping, or the idle timeout if that comes first.  The entry is usually the last
 * in the list, so the search starts at the end. */
static void ping_schedule(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	struct websocket *websocket = connection->websocket;
	const struct http_settings *settings = &server->settings;
	uint64_t now = now_ms(server), silent_ms = now - websocket->received_ms;
	uint64_t ms = settings->socket_ping_ms;
	if (silent_ms < settings->socket_idle_ms && settings->socket_idle_ms - silent_ms < ms)
		ms = settings->socket_idle_ms - silent_ms;
	websocket->due_ms = now + ms;
	struct http_connection *before = server->ping_last;
	while (before != NULL && before->websocket->due_ms > websocket->due_ms)
		before = before->websocket->earlier;
	websocket->listed = true;
	websocket->earlier = before;
	websocket->later = before == NULL ? server->ping_first : before->websocket->later;
	if (before == NULL)
		server->ping_first = connection;
	else
		before->websocket->later = connection;
	if (websocket->later == NULL)
		server->ping_last = connection;
	else
		websocket->later->websocket->earlier = connection;
	if (server->ping_first == connection)
		ping_timer_start(server);
}

static void ping_or_close(struct http_connection *connection)
{
	struct websocket *websocket = connection->websocket;
	uint64_t silent_ms = now_ms(connection->server) - websocket->received_ms;
	if (silent_ms >= connection->server->settings.socket_idle_ms &&
	    http_connection_queue(connection) == 0) {
		limit_hit(REJECTION_WS_IDLE_MS);
		websocket_frames_close(&websocket->frames, WEBSOCKET_LEAVING, S("idle timeout"));
		flush(connection);
		client_lost(connection);
		return;
	}
	websocket_frames_ping(&websocket->frames);
	flush(connection);
	ping_schedule(connection);
	http_connection_advance(connection);
}

static void pings_due(uv_timer_t *timer)
{
	struct http_server *server = timer->data;
	uint64_t now = now_ms(server);
	struct flight_mark mark = flight_begin(http_flight(server), "pings", 0);
	for (int i = 0; i < PINGS_PER_TICK && server->ping_first != NULL &&
			server->ping_first->websocket->due_ms <= now;
	     i++) {
		struct http_connection *connection = server->ping_first;
		ping_unschedule(connection);
		ping_or_close(connection);
	}
	flight_end(http_flight(server), mark);
	ping_timer_start(server);
}

void websocket_set_idle_timeout(struct http_server *server, uint64_t idle_ms)
{
	struct http_settings *settings = &server->settings;
	uint32_t index = 0;
	uint64_t id;
	settings->socket_idle_ms = idle_ms == 0 ? LIMIT_WS_IDLE_MS : idle_ms;
	/* A live client needs time for a pong before the idle timeout. */
	settings->socket_ping_ms = LIMIT_WS_PING_MS;
	if (settings->socket_idle_ms / 3 < settings->socket_ping_ms)
		settings->socket_ping_ms = settings->socket_idle_ms / 3;
	for (struct http_connection *connection;
	     (connection = slots_next(&server->connections, &index, &id)) != NULL;)
		if (connection->phase == HTTP_SOCKET && !connection->closing) {
			ping_unschedule(connection);
			ping_schedule(connection);
		}
}

/* ---- called by the connection -------------------------------------------------------------- */

static void deliver(void *context, struct str text)
{
	struct http_connection *connection = context;
	struct http_server *server = connection->server;
	if (connection->closing)
		return;
	struct flight_mark mark =
		flight_begin(http_flight(server), "message", connection->exchange);
	server->handler.message(server->handler.context, connection->exchange, text);
	flight_end(http_flight(server), mark);
}

void websocket_advance(struct http_connection *connection)
{
	struct websocket *websocket = connection->websocket;
	struct str bytes = str_skip(buf_str(&connection->input), connection->input_used);
	if (bytes.size > 0 && http_connection_queue(connection) < LIMIT_HTTP_WRITE_QUEUE_BYTES) {
		websocket->received_ms = now_ms(connection->server);
		connection->input_used = connection->input.size;
		connection->delivering = true;
		websocket_frames_feed(&websocket->frames, bytes);
		connection->delivering = false;
		if (connection->closing)
			return;
		flush(connection);
	}
	/* The phase differs when the handler closed the WebSocket meanwhile. */
	if (websocket->frames.ended && connection->phase == HTTP_SOCKET)
		client_lost(connection);
}

void websocket_drain(struct http_connection *connection)
{
	websocket_frames_close(&connection->websocket->frames, WEBSOCKET_LEAVING,
			       S("the server is stopping"));
	flush(connection);
	http_tick(connection->server, connection);
}

void websocket_stop(struct http_connection *connection)
{
	if (connection->websocket != NULL)
		ping_unschedule(connection);
}

void websocket_free(struct http_connection *connection)
{
	if (connection->websocket == NULL)
		return;
	websocket_frames_done(&connection->websocket->frames);
	free(connection->websocket);
}

/* ---- public functions ---------------------------------------------------------------------- */

static void answer(struct http_connection *connection, struct str protocol, struct str request_id)
{
	struct http_request request = { 0 };
	char accept[WEBSOCKET_ACCEPT_SIZE];
	http_parse_request(&connection->parse, &request);
	websocket_accept_key(http_header(&request, S("Sec-WebSocket-Key")), accept);
	AUTO(buf) head = { 0 };
	buf_add_format(&head,
		       "HTTP/1.1 101 Switching Protocols\r\nDate: " STR_FMT
		       "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		       "Sec-WebSocket-Accept: %s\r\n",
		       STR_ARG(http_date(connection->server)), accept);
	if (protocol.size > 0 && websocket_offers(&request, protocol))
		buf_add_format(&head, "Sec-WebSocket-Protocol: " STR_FMT "\r\n", STR_ARG(protocol));
	if (request_id.size > 0)
		buf_add_format(&head, "X-Request-Id: " STR_FMT "\r\n", STR_ARG(request_id));
	buf_add(&head, S("\r\n"));
	http_connection_write(connection, buf_str(&head), S(""), S(""));
}

void websocket_accept(struct http_server *server, uint64_t exchange, struct str protocol,
		      struct str request_id)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL)
		return;
	require(!connection->streaming && connection->websocket == NULL);
	require(server->handler.message != NULL);
	struct websocket *websocket = calloc(1, sizeof(*websocket));
	require(websocket != NULL);
	connection->websocket = websocket;
	connection->phase = HTTP_SOCKET;
	websocket->received_ms = now_ms(server);
	websocket_frames_init(&websocket->frames, server->settings.socket_message_bytes, deliver,
			      connection);
	answer(connection, protocol, request_id);
	/* The request is not needed any more: free its buffers for the life of the WebSocket. */
	http_parse_done(&connection->parse);
	ping_schedule(connection);
	if (server->draining)
		websocket_drain(connection);
	/* Process what the client has sent meanwhile. */
	http_tick(server, connection);
}

bool websocket_write(struct http_server *server, uint64_t exchange, struct str text)
{
	return websocket_write_part(server, exchange, text, true, true);
}

bool websocket_write_part(struct http_server *server, uint64_t exchange, struct str text,
			  bool first, bool last)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL || connection->websocket->frames.ended)
		return false;
	if (http_connection_is_full(connection)) {
		connection->refused_bytes = true;
		return false;
	}
	websocket_frames_text(&connection->websocket->frames, text, first, last);
	flush(connection);
	http_tick(server, connection);
	return true;
}

void websocket_close(struct http_server *server, uint64_t exchange, enum websocket_code code,
		     struct str reason)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL)
		return;
	websocket_frames_close(&connection->websocket->frames, (int)code, reason);
	flush(connection);
	finish(connection);
}
