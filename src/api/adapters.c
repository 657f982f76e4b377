/* api/adapters.c -- the execution engines that a start may name.
 *
 * There is one engine; an adapter says what answers the tools, models and people of the run.  All of them make
 * a durable run like any other, so that everything that reads runs can read them (decision 0089).
 */
#include "api/adapters.h"

#include "api/api_internal.h"
#include "base/limits.h"
#include "contract/run_server_types.h"
#include "contract/run_start_types.h"
#include "contract/runtime_types.h"

static const struct adapter {
	struct str name, text;
} adapters[] = {
#define ADAPTER(name, text)                    \
	{                                      \
		{ name, sizeof(name) - 1 },    \
		{                              \
			text, sizeof(text) - 1 \
		}                              \
	}
	ADAPTER("native",
		"Executes the definition with the tools, models and people of this server."),
	ADAPTER("sim",
		"Executes the definition without the world: pure tools compute, other tools and models "
		"return a value that fits their contract, and questions are approved."),
	ADAPTER("replay",
		"Executes the definition with recorded replies of models; `replay` names the cassette."),
#undef ADAPTER
};

static bool is_known(struct str name)
{
	for (size_t i = 0; i < COUNT(adapters); i++)
		if (str_equal(adapters[i].name, name))
			return true;
	return false;
}

/* Fills the error and returns false. */
static bool refuse_unknown(struct api_call *call, struct str name, struct error *error)
{
	struct str *names = arena_array(call->arena, struct str, COUNT(adapters));
	struct str quote = str_head(name, LIMIT_QUOTE_BYTES);
	for (size_t i = 0; i < COUNT(adapters); i++)
		names[i] = adapters[i].name;
	SET(api_problem(call), adapter_name, quote);
	SET(api_problem(call), available_adapters, ((struct str_list){ names, COUNT(adapters) }));
	return fail(error, ERROR_ADAPTER_NOT_FOUND,
		    "unknown adapter \"" STR_FMT "\"; expected one of native, sim, replay",
		    STR_ARG(quote));
}

static bool choose(struct api_call *call, struct str name, struct run_start *start,
		   struct error *error)
{
	bool sim = str_equal(name, S("sim"));
	if (!is_known(name))
		return refuse_unknown(call, name, error);
	if (sim && (has(start, record) || has(start, replay)))
		return fail(error, ERROR_INVALID,
			    "the adapter sim asks no model: remove record and replay");
	if (str_equal(name, S("replay")) && !has(start, replay))
		return fail(error, ERROR_INVALID,
			    "the adapter replay needs `replay`, the name of a cassette; baton "
			    "record makes one");
	if (sim)
		SET(start, simulated, true);
	return true;
}

bool api_adapter_choose(struct api_call *call, struct str name, struct run_start *start)
{
	struct error error;
	bool chosen = choose(call, name, start, &error);
	if (!chosen)
		api_reply_error(call->api, call->exchange, &error, NULL);
	return chosen;
}

void api_adapter_list(struct api_call *call)
{
	struct runtime_adapter *items =
		arena_array(call->arena, struct runtime_adapter, COUNT(adapters));
	for (size_t i = 0; i < COUNT(adapters); i++) {
		SET(&items[i], name, adapters[i].name);
		SET(&items[i], description, adapters[i].text);
		SET(&items[i], available, true);
	}
	struct runtime_list_adapters_response *response =
		runtime_list_adapters_response_new(call->arena);
	SET(response, adapters, ((struct runtime_adapter_list){ items, COUNT(adapters) }));
	api_reply_json(call->api, call->exchange, 200,
		       runtime_list_adapters_response_text(response, call->arena));
}
