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
#include "os/failpoint.h"
#include "store/page_vfs.h"

enum { WAL_HEADER = 32, WAL_FRAME = 24 + PAGE_BYTES };

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

bool store_sqlite_is_damaged(sqlite3 *database)
{
	int code = sqlite3_extended_errcode(database);
	return code == SQLITE_IOERR_DATA || (code & 0xff) == SQLITE_CORRUPT ||
	       (code & 0xff) == SQLITE_NOTADB;
}

bool store_sqlite_fail(sqlite3 *database, const char *path, const char *doing, struct error *error)
{
	int code = sqlite3_extended_errcode(database);
	enum error_code kind = store_sqlite_is_full(database) ? ERROR_STORAGE_FULL : ERROR_STORAGE;
	if (code == SQLITE_IOERR_DATA)
		return fail(
			error, kind,
			"%s: cannot %s: page %u is damaged; restore the data folder from a copy",
			path, doing, page_vfs_damage(database));
	return fail(error, kind, "%s: cannot %s: %s (SQLite code %d)%s", path, doing,
		    sqlite3_errmsg(database), code, advice(code));
}

sqlite3_stmt *store_sqlite_prepared(sqlite3 *database, sqlite3_stmt **statement, const char *text)
{
	if (*statement == NULL)
		sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
	return *statement;
}

sqlite3_stmt *store_sqlite_statement(struct store_sqlite *self, enum store_sqlite_write which)
{
	return store_sqlite_prepared(self->database, &self->statements[which],
				     store_sqlite_writes[which]);
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

bool store_sqlite_run(struct store_sqlite *self, enum store_sqlite_write which, int bound,
		      const char *doing, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_statement(self, which);
	if (bound != SQLITE_OK || sqlite3_step(statement) != SQLITE_DONE) {
		store_sqlite_fail(self->database, self->path, doing, error);
		sqlite3_reset(statement);
		return false;
	}
	sqlite3_reset(statement);
	return true;
}

bool store_sqlite_first(struct store_sqlite *self, enum store_sqlite_write which, int bound,
			const char *doing, bool *out_found, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_statement(self, which);
	int step = bound == SQLITE_OK ? sqlite3_step(statement) : bound;
	if (step != SQLITE_ROW && step != SQLITE_DONE) {
		store_sqlite_fail(self->database, self->path, doing, error);
		sqlite3_reset(statement);
		return false;
	}
	*out_found = step == SQLITE_ROW;
	return true;
}

void store_sqlite_over(struct store_sqlite *self, enum store_sqlite_write which)
{
	sqlite3_reset(store_sqlite_statement(self, which));
}

/* ---- a transaction ------------------------------------------------------------------- */

void store_sqlite_latch(struct store_sqlite *self, const struct error *error)
{
	self->broken = true;
	self->breakage = *error;
}

/* Read inside the transaction, so that nobody can have come between. */
static bool owner_check(struct store_sqlite *self, struct error *error)
{
	bool found;
	if (!store_sqlite_first(self, WRITE_OWNER, SQLITE_OK, "read the owner", &found, error))
		return false;
	int64_t owner =
		found ? sqlite3_column_int64(store_sqlite_statement(self, WRITE_OWNER), 0) : -1;
	store_sqlite_over(self, WRITE_OWNER);
	if (owner == self->owner)
		return true;
	return fail(error, ERROR_STORAGE,
		    "%s: another baton has opened the store (epoch %lld, ours is %lld); this one"
		    " writes nothing more, end it",
		    self->path, (long long)owner, (long long)self->owner);
}

static bool begin(struct store_sqlite *self, struct error *error)
{
	if (!self->broken && atomic_load(&self->damaged)) {
		struct error damage;
		fail(&damage, ERROR_STORAGE,
		     "%s: a reader has met damage; restore the data folder from a copy",
		     self->path);
		store_sqlite_latch(self, &damage);
	}
	if (self->broken) {
		*error = self->breakage;
		return false;
	}
	if (store_sqlite_run(self, WRITE_BEGIN, SQLITE_OK, "begin a transaction", error) &&
	    owner_check(self, error) &&
	    (self->owns || store_sqlite_run(self, WRITE_OWN, SQLITE_OK, "become the owner", error)))
		return true;
	return store_sqlite_end(self, false, error);
}

bool store_sqlite_begin(struct store_sqlite *self, struct error *error)
{
	store_sqlite_known_clear(self);
	return begin(self, error);
}

static bool roll_back(struct store_sqlite *self, struct error *error)
{
	struct error other;
	store_sqlite_known_clear(self);
	if (!sqlite3_get_autocommit(self->database) &&
	    !store_sqlite_run(self, WRITE_ROLLBACK, SQLITE_OK, "roll back", &other) &&
	    error->code == ERROR_STORAGE_FULL)
		*error = other;
	if (error->code == ERROR_STORAGE)
		store_sqlite_latch(self, error);
	return false;
}

bool store_sqlite_end(struct store_sqlite *self, bool good, struct error *error)
{
	if (good && store_sqlite_run(self, WRITE_COMMIT, SQLITE_OK, "commit", error)) {
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
	const struct store_sqlite_run_row *known = store_sqlite_known(self, id);
	if (known != NULL) {
		*out_row = *known;
		return true;
	}
	sqlite3_stmt *statement = store_sqlite_statement(self, WRITE_RUN_FIND);
	int bound = store_sqlite_bind_bytes(statement, 1, id->bytes, sizeof(id->bytes));
	*out_row = (struct store_sqlite_run_row){ .id = *id };
	if (!store_sqlite_first(self, WRITE_RUN_FIND, bound, "look for a run", &out_row->there,
				error))
		return false;
	if (out_row->there) {
		out_row->key = sqlite3_column_int64(statement, 0);
		out_row->seq = sqlite3_column_int64(statement, 1);
		out_row->floor = sqlite3_column_int64(statement, 2);
		out_row->stepping = sqlite3_column_int(statement, 3) != 0;
		out_row->created_at = sqlite3_column_int64(statement, 4);
		out_row->ended_at = sqlite3_column_int64(statement, 5);
		out_row->state = store_sqlite_column(statement, 6, &self->scratch);
		out_row->name = store_sqlite_column(statement, 7, &self->scratch);
	}
	store_sqlite_over(self, WRITE_RUN_FIND);
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

/* Counts a run, or with -1 takes it off again. */
static bool tally(struct store_sqlite *self, struct str name, struct str state, int64_t created_at,
		  int64_t ended_at, int change, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_statement(self, WRITE_TALLY);
	int64_t took = ended_at > 0 ? ended_at - created_at : 0;
	int bound = store_sqlite_bind_text(statement, 1, name) |
		    store_sqlite_bind_text(statement, 2, state) |
		    sqlite3_bind_int(statement, 3, change) |
		    sqlite3_bind_int(statement, 4, ended_at > 0 ? change : 0) |
		    sqlite3_bind_int64(statement, 5, took * change);
	return store_sqlite_run(self, WRITE_TALLY, bound, "count a run", error);
}

/* The system stream is key 0, is in no state and needs no recovery. */
static bool row_insert(struct store_sqlite *self, const struct store_run *row, int64_t seq,
		       int64_t *out_key, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_statement(self, WRITE_RUN_INSERT);
	bool system = uuid_is_zero(&row->id);
	int bound =
		(system ? sqlite3_bind_int64(statement, 1, 0) : sqlite3_bind_null(statement, 1)) |
		store_sqlite_bind_bytes(statement, 2, row->id.bytes, sizeof(row->id.bytes)) |
		sqlite3_bind_int(statement, 3, row->stepping && !system) |
		store_sqlite_bind_text(statement, 4, row->name) |
		store_sqlite_bind_text(statement, 5, row->state) | bind_row(statement, row, seq);
	if (!store_sqlite_run(self, WRITE_RUN_INSERT, bound, "write a run", error))
		return false;
	*out_key = system ? 0 : sqlite3_last_insert_rowid(self->database);
	return system ||
	       tally(self, row->name, row->state, row->created_at, row->ended_at, 1, error);
}

/* Its name, its state and how long it took are counted elsewhere, too. */
static bool listing_update(struct store_sqlite *self, const struct store_run *row,
			   const struct store_sqlite_run_row *was, struct error *error)
{
	bool listed = str_equal(row->state, was->state) && str_equal(row->name, was->name);
	if (listed && row->ended_at == was->ended_at && row->created_at == was->created_at)
		return true;
	if (!tally(self, was->name, was->state, was->created_at, was->ended_at, -1, error) ||
	    !tally(self, row->name, row->state, row->created_at, row->ended_at, 1, error))
		return false;
	sqlite3_stmt *update = store_sqlite_statement(self, WRITE_RUN_LISTED);
	return listed || store_sqlite_run(self, WRITE_RUN_LISTED,
					  sqlite3_bind_int64(update, 1, was->key) |
						  store_sqlite_bind_text(update, 2, row->name) |
						  store_sqlite_bind_text(update, 3, row->state),
					  "write a run", error);
}

static bool row_update(struct store_sqlite *self, const struct store_run *row, int64_t seq,
		       const struct store_sqlite_run_row *was, struct error *error)
{
	sqlite3_stmt *update = store_sqlite_statement(self, WRITE_RUN_UPDATE);
	int bound = sqlite3_bind_int64(update, 1, was->key) | bind_row(update, row, seq);
	if (!store_sqlite_run(self, WRITE_RUN_UPDATE, bound, "write a run", error))
		return false;
	if (was->key == 0)
		return true;
	if (!listing_update(self, row, was, error))
		return false;
	if (row->stepping == was->stepping)
		return true;
	sqlite3_stmt *stepping = store_sqlite_statement(self, WRITE_RUN_STEPPING);
	bound = sqlite3_bind_int64(stepping, 1, was->key) |
		sqlite3_bind_int(stepping, 2, row->stepping);
	return store_sqlite_run(self, WRITE_RUN_STEPPING, bound, "write a run", error);
}

/* The newest event tells where the stream is; a stream without any stays where it was. */
bool store_sqlite_row_rebuild(struct store_sqlite *self, const struct store_run *row,
			      int64_t *out_key, struct error *error)
{
	struct store_sqlite_run_row was;
	arena_reset(&self->scratch);
	if (!run_find(self, &row->id, &was, error))
		return false;
	char id[UUID_TEXT_SIZE];
	if (!was.there)
		return fail(error, ERROR_NOT_FOUND, "%s: run " STR_FMT " has no row to be rebuilt",
			    self->path, STR_ARG(uuid_text(&row->id, id)));
	sqlite3_stmt *newest = store_sqlite_statement(self, WRITE_EVENT_NEWEST);
	bool found;
	if (!store_sqlite_first(self, WRITE_EVENT_NEWEST, sqlite3_bind_int64(newest, 1, was.key),
				"look for the newest event", &found, error))
		return false;
	int64_t seq = found ? sqlite3_column_int64(newest, 0) : was.seq;
	store_sqlite_over(self, WRITE_EVENT_NEWEST);
	*out_key = was.key;
	return row_update(self, row, seq, &was, error);
}

static bool events_write(struct store_sqlite *self, const struct store_append *append, int64_t key,
			 int64_t position, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_statement(self, WRITE_EVENT);
	for (size_t i = 0; i < append->event_count; i++) {
		const struct store_event *event = &append->events[i];
		int64_t ordinal = (int64_t)i + 1;
		struct str names;
		if (!store_sqlite_names_use(self, event->names, event->name_count, &names, error))
			return false;
		int bound = sqlite3_bind_int64(statement, 1, position + ordinal) |
			    sqlite3_bind_int64(statement, 2, key) |
			    sqlite3_bind_int64(statement, 3, append->expected_seq + ordinal) |
			    sqlite3_bind_int64(statement, 4, event->at) |
			    sqlite3_bind_int(statement, 5, event->kept) |
			    store_sqlite_bind_text(statement, 6, event->type) |
			    store_sqlite_bind_keys(statement, 7, names) |
			    store_sqlite_bind_text(statement, 8, event->body);
		if (!store_sqlite_run(self, WRITE_EVENT, bound, "write an event", error))
			return false;
	}
	return true;
}

/* Closes before it opens: a new attempt of the same effect keeps its id. */
static bool effects_write(struct store_sqlite *self, const struct store_append *append, int64_t key,
			  struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_statement(self, WRITE_EFFECT_CLOSE);
	for (size_t i = 0; i < append->closed_count; i++) {
		const struct uuid *id = &append->closed[i];
		int bound = store_sqlite_bind_bytes(statement, 1, id->bytes, sizeof(id->bytes));
		if (!store_sqlite_run(self, WRITE_EFFECT_CLOSE, bound, "close an effect", error))
			return false;
	}
	return store_sqlite_effects_open(self, key, append->opened, append->opened_count, error);
}

bool store_sqlite_effects_open(struct store_sqlite *self, int64_t key,
			       const struct store_effect *opened, size_t count, struct error *error)
{
	sqlite3_stmt *statement = store_sqlite_statement(self, WRITE_EFFECT_OPEN);
	for (size_t i = 0; i < count; i++) {
		const struct store_effect *effect = &opened[i];
		int bound = store_sqlite_bind_bytes(statement, 1, effect->id.bytes,
						    sizeof(effect->id.bytes)) |
			    sqlite3_bind_int64(statement, 2, key) |
			    store_sqlite_bind_text(statement, 3, effect->kind) |
			    sqlite3_bind_int64(statement, 4, effect->due_at) |
			    store_sqlite_bind_text(statement, 5, effect->body);
		if (!store_sqlite_run(self, WRITE_EFFECT_OPEN, bound, "open an effect", error))
			return false;
	}
	return true;
}

static bool stream_write(struct store_sqlite *self, struct store_append *append,
			 const struct store_sqlite_run_row *was, int64_t position,
			 struct error *error)
{
	struct store_sqlite_run_row now = *was;
	now.there = true;
	now.seq += (int64_t)append->event_count;
	now.stepping = append->run.stepping && !uuid_is_zero(&append->run.id);
	now.floor = append->floor > was->floor ? append->floor : was->floor;
	now.state = append->run.state;
	now.name = append->run.name;
	now.created_at = append->run.created_at;
	now.ended_at = append->run.ended_at;
	bool written = was->there ? row_update(self, &append->run, now.seq, was, error)
				  : row_insert(self, &append->run, now.seq, &now.key, error);
	if (!written || !store_sqlite_values_write(self, append, error) ||
	    !events_write(self, append, now.key, position, error) ||
	    !effects_write(self, append, now.key, error) ||
	    !store_sqlite_beside_write(self, append, now.key, was->floor, error))
		return false;
	store_sqlite_know(self, &now);
	return true;
}

/* Whether it is refused is known before it writes anything. */
static bool append_admit(struct store_sqlite *self, struct store_append *append,
			 struct store_sqlite_run_row *out_was, struct batch *batch,
			 bool *out_admitted, struct error *error)
{
	bool repeats;
	*out_admitted = false;
	if (!store_sqlite_repeats(self, append, &repeats, error))
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
	if (!store_sqlite_beside_admit(self, append, out_admitted, error))
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
	/* Only refusals: there is nothing that a commit could make durable. */
	if (good && batch->appends == 0)
		return store_sqlite_run(self, WRITE_ROLLBACK, SQLITE_OK, "end a transaction",
					error) ||
		       roll_back(self, error);
	if (good) {
		FAILPOINT("store.before_commit");
		if (FAILPOINT_FULL("store.before_commit"))
			good = fail(error, ERROR_STORAGE_FULL, "%s: there is no room, by order",
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
	if (code == SQLITE_OK && self->empty_wal) {
		self->empty_wal = false;
		self->frames = self->frames_checkpointed = 0;
		self->wal_bytes = 0;
	}
	return code == SQLITE_OK || code == SQLITE_BUSY || store_sqlite_is_full(self->database);
}

/* Moves the WAL into the database when it has grown by LIMIT_STORE_WAL_FRAMES.  Readers may hold
 * it back; then it is tried again only after as many frames more, since every try is an fsync. */
void store_sqlite_checkpoint(struct store_sqlite *self)
{
	if (self->frames < self->frames_checkpointed)
		self->frames_checkpointed = 0;
	if (self->frames - self->frames_checkpointed <= self->checkpoint_frames && !self->empty_wal)
		return;
	FAILPOINT("store.before_checkpoint");
	if (!store_sqlite_checkpoint_now(self)) {
		/* What was committed before is safe in the WAL; nothing more is taken. */
		struct error error;
		store_sqlite_fail(self->database, self->path, "checkpoint", &error);
		store_sqlite_latch(self, &error);
	}
	FAILPOINT("store.after_checkpoint");
}

/* The batch came to nothing: refused when the disk is full, else the end of the store. */
static bool undo(struct store_append *const *appends, size_t count, const struct error *error)
{
	bool full = error->code == ERROR_STORAGE_FULL;
	for (size_t i = 0; i < count; i++)
		appends[i]->outcome = full ? STORE_FULL : STORE_PENDING;
	return full;
}

/* A batch that goes through or comes to nothing. */
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
	store_sqlite_checkpoint(self);
	return true;
}

/* There is no room: what cannot wait is tried alone, as long as the reserve gives room for it. */
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

bool store_sqlite_commit(struct store *store, struct store_append *const *appends, size_t count,
			 struct error *error)
{
	struct store_sqlite *self = self_of(store);
	if (count == 0 && !self->broken)
		return true;
	if (batch_commit(self, appends, count, error)) {
		store_sqlite_reserve_mend(self);
		return true;
	}
	if (!undo(appends, count, error))
		return false;
	self->refusals += 1;
	return urgent_commit(self, appends, count, error);
}

struct store_stats store_sqlite_stats(const struct store *store)
{
	const struct store_sqlite *self = (const struct store_sqlite *)store;
	return (struct store_stats){ .commits = self->commits,
				     .events = self->events,
				     .appends = self->appends,
				     .conflicts = self->conflicts,
				     .refusals = self->refusals,
				     .purged = self->purged,
				     .wal_bytes = self->wal_bytes,
				     .lost_commits = self->lost_commits };
}

void store_sqlite_close(struct store *store)
{
	if (store == NULL)
		return;
	struct store_sqlite *self = self_of(store);
	store_sqlite_finalize(self->statements, WRITES);
	sqlite3_close(self->database);
	arena_done(&self->scratch);
	free(self->path);
	free(self->vfs);
	free(self->pages_vfs);
	free(self);
}

bool store_sqlite_open_on(const struct store_ops *ops, const char *vfs, const char *path,
			  struct store **out_store, struct error *error)
{
	struct store_sqlite *self = calloc(1, sizeof(*self));
	require(self != NULL);
	self->base.ops = ops;
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
	store_sqlite_reserve_make(self);
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
