/* document/server_settings.c -- the document `server`, kept as the numbers that others ask for.
 *
 * Only what somebody has set is in it; what the defaults are is known where they are used.
 */
#include "base/limits.h"
#include "base/log.h"
#include "contract/document_kind.h"
#include "active/executor_internal.h"

static int64_t microseconds(double seconds)
{
	return (int64_t)(seconds * 1e6);
}

static void settings_changed(void *context, const struct executor_document *document)
{
	struct executor *executor = context;
	AUTO(arena) arena = { 0 };
	struct error error;
	struct executor_server_settings server = { 0 };
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
	executor->server = server;
	admission_try_next(executor);
}

static void settings_loaded(void *context, uint64_t count)
{
	struct executor *executor = context;
	executor->opened(executor->opened_context, count);
}

void executor_open_documents(struct executor *executor, platform_callback *done, void *context)
{
	executor->opened = done;
	executor->opened_context = context;
	executor_watch_documents(executor, document_kind_name(DOCUMENT_SERVER), settings_changed,
				 settings_loaded, executor);
}

/* Only a runtime whose documents were opened has a server around it. */
int64_t executor_start_us(const struct executor *executor)
{
	if (executor->opened == NULL)
		return 0;
	return executor->server.workflow_start_us > 0 ? executor->server.workflow_start_us
						      : (int64_t)LIMIT_START_MS * 1000;
}

struct executor_server_settings executor_server_settings(const struct executor *executor)
{
	return executor->server;
}
