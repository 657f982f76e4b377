/* active/graph_cache.h -- compiled graphs, shared by the runs of one definition.
 *
 * A graph is counted: each find or load takes one use, graph_cache_release() gives it back.  A lock
 * protects the cache, because reader threads compile and load graphs too.
 */
#ifndef ACTIVE_GRAPH_CACHE_H
#define ACTIVE_GRAPH_CACHE_H

#include <pthread.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/sha256.h"
#include "os/confined_path.h"

struct graph;

struct cached_graph {
	struct arena arena;
	const struct graph *graph;
	struct str text;    /* the graph's canonical JSON */
	struct hash source; /* of the YAML it was compiled from; zero when it was loaded */
	struct file_signature signature; /* of the stored definition of its name; zero: of none */
	int uses;                        /* by runs, and one by the cache itself */
};

enum { GRAPH_CACHE_SIZE = 64 };

struct graph_cache {
	pthread_mutex_t lock;
	struct cached_graph *kept[GRAPH_CACHE_SIZE]; /* the newest ones */
	size_t next;
};

void graph_cache_init(struct graph_cache *graphs);
void graph_cache_done(struct graph_cache *graphs);
/* By the graph's own hash, or by its source's.  NULL: it is not in the cache. */
struct cached_graph *graph_cache_find(struct graph_cache *graphs, const struct hash *hash,
				      bool by_source);
/* The graph of the stored definition with this name, while its file has this signature. */
struct cached_graph *graph_cache_find_named(struct graph_cache *graphs, struct str name,
					    const struct file_signature *signature);
void graph_cache_set_signature(struct graph_cache *graphs, struct cached_graph *graph,
			       const struct file_signature *signature);
/* Loads the graph from its JSON.  NULL with an error when the text is not a graph.  `source` NULL =
 * the graph must not be found by its source. */
struct cached_graph *graph_cache_load(struct graph_cache *graphs, struct str text,
				      const struct hash *source, struct error *error);
void graph_cache_retain(struct graph_cache *graphs, struct cached_graph *graph);
void graph_cache_release(struct graph_cache *graphs, struct cached_graph *graph);

#endif
