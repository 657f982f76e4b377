/* active/quarantine.h -- runs that cannot be loaded.
 *
 * A run whose events or snapshots cannot be read is left alone: a request for it gets the error,
 * every other run goes on, and nothing of it is changed or removed.  The list is what operators see
 * of it (/health, baton_runs_quarantined).  It is in memory and built anew with every start; a run
 * that is loaded after all leaves it.
 *
 * Threads: the loop.
 */
#ifndef ACTIVE_QUARANTINE_H
#define ACTIVE_QUARANTINE_H

#include "base/error.h"
#include "base/limits.h"
#include "base/uuid.h"

struct executor;

struct quarantined_run {
	struct uuid run;
	struct error error;
};

struct quarantine {
	struct quarantined_run at[LIMIT_QUARANTINED];
	size_t count;
};

/* The run could not be loaded.  A run that does not exist, or that could not be read just now, is not
 * quarantined; neither is one more than LIMIT_QUARANTINED. */
void quarantine_add(struct executor *executor, const struct uuid *run, const struct error *error);
void quarantine_remove(struct executor *executor, const struct uuid *run);
const struct quarantine *executor_quarantine(const struct executor *executor);

#endif
