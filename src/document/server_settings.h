/* document/server_settings.h -- the document `server`: settings that change while the server runs.
 *
 * The document holds only what somebody has set (PATCH /api/server).  Limits of the executor are
 * passed on to it (executor_set_limits).
 */
#ifndef DOCUMENT_SERVER_SETTINGS_H
#define DOCUMENT_SERVER_SETTINGS_H

#include "os/platform.h"

struct documents;

/* 0 = not set. */
struct server_settings_stored {
	int64_t log_retention_days, log_retention_max_events, max_concurrent;
	int64_t websocket_idle_us, workflow_start_us;
};

/* Reads the document and follows its changes; calls `done` when it is read. */
void server_settings_open(struct documents *documents, platform_callback *done, void *context);
struct server_settings_stored server_settings_stored(const struct documents *documents);

#endif
