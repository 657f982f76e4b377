/* tool/tool_http.c -- http_fetch, http_send and http_send_once: HTTP requests.
 *
 * There are three tools because the effect class belongs to the tool, and recovery must know the
 * class without reading the inputs:
 *
 *	http_fetch      GET and HEAD.  Class idempotent: repeated after a crash.
 *	http_send       POST, PUT, PATCH, DELETE with the effect's id as Idempotency-Key.
 *	                Class keyed: repeated with the same key.  For servers that honor the key.
 *	http_send_once  the same without a key.  Class once: never repeated automatically.
 *
 * The request is sent by this process, not from a sandbox; the client's policy limits the addresses
 * (net/http_client.h).  A response body is text if it is UTF-8, else base64.  A short body with a
 * JSON content type is also returned as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_tool_types.h"
#include "net/http_client.h"
#include "tool/tool_context.h"

struct http_tool_call {
	struct tool_running running; /* first */
	struct arena arena;
	uint64_t call;
	bool fail_on_status;
	size_t max_bytes;
	bool truncated; /* the body was longer than max_bytes */
	bool once;      /* class once */
	bool sent;      /* at least a part of the request was sent */
	int status;
	struct str url;
	struct str_map headers;
	struct buf body;
};

/* The inputs that the three tools share. */
struct request {
	struct str url;
	const char *method;
	struct str_map headers;
	struct str body;
	bool is_json;
	struct http_call_timeouts waits;
	int64_t max_bytes;
	bool fail_on_status;
};

/* ---- the response -------------------------------------------------------------------- */

static struct str lower(struct arena *arena, struct str name)
{
	char *text = arena_take_text(arena, name.size + 1);
	for (size_t i = 0; i < name.size; i++)
		text[i] = name.at[i] >= 'A' && name.at[i] <= 'Z' ? (char)(name.at[i] | 32)
								 : name.at[i];
	return (struct str){ text, name.size };
}

/* Stores the headers by name; values of a repeated name are joined with a comma (RFC 9110). */
static void head_received(void *context, uint64_t id, const struct http_head *head)
{
	struct http_tool_call *call_state = (struct http_tool_call *)tool_context_find(context, id);
	if (call_state == NULL)
		return;
	struct arena *arena = &call_state->arena;
	struct str_entry *entries = arena_array(arena, struct str_entry, head->header_count);
	size_t count = 0;
	call_state->status = head->status;
	call_state->url = str_copy(arena, head->url);
	for (size_t i = 0; i < head->header_count; i++) {
		struct str name = lower(arena, tool_context_utf8(arena, head->headers[i].name));
		struct str value = tool_context_utf8(arena, head->headers[i].value);
		size_t k = 0;
		while (k < count && !str_equal(entries[k].key, name))
			k++;
		if (k < count)
			entries[k].value = str_format(arena, STR_FMT ", " STR_FMT,
						      STR_ARG(entries[k].value), STR_ARG(value));
		else
			entries[count++] = (struct str_entry){ .key = str_copy(arena, name),
							       .value = str_copy(arena, value) };
	}
	call_state->headers = (struct str_map){ entries, count };
}

static bool body_received(void *context, uint64_t id, struct str bytes)
{
	struct http_tool_call *call_state = (struct http_tool_call *)tool_context_find(context, id);
	if (call_state == NULL || call_state->truncated)
		return true;
	size_t room = call_state->max_bytes - call_state->body.size;
	buf_add(&call_state->body, str_head(bytes, bytes.size < room ? bytes.size : room));
	if (bytes.size > room) {
		struct error enough;
		call_state->truncated = true;
		fail(&enough, ERROR_TOO_LARGE, "the response is longer than max_bytes");
		http_call_stop(tool_context_http(call_state->running.tool_context),
			       call_state->call, &enough);
	}
	return true;
}

static bool is_json_response(const struct http_tool_call *call_state)
{
	for (size_t i = 0; i < call_state->headers.count; i++) {
		struct str rest = call_state->headers.at[i].value, type;
		if (str_equal(call_state->headers.at[i].key, S("content-type")) &&
		    str_cut(&rest, ';', &type)) {
			type = str_trim(type);
			return str_equal_folded(type, S("application/json")) ||
			       str_ends(type, S("+json"));
		}
	}
	return false;
}

static const struct json *output_of(struct http_tool_call *call_state)
{
	struct arena *arena = &call_state->arena;
	struct run_http_outputs *outputs = run_http_outputs_new(arena);
	struct str body = buf_str(&call_state->body);
	const struct json *json;
	struct error error;
	size_t bad;
	if (call_state->truncated)
		body = tool_context_whole_characters(body);
	bool text = utf8_valid(body, &bad);
	if (!text)
		body = buf_str(&call_state->body);
	SET(outputs, status, call_state->status);
	SET(outputs, url, tool_context_utf8(arena, call_state->url));
	SET(outputs, headers, call_state->headers);
	SET(outputs, body, text ? body : base64_text(arena, body));
	SET(outputs, encoding, text ? RUN_ENCODING_TEXT : RUN_ENCODING_BASE64);
	SET(outputs, truncated, call_state->truncated);
	if (text && !call_state->truncated && body.size <= LIMIT_PARSE_ON_LOOP_BYTES &&
	    is_json_response(call_state) && json_read(body, arena, &json, &error))
		SET(outputs, json, json);
	return TOOL_OUTPUT(run_http_outputs, outputs, arena);
}

static void request_sent(void *context, uint64_t id)
{
	struct http_tool_call *call_state = (struct http_tool_call *)tool_context_find(context, id);
	if (call_state != NULL)
		call_state->sent = true;
}

static void request_done(void *context, uint64_t id, const struct error *error)
{
	struct http_tool_call *call_state = (struct http_tool_call *)tool_context_find(context, id);
	if (call_state == NULL)
		return;
	struct tool_result result = { 0 };
	if (error != NULL && !call_state->truncated)
		result.error = *error;
	else if (call_state->fail_on_status && call_state->status >= 400)
		fail(&result.error, ERROR_TOOL_FAILED, "status %d: " STR_FMT, call_state->status,
		     STR_ARG(tool_context_whole_characters(str_head(
			     tool_context_utf8(&call_state->arena, buf_str(&call_state->body)),
			     call_state->body.size < 200 ? call_state->body.size : 200))));
	else
		result.output = output_of(call_state);
	if (error != NULL && !call_state->truncated && call_state->once && call_state->sent)
		tool_fail_unknown(&call_state->running, "the request was sent", &result.error);
	tool_context_done(&call_state->running, &result);
	buf_done(&call_state->body);
	arena_done(&call_state->arena);
	free(call_state);
}

/* ---- the request --------------------------------------------------------------------- */

static void request_end(struct tool_running *running)
{
	struct http_tool_call *call_state = (struct http_tool_call *)running;
	http_call_stop(tool_context_http(running->tool_context), call_state->call,
		       &running->stop_error);
}

static bool add_header(struct http_header *headers, size_t *count, struct str name,
		       struct str value)
{
	headers[(*count)++] = (struct http_header){ name, value };
	return true;
}

static bool has_header(const struct str_map *headers, struct str name)
{
	for (size_t i = 0; i < headers->count; i++)
		if (str_equal_folded(headers->at[i].key, name))
			return true;
	return false;
}

static bool request_start(const struct tool_host *host, const struct tool_call *call,
			  const struct request *request, struct arena *arena, uint64_t *out_running,
			  struct error *error)
{
	char key[UUID_TEXT_SIZE];
	size_t count = 0;
	struct http_header *headers =
		arena_array(arena, struct http_header, request->headers.count + 2);
	for (size_t i = 0; i < request->headers.count; i++)
		add_header(headers, &count, request->headers.at[i].key,
			   request->headers.at[i].value);
	if (call->tool->class == RUN_CLASS_KEYED &&
	    has_header(&request->headers, S("Idempotency-Key")))
		return fail(
			error, ERROR_INVALID,
			"inputs: http_send sets the header Idempotency-Key itself; use http_send_once "
			"to set your own");
	if (call->tool->class == RUN_CLASS_KEYED)
		add_header(headers, &count, S("Idempotency-Key"), uuid_text(&call->effect, key));
	if (request->body.size > 0 && !has_header(&request->headers, S("Content-Type")))
		add_header(headers, &count, S("Content-Type"),
			   request->is_json ? S("application/json")
					    : S("text/plain; charset=utf-8"));
	struct http_tool_call *call_state = calloc(1, sizeof(*call_state));
	require(call_state != NULL);
	call_state->fail_on_status = request->fail_on_status;
	call_state->max_bytes = (size_t)request->max_bytes;
	call_state->once = call->tool->class == RUN_CLASS_ONCE;
	call_state->running.end = request_end;
	tool_context_begin(&call_state->running, host, call);
	const struct http_call spec = {
		.method = request->method,
		.url = request->url,
		.headers = headers,
		.header_count = count,
		.body = request->body,
		.timeouts = request->waits,
		.fresh_connection = call_state->once,
		.before_send = request_sent,
		.head = head_received,
		.piece = body_received,
		.done = request_done,
		.context = host->tool_context,
		.argument = call_state->running.id,
	};
	if (http_call_start(tool_context_http(host->tool_context), &spec, &call_state->call,
			    error)) {
		*out_running = call_state->running.id;
		return true;
	}
	tool_context_forget(&call_state->running);
	free(call_state);
	return false;
}

static int64_t milliseconds(double seconds)
{
	return (int64_t)(seconds * 1000);
}

/* A phase without its own timeout may take the total time, except for connecting. */
static struct http_call_timeouts waits_of(double timeout_seconds,
					  const struct run_http_waits *given)
{
	int64_t total = milliseconds(timeout_seconds);
	struct http_call_timeouts waits = { .first_byte_ms = total,
					    .idle_ms = total,
					    .total_ms = total };
	if (given == NULL)
		return waits;
	waits.connect_ms = milliseconds(given->connect_seconds);
	if (has(given, first_byte_seconds))
		waits.first_byte_ms = milliseconds(given->first_byte_seconds);
	if (has(given, idle_seconds))
		waits.idle_ms = milliseconds(given->idle_seconds);
	return waits;
}

static bool fetch_start(const struct tool_host *host, const struct tool_call *call,
			uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_http_fetch_inputs *inputs =
		TOOL_INPUTS(run_http_fetch_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	const struct request request = {
		.url = inputs->url,
		.method = str_c(&arena, run_fetch_method_name(inputs->method)),
		.headers = inputs->headers,
		.waits = waits_of(inputs->timeout_seconds,
				  has(inputs, waits) ? inputs->waits : NULL),
		.max_bytes = inputs->max_bytes,
		.fail_on_status = inputs->fail_on_status,
	};
	return request_start(host, call, &request, &arena, out_running, error);
}

static bool send_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_http_send_inputs *inputs =
		TOOL_INPUTS(run_http_send_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct request request = {
		.url = inputs->url,
		.method = str_c(&arena, run_send_method_name(inputs->method)),
		.headers = inputs->headers,
		.waits = waits_of(inputs->timeout_seconds,
				  has(inputs, waits) ? inputs->waits : NULL),
		.max_bytes = inputs->max_bytes,
		.fail_on_status = inputs->fail_on_status,
	};
	if (has(inputs, json)) {
		request.is_json = true;
		request.body = json_print(&arena, inputs->json);
	} else if (has(inputs, body)) {
		request.body = inputs->body;
	}
	if (has(inputs, body) && inputs->encoding == RUN_ENCODING_BASE64 &&
	    !base64_read(&arena, inputs->body, &request.body))
		return fail(error, ERROR_INVALID, "inputs: /body is not base64");
	return request_start(host, call, &request, &arena, out_running, error);
}

/* http_fetch has only the first. */
static const struct str secret_inputs[] = { { "headers", 7 }, { "body", 4 }, { "json", 4 } };

const struct tool tool_http_fetch = {
	.name = "http_fetch",
	.text = "Fetches a URL (GET, HEAD). Use it to read web pages and HTTP APIs.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_HIGH,
	.timeout_seconds = 60,
	.inputs = run_http_fetch_inputs_type,
	.outputs = run_http_outputs_type,
	.start = fetch_start,
	.secrets = { secret_inputs, 1 },
	.stop = tool_context_stop,
};

const struct tool tool_http_send = {
	.name = "http_send",
	.text = "Sends a request to a URL (POST, PUT, PATCH, DELETE) with an Idempotency-Key that "
		"stays the same when it is repeated.",
	.class = RUN_CLASS_KEYED,
	.risk = RUN_RISK_HIGH,
	.timeout_seconds = 60,
	.inputs = run_http_send_inputs_type,
	.outputs = run_http_outputs_type,
	.start = send_start,
	.secrets = { secret_inputs, COUNT(secret_inputs) },
	.stop = tool_context_stop,
};

const struct tool tool_http_send_once = {
	.name = "http_send_once",
	.text = "Sends a request to a URL without an Idempotency-Key; never repeated automatically.",
	.class = RUN_CLASS_ONCE,
	.risk = RUN_RISK_HIGH,
	.timeout_seconds = 60,
	.inputs = run_http_send_inputs_type,
	.outputs = run_http_outputs_type,
	.start = send_start,
	.secrets = { secret_inputs, COUNT(secret_inputs) },
	.stop = tool_context_stop,
};
