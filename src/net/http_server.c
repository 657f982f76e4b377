/* net/http_server.c -- the server: exchanges by id, deferred work, responses, drain. */
#include "net/http_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/uuid.h"
#include "net/http_internal.h"

struct http_settings http_settings_default(void)
{
	return (struct http_settings){
		.header_ms = LIMIT_HTTP_HEADER_MS,
		.body_ms = LIMIT_HTTP_BODY_MS,
		.idle_ms = LIMIT_HTTP_IDLE_MS,
		.send_ms = LIMIT_HTTP_SEND_MS,
		.linger_ms = LIMIT_HTTP_LINGER_MS,
		.accept_pause_ms = LIMIT_HTTP_ACCEPT_PAUSE_MS,
		.socket_ping_ms = LIMIT_WS_PING_MS,
		.socket_idle_ms = LIMIT_WS_IDLE_MS,
		.socket_message_bytes = LIMIT_WS_MESSAGE_BYTES,
		.connections = LIMIT_HTTP_CONNECTIONS,
		.local_connections = LIMIT_HTTP_LOCAL_CONNECTIONS,
		.new_connections = LIMIT_HTTP_NEW_CONNECTIONS,
	};
}

struct flight *http_flight(struct http_server *server)
{
	return loop_flight(server->loop);
}

void http_settings_change(struct http_server *server, const struct http_settings *settings)
{
	server->settings = *settings;
}

void http_server_set_connection_limit(struct http_server *server, size_t connections)
{
	struct http_settings *settings = &server->settings;
	settings->connections = connections;
	/* Keep the other half for clients that have sent a complete request. */
	if (settings->new_connections > connections / 2)
		settings->new_connections = connections / 2;
}

void http_server_set_timeouts(struct http_server *server, const struct http_timeouts *timeouts)
{
	server->settings.header_ms = timeouts->header_ms;
	server->settings.body_ms = timeouts->body_ms;
	server->settings.idle_ms = timeouts->idle_ms;
	server->settings.send_ms = timeouts->send_ms;
	server->settings.socket_idle_ms = timeouts->socket_idle_ms;
}

struct str http_header(const struct http_request *request, struct str name)
{
	for (size_t i = 0; i < request->header_count; i++)
		if (str_equal_folded(request->headers[i].name, name))
			return request->headers[i].value;
	return S("");
}

/* The text of the Date header, formatted once per second. */
struct str http_date(struct http_server *server)
{
	static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	int64_t second = platform_wall_us(loop_platform(server->loop)) / 1000000;
	if (second != server->date_second) {
		server->date_second = second;
		time_t now = (time_t)second;
		struct tm at;
		gmtime_r(&now, &at);
		snprintf(server->date, sizeof(server->date), "%s, %02d %s %04d %02d:%02d:%02d GMT",
			 days[(unsigned)at.tm_wday % 7], at.tm_mday % 100,
			 months[(unsigned)at.tm_mon % 12], (at.tm_year + 1900) % 10000,
			 at.tm_hour % 100, at.tm_min % 100, at.tm_sec % 100);
	}
	return str_from_c(server->date);
}

/* ---- ticks --------------------------------------------------------------------------------- */

static void tick_fired(void *context, uint64_t argument)
{
	(void)argument;
	struct http_server *server = context;
	/* Requests made meanwhile wait for the next tick. */
	uint64_t *list = server->tick_list;
	size_t count = server->tick_count;
	server->tick_timer = 0;
	server->tick_list = NULL;
	server->tick_count = server->tick_room = 0;
	for (size_t i = 0; i < count && !server->freed; i++) {
		struct http_connection *connection = slots_get(&server->connections, list[i]);
		if (connection == NULL)
			continue;
		connection->tick_pending = false;
		http_connection_advance(connection);
	}
	free(list);
	if (server->freed || !server->draining || server->connections.live > 0)
		return;
	platform_callback *drained = server->drained;
	server->drained = NULL;
	/* The last call, because it may free the server. */
	if (drained != NULL)
		drained(server->drained_context, 0);
}

void http_tick(struct http_server *server, struct http_connection *connection)
{
	if (server->freed)
		return;
	if (connection != NULL && !connection->tick_pending) {
		connection->tick_pending = true;
		if (server->tick_count == server->tick_room) {
			server->tick_room = server->tick_room == 0 ? 16 : server->tick_room * 2;
			server->tick_list = realloc(server->tick_list,
						    server->tick_room * sizeof(*server->tick_list));
			require(server->tick_list != NULL);
		}
		server->tick_list[server->tick_count++] = connection->id;
	}
	if (server->tick_timer == 0)
		server->tick_timer =
			platform_timer_start(loop_platform(server->loop), 0, tick_fired, server, 0);
}

/* ---- open, drain, free --------------------------------------------------------------------- */

static void server_release(struct http_server *server)
{
	if (!server->freed || server->handles > 0)
		return;
	slots_done(&server->exchanges);
	slots_done(&server->connections);
	free(server);
}

void http_release_handle(struct http_server *server)
{
	server->handles--;
	server_release(server);
}

struct http_server *http_server_new(struct loop *loop, const struct http_handler *handler)
{
	struct http_server *server = calloc(1, sizeof(*server));
	require(server != NULL);
	server->loop = loop;
	server->handler = *handler;
	server->settings = http_settings_default();
	require(uv_timer_init(loop_uv(loop), &server->ping_timer) == 0);
	server->ping_timer.data = server;
	server->handles = 1;
	return server;
}

static void listeners_close(struct http_server *server)
{
	for (size_t i = 0; i < server->listener_count; i++)
		http_listener_close(server->listeners[i]);
	server->listener_count = 0;
}

void http_server_drain(struct http_server *server, platform_callback *done, void *context)
{
	server->draining = true;
	server->drained = done;
	server->drained_context = context;
	listeners_close(server);
	uint32_t index = 0;
	uint64_t id;
	struct http_connection *connection;
	while ((connection = slots_next(&server->connections, &index, &id)) != NULL)
		http_connection_drain(connection);
	http_tick(server, NULL);
}

static void ping_timer_closed(uv_handle_t *handle)
{
	http_release_handle(handle->data);
}

void http_server_free(struct http_server *server)
{
	if (server == NULL || server->freed)
		return;
	server->freed = true;
	platform_timer_stop(loop_platform(server->loop), server->tick_timer);
	free(server->tick_list);
	server->tick_list = NULL;
	listeners_close(server);
	uint32_t index = 0;
	uint64_t id;
	struct http_connection *connection;
	while ((connection = slots_next(&server->connections, &index, &id)) != NULL)
		http_connection_close(connection);
	uv_close((uv_handle_t *)&server->ping_timer, ping_timer_closed);
}

static const enum error_code refusal_codes[HTTP_REFUSALS] = {
	ERROR_SYNTAX, ERROR_TIMEOUT, ERROR_TOO_LARGE, ERROR_HEADERS_TOO_LARGE, ERROR_UNAVAILABLE,
};

void http_refuse(struct http_server *server, enum error_code code, const char *detail,
		 bool head_only, struct buf *out_answer)
{
	uint8_t random[16];
	char text[UUID_TEXT_SIZE];
	for (size_t i = 0; i < HTTP_REFUSALS; i++)
		server->refusals[i] += refusal_codes[i] == code;
	platform_random(loop_platform(server->loop), random, sizeof(random));
	struct uuid id = uuid_from_random(random);
	const struct http_problem problem = { code, detail, .date = http_date(server),
					      .request_id = uuid_text(&id, text),
					      .head_only = head_only };
	http_answer_problem(out_answer, &problem);
}

uint64_t http_refusals(const struct http_server *server, size_t index, int *out_status)
{
	require(index < HTTP_REFUSALS);
	*out_status = error_row(refusal_codes[index])->http_status;
	return server->refusals[index];
}

size_t http_queued_bytes(const struct http_server *server)
{
	size_t bytes = 0;
	uint32_t index = 0;
	uint64_t id;
	for (const struct http_connection *connection;
	     (connection = slots_next(&server->connections, &index, &id)) != NULL;)
		bytes += http_connection_queue(connection);
	return bytes;
}

size_t http_open_connections(const struct http_server *server)
{
	return server->connections.live;
}

size_t http_new_connections(const struct http_server *server)
{
	return server->new_count;
}

size_t http_open_exchanges(const struct http_server *server)
{
	return server->exchanges.live;
}

size_t http_open_exchanges_local(const struct http_server *server)
{
	return server->exchanges_local;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* Decides how the response is framed and whether the connection stays open after it. */
static void head_make(struct http_connection *connection, struct http_answer *answer, bool streamed,
		      struct buf *out)
{
	bool old = connection->parse.old;
	answer->date = http_date(connection->server);
	connection->chunked = false;
	connection->omit_body =
		connection->parse.head_only || !http_status_has_body(answer->status);
	if (!http_status_has_body(answer->status)) {
		answer->framing = HTTP_FRAMING_NONE;
	} else if (!streamed) {
		answer->framing = HTTP_FRAMING_LENGTH;
	} else if (!old) {
		answer->framing = HTTP_FRAMING_CHUNKED;
		connection->chunked = !connection->omit_body;
	} else {
		/* An HTTP/1.0 client recognizes the end of a stream only by the close. */
		answer->framing = HTTP_FRAMING_NONE;
		connection->close_after = true;
	}
	if (connection->server->draining)
		connection->close_after = true;
	answer->close = connection->close_after;
	answer->keep = old && !connection->close_after;
	http_answer_head(out, answer);
}

void http_reply(struct http_server *server, uint64_t exchange, int status,
		const struct http_header *headers, size_t header_count, struct str body)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL)
		return;
	require(!connection->streaming);
	struct http_answer answer = { .status = status,
				      .headers = headers,
				      .header_count = header_count,
				      .length = body.size };
	AUTO(buf) head = { 0 };
	head_make(connection, &answer, false, &head);
	http_connection_write(connection, buf_str(&head), connection->omit_body ? S("") : body,
			      S(""));
	http_connection_answered(connection);
}

void http_begin(struct http_server *server, uint64_t exchange, int status,
		const struct http_header *headers, size_t header_count)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL)
		return;
	require(!connection->streaming);
	struct http_answer answer = { .status = status,
				      .headers = headers,
				      .header_count = header_count };
	AUTO(buf) head = { 0 };
	head_make(connection, &answer, true, &head);
	connection->streaming = true;
	http_connection_write(connection, buf_str(&head), S(""), S(""));
	http_tick(server, connection);
}

bool http_write(struct http_server *server, uint64_t exchange, struct str bytes)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL)
		return false;
	require(connection->streaming);
	if (connection->omit_body || bytes.size == 0)
		return true;
	if (http_connection_is_full(connection)) {
		connection->refused_bytes = true;
		return false;
	}
	char size[32] = "";
	if (connection->chunked)
		snprintf(size, sizeof(size), "%zx\r\n", bytes.size);
	http_connection_write(connection, str_from_c(size), bytes,
			      connection->chunked ? S("\r\n") : S(""));
	http_tick(server, connection);
	return true;
}

/* The kernel doubles the number, for its own structures. */
void http_bound_buffer(struct http_server *server, uint64_t exchange)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	int bytes = LIMIT_STREAM_SEND_BUFFER / 2;
	if (connection != NULL)
		uv_send_buffer_size(&connection->socket.handle, &bytes);
}

void http_end(struct http_server *server, uint64_t exchange)
{
	struct http_connection *connection = slots_get(&server->exchanges, exchange);
	if (connection == NULL)
		return;
	require(connection->streaming);
	if (connection->chunked)
		http_connection_write(connection, S("0\r\n\r\n"), S(""), S(""));
	http_connection_answered(connection);
}
