/* llm/provider.c -- finds where a request goes. */
#include "llm/provider.h"

#include "base/buf.h"

#define LITERAL(text)                     \
	{                                 \
		"" text, sizeof(text) - 1 \
	}
#define ROW(name, url, format, variable, tokens, quirks, custom) \
	{ LITERAL(name), LITERAL(url), format, LITERAL(variable), tokens, quirks, custom },

static const struct provider rows[] = {
#define PROVIDER(name, url, format, variable, tokens, quirks) \
	ROW(name, url, format, variable, tokens, quirks, false)
#define CUSTOM(name, url, format, variable, tokens, quirks) \
	ROW(name, url, format, variable, tokens, quirks, true)
#include "llm/providers.def"
#undef PROVIDER
#undef CUSTOM
};

const struct provider_list provider_list = { rows, COUNT(rows) };

const struct provider *provider_find(struct str name)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_equal(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static struct str names_of(struct arena *arena)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < COUNT(rows); i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(rows[i].name));
	return str_copy(arena, buf_str(&names));
}

/* Where the values of an endpoint stand in the options. */
struct source {
	struct str pointer; /* "" or "/fallback/1" */
	struct str provider, base_url;
	struct secret key;
	bool has_format;
	enum run_model_format format;
	struct arena *arena;
	struct problems *problems;
};

static bool complain(const struct source *source, const char *member, struct str text)
{
	problems_add(source->problems,
		     str_format(source->arena, STR_FMT "/%s", STR_ARG(source->pointer), member), 0,
		     0, STR_FMT, STR_ARG(text));
	return false;
}

static bool is_http(struct str url)
{
	return (str_starts(url, S("http://")) && url.size > 7) ||
	       (str_starts(url, S("https://")) && url.size > 8);
}

/* The variable belongs to a provider, which is not this one. */
static const struct provider *owner_of(struct str reference, const struct provider *provider)
{
	if (!str_starts(reference, S("env:")))
		return NULL;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (&rows[i] != provider && rows[i].variable.size > 0 &&
		    str_equal(rows[i].variable, str_skip(reference, 4)))
			return &rows[i];
	return NULL;
}

static bool read_url(const struct source *source, struct endpoint *out)
{
	const struct provider *provider = out->provider;
	struct str url = source->base_url.size > 0 ? source->base_url : provider->base_url;
	size_t at;
	if (source->base_url.size > 0 && !provider->custom &&
	    !str_equal(source->base_url, provider->base_url))
		return complain(source, "base_url",
				str_format(source->arena,
					   "the provider " STR_FMT
					   " has an address of its own; for another one use "
					   "the provider custom",
					   STR_ARG(provider->name)));
	if (url.size == 0)
		return complain(source, "base_url",
				str_format(source->arena,
					   "the provider " STR_FMT
					   " needs a base_url, such as http://127.0.0.1:8080/v1",
					   STR_ARG(provider->name)));
	if (!is_http(url) || str_find(url, S("?"), &at) || str_find(url, S("#"), &at) ||
	    str_find(url, S("@"), &at))
		return complain(source, "base_url",
				str_format(source->arena,
					   STR_FMT " is no base URL: expected http://HOST/… or "
						   "https://HOST/… without user, query and "
						   "fragment",
					   STR_ARG(url)));
	while (str_ends(url, S("/")))
		url.size--;
	out->url = str_format(source->arena, STR_FMT "%s", STR_ARG(url), out->wire->path);
	return true;
}

static bool read_key(const struct source *source, struct endpoint *out)
{
	const struct provider *provider = out->provider;
	out->key = source->key;
	if (out->key.reference.size == 0 && provider->variable.size > 0)
		out->key.reference =
			str_format(source->arena, "env:" STR_FMT, STR_ARG(provider->variable));
	const struct provider *owner = owner_of(out->key.reference, provider);
	if (owner != NULL)
		return complain(source, "api_key",
				str_format(source->arena,
					   "this key is sent to the provider " STR_FMT
					   " only; name another variable or a file",
					   STR_ARG(owner->name)));
	return true;
}

static bool read(const struct source *source, struct endpoint *out)
{
	out->provider = provider_find(source->provider);
	if (out->provider == NULL)
		return complain(
			source, "provider",
			str_format(source->arena,
				   "there is no provider " STR_FMT "; expected one of " STR_FMT,
				   STR_ARG(source->provider), STR_ARG(names_of(source->arena))));
	out->wire = wire_find(source->has_format ? source->format : out->provider->format);
	if (out->model.size == 0) {
		problems_add(source->problems, source->pointer, 0, 0,
			     "the driver api needs the name of a model, as the provider knows it");
		return false;
	}
	return read_url(source, out) && read_key(source, out);
}

bool provider_endpoint(const struct run_api_options *options, size_t number, struct str model,
		       struct arena *arena, struct endpoint *out_endpoint,
		       struct problems *problems)
{
	struct source source = { .provider = options->provider,
				 .base_url = has(options, base_url) ? options->base_url : S(""),
				 .has_format = has(options, format),
				 .arena = arena,
				 .problems = problems };
	struct endpoint endpoint = { .model = model };
	if (has(options, api_key))
		source.key = options->api_key;
	if (source.has_format)
		source.format = options->format;
	if (number > 0) {
		const struct run_model_fallback *other = &options->fallback.at[number - 1];
		bool same = !has(other, provider) || str_equal(other->provider, options->provider);
		source.pointer = str_format(arena, "/fallback/%zu", number - 1);
		endpoint.model = other->model;
		/* Another provider has its own address, format and key. */
		if (!same)
			source = (struct source){ .pointer = source.pointer,
						  .provider = other->provider,
						  .arena = arena,
						  .problems = problems };
		if (has(other, base_url))
			source.base_url = other->base_url;
		if (has(other, api_key))
			source.key = other->api_key;
		if (has(other, format)) {
			source.has_format = true;
			source.format = other->format;
		}
	}
	if (!read(&source, &endpoint))
		return false;
	*out_endpoint = endpoint;
	return true;
}
