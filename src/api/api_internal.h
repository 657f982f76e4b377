/* api/api_internal.h -- what the files of this room share.
 *
 *	route.c     the rows of routes.def, and which one a request is for
 *	api_call.h  one request
 *	router.c    a request's way through the phases; its record until it is answered
 *	phases.c    what happens to it before its handler is called
 *	reply.c     the way out: headers that every answer has, and the audit
 *	keys.c      who may come in
 *	api_*.c     the handlers
 */
#ifndef API_INSIDE_H
#define API_INSIDE_H

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api.h"
#include "api/api_call.h"
#include "api/key_ring.h"
#include "base/map.h"
#include "base/slots.h"

struct api {
	struct api_settings settings;
	struct http_server *server;
	enum api_state state;
	struct key_ring *keys;
	struct map calls; /* exchange -> its record */
	int port;         /* 0 = it does not listen */
	platform_callback *loaded;
	void *loaded_context;
	struct slots streams, sockets, waits;
	struct request_counts *requests; /* of api_metrics.c */
	int64_t began_at;                /* us, monotonic */
};

/* ---- for handlers ---------------------------------------------------------------------- */

#define ROUTE(method, path, name, role, gives, status, text) void api_##name(struct api_call *call);
#define ROUTE_BODY(method, path, name, role, takes, gives, status, text) \
	void api_##name(struct api_call *call, const struct takes *body);
#define SOCKET(path, name, role, text) void api_##name(struct api_call *call);
#include "contracts/routes.def"
#undef ROUTE
#undef ROUTE_BODY

/* The answer, whole.  An exchange whose client has gone is answered all the same: the audit hears
 * it.  Every handler answers exactly once, or begins a stream or a socket. */
void api_reply(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count, struct str body);
void api_reply_json(struct api *api, uint64_t exchange, int status, struct str json);
void api_reply_error(struct api *api, uint64_t exchange, const struct error *error,
		     const struct problems *problems);
/* The answer as a stream: then http_write(), and api_end(). */
void api_begin(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count);
void api_end(struct api *api, uint64_t exchange);
/* The exchange is a WebSocket from now on; then websocket_write(), and api_close(). */
void api_accept(struct api *api, uint64_t exchange);
void api_close(struct api *api, uint64_t exchange, int code, struct str reason);
/* What the request turned out to be about. */
void api_subject(struct api *api, uint64_t exchange, const struct uuid *subject);
/* Whoever opened this stream may still have it: its key was not taken back and has not expired. */
bool api_may_go_on(struct api *api, uint64_t exchange);
/* Who it was, as it is recorded: the owner's name, a key's label, or "http". */
struct str api_caller_name(const struct api_call *call);

/* What stands in the path where the row has `{name}`, unescaped; "" when the row has none. */
struct str api_name(const struct api_call *call, struct str name);
/* The value of ?name=, unescaped; "" when absent. */
struct str api_query(const struct api_call *call, struct str name);
/* A whole number from the query within bounds, or the fallback. */
MUST_CHECK bool api_query_int(const struct api_call *call, struct str name, int64_t least,
			      int64_t most, int64_t fallback, int64_t *out, struct error *error);

/* ---- handlers' own, for each other ------------------------------------------------------ */

/* Who speaks: whoever the body names, unless a key says who it is. */
struct str api_speaker(const struct api_call *call, bool given, struct str by);
/* Answers a question, and the exchange with the receipt. */
void api_answer(struct api_call *call, const struct executor_answer *answer);
/* One stored event as run.Event; false, with nothing printed, when its body cannot be read. */
MUST_CHECK bool api_event_print(const struct store_event_row *row, struct arena *arena,
				struct json_writer *writer, struct error *error);
/* Answers the exchange with the run's result, read from the store. */
void api_send_result(struct api *api, uint64_t exchange, const struct uuid *run);
/* Answers the exchange with where the run's time went, as spans of so many levels. */
void api_send_profile(struct api *api, uint64_t exchange, const struct uuid *run, int64_t depth);

/* What is stored takes effect here: now, and whenever it changes. */
void api_watch_server(struct api *api, platform_callback *loaded);
void api_watch_keys(struct api *api, platform_callback *loaded);

/* How many are how far behind what is committed: not at all, up to a page, more. */
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
void api_streams_end(struct api *api);
bool api_streams_behind(const struct api *api);
bool api_sockets_behind(const struct api *api);
void api_waits_end(struct api *api);
void api_stream_writable(struct api *api, uint64_t exchange);
void api_stream_gone(struct api *api, uint64_t exchange);
void api_socket_message(struct api *api, uint64_t exchange, struct str text);
void api_socket_writable(struct api *api, uint64_t exchange);
void api_socket_gone(struct api *api, uint64_t exchange);

#endif
