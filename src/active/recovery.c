/* active/recovery.c -- finds the runs that are not finished and have something under way.
 *
 * That is a step to compute, a call, a turn, or a run of their own: their rows say so.  Runs
 * that only wait for a person or a time stay on the disk.  The list of runs is never read
 * (architecture R18): a store with a million runs that are finished or wait starts as fast as an
 * empty one.
 */
#include "active/recovery.h"

#include <stdlib.h>

#include "active/active_run.h"
#include "active/alarm.h"
#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "base/limits.h"
#include "os/failpoint.h"

struct recovery {
	struct executor_read read;
	struct uuid *runs;
	size_t count, room;
	size_t loading;
	struct error error;
	platform_callback *done;
	void *context;
};

static void add_run(struct recovery *recovery, const struct uuid *run)
{
	if (recovery->count == recovery->room) {
		recovery->room = recovery->room == 0 ? 64 : recovery->room * 2;
		struct uuid *more = arena_array(&recovery->read.arena, struct uuid, recovery->room);
		for (size_t i = 0; i < recovery->count; i++)
			more[i] = recovery->runs[i];
		recovery->runs = more;
	}
	recovery->runs[recovery->count++] = *run;
}

static void find_stepping(struct recovery *recovery, struct store_reader *reader)
{
	struct uuid last;
	const struct uuid *after = NULL;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_run_page page;
		if (!reader->ops->list_needing_recovery(reader, after, LIMIT_PAGE_ITEMS, &arena,
							&page, &recovery->error))
			return;
		for (size_t i = 0; i < page.count; i++)
			add_run(recovery, &page.at[i].id);
		if (page.count < LIMIT_PAGE_ITEMS)
			return;
		last = page.at[page.count - 1].id;
		after = &last;
	}
}

static void recover_work(struct executor_read *read, struct store_reader *reader)
{
	struct recovery *recovery = (struct recovery *)read;
	FAILPOINT("runtime.recovering");
	find_stepping(recovery, reader);
}

static void recover_finish(struct recovery *recovery)
{
	recovery->read.executor->recovery = NULL;
	recovery->read.executor->recovered = true;
	ledger_look(recovery->read.executor);
	admission_recover(recovery->read.executor, recovery->done, recovery->context,
			  recovery->count);
	arena_done(&recovery->read.arena);
	free(recovery);
}

void recovery_loaded(struct executor *executor)
{
	struct recovery *recovery = executor->recovery;
	require(recovery != NULL && recovery->loading > 0);
	if (--recovery->loading == 0)
		recover_finish(recovery);
}

static void recover_load(struct executor_read *read)
{
	struct recovery *recovery = (struct recovery *)read;
	struct executor *executor = read->executor;
	if (recovery->error.code != ERROR_NONE) {
		executor_fail(executor, &recovery->error);
		arena_done(&read->arena);
		free(recovery);
		return;
	}
	/* Count one more, so that recovery cannot finish while the loop below still adds runs. */
	size_t distinct = 0;
	recovery->loading = 1;
	executor->recovery = recovery;
	for (size_t i = 0; i < recovery->count; i++) {
		if (active_run_find(executor, &recovery->runs[i]) != NULL)
			continue;
		recovery->loading++;
		distinct++;
		active_run_get(executor, &recovery->runs[i])->recovering = true;
	}
	recovery->count = distinct;
	alarm_scan(executor);
	recovery_loaded(executor);
}

/* Runs ask for budgets as soon as they are loaded. */
static void recover_runs(void *context, uint64_t argument)
{
	struct recovery *recovery = context;
	(void)argument;
	executor_read(recovery->read.executor, &recovery->read);
}

void executor_recover(struct executor *executor, platform_callback *done, void *context)
{
	struct recovery *recovery = calloc(1, sizeof(*recovery));
	require(recovery != NULL);
	recovery->done = done;
	recovery->context = context;
	recovery->read.work = recover_work;
	recovery->read.done = recover_load;
	recovery->read.executor = executor;
	ledger_recover(executor, recover_runs, recovery);
}
