/* tool/tool_http.c -- http_fetch, http_send and http_send_once: requests to the world.
 *
 * Three rows, because the class belongs to the tool and recovery must know it before it knows the
 * inputs:
 *
 *	http_fetch      GET and HEAD: idempotent, repeated after a crash
 *	http_send       POST, PUT, PATCH, DELETE with the effect's id as Idempotency-Key: keyed,
 *	                repeated with the same key, for servers that keep such keys
 *	http_send_once  the same without a key: never repeated by itself, for servers that do not
 *
 * The request leaves from this process, not from a sandbox: where it may go is the client's policy
 * (net/http_client.h).  An answer is text when it is UTF-8 and base64 when it is not; a short one
 * that calls itself JSON is given as JSON too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "net/http_client.h"
#include "tool/tool_context.h"

struct web {
	struct tool_running running; /* first */
	struct arena arena;
	uint64_t call;
	bool fail_on_status;
	size_t max_bytes;
	bool enough; /* it was cut off at max_bytes */
	bool once;   /* nobody may send it again */
	bool left;   /* it is on its way, or some of it */
	int status;
	struct str url;
	struct str_map headers;
	struct buf body;
};

/* What the rows' inputs have in common. */
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

/* ---- the answer ---------------------------------------------------------------------- */

static struct str lower(struct arena *arena, struct str name)
{
	char *text = arena_take_text(arena, name.size + 1);
	for (size_t i = 0; i < name.size; i++)
		text[i] = name.at[i] >= 'A' && name.at[i] <= 'Z' ? (char)(name.at[i] | 32)
								 : name.at[i];
	return (struct str){ text, name.size };
}

/* One member a name: those that come several times are joined, as RFC 9110 allows. */
static void head_came(void *context, uint64_t id, const struct http_head *head)
{
	struct web *web = (struct web *)tool_context_find(context, id);
	if (web == NULL)
		return;
	struct arena *arena = &web->arena;
	struct str_entry *entries = arena_array(arena, struct str_entry, head->header_count);
	size_t count = 0;
	web->status = head->status;
	web->url = str_copy(arena, head->url);
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
	web->headers = (struct str_map){ entries, count };
}

static bool piece_came(void *context, uint64_t id, struct str bytes)
{
	struct web *web = (struct web *)tool_context_find(context, id);
	if (web == NULL || web->enough)
		return true;
	size_t room = web->max_bytes - web->body.size;
	buf_add(&web->body, str_head(bytes, bytes.size < room ? bytes.size : room));
	if (bytes.size > room) {
		struct error enough;
		web->enough = true;
		fail(&enough, ERROR_TOO_LARGE, "max_bytes are there");
		http_call_stop(tool_context_http(web->running.tool_context), web->call, &enough);
	}
	return true;
}

static bool calls_itself_json(const struct web *web)
{
	for (size_t i = 0; i < web->headers.count; i++) {
		struct str rest = web->headers.at[i].value, type;
		if (str_equal(web->headers.at[i].key, S("content-type")) &&
		    str_cut(&rest, ';', &type)) {
			type = str_trim(type);
			return str_equal_folded(type, S("application/json")) ||
			       str_ends(type, S("+json"));
		}
	}
	return false;
}

static const struct json *output_of(struct web *web)
{
	struct arena *arena = &web->arena;
	struct run_http_outputs *outputs = run_http_outputs_new(arena);
	struct str body = buf_str(&web->body);
	const struct json *json;
	struct error error;
	size_t bad;
	if (web->enough)
		body = tool_context_whole_characters(body);
	bool text = utf8_valid(body, &bad);
	if (!text)
		body = buf_str(&web->body);
	SET(outputs, status, web->status);
	SET(outputs, url, tool_context_utf8(arena, web->url));
	SET(outputs, headers, web->headers);
	SET(outputs, body, text ? body : base64_text(arena, body));
	SET(outputs, encoding, text ? RUN_ENCODING_TEXT : RUN_ENCODING_BASE64);
	SET(outputs, truncated, web->enough);
	if (text && !web->enough && body.size <= LIMIT_PARSE_ON_LOOP_BYTES &&
	    calls_itself_json(web) && json_read(body, arena, &json, &error))
		SET(outputs, json, json);
	return TOOL_OUTPUT(run_http_outputs, outputs, arena);
}

static void web_leaves(void *context, uint64_t id)
{
	struct web *web = (struct web *)tool_context_find(context, id);
	if (web != NULL)
		web->left = true;
}

static void web_done(void *context, uint64_t id, const struct error *error)
{
	struct web *web = (struct web *)tool_context_find(context, id);
	if (web == NULL)
		return;
	struct tool_result result = { 0 };
	if (error != NULL && !web->enough)
		result.error = *error;
	else if (web->fail_on_status && web->status >= 400)
		fail(&result.error, ERROR_TOOL_FAILED, "status %d: " STR_FMT, web->status,
		     STR_ARG(tool_context_whole_characters(
			     str_head(tool_context_utf8(&web->arena, buf_str(&web->body)),
				      web->body.size < 200 ? web->body.size : 200))));
	else
		result.output = output_of(web);
	if (error != NULL && !web->enough && web->once && web->left)
		tool_fail_unknown(&web->running, "the request was on its way", &result.error);
	tool_context_done(&web->running, &result);
	buf_done(&web->body);
	arena_done(&web->arena);
	free(web);
}

/* ---- the request --------------------------------------------------------------------- */

static void web_end(struct tool_running *running)
{
	struct web *web = (struct web *)running;
	http_call_stop(tool_context_http(running->tool_context), web->call, &running->told);
}

static bool add_header(struct http_header *headers, size_t *count, struct str name,
		       struct str value)
{
	headers[(*count)++] = (struct http_header){ name, value };
	return true;
}

static bool names(const struct str_map *headers, struct str name)
{
	for (size_t i = 0; i < headers->count; i++)
		if (str_equal_folded(headers->at[i].key, name))
			return true;
	return false;
}

static bool web_start(const struct tool_host *host, const struct tool_call *call,
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
	if (call->tool->class == RUN_CLASS_KEYED && names(&request->headers, S("Idempotency-Key")))
		return fail(error, ERROR_INVALID,
			    "inputs: the Idempotency-Key is the effect's id and not yours to "
			    "choose; http_send_once takes any header");
	if (call->tool->class == RUN_CLASS_KEYED)
		add_header(headers, &count, S("Idempotency-Key"), uuid_text(&call->effect, key));
	if (request->body.size > 0 && !names(&request->headers, S("Content-Type")))
		add_header(headers, &count, S("Content-Type"),
			   request->is_json ? S("application/json")
					    : S("text/plain; charset=utf-8"));
	struct web *web = calloc(1, sizeof(*web));
	require(web != NULL);
	web->fail_on_status = request->fail_on_status;
	web->max_bytes = (size_t)request->max_bytes;
	web->once = call->tool->class == RUN_CLASS_ONCE;
	web->running.end = web_end;
	tool_context_begin(&web->running, host, call);
	const struct http_call spec = {
		.method = request->method,
		.url = request->url,
		.headers = headers,
		.header_count = count,
		.body = request->body,
		.timeouts = request->waits,
		.fresh_connection = web->once,
		.before_send = web_leaves,
		.head = head_came,
		.piece = piece_came,
		.done = web_done,
		.context = host->tool_context,
		.argument = web->running.id,
	};
	if (http_call_start(tool_context_http(host->tool_context), &spec, &web->call, error)) {
		*out_running = web->running.id;
		return true;
	}
	tool_context_forget(&web->running);
	free(web);
	return false;
}

static int64_t milliseconds(double seconds)
{
	return (int64_t)(seconds * 1000);
}

/* A part that nothing was said of may take as long as the whole, but for connecting. */
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
	return web_start(host, call, &request, &arena, out_running, error);
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
	return web_start(host, call, &request, &arena, out_running, error);
}

const struct tool tool_http_fetch = {
	.name = "http_fetch",
	.text = "Fetches an address of the web (GET, HEAD).",
	.class = RUN_CLASS_IDEMPOTENT,
	.inputs = run_http_fetch_inputs_type,
	.outputs = run_http_outputs_type,
	.start = fetch_start,
	.stop = tool_context_stop,
};

const struct tool tool_http_send = {
	.name = "http_send",
	.text = "Sends something to an address of the web, with an Idempotency-Key that stays the "
		"same when it is repeated.",
	.class = RUN_CLASS_KEYED,
	.inputs = run_http_send_inputs_type,
	.outputs = run_http_outputs_type,
	.start = send_start,
	.stop = tool_context_stop,
};

const struct tool tool_http_send_once = {
	.name = "http_send_once",
	.text = "Sends something to an address of the web that knows no Idempotency-Key; never "
		"repeated by itself.",
	.class = RUN_CLASS_ONCE,
	.inputs = run_http_send_inputs_type,
	.outputs = run_http_outputs_type,
	.start = send_start,
	.stop = tool_context_stop,
};
