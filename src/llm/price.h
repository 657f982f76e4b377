/* llm/price.h -- what tokens cost.
 *
 * Money is counted in picodollars, 1e-12 dollars, as int64_t: a price of one dollar per million
 * tokens is a million picodollars per token, so every published price is a whole number, and sums
 * are exact up to nine million dollars.
 *
 * A table has the rows of prices.yaml, then those of prices.def; the first row that matches provider
 * and model applies.  Without a row the price is unknown, which is not the same as free.
 *
 *	cost = (input - cache_read) * input price + cache_read * cache_read price
 *	     + cache_creation * cache_write price + output * output price
 *
 * The counts are normalized: `input_tokens` includes tokens that are read from the cache and
 * excludes tokens that are written to it.  A cost that the driver reports precedes the computed one.
 *
 * Everything here is pure except price_table_read().
 */
#ifndef LLM_PRICE_H
#define LLM_PRICE_H

#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

struct run_turn_usage;

/* Prices in picodollars per token. */
struct price {
	struct str provider, model; /* * stands for any text */
	int64_t input, output, cache_read, cache_write;
	int64_t context_window; /* in tokens; 0 = unknown */
	bool built_in;
};

struct price_table {
	const struct price *at;
	size_t count;
};

extern const struct price_table price_built_in; /* prices.def */
extern const char price_as_of[];

/* Reads the text of prices.yaml: its rows, then those of prices.def.  An error names line and
 * column. */
MUST_CHECK bool price_file_read(struct str text, struct arena *arena, struct price_table *out_table,
				struct error *error);

/* Reads prices.yaml of the data folder; without the file, the rows of prices.def. */
MUST_CHECK bool price_table_read(const char *folder, struct arena *arena,
				 struct price_table *out_table, struct error *error);

/* NULL = unknown; the table may be NULL. */
const struct price *price_find(const struct price_table *table, struct str provider,
			       struct str model);

/* False if the numbers are too large to be counted. */
bool price_cost(const struct price *price, const struct run_turn_usage *usage, int64_t *out_cost);
/* What the same tokens without a cache would have cost more; negative = less. */
bool price_saved(const struct price *price, const struct run_turn_usage *usage, int64_t *out_saved);

/* The provider of an agent: the option `provider`, else the default of the driver api, else the
 * driver. */
struct str price_provider(const struct json *options, struct str driver);

/* The usage of a turn as it is recorded: with provider, model, and cost and saving where they are
 * known. */
const struct json *price_usage(const struct price_table *table, struct str provider,
			       struct str model, const struct run_turn_usage *usage,
			       struct arena *arena);

#endif
