/* api/api_db.c -- care of the store: how large it is, whether it is whole, a copy, a vacuum.
 *
 * Whoever owns the data folder has the only connection that may write, so these go through it like
 * everything else.  They can take long and they show or write files of the machine, therefore only
 * who comes through baton.sock may ask.  All but the vacuum work on a reader thread.
 *
 * The store knows nothing of what is in an event, so that every value an event names is there is
 * checked here; reading a value checks it against its hash.
 */
#include <stdlib.h>

#include "api/inside.h"
#include "base/limits.h"
#include "contract/event.h"

struct care {
	struct runtime_read read;
	struct runtime_care write; /* a vacuum comes first */
	struct api *api;
	uint64_t exchange;
	struct str file;
	struct str text; /* the answer */
	struct error error;
	/* a check */
	struct str problems[LIMIT_PROBLEMS];
	size_t count;
	int64_t events, values;
};

/* NULL after saying no. */
static struct care *care_new(struct api_call *call)
{
	if (!call->request->local) {
		struct error error;
		fail(&error, ERROR_FORBIDDEN, "the store is cared for through baton.sock only");
		api_reply_error(call->api, call->exchange, &error, NULL);
		return NULL;
	}
	struct care *care = calloc(1, sizeof(*care));
	require(care != NULL);
	care->api = call->api;
	care->exchange = call->exchange;
	return care;
}

static void care_done(struct runtime_read *read)
{
	struct care *care = (struct care *)read;
	if (care->error.code != ERROR_NONE)
		api_reply_error(care->api, care->exchange, &care->error, NULL);
	else
		api_reply_json(care->api, care->exchange, 200, care->text);
	arena_done(&read->arena);
	free(care);
}

static void care_read(struct care *care,
		      void (*work)(struct runtime_read *read, struct store_reader *reader))
{
	care->read.work = work;
	care->read.done = care_done;
	runtime_read(care->api->settings.runtime, &care->read);
}

/* ---- stats --------------------------------------------------------------------------- */

static void stats_work(struct runtime_read *read, struct store_reader *reader)
{
	struct care *care = (struct care *)read;
	struct store_size size;
	if (!reader->ops->measure(reader, &size, &care->error))
		return;
	const struct store_stats stats = runtime_store_stats(read->runtime);
	struct run_store_stats *answer = run_store_stats_new(&read->arena);
	SET(answer, runs, size.runs);
	SET(answer, events, size.events);
	SET(answer, effects, size.effects);
	SET(answer, values, size.blobs);
	SET(answer, bytes, size.pages * size.page_bytes);
	SET(answer, pages, size.pages);
	SET(answer, free_pages, size.free_pages);
	SET(answer, wal_bytes, size.wal_bytes);
	SET(answer, commits, (int64_t)stats.commits);
	SET(answer, appends, (int64_t)stats.appends);
	SET(answer, refusals, (int64_t)stats.refusals);
	care->text = run_store_stats_text(answer, &read->arena);
}

void api_db_stats(struct api_call *call)
{
	struct care *care = care_new(call);
	if (care != NULL)
		care_read(care, stats_work);
}

/* ---- vacuum -------------------------------------------------------------------------- */

static struct care *care_of(struct runtime_care *write)
{
	return (struct care *)(void *)((char *)write - offsetof(struct care, write));
}

static void vacuum_work(struct runtime_care *write, struct store *store)
{
	store->ops->vacuum(store, &care_of(write)->error);
}

static void vacuum_done(struct runtime_care *write)
{
	struct care *care = care_of(write);
	if (care->error.code == ERROR_NONE)
		care_read(care, stats_work);
	else
		care_done(&care->read);
}

void api_db_vacuum(struct api_call *call)
{
	struct care *care = care_new(call);
	if (care == NULL)
		return;
	care->write.work = vacuum_work;
	care->write.done = vacuum_done;
	runtime_care(call->api->settings.runtime, &care->write);
}

/* ---- backup -------------------------------------------------------------------------- */

static void backup_work(struct runtime_read *read, struct store_reader *reader)
{
	struct care *care = (struct care *)read;
	int64_t bytes;
	if (!reader->ops->backup(reader, care->file.at, &bytes, &care->error))
		return;
	struct run_store_copied *answer = run_store_copied_new(&read->arena);
	SET(answer, file, care->file);
	SET(answer, bytes, bytes);
	care->text = run_store_copied_text(answer, &read->arena);
}

void api_db_backup(struct api_call *call, const struct run_store_copy *body)
{
	struct care *care = care_new(call);
	if (care == NULL)
		return;
	size_t at;
	if (str_find(body->file, S("\0"), &at)) {
		fail(&care->error, ERROR_INVALID, "file must be a path, without a zero byte");
		care_done(&care->read);
		return;
	}
	const char *file = str_c(&care->read.arena, body->file);
	care->file = (struct str){ file, body->file.size };
	care_read(care, backup_work);
}

/* ---- check --------------------------------------------------------------------------- */

static void add_problem(struct care *care, struct str problem)
{
	if (care->count < LIMIT_PROBLEMS)
		care->problems[care->count++] = problem;
}

static void follow(struct care *care, struct store_reader *reader,
		   const struct store_event_row *row, struct str name, const struct hash *hash)
{
	AUTO(arena) arena = { 0 };
	struct str bytes;
	bool found = false;
	struct error error;
	char run[UUID_TEXT_SIZE];
	care->values++;
	bool read = reader->ops->read_blob(reader, hash, &arena, &bytes, &found, &error);
	if (read && found)
		return;
	add_problem(care, str_format(&care->read.arena,
				     "event %lld of run " STR_FMT ": the value of " STR_FMT " %s",
				     (long long)row->seq, STR_ARG(uuid_text(&row->run, run)),
				     STR_ARG(name), read ? "is not stored" : error.text));
}

/* A value is named by a member of an event's body: {"sha256": …, "size": …}; the graph by its hash
 * alone. */
static void follow_members(struct care *care, struct store_reader *reader,
			   const struct store_event_row *row, const struct json *body)
{
	for (size_t i = 0; body->kind == JSON_OBJECT && i < body->as.object.count; i++) {
		const struct json_member *member = &body->as.object.at[i];
		struct str text = json_text(json_member(&member->value, S("sha256")));
		if (str_equal(row->type, event_name(EVENT_RUN_CREATED)) &&
		    str_equal(member->key, S("definition")))
			text = json_text(&member->value);
		struct hash hash;
		if (text.size > 0 && hash_parse(text, &hash))
			follow(care, reader, row, member->key, &hash);
	}
}

static void check_event(struct care *care, struct store_reader *reader,
			const struct store_event_row *row, struct arena *arena)
{
	struct event event;
	const struct json *body;
	struct error error;
	char run[UUID_TEXT_SIZE];
	care->events++;
	if (json_read(row->body, arena, &body, &error) &&
	    event_read(row->type, row->at, row->body, arena, &event, &error))
		follow_members(care, reader, row, body);
	else
		add_problem(care, str_format(&care->read.arena,
					     "event %lld of run " STR_FMT " cannot be read: %s",
					     (long long)row->seq,
					     STR_ARG(uuid_text(&row->run, run)), error.text));
}

static bool check_events(struct care *care, struct store_reader *reader)
{
	int64_t after = 0;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_event_page page;
		if (!reader->ops->read_all(reader, after, LIMIT_STREAM_PAGE_EVENTS, &arena, &page,
					   &care->error))
			return false;
		for (size_t i = 0; i < page.count; i++)
			check_event(care, reader, &page.at[i], &arena);
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return true;
		after = page.at[page.count - 1].position;
	}
}

static void check_work(struct runtime_read *read, struct store_reader *reader)
{
	struct care *care = (struct care *)read;
	struct store_check check;
	if (!reader->ops->check(reader, &read->arena, &check, &care->error))
		return;
	for (size_t i = 0; i < check.count; i++)
		add_problem(care, check.problems[i]);
	if (!check_events(care, reader)) {
		/* What cannot be read is what the check is about. */
		add_problem(care, str_copy(&read->arena, str_from_c(care->error.text)));
		care->error = (struct error){ 0 };
	}
	struct run_store_check *answer = run_store_check_new(&read->arena);
	SET(answer, sound, care->count == 0);
	SET(answer, events, care->events);
	SET(answer, values, care->values);
	SET(answer, problems, ((struct str_list){ care->problems, care->count }));
	care->text = run_store_check_text(answer, &read->arena);
}

void api_db_check(struct api_call *call)
{
	struct care *care = care_new(call);
	if (care != NULL)
		care_read(care, check_work);
}
