/* active/notice_bus.c -- notices: "committed up to here".
 *
 * A notice carries a position and no events.  A watcher reads on from its own cursor
 * (architecture R10), so a slow reader costs nothing and a missed notice is made good by the next.
 */
#include "active/notices.h"

#include <stdlib.h>

#include "active/executor_state.h"

struct watch {
	struct uuid run;
	executor_noticed *noticed;
	void *context;
	uint64_t argument;
};

uint64_t executor_watch(struct executor *executor, const struct uuid *run,
			executor_noticed *noticed, void *context, uint64_t argument)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	require(watch != NULL);
	*watch = (struct watch){ *run, noticed, context, argument };
	return slots_add(&executor->watches, watch);
}

void executor_unwatch(struct executor *executor, uint64_t id)
{
	struct watch *watch = slots_get(&executor->watches, id);
	if (watch == NULL)
		return;
	slots_remove(&executor->watches, id);
	free(watch);
}

void notice_publish(struct executor *executor, const struct executor_notice *notice)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct watch *watch; (watch = slots_next(&executor->watches, &index, &id)) != NULL;)
		if (uuid_is_zero(&watch->run) || uuid_equal(&watch->run, &notice->run))
			watch->noticed(watch->context, watch->argument, notice);
}
