/* api/api_server.c -- /api/server: the server's settings as a ServerConfig (pipeline vocabulary).
 *
 * The address and the database path are fixed at startup; the other settings can change while the
 * server runs.  Only settings that somebody has set are stored, so a new default of a later version
 * applies to everybody else.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api_documents.h"
#include "api/merge_patch.h"
#include "contract/config_rows.h"
#include "contract/pipeline_types.h"
#include "contract/run_settings_types.h"
#include "document/documents.h"
#include "document/server_settings.h"
#include "document/stored_document.h"
#include "net/websocket.h"

/* ---- reading ----------------------------------------------------------------------- */

static struct str effective_host(const struct api *api)
{
	return str_from_c(api->settings.host != NULL ? api->settings.host
						     : config_row(CONFIG_SERVE_HOST)->fallback);
}

static int64_t effective_port(const struct api *api)
{
	int64_t port = api->port;
	if (port == 0)
		str_to_int(str_from_c(config_row(CONFIG_SERVE_PORT)->fallback), &port);
	return port;
}

static struct str effective_database(const struct api *api, struct arena *arena)
{
	return str_format(arena, "%s/baton.db", api->settings.data_folder);
}

static struct str print_effective(const struct api *api, const struct run_server_settings *set,
				  struct arena *arena)
{
	struct pipeline_server_config *config = pipeline_server_config_new(arena);
	SET(config, host, effective_host(api));
	SET(config, port, effective_port(api));
	SET(config, database_path, effective_database(api, arena));
	if (set == NULL)
		return pipeline_server_config_text(config, arena);
	if (has(set, log_retention_days))
		SET(config, log_retention_days, set->log_retention_days);
	if (has(set, log_retention_max_events))
		SET(config, log_retention_max_events, set->log_retention_max_events);
	if (has(set, websocket_idle_timeout_seconds))
		SET(config, websocket_idle_timeout_seconds, set->websocket_idle_timeout_seconds);
	if (has(set, workflow_start_timeout_seconds))
		SET(config, workflow_start_timeout_seconds, set->workflow_start_timeout_seconds);
	if (has(set, max_concurrent))
		SET(config, max_concurrent, set->max_concurrent);
	return pipeline_server_config_text(config, arena);
}

struct server_request {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct str text, had;
	int64_t revision;
	struct error error;
};

static void server_work(struct executor_read *read, struct store_reader *reader)
{
	struct server_request *request = (struct server_request *)read;
	const void *value;
	if (stored_document_read(reader, DOCUMENT_SERVER, document_kind_name(DOCUMENT_SERVER),
				 &read->arena, &value, &request->revision, &request->error))
		request->text = print_effective(request->api, value, &read->arena);
}

static void server_done(struct executor_read *read)
{
	struct server_request *request = (struct server_request *)read;
	if (request->error.code != ERROR_NONE)
		api_reply_error(request->api, request->exchange, &request->error, NULL);
	else
		api_documents_reply(
			request->api, request->exchange, 200,
			str_format(&read->arena, "\"%lld\"", (long long)request->revision), S(""),
			request->had, request->text);
	arena_done(&read->arena);
	free(request);
}

static struct server_request *request_new(struct api_call *call)
{
	struct server_request *request = calloc(1, sizeof(*request));
	require(request != NULL);
	request->api = call->api;
	request->exchange = call->exchange;
	request->had = S("");
	request->read.work = server_work;
	request->read.done = server_done;
	return request;
}

void api_server_read(struct api_call *call)
{
	struct server_request *request = request_new(call);
	request->had =
		str_copy(&request->read.arena, http_header(call->request, S("If-None-Match")));
	executor_read(call->api->settings.executor, &request->read);
}

/* ---- changing ---------------------------------------------------------------------- */

/* The settings that are fixed at startup: a request may repeat their values but not change them. */
struct fixed_settings {
	bool has_host, has_port, has_database;
	struct str host, database;
	int64_t port;
};

static void refuse_fixed(struct problems *problems, struct str pointer, enum config_key key)
{
	const struct config_row *row = config_row(key);
	problems_add(problems, pointer, 0, 0,
		     "cannot change while the server runs: start it with %s, or set " STR_FMT
		     " in the environment or config.yaml and restart it",
		     row->flag, STR_ARG(row->name));
}

static bool check_fixed(const struct api_call *call, const struct fixed_settings *fixed,
			struct problems *problems, struct error *error)
{
	const struct api *api = call->api;
	if (fixed->has_host && !str_equal(fixed->host, effective_host(api)))
		refuse_fixed(problems, S("/host"), CONFIG_SERVE_HOST);
	if (fixed->has_port && fixed->port != effective_port(api))
		refuse_fixed(problems, S("/port"), CONFIG_SERVE_PORT);
	if (fixed->has_database &&
	    !str_equal(fixed->database, effective_database(api, call->arena)))
		refuse_fixed(problems, S("/database_path"), CONFIG_HOME);
	return problems_fail(problems, error);
}

/* `text` is the whole document of a PUT, or the merge patch of a PATCH. */
struct server_change {
	bool whole;
	int64_t revision;
	struct str text;
};

/* Lenient, because the patch may repeat fixed settings: check_fixed() has checked those. */
static bool server_compose(void *context, struct store_reader *reader, struct arena *arena,
			   struct documents_changes *out_changes, struct problems *problems,
			   struct error *error)
{
	const struct server_change *request = context;
	struct str name = document_kind_name(DOCUMENT_SERVER);
	const struct json *given, *stored = NULL;
	struct store_document row;
	bool found;
	if (!json_read(request->text, arena, &given, error) ||
	    !reader->ops->read_document(reader, name, name, arena, &row, &found, error) ||
	    (found && !request->whole && !json_read(row.body, arena, &stored, error)))
		return false;
	const struct contract_source source = { .json = merge_patch(stored, given, arena),
						.lenient = true };
	const struct run_server_settings *settings =
		run_server_settings_parse(&source, arena, problems);
	if (settings == NULL)
		return problems_fail(problems, error);
	struct documents_change *change = arena_new(arena, struct documents_change);
	*change = (struct documents_change){ .kind = name,
					     .name = name,
					     .revision = request->revision,
					     .body = run_server_settings_text(settings, arena) };
	*out_changes = (struct documents_changes){ change, 1 };
	return true;
}

static void server_changed(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct server_request *request = context;
	(void)argument;
	if (reply->error == NULL) {
		executor_read(request->api->settings.executor, &request->read);
		return;
	}
	api_reply_error(request->api, request->exchange, reply->error, reply->problems);
	arena_done(&request->read.arena);
	free(request);
}

static void server_change(struct api_call *call, bool whole, struct str text,
			  const struct fixed_settings *fixed)
{
	struct server_change *change = arena_new(call->arena, struct server_change);
	struct problems problems = { .arena = call->arena };
	struct error error;
	if (!api_documents_expected(call, &change->revision, &error) ||
	    !check_fixed(call, fixed, &problems, &error)) {
		api_reply_error(call->api, call->exchange, &error, &problems);
		return;
	}
	change->whole = whole;
	change->text = text;
	const struct documents_composition how = { .compose = server_compose,
						   .context = change,
						   .by = api_caller_name(call),
						   .key = call->key };
	documents_change_composed(call->api->settings.documents, &how, server_changed,
				  request_new(call), 0);
}

/* Stores only the members that the body gives: a default must not be stored as a setting. */
void api_server_replace(struct api_call *call, const struct pipeline_server_config *body)
{
	struct run_server_settings *set = run_server_settings_new(call->arena);
	if (body->is.log_retention_days == GIVEN)
		SET(set, log_retention_days, body->log_retention_days);
	if (body->is.log_retention_max_events == GIVEN)
		SET(set, log_retention_max_events, body->log_retention_max_events);
	if (body->is.websocket_idle_timeout_seconds == GIVEN)
		SET(set, websocket_idle_timeout_seconds, body->websocket_idle_timeout_seconds);
	if (body->is.workflow_start_timeout_seconds == GIVEN)
		SET(set, workflow_start_timeout_seconds, body->workflow_start_timeout_seconds);
	if (body->is.max_concurrent == GIVEN)
		SET(set, max_concurrent, body->max_concurrent);
	const struct fixed_settings fixed = { .has_host = body->is.host == GIVEN,
					      .has_port = body->is.port == GIVEN,
					      .has_database = body->is.database_path == GIVEN,
					      .host = body->host,
					      .database = body->database_path,
					      .port = body->port };
	server_change(call, true, run_server_settings_text(set, call->arena), &fixed);
}

void api_server_patch(struct api_call *call, const struct run_server_patch *body)
{
	const struct fixed_settings fixed = { .has_host = has(body, host),
					      .has_port = has(body, port),
					      .has_database = has(body, database_path),
					      .host = body->host,
					      .database = body->database_path,
					      .port = body->port };
	server_change(call, false, run_server_patch_text(body, call->arena), &fixed);
}

/* ---- applying ---------------------------------------------------------------------- */

static void apply(void *context, const struct watched_document *document)
{
	struct api *api = context;
	(void)document;
	int64_t idle_us = server_settings_stored(api->settings.documents).websocket_idle_us;
	websocket_set_idle_timeout(api->server, (uint64_t)(idle_us / 1000));
}

void api_watch_server(struct api *api, platform_callback *loaded)
{
	documents_watch(api->settings.documents, document_kind_name(DOCUMENT_SERVER), apply, loaded,
			api);
}
