/* active/run_reads.h -- stored runs, read on a reader thread for those who show them.
 *
 * Nothing here touches the active runs: what is read is what is committed.
 */
#ifndef ACTIVE_RUN_READS_H
#define ACTIVE_RUN_READS_H

#include "contract/event.h"
#include "store/store.h"

struct executor;
struct cached_graph;

/* A run's compiled graph, by its hash; graphs are shared between all readers.  Release it on any
 * thread with executor_graph_done() while the executor exists. */
struct executor_graph {
	struct executor *executor;
	struct cached_graph *use;
	const struct run_graph *rows;
};

MUST_CHECK bool executor_graph(struct executor *executor, struct store_reader *reader,
			       const struct hash *hash, struct executor_graph *out_graph,
			       struct error *error);
void executor_graph_done(struct executor_graph *graph);

/* The run's state as the JSON of run.Snapshot.  NOT_FOUND: no such run. */
MUST_CHECK bool executor_state_text(struct executor *executor, struct store_reader *reader,
				    const struct uuid *run, struct arena *arena,
				    struct str *out_text, struct error *error);

/* The events that compaction removed from a run, synthesised from its newest snapshot for showing
 * (engine/history_synthesis.h). */
struct executor_history {
	const struct event *events;
	const int64_t *seqs; /* ascending */
	size_t count;
};

MUST_CHECK bool executor_synthesize_history(struct store_reader *reader,
					    const struct store_run *run,
					    const struct run_graph *graph, struct arena *arena,
					    struct executor_history *out_history,
					    struct error *error);

#endif
