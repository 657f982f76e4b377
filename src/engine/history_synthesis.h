/* engine/history_synthesis.h -- the older events of a compacted run, made again from its snapshot.
 *
 * They are for showing only: what they say about when a step and each of its attempts began and
 * ended, what it gave, who was asked until when and what was answered is what the events said that
 * are gone.  What effects were given is not told again, nor that the run was paused, nor how a call
 * ended whose outcome a person was asked to settle.
 */
#ifndef ENGINE_RETELL_H
#define ENGINE_RETELL_H

#include "contract/contract.h"
#include "contract/event.h"

struct run_graph;
struct run_snapshot;

/* In the stream's order. */
struct synthesized_history {
	struct event *events;
	int64_t *seqs;
	size_t count;
};

/* The events with seq < floor that the snapshot stands for, those of the life cycle left out: they
 * are still there. */
void history_synthesize(const struct run_snapshot *snapshot, const struct run_graph *graph,
			int64_t floor, struct arena *arena, struct synthesized_history *out_retold);

#endif
