/* tracker/trackers.c -- leads a request to a tracker from its first move to its result.
 *
 *	job: locate, next_move -> send -> answer -> job: read it, next_move -> send -> … -> done
 *
 * Answers are read on a reader thread, because they may be long, and so are files and tokens, because
 * the disk may be slow.  Every HTTP request uses a new connection if it changes something: libcurl would
 * repeat it by itself on a connection that turns out to be dead.
 */
#include "tracker/trackers.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/secret_mask.h"
#include "base/slots.h"
#include "net/http_client.h"
#include "net/retry_after.h"
#include "os/failpoint.h"
#include "os/loop.h"
#include "tracker/issue_name.h"
#include "tracker/tracker.h"

struct trackers {
	struct trackers_settings settings;
	struct http_client *http;
	struct slots calls;
};

/* A request under way. */
struct tracker_call {
	struct job job;
	struct trackers *trackers;
	uint64_t id;
	struct arena arena;
	const struct tracker *tracker;
	struct tracker_request request;
	struct tracker_exchange exchange;
	struct tracker_move move;
	bool located, ended;
	/* The HTTP request under way; 0 = none. */
	uint64_t http;
	bool answered; /* an answer waits to be read */
	struct buf body;
	bool too_long;
	struct http_header *headers; /* of the answer */
	size_t header_count;
	int64_t now_us; /* when the answer came */
	/* A change was sent.  If its answer is not clear, the tracker is asked whether it happened. */
	bool change_sent, verifying;
	struct error doubt;
	struct error stop; /* code NONE = not stopped */
	struct error error;
	int64_t retry_after_us;
	tracker_done *done;
	void *context;
	uint64_t argument;
};

static struct tracker_call *call_of(struct job *job)
{
	return (struct tracker_call *)(void *)((char *)job - offsetof(struct tracker_call, job));
}

#define TRACKER(name) extern const struct tracker tracker_##name;
#include "tracker/trackers.def"
#undef TRACKER

static const struct tracker *const trackers_all[] = {
#define TRACKER(name) &tracker_##name,
#include "tracker/trackers.def"
#undef TRACKER
};

const struct tracker *tracker_of(enum pipeline_profile_tracker tracker)
{
	struct str name = pipeline_profile_tracker_name(tracker);
	for (size_t i = 0; i < sizeof(trackers_all) / sizeof(trackers_all[0]); i++)
		if (str_equal(str_from_c(trackers_all[i]->name), name))
			return trackers_all[i];
	return NULL;
}

/* ---- on a reader thread ------------------------------------------------------------------- */

static bool locate(struct tracker_call *call, struct error *error)
{
	const struct trackers_settings *settings = &call->trackers->settings;
	struct tracker_exchange *exchange = &call->exchange;
	*exchange = (struct tracker_exchange){ .arena = &call->arena,
					       .request = &call->request,
					       .settings = &settings->trackers,
					       .variable = call->tracker->variable };
	exchange->subject = call->request.id;
	if (call->tracker->variable != NULL &&
	    !settings->token(settings->context, call->request.tracker, &call->arena,
			     &exchange->token, error)) {
		error_prefix(error, "the token (%s): ", call->tracker->variable);
		return false;
	}
	return call->tracker->locate(exchange, error);
}

static bool has_next_page(const struct tracker_call *call)
{
	size_t at;
	return str_find(net_header_value(call->headers, call->header_count, S("Link")),
			S("rel=\"next\""), &at) ||
	       net_header_value(call->headers, call->header_count, S("X-Next-Page")).size > 0;
}

static bool read_answer(struct tracker_call *call, struct error *error)
{
	struct tracker_exchange *exchange = &call->exchange;
	struct str body = buf_str(&call->body);
	call->answered = false;
	if (exchange->status >= 400 && exchange->status != call->move.accept) {
		const struct tracker_fault fault = { .tracker = call->tracker,
						     .has_token = exchange->token.size > 0,
						     .status = exchange->status,
						     .body = body,
						     .headers = call->headers,
						     .header_count = call->header_count,
						     .now_us = call->now_us };
		call->retry_after_us = tracker_fault_error(&fault, error);
		return false;
	}
	if (exchange->status >= 300 && exchange->status < 400)
		return fail(error, ERROR_FORBIDDEN,
			    "it redirects (status %d); set the tracker's URL to the new address",
			    exchange->status);
	exchange->has_next = has_next_page(call);
	exchange->reply = NULL;
	if (body.size > 0 &&
	    !json_read(str_copy(&call->arena, body), &call->arena, &exchange->reply, error)) {
		bool html = str_starts(str_trim(body), S("<"));
		return fail(
			error, ERROR_TOOL_FAILED,
			"the answer is %s instead of JSON (status %d); check that the tracker's "
			"URL is that of its API",
			html ? "an HTML page" : "not what it should be,", exchange->status);
	}
	return true;
}

/* Tracker, host and object in front of the error; the token nowhere. */
static void complete_error(struct tracker_call *call)
{
	const struct tracker_exchange *exchange = &call->exchange;
	struct str where = issue_name_host(exchange->url);
	if (where.size == 0)
		where = exchange->url;
	error_prefix(
		&call->error, "tracker %s%s" STR_FMT "%s" STR_FMT ": ", call->tracker->name,
		where.size > 0 ? " (" : "",
		STR_ARG(str_head(where, where.size < 120 ? where.size : 120)),
		where.size > 0 ? "), " : ", ",
		STR_ARG(str_head(exchange->subject,
				 exchange->subject.size < 120 ? exchange->subject.size : 120)));
}

static void step_run(struct job *job, unsigned thread)
{
	struct tracker_call *call = call_of(job);
	bool good = call->located || locate(call, &call->error);
	(void)thread;
	call->located = true;
	if (good && call->answered)
		good = read_answer(call, &call->error);
	if (good)
		good = call->tracker->next_move(&call->exchange, &call->move, &call->error);
	call->ended = !good || call->move.method == NULL;
	if (!good)
		complete_error(call);
	if (call->exchange.token.size == 0 || !call->ended)
		return;
	const struct secret_mask *mask =
		secret_mask_new((struct str_list){ &call->exchange.token, 1 }, &call->arena);
	if (good && call->move.output != NULL)
		call->move.output = secret_mask_json(mask, call->move.output, &call->arena);
	if (!good)
		secret_mask_error(mask, &call->error);
}

/* ---- the end ------------------------------------------------------------------------------ */

static void call_free(struct tracker_call *call)
{
	slots_remove(&call->trackers->calls, call->id);
	buf_done(&call->body);
	arena_done(&call->arena);
	free(call);
}

static void call_end(struct tracker_call *call, const struct json *output,
		     const struct error *error)
{
	struct tracker_result result = { .output = output, .retry_after_us = call->retry_after_us };
	if (error != NULL)
		result.error = *error;
	call->done(call->context, call->argument, &result);
	call_free(call);
}

static void call_end_unknown(struct tracker_call *call, const struct error *why)
{
	struct error error;
	fail(&error, ERROR_OUTCOME_UNKNOWN,
	     "the request was sent, but its outcome is unknown (%s): check whether it happened",
	     why->text);
	call_end(call, NULL, &error);
}

static void call_step(struct tracker_call *call);

/* A change was sent and its answer does not say whether it happened: the tracker is asked. */
static bool call_verify(struct tracker_call *call)
{
	bool comment = call->request.operation == TRACKER_COMMENT_ADD;
	bool pull = call->request.operation == TRACKER_PULL_OPEN;
	bool refused = call->exchange.status >= 400 && call->exchange.status < 500;
	if (!call->change_sent || call->verifying || refused || (!comment && !pull))
		return false;
	call->doubt = call->error;
	call->verifying = true;
	call->located = call->answered = false;
	call->request.operation = comment ? TRACKER_COMMENT_FIND : TRACKER_PULL_FIND;
	call->error = (struct error){ 0 };
	call_step(call);
	return true;
}

static void call_failed(struct tracker_call *call)
{
	if (call->stop.code != ERROR_NONE && !call->change_sent)
		call_end(call, NULL, &call->stop);
	else if (call->stop.code != ERROR_NONE)
		call_end_unknown(call, &call->stop);
	else if (call->verifying)
		call_end_unknown(call, &call->doubt);
	else if (!call_verify(call))
		call_end(call, NULL, &call->error);
}

/* ---- HTTP --------------------------------------------------------------------------------- */

static void request_sent(void *context, uint64_t id)
{
	struct trackers *trackers = context;
	struct tracker_call *call = slots_get(&trackers->calls, id);
	if (call != NULL && !str_equal(str_from_c(call->move.method), S("GET")))
		call->change_sent = true;
}

static void head_received(void *context, uint64_t id, const struct http_head *head)
{
	struct trackers *trackers = context;
	struct tracker_call *call = slots_get(&trackers->calls, id);
	if (call == NULL)
		return;
	call->exchange.status = head->status;
	call->headers = arena_array(&call->arena, struct http_header, head->header_count);
	call->header_count = head->header_count;
	for (size_t i = 0; i < head->header_count; i++) {
		call->headers[i].name = str_copy(&call->arena, head->headers[i].name);
		call->headers[i].value = str_copy(&call->arena, head->headers[i].value);
	}
}

static bool body_received(void *context, uint64_t id, struct str bytes)
{
	struct trackers *trackers = context;
	struct tracker_call *call = slots_get(&trackers->calls, id);
	if (call == NULL || call->too_long)
		return true;
	if (call->body.size + bytes.size <= LIMIT_TRACKER_REPLY_BYTES) {
		buf_add(&call->body, bytes);
		return true;
	}
	struct error enough;
	call->too_long = true;
	fail(&enough, ERROR_TOO_LARGE, "the answer has more than %d bytes",
	     LIMIT_TRACKER_REPLY_BYTES);
	http_call_stop(trackers->http, call->http, &enough);
	return true;
}

static void answer_done(void *context, uint64_t id, const struct error *error)
{
	struct trackers *trackers = context;
	struct tracker_call *call = slots_get(&trackers->calls, id);
	if (call == NULL)
		return;
	call->http = 0;
	if (call->change_sent)
		FAILPOINT("tracker.change_answered");
	call->now_us = platform_wall_us(loop_platform(trackers->settings.loop));
	if (error == NULL && call->stop.code == ERROR_NONE) {
		call->answered = true;
		call_step(call);
		return;
	}
	if (error != NULL) {
		call->error = *error;
		if (call->error.code == ERROR_IO) /* cannot connect, connection lost */
			call->error.code = ERROR_UNAVAILABLE;
		call->exchange.status = 0;
		complete_error(call);
	}
	call_failed(call);
}

static void call_send(struct tracker_call *call)
{
	struct trackers *trackers = call->trackers;
	const struct tracker_exchange *exchange = &call->exchange;
	struct http_header headers[TRACKER_HEADERS + 2];
	size_t count = 0;
	int64_t wait = trackers->settings.trackers.timeout_ms;
	for (size_t i = 0; i < exchange->header_count; i++)
		headers[count++] = exchange->headers[i];
	headers[count++] = (struct http_header){ S("User-Agent"), S("baton") };
	if (call->move.body != NULL)
		headers[count++] = (struct http_header){ S("Content-Type"), S("application/json") };
	const struct http_call spec = {
		.method = call->move.method,
		.url = str_format(&call->arena, STR_FMT STR_FMT, STR_ARG(exchange->url),
				  STR_ARG(call->move.path)),
		.headers = headers,
		.header_count = count,
		.body = call->move.body == NULL ? S("") : json_print(&call->arena, call->move.body),
		.timeouts = { .first_byte_ms = wait, .idle_ms = wait, .total_ms = wait },
		.fresh_connection = call->move.body != NULL,
		.same_origin = true,
		.before_send = request_sent,
		.head = head_received,
		.piece = body_received,
		.done = answer_done,
		.context = trackers,
		.argument = call->id,
	};
	buf_clear(&call->body);
	call->too_long = false;
	call->exchange.status = 0;
	if (http_call_start(trackers->http, &spec, &call->http, &call->error))
		return;
	call->http = 0;
	complete_error(call);
	call_failed(call);
}

/* ---- steps -------------------------------------------------------------------------------- */

static void step_done(struct job *job)
{
	struct tracker_call *call = call_of(job);
	bool good = call->error.code == ERROR_NONE;
	if (!good || call->stop.code != ERROR_NONE) {
		if (good && call->ended && call->move.output != NULL)
			call_end(call, call->move.output, NULL);
		else
			call_failed(call);
	} else if (!call->ended) {
		call_send(call);
	} else if (call->verifying && call->move.output == NULL) {
		call_end(call, NULL, &call->doubt); /* it has not happened */
	} else {
		call->retry_after_us = 0;
		call_end(call, call->move.output, NULL);
	}
}

static void call_step(struct tracker_call *call)
{
	call->job = (struct job){ .run = step_run, .done = step_done, .name = "tracker" };
	platform_submit(loop_platform(call->trackers->settings.loop), LANE_READER, &call->job);
}

uint64_t tracker_start(struct trackers *trackers, const struct tracker_request *request,
		       tracker_done *done, void *context, uint64_t argument)
{
	struct tracker_call *call = calloc(1, sizeof(*call));
	require(call != NULL);
	struct arena *arena = &call->arena;
	call->trackers = trackers;
	call->tracker = tracker_of(request->tracker);
	require(call->tracker != NULL);
	call->request = *request;
	call->request.repository = str_copy(arena, request->repository);
	call->request.project = str_copy(arena, request->project);
	call->request.id = str_copy(arena, request->id);
	call->request.search = str_copy(arena, request->search);
	call->request.text = str_copy(arena, request->text);
	call->request.marker = str_copy(arena, request->marker);
	call->request.title = str_copy(arena, request->title);
	call->request.head = str_copy(arena, request->head);
	call->request.base = str_copy(arena, request->base);
	call->done = done;
	call->context = context;
	call->argument = argument;
	call->id = slots_add(&trackers->calls, call);
	call_step(call);
	return call->id;
}

void tracker_stop(struct trackers *trackers, uint64_t id, const struct error *why)
{
	struct tracker_call *call = slots_get(&trackers->calls, id);
	if (call == NULL || call->stop.code != ERROR_NONE)
		return;
	call->stop = *why;
	if (call->http != 0)
		http_call_stop(trackers->http, call->http, why);
}

/* ---- the room ----------------------------------------------------------------------------- */

bool trackers_new(const struct trackers_settings *settings, struct trackers **out_trackers,
		  struct error *error)
{
	AUTO(arena) scratch = { 0 };
	struct str_list given = settings->private_addresses;
	struct address_range *ranges = arena_array(&scratch, struct address_range, given.count);
	for (size_t i = 0; i < given.count; i++)
		if (!address_range_read(given.at[i], &ranges[i], error)) {
			error_prefix(error, "tracker.private_addresses: ");
			return false;
		}
	struct trackers *trackers = calloc(1, sizeof(*trackers));
	require(trackers != NULL);
	const struct http_policy policy = { .ranges = ranges,
					    .range_count = given.count,
					    .setting = "tracker.private_addresses" };
	trackers->settings = *settings;
	trackers->http = http_client_new(settings->loop, &policy);
	*out_trackers = trackers;
	return true;
}

void trackers_free(struct trackers *trackers)
{
	uint32_t index = 0;
	uint64_t id;
	if (trackers == NULL)
		return;
	http_client_free(trackers->http);
	for (struct tracker_call *call; (call = slots_next(&trackers->calls, &index, &id)) != NULL;)
		call_free(call);
	slots_done(&trackers->calls);
	free(trackers);
}

void trackers_set_own_port(struct trackers *trackers, int port)
{
	http_client_set_own_port(trackers->http, port);
}
