/* runtime/rebuild.c -- the run's row and its open effects, made again from its events (R12).
 *
 * One run at a time: a reader folds it, the writer's lane replaces what was derived, and appends
 * that came meanwhile go in between.  A run in memory writes its row with every append, so it is
 * made again only while nothing of it is at the writer.  What the store derives from rows comes at
 * the end, when all runs are through.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "os/point.h"
#include "runtime/inside.h"

struct rebuild {
	struct chore chore;
	bool begun;
	struct uuid before; /* the last run of the page before */
	struct uuid runs[LIMIT_RETENTION_PAGE_RUNS];
	size_t count, next;
	struct loaded loaded;
	struct arena rows; /* of the run that is being written */
	struct store_run row;
	struct store_effect *open;
	size_t open_count;
	struct arena arena; /* the problems, the runs that are to be taken up */
	struct str problems[LIMIT_PROBLEMS];
	struct uuid *found; /* at work and in nobody's memory */
	size_t found_count, found_room;
	struct runtime_rebuilt result;
	struct error error;
	runtime_rebuild_done *done;
	void *context;
	uint64_t argument;
};

static void rebuild_next(struct rebuild *rebuild);

static struct rebuild *rebuild_of_care(struct runtime_care *care)
{
	return (struct rebuild *)chore_of_care(care);
}

/* ---- the end ------------------------------------------------------------------------- */

static void rebuild_free(struct chore *chore)
{
	struct rebuild *rebuild = (struct rebuild *)chore;
	loaded_discard(chore->runtime, &rebuild->loaded);
	arena_done(&rebuild->rows);
	arena_done(&rebuild->arena);
	arena_done(&chore->read.arena);
	free(rebuild);
}

static void rebuild_end(struct rebuild *rebuild)
{
	struct runtime *runtime = rebuild->chore.runtime;
	for (size_t i = 0; runtime->recovered && i < rebuild->found_count; i++)
		if (live_find(runtime, &rebuild->found[i]) == NULL) {
			live_get(runtime, &rebuild->found[i]);
			rebuild->result.resumed++;
		}
	rebuild->result.error = rebuild->error.code == ERROR_NONE ? NULL : &rebuild->error;
	rebuild->result.problems = rebuild->problems;
	rebuild->done(rebuild->context, rebuild->argument, &rebuild->result);
	chore_end(&rebuild->chore);
}

static void end_work(struct runtime_care *care, struct store *store)
{
	POINT("rebuild.before_end");
	store->ops->rebuild_end(store, &rebuild_of_care(care)->error);
}

static void end_done(struct runtime_care *care)
{
	POINT("rebuild.ended");
	rebuild_end(rebuild_of_care(care));
}

/* ---- one run ------------------------------------------------------------------------- */

static void write_work(struct runtime_care *care, struct store *store)
{
	struct rebuild *rebuild = rebuild_of_care(care);
	POINT("rebuild.before_run");
	store->ops->rebuild_run(store, &rebuild->row, rebuild->open, rebuild->open_count,
				&rebuild->error);
}

static void write_done(struct runtime_care *care)
{
	struct rebuild *rebuild = rebuild_of_care(care);
	POINT("rebuild.run_written");
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
	rebuild->row = run_row(run, &rebuild->rows);
	rebuild->open = run_open_rows(run, &rebuild->rows, &rebuild->open_count);
	/* The state goes before the rows are written. */
	rebuild->row.name = str_copy(&rebuild->rows, rebuild->row.name);
	rebuild->chore.care.work = write_work;
	rebuild->chore.care.done = write_done;
	runtime_care(rebuild->chore.runtime, &rebuild->chore.care);
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

static void note_problem(struct rebuild *rebuild, const struct uuid *run)
{
	char id[UUID_TEXT_SIZE];
	if (rebuild->result.problem_count < LIMIT_PROBLEMS)
		rebuild->problems[rebuild->result.problem_count++] =
			str_format(&rebuild->arena, "run " STR_FMT ": %s",
				   STR_ARG(uuid_text(run, id)), rebuild->error.text);
	rebuild->error = (struct error){ 0 };
}

/* Something of it should be under way: a run that only waits is at home on the disk. */
static bool is_left_alone(const struct run *run)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *step = run->paths.at[i];
		if (step != NULL && step->open && step->state == STEP_RUNNING &&
		    run_node(run, step)->kind == RUN_NODE_TOOL)
			return true;
	}
	return run_is_stepping(run);
}

/* True when it is in memory: then it is written from there, or left out. */
static bool write_live(struct rebuild *rebuild, const struct uuid *id)
{
	const struct live *live = live_find(rebuild->chore.runtime, id);
	if (live == NULL)
		return false;
	if (live->run == NULL || live->run->seq == 0 || live->phase != LIVE_READY || live->stale ||
	    live->in_flight > 0) {
		rebuild->result.busy++;
		rebuild_next(rebuild);
	} else {
		write_run(rebuild, live->run);
	}
	return true;
}

static void fold_work(struct runtime_read *read, struct store_reader *reader)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	bool good = load_run(read->runtime, reader, &rebuild->runs[rebuild->next], &rebuild->loaded,
			     &rebuild->error);
	if (good && rebuild->loaded.run == NULL)
		fail(&rebuild->error, ERROR_STORAGE, "it has a row and no events");
}

static void fold_done(struct runtime_read *read)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	struct uuid id = rebuild->runs[rebuild->next++];
	/* The next one may be on its way before this one is done with. */
	struct loaded loaded = rebuild->loaded;
	rebuild->loaded = (struct loaded){ 0 };
	if (rebuild->error.code != ERROR_NONE) {
		note_problem(rebuild, &id);
		rebuild_next(rebuild);
	} else if (!write_live(rebuild, &id)) {
		if (!run_ended(loaded.run) && is_left_alone(loaded.run))
			note_found(rebuild, &id);
		write_run(rebuild, loaded.run);
	}
	loaded_discard(read->runtime, &loaded);
}

/* ---- all of them --------------------------------------------------------------------- */

static void page_work(struct runtime_read *read, struct store_reader *reader)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	struct store_run_page page;
	if (!reader->ops->list_runs(reader, rebuild->begun ? &rebuild->before : NULL,
				    LIMIT_RETENTION_PAGE_RUNS, &read->arena, &page,
				    &rebuild->error))
		return;
	rebuild->begun = true;
	rebuild->count = page.count;
	rebuild->next = 0;
	for (size_t i = 0; i < page.count; i++)
		rebuild->runs[i] = rebuild->before = page.at[i].id;
}

static void page_done(struct runtime_read *read)
{
	struct rebuild *rebuild = (struct rebuild *)read;
	arena_done(&read->arena);
	if (rebuild->error.code != ERROR_NONE) {
		rebuild_end(rebuild);
	} else if (rebuild->count > 0) {
		rebuild_next(rebuild);
	} else {
		rebuild->chore.care.work = end_work;
		rebuild->chore.care.done = end_done;
		runtime_care(rebuild->chore.runtime, &rebuild->chore.care);
	}
}

static void rebuild_next(struct rebuild *rebuild)
{
	struct runtime_read *read = &rebuild->chore.read;
	if (rebuild->next == rebuild->count) {
		read->work = page_work;
		read->done = page_done;
		runtime_read(rebuild->chore.runtime, read);
		return;
	}
	if (live_find(rebuild->chore.runtime, &rebuild->runs[rebuild->next]) != NULL) {
		struct uuid id = rebuild->runs[rebuild->next++];
		write_live(rebuild, &id);
		return;
	}
	read->work = fold_work;
	read->done = fold_done;
	runtime_read(rebuild->chore.runtime, read);
}

static void rebuild_begin(struct chore *chore)
{
	rebuild_next((struct rebuild *)chore);
}

void runtime_rebuild(struct runtime *runtime, runtime_rebuild_done *done, void *context,
		     uint64_t argument)
{
	struct rebuild *rebuild = calloc(1, sizeof(*rebuild));
	require(rebuild != NULL);
	rebuild->done = done;
	rebuild->context = context;
	rebuild->argument = argument;
	rebuild->chore.begin = rebuild_begin;
	rebuild->chore.free = rebuild_free;
	chore_add(runtime, &rebuild->chore);
}
