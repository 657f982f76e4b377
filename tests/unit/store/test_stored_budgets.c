/* tests/unit/store/test_stored_budgets.c -- what runs have of named budgets: rows of a commit, guards,
 * rebuilding, for every store. */
#include <stdio.h>

#include "store_fixture.h"

#define USED     STORE_BUDGET_USED "server"
#define RESERVED STORE_BUDGET_RESERVED "server"

/* Commits what the run has of the budget and moves its guards. */
static enum store_outcome commit(struct fixture *f, unsigned run, int64_t seq,
				 struct store_budget row, int64_t used, int64_t reserved,
				 int64_t limit)
{
	struct draft draft = draft_of(run, seq, 1);
	draft.guards[0] = (struct store_guard){ S(USED), used, limit };
	draft.guards[1] = (struct store_guard){ S(RESERVED), reserved, -1 };
	row.name = S("server");
	draft.append.run.budgets = (struct store_budgets){ &row, 1 };
	draft.append.guard_count = 2;
	enum store_outcome outcome = draft_try(f, &draft);
	if (outcome == STORE_GUARDED) {
		cr_assert_eq(draft.append.refused_guard, 0);
		cr_assert_eq(draft.append.refused_value, 9);
	}
	return outcome;
}

static int64_t guard(struct fixture *f, const char *name)
{
	int64_t value;
	cr_assert(f->reader->ops->read_guard(f->reader, str_from_c(name), &value, &f->error));
	return value;
}

static struct store_guard_page guards(struct fixture *f, const char *prefix, struct str after,
				      size_t limit)
{
	struct store_guard_page page;
	cr_assert(f->reader->ops->list_guards(f->reader, str_from_c(prefix), after, limit,
					      &f->arena, &page, &f->error));
	return page;
}

STORE_TEST(budgets, a_guard_limits_what_is_spent_and_reserved)
{
	cr_assert_eq(commit(f, 1, 0, (struct store_budget){ .reserved = 9 }, 9, 9, 10),
		     STORE_COMMITTED);
	cr_assert_eq(commit(f, 2, 0, (struct store_budget){ .reserved = 2 }, 2, 2, 10),
		     STORE_GUARDED);
	/* The settlement has no limit, and makes room. */
	cr_assert_eq(commit(f, 1, 1, (struct store_budget){ .spent = 4 }, 4 - 9, -9, -1),
		     STORE_COMMITTED);
	cr_assert_eq(commit(f, 2, 0, (struct store_budget){ .reserved = 2 }, 2, 2, 10),
		     STORE_COMMITTED);
	cr_assert_eq(guard(f, USED), 6);
	cr_assert_eq(guard(f, RESERVED), 2);
	check_whole(f);
}

STORE_TEST(budgets, guards_are_listed_by_prefix)
{
	commit(f, 1, 0, (struct store_budget){ .reserved = 9 }, 9, 9, 10);
	struct store_guard_page page = guards(f, "budget.", S(""), 10);
	cr_assert_eq(page.count, 2);
	cr_assert_str(page.at[0].name, S(RESERVED));
	cr_assert_str(page.at[1].name, S(USED));
	cr_assert_eq(page.at[1].value, 9);
	cr_assert_eq(guards(f, "budget.", S(RESERVED), 10).count, 1);
	cr_assert_eq(guards(f, "budget.", S(""), 1).count, 1);
	cr_assert_eq(guards(f, STORE_BUDGET_USED, S(""), 10).count, 1);
	cr_assert_eq(guards(f, "c", S(""), 10).count, 0);
}

/* A rebuild replaces the rows of a run, and its end the guards by the sums of all runs. */
STORE_TEST(budgets, a_rebuild_counts_again)
{
	commit(f, 1, 0, (struct store_budget){ .spent = 1, .reserved = 5 }, 99, 98, -1);
	commit(f, 2, 0, (struct store_budget){ .spent = 3 }, 3, 0, -1);
	const struct store_budget right = { S("server"), 7, 2 };
	struct store_run row = run_of(f, 1);
	row.budgets = (struct store_budgets){ &right, 1 };
	cr_assert(f->store->admin->rebuild_run(f->store, &row, NULL, 0, &f->error), "%s",
		  f->error.text);
	cr_assert(f->store->admin->rebuild_end(f->store, &f->error));
	cr_assert_eq(guard(f, USED), 12);
	cr_assert_eq(guard(f, RESERVED), 2);
	check_whole(f);
}

STORE_TEST(budgets, sums_stop_before_the_greatest_number)
{
	const struct store_budget much = { S("server"), INT64_MAX - 1, 0 };
	for (unsigned run = 1; run <= 2; run++) {
		struct draft draft = draft_of(run, 0, 1);
		draft.append.run.budgets = (struct store_budgets){ &much, 1 };
		draft_commit(f, &draft);
	}
	cr_assert(f->store->admin->rebuild_end(f->store, &f->error));
	cr_assert_gt(guard(f, USED), INT64_MAX / 2);
}
