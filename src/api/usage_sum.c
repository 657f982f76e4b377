/* api/usage_sum.c -- converts a sum of usage. */
#include "api/usage_sum.h"

struct run_usage_total *usage_sum_total(const struct store_usage *usage, struct arena *arena)
{
	struct run_usage_total *out = run_usage_total_new(arena);
	SET(out, turns, usage->turns);
	SET(out, unpriced_turns, usage->unpriced);
	SET(out, input_tokens, usage->input_tokens);
	SET(out, output_tokens, usage->output_tokens);
	SET(out, cache_read_tokens, usage->cache_read_tokens);
	SET(out, cache_creation_tokens, usage->cache_creation_tokens);
	if (usage->turns == 0 || usage->turns > usage->unpriced)
		SET(out, cost_usd, (double)usage->cost / 1e12);
	SET(out, saved_usd, (double)usage->saved / 1e12);
	return out;
}
