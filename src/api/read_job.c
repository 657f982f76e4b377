/* api/read_job.c -- responses that a reader thread computes. */
#include "api/read_job.h"

#include "active/executor_jobs.h"

#include <stdlib.h>

void *api_read_job_new(struct api *api, uint64_t exchange, size_t size)
{
	struct api_read_job *job = calloc(1, size);
	require(job != NULL);
	job->api = api;
	job->exchange = exchange;
	return job;
}

void api_read_job_end(struct api_read_job *job)
{
	if (job->error.code != ERROR_NONE)
		api_reply_error(job->api, job->exchange, &job->error, NULL);
	else
		api_reply_json(job->api, job->exchange, 200, job->text);
	executor_discard(job->api->settings.executor, &job->read.arena);
	free(job);
}

static void job_done(struct executor_read *read)
{
	api_read_job_end((struct api_read_job *)read);
}

void api_read_job_begin(struct api_read_job *job, api_read_job_work *work)
{
	job->read.work = work;
	job->read.done = job_done;
	executor_read(job->api->settings.executor, &job->read);
}
