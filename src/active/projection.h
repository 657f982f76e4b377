/* active/projection.h -- the rows that are derived from a run's state (architecture R12).
 *
 * The same functions make a row for the commit that carries the events and for `baton db rebuild`,
 * so both are equal.
 */
#ifndef ACTIVE_PROJECTION_H
#define ACTIVE_PROJECTION_H

#include "store/store.h"

struct activation;
struct executor;
struct run;

struct store_run projection_run_row(const struct run *run, struct arena *arena);
/* What its turns used: rows that events with a seq above `after` have changed; 0 = all. */
struct store_usages projection_usage(const struct run *run, int64_t after, struct arena *arena);
/* What the run has of the budgets of these moves; NULL = of all of its budgets. */
struct budget_move;
struct store_budgets projection_budgets(const struct run *run, const struct budget_move *moves,
					size_t count, struct arena *arena);
/* A row for everything of the run that is open: effects, questions, attempts to come, the run's
 * deadline, its place in the admission queue, its pause for a budget. */
struct store_effect *projection_open_effects(const struct executor *executor, const struct run *run,
					     struct arena *arena, size_t *out_count);
/* The row of one step, false when nothing of it is open. */
bool projection_open_effect(const struct executor *executor, const struct run *run,
			    const struct activation *step, struct arena *arena,
			    struct store_effect *out_row);
bool projection_has_deadline(const struct run *run);
struct store_effect projection_deadline(const struct run *run, struct arena *arena);
struct store_effect projection_admission(const struct run *run, struct arena *arena);
struct uuid projection_deadline_id(const struct run *run);
/* The deadline of the finally steps of a cancelled run. */
struct uuid projection_unwind_deadline_id(const struct run *run);
/* That of the time for which a run that is being cancelled waits for the cleanup of its sub-runs. */
struct uuid projection_subruns_deadline_id(const struct run *run);
struct uuid projection_admission_id(const struct run *run);
/* The pause of a run for a named budget. */
struct store_effect projection_pause(const struct run *run, struct arena *arena);
struct uuid projection_pause_id(const struct run *run);
/* The kind of the run's definition, which names its admission queue; "run" when it has none. */
struct str projection_kind(const struct run *run);

/* The guard that counts runs which carry their own retention and are not compacted. */
#define PROJECTION_OWN_RETENTION S("retention.own")

#endif
