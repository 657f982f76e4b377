/* server_notify.h -- webhooks and triggers of the server: wiring of their secrets and addresses. */
#ifndef SERVER_NOTIFY_H
#define SERVER_NOTIFY_H

#include "config/secret.h"
#include "server.h"

struct documents;
struct executor;
struct tool_context;
struct webhooks;

struct server_notify {
	struct webhooks *webhooks;
	struct secret_places places;
};

/* Makes the webhooks and gives them to the tool notify. */
void server_notify_open(struct server_notify *notify, const struct server_settings *settings,
			struct executor *executor, struct documents *documents,
			struct tool_context *tools);
/* Recovery is done and the server listens: from now on events are reported. */
void server_notify_start(struct server_notify *notify, const char *host, int port);
/* Reads a secret of a webhook or a trigger; `context` is the server_notify.  On any thread. */
bool server_notify_secret(void *context, struct secret reference, struct arena *arena,
			  struct str *out_value, struct error *error);

#endif
