/* document/server_settings.c -- the document `server` as numbers.
 *
 * The document has only what somebody has set; defaults are known where they are used.
 */
#include "document/server_settings.h"

#include "base/limits.h"
#include "base/log.h"
#include "contract/document_kind.h"
#include "contract/run_settings_types.h"
#include "document/documents_state.h"

static int64_t microseconds(double seconds)
{
	return (int64_t)(seconds * 1e6);
}

/* Defaults that the executor does not know: without a server around it a start has no limit. */
static void pass_on(const struct documents *documents)
{
	const struct server_settings_stored *server = &documents->server;
	const struct executor_limits limits = {
		.max_concurrent = server->max_concurrent,
		.start_us = server->workflow_start_us > 0 ? server->workflow_start_us
							  : (int64_t)LIMIT_START_MS * 1000,
	};
	executor_set_limits(documents->executor, &limits);
}

static void settings_changed(void *context, const struct watched_document *document)
{
	struct documents *documents = context;
	AUTO(arena) arena = { 0 };
	struct error error;
	struct server_settings_stored server = { 0 };
	if (document->body.size > 0) {
		const struct run_server_settings *set =
			document_read_stored(DOCUMENT_SERVER, document->body, &arena, &error);
		if (set == NULL) {
			log_line(LOG_ERROR, "the server's settings stay as they are: %s",
				 error.text);
			return;
		}
		if (has(set, log_retention_days))
			server.log_retention_days = set->log_retention_days;
		if (has(set, log_retention_max_events))
			server.log_retention_max_events = set->log_retention_max_events;
		if (has(set, max_concurrent))
			server.max_concurrent = set->max_concurrent;
		if (has(set, websocket_idle_timeout_seconds))
			server.websocket_idle_us =
				microseconds(set->websocket_idle_timeout_seconds);
		if (has(set, workflow_start_timeout_seconds))
			server.workflow_start_us =
				microseconds(set->workflow_start_timeout_seconds);
	}
	documents->server = server;
	pass_on(documents);
}

static void settings_loaded(void *context, uint64_t count)
{
	struct documents *documents = context;
	documents->server_loaded(documents->server_context, count);
}

void server_settings_open(struct documents *documents, platform_callback *done, void *context)
{
	documents->server_loaded = done;
	documents->server_context = context;
	pass_on(documents);
	documents_watch(documents, document_kind_name(DOCUMENT_SERVER), settings_changed,
			settings_loaded, documents);
}

struct server_settings_stored server_settings_stored(const struct documents *documents)
{
	return documents->server;
}
