/* simstore/store_memory_usage.c -- what turns used, and what they take of budgets, in the memory store.
 *
 * A sum looks at every row, which is acceptable in tests.
 */
#include "simstore/store_memory_tables.h"

#include <stdlib.h>

static void texts_drop(struct store_usage *usage)
{
	memory_disown(usage->agent);
	memory_disown(usage->provider);
	memory_disown(usage->model);
}

void memory_usage_drop(struct memory_run *run)
{
	for (size_t i = 0; i < run->usage_count; i++)
		texts_drop(&run->usage[i]);
	free(run->usage);
	run->usage = NULL;
	run->usage_count = run->usage_room = 0;
}

static bool same(const struct store_usage *a, const struct store_usage *b)
{
	return a->day == b->day && str_equal(a->agent, b->agent) &&
	       str_equal(a->provider, b->provider) && str_equal(a->model, b->model);
}

void memory_usage_write(struct memory_run *run, struct store_usages usages)
{
	for (size_t i = 0; i < usages.count; i++) {
		const struct store_usage *usage = &usages.at[i];
		size_t place = 0;
		while (place < run->usage_count && !same(&run->usage[place], usage))
			place++;
		if (place == run->usage_count) {
			run->usage = memory_grown(run->usage, &run->usage_room, run->usage_count,
						  sizeof(*run->usage));
			run->usage_count++;
		} else {
			texts_drop(&run->usage[place]);
		}
		run->usage[place] = *usage;
		run->usage[place].agent = memory_own(usage->agent);
		run->usage[place].provider = memory_own(usage->provider);
		run->usage[place].model = memory_own(usage->model);
	}
}

/* ---- budgets --------------------------------------------------------------------------- */

void memory_budgets_drop(struct memory_run *run)
{
	for (size_t i = 0; i < run->budget_count; i++)
		memory_disown(run->budgets[i].name);
	free(run->budgets);
	run->budgets = NULL;
	run->budget_count = run->budget_room = 0;
}

void memory_budgets_write(struct memory_run *run, struct store_budgets budgets)
{
	for (size_t i = 0; i < budgets.count; i++) {
		size_t place = 0;
		while (place < run->budget_count &&
		       !str_equal(run->budgets[place].name, budgets.at[i].name))
			place++;
		if (place == run->budget_count) {
			run->budgets = memory_grown(run->budgets, &run->budget_room,
						    run->budget_count, sizeof(*run->budgets));
			run->budgets[run->budget_count++].name = memory_own(budgets.at[i].name);
		}
		run->budgets[place].spent = budgets.at[i].spent;
		run->budgets[place].reserved = budgets.at[i].reserved;
	}
}

static void guard_add(struct store_memory *self, const char *guard, struct str name, int64_t amount)
{
	AUTO(arena) arena = { 0 };
	struct str counter = str_format(&arena, "%s" STR_FMT, guard, STR_ARG(name));
	int64_t sum;
	if (!__builtin_add_overflow(memory_counter(&self->guards, counter), amount, &sum))
		memory_counter_move(&self->guards, counter, amount);
}

void memory_budgets_count(struct store_memory *self)
{
	for (size_t i = 0; i < self->guards.count; i++)
		if (str_starts(self->guards.at[i].name, S(STORE_BUDGET_USED)) ||
		    str_starts(self->guards.at[i].name, S(STORE_BUDGET_RESERVED)))
			self->guards.at[i].value = 0;
	for (size_t i = 0; i < self->run_count; i++)
		for (size_t j = 0; j < self->runs[i]->budget_count; j++) {
			const struct store_budget *budget = &self->runs[i]->budgets[j];
			guard_add(self, STORE_BUDGET_USED, budget->name, budget->spent);
			guard_add(self, STORE_BUDGET_USED, budget->name, budget->reserved);
			guard_add(self, STORE_BUDGET_RESERVED, budget->name, budget->reserved);
		}
}

/* ---- sums ------------------------------------------------------------------------------ */

static struct store_usage_sum key_of(const struct memory_run *run, const struct store_usage *usage,
				     enum store_usage_by by)
{
	struct store_usage_sum key = {
		.usage = { .agent = S(""), .provider = S(""), .model = S("") }, .workflow = S("")
	};
	bool parts = by == STORE_USAGE_PARTS;
	if (by == STORE_USAGE_DAY || parts)
		key.usage.day = usage->day;
	if (by == STORE_USAGE_AGENT || parts)
		key.usage.agent = usage->agent;
	if (by == STORE_USAGE_MODEL || parts) {
		key.usage.provider = usage->provider;
		key.usage.model = usage->model;
	}
	if (by == STORE_USAGE_WORKFLOW || by == STORE_USAGE_RUN)
		key.workflow = run->row.name;
	if (by == STORE_USAGE_RUN)
		key.run = run->row.id;
	return key;
}

static struct store_usage_sum *sum_of(struct store_usage_sums *sums,
				      const struct store_usage_sum *key, struct arena *arena)
{
	for (size_t i = 0; i < sums->count; i++)
		if (same(&sums->at[i].usage, &key->usage) &&
		    str_equal(sums->at[i].workflow, key->workflow) &&
		    uuid_equal(&sums->at[i].run, &key->run))
			return &sums->at[i];
	struct store_usage_sum *sum = &sums->at[sums->count++];
	*sum = *key;
	sum->usage.agent = str_copy(arena, key->usage.agent);
	sum->usage.provider = str_copy(arena, key->usage.provider);
	sum->usage.model = str_copy(arena, key->usage.model);
	sum->workflow = str_copy(arena, key->workflow);
	return sum;
}

static void add(struct store_usage *sum, const struct store_usage *more)
{
	sum->turns += more->turns;
	sum->unpriced += more->unpriced;
	sum->input_tokens += more->input_tokens;
	sum->output_tokens += more->output_tokens;
	sum->cache_read_tokens += more->cache_read_tokens;
	sum->cache_creation_tokens += more->cache_creation_tokens;
	if (__builtin_add_overflow(sum->cost, more->cost, &sum->cost))
		sum->cost = INT64_MAX;
	sum->saved += more->saved;
}

static int descending(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

static int dearest(const void *left, const void *right)
{
	const struct store_usage_sum *a = left, *b = right;
	int order = descending(a->usage.cost, b->usage.cost);
	if (order == 0)
		order = descending(a->usage.input_tokens, b->usage.input_tokens);
	if (order == 0)
		order = str_compare(a->usage.agent, b->usage.agent);
	if (order == 0)
		order = str_compare(a->usage.provider, b->usage.provider);
	if (order == 0)
		order = str_compare(a->usage.model, b->usage.model);
	return order != 0 ? order : str_compare(a->workflow, b->workflow);
}

static int by_day(const void *left, const void *right)
{
	const struct store_usage_sum *a = left, *b = right;
	int order = descending(b->usage.day, a->usage.day);
	if (order == 0)
		order = str_compare(a->usage.agent, b->usage.agent);
	if (order == 0)
		order = str_compare(a->usage.provider, b->usage.provider);
	return order != 0 ? order : str_compare(a->usage.model, b->usage.model);
}

void memory_usage_sum(const struct store_memory *self, const struct store_usage_filter *filter,
		      enum store_usage_by by, size_t limit, struct arena *arena,
		      struct store_usage_sums *out_sums)
{
	struct store_usage_sums sums = { 0 };
	size_t rows = 1;
	for (size_t i = 0; i < self->run_count; i++)
		rows += self->runs[i]->usage_count;
	sums.at = arena_array(arena, struct store_usage_sum, rows);
	if (by == STORE_USAGE_TOTAL) {
		const struct store_usage nothing = { 0 };
		struct store_usage_sum key = key_of(NULL, &nothing, by);
		sum_of(&sums, &key, arena);
	}
	for (size_t i = 0; i < self->run_count; i++) {
		const struct memory_run *run = self->runs[i];
		if (filter->run != NULL && !uuid_equal(filter->run, &run->row.id))
			continue;
		for (size_t j = 0; j < run->usage_count; j++) {
			const struct store_usage *usage = &run->usage[j];
			struct store_usage_sum key = key_of(run, usage, by);
			if (usage->day >= filter->first && usage->day <= filter->last)
				add(&sum_of(&sums, &key, arena)->usage, usage);
		}
	}
	bool days = by == STORE_USAGE_DAY || by == STORE_USAGE_PARTS;
	if (sums.count > 1)
		qsort(sums.at, sums.count, sizeof(*sums.at), days ? by_day : dearest);
	sums.count = sums.count < limit ? sums.count : limit;
	*out_sums = sums;
}
