/* api/api_socket.c -- event WebSockets as cursors (architecture R10).
 *
 * A socket remembers the cursor of the last event it sent and no queue.  It follows a tail that it
 * shares with all sockets of the same events (event_tail.h), leaves out what its client has not
 * subscribed to, and sends while the client takes it.  A message that is larger than a piece is sent
 * in several frames, and the socket remembers how much of it was sent.  Three protocols:
 *
 *	/ws/events          pipeline vocabulary: events of all runs or of the subscribed runs
 *	  from the client   run.SocketRequest
 *	  to the client     run.SocketMessage
 *	/ws/execution/{id}  runtime vocabulary: all events of the run; closes with 1000 after the last
 *	/tasks/{id}/stream  task vocabulary, in two channels: `content` has the replies that models are
 *	                    writing (reply_cursor.h), `events` all events of the run, `stream` both; each
 *	                    closes with 1000 after the last event
 *
 * The handshake is completed (101) when the first event was looked up.  So an unknown run gets 404,
 * and every event committed after the client has seen the 101 is after the cursor.
 *
 * A malformed message closes the socket: otherwise a client that wrongly believes to be subscribed
 * would wait forever.
 */
#include <stdlib.h>
#include <string.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "api/event_tail.h"
#include "api/reply_cursor.h"
#include "contract/run_stream_types.h"
#include "net/websocket.h"
#include "views/task_chunk.h"

struct api_socket {
	struct api *api;
	uint64_t id, exchange;
	bool all;
	struct uuid run;
	const struct view *view;
	struct event_follower follower;
	char since[PAGE_SINCE_SIZE];
	bool accepted, full;
	bool ended; /* the run, as far as it was sent: its end, and no retry after it */
	bool backfilling;
	int64_t backfill_end; /* position of the last event of the backfill */
	int64_t backfill_count;
	bool owes_pong;
	struct uuid *followed; /* LIMIT_WS_SUBSCRIPTIONS; NULL until the first subscription */
	size_t followed_count; /* 0 = all runs */
	uint64_t timer;
	bool chunks;    /* the client wants the replies that are being written */
	bool no_events; /* and nothing else */
	struct event_filter filter;
	struct reply_cursors replies;
};

static struct api_socket *socket_of_exchange(struct api *api, uint64_t exchange)
{
	const struct api_call *call = api_call_of(api, exchange);
	struct api_socket *socket =
		call == NULL ? NULL : slots_get(&api->sockets, call->connection);
	return socket != NULL && socket->exchange == exchange ? socket : NULL;
}

static void socket_free(struct api_socket *socket)
{
	struct api *api = socket->api;
	event_follower_leave(&socket->follower);
	reply_cursors_done(&socket->replies);
	if (socket->timer != 0)
		platform_timer_stop(loop_platform(api->settings.loop), socket->timer);
	slots_remove(&api->sockets, socket->id);
	free(socket->followed);
	free(socket);
}

static void socket_close(struct api_socket *socket, enum websocket_code code, struct str reason)
{
	api_close(socket->api, socket->exchange, (int)code, reason);
	socket_free(socket);
}

/* Closes the socket when it must not. */
static bool socket_may_go_on(struct api_socket *socket)
{
	if (!api_stream_is_authorized(socket->api, socket->exchange)) {
		socket_close(socket, WEBSOCKET_POLICY, S("the API key was revoked or has expired"));
		return false;
	}
	return true;
}

static bool socket_send(struct api_socket *socket, struct str text)
{
	socket->full = !websocket_write(socket->api->server, socket->exchange, text);
	return !socket->full;
}

static bool send_pong(struct api_socket *socket)
{
	AUTO(arena) arena = { 0 };
	return socket_send(socket, run_socket_pong_text(run_socket_pong_new(&arena), &arena));
}

/* ---- application ping -------------------------------------------------------------- */

static void ping(void *context, uint64_t argument)
{
	struct api *api = context;
	struct api_socket *socket = slots_get(&api->sockets, argument);
	if (socket == NULL)
		return;
	AUTO(arena) arena = { 0 };
	if (!socket->full && socket->follower.offset == 0)
		socket_send(socket, run_socket_ping_text(run_socket_ping_new(&arena), &arena));
	socket->timer = platform_timer_start(loop_platform(api->settings.loop),
					     LIMIT_WS_PING_MS * 1000, ping, api, argument);
}

/* ---- beginning --------------------------------------------------------------------- */

static void accept_socket(struct api_socket *socket, const struct event_page *start)
{
	socket->accepted = true;
	api_accept(socket->api, socket->exchange);
	http_bound_buffer(socket->api->server, socket->exchange);
	if (!socket->all)
		return;
	socket->timer =
		platform_timer_start(loop_platform(socket->api->settings.loop),
				     LIMIT_WS_PING_MS * 1000, ping, socket->api, socket->id);
	socket->backfilling = socket->since[0] != '\0' && !start->expired;
	socket->backfill_end = start->newest;
	if (!start->expired)
		return;
	AUTO(arena) arena = { 0 };
	struct run_socket_backfill_expired *message = run_socket_backfill_expired_new(&arena);
	SET(message, message,
	    S("the event is not among the newest stored events; read the runs again and "
	      "continue from here"));
	socket_send(socket, run_socket_backfill_expired_text(message, &arena));
}

/* ---- sending ----------------------------------------------------------------------- */

/* All events that existed when the client connected have been sent. */
static bool end_backfill(struct api_socket *socket)
{
	AUTO(arena) arena = { 0 };
	struct run_socket_backfill_complete *message = run_socket_backfill_complete_new(&arena);
	SET(message, count, socket->backfill_count);
	if (!socket_send(socket, run_socket_backfill_complete_text(message, &arena)))
		return false;
	socket->backfilling = false;
	return true;
}

static size_t find_followed(const struct api_socket *socket, const struct uuid *run)
{
	size_t at = 0;
	while (at < socket->followed_count && !uuid_equal(&socket->followed[at], run))
		at++;
	return at;
}

/* A message that was begun is completed.  What existed before the client connected is not filtered by
 * subscriptions, but by level, domain and type. */
static bool is_shown(const struct api_socket *socket, const struct event_page_item *item)
{
	if (item->text.size == 0 || socket->no_events)
		return false;
	if (socket->follower.offset == 0 && !event_filter_allows(&socket->filter, &item->class))
		return false;
	return socket->follower.offset > 0 || socket->followed_count == 0 ||
	       (socket->backfilling && item->cursor.at <= socket->backfill_end) ||
	       find_followed(socket, &item->run) < socket->followed_count;
}

/* Sends the message, or its next piece; false when the client takes no more. */
static bool send_piece(struct api_socket *socket, struct str text)
{
	size_t offset = socket->follower.offset;
	struct str piece = str_head(str_skip(text, offset), LIMIT_STREAM_PIECE_BYTES);
	bool last = offset + piece.size >= text.size;
	socket->full = !websocket_write_part(socket->api->server, socket->exchange, piece,
					     offset == 0, last);
	if (socket->full)
		return false;
	socket->follower.offset = last ? 0 : offset + piece.size;
	return true;
}

/* Sends one event, or a piece of it; false when the client takes no more. */
static bool send_item(struct api_socket *socket, const struct event_page_item *item)
{
	if (socket->backfilling && item->cursor.at > socket->backfill_end && !end_backfill(socket))
		return false;
	bool shown = is_shown(socket, item);
	if (shown && !send_piece(socket, item->text))
		return false;
	if (socket->follower.offset > 0)
		return true;
	socket->backfill_count += socket->backfilling && shown;
	socket->follower.cursor = item->cursor;
	socket->ended = (socket->ended || item->last) && !item->reopens;
	if (socket->owes_pong)
		socket->owes_pong = !send_pong(socket);
	return !socket->full;
}

/* Sends events of a page; false when the client takes no more. */
static bool send_events(struct api_socket *socket, const struct events *events, size_t *sent)
{
	for (size_t i = 0; i < events->count && *sent < LIMIT_STREAM_TURN_BYTES;) {
		const struct event_page_item *item = &events->items[i];
		size_t size = item->text.size < LIMIT_STREAM_PIECE_BYTES ? item->text.size
									 : LIMIT_STREAM_PIECE_BYTES;
		if (!send_item(socket, item))
			return false;
		*sent += size;
		i += socket->follower.offset == 0;
	}
	return true;
}

/* The channel has the text of replies and neither their thinking nor their calls. */
static bool send_chunk(struct api_socket *socket, const struct reply_chunk *chunk)
{
	AUTO(arena) arena = { 0 };
	const struct reply_cursor *cursor = &socket->replies.at[chunk->cursor];
	bool ends = chunk->reply == NULL;
	if (!ends && (chunk->part != LLM_PART_TEXT || chunk->delta.size == 0))
		return true;
	const struct task_chunk shown = { .run = socket->run,
					  .step = cursor->step,
					  .agent = cursor->agent,
					  .text = ends ? S("") : chunk->delta,
					  .is_final = ends,
					  .at = platform_wall_us(
						  loop_platform(socket->api->settings.loop)) };
	return socket_send(socket, task_chunk_text(&shown, &arena));
}

/* All events were sent: now the replies that are being written.  False when the socket is closed. */
static bool send_chunks(struct api_socket *socket)
{
	struct executor *executor = socket->api->settings.executor;
	struct reply_chunk chunk;
	for (size_t sent = 0; sent < LIMIT_STREAM_TURN_BYTES; sent += chunk.delta.size) {
		if (!reply_cursors_next(&socket->replies, executor, &socket->run, &chunk))
			return true;
		if (!socket_may_go_on(socket))
			return false;
		if (!send_chunk(socket, &chunk))
			return true;
		reply_cursors_sent(&socket->replies, &chunk);
	}
	event_follower_again(&socket->follower);
	return true;
}

/* The last chunk of a reply comes before the event that has all of it. */
static bool send_ends(struct api_socket *socket)
{
	struct reply_chunk chunk;
	while (socket->chunks && socket->follower.offset == 0 &&
	       reply_cursors_ended(&socket->replies, socket->api->settings.executor, &chunk)) {
		if (!send_chunk(socket, &chunk))
			return false;
		reply_cursors_sent(&socket->replies, &chunk);
	}
	return true;
}

/* One turn: false when the socket waits, has ended or is closed. */
static bool socket_turn(struct api_socket *socket, size_t *sent)
{
	struct events events;
	enum events_found found = event_follower_next(&socket->follower, &events);
	if (found == EVENTS_FAILED) {
		struct error error = event_follower_error(&socket->follower);
		socket_close(socket, WEBSOCKET_INTERNAL, str_from_c(error.text));
		return false;
	}
	if (found == EVENTS_END && socket->chunks && !send_chunks(socket))
		return false;
	/* A run that was retried has events behind its end. */
	if (found == EVENTS_END && socket->ended && !socket->all) {
		socket_close(socket, WEBSOCKET_DONE, S("the run has ended"));
		return false;
	}
	if (found == EVENTS_END && socket->backfilling)
		end_backfill(socket);
	if (found != EVENTS_HERE)
		return false;
	if (!socket_may_go_on(socket))
		return false;
	return send_ends(socket) && send_events(socket, &events, sent);
}

static void socket_write(struct api *api, uint64_t id)
{
	struct api_socket *socket = slots_get(&api->sockets, id);
	if (socket == NULL || socket->full)
		return;
	for (size_t sent = 0; sent < LIMIT_STREAM_TURN_BYTES;)
		if (!socket_turn(socket, &sent))
			return;
	event_follower_again(&socket->follower);
}

static void socket_begin(struct api_socket *socket, const struct event_page *start)
{
	const struct event_tail_key key = { .view = socket->view,
					    .form = socket->all ? PAGE_FORM_MESSAGE
								: PAGE_FORM_PLAIN,
					    .all = socket->all,
					    .synthesizes = !socket->all,
					    .run = socket->run };
	event_follower_join(socket->api, &key, start->after, socket_write, socket->id,
			    &socket->follower);
	accept_socket(socket, start);
	if (!socket->full)
		event_follower_again(&socket->follower);
}

static void start_done(struct executor_read *read)
{
	struct event_page *start = (struct event_page *)read;
	struct api *api = start->owner;
	struct api_socket *socket = slots_get(&api->sockets, start->connection);
	if (socket != NULL && start->error.code != ERROR_NONE) {
		api_reply_error(api, socket->exchange, &start->error, NULL);
		socket_free(socket);
	} else if (socket != NULL) {
		socket_begin(socket, start);
	}
	arena_done(&read->arena);
	free(start);
}

/* Finds the event to begin with, on a reader thread. */
static void socket_start(struct api_socket *socket)
{
	struct event_page *start = calloc(1, sizeof(*start));
	require(start != NULL);
	start->owner = socket->api;
	start->connection = socket->id;
	start->all = socket->all;
	start->synthesizes = !socket->all;
	start->run = socket->run;
	start->first = true;
	memcpy(start->since, socket->since, sizeof(start->since));
	start->after = event_cursor_of(-1);
	start->read.work = event_page_work;
	start->read.done = start_done;
	executor_read(socket->api->settings.executor, &start->read);
}

/* ---- messages from the client ------------------------------------------------------ */

/* Returns NULL, or the reason to close the socket. */
static const char *take_subscription(struct api_socket *socket, const struct uuid *run, bool follow)
{
	size_t at = find_followed(socket, run);
	bool known = at < socket->followed_count;
	if (follow == known)
		return NULL;
	if (follow && at == LIMIT_WS_SUBSCRIPTIONS)
		limit_hit(REJECTION_WS_SUBSCRIPTIONS);
	if (follow && at == LIMIT_WS_SUBSCRIPTIONS)
		return "too many subscriptions; use subscribe_all";
	if (follow && socket->followed == NULL)
		socket->followed = calloc(LIMIT_WS_SUBSCRIPTIONS, sizeof(*socket->followed));
	require(socket->followed != NULL);
	if (follow)
		socket->followed[socket->followed_count++] = *run;
	else
		socket->followed[at] = socket->followed[--socket->followed_count];
	return NULL;
}

/* The filter of the connection, if the message has one: it replaces the one before. */
static const char *take_filter(struct api_socket *socket, struct str levels, struct str domains,
			       struct str types, struct error *error)
{
	struct event_filter filter = { 0 };
	if (levels.size + domains.size + types.size == 0)
		return NULL;
	if (!event_filter_levels(&filter, levels, error) ||
	    !event_filter_domains(&filter, domains, error) ||
	    !event_filter_types(&filter, socket->view, types, error))
		return error->text;
	socket->filter = filter;
	return NULL;
}

#define FILTER_OF(message)                                        \
	has(message, level) ? (message)->level : S(""),           \
		has(message, domain) ? (message)->domain : S(""), \
		has(message, event_type) ? (message)->event_type : S("")

static const char *take_request(struct api_socket *socket, const struct run_socket_request *request,
				struct error *error)
{
	const char *wrong = NULL;
	switch (request->kind) {
	case RUN_SOCKET_REQUEST_SUBSCRIBE:
		wrong = take_filter(socket, FILTER_OF(request->as.subscribe), error);
		return wrong != NULL ? wrong
				     : take_subscription(socket,
							 &request->as.subscribe->workflow_id, true);
	case RUN_SOCKET_REQUEST_UNSUBSCRIBE:
		return take_subscription(socket, &request->as.unsubscribe->workflow_id, false);
	case RUN_SOCKET_REQUEST_SUBSCRIBE_ALL:
		socket->followed_count = 0;
		return take_filter(socket, FILTER_OF(request->as.subscribe_all), error);
	case RUN_SOCKET_REQUEST_PING:
		socket->owes_pong =
			socket->full || socket->follower.offset > 0 || !send_pong(socket);
		break;
	case RUN_SOCKET_REQUEST_PONG:
		break;
	}
	return NULL;
}

/* ---- callbacks and handlers -------------------------------------------------------- */

void api_socket_message(struct api *api, uint64_t exchange, struct str text)
{
	struct api_socket *socket = socket_of_exchange(api, exchange);
	if (socket == NULL || !socket->all)
		return;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error = { .code = ERROR_NONE };
	struct problems problems = { .arena = &arena };
	const struct run_socket_request *request = NULL;
	if (json_read(text, &arena, &json, &error)) {
		struct contract_source source = { .json = json, .text = text };
		request = run_socket_request_parse(&source, &arena, &problems);
		if (request == NULL)
			problems_fail(&problems, &error);
	}
	const char *wrong = request == NULL ? error.text : take_request(socket, request, &error);
	if (wrong != NULL) /* a close reason has at most 123 bytes */
		socket_close(socket, WEBSOCKET_POLICY, str_head(str_from_c(wrong), 120));
}

void api_socket_writable(struct api *api, uint64_t exchange)
{
	struct api_socket *socket = socket_of_exchange(api, exchange);
	if (socket == NULL || !socket->accepted)
		return;
	socket->full = false;
	if (socket->owes_pong && socket->follower.offset == 0)
		socket->owes_pong = !send_pong(socket);
	if (!socket->full)
		event_follower_again(&socket->follower);
}

/* A reply that has ended is told, too. */
void api_sockets_flush(struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct api_socket *socket; (socket = slots_next(&api->sockets, &index, &id)) != NULL;)
		if (socket->chunks && socket->accepted && !socket->full &&
		    (socket->replies.count > 0 ||
		     live_reply_first(api->settings.executor, &socket->run) != NULL))
			event_follower_again(&socket->follower);
}

struct api_lags api_socket_lags(const struct api *api)
{
	struct api_lags lags = { 0 };
	uint32_t index = 0;
	uint64_t id;
	const struct api_socket *socket;
	while ((socket = slots_next(&api->sockets, &index, &id)) != NULL)
		api_lags_add(&lags, event_follower_lag(&socket->follower));
	return lags;
}

bool api_sockets_behind(const struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	const struct api_socket *socket;
	while ((socket = slots_next(&api->sockets, &index, &id)) != NULL)
		if (!socket->accepted || event_follower_is_behind(&socket->follower))
			return true;
	return false;
}

void api_socket_gone(struct api *api, uint64_t exchange)
{
	struct api_socket *socket = socket_of_exchange(api, exchange);
	if (socket != NULL)
		socket_free(socket);
}

static struct api_socket *socket_open(struct api_call *call, bool all, enum view_number view)
{
	struct api_socket *socket = calloc(1, sizeof(*socket));
	require(socket != NULL);
	socket->api = call->api;
	socket->exchange = call->exchange;
	socket->all = all;
	socket->run = call->id;
	socket->view = view_at(view);
	socket->id = call->connection = slots_add(&call->api->sockets, socket);
	return socket;
}

void api_events_socket(struct api_call *call)
{
	struct event_filter filter = { 0 };
	struct error error;
	if (!event_filter_read(&filter, call, view_at(VIEW_pipeline), &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct api_socket *socket = socket_open(call, true, VIEW_pipeline);
	socket->filter = filter;
	struct str since = api_query(call, S("since"));
	/* Longer than any event id: truncated, it still names no event. */
	since = str_head(since, sizeof(socket->since) - 1);
	memcpy(socket->since, since.at, since.size);
	socket_start(socket);
}

void api_execution_socket(struct api_call *call)
{
	socket_start(socket_open(call, false, VIEW_runtime));
}

static void task_socket(struct api_call *call, bool chunks, bool events)
{
	struct api_socket *socket = socket_open(call, false, VIEW_task);
	socket->chunks = chunks;
	socket->no_events = !events;
	socket_start(socket);
}

void api_task_stream_socket(struct api_call *call)
{
	task_socket(call, true, true);
}

void api_task_content_socket(struct api_call *call)
{
	task_socket(call, true, false);
}

void api_task_events_socket(struct api_call *call)
{
	task_socket(call, false, true);
}
