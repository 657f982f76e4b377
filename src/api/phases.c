/* api/phases.c -- the phases that a request passes before its handler is called.
 *
 * api_phases[] lists them in order.  Host and Origin are checked because any web page in the user's
 * browser can send requests to loopback: the Host check stops DNS rebinding, the Origin check stops
 * cross-site requests.
 *
 * A long body is parsed on a reader thread (architecture R19); everything that the later phases
 * need is copied out of the connection first.
 */
#include <string.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "base/uuid.h"
#include "net/websocket.h"
#include "os/failpoint.h"

static bool wants_socket(const struct api_call *call)
{
	return call->route->kind == ROUTE_SOCKET;
}

static enum phase_answer phase_result(bool good)
{
	return good ? PHASE_NEXT : PHASE_REFUSED;
}

static enum phase_answer match(struct api_call *call, struct error *error)
{
	return phase_result(route_find(call, websocket_is_requested(call->request), error));
}

/* ---- host and origin --------------------------------------------------------------- */

/* A host as Host and Origin spell it, without its port. */
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

static bool is_loopback_name(struct str name)
{
	return str_equal_folded(name, S("localhost")) || str_equal(name, S("127.0.0.1")) ||
	       str_equal(name, S("::1"));
}

static bool is_any_address(struct str host)
{
	return str_equal(host, S("0.0.0.0")) || str_equal(host, S("::"));
}

/* An IP address: not a name that a foreign DNS server could resolve to this server. */
static bool is_address(struct str name)
{
	if (str_starts(name, S("[")))
		return true;
	for (size_t i = 0; i < name.size; i++)
		if ((name.at[i] < '0' || name.at[i] > '9') && name.at[i] != '.')
			return false;
	return name.size > 0;
}

static bool is_configured(const struct api *api, struct str name)
{
	for (size_t i = 0; i < api->settings.hosts.count; i++)
		if (str_equal_folded(without_port(api->settings.hosts.at[i]), name))
			return true;
	return false;
}

static bool is_own_name(const struct api *api, struct str name)
{
	struct str bare = str_starts(name, S("[")) && str_ends(name, S("]"))
				  ? str_head(str_skip(name, 1), name.size - 2)
				  : name;
	struct str host = str_from_c(api->settings.host);
	return is_loopback_name(bare) || is_configured(api, name) || str_equal_folded(host, bare) ||
	       (is_any_address(host) && is_address(name));
}

static bool is_own_origin(const struct api_call *call, struct str origin, struct str host)
{
	struct str http = S("http://"), https = S("https://");
	if (str_starts(origin, http))
		return str_equal_folded(str_skip(origin, http.size), host);
	/* A TLS proxy in front of the server may use a configured name. */
	return str_starts(origin, https) && str_equal_folded(str_skip(origin, https.size), host) &&
	       is_configured(call->api, without_port(host));
}

static enum phase_answer check_host(struct api_call *call, struct error *error)
{
	if (call->request->local)
		return PHASE_NEXT;
	struct str host = http_header(call->request, S("Host"));
	if (!is_own_name(call->api, without_port(host)))
		return phase_result(fail(error, ERROR_MISDIRECTED,
					 "unknown host " STR_FMT
					 "; add it to serve.hosts if this server has that name",
					 STR_ARG(str_head(host, 200))));
	struct str origin = http_header(call->request, S("Origin"));
	if (origin.size > 0 && !is_own_origin(call, origin, host))
		return phase_result(fail(error, ERROR_FORBIDDEN,
					 "requests from the origin " STR_FMT " are not allowed",
					 STR_ARG(str_head(origin, 200))));
	return PHASE_NEXT;
}

/* ---- authentication ---------------------------------------------------------------- */

static bool beyond_loopback(const char *host)
{
	return host != NULL && !is_loopback_name(str_from_c(host));
}

bool api_may_listen(const struct api *api, const char *host, struct error *error)
{
	int64_t now = platform_wall_us(loop_platform(api->settings.loop));
	if (!beyond_loopback(host) || key_ring_count(api->keys, now) > 0)
		return true;
	return fail(error, ERROR_FORBIDDEN,
		    "refusing to listen on %s without an API key: everybody could do everything; "
		    "create a key with `baton key create`, or listen on loopback (127.0.0.1, ::1 "
		    "or localhost)",
		    host);
}

/* A browser cannot set headers of a WebSocket, but it can offer subprotocols: it offers "baton" and
 * "baton.key.<key>".  The server selects "baton", so the response does not repeat the key. */
static struct str socket_key(const struct api_call *call)
{
	struct str rest = http_header(call->request, S("Sec-WebSocket-Protocol")), item;
	struct str with = S("baton.key.");
	while (str_cut(&rest, ',', &item))
		if (str_starts(str_trim(item), with))
			return str_skip(str_trim(item), with.size);
	return S("");
}

/* The key of the request; "" = none. */
static bool read_key(const struct api_call *call, struct str *out_key, struct error *error)
{
	struct str bearer = http_header(call->request, S("Authorization"));
	struct str plain = http_header(call->request, S("X-Api-Key"));
	struct str scheme, key = plain;
	if (bearer.size > 0) {
		key = bearer;
		str_cut(&key, ' ', &scheme);
		if (plain.size > 0 || key.at == NULL || !str_equal_folded(scheme, S("Bearer")))
			return fail(
				error, ERROR_UNAUTHENTICATED,
				"send exactly one API key, as `Authorization: Bearer KEY` or as `X-Api-Key: KEY`");
	}
	if (key.size == 0 && wants_socket(call))
		key = socket_key(call);
	*out_key = str_trim(key);
	return true;
}

static enum phase_answer refuse_key(struct api_call *call, struct error *error)
{
	struct platform *platform = loop_platform(call->api->settings.loop);
	call->retry_after = key_ring_note_wrong(call->api->keys, call->request->peer,
						platform_mono_us(platform));
	if (call->retry_after > 0)
		limit_hit(REJECTION_WRONG_KEYS);
	if (call->retry_after > 0)
		return phase_result(fail(
			error, ERROR_RATE_LIMITED,
			"too many wrong API keys from this address; wait before the next attempt"));
	return phase_result(fail(error, ERROR_UNAUTHENTICATED,
				 "unknown API key: it is wrong, was revoked or has expired"));
}

static enum phase_answer authenticate(struct api_call *call, struct error *error)
{
	struct api *api = call->api;
	struct str key;
	if (call->request->local) {
		call->caller = (struct api_caller){ CALLER_OWNER, .role = RUN_ROLE_ADMIN };
		return PHASE_NEXT;
	}
	if (!route_needs_key(call->route))
		return PHASE_NEXT;
	if (!read_key(call, &key, error))
		return PHASE_REFUSED;
	if (key.size > 0) {
		const struct key_ring_entry *entry = key_ring_check(
			api->keys, key, platform_wall_us(loop_platform(api->settings.loop)));
		if (entry == NULL)
			return refuse_key(call, error);
		call->caller =
			(struct api_caller){ CALLER_KEY, .role = entry->role, .key = entry->id };
		memcpy(call->caller.label, entry->label, sizeof(entry->label));
		return PHASE_NEXT;
	}
	if (api->settings.require_key || beyond_loopback(api->settings.host))
		return phase_result(
			fail(error, ERROR_UNAUTHENTICATED,
			     "an API key is required: send `Authorization: Bearer baton_...`"));
	call->caller = (struct api_caller){ CALLER_LOOPBACK, .role = RUN_ROLE_ADMIN };
	return PHASE_NEXT;
}

static enum phase_answer authorize(struct api_call *call, struct error *error)
{
	if (!call->request->local && !route_needs_key(call->route))
		return PHASE_NEXT;
	if (call->caller.role >= call->route->role)
		return PHASE_NEXT;
	struct str needed = run_role_name(call->route->role);
	struct str had = run_role_name(call->caller.role);
	return phase_result(fail(error, ERROR_FORBIDDEN,
				 "this request needs the role " STR_FMT
				 "; the API key has " STR_FMT,
				 STR_ARG(needed), STR_ARG(had)));
}

bool api_stream_is_authorized(struct api *api, uint64_t exchange)
{
	const struct api_call *call = api_call_of(api, exchange);
	int64_t now = platform_wall_us(loop_platform(api->settings.loop));
	return call != NULL && (call->caller.kind != CALLER_KEY ||
				key_ring_find(api->keys, &call->caller.key, now) != NULL);
}

struct str api_caller_name(const struct api_call *call)
{
	switch (call->caller.kind) {
	case CALLER_OWNER:
		return str_from_c(call->api->settings.user);
	case CALLER_KEY:
		return str_from_c(call->caller.label);
	case CALLER_NOBODY:
	case CALLER_LOOPBACK:
		break;
	}
	return S("http");
}

/* ---- limits ------------------------------------------------------------------------ */

/* The executor itself limits writes by the backlog of the store: it accepts a cancel even when the
 * store is far behind. */
static enum phase_answer limit(struct api_call *call, struct error *error)
{
	if (!route_changes(call->route))
		return PHASE_NEXT;
	if (call->api->state == API_RECOVERING)
		return phase_result(fail(error, ERROR_UNAVAILABLE,
					 "the server has just started and is recovering open runs; "
					 "retry in a moment"));
	return PHASE_NEXT;
}

/* ---- headers, query, body ---------------------------------------------------------- */

static bool check_media(const struct api_call *call, struct error *error)
{
	struct str type = http_header(call->request, S("Content-Type")), media;
	if (call->route->parse == NULL ||
	    (call->request->body.size == 0 && route_may_be_empty(call->route)))
		return true;
	str_cut(&type, ';', &media);
	if (!str_equal_folded(str_trim(media), S("application/json")))
		return fail(error, ERROR_UNSUPPORTED_MEDIA,
			    "send the body as Content-Type: application/json");
	return true;
}

static void hash_part(struct sha256 *sha, struct str part)
{
	uint8_t size[8];
	for (size_t i = 0; i < sizeof(size); i++)
		size[i] = (uint8_t)((uint64_t)part.size >> (56 - 8 * i));
	sha256_add(sha, size, sizeof(size));
	sha256_add(sha, part.at, part.size);
}

static struct hash hash_parts(const struct str *parts, size_t count)
{
	struct sha256 sha;
	sha256_init(&sha);
	for (size_t i = 0; i < count; i++)
		hash_part(&sha, parts[i]);
	return sha256_finish(&sha);
}

/* The scope of a key is the caller and the route: the same key of two callers, or for two routes,
 * never collides. */
static bool read_idempotency_key(struct api_call *call, struct error *error)
{
	const struct http_request *request = call->request;
	struct str said = S("");
	size_t count = 0;
	for (size_t i = 0; i < request->header_count; i++)
		if (str_equal_folded(request->headers[i].name, S("Idempotency-Key"))) {
			said = request->headers[i].value;
			count++;
		}
	if (count == 0 || !route_changes(call->route))
		return true;
	bool good = count == 1 && said.size > 0 && said.size <= LIMIT_IDEMPOTENCY_KEY_BYTES;
	for (size_t i = 0; i < said.size && good; i++)
		good = said.at[i] > ' ' && said.at[i] < 0x7f;
	if (!good)
		return fail(
			error, ERROR_USAGE,
			"Idempotency-Key must occur once and have 1 to %d visible ASCII characters",
			(int)LIMIT_IDEMPOTENCY_KEY_BYTES);
	char id[UUID_TEXT_SIZE], text[HASH_TEXT_SIZE];
	struct str who = call->caller.kind == CALLER_KEY     ? uuid_text(&call->caller.key, id)
			 : call->caller.kind == CALLER_OWNER ? S("owner")
							     : S("loopback");
	const struct str scope[] = { who, route_text(call->route, call->arena), said };
	struct hash key = hash_parts(scope, COUNT(scope));
	call->key.key = str_copy(call->arena, hash_text(&key, text));
	return true;
}

/* What the key is good for. */
static void hash_request(struct api_call *call)
{
	const struct http_request *request = call->request;
	const struct str words[] = { request->method, request->path, request->query,
				     request->body };
	if (call->key.key.size > 0)
		call->key.said = hash_parts(words, COUNT(words));
}

static bool is_hex(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if ((text.at[i] < '0' || text.at[i] > '9') &&
		    (text.at[i] < 'a' || text.at[i] > 'f'))
			return false;
	return true;
}

static bool is_zero(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] != '0')
			return false;
	return true;
}

/* W3C Trace Context, level 1: version-trace-parent-flags.  As the standard requires, a malformed
 * header is ignored, and of a later version only the fields of this version are kept. */
static void read_trace(struct api_call *call)
{
	struct str text = http_header(call->request, S("traceparent"));
	struct str trace = str_head(str_skip(text, 3), 32),
		   parent = str_head(str_skip(text, 36), 16);
	if (text.size < TRACE_SIZE - 1 || text.at[2] != '-' || text.at[35] != '-' ||
	    text.at[52] != '-' || !is_hex(str_head(text, 2)) || !is_hex(trace) || !is_hex(parent) ||
	    !is_hex(str_head(str_skip(text, 53), 2)) || is_zero(trace) || is_zero(parent) ||
	    str_starts(text, S("ff")))
		return;
	bool longer = text.size >= TRACE_SIZE;
	if (longer && (str_starts(text, S("00")) || text.at[TRACE_SIZE - 1] != '-'))
		return;
	memcpy(call->trace, text.at, TRACE_SIZE - 1);
}

static enum phase_answer read_request(struct api_call *call, struct error *error)
{
	read_trace(call);
	if (wants_socket(call) && !websocket_check(call->request, error))
		return PHASE_REFUSED;
	return phase_result(route_query(call, error) && check_media(call, error) &&
			    read_idempotency_key(call, error));
}

/* ---- parsing ----------------------------------------------------------------------- */

static bool parse_body(struct api_call *call, struct arena *arena, struct error *error)
{
	const struct json *json;
	struct str text = call->request->body;
	hash_request(call);
	if (call->route->parse == NULL)
		return true;
	if (text.size == 0 && route_may_be_empty(call->route))
		text = S("{}");
	call->problems.arena = call->arena;
	if (!json_read(text, arena, &json, error))
		return false;
	struct contract_source source = { .json = json, .text = text };
	call->body = call->route->parse(&source, arena, &call->problems);
	return call->body != NULL || problems_fail(&call->problems, error);
}

struct executor_value api_given(struct api_call *call, const struct json *value)
{
	bool large = call->body_memory.newest != NULL;
	return (struct executor_value){ .json = value,
					.memory = value != NULL && large ? &call->body_memory
									 : NULL };
}

/* Copies the request, which the connection owns, into the call's arena. */
static void keep_request(struct api_call *call)
{
	const struct http_request *request = call->request;
	struct http_header *headers =
		arena_array(call->arena, struct http_header, request->header_count);
	for (size_t i = 0; i < request->header_count; i++)
		headers[i] =
			(struct http_header){ str_copy(call->arena, request->headers[i].name),
					      str_copy(call->arena, request->headers[i].value) };
	call->kept = *request;
	call->kept.method = str_copy(call->arena, request->method);
	call->kept.path = str_copy(call->arena, request->path);
	call->kept.query = str_copy(call->arena, request->query);
	call->kept.body = str_copy(&call->body_memory, request->body);
	call->kept.peer = str_copy(call->arena, request->peer);
	call->kept.headers = headers;
	for (size_t i = 0; i < call->query_count; i++) {
		call->query[i].name = str_copy(call->arena, call->query[i].name);
		call->query[i].value = str_copy(call->arena, call->query[i].value);
	}
	call->request = &call->kept;
}

static void parse_work(struct executor_read *read, struct store_reader *reader)
{
	struct api_call *call = (struct api_call *)read;
	(void)reader;
	FAILPOINT_GATE("body.before_parse");
	parse_body(call, &call->body_memory, &call->error);
}

static void parse_done(struct executor_read *read)
{
	struct api_call *call = (struct api_call *)read;
	if (call->gone) { /* the handler was not called yet, so nothing is lost */
		api_call_free(call);
		return;
	}
	call->phase++;
	if (call->error.code != ERROR_NONE) {
		api_reply_error(call->api, call->exchange, &call->error, &call->problems);
		return;
	}
	api_call_advance(call);
}

static enum phase_answer parse(struct api_call *call, struct error *error)
{
	if (call->request->body.size <= LIMIT_PARSE_ON_LOOP_BYTES)
		return phase_result(parse_body(call, call->arena, error));
	if (call->route->parse == NULL && call->key.key.size == 0)
		return PHASE_NEXT;
	keep_request(call);
	call->read.work = parse_work;
	call->read.done = parse_done;
	FAILPOINT_GATE("body.queued");
	executor_read(call->api->settings.executor, &call->read);
	return PHASE_WAITS;
}

static enum phase_answer run(struct api_call *call, struct error *error)
{
	(void)error;
	call->running = true;
	if (call->route->parse != NULL)
		call->route->with_body(call, call->body);
	else
		call->route->plain(call);
	call->running = false;
	call->request = NULL;
	return PHASE_WAITS;
}

phase_function *const api_phases[PHASE_COUNT] = {
	[PHASE_MATCH] = match,
	[PHASE_HOST] = check_host,
	[PHASE_AUTHENTICATE] = authenticate,
	[PHASE_AUTHORIZE] = authorize,
	[PHASE_LIMIT] = limit,
	[PHASE_READ] = read_request,
	/* A check of the raw body text belongs here: after the last phase that can reject a request
	 * without its body, before the body is parsed. */
	[PHASE_PARSE] = parse,
	[PHASE_RUN] = run,
	[PHASE_PRINT] = api_print_answer,
	[PHASE_AUDIT] = api_audit_answer,
};
