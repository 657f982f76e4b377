/* api/read_job.h -- answers that are worked out on a reader's thread; private to this room.
 *
 *	struct thing_read {
 *		struct api_read_job answer; // first
 *		...                        what work() needs to know
 *	};
 *
 * work() casts its executor_read and fills in the text or the error; then, on the loop, the
 * exchange is answered with it and everything is freed.
 */
#ifndef API_READING_H
#define API_READING_H

#include "active/executor_jobs.h"
#include "api/api_internal.h"

struct api_read_job {
	struct executor_read read; /* first; its arena has the text */
	struct api *api;
	uint64_t exchange;
	struct str text; /* JSON */
	struct error error;
};

typedef void api_read_job_work(struct executor_read *read, struct store_reader *reader);

/* `size` bytes that begin with an api_read_job, zeroed otherwise. */
void *api_read_job_new(struct api *api, uint64_t exchange, size_t size);
void api_read_job_begin(struct api_read_job *reading, api_read_job_work *work);
/* Answers with what is there, without any reading. */
void api_read_job_end(struct api_read_job *reading);

#endif
