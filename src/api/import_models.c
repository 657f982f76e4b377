/* api/import_models.c -- ids of models, as models.yaml has them, become a driver, its options and fallbacks.
 *
 * An id belongs to the provider that lists it, else to the one that is written before its first colon.  A provider of
 * this program is used by its name; any other needs an address in models.yaml, and is one that speaks the format of
 * OpenAI's chat completions.  The first model that can be reached is the agent's, the next ones are its fallbacks.
 */
#include "api/import.h"
#include "base/buf.h"
#include "contract/run_agent_types.h"

enum { FALLBACKS = 4 };

struct found_model {
	struct str provider, model, base_url, api_key; /* "" = the provider's own */
};

static bool is_built_in(struct str name)
{
	static const char *const names[] = { "openai", "anthropic", "deepseek",  "openrouter",
					     "groq",   "together",  "fireworks", "ollama" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_equal(name, str_from_c(names[i])))
			return true;
	return false;
}

static struct str prefix_of(struct str id)
{
	size_t at;
	return str_find(id, S(":"), &at) ? str_head(id, at) : S("");
}

static const struct run_models_file_provider *listed_by(const struct run_models_file *models,
							struct str id, struct str *out_name)
{
	for (size_t i = 0; models != NULL && i < models->providers.count; i++) {
		const struct run_models_file_provider *provider = &models->providers.at[i].value;
		for (size_t k = 0; k < provider->available.count; k++)
			if (str_equal(provider->available.at[k].id, id)) {
				*out_name = models->providers.at[i].key;
				return provider;
			}
	}
	return NULL;
}

/* A provider whose name, or the prefix of whose ids, is this. */
static const struct run_models_file_provider *called(const struct run_models_file *models,
						     struct str prefix, struct str *out_name)
{
	for (size_t i = 0; models != NULL && i < models->providers.count; i++) {
		const struct run_models_file_provider *provider = &models->providers.at[i].value;
		bool same = str_equal(models->providers.at[i].key, prefix);
		for (size_t k = 0; k < provider->available.count && !same; k++)
			same = str_equal(prefix_of(provider->available.at[k].id), prefix);
		if (same) {
			*out_name = models->providers.at[i].key;
			return provider;
		}
	}
	return NULL;
}

/* Whether all ids of the provider begin alike: then that is no part of the models' names. */
static bool has_prefix(const struct run_models_file_provider *provider, struct str prefix)
{
	for (size_t i = 0; i < provider->available.count; i++)
		if (!str_equal(prefix_of(provider->available.at[i].id), prefix))
			return false;
	return true;
}

static struct str address_of(const struct run_models_file_provider *provider, struct arena *arena)
{
	struct str address = provider != NULL && has(provider, endpoint) ? provider->endpoint
			     : provider != NULL && has(provider, host)   ? provider->host
									 : S("");
	if (address.size == 0 || (provider != NULL && has(provider, endpoint)))
		return address;
	while (str_ends(address, S("/")))
		address.size--;
	return str_ends(address, S("/v1")) ? address
					   : str_format(arena, STR_FMT "/v1", STR_ARG(address));
}

/* False when this program cannot reach the model. */
static bool find_model(const struct run_models_file *models, struct str id, struct arena *arena,
		       struct found_model *out)
{
	struct str prefix = prefix_of(id), name = prefix;
	const struct run_models_file_provider *provider = listed_by(models, id, &name);
	if (provider == NULL)
		provider = called(models, prefix, &name);
	bool stripped = prefix.size > 0 && (is_built_in(prefix) || str_equal(prefix, name) ||
					    (provider != NULL && has_prefix(provider, prefix)));
	struct str address = address_of(provider, arena);
	*out = (struct found_model){ .provider = is_built_in(prefix) ? prefix : name,
				     .model = stripped ? str_skip(id, prefix.size + 1) : id,
				     .base_url = address };
	bool ollama = str_equal(out->provider, S("ollama"));
	if (provider != NULL && has(provider, api_key_env) &&
	    !(is_built_in(out->provider) && address.size == 0))
		out->api_key = str_format(arena, "env:" STR_FMT, STR_ARG(provider->api_key_env));
	if (address.size > 0 && !ollama)
		out->provider = S("custom"); /* others may not have another address */
	return out->model.size > 0 && (is_built_in(out->provider) || address.size > 0);
}

static void put_model(const struct found_model *model, struct json_writer *writer)
{
	if (model->base_url.size > 0) {
		json_key(writer, S("base_url"));
		json_put_str(writer, model->base_url);
	}
	if (model->api_key.size > 0) {
		json_key(writer, S("api_key"));
		json_put_str(writer, model->api_key);
	}
}

static const struct json *options_of(const struct run_models_file *models,
				     const struct found_model *found, size_t count,
				     struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	const struct json *json = NULL;
	struct error error;
	json_open(&writer, '{');
	put_model(&found[0], &writer);
	if (models != NULL && has(models->defaults, timeout_seconds)) {
		json_key(&writer, S("timeout_seconds"));
		json_put_real(&writer, models->defaults->timeout_seconds);
	}
	if (count > 1) {
		json_key(&writer, S("fallback"));
		json_open(&writer, '[');
		for (size_t i = 1; i < count; i++) {
			json_open(&writer, '{');
			json_key(&writer, S("provider"));
			json_put_str(&writer, found[i].provider);
			json_key(&writer, S("model"));
			json_put_str(&writer, found[i].model);
			put_model(&found[i], &writer);
			json_close(&writer, '}');
		}
		json_close(&writer, ']');
	}
	json_close(&writer, '}');
	bool good = json_read(str_copy(arena, buf_str(&text)), arena, &json, &error);
	require(good);
	return json;
}

static bool is_twice(struct str_list ids, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (str_equal(ids.at[i], ids.at[number]))
			return true;
	return false;
}

struct import_chain import_chain(struct import *import, const struct run_models_file *models,
				 struct str_list ids, struct str file, const struct json *place)
{
	struct found_model found[FALLBACKS + 1];
	struct import_chain chain = { .driver = S(""), .model = S("") };
	size_t count = 0, dropped = 0;
	for (size_t i = 0; i < ids.count; i++) {
		struct found_model one;
		if (is_twice(ids, i))
			continue;
		if (!find_model(models, ids.at[i], import->arena, &one))
			import_warn(import, file, place,
				    "model " STR_FMT
				    " is left out: this program does not know its provider, and "
				    "models.yaml gives no endpoint or host for it",
				    STR_ARG(ids.at[i]));
		else if (count == COUNT(found))
			dropped++;
		else
			found[count++] = one;
	}
	if (dropped > 0)
		import_warn(import, file, place,
			    "%zu models at the end of the chain are left out: an agent has at most "
			    "%d fallbacks",
			    dropped, FALLBACKS);
	if (count == 0)
		return chain;
	chain.driver = str_format(import->arena, "api:" STR_FMT, STR_ARG(found[0].provider));
	chain.model = found[0].model;
	chain.options = options_of(models, found, count, import->arena);
	return chain;
}
