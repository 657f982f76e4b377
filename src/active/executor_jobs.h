/* active/executor_jobs.h -- work off the loop: jobs with a reader, jobs with the writer's store.
 *
 * Embed the job as the first member of your own struct, set work() and done(), submit it:
 *
 *	struct count { struct executor_read read; struct uuid run; int64_t found; };
 *
 *	static void count_work(struct executor_read *read, struct store_reader *reader)
 *	{                                        (on a reader thread; allocate in read->arena)
 *		struct count *count = (struct count *)read;
 *		...
 *	}
 *	static void count_done(struct executor_read *read)
 *	{                                        (on the loop; use the result, then free it)
 *		arena_done(&read->arena);
 *		free(read);
 *	}
 *
 * The job is the caller's memory until done() is called.  There is no way to cancel one.
 */
#ifndef ACTIVE_EXECUTOR_JOBS_H
#define ACTIVE_EXECUTOR_JOBS_H

#include "os/platform.h"
#include "store/store.h"

struct executor;

/* A job on a reader thread: it sees what is committed when it begins. */
struct executor_read {
	struct job job;
	struct executor *executor; /* set by executor_read() */
	struct arena arena;
	void (*work)(struct executor_read *read, struct store_reader *reader);
	void (*done)(struct executor_read *read);
};

void executor_read(struct executor *executor, struct executor_read *read);

/* Frees the arena and leaves it empty; a large one on a reader thread. */
void executor_discard(struct executor *executor, struct arena *arena);

/* A job on the writer thread, between two commits.  Commits wait while it runs, so it must be
 * short: do large work in slices, each of which submits the next. */
struct executor_admin_job {
	struct job job;
	struct executor *executor; /* set by executor_admin_job() */
	void (*work)(struct executor_admin_job *admin, struct store *store);
	void (*done)(struct executor_admin_job *admin);
};

void executor_admin_job(struct executor *executor, struct executor_admin_job *admin);

/* The store's counters; on any thread. */
struct store_stats executor_store_stats(const struct executor *executor);

#endif
