/* api/inside.h -- what the files of this room share. */
#ifndef API_INSIDE_H
#define API_INSIDE_H

#include "api/api.h"
#include "base/slots.h"
#include "contract/runtime.h"

struct api {
	struct api_settings settings;
	struct http_server *server;
	struct slots streams, sockets, waits;
	int port; /* 0 = it does not listen */
};

/* One request on its way to its handler; everything in it is good for the call only. */
struct api_call {
	struct api *api;
	const struct http_request *request;
	uint64_t exchange;
	struct arena *arena;
	const struct route *route;
	struct uuid id;  /* {id} */
	struct str file; /* {file} */
	struct str name; /* {name} */
	struct str agent; /* {agent} */
	struct runtime_key key; /* Idempotency-Key; key "" when there is none */
};

#define ROUTE(method, path, name, role, gives, status, text) void api_##name(struct api_call *call);
#define ROUTE_BODY(method, path, name, role, takes, gives, status, text) \
	void api_##name(struct api_call *call, const struct takes *body);
#define SOCKET(path, name, role, text) void api_##name(struct api_call *call);
#include "contracts/routes.def"
#undef ROUTE
#undef ROUTE_BODY

void api_reply(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count, struct str body);
/* Who it was, as it is recorded. */
struct str api_caller_name(const struct api_call *call);
/* What is stored takes effect here too: the server's settings, the keys. */
void api_watch_server(struct api *api);
void api_reply_json(struct api *api, uint64_t exchange, int status, struct str json);
void api_reply_error(struct api *api, uint64_t exchange, const struct error *error,
		     const struct problems *problems);
/* The value of ?name=, "" when absent (values with escapes are not taken). */
struct str api_query(const struct api_call *call, struct str name);
/* A whole number from the query within bounds, or the fallback. */
MUST_CHECK bool api_query_int(const struct api_call *call, struct str name, int64_t least,
			      int64_t most, int64_t fallback, int64_t *out, struct error *error);
/* One stored event as run.Event. */
struct str api_event_text(const struct store_event_row *row, struct arena *arena);
/* Answers the exchange with the run's result, read from the store. */
void api_send_result(struct api *api, uint64_t exchange, const struct uuid *run);

void api_stream_writable(struct api *api, uint64_t exchange);
void api_stream_gone(struct api *api, uint64_t exchange);
void api_socket_message(struct api *api, uint64_t exchange, struct str text);
void api_socket_writable(struct api *api, uint64_t exchange);
void api_socket_gone(struct api *api, uint64_t exchange);

#endif
