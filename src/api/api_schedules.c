/* api/api_schedules.c -- schedules: definition and progress in one response.
 *
 * The ETag is the revision of the definition.  The progress changes with every due time and has no
 * part in it.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api_documents.h"
#include "contract/run_schedule_types.h"
#include "document/schedules.h"

struct schedule_read {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct str name, had;
	struct str after; /* of a page: name of the last schedule before it */
	int64_t limit, now;
	int64_t revision;
	int status;   /* of the response */
	bool deletes; /* the response has no body */
	struct str text;
	struct error error;
};

static struct schedule_read *read_new(struct api_call *call)
{
	struct schedule_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->name = str_copy(&r->read.arena, api_name(call, S("name")));
	r->had = S("");
	r->status = 200;
	return r;
}

static void read_free(struct schedule_read *r)
{
	arena_done(&r->read.arena);
	free(r);
}

static void refuse(struct schedule_read *r, const struct error *error,
		   const struct problems *problems)
{
	api_reply_error(r->api, r->exchange, error, problems);
	read_free(r);
}

static void read_done(struct executor_read *read)
{
	struct schedule_read *r = (struct schedule_read *)read;
	if (r->error.code != ERROR_NONE) {
		refuse(r, &r->error, NULL);
		return;
	}
	api_reply_json(r->api, r->exchange, 200, r->text);
	read_free(r);
}

static void submit(struct schedule_read *r,
		   void (*work)(struct executor_read *read, struct store_reader *reader),
		   void (*done)(struct executor_read *read))
{
	r->read.work = work;
	r->read.done = done;
	executor_read(r->api->settings.executor, &r->read);
}

static bool fail_not_found(struct schedule_read *r)
{
	return fail(&r->error, ERROR_NOT_FOUND, "there is no schedule called " STR_FMT,
		    STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)));
}

/* ---- showing ----------------------------------------------------------------------- */

static const struct run_schedule_item *item_of(const struct run_schedule *schedule,
					       const struct run_schedule_progress *progress,
					       struct arena *arena)
{
	struct run_schedule_item *item = run_schedule_item_new(arena);
	SET(item, name, schedule->name);
	if (has(schedule, cron))
		SET(item, cron, schedule->cron);
	if (has(schedule, every))
		SET(item, every, schedule->every);
	SET(item, time_zone, schedule->time_zone);
	SET(item, workflow, schedule->workflow);
	SET(item, inputs, schedule->inputs);
	SET(item, overlap, schedule->overlap);
	SET(item, catch_up, schedule->catch_up);
	SET(item, paused, schedule->paused);
	if (has(progress, next_at))
		SET(item, next_at, progress->next_at);
	SET(item, waiting, progress->waiting);
	SET(item, running, progress->running);
	SET(item, started, progress->started);
	SET(item, skipped, progress->skipped);
	SET(item, failed, progress->failed);
	if (has(progress, last_due_at))
		SET(item, last_due_at, progress->last_due_at);
	if (has(progress, last_run))
		SET(item, last_run, progress->last_run);
	if (has(progress, last_error))
		SET(item, last_error, progress->last_error);
	return item;
}

static void one_work(struct executor_read *read, struct store_reader *reader)
{
	struct schedule_read *r = (struct schedule_read *)read;
	const struct run_schedule *schedule;
	const struct run_schedule_progress *progress;
	if (!schedules_read(reader, r->name, &read->arena, &schedule, &progress, &r->revision,
			    &r->error))
		return;
	if (schedule == NULL)
		(void)!fail_not_found(r);
	else
		r->text = run_schedule_item_text(item_of(schedule, progress, &read->arena),
						 &read->arena);
}

static void one_done(struct executor_read *read)
{
	struct schedule_read *r = (struct schedule_read *)read;
	struct arena *arena = &read->arena;
	if (r->error.code != ERROR_NONE) {
		refuse(r, &r->error, NULL);
		return;
	}
	struct str etag = str_format(arena, "\"%lld\"", (long long)r->revision);
	struct str location = S("");
	if (r->status == 201)
		location = api_documents_location(S("/api/schedules/"), r->name, arena);
	api_documents_reply(r->api, r->exchange, r->status, etag, location, r->had, r->text);
	read_free(r);
}

void api_schedule_read(struct api_call *call)
{
	struct schedule_read *r = read_new(call);
	r->had = str_copy(&r->read.arena, http_header(call->request, S("If-None-Match")));
	submit(r, one_work, one_done);
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct schedule_read *r = (struct schedule_read *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	size_t count = 0;
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_SCHEDULE), r->after,
					 (size_t)r->limit, arena, &page, &r->error))
		return;
	struct run_schedule_item *items = arena_array(arena, struct run_schedule_item, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct run_schedule *schedule;
		const struct run_schedule_progress *progress;
		int64_t revision;
		if (!schedules_read(reader, page.at[i].name, arena, &schedule, &progress, &revision,
				    &r->error))
			return;
		if (schedule != NULL) /* else it was deleted since the list was read */
			items[count++] = *item_of(schedule, progress, arena);
	}
	struct run_schedule_page *answer = run_schedule_page_new(arena);
	SET(answer, items, ((struct run_schedule_item_list){ items, count }));
	if (page.count == (size_t)r->limit)
		SET(answer, cursor, page.at[page.count - 1].name);
	r->text = run_schedule_page_text(answer, arena);
}

void api_schedule_list(struct api_call *call)
{
	struct schedule_read *r = read_new(call);
	r->after = str_copy(&r->read.arena, api_query(call, S("cursor")));
	if (api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &r->limit, &r->error))
		submit(r, list_work, read_done);
	else
		refuse(r, &r->error, NULL);
}

static void next_work(struct executor_read *read, struct store_reader *reader)
{
	struct schedule_read *r = (struct schedule_read *)read;
	struct arena *arena = &read->arena;
	const struct run_schedule *schedule;
	const struct run_schedule_progress *progress;
	const struct run_schedule_times *times;
	if (!schedules_read(reader, r->name, arena, &schedule, &progress, &r->revision,
			    &r->error) ||
	    (schedule == NULL && !fail_not_found(r)))
		return;
	if (schedules_times(schedule, progress, r->now, (size_t)r->limit, arena, &times, &r->error))
		r->text = run_schedule_times_text(times, arena);
}

void api_schedule_next(struct api_call *call)
{
	struct schedule_read *r = read_new(call);
	r->now = platform_wall_us(loop_platform(call->api->settings.loop));
	if (api_query_int(call, S("limit"), 1, LIMIT_SCHEDULE_TIMES, 10, &r->limit, &r->error))
		submit(r, next_work, read_done);
	else
		refuse(r, &r->error, NULL);
}

/* ---- changing ---------------------------------------------------------------------- */

static void changed(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct schedule_read *r = context;
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

static void change(struct api_call *call, enum schedules_verb verb, struct str name,
		   int64_t revision, struct str body)
{
	struct schedule_read *r = read_new(call);
	r->name = str_copy(&r->read.arena, name);
	r->deletes = verb == SCHEDULE_DELETE;
	const struct schedules_change requested = { .verb = verb,
						    .name = r->name,
						    .revision = revision,
						    .body = body,
						    .by = api_caller_name(call),
						    .key = call->key };
	schedules_change(call->api->settings.documents, &requested, changed, r, 0);
}

static void change_expected(struct api_call *call, enum schedules_verb verb, struct str body)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		change(call, verb, api_name(call, S("name")), revision, body);
}

void api_schedule_create(struct api_call *call, const struct run_schedule *body)
{
	change(call, SCHEDULE_SET, body->name, 0, run_schedule_text(body, call->arena));
}

void api_schedule_replace(struct api_call *call, const struct run_schedule *body)
{
	change_expected(call, SCHEDULE_SET, run_schedule_text(body, call->arena));
}

void api_schedule_delete(struct api_call *call)
{
	change_expected(call, SCHEDULE_DELETE, S(""));
}

void api_schedule_pause(struct api_call *call)
{
	change_expected(call, SCHEDULE_PAUSE, S(""));
}

void api_schedule_resume(struct api_call *call)
{
	change_expected(call, SCHEDULE_RESUME, S(""));
}
