/* Prices of models and the cost of turns. */
#include <criterion/criterion.h>

#include "contract/run_turn_types.h"
#include "llm/price.h"

static struct arena arena;

static void forget(void)
{
	arena_done(&arena);
}

TestSuite(price, .fini = forget);

enum { MILLION = 1000000 };

static struct run_turn_usage usage_of(int64_t input, int64_t output, int64_t read, int64_t written)
{
	struct run_turn_usage usage = *run_turn_usage_new(&arena);
	SET(&usage, input_tokens, input);
	SET(&usage, output_tokens, output);
	SET(&usage, cache_read_tokens, read);
	SET(&usage, cache_creation_tokens, written);
	return usage;
}

static const struct price *known(const char *provider, const char *model)
{
	return price_find(&price_built_in, str_from_c(provider), str_from_c(model));
}

/* Three dollars per million: exact, and no floating point in the sum. */
Test(price, every_kind_of_token_has_its_own_price)
{
	const struct price *price = known("anthropic", "claude-sonnet-4-20250514");
	cr_assert_not_null(price);
	struct run_turn_usage usage = usage_of(1500, 200, 500, 100);
	int64_t cost, saved;
	cr_assert(price_cost(price, &usage, &cost));
	cr_assert_eq(cost, 1000 * 3000000LL + 500 * 300000LL + 100 * 3750000LL + 200 * 15000000LL);
	cr_assert(price_saved(price, &usage, &saved));
	cr_assert_eq(saved, 500 * 2700000LL - 100 * 750000LL);
}

Test(price, a_name_stands_for_its_dated_versions)
{
	const struct price *price = known("openai", "gpt-4o");
	cr_assert_eq(known("openai", "gpt-4o-2024-08-06"), price);
	cr_assert_eq(known("openai", "gpt-4o-latest"), price);
	cr_assert_neq(known("openai", "gpt-4o-mini"), price);
	cr_assert_null(known("openai", "gpt-4o-audio-preview"));
	cr_assert_null(known("openai", "gpt-4o-"));
	cr_assert_null(known("openai", "gpt-4"));
	cr_assert_null(known("nobody", "gpt-4o"));
	cr_assert_null(price_find(NULL, S("openai"), S("gpt-4o")));
}

/* Free is a price, unknown is none. */
Test(price, a_local_model_is_free)
{
	struct run_turn_usage usage = usage_of(10, 10, 0, 0);
	int64_t cost = -1;
	cr_assert(price_cost(known("ollama", "llama3"), &usage, &cost));
	cr_assert_eq(cost, 0);
}

Test(price, the_built_in_prices_are_in_order)
{
	for (size_t i = 0; i < price_built_in.count; i++) {
		const struct price *price = &price_built_in.at[i];
		cr_assert_leq(price->cache_read, price->input, "row %zu", i);
		cr_assert_geq(price->cache_write, price->input, "row %zu", i);
		cr_assert_geq(price->output, price->input, "row %zu", i);
		size_t star;
		/* A row that an earlier one hides is never used. */
		if (!str_find(price->model, S("*"), &star))
			cr_assert_eq(price_find(&price_built_in, price->provider, price->model),
				     price, "row %zu", i);
	}
}

/* ---- prices.yaml ------------------------------------------------------------------------ */

static struct price_table read_table(const char *yaml)
{
	struct price_table table = { 0 };
	struct error error;
	cr_assert(price_file_read(str_from_c(yaml), &arena, &table, &error), "%s", error.text);
	return table;
}

Test(price, the_file_precedes_the_built_in_prices)
{
	struct price_table table =
		read_table("prices:\n"
			   "  - {provider: openai, model: gpt-4o, input: 1, output: 2.000001}\n"
			   "  - {model: \"my-*-large\", input: 0.5, output: 1, cache_read: 0.1,"
			   " cache_write: 0.75, context_window: 8000}\n");
	const struct price *own = price_find(&table, S("openai"), S("gpt-4o-2024-08-06"));
	cr_assert_eq(own->input, MILLION);
	cr_assert_eq(own->output, 2000001);
	cr_assert_eq(own->cache_read, MILLION);
	cr_assert_eq(own->cache_write, MILLION);
	cr_assert_not(own->built_in);
	own = price_find(&table, S("whoever"), S("my-very-large"));
	cr_assert_eq(own->cache_read, 100000);
	cr_assert_eq(own->context_window, 8000);
	cr_assert_null(price_find(&table, S("whoever"), S("my-larger")));
	cr_assert(price_find(&table, S("openai"), S("gpt-5"))->built_in);
}

static void expect_refusal(const char *yaml, const char *place, const char *word)
{
	struct price_table table = { 0 };
	struct error error;
	size_t at;
	cr_assert_not(price_file_read(str_from_c(yaml), &arena, &table, &error));
	cr_assert(str_starts(str_from_c(error.text), str_from_c(place)), "%s", error.text);
	cr_assert(str_find(str_from_c(error.text), str_from_c(word), &at), "%s", error.text);
	cr_assert_eq(table.count, 0);
}

Test(price, a_wrong_file_is_refused_with_its_place)
{
	expect_refusal("prices: [\n", "2:1: ", "flow");
	expect_refusal("prices:\n  - {model: a, input: -1, output: 1}\n", "2:", "input");
	expect_refusal("prices:\n  - {model: a, input: 1}\n", "2:", "output");
	expect_refusal("prices:\n  - {model: a, input: 1, output: 1, inptu: 3}\n", "2:", "inptu");
	expect_refusal("price: []\n", "1:", "price");
}

/* ---- what is recorded ------------------------------------------------------------------- */

static struct str recorded(const char *provider, const char *model,
			   const struct run_turn_usage *usage)
{
	return json_print(&arena, price_usage(&price_built_in, str_from_c(provider),
					      str_from_c(model), usage, &arena));
}

static void expect_member(struct str text, const char *member)
{
	size_t at;
	cr_assert(str_find(text, str_from_c(member), &at), STR_FMT " has no %s", STR_ARG(text),
		  member);
}

static void expect_none(struct str text, const char *member)
{
	size_t at;
	cr_assert_not(str_find(text, str_from_c(member), &at), STR_FMT " has %s", STR_ARG(text),
		      member);
}

Test(price, an_unknown_price_is_absent_and_not_zero)
{
	struct run_turn_usage usage = usage_of(100, 10, 0, 0);
	struct str text = recorded("script", "", &usage);
	expect_none(text, "\"cost\":");
	expect_none(text, "\"saved\":");
	expect_member(text, "\"provider\":\"script\"");
}

Test(price, a_reported_cost_precedes_the_computed_one)
{
	struct run_turn_usage usage = usage_of(100, 10, 50, 0);
	SET(&usage, cost_usd, 0.0125);
	struct str text = recorded("openai", "gpt-4o", &usage);
	expect_member(text, "\"cost\":12500000000");
	expect_member(text, "\"saved\":62500000");
	/* One that cannot be counted is none. */
	SET(&usage, cost_usd, 1e300);
	expect_member(recorded("openai", "gpt-4o", &usage), "\"cost\":287500000");
}

Test(price, a_driver_may_name_the_model_that_replied)
{
	struct run_turn_usage usage = usage_of(1000, 0, 0, 0);
	SET(&usage, provider, S("openai"));
	SET(&usage, model, S("gpt-4o-mini-2024-07-18"));
	struct str text = recorded("openrouter", "auto", &usage);
	expect_member(text, "\"cost\":150000000");
	expect_member(text, "\"model\":\"gpt-4o-mini-2024-07-18\"");
}

/* A driver cannot set the cost in picodollars itself. */
Test(price, what_a_driver_says_about_picodollars_is_ignored)
{
	struct run_turn_usage usage = usage_of(1000, 0, 0, 0);
	SET(&usage, cost, 1);
	SET(&usage, saved, 1);
	struct str text = recorded("script", "x", &usage);
	expect_none(text, "\"cost\":");
	expect_none(text, "\"saved\":");
}

Test(price, numbers_that_are_too_large_have_no_cost)
{
	struct run_turn_usage usage = usage_of(INT64_MAX, 0, 0, 0);
	int64_t cost = 7;
	cr_assert_not(price_cost(known("openai", "gpt-4o"), &usage, &cost));
	cr_assert_eq(cost, 7);
	usage = usage_of(INT64_MAX / 4000000, INT64_MAX / 20000000, 0, 0);
	cr_assert_not(price_cost(known("openai", "gpt-4o"), &usage, &cost));
	expect_none(recorded("openai", "gpt-4o", &usage), "\"cost\":");
}

/* ---- properties -------------------------------------------------------------------------- */

static uint64_t dice;

static int64_t roll(int64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (int64_t)(dice % (uint64_t)below);
}

/* For every price and usage: never negative, the same in any split, never below what all tokens from
 * the cache would cost, and cost plus saving is the cost without a cache. */
Test(price, costs_add_up)
{
	dice = 88172645463325252ULL;
	for (int round = 0; round < 20000; round++) {
		const struct price *price = &price_built_in.at[roll((int64_t)price_built_in.count)];
		int64_t input = roll(2 * MILLION), output = roll(MILLION), written = roll(MILLION);
		int64_t read = roll(input + 1), cut = roll(input - read + 1);
		struct run_turn_usage all = usage_of(input, output, read, written),
				      one = usage_of(cut, output, 0, 0),
				      two = usage_of(input - cut, 0, read, written),
				      plain = usage_of(input + written, output, 0, 0);
		int64_t cost, first, second, without, saved;
		cr_assert(price_cost(price, &all, &cost) && price_cost(price, &one, &first) &&
			  price_cost(price, &two, &second) && price_cost(price, &plain, &without) &&
			  price_saved(price, &all, &saved));
		cr_assert_geq(cost, 0);
		cr_assert_eq(first + second, cost);
		cr_assert_eq(cost + saved, without);
		cr_assert_geq(cost, input * price->cache_read + output * price->output);
		arena_reset(&arena);
	}
}
