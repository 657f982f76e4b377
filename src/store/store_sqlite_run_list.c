/* store/store_sqlite_run_list.c -- readers: lists of runs, filtered by name and state.
 *
 * "Newest first" is descending by key.  The indexes runs_state and runs_name return the runs of one
 * state, or of one name and state, in this order.  A page over several states merges the first keys
 * of each state: it reads `limit` keys for each state, however many runs there are.  That takes
 * several statements, so such a page is read in a read transaction.  Runs with a label are found in
 * the same way, by the index labels_listed.
 */
#include "base/json.h"
#include "store/store_sqlite_read.h"

static struct store_sqlite_reader *self_of(struct store_reader *reader)
{
	return (struct store_sqlite_reader *)reader;
}

/* ---- without a filter ------------------------------------------------------------------ */

static bool list_all(struct store_sqlite_reader *self, const struct uuid *before, size_t limit,
		     struct arena *arena, struct store_run_page *out_page, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_RUNS);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_RUNS,
		.bound = (before != NULL ? store_sqlite_bind_uuid(statement, 1, before)
					 : sqlite3_bind_null(statement, 1)) |
			 store_sqlite_bind_limit(statement, 2, limit),
		.take = store_sqlite_take_run,
		.item_size = sizeof(*out_page->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

/* ---- with a filter --------------------------------------------------------------------- */

/* The keys of one state, newest first; the first `used` are on the page already. */
struct keys {
	int64_t *at;
	size_t count, used;
};

static bool take_key(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	(void)arena;
	*(int64_t *)out_item = sqlite3_column_int64(statement, 0);
	return true;
}

static bool take_state(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	*(struct str *)out_item = store_sqlite_column(statement, 0, arena);
	return true;
}

/* A filter without states: every state in which the name has runs, or there are runs at all. */
static bool states_of(struct store_sqlite_reader *self, struct str name, struct arena *arena,
		      struct store_run_filter *out_filter, struct error *error)
{
	enum store_sqlite_read which = name.size > 0 ? READ_STATES_OF : READ_STATES;
	sqlite3_stmt *statement = store_sqlite_read_statement(self, which);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = which,
		.bound = name.size > 0 ? store_sqlite_bind_text(statement, 1, name) : SQLITE_OK,
		.take = take_state,
		.item_size = sizeof(*out_filter->states),
		.limit = SIZE_MAX,
	};
	void *items;
	if (!store_sqlite_read_rows(&reading, arena, &items, &out_filter->state_count, error))
		return false;
	out_filter->states = items;
	return true;
}

/* The first label selects the rows, each further one is looked up. */
static int bind_labels(sqlite3_stmt *statement, struct str_list labels, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '[');
	for (size_t i = 1; i < labels.count; i++)
		json_put_str(&writer, labels.at[i]);
	json_close(&writer, ']');
	return store_sqlite_bind_text(statement, 5, labels.at[0]) |
	       store_sqlite_bind_text(statement, 6, str_copy(arena, buf_str(&text)));
}

static bool keys_of(struct store_sqlite_reader *self, const struct store_run_filter *only,
		    struct str state, int64_t before, size_t limit, struct arena *arena,
		    struct keys *out_keys, struct error *error)
{
	bool labelled = only->labels.count > 0;
	enum store_sqlite_read which = labelled              ? READ_KEYS_OF_LABELS
				       : only->name.size > 0 ? READ_KEYS_OF_NAME
							     : READ_KEYS_OF_STATE;
	sqlite3_stmt *statement = store_sqlite_read_statement(self, which);
	int bound = store_sqlite_bind_text(statement, 1, state) |
		    sqlite3_bind_int64(statement, 2, before) |
		    store_sqlite_bind_limit(statement, 3, limit);
	if (which != READ_KEYS_OF_STATE)
		bound |= store_sqlite_bind_text(statement, 4, only->name);
	if (labelled)
		bound |= bind_labels(statement, only->labels, arena);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = which,
		.bound = bound,
		.take = take_key,
		.item_size = sizeof(*out_keys->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_keys, error);
}

/* Takes the greatest key that is left in the lists; 0 when they are empty. */
static int64_t newest_take(struct keys *lists, size_t count)
{
	struct keys *best = NULL;
	for (size_t i = 0; i < count; i++)
		if (lists[i].used < lists[i].count &&
		    (best == NULL || lists[i].at[lists[i].used] > best->at[best->used]))
			best = &lists[i];
	return best == NULL ? 0 : best->at[best->used++];
}

static bool read_by_key(struct store_sqlite_reader *self, int64_t key, struct arena *arena,
			struct store_run *out_run, struct error *error)
{
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_RUN_OF_KEY,
		.bound = sqlite3_bind_int64(store_sqlite_read_statement(self, READ_RUN_OF_KEY), 1,
					    key),
		.take = store_sqlite_take_run,
		.item_size = sizeof(*out_run),
		.limit = 1,
	};
	bool found;
	return store_sqlite_read_one(&reading, arena, out_run, &found, error) &&
	       (found || store_sqlite_fail_damaged(self, error));
}

static bool merge(struct store_sqlite_reader *self, struct keys *lists, size_t count, size_t limit,
		  struct arena *arena, struct store_run_page *out_page, struct error *error)
{
	size_t all = 0;
	for (size_t i = 0; i < count; i++)
		all += lists[i].count;
	if (all > limit)
		all = limit;
	out_page->at = arena_array(arena, struct store_run, all);
	for (out_page->count = 0; out_page->count < all; out_page->count++)
		if (!read_by_key(self, newest_take(lists, count), arena,
				 &out_page->at[out_page->count], error))
			return false;
	return true;
}

/* The key of the run `before`; 0, which excludes all runs, when it does not exist. */
static bool key_before(struct store_sqlite_reader *self, const struct uuid *before,
		       struct arena *arena, int64_t *out_key, struct error *error)
{
	*out_key = before == NULL ? INT64_MAX : 0;
	if (before == NULL)
		return true;
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_KEY,
		.bound = store_sqlite_bind_uuid(store_sqlite_read_statement(self, READ_KEY), 1,
						before),
		.take = take_key,
		.item_size = sizeof(*out_key),
		.limit = 1,
	};
	bool found;
	return store_sqlite_read_one(&reading, arena, out_key, &found, error);
}

static bool list_some(struct store_sqlite_reader *self, struct store_run_filter only,
		      const struct uuid *before, size_t limit, struct arena *arena,
		      struct store_run_page *out_page, struct error *error)
{
	int64_t key;
	if (!key_before(self, before, arena, &key, error) ||
	    (only.state_count == 0 && !states_of(self, only.name, arena, &only, error)))
		return false;
	struct keys *lists = arena_array(arena, struct keys, only.state_count);
	for (size_t i = 0; i < only.state_count; i++)
		if (!keys_of(self, &only, only.states[i], key, limit, arena, &lists[i], error))
			return false;
	return merge(self, lists, only.state_count, limit, arena, out_page, error);
}

bool store_sqlite_list_runs(struct store_reader *reader, const struct store_run_filter *filter,
			    const struct uuid *before, size_t limit, struct arena *arena,
			    struct store_run_page *out_page, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	if (filter == NULL ||
	    (filter->name.size == 0 && filter->state_count == 0 && filter->labels.count == 0))
		return list_all(self, before, limit, arena, out_page, error);
	if (!store_sqlite_read_begin(self, error))
		return false;
	bool listed = list_some(self, *filter, before, limit, arena, out_page, error);
	store_sqlite_read_end(self);
	return listed;
}

/* ---- by id ----------------------------------------------------------------------------- */

bool store_sqlite_find_runs(struct store_reader *reader, const struct uuid *first,
			    const struct uuid *last, size_t limit, struct arena *arena,
			    struct store_run_page *out_page, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_RUNS_OF_IDS);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_RUNS_OF_IDS,
		.bound = store_sqlite_bind_uuid(statement, 1, first) |
			 store_sqlite_bind_uuid(statement, 2, last) |
			 store_sqlite_bind_limit(statement, 3, limit),
		.take = store_sqlite_take_run,
		.item_size = sizeof(*out_page->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

/* ---- tallies --------------------------------------------------------------------------- */

static bool take_tally(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_tally *tally = out_item;
	tally->name = store_sqlite_column(statement, 0, arena);
	tally->state = store_sqlite_column(statement, 1, arena);
	tally->runs = sqlite3_column_int64(statement, 2);
	tally->ended = sqlite3_column_int64(statement, 3);
	tally->took_us = sqlite3_column_int64(statement, 4);
	return true;
}

bool store_sqlite_tally_runs(struct store_reader *reader, struct arena *arena,
			     struct store_tallies *out_tallies, struct error *error)
{
	struct store_sqlite_reading reading = {
		.self = self_of(reader),
		.which = READ_TALLIES,
		.bound = SQLITE_OK,
		.take = take_tally,
		.item_size = sizeof(*out_tallies->at),
		.limit = SIZE_MAX,
	};
	return store_sqlite_read_page(&reading, arena, out_tallies, error);
}
