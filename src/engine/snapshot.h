/* engine/snapshot.h -- a run's state as an entity, and back (architecture R8).
 *
 *	run_snapshot()  what run.Snapshot has to say about a run;
 *	run_restore()   the run that said it.
 *
 * For every history and every place in it, folding the events behind the place into the restored
 * run gives the state that folding all of them gives: tests/unit/engine/test_snapshot.c.
 *
 * Printed is what cannot be worked out.  What waits for what, who still reads what, which queue a
 * step stands in and how many are under way follow from the graph and the steps.  What only the
 * run's record needs (what finished steps gave, who was asked what) is in it too, so that a
 * compacted run still tells the same story; what an effect was given is not, once it is closed,
 * and neither are earlier rounds and the bodies of steps that are final: the state has forgotten
 * them.
 */
#ifndef ENGINE_SNAPSHOT_H
#define ENGINE_SNAPSHOT_H

#include "engine/run.h"

struct run_snapshot;

/* Values that a snapshot or an event names by hash. */
struct run_names {
	const struct hash *at;
	size_t count;
};

/* In the arena; it borrows texts from the run.  The run has at least one event. */
const struct run_snapshot *run_snapshot(const struct run *run, struct arena *arena,
					struct run_names *out_names);

/* A new run in the arena.  ERROR_INVALID when the snapshot is none of this graph. */
MUST_CHECK bool run_restore(const struct run_snapshot *snapshot, struct uuid id,
			    const struct graph *graph, struct arena *arena, struct run **out_run,
			    struct error *error);

/* Reads the JSON of a stored snapshot. */
MUST_CHECK bool run_snapshot_read(struct str text, struct arena *arena,
				  const struct run_snapshot **out_snapshot, struct error *error);

#endif
