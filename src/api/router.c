/* api/router.c -- owns the record of each request and runs the phases.
 *
 * Records are found by exchange id, because handlers keep only the id.  A record lives until the
 * response is sent; the record of a stream or WebSocket lives until that ends.  When a client
 * disconnects, its record is freed, except while the request changes something: the audit log still
 * records that response.
 */
#include <stdlib.h>

#include "active/live_reply.h"
#include "api/api_internal.h"
#include "base/log.h"
#include "base/uuid.h"
#include "contract/document_kind.h"
#include "document/budget_limits.h"
#include "document/server_settings.h"

static struct str exchange_key(const struct api_call *call)
{
	return (struct str){ (const char *)&call->exchange, sizeof(call->exchange) };
}

struct api_call *api_call_of(const struct api *api, uint64_t exchange)
{
	struct str key = { (const char *)&exchange, sizeof(exchange) };
	return map_get(&api->calls, key);
}

void api_call_free(struct api_call *call)
{
	if (call->running) {
		call->over = true;
		return;
	}
	map_remove(&call->api->calls, exchange_key(call));
	executor_discard(call->api->settings.executor, &call->body_memory);
	executor_discard(call->api->settings.executor, &call->read.arena);
	free(call);
}

void api_call_advance(struct api_call *call)
{
	while (call->phase < PHASE_COUNT) {
		struct error error;
		switch (api_phases[call->phase](call, &error)) {
		case PHASE_NEXT:
			call->phase++;
			break;
		case PHASE_REFUSED:
			api_answer_error(call, &error, &call->problems);
			call->phase = PHASE_PRINT;
			break;
		case PHASE_WAITS:
			if (call->over)
				api_call_free(call);
			return;
		}
	}
	if (!call->begun)
		api_call_free(call);
}

/* ---- requests ---------------------------------------------------------------------- */

static bool is_request_id(struct str text)
{
	if (text.size == 0 || text.size >= REQUEST_ID_SIZE)
		return false;
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] <= ' ' || text.at[i] >= 0x7f || text.at[i] == '"' ||
		    text.at[i] == '\\')
			return false;
	return true;
}

/* Uses a valid X-Request-Id of the client, so that its logs and the server's use the same id. */
static void assign_request_id(struct api_call *call)
{
	struct str given = http_header(call->request, S("X-Request-Id"));
	if (is_request_id(given)) {
		for (size_t i = 0; i < given.size; i++)
			call->request_id[i] = given.at[i];
		return;
	}
	uint8_t dice[16];
	platform_random(loop_platform(call->api->settings.loop), dice, sizeof(dice));
	struct uuid id = uuid_from_random(dice);
	uuid_text(&id, call->request_id);
}

static void request_arrived(void *context, const struct http_request *request)
{
	struct api *api = context;
	struct api_call *call = calloc(1, sizeof(*call));
	require(call != NULL);
	call->api = api;
	call->arena = &call->read.arena;
	call->request = request;
	call->exchange = request->exchange;
	call->allow = call->path = S("");
	call->key.key = S("");
	assign_request_id(call);
	map_put(&api->calls, exchange_key(call), call);
	api_call_advance(call);
}

static void stream_writable(void *context, uint64_t exchange)
{
	api_stream_writable(context, exchange);
	api_log_stream_writable(context, exchange);
	api_socket_writable(context, exchange);
}

static void client_gone(void *context, uint64_t exchange)
{
	struct api *api = context;
	struct api_call *call = api_call_of(api, exchange);
	api_stream_gone(api, exchange);
	api_log_stream_gone(api, exchange);
	api_socket_gone(api, exchange);
	if (call == NULL)
		return;
	call->gone = true;
	/* A call that is being parsed or that changes something is freed by its response. */
	if (call->phase == PHASE_RUN && !route_changes(call->route))
		api_call_free(call);
	else if (call->begun)
		api_call_free(call);
}

static void client_message(void *context, uint64_t exchange, struct str text)
{
	api_socket_message(context, exchange, text);
}

static void replies_grew(void *context)
{
	api_streams_flush(context);
	api_sockets_flush(context);
}

/* ---- create ------------------------------------------------------------------------ */

struct api *api_new(const struct api_settings *settings)
{
	struct api *api = calloc(1, sizeof(*api));
	require(api != NULL);
	api->settings = *settings;
	api->keys = key_ring_new();
	api->began_at = platform_mono_us(loop_platform(settings->loop));
	const struct http_handler handler = { .context = api,
					      .request = request_arrived,
					      .writable = stream_writable,
					      .gone = client_gone,
					      .message = client_message };
	api->server = http_server_new(settings->loop, &handler);
	api->tails = event_tails_new(api);
	live_reply_listen(settings->executor, replies_grew, api);
	return api;
}

struct http_server *api_server(struct api *api)
{
	return api->server;
}

void api_set_state(struct api *api, enum api_state state)
{
	api->state = state;
}

/* ---- load -------------------------------------------------------------------------- */

static void ignore_loaded(void *context, uint64_t count)
{
	(void)context;
	(void)count;
}

static void loaded(void *context, uint64_t keys)
{
	struct api *api = context;
	api->loaded(api->loaded_context, keys);
}

/* Documents load in this order, so the settings are loaded when the keys are. */
void api_load(struct api *api, platform_callback *done, void *context)
{
	api->loaded = done;
	api->loaded_context = context;
	server_settings_open(api->settings.documents, ignore_loaded, api);
	budget_limits_open(api->settings.documents);
	api_watch_server(api, ignore_loaded);
	api_watch_keys(api, loaded);
}

void api_drain(struct api *api)
{
	api_streams_end(api);
	api_log_streams_end(api);
	api_waits_end(api);
}

bool api_caught_up(const struct api *api)
{
	return !api_streams_behind(api) && !api_log_streams_behind(api) && !api_sockets_behind(api);
}

void api_set_port(struct api *api, int port)
{
	api->port = port;
}
