/* maintenance/rebuild.c -- rows of runs, open effects and documents, derived from the events again (R12).
 *
 * One run at a time: a reader folds its events, the writer thread replaces the rows, and appends that
 * came meanwhile go in between.  An active run writes its row with every append, so it is rebuilt
 * only while none of its appends is in flight; a run that was appended to while it was read is read
 * again.  The documents follow, all at once: a reader finds the newest event of each document, and
 * if the system stream has grown until the writer thread gets to it, that is done again.  What the
 * store itself derives from rows comes last.
 */
#include <stdlib.h>

#include "active/active_run.h"
#include "active/ledger.h"
#include "active/projection.h"
#include "active/run_load.h"
#include "base/limits.h"
#include "base/map.h"
#include "contract/event.h"
#include "contract/run_event_types.h"
#include "maintenance/maintenance_job.h"
#include "os/failpoint.h"
#include "active/stored_row.h"

struct rebuild {
	struct maintenance_job job;
	bool begun;
	struct uuid before; /* the last run of the page before */
	struct uuid runs[LIMIT_RETENTION_PAGE_RUNS];
	size_t count, next;
	struct append_watch watch; /* of the run that is being loaded */
	struct loaded_run loaded;
	struct arena rows; /* of the run that is being written, or of the documents */
	struct store_run row;
	struct store_effect *open;
	size_t open_count;
	struct store_document *documents;
	size_t document_count;
	int64_t system_seq;
	bool current; /* the system stream had not grown: the documents were written */
	int tries;
	struct arena arena; /* of the problems and of `found` */
	struct str problems[LIMIT_PROBLEMS];
	struct uuid *found; /* runs with work under way that are not in memory */
	size_t found_count, found_room;
	struct maintenance_rebuilt result;
	struct error error;
	maintenance_rebuild_done *done;
	void *context;
	uint64_t argument;
};

static void rebuild_next(struct rebuild *rebuild);

static struct rebuild *rebuild_of_admin(struct executor_admin_job *admin)
{
	return (struct rebuild *)maintenance_job_of_admin(admin);
}

/* ---- the end ------------------------------------------------------------------------- */

static void rebuild_free(struct maintenance_job *job)
{
	struct rebuild *rebuild = (struct rebuild *)job;
	executor_watch_appends(job->executor, NULL);
	run_load_discard(job->executor, &rebuild->loaded);
	arena_done(&rebuild->rows);
	arena_done(&rebuild->arena);
	arena_done(&job->read.arena);
	free(rebuild);
}

static void rebuild_end(struct rebuild *rebuild)
{
	struct executor *executor = rebuild->job.executor;
	bool takes_up = executor_has_recovered(executor) && !executor_is_draining(executor);
	for (size_t i = 0; takes_up && i < rebuild->found_count; i++)
		if (active_run_find(executor, &rebuild->found[i]) == NULL) {
			active_run_get(executor, &rebuild->found[i]);
			rebuild->result.resumed++;
		}
	rebuild->result.error = rebuild->error.code == ERROR_NONE ? NULL : &rebuild->error;
	rebuild->result.problems = rebuild->problems;
	rebuild->done(rebuild->context, rebuild->argument, &rebuild->result);
	maintenance_job_end(&rebuild->job);
}

static void end_work(struct executor_admin_job *admin, struct store *store)
{
	FAILPOINT("rebuild.before_end");
	store->admin->rebuild_end(store, &rebuild_of_admin(admin)->error);
}

static void end_done(struct executor_admin_job *admin)
{
	FAILPOINT("rebuild.ended");
	ledger_reload(rebuild_of_admin(admin)->job.executor);
	rebuild_end(rebuild_of_admin(admin));
}

static void all_written(struct rebuild *rebuild)
{
	rebuild->job.admin.work = end_work;
	rebuild->job.admin.done = end_done;
	executor_admin_job(rebuild->job.executor, &rebuild->job.admin);
}

/* ---- one run ------------------------------------------------------------------------- */

static void write_work(struct executor_admin_job *admin, struct store *store)
{
	struct rebuild *rebuild = rebuild_of_admin(admin);
	FAILPOINT("rebuild.before_run");
	store->admin->rebuild_run(store, &rebuild->row, rebuild->open, rebuild->open_count,
				  &rebuild->error);
}

static void write_done(struct executor_admin_job *admin)
{
	struct rebuild *rebuild = rebuild_of_admin(admin);
	FAILPOINT("rebuild.run_written");
	arena_done(&rebuild->rows);
	if (rebuild->error.code != ERROR_NONE) {
		rebuild_end(rebuild);
		return;
	}
	rebuild->result.runs++;
	rebuild->result.effects += (int64_t)rebuild->open_count;
	rebuild_next(rebuild);
}

static void write_run(struct rebuild *rebuild, const struct run *run)
{
	rebuild->row = projection_run_row(run, &rebuild->rows);
	rebuild->row.usage = projection_usage(run, 0, &rebuild->rows);
	rebuild->row.budgets = projection_budgets(run, NULL, 0, &rebuild->rows);
	rebuild->open = projection_open_effects(rebuild->job.executor, run, &rebuild->rows,
						&rebuild->open_count);
	/* The state is freed before the rows are written. */
	rebuild->row.name = str_copy(&rebuild->rows, rebuild->row.name);
	rebuild->job.admin.work = write_work;
	rebuild->job.admin.done = write_done;
	executor_admin_job(rebuild->job.executor, &rebuild->job.admin);
}

static void note_found(struct rebuild *rebuild, const struct uuid *run)
{
	if (rebuild->found_count == rebuild->found_room) {
		rebuild->found_room = rebuild->found_room == 0 ? 16 : rebuild->found_room * 2;
		struct uuid *more = arena_array(&rebuild->arena, struct uuid, rebuild->found_room);
		for (size_t i = 0; i < rebuild->found_count; i++)
			more[i] = rebuild->found[i];
		rebuild->found = more;
	}
	rebuild->found[rebuild->found_count++] = *run;
}

static void note_problem(struct rebuild *rebuild, struct str what)
{
	if (rebuild->result.problem_count < LIMIT_PROBLEMS)
		rebuild->problems[rebuild->result.problem_count++] = str_format(
			&rebuild->arena, STR_FMT ": %s", STR_ARG(what), rebuild->error.text);
	rebuild->error = (struct error){ 0 };
}

/* Does the run have work that should be under way?  A run that only waits has none; nor has one with a
 * turn in the queue of a budget, which the ledger wakes. */
static bool needs_recovery(const struct executor *executor, const struct run *run)
{
	if (ledger_waits(executor, &run->id))
		return false;
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *step = run->paths.at[i];
		if (step != NULL && step->open && step->state == STEP_RUNNING &&
		    run_node(run, step)->kind == RUN_NODE_TOOL)
			return true;
	}
	return run_needs_recovery(run) || engine_could_go_on(run);
}

/* True when the run is in memory: then it is written from there, or counted as busy. */
static bool write_active(struct rebuild *rebuild, const struct uuid *id)
{
	const struct active_run *active = active_run_find(rebuild->job.executor, id);
	if (active == NULL)
		return false;
	if (!active_run_is_stored(active)) {
		rebuild->result.busy++;
		rebuild_next(rebuild);
	} else {
		write_run(rebuild, active->run);
	}
	return true;
}

static void fold_work(struct executor_read *read, struct store_reader *reader)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	bool good = run_load(read->executor, reader, &rebuild->runs[rebuild->next],
			     &rebuild->loaded, &rebuild->error);
	if (good && rebuild->loaded.run == NULL)
		fail(&rebuild->error, ERROR_STORAGE, "it is listed but has no events");
}

static void fold_done(struct executor_read *read)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	struct uuid id = rebuild->runs[rebuild->next];
	/* Taken over first: the next read may begin before this run is written. */
	struct loaded_run loaded = rebuild->loaded;
	rebuild->loaded = (struct loaded_run){ 0 };
	if (rebuild->error.code == ERROR_NONE && rebuild->watch.appended) {
		run_load_discard(read->executor, &loaded);
		rebuild_next(rebuild);
		return;
	}
	rebuild->next++;
	if (rebuild->error.code != ERROR_NONE) {
		char text[UUID_TEXT_SIZE];
		note_problem(rebuild, str_format(&rebuild->arena, "run " STR_FMT,
						 STR_ARG(uuid_text(&id, text))));
		rebuild_next(rebuild);
	} else if (!write_active(rebuild, &id)) {
		if (!run_ended(loaded.run) && needs_recovery(read->executor, loaded.run))
			note_found(rebuild, &id);
		write_run(rebuild, loaded.run);
	}
	run_load_discard(read->executor, &loaded);
}

/* ---- the documents ------------------------------------------------------------------- */

/* The newest event of a document.  Its body is read once all are known, so that the bodies of older
 * events are not kept. */
struct newest {
	struct store_document document;
	int64_t seq;
	bool gone;
};

static const struct uuid system_stream;

static bool changed_read(const struct store_event_row *row, struct arena *arena,
			 const struct run_document_changed **out_changed, struct error *error)
{
	struct event event;
	*out_changed = NULL;
	if (!stored_event_read(row, arena, &event, error))
		return false;
	if (event.type == EVENT_DOCUMENT_CHANGED)
		*out_changed = event.as.run_document_changed;
	return true;
}

static void note_newest(struct map *documents, const struct store_event_row *row,
			const struct run_document_changed *changed, struct arena *arena)
{
	/* A newline separates them: neither kind nor name has a control character. */
	struct str key = str_format(arena, STR_FMT "\n" STR_FMT, STR_ARG(changed->kind),
				    STR_ARG(changed->name));
	struct newest *newest = map_get(documents, key);
	if (newest == NULL) {
		newest = arena_new(arena, struct newest);
		newest->document.kind = str_copy(arena, changed->kind);
		newest->document.name = str_copy(arena, changed->name);
		map_put(documents, key, newest);
	}
	newest->document.revision = changed->revision;
	newest->document.changed_at = row->at;
	newest->document.body = S("");
	newest->seq = row->seq;
	newest->gone = !has(changed, body);
}

static bool find_newest(struct rebuild *rebuild, struct store_reader *reader, struct map *documents)
{
	rebuild->system_seq = 0;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_event_page page;
		if (!reader->ops->read_events(reader, &system_stream, rebuild->system_seq,
					      LIMIT_STREAM_PAGE_EVENTS, &arena, &page,
					      &rebuild->error))
			return false;
		for (size_t i = 0; i < page.count; i++) {
			const struct run_document_changed *changed;
			if (page.at[i].seq != ++rebuild->system_seq)
				return fail(&rebuild->error, ERROR_STORAGE, "event %lld is missing",
					    (long long)rebuild->system_seq);
			if (!changed_read(&page.at[i], &arena, &changed, &rebuild->error))
				return false;
			if (changed != NULL)
				note_newest(documents, &page.at[i], changed, &rebuild->rows);
		}
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return true;
	}
}

static bool read_body(struct rebuild *rebuild, struct store_reader *reader, struct newest *newest)
{
	AUTO(arena) arena = { 0 };
	struct store_event_page page;
	const struct run_document_changed *changed = NULL;
	if (newest->gone)
		return true;
	if (!reader->ops->read_events(reader, &system_stream, newest->seq - 1, 1, &arena, &page,
				      &rebuild->error))
		return false;
	if (page.count == 1 && !changed_read(&page.at[0], &arena, &changed, &rebuild->error))
		return false;
	if (page.count != 1 || changed == NULL)
		return fail(&rebuild->error, ERROR_STORAGE, "event %lld is missing",
			    (long long)newest->seq);
	newest->document.body = json_print(&rebuild->rows, changed->body);
	return true;
}

static void documents_work(struct executor_read *read, struct store_reader *reader)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	struct map documents = { 0 };
	struct newest *newest;
	struct str key;
	bool good = find_newest(rebuild, reader, &documents);
	rebuild->document_count = 0;
	rebuild->documents =
		arena_array(&rebuild->rows, struct store_document, documents.count + 1);
	for (size_t i = 0; good && (newest = map_next(&documents, &i, &key)) != NULL;) {
		good = read_body(rebuild, reader, newest);
		rebuild->documents[rebuild->document_count++] = newest->document;
	}
	map_done(&documents);
}

static void replace_work(struct executor_admin_job *admin, struct store *store)
{
	struct rebuild *rebuild = rebuild_of_admin(admin);
	FAILPOINT("rebuild.before_documents");
	store->admin->rebuild_documents(store, rebuild->system_seq, rebuild->documents,
					rebuild->document_count, &rebuild->current,
					&rebuild->error);
}

static void documents_begin(struct rebuild *rebuild);

static void replace_done(struct executor_admin_job *admin)
{
	struct rebuild *rebuild = rebuild_of_admin(admin);
	FAILPOINT("rebuild.documents_written");
	arena_done(&rebuild->rows);
	if (rebuild->error.code != ERROR_NONE) {
		rebuild_end(rebuild);
	} else if (rebuild->current) {
		rebuild->result.documents = (int64_t)rebuild->document_count;
		all_written(rebuild);
	} else if (++rebuild->tries < LIMIT_DOCUMENT_TRIES) {
		documents_begin(rebuild);
	} else {
		fail(&rebuild->error, ERROR_OVERLOADED,
		     "documents change faster than they can be made again; try again later");
		rebuild_end(rebuild);
	}
}

static void documents_done(struct executor_read *read)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	if (rebuild->error.code != ERROR_NONE) {
		arena_done(&rebuild->rows);
		note_problem(rebuild, S("the system stream"));
		all_written(rebuild);
		return;
	}
	rebuild->job.admin.work = replace_work;
	rebuild->job.admin.done = replace_done;
	executor_admin_job(rebuild->job.executor, &rebuild->job.admin);
}

static void documents_begin(struct rebuild *rebuild)
{
	rebuild->job.read.work = documents_work;
	rebuild->job.read.done = documents_done;
	executor_read(rebuild->job.executor, &rebuild->job.read);
}

/* ---- all of them --------------------------------------------------------------------- */

static void event_page_work(struct executor_read *read, struct store_reader *reader)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	struct store_run_page page;
	if (!reader->ops->list_runs(reader, NULL, rebuild->begun ? &rebuild->before : NULL,
				    LIMIT_RETENTION_PAGE_RUNS, &read->arena, &page,
				    &rebuild->error))
		return;
	rebuild->begun = true;
	rebuild->count = page.count;
	rebuild->next = 0;
	for (size_t i = 0; i < page.count; i++)
		rebuild->runs[i] = rebuild->before = page.at[i].id;
}

static void page_done(struct executor_read *read)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	arena_done(&read->arena);
	if (rebuild->error.code != ERROR_NONE) {
		rebuild_end(rebuild);
	} else if (rebuild->count > 0) {
		rebuild_next(rebuild);
	} else {
		documents_begin(rebuild);
	}
}

static void rebuild_next(struct rebuild *rebuild)
{
	struct executor_read *read = &rebuild->job.read;
	if (rebuild->next == rebuild->count) {
		read->work = event_page_work;
		read->done = page_done;
		executor_read(rebuild->job.executor, read);
		return;
	}
	if (active_run_find(rebuild->job.executor, &rebuild->runs[rebuild->next]) != NULL) {
		struct uuid id = rebuild->runs[rebuild->next++];
		write_active(rebuild, &id);
		return;
	}
	read->work = fold_work;
	read->done = fold_done;
	rebuild->watch = (struct append_watch){ .run = rebuild->runs[rebuild->next] };
	executor_watch_appends(rebuild->job.executor, &rebuild->watch);
	executor_read(rebuild->job.executor, read);
}

static void rebuild_begin(struct maintenance_job *job)
{
	rebuild_next((struct rebuild *)job);
}

void maintenance_rebuild(struct maintenance *maintenance, maintenance_rebuild_done *done,
			 void *context, uint64_t argument)
{
	struct rebuild *rebuild = calloc(1, sizeof(*rebuild));
	require(rebuild != NULL);
	rebuild->done = done;
	rebuild->context = context;
	rebuild->argument = argument;
	rebuild->job.begin = rebuild_begin;
	rebuild->job.free = rebuild_free;
	maintenance_job_add(maintenance, &rebuild->job);
}
