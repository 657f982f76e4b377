/* api/step_log_read.h -- reads the log of a step from the store; private to src/api. */
#ifndef API_STEP_LOG_READ_H
#define API_STEP_LOG_READ_H

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "contract/run_log_types.h"

struct step_log_read {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t owner; /* the exchange, or the id of a stream */
	struct uuid run;
	struct str step;
	int64_t attempt; /* 0 = all */
	/* The log of the attempt under way, as it was when the request arrived; NULL = none. */
	const struct json *live;
	int64_t live_attempt;

	/* The result, in read.arena: */
	struct run_step_log *log; /* NULL = error */
	bool over;                /* the step or its run has ended: there will be no more text */
	struct error error;
};

/* The caller sets read.done and submits it; done() frees it with step_log_read_free(). */
struct step_log_read *step_log_read_new(struct api *api, uint64_t owner, const struct uuid *run,
					struct str step, int64_t attempt);
void step_log_read_free(struct step_log_read *r);

/* api_log_stream.c: answers the call with server-sent events. */
void api_log_stream_open(struct api_call *call, int64_t attempt);

#endif
