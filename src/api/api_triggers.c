/* api/api_triggers.c -- triggers: list, create, replace, delete, and the requests that fire them.
 *
 * A request to a trigger has no API key: its signature authenticates it.  Signature, condition and
 * templates are evaluated on a reader thread.  The run's id and the idempotency key are derived from
 * the trigger and from what the request is known by, so of two identical requests one starts the run
 * and the other is refused, also when they arrive at the same time and across restarts.
 */
#include <stdlib.h>

#include "active/executor_command.h"
#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api_documents.h"
#include "api/read_job.h"
#include "contract/run_start_types.h"
#include "contract/run_trigger_types.h"
#include "document/stored_document.h"
#include "notify/trigger_rule.h"
#include "notify/webhooks.h"

static const struct api_documents_answer answer = { DOCUMENT_TRIGGER, { "/api/triggers/", 14 } };

/* ---- documents --------------------------------------------------------------------- */

struct trigger_list {
	struct api_read_job answer; /* first */
	struct str after;
	int64_t limit;
};

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct trigger_list *r = (struct trigger_list *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_TRIGGER), r->after,
					 (size_t)r->limit, arena, &page, &r->answer.error))
		return;
	struct run_trigger *items = arena_array(arena, struct run_trigger, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct run_trigger *trigger = document_read_stored(
			DOCUMENT_TRIGGER, page.at[i].body, arena, &r->answer.error);
		if (trigger == NULL)
			return;
		items[i] = *trigger;
	}
	struct run_trigger_page *page_answer = run_trigger_page_new(arena);
	SET(page_answer, items, ((struct run_trigger_list){ items, page.count }));
	if (page.count == (size_t)r->limit)
		SET(page_answer, cursor, page.at[page.count - 1].name);
	r->answer.text = run_trigger_page_text(page_answer, arena);
}

void api_trigger_list(struct api_call *call)
{
	struct trigger_list *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->after = str_copy(&r->answer.read.arena, api_query(call, S("cursor")));
	if (api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &r->limit, &r->answer.error))
		api_read_job_begin(&r->answer, list_work);
	else
		api_read_job_end(&r->answer);
}

void api_trigger_read(struct api_call *call)
{
	api_documents_send(call, &answer, api_name(call, S("name")));
}

static void set(struct api_call *call, const struct run_trigger *body, struct str name,
		int64_t revision)
{
	struct problems problems = { .arena = call->arena };
	struct error error;
	trigger_rule_check(body, &problems);
	if (!problems_fail(&problems, &error))
		api_reply_error(call->api, call->exchange, &error, &problems);
	else
		api_documents_change(call, &answer, name, revision,
				     run_trigger_text(body, call->arena));
}

void api_trigger_create(struct api_call *call, const struct run_trigger *body)
{
	set(call, body, body->name, DOCUMENTS_NEW);
}

void api_trigger_replace(struct api_call *call, const struct run_trigger *body)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		set(call, body, api_name(call, S("name")), revision);
}

void api_trigger_delete(struct api_call *call)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		api_documents_change(call, &answer, api_name(call, S("name")), revision, S(""));
}

/* ---- a request --------------------------------------------------------------------- */

struct firing {
	struct executor_read read; /* first; its arena owns the rest */
	struct api *api;
	uint64_t exchange;
	struct str name, request_id;
	struct trigger_request request;
	/* found: */
	const struct run_trigger *trigger;
	enum trigger_verdict verdict;
	struct str delivery, known_by;
	struct trigger_action action;
	struct error error;
};

static void firing_free(struct firing *f)
{
	arena_done(&f->read.arena);
	free(f);
}

static void count(struct firing *f, const struct error *error)
{
	struct trigger_counts *counts = &f->api->triggers;
	if (f->verdict == TRIGGER_FORGED)
		counts->forged++;
	else if (f->verdict == TRIGGER_STALE)
		counts->stale++;
	else if (error == NULL && f->action.matched)
		counts->accepted++;
	else if (error == NULL)
		counts->ignored++;
}

static void refuse(struct firing *f, const struct error *error, const struct problems *problems)
{
	count(f, error);
	api_reply_error(f->api, f->exchange, error, problems);
	firing_free(f);
}

static bool read_key(struct firing *f, struct arena *arena, struct str *out_key)
{
	if (webhooks_read_secret(f->api->settings.webhooks, f->trigger->secret, arena, out_key,
				 &f->error))
		return true;
	error_prefix(&f->error, "the secret of the trigger: ");
	f->error.code = ERROR_SECRET_UNAVAILABLE;
	return false;
}

static void fire_work(struct executor_read *read, struct store_reader *reader)
{
	struct firing *f = (struct firing *)read;
	struct arena *arena = &read->arena;
	const void *stored;
	struct str key;
	f->verdict = TRIGGER_GENUINE;
	if (!stored_document_read(reader, DOCUMENT_TRIGGER, f->name, arena, &stored, NULL,
				  &f->error))
		return;
	f->trigger = stored;
	/* Strangers do not learn which triggers exist. */
	if (stored == NULL) {
		f->verdict = TRIGGER_FORGED;
		fail(&f->error, ERROR_UNAUTHENTICATED, "the signature does not fit");
		return;
	}
	if (!read_key(f, arena, &key))
		return;
	f->verdict = trigger_signature_check(f->trigger->source, key, &f->request, arena,
					     &f->known_by, &f->delivery, &f->error);
	if (f->verdict != TRIGGER_GENUINE)
		return;
	if (!f->trigger->enabled)
		fail(&f->error, ERROR_FORBIDDEN, "the trigger is disabled");
	else if (!trigger_rule_apply(f->trigger, &f->request, reader, arena, &f->action, &f->error))
		return;
}

static void fired(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct firing *f = context;
	struct arena *arena = &f->read.arena;
	const struct error *error = reply->error;
	struct error replay;
	(void)argument;
	bool known = reply->repeated ||
		     (error != NULL && error->code == ERROR_CONFLICT && has(f->trigger, workflow));
	if (known) {
		f->api->triggers.replayed++;
		fail(&replay, ERROR_CONFLICT, "the delivery " STR_FMT " was accepted before",
		     STR_ARG(f->delivery));
		refuse(f, &replay, NULL);
		return;
	}
	if (error != NULL) {
		refuse(f, error, reply->problems);
		return;
	}
	struct run_trigger_receipt *receipt = run_trigger_receipt_new(arena);
	SET(receipt, delivery, f->delivery);
	SET(receipt, matched, true);
	SET(receipt, run_id, has(f->trigger, workflow) ? reply->run : f->action.run);
	count(f, NULL);
	api_set_subject(f->api, f->exchange, &receipt->run_id);
	api_reply_json(f->api, f->exchange, 202, run_trigger_receipt_text(receipt, arena));
	firing_free(f);
}

/* One request of a trigger has one key, in whatever order and from whatever connection it comes. */
static struct idempotency_key key_of(const struct firing *f, struct arena *arena)
{
	const struct str parts[] = { S("trigger"), f->name, f->known_by };
	struct uuid id = uuid_derive(parts, COUNT(parts));
	char text[UUID_TEXT_SIZE];
	struct str words = uuid_text(&id, text);
	return (struct idempotency_key){ .key = str_format(arena, "trigger " STR_FMT,
							   STR_ARG(words)),
					 .said = hash_of(f->request.body) };
}

static void start(struct firing *f)
{
	struct arena *arena = &f->read.arena;
	const struct str parts[] = { S("trigger run"), f->name, f->known_by };
	struct run_start *kept = run_start_new(arena);
	SET(kept, by, str_format(arena, "trigger " STR_FMT, STR_ARG(f->name)));
	if (f->action.labels.count > 0)
		SET(kept, labels, f->action.labels);
	if (has(f->trigger, profile))
		SET(kept, profile, f->trigger->profile);
	const struct executor_start spec = { .workflow = f->trigger->workflow,
					     .yaml = S(""),
					     .inputs = { .json = f->action.inputs },
					     .run = uuid_derive(parts, COUNT(parts)),
					     .key = key_of(f, arena),
					     .request_id = f->request_id,
					     .start = kept };
	executor_start(f->api->settings.executor, &spec, fired, f, 0);
}

static void signal_run(struct firing *f)
{
	struct arena *arena = &f->read.arena;
	const struct executor_command command = { .kind = COMMAND_SIGNAL,
						  .run = f->action.run,
						  .by = str_format(arena, "trigger " STR_FMT,
								   STR_ARG(f->name)),
						  .reason = S(""),
						  .name = f->trigger->signal,
						  .data = { .json = f->action.data },
						  .key = key_of(f, arena),
						  .request_id = f->request_id };
	executor_command(f->api->settings.executor, &command, fired, f, 0);
}

static void fire_done(struct executor_read *read)
{
	struct firing *f = (struct firing *)read;
	struct arena *arena = &read->arena;
	if (f->error.code != ERROR_NONE) {
		refuse(f, &f->error, NULL);
		return;
	}
	if (f->action.matched) {
		if (has(f->trigger, workflow))
			start(f);
		else
			signal_run(f);
		return;
	}
	struct run_trigger_receipt *receipt = run_trigger_receipt_new(arena);
	SET(receipt, delivery, f->delivery);
	SET(receipt, matched, false);
	count(f, NULL);
	api_reply_json(f->api, f->exchange, 200, run_trigger_receipt_text(receipt, arena));
	firing_free(f);
}

/* ---- limits ------------------------------------------------------------------------ */

enum { WINDOW_US = 60000000 };

static bool is_within_rate(struct api_call *call, struct error *error)
{
	struct trigger_counts *counts = &call->api->triggers;
	int64_t now = platform_mono_us(loop_platform(call->api->settings.loop));
	if (counts->window_began == 0 || now - counts->window_began >= WINDOW_US) {
		counts->window_began = now;
		counts->in_window = 0;
	}
	if (++counts->in_window <= LIMIT_TRIGGER_REQUESTS)
		return true;
	limit_hit(REJECTION_TRIGGER_REQUESTS);
	call->retry_after = (int)((counts->window_began + WINDOW_US - now) / 1000000 + 1);
	return fail(error, ERROR_RATE_LIMITED, "more than %d requests to triggers in one minute",
		    LIMIT_TRIGGER_REQUESTS);
}

static bool check_body(const struct api_call *call, struct error *error)
{
	struct str type = http_header(call->request, S("Content-Type")), media;
	if (call->request->body.size > LIMIT_TRIGGER_BODY_BYTES) {
		limit_hit(REJECTION_TRIGGER_BODY_BYTES);
		return fail(error, ERROR_TOO_LARGE, "the body is longer than %d bytes",
			    LIMIT_TRIGGER_BODY_BYTES);
	}
	str_cut(&type, ';', &media);
	return str_equal_folded(str_trim(media), S("application/json")) ||
	       fail(error, ERROR_UNSUPPORTED_MEDIA,
		    "send the body as Content-Type: application/json");
}

void api_trigger_fire(struct api_call *call)
{
	struct error error;
	if (!is_within_rate(call, &error) || !check_body(call, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct firing *f = calloc(1, sizeof(*f));
	require(f != NULL);
	struct arena *arena = &f->read.arena;
	const struct http_request *request = call->request;
	struct http_header *headers = arena_array(arena, struct http_header, request->header_count);
	for (size_t i = 0; i < request->header_count; i++)
		headers[i] = (struct http_header){ str_copy(arena, request->headers[i].name),
						   str_copy(arena, request->headers[i].value) };
	f->api = call->api;
	f->exchange = call->exchange;
	f->name = str_copy(arena, api_name(call, S("name")));
	f->request_id = str_copy(arena, str_from_c(call->request_id));
	f->request = (struct trigger_request){
		.headers = headers,
		.header_count = request->header_count,
		.body = str_copy(arena, request->body),
		.now = platform_wall_us(loop_platform(call->api->settings.loop)),
	};
	f->read.work = fire_work;
	f->read.done = fire_done;
	executor_read(call->api->settings.executor, &f->read);
}
