/* active/notices.h -- who is told when events of a run are committed.
 *
 * A notice says "committed up to this seq"; it carries no events.  A stream keeps its own cursor
 * and reads on from it when a notice arrives (architecture R10), so a slow reader costs no memory
 * and a missed notice is made good by the next one.
 *
 *	uint64_t id = executor_watch(executor, &run, noticed, context, argument);
 *	...
 *	executor_unwatch(executor, id);
 *
 * On the loop.  A callback may add and remove watches.
 */
#ifndef ACTIVE_NOTICES_H
#define ACTIVE_NOTICES_H

#include "base/uuid.h"

struct executor;

struct executor_notice {
	struct uuid run;       /* zero: the system stream (documents) */
	int64_t seq, position; /* committed up to here */
	bool ended;            /* the run has ended */
	bool waiting;          /* the run waits for a person */
};

typedef void executor_noticed(void *context, uint64_t argument,
			      const struct executor_notice *notice);

/* `run` zero = every run.  The id is never 0. */
uint64_t executor_watch(struct executor *executor, const struct uuid *run,
			executor_noticed *noticed, void *context, uint64_t argument);
void executor_unwatch(struct executor *executor, uint64_t id);

/* Calls every watch of the notice's run, and no other; for whoever commits. */
void notice_publish(struct executor *executor, const struct executor_notice *notice);
/* Frees all watches; for executor_free(). */
void notice_bus_done(struct executor *executor);
/* How many watches were called so far. */
uint64_t notice_visits(const struct executor *executor);

#endif
