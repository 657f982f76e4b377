/* api/adapters.c -- the execution engines that a start may name.
 *
 * A server executes definitions with one engine, `native`.  The two others are commands of their
 * own, because they change what a run is: `sim` invents the results of tools and models, `replay`
 * repeats recorded ones.  A start that names one of them is refused and told the command.
 */
#include "api/adapters.h"

#include "api/api_internal.h"
#include "base/limits.h"
#include "contract/run_server_types.h"
#include "contract/runtime_types.h"

static const struct adapter {
	struct str name, text;
	bool available;
	const char *instead; /* of one that is not available */
} adapters[] = {
	{ { "native", 6 },
	  { "Executes the definition durably in this server, with its tools and models.", 74 },
	  true,
	  NULL },
	{ { "sim", 3 },
	  { "Executes the definition with invented results; not in a server.", 63 },
	  false,
	  "a server does not simulate; give the agents of the definition the driver script" },
	{ { "replay", 6 },
	  { "Executes the definition with recorded replies of models; not in a server.", 73 },
	  false,
	  "a server replays recorded replies agent by agent; give the agents of the definition the "
	  "driver replay" },
};

bool api_adapter_accept(struct api_call *call, struct str name)
{
	struct str *available = arena_array(call->arena, struct str, COUNT(adapters));
	struct str quote = str_head(name, LIMIT_QUOTE_BYTES);
	const char *instead = NULL;
	size_t count = 0;
	for (size_t i = 0; i < COUNT(adapters); i++) {
		bool named = str_equal(adapters[i].name, name);
		if (named && adapters[i].available)
			return true;
		if (named)
			instead = adapters[i].instead;
		if (adapters[i].available)
			available[count++] = adapters[i].name;
	}
	struct error error;
	if (instead != NULL)
		fail(&error, ERROR_ADAPTER_NOT_FOUND,
		     "the adapter \"" STR_FMT "\" is not available: %s", STR_ARG(quote), instead);
	else
		fail(&error, ERROR_ADAPTER_NOT_FOUND,
		     "unknown adapter \"" STR_FMT "\"; expected native", STR_ARG(quote));
	SET(api_problem(call), adapter_name, quote);
	SET(api_problem(call), available_adapters, ((struct str_list){ available, count }));
	api_reply_error(call->api, call->exchange, &error, NULL);
	return false;
}

void api_adapter_list(struct api_call *call)
{
	struct runtime_adapter *items =
		arena_array(call->arena, struct runtime_adapter, COUNT(adapters));
	for (size_t i = 0; i < COUNT(adapters); i++) {
		SET(&items[i], name, adapters[i].name);
		SET(&items[i], description, adapters[i].text);
		SET(&items[i], available, adapters[i].available);
	}
	struct runtime_list_adapters_response *response =
		runtime_list_adapters_response_new(call->arena);
	SET(response, adapters, ((struct runtime_adapter_list){ items, COUNT(adapters) }));
	api_reply_json(call->api, call->exchange, 200,
		       runtime_list_adapters_response_text(response, call->arena));
}
