/* active/executor_services.h -- what the executor does for the rooms above it: effect, document,
 * maintenance.
 *
 * These rooms get a `struct executor *` when they are made and call it through these functions;
 * only the room active looks into the struct.  Calls in the other direction go through what the
 * executor was given at its construction: `struct effects` (active/effect_kind.h), the callbacks of
 * `struct executor_settings`, and an append watch.
 *
 * On the loop thread.
 */
#ifndef ACTIVE_EXECUTOR_SERVICES_H
#define ACTIVE_EXECUTOR_SERVICES_H

#include "active/executor.h"
#include "store/writer.h"

/* The settings that the executor was made with. */
const struct executor_settings *executor_config(const struct executor *executor);
struct graph_cache *executor_graphs(struct executor *executor);
int64_t executor_now(struct executor *executor); /* wall clock, microseconds UTC */

/* Ends all acknowledging: calls settings.fatal, once. */
void executor_fail(struct executor *executor, const struct error *error);
bool executor_has_failed(const struct executor *executor);
bool executor_has_recovered(const struct executor *executor);

#define EXECUTOR_DRAINING_TEXT "the server is stopping and takes nothing new; try again in a moment"
/* May a new command come in?  UNAVAILABLE while the program stops, OVERLOADED while the writer is
 * behind.  The result of an effect and a cancel are never asked. */
MUST_CHECK bool executor_admits(struct executor *executor, struct error *error);

/* Queues an append for the writer; ticket->done is called when it is committed or refused. */
void executor_append(struct executor *executor, struct writer_ticket *ticket);
/* The newest commit found room on the disk, or none.  Logs when that changes. */
void executor_note_disk_space(struct executor *executor, bool full);

/* Tells whether something was appended to `run` since executor_watch_appends(): a projection made
 * from what was read before is then out of date.  There is one watch at most; NULL ends it. */
struct append_watch {
	struct uuid run;
	bool appended;
};

void executor_watch_appends(struct executor *executor, struct append_watch *watch);

#endif
