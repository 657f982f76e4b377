/* api/api_internal.h -- declarations that the files of src/api share.
 *
 *	route.c     the routes of routes.def as a table; finds the route of a request
 *	api_call.h  the record of one request
 *	router.c    owns the records and runs the phases
 *	phases.c    the phases before the handler
 *	reply.c     the phases after the handler: common headers and the audit log
 *	key_ring.c  API keys
 *	api_*.c     the handlers
 */
#ifndef API_API_INTERNAL_H
#define API_API_INTERNAL_H

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api.h"
#include "api/api_call.h"
#include "api/event_cursor.h"
#include "api/key_ring.h"
#include "base/map.h"
#include "base/slots.h"
struct executor_answer;

/* Requests to triggers since the start, for /metrics and the rate limit. */
struct trigger_counts {
	uint64_t accepted, ignored, forged, stale, replayed;
	int64_t window_began; /* us, monotonic */
	int in_window;
};

struct api {
	struct api_settings settings;
	struct http_server *server;
	enum api_state state;
	struct key_ring *keys;
	struct map calls; /* exchange id -> struct api_call */
	int port;         /* 0 = not listening */
	platform_callback *loaded;
	void *loaded_context;
	struct slots streams, log_streams, sockets, waits;
	struct event_tails *tails;       /* events that streams and WebSockets share */
	uint64_t log_timer;              /* flushes the log streams; 0 = there are none */
	struct request_counts *requests; /* of api_metrics.c */
	int64_t began_at;                /* us, monotonic */
	struct trigger_counts triggers;
};

/* ---- for handlers ------------------------------------------------------------------ */

#define ROUTE(method, path, name, role, gives, status, text) void api_##name(struct api_call *call);
#define ROUTE_BODY(method, path, name, role, takes, gives, status, text) \
	struct takes;                                                    \
	void api_##name(struct api_call *call, const struct takes *body);
#define SOCKET(path, name, role, text) void api_##name(struct api_call *call);
#include "contracts/routes.def"
#undef ROUTE
#undef ROUTE_BODY

/* Sends a complete response.  Every handler responds exactly once, or begins a stream or a
 * WebSocket.  Call it even when the client has disconnected: the audit log records the response. */
void api_reply(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count, struct str body);
void api_reply_json(struct api *api, uint64_t exchange, int status, struct str json);
void api_reply_error(struct api *api, uint64_t exchange, const struct error *error,
		     const struct problems *problems);
/* Begins a streamed response: then http_write() any number of times, and api_end(). */
void api_begin(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count);
void api_end(struct api *api, uint64_t exchange);
/* Turns the exchange into a WebSocket: then websocket_write() any number of times, and
 * api_close(). */
void api_accept(struct api *api, uint64_t exchange);
void api_close(struct api *api, uint64_t exchange, int code, struct str reason);
/* Sets the object that the audit log names, when the path does not have it. */
void api_set_subject(struct api *api, uint64_t exchange, const struct uuid *subject);
/* False when the API key that opened the stream was revoked or has expired. */
bool api_stream_is_authorized(struct api *api, uint64_t exchange);
/* The caller's name as events record it: the owner's name, the label of the key, or "http". */
struct str api_caller_name(const struct api_call *call);
/* A value of the parsed body, NULL = none, for a command.  A long body goes with it, so whatever
 * else is wanted of the body must be taken before the command is given. */
struct executor_value api_given(struct api_call *call, const struct json *value);

/* The path segment that matched `{name}`, unescaped; "" when the route has no such name. */
struct str api_name(const struct api_call *call, struct str name);
/* The value of the query parameter `name`, unescaped; "" when absent. */
struct str api_query(const struct api_call *call, struct str name);
/* A query parameter as an integer within bounds, or the fallback when absent; USAGE otherwise. */
/* A cursor of a list or stream of events (event_cursor.h). */
MUST_CHECK bool api_query_cursor(const struct api_call *call, struct str name,
				 struct event_cursor fallback, struct event_cursor *out_cursor,
				 struct error *error);
MUST_CHECK bool api_query_int(const struct api_call *call, struct str name, int64_t least,
			      int64_t most, int64_t fallback, int64_t *out, struct error *error);
/* ?name, ?name=1, ?name=true, ?name=0 and ?name=false; USAGE otherwise. */
MUST_CHECK bool api_query_flag(const struct api_call *call, struct str name, bool fallback,
			       bool *out, struct error *error);

/* ---- shared between handlers ------------------------------------------------------- */

/* The user that a command is recorded under: `by` of the body when given, else the caller's name.
 * With an API key it is always the key's label. */
struct str api_acting_user(const struct api_call *call, bool given, struct str by);
/* Answers a run's question and responds with the receipt. */
void api_answer(struct api_call *call, const struct executor_answer *answer);
/* One stored event as run.Event; false, with nothing printed, when its body cannot be read. */
MUST_CHECK bool api_event_print(const struct store_event_row *row, struct arena *arena,
				struct json_writer *writer, struct error *error);
struct executor_start;
/* Starts a run on behalf of the caller, with the request's idempotency key, and responds with the receipt
 * or, with Prefer: wait, the result.  The fields of start->start are kept, those of the connection
 * added. */
void api_start(struct api_call *call, struct executor_start *start);
/* The parts of it, for a handler that starts the run after it has read something: the seconds of Prefer: wait, what
 * the connection says about who starts the run, and a start whose end `send` responds to. */
typedef void api_end_sender(struct api *api, uint64_t exchange, const struct uuid *run);
int64_t api_wait_seconds(const struct http_request *request);
struct run_start *api_asked_by(const struct api_call *call);
void api_start_sending(struct api *api, uint64_t exchange, const struct executor_start *start,
		       int64_t seconds, api_end_sender *send);
/* Answers the exchange with the run's result, read from the store. */
void api_send_result(struct api *api, uint64_t exchange, const struct uuid *run);
/* Responds with the run's time profile and spans of at most `depth` levels. */
void api_send_profile(struct api *api, uint64_t exchange, const struct uuid *run, int64_t depth);

/* Apply the stored settings and keys now, and again whenever they change. */
void api_watch_server(struct api *api, platform_callback *loaded);
void api_watch_keys(struct api *api, platform_callback *loaded);

struct event_tails *event_tails_new(struct api *api);

/* Number of connections by their distance to the newest committed event: none, at most one page,
 * more. */
struct api_lags {
	size_t count[3];
};
struct api_lags api_stream_lags(const struct api *api);
struct api_lags api_socket_lags(const struct api *api);
static inline void api_lags_add(struct api_lags *lags, int64_t behind)
{
	lags->count[behind <= 0 ? 0 : behind <= LIMIT_STREAM_PAGE_EVENTS ? 1 : 2]++;
}
void api_count_request(struct api *api, const struct route *route, int status);
/* Wakes the connections that have new pieces of replies to send. */
void api_streams_flush(struct api *api);
void api_sockets_flush(struct api *api);
void api_streams_end(struct api *api);
bool api_streams_behind(const struct api *api);
bool api_sockets_behind(const struct api *api);
void api_waits_end(struct api *api);
void api_stream_writable(struct api *api, uint64_t exchange);
void api_stream_gone(struct api *api, uint64_t exchange);
void api_log_streams_end(struct api *api);
bool api_log_streams_behind(const struct api *api);
void api_log_stream_writable(struct api *api, uint64_t exchange);
void api_log_stream_gone(struct api *api, uint64_t exchange);
void api_socket_message(struct api *api, uint64_t exchange, struct str text);
void api_socket_writable(struct api *api, uint64_t exchange);
void api_socket_gone(struct api *api, uint64_t exchange);

#endif
