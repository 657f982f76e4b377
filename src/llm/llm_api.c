/* llm/llm_api.c -- the driver api: models over HTTP.
 *
 * A turn goes: make the requests, wait for a place (model_gate.h), send the first, feed the response
 * to its wire format, end.  If a model fails with an error that may pass, and no piece of its reply
 * was told, the next model of options.fallback is asked in the same turn.  A response that was cut
 * is never a reply, see wire.h.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "llm/api_request.h"
#include "llm/cassette.h"
#include "llm/llm_calls.h"
#include "llm/model_fault.h"
#include "net/http_client.h"

struct api_turn {
	struct llm_running running; /* first */
	struct api_requests requests;
	size_t number;       /* of the request that is asked */
	struct str prefix;   /* of made-up ids of calls */
	struct hash content; /* of the request, for its cassette */
	struct model_ticket ticket;
	uint64_t call;  /* the HTTP client's id; 0 = none */
	uint64_t timer; /* gives up a response that does not end */
	int status;
	struct buf refusal; /* the body of a response that is no reply */
	struct wire_reply reply;
	struct error failure; /* found while the response came */
	int64_t retry_after_us;
	bool told; /* a piece was told */
	/* The end of a part that could be the beginning of the key, which nobody may see. */
	struct buf held[LLM_PART_CALL + 1];
};

static void held_done(struct api_turn *turn)
{
	for (size_t i = 0; i < COUNT(turn->held); i++)
		buf_done(&turn->held[i]);
}

static struct api_request *request_of(const struct api_turn *turn)
{
	return &turn->requests.at[turn->number];
}

static struct api_turn *turn_find(void *host, uint64_t id)
{
	return (struct api_turn *)llm_calls_find(host, id);
}

static struct http_client *http_of(const struct api_turn *turn)
{
	return turn->running.host->models->http;
}

static void release(struct llm_running *running)
{
	struct api_turn *turn = (struct api_turn *)running;
	wire_reply_done(&turn->reply);
	buf_done(&turn->refusal);
	held_done(turn);
}

/* ---- the end ------------------------------------------------------------------------- */

static void ask(void *host, uint64_t id);

static bool was_stopped(const struct api_turn *turn)
{
	return turn->running.stop_error.code != ERROR_NONE;
}

static enum model_outcome outcome_of(const struct api_turn *turn, enum error_code code)
{
	if (was_stopped(turn))
		return MODEL_UNASKED;
	bool failed =
		code == ERROR_UNAVAILABLE || code == ERROR_OVERLOADED || code == ERROR_TIMEOUT;
	return failed ? MODEL_FAILED : MODEL_ANSWERED;
}

/* What a person can do about it. */
static const char *advice_for(enum error_code code, int status)
{
	if (code == ERROR_UNAUTHENTICATED)
		return "; check the key in ";
	if (status == 404)
		return "; check the name of the model and the base URL";
	if (status >= 300 && status < 400)
		return "; correct the base URL, redirects are not followed";
	return "";
}

static void add_advice(const struct api_turn *turn, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const char *advice = advice_for(error->code, turn->status);
	struct str key = error->code == ERROR_UNAUTHENTICATED
				 ? request_of(turn)->endpoint.key.reference
				 : S("");
	struct str text = str_copy(&arena, str_from_c(error->text));
	if (error->code != ERROR_UNAUTHENTICATED || key.size > 0)
		error_fill(error, error->code, STR_FMT "%s" STR_FMT, STR_ARG(text), advice,
			   STR_ARG(key));
}

/* Asks the next model, if there is one and it can help. */
static bool fall_back(struct api_turn *turn, enum error_code code)
{
	if (was_stopped(turn) || turn->told || !model_fault_is_transient(code) ||
	    turn->number + 1 >= turn->requests.count)
		return false;
	turn->number++;
	turn->status = 0;
	turn->retry_after_us = 0;
	turn->failure = (struct error){ 0 };
	wire_reply_done(&turn->reply);
	buf_done(&turn->refusal);
	held_done(turn);
	platform_timer_start(turn->running.host->platform, 0, ask, turn->running.host,
			     turn->running.id);
	return true;
}

static void turn_fail(struct api_turn *turn, const struct error *why, enum model_outcome outcome)
{
	struct llm_result result = { .error = *why, .retry_after_us = turn->retry_after_us };
	model_gate_leave(turn->running.host->models->gates, &turn->ticket, outcome);
	if (fall_back(turn, why->code))
		return;
	add_advice(turn, &result.error);
	api_request_blame(&turn->requests, request_of(turn), &result.error);
	if (turn->requests.mask != NULL)
		secret_mask_error(turn->requests.mask, &result.error);
	if (turn->reply.wire != NULL && turn->reply.counted)
		result.usage = &turn->reply.usage;
	llm_calls_done(&turn->running, &result);
}

static void recorded(struct job *at)
{
	struct cassette_job *job = (struct cassette_job *)at;
	struct api_turn *turn = turn_find(job->host, job->running);
	if (turn != NULL) {
		struct llm_result result = { 0 };
		struct error error = job->error;
		bool good = error.code == ERROR_NONE &&
			    wire_reply_end(&turn->reply, turn->prefix, &result, &error);
		if (!good)
			result = (struct llm_result){ .error = error };
		llm_calls_done(&turn->running, &result);
	}
	cassette_job_free(job);
}

static void record(struct api_turn *turn, const struct llm_result *result)
{
	struct cassette_job *job = calloc(1, sizeof(*job));
	require(job != NULL);
	job->job.done = recorded;
	job->host = turn->running.host;
	job->running = turn->running.id;
	job->folder = job->host->models->folder;
	job->name = str_copy(&job->arena, turn->requests.options->record);
	job->request = turn->content;
	job->text = cassette_text(&turn->content, turn->requests.at[0].endpoint.model, result,
				  &job->arena);
	cassette_write(job);
}

/* A provider that sends the key back is not to be trusted with what it says. */
static bool has_key(const struct api_turn *turn, const struct llm_result *result)
{
	size_t at;
	/* Decoded: a key can be hidden by escapes in arguments, in JSON and in calls of the text. */
	AUTO(arena) arena = { 0 };
	struct str decoded = json_print(&arena, llm_output(result, true, &arena));
	for (size_t i = 0; i < turn->requests.count; i++) {
		struct str key = turn->requests.at[i].key;
		if (key.size >= LIMIT_SECRET_LEAST_BYTES &&
		    (str_find(result->text, key, &at) || str_find(decoded, key, &at)))
			return true;
		for (size_t k = 0; k < turn->reply.block_count && key.size > 0; k++)
			if (str_find(buf_str(&turn->reply.blocks[k].text), key, &at))
				return true;
	}
	return false;
}

/* Tells what cannot be the beginning of a key; at the end, everything. */
static void tell_held(struct api_turn *turn, enum llm_part part, bool last)
{
	struct buf *held = &turn->held[part];
	AUTO(buf) out = { 0 };
	if (held->size == 0)
		return;
	if (turn->requests.mask == NULL) {
		llm_calls_piece(&turn->running, part, buf_str(held));
		buf_clear(held);
		return;
	}
	size_t used = secret_mask_stream(turn->requests.mask, buf_str(held), last, &out);
	llm_calls_piece(&turn->running, part, buf_str(&out));
	buf_drop_front(held, used);
}

static void turn_succeed(struct api_turn *turn, const struct llm_result *result)
{
	struct error error;
	if (has_key(turn, result)) {
		fail(&error, ERROR_INVALID, "the reply contains the API key, so it is dropped");
		turn_fail(turn, &error, MODEL_ANSWERED);
		return;
	}
	for (size_t i = 0; i < COUNT(turn->held); i++)
		tell_held(turn, (enum llm_part)i, true);
	model_gate_leave(turn->running.host->models->gates, &turn->ticket, MODEL_ANSWERED);
	if (has(turn->requests.options, record))
		record(turn, result);
	else
		llm_calls_done(&turn->running, result);
}

/* ---- the response -------------------------------------------------------------------- */

/* An error of the HTTP client in the words of a turn. */
static struct error fault_of_client(const struct error *error)
{
	struct error fault = *error;
	if (error->code == ERROR_IO || error->code == ERROR_UNAVAILABLE)
		fault.code = ERROR_UNAVAILABLE;
	else if (error->code == ERROR_TOO_LARGE)
		fault.code = ERROR_INVALID;
	return fault;
}

static void response_ended(void *context, uint64_t id, const struct error *error)
{
	struct api_turn *turn = turn_find(context, id);
	struct llm_result result;
	struct error why = { 0 };
	if (turn == NULL)
		return;
	turn->call = 0;
	if (turn->timer != 0)
		platform_timer_stop(turn->running.host->platform, turn->timer);
	turn->timer = 0;
	bool ended = turn->reply.wire != NULL && turn->reply.ended;
	if (turn->failure.code != ERROR_NONE)
		why = turn->failure;
	else if (turn->status != 0 && turn->status != 200)
		model_fault_of_response(turn->status, buf_str(&turn->refusal), &why);
	else if (error != NULL && !ended)
		why = fault_of_client(error);
	else if (turn->reply.wire == NULL)
		fail(&why, ERROR_UNAVAILABLE, "the response has no head");
	else if (wire_reply_end(&turn->reply, turn->prefix, &result, &why)) {
		turn_succeed(turn, &result);
		return;
	}
	turn_fail(turn, &why, outcome_of(turn, why.code));
}

/* The rest of the response is not wanted. */
static void give_up(struct api_turn *turn)
{
	struct error why;
	fail(&why, ERROR_CANCELLED, "the rest of the response is not needed");
	if (turn->call != 0)
		http_call_stop(http_of(turn), turn->call, &why);
}

static void grace_over(void *context, uint64_t id)
{
	struct api_turn *turn = turn_find(context, id);
	if (turn == NULL)
		return;
	turn->timer = 0;
	give_up(turn);
}

static void piece_told(void *context, enum llm_part part, struct str delta)
{
	struct api_turn *turn = context;
	turn->told = turn->told || turn->running.piece != NULL;
	if (turn->running.piece == NULL)
		return;
	buf_add(&turn->held[part], delta);
	tell_held(turn, part, part == LLM_PART_CALL); /* the name of a tool comes as a whole */
}

static struct str header_of(const struct http_head *head, struct str name)
{
	for (size_t i = 0; i < head->header_count; i++)
		if (str_equal_folded(head->headers[i].name, name))
			return head->headers[i].value;
	return S("");
}

static void head_arrived(void *context, uint64_t id, const struct http_head *head)
{
	struct api_turn *turn = turn_find(context, id);
	if (turn == NULL)
		return;
	struct str type = header_of(head, S("Content-Type"));
	size_t at;
	turn->status = head->status;
	turn->refusal = buf_limited(LIMIT_MODEL_FAULT_BYTES);
	if (head->status != 200) {
		turn->retry_after_us =
			model_fault_retry_after(head->headers, head->header_count,
						platform_wall_us(turn->running.host->platform));
		return;
	}
	bool streams = str_find(type, S("text/event-stream"), &at);
	if (!streams && !str_find(type, S("json"), &at)) {
		fail(&turn->failure, ERROR_INVALID,
		     "the answer is no reply of a model: its content type is \"" STR_FMT
		     "\"; check the base URL",
		     STR_ARG(str_head(type, LIMIT_QUOTE_BYTES)));
		give_up(turn);
		return;
	}
	wire_reply_init(&turn->reply, request_of(turn)->endpoint.wire, streams, piece_told, turn);
}

static bool bytes_arrived(void *context, uint64_t id, struct str bytes)
{
	struct api_turn *turn = turn_find(context, id);
	if (turn == NULL || turn->failure.code != ERROR_NONE || was_stopped(turn))
		return true;
	if (turn->reply.wire == NULL) {
		size_t room = LIMIT_MODEL_FAULT_BYTES - turn->refusal.size;
		buf_add(&turn->refusal, str_head(bytes, room));
		if (bytes.size >= room)
			give_up(turn);
		return true;
	}
	wire_reply_feed(&turn->reply, bytes);
	if (turn->reply.error.code != ERROR_NONE) {
		turn->failure = turn->reply.error;
		give_up(turn);
	} else if (turn->reply.ended && turn->timer == 0)
		turn->timer = platform_timer_start(turn->running.host->platform,
						   (int64_t)LIMIT_MODEL_GRACE_MS * 1000, grace_over,
						   context, id);
	return true;
}

/* ---- asking -------------------------------------------------------------------------- */

static bool send_request(struct api_turn *turn, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct api_request *request = request_of(turn);
	const struct run_api_options *options = turn->requests.options;
	int64_t timeout_ms = (int64_t)(options->timeout_seconds * 1e3);
	bool anthropic = request->endpoint.wire == &wire_anthropic;
	struct http_header headers[4] = {
		{ S("Content-Type"), S("application/json") },
		{ S("Accept"), options->stream ? S("text/event-stream, application/json")
					       : S("application/json") },
	};
	size_t count = 2;
	if (anthropic)
		headers[count++] = (struct http_header){ S("anthropic-version"), S("2023-06-01") };
	if (request->key.size > 0 && anthropic)
		headers[count++] = (struct http_header){ S("x-api-key"), request->key };
	else if (request->key.size > 0)
		headers[count++] = (struct http_header){ S("Authorization"),
							 str_format(&arena, "Bearer " STR_FMT,
								    STR_ARG(request->key)) };
	const struct http_call call = { .method = "POST",
					.url = request->endpoint.url,
					.headers = headers,
					.header_count = count,
					.body = request->body,
					.timeouts = { .first_byte_ms = timeout_ms,
						      .idle_ms = timeout_ms,
						      .total_ms = LIMIT_MODEL_TOTAL_MS },
					.head = head_arrived,
					.piece = bytes_arrived,
					.done = response_ended,
					.context = turn->running.host,
					.argument = turn->running.id };
	return http_call_start(http_of(turn), &call, &turn->call, error);
}

/* The turn has its place. */
static void proceed(void *host, uint64_t id)
{
	struct api_turn *turn = turn_find(host, id);
	struct error error;
	if (turn == NULL)
		return;
	if (was_stopped(turn)) {
		turn_fail(turn, &turn->running.stop_error, MODEL_UNASKED);
		return;
	}
	if (!model_gate_pass(turn->running.host->models->gates, &turn->ticket,
			     &turn->retry_after_us)) {
		fail(&error, ERROR_UNAVAILABLE,
		     "the model failed %d times in a row and is not asked for another %lld seconds",
		     LIMIT_BREAKER_FAILURES, (long long)(turn->retry_after_us / 1000000 + 1));
		turn_fail(turn, &error, MODEL_UNASKED);
		return;
	}
	if (!send_request(turn, &error))
		turn_fail(turn, &error, MODEL_UNASKED);
}

static void ask(void *host, uint64_t id)
{
	struct api_turn *turn = turn_find(host, id);
	if (turn == NULL)
		return;
	const struct endpoint *endpoint = &request_of(turn)->endpoint;
	turn->ticket = (struct model_ticket){ .entered = proceed, .context = host, .argument = id };
	if (was_stopped(turn) || model_gate_enter(turn->running.host->models->gates, &turn->ticket,
						  endpoint->url, endpoint->model))
		proceed(host, id);
}

/* A turn that has not begun to ask finds out by itself. */
static void end(struct llm_running *running)
{
	struct api_turn *turn = (struct api_turn *)running;
	if (turn->call != 0)
		http_call_stop(http_of(turn), turn->call, &running->stop_error);
	else if (turn->ticket.waits) {
		model_gate_leave(running->host->models->gates, &turn->ticket, MODEL_UNASKED);
		platform_timer_start(running->host->platform, 0, proceed, running->host,
				     running->id);
	}
}

static bool start(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
		  struct error *error)
{
	if (host->models == NULL)
		return fail(error, ERROR_INTERNAL, "this program cannot ask models");
	struct api_turn *turn = calloc(1, sizeof(*turn));
	require(turn != NULL);
	struct arena *arena = &turn->running.arena;
	turn->running.end = end;
	turn->running.release = release;
	char effect[UUID_TEXT_SIZE];
	if (!api_requests_make(host->models, call, arena, &turn->requests, error) ||
	    !llm_calls_begin(&turn->running, host, call, error)) {
		arena_done(arena);
		free(turn);
		return false;
	}
	turn->prefix = str_format(arena, "call_" STR_FMT,
				  STR_ARG(str_head(uuid_text(&call->effect, effect), 8)));
	if (has(turn->requests.options, record))
		turn->content = cassette_request(call->model, call->turn);
	platform_timer_start(host->platform, 0, ask, host, turn->running.id);
	*out_running = turn->running.id;
	return true;
}

static void check(struct str model, const struct json *options, struct arena *arena,
		  struct problems *problems)
{
	const struct run_api_options *read = api_options_read(options, arena, problems);
	size_t count = read == NULL ? 0 : has(read, fallback) ? read->fallback.count : 0;
	for (size_t i = 0; read != NULL && i <= count; i++) {
		struct endpoint endpoint;
		(void)!provider_endpoint(read, i, model, arena, &endpoint, problems);
	}
}

const struct llm_driver llm_api = {
	.name = "api",
	.text = "Models over HTTP: OpenAI, Anthropic, DeepSeek and others, with streaming.",
	.check = check,
	.start = start,
	.stop = llm_calls_stop,
};
