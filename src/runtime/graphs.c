/* runtime/graphs.c -- the newest compiled graphs, so that a thousand runs of one definition
 * compile it once. */
#include <stdlib.h>
#include <string.h>

#include "runtime/inside.h"

static void use_free(struct graph_use *use)
{
	arena_done(&use->arena);
	free(use);
}

struct graph_use *graphs_find(struct graphs *graphs, const struct hash *hash, bool by_source)
{
	struct graph_use *found = NULL;
	pthread_mutex_lock(&graphs->lock);
	for (size_t i = 0; i < GRAPHS_KEPT && found == NULL; i++) {
		struct graph_use *use = graphs->kept[i];
		if (use != NULL && hash_equal(by_source ? &use->source : &use->graph->hash, hash))
			found = use;
	}
	if (found != NULL)
		found->uses++;
	pthread_mutex_unlock(&graphs->lock);
	return found;
}

struct graph_use *graphs_load(struct graphs *graphs, struct str text, const struct hash *source,
			      struct error *error)
{
	struct graph_use *use = calloc(1, sizeof(*use));
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
	struct graph_use *oldest = graphs->kept[graphs->next];
	graphs->kept[graphs->next] = use;
	graphs->next = (graphs->next + 1) % GRAPHS_KEPT;
	pthread_mutex_unlock(&graphs->lock);
	if (oldest != NULL)
		graphs_release(graphs, oldest);
	return use;
}

void graphs_release(struct graphs *graphs, struct graph_use *use)
{
	pthread_mutex_lock(&graphs->lock);
	bool last = --use->uses == 0;
	pthread_mutex_unlock(&graphs->lock);
	if (last)
		use_free(use);
}

void graphs_done(struct graphs *graphs)
{
	for (size_t i = 0; i < GRAPHS_KEPT; i++)
		if (graphs->kept[i] != NULL)
			graphs_release(graphs, graphs->kept[i]);
	pthread_mutex_destroy(&graphs->lock);
}
