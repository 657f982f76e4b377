/* api/read_job.h -- responses that a reader thread computes; private to src/api.
 *
 *	struct thing_read {
 *		struct api_read_job answer; // first
 *		...                        // the arguments of work()
 *	};
 *
 * work() runs on the reader thread, casts its executor_read to the struct and sets the text or the
 * error.  Afterwards the loop sends the response and frees the job.
 */
#ifndef API_READ_JOB_H
#define API_READ_JOB_H

#include "active/executor_jobs.h"
#include "api/api_internal.h"

struct api_read_job {
	struct executor_read read; /* first; its arena owns the text */
	struct api *api;
	uint64_t exchange;
	struct str text; /* JSON */
	struct error error;
};

typedef void api_read_job_work(struct executor_read *read, struct store_reader *reader);

/* Allocates `size` bytes that begin with an api_read_job; the rest is zeroed. */
void *api_read_job_new(struct api *api, uint64_t exchange, size_t size);
void api_read_job_begin(struct api_read_job *job, api_read_job_work *work);
/* Responds with the text or error that is already set, without a read, and frees the job. */
void api_read_job_end(struct api_read_job *job);

#endif
