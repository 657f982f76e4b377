/* llm/price.c -- finds the price of a model and computes the cost of a turn.
 *
 * Every product and sum is checked: counts come from providers, and a number that wraps around would
 * be a wrong price.  What cannot be counted is unknown.
 */
#include "llm/price.h"

#include "base/limits.h"
#include "base/yaml.h"
#include "contract/run_model_types.h"
#include "contract/run_price_types.h"
#include "contract/run_turn_types.h"
#include "os/file.h"

/* Picodollars per token of a price in dollars per million tokens. */
#define PICO(dollars) ((int64_t)((dollars)*1e6 + 0.5))
#define SAME          (-1)
#define EITHER(price, input) \
	((price) < 0 ? PICO(input) : PICO(price)) /* constant, so that rows are data */

#define PRICE(provider, model, input, output, cache_read, cache_write, context) \
	{ { provider, sizeof(provider) - 1 },                                   \
	  { model, sizeof(model) - 1 },                                         \
	  PICO(input),                                                          \
	  PICO(output),                                                         \
	  EITHER(cache_read, input),                                            \
	  EITHER(cache_write, input),                                           \
	  context,                                                              \
	  true },
static const struct price rows[] = {
#include "llm/prices.def"
};
#undef PRICE

const struct price_table price_built_in = { rows, COUNT(rows) };
const char price_as_of[] = PRICES_AS_OF;

/* ---- the table ------------------------------------------------------------------------- */

/* Each * takes as little as possible; when the rest does not fit, the newest one takes more. */
static bool fits(struct str pattern, struct str text)
{
	size_t p = 0, t = 0, star = SIZE_MAX, taken = 0;
	while (t < text.size) {
		if (p < pattern.size && pattern.at[p] == '*') {
			star = p++;
			taken = t;
		} else if (p < pattern.size && pattern.at[p] == text.at[t]) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++taken;
		} else {
			return false;
		}
	}
	while (p < pattern.size && pattern.at[p] == '*')
		p++;
	return p == pattern.size;
}

static bool is_date(struct str text)
{
	size_t digits = 0;
	for (size_t i = 0; i < text.size; i++) {
		bool digit = text.at[i] >= '0' && text.at[i] <= '9';
		digits += digit;
		if (!digit && text.at[i] != '-')
			return false;
	}
	return digits == 4 || digits == 8;
}

/* gpt-4o stands for gpt-4o-2024-08-06, gpt-4o-0806 and gpt-4o-latest. */
static bool is_version(struct str name, struct str model)
{
	size_t star;
	if (str_find(name, S("*"), &star) || !str_starts(model, name) ||
	    model.size < name.size + 2 || model.at[name.size] != '-')
		return false;
	struct str suffix = str_skip(model, name.size + 1);
	return str_equal(suffix, S("latest")) || is_date(suffix);
}

const struct price *price_find(const struct price_table *table, struct str provider,
			       struct str model)
{
	for (size_t i = 0; table != NULL && i < table->count; i++) {
		const struct price *price = &table->at[i];
		if (fits(price->provider, provider) &&
		    (fits(price->model, model) || is_version(price->model, model)))
			return price;
	}
	return NULL;
}

static struct price price_of(const struct run_price *row)
{
	return (struct price){
		.provider = row->provider,
		.model = row->model,
		.input = PICO(row->input),
		.output = PICO(row->output),
		.cache_read = PICO(has(row, cache_read) ? row->cache_read : row->input),
		.cache_write = PICO(has(row, cache_write) ? row->cache_write : row->input),
		.context_window = has(row, context_window) ? row->context_window : 0,
	};
}

bool price_file_read(struct str text, struct arena *arena, struct price_table *out_table,
		     struct error *error)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .text = str_copy(arena, text) };
	if (!yaml_read(source.text, arena, &source.json, error)) {
		error_prefix(error, "%u:%u: ", error->line, error->column);
		return false;
	}
	const struct run_price_file *file = run_price_file_parse(&source, arena, &problems);
	if (file == NULL) {
		problems_fail(&problems, error);
		error_prefix(error, "%u:%u: ", error->line, error->column);
		return false;
	}
	size_t count = file->prices.count;
	struct price *at = arena_array(arena, struct price, count + COUNT(rows));
	for (size_t i = 0; i < count; i++)
		at[i] = price_of(&file->prices.at[i]);
	for (size_t i = 0; i < COUNT(rows); i++)
		at[count + i] = rows[i];
	*out_table = (struct price_table){ at, count + COUNT(rows) };
	return true;
}

bool price_table_read(const char *folder, struct arena *arena, struct price_table *out_table,
		      struct error *error)
{
	static const char file[] = "prices.yaml";
	struct str text;
	struct error unread = { 0 };
	if (!file_read_confined(folder, file, LIMIT_PRICES_BYTES, arena, &text, &unread)) {
		if (unread.code == ERROR_NOT_FOUND)
			*out_table = price_built_in;
		else
			*error = unread;
		return unread.code == ERROR_NOT_FOUND;
	}
	if (price_file_read(text, arena, out_table, error))
		return true;
	error_prefix(error, "%s in the data folder: ", file);
	error->line = error->column = 0; /* they are in the text */
	return false;
}

/* ---- a turn ---------------------------------------------------------------------------- */

/* Adds tokens * price to the sum. */
static bool add(int64_t *sum, int64_t tokens, int64_t price)
{
	int64_t product;
	return !__builtin_mul_overflow(tokens, price, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

/* A provider that reports more cached than input tokens has an input of the cached ones. */
static int64_t uncached(const struct run_turn_usage *usage)
{
	return usage->input_tokens > usage->cache_read_tokens
		       ? usage->input_tokens - usage->cache_read_tokens
		       : 0;
}

bool price_cost(const struct price *price, const struct run_turn_usage *usage, int64_t *out_cost)
{
	int64_t sum = 0;
	if (!add(&sum, uncached(usage), price->input) ||
	    !add(&sum, usage->cache_read_tokens, price->cache_read) ||
	    !add(&sum, usage->cache_creation_tokens, price->cache_write) ||
	    !add(&sum, usage->output_tokens, price->output))
		return false;
	*out_cost = sum;
	return true;
}

bool price_saved(const struct price *price, const struct run_turn_usage *usage, int64_t *out_saved)
{
	int64_t sum = 0;
	if (!add(&sum, usage->cache_read_tokens, price->input - price->cache_read) ||
	    !add(&sum, usage->cache_creation_tokens, price->input - price->cache_write))
		return false;
	*out_saved = sum;
	return true;
}

struct str price_provider(const struct json *options, struct str driver)
{
	struct str named = options == NULL ? S("") : json_text(json_member(options, S("provider")));
	if (named.size > 0 || !str_equal(driver, S("api")))
		return named.size > 0 ? named : driver;
	AUTO(arena) arena = { 0 };
	return run_api_options_new(&arena)->provider; /* a default lives as long as the program */
}

/* The driver's dollars as picodollars; false if it has reported none that can be counted. */
static bool reported(const struct run_turn_usage *usage, int64_t *out_cost)
{
	enum { MOST_DOLLARS = 9000000 };
	if (!(usage->cost_usd > 0 && usage->cost_usd <= MOST_DOLLARS))
		return false;
	*out_cost = (int64_t)(usage->cost_usd * 1e12 + 0.5);
	return true;
}

const struct json *price_usage(const struct price_table *table, struct str provider,
			       struct str model, const struct run_turn_usage *usage,
			       struct arena *arena)
{
	struct run_turn_usage *out = run_turn_usage_new(arena);
	*out = *usage;
	if (!has(usage, provider) || usage->provider.size == 0)
		SET(out, provider, provider);
	if (!has(usage, model) || usage->model.size == 0)
		SET(out, model, model);
	out->provider = str_copy(arena, out->provider);
	out->model = str_copy(arena, out->model);
	const struct price *price = price_find(table, out->provider, out->model);
	int64_t cost, saved;
	out->is.cost = out->is.saved = ABSENT;
	if (reported(usage, &cost) || (price != NULL && price_cost(price, usage, &cost)))
		SET(out, cost, cost);
	if (price != NULL && price_saved(price, usage, &saved))
		SET(out, saved, saved);
	return run_turn_usage_tree(out, arena);
}
