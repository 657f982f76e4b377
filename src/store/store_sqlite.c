/* store/store_sqlite.c -- commits: the connection that writes.
 *
 * Only this connection checkpoints, and only between its own transactions: SQLite 3.40 (Debian 12)
 * can lose acknowledged data when a checkpoint races with a commit of another connection.  Only the
 * process that holds the lock on the data folder opens the file.
 *
 * A batch is one transaction.  An append is checked before it writes anything, so a conflict needs
 * no savepoint and does not affect the other appends.  A full disk is detected before the commit
 * frame is complete: the batch is rolled back and refused, and a later batch may succeed.  Any other
 * error breaks the store for good: after a failed write or fsync the content of the disk is unknown,
 * and a repeated fsync that succeeds proves nothing.
 */
#include "store/store_sqlite_vfs.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "os/failpoint.h"
#include "store/page_vfs.h"
#include "store/store_sqlite_mark.h"
#include "store/store_sqlite_write.h"

enum { WAL_HEADER = 32, WAL_FRAME = 24 + PAGE_BYTES };

/* The effect of a transaction, added to the store when it is committed. */
struct batch {
	int64_t position;
	uint64_t events, appends, conflicts;
};

static struct store_sqlite *self_of(struct store *store)
{
	return (struct store_sqlite *)store;
}

sqlite3_stmt *store_sqlite_write_statement(struct store_sqlite *self, enum store_sqlite_write which)
{
	return store_sqlite_prepared(self->database, &self->statements[which],
				     store_sqlite_writes[which]);
}

bool store_sqlite_execute(struct store_sqlite *self, enum store_sqlite_write which, int bound,
			  const char *doing, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, which);
	if (bound != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE) {
		store_sqlite_fail(self->database, self->path, doing, error);
		sqlite3_reset(statement);
		return false;
	}
	sqlite3_reset(statement);
	return true;
}

bool store_sqlite_first_row(struct store_sqlite *self, enum store_sqlite_write which, int bound,
			    const char *doing, bool *out_found, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, which);
	int step = bound == SQLITE_OK ? sqlite3_step(statement) : bound;
	if (step != SQLITE_ROW && step != SQLITE_DONE) {
		store_sqlite_fail(self->database, self->path, doing, error);
		sqlite3_reset(statement);
		return false;
	}
	*out_found = step == SQLITE_ROW;
	return true;
}

void store_sqlite_reset(struct store_sqlite *self, enum store_sqlite_write which)
{
	sqlite3_reset(store_sqlite_write_statement(self, which));
}

/* ---- a transaction ------------------------------------------------------------------- */

void store_sqlite_stop_writing(struct store_sqlite *self, const struct error *error)
{
	self->broken = true;
	self->breakage = *error;
}

/* Reads the epoch inside the transaction, so that no other process can change it in between. */
static bool owner_check(struct store_sqlite *self, struct error *error)
{
	bool found;
	if (!store_sqlite_first_row(self, WRITE_OWNER, SQLITE_OK, "read the owner", &found, error))
		return false;
	int64_t owner =
		found ? sqlite3_column_int64(store_sqlite_write_statement(self, WRITE_OWNER), 0)
		      : -1;
	store_sqlite_reset(self, WRITE_OWNER);
	if (owner == self->owner)
		return true;
	return fail(error, ERROR_STORAGE,
		    "%s: another baton has opened the store (epoch %lld, ours is %lld); this"
		    " process refuses further writes, stop it",
		    self->path, (long long)owner, (long long)self->owner);
}

static bool begin(struct store_sqlite *self, struct error *error)
{
	if (!self->broken && atomic_load(&self->damaged)) {
		struct error damage;
		fail(&damage, ERROR_STORAGE,
		     "%s: a reader found damage; restore the data folder from a backup",
		     self->path);
		store_sqlite_stop_writing(self, &damage);
	}
	if (self->broken) {
		*error = self->breakage;
		return false;
	}
	if (store_sqlite_execute(self, WRITE_BEGIN, SQLITE_OK, "begin a transaction", error) &&
	    owner_check(self, error) &&
	    (self->owns ||
	     store_sqlite_execute(self, WRITE_OWN, SQLITE_OK, "store the epoch", error)))
		return true;
	return store_sqlite_end(self, false, error);
}

bool store_sqlite_begin(struct store_sqlite *self, struct error *error)
{
	store_sqlite_row_cache_clear(self);
	return begin(self, error);
}

static bool roll_back(struct store_sqlite *self, struct error *error)
{
	struct error other;
	store_sqlite_row_cache_clear(self);
	if (!sqlite3_get_autocommit(self->database) &&
	    !store_sqlite_execute(self, WRITE_ROLLBACK, SQLITE_OK, "roll back", &other) &&
	    error->code == ERROR_STORAGE_FULL)
		*error = other;
	if (error->code == ERROR_STORAGE)
		store_sqlite_stop_writing(self, error);
	return false;
}

bool store_sqlite_end(struct store_sqlite *self, bool good, struct error *error)
{
	if (good && store_sqlite_execute(self, WRITE_COMMIT, SQLITE_OK, "commit", error)) {
		self->owner += !self->owns;
		self->owns = true;
		return true;
	}
	return roll_back(self, error);
}

/* ---- the stream ---------------------------------------------------------------------- */

static bool run_find(struct store_sqlite *self, const struct uuid *id,
		     struct store_sqlite_run_row *out_row, struct error *error)
{
	const struct store_sqlite_run_row *known = store_sqlite_row_cache_find(self, id);
	if (known != NULL) {
		*out_row = *known;
		return true;
	}
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_RUN_FIND);
	int bound = store_sqlite_bind_bytes(statement, 1, id->bytes, sizeof(id->bytes));
	*out_row = (struct store_sqlite_run_row){ .id = *id };
	if (!store_sqlite_first_row(self, WRITE_RUN_FIND, bound, "look for a run", &out_row->exists,
				    error))
		return false;
	if (out_row->exists) {
		out_row->key = sqlite3_column_int64(statement, 0);
		out_row->seq = sqlite3_column_int64(statement, 1);
		out_row->floor = sqlite3_column_int64(statement, 2);
		out_row->needs_recovery = sqlite3_column_int(statement, 3) != 0;
		out_row->created_at = sqlite3_column_int64(statement, 4);
		out_row->ended_at = sqlite3_column_int64(statement, 5);
		out_row->state = store_sqlite_column(statement, 6, &self->scratch);
		out_row->name = store_sqlite_column(statement, 7, &self->scratch);
	}
	store_sqlite_reset(self, WRITE_RUN_FIND);
	return true;
}

static int bind_row(sqlite3_stmt *statement, const struct store_run *row, int64_t seq)
{
	return sqlite3_bind_int64(statement, 6, row->created_at) |
	       sqlite3_bind_int64(statement, 7, row->updated_at) |
	       sqlite3_bind_int64(statement, 8, row->ended_at) |
	       sqlite3_bind_int64(statement, 9, seq) |
	       store_sqlite_bind_text(statement, 10, row->summary);
}

/* Adds a run to the tally of its name and state; change -1 removes it. */
static bool tally(struct store_sqlite *self, struct str name, struct str state, int64_t created_at,
		  int64_t ended_at, int change, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_TALLY);
	int64_t took = ended_at > 0 ? ended_at - created_at : 0;
	int bound = store_sqlite_bind_text(statement, 1, name) |
		    store_sqlite_bind_text(statement, 2, state) |
		    sqlite3_bind_int(statement, 3, change) |
		    sqlite3_bind_int(statement, 4, ended_at > 0 ? change : 0) |
		    sqlite3_bind_int64(statement, 5, took * change);
	return store_sqlite_execute(self, WRITE_TALLY, bound, "count a run", error);
}

static struct str labels_text(struct str_list labels, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '[');
	for (size_t i = 0; i < labels.count; i++)
		json_put_str(&writer, labels.at[i]);
	json_close(&writer, ']');
	return str_copy(arena, buf_str(&text));
}

static bool labels_write(struct store_sqlite *self, const struct store_run *row, int64_t key,
			 struct error *error)
{
	if (row->labels.count == 0)
		return true;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_LABELS);
	int bound = sqlite3_bind_int64(statement, 1, key) |
		    store_sqlite_bind_text(statement, 2, row->state) |
		    store_sqlite_bind_text(statement, 3, labels_text(row->labels, &self->scratch));
	return store_sqlite_execute(self, WRITE_LABELS, bound, "write a run's labels", error);
}

static bool labels_move(struct store_sqlite *self, const struct store_run *row, int64_t key,
			struct error *error)
{
	if (row->labels.count == 0)
		return true;
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_LABELS_MOVE);
	int bound = sqlite3_bind_int64(statement, 1, key) |
		    store_sqlite_bind_text(statement, 2, row->state);
	return store_sqlite_execute(self, WRITE_LABELS_MOVE, bound, "write a run's labels", error);
}

static bool labels_rebuild(struct store_sqlite *self, const struct store_run *row, int64_t key,
			   struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_LABELS_DELETE);
	return store_sqlite_execute(self, WRITE_LABELS_DELETE,
				    sqlite3_bind_int64(statement, 1, key), "delete a run's labels",
				    error) &&
	       labels_write(self, row, key, error);
}

/* The system stream has key 0, is in no tally and needs no recovery. */
static bool row_insert(struct store_sqlite *self, const struct store_run *row, int64_t seq,
		       int64_t *out_key, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_RUN_INSERT);
	bool system = uuid_is_zero(&row->id);
	int bound =
		(system ? sqlite3_bind_int64(statement, 1, 0) : sqlite3_bind_null(statement, 1)) |
		store_sqlite_bind_bytes(statement, 2, row->id.bytes, sizeof(row->id.bytes)) |
		sqlite3_bind_int(statement, 3, row->needs_recovery && !system) |
		store_sqlite_bind_text(statement, 4, row->name) |
		store_sqlite_bind_text(statement, 5, row->state) | bind_row(statement, row, seq);
	if (!store_sqlite_execute(self, WRITE_RUN_INSERT, bound, "write a run", error))
		return false;
	*out_key = system ? 0 : sqlite3_last_insert_rowid(self->database);
	return system ||
	       (tally(self, row->name, row->state, row->created_at, row->ended_at, 1, error) &&
		labels_write(self, row, *out_key, error));
}

/* Updates the tallies and labels when name, state or duration have changed. */
static bool listing_update(struct store_sqlite *self, const struct store_run *row,
			   const struct store_sqlite_run_row *was, struct error *error)
{
	bool listed = str_equal(row->state, was->state) && str_equal(row->name, was->name);
	if (listed && row->ended_at == was->ended_at && row->created_at == was->created_at)
		return true;
	if (!tally(self, was->name, was->state, was->created_at, was->ended_at, -1, error) ||
	    !tally(self, row->name, row->state, row->created_at, row->ended_at, 1, error))
		return false;
	if (listed)
		return true;
	sqlite3_stmt *update = store_sqlite_write_statement(self, WRITE_RUN_LISTED);
	int bound = sqlite3_bind_int64(update, 1, was->key) |
		    store_sqlite_bind_text(update, 2, row->name) |
		    store_sqlite_bind_text(update, 3, row->state);
	return store_sqlite_execute(self, WRITE_RUN_LISTED, bound, "write a run", error) &&
	       labels_move(self, row, was->key, error);
}

static bool row_update(struct store_sqlite *self, const struct store_run *row, int64_t seq,
		       const struct store_sqlite_run_row *was, struct error *error)
{
	sqlite3_stmt *update = store_sqlite_write_statement(self, WRITE_RUN_UPDATE);
	int bound = sqlite3_bind_int64(update, 1, was->key) | bind_row(update, row, seq);
	if (!store_sqlite_execute(self, WRITE_RUN_UPDATE, bound, "write a run", error))
		return false;
	if (was->key == 0)
		return true;
	if (!listing_update(self, row, was, error))
		return false;
	if (row->needs_recovery == was->needs_recovery)
		return true;
	sqlite3_stmt *recovery = store_sqlite_write_statement(self, WRITE_RUN_NEEDS_RECOVERY);
	bound = sqlite3_bind_int64(recovery, 1, was->key) |
		sqlite3_bind_int(recovery, 2, row->needs_recovery);
	return store_sqlite_execute(self, WRITE_RUN_NEEDS_RECOVERY, bound, "write a run", error);
}

/* The seq of the newest event is the run's seq; a stream without events keeps the one in its row. */
bool store_sqlite_row_rebuild(struct store_sqlite *self, const struct store_run *row,
			      int64_t *out_key, struct error *error)
{
	struct store_sqlite_run_row was;
	arena_reset(&self->scratch);
	if (!run_find(self, &row->id, &was, error))
		return false;
	char id[UUID_TEXT_SIZE];
	if (!was.exists)
		return fail(error, ERROR_NOT_FOUND, "%s: run " STR_FMT " has no row to be rebuilt",
			    self->path, STR_ARG(uuid_text(&row->id, id)));
	sqlite3_stmt *newest = store_sqlite_write_statement(self, WRITE_EVENT_NEWEST);
	bool found;
	if (!store_sqlite_first_row(self, WRITE_EVENT_NEWEST,
				    sqlite3_bind_int64(newest, 1, was.key),
				    "look for the newest event", &found, error))
		return false;
	int64_t seq = found ? sqlite3_column_int64(newest, 0) : was.seq;
	store_sqlite_reset(self, WRITE_EVENT_NEWEST);
	*out_key = was.key;
	return row_update(self, row, seq, &was, error) &&
	       labels_rebuild(self, row, was.key, error) &&
	       store_sqlite_usage_rebuild(self, row, was.key, error) &&
	       store_sqlite_budgets_rebuild(self, row, was.key, error);
}

static bool events_write(struct store_sqlite *self, const struct store_append *append, int64_t key,
			 int64_t position, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_EVENT);
	for (size_t i = 0; i < append->event_count; i++) {
		const struct store_event *event = &append->events[i];
		int64_t ordinal = (int64_t)i + 1;
		struct str names;
		if (!store_sqlite_references_add(self, event->names, event->name_count, &names,
						 error))
			return false;
		int bound = sqlite3_bind_int64(statement, 1, position + ordinal) |
			    sqlite3_bind_int64(statement, 2, key) |
			    sqlite3_bind_int64(statement, 3, append->expected_seq + ordinal) |
			    sqlite3_bind_int64(statement, 4, event->at) |
			    sqlite3_bind_int(statement, 5, event->kept) |
			    store_sqlite_bind_text(statement, 6, event->type) |
			    store_sqlite_bind_keys(statement, 7, names) |
			    store_sqlite_bind_text(statement, 8, event->body);
		if (!store_sqlite_execute(self, WRITE_EVENT, bound, "write an event", error))
			return false;
	}
	return true;
}

/* Closes before it opens, because a new attempt of an effect keeps the effect's id. */
static bool effects_write(struct store_sqlite *self, const struct store_append *append, int64_t key,
			  struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_EFFECT_CLOSE);
	for (size_t i = 0; i < append->closed_count; i++) {
		const struct uuid *id = &append->closed[i];
		int bound = store_sqlite_bind_bytes(statement, 1, id->bytes, sizeof(id->bytes));
		if (!store_sqlite_execute(self, WRITE_EFFECT_CLOSE, bound, "close an effect",
					  error))
			return false;
	}
	return store_sqlite_effects_open(self, key, append->opened, append->opened_count, error);
}

bool store_sqlite_effects_open(struct store_sqlite *self, int64_t key,
			       const struct store_effect *opened, size_t count, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_write_statement(self, WRITE_EFFECT_OPEN);
	for (size_t i = 0; i < count; i++) {
		const struct store_effect *effect = &opened[i];
		int bound = store_sqlite_bind_bytes(statement, 1, effect->id.bytes,
						    sizeof(effect->id.bytes)) |
			    sqlite3_bind_int64(statement, 2, key) |
			    store_sqlite_bind_text(statement, 3, effect->kind) |
			    sqlite3_bind_int64(statement, 4, effect->due_at) |
			    store_sqlite_bind_text(statement, 5, effect->body);
		if (!store_sqlite_execute(self, WRITE_EFFECT_OPEN, bound, "open an effect", error))
			return false;
	}
	return true;
}

static bool stream_write(struct store_sqlite *self, struct store_append *append,
			 const struct store_sqlite_run_row *was, int64_t position,
			 struct error *error)
{
	struct store_sqlite_run_row now = *was;
	now.exists = true;
	now.seq += (int64_t)append->event_count;
	now.needs_recovery = append->run.needs_recovery && !uuid_is_zero(&append->run.id);
	now.floor = append->floor > was->floor ? append->floor : was->floor;
	now.state = append->run.state;
	now.name = append->run.name;
	now.created_at = append->run.created_at;
	now.ended_at = append->run.ended_at;
	bool written = was->exists ? row_update(self, &append->run, now.seq, was, error)
				   : row_insert(self, &append->run, now.seq, &now.key, error);
	if (!written || !store_sqlite_values_write(self, append, error) ||
	    !events_write(self, append, now.key, position, error) ||
	    !effects_write(self, append, now.key, error) ||
	    !store_sqlite_usage_write(self, &append->run, now.key, error) ||
	    !store_sqlite_budgets_write(self, &append->run, now.key, error) ||
	    !store_sqlite_side_tables_write(self, append, now.key, was->floor, error))
		return false;
	store_sqlite_row_cache_put(self, &now);
	return true;
}

/* All checks of an append, before anything is written. */
static bool append_admit(struct store_sqlite *self, struct store_append *append,
			 struct store_sqlite_run_row *out_was, struct batch *batch,
			 bool *out_admitted, struct error *error)
{
	bool repeats;
	*out_admitted = false;
	if (!store_sqlite_request_is_repeated(self, append, &repeats, error))
		return false;
	if (repeats) {
		append->outcome = STORE_REPEATED;
		return true;
	}
	if (!run_find(self, &append->run.id, out_was, error))
		return false;
	if (out_was->seq != append->expected_seq) {
		append->outcome = STORE_CONFLICT;
		batch->conflicts++;
		return true;
	}
	if (!store_sqlite_side_tables_admit(self, append, out_admitted, error))
		return false;
	batch->conflicts += !*out_admitted && append->outcome == STORE_CONFLICT;
	return true;
}

static bool append_write(struct store_sqlite *self, struct store_append *append,
			 struct batch *batch, struct error *error)
{
	require(append->event_count > 0 || append->request.key.size > 0);
	struct store_sqlite_run_row was;
	bool admitted;
	arena_reset(&self->scratch);
	if (!append_admit(self, append, &was, batch, &admitted, error))
		return false;
	if (!admitted)
		return true;
	if (!stream_write(self, append, &was, batch->position, error))
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
	if (!begin(self, error))
		return false;
	bool good = true;
	for (size_t i = 0; i < count && good; i++)
		good = append_write(self, appends[i], batch, error);
	/* Every append was refused: there is nothing to commit. */
	if (good && batch->appends == 0)
		return store_sqlite_execute(self, WRITE_ROLLBACK, SQLITE_OK, "end a transaction",
					    error) ||
		       roll_back(self, error);
	if (good) {
		FAILPOINT("store.before_commit");
		if (FAILPOINT_FULL("store.before_commit"))
			good = fail(error, ERROR_STORAGE_FULL, "%s: the disk is full, by failpoint",
				    self->path);
	}
	return store_sqlite_end(self, good, error);
}

static int frames_counted(void *context, sqlite3 *database, const char *name, int frames)
{
	(void)database;
	(void)name;
	struct store_sqlite *self = context;
	self->frames = frames;
	self->wal_bytes = WAL_HEADER + (uint64_t)frames * WAL_FRAME;
	return SQLITE_OK;
}

bool store_sqlite_checkpoint_now(struct store_sqlite *self)
{
	int mode = self->empty_wal ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
	int code = sqlite3_wal_checkpoint_v2(self->database, NULL, mode, NULL, NULL);
	self->frames_checkpointed = self->frames;
	self->wal_salts_known = false;
	if (code == SQLITE_OK && self->empty_wal) {
		self->empty_wal = false;
		self->frames = self->frames_checkpointed = 0;
		self->wal_bytes = 0;
	}
	return code == SQLITE_OK || code == SQLITE_BUSY || store_sqlite_is_full(self->database);
}

/* Every attempt costs an fsync.  When a reader prevents the checkpoint, the next attempt comes after
 * another LIMIT_STORE_WAL_FRAMES frames. */
void store_sqlite_checkpoint(struct store_sqlite *self)
{
	if (self->frames < self->frames_checkpointed)
		self->frames_checkpointed = 0;
	if (self->frames - self->frames_checkpointed <= self->checkpoint_frames && !self->empty_wal)
		return;
	FAILPOINT("store.before_checkpoint");
	if (!store_sqlite_checkpoint_now(self)) {
		/* Earlier commits are safe in the WAL; further ones are refused. */
		struct error error;
		store_sqlite_fail(self->database, self->path, "checkpoint", &error);
		store_sqlite_stop_writing(self, &error);
	}
	FAILPOINT("store.after_checkpoint");
}

/* Sets the outcome of a batch that was rolled back; true when the disk was full. */
static bool undo(struct store_append *const *appends, size_t count, const struct error *error)
{
	bool full = error->code == ERROR_STORAGE_FULL;
	for (size_t i = 0; i < count; i++)
		appends[i]->outcome = full ? STORE_FULL : STORE_PENDING;
	return full;
}

/* The commit is safe whatever happens here; a disk that fails takes no further ones. */
static void mark(struct store_sqlite *self)
{
	struct error error;
	if (!store_sqlite_mark_set(self, &error))
		store_sqlite_stop_writing(self, &error);
	FAILPOINT("store.after_mark");
}

/* Commits the batch as a whole or not at all. */
static bool batch_commit(struct store_sqlite *self, struct store_append *const *appends,
			 size_t count, struct error *error)
{
	struct batch batch = { .position = self->position };
	FAILPOINT("store.before_begin");
	if (!transact(self, appends, count, &batch, error))
		return false;
	self->conflicts += batch.conflicts;
	if (batch.appends == 0)
		return true;
	FAILPOINT("store.after_commit");
	self->position = batch.position;
	self->commits += 1;
	self->events += batch.events;
	self->appends += batch.appends;
	mark(self);
	store_sqlite_checkpoint(self);
	return true;
}

/* The disk is full: commits the urgent appends alone, as long as the reserve provides space. */
static bool urgent_commit(struct store_sqlite *self, struct store_append *const *appends,
			  size_t count, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct store_append **urgent = arena_array(&arena, struct store_append *, count);
	size_t urgent_count = 0;
	for (size_t i = 0; i < count; i++)
		if (appends[i]->urgent)
			urgent[urgent_count++] = appends[i];
	bool full = true;
	while (full && urgent_count > 0 && store_sqlite_reserve_spend(self)) {
		if (batch_commit(self, urgent, urgent_count, error))
			return true;
		full = undo(urgent, urgent_count, error);
	}
	return full;
}

static bool sqlite_commit(struct store *store, struct store_append *const *appends, size_t count,
			  struct error *error)
{
	struct store_sqlite *self = self_of(store);
	if (count == 0 && !self->broken)
		return true;
	if (batch_commit(self, appends, count, error)) {
		store_sqlite_reserve_refill(self);
		return true;
	}
	if (!undo(appends, count, error))
		return false;
	self->refusals += 1;
	return urgent_commit(self, appends, count, error);
}

static struct store_stats sqlite_stats(const struct store *store)
{
	const struct store_sqlite *self = (const struct store_sqlite *)store;
	return (struct store_stats){
		.commits = self->commits,
		.events = self->events,
		.appends = self->appends,
		.conflicts = self->conflicts,
		.refusals = self->refusals,
		.purged = self->purged,
		.details = { .at = { { "wal_bytes", (int64_t)self->wal_bytes } }, .count = 1 },
	};
}

const struct store_writer_ops store_sqlite_writer_ops = {
	.commit = sqlite_commit,
	.stats = sqlite_stats,
};

/* ---- open and close ------------------------------------------------------------------ */

void store_sqlite_close(struct store *store)
{
	if (store == NULL)
		return;
	struct store_sqlite *self = self_of(store);
	store_sqlite_finalize(self->statements, WRITES);
	sqlite3_close(self->database);
	store_sqlite_mark_close(self);
	arena_done(&self->scratch);
	free(self->path);
	free(self->vfs);
	free(self->pages_vfs);
	free(self);
}

bool store_sqlite_open_on(const struct store_backend *backend, const char *vfs, const char *path,
			  struct store **out_store, struct error *error)
{
	struct store_sqlite *self = calloc(1, sizeof(*self));
	require(self != NULL);
	self->base = (struct store){ .backend = backend,
				     .writer = &store_sqlite_writer_ops,
				     .admin = &store_sqlite_admin_ops };
	self->checkpoint_frames = LIMIT_STORE_WAL_FRAMES;
	self->reserve_bytes = vfs == NULL ? LIMIT_STORE_RESERVE_BYTES : 0;
	self->path = strdup(path);
	self->vfs = vfs != NULL ? strdup(vfs) : NULL;
	self->pages_vfs =
		strdup(vfs != NULL ? str_format(&self->scratch, "%s%s", vfs, STORE_SQLITE_PAGES).at
				   : page_vfs_name());
	require(self->path != NULL && (vfs == NULL || self->vfs != NULL) &&
		self->pages_vfs != NULL);
	if (!store_sqlite_setup(self, error)) {
		store_sqlite_close(&self->base);
		return false;
	}
	sqlite3_wal_hook(self->database, frames_counted, self);
	store_sqlite_files_remember(self);
	store_sqlite_reserve_make(self);
	*out_store = &self->base;
	return true;
}

const char *store_sqlite_vfs(const struct store *store)
{
	return ((const struct store_sqlite *)store)->vfs;
}

void store_sqlite_set_reserve(struct store *store, size_t bytes)
{
	struct store_sqlite *self = self_of(store);
	self->reserve_bytes = bytes;
	store_sqlite_reserve_make(self);
}

void store_sqlite_set_checkpoint(struct store *store, int frames)
{
	self_of(store)->checkpoint_frames = frames;
}

extern const struct store_backend store_sqlite_backend;

static bool sqlite_open(const char *path, struct store **out_store, struct error *error)
{
	return store_sqlite_open_on(&store_sqlite_backend, NULL, path, out_store, error);
}

const struct store_backend store_sqlite_backend = {
	.name = "sqlite",
	.text = "One SQLite file in the data folder, synced at every commit.",
	.open = sqlite_open,
	.accept_loss = store_sqlite_accept_loss,
	.close = store_sqlite_close,
	.open_reader = store_sqlite_open_reader,
	.close_reader = store_sqlite_close_reader,
};
