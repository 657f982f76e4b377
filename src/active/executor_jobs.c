/* active/executor_jobs.c -- jobs on reader threads and on the writer thread. */
#include "active/executor_jobs.h"

#include "active/executor_state.h"

static void read_run(struct job *job, unsigned thread)
{
	struct executor_read *read = (struct executor_read *)job;
	read->work(read, read->executor->readers[thread]);
}

static void read_done(struct job *job)
{
	struct executor_read *read = (struct executor_read *)job;
	read->done(read);
}

void executor_read(struct executor *executor, struct executor_read *read)
{
	read->executor = executor;
	read->job.name = "read";
	read->job.run = read_run;
	read->job.done = read_done;
	platform_submit(executor->settings.platform, LANE_READER, &read->job);
}

static void care_run(struct job *job, unsigned thread)
{
	struct executor_admin_job *care = (struct executor_admin_job *)job;
	(void)thread;
	care->work(care, care->executor->settings.store);
}

static void care_done(struct job *job)
{
	struct executor_admin_job *care = (struct executor_admin_job *)job;
	care->done(care);
}

void executor_admin_job(struct executor *executor, struct executor_admin_job *care)
{
	care->executor = executor;
	care->job.name = "care";
	care->job.run = care_run;
	care->job.done = care_done;
	platform_submit(executor->settings.platform, LANE_WRITER, &care->job);
}

struct store_stats executor_store_stats(const struct executor *executor)
{
	return executor->settings.store->writer->stats(executor->settings.store);
}
