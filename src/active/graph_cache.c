/* active/graph_cache.c -- the newest compiled graphs, so that a thousand runs of one definition
 * compile it once. */
#include "active/graph_cache.h"

#include <stdlib.h>
#include <string.h>

#include "definition/graph.h"

static void use_free(struct cached_graph *use)
{
	arena_done(&use->arena);
	free(use);
}

void graph_cache_init(struct graph_cache *graphs)
{
	pthread_mutex_init(&graphs->lock, NULL);
}

struct cached_graph *graph_cache_find(struct graph_cache *graphs, const struct hash *hash,
				      bool by_source)
{
	struct cached_graph *found = NULL;
	pthread_mutex_lock(&graphs->lock);
	for (size_t i = 0; i < GRAPH_CACHE_SIZE && found == NULL; i++) {
		struct cached_graph *use = graphs->kept[i];
		if (use != NULL && hash_equal(by_source ? &use->source : &use->graph->hash, hash))
			found = use;
	}
	if (found != NULL)
		found->uses++;
	pthread_mutex_unlock(&graphs->lock);
	return found;
}

struct cached_graph *graph_cache_find_named(struct graph_cache *graphs, struct str name,
					    const struct file_signature *signature)
{
	struct cached_graph *found = NULL;
	pthread_mutex_lock(&graphs->lock);
	for (size_t i = 0; i < GRAPH_CACHE_SIZE && found == NULL; i++) {
		struct cached_graph *use = graphs->kept[i];
		if (use != NULL && str_equal(use->graph->name, name) &&
		    file_signature_equal(&use->signature, signature))
			found = use;
	}
	if (found != NULL)
		found->uses++;
	pthread_mutex_unlock(&graphs->lock);
	return found;
}

void graph_cache_set_signature(struct graph_cache *graphs, struct cached_graph *use,
			       const struct file_signature *signature)
{
	pthread_mutex_lock(&graphs->lock);
	use->signature = *signature;
	pthread_mutex_unlock(&graphs->lock);
}

struct cached_graph *graph_cache_load(struct graph_cache *graphs, struct str text,
				      const struct hash *source, struct error *error)
{
	struct cached_graph *use = calloc(1, sizeof(*use));
	require(use != NULL);
	use->text = str_copy(&use->arena, text);
	if (source != NULL)
		use->source = *source;
	if (!graph_load(use->text, &use->arena, &use->graph, error)) {
		use_free(use);
		return NULL;
	}
	use->uses = 2;
	pthread_mutex_lock(&graphs->lock);
	struct cached_graph *oldest = graphs->kept[graphs->next];
	graphs->kept[graphs->next] = use;
	graphs->next = (graphs->next + 1) % GRAPH_CACHE_SIZE;
	pthread_mutex_unlock(&graphs->lock);
	if (oldest != NULL)
		graph_cache_release(graphs, oldest);
	return use;
}

void graph_cache_retain(struct graph_cache *graphs, struct cached_graph *use)
{
	pthread_mutex_lock(&graphs->lock);
	use->uses++;
	pthread_mutex_unlock(&graphs->lock);
}

void graph_cache_release(struct graph_cache *graphs, struct cached_graph *use)
{
	pthread_mutex_lock(&graphs->lock);
	bool last = --use->uses == 0;
	pthread_mutex_unlock(&graphs->lock);
	if (last)
		use_free(use);
}

void graph_cache_done(struct graph_cache *graphs)
{
	for (size_t i = 0; i < GRAPH_CACHE_SIZE; i++)
		if (graphs->kept[i] != NULL)
			graph_cache_release(graphs, graphs->kept[i]);
	pthread_mutex_destroy(&graphs->lock);
}
