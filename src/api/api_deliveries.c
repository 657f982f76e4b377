/* api/api_deliveries.c -- the deliveries of a webhook: list, deliver again.
 *
 * A delivery is a run with the label `delivery`.  A failed one is retried like any failed run, so that
 * it leaves the list of dead letters when the receiver accepts it; any other one becomes a new run
 * with the same payload and the same delivery id.
 */
#include <stdlib.h>

#include "active/executor_command.h"
#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "active/stored_row.h"
#include "api/read_job.h"
#include "contract/document_kind.h"
#include "contract/run_start_types.h"
#include "contract/run_store_types.h"
#include "contract/run_value_types.h"
#include "contract/run_webhook_types.h"
#include "document/stored_document.h"
#include "notify/webhooks.h"

/* ---- the list ---------------------------------------------------------------------- */

struct delivery_list {
	struct api_read_job answer; /* first */
	struct str name;
	const struct str *states;
	size_t state_count;
	bool has_before;
	struct uuid before;
	int64_t limit;
};

static const struct str pending_states[] = {
	{ "queued", 6 }, { "running", 7 }, { "paused", 6 }, { "waiting_human", 13 }
};
static const struct str succeeded_state = { "succeeded", 9 };
static const struct str failed_state = { "failed", 6 };
static const struct str cancelled_state = { "cancelled", 9 };

static enum run_delivery_state state_of(struct str state)
{
	return str_equal(state, succeeded_state)   ? RUN_DELIVERY_STATE_DELIVERED
	       : str_equal(state, failed_state)    ? RUN_DELIVERY_STATE_FAILED
	       : str_equal(state, cancelled_state) ? RUN_DELIVERY_STATE_CANCELLED
						   : RUN_DELIVERY_STATE_PENDING;
}

static bool find_states(struct delivery_list *list, struct str word, struct error *error)
{
	enum run_delivery_state state;
	if (word.size == 0)
		return true;
	if (!run_delivery_state_from(word, &state))
		return fail(error, ERROR_USAGE,
			    "unknown state " STR_FMT
			    "; expected one of pending, delivered, failed, cancelled",
			    STR_ARG(str_head(word, LIMIT_NAME_BYTES)));
	list->state_count = 1;
	switch (state) {
	case RUN_DELIVERY_STATE_PENDING:
		list->states = pending_states;
		list->state_count = COUNT(pending_states);
		break;
	case RUN_DELIVERY_STATE_DELIVERED:
		list->states = &succeeded_state;
		break;
	case RUN_DELIVERY_STATE_FAILED:
		list->states = &failed_state;
		break;
	case RUN_DELIVERY_STATE_CANCELLED:
		list->states = &cancelled_state;
		break;
	}
	return true;
}

static struct str label_of(const struct run_summary *summary, struct str name)
{
	for (size_t i = 0; summary != NULL && has(summary, labels) && i < summary->labels.count;
	     i++)
		if (str_equal(summary->labels.at[i].key, name))
			return summary->labels.at[i].value;
	return S("");
}

static const struct run_summary *summary_of(const struct store_run *run, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	const struct json *json;
	struct error error;
	if (!json_read(run->summary, arena, &json, &error))
		return NULL;
	struct contract_source source = { .json = json, .lenient = true };
	return run_summary_parse(&source, arena, &problems);
}

static struct run_delivery delivery_of(const struct store_run *run, struct arena *arena)
{
	const struct run_summary *summary = summary_of(run, arena);
	struct run_delivery *delivery = run_delivery_new(arena);
	struct uuid source;
	SET(delivery, id, run->id);
	SET(delivery, event, label_of(summary, S("event")));
	if (uuid_parse(label_of(summary, S("source")), &source))
		SET(delivery, source, source);
	SET(delivery, state, state_of(run->state));
	if (summary != NULL && has(summary, error))
		SET(delivery, error, summary->error);
	SET(delivery, created_at, run->created_at);
	if (run->ended_at != 0)
		SET(delivery, ended_at, run->ended_at);
	return *delivery;
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct delivery_list *list = (struct delivery_list *)read;
	struct arena *arena = &read->arena;
	struct str label = str_format(arena, "delivery=" STR_FMT, STR_ARG(list->name));
	const struct store_run_filter filter = { .name = S("deliver"),
						 .states = list->states,
						 .state_count = list->state_count,
						 .labels = { &label, 1 } };
	struct store_run_page page;
	char id[UUID_TEXT_SIZE];
	if (!reader->ops->list_runs(reader, &filter, list->has_before ? &list->before : NULL,
				    (size_t)list->limit, arena, &page, &list->answer.error))
		return;
	struct run_delivery *items = arena_array(arena, struct run_delivery, page.count);
	for (size_t i = 0; i < page.count; i++)
		items[i] = delivery_of(&page.at[i], arena);
	struct run_delivery_page *answer = run_delivery_page_new(arena);
	SET(answer, items, ((struct run_delivery_list){ items, page.count }));
	if (page.count == (size_t)list->limit)
		SET(answer, cursor, str_copy(arena, uuid_text(&page.at[page.count - 1].id, id)));
	list->answer.text = run_delivery_page_text(answer, arena);
}

void api_webhook_deliveries(struct api_call *call)
{
	struct delivery_list *list = api_read_job_new(call->api, call->exchange, sizeof(*list));
	struct error *error = &list->answer.error;
	struct str cursor = api_query(call, S("cursor"));
	list->name = str_copy(&list->answer.read.arena, api_name(call, S("name")));
	list->has_before = cursor.size > 0;
	bool good = api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 50, &list->limit, error) &&
		    find_states(list, api_query(call, S("state")), error);
	if (good && list->has_before && !uuid_parse(cursor, &list->before))
		good = fail(error, ERROR_USAGE,
			    "?cursor= must be the cursor of a previous page of this list");
	if (good)
		api_read_job_begin(&list->answer, list_work);
	else
		api_read_job_end(&list->answer);
}

/* ---- again ------------------------------------------------------------------------- */

struct redelivery {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct str name, by;
	struct uuid delivery;
	bool failed;                /* it is retried; otherwise sent once more */
	struct webhook_start start; /* of a new run */
	struct error error;
};

static void redelivery_free(struct redelivery *r)
{
	arena_done(&r->read.arena);
	free(r);
}

static bool read_inputs(const struct run_created *created, struct store_reader *reader,
			struct arena *arena, const struct json **out_inputs, struct error *error)
{
	struct str bytes;
	bool found;
	if (!has(created->inputs, sha256)) {
		*out_inputs = created->inputs->json;
		return true;
	}
	if (!reader->ops->read_blob(reader, &created->inputs->sha256, arena, &bytes, &found, error))
		return false;
	if (!found)
		return fail(error, ERROR_GONE, "what was delivered is no longer stored");
	return json_read(bytes, arena, out_inputs, error);
}

static bool is_of_webhook(const struct run_created *created, struct str name)
{
	for (size_t i = 0; has(created, labels) && i < created->labels.count; i++)
		if (str_equal(created->labels.at[i].key, S("delivery")))
			return str_equal(created->labels.at[i].value, name);
	return false;
}

static void redeliver_work(struct executor_read *read, struct store_reader *reader)
{
	struct redelivery *r = (struct redelivery *)read;
	struct arena *arena = &read->arena;
	struct store_event_page page;
	struct store_run run;
	struct event event;
	const struct json *inputs;
	const void *stored;
	bool found;
	if (!stored_document_read(reader, DOCUMENT_WEBHOOK, r->name, arena, &stored, NULL,
				  &r->error) ||
	    !reader->ops->read_run(reader, &r->delivery, arena, &run, &found, &r->error) ||
	    !reader->ops->read_events(reader, &r->delivery, 0, 1, arena, &page, &r->error))
		return;
	if (stored == NULL || !found || page.count == 0 ||
	    !stored_event_read(&page.at[0], arena, &event, &r->error) ||
	    event.type != EVENT_RUN_CREATED || !is_of_webhook(event.as.run_created, r->name)) {
		fail(&r->error, ERROR_NOT_FOUND, "the webhook " STR_FMT " has no such delivery",
		     STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)));
		return;
	}
	if (state_of(run.state) == RUN_DELIVERY_STATE_PENDING) {
		fail(&r->error, ERROR_CONFLICT,
		     "the delivery is under way; it is retried by itself");
		return;
	}
	if (!read_inputs(event.as.run_created, reader, arena, &inputs, &r->error))
		return;
	const struct run_stored_webhook *webhook = stored;
	const struct run_summary *summary = summary_of(&run, arena);
	r->failed = str_equal(run.state, failed_state);
	r->start = (struct webhook_start){ .run = r->start.run,
					   .webhook = r->name,
					   .event = label_of(summary, S("event")),
					   .max_retries = webhook->max_retries,
					   .payload = json_member(inputs, S("payload")) };
	if (!uuid_parse(label_of(summary, S("source")), &r->start.source))
		r->start.source = (struct uuid){ { 0 } };
}

static void delivered(void *context, uint64_t retried, const struct executor_reply *reply)
{
	struct redelivery *r = context;
	AUTO(arena) arena = { 0 };
	/* Retention has removed what a retry needs: send it as a new run. */
	if (retried && reply->error != NULL &&
	    (reply->error->code == ERROR_CONFLICT || reply->error->code == ERROR_GONE)) {
		webhooks_start(r->api->settings.webhooks, &r->start, delivered, r, false);
		return;
	}
	if (reply->error != NULL) {
		api_reply_error(r->api, r->exchange, reply->error, reply->problems);
	} else {
		struct run_delivery_receipt *receipt = run_delivery_receipt_new(&arena);
		SET(receipt, id, retried ? r->delivery : reply->run);
		api_reply_json(r->api, r->exchange, 202,
			       run_delivery_receipt_text(receipt, &arena));
	}
	redelivery_free(r);
}

static void redeliver_done(struct executor_read *read)
{
	struct redelivery *r = (struct redelivery *)read;
	if (r->error.code != ERROR_NONE) {
		api_reply_error(r->api, r->exchange, &r->error, NULL);
		redelivery_free(r);
		return;
	}
	if (!r->failed) {
		webhooks_start(r->api->settings.webhooks, &r->start, delivered, r, false);
		return;
	}
	const struct executor_command command = { .kind = COMMAND_RETRY,
						  .run = r->delivery,
						  .by = r->by,
						  .reason = S("redelivered"),
						  .key = { .key = S("") },
						  .request_id = S("") };
	executor_command(r->api->settings.executor, &command, delivered, r, true);
}

void api_webhook_redeliver(struct api_call *call)
{
	struct redelivery *r = calloc(1, sizeof(*r));
	uint8_t dice[16];
	require(r != NULL);
	platform_random(loop_platform(call->api->settings.loop), dice, sizeof(dice));
	r->api = call->api;
	r->exchange = call->exchange;
	r->name = str_copy(&r->read.arena, api_name(call, S("name")));
	r->by = str_copy(&r->read.arena, api_caller_name(call));
	r->delivery = call->id;
	r->start.run = uuid_from_random(dice);
	r->read.work = redeliver_work;
	r->read.done = redeliver_done;
	executor_read(call->api->settings.executor, &r->read);
}
