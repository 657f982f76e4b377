/* api/read_job.c -- answers that are worked out on a reader's thread. */
#include "api/read_job.h"

#include "active/executor_jobs.h"

#include <stdlib.h>

void *api_read_job_new(struct api *api, uint64_t exchange, size_t size)
{
	struct api_read_job *reading = calloc(1, size);
	require(reading != NULL);
	reading->api = api;
	reading->exchange = exchange;
	return reading;
}

void api_read_job_end(struct api_read_job *reading)
{
	if (reading->error.code != ERROR_NONE)
		api_reply_error(reading->api, reading->exchange, &reading->error, NULL);
	else
		api_reply_json(reading->api, reading->exchange, 200, reading->text);
	arena_done(&reading->read.arena);
	free(reading);
}

static void reading_done(struct executor_read *read)
{
	api_read_job_end((struct api_read_job *)read);
}

void api_read_job_begin(struct api_read_job *reading, api_read_job_work *work)
{
	reading->read.work = work;
	reading->read.done = reading_done;
	executor_read(reading->api->settings.executor, &reading->read);
}
