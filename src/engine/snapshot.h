/* engine/snapshot.h -- converts the state of a run to the entity run.Snapshot and back (architecture
 * R8).
 *
 *	run_snapshot()  the snapshot of a run
 *	run_restore()   a run with the state of a snapshot
 *
 * For every history and every position in it: applying the events after the position to the run
 * restored at the position gives the same state as applying all events
 * (tests/unit/engine/test_snapshot.c).
 *
 * A snapshot contains only what cannot be derived.  Dependencies, remaining readers, ready lists and
 * counts of open effects follow from the graph and the steps.  A snapshot also contains data that
 * only the run's record needs, such as outputs of finished steps and past questions, so that a
 * compacted run still shows the same timeline.  It does not contain the inputs of closed effects,
 * earlier rounds, or the bodies of final steps, because the state does not have them any more.
 */
#ifndef ENGINE_SNAPSHOT_H
#define ENGINE_SNAPSHOT_H

#include "engine/run.h"

struct run_snapshot;

/* The stored values that a snapshot or an event refers to by hash. */
struct run_names {
	const struct hash *at;
	size_t count;
};

/* The snapshot lives in the arena and borrows texts from the run.  The run must have at least one
 * event. */
const struct run_snapshot *run_snapshot(const struct run *run, struct arena *arena,
					struct run_names *out_names);

/* Creates the run in the arena.  ERROR_INVALID when the snapshot does not match the graph. */
MUST_CHECK bool run_restore(const struct run_snapshot *snapshot, struct uuid id,
			    const struct graph *graph, struct arena *arena, struct run **out_run,
			    struct error *error);

/* Parses the JSON of a stored snapshot. */
MUST_CHECK bool run_snapshot_read(struct str text, struct arena *arena,
				  const struct run_snapshot **out_snapshot, struct error *error);

#endif
