/* api/api_usage.c -- what agents' turns used and cost, and what models cost.
 *
 * Sums are read from the store's projection on a reader thread.  Days are those of UTC.
 */
#include "base/date.h"
#include "api/read_job.h"
#include "api/usage_sum.h"
#include "contract/pipeline_types.h"
#include "contract/run_price_types.h"
#include "llm/price.h"
#include "llm/provider.h"

static const int64_t day_us = 86400LL * 1000000;

enum { DAYS_DEFAULT = 30, ROWS_DEFAULT = 20 };

/* ---- days ---------------------------------------------------------------------------- */

static struct str day_text(int64_t day, struct arena *arena)
{
	struct date date = date_from_days(day);
	return str_format(arena, "%04lld-%02d-%02d", (long long)date.year, date.month, date.day);
}

static bool day_read(struct str text, int64_t *out_day)
{
	int64_t year, month, day;
	if (text.size != 10 || text.at[4] != '-' || text.at[7] != '-' ||
	    !str_to_int(str_head(text, 4), &year) ||
	    !str_to_int(str_head(str_skip(text, 5), 2), &month) ||
	    !str_to_int(str_skip(text, 8), &day) || year < 1970 || month < 1 || month > 12)
		return false;
	struct date date = { .year = year, .month = (int)month, .day = (int)day };
	int64_t days = date_to_days(date);
	struct date back = date_from_days(days);
	if (back.day != date.day || back.month != date.month)
		return false; /* such as February 30 */
	*out_day = days;
	return true;
}

static bool query_day(const struct api_call *call, struct str name, int64_t fallback,
		      int64_t *out_day, struct error *error)
{
	struct str text = api_query(call, name);
	*out_day = fallback;
	return text.size == 0 || day_read(text, out_day) ||
	       fail(error, ERROR_USAGE, STR_FMT " must be a date such as 2026-01-31, not " STR_FMT,
		    STR_ARG(name), STR_ARG(str_head(text, LIMIT_QUOTE_BYTES)));
}

/* ---- GET /api/usage -------------------------------------------------------------------- */

struct usage_read {
	struct api_read_job answer; /* first */
	struct store_usage_filter filter;
	bool all; /* lists of every kind */
	enum run_usage_by by;
	size_t limit;
};

static bool list_read(struct usage_read *r, struct store_reader *reader, enum store_usage_by by,
		      struct run_usage_row_list *out_rows)
{
	struct arena *arena = &r->answer.read.arena;
	struct store_usage_sums sums;
	size_t limit = by == STORE_USAGE_DAY ? LIMIT_USAGE_DAYS : r->limit;
	if (!reader->ops->sum_usage(reader, &r->filter, by, limit, arena, &sums, &r->answer.error))
		return false;
	struct run_usage_row *rows = arena_array(arena, struct run_usage_row, sums.count);
	for (size_t i = 0; i < sums.count; i++) {
		const struct store_usage_sum *sum = &sums.at[i];
		rows[i] = *run_usage_row_new(arena);
		COPY_FIELDS(run_usage_total, usage_sum_total(&sum->usage, arena), run_usage_row,
			    &rows[i], NULL);
		if (by == STORE_USAGE_DAY)
			SET(&rows[i], day, day_text(sum->usage.day, arena));
		if (by == STORE_USAGE_MODEL) {
			SET(&rows[i], provider, sum->usage.provider);
			SET(&rows[i], model, sum->usage.model);
		}
		if (by == STORE_USAGE_AGENT)
			SET(&rows[i], agent, sum->usage.agent);
		if (by == STORE_USAGE_WORKFLOW || by == STORE_USAGE_RUN)
			SET(&rows[i], workflow, sum->workflow);
		if (by == STORE_USAGE_RUN)
			SET(&rows[i], run_id, sum->run);
	}
	*out_rows = (struct run_usage_row_list){ rows, sums.count };
	return true;
}

static const enum store_usage_by lists[] = {
	[RUN_USAGE_BY_DAY] = STORE_USAGE_DAY,           [RUN_USAGE_BY_MODEL] = STORE_USAGE_MODEL,
	[RUN_USAGE_BY_AGENT] = STORE_USAGE_AGENT,       [RUN_USAGE_BY_RUN] = STORE_USAGE_RUN,
	[RUN_USAGE_BY_WORKFLOW] = STORE_USAGE_WORKFLOW,
};

static bool wants(const struct usage_read *r, size_t by)
{
	return r->all || r->by == by;
}

static void usage_work(struct executor_read *read, struct store_reader *reader)
{
	struct usage_read *r = (struct usage_read *)read;
	struct arena *arena = &read->arena;
	struct run_usage *out = run_usage_new(arena);
	struct store_usage_sums total;
	struct run_usage_row_list rows[COUNT(lists)] = { 0 };
	bool good = reader->ops->sum_usage(reader, &r->filter, STORE_USAGE_TOTAL, 1, arena, &total,
					   &r->answer.error);
	for (size_t i = 0; good && i < COUNT(lists); i++)
		good = !wants(r, i) || list_read(r, reader, lists[i], &rows[i]);
	if (!good)
		return;
	SET(out, since, day_text(r->filter.first, arena));
	SET(out, until, day_text(r->filter.last, arena));
	SET(out, total, usage_sum_total(&total.at[0].usage, arena));
	if (wants(r, RUN_USAGE_BY_DAY))
		SET(out, days, rows[RUN_USAGE_BY_DAY]);
	if (wants(r, RUN_USAGE_BY_MODEL))
		SET(out, models, rows[RUN_USAGE_BY_MODEL]);
	if (wants(r, RUN_USAGE_BY_AGENT))
		SET(out, agents, rows[RUN_USAGE_BY_AGENT]);
	if (wants(r, RUN_USAGE_BY_WORKFLOW))
		SET(out, workflows, rows[RUN_USAGE_BY_WORKFLOW]);
	if (wants(r, RUN_USAGE_BY_RUN))
		SET(out, runs, rows[RUN_USAGE_BY_RUN]);
	r->answer.text = run_usage_text(out, arena);
}

static bool usage_query(const struct api_call *call, struct usage_read *r, struct error *error)
{
	int64_t today = date_floor_divide(platform_wall_us(loop_platform(call->api->settings.loop)),
					  day_us);
	int64_t limit;
	struct str by = api_query(call, S("by"));
	if (!query_day(call, S("until"), today, &r->filter.last, error) ||
	    !query_day(call, S("since"), r->filter.last - DAYS_DEFAULT + 1, &r->filter.first,
		       error) ||
	    !api_query_int(call, S("limit"), 1, LIMIT_USAGE_ROWS, ROWS_DEFAULT, &limit, error))
		return false;
	r->limit = (size_t)limit;
	r->all = by.size == 0;
	if (!r->all && !run_usage_by_from(by, &r->by))
		return fail(error, ERROR_USAGE,
			    "by must be day, model, agent, workflow or run, not " STR_FMT,
			    STR_ARG(str_head(by, LIMIT_QUOTE_BYTES)));
	if (r->filter.first > r->filter.last ||
	    r->filter.last - r->filter.first >= LIMIT_USAGE_DAYS)
		return fail(error, ERROR_USAGE,
			    "since must not be after until, nor more than %d days before it",
			    LIMIT_USAGE_DAYS - 1);
	return true;
}

void api_usage(struct api_call *call)
{
	struct usage_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	if (usage_query(call, r, &r->answer.error))
		api_read_job_begin(&r->answer, usage_work);
	else
		api_read_job_end(&r->answer);
}

/* ---- GET /api/runs/{id}/usage ------------------------------------------------------------ */

struct run_usage_read {
	struct api_read_job answer; /* first */
	struct uuid run;
};

/* The same row has the same id at every read. */
static struct pipeline_token_usage *
token_usage(const struct uuid *run, const struct store_usage *usage, struct arena *arena)
{
	struct pipeline_token_usage *out = pipeline_token_usage_new(arena);
	char text[UUID_TEXT_SIZE], id[UUID_TEXT_SIZE];
	struct str name = str_format(arena, "usage %lld " STR_FMT " " STR_FMT " " STR_FMT,
				     (long long)usage->day, STR_ARG(usage->agent),
				     STR_ARG(usage->provider), STR_ARG(usage->model));
	const struct str parts[] = { uuid_str(run), name };
	struct uuid own = uuid_derive(parts, COUNT(parts));
	SET(out, id, str_copy(arena, uuid_text(&own, id)));
	SET(out, workflow_id, str_copy(arena, uuid_text(run, text)));
	SET(out, agent, usage->agent);
	SET(out, model, usage->model);
	SET(out, input_tokens, usage->input_tokens);
	SET(out, output_tokens, usage->output_tokens);
	SET(out, cache_read_tokens, usage->cache_read_tokens);
	SET(out, cache_creation_tokens, usage->cache_creation_tokens);
	if (usage->turns > usage->unpriced)
		SET(out, cost_usd, (double)usage->cost / 1e12);
	SET(out, timestamp, usage->day * day_us);
	return out;
}

static void run_usage_work(struct executor_read *read, struct store_reader *reader)
{
	struct run_usage_read *r = (struct run_usage_read *)read;
	struct store_usage_sums sums;
	struct store_run row;
	bool found;
	char id[UUID_TEXT_SIZE];
	const struct store_usage_filter filter = { .first = INT64_MIN,
						   .last = INT64_MAX,
						   .run = &r->run };
	if (!reader->ops->read_run(reader, &r->run, &read->arena, &row, &found, &r->answer.error))
		return;
	if (!found) {
		fail(&r->answer.error, ERROR_NOT_FOUND, "there is no run " STR_FMT,
		     STR_ARG(uuid_text(&r->run, id)));
		return;
	}
	if (!reader->ops->sum_usage(reader, &filter, STORE_USAGE_PARTS, LIMIT_RUN_USAGE_ROWS,
				    &read->arena, &sums, &r->answer.error))
		return;
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '[');
	for (size_t i = 0; i < sums.count; i++)
		pipeline_token_usage_print(token_usage(&r->run, &sums.at[i].usage, &read->arena),
					   &writer);
	json_close(&writer, ']');
	r->answer.text = str_copy(&read->arena, buf_str(&text));
}

void api_run_usage(struct api_call *call)
{
	struct run_usage_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->run = call->id;
	api_read_job_begin(&r->answer, run_usage_work);
}

/* ---- GET /api/models -------------------------------------------------------------------- */

static bool has_variable(const char *const *environment, struct str name)
{
	for (; environment != NULL && *environment != NULL; environment++) {
		struct str entry = str_from_c(*environment);
		if (str_starts(entry, name) && entry.size > name.size + 1 &&
		    entry.at[name.size] == '=')
			return true;
	}
	return false;
}

static double dollars(int64_t price)
{
	return (double)price / 1e6;
}

static struct run_model model_of(const struct api *api, const struct price *price,
				 struct arena *arena)
{
	struct run_model *out = run_model_new(arena);
	const struct provider *provider = provider_find(price->provider);
	SET(out, provider, price->provider);
	SET(out, model, price->model);
	SET(out, input, dollars(price->input));
	SET(out, output, dollars(price->output));
	SET(out, cache_read, dollars(price->cache_read));
	SET(out, cache_write, dollars(price->cache_write));
	if (price->context_window > 0)
		SET(out, context_window, price->context_window);
	SET(out, source, price->built_in ? S("built-in") : S("prices.yaml"));
	if (provider == NULL || provider->variable.size == 0)
		return *out;
	SET(out, key_name, provider->variable);
	SET(out, key_present, has_variable(api->settings.environment, provider->variable));
	return *out;
}

void api_models(struct api_call *call)
{
	AUTO(arena) arena = { 0 };
	const struct price_table *prices = call->api->settings.prices;
	struct run_model *models = arena_array(&arena, struct run_model, prices->count);
	for (size_t i = 0; i < prices->count; i++)
		models[i] = model_of(call->api, &prices->at[i], &arena);
	struct run_models *out = run_models_new(&arena);
	SET(out, as_of, str_from_c(price_as_of));
	SET(out, models, ((struct run_model_list){ models, prices->count }));
	api_reply_json(call->api, call->exchange, 200, run_models_text(out, &arena));
}
