/* net/http_connection.c -- one connection: reading requests, writing responses, timeouts.
 *
 * The server keeps reading while an exchange is open, into `input` and up to a limit: so it detects
 * a disconnected client before it sends anything.  A client that closes its side before the
 * response is finished counts as disconnected.
 *
 * A connection is closed in two steps: shutdown, then waiting for the client's close.  Closing it
 * immediately would reset the connection while the client still sends, and the response would be
 * lost.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/http_internal.h"
#include "os/failpoint.h"

struct http_write {
	uv_write_t request;
	struct http_connection *connection;
	char bytes[];
};

size_t http_connection_queue(const struct http_connection *connection)
{
	return uv_stream_get_write_queue_size(&connection->socket.stream);
}

bool http_connection_is_full(const struct http_connection *connection)
{
	return FAILPOINT_FULL("http.write") ||
	       http_connection_queue(connection) >= LIMIT_HTTP_WRITE_QUEUE_BYTES;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void handle_closed(uv_handle_t *handle)
{
	struct http_connection *connection = handle->data;
	struct http_server *server = connection->server;
	if (--connection->handles == 0) {
		http_parse_done(&connection->parse);
		buf_done(&connection->input);
		websocket_free(connection);
		free(connection);
	}
	http_release_handle(server);
}

static void exchange_remove(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	slots_remove(&server->exchanges, connection->exchange);
	connection->exchange = 0;
	connection->refused_bytes = false;
	if (connection->local)
		server->exchanges_local--;
}

/* ---- list of connections without a complete request ------------------------------------------- */

static void new_list_add(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	connection->new_earlier = server->new_last;
	if (server->new_last == NULL)
		server->new_first = connection;
	else
		server->new_last->new_later = connection;
	server->new_last = connection;
	server->new_count++;
}

static void new_list_remove(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	bool listed = connection->new_earlier != NULL || server->new_first == connection;
	if (!listed)
		return;
	if (connection->new_earlier == NULL)
		server->new_first = connection->new_later;
	else
		connection->new_earlier->new_later = connection->new_later;
	if (connection->new_later == NULL)
		server->new_last = connection->new_earlier;
	else
		connection->new_later->new_earlier = connection->new_earlier;
	connection->new_earlier = connection->new_later = NULL;
	server->new_count--;
}

void http_connection_close(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	if (connection->closing)
		return;
	connection->closing = true;
	if (connection->exchange != 0)
		exchange_remove(connection);
	slots_remove(&server->connections, connection->id);
	if (connection->local)
		server->connections_local--;
	uv_close(&connection->socket.handle, handle_closed);
	uv_close((uv_handle_t *)&connection->timer, handle_closed);
	new_list_remove(connection);
	websocket_stop(connection);
	if (server->draining && server->connections.live == 0)
		http_tick(server, NULL);
}

/* The client disconnected, or must be disconnected: the handler's `gone` is called for an open
 * exchange. */
static void connection_lost(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	uint64_t exchange = connection->exchange;
	http_connection_close(connection);
	if (exchange == 0 || server->freed)
		return;
	struct flight_mark mark = flight_begin(http_flight(server), "gone", exchange);
	server->handler.gone(server->handler.context, exchange);
	flight_end(http_flight(server), mark);
}

/* ---- writing ------------------------------------------------------------------------------- */

static uint64_t sent_bytes(const struct http_connection *connection)
{
	return connection->queued_bytes - http_connection_queue(connection);
}

static void written(uv_write_t *request, int status)
{
	struct http_write *write = (struct http_write *)(void *)request;
	struct http_connection *connection = write->connection;
	struct http_server *server = connection->server;
	free(write);
	if (connection->closing)
		return;
	if (status < 0) {
		connection_lost(connection);
		return;
	}
	if (connection->refused_bytes &&
	    http_connection_queue(connection) <= LIMIT_HTTP_WRITE_QUEUE_BYTES / 2) {
		connection->refused_bytes = false;
		struct flight_mark mark =
			flight_begin(http_flight(server), "writable", connection->exchange);
		server->handler.writable(server->handler.context, connection->exchange);
		flight_end(http_flight(server), mark);
	}
	http_connection_advance(connection);
}

void http_connection_write(struct http_connection *connection, struct str first, struct str second,
			   struct str third)
{
	const struct str pieces[] = { first, second, third };
	size_t size = first.size + second.size + third.size, at = 0;
	struct http_write *write = malloc(sizeof(*write) + size);
	require(write != NULL);
	write->connection = connection;
	for (size_t i = 0; i < COUNT(pieces); i++) {
		memcpy(write->bytes + at, pieces[i].at, pieces[i].size);
		at += pieces[i].size;
	}
	uv_buf_t bytes = uv_buf_init(write->bytes, (unsigned int)size);
	int code = uv_write(&write->request, &connection->socket.stream, &bytes, 1, written);
	if (code == 0) {
		connection->queued_bytes += size;
		return;
	}
	/* Handler functions must not be called here: close the connection in the next tick. */
	free(write);
	connection->broken = true;
	http_tick(connection->server, connection);
}

static void shut_down(uv_shutdown_t *request, int status)
{
	struct http_connection *connection = request->data;
	if (connection->closing)
		return;
	connection->output_ended = true;
	if (status < 0 || connection->input_ended)
		http_connection_close(connection);
	else
		http_connection_advance(connection);
}

/* Sends what is queued, then closes our side, then waits for the client to close. */
static void linger(struct http_connection *connection)
{
	connection->phase = HTTP_LINGERING;
	connection->input_used = connection->input.size;
	connection->shutdown.data = connection;
	if (uv_shutdown(&connection->shutdown, &connection->socket.stream, shut_down) != 0)
		http_connection_close(connection);
}

static void refuse(struct http_connection *connection, enum error_code code, const char *detail)
{
	AUTO(buf) answer = { 0 };
	http_refuse(connection->server, code, detail, connection->parse.head_only, &answer);
	http_connection_write(connection, buf_str(&answer), S(""), S(""));
	linger(connection);
}

/* ---- time limits --------------------------------------------------------------------------- */

static void timer_update(struct http_connection *connection);

static void timed_out(uv_timer_t *timer)
{
	struct http_connection *connection = timer->data;
	enum http_timer kind = connection->timer_kind;
	connection->timer_kind = HTTP_TIMER_NONE;
	switch (kind) {
	case HTTP_TIMER_NONE:
		break;
	case HTTP_TIMER_HEADER:
		limit_hit(REJECTION_HTTP_HEADER_MS);
		if (http_parse_begun(&connection->parse))
			refuse(connection, ERROR_TIMEOUT, "the headers took too long to arrive");
		else
			http_connection_close(connection);
		break;
	case HTTP_TIMER_BODY:
		limit_hit(REJECTION_HTTP_BODY_MS);
		refuse(connection, ERROR_TIMEOUT, "the body took too long to arrive");
		break;
	case HTTP_TIMER_SEND:
		if (sent_bytes(connection) == connection->sent_before) {
			limit_hit(REJECTION_HTTP_SEND_MS);
			connection_lost(connection);
		}
		break;
	case HTTP_TIMER_IDLE:
		limit_hit(REJECTION_HTTP_IDLE_MS);
		http_connection_close(connection);
		break;
	case HTTP_TIMER_LINGER:
		http_connection_close(connection);
		break;
	}
	if (!connection->closing)
		timer_update(connection);
}

static enum http_timer timer_wanted(const struct http_connection *connection)
{
	if (connection->phase == HTTP_LINGERING && connection->output_ended)
		return HTTP_TIMER_LINGER;
	if (http_connection_queue(connection) > 0)
		return HTTP_TIMER_SEND;
	if (connection->phase != HTTP_READING)
		return HTTP_TIMER_NONE;
	if (connection->parse.state == HTTP_PARSE_BODY)
		return HTTP_TIMER_BODY;
	if (http_parse_begun(&connection->parse) || !connection->had_request)
		return HTTP_TIMER_HEADER;
	return HTTP_TIMER_IDLE;
}

/* The timer is not restarted while its reason stays the same, so a client cannot extend a timeout
 * by sending a byte now and then. */
static void timer_update(struct http_connection *connection)
{
	const struct http_settings *settings = &connection->server->settings;
	enum http_timer kind = timer_wanted(connection);
	if (kind == connection->timer_kind)
		return;
	connection->timer_kind = kind;
	uint64_t ms = 0;
	switch (kind) {
	case HTTP_TIMER_NONE:
		uv_timer_stop(&connection->timer);
		return;
	case HTTP_TIMER_HEADER:
		ms = settings->header_ms;
		break;
	case HTTP_TIMER_BODY:
		ms = settings->body_ms;
		break;
	case HTTP_TIMER_IDLE:
		ms = settings->idle_ms;
		break;
	case HTTP_TIMER_SEND:
		ms = settings->send_ms;
		connection->sent_before = sent_bytes(connection);
		break;
	case HTTP_TIMER_LINGER:
		ms = settings->linger_ms;
		break;
	}
	uv_timer_start(&connection->timer, timed_out, ms, 0);
}

/* ---- reading ------------------------------------------------------------------------------- */

static void read_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *out_room)
{
	(void)wanted;
	struct http_connection *connection = handle->data;
	*out_room = uv_buf_init(connection->server->read_bytes, HTTP_READ_BYTES);
}

static void read_ended(struct http_connection *connection)
{
	if (connection->exchange != 0) {
		connection_lost(connection);
		return;
	}
	connection->input_ended = true;
	connection->reading = false;
	uv_read_stop(&connection->socket.stream);
	bool all_sent = http_connection_queue(connection) == 0;
	if (connection->phase == HTTP_LINGERING) {
		if (connection->output_ended)
			http_connection_close(connection);
	} else if (all_sent) {
		http_connection_close(connection);
	} else {
		linger(connection);
		if (!connection->closing)
			timer_update(connection);
	}
}

static void bytes_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
	struct http_connection *connection = stream->data;
	if (size == UV_EOF) {
		read_ended(connection);
	} else if (size < 0) {
		connection_lost(connection);
	} else if (size > 0 && connection->phase != HTTP_LINGERING) {
		buf_add(&connection->input, (struct str){ room->base, (size_t)size });
		http_connection_advance(connection);
	}
}

static void reading_update(struct http_connection *connection)
{
	bool wanted = !connection->input_ended && connection->input.size < LIMIT_HTTP_HEADER_BYTES;
	if (wanted == connection->reading)
		return;
	connection->reading = wanted;
	if (!wanted)
		uv_read_stop(&connection->socket.stream);
	else if (uv_read_start(&connection->socket.stream, read_alloc, bytes_read) != 0)
		connection_lost(connection);
}

static void deliver(struct http_connection *connection)
{
	struct http_server *server = connection->server;
	connection->phase = HTTP_ANSWERING;
	connection->had_request = true;
	new_list_remove(connection);
	connection->streaming = false;
	connection->close_after = !connection->parse.keep_alive;
	connection->exchange = slots_add(&server->exchanges, connection);
	if (connection->local)
		server->exchanges_local++;
	/* The request is complete, so its timeout ends. */
	uv_timer_stop(&connection->timer);
	connection->timer_kind = HTTP_TIMER_NONE;
	struct http_request request = { .exchange = connection->exchange,
					.local = connection->local,
					.peer = str_from_c(connection->peer) };
	http_parse_request(&connection->parse, &request);
	connection->delivering = true;
	struct flight_mark mark = flight_begin(http_flight(server), "request", request.exchange);
	server->handler.request(server->handler.context, &request);
	flight_end(http_flight(server), mark);
	connection->delivering = false;
}

/* Parses received input; true when another request may follow. */
static bool input_parse(struct http_connection *connection)
{
	struct http_parse *parse = &connection->parse;
	struct str bytes = str_skip(buf_str(&connection->input), connection->input_used);
	if (bytes.size == 0 || http_connection_queue(connection) >= LIMIT_HTTP_WRITE_QUEUE_BYTES)
		return false;
	connection->input_used += http_parse_feed(parse, bytes);
	switch (parse->state) {
	case HTTP_PARSE_HEAD:
		return false;
	case HTTP_PARSE_BODY:
		if (parse->wants_continue) {
			parse->wants_continue = false;
			if (parse->wire_bytes == 0)
				http_connection_write(connection,
						      S("HTTP/1.1 100 Continue\r\n\r\n"), S(""),
						      S(""));
		}
		return false;
	case HTTP_PARSE_WHOLE:
		deliver(connection);
		return true;
	case HTTP_PARSE_REFUSED:
		refuse(connection, parse->code, parse->detail);
		return false;
	}
	return false;
}

/* Removes the parsed part of the input, once after parsing; frees a large empty buffer. */
static void input_trim(struct http_connection *connection)
{
	struct buf *input = &connection->input;
	buf_drop_front(input, connection->input_used);
	connection->input_used = 0;
	if (input->size == 0 && input->room > LIMIT_HTTP_HEADER_BYTES)
		buf_done(input);
}

/* Does everything that the state of the connection allows; called after every change. */
void http_connection_advance(struct http_connection *connection)
{
	if (connection->delivering)
		return;
	if (connection->broken && !connection->closing) {
		connection_lost(connection);
		return;
	}
	bool more = true;
	while (more && !connection->closing) {
		if (connection->phase == HTTP_ANSWERED &&
		    (connection->close_after || connection->server->draining)) {
			linger(connection);
		} else if (connection->phase == HTTP_ANSWERED) {
			http_parse_next(&connection->parse);
			connection->phase = HTTP_READING;
		}
		more = !connection->closing && connection->phase == HTTP_READING &&
		       input_parse(connection);
	}
	if (!connection->closing && connection->phase == HTTP_SOCKET)
		websocket_advance(connection);
	input_trim(connection);
	if (!connection->closing)
		reading_update(connection);
	if (!connection->closing)
		timer_update(connection);
}

void http_connection_answered(struct http_connection *connection)
{
	exchange_remove(connection);
	connection->phase = HTTP_ANSWERED;
	http_tick(connection->server, connection);
}

void http_connection_drain(struct http_connection *connection)
{
	if (connection->phase == HTTP_SOCKET)
		websocket_drain(connection);
	if (connection->phase != HTTP_READING || http_parse_begun(&connection->parse) ||
	    connection->input.size > 0)
		return;
	if (http_connection_queue(connection) == 0) {
		http_connection_close(connection);
		return;
	}
	linger(connection);
	if (!connection->closing)
		timer_update(connection);
}

/* Stores the client's address; "" when the client has already disconnected. */
static void peer_set(struct http_connection *connection)
{
	struct sockaddr_storage address;
	int size = (int)sizeof(address);
	if (uv_tcp_getpeername(&connection->socket.tcp, (struct sockaddr *)&address, &size) != 0 ||
	    uv_ip_name((struct sockaddr *)&address, connection->peer, sizeof(connection->peer)) !=
		    0)
		connection->peer[0] = '\0';
}

void http_connection_open(struct http_server *server, int socket, bool local)
{
	struct http_connection *connection = calloc(1, sizeof(*connection));
	require(connection != NULL);
	uv_loop_t *uv = loop_uv(server->loop);
	connection->server = server;
	connection->local = local;
	connection->id = slots_add(&server->connections, connection);
	if (local)
		server->connections_local++;
	http_parse_init(&connection->parse);
	connection->input = buf_limited(LIMIT_HTTP_HEADER_BYTES + HTTP_READ_BYTES);
	if (!local && server->new_count >= server->settings.new_connections) {
		limit_hit(REJECTION_HTTP_NEW_CONNECTIONS);
		http_connection_close(server->new_first);
	}
	if (!local)
		new_list_add(connection);
	int code;
	if (local) {
		require(uv_pipe_init(uv, &connection->socket.pipe, 0) == 0);
		code = uv_pipe_open(&connection->socket.pipe, socket);
	} else {
		require(uv_tcp_init(uv, &connection->socket.tcp) == 0);
		code = uv_tcp_open(&connection->socket.tcp, socket);
		uv_tcp_nodelay(&connection->socket.tcp, 1);
		peer_set(connection);
	}
	require(uv_timer_init(uv, &connection->timer) == 0);
	connection->socket.handle.data = connection;
	connection->timer.data = connection;
	connection->handles = 2;
	server->handles += 2;
	if (code == 0) {
		http_connection_advance(connection);
		return;
	}
	close(socket);
	http_connection_close(connection);
}
