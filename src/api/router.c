/* api/router.c -- from a request to its handler, phase by phase.
 *
 * The phases are an array, so that what comes later (authentication, limits, sanitising) is one
 * more row.  Host and Origin are checked because a web page in the user's browser can send
 * requests to loopback too: it can neither name another Host than ours (DNS rebinding) nor send
 * JSON from a foreign Origin.
 */
#include <stdlib.h>

#include "api/inside.h"
#include "base/limits.h"
#include "contract/migrate_pipeline.h"
#include "net/websocket.h"

typedef bool thunk_function(struct api_call *call, struct error *error, struct problems *problems);

typedef void plain_function(struct api_call *call);

/* Either `plain`, or `with_body` for a row that takes one. */
struct route {
	struct str method, path;
	plain_function *plain;
	thunk_function *with_body;
	bool socket; /* becomes a WebSocket */
};

/* ---- thunks: the row's types meet the handler's -------------------------------------- */

#define ROUTE(method, path, name, role, gives, status, text)
#define ROUTE_BODY(method, path, name, role, takes, gives, status, text_)                      \
	static bool run_##name(struct api_call *call, struct error *error,                     \
			       struct problems *problems)                                      \
	{                                                                                      \
		const struct json *json;                                                       \
		if (!json_read(call->request->body, call->arena, &json, error))                \
			return false;                                                          \
		struct contract_source source = { .json = json, .text = call->request->body }; \
		bool old;                                                                      \
		const struct takes *body =                                                     \
			pipeline_read_old(takes##_type(), &source, call->arena, problems, &old); \
		if (!old)                                                                      \
			body = takes##_parse(&source, call->arena, problems);                  \
		if (body == NULL)                                                              \
			return problems_fail(problems, error);                                 \
		api_##name(call, body);                                                        \
		return true;                                                                   \
	}
#include "contracts/routes.def"
#undef ROUTE
#undef ROUTE_BODY

static const struct route routes[] = {
#define ROUTE(method_, path_, name, role, gives, status, text) \
	{ .method = { #method_, sizeof(#method_) - 1 },        \
	  .path = { path_, sizeof(path_) - 1 },                \
	  .plain = api_##name },
#define ROUTE_BODY(method_, path_, name, role, takes, gives, status, text) \
	{ .method = { #method_, sizeof(#method_) - 1 },                    \
	  .path = { path_, sizeof(path_) - 1 },                            \
	  .with_body = run_##name },
#define SOCKET(path_, name, role, text)         \
	{ .method = { "GET", 3 },               \
	  .path = { path_, sizeof(path_) - 1 }, \
	  .plain = api_##name,                  \
	  .socket = true },
#include "contracts/routes.def"
#undef ROUTE
#undef ROUTE_BODY
};

/* ---- answers ------------------------------------------------------------------------- */

void api_reply(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count, struct str body)
{
	http_reply(api->server, exchange, status, headers, header_count, body);
}

struct str api_caller_name(const struct api_call *call)
{
	return call->request->local ? str_from_c(call->api->settings.user) : S("http");
}

void api_reply_json(struct api *api, uint64_t exchange, int status, struct str json)
{
	const struct http_header headers[] = { { S("Content-Type"), S("application/json") } };
	http_reply(api->server, exchange, status, headers, COUNT(headers), json);
}

static struct run_problem_place_list places_of(const struct problems *problems, struct arena *arena)
{
	size_t count = problems == NULL ? 0 : problems->count;
	struct run_problem_place *places = arena_array(arena, struct run_problem_place, count);
	for (size_t i = 0; i < count; i++) {
		const struct problem *from = &problems->at[i];
		places[i] = *run_problem_place_new(arena);
		SET(&places[i], pointer, from->pointer);
		SET(&places[i], text, from->text);
		if (from->line > 0) {
			SET(&places[i], line, from->line);
			SET(&places[i], column, from->column);
		}
	}
	return (struct run_problem_place_list){ places, count };
}

void api_reply_error(struct api *api, uint64_t exchange, const struct error *error,
		     const struct problems *problems)
{
	AUTO(arena) arena = { 0 };
	const struct error_row *row = error_row(error->code);
	struct run_problem *problem = run_problem_new(&arena);
	SET(problem, title, row->text);
	SET(problem, status, row->http_status);
	SET(problem, detail, str_from_c(error->text));
	SET(problem, error, str_from_c(error->text));
	SET(problem, code, row->name);
	SET(problem, details, places_of(problems, &arena));
	const struct http_header headers[] = { { S("Content-Type"),
						 S("application/problem+json") } };
	http_reply(api->server, exchange, row->http_status, headers, COUNT(headers),
		   run_problem_text(problem, &arena));
}

/* ---- the query ----------------------------------------------------------------------- */

struct str api_query(const struct api_call *call, struct str name)
{
	struct str rest = call->request->query, pair;
	while (str_cut(&rest, '&', &pair)) {
		struct str key;
		struct str value = pair;
		str_cut(&value, '=', &key);
		if (str_equal(key, name))
			return value.at == NULL ? S("") : value;
	}
	return S("");
}

bool api_query_int(const struct api_call *call, struct str name, int64_t least, int64_t most,
		   int64_t fallback, int64_t *out, struct error *error)
{
	struct str text = api_query(call, name);
	int64_t number = fallback;
	if (text.size > 0 && (!str_to_int(text, &number) || number < least || number > most))
		return fail(error, ERROR_USAGE,
			    "?" STR_FMT "= takes a whole number from %lld to %lld", STR_ARG(name),
			    (long long)least, (long long)most);
	*out = number;
	return true;
}

/* ---- phases -------------------------------------------------------------------------- */

static bool segment_fits(struct api_call *call, struct str pattern, struct str segment)
{
	if (str_equal(pattern, S("{id}")))
		return uuid_parse(segment, &call->id);
	if (str_equal(pattern, S("{file}"))) {
		call->file = segment;
		return segment.size > 0;
	}
	if (str_equal(pattern, S("{name}"))) {
		call->name = segment;
		return segment.size > 0;
	}
	if (str_equal(pattern, S("{agent}"))) {
		call->agent = segment;
		return segment.size > 0;
	}
	return str_equal(pattern, segment);
}

static bool path_fits(struct api_call *call, struct str pattern, struct str path)
{
	struct str wanted, segment;
	for (;;) {
		bool more = str_cut(&pattern, '/', &wanted);
		if (more != str_cut(&path, '/', &segment))
			return false;
		if (!more)
			return true;
		if (!segment_fits(call, wanted, segment))
			return false;
	}
}

/* The first row with this path and method that is a socket or not, as asked for. */
static bool find_route(struct api_call *call, struct str method, bool socket, bool *out_path_known)
{
	for (size_t i = 0; i < COUNT(routes); i++) {
		const struct route *route = &routes[i];
		if (!path_fits(call, route->path, call->request->path))
			continue;
		*out_path_known = true;
		if (route->socket == socket && str_equal(route->method, method)) {
			call->route = route;
			return true;
		}
	}
	return false;
}

static bool phase_match(struct api_call *call, struct error *error)
{
	struct str method = call->request->method;
	bool path_known = false;
	if (str_equal(method, S("HEAD")))
		method = S("GET");
	/* Where both are, the Upgrade header decides. */
	bool socket = websocket_wanted(call->request);
	if (find_route(call, method, socket, &path_known) ||
	    find_route(call, method, !socket, &path_known))
		return true;
	if (path_known)
		return fail(error, ERROR_METHOD_NOT_ALLOWED,
			    STR_FMT " is not done here with " STR_FMT, STR_ARG(call->request->path),
			    STR_ARG(method));
	return fail(error, ERROR_NOT_FOUND, "nothing is at " STR_FMT,
		    STR_ARG(str_head(call->request->path, 200)));
}

/* A host name as Host and Origin write it, without its port. */
static struct str without_port(struct str host)
{
	if (str_starts(host, S("["))) {
		size_t end;
		return str_find(host, S("]"), &end) ? str_head(host, end + 1) : host;
	}
	struct str name;
	str_cut(&host, ':', &name);
	return name;
}

static bool is_loopback_name(struct str host)
{
	struct str name = without_port(host);
	return str_equal_folded(name, S("localhost")) || str_equal(name, S("127.0.0.1")) ||
	       str_equal(name, S("[::1]"));
}

static bool phase_host(struct api_call *call, struct error *error)
{
	if (call->request->local)
		return true;
	struct str host = http_header(call->request, S("Host"));
	if (!is_loopback_name(host))
		return fail(error, ERROR_MISDIRECTED, "this server is not " STR_FMT,
			    STR_ARG(str_head(host, 200)));
	struct str origin = http_header(call->request, S("Origin"));
	if (origin.size == 0)
		return true;
	struct str http = S("http://");
	if (!str_starts(origin, http) || !str_equal_folded(str_skip(origin, http.size), host))
		return fail(error, ERROR_FORBIDDEN, "requests from " STR_FMT " are not taken",
			    STR_ARG(str_head(origin, 200)));
	return true;
}

static bool phase_media(struct api_call *call, struct error *error)
{
	if (call->route->with_body == NULL)
		return true;
	struct str type = http_header(call->request, S("Content-Type")), media;
	str_cut(&type, ';', &media);
	if (!str_equal_folded(str_trim(media), S("application/json")))
		return fail(error, ERROR_UNSUPPORTED_MEDIA,
			    "send the body as Content-Type: application/json");
	return true;
}

static bool phase_socket(struct api_call *call, struct error *error)
{
	return !call->route->socket || websocket_check(call->request, error);
}

typedef bool phase_function(struct api_call *call, struct error *error);

static phase_function *const phases[] = { phase_match, phase_host, phase_media, phase_socket };

static void take_request(void *context, const struct http_request *request)
{
	struct api *api = context;
	AUTO(arena) arena = { 0 };
	struct api_call call = {
		.api = api, .request = request, .exchange = request->exchange, .arena = &arena
	};
	struct problems problems = { .arena = &arena };
	struct error error;
	bool good = true;
	for (size_t i = 0; i < COUNT(phases) && good; i++)
		good = phases[i](&call, &error);
	if (good && call.route->plain != NULL)
		call.route->plain(&call);
	else if (good)
		good = call.route->with_body(&call, &error, &problems);
	if (!good)
		api_reply_error(api, request->exchange, &error, &problems);
}

static void stream_writable(void *context, uint64_t exchange)
{
	api_stream_writable(context, exchange);
	api_socket_writable(context, exchange);
}

static void client_gone(void *context, uint64_t exchange)
{
	api_stream_gone(context, exchange);
	api_socket_gone(context, exchange);
}

static void client_said(void *context, uint64_t exchange, struct str text)
{
	api_socket_message(context, exchange, text);
}

struct api *api_new(const struct api_settings *settings)
{
	struct api *api = calloc(1, sizeof(*api));
	require(api != NULL);
	api->settings = *settings;
	const struct http_handler handler = { .context = api,
					      .request = take_request,
					      .writable = stream_writable,
					      .gone = client_gone,
					      .message = client_said };
	api->server = http_server_new(settings->loop, &handler);
	return api;
}

struct http_server *api_server(struct api *api)
{
	return api->server;
}
