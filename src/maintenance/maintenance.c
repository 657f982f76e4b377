/* maintenance/maintenance.c -- the queue of maintenance jobs: one runs, the others wait. */
#include "maintenance/maintenance.h"

#include <stdlib.h>

#include "maintenance/maintenance_job.h"

static void begin(void *context, uint64_t number)
{
	struct maintenance_job *job = maintenance_job_find(context, number);
	if (job != NULL)
		job->begin(job);
}

/* From the loop, so that the end of one job is not on the stack of the next. */
static void begin_soon(struct maintenance_job *job)
{
	platform_timer_start(executor_config(job->executor)->platform, 0, begin, job->maintenance,
			     job->number);
}

void maintenance_job_add(struct maintenance *maintenance, struct maintenance_job *job)
{
	job->maintenance = maintenance;
	job->executor = maintenance->settings.executor;
	job->number = ++maintenance->job_count;
	struct maintenance_job **last = &maintenance->jobs;
	while (*last != NULL)
		last = &(*last)->next;
	*last = job;
	if (job == maintenance->jobs)
		begin_soon(job);
}

struct maintenance_job *maintenance_job_find(struct maintenance *maintenance, uint64_t number)
{
	struct maintenance_job *job = maintenance->jobs;
	while (job != NULL && job->number != number)
		job = job->next;
	return job;
}

void maintenance_job_end(struct maintenance_job *job)
{
	struct maintenance *maintenance = job->maintenance;
	require(job == maintenance->jobs);
	maintenance->jobs = job->next;
	job->free(job);
	if (maintenance->jobs != NULL)
		begin_soon(maintenance->jobs);
}

struct maintenance *maintenance_new(const struct maintenance_settings *settings)
{
	struct maintenance *maintenance = calloc(1, sizeof(*maintenance));
	require(maintenance != NULL);
	maintenance->settings = *settings;
	return maintenance;
}

void maintenance_free(struct maintenance *maintenance)
{
	for (struct maintenance_job *job; (job = maintenance->jobs) != NULL;) {
		maintenance->jobs = job->next;
		job->free(job);
	}
	free(maintenance);
}
