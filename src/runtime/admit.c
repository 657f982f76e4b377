/* runtime/admit.c -- how much is under way, whether more may come, and leaving. */
#include "base/limits.h"
#include "os/point.h"
#include "runtime/inside.h"

/* ---- counting ------------------------------------------------------------------------ */

struct runtime_counts runtime_counts(const struct runtime *runtime)
{
	const struct store *store = runtime->settings.store;
	const struct writer *writer = runtime->writer;
	return (struct runtime_counts){ .live_runs = runtime->lives.live,
					.open_tools = runtime->open_tools,
					.open_turns = runtime->open_turns,
					.waiting_appends = writer_waiting(writer),
					.watches = runtime->watches.live,
					.alarms = runtime->alarm_slots.live,
					.queued = runtime->queue.count,
					.full = runtime->full,
					.oldest_append_us = writer_oldest_us(writer),
					.append_work_us = writer_work_us(writer),
					.commit_sizes = writer_commit_sizes(writer),
					.commit_times = writer_commit_times(writer),
					.snapshots = runtime->snapshots,
					.loaded_events = runtime->loaded_events,
					.store = store->ops->stats(store) };
}

enum { CLASSES = 6, TIMER = CLASSES, HUMAN, KINDS };

static size_t kind_of(const struct run *run, const struct activation *activation)
{
	const struct graph_node *node = run_node(run, activation);
	if (activation->state == STEP_WAITING_HUMAN)
		return HUMAN;
	return node->kind == RUN_NODE_WAIT ? TIMER : (size_t)node->class;
}

static void count_open(const struct run *run, int64_t now, struct runtime_effects *effects)
{
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *activation = run->paths.at[i];
		if (activation == NULL || !activation->open)
			continue;
		size_t at = kind_of(run, activation);
		int64_t age = now - activation->started_at;
		effects->at[at].open++;
		if (age > effects->at[at].oldest_us)
			effects->at[at].oldest_us = age;
	}
}

/* Walks over the steps of every run in memory: a figure for somebody who asks now and then. */
struct runtime_effects runtime_effects(struct runtime *runtime)
{
	struct runtime_effects effects = { 0 };
	_Static_assert(COUNT(effects.at) == KINDS, "one place for each");
	for (size_t i = 0; i < CLASSES; i++)
		effects.at[i].class = run_effect_class_name((enum run_effect_class)i);
	effects.at[TIMER].class = S("timer");
	effects.at[HUMAN].class = S("human");
	int64_t now = runtime_now(runtime);
	uint32_t index = 0;
	uint64_t id;
	for (const struct live *live; (live = slots_next(&runtime->lives, &index, &id)) != NULL;)
		if (live->run != NULL)
			count_open(live->run, now, &effects);
	return effects;
}

/* ---- admitting ----------------------------------------------------------------------- */

bool runtime_admits(struct runtime *runtime, struct error *error)
{
	if (runtime->draining)
		return fail(error, ERROR_UNAVAILABLE, RUNTIME_LEAVES);
	int64_t most = POINT_LIMIT("writer.queue", (int64_t)LIMIT_WRITER_QUEUE);
	if ((int64_t)writer_waiting(runtime->writer) >= most) {
		limit_hit(REJECTION_WRITER_QUEUE);
		return fail(error, ERROR_OVERLOADED,
			    "%lld appends wait for the disk; try again in a moment",
			    (long long)most);
	}
	if (writer_work_us(runtime->writer) > LIMIT_WRITER_QUEUE_MS * INT64_C(1000)) {
		limit_hit(REJECTION_WRITER_QUEUE_MS);
		return fail(error, ERROR_OVERLOADED,
			    "the disk is behind by more than %d ms; try again in a moment",
			    LIMIT_WRITER_QUEUE_MS);
	}
	return true;
}

/* ---- leaving ------------------------------------------------------------------------- */

void runtime_drain(struct runtime *runtime)
{
	runtime->draining = true;
}

bool runtime_draining(const struct runtime *runtime)
{
	return runtime->draining;
}

bool runtime_drained(const struct runtime *runtime)
{
	uint32_t index = 0;
	uint64_t id;
	if (runtime->open_tools > 0 || runtime->open_turns > 0 ||
	    writer_waiting(runtime->writer) > 0)
		return false;
	for (const struct live *live; (live = slots_next(&runtime->lives, &index, &id)) != NULL;)
		if (live->turn != NULL || live->inbox.first != NULL || live->redo.first != NULL)
			return false;
	return true;
}
