/* store/store_sqlite_read.c -- read-only connections: streams, runs, open effects, values.
 *
 * Every call executes one statement and resets it before it returns.  No read transaction outlives
 * a call, so readers do not block checkpoints for long.  A reader never checkpoints, not even when
 * it is closed.
 *
 * A reader that finds damage informs the writer, which then refuses commits: a decision that was
 * based on damaged data must not be acknowledged.
 *
 * The array of a page starts small and doubles, because a caller may ask for a thousand rows and
 * get three.
 */
#include "store/store_sqlite_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "store/store_sqlite_schema.h"
#include "store/store_sqlite_vfs.h"

static struct store_sqlite_reader *self_of(struct store_reader *reader)
{
	return (struct store_sqlite_reader *)reader;
}

sqlite3_stmt *store_sqlite_read_statement(struct store_sqlite_reader *self,
					  enum store_sqlite_read which)
{
	return store_sqlite_prepared(self->database, &self->statements[which],
				     store_sqlite_reads[which]);
}

struct str store_sqlite_column(sqlite3_stmt *statement, int index, struct arena *arena)
{
	const char *bytes = sqlite3_column_blob(statement, index);
	int size = sqlite3_column_bytes(statement, index);
	if (bytes == NULL || size <= 0)
		return S("");
	return str_copy(arena, (struct str){ bytes, (size_t)size });
}

bool store_sqlite_column_bytes(sqlite3_stmt *statement, int index, void *out, size_t size)
{
	const void *bytes = sqlite3_column_blob(statement, index);
	if (bytes == NULL || sqlite3_column_bytes(statement, index) != (int)size)
		return false;
	memcpy(out, bytes, size);
	return true;
}

static bool column_uuid(sqlite3_stmt *statement, int index, struct uuid *out_uuid)
{
	return store_sqlite_column_bytes(statement, index, out_uuid->bytes,
					 sizeof(out_uuid->bytes));
}

/* Without the run, which the caller knows. */
static bool take_event(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_event_row *row = out_item;
	row->seq = sqlite3_column_int64(statement, 0);
	row->position = sqlite3_column_int64(statement, 1);
	row->at = sqlite3_column_int64(statement, 2);
	row->type = store_sqlite_column(statement, 3, arena);
	row->body = store_sqlite_column(statement, 4, arena);
	return true;
}

static bool take_any_event(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_event_row *row = out_item;
	return take_event(statement, arena, out_item) && column_uuid(statement, 5, &row->run);
}

bool store_sqlite_take_run(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_run *run = out_item;
	run->name = store_sqlite_column(statement, 1, arena);
	run->state = store_sqlite_column(statement, 2, arena);
	run->needs_recovery = sqlite3_column_int(statement, 3) != 0;
	run->created_at = sqlite3_column_int64(statement, 4);
	run->updated_at = sqlite3_column_int64(statement, 5);
	run->ended_at = sqlite3_column_int64(statement, 6);
	run->seq = sqlite3_column_int64(statement, 7);
	run->floor = sqlite3_column_int64(statement, 8);
	run->summary = store_sqlite_column(statement, 9, arena);
	return column_uuid(statement, 0, &run->id);
}

bool store_sqlite_take_effect(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_effect *effect = out_item;
	effect->kind = store_sqlite_column(statement, 2, arena);
	effect->due_at = sqlite3_column_int64(statement, 3);
	effect->body = store_sqlite_column(statement, 4, arena);
	return column_uuid(statement, 0, &effect->id) && column_uuid(statement, 1, &effect->run);
}

static bool take_blob(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	*(struct str *)out_item = store_sqlite_column(statement, 0, arena);
	return true;
}

bool store_sqlite_fail_damaged(const struct store_sqlite_reader *self, struct error *error)
{
	atomic_store(&self->writer->damaged, true);
	return fail(error, ERROR_STORAGE,
		    "%s: a row is damaged; restore the data folder from a backup", self->path);
}

bool store_sqlite_read_rows(const struct store_sqlite_reading *reading, struct arena *arena,
			    void **out_items, size_t *out_count, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_read_statement(reading->self, reading->which);
	size_t count = 0, room = 0;
	char *items = NULL;
	int step = reading->bound;
	bool whole = true;
	while (step == SQLITE_OK || step == SQLITE_ROW) {
		step = sqlite3_step(statement);
		if (step != SQLITE_ROW)
			break;
		if (count == room) {
			room = room == 0 ? 16 : room * 2;
			if (room > reading->limit)
				room = reading->limit;
			require(room > count);
			char *larger = arena_take_array(arena, room, reading->item_size);
			if (count > 0)
				memcpy(larger, items, count * reading->item_size);
			items = larger;
		}
		whole = reading->take(statement, arena, items + count * reading->item_size);
		if (!whole)
			break;
		count++;
	}
	if (step != SQLITE_DONE && step != SQLITE_ROW &&
	    store_sqlite_is_damaged(reading->self->database))
		atomic_store(&reading->self->writer->damaged, true);
	if (!whole)
		store_sqlite_fail_damaged(reading->self, error);
	else if (step != SQLITE_DONE)
		store_sqlite_fail(reading->self->database, reading->self->path, "read the database",
				  error);
	sqlite3_reset(statement);
	if (!whole || step != SQLITE_DONE)
		return false;
	*out_items = items;
	*out_count = count;
	return true;
}

bool store_sqlite_read_page(const struct store_sqlite_reading *reading, struct arena *arena,
			    void *out_page, struct error *error)
{
	struct {
		void *at;
		size_t count;
	} page;
	if (!store_sqlite_read_rows(reading, arena, &page.at, &page.count, error))
		return false;
	memcpy(out_page, &page, sizeof(page));
	return true;
}

bool store_sqlite_read_one(const struct store_sqlite_reading *reading, struct arena *arena,
			   void *out_item, bool *out_found, struct error *error)
{
	void *items;
	size_t count;
	if (!store_sqlite_read_rows(reading, arena, &items, &count, error))
		return false;
	*out_found = count > 0;
	if (count > 0)
		memcpy(out_item, items, reading->item_size);
	return true;
}

int store_sqlite_bind_limit(sqlite3_stmt *statement, int index, size_t limit)
{
	return sqlite3_bind_int64(statement, index, limit > INT64_MAX ? -1 : (int64_t)limit);
}

int store_sqlite_bind_uuid(sqlite3_stmt *statement, int index, const struct uuid *uuid)
{
	return store_sqlite_bind_bytes(statement, index, uuid->bytes, sizeof(uuid->bytes));
}

int store_sqlite_bind_after(sqlite3_stmt *statement, int index, const struct uuid *after)
{
	return after != NULL ? store_sqlite_bind_uuid(statement, index, after)
			     : store_sqlite_bind_bytes(statement, index, "", 0);
}

static bool setup(struct store_sqlite_reader *self, const char *vfs, struct error *error)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	if (sqlite3_open_v2(self->path, &self->database, flags, vfs) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, "open the database", error);
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_db_config(self->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* The writer never blocks a reader, but SQLite locks the WAL index for microseconds. */
	sqlite3_busy_timeout(self->database, LIMIT_STORE_BUSY_MS);
	if (sqlite3_exec(self->database, STORE_SQLITE_SETTINGS STORE_SQLITE_READER_SETTINGS, NULL,
			 NULL, NULL) != SQLITE_OK ||
	    store_sqlite_functions(self->database) != SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, "set up a reader", error);
	return true;
}

bool store_sqlite_open_reader(struct store *store, struct store_reader **out_reader,
			      struct error *error)
{
	struct store_sqlite_reader *self = calloc(1, sizeof(*self));
	require(self != NULL);
	self->base.ops = &store_sqlite_reader_ops;
	self->base.admin = store->admin;
	self->writer = (struct store_sqlite *)store;
	self->path = strdup(self->writer->path);
	require(self->path != NULL);
	if (!setup(self, self->writer->pages_vfs, error)) {
		if (store_sqlite_is_damaged(self->database))
			atomic_store(&self->writer->damaged, true);
		store_sqlite_close_reader(&self->base);
		return false;
	}
	*out_reader = &self->base;
	return true;
}

void store_sqlite_close_reader(struct store_reader *reader)
{
	if (reader == NULL)
		return;
	struct store_sqlite_reader *self = self_of(reader);
	store_sqlite_finalize(self->statements, READS);
	sqlite3_close(self->database);
	free(self->path);
	free(self);
}

static bool read_events(struct store_reader *reader, const struct uuid *run, int64_t after,
			size_t limit, struct arena *arena, struct store_event_page *out_page,
			struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_EVENTS);
	int bound = store_sqlite_bind_uuid(statement, 1, run) |
		    sqlite3_bind_int64(statement, 2, after) |
		    store_sqlite_bind_limit(statement, 3, limit);
	struct store_sqlite_reading reading = { self,       READ_EVENTS,           bound,
						take_event, sizeof(*out_page->at), limit };
	if (!store_sqlite_read_page(&reading, arena, out_page, error))
		return false;
	for (size_t i = 0; i < out_page->count; i++)
		out_page->at[i].run = *run;
	return true;
}

static bool read_all(struct store_reader *reader, int64_t after, size_t limit, struct arena *arena,
		     struct store_event_page *out_page, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_ALL);
	int bound = sqlite3_bind_int64(statement, 1, after) |
		    store_sqlite_bind_limit(statement, 2, limit);
	struct store_sqlite_reading reading = {
		self, READ_ALL, bound, take_any_event, sizeof(*out_page->at), limit
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

static bool read_run(struct store_reader *reader, const struct uuid *run, struct arena *arena,
		     struct store_run *out_run, bool *out_found, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	int bound = store_sqlite_bind_uuid(store_sqlite_read_statement(self, READ_RUN), 1, run);
	struct store_sqlite_reading reading = {
		self, READ_RUN, bound, store_sqlite_take_run, sizeof(*out_run), 1
	};
	return store_sqlite_read_one(&reading, arena, out_run, out_found, error);
}

static bool read_blob(struct store_reader *reader, const struct hash *hash, struct arena *arena,
		      struct str *out_bytes, bool *out_found, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	int bound = store_sqlite_bind_bytes(store_sqlite_read_statement(self, READ_BLOB), 1,
					    hash->bytes, sizeof(hash->bytes));
	struct store_sqlite_reading reading = { self,      READ_BLOB,          bound,
						take_blob, sizeof(*out_bytes), 1 };
	struct str bytes;
	bool found;
	if (!store_sqlite_read_one(&reading, arena, &bytes, &found, error))
		return false;
	/* A value is verified at every read: its address is its hash. */
	struct hash now = found ? hash_of(bytes) : *hash;
	if (!hash_equal(&now, hash))
		return store_sqlite_fail_damaged(self, error);
	*out_found = found;
	if (found)
		*out_bytes = bytes;
	return true;
}

/* Effects of these kinds are in the index effects_waiting. */
static bool is_waiting_kind(struct str kind)
{
#define KIND(kind) S(kind),
	const struct str kinds[] = { STORE_SQLITE_WAITING_KINDS(KIND, ) };
#undef KIND
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (str_equal(kind, kinds[i]))
			return true;
	return false;
}

static bool list_effects(struct store_reader *reader, struct str kind, const struct uuid *after,
			 size_t limit, struct arena *arena, struct store_effect_page *out_page,
			 struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	enum store_sqlite_read which = is_waiting_kind(kind) ? READ_EFFECTS_WAITING : READ_EFFECTS;
	sqlite3_stmt *statement = store_sqlite_read_statement(self, which);
	int bound = store_sqlite_bind_after(statement, 1, after) |
		    store_sqlite_bind_text(statement, 2, kind) |
		    store_sqlite_bind_limit(statement, 3, limit);
	struct store_sqlite_reading reading = {
		self, which, bound, store_sqlite_take_effect, sizeof(*out_page->at), limit
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

static bool read_effect(struct store_reader *reader, const struct uuid *effect, struct arena *arena,
			struct store_effect *out_effect, bool *out_found, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	int bound =
		store_sqlite_bind_uuid(store_sqlite_read_statement(self, READ_EFFECT), 1, effect);
	struct store_sqlite_reading reading = {
		self, READ_EFFECT, bound, store_sqlite_take_effect, sizeof(*out_effect), 1
	};
	return store_sqlite_read_one(&reading, arena, out_effect, out_found, error);
}

static bool list_needing_recovery(struct store_reader *reader, const struct uuid *after,
				  size_t limit, struct arena *arena,
				  struct store_run_page *out_page, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_NEEDING_RECOVERY);
	int bound = store_sqlite_bind_after(statement, 1, after) |
		    store_sqlite_bind_limit(statement, 2, limit);
	struct store_sqlite_reading reading = {
		self, READ_NEEDING_RECOVERY, bound, store_sqlite_take_run, sizeof(*out_page->at),
		limit
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

static int64_t newest_position(struct store_reader *reader)
{
	sqlite3_stmt *statement = store_sqlite_read_statement(self_of(reader), READ_NEWEST);
	int64_t position =
		sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
	sqlite3_reset(statement);
	return position;
}

const struct store_reader_ops store_sqlite_reader_ops = {
	.read_events = read_events,
	.read_all = read_all,
	.newest_position = newest_position,
	.read_snapshot = store_sqlite_read_snapshot,
	.read_blob = read_blob,
	.read_run = read_run,
	.list_runs = store_sqlite_list_runs,
	.find_runs = store_sqlite_find_runs,
	.list_needing_recovery = list_needing_recovery,
	.tally_runs = store_sqlite_tally_runs,
	.sum_usage = store_sqlite_sum_usage,
	.count_states = store_sqlite_count_states,
	.list_old = store_sqlite_list_old,
	.read_effect = read_effect,
	.list_effects = list_effects,
	.list_due = store_sqlite_list_due,
	.count_waiting = store_sqlite_count_waiting,
	.read_document = store_sqlite_read_document,
	.list_documents = store_sqlite_list_documents,
	.read_request = store_sqlite_read_request,
	.read_guard = store_sqlite_read_guard,
	.list_guards = store_sqlite_list_guards,
};
