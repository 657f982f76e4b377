/* api/api_db.c -- store administration: stats, check, backup, vacuum, compact, rebuild.
 *
 * The process that owns the data folder has the only writing connection, so these operations are
 * requests like any other.  They can take long and reveal or write files of the machine, so only
 * clients of baton.sock may call them.  All but the vacuum run on a reader thread.
 *
 * The store does not understand event bodies.  So the check for missing values is here: every value
 * that an event or a snapshot refers to must be stored.  Reading a value verifies its hash.
 */
#include "active/executor_jobs.h"
#include "api/read_job.h"
#include "base/limits.h"
#include "contract/describe.h"
#include "contract/event.h"
#include "active/stored_row.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_store_types.h"
#include "contract/run_value_types.h"
#include "maintenance/maintenance.h"

struct db_job {
	struct api_read_job answer;      /* first */
	struct executor_admin_job write; /* of a vacuum, which then reads the stats */
	struct str file;
	/* Of a check: */
	struct str problems[LIMIT_PROBLEMS];
	size_t count;
	int64_t events, values;
};

/* False after an error response. */
static bool is_local(struct api_call *call)
{
	struct error error;
	if (call->request->local)
		return true;
	fail(&error, ERROR_FORBIDDEN, "store administration is available through baton.sock only");
	api_reply_error(call->api, call->exchange, &error, NULL);
	return false;
}

/* NULL after an error response. */
static struct db_job *db_job_new(struct api_call *call)
{
	if (!is_local(call))
		return NULL;
	return api_read_job_new(call->api, call->exchange, sizeof(struct db_job));
}

/* ---- stats ------------------------------------------------------------------------- */

static void stats_work(struct executor_read *read, struct store_reader *reader)
{
	struct db_job *job = (struct db_job *)read;
	struct store_size size;
	if (!reader->admin->measure(reader, &size, &job->answer.error))
		return;
	const struct store_stats stats = executor_store_stats(read->executor);
	struct run_store_stats *answer = run_store_stats_new(&read->arena);
	SET(answer, runs, size.runs);
	SET(answer, events, size.events);
	SET(answer, effects, size.effects);
	SET(answer, values, size.blobs);
	SET(answer, bytes, size.bytes);
	SET(answer, pages, store_detail(&size.details, "pages"));
	SET(answer, free_pages, store_detail(&size.details, "free_pages"));
	SET(answer, wal_bytes, store_detail(&size.details, "wal_bytes"));
	SET(answer, commits, (int64_t)stats.commits);
	SET(answer, appends, (int64_t)stats.appends);
	SET(answer, refusals, (int64_t)stats.refusals);
	job->answer.text = run_store_stats_text(answer, &read->arena);
}

void api_db_stats(struct api_call *call)
{
	struct db_job *job = db_job_new(call);
	if (job != NULL)
		api_read_job_begin(&job->answer, stats_work);
}

/* ---- vacuum ------------------------------------------------------------------------ */

static struct db_job *db_job_of(struct executor_admin_job *write)
{
	return (struct db_job *)(void *)((char *)write - offsetof(struct db_job, write));
}

static void vacuum_work(struct executor_admin_job *write, struct store *store)
{
	store->admin->vacuum(store, &db_job_of(write)->answer.error);
}

static void vacuum_done(struct executor_admin_job *write)
{
	struct db_job *job = db_job_of(write);
	if (job->answer.error.code == ERROR_NONE)
		api_read_job_begin(&job->answer, stats_work);
	else
		api_read_job_end(&job->answer);
}

void api_db_vacuum(struct api_call *call)
{
	struct db_job *job = db_job_new(call);
	if (job == NULL)
		return;
	job->write.work = vacuum_work;
	job->write.done = vacuum_done;
	executor_admin_job(call->api->settings.executor, &job->write);
}

/* ---- backup ------------------------------------------------------------------------ */

static void backup_work(struct executor_read *read, struct store_reader *reader)
{
	struct db_job *job = (struct db_job *)read;
	int64_t bytes;
	if (!reader->admin->backup(reader, job->file.at, &bytes, &job->answer.error))
		return;
	struct run_store_copied *answer = run_store_copied_new(&read->arena);
	SET(answer, file, job->file);
	SET(answer, bytes, bytes);
	job->answer.text = run_store_copied_text(answer, &read->arena);
}

void api_db_backup(struct api_call *call, const struct run_store_copy *body)
{
	struct db_job *job = db_job_new(call);
	if (job == NULL)
		return;
	size_t at;
	if (str_find(body->file, S("\0"), &at)) {
		fail(&job->answer.error, ERROR_INVALID,
		     "file: the path must not contain a NUL character");
		api_read_job_end(&job->answer);
		return;
	}
	const char *file = str_c(&job->answer.read.arena, body->file);
	job->file = (struct str){ file, body->file.size };
	api_read_job_begin(&job->answer, backup_work);
}

/* ---- check ------------------------------------------------------------------------- */

static void add_problem(struct db_job *job, struct str problem)
{
	if (job->count < LIMIT_PROBLEMS)
		job->problems[job->count++] = problem;
}

static void check_hash(struct db_job *job, struct store_reader *reader, const struct uuid *run,
		       struct str where, const struct hash *hash)
{
	AUTO(arena) arena = { 0 };
	struct str bytes;
	bool found = false;
	struct error error;
	char id[UUID_TEXT_SIZE], name[HASH_TEXT_SIZE];
	job->values++;
	bool read = reader->ops->read_blob(reader, hash, &arena, &bytes, &found, &error);
	if (read && found)
		return;
	add_problem(job, str_format(&job->answer.read.arena,
				    STR_FMT " of run " STR_FMT ": the value " STR_FMT " %s",
				    STR_ARG(where), STR_ARG(uuid_text(run, id)),
				    STR_ARG(str_head(hash_text(hash, name), 12)),
				    read ? "is not stored" : error.text));
}

static void check_event(struct db_job *job, struct store_reader *reader,
			const struct store_event_row *row, struct arena *arena)
{
	struct event event;
	struct error error;
	job->events++;
	if (!stored_event_read(row, arena, &event, &error)) {
		add_problem(job, str_copy(&job->answer.read.arena, str_from_c(error.text)));
		return;
	}
	struct hash names[EVENT_NAMES];
	size_t count = event_names(&event, names);
	for (size_t i = 0; i < count; i++)
		check_hash(job, reader, &row->run,
			   str_format(arena, "event %lld", (long long)row->seq), &names[i]);
}

static bool check_events(struct db_job *job, struct store_reader *reader)
{
	int64_t after = 0;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_event_page page;
		if (!reader->ops->read_all(reader, after, LIMIT_STREAM_PAGE_EVENTS, &arena, &page,
					   &job->answer.error))
			return false;
		for (size_t i = 0; i < page.count; i++)
			check_event(job, reader, &page.at[i], &arena);
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return true;
		after = page.at[page.count - 1].position;
	}
}

static void check_value(struct db_job *job, struct store_reader *reader, const struct uuid *run,
			struct str where, const struct run_value *value)
{
	struct hash name;
	if (value_name(value, &name))
		check_hash(job, reader, run, where, &name);
}

static void check_snapshot_values(struct db_job *job, struct store_reader *reader,
				  const struct uuid *run, struct str where,
				  const struct run_snapshot *snapshot)
{
	check_hash(job, reader, run, where, &snapshot->definition);
	check_value(job, reader, run, where, snapshot->inputs);
	if (has(snapshot, outputs))
		check_value(job, reader, run, where, snapshot->outputs);
	for (size_t i = 0; i < snapshot->steps.count; i++) {
		const struct run_snapshot_step *step = &snapshot->steps.at[i];
		if (has(step, inputs))
			check_value(job, reader, run, where, step->inputs);
		if (has(step, output))
			check_value(job, reader, run, where, step->output);
	}
}

/* The newest snapshot replaces the deleted events of a compacted run, so its values must exist. */
static bool check_snapshot(struct db_job *job, struct store_reader *reader, const struct uuid *run)
{
	AUTO(arena) arena = { 0 };
	struct store_snapshot snapshot;
	struct problems problems = { .arena = &arena };
	struct error error;
	char id[UUID_TEXT_SIZE];
	bool found;
	if (!reader->ops->read_snapshot(reader, run, 0, &arena, &snapshot, &found,
					&job->answer.error))
		return false;
	if (!found)
		return true;
	struct str where = str_format(&arena, "snapshot %lld", (long long)snapshot.seq);
	const struct run_snapshot *read = NULL;
	struct contract_source source = { .text = snapshot.body, .lenient = true };
	if (json_read(snapshot.body, &arena, &source.json, &error)) {
		read = run_snapshot_parse(&source, &arena, &problems);
		if (read == NULL)
			problems_fail(&problems, &error);
	}
	if (read == NULL)
		add_problem(job,
			    str_format(&job->answer.read.arena,
				       STR_FMT " of run " STR_FMT " cannot be read: %s",
				       STR_ARG(where), STR_ARG(uuid_text(run, id)), error.text));
	else
		check_snapshot_values(job, reader, run, where, read);
	return true;
}

static bool check_snapshots(struct db_job *job, struct store_reader *reader)
{
	struct uuid last;
	const struct uuid *before = NULL;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_run_page page;
		if (!reader->ops->list_runs(reader, NULL, before, LIMIT_PAGE_ITEMS, &arena, &page,
					    &job->answer.error))
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!check_snapshot(job, reader, &page.at[i].id))
				return false;
		if (page.count < LIMIT_PAGE_ITEMS)
			return true;
		last = page.at[page.count - 1].id;
		before = &last;
	}
}

static void check_work(struct executor_read *read, struct store_reader *reader)
{
	struct db_job *job = (struct db_job *)read;
	struct store_check check;
	if (!reader->admin->check(reader, &read->arena, &check, &job->answer.error))
		return;
	for (size_t i = 0; i < check.count; i++)
		add_problem(job, check.problems[i]);
	if (!check_events(job, reader) || !check_snapshots(job, reader)) {
		/* An unreadable store is a result of the check, not a failure of the request. */
		add_problem(job, str_copy(&read->arena, str_from_c(job->answer.error.text)));
		job->answer.error = (struct error){ 0 };
	}
	struct run_store_check *answer = run_store_check_new(&read->arena);
	SET(answer, sound, job->count == 0);
	SET(answer, events, job->events);
	SET(answer, values, job->values);
	SET(answer, problems, ((struct str_list){ job->problems, job->count }));
	job->answer.text = run_store_check_text(answer, &read->arena);
}

void api_db_check(struct api_call *call)
{
	struct db_job *job = db_job_new(call);
	if (job != NULL)
		api_read_job_begin(&job->answer, check_work);
}

/* ---- compact ----------------------------------------------------------------------- */

static void compacted(void *context, uint64_t argument, const struct maintenance_compacted *result)
{
	struct api *api = context;
	AUTO(arena) arena = { 0 };
	if (result->error != NULL) {
		api_reply_error(api, argument, result->error, NULL);
		return;
	}
	struct run_store_compacted *answer = run_store_compacted_new(&arena);
	SET(answer, runs, result->runs);
	SET(answer, compacted, result->compacted);
	SET(answer, events, result->events);
	SET(answer, values, result->values);
	SET(answer, free_bytes, result->free_bytes);
	SET(answer, artifacts, result->artifacts);
	SET(answer, workspaces, result->workspaces);
	api_reply_json(api, argument, 200, run_store_compacted_text(answer, &arena));
}

void api_db_compact(struct api_call *call, const struct run_store_compact *body)
{
	const struct maintenance_compaction wanted = {
		.days = has(body, days) ? body->days : -1,
		.max_events = has(body, max_events) ? body->max_events : -1,
		.counts_values = true,
		.workspaces = has(body, workspaces) && body->workspaces,
	};
	if (is_local(call))
		maintenance_compact(call->api->settings.maintenance, &wanted, compacted, call->api,
				    call->exchange);
}

/* ---- rebuild ----------------------------------------------------------------------- */

static struct run_stored_projection_list stored_projections(struct arena *arena)
{
	size_t count = 0;
	while (stored_row_at(count) != NULL)
		count++;
	struct run_stored_projection *at = arena_array(arena, struct run_stored_projection, count);
	for (size_t i = 0; i < count; i++) {
		const struct stored_row *row = stored_row_at(i);
		at[i] = *run_stored_projection_new(arena);
		SET(&at[i], name, row->name);
		SET(&at[i], source, row->source);
		SET(&at[i], text, row->text);
	}
	return (struct run_stored_projection_list){ at, count };
}

static void rebuilt(void *context, uint64_t argument, const struct maintenance_rebuilt *result)
{
	struct api *api = context;
	AUTO(arena) arena = { 0 };
	if (result->error != NULL) {
		api_reply_error(api, argument, result->error, NULL);
		return;
	}
	struct run_store_rebuilt *answer = run_store_rebuilt_new(&arena);
	SET(answer, runs, result->runs);
	SET(answer, effects, result->effects);
	SET(answer, busy, result->busy);
	SET(answer, resumed, result->resumed);
	SET(answer, documents, result->documents);
	SET(answer, problems, ((struct str_list){ result->problems, result->problem_count }));
	SET(answer, projections, stored_projections(&arena));
	api_reply_json(api, argument, 200, run_store_rebuilt_text(answer, &arena));
}

void api_db_rebuild(struct api_call *call)
{
	if (is_local(call))
		maintenance_rebuild(call->api->settings.maintenance, rebuilt, call->api,
				    call->exchange);
}
