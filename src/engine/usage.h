/* engine/usage.h -- what the turns of a run used and cost, as part of its state.
 *
 * One row per day (UTC), agent, provider and model.  The rows are part of the state and so of its
 * snapshot: they stay when the events they were made from are removed, and `baton db rebuild` makes
 * the store's table from them.
 *
 * A turn without reported usage is not counted.  A turn whose cost is unknown counts as unpriced;
 * its tokens count, its cost does not.
 */
#ifndef ENGINE_USAGE_H
#define ENGINE_USAGE_H

#include "engine/run.h"

struct run_graph_agent;
struct run_snapshot_usage_list;

struct usage {
	int64_t day; /* since 1970 */
	struct str agent, provider, model;
	int64_t turns, unpriced;
	int64_t input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens;
	int64_t cost, saved; /* picodollars */
	int64_t seq;         /* of the event that changed it last; 0 = restored from a snapshot */
};

/* What a turn that is under way can cost (engine/budget.h), in picodollars. */
struct reservation {
	struct uuid effect;
	int64_t amount;
	struct str_list budgets; /* named budgets that it is reserved of */
};

/* What the run has spent of a named budget and holds of it.  Reserved is taken - released: both only
 * grow, so that the difference of two states says what happened between them. */
struct budget_total {
	struct str name;
	int64_t spent, taken, released;
};

struct usages {
	struct usage *at; /* oldest first */
	size_t count, room;
	struct reservation *open;
	size_t open_count, open_room;
	int64_t booked; /* reservations of turns whose cost is not known */
	struct budget_total *budgets;
	size_t budget_count, budget_room;
};

/* The agent whose turn this activation is; NULL = none. */
const struct run_graph_agent *usage_agent(const struct run *run,
					  const struct activation *activation);
/* Adds a turn with this usage, a run.TurnUsage, that ended at this time.  True if its cost is known. */
bool usage_note(struct run *run, const struct run_graph_agent *agent, const struct json *used,
		int64_t at, int64_t *out_cost);

/* Rows that an event with a seq above `after` has changed; 0 = all of them.  They borrow. */
struct usages usage_since(const struct run *run, int64_t after, struct arena *arena);
/* The sum of all rows. */
struct usage usage_total(const struct run *run);

struct run_snapshot_usage_list usage_print(const struct run *run, struct arena *arena);
void usage_restore(struct run *run, struct run_snapshot_usage_list from);

#endif
