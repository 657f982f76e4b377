/* api/api_budgets.c -- named budgets: their limits are documents, what is used of them are counters of
 * the store, and who waits for them is known in memory.
 */
#include "active/ledger.h"
#include "api/api_documents.h"
#include "api/read_job.h"
#include "base/date.h"
#include "contract/run_budget_types.h"

static const int64_t day_us = 86400LL * 1000000;

static const struct api_documents_answer budget_answer = { DOCUMENT_BUDGET,
							   { "/api/budgets/", 13 } };

struct budget_read {
	struct api_read_job answer; /* first */
	struct str name;            /* of one budget; "" = all */
	int64_t today;              /* days since 1970 */
	struct run_budget_item *items;
	size_t count;
};

/* The budget of a day is that of today. */
static struct str counted_name(const struct budget_read *r, struct str document,
			       struct arena *arena)
{
	struct date date = date_from_days(r->today);
	return str_equal(document, S("day"))
		       ? str_format(arena, "day:%04lld-%02d-%02d", (long long)date.year, date.month,
				    date.day)
		       : document;
}

static bool read_item(struct budget_read *r, struct store_reader *reader,
		      const struct store_document *row, struct run_budget_item *out)
{
	struct arena *arena = &r->answer.read.arena;
	struct error *error = &r->answer.error;
	int64_t used, reserved;
	struct str name = counted_name(r, row->name, arena);
	const struct run_budget *budget =
		document_read_stored(DOCUMENT_BUDGET, row->body, arena, error);
	if (budget == NULL ||
	    !reader->ops->read_guard(reader,
				     str_format(arena, STORE_BUDGET_USED STR_FMT, STR_ARG(name)),
				     &used, error) ||
	    !reader->ops->read_guard(
		    reader, str_format(arena, STORE_BUDGET_RESERVED STR_FMT, STR_ARG(name)),
		    &reserved, error))
		return false;
	*out = *run_budget_item_new(arena);
	SET(out, name, row->name);
	SET(out, limit_usd, budget->limit_usd);
	/* A turn may have been requested between the two reads. */
	SET(out, spent_usd, used > reserved ? (double)(used - reserved) / 1e12 : 0);
	SET(out, reserved_usd, (double)reserved / 1e12);
	if (str_equal(row->name, S("day")))
		SET(out, resets_at, (r->today + 1) * day_us);
	SET(out, revision, row->revision);
	return true;
}

static void read_items(struct executor_read *read, struct store_reader *reader)
{
	struct budget_read *r = (struct budget_read *)read;
	struct store_document_page page;
	struct store_document one;
	bool found;
	if (r->name.size > 0) {
		if (!reader->ops->read_document(reader, document_kind_name(DOCUMENT_BUDGET),
						r->name, &read->arena, &one, &found,
						&r->answer.error))
			return;
		page = (struct store_document_page){ &one, found };
		if (!found)
			fail(&r->answer.error, ERROR_NOT_FOUND,
			     "there is no budget called " STR_FMT,
			     STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)));
	} else if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_BUDGET), S(""),
						LIMIT_DOCUMENTS, &read->arena, &page,
						&r->answer.error)) {
		return;
	}
	r->items = arena_array(&read->arena, struct run_budget_item, page.count);
	for (size_t i = 0; i < page.count; i++)
		if (!read_item(r, reader, &page.at[i], &r->items[r->count++]))
			return;
}

static void reply(struct executor_read *read)
{
	struct budget_read *r = (struct budget_read *)read;
	struct arena *arena = &read->arena;
	for (size_t i = 0; i < r->count; i++) {
		struct ledger_queue queue =
			ledger_queue(r->answer.api->settings.executor, r->items[i].name);
		SET(&r->items[i], waiting, queue.waiting);
		SET(&r->items[i], paused, queue.paused);
	}
	struct run_budget_page *page = run_budget_page_new(arena);
	SET(page, items, ((struct run_budget_item_list){ r->items, r->count }));
	if (r->answer.error.code == ERROR_NONE)
		r->answer.text = r->name.size > 0 ? run_budget_item_text(&r->items[0], arena)
						  : run_budget_page_text(page, arena);
	api_read_job_end(&r->answer);
}

static void begin_read(struct api_call *call, struct str name)
{
	struct budget_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->name = str_copy(&r->answer.read.arena, name);
	r->today = date_floor_divide(platform_wall_us(loop_platform(call->api->settings.loop)),
				     day_us);
	r->answer.read.work = read_items;
	r->answer.read.done = reply;
	executor_read(call->api->settings.executor, &r->answer.read);
}

void api_budget_list(struct api_call *call)
{
	begin_read(call, S(""));
}

void api_budget_read(struct api_call *call)
{
	begin_read(call, api_name(call, S("name")));
}

static void change(struct api_call *call, struct str body)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		api_documents_change(call, &budget_answer, api_name(call, S("name")), revision,
				     body);
}

void api_budget_replace(struct api_call *call, const struct run_budget *body)
{
	change(call, run_budget_text(body, call->arena));
}

void api_budget_delete(struct api_call *call)
{
	change(call, S(""));
}
