/* tests/unit/store/test_stored_usage.c -- what turns used: rows of a commit, sums, rebuilding, for
 * every store. */
#include <stdio.h>

#include "store_fixture.h"

enum { DAY = 20000 };

/* One turn of 100 tokens. */
static struct store_usage used(int64_t day, const char *agent, const char *model, int64_t cost)
{
	return (struct store_usage){ .day = day,
				     .agent = str_from_c(agent),
				     .provider = S("p"),
				     .model = str_from_c(model),
				     .turns = 1,
				     .unpriced = cost == 0,
				     .input_tokens = 100,
				     .output_tokens = 10,
				     .cache_read_tokens = 40,
				     .cache_creation_tokens = 5,
				     .cost = cost,
				     .saved = -3 };
}

static void commit(struct fixture *f, unsigned run, int64_t seq, const struct store_usage *rows,
		   size_t count)
{
	struct draft draft = draft_of(run, seq, 1);
	draft.append.run.usage = (struct store_usages){ rows, count };
	draft_commit(f, &draft);
}

static struct store_usage_sums sums(struct fixture *f, int64_t first, int64_t last,
				    enum store_usage_by by, const struct uuid *run)
{
	struct store_usage_sums out = { 0 };
	const struct store_usage_filter filter = { .first = first, .last = last, .run = run };
	cr_assert(
		f->reader->ops->sum_usage(f->reader, &filter, by, 100, &f->arena, &out, &f->error),
		"%s", f->error.text);
	return out;
}

static struct store_usage total(struct fixture *f)
{
	struct store_usage_sums all = sums(f, 0, 1 << 30, STORE_USAGE_TOTAL, NULL);
	cr_assert_eq(all.count, 1);
	return all.at[0].usage;
}

STORE_TEST(usage, nothing_used_is_a_row_of_zeros)
{
	struct store_usage none = total(f);
	cr_assert_eq(none.turns, 0);
	cr_assert_eq(none.cost, 0);
	cr_assert_eq(sums(f, 0, 1 << 30, STORE_USAGE_DAY, NULL).count, 0);
}

/* Values are absolute: a row that is written again replaces the old one. */
STORE_TEST(usage, a_commit_replaces_the_rows_it_has)
{
	struct store_usage row = used(DAY, "ada", "m", 7);
	commit(f, 1, 0, &row, 1);
	row.turns = 2;
	row.cost = 9;
	commit(f, 1, 1, &row, 1);
	commit(f, 1, 2, NULL, 0);
	struct store_usage all = total(f);
	cr_assert_eq(all.turns, 2);
	cr_assert_eq(all.cost, 9);
	cr_assert_eq(all.saved, -3);
	cr_assert_eq(all.input_tokens, 100);
	cr_assert_eq(all.output_tokens, 10);
	cr_assert_eq(all.cache_read_tokens, 40);
	cr_assert_eq(all.cache_creation_tokens, 5);
	check_whole(f);
}

STORE_TEST(usage, is_summed_up_by_what_is_asked_for)
{
	const struct store_usage one[] = { used(DAY, "ada", "m", 7), used(DAY + 1, "bob", "n", 0) };
	const struct store_usage two[] = { used(DAY + 1, "ada", "n", 20) };
	commit(f, 1, 0, one, 2);
	commit(f, 2, 0, two, 1);
	struct store_usage_sums by = sums(f, 0, 1 << 30, STORE_USAGE_DAY, NULL);
	cr_assert_eq(by.count, 2);
	cr_assert(by.at[0].usage.day == DAY && by.at[0].usage.cost == 7);
	cr_assert(by.at[1].usage.day == DAY + 1 && by.at[1].usage.cost == 20);
	cr_assert_eq(by.at[1].usage.unpriced, 1);
	by = sums(f, 0, 1 << 30, STORE_USAGE_AGENT, NULL);
	cr_assert_eq(by.count, 2);
	cr_assert_str(by.at[0].usage.agent, S("ada"));
	cr_assert_eq(by.at[0].usage.cost, 27);
	by = sums(f, 0, 1 << 30, STORE_USAGE_MODEL, NULL);
	cr_assert_eq(by.count, 2);
	cr_assert_str(by.at[0].usage.model, S("n"));
	cr_assert_str(by.at[0].usage.provider, S("p"));
	cr_assert_eq(by.at[0].usage.turns, 2);
	by = sums(f, 0, 1 << 30, STORE_USAGE_RUN, NULL);
	struct uuid first = id_of(1), second = id_of(2);
	cr_assert_eq(by.count, 2);
	cr_assert(uuid_equal(&by.at[0].run, &second) && uuid_equal(&by.at[1].run, &first));
	cr_assert_str(by.at[0].workflow, run_of(f, 2).name);
	by = sums(f, 0, 1 << 30, STORE_USAGE_WORKFLOW, NULL);
	cr_assert_eq(by.at[0].usage.turns, by.count == 1 ? 3 : 1);
	/* Some days; one run. */
	cr_assert_eq(sums(f, DAY + 1, DAY + 1, STORE_USAGE_TOTAL, NULL).at[0].usage.turns, 2);
	cr_assert_eq(sums(f, 0, DAY - 1, STORE_USAGE_AGENT, NULL).count, 0);
	cr_assert_eq(sums(f, 0, 1 << 30, STORE_USAGE_TOTAL, &first).at[0].usage.cost, 7);
	by = sums(f, 0, 1 << 30, STORE_USAGE_PARTS, &first);
	cr_assert_eq(by.count, 2);
	cr_assert_str(by.at[0].usage.agent, S("ada"));
	cr_assert_eq(by.at[1].usage.day, DAY + 1);
	struct uuid other = id_of(9);
	cr_assert_eq(sums(f, 0, 1 << 30, STORE_USAGE_TOTAL, &other).at[0].usage.turns, 0);
}

/* A sum beyond the greatest number is that number, not an error. */
STORE_TEST(usage, sums_stop_at_the_greatest_number)
{
	const struct store_usage row = used(DAY, "ada", "m", INT64_MAX - 1);
	commit(f, 1, 0, &row, 1);
	cr_assert_eq(total(f).cost, INT64_MAX - 1);
	commit(f, 2, 0, &row, 1);
	cr_assert_eq(total(f).cost, INT64_MAX);
}

STORE_TEST(usage, a_rebuild_replaces_all_rows_of_the_run)
{
	const struct store_usage wrong[] = { used(DAY, "ada", "m", 7), used(DAY, "eve", "m", 9) };
	const struct store_usage right = used(DAY, "ada", "m", 5);
	commit(f, 1, 0, wrong, 2);
	commit(f, 2, 0, wrong, 1);
	struct store_run row = run_of(f, 1);
	row.usage = (struct store_usages){ &right, 1 };
	cr_assert(f->store->admin->rebuild_run(f->store, &row, NULL, 0, &f->error), "%s",
		  f->error.text);
	cr_assert(f->store->admin->rebuild_end(f->store, &f->error));
	struct uuid first = id_of(1);
	cr_assert_eq(sums(f, 0, 1 << 30, STORE_USAGE_TOTAL, &first).at[0].usage.cost, 5);
	cr_assert_eq(total(f).cost, 12);
	check_whole(f);
}

/* A purge takes events, not what they have cost. */
STORE_TEST(usage, stays_when_events_are_purged)
{
	const struct store_usage row = used(DAY, "ada", "m", 5);
	commit(f, 1, 0, &row, 1);
	struct draft draft = draft_of(1, 1, 1);
	draft.append.snapshot.body = S("{}");
	draft.append.floor = 2;
	draft_commit(f, &draft);
	purge_all(f, 100);
	cr_assert_eq(total(f).cost, 5);
}
