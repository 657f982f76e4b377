/* active/large_value.h -- values whose text is too long for the loop (LIMIT_VALUE_ON_LOOP_BYTES).
 *
 * They are printed and hashed on reader threads.  A tree that was rendered on the loop shares memory
 * with the values that the run has loaded and with its graph.  A job that uses such a tree pins both,
 * because the run may lose its state while the job runs:
 *
 *	value_fetch_pin(active, &job->pins);          (on the loop, before the job is submitted)
 *	...
 *	value_fetch_unpin(executor, &job->pins);     (on the loop, in done())
 */
#ifndef ACTIVE_LARGE_VALUE_H
#define ACTIVE_LARGE_VALUE_H

#include "active/value_fetch.h"

/* Longer texts are not printed on the loop. */
size_t executor_value_on_loop(const struct executor *executor);
/* The text and hash of a value, in the arena.  On a reader thread. */
struct printed_value *large_value_text(const struct json *json, struct arena *arena);
/* Prints decision->to_print on a reader thread, adds it to the decision of the run's cycle, then calls
 * `done` on the loop.  The run is pinned until then. */
void large_value_print(struct active_run *active, const struct decision *decision,
		       value_fetch_done *done);

#endif
