/* llm/provider.h -- the providers of models: rows of providers.def, and what a turn's options make of
 * them.
 *
 * An endpoint says where a request goes and which key it carries.  The rules keep a key with the
 * provider that it belongs to: a provider's base URL cannot be changed, except that of `custom` and
 * `ollama`; and these never get a variable that is the key of another provider.
 */
#ifndef LLM_PROVIDER_H
#define LLM_PROVIDER_H

#include "contract/run_model_types.h"
#include "llm/wire.h"

struct provider {
	struct str name;
	struct str base_url; /* "" = must be given */
	enum run_model_format format;
	struct str variable; /* with its key; "" = none is needed */
	int64_t max_tokens;
	unsigned quirks;
	bool custom;
};

struct provider_list {
	const struct provider *at;
	size_t count;
};
extern const struct provider_list provider_list;       /* providers.def */
const struct provider *provider_find(struct str name); /* NULL = unknown */

struct endpoint {
	const struct provider *provider;
	const struct wire *wire;
	struct str model;
	struct str url;    /* of the requests */
	struct secret key; /* reference "" = none */
};

/* The endpoint of the options (number 0) or of their fallback number - 1.  Its texts are in the arena
 * or borrowed from the options.  Reports problems with pointers relative to the options. */
bool provider_endpoint(const struct run_api_options *options, size_t number, struct str model,
		       struct arena *arena, struct endpoint *out_endpoint,
		       struct problems *problems);

#endif
