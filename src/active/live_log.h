/* active/live_log.h -- logs of tool calls that are under way, found by run and step.
 *
 * The room effect opens one when a call starts a process, and the tool writes to it.  It closes
 * the log when the call has ended and drops it when the event that names the stored log is
 * committed, so that at every moment the text is either here or in the store.
 *
 * On the loop's thread.  What a find returns is valid until the caller returns to the loop.
 */
#ifndef ACTIVE_LIVE_LOG_H
#define ACTIVE_LIVE_LOG_H

#include "base/buf.h"
#include "base/map.h"
#include "base/slots.h"
#include "base/uuid.h"

struct executor;
struct output_log;

struct live_log {
	struct uuid run;
	struct str step;
	int64_t attempt;
	struct output_log *text; /* tool/output_log.h */
	bool closed;             /* the call has ended; its event is not committed yet */
	struct buf key;          /* private: the run's bytes, then the path */
	uint64_t id;
};

/* The executor's table of them. */
struct live_logs {
	struct map by_step;
	struct slots slots;
};

struct live_logs *executor_live_logs(struct executor *executor);

/* Opens the log of an attempt.  A log of an earlier attempt of the step is dropped. */
struct live_log *live_log_open(struct executor *executor, const struct uuid *run, struct str step,
			       int64_t attempt);
struct live_log *live_log_by_id(struct executor *executor, uint64_t id); /* NULL = dropped */
void live_log_drop(struct executor *executor, struct live_log *log);
/* NULL when no call of this step is under way that has a log. */
const struct live_log *live_log_find(struct executor *executor, const struct uuid *run,
				     struct str step);
void live_log_drop_all(struct executor *executor); /* for executor_free() */

#endif
