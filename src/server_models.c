/* server_models.c -- gives the drivers what they need. */
#include "server_models.h"

#include "config/config.h"
#include "config/secret.h"
#include "llm/models.h"
#include "os/loop.h"

/* The API key of a model; any thread. */
static bool read_key(void *context, struct secret reference, struct arena *arena,
		     struct str *out_value, struct error *error)
{
	return secret_resolve(context, reference, arena, out_value, error);
}

bool server_models_open(const struct server_settings *settings, struct loop *loop,
			struct arena *arena, struct llm_host *out_host, struct error *error)
{
	const struct config *config = settings->config;
	struct secret_places *places = arena_new(arena, struct secret_places);
	*places = (struct secret_places){ .data_folder = settings->data_folder,
					  .environment = settings->environment,
					  .allowed = config_list(config, CONFIG_SECRETS_ALLOW) };
	const struct models_settings models = {
		.loop = loop,
		.data_folder = settings->data_folder,
		.private_addresses = config_list(config, CONFIG_MODELS_PRIVATE),
		.concurrency = (size_t)config_number(config, CONFIG_MODELS_CONCURRENCY),
		.key = read_key,
		.context = places,
	};
	out_host->platform = loop_platform(loop);
	return models_new(&models, &out_host->models, error);
}
