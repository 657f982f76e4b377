/* llm/models.c -- opens the HTTP client of the models; finds missing keys before a run begins. */
#include "llm/models.h"

#include <stdlib.h>

#include "base/limits.h"
#include "contract/run_model_types.h"
#include "llm/provider.h"
#include "net/http_client.h"
#include "os/loop.h"

bool models_new(const struct models_settings *settings, struct models **out_models,
		struct error *error)
{
	AUTO(arena) scratch = { 0 };
	struct str_list given = settings->private_addresses;
	struct address_range *ranges = arena_array(&scratch, struct address_range, given.count);
	for (size_t i = 0; i < given.count; i++)
		if (!address_range_read(given.at[i], &ranges[i], error)) {
			error_prefix(error, "models.private_addresses: ");
			return false;
		}
	struct models *models = calloc(1, sizeof(*models));
	require(models != NULL);
	const struct http_policy policy = { .ranges = ranges,
					    .range_count = given.count,
					    .setting = "models.private_addresses",
					    .most_calls = LIMIT_MODEL_REQUESTS,
					    .kept_connections = LIMIT_MODEL_CONNECTIONS };
	models->http = http_client_new(settings->loop, &policy);
	models->gates = model_gates_new(loop_platform(settings->loop), settings->concurrency);
	models->folder = str_format(&models->arena, "%s/cassettes", settings->data_folder).at;
	models->key = settings->key;
	models->context = settings->context;
	*out_models = models;
	return true;
}

void models_free(struct models *models)
{
	if (models == NULL)
		return;
	http_client_free(models->http);
	model_gates_free(models->gates);
	arena_done(&models->arena);
	free(models);
}

void models_set_own_port(struct models *models, int port)
{
	http_client_set_own_port(models->http, port);
}

static bool check_endpoint(const struct models *models, const struct endpoint *endpoint,
			   struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str value;
	if (endpoint->key.reference.size == 0 ||
	    models->key(models->context, endpoint->key, &arena, &value, error))
		return true;
	error_prefix(error, "it cannot ask " STR_FMT ": the API key ",
		     STR_ARG(endpoint->provider->name));
	error->code = ERROR_CONFIGURATION;
	return false;
}

bool models_check_key(const struct models *models, struct str driver, struct str model,
		      const struct json *options, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	struct contract_source source = { .json = options, .lenient = true };
	if (models == NULL || !str_equal(driver, S("api")))
		return true;
	const struct run_api_options *read = run_api_options_parse(&source, &arena, &problems);
	size_t count = read == NULL ? 0 : has(read, fallback) ? read->fallback.count : 0;
	for (size_t i = 0; read != NULL && i <= count; i++) {
		struct endpoint endpoint;
		if (provider_endpoint(read, i, model, &arena, &endpoint, &problems) &&
		    !check_endpoint(models, &endpoint, error))
			return false;
	}
	return true;
}
