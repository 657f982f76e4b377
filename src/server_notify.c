/* server_notify.c -- webhooks and triggers of the server. */
#include "server_notify.h"

#include <string.h>

#include "config/config.h"
#include "notify/webhooks.h"
#include "tool/tool_context.h"

bool server_notify_secret(void *context, struct secret reference, struct arena *arena,
			  struct str *out_value, struct error *error)
{
	const struct server_notify *notify = context;
	return secret_resolve(&notify->places, reference, arena, out_value, error);
}

void server_notify_open(struct server_notify *notify, const struct server_settings *settings,
			struct executor *executor, struct documents *documents,
			struct tool_context *tools)
{
	const struct config *config = settings->config;
	notify->places =
		(struct secret_places){ .data_folder = settings->data_folder,
					.environment = settings->environment,
					.allowed = config_list(config, CONFIG_SECRETS_ALLOW) };
	const struct webhooks_settings webhooks = {
		.executor = executor,
		.documents = documents,
		.secret = server_notify_secret,
		.context = notify,
		.public_url = config_text(config, CONFIG_SERVE_PUBLIC_URL),
		.ca_file = config_text(config, CONFIG_NOTIFY_CA_FILE),
	};
	notify->webhooks = webhooks_new(&webhooks);
	tool_context_set_notify(tools, webhooks_target, notify->webhooks);
}

void server_notify_start(struct server_notify *notify, const char *host, int port)
{
	AUTO(arena) arena = { 0 };
	bool any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
	bool v6 = !any && strchr(host, ':') != NULL;
	webhooks_open(notify->webhooks, str_format(&arena, "http://%s%s%s:%d", v6 ? "[" : "",
						   any ? "localhost" : host, v6 ? "]" : "", port));
}
