/* store/store_sqlite_purge.c -- admin: deletes rows that are no longer read, rebuilds projections.
 *
 * The commit that raises a floor notes the run in `purges`, and whoever removes the last reference
 * to a value notes the value in `dead`.  So a slice finds its work without a search, also after a
 * restart.  A slice is one transaction: if the process is killed, the next slice starts at the same
 * place.
 */
#include "store/store_sqlite_write.h"

#include "base/limits.h"
#include "store/store_sqlite_schema.h"

static struct store_sqlite *self_of(struct store *store)
{
	return (struct store_sqlite *)store;
}

static bool run_with(struct store_sqlite *self, enum store_sqlite_write which, int64_t number,
		     const char *doing, struct error *error)
{
	return store_sqlite_execute(
		self, which,
		sqlite3_bind_int64(store_sqlite_write_statement(self, which), 1, number), doing,
		error);
}

/* ---- purging -------------------------------------------------------------------------- */

/* Deletes the first event in [next, upto) that is not kept; *out_seq is 0 when there is none. */
static bool event_purge(struct store_sqlite *self, int64_t run, int64_t next, int64_t upto,
			int64_t *out_seq, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_PURGE_EVENTS);
	int bound = sqlite3_bind_int64(statement, 1, run) | sqlite3_bind_int64(statement, 2, next) |
		    sqlite3_bind_int64(statement, 3, upto);
	bool found;
	arena_reset(&self->scratch);
	if (!store_sqlite_first_row(self, WRITE_PURGE_EVENTS, bound, "find events to purge", &found,
				    error))
		return false;
	*out_seq = found ? sqlite3_column_int64(statement, 0) : 0;
	int64_t position = found ? sqlite3_column_int64(statement, 1) : 0;
	struct str names = found ? store_sqlite_column(statement, 2, &self->scratch) : S("");
	store_sqlite_reset(self, WRITE_PURGE_EVENTS);
	return !found || (run_with(self, WRITE_EVENT_DELETE, position, "delete an event", error) &&
			  store_sqlite_references_remove(self, names, error));
}

/* How many rows a slice may delete and has deleted. */
struct allowance {
	size_t rows, deleted;
	const struct store_deadline *deadline;
};

static size_t allowed(const struct allowance *allowance)
{
	const struct store_deadline *deadline = allowance->deadline;
	bool late = deadline != NULL && platform_mono_us(deadline->platform) >= deadline->at_us;
	return late && allowance->deleted > 0 ? 0 : allowance->rows - allowance->deleted;
}

/* Purges events of one run; *out_none when no run has events to purge. */
static bool run_purge(struct store_sqlite *self, struct allowance *allowance, bool *out_none,
		      struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_PURGE_NEXT);
	bool found;
	if (!store_sqlite_first_row(self, WRITE_PURGE_NEXT, SQLITE_OK, "find runs to purge", &found,
				    error))
		return false;
	int64_t run = found ? sqlite3_column_int64(statement, 0) : 0;
	int64_t next = found ? sqlite3_column_int64(statement, 1) : 0;
	int64_t upto = found ? sqlite3_column_int64(statement, 2) : 0;
	store_sqlite_reset(self, WRITE_PURGE_NEXT);
	*out_none = !found;
	for (int64_t seq = 1; found && allowed(allowance) > 0;
	     next = seq + 1, allowance->deleted++) {
		if (!event_purge(self, run, next, upto, &seq, error))
			return false;
		if (seq == 0)
			return run_with(self, WRITE_PURGE_DONE, run, "mark a run as purged", error);
	}
	statement = store_sqlite_write_statement(self, WRITE_PURGE_STEP);
	int bound = sqlite3_bind_int64(statement, 1, run) | sqlite3_bind_int64(statement, 2, next);
	return !found ||
	       store_sqlite_execute(self, WRITE_PURGE_STEP, bound, "note purged events", error);
}

/* Deletes one value, unless it has references again. */
static bool value_purge(struct store_sqlite *self, bool *out_none, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_DEAD_NEXT);
	bool found;
	if (!store_sqlite_first_row(self, WRITE_DEAD_NEXT, SQLITE_OK, "find unreferenced values",
				    &found, error))
		return false;
	int64_t blob = found ? sqlite3_column_int64(statement, 0) : 0;
	bool dead = found && sqlite3_column_int64(statement, 2) <= 0;
	store_sqlite_reset(self, WRITE_DEAD_NEXT);
	*out_none = !found;
	if (!found)
		return true;
	return (!dead || (run_with(self, WRITE_NAME_DELETE, blob, "delete a value", error) &&
			  run_with(self, WRITE_BLOB_DELETE, blob, "delete a value", error))) &&
	       run_with(self, WRITE_DEAD_DELETE, blob, "delete a value", error);
}

static bool slice(struct store_sqlite *self, struct allowance *allowance, size_t *out_events,
		  struct error *error)
{
	for (bool none = false; !none && allowed(allowance) > 0;)
		if (!run_purge(self, allowance, &none, error))
			return false;
	*out_events = allowance->deleted;
	for (bool none = false; !none && allowed(allowance) > 0; allowance->deleted += !none)
		if (!value_purge(self, &none, error))
			return false;
	for (bool none = false; !none && allowed(allowance) > 0;) {
		size_t rows = allowed(allowance);
		if (rows > LIMIT_PURGE_REQUESTS)
			rows = LIMIT_PURGE_REQUESTS;
		if (!run_with(self, WRITE_REQUESTS_DELETE, (int64_t)rows, "expire idempotency keys",
			      error))
			return false;
		size_t deleted = (size_t)sqlite3_changes(self->database);
		allowance->deleted += deleted;
		none = deleted < rows;
	}
	return true;
}

bool store_sqlite_purge(struct store *store, size_t limit, const struct store_deadline *deadline,
			bool *out_more, struct error *error)
{
	struct store_sqlite *self = self_of(store);
	struct allowance allowance = { .rows = limit < INT32_MAX ? limit : INT32_MAX,
				       .deadline = deadline };
	size_t events = 0;
	if (!store_sqlite_begin(self, error))
		return false;
	bool good = slice(self, &allowance, &events, error);
	bool cut_off = allowed(&allowance) == 0;
	if (!store_sqlite_end(self, good, error))
		return false;
	self->purged += events;
	*out_more = cut_off;
	store_sqlite_checkpoint(self);
	return true;
}

bool store_sqlite_expire_requests(struct store *store, int64_t before, struct error *error)
{
	struct store_sqlite *self = self_of(store);
	return store_sqlite_begin(self, error) &&
	       store_sqlite_end(self,
				run_with(self, WRITE_REQUESTS_EXPIRE, before,
					 "expire idempotency keys", error),
				error);
}

/* ---- rebuilding ------------------------------------------------------------------------ */

bool store_sqlite_rebuild_run(struct store *store, const struct store_run *run,
			      const struct store_effect *open, size_t open_count,
			      struct error *error)
{
	struct store_sqlite *self = self_of(store);
	int64_t key;
	if (!store_sqlite_begin(self, error))
		return false;
	bool good = store_sqlite_row_rebuild(self, run, &key, error) &&
		    run_with(self, WRITE_EFFECTS_CLOSE, key, "close effects", error) &&
		    store_sqlite_effects_open(self, key, open, open_count, error);
	if (!store_sqlite_end(self, good, error))
		return false;
	store_sqlite_checkpoint(self);
	return true;
}

bool store_sqlite_rebuild_end(struct store *store, struct error *error)
{
	struct store_sqlite *self = self_of(store);
	static const char sql[] = STORE_SQLITE_COUNT_WAITING
		"DELETE FROM tallies;"
		"INSERT INTO tallies " STORE_SQLITE_TALLY ";"
		"DELETE FROM counters WHERE name GLOB '" STORE_BUDGET_USED "*'"
		" OR name GLOB '" STORE_BUDGET_RESERVED "*';"
		"INSERT INTO counters (name, value) " STORE_SQLITE_BUDGET_SUMS ";"
		"CREATE TEMP TABLE counted (blob INTEGER PRIMARY KEY, uses INTEGER);"
		"INSERT INTO counted " STORE_SQLITE_COUNT_NAMES ";"
		"UPDATE names SET uses = coalesce((SELECT uses FROM counted"
		"                                  WHERE counted.blob = names.blob), 0);"
		"DROP TABLE counted;";
	if (!store_sqlite_begin(self, error))
		return false;
	bool good = sqlite3_exec(self->database, sql, NULL, NULL, NULL) == SQLITE_OK ||
		    store_sqlite_fail(self->database, self->path, "recompute the counts", error);
	if (!store_sqlite_end(self, good, error))
		return false;
	store_sqlite_checkpoint(self);
	return true;
}

static bool document_rebuild(struct store_sqlite *self, const struct store_document *document,
			     struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_DOCUMENT_REBUILD);
	int bound = store_sqlite_bind_text(statement, 1, document->kind) |
		    store_sqlite_bind_text(statement, 2, document->name) |
		    sqlite3_bind_int64(statement, 3, document->revision) |
		    sqlite3_bind_int64(statement, 4, document->changed_at) |
		    store_sqlite_bind_text(statement, 5, document->body);
	return store_sqlite_execute(self, WRITE_DOCUMENT_REBUILD, bound, "write a document", error);
}

bool store_sqlite_rebuild_documents(struct store *store, int64_t seq,
				    const struct store_document *documents, size_t count,
				    bool *out_current, struct error *error)
{
	struct store_sqlite *self = self_of(store);
	int64_t now = 0;
	if (!store_sqlite_begin(self, error))
		return false;
	bool good = store_sqlite_read_number(
		self, "SELECT coalesce((SELECT seq FROM runs WHERE key = 0), 0)", &now, error);
	bool current = good && now == seq;
	if (current)
		good = store_sqlite_execute_sql(self, "DELETE FROM documents",
						"delete the documents", error);
	for (size_t i = 0; current && good && i < count; i++)
		good = document_rebuild(self, &documents[i], error);
	if (!store_sqlite_end(self, good, error))
		return false;
	*out_current = current;
	store_sqlite_checkpoint(self);
	return true;
}
