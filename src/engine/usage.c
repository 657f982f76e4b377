/* engine/usage.c -- sums of what turns used.
 *
 * Counts come from providers, so every sum stops at the greatest number instead of wrapping around.
 * A turn is added to the newest row that fits: the cost of a turn does not depend on how many there
 * were.
 */
#include "engine/usage.h"

#include "base/date.h"
#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_turn_types.h"

static const int64_t day_us = 86400LL * 1000000;

const struct run_graph_agent *usage_agent(const struct run *run,
					  const struct activation *activation)
{
	while (activation != NULL && !has(run_node(run, activation)->row, agent))
		activation = activation->scope->owner;
	return activation == NULL ? NULL : run_node(run, activation)->row->agent;
}

static void add(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = more > 0 ? INT64_MAX : INT64_MIN;
}

static bool same(const struct usage *row, const struct usage *key)
{
	return row->day == key->day && str_equal(row->agent, key->agent) &&
	       str_equal(row->model, key->model) && str_equal(row->provider, key->provider);
}

static struct usage *row_new(struct run *run, const struct usage *key)
{
	struct usages *all = run->usages;
	if (all->count == all->room) {
		all->room = all->room == 0 ? 4 : all->room * 2;
		struct usage *at = arena_array(run->arena, struct usage, all->room);
		for (size_t i = 0; i < all->count; i++)
			at[i] = all->at[i];
		all->at = at;
	}
	struct usage *row = &all->at[all->count++];
	*row = (struct usage){ .day = key->day,
			       .agent = str_copy(run->arena, key->agent),
			       .provider = str_copy(run->arena, key->provider),
			       .model = str_copy(run->arena, key->model) };
	return row;
}

/* A run with too many rows adds to its newest one: sums stay right, days do not. */
static struct usage *row_of(struct run *run, const struct usage *key)
{
	if (run->usages == NULL)
		run->usages = arena_new(run->arena, struct usages);
	struct usages *all = run->usages;
	for (size_t i = all->count; i-- > 0;)
		if (same(&all->at[i], key))
			return &all->at[i];
	return all->count < LIMIT_RUN_USAGE_ROWS ? row_new(run, key) : &all->at[all->count - 1];
}

static void add_tokens(struct usage *sum, const struct usage *more)
{
	add(&sum->turns, more->turns);
	add(&sum->unpriced, more->unpriced);
	add(&sum->input_tokens, more->input_tokens);
	add(&sum->output_tokens, more->output_tokens);
	add(&sum->cache_read_tokens, more->cache_read_tokens);
	add(&sum->cache_creation_tokens, more->cache_creation_tokens);
	add(&sum->cost, more->cost);
	add(&sum->saved, more->saved);
}

/* A turn that an older version recorded has dollars alone. */
static int64_t cost_of(const struct run_turn_usage *used, bool *out_known)
{
	enum { MOST_DOLLARS = 9000000 };
	bool reported = used->cost_usd > 0 && used->cost_usd <= MOST_DOLLARS;
	*out_known = has(used, cost) || reported;
	if (has(used, cost))
		return used->cost;
	return reported ? (int64_t)(used->cost_usd * 1e12 + 0.5) : 0;
}

bool usage_note(struct run *run, const struct run_graph_agent *agent, const struct json *tree,
		int64_t at, int64_t *out_cost)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	struct contract_source source = { .json = tree, .lenient = true };
	const struct run_turn_usage *used = run_turn_usage_parse(&source, &arena, &problems);
	if (used == NULL)
		return false; /* a driver of another version; nothing here depends on it */
	bool known;
	struct usage turn = {
		.day = date_floor_divide(at, day_us),
		.agent = agent == NULL ? S("") : agent->name,
		.provider = has(used, provider) ? used->provider
			    : agent == NULL     ? S("")
						: agent->driver,
		.model = has(used, model) ? used->model
			 : agent == NULL  ? S("")
					  : agent->model,
		.turns = 1,
		.input_tokens = used->input_tokens,
		.output_tokens = used->output_tokens,
		.cache_read_tokens = used->cache_read_tokens,
		.cache_creation_tokens = used->cache_creation_tokens,
		.cost = cost_of(used, &known),
		.saved = has(used, saved) ? used->saved : 0,
	};
	turn.unpriced = !known;
	struct usage *row = row_of(run, &turn);
	add_tokens(row, &turn);
	row->seq = run->seq + 1;
	*out_cost = turn.cost;
	return known;
}

struct usages usage_since(const struct run *run, int64_t after, struct arena *arena)
{
	struct usages found = { 0 };
	if (run->usages == NULL)
		return found;
	for (size_t i = 0; i < run->usages->count; i++)
		found.count += after == 0 || run->usages->at[i].seq > after;
	found.at = arena_array(arena, struct usage, found.count);
	for (size_t i = 0; i < run->usages->count; i++)
		if (after == 0 || run->usages->at[i].seq > after)
			found.at[found.room++] = run->usages->at[i];
	return found;
}

struct usage usage_total(const struct run *run)
{
	struct usage total = { 0 };
	for (size_t i = 0; run->usages != NULL && i < run->usages->count; i++)
		add_tokens(&total, &run->usages->at[i]);
	return total;
}

/* ---- snapshots -------------------------------------------------------------------------- */

struct run_snapshot_usage_list usage_print(const struct run *run, struct arena *arena)
{
	size_t count = run->usages == NULL ? 0 : run->usages->count;
	struct run_snapshot_usage *rows = arena_array(arena, struct run_snapshot_usage, count);
	for (size_t i = 0; i < count; i++) {
		const struct usage *from = &run->usages->at[i];
		struct run_snapshot_usage *row = &rows[i];
		*row = *run_snapshot_usage_new(arena);
		SET(row, day, from->day);
		SET(row, agent, from->agent);
		SET(row, provider, from->provider);
		SET(row, model, from->model);
		SET(row, turns, from->turns);
		SET(row, unpriced, from->unpriced);
		SET(row, input_tokens, from->input_tokens);
		SET(row, output_tokens, from->output_tokens);
		SET(row, cache_read_tokens, from->cache_read_tokens);
		SET(row, cache_creation_tokens, from->cache_creation_tokens);
		SET(row, cost, from->cost);
		SET(row, saved, from->saved);
	}
	return (struct run_snapshot_usage_list){ rows, count };
}

void usage_restore(struct run *run, struct run_snapshot_usage_list from)
{
	for (size_t i = 0; i < from.count; i++) {
		const struct run_snapshot_usage *row = &from.at[i];
		const struct usage sum = {
			.day = row->day,
			.agent = row->agent,
			.provider = row->provider,
			.model = row->model,
			.turns = row->turns,
			.unpriced = row->unpriced,
			.input_tokens = row->input_tokens,
			.output_tokens = row->output_tokens,
			.cache_read_tokens = row->cache_read_tokens,
			.cache_creation_tokens = row->cache_creation_tokens,
			.cost = row->cost,
			.saved = row->saved,
		};
		add_tokens(row_of(run, &sum), &sum);
	}
}
