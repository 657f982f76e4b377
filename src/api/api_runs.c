/* api/api_runs.c -- starting runs and reading them.
 *
 * A result is always read from the store, on a reader thread: a client gets exactly what a restart
 * of the server would find.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/notices.h"
#include "active/run_commands.h"
#include "api/api_timeline.h"
#include "api/event_page.h"
#include "api/adapters.h"
#include "api/read_job.h"
#include "api/run_summary.h"
#include "base/limits.h"
#include "active/stored_row.h"
#include "contract/field_copy.h"
#include "contract/run_server_types.h"
#include "contract/run_start_types.h"
#include "contract/run_store_types.h"
#include "contract/run_stream_types.h"
#include "views/view.h"
#include "views/view_runtime.h"
#include "views/vocabulary.h"

/* ---- one run ----------------------------------------------------------------------- */

struct result_read {
	struct api_read_job answer; /* first */
	struct uuid run;
	const struct view *view;
	bool as_events;            /* a page of events instead of the run */
	struct event_cursor after; /* of the page */
	int64_t limit;
};

/* Prints the events of a group behind the cursor, as many as there is room for, and moves the cursor
 * behind them. */
static void print_group(const struct view_group *group, struct event_cursor *cursor, int64_t at,
			int64_t *room, struct json_writer *writer)
{
	size_t n = cursor->at == at ? (size_t)cursor->n + 1 : 0;
	for (; n<group->count && * room> 0; n++, (*room)--) {
		struct view_document document = view_group_event(group, n);
		view_print(&document, writer);
		*cursor = (struct event_cursor){ at, (int64_t)n };
	}
	if (n >= group->count)
		*cursor = event_cursor_of(at);
}

/* Prints at most `limit` events of the view, out of as many stored ones; a page may end inside a
 * group. */
static void print_page(const struct result_read *r, const struct api_timeline *from,
		       struct json_writer *writer)
{
	struct event_cursor cursor = r->after;
	int64_t room = r->limit, read = 0;
	size_t next = 0;
	if (cursor.n != EVENT_CURSOR_ALL && cursor.n >= LIMIT_EVENT_GROUP)
		cursor.n = EVENT_CURSOR_ALL;
	while (next < from->count &&
	       timeline_seq(&from->timeline, next) <= event_cursor_done(cursor))
		next++;
	json_open(writer, '{');
	json_key(writer, S("items"));
	json_open(writer, '[');
	for (; next < from->count && read < r->limit && room > 0; next++, read++) {
		struct view_group group;
		view_group_make(&group, r->view, &from->timeline, next);
		print_group(&group, &cursor, timeline_seq(&from->timeline, next), &room, writer);
	}
	json_close(writer, ']');
	json_key(writer, S("cursor"));
	if (read == r->limit || room == 0)
		json_put_str(writer, event_cursor_text(cursor, from->arena));
	else
		json_put_null(writer);
	json_close(writer, '}');
}

static struct str print_view(const struct result_read *r, const struct api_timeline *from)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (r->as_events) {
		print_page(r, from, &writer);
	} else {
		struct view_document document = r->view->ops->run(&from->timeline);
		view_print(&document, &writer);
	}
	return str_copy(from->arena, buf_str(&text));
}

static void result_work(struct executor_read *read, struct store_reader *reader)
{
	struct result_read *r = (struct result_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->answer.error))
		return;
	if (!r->as_events ||
	    api_timeline_check_floor(timeline.floor, event_cursor_done(r->after), &r->answer.error))
		r->answer.text = print_view(r, &timeline);
}

static struct result_read *result_new(struct api *api, uint64_t exchange, const struct uuid *run,
				      const struct view *view)
{
	struct result_read *r = api_read_job_new(api, exchange, sizeof(*r));
	r->run = *run;
	r->view = view;
	return r;
}

void api_send_result(struct api *api, uint64_t exchange, const struct uuid *run)
{
	struct result_read *r = result_new(api, exchange, run, view_at(VIEW_runtime));
	api_read_job_begin(&r->answer, result_work);
}

void api_run_read(struct api_call *call)
{
	const struct view *view = view_at(VIEW_runtime);
	struct str name = api_query(call, S("view"));
	struct error error;
	if (name.size > 0 && !view_from(name, &view, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct result_read *r = result_new(call->api, call->exchange, &call->id, view);
	api_read_job_begin(&r->answer, result_work);
}

/* ---- starting ---------------------------------------------------------------------- */

/* A request that waits until its run ends or its time is over (Prefer: wait=N). */
struct wait {
	struct api *api;
	uint64_t id, exchange;
	int64_t seconds;      /* 0 = respond at once */
	int64_t depth;        /* of the spans in a profile; 0 = respond with the result */
	api_end_sender *send; /* responds at the end instead; NULL = as above */
	struct uuid run;
	uint64_t watch, timer;
};

static void send_end(const struct wait *wait)
{
	if (wait->send != NULL)
		wait->send(wait->api, wait->exchange, &wait->run);
	else if (wait->depth > 0)
		api_send_profile(wait->api, wait->exchange, &wait->run, wait->depth);
	else
		api_send_result(wait->api, wait->exchange, &wait->run);
}

static void wait_free(struct wait *wait)
{
	struct api *api = wait->api;
	if (wait->watch != 0)
		executor_unwatch(api->settings.executor, wait->watch);
	if (wait->timer != 0)
		platform_timer_stop(loop_platform(api->settings.loop), wait->timer);
	slots_remove(&api->waits, wait->id);
	free(wait);
}

static void send_receipt(struct wait *wait)
{
	AUTO(arena) arena = { 0 };
	struct runtime_workflow_run_response *receipt = runtime_workflow_run_response_new(&arena);
	SET(receipt, run_id, wait->run);
	SET(receipt, status, S("queued"));
	api_reply_json(wait->api, wait->exchange, 202,
		       runtime_workflow_run_response_text(receipt, &arena));
}

static void wait_expired(void *context, uint64_t argument)
{
	struct api *api = context;
	struct wait *wait = slots_get(&api->waits, argument);
	if (wait == NULL)
		return;
	send_receipt(wait);
	wait_free(wait);
}

static void run_noticed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct api *api = context;
	struct wait *wait = slots_get(&api->waits, argument);
	if (wait == NULL || !notice->ended)
		return;
	send_end(wait);
	wait_free(wait);
}

/* A repeated request may refer to a run that has already ended and sends no notice any more. */
struct ended_read {
	struct executor_read read;
	struct api *api;
	uint64_t wait;
	struct uuid run;
	bool ended;
};

static void ended_work(struct executor_read *read, struct store_reader *reader)
{
	struct ended_read *r = (struct ended_read *)read;
	struct store_run run;
	bool found;
	struct error error; /* ignored: the client gets the receipt when its time is over */
	r->ended = reader->ops->read_run(reader, &r->run, &read->arena, &run, &found, &error) &&
		   found && run.ended_at != 0;
}

static void ended_done(struct executor_read *read)
{
	struct ended_read *r = (struct ended_read *)read;
	struct wait *wait = slots_get(&r->api->waits, r->wait);
	if (wait != NULL && r->ended) {
		send_end(wait);
		wait_free(wait);
	}
	arena_done(&read->arena);
	free(r);
}

static void check_ended(const struct wait *wait)
{
	struct ended_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = wait->api;
	r->wait = wait->id;
	r->run = wait->run;
	r->read.work = ended_work;
	r->read.done = ended_done;
	executor_read(wait->api->settings.executor, &r->read);
}

static void run_started(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct api *api = context;
	struct wait *wait = slots_get(&api->waits, argument);
	require(wait != NULL);
	wait->run = reply->run;
	if (reply->error == NULL)
		api_set_subject(api, wait->exchange, &reply->run);
	if (reply->error != NULL) {
		api_reply_error(api, wait->exchange, reply->error, reply->problems);
		wait_free(wait);
	} else if (wait->seconds == 0) {
		send_receipt(wait);
		wait_free(wait);
	} else {
		wait->watch = executor_watch(api->settings.executor, &wait->run, run_noticed, api,
					     argument);
		wait->timer =
			platform_timer_start(loop_platform(api->settings.loop),
					     wait->seconds * 1000000, wait_expired, api, argument);
		if (reply->repeated)
			check_ended(wait);
	}
}

void api_waits_end(struct api *api)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct wait *wait; (wait = slots_next(&api->waits, &index, &id)) != NULL;)
		if (wait->watch !=
		    0) { /* else the start is not committed yet: run_started() responds */
			send_receipt(wait);
			wait_free(wait);
		}
}

/* Prefer: wait=N (RFC 7240); other preferences are none of own_names. */
int64_t api_wait_seconds(const struct http_request *request)
{
	struct str rest = http_header(request, S("Prefer")), preference;
	while (str_cut(&rest, ',', &preference)) {
		struct str trimmed = str_trim(preference);
		int64_t seconds;
		if (str_starts(trimmed, S("wait=")) && str_to_int(str_skip(trimmed, 5), &seconds) &&
		    seconds > 0)
			return seconds < LIMIT_WAIT_SECONDS ? seconds : LIMIT_WAIT_SECONDS;
	}
	return 0;
}

static void start_waiting(const struct wait *how, const struct executor_start *start)
{
	struct wait *wait = calloc(1, sizeof(*wait));
	require(wait != NULL);
	*wait = *how;
	wait->id = slots_add(&wait->api->waits, wait);
	executor_start(wait->api->settings.executor, start, run_started, wait->api, wait->id);
}

/* Responds with the receipt, or waits for the end and responds with the result or profile. */
static void start_run(struct api_call *call, const struct executor_start *start, int64_t seconds,
		      int64_t depth)
{
	const struct wait wait = {
		.api = call->api, .exchange = call->exchange, .seconds = seconds, .depth = depth
	};
	start_waiting(&wait, start);
}

/* What the connection says about who starts the run. */
struct run_start *api_asked_by(const struct api_call *call)
{
	struct run_start *kept = run_start_new(call->arena);
	struct str by = api_caller_name(call), trace = str_from_c(call->trace);
	if (by.size > 0)
		SET(kept, by, by);
	if (trace.size > 0)
		SET(kept, trace, trace);
	return kept;
}

void api_start_sending(struct api *api, uint64_t exchange, const struct executor_start *start,
		       int64_t seconds, api_end_sender *send)
{
	const struct wait wait = {
		.api = api, .exchange = exchange, .seconds = seconds, .send = send
	};
	start_waiting(&wait, start);
}

void api_start(struct api_call *call, struct executor_start *start)
{
	struct run_start *kept = api_asked_by(call);
	if (start->start != NULL)
		COPY_FIELDS(run_start, start->start, run_start, kept, call->arena);
	start->key = call->key;
	start->request_id = str_from_c(call->request_id);
	start->start = kept;
	start_run(call, start, api_wait_seconds(call->request), 0);
}

void api_run_start(struct api_call *call, const struct runtime_workflow_run_request *body)
{
	struct error error;
	struct run_start *kept = api_asked_by(call);
	struct executor_start start = { .workflow = body->workflow,
					.yaml = has(body, yaml_content) ? body->yaml_content
									: S(""),
					.inputs = api_given(call, body->inputs),
					.key = call->key,
					.request_id = str_from_c(call->request_id),
					.start = kept };
	if (has(body, run_id))
		start.run = body->run_id;
	if (has(body, prompts_folder))
		start.prompts_folder = body->prompts_folder;
	COPY_FIELDS(runtime_workflow_run_request, body, run_start, kept, NULL);
	if (has(body, alone))
		SET(kept, key, body->alone);
	if (has(body, metadata))
		SET(kept, annotations, body->metadata);
	if ((has(body, yaml_content) || has(body, prompts_folder)) && !call->request->local) {
		fail(&error, ERROR_FORBIDDEN,
		     "yaml_content is accepted only through baton.sock; over the network, name a "
		     "workflow of the data folder");
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	if (api_adapter_choose(call, body->adapter, kept))
		start_run(call, &start, api_wait_seconds(call->request), 0);
}

/* Only an ended run has a profile, so the request waits for the longest allowed time. */
void api_run_profile(struct api_call *call,
		     const struct runtime_workflow_execution_profile_request *body)
{
	struct run_start *kept = api_asked_by(call);
	struct executor_start start = { .workflow = body->workflow,
					.inputs = api_given(call, body->inputs),
					.key = call->key,
					.request_id = str_from_c(call->request_id),
					.start = kept };
	if (api_adapter_choose(call, body->adapter, kept))
		start_run(call, &start, LIMIT_WAIT_SECONDS,
			  has(body, trace_depth) ? body->trace_depth : LIMIT_SPAN_DEPTH);
}

/* ---- lists ------------------------------------------------------------------------- */

struct list_read {
	struct executor_read read;
	struct api *api;
	uint64_t exchange;
	bool has_before;
	struct uuid run; /* last run of the previous page; or the run of an event page */
	int64_t after, limit;
	struct buf text;
	struct str next;   /* Link header; "" on the last page */
	struct str status; /* as in the request; "" = any */
	struct str state;  /* as in the request; "" = any */
	struct str labels; /* as in the request; "" = any */
	bool by_id;        /* only runs with ids from `first` to `last` */
	struct uuid first, last;
	struct store_run_filter only;
	struct error error;
};

static struct list_read *list_new(struct api_call *call)
{
	struct list_read *list = calloc(1, sizeof(*list));
	require(list != NULL);
	list->api = call->api;
	list->exchange = call->exchange;
	return list;
}

static void list_free(struct list_read *list)
{
	buf_done(&list->text);
	executor_discard(list->api->settings.executor, &list->read.arena);
	free(list);
}

static void add_parameter(struct buf *out, const char *name, struct str value)
{
	if (value.size == 0)
		return;
	buf_add_format(out, "&%s=", name);
	for (size_t i = 0; i < value.size; i++) {
		unsigned char c = (unsigned char)value.at[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
		if (plain)
			buf_add_char(out, (char)c);
		else
			buf_add_format(out, "%%%02X", c);
	}
}

static struct str next_page(struct list_read *list, const struct uuid *last)
{
	char id[UUID_TEXT_SIZE];
	struct arena *arena = &list->read.arena;
	AUTO(buf) query = { 0 };
	add_parameter(&query, "workflow", list->only.name);
	add_parameter(&query, "status", list->status);
	add_parameter(&query, "state", list->state);
	add_parameter(&query, "label", list->labels);
	return str_format(arena, "</api/runs?limit=%lld&cursor=" STR_FMT STR_FMT ">; rel=\"next\"",
			  (long long)list->limit, STR_ARG(uuid_text(last, id)),
			  STR_ARG(buf_str(&query)));
}

static void runs_work(struct executor_read *read, struct store_reader *reader)
{
	struct list_read *list = (struct list_read *)read;
	struct store_run_page page;
	size_t limit = (size_t)list->limit;
	bool good = list->by_id ? reader->ops->find_runs(reader, &list->first, &list->last, limit,
							 &read->arena, &page, &list->error)
				: reader->ops->list_runs(reader, &list->only,
							 list->has_before ? &list->run : NULL,
							 limit, &read->arena, &page, &list->error);
	if (!good)
		return;
	struct json_writer writer = { .out = &list->text };
	json_open(&writer, '[');
	for (size_t i = 0; i < page.count; i++)
		runtime_run_summary_model_print(run_summary_model(&page.at[i], &read->arena),
						&writer);
	json_close(&writer, ']');
	if (page.count == limit && !list->by_id)
		list->next = next_page(list, &page.at[page.count - 1].id);
}

static void list_done(struct executor_read *read)
{
	struct list_read *list = (struct list_read *)read;
	const struct http_header headers[] = { { S("Content-Type"), S("application/json") },
					       { S("Link"), list->next } };
	if (list->error.code != ERROR_NONE)
		api_reply_error(list->api, list->exchange, &list->error, NULL);
	else
		api_reply(list->api, list->exchange, 200, headers, list->next.size > 0 ? 2 : 1,
			  buf_str(&list->text));
	list_free(list);
}

static void add_word(struct buf *words, struct str word)
{
	buf_add_format(words, "%s" STR_FMT, words->size == 0 ? "" : ", ", STR_ARG(word));
}

/* Sets the states that a status selects.  A status is a state of Baton or a word of the runtime
 * vocabulary, which may stand for several states. */
static bool find_states(struct list_read *list, struct str status, struct error *error)
{
	if (status.size == 0)
		return true;
	struct str *states = arena_array(&list->read.arena, struct str, VOCABULARY_RUN_COUNT);
	AUTO(buf) own_names = { 0 };
	AUTO(buf) runtime_names = { 0 };
	for (enum vocabulary_run i = 0; i < VOCABULARY_RUN_COUNT; i++) {
		const struct vocabulary_run_row *row = vocabulary_run(i);
		size_t at;
		add_word(&own_names, row->word);
		if (!str_find(buf_str(&runtime_names), row->runtime, &at))
			add_word(&runtime_names, row->runtime);
		if (str_equal(status, row->word) || str_equal(status, row->runtime))
			states[list->only.state_count++] = row->word;
	}
	list->only.states = states;
	return list->only.state_count > 0 ||
	       fail(error, ERROR_USAGE,
		    "unknown status \"" STR_FMT "\"; expected one of " STR_FMT
		    ", or of the runtime vocabulary: " STR_FMT,
		    STR_ARG(str_head(status, LIMIT_QUOTE_BYTES)), STR_ARG(buf_str(&own_names)),
		    STR_ARG(buf_str(&runtime_names)));
}

/* ?state= is one of Baton's own states: "running" excludes runs that wait for a person. */
static bool find_state(struct list_read *list, struct error *error)
{
	AUTO(buf) names = { 0 };
	if (list->state.size == 0)
		return true;
	if (list->status.size > 0)
		return fail(error, ERROR_USAGE, "?state= and ?status= cannot be combined");
	for (enum vocabulary_run i = 0; i < VOCABULARY_RUN_COUNT; i++) {
		add_word(&names, vocabulary_run(i)->word);
		if (str_equal(list->state, vocabulary_run(i)->word))
			list->only.state_count = 1;
	}
	list->only.states = &list->state;
	return list->only.state_count > 0 ||
	       fail(error, ERROR_USAGE, "unknown state \"" STR_FMT "\"; expected one of " STR_FMT,
		    STR_ARG(str_head(list->state, LIMIT_QUOTE_BYTES)), STR_ARG(buf_str(&names)));
}

/* ?label=team=core,env=prod */
static bool find_labels(struct list_read *list, struct error *error)
{
	struct str rest = list->labels, label;
	struct str *labels = arena_array(&list->read.arena, struct str, LIMIT_LABEL_FILTERS);
	size_t count = 0, at;
	while (list->labels.size > 0 && str_cut(&rest, ',', &label)) {
		if (count == LIMIT_LABEL_FILTERS)
			return fail(error, ERROR_USAGE, "?label= takes at most %d labels",
				    LIMIT_LABEL_FILTERS);
		if (!str_find(label, S("="), &at) || at == 0)
			return fail(error, ERROR_USAGE,
				    "?label= takes NAME=VALUE, or several separated by commas, not "
				    "\"" STR_FMT "\"",
				    STR_ARG(str_head(label, LIMIT_QUOTE_BYTES)));
		labels[count++] = label;
	}
	list->only.labels = (struct str_list){ labels, count };
	return true;
}

/* Reads ?id_prefix=, which stands alone. */
static bool read_prefix(struct api_call *call, struct list_read *list)
{
	struct str prefix = api_query(call, S("id_prefix"));
	list->by_id = prefix.size > 0;
	if (!list->by_id)
		return true;
	if (list->has_before || list->only.name.size > 0 || list->only.state_count > 0 ||
	    list->labels.size > 0)
		return fail(&list->error, ERROR_USAGE,
			    "?id_prefix= cannot be combined with other filters or with a cursor");
	return uuid_prefix_parse(prefix, &list->first, &list->last) ||
	       fail(&list->error, ERROR_USAGE,
		    "?id_prefix= must be %d to 32 hexadecimal digits, not \"" STR_FMT "\"",
		    UUID_PREFIX_LEAST, STR_ARG(str_head(prefix, LIMIT_QUOTE_BYTES)));
}

void api_run_list(struct api_call *call)
{
	struct list_read *list = list_new(call);
	struct str cursor = api_query(call, S("cursor"));
	list->has_before = cursor.size > 0;
	list->only.name = str_copy(&list->read.arena, api_query(call, S("workflow")));
	list->status = str_copy(&list->read.arena, api_query(call, S("status")));
	list->labels = str_copy(&list->read.arena, api_query(call, S("label")));
	list->state = str_copy(&list->read.arena, api_query(call, S("state")));
	bool good = find_states(list, list->status, &list->error) &&
		    find_state(list, &list->error) && find_labels(list, &list->error) &&
		    read_prefix(call, list) &&
		    api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 50, &list->limit,
				  &list->error);
	if (good && list->has_before && !uuid_parse(cursor, &list->run))
		good = fail(&list->error, ERROR_USAGE,
			    "?cursor= must be the cursor of a previous page of this list");
	if (!good) {
		api_reply_error(call->api, call->exchange, &list->error, NULL);
		list_free(list);
		return;
	}
	list->read.work = runs_work;
	list->read.done = list_done;
	executor_read(call->api->settings.executor, &list->read);
}

/* ---- events ------------------------------------------------------------------------ */

static bool event_of(const struct store_event_row *row, struct arena *arena,
		     struct run_event *out_event, struct error *error)
{
	struct run_event *event = run_event_new(arena);
	const struct json *json;
	if (!stored_event_tree(row, arena, &json, error))
		return false;
	SET(event, run_id, row->run);
	SET(event, seq, row->seq);
	SET(event, position, str_format(arena, "%lld", (long long)row->position));
	SET(event, at, row->at);
	SET(event, type, row->type);
	SET(event, data, json);
	*out_event = *event;
	return true;
}

bool api_event_print(const struct store_event_row *row, struct arena *arena,
		     struct json_writer *writer, struct error *error)
{
	struct run_event event;
	if (!event_of(row, arena, &event, error))
		return false;
	run_event_print(&event, writer);
	return true;
}

static void events_work(struct executor_read *read, struct store_reader *reader)
{
	struct list_read *list = (struct list_read *)read;
	struct store_event_page page;
	struct store_run run;
	bool found;
	if (!reader->ops->read_run(reader, &list->run, &read->arena, &run, &found, &list->error))
		return;
	if (!found) {
		fail(&list->error, ERROR_NOT_FOUND, "there is no run with this id");
		return;
	}
	if (!api_timeline_check_floor(run.floor, list->after, &list->error))
		return;
	if (!reader->ops->read_events(reader, &list->run, list->after, (size_t)list->limit,
				      &read->arena, &page, &list->error))
		return;
	struct run_event *items = arena_array(&read->arena, struct run_event, page.count);
	for (size_t i = 0; i < page.count; i++)
		if (!event_of(&page.at[i], &read->arena, &items[i], &list->error))
			return;
	struct run_event_page *answer = run_event_page_new(&read->arena);
	SET(answer, items, ((struct run_event_list){ items, page.count }));
	if (page.count == (size_t)list->limit)
		SET(answer, cursor,
		    str_format(&read->arena, "%lld", (long long)page.at[page.count - 1].seq));
	struct json_writer writer = { .out = &list->text };
	run_event_page_print(answer, &writer);
}

static void send_events(struct api_call *call, const struct view *view, struct event_cursor after,
			int64_t limit)
{
	struct result_read *r = result_new(call->api, call->exchange, &call->id, view);
	r->as_events = true;
	r->after = after;
	r->limit = limit;
	api_read_job_begin(&r->answer, result_work);
}

void api_run_events(struct api_call *call)
{
	struct list_read *list = list_new(call);
	struct str name = api_query(call, S("view"));
	const struct view *view = NULL;
	struct event_cursor after;
	struct event_filter filter = { 0 };
	list->run = call->id;
	if (!api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &list->limit,
			   &list->error) ||
	    !api_query_cursor(call, S("after"), event_cursor_of(0), &after, &list->error) ||
	    (name.size > 0 && !view_from(name, &view, &list->error)) ||
	    !event_filter_read(&filter, call, view, &list->error)) {
		api_reply_error(call->api, call->exchange, &list->error, NULL);
		list_free(list);
		return;
	}
	if (!event_filter_is_empty(&filter)) {
		api_events_of_run(call, view, after, list->limit, &filter);
		list_free(list);
		return;
	}
	list->after = after.at; /* a group in Baton's own words has one event */
	if (view != NULL) {
		send_events(call, view, after, list->limit);
		list_free(list);
		return;
	}
	list->read.work = events_work;
	list->read.done = list_done;
	executor_read(call->api->settings.executor, &list->read);
}
