/* engine/history_synthesis.h -- synthesizes the older events of a compacted run from its snapshot.
 *
 * The synthesized events are for display only.  They have the same data as the removed events about
 * the start and end of each step and attempt, the outputs, the questions with their deadlines, and
 * the answers.  They lack the inputs of effects, the pauses of the run, and the result of a call
 * whose unknown outcome a person settled.
 */
#ifndef ENGINE_RETELL_H
#define ENGINE_RETELL_H

#include "contract/contract.h"
#include "contract/event.h"

struct run_graph;
struct run_snapshot;

/* In stream order. */
struct synthesized_history {
	struct event *events;
	int64_t *seqs;
	size_t count;
};

/* The events with seq < floor that the snapshot represents, without the life cycle events, which
 * compaction does not remove. */
void history_synthesize(const struct run_snapshot *snapshot, const struct run_graph *graph,
			int64_t floor, struct arena *arena, struct synthesized_history *out_retold);

#endif
