/* active/run_load.h -- a run's state, read from the store.
 *
 * On a reader thread: the newest snapshot that can be read, then the events behind it.
 */
#ifndef ACTIVE_RUN_LOAD_H
#define ACTIVE_RUN_LOAD_H

#include "active/graph_cache.h"
#include "active/run_reads.h"
#include "engine/run.h"

struct loaded_run {
	struct arena arena; /* holds the run */
	struct cached_graph *graph;
	struct run *run; /* NULL: there is no such run */
	size_t events;   /* read behind the snapshot */
	size_t weight;   /* bytes of their bodies */
	size_t snapshot_size;
};

/* On failure `out_loaded` is empty. */
MUST_CHECK bool run_load(struct executor *executor, struct store_reader *reader,
			 const struct uuid *run, struct loaded_run *out_loaded,
			 struct error *error);
void run_load_discard(struct executor *executor, struct loaded_run *loaded);

#endif
