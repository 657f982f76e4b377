/* api/reply.c -- the phases after the handler: print the response, then write the audit log.
 *
 * Every response carries the request id and the security headers for browsers; a header that the
 * handler sets takes precedence.  The audit log has a line for each request that changes or tries
 * to change something, and for each rejected caller: caller, route, subject and status, never the
 * content.
 */
#include "api/api_internal.h"
#include "base/log.h"
#include "contract/run_server_types.h"
#include "contract/type.h"
#include "net/websocket.h"

enum { HEADERS_MOST = 24 };

/* ---- printing ---------------------------------------------------------------------- */

struct headers {
	struct http_header at[HEADERS_MOST];
	size_t count;
};

static void add(struct headers *headers, struct str name, struct str value)
{
	for (size_t i = 0; i < headers->count; i++)
		if (str_equal_folded(headers->at[i].name, name))
			return;
	require(headers->count < HEADERS_MOST);
	headers->at[headers->count++] = (struct http_header){ name, value };
}

enum phase_answer api_print_answer(struct api_call *call, struct error *error)
{
	const struct api_answer *answer = &call->answer;
	struct headers headers = { 0 };
	(void)error;
	for (size_t i = 0; i < answer->header_count; i++)
		add(&headers, answer->headers[i].name, answer->headers[i].value);
	add(&headers, S("X-Request-Id"), str_from_c(call->request_id));
	add(&headers, S("X-Content-Type-Options"), S("nosniff"));
	add(&headers, S("Referrer-Policy"), S("no-referrer"));
	add(&headers, S("Content-Security-Policy"),
	    S("default-src 'none'; frame-ancestors 'none'"));
	add(&headers, S("Cache-Control"), S("no-store"));
	if (answer->status == 401)
		add(&headers, S("WWW-Authenticate"), S("Bearer realm=\"baton\""));
	if (answer->status == 405)
		add(&headers, S("Allow"), call->allow);
	if (call->retry_after > 0)
		add(&headers, S("Retry-After"), str_format(call->arena, "%d", call->retry_after));
	struct http_server *server = call->api->server;
	api_count_request(call->api, call->route, answer->status);
	if (answer->streams)
		http_begin(server, call->exchange, answer->status, headers.at, headers.count);
	else
		http_reply(server, call->exchange, answer->status, headers.at, headers.count,
			   answer->body);
	return PHASE_NEXT;
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

struct run_problem *api_problem(struct api_call *call)
{
	if (call->problem == NULL)
		call->problem = run_problem_new(call->arena);
	return call->problem;
}

/* What a SchemaValidationError of the runtime vocabulary says: the type, and every problem again. */
static void add_validation(const struct api_call *call, struct run_problem *problem,
			   const struct problems *problems)
{
	struct run_problem_place_list places = places_of(problems, call->arena);
	const struct json **errors = arena_array(call->arena, const struct json *, places.count);
	for (size_t i = 0; i < places.count; i++)
		errors[i] = run_problem_place_tree(&places.at[i], call->arena);
	SET(problem, validation_errors, ((struct object_list){ errors, places.count }));
	if (call->route != NULL && call->route->takes != NULL && call->body == NULL)
		SET(problem, model_name, call->route->takes()->name);
}

void api_answer_error(struct api_call *call, const struct error *error,
		      const struct problems *problems)
{
	static const struct http_header headers[] = { { { "Content-Type", 12 },
							{ "application/problem+json", 24 } } };
	const struct error_row *row = error_row(error->code);
	/* The server was not ready and a retry can succeed. */
	if (call->retry_after == 0 && row->retry == ERROR_RETRY_AGAIN && row->http_status == 503)
		call->retry_after = LIMIT_RETRY_AFTER_SECONDS;
	struct run_problem *problem = api_problem(call);
	SET(problem, title, row->text);
	SET(problem, status, row->http_status);
	SET(problem, detail, str_from_c(error->text));
	SET(problem, error, str_from_c(error->text));
	SET(problem, code, row->name);
	SET(problem, class, row->class);
	if (problems != NULL && problems->count > 0)
		add_validation(call, problem, problems);
	SET(problem, details, places_of(problems, call->arena));
	call->answer = (struct api_answer){ .status = row->http_status,
					    .headers = headers,
					    .header_count = COUNT(headers),
					    .body = run_problem_text(problem, call->arena) };
}

/* ---- audit log --------------------------------------------------------------------- */

static bool is_audited(const struct api_call *call)
{
	/* A client that ignores 429 would flood the log. */
	if (!call->api->settings.audit || call->answer.status == 429)
		return false;
	return call->answer.status == 401 || call->answer.status == 403 ||
	       call->answer.status == 421 || (call->route != NULL && route_changes(call->route));
}

static struct str caller_text(const struct api_call *call, char id[UUID_TEXT_SIZE])
{
	switch (call->caller.kind) {
	case CALLER_NOBODY:
		break;
	case CALLER_LOOPBACK:
		return S("loopback");
	case CALLER_OWNER:
		return S("owner");
	case CALLER_KEY:
		return uuid_text(&call->caller.key, id);
	}
	return S("nobody");
}

enum phase_answer api_audit_answer(struct api_call *call, struct error *error)
{
	char key[UUID_TEXT_SIZE], id[UUID_TEXT_SIZE];
	(void)error;
	if (!is_audited(call))
		return PHASE_NEXT;
	struct str subject = str_from_c(call->subject);
	if (subject.size == 0 && !uuid_is_zero(&call->id))
		subject = uuid_text(&call->id, id);
	else if (subject.size == 0)
		subject = call->name_count > 0 ? call->names[0].value : call->path;
	struct str route = call->route == NULL ? S("?") : route_text(call->route, call->arena);
	const struct log_field fields[] = {
		{ "request_id", str_from_c(call->request_id) },
		{ "trace_id", str_head(str_skip(str_from_c(call->trace), 3), 32) },
		{ "caller", caller_text(call, key) },
		{ "role",
		  call->caller.kind == CALLER_NOBODY ? S("") : run_role_name(call->caller.role) },
		{ "route", route },
		{ "status", str_format(call->arena, "%d", call->answer.status) },
		{ "subject", subject },
	};
	log_with(LOG_INFO, fields, COUNT(fields), "audit");
	return PHASE_NEXT;
}

/* ---- for handlers ------------------------------------------------------------------ */

/* Sends the response and frees the call. */
static void finish(struct api_call *call)
{
	call->phase = PHASE_PRINT;
	api_call_advance(call);
}

void api_reply(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count, struct str body)
{
	struct api_call *call = api_call_of(api, exchange);
	if (call == NULL)
		return;
	require(!call->begun && !call->over);
	call->answer = (struct api_answer){
		.status = status, .headers = headers, .header_count = header_count, .body = body
	};
	finish(call);
}

void api_reply_json(struct api *api, uint64_t exchange, int status, struct str json)
{
	const struct http_header headers[] = { { S("Content-Type"), S("application/json") } };
	api_reply(api, exchange, status, headers, COUNT(headers), json);
}

void api_reply_error(struct api *api, uint64_t exchange, const struct error *error,
		     const struct problems *problems)
{
	struct api_call *call = api_call_of(api, exchange);
	if (call == NULL)
		return;
	require(!call->begun && !call->over);
	api_answer_error(call, error, problems);
	finish(call);
}

void api_begin(struct api *api, uint64_t exchange, int status, const struct http_header *headers,
	       size_t header_count)
{
	struct api_call *call = api_call_of(api, exchange);
	if (call == NULL)
		return;
	call->begun = true;
	call->answer = (struct api_answer){
		.status = status, .headers = headers, .header_count = header_count, .streams = true
	};
	finish(call);
}

void api_end(struct api *api, uint64_t exchange)
{
	struct api_call *call = api_call_of(api, exchange);
	http_end(api->server, exchange);
	if (call != NULL)
		api_call_free(call);
}

void api_accept(struct api *api, uint64_t exchange)
{
	struct api_call *call = api_call_of(api, exchange);
	if (call == NULL)
		return;
	call->begun = true;
	call->phase = PHASE_COUNT;
	api_count_request(api, call->route, 101);
	websocket_accept(api->server, exchange, S("baton"), str_from_c(call->request_id));
}

void api_close(struct api *api, uint64_t exchange, int code, struct str reason)
{
	struct api_call *call = api_call_of(api, exchange);
	websocket_close(api->server, exchange, (enum websocket_code)code, reason);
	if (call != NULL)
		api_call_free(call);
}

void api_set_subject(struct api *api, uint64_t exchange, const struct uuid *subject)
{
	struct api_call *call = api_call_of(api, exchange);
	if (call != NULL)
		uuid_text(subject, call->subject);
}
