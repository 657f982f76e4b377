/* store/store_sqlite_usage.c -- the tables of what turns used and of what they take of budgets: written
 * with a commit; usage is summed up by readers.
 */
#include "store/store_sqlite_read.h"
#include "store/store_sqlite_write.h"

/* ---- writing ------------------------------------------------------------------------- */

bool store_sqlite_usage_write(struct store_sqlite *self, const struct store_run *row, int64_t key,
			      struct error *error)
{
	for (size_t i = 0; i < row->usage.count; i++) {
		const struct store_usage *usage = &row->usage.at[i];
		sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_USAGE);
		int bound = sqlite3_bind_int64(statement, 1, usage->day) |
			    sqlite3_bind_int64(statement, 2, key) |
			    store_sqlite_bind_text(statement, 3, usage->agent) |
			    store_sqlite_bind_text(statement, 4, usage->provider) |
			    store_sqlite_bind_text(statement, 5, usage->model) |
			    sqlite3_bind_int64(statement, 6, usage->turns) |
			    sqlite3_bind_int64(statement, 7, usage->unpriced) |
			    sqlite3_bind_int64(statement, 8, usage->input_tokens) |
			    sqlite3_bind_int64(statement, 9, usage->output_tokens) |
			    sqlite3_bind_int64(statement, 10, usage->cache_read_tokens) |
			    sqlite3_bind_int64(statement, 11, usage->cache_creation_tokens) |
			    sqlite3_bind_int64(statement, 12, usage->cost) |
			    sqlite3_bind_int64(statement, 13, usage->saved);
		if (!store_sqlite_execute(self, WRITE_USAGE, bound, "write usage", error))
			return false;
	}
	return true;
}

bool store_sqlite_usage_rebuild(struct store_sqlite *self, const struct store_run *row, int64_t key,
				struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_USAGE_DELETE);
	return store_sqlite_execute(self, WRITE_USAGE_DELETE, sqlite3_bind_int64(statement, 1, key),
				    "delete usage", error) &&
	       store_sqlite_usage_write(self, row, key, error);
}

bool store_sqlite_budgets_write(struct store_sqlite *self, const struct store_run *row, int64_t key,
				struct error *error)
{
	for (size_t i = 0; i < row->budgets.count; i++) {
		const struct store_budget *budget = &row->budgets.at[i];
		sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_BUDGET);
		int bound = store_sqlite_bind_text(statement, 1, budget->name) |
			    sqlite3_bind_int64(statement, 2, key) |
			    sqlite3_bind_int64(statement, 3, budget->spent) |
			    sqlite3_bind_int64(statement, 4, budget->reserved);
		if (!store_sqlite_execute(self, WRITE_BUDGET, bound, "write a budget", error))
			return false;
	}
	return true;
}

bool store_sqlite_budgets_rebuild(struct store_sqlite *self, const struct store_run *row,
				  int64_t key, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_BUDGETS_DELETE);
	return store_sqlite_execute(self, WRITE_BUDGETS_DELETE,
				    sqlite3_bind_int64(statement, 1, key), "delete budgets",
				    error) &&
	       store_sqlite_budgets_write(self, row, key, error);
}

/* ---- reading ------------------------------------------------------------------------- */

/* The sum of both parts, at most the greatest number. */
static int64_t money(sqlite3_stmt *statement, int index)
{
	int64_t high = sqlite3_column_int64(statement, index);
	int64_t low = sqlite3_column_int64(statement, index + 1), sum;
	if (__builtin_mul_overflow(high, 1000000000, &sum) ||
	    __builtin_add_overflow(sum, low, &sum))
		return high > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static bool take_sum(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_usage_sum *sum = out_item;
	*sum = (struct store_usage_sum){
		.usage = { .day = sqlite3_column_int64(statement, 0),
			   .agent = store_sqlite_column(statement, 1, arena),
			   .provider = store_sqlite_column(statement, 2, arena),
			   .model = store_sqlite_column(statement, 3, arena),
			   .turns = sqlite3_column_int64(statement, 6),
			   .unpriced = sqlite3_column_int64(statement, 7),
			   .input_tokens = sqlite3_column_int64(statement, 8),
			   .output_tokens = sqlite3_column_int64(statement, 9),
			   .cache_read_tokens = sqlite3_column_int64(statement, 10),
			   .cache_creation_tokens = sqlite3_column_int64(statement, 11),
			   .cost = money(statement, 12),
			   .saved = money(statement, 14) },
		.workflow = store_sqlite_column(statement, 4, arena),
	};
	return sqlite3_column_type(statement, 5) == SQLITE_NULL ||
	       store_sqlite_column_bytes(statement, 5, sum->run.bytes, sizeof(sum->run.bytes));
}

bool store_sqlite_sum_usage(struct store_reader *reader, const struct store_usage_filter *filter,
			    enum store_usage_by by, size_t limit, struct arena *arena,
			    struct store_usage_sums *out_sums, struct error *error)
{
	static const enum store_sqlite_read which[] = {
		[STORE_USAGE_TOTAL] = READ_USAGE_TOTAL,
		[STORE_USAGE_DAY] = READ_USAGE_DAY,
		[STORE_USAGE_MODEL] = READ_USAGE_MODEL,
		[STORE_USAGE_AGENT] = READ_USAGE_AGENT,
		[STORE_USAGE_WORKFLOW] = READ_USAGE_WORKFLOW,
		[STORE_USAGE_RUN] = READ_USAGE_RUN,
		[STORE_USAGE_PARTS] = READ_USAGE_PARTS,
	};
	bool one = filter->run != NULL;
	require(!one || by == STORE_USAGE_TOTAL || by == STORE_USAGE_PARTS);
	enum store_sqlite_read statement_of =
		one && by == STORE_USAGE_TOTAL ? READ_USAGE_OF_RUN : which[by];
	struct store_sqlite_reader *self = (struct store_sqlite_reader *)reader;
	sqlite3_stmt *statement = store_sqlite_read_statement(self, statement_of);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = statement_of,
		.bound = sqlite3_bind_int64(statement, 1, filter->first) |
			 sqlite3_bind_int64(statement, 2, filter->last) |
			 store_sqlite_bind_limit(statement, 3, limit) |
			 (one ? store_sqlite_bind_uuid(statement, 4, filter->run) : SQLITE_OK),
		.take = take_sum,
		.item_size = sizeof(*out_sums->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_sums, error);
}
