/* runtime/settings.c -- the document `server`, kept as the numbers that others ask for.
 *
 * Only what somebody has set is in it; what the defaults are is known where they are used.
 */
#include "base/limits.h"
#include "base/log.h"
#include "contract/document.h"
#include "runtime/inside.h"

static int64_t microseconds(double seconds)
{
	return (int64_t)(seconds * 1e6);
}

static void settings_changed(void *context, const struct runtime_document *document)
{
	struct runtime *runtime = context;
	AUTO(arena) arena = { 0 };
	struct error error;
	struct runtime_server_settings server = { 0 };
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
	runtime->server = server;
	queue_go_on(runtime);
}

static void settings_loaded(void *context, uint64_t count)
{
	struct runtime *runtime = context;
	runtime->opened(runtime->opened_context, count);
}

void runtime_open_documents(struct runtime *runtime, system_callback *done, void *context)
{
	runtime->opened = done;
	runtime->opened_context = context;
	runtime_watch_documents(runtime, document_kind_name(DOCUMENT_SERVER), settings_changed,
				settings_loaded, runtime);
}

/* Only a runtime whose documents were opened has a server around it. */
int64_t runtime_start_us(const struct runtime *runtime)
{
	if (runtime->opened == NULL)
		return 0;
	return runtime->server.workflow_start_us > 0 ? runtime->server.workflow_start_us
						     : (int64_t)LIMIT_START_MS * 1000;
}

struct runtime_server_settings runtime_server_settings(const struct runtime *runtime)
{
	return runtime->server;
}
