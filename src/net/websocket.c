/* net/websocket.c -- the frames of a connection that has changed its protocol: pings, idleness,
 * the end.
 *
 * The connection keeps its socket, its queue and its send limit; here is what goes on top.  A
 * client with bytes on their way to it is under the send limit, so only one whose queue is empty
 * can be idle.
 *
 * Pings of all of them hang on one timer: a list in the order in which they are due, of which a
 * turn takes a few, so that thousands that fall due together do not hold the loop.
 */
#include "net/websocket.h"

#include <stdlib.h>

#include "net/http_internal.h"
#include "net/websocket_handshake.h"

enum { BEATS_A_TURN = 64 };

struct websocket {
	struct websocket_frames frames;
	struct http_connection *earlier, *later; /* in the server's list, by due_ms */
	bool listed;
	uint64_t due_ms;
	uint64_t heard_ms; /* the loop's time when bytes last came */
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

static void beat_unlist(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	struct websocket *websocket = connection->websocket;
	if (!websocket->listed)
		return;
	websocket->listed = false;
	if (websocket->earlier != NULL)
		websocket->earlier->websocket->later = websocket->later;
	else
		server->beat_first = websocket->later;
	if (websocket->later != NULL)
		websocket->later->websocket->earlier = websocket->earlier;
	else
		server->beat_last = websocket->earlier;
}

/* Our last frame is queued: it goes out, then our side ends. */
static void finish(struct http_connection *connection)
{
	beat_unlist(connection);
	connection->close_after = true;
	http_connection_answered(connection);
}

/* The end that the handler did not ask for. */
static void put_out(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	uint64_t exchange = connection->exchange;
	finish(connection);
	struct flight_mark mark = flight_begin(http_flight(server), "gone", exchange);
	server->handler.gone(server->handler.context, exchange);
	flight_end(http_flight(server), mark);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void beats_due(uv_timer_t *timer);

static void beat_arm(struct http_server *server)
{
	if (server->beat_first == NULL) {
		uv_timer_stop(&server->beat);
		return;
	}
	uint64_t due = server->beat_first->websocket->due_ms, now = now_ms(server);
	/* One that is late comes with the next turn, behind the sockets. */
	uv_timer_start(&server->beat, beats_due, due > now ? due - now : 1, 0);
}

/* The next ping, or the end of the client's patience if that is sooner.  Mostly the last to be due:
 * the search from the end finds its place at once. */
static void beat_list(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	struct websocket *websocket = connection->websocket;
	const struct http_settings *settings = &server->settings;
	uint64_t now = now_ms(server), silent_ms = now - websocket->heard_ms;
	uint64_t ms = settings->socket_ping_ms;
	if (silent_ms < settings->socket_idle_ms && settings->socket_idle_ms - silent_ms < ms)
		ms = settings->socket_idle_ms - silent_ms;
	websocket->due_ms = now + ms;
	struct http_connection *before = server->beat_last;
	while (before != NULL && before->websocket->due_ms > websocket->due_ms)
		before = before->websocket->earlier;
	websocket->listed = true;
	websocket->earlier = before;
	websocket->later = before == NULL ? server->beat_first : before->websocket->later;
	if (before == NULL)
		server->beat_first = connection;
	else
		before->websocket->later = connection;
	if (websocket->later == NULL)
		server->beat_last = connection;
	else
		websocket->later->websocket->earlier = connection;
	if (server->beat_first == connection)
		beat_arm(server);
}

static void beat(struct http_connection *connection)
{
	struct websocket *websocket = connection->websocket;
	uint64_t silent_ms = now_ms(connection->server) - websocket->heard_ms;
	if (silent_ms >= connection->server->settings.socket_idle_ms &&
	    http_connection_queue(connection) == 0) {
		limit_hit(REJECTION_WS_IDLE_MS);
		websocket_frames_close(&websocket->frames, WEBSOCKET_LEAVING,
				       S("nothing was heard for too long"));
		flush(connection);
		put_out(connection);
		return;
	}
	websocket_frames_ping(&websocket->frames);
	flush(connection);
	beat_list(connection);
	http_connection_advance(connection);
}

static void beats_due(uv_timer_t *timer)
{
	struct http_server *server = timer->data;
	uint64_t now = now_ms(server);
	struct flight_mark mark = flight_begin(http_flight(server), "pings", 0);
	for (int i = 0; i < BEATS_A_TURN && server->beat_first != NULL &&
			server->beat_first->websocket->due_ms <= now;
	     i++) {
		struct http_connection *connection = server->beat_first;
		beat_unlist(connection);
		beat(connection);
	}
	flight_end(http_flight(server), mark);
	beat_arm(server);
}

void websocket_be_patient(struct http_server *server, uint64_t idle_ms)
{
	struct http_settings *settings = &server->settings;
	uint32_t index = 0;
	uint64_t id;
	settings->socket_idle_ms = idle_ms == 0 ? LIMIT_WS_IDLE_MS : idle_ms;
	/* Somebody who answers must have been asked in time. */
	settings->socket_ping_ms = LIMIT_WS_PING_MS;
	if (settings->socket_idle_ms / 3 < settings->socket_ping_ms)
		settings->socket_ping_ms = settings->socket_idle_ms / 3;
	for (struct http_connection *connection;
	     (connection = slots_next(&server->connections, &index, &id)) != NULL;)
		if (connection->phase == HTTP_SOCKET && !connection->closing) {
			beat_unlist(connection);
			beat_list(connection);
		}
}

/* ---- what the connection calls ------------------------------------------------------------- */

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
	struct str bytes = str_skip(buf_str(&connection->ahead), connection->ahead_used);
	if (bytes.size > 0 && http_connection_queue(connection) < LIMIT_HTTP_WRITE_QUEUE_BYTES) {
		websocket->heard_ms = now_ms(connection->server);
		connection->ahead_used = connection->ahead.size;
		connection->delivering = true;
		websocket_frames_feed(&websocket->frames, bytes);
		connection->delivering = false;
		if (connection->closing)
			return;
		flush(connection);
	}
	/* It may have been the handler that closed it. */
	if (websocket->frames.ended && connection->phase == HTTP_SOCKET)
		put_out(connection);
}

void websocket_drain(struct http_connection *connection)
{
	websocket_frames_close(&connection->websocket->frames, WEBSOCKET_LEAVING,
			       S("the server stops"));
	flush(connection);
	http_tick(connection->server, connection);
}

void websocket_stop(struct http_connection *connection)
{
	if (connection->websocket != NULL)
		beat_unlist(connection);
}

void websocket_free(struct http_connection *connection)
{
	if (connection->websocket == NULL)
		return;
	websocket_frames_done(&connection->websocket->frames);
	free(connection->websocket);
}

/* ---- doors --------------------------------------------------------------------------------- */

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
	websocket->heard_ms = now_ms(server);
	websocket_frames_init(&websocket->frames, server->settings.socket_message_bytes, deliver,
			      connection);
	answer(connection, protocol, request_id);
	/* The request has had its answer: what it took is not needed for as long as this lasts. */
	http_parse_done(&connection->parse);
	beat_list(connection);
	if (server->draining)
		websocket_drain(connection);
	/* What the client sent meanwhile is ahead. */
	http_tick(server, connection);
}

bool websocket_write(struct http_server *server, uint64_t exchange, struct str text)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL || connection->websocket->frames.ended)
		return false;
	if (http_connection_queue(connection) >= LIMIT_HTTP_WRITE_QUEUE_BYTES) {
		connection->refused_bytes = true;
		return false;
	}
	websocket_frames_text(&connection->websocket->frames, text);
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
