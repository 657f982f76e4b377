/* api/api_webhooks.c -- webhooks: list, create, replace, delete, test.
 *
 * A response shows the webhook as it was given: secrets are references, and the position from which
 * it reports is not shown.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api_documents.h"
#include "contract/field_copy.h"
#include "contract/run_webhook_types.h"
#include "document/stored_document.h"
#include "notify/webhooks.h"

struct webhook_read {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct str name, had;
	struct str after; /* of a page: name of the last webhook before it */
	int64_t limit, revision;
	int status;
	bool deletes;
	struct str text;
	struct error error;
};

static struct webhook_read *read_new(struct api_call *call)
{
	struct webhook_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->name = str_copy(&r->read.arena, api_name(call, S("name")));
	r->had = S("");
	r->status = 200;
	return r;
}

static void read_free(struct webhook_read *r)
{
	arena_done(&r->read.arena);
	free(r);
}

static void refuse(struct webhook_read *r, const struct error *error,
		   const struct problems *problems)
{
	api_reply_error(r->api, r->exchange, error, problems);
	read_free(r);
}

static void submit(struct webhook_read *r,
		   void (*work)(struct executor_read *read, struct store_reader *reader),
		   void (*done)(struct executor_read *read))
{
	r->read.work = work;
	r->read.done = done;
	executor_read(r->api->settings.executor, &r->read);
}

/* ---- showing ----------------------------------------------------------------------- */

static const struct run_webhook *shown(const struct run_stored_webhook *stored, struct arena *arena)
{
	struct run_webhook *webhook = run_webhook_new(arena);
	COPY_FIELDS(run_stored_webhook, stored, run_webhook, webhook, NULL);
	return webhook;
}

static void one_work(struct executor_read *read, struct store_reader *reader)
{
	struct webhook_read *r = (struct webhook_read *)read;
	const void *stored;
	if (!stored_document_read(reader, DOCUMENT_WEBHOOK, r->name, &read->arena, &stored,
				  &r->revision, &r->error))
		return;
	if (stored == NULL)
		fail(&r->error, ERROR_NOT_FOUND, "there is no webhook called " STR_FMT,
		     STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)));
	else
		r->text = run_webhook_text(shown(stored, &read->arena), &read->arena);
}

static void one_done(struct executor_read *read)
{
	struct webhook_read *r = (struct webhook_read *)read;
	struct arena *arena = &read->arena;
	if (r->error.code != ERROR_NONE) {
		refuse(r, &r->error, NULL);
		return;
	}
	struct str etag = str_format(arena, "\"%lld\"", (long long)r->revision);
	struct str location = S("");
	if (r->status == 201)
		location = api_documents_location(S("/api/webhooks/"), r->name, arena);
	api_documents_reply(r->api, r->exchange, r->status, etag, location, r->had, r->text);
	read_free(r);
}

void api_webhook_read(struct api_call *call)
{
	struct webhook_read *r = read_new(call);
	r->had = str_copy(&r->read.arena, http_header(call->request, S("If-None-Match")));
	submit(r, one_work, one_done);
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct webhook_read *r = (struct webhook_read *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_WEBHOOK), r->after,
					 (size_t)r->limit, arena, &page, &r->error))
		return;
	struct run_webhook *items = arena_array(arena, struct run_webhook, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct run_stored_webhook *stored =
			document_read_stored(DOCUMENT_WEBHOOK, page.at[i].body, arena, &r->error);
		if (stored == NULL)
			return;
		items[i] = *shown(stored, arena);
	}
	struct run_webhook_page *answer = run_webhook_page_new(arena);
	SET(answer, items, ((struct run_webhook_list){ items, page.count }));
	if (page.count == (size_t)r->limit)
		SET(answer, cursor, page.at[page.count - 1].name);
	r->text = run_webhook_page_text(answer, arena);
}

static void list_done(struct executor_read *read)
{
	struct webhook_read *r = (struct webhook_read *)read;
	if (r->error.code != ERROR_NONE) {
		refuse(r, &r->error, NULL);
		return;
	}
	api_reply_json(r->api, r->exchange, 200, r->text);
	read_free(r);
}

void api_webhook_list(struct api_call *call)
{
	struct webhook_read *r = read_new(call);
	r->after = str_copy(&r->read.arena, api_query(call, S("cursor")));
	if (api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &r->limit, &r->error))
		submit(r, list_work, list_done);
	else
		refuse(r, &r->error, NULL);
}

/* ---- changing ---------------------------------------------------------------------- */

static void changed(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct webhook_read *r = context;
	(void)argument;
	if (reply->error != NULL) {
		refuse(r, reply->error, reply->problems);
		return;
	}
	if (r->deletes) {
		api_reply(r->api, r->exchange, 204, NULL, 0, S(""));
		read_free(r);
		return;
	}
	r->status = reply->created ? 201 : 200;
	submit(r, one_work, one_done);
}

static void change(struct api_call *call, const struct run_webhook *webhook, struct str name,
		   int64_t revision)
{
	struct webhook_read *r = read_new(call);
	r->name = str_copy(&r->read.arena, name);
	r->deletes = webhook == NULL;
	const struct documents_change requested = {
		.name = r->name, .revision = revision, .by = api_caller_name(call), .key = call->key
	};
	webhooks_change(call->api->settings.webhooks, webhook, &requested, changed, r, 0);
}

static void change_expected(struct api_call *call, const struct run_webhook *webhook)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		change(call, webhook, api_name(call, S("name")), revision);
}

void api_webhook_create(struct api_call *call, const struct run_webhook *body)
{
	change(call, body, body->name, DOCUMENTS_NEW);
}

void api_webhook_replace(struct api_call *call, const struct run_webhook *body)
{
	change_expected(call, body);
}

void api_webhook_delete(struct api_call *call)
{
	change_expected(call, NULL);
}

/* ---- testing ----------------------------------------------------------------------- */

static void tested(void *context, uint64_t exchange, const struct executor_reply *reply)
{
	struct api *api = context;
	AUTO(arena) arena = { 0 };
	if (reply->error != NULL) {
		api_reply_error(api, exchange, reply->error, reply->problems);
		return;
	}
	struct run_delivery_receipt *receipt = run_delivery_receipt_new(&arena);
	SET(receipt, id, reply->run);
	api_reply_json(api, exchange, 202, run_delivery_receipt_text(receipt, &arena));
}

void api_webhook_test(struct api_call *call)
{
	webhooks_test(call->api->settings.webhooks, api_name(call, S("name")),
		      api_caller_name(call), tested, call->api, call->exchange);
}
