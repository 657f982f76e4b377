/* active/admission.h -- the admission queue: runs that wait until they may start.
 *
 * Of a kind of run (pipeline) only so many are under way at once, and of a concurrency key one.
 * Guards of the store decide that in the commit (architecture R13); what is counted here only
 * avoids asking in vain.  Sub-runs are not counted, nor are runs without a kind and a key.
 */
#ifndef ACTIVE_ADMISSION_H
#define ACTIVE_ADMISSION_H

#include "active/executor.h"
#include "base/map.h"

struct active_run;
struct admission_entry;
struct commit_cycle;
struct run;

struct admission {
	struct admission_entry *first; /* by priority, then by age */
	size_t count;
	struct map under_way; /* guard -> how many, as far as this process knows */
};

/* Does the run need admission? */
bool admission_counts(const struct run *run);
int64_t admission_limit(const struct executor *executor, struct str kind); /* -1 = no limit */
/* The names of the guards that count. */
struct str admission_guard(struct str kind, struct arena *arena);
struct str admission_key_guard(struct str key, struct arena *arena);

/* A commit is done: updates the queue and starts the runs that may start now. */
void admission_committed(struct commit_cycle *cycle, const struct active_run *active);
/* A guard refused the start of a queued run: it stays in the queue. */
void admission_refused(struct executor *executor, const struct uuid *run);
/* The engine refused the start: the run does not wait any more. */
void admission_forget(struct executor *executor, const struct uuid *run);
/* A place or a limit may have changed: starts the runs that may start now. */
void admission_try_next(struct executor *executor);

/* Reads the queue of the process before from the store; then calls `done`. */
void admission_recover(struct executor *executor, platform_callback *done, void *context,
		       uint64_t argument);
void admission_discard(struct executor *executor);

#endif
