/* maintenance/maintenance.h -- retention and rebuild: jobs that read or change the whole store.
 *
 * One job runs at a time; the others wait.  A job works in slices between commits, so commands go
 * on while it runs, and it may be cut off anywhere: the next one finds the rest.
 *
 *	struct maintenance *maintenance = maintenance_new(&settings);
 *	maintenance_start(maintenance);                         (retention, again and again)
 *	maintenance_rebuild(maintenance, rebuilt, context, 0);  (projections, on request)
 *
 * On the loop thread.
 */
#ifndef MAINTENANCE_MAINTENANCE_H
#define MAINTENANCE_MAINTENANCE_H

#include "base/error.h"
#include "contract/graph_types.h"

struct maintenance;
struct executor;
struct documents;
struct artifacts;
struct workspace;

/* How long events are kept.  Of the run's own days, the settings' and the policy's the smallest
 * that was set explicitly counts; if none was, `days` does. */
struct maintenance_retention {
	int64_t days;
	bool days_set;          /* somebody has set `days` */
	int64_t max_events;     /* of one run; 0 = any number */
	int64_t workspace_days; /* a workspace is kept this long, and as long as the events */
	const struct graph_retention_policy *policy; /* retention_policy.yaml; NULL = none */
};

struct maintenance_settings {
	struct executor *executor;
	struct documents *documents;
	struct artifacts *artifacts; /* NULL = no artifacts are swept */
	struct workspace *workspace; /* NULL = no workspaces are removed */
	struct maintenance_retention retention;
};

struct maintenance *maintenance_new(const struct maintenance_settings *settings);
/* Before executor_free(), after the loop has ended.  Nobody is answered any more. */
void maintenance_free(struct maintenance *maintenance);

/* ---- retention ----------------------------------------------------------------------- */

/* From now on a pass is made by itself, every LIMIT_RETENTION_EVERY_MS. */
void maintenance_start(struct maintenance *maintenance);

/* One pass: removes the events of runs that are old enough or have too many, expired idempotency
 * keys, values that nothing names any more, and unnamed artifacts.  A run that has not ended is
 * compacted only after recovery. */
struct maintenance_compaction {
	int64_t days, max_events; /* -1 = as the settings have it */
	bool workspaces;          /* removes those of all compacted runs, however old */
	bool counts_values;       /* counts all values before and after, which reads them all */
};

struct maintenance_compacted {
	const struct error *error; /* NULL: done */
	int64_t runs;              /* examined */
	int64_t compacted, events, values, free_bytes, artifacts, workspaces;
};

typedef void maintenance_compact_done(void *context, uint64_t argument,
				      const struct maintenance_compacted *result);
void maintenance_compact(struct maintenance *maintenance,
			 const struct maintenance_compaction *compaction,
			 maintenance_compact_done *done, void *context, uint64_t argument);

/* ---- rebuild ------------------------------------------------------------------------- */

/* Derives all projections from the events again (architecture R12), one run at a time.  Runs that
 * turn out to have work under way and are not in memory are resumed, if recovery is over. */
struct maintenance_rebuilt {
	const struct error *error; /* NULL: done */
	int64_t runs, effects, busy, resumed, documents;
	const struct str *problems; /* at most LIMIT_PROBLEMS */
	size_t problem_count;
};

typedef void maintenance_rebuild_done(void *context, uint64_t argument,
				      const struct maintenance_rebuilt *result);
void maintenance_rebuild(struct maintenance *maintenance, maintenance_rebuild_done *done,
			 void *context, uint64_t argument);

#endif
