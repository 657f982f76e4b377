/* document/schedule_runner.c -- schedules come due.
 *
 * Memory holds when each schedule is due and whether due times wait; everything else is in its two
 * documents and is read when it is needed.  One timer of the loop serves all schedules.
 *
 * One task at a time works for a schedule: it changes the schedule's progress (a composed change, so
 * it sees what is stored and nothing else changes it meanwhile), starts a run if one is ready, notes
 * that in a further change, and repeats this until nothing is ready.  A crash in between leaves the
 * due time among `waiting`; the run's id is derived from the due time, so a second start finds the
 * run.
 *
 * A due time that waits for another run to end is tried again when that run's notice comes.  The run
 * may end before the entry is marked as blocked, so the task looks once more after marking it.
 */
#include <stdlib.h>
#include <string.h>

#include "active/notices.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/slots.h"
#include "contract/document_kind.h"
#include "contract/run_start_types.h"
#include "document/documents_state.h"
#include "document/schedule_jobs.h"
#include "document/schedule_read.h"
#include "document/schedules.h"
#include "os/failpoint.h"

/* What a schedule needs only while its task is under way. */
struct schedule_task {
	/* Given to the change, on the loop. */
	int64_t now, opened_at;
	int64_t noted; /* the due time whose start is to be noted, with its `fault`; 0 = none */
	char fault[ERROR_TEXT_SIZE];
	/* Found by the change, on a reader thread; texts are in the arena. */
	struct arena arena;
	int64_t ready; /* the due time whose run is to be started; 0 = none */
	struct str workflow, profile;
	const struct json *inputs;
	bool must_wait;
	struct uuid wait_for;

	bool own;    /* a change is under way */
	bool starts; /* a run is being started */
	bool again;  /* somebody else changed it meanwhile */
	bool looked; /* once more, after the entry was marked as blocked */
};

/* A schedule that comes due or has due times waiting; a paused one has no entry.  It is found by its
 * slot and not freed while its task is under way, because compose() uses it on a reader thread. */
struct schedule_entry {
	uint64_t id;
	struct documents *documents;
	struct schedule_task *task; /* NULL = nothing is under way */
	struct uuid blocked_on;
	int64_t due_at; /* 0 = it does not come due */
	bool waits;     /* due times wait for their runs */
	bool gone;      /* deleted while its task was under way */
	bool blocked;   /* until blocked_on is over */
	char name[];
};

struct schedules {
	struct slots entries;
	struct map by_name; /* borrows the entries' names */
	int64_t opened_at;
	bool open;
	uint64_t timer; /* 0 = none */
	size_t blocked; /* entries */
};

static void poke(struct schedule_entry *entry);
static void step(struct schedule_entry *entry);
static void arm(struct documents *documents);

static struct schedule_entry *entry_at(struct documents *documents, uint64_t id)
{
	return slots_get(&documents->schedules->entries, id);
}

static void task_free(struct schedule_entry *entry)
{
	if (entry->task != NULL)
		arena_done(&entry->task->arena);
	free(entry->task);
	entry->task = NULL;
}

static void entry_free(struct schedule_entry *entry)
{
	struct schedules *schedules = entry->documents->schedules;
	schedules->blocked -= entry->blocked;
	slots_remove(&schedules->entries, entry->id);
	task_free(entry);
	free(entry);
}

/* ---- the task ---------------------------------------------------------------------------- */

static bool step_compose(void *context, struct store_reader *reader, struct arena *arena,
			 struct documents_changes *out_changes, struct problems *problems,
			 struct error *error)
{
	struct schedule_entry *entry = context;
	struct schedule_task *task = entry->task;
	const struct run_schedule *schedule;
	const struct run_schedule_progress *progress;
	struct str name = str_from_c(entry->name);
	int64_t revision;
	(void)problems;
	if (!schedules_read(reader, name, arena, &schedule, &progress, &revision, error))
		return false;
	if (schedule == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no schedule called %s", entry->name);
	if (task->noted != 0) {
		struct uuid run = schedule_run_id(name, task->noted);
		progress =
			schedule_note(progress, task->noted, &run, str_from_c(task->fault), arena);
	}
	if (!schedule_progress_now(reader, schedule, progress, task->now, task->opened_at, arena,
				   &progress, error))
		return false;
	struct documents_change *change = arena_new(arena, struct documents_change);
	*change = (struct documents_change){ .kind = document_kind_name(DOCUMENT_SCHEDULE_PROGRESS),
					     .name = name,
					     .revision = -2,
					     .body = run_schedule_progress_text(progress, arena) };
	*out_changes = (struct documents_changes){ change, 1 };
	arena_done(&task->arena);
	task->arena = (struct arena){ 0 };
	task->ready = schedule_ready(schedule, progress);
	task->must_wait = task->ready == 0 && progress->waiting.count > 0 &&
			  progress->running.count > 0 && !schedule->paused;
	if (task->must_wait)
		task->wait_for = progress->running.at[0];
	task->workflow = str_copy(&task->arena, schedule->workflow);
	task->profile = has(schedule, profile) ? str_copy(&task->arena, schedule->profile) : S("");
	task->inputs = json_copy(&task->arena, schedule->inputs);
	return true;
}

/* The schedule neither comes due nor has anything waiting. */
static bool is_idle(const struct schedule_entry *entry)
{
	return entry->due_at == 0 && !entry->waits;
}

static void entry_remove(struct schedule_entry *entry)
{
	map_remove(&entry->documents->schedules->by_name, str_from_c(entry->name));
	entry_free(entry);
}

static void task_over(struct schedule_entry *entry)
{
	struct documents *documents = entry->documents;
	bool again = entry->task->again;
	task_free(entry);
	if (entry->gone)
		entry_free(entry);
	else if (again)
		poke(entry);
	else if (is_idle(entry))
		entry_remove(entry);
	arm(documents);
}

static void try_again(void *context, uint64_t id)
{
	struct schedule_entry *entry = entry_at(context, id);
	if (entry != NULL)
		step(entry);
}

/* Tries again soon when the disk is full or behind, and later when a person must act first (a time
 * zone that was removed).  While the program stops nothing is tried. */
static void try_later(struct schedule_entry *entry, const struct error *error)
{
	struct documents *documents = entry->documents;
	bool soon = error_row(error->code)->retry == ERROR_RETRY_AGAIN;
	if (executor_is_draining(documents->executor) || executor_has_failed(documents->executor))
		return;
	platform_timer_start(executor_config(documents->executor)->platform,
			     (soon ? LIMIT_SCHEDULE_RETRY_MS : LIMIT_SCHEDULE_LOOK_MS) *
				     INT64_C(1000),
			     try_again, documents, entry->id);
}

static void started(void *context, uint64_t id, const struct executor_reply *reply)
{
	struct schedule_entry *entry = entry_at(context, id);
	const struct error *error = reply->error;
	entry->task->starts = false;
	schedule_jobs_reply(entry->documents, str_from_c(entry->name));
	FAILPOINT("schedule.started");
	/* CONFLICT: the run was started, and a crash came before that was noted. */
	if (error != NULL && error->code != ERROR_CONFLICT) {
		if (error_row(error->code)->retry == ERROR_RETRY_AGAIN) {
			try_later(entry, error);
			return;
		}
		log_line(LOG_WARNING, "schedule %s: %s", entry->name, error->text);
		memcpy(entry->task->fault, error->text, sizeof(entry->task->fault));
	} else {
		entry->task->fault[0] = '\0';
	}
	entry->task->noted = entry->task->ready;
	step(entry);
}

static void start(struct schedule_entry *entry)
{
	struct run_start *kept = run_start_new(&entry->task->arena);
	if (entry->task->profile.size > 0)
		SET(kept, profile, entry->task->profile);
	const struct executor_start start = {
		.workflow = entry->task->workflow,
		.yaml = S(""),
		.inputs = { .json = entry->task->inputs },
		.run = schedule_run_id(str_from_c(entry->name), entry->task->ready),
		.key = { .key = S("") },
		.start = kept,
	};
	entry->task->starts = true;
	FAILPOINT("schedule.before_start");
	executor_start(entry->documents->executor, &start, started, entry->documents, entry->id);
}

static void wait_for_run(struct schedule_entry *entry)
{
	entry->documents->schedules->blocked += !entry->blocked;
	entry->blocked = true;
	entry->blocked_on = entry->task->wait_for;
	if (!entry->task->looked) {
		entry->task->looked = true;
		step(entry);
	} else {
		task_over(entry);
	}
}

static void stepped(void *context, uint64_t id, const struct executor_reply *reply)
{
	struct schedule_entry *entry = entry_at(context, id);
	entry->task->own = false;
	if (reply->error == NULL) {
		FAILPOINT("schedule.stepped");
		entry->task->noted = 0;
	}
	if (reply->error != NULL && reply->error->code == ERROR_NOT_FOUND) {
		entry->task->noted = 0;
		task_over(entry);
	} else if (reply->error != NULL) {
		log_line(LOG_WARNING, "schedule %s: %s", entry->name, reply->error->text);
		try_later(entry, reply->error);
	} else if (entry->gone || executor_is_draining(entry->documents->executor)) {
		task_over(entry);
	} else if (entry->task->ready != 0) {
		start(entry);
	} else if (entry->task->must_wait) {
		wait_for_run(entry);
	} else {
		task_over(entry);
	}
}

static void step(struct schedule_entry *entry)
{
	const struct documents_composition how = { .compose = step_compose,
						   .context = entry,
						   .by = S("schedule"),
						   .key = { .key = S("") } };
	entry->task->now = executor_now(entry->documents->executor);
	entry->task->opened_at = entry->documents->schedules->opened_at;
	entry->task->own = true;
	documents_change_composed(entry->documents, &how, stepped, entry->documents, entry->id);
}

static void poke(struct schedule_entry *entry)
{
	struct schedules *schedules = entry->documents->schedules;
	if (!schedules->open || executor_is_draining(entry->documents->executor) ||
	    executor_has_failed(entry->documents->executor))
		return;
	if (entry->task != NULL) {
		entry->task->again = true;
		return;
	}
	schedules->blocked -= entry->blocked;
	entry->blocked = false;
	entry->task = calloc(1, sizeof(*entry->task));
	require(entry->task != NULL);
	step(entry);
}

/* ---- time -------------------------------------------------------------------------------- */

static void woken(void *context, uint64_t argument)
{
	struct documents *documents = context;
	struct schedules *schedules = documents->schedules;
	int64_t now = executor_now(documents->executor);
	uint32_t index = 0;
	uint64_t id;
	(void)argument;
	schedules->timer = 0;
	for (struct schedule_entry *entry;
	     (entry = slots_next(&schedules->entries, &index, &id)) != NULL;)
		if (entry->task == NULL && entry->due_at != 0 && entry->due_at <= now)
			poke(entry);
	arm(documents);
}

/* Sets the timer for the earliest schedule that has no task. */
static void arm(struct documents *documents)
{
	struct schedules *schedules = documents->schedules;
	int64_t first = 0;
	uint32_t index = 0;
	uint64_t id;
	if (!schedules->open || executor_is_draining(documents->executor) ||
	    executor_has_failed(documents->executor))
		return;
	if (schedules->timer != 0)
		platform_timer_stop(executor_config(documents->executor)->platform,
				    schedules->timer);
	schedules->timer = 0;
	for (const struct schedule_entry *entry;
	     (entry = slots_next(&schedules->entries, &index, &id)) != NULL;)
		if (entry->task == NULL && entry->due_at != 0 &&
		    (first == 0 || entry->due_at < first))
			first = entry->due_at;
	if (first == 0)
		return;
	int64_t delay = first - executor_now(documents->executor),
		most = LIMIT_SCHEDULE_LOOK_MS * INT64_C(1000);
	schedules->timer = platform_timer_start(executor_config(documents->executor)->platform,
						delay < most ? delay : most, woken, documents, 0);
}

/* ---- what is stored ---------------------------------------------------------------------- */

static void run_noticed(void *context, uint64_t argument, const struct executor_notice *notice)
{
	struct documents *documents = context;
	struct schedules *schedules = documents->schedules;
	uint32_t index = 0;
	uint64_t id;
	(void)argument;
	if (!notice->ended || schedules->blocked == 0)
		return;
	for (struct schedule_entry *entry;
	     (entry = slots_next(&schedules->entries, &index, &id)) != NULL;)
		if (entry->blocked && uuid_equal(&entry->blocked_on, &notice->run))
			poke(entry);
}

static struct schedule_entry *entry_new(struct documents *documents, struct str name)
{
	struct schedule_entry *entry = calloc(1, sizeof(*entry) + name.size + 1);
	require(entry != NULL);
	entry->documents = documents;
	memcpy(entry->name, name.at, name.size);
	entry->id = slots_add(&documents->schedules->entries, entry);
	map_put(&documents->schedules->by_name, str_from_c(entry->name), entry);
	return entry;
}

/* The schedule is deleted. */
static void forget(struct schedule_entry *entry)
{
	if (entry->task == NULL) {
		entry_remove(entry);
		return;
	}
	map_remove(&entry->documents->schedules->by_name, str_from_c(entry->name));
	entry->gone = true;
	entry->due_at = 0;
}

static void progress_changed(void *context, const struct watched_document *document)
{
	struct documents *documents = context;
	struct schedules *schedules = documents->schedules;
	struct schedule_entry *entry = map_get(&schedules->by_name, document->name);
	AUTO(arena) arena = { 0 };
	struct error error;
	if (document->body.size == 0) {
		if (entry != NULL)
			forget(entry);
		return;
	}
	const struct run_schedule_progress *progress =
		document_read_stored(DOCUMENT_SCHEDULE_PROGRESS, document->body, &arena, &error);
	if (progress == NULL) {
		log_line(LOG_ERROR, "schedule " STR_FMT " does not come due: %s",
			 STR_ARG(document->name), error.text);
		return;
	}
	bool comes = has(progress, next_at) || progress->waiting.count > 0;
	if (entry == NULL && !comes)
		return;
	if (entry == NULL)
		entry = entry_new(documents, document->name);
	entry->due_at = has(progress, next_at) ? progress->next_at : 0;
	entry->waits = progress->waiting.count > 0;
	if (entry->waits && (entry->task == NULL || !entry->task->own))
		poke(entry);
	if (entry->task != NULL)
		return;
	if (is_idle(entry))
		entry_remove(entry);
	arm(documents);
}

/* Under the changed policies a waiting due time may start. */
static void schedule_changed(void *context, const struct watched_document *document)
{
	struct documents *documents = context;
	struct schedule_entry *entry = map_get(&documents->schedules->by_name, document->name);
	if (entry != NULL && entry->waits)
		poke(entry);
}

static void progress_loaded(void *context, uint64_t count)
{
	struct documents *documents = context;
	struct schedules *schedules = documents->schedules;
	uint32_t index = 0;
	uint64_t id;
	(void)count;
	schedules->open = true;
	for (struct schedule_entry *entry;
	     (entry = slots_next(&schedules->entries, &index, &id)) != NULL;)
		if (entry->waits)
			poke(entry);
	arm(documents);
}

static void schedules_loaded(void *context, uint64_t count)
{
	(void)context;
	(void)count;
}

void schedules_open(struct documents *documents)
{
	static const struct uuid every_run;
	struct schedules *schedules = calloc(1, sizeof(*schedules));
	require(schedules != NULL && documents->schedules == NULL);
	documents->schedules = schedules;
	schedules->opened_at = executor_now(documents->executor);
	executor_watch(documents->executor, &every_run, run_noticed, documents, 0);
	documents_watch(documents, document_kind_name(DOCUMENT_SCHEDULE), schedule_changed,
			schedules_loaded, documents);
	documents_watch(documents, document_kind_name(DOCUMENT_SCHEDULE_PROGRESS), progress_changed,
			progress_loaded, documents);
}

bool schedules_are_starting(const struct documents *documents, struct str name)
{
	uint32_t index = 0;
	uint64_t id;
	if (documents->schedules == NULL)
		return false;
	for (const struct schedule_entry *entry;
	     (entry = slots_next(&documents->schedules->entries, &index, &id)) != NULL;)
		if (entry->task != NULL && entry->task->starts &&
		    str_equal(str_from_c(entry->name), name))
			return true;
	return false;
}

int64_t schedules_opened_at(const struct documents *documents)
{
	return documents->schedules == NULL ? 0 : documents->schedules->opened_at;
}

void schedules_discard(struct documents *documents)
{
	struct schedules *schedules = documents->schedules;
	uint32_t index = 0;
	uint64_t id;
	schedule_jobs_discard(documents);
	if (schedules == NULL)
		return;
	for (struct schedule_entry *entry;
	     (entry = slots_next(&schedules->entries, &index, &id)) != NULL;) {
		task_free(entry);
		free(entry);
	}
	slots_done(&schedules->entries);
	map_done(&schedules->by_name);
	free(schedules);
	documents->schedules = NULL;
}
