/* notify/webhook_follower.c -- follows the event stream and starts deliveries.
 *
 * A page of events is read on a reader thread, together with the webhooks as they are stored.  Every
 * delivery of the page is started; its id is derived from the webhook and the event, so a repeated
 * start is a conflict and harmless.  Only when all of them are committed does the position move, and
 * it is stored when a page had a delivery or many events have passed.  A crash in between repeats
 * starts and loses none.
 *
 * An event is one of the order of positions, which is the order of commits: nothing can appear behind
 * the position later.
 */
#include <stdlib.h>

#include "active/executor.h"
#include "active/executor_jobs.h"
#include "active/executor_services.h"
#include "active/notices.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/document_kind.h"
#include "contract/run_webhook_types.h"
#include "notify/webhook_payload.h"
#include "notify/webhooks_state.h"
#include "os/failpoint.h"

struct page_read {
	struct executor_read read; /* first; its arena owns what was found */
	struct webhooks *webhooks;
	struct str link_base;
	int64_t after; /* -1 = begin at the newest event */
	/* found: */
	struct webhook_start *starts;
	size_t start_count, start_room;
	int64_t last; /* position behind which the next page begins */
	bool more;
	struct error error;
	/* starting: */
	size_t next, open;
	bool again; /* a start was refused for the moment */
};

static void follow(struct webhooks *webhooks);

/* ---- on a reader thread ------------------------------------------------------------------ */

struct subscriptions {
	const struct run_stored_webhook **at;
	size_t count;
	int64_t since; /* the smallest of all */
};

static bool read_subscriptions(struct store_reader *reader, struct arena *arena,
			       struct subscriptions *out, struct error *error)
{
	struct store_document_page page;
	struct error unread;
	*out = (struct subscriptions){ .since = INT64_MAX };
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_WEBHOOK), S(""),
					 LIMIT_DOCUMENTS, arena, &page, error))
		return false;
	out->at = arena_array(arena, const struct run_stored_webhook *, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct run_stored_webhook *webhook =
			document_read_stored(DOCUMENT_WEBHOOK, page.at[i].body, arena, &unread);
		if (webhook == NULL || !webhook->enabled)
			continue;
		out->at[out->count++] = webhook;
		if (webhook->since < out->since)
			out->since = webhook->since;
	}
	return true;
}

static struct uuid delivery_id(struct str webhook, const struct store_event_row *row,
			       struct arena *arena)
{
	const struct str parts[] = { S("webhook"), webhook, uuid_str(&row->run),
				     str_format(arena, "%lld", (long long)row->seq) };
	return uuid_derive(parts, COUNT(parts));
}

static void add_start(struct page_read *r, const struct run_stored_webhook *webhook,
		      const struct store_event_row *row, const struct run_webhook_payload *payload)
{
	struct arena *arena = &r->read.arena;
	struct run_webhook_payload *own = arena_copy(arena, payload, sizeof(*payload));
	SET(own, id, delivery_id(webhook->name, row, arena));
	SET(own, webhook, webhook->name);
	r->starts[r->start_count++] = (struct webhook_start){
		.run = own->id,
		.webhook = webhook->name,
		.event = run_webhook_event_name(payload->event),
		.source = row->run,
		.max_retries = webhook->max_retries,
		.payload = run_webhook_payload_tree(own, arena),
	};
}

static bool add_event(struct page_read *r, struct store_reader *reader,
		      const struct subscriptions *subscriptions, const struct store_event_row *row,
		      struct webhook_source *source)
{
	if (uuid_is_zero(&row->run) || !webhook_payload_wants(row))
		return true;
	if (!uuid_equal(&source->id, &row->run) &&
	    !webhook_payload_source(reader, &row->run, &r->read.arena, source, &r->error))
		return false;
	const struct run_webhook_payload *payload =
		webhook_payload_make(row, source, r->link_base, &r->read.arena);
	for (size_t i = 0; payload != NULL && i < subscriptions->count; i++)
		if (row->position > subscriptions->at[i]->since &&
		    webhook_payload_matches(subscriptions->at[i], payload))
			add_start(r, subscriptions->at[i], row, payload);
	return true;
}

static void page_work(struct executor_read *read, struct store_reader *reader)
{
	struct page_read *r = (struct page_read *)read;
	struct arena *arena = &read->arena;
	struct subscriptions subscriptions;
	struct store_event_page page;
	struct webhook_source source = { .created = NULL };
	if (!read_subscriptions(reader, arena, &subscriptions, &r->error))
		return;
	if (subscriptions.count == 0) {
		r->last = reader->ops->newest_position(reader);
		return;
	}
	int64_t after = r->after > subscriptions.since ? r->after : subscriptions.since;
	/* Every event can start a delivery of every webhook. */
	size_t most = LIMIT_WEBHOOK_STARTS / subscriptions.count;
	most = most < 1 ? 1 : most < LIMIT_WEBHOOK_PAGE_EVENTS ? most : LIMIT_WEBHOOK_PAGE_EVENTS;
	if (!reader->ops->read_all(reader, after, most, arena, &page, &r->error))
		return;
	r->starts = arena_array(arena, struct webhook_start, page.count * subscriptions.count);
	for (size_t i = 0; i < page.count; i++)
		if (!add_event(r, reader, &subscriptions, &page.at[i], &source))
			return;
	r->last = page.count > 0 ? page.at[page.count - 1].position : after;
	r->more = page.count == most;
}

/* ---- on the loop ------------------------------------------------------------------------- */

static bool may_work(const struct webhooks *webhooks)
{
	return webhooks->open && !executor_is_draining(webhooks->settings.executor) &&
	       !executor_has_failed(webhooks->settings.executor);
}

static void page_free(struct page_read *r)
{
	arena_done(&r->read.arena);
	free(r);
}

static void try_again(void *context, uint64_t argument)
{
	struct webhooks *webhooks = context;
	(void)argument;
	webhooks->busy = false;
	follow(webhooks);
}

static void follow_later(struct webhooks *webhooks)
{
	if (may_work(webhooks))
		platform_timer_start(executor_config(webhooks->settings.executor)->platform,
				     LIMIT_WEBHOOK_RETRY_MS * INT64_C(1000), try_again, webhooks,
				     0);
	else
		webhooks->busy = false;
}

static void follow_on(struct webhooks *webhooks)
{
	webhooks->busy = false;
	if (webhooks->again)
		follow(webhooks);
}

static void position_stored(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct webhooks *webhooks = context;
	(void)argument;
	if (reply->error == NULL)
		FAILPOINT("webhook.position_stored");
	else if (may_work(webhooks))
		log_line(LOG_WARNING, "the position of webhooks could not be stored: %s",
			 reply->error->text);
	/* An old position repeats starts, which is harmless. */
	follow_on(webhooks);
}

static void store_position(struct webhooks *webhooks)
{
	AUTO(arena) arena = { 0 };
	struct run_webhook_cursor *cursor = run_webhook_cursor_new(&arena);
	SET(cursor, position, webhooks->position);
	const struct documents_change change = {
		.kind = document_kind_name(DOCUMENT_WEBHOOK_CURSOR),
		.name = document_kind_name(DOCUMENT_WEBHOOK_CURSOR),
		.revision = DOCUMENTS_ANY,
		.body = run_webhook_cursor_text(cursor, &arena),
		.by = S("webhooks"),
		.key = { .key = S("") },
	};
	webhooks->stored = webhooks->position;
	documents_change(webhooks->settings.documents, &change, position_stored, webhooks, 0);
}

static void page_over(struct page_read *r)
{
	struct webhooks *webhooks = r->webhooks;
	bool started = r->start_count > 0;
	if (r->again) {
		page_free(r);
		follow_later(webhooks);
		return;
	}
	if (r->last > webhooks->position)
		webhooks->position = r->last;
	webhooks->again |= r->more;
	page_free(r);
	if (started)
		FAILPOINT("webhook.page_done");
	if (started || webhooks->position - webhooks->stored >= LIMIT_WEBHOOK_CURSOR_EVENTS)
		store_position(webhooks);
	else
		follow_on(webhooks);
}

static void delivery_started(void *context, uint64_t index, const struct executor_reply *reply)
{
	struct page_read *r = context;
	const struct webhook_start *start = &r->starts[index];
	const struct error *error = reply->error;
	/* CONFLICT: it was started before a crash. */
	if (error != NULL && error->code != ERROR_CONFLICT) {
		r->again |= error_row(error->code)->retry == ERROR_RETRY_AGAIN;
		if (error_row(error->code)->retry != ERROR_RETRY_AGAIN)
			log_line(LOG_ERROR,
				 "a delivery of the webhook " STR_FMT " cannot be started: %s",
				 STR_ARG(start->webhook), error->text);
	}
	FAILPOINT("webhook.delivery_started");
	if (--r->open == 0)
		page_over(r);
}

static void page_done(struct executor_read *read)
{
	struct page_read *r = (struct page_read *)read;
	struct webhooks *webhooks = r->webhooks;
	if (r->error.code != ERROR_NONE || !may_work(webhooks)) {
		if (r->error.code != ERROR_NONE)
			log_line(LOG_WARNING, "events for webhooks could not be read: %s",
				 r->error.text);
		page_free(r);
		follow_later(webhooks);
		return;
	}
	/* One more, so that the page is not over before every delivery is under way. */
	r->open = r->start_count + 1;
	for (size_t i = 0; i < r->start_count; i++) {
		FAILPOINT("webhook.before_start");
		webhooks_start(webhooks, &r->starts[i], delivery_started, r, i);
	}
	if (--r->open == 0)
		page_over(r);
}

static void follow(struct webhooks *webhooks)
{
	if (webhooks->busy || !may_work(webhooks)) {
		webhooks->again = true;
		return;
	}
	struct page_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	webhooks->busy = true;
	webhooks->again = false;
	r->webhooks = webhooks;
	r->after = webhooks->position;
	r->link_base = str_copy(&r->read.arena, webhooks->link_base);
	r->read.work = page_work;
	r->read.done = page_done;
	executor_read(webhooks->settings.executor, &r->read);
}

void webhook_follower_wake(struct webhooks *webhooks)
{
	if (webhooks->enabled > 0)
		follow(webhooks);
}

static void noticed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct webhooks *webhooks = context;
	(void)argument;
	if (notice->position > webhooks->newest)
		webhooks->newest = notice->position;
	webhook_follower_wake(webhooks);
}

void webhook_follower_loaded(struct webhooks *webhooks, int64_t position)
{
	if (position > webhooks->stored)
		webhooks->stored = position;
	if (position > webhooks->position)
		webhooks->position = position;
}

void webhook_follower_open(struct webhooks *webhooks)
{
	static const struct uuid every_run;
	webhooks->open = true;
	executor_watch(webhooks->settings.executor, &every_run, noticed, webhooks, 0);
	webhook_follower_wake(webhooks);
}
