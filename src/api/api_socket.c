/* api/api_socket.c -- event WebSockets as cursors (architecture R10).
 *
 * A socket remembers the cursor of the last event it sent and no queue.  A commit notice triggers
 * a read; a reader thread reads and encodes a page (event_page.h), and the page is sent until the
 * client's send queue is full.  Events that did not fit are read again later.  Two protocols:
 *
 *	/ws/events          pipeline vocabulary: events of all runs or of the subscribed runs
 *	  from the client   run.SocketRequest
 *	  to the client     run.SocketMessage
 *	/ws/execution/{id}  runtime vocabulary: all events of the run; closes with 1000 after the last
 *
 * The handshake is completed (101) when the first page has been read.  So an unknown run gets 404,
 * and every event committed after the client has seen the 101 is after the cursor.
 *
 * A malformed message closes the socket: otherwise a client that wrongly believes to be subscribed
 * would wait forever.
 */
#include <stdlib.h>
#include <string.h>

#include "active/executor_jobs.h"
#include "active/notices.h"
#include "api/api_internal.h"
#include "api/event_page.h"
#include "contract/run_stream_types.h"
#include "net/websocket.h"

struct api_socket {
	struct api *api;
	uint64_t id, exchange;
	bool all;
	struct uuid run;
	const struct view *view;
	struct timeline_cache *timeline_cache; /* NULL while a page has it */
	char since[PAGE_SINCE_SIZE];
	int64_t cursor; /* last event sent: position when `all`, else seq */
	int64_t newest; /* last event of the commit notices, in the same unit */
	bool accepted, reading, more, full;
	bool stale; /* the subscriptions changed since the current read began */
	bool backfilling;
	int64_t backfill_end, backfill_count;
	bool owes_pong;
	struct uuid followed[LIMIT_WS_SUBSCRIPTIONS];
	size_t followed_count; /* 0 = all runs */
	uint64_t watch, timer;
};

static void socket_read(struct api_socket *socket);

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
	executor_unwatch(api->settings.executor, socket->watch);
	if (socket->timer != 0)
		platform_timer_stop(loop_platform(api->settings.loop), socket->timer);
	slots_remove(&api->sockets, socket->id);
	timeline_cache_free(socket->timeline_cache);
	free(socket);
}

static void socket_close(struct api_socket *socket, enum websocket_code code, struct str reason)
{
	api_close(socket->api, socket->exchange, (int)code, reason);
	socket_free(socket);
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
	if (!socket->full)
		socket_send(socket, run_socket_ping_text(run_socket_ping_new(&arena), &arena));
	socket->timer = platform_timer_start(loop_platform(api->settings.loop),
					     LIMIT_WS_PING_MS * 1000, ping, api, argument);
}

/* ---- pages ------------------------------------------------------------------------- */

static void accept_socket(struct api_socket *socket, const struct event_page *page)
{
	socket->accepted = true;
	socket->cursor = page->after;
	api_accept(socket->api, socket->exchange);
	if (!socket->all)
		return;
	socket->timer =
		platform_timer_start(loop_platform(socket->api->settings.loop),
				     LIMIT_WS_PING_MS * 1000, ping, socket->api, socket->id);
	socket->backfilling = socket->since[0] != '\0' && !page->expired;
	socket->backfill_end = page->newest;
	if (!page->expired)
		return;
	AUTO(arena) arena = { 0 };
	struct run_socket_backfill_expired *message = run_socket_backfill_expired_new(&arena);
	SET(message, message,
	    S("the event is not among the newest stored events; read the runs again and "
	      "continue from here"));
	socket_send(socket, run_socket_backfill_expired_text(message, &arena));
}

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

/* Sends as much of the page as the send queue takes; true when the run's last event was sent. */
static bool send_page(struct api_socket *socket, const struct event_page *page)
{
	for (size_t i = 0; i < page->count && !socket->full; i++) {
		const struct event_page_item *item = &page->items[i];
		if (socket->backfilling && item->cursor > socket->backfill_end &&
		    !end_backfill(socket))
			break;
		if (item->text.size > 0 && !socket_send(socket, item->text))
			break;
		socket->backfill_count += socket->backfilling && item->text.size > 0;
		socket->cursor = item->cursor;
		if (item->last && !socket->all)
			return true;
	}
	if (!socket->full && !page->more && socket->backfilling)
		end_backfill(socket);
	if (page->more || socket->full)
		socket->more = true;
	return false;
}

static void take_page(struct api_socket *socket, struct event_page *page)
{
	struct api *api = socket->api;
	socket->reading = false;
	socket->timeline_cache = page->timeline_cache;
	page->timeline_cache = NULL;
	if (page->error.code != ERROR_NONE && !socket->accepted) {
		api_reply_error(api, socket->exchange, &page->error, NULL);
		socket_free(socket);
		return;
	}
	if (page->error.code != ERROR_NONE) {
		socket_close(socket, WEBSOCKET_INTERNAL, str_from_c(page->error.text));
		return;
	}
	if (!socket->accepted)
		accept_socket(socket, page);
	if (!api_stream_is_authorized(api, socket->exchange)) {
		socket_close(socket, WEBSOCKET_POLICY, S("the API key was revoked or has expired"));
		return;
	}
	if (socket->stale) {
		socket->stale = false;
		socket->more = true;
	} else if (send_page(socket, page)) {
		socket_close(socket, WEBSOCKET_DONE, S("the run has ended"));
		return;
	}
	socket_read(socket);
}

static void page_done(struct executor_read *read)
{
	struct event_page *page = (struct event_page *)read;
	struct api *api = page->owner;
	struct api_socket *socket = slots_get(&api->sockets, page->connection);
	if (socket != NULL)
		take_page(socket, page);
	timeline_cache_free(page->timeline_cache);
	arena_done(&read->arena);
	free(page);
}

static void socket_read(struct api_socket *socket)
{
	if (socket->reading || socket->full || !socket->more)
		return;
	socket->reading = true;
	socket->more = false;
	struct event_page *page = calloc(1, sizeof(*page));
	require(page != NULL);
	page->owner = socket->api;
	page->connection = socket->id;
	page->view = socket->view;
	page->form = socket->all ? PAGE_FORM_MESSAGE : PAGE_FORM_PLAIN;
	page->timeline_cache = socket->timeline_cache;
	socket->timeline_cache = NULL;
	page->type = S("");
	page->limit = LIMIT_STREAM_PAGE_EVENTS;
	page->all = socket->all;
	page->synthesizes = !socket->all;
	page->run = socket->run;
	page->first = !socket->accepted;
	memcpy(page->since, socket->since, sizeof(page->since));
	page->after = socket->accepted ? socket->cursor : -1;
	page->unfiltered_until = socket->backfilling ? socket->backfill_end : 0;
	page->followed_count = socket->followed_count;
	page->followed = arena_copy(&page->read.arena, socket->followed,
				    socket->followed_count * sizeof(socket->followed[0]));
	page->read.work = event_page_work;
	page->read.done = page_done;
	executor_read(socket->api->settings.executor, &page->read);
}

static void committed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct api *api = context;
	struct api_socket *socket = slots_get(&api->sockets, argument);
	if (socket == NULL)
		return;
	socket->newest = socket->all ? notice->position : notice->seq;
	socket->more = true;
	socket_read(socket);
}

/* ---- messages from the client ------------------------------------------------------ */

static size_t find_followed(const struct api_socket *socket, const struct uuid *run)
{
	size_t at = 0;
	while (at < socket->followed_count && !uuid_equal(&socket->followed[at], run))
		at++;
	return at;
}

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
	if (follow)
		socket->followed[socket->followed_count++] = *run;
	else
		socket->followed[at] = socket->followed[--socket->followed_count];
	socket->stale = socket->reading;
	return NULL;
}

static const char *take_request(struct api_socket *socket, const struct run_socket_request *request)
{
	switch (request->kind) {
	case RUN_SOCKET_REQUEST_SUBSCRIBE:
		return take_subscription(socket, &request->as.subscribe->workflow_id, true);
	case RUN_SOCKET_REQUEST_UNSUBSCRIBE:
		return take_subscription(socket, &request->as.unsubscribe->workflow_id, false);
	case RUN_SOCKET_REQUEST_SUBSCRIBE_ALL:
		socket->followed_count = 0;
		socket->stale = socket->reading;
		break;
	case RUN_SOCKET_REQUEST_PING:
		socket->owes_pong = socket->full || !send_pong(socket);
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
	const char *wrong = request == NULL ? error.text : take_request(socket, request);
	if (wrong != NULL) /* a close reason has at most 123 bytes */
		socket_close(socket, WEBSOCKET_POLICY, str_head(str_from_c(wrong), 120));
}

void api_socket_writable(struct api *api, uint64_t exchange)
{
	struct api_socket *socket = socket_of_exchange(api, exchange);
	if (socket == NULL)
		return;
	socket->full = false;
	if (socket->owes_pong)
		socket->owes_pong = !send_pong(socket);
	socket->more = true;
	socket_read(socket);
}

struct api_lags api_socket_lags(const struct api *api)
{
	struct api_lags lags = { 0 };
	uint32_t index = 0;
	uint64_t id;
	const struct api_socket *socket;
	while ((socket = slots_next(&api->sockets, &index, &id)) != NULL)
		api_lags_add(&lags, socket->newest - socket->cursor);
	return lags;
}

bool api_sockets_behind(const struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	const struct api_socket *socket;
	while ((socket = slots_next(&api->sockets, &index, &id)) != NULL)
		if (socket->reading || (socket->more && !socket->full))
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
	socket->timeline_cache = timeline_cache_new();
	socket->more = true;
	socket->id = call->connection = slots_add(&call->api->sockets, socket);
	const struct uuid every = { { 0 } };
	socket->watch = executor_watch(call->api->settings.executor, all ? &every : &socket->run,
				       committed, call->api, socket->id);
	return socket;
}

void api_events_socket(struct api_call *call)
{
	struct api_socket *socket = socket_open(call, true, VIEW_pipeline);
	struct str since = api_query(call, S("since"));
	/* Longer than any event id: truncated, it still names no event. */
	since = str_head(since, sizeof(socket->since) - 1);
	memcpy(socket->since, since.at, since.size);
	socket_read(socket);
}

void api_execution_socket(struct api_call *call)
{
	socket_read(socket_open(call, false, VIEW_runtime));
}
