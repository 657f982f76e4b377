/* active/load_control.c -- figures, overload, room on the disk, an orderly stop. */
#include "active/active_run.h"
#include "active/effect_kind.h"
#include "active/executor_state.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/run_class_types.h"
#include "contract/run_graph_types.h"
#include "engine/run.h"
#include "engine/states.h"
#include "llm/llm.h"
#include "os/failpoint.h"

/* ---- figures ------------------------------------------------------------------------- */

struct executor_counts executor_counts(const struct executor *executor)
{
	const struct store *store = executor->settings.store;
	const struct writer *writer = executor->writer;
	struct llm_counts models = { 0 };
	if (executor->settings.models != NULL)
		models = llm_counts(executor->settings.models);
	return (struct executor_counts){ .active_runs = executor->active_runs.live,
					 .open_tools = executor->settings.effects->open_tools,
					 .open_turns = executor->settings.effects->open_turns,
					 .waiting_appends = writer_waiting(writer),
					 .watches = executor->watches.live,
					 .alarms = executor->alarm_slots.live,
					 .queued = executor->admission.count,
					 .full = executor->full,
					 .oldest_append_us = writer_oldest_us(writer),
					 .append_work_us = writer_work_us(writer),
					 .commit_sizes = writer_commit_sizes(writer),
					 .commit_times = writer_commit_times(writer),
					 .snapshots = executor->snapshots,
					 .loaded_events = executor->loaded_events,
					 .store = store->writer->stats(store),
					 .model_requests = models.requests,
					 .model_requests_waiting = models.waiting,
					 .models_open = models.open,
					 .models_opened = models.opened,
					 .model_connections = models.connections };
}

enum { CLASSES = 6, TIMER = CLASSES, HUMAN, KINDS };

static size_t kind_of(const struct run *run, const struct activation *activation)
{
	const struct graph_node *node = run_node(run, activation);
	if (activation->state == STEP_WAITING_HUMAN)
		return HUMAN;
	return node->kind == RUN_NODE_WAIT ? TIMER : (size_t)node->row->class;
}

static void count_open(const struct run *run, int64_t now, struct executor_effects *effects)
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

/* Slow: it walks over every step of every active run.  For metrics, asked for now and then. */
struct executor_effects executor_effects(struct executor *executor)
{
	struct executor_effects effects = { 0 };
	_Static_assert(COUNT(effects.at) == KINDS, "one place for each");
	for (size_t i = 0; i < CLASSES; i++)
		effects.at[i].class = run_effect_class_name((enum run_effect_class)i);
	effects.at[TIMER].class = S("timer");
	effects.at[HUMAN].class = S("human");
	int64_t now = executor_now(executor);
	uint32_t index = 0;
	uint64_t id;
	for (const struct active_run *active;
	     (active = slots_next(&executor->active_runs, &index, &id)) != NULL;)
		if (active->run != NULL)
			count_open(active->run, now, &effects);
	return effects;
}

/* ---- overload ------------------------------------------------------------------------ */

bool executor_admits(struct executor *executor, struct error *error)
{
	if (executor->draining)
		return fail(error, ERROR_UNAVAILABLE, EXECUTOR_DRAINING_TEXT);
	int64_t most = FAILPOINT_LIMIT("writer.queue", (int64_t)LIMIT_WRITER_QUEUE);
	if ((int64_t)writer_waiting(executor->writer) >= most) {
		limit_hit(REJECTION_WRITER_QUEUE);
		return fail(error, ERROR_OVERLOADED,
			    "%lld appends wait for the disk; try again in a moment",
			    (long long)most);
	}
	int64_t longest_ms = FAILPOINT_LIMIT("writer.queue_ms", (int64_t)LIMIT_WRITER_QUEUE_MS);
	if (writer_work_us(executor->writer) > longest_ms * INT64_C(1000)) {
		limit_hit(REJECTION_WRITER_QUEUE_MS);
		return fail(error, ERROR_OVERLOADED,
			    "the disk is behind by more than %lld ms; try again in a moment",
			    (long long)longest_ms);
	}
	return true;
}

/* ---- the disk ------------------------------------------------------------------------ */

void executor_note_disk_space(struct executor *executor, bool full)
{
	if (full != executor->full)
		log_line(full ? LOG_ERROR : LOG_INFO, "%s",
			 full ? "there is no room on the disk: commands are refused and results "
				"wait until there is"
			      : "there is room on the disk again");
	executor->full = full;
}

/* ---- an orderly stop ----------------------------------------------------------------- */

void executor_drain(struct executor *executor)
{
	executor->draining = true;
}

bool executor_is_draining(const struct executor *executor)
{
	return executor->draining;
}

bool executor_is_drained(const struct executor *executor)
{
	uint32_t index = 0;
	uint64_t id;
	if (executor->settings.effects->open_tools > 0 ||
	    executor->settings.effects->open_turns > 0 || writer_waiting(executor->writer) > 0)
		return false;
	for (const struct active_run *active;
	     (active = slots_next(&executor->active_runs, &index, &id)) != NULL;)
		if (active->deciding != NULL || active->inbox.first != NULL ||
		    active->redo.first != NULL)
			return false;
	return true;
}
