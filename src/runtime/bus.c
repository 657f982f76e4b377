/* runtime/bus.c -- "committed up to here": a notice carries a position, never an event.
 *
 * Whoever is told reads on from its own cursor (architecture R10), so a slow reader costs nothing
 * and a lost notice is repaired by the next.
 */
#include <stdlib.h>

#include "runtime/inside.h"

struct watch {
	struct uuid run;
	runtime_noticed *noticed;
	void *context;
	uint64_t argument;
};

uint64_t runtime_watch(struct runtime *runtime, const struct uuid *run, runtime_noticed *noticed,
		       void *context, uint64_t argument)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	require(watch != NULL);
	*watch = (struct watch){ *run, noticed, context, argument };
	return slots_add(&runtime->watches, watch);
}

void runtime_unwatch(struct runtime *runtime, uint64_t id)
{
	struct watch *watch = slots_get(&runtime->watches, id);
	if (watch == NULL)
		return;
	slots_remove(&runtime->watches, id);
	free(watch);
}

void bus_notify(struct runtime *runtime, const struct runtime_notice *notice)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct watch *watch; (watch = slots_next(&runtime->watches, &index, &id)) != NULL;)
		if (uuid_is_zero(&watch->run) || uuid_equal(&watch->run, &notice->run))
			watch->noticed(watch->context, watch->argument, notice);
}
