/* api/api_metrics.c -- /metrics: the rows of metrics.def in the Prometheus text format.
 *
 * A reader thread reads the run counts from the store.  Then the loop samples all other values at
 * once, so that related values are consistent.
 */
#include <stdlib.h>

#include "active/executor.h"
#include "active/quarantine.h"
#include "active/executor_jobs.h"
#include "active/notices.h"
#include "api/api_internal.h"
#include "api/event_tail.h"
#include "base/limits.h"
#include "contract/run_open_types.h"
#include "net/connect_proxy.h"
#include "notify/webhooks.h"
#include "os/failpoint.h"
#include "os/process.h"

/* ---- requests ---------------------------------------------------------------------- */

struct request_count {
	const struct route *route; /* NULL = no route matched */
	int status;
	uint64_t count;
};

struct request_counts {
	struct request_count at[LIMIT_REQUEST_COUNTS];
	size_t count;
	uint64_t others;
};

void api_count_request(struct api *api, const struct route *route, int status)
{
	if (api->requests == NULL) {
		api->requests = calloc(1, sizeof(*api->requests));
		require(api->requests != NULL);
	}
	struct request_counts *counts = api->requests;
	size_t i = 0;
	while (i < counts->count &&
	       (counts->at[i].route != route || counts->at[i].status != status))
		i++;
	if (i == LIMIT_REQUEST_COUNTS) {
		counts->others++;
		return;
	}
	if (i == counts->count)
		counts->at[counts->count++] =
			(struct request_count){ .route = route, .status = status };
	counts->at[i].count++;
}

/* ---- what is shown ----------------------------------------------------------------- */

/* The values that the expressions of metrics.def refer to. */
struct metrics {
	const struct api *api;
	struct buf *text;
	const char *name; /* of the current metric family */
	struct executor_counts counts;
	struct executor_effects effects;
	const struct store_state_counts *states;
	struct loop_queue reader, writer;
	const struct histogram *turns;
	size_t children, exchanges, connections, new_connections;
	uint64_t stalls;
	const struct flight *flight;
	int64_t turn_cpu_us;
	bool draining;
	struct webhooks_figures webhooks;
};

/* 15 digits: integers are exact, seconds have at least microseconds. */
static void put_value(struct buf *text, double value)
{
	buf_add_format(text, " %.15g\n", value);
}

/* A label with its value escaped. */
static void put_label(struct buf *text, const char *name, struct str value)
{
	buf_add_format(text, "%s=\"", name);
	for (size_t i = 0; i < value.size; i++) {
		char c = value.at[i];
		if (c == '\\' || c == '"')
			buf_add_char(text, '\\');
		buf_add_char(text, c < ' ' && c >= 0 ? '?' : c);
	}
	buf_add_char(text, '"');
}

static void put_one(const struct metrics *m, const char *label, struct str value, double figure)
{
	buf_add_format(m->text, "%s{", m->name);
	put_label(m->text, label, value);
	buf_add(m->text, S("}"));
	put_value(m->text, figure);
}

static void put_requests(const struct metrics *m)
{
	const struct request_counts *counts = m->api->requests;
	for (size_t i = 0; counts != NULL && i < counts->count; i++) {
		const struct request_count *row = &counts->at[i];
		buf_add_format(m->text, "%s{", m->name);
		put_label(m->text, "method", row->route == NULL ? S("") : row->route->method);
		buf_add(m->text, S(","));
		put_label(m->text, "route", row->route == NULL ? S("") : row->route->path);
		buf_add_format(m->text, ",status=\"%d\"}", row->status);
		put_value(m->text, (double)row->count);
	}
	/* Requests that the HTTP server rejected itself; these series start at 0. */
	for (size_t i = 0; i < HTTP_REFUSALS; i++) {
		int status;
		uint64_t count = http_refusals(m->api->server, i, &status);
		buf_add_format(m->text, "%s{method=\"\",route=\"unread\",status=\"%d\"}", m->name,
			       status);
		put_value(m->text, (double)count);
	}
	buf_add_format(m->text, "%s{method=\"\",route=\"others\",status=\"\"}", m->name);
	put_value(m->text, counts == NULL ? 0 : (double)counts->others);
}

static void put_work(const struct metrics *m, const struct work *work)
{
	for (size_t i = 0; i < WORK_KIND_COUNT; i++)
		put_one(m, "work", str_from_c(work_name((enum work_kind)i)),
			(double)work->bytes[i]);
}

static void put_loop_work(const struct metrics *m)
{
	put_work(m, &m->flight->total);
}

static void put_loop_work_most(const struct metrics *m)
{
	put_work(m, &m->flight->most);
}

static void put_runs(const struct metrics *m)
{
	for (size_t i = 0; i < m->states->count; i++)
		put_one(m, "state", m->states->at[i].state, (double)m->states->at[i].runs);
}

static void put_effects(const struct metrics *m)
{
	for (size_t i = 0; i < COUNT(m->effects.at); i++)
		put_one(m, "class", m->effects.at[i].class, (double)m->effects.at[i].open);
}

static void put_effect_ages(const struct metrics *m)
{
	for (size_t i = 0; i < COUNT(m->effects.at); i++)
		put_one(m, "class", m->effects.at[i].class,
			(double)m->effects.at[i].oldest_us / 1e6);
}

static void put_streams(const struct metrics *m)
{
	static const char *const lags[] = { "none", "page", "more" };
	const struct {
		const char *kind;
		struct api_lags lags;
	} kinds[] = { { "sse", api_stream_lags(m->api) },
		      { "websocket", api_socket_lags(m->api) } };
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (size_t j = 0; j < COUNT(lags); j++)
			buf_add_format(m->text, "%s{kind=\"%s\",behind=\"%s\"} %zu\n", m->name,
				       kinds[i].kind, lags[j], kinds[i].lags.count[j]);
}

static void put_stream_pages(const struct metrics *m)
{
	struct event_tail_figures figures = event_tail_figures(m->api);
	put_one(m, "source", S("encoded"), (double)figures.pages_encoded);
	put_one(m, "source", S("memory"), (double)figures.pages_shared);
}

static void put_stream_memory(const struct metrics *m)
{
	struct event_tail_figures figures = event_tail_figures(m->api);
	put_one(m, "kind", S("pages"), (double)figures.page_bytes);
	put_one(m, "kind", S("timelines"), (double)figures.timeline_bytes);
}

static void put_queues(const struct metrics *m)
{
	put_one(m, "lane", S("reader"), (double)m->reader.depth);
	put_one(m, "lane", S("writer"), (double)m->writer.depth);
}

static void put_queue_ages(const struct metrics *m)
{
	put_one(m, "lane", S("reader"), (double)m->reader.oldest_us / 1e6);
	put_one(m, "lane", S("writer"), (double)m->writer.oldest_us / 1e6);
}

static void put_rejections(const struct metrics *m)
{
#define REJECTION(limit) put_one(m, "limit", S(#limit), (double)limit_hits(REJECTION_##limit));
#include "contracts/metrics.def"
}

static void put_head(struct metrics *m, const char *name, const char *kind, const char *words)
{
	m->name = name;
	buf_add_format(m->text, "# HELP %s %s\n# TYPE %s %s\n", name, words, name, kind);
}

static void put_metric(struct metrics *m, const char *name, const char *kind, const char *words,
		       double value)
{
	put_head(m, name, kind, words);
	buf_add(m->text, str_from_c(name));
	put_value(m->text, value);
}

static void put_histogram(struct metrics *m, const char *name, const char *words,
			  const struct histogram *histogram)
{
	uint64_t below = 0;
	put_head(m, name, "histogram", words);
	for (size_t i = 0; i < histogram->bound_count; i++) {
		below += histogram->counts[i];
		buf_add_format(m->text, "%s_bucket{le=\"%g\"} %llu\n", name, histogram->bounds[i],
			       (unsigned long long)below);
	}
	buf_add_format(m->text, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9g\n%s_count %llu\n", name,
		       (unsigned long long)histogram->count, name, histogram->sum, name,
		       (unsigned long long)histogram->count);
}

static void put_all(struct metrics *m)
{
#define METRIC(name, kind, from, words) put_metric(m, #name, #kind, words, (double)(from));
#define HISTOGRAM(name, from, words)    put_histogram(m, #name, words, from);
#define FAMILY(name, kind, maker, words)  \
	put_head(m, #name, #kind, words); \
	put_##maker(m);
#include "contracts/metrics.def"
}

/* ---- the door ---------------------------------------------------------------------- */

struct metrics_read {
	struct executor_read read;
	struct api *api;
	uint64_t exchange;
	struct store_state_counts states;
	struct waiting {
		int64_t open, since; /* since: us UTC of the oldest effect read; 0 = none */
	} humans, timers;
	struct error error;
};

static int64_t waiting_since(const struct store_effect *effect, struct arena *arena)
{
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = arena };
	if (!json_read(effect->body, arena, &json, &error))
		return 0;
	struct contract_source source = { .json = json, .text = effect->body, .lenient = true };
	if (str_equal(effect->kind, S("human"))) {
		const struct run_open_question *question =
			run_open_question_parse(&source, arena, &problems);
		return question == NULL ? 0 : question->asked_at;
	}
	const struct run_open_effect *wait = run_open_effect_parse(&source, arena, &problems);
	return wait != NULL && has(wait, since) ? wait->since : 0;
}

/* Reads the store, because waiting runs may not be in memory.  Only the first page of effects is
 * searched for the oldest. */
static bool read_waiting(struct metrics_read *r, struct store_reader *reader, struct str kind,
			 const struct store_state_counts *counts, struct waiting *out)
{
	struct store_effect_page page;
	struct arena *arena = &r->read.arena;
	for (size_t i = 0; i < counts->count; i++)
		if (str_equal(counts->at[i].state, kind))
			out->open = counts->at[i].runs;
	if (out->open == 0)
		return true;
	if (!reader->ops->list_effects(reader, kind, NULL, LIMIT_PAGE_ITEMS, arena, &page,
				       &r->error))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		int64_t since = waiting_since(&page.at[i], arena);
		if (since > 0 && (out->since == 0 || since < out->since))
			out->since = since;
	}
	return true;
}

static void metrics_work(struct executor_read *read, struct store_reader *reader)
{
	struct metrics_read *r = (struct metrics_read *)read;
	struct store_state_counts waiting;
	FAILPOINT_GATE("metrics.before_read");
	/* metrics_done() checks r->error. */
	(void)!(reader->ops->count_states(reader, &read->arena, &r->states, &r->error) &&
		reader->ops->count_waiting(reader, &read->arena, &waiting, &r->error) &&
		read_waiting(r, reader, S("human"), &waiting, &r->humans) &&
		read_waiting(r, reader, S("timer"), &waiting, &r->timers));
}

static void set_waiting(struct executor_effects *effects, struct str class,
			const struct waiting *waiting, int64_t now)
{
	for (size_t i = 0; i < COUNT(effects->at); i++)
		if (str_equal(effects->at[i].class, class)) {
			effects->at[i].open = (size_t)waiting->open;
			effects->at[i].oldest_us = waiting->since == 0 ? 0 : now - waiting->since;
		}
}

static void metrics_done(struct executor_read *read)
{
	struct metrics_read *r = (struct metrics_read *)read;
	struct api *api = r->api;
	struct loop *loop = api->settings.loop;
	AUTO(buf) text = { 0 };
	struct metrics m = { .api = api,
			     .text = &text,
			     .counts = executor_counts(api->settings.executor),
			     .effects = executor_effects(api->settings.executor),
			     .states = &r->states,
			     .reader = loop_queue(loop, LANE_READER),
			     .writer = loop_queue(loop, LANE_WRITER),
			     .turns = loop_ticks(loop),
			     .children = process_count(loop),
			     .exchanges = http_open_exchanges(api->server),
			     .connections = http_open_connections(api->server),
			     .new_connections = http_new_connections(api->server),
			     .stalls = loop_stalls(loop),
			     .flight = loop_flight(loop),
			     .turn_cpu_us = loop_tick_cpu_most_us(loop),
			     .draining = executor_is_draining(api->settings.executor),
			     .webhooks = webhooks_figures(api->settings.webhooks) };
	int64_t now = platform_wall_us(loop_platform(loop));
	set_waiting(&m.effects, S("human"), &r->humans, now);
	set_waiting(&m.effects, S("timer"), &r->timers, now);
	const struct http_header headers[] = {
		{ S("Content-Type"), S("text/plain; version=0.0.4; charset=utf-8") },
		{ S("Cache-Control"), S("no-store") },
	};
	if (r->error.code != ERROR_NONE) {
		api_reply_error(api, r->exchange, &r->error, NULL);
	} else {
		put_all(&m);
		api_reply(api, r->exchange, 200, headers, COUNT(headers), buf_str(&text));
	}
	arena_done(&read->arena);
	free(r);
}

void api_metrics(struct api_call *call)
{
	struct metrics_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->read.work = metrics_work;
	r->read.done = metrics_done;
	executor_read(call->api->settings.executor, &r->read);
}
