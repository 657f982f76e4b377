/* llm/api_request.c -- makes the requests of a turn. */
#include "llm/api_request.h"

#include "base/limits.h"

const struct run_api_options *api_options_read(const struct json *options, struct arena *arena,
					       struct problems *problems)
{
	return run_api_options_parse(&(struct contract_source){ .json = options }, arena, problems);
}

void api_request_blame(const struct api_requests *requests, const struct api_request *request,
		       struct error *error)
{
	struct str model = str_head(request->endpoint.model, LIMIT_QUOTE_BYTES);
	error_prefix(error,
		     STR_FMT " " STR_FMT ", turn %lld: ", STR_ARG(request->endpoint.provider->name),
		     STR_ARG(model), (long long)requests->turn);
}

static bool read_key(const struct models *models, struct api_request *request, struct arena *arena,
		     struct error *error)
{
	struct secret key = request->endpoint.key;
	if (key.reference.size == 0 ||
	    models->key(models->context, key, arena, &request->key, error))
		return true;
	error_prefix(error, "the API key is missing: ");
	error->code = ERROR_UNAUTHENTICATED;
	return false;
}

static bool write_body(const struct llm_call *call, const struct run_api_options *options,
		       struct api_request *request, struct arena *arena, struct error *error)
{
	const struct endpoint *endpoint = &request->endpoint;
	AUTO(buf) text = buf_limited(LIMIT_MODEL_REQUEST_BYTES);
	struct json_writer writer = { .out = &text };
	const struct wire_request wire_request = {
		.turn = call->turn,
		.model = endpoint->model,
		.max_tokens = has(call->turn, max_tokens) ? call->turn->max_tokens
							  : endpoint->provider->max_tokens,
		.stream = options->stream,
		.cache = options->cache,
		.effort = has(options, effort) ? run_model_effort_name(options->effort) : S(""),
		.thinking_tokens = has(options, thinking_tokens) ? options->thinking_tokens : 0,
		.quirks = endpoint->provider->quirks,
	};
	if (!endpoint->wire->request(&wire_request, &writer, error))
		return false;
	if (text.full)
		return fail(error, ERROR_TOO_LARGE, "the request is larger than %d bytes",
			    LIMIT_MODEL_REQUEST_BYTES);
	request->body = str_copy(arena, buf_str(&text));
	return true;
}

static const struct secret_mask *mask_of(const struct api_requests *requests, struct arena *arena)
{
	struct str *keys = arena_array(arena, struct str, requests->count);
	size_t count = 0;
	for (size_t i = 0; i < requests->count; i++)
		if (requests->at[i].key.size > 0)
			keys[count++] = requests->at[i].key;
	return count == 0 ? NULL : secret_mask_new((struct str_list){ keys, count }, arena);
}

static int64_t turn_of(const struct run_turn *turn)
{
	int64_t number = 1;
	for (size_t i = 0; i < turn->messages.count; i++)
		number += str_equal(turn->messages.at[i].role, S("assistant"));
	return number;
}

bool api_requests_make(const struct models *models, const struct llm_call *call,
		       struct arena *arena, struct api_requests *out_requests, struct error *error)
{
	struct problems problems = { .arena = arena };
	const struct json *given = json_copy(arena, call->turn->options);
	const struct run_api_options *options = api_options_read(given, arena, &problems);
	if (options == NULL)
		return problems_fail(&problems, error);
	size_t count = 1 + (has(options, fallback) ? options->fallback.count : 0);
	struct api_requests requests = { .at = arena_array(arena, struct api_request, count),
					 .count = count,
					 .options = options,
					 .turn = turn_of(call->turn) };
	struct str model = str_copy(arena, call->model);
	for (size_t i = 0; i < count; i++) {
		struct api_request *request = &requests.at[i];
		if (!provider_endpoint(options, i, model, arena, &request->endpoint, &problems))
			return problems_fail(&problems, error);
		if (!read_key(models, request, arena, error) ||
		    !write_body(call, options, request, arena, error)) {
			api_request_blame(&requests, request, error);
			return false;
		}
	}
	requests.mask = mask_of(&requests, arena);
	*out_requests = requests;
	return true;
}
