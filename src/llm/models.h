/* llm/models.h -- what the drivers api and replay need of the program: HTTP, keys, gates, a folder.
 *
 * A program has one, in its struct llm_host.  Its HTTP client is apart from that of the tools: it has
 * other limits, and may reach the addresses that the setting models.private_addresses lists, because
 * models often run on the same machine.  On the loop thread only, except models_check_key().
 */
#ifndef LLM_MODELS_H
#define LLM_MODELS_H

#include "contract/contract.h"
#include "llm/model_gate.h"

struct loop;
struct http_client;

struct models_settings {
	struct loop *loop;
	const char *data_folder; /* with cassettes/ */
	struct str_list private_addresses;
	size_t concurrency; /* requests to one provider at once */
	/* Reads the secret; any thread.  The error never contains it. */
	bool (*key)(void *context, struct secret reference, struct arena *arena,
		    struct str *out_value, struct error *error);
	void *context;
};

struct models {
	struct http_client *http;
	struct model_gates *gates;
	const char *folder; /* of the cassettes */
	bool (*key)(void *context, struct secret reference, struct arena *arena,
		    struct str *out_value, struct error *error);
	void *context;
	struct arena arena;
};

MUST_CHECK bool models_new(const struct models_settings *settings, struct models **out_models,
			   struct error *error);
/* Ends every request; done() of a turn is not called. */
void models_free(struct models *models);
/* The server's own port, to which no request may go. */
void models_set_own_port(struct models *models, int port);

/* Whether every key that an agent with this driver, model and options needs can be read now: if not,
 * CONFIGURATION, naming the variable.  Any thread; `models` may be NULL. */
MUST_CHECK bool models_check_key(const struct models *models, struct str driver, struct str model,
				 const struct json *options, struct error *error);

#endif
