/* store/store_sqlite_queries.c -- readers: snapshots, due effects, documents, idempotency keys, guards,
 * counts and retention.
 *
 * As in store_sqlite_read.c, every call executes one statement.
 */
#include "store/store_sqlite_read.h"

static struct store_sqlite_reader *self_of(struct store_reader *reader)
{
	return (struct store_sqlite_reader *)reader;
}

static bool take_snapshot(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_snapshot *snapshot = out_item;
	*snapshot = (struct store_snapshot){ .seq = sqlite3_column_int64(statement, 0),
					     .body = store_sqlite_column(statement, 1, arena) };
	return true;
}

static bool take_document(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_document *document = out_item;
	document->kind = store_sqlite_column(statement, 0, arena);
	document->name = store_sqlite_column(statement, 1, arena);
	document->revision = sqlite3_column_int64(statement, 2);
	document->changed_at = sqlite3_column_int64(statement, 3);
	document->body = store_sqlite_column(statement, 4, arena);
	return true;
}

static bool take_request(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_request *request = out_item;
	request->key = store_sqlite_column(statement, 0, arena);
	request->at = sqlite3_column_int64(statement, 3);
	return store_sqlite_column_bytes(statement, 1, request->said.bytes,
					 sizeof(request->said.bytes)) &&
	       store_sqlite_column_bytes(statement, 2, request->subject.bytes,
					 sizeof(request->subject.bytes));
}

static bool take_number(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	(void)arena;
	*(int64_t *)out_item = sqlite3_column_int64(statement, 0);
	return true;
}

static bool take_state(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_state_count *count = out_item;
	count->state = store_sqlite_column(statement, 0, arena);
	count->runs = sqlite3_column_int64(statement, 1);
	return true;
}

static bool take_old(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	(void)arena;
	struct store_old_run *run = out_item;
	run->seq = sqlite3_column_int64(statement, 1);
	run->floor = sqlite3_column_int64(statement, 2);
	run->ended_at = sqlite3_column_int64(statement, 3);
	return store_sqlite_column_bytes(statement, 0, run->id.bytes, sizeof(run->id.bytes));
}

bool store_sqlite_read_snapshot(struct store_reader *reader, const struct uuid *run, int64_t at,
				struct arena *arena, struct store_snapshot *out_snapshot,
				bool *out_found, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_SNAPSHOT);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_SNAPSHOT,
		.bound = store_sqlite_bind_uuid(statement, 1, run) |
			 sqlite3_bind_int64(statement, 2, at),
		.take = take_snapshot,
		.item_size = sizeof(*out_snapshot),
		.limit = 1,
	};
	return store_sqlite_read_one(&reading, arena, out_snapshot, out_found, error);
}

bool store_sqlite_list_due(struct store_reader *reader, int64_t after, int64_t until, size_t limit,
			   struct arena *arena, struct store_effect_page *out_page,
			   struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_DUE);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_DUE,
		.bound = sqlite3_bind_int64(statement, 1, after) |
			 sqlite3_bind_int64(statement, 2, until) |
			 store_sqlite_bind_limit(statement, 3, limit),
		.take = store_sqlite_take_effect,
		.item_size = sizeof(*out_page->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

bool store_sqlite_read_document(struct store_reader *reader, struct str kind, struct str name,
				struct arena *arena, struct store_document *out_document,
				bool *out_found, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_DOCUMENT);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_DOCUMENT,
		.bound = store_sqlite_bind_text(statement, 1, kind) |
			 store_sqlite_bind_text(statement, 2, name),
		.take = take_document,
		.item_size = sizeof(*out_document),
		.limit = 1,
	};
	struct store_document row = { 0 };
	bool found;
	if (!store_sqlite_read_one(&reading, arena, &row, &found, error))
		return false;
	*out_document = row;
	*out_found = row.body.size > 0;
	return true;
}

bool store_sqlite_list_documents(struct store_reader *reader, struct str kind, struct str after,
				 size_t limit, struct arena *arena,
				 struct store_document_page *out_page, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_DOCUMENTS);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_DOCUMENTS,
		.bound = store_sqlite_bind_text(statement, 1, kind) |
			 store_sqlite_bind_text(statement, 2, after) |
			 store_sqlite_bind_limit(statement, 3, limit),
		.take = take_document,
		.item_size = sizeof(*out_page->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

bool store_sqlite_read_request(struct store_reader *reader, struct str key, struct arena *arena,
			       struct store_request *out_request, bool *out_found,
			       struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_REQUEST,
		.bound = store_sqlite_bind_text(store_sqlite_read_statement(self, READ_REQUEST), 1,
						key),
		.take = take_request,
		.item_size = sizeof(*out_request),
		.limit = 1,
	};
	return store_sqlite_read_one(&reading, arena, out_request, out_found, error);
}

bool store_sqlite_read_guard(struct store_reader *reader, struct str name, int64_t *out_value,
			     struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	AUTO(arena) arena = { 0 };
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_GUARD,
		.bound = store_sqlite_bind_text(store_sqlite_read_statement(self, READ_GUARD), 1,
						name),
		.take = take_number,
		.item_size = sizeof(*out_value),
		.limit = 1,
	};
	int64_t value = 0;
	bool found;
	if (!store_sqlite_read_one(&reading, &arena, &value, &found, error))
		return false;
	*out_value = value;
	return true;
}

static bool take_guard(sqlite3_stmt *statement, struct arena *arena, void *out_item)
{
	struct store_guard_value *guard = out_item;
	guard->name = store_sqlite_column(statement, 0, arena);
	guard->value = sqlite3_column_int64(statement, 1);
	return true;
}

bool store_sqlite_list_guards(struct store_reader *reader, struct str prefix, struct str after,
			      size_t limit, struct arena *arena, struct store_guard_page *out_page,
			      struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_GUARDS);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_GUARDS,
		.bound = store_sqlite_bind_text(statement, 1, prefix) |
			 store_sqlite_bind_text(statement, 2, after) |
			 store_sqlite_bind_limit(statement, 3, limit),
		.take = take_guard,
		.item_size = sizeof(*out_page->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_page, error);
}

static bool count_by(struct store_reader *reader, enum store_sqlite_read which, struct arena *arena,
		     struct store_state_counts *out_counts, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = which,
		.bound = SQLITE_OK,
		.take = take_state,
		.item_size = sizeof(*out_counts->at),
		.limit = SIZE_MAX,
	};
	return store_sqlite_read_page(&reading, arena, out_counts, error);
}

bool store_sqlite_count_states(struct store_reader *reader, struct arena *arena,
			       struct store_state_counts *out_counts, struct error *error)
{
	return count_by(reader, READ_STATES, arena, out_counts, error);
}

bool store_sqlite_count_waiting(struct store_reader *reader, struct arena *arena,
				struct store_state_counts *out_counts, struct error *error)
{
	return count_by(reader, READ_WAITING, arena, out_counts, error);
}

bool store_sqlite_list_old(struct store_reader *reader, int64_t ended_before, int64_t most_events,
			   const struct uuid *after, size_t limit, struct arena *arena,
			   struct store_old_runs *out_runs, struct error *error)
{
	struct store_sqlite_reader *self = self_of(reader);
	sqlite3_stmt *statement = store_sqlite_read_statement(self, READ_OLD);
	struct store_sqlite_reading reading = {
		.self = self,
		.which = READ_OLD,
		.bound = sqlite3_bind_int64(statement, 1, ended_before) |
			 sqlite3_bind_int64(statement, 2, most_events) |
			 store_sqlite_bind_after(statement, 3, after) |
			 store_sqlite_bind_limit(statement, 4, limit),
		.take = take_old,
		.item_size = sizeof(*out_runs->at),
		.limit = limit,
	};
	return store_sqlite_read_page(&reading, arena, out_runs, error);
}
