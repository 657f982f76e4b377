/* active/notice_bus.c -- notices: "committed up to here".
 *
 * A notice carries a position and no events.  A watcher reads on from its own cursor
 * (architecture R10), so a slow reader costs nothing and a missed notice is made good by the next.
 *
 * Watches are grouped by run, and those of every run are a group of their own.  So a commit visits
 * two groups, however many runs are watched.
 */
#include "active/notices.h"

#include <stdlib.h>

#include "active/executor_state.h"

struct watch_group {
	struct uuid run;
	struct slots watches; /* a callback may add and remove some while it is iterated */
	unsigned publishing;
};

struct watch {
	struct watch_group *group;
	uint64_t id_in_group;
	executor_noticed *noticed;
	void *context;
	uint64_t argument;
};

static struct watch_group *group_of(struct executor *executor, const struct uuid *run)
{
	return map_get(&executor->watch_groups, uuid_str(run));
}

static struct watch_group *group_make(struct executor *executor, const struct uuid *run)
{
	struct watch_group *group = group_of(executor, run);
	if (group != NULL)
		return group;
	group = calloc(1, sizeof(*group));
	require(group != NULL);
	group->run = *run;
	map_put(&executor->watch_groups, uuid_str(&group->run), group);
	return group;
}

/* An empty group that is being published to is freed afterwards. */
static void group_drop(struct executor *executor, struct watch_group *group)
{
	if (group->watches.live > 0 || group->publishing > 0)
		return;
	map_remove(&executor->watch_groups, uuid_str(&group->run));
	slots_done(&group->watches);
	free(group);
}

uint64_t executor_watch(struct executor *executor, const struct uuid *run,
			executor_noticed *noticed, void *context, uint64_t argument)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	require(watch != NULL);
	struct watch_group *group = group_make(executor, run);
	*watch = (struct watch){ group, 0, noticed, context, argument };
	watch->id_in_group = slots_add(&group->watches, watch);
	return slots_add(&executor->watches, watch);
}

void executor_unwatch(struct executor *executor, uint64_t id)
{
	struct watch *watch = slots_get(&executor->watches, id);
	if (watch == NULL)
		return;
	struct watch_group *group = watch->group;
	slots_remove(&executor->watches, id);
	slots_remove(&group->watches, watch->id_in_group);
	free(watch);
	group_drop(executor, group);
}

static void publish_to(struct executor *executor, const struct uuid *run,
		       const struct executor_notice *notice)
{
	struct watch_group *group = group_of(executor, run);
	uint32_t index = 0;
	uint64_t id;
	if (group == NULL)
		return;
	group->publishing++;
	for (struct watch *watch; (watch = slots_next(&group->watches, &index, &id)) != NULL;) {
		executor->watches_visited++;
		watch->noticed(watch->context, watch->argument, notice);
	}
	group->publishing--;
	group_drop(executor, group);
}

/* The system stream has the zero id, which also stands for every run. */
void notice_publish(struct executor *executor, const struct executor_notice *notice)
{
	const struct uuid every = { { 0 } };
	if (!uuid_is_zero(&notice->run))
		publish_to(executor, &notice->run, notice);
	publish_to(executor, &every, notice);
}

void notice_bus_done(struct executor *executor)
{
	uint32_t index = 0;
	uint64_t id;
	for (void *watch; (watch = slots_next(&executor->watches, &index, &id)) != NULL;)
		free(watch);
	size_t at = 0;
	struct str key;
	for (struct watch_group *group;
	     (group = map_next(&executor->watch_groups, &at, &key)) != NULL;) {
		slots_done(&group->watches);
		free(group);
	}
	map_done(&executor->watch_groups);
	slots_done(&executor->watches);
}

uint64_t notice_visits(const struct executor *executor)
{
	return executor->watches_visited;
}
