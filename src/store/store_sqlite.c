/* store/store_sqlite.c -- the one connection that writes.
 *
 * This connection alone checkpoints, and only between its own transactions: SQLite 3.40 (Debian 12)
 * can lose acknowledged data when a checkpoint races another connection's commit, and here
 * nothing can race.  The process that holds the data folder's lock is the only one that opens
 * the file.
 *
 * A batch is one transaction.  Whether an append conflicts is known before it writes anything,
 * so a conflict needs no savepoint and cannot disturb its neighbours.  No room on the disk is known
 * before the frame that would commit is whole, so such a batch is rolled back and refused, and the
 * next may do better.  Any other trouble ends the whole store: after a failed write or fsync nobody
 * knows what the disk holds, and asking again would get an answer that means nothing.
 */
#include "store/store_sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "os/point.h"
#include "store/store_sqlite_schema.h"

/* RUN_UPDATE leaves `stepping` alone: naming the column makes SQLite rewrite its index too, a
 * page more in the WAL, and it changes far less often than the row. */
static const char *const texts[WRITES] = {
	[WRITE_BEGIN] = "BEGIN IMMEDIATE",
	[WRITE_COMMIT] = "COMMIT",
	[WRITE_ROLLBACK] = "ROLLBACK",
	[WRITE_RUN_FIND] = "SELECT key, seq, stepping FROM runs WHERE id = ?1",
	[WRITE_RUN_INSERT] = "INSERT INTO runs (id, stepping, name, state, created_at, updated_at,"
			     " ended_at, seq, summary)"
			     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[WRITE_RUN_UPDATE] = "UPDATE runs SET name = ?3, state = ?4, created_at = ?5,"
			     " updated_at = ?6, ended_at = ?7, seq = ?8, summary = ?9"
			     " WHERE key = ?1",
	[WRITE_RUN_STEPPING] = "UPDATE runs SET stepping = ?2 WHERE key = ?1",
	[WRITE_EVENT] = "INSERT INTO events (position, run, seq, at, type, body)"
			" VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[WRITE_BLOB] = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2)"
		       " ON CONFLICT (hash) DO NOTHING",
	[WRITE_EFFECT_OPEN] = "REPLACE INTO effects (id, run, kind, due_at, body)"
			      " VALUES (?1, ?2, ?3, ?4, ?5)",
	[WRITE_EFFECT_CLOSE] = "DELETE FROM effects WHERE id = ?1",
};

/* What a transaction will have done once it is committed. */
struct batch {
	int64_t position;
	uint64_t events, appends, conflicts;
};

static struct store_sqlite *self_of(struct store *store)
{
	return (struct store_sqlite *)store;
}

static const char *advice(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
		return "; make room on the disk";
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return "; restore the data folder from a copy, or name another one";
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_READONLY:
		return "; check the folder's owner and permissions";
	case SQLITE_BUSY:
		return "; another program has the file open, end it";
	default:
		return "";
	}
}

bool store_sqlite_is_full(sqlite3 *database)
{
	int code = sqlite3_extended_errcode(database);
	int number = sqlite3_system_errno(database);
	return (code & 0xff) == SQLITE_FULL ||
	       ((code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE) &&
		(number == ENOSPC || number == EDQUOT));
}

bool store_sqlite_fail(sqlite3 *database, const char *path, const char *doing, struct error *error)
{
	int code = sqlite3_extended_errcode(database);
	enum error_code kind = store_sqlite_is_full(database) ? ERROR_STORAGE_FULL : ERROR_STORAGE;
	return fail(error, kind, "%s: cannot %s: %s (SQLite code %d)%s", path, doing,
		    sqlite3_errmsg(database), code, advice(code));
}

bool store_sqlite_prepare(sqlite3 *database, const char *path, const char *const *sql, size_t count,
			  sqlite3_stmt **out_statements, struct error *error)
{
	for (size_t i = 0; i < count; i++)
		if (sqlite3_prepare_v3(database, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &out_statements[i], NULL) != SQLITE_OK)
			return store_sqlite_fail(database, path, "prepare a statement", error);
	return true;
}

void store_sqlite_finalize(sqlite3_stmt **statements, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sqlite3_finalize(statements[i]);
}

int store_sqlite_bind_text(sqlite3_stmt *statement, int index, struct str text)
{
	/* A NULL pointer would bind NULL, not "". */
	return sqlite3_bind_text64(statement, index, text.at != NULL ? text.at : "", text.size,
				   SQLITE_STATIC, SQLITE_UTF8);
}

int store_sqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, size_t size)
{
	return sqlite3_bind_blob64(statement, index, bytes != NULL ? bytes : "", size,
				   SQLITE_STATIC);
}

/* Runs a statement that gives no rows.  `bound` is the sum of the binds' result codes. */
static bool run(struct store_sqlite *self, enum store_sqlite_write which, int bound,
		const char *doing, struct error *error)
{
	sqlite3_stmt *statement = self->statements[which];
	if (bound != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE) {
		store_sqlite_fail(self->database, self->path, doing, error);
		sqlite3_reset(statement);
		return false;
	}
	sqlite3_reset(statement);
	return true;
}

/* The run's key, its seq and whether it is stepping; all 0 when there is no such run. */
static bool run_find(struct store_sqlite *self, const struct uuid *id, int64_t *out_key,
		     int64_t *out_seq, bool *out_stepping, struct error *error)
{
	sqlite3_stmt *statement = self->statements[WRITE_RUN_FIND];
	int bound = store_sqlite_bind_bytes(statement, 1, id->bytes, sizeof(id->bytes));
	int step = bound == SQLITE_OK ? sqlite3_step(statement) : bound;
	bool found = step == SQLITE_ROW;
	*out_key = found ? sqlite3_column_int64(statement, 0) : 0;
	*out_seq = found ? sqlite3_column_int64(statement, 1) : 0;
	*out_stepping = found && sqlite3_column_int(statement, 2) != 0;
	if (!found && step != SQLITE_DONE)
		store_sqlite_fail(self->database, self->path, "look for a run", error);
	sqlite3_reset(statement);
	return found || step == SQLITE_DONE;
}

static int bind_row(sqlite3_stmt *statement, const struct store_run *row, int64_t seq)
{
	return store_sqlite_bind_text(statement, 3, row->name) |
	       store_sqlite_bind_text(statement, 4, row->state) |
	       sqlite3_bind_int64(statement, 5, row->created_at) |
	       sqlite3_bind_int64(statement, 6, row->updated_at) |
	       sqlite3_bind_int64(statement, 7, row->ended_at) |
	       sqlite3_bind_int64(statement, 8, seq) |
	       store_sqlite_bind_text(statement, 9, row->summary);
}

static bool row_insert(struct store_sqlite *self, const struct store_run *row, int64_t seq,
		       int64_t *out_key, struct error *error)
{
	sqlite3_stmt *statement = self->statements[WRITE_RUN_INSERT];
	int bound = store_sqlite_bind_bytes(statement, 1, row->id.bytes, sizeof(row->id.bytes)) |
		    sqlite3_bind_int(statement, 2, row->stepping) | bind_row(statement, row, seq);
	if (!run(self, WRITE_RUN_INSERT, bound, "write a run", error))
		return false;
	*out_key = sqlite3_last_insert_rowid(self->database);
	return true;
}

static bool row_update(struct store_sqlite *self, const struct store_run *row, int64_t seq,
		       int64_t key, bool was_stepping, struct error *error)
{
	sqlite3_stmt *update = self->statements[WRITE_RUN_UPDATE];
	int bound = sqlite3_bind_int64(update, 1, key) | bind_row(update, row, seq);
	if (!run(self, WRITE_RUN_UPDATE, bound, "write a run", error))
		return false;
	if (row->stepping == was_stepping)
		return true;
	sqlite3_stmt *stepping = self->statements[WRITE_RUN_STEPPING];
	bound = sqlite3_bind_int64(stepping, 1, key) | sqlite3_bind_int(stepping, 2, row->stepping);
	return run(self, WRITE_RUN_STEPPING, bound, "write a run", error);
}

static bool events_write(struct store_sqlite *self, const struct store_append *append, int64_t key,
			 int64_t position, struct error *error)
{
	sqlite3_stmt *statement = self->statements[WRITE_EVENT];
	for (size_t i = 0; i < append->event_count; i++) {
		const struct store_event *event = &append->events[i];
		int64_t ordinal = (int64_t)i + 1;
		int bound = sqlite3_bind_int64(statement, 1, position + ordinal) |
			    sqlite3_bind_int64(statement, 2, key) |
			    sqlite3_bind_int64(statement, 3, append->expected_seq + ordinal) |
			    sqlite3_bind_int64(statement, 4, event->at) |
			    store_sqlite_bind_text(statement, 5, event->type) |
			    store_sqlite_bind_text(statement, 6, event->body);
		if (!run(self, WRITE_EVENT, bound, "write an event", error))
			return false;
	}
	return true;
}

static bool blobs_write(struct store_sqlite *self, const struct store_append *append,
			struct error *error)
{
	sqlite3_stmt *statement = self->statements[WRITE_BLOB];
	for (size_t i = 0; i < append->blob_count; i++) {
		const struct store_blob *blob = &append->blobs[i];
		int bound = store_sqlite_bind_bytes(statement, 1, blob->hash.bytes,
						    sizeof(blob->hash.bytes)) |
			    store_sqlite_bind_bytes(statement, 2, blob->bytes.at, blob->bytes.size);
		if (!run(self, WRITE_BLOB, bound, "write a value", error))
			return false;
	}
	return true;
}

/* Closes before it opens: a new attempt of the same effect keeps its id. */
static bool effects_write(struct store_sqlite *self, const struct store_append *append, int64_t key,
			  struct error *error)
{
	sqlite3_stmt *statement = self->statements[WRITE_EFFECT_CLOSE];
	for (size_t i = 0; i < append->closed_count; i++) {
		const struct uuid *id = &append->closed[i];
		int bound = store_sqlite_bind_bytes(statement, 1, id->bytes, sizeof(id->bytes));
		if (!run(self, WRITE_EFFECT_CLOSE, bound, "close an effect", error))
			return false;
	}
	statement = self->statements[WRITE_EFFECT_OPEN];
	for (size_t i = 0; i < append->opened_count; i++) {
		const struct store_effect *effect = &append->opened[i];
		int bound = store_sqlite_bind_bytes(statement, 1, effect->id.bytes,
						    sizeof(effect->id.bytes)) |
			    sqlite3_bind_int64(statement, 2, key) |
			    store_sqlite_bind_text(statement, 3, effect->kind) |
			    sqlite3_bind_int64(statement, 4, effect->due_at) |
			    store_sqlite_bind_text(statement, 5, effect->body);
		if (!run(self, WRITE_EFFECT_OPEN, bound, "open an effect", error))
			return false;
	}
	return true;
}

static bool append_write(struct store_sqlite *self, struct store_append *append,
			 struct batch *batch, struct error *error)
{
	require(append->event_count > 0);
	int64_t key, seq;
	bool stepping;
	if (!run_find(self, &append->run.id, &key, &seq, &stepping, error))
		return false;
	if (seq != append->expected_seq) {
		append->outcome = STORE_CONFLICT;
		batch->conflicts++;
		return true;
	}
	int64_t newest = seq + (int64_t)append->event_count;
	bool written = key == 0 ? row_insert(self, &append->run, newest, &key, error)
				: row_update(self, &append->run, newest, key, stepping, error);
	if (!written || !events_write(self, append, key, batch->position, error) ||
	    !blobs_write(self, append, error) || !effects_write(self, append, key, error))
		return false;
	append->outcome = STORE_COMMITTED;
	append->first_position = batch->position + 1;
	append->last_position = batch->position + (int64_t)append->event_count;
	batch->position = append->last_position;
	batch->events += append->event_count;
	batch->appends++;
	return true;
}

static bool transact(struct store_sqlite *self, struct store_append *const *appends, size_t count,
		     struct batch *batch, struct error *error)
{
	if (!run(self, WRITE_BEGIN, SQLITE_OK, "begin a transaction", error))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!append_write(self, appends[i], batch, error))
			return false;
	/* Only conflicts: there is nothing that a commit could make durable. */
	if (batch->appends == 0)
		return run(self, WRITE_ROLLBACK, SQLITE_OK, "end a transaction", error);
	POINT("store.before_commit");
	if (POINT_FULL("store.before_commit"))
		return fail(error, ERROR_STORAGE_FULL, "%s: there is no room, by order",
			    self->path);
	return run(self, WRITE_COMMIT, SQLITE_OK, "commit", error);
}

static void latch(struct store_sqlite *self, const struct error *error)
{
	self->broken = true;
	self->breakage = *error;
}

static int frames_counted(void *context, sqlite3 *database, const char *name, int frames)
{
	(void)database;
	(void)name;
	((struct store_sqlite *)context)->frames = frames;
	return SQLITE_OK;
}

/* Moves the WAL into the database when it has grown by LIMIT_STORE_WAL_FRAMES.  Readers may hold
 * it back; then it is tried again only after as many frames more, since every try is an fsync. */
static void checkpoint(struct store_sqlite *self)
{
	if (self->frames < self->frames_checkpointed)
		self->frames_checkpointed = 0;
	if (self->frames - self->frames_checkpointed <= self->checkpoint_frames)
		return;
	POINT("store.before_checkpoint");
	int code = sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL,
					     NULL);
	self->frames_checkpointed = self->frames;
	if (code != SQLITE_OK && code != SQLITE_BUSY && !store_sqlite_is_full(self->database)) {
		/* What was committed before is safe in the WAL; nothing more is taken. */
		struct error error;
		store_sqlite_fail(self->database, self->path, "checkpoint", &error);
		latch(self, &error);
	}
	POINT("store.after_checkpoint");
}

/* The batch came to nothing: refused when the disk is full, else the end of the store. */
static bool undo(struct store_sqlite *self, struct store_append *const *appends, size_t count,
		 struct error *error)
{
	bool full = error->code == ERROR_STORAGE_FULL;
	struct error other;
	if (!sqlite3_get_autocommit(self->database) &&
	    !run(self, WRITE_ROLLBACK, SQLITE_OK, "roll back", &other) && full) {
		*error = other;
		full = false;
	}
	for (size_t i = 0; i < count; i++)
		appends[i]->outcome = full ? STORE_FULL : STORE_PENDING;
	if (full)
		self->refusals += 1;
	else
		latch(self, error);
	return full;
}

bool store_sqlite_commit(struct store *store, struct store_append *const *appends, size_t count,
			 struct error *error)
{
	struct store_sqlite *self = self_of(store);
	if (!self->broken && atomic_load(&self->damaged)) {
		struct error damage;
		fail(&damage, ERROR_STORAGE,
		     "%s: a reader has met damage; restore the data folder from a copy",
		     self->path);
		latch(self, &damage);
	}
	if (self->broken) {
		*error = self->breakage;
		return false;
	}
	if (count == 0)
		return true;
	struct batch batch = { .position = self->position };
	POINT("store.before_begin");
	if (!transact(self, appends, count, &batch, error))
		return undo(self, appends, count, error);
	self->conflicts += batch.conflicts;
	if (batch.appends == 0)
		return true;
	POINT("store.after_commit");
	self->position = batch.position;
	self->commits += 1;
	self->events += batch.events;
	self->appends += batch.appends;
	checkpoint(self);
	return true;
}

struct store_stats store_sqlite_stats(const struct store *store)
{
	const struct store_sqlite *self = (const struct store_sqlite *)store;
	return (struct store_stats){ .commits = self->commits,
				     .events = self->events,
				     .appends = self->appends,
				     .conflicts = self->conflicts,
				     .refusals = self->refusals };
}

void store_sqlite_close(struct store *store)
{
	if (store == NULL)
		return;
	struct store_sqlite *self = self_of(store);
	store_sqlite_finalize(self->statements, WRITES);
	sqlite3_close(self->database);
	free(self->path);
	free(self->vfs);
	free(self);
}

bool store_sqlite_open_on(const struct store_ops *ops, const char *vfs, const char *path,
			  struct store **out_store, struct error *error)
{
	struct store_sqlite *self = calloc(1, sizeof(*self));
	require(self != NULL);
	self->base.ops = ops;
	self->checkpoint_frames = LIMIT_STORE_WAL_FRAMES;
	self->path = strdup(path);
	self->vfs = vfs != NULL ? strdup(vfs) : NULL;
	require(self->path != NULL && (vfs == NULL || self->vfs != NULL));
	if (!store_sqlite_setup(self, error) ||
	    !store_sqlite_prepare(self->database, self->path, texts, WRITES, self->statements,
				  error)) {
		store_sqlite_close(&self->base);
		return false;
	}
	sqlite3_wal_hook(self->database, frames_counted, self);
	*out_store = &self->base;
	return true;
}

extern const struct store_ops store_sqlite_ops;

static bool sqlite_open(const char *path, struct store **out_store, struct error *error)
{
	return store_sqlite_open_on(&store_sqlite_ops, NULL, path, out_store, error);
}

const struct store_ops store_sqlite_ops = {
	.name = "sqlite",
	.text = "One SQLite file in the data folder, synced at every commit.",
	.open = sqlite_open,
	.close = store_sqlite_close,
	STORE_SQLITE_OPS,
};
