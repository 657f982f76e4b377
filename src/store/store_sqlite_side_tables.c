/* store/store_sqlite_side_tables.c -- commits: values and their reference counts, snapshots, floors,
 * documents, guards and idempotency keys.
 *
 * An append is checked first, without writing, and then written.  The reference count of a value is
 * the number of rows (events and snapshots) that refer to it: a row that refers to it twice counts
 * once, so the keys in a row are sorted and distinct.
 */
#include "store/store_sqlite_write.h"

#include <stdlib.h>
#include <string.h>

#include "store/store_guard.h"

enum { KEY_BYTES = 8 };

/* ---- checks -------------------------------------------------------------------------- */

bool store_sqlite_request_is_repeated(struct store_sqlite *self, struct store_append *append,
				      bool *out_repeats, struct error *error)
{
	struct store_request *request = &append->request;
	*out_repeats = false;
	if (request->key.size == 0)
		return true;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_REQUEST_FIND);
	int bound = store_sqlite_bind_text(statement, 1, request->key);
	bool found;
	if (!store_sqlite_first_row(self, WRITE_REQUEST_FIND, bound, "read an idempotency key",
				    &found, error))
		return false;
	struct store_request stored = { .key = request->key };
	bool whole = !found || (store_sqlite_column_bytes(statement, 0, stored.said.bytes,
							  sizeof(stored.said.bytes)) &&
				store_sqlite_column_bytes(statement, 1, stored.subject.bytes,
							  sizeof(stored.subject.bytes)));
	stored.at = found ? sqlite3_column_int64(statement, 2) : 0;
	store_sqlite_reset(self, WRITE_REQUEST_FIND);
	if (!whole)
		return fail(
			error, ERROR_STORAGE,
			"%s: the row of an idempotency key is damaged; restore the data folder from a backup",
			self->path);
	if (found)
		*request = stored;
	*out_repeats = found;
	return true;
}

/* Admits an append whose documents are distinct and at the expected revisions. */
static bool documents_admit(struct store_sqlite *self, const struct store_append *append,
			    bool *out_admitted, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_DOCUMENT_FIND);
	*out_admitted = true;
	for (size_t i = 0; i < append->document_count && *out_admitted; i++) {
		const struct store_document *document = &append->documents[i];
		for (size_t j = 0; j < i; j++)
			if (str_equal(document->kind, append->documents[j].kind) &&
			    str_equal(document->name, append->documents[j].name))
				*out_admitted = false;
		int bound = store_sqlite_bind_text(statement, 1, document->kind) |
			    store_sqlite_bind_text(statement, 2, document->name);
		bool found;
		if (!store_sqlite_first_row(self, WRITE_DOCUMENT_FIND, bound, "read a document",
					    &found, error))
			return false;
		bool there = found && sqlite3_column_int(statement, 1) != 0;
		int64_t revision = there ? sqlite3_column_int64(statement, 0) : 0;
		store_sqlite_reset(self, WRITE_DOCUMENT_FIND);
		if (revision != document->revision)
			*out_admitted = false;
	}
	return true;
}

static bool counter_read(struct store_sqlite *self, struct str name, int64_t *out_value,
			 struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_COUNTER_FIND);
	bool found;
	if (!store_sqlite_first_row(self, WRITE_COUNTER_FIND,
				    store_sqlite_bind_text(statement, 1, name), "read a counter",
				    &found, error))
		return false;
	*out_value = found ? sqlite3_column_int64(statement, 0) : 0;
	store_sqlite_reset(self, WRITE_COUNTER_FIND);
	return true;
}

bool store_sqlite_side_tables_admit(struct store_sqlite *self, struct store_append *append,
				    bool *out_admitted, struct error *error)
{
	if (!documents_admit(self, append, out_admitted, error))
		return false;
	if (!*out_admitted) {
		append->outcome = STORE_CONFLICT;
		return true;
	}
	for (size_t i = 0; i < append->guard_count && *out_admitted; i++) {
		int64_t value;
		if (!counter_read(self, append->guards[i].name, &value, error))
			return false;
		if (store_guard_admits(append->guards, i, value))
			continue;
		*out_admitted = false;
		append->outcome = STORE_GUARDED;
		append->refused_guard = i;
		append->refused_value = value;
	}
	return true;
}

/* ---- values -------------------------------------------------------------------------- */

static int bind_hash(sqlite3_stmt *statement, int index, const struct hash *hash)
{
	return store_sqlite_bind_bytes(statement, index, hash->bytes, sizeof(hash->bytes));
}

static bool value_write(struct store_sqlite *self, const struct store_blob *blob,
			struct error *error)
{
	bool known;
	int bound = bind_hash(store_sqlite_write_statement(self, WRITE_NAME_FIND), 1, &blob->hash);
	if (!store_sqlite_first_row(self, WRITE_NAME_FIND, bound, "find a value", &known, error))
		return false;
	store_sqlite_reset(self, WRITE_NAME_FIND);
	if (known)
		return true;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_BLOB_INSERT);
	bound = bind_hash(statement, 1, &blob->hash) |
		store_sqlite_bind_bytes(statement, 2, blob->bytes.at, blob->bytes.size);
	if (!store_sqlite_execute(self, WRITE_BLOB_INSERT, bound, "write a value", error))
		return false;
	statement = store_sqlite_write_statement(self, WRITE_NAME_INSERT);
	bound = bind_hash(statement, 1, &blob->hash) |
		sqlite3_bind_int64(statement, 2, sqlite3_last_insert_rowid(self->database));
	return store_sqlite_execute(self, WRITE_NAME_INSERT, bound, "write a value", error);
}

bool store_sqlite_values_write(struct store_sqlite *self, const struct store_append *append,
			       struct error *error)
{
	for (size_t i = 0; i < append->blob_count; i++)
		if (!value_write(self, &append->blobs[i], error))
			return false;
	return true;
}

static int by_hash(const void *left, const void *right)
{
	const struct hash *const *a = left, *const *b = right;
	return memcmp((*a)->bytes, (*b)->bytes, sizeof((*a)->bytes));
}

static void key_pack(char *out, int64_t key)
{
	for (int i = 0; i < KEY_BYTES; i++)
		out[i] = (char)(uint8_t)((uint64_t)key >> (8 * (KEY_BYTES - 1 - i)));
}

static int64_t key_unpack(const char *bytes)
{
	uint64_t key = 0;
	for (int i = 0; i < KEY_BYTES; i++)
		key = key << 8 | (uint8_t)bytes[i];
	return (int64_t)key;
}

static bool name_use(struct store_sqlite *self, const struct hash *name, int64_t *out_key,
		     struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_NAME_USE);
	bool known;
	if (!store_sqlite_first_row(self, WRITE_NAME_USE, bind_hash(statement, 1, name),
				    "count the references to a value", &known, error))
		return false;
	*out_key = known ? sqlite3_column_int64(statement, 0) : 0;
	store_sqlite_reset(self, WRITE_NAME_USE);
	char text[HASH_TEXT_SIZE];
	return known || fail(error, ERROR_STORAGE,
			     "%s: an event or a snapshot refers to the value " STR_FMT
			     ", which is neither stored nor part of the append",
			     self->path, STR_ARG(hash_text(name, text)));
}

bool store_sqlite_references_add(struct store_sqlite *self, const struct hash *names, size_t count,
				 struct str *out_keys, struct error *error)
{
	if (count == 0) {
		*out_keys = S("");
		return true;
	}
	const struct hash **sorted = arena_array(&self->scratch, const struct hash *, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = &names[i];
	qsort((void *)sorted, count, sizeof(*sorted), by_hash);
	char *keys = arena_take_text(&self->scratch, count * KEY_BYTES);
	size_t size = 0;
	for (size_t i = 0; i < count; i++) {
		int64_t key;
		if (i > 0 && hash_equal(sorted[i], sorted[i - 1]))
			continue;
		if (!name_use(self, sorted[i], &key, error))
			return false;
		key_pack(keys + size, key);
		size += KEY_BYTES;
	}
	*out_keys = (struct str){ keys, size };
	return true;
}

bool store_sqlite_references_remove(struct store_sqlite *self, struct str keys, struct error *error)
{
	for (size_t at = 0; at + KEY_BYTES <= keys.size; at += KEY_BYTES) {
		int64_t key = key_unpack(keys.at + at);
		sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_NAME_DROP);
		bool found;
		if (!store_sqlite_first_row(self, WRITE_NAME_DROP,
					    sqlite3_bind_int64(statement, 1, key),
					    "count the references to a value", &found, error))
			return false;
		bool dead = found && sqlite3_column_int64(statement, 0) <= 0;
		store_sqlite_reset(self, WRITE_NAME_DROP);
		statement = store_sqlite_write_statement(self, WRITE_DEAD_INSERT);
		if (dead && !store_sqlite_execute(self, WRITE_DEAD_INSERT,
						  sqlite3_bind_int64(statement, 1, key),
						  "note an unreferenced value", error))
			return false;
	}
	return true;
}

int store_sqlite_bind_keys(sqlite3_stmt *statement, int index, struct str keys)
{
	return keys.size == 0 ? sqlite3_bind_null(statement, index)
			      : store_sqlite_bind_bytes(statement, index, keys.at, keys.size);
}

/* ---- SQL functions -------------------------------------------------------------------- */

static void name_count(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	sqlite3_result_int(context, sqlite3_value_bytes(values[0]) / KEY_BYTES);
}

static void name_at(sqlite3_context *context, int count, sqlite3_value **values)
{
	(void)count;
	const char *bytes = sqlite3_value_blob(values[0]);
	int64_t index = sqlite3_value_int64(values[1]);
	if (bytes == NULL || index < 0 || index >= sqlite3_value_bytes(values[0]) / KEY_BYTES)
		sqlite3_result_null(context);
	else
		sqlite3_result_int64(context, key_unpack(bytes + index * KEY_BYTES));
}

int store_sqlite_functions(sqlite3 *database)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
	return sqlite3_create_function_v2(database, "name_count", 1, flags, NULL, name_count, NULL,
					  NULL, NULL) |
	       sqlite3_create_function_v2(database, "name_at", 2, flags, NULL, name_at, NULL, NULL,
					  NULL);
}

/* ---- writing ------------------------------------------------------------------------- */

/* Deletes the third newest snapshot and its references. */
static bool snapshot_oldest_drop(struct store_sqlite *self, int64_t run, struct error *error)
{
	sqlite3_stmt *old = store_sqlite_write_statement(self, WRITE_SNAPSHOT_OLD);
	bool found;
	if (!store_sqlite_first_row(self, WRITE_SNAPSHOT_OLD, sqlite3_bind_int64(old, 1, run),
				    "read old snapshots", &found, error))
		return false;
	int64_t seq = found ? sqlite3_column_int64(old, 0) : 0;
	struct str names = found ? store_sqlite_column(old, 1, &self->scratch) : S("");
	store_sqlite_reset(self, WRITE_SNAPSHOT_OLD);
	if (!found)
		return true;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_SNAPSHOT_DELETE);
	int bound = sqlite3_bind_int64(statement, 1, run) | sqlite3_bind_int64(statement, 2, seq);
	return store_sqlite_execute(self, WRITE_SNAPSHOT_DELETE, bound, "delete a snapshot",
				    error) &&
	       store_sqlite_references_remove(self, names, error);
}

static bool snapshot_write(struct store_sqlite *self, const struct store_append *append,
			   int64_t run, struct error *error)
{
	const struct store_snapshot *snapshot = &append->snapshot;
	if (snapshot->body.size == 0)
		return true;
	struct str names;
	if (!store_sqlite_references_add(self, snapshot->names, snapshot->name_count, &names,
					 error))
		return false;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_SNAPSHOT);
	int64_t seq = append->expected_seq + (int64_t)append->event_count;
	int bound = sqlite3_bind_int64(statement, 1, run) | sqlite3_bind_int64(statement, 2, seq) |
		    store_sqlite_bind_keys(statement, 3, names) |
		    store_sqlite_bind_text(statement, 4, snapshot->body);
	return store_sqlite_execute(self, WRITE_SNAPSHOT, bound, "write a snapshot", error) &&
	       snapshot_oldest_drop(self, run, error);
}

static bool floor_write(struct store_sqlite *self, int64_t run, int64_t old, int64_t floor,
			struct error *error)
{
	if (floor <= old)
		return true;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_SNAPSHOT_NEWEST);
	bool found;
	if (!store_sqlite_first_row(self, WRITE_SNAPSHOT_NEWEST,
				    sqlite3_bind_int64(statement, 1, run),
				    "read the newest snapshot", &found, error))
		return false;
	int64_t newest = found ? sqlite3_column_int64(statement, 0) : 0;
	store_sqlite_reset(self, WRITE_SNAPSHOT_NEWEST);
	if (floor > newest)
		return fail(error, ERROR_STORAGE,
			    "%s: floor %lld is above the newest snapshot, seq %lld", self->path,
			    (long long)floor, (long long)newest);
	statement = store_sqlite_write_statement(self, WRITE_FLOOR);
	int bound = sqlite3_bind_int64(statement, 1, run) | sqlite3_bind_int64(statement, 2, floor);
	if (!store_sqlite_execute(self, WRITE_FLOOR, bound, "raise a floor", error))
		return false;
	statement = store_sqlite_write_statement(self, WRITE_PURGE);
	bound = sqlite3_bind_int64(statement, 1, run) | sqlite3_bind_int64(statement, 2, old) |
		sqlite3_bind_int64(statement, 3, floor);
	return store_sqlite_execute(self, WRITE_PURGE, bound, "note events to purge", error);
}

static bool documents_write(struct store_sqlite *self, const struct store_append *append,
			    struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_DOCUMENT);
	for (size_t i = 0; i < append->document_count; i++) {
		const struct store_document *document = &append->documents[i];
		int bound = store_sqlite_bind_text(statement, 1, document->kind) |
			    store_sqlite_bind_text(statement, 2, document->name) |
			    sqlite3_bind_int64(statement, 3, document->changed_at) |
			    store_sqlite_bind_text(statement, 4, document->body);
		/* Deleting a document that does not exist changes nothing. */
		if (document->body.size == 0 && document->revision == 0)
			continue;
		if (!store_sqlite_execute(self, WRITE_DOCUMENT, bound, "write a document", error))
			return false;
	}
	return true;
}

static bool guards_write(struct store_sqlite *self, const struct store_append *append,
			 struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_COUNTER);
	for (size_t i = 0; i < append->guard_count; i++) {
		int bound = store_sqlite_bind_text(statement, 1, append->guards[i].name) |
			    sqlite3_bind_int64(statement, 2, append->guards[i].change);
		if (append->guards[i].change != 0 &&
		    !store_sqlite_execute(self, WRITE_COUNTER, bound, "move a counter", error))
			return false;
	}
	return true;
}

static bool request_write(struct store_sqlite *self, const struct store_request *request,
			  struct error *error)
{
	if (request->key.size == 0)
		return true;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_REQUEST);
	int bound = store_sqlite_bind_text(statement, 1, request->key) |
		    bind_hash(statement, 2, &request->said) |
		    store_sqlite_bind_bytes(statement, 3, request->subject.bytes,
					    sizeof(request->subject.bytes)) |
		    sqlite3_bind_int64(statement, 4, request->at);
	return store_sqlite_execute(self, WRITE_REQUEST, bound, "write an idempotency key", error);
}

bool store_sqlite_side_tables_write(struct store_sqlite *self, const struct store_append *append,
				    int64_t key, int64_t floor, struct error *error)
{
	return snapshot_write(self, append, key, error) &&
	       floor_write(self, key, floor, append->floor, error) &&
	       documents_write(self, append, error) && guards_write(self, append, error) &&
	       request_write(self, &append->request, error);
}
