/* store/store_sqlite.h -- what the files of the SQLite store share; nobody else's.
 *
 * store_sqlite_open.c opens the file and makes its tables, store_sqlite.c commits the stream and
 * store_sqlite_beside.c what an append carries beside it, store_sqlite_purge.c takes away,
 * store_sqlite_read.c and store_sqlite_look.c read, store_sqlite_care.c checks, measures and
 * copies; store_sim.c is the same store on a disk that fails.  Each connection is used by one
 * thread at a time and prepares a statement when it is first used.
 */
#ifndef STORE_STORE_SQLITE_H
#define STORE_STORE_SQLITE_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "store/store.h"

enum store_sqlite_write {
	WRITE_BEGIN,
	WRITE_COMMIT,
	WRITE_ROLLBACK,
	WRITE_RUN_FIND,
	WRITE_RUN_INSERT,
	WRITE_RUN_UPDATE,
	WRITE_RUN_LISTED,
	WRITE_RUN_STEPPING,
	WRITE_EVENT,
	WRITE_EFFECT_OPEN,
	WRITE_EFFECT_CLOSE,
	WRITE_OWNER,
	WRITE_OWN,
	WRITE_NAME_FIND,
	WRITE_NAME_INSERT,
	WRITE_NAME_USE,
	WRITE_NAME_DROP,
	WRITE_BLOB_INSERT,
	WRITE_DEAD_INSERT,
	WRITE_TALLY,
	WRITE_SNAPSHOT,
	WRITE_SNAPSHOT_OLD,
	WRITE_SNAPSHOT_DELETE,
	WRITE_SNAPSHOT_NEWEST,
	WRITE_FLOOR,
	WRITE_PURGE,
	WRITE_DOCUMENT_FIND,
	WRITE_DOCUMENT,
	WRITE_DOCUMENT_AGAIN,
	WRITE_COUNTER_FIND,
	WRITE_COUNTER,
	WRITE_REQUEST_FIND,
	WRITE_REQUEST,
	WRITE_PURGE_NEXT,
	WRITE_PURGE_EVENTS,
	WRITE_PURGE_STEP,
	WRITE_PURGE_DONE,
	WRITE_EVENT_DELETE,
	WRITE_DEAD_NEXT,
	WRITE_DEAD_DELETE,
	WRITE_NAME_DELETE,
	WRITE_BLOB_DELETE,
	WRITE_REQUESTS_DELETE,
	WRITE_FORGET,
	WRITE_EVENT_NEWEST,
	WRITE_EFFECTS_CLOSE,
	WRITES
};

/* The SQL of every one of them; store_sqlite_texts.c. */
extern const char *const store_sqlite_writes[WRITES];

#define STORE_SQLITE_PAGES "-pages"

enum { STORE_SQLITE_STATE = 24, STORE_SQLITE_NAME = 64, STORE_SQLITE_KNOWN = 1024 };

/* A run's row as far as an append asks for it; store_sqlite_known.c keeps some. */
struct store_sqlite_run_row {
	struct uuid id;
	bool there, stepping;
	int64_t key, seq, floor, created_at, ended_at;
	struct str state, name;
};

/* One that is kept; one with a longer state or name is not. */
struct store_sqlite_known_row {
	struct store_sqlite_run_row row;
	char state[STORE_SQLITE_STATE], name[STORE_SQLITE_NAME];
	uint64_t era; /* rows of an earlier one count for nothing */
};

struct store_sqlite {
	struct store base;
	char *path;
	char *vfs;       /* NULL = the system's */
	char *pages_vfs; /* the one over it that keeps checksums */
	sqlite3 *database;
	sqlite3_stmt *statements[WRITES];
	int checkpoint_frames; /* the WAL may grow by so many */
	int64_t position;      /* of the newest committed event */
	int64_t owner;         /* our epoch, once `owns` */
	bool owns;             /* else there was no room yet to say so */
	struct arena scratch;  /* of one append */
	struct store_sqlite_known_row known[STORE_SQLITE_KNOWN];
	uint64_t known_era;
	int frames;              /* in the WAL, as the last commit left it */
	int frames_checkpointed; /* when the last checkpoint ran; 0: none since the reset */
	bool empty_wal;          /* what is in it should not stay there */
	size_t reserve_bytes;    /* as it should be; 0 = none */
	size_t reserve;          /* as it is */
	uint64_t reserve_wait;   /* commits until it is tried again to make it whole */
	uint64_t reserve_waited;
	bool broken;           /* nothing is written any more */
	atomic_bool damaged;   /* a reader has met what nobody wrote */
	struct error breakage; /* why */
	uint64_t lost_commits; /* found at the opening */
	_Atomic uint64_t commits, events, appends, conflicts, refusals, purged, wal_bytes;
};

enum store_sqlite_read {
	READ_EVENTS,
	READ_ALL,
	READ_RUN,
	READ_RUNS,
	READ_STEPPING,
	READ_BLOB,
	READ_EFFECT,
	READ_EFFECTS,
	READ_EFFECTS_WAITING,
	READ_NEWEST,
	READ_SNAPSHOT,
	READ_DUE,
	READ_DOCUMENT,
	READ_DOCUMENTS,
	READ_REQUEST,
	READ_GUARD,
	READ_STATES,
	READ_TALLIES,
	READ_STATES_OF,
	READ_KEY,
	READ_KEYS_OF_STATE,
	READ_KEYS_OF_NAME,
	READ_RUN_OF_KEY,
	READ_WAITING,
	READ_OLD,
	READS
};

struct store_sqlite_reader {
	struct store_reader base;
	struct store_sqlite *writer;
	char *path;
	sqlite3 *database;
	sqlite3_stmt *statements[READS];
};

/* Opens the file, makes the tables of a new one, and gets the connection that writes ready; the
 * store's own fields are set, the rest is filled. */
bool store_sqlite_setup(struct store_sqlite *self, struct error *error);
/* Their parts, for store_sqlite_upgrade.c. */
bool store_sqlite_connect(struct store_sqlite *self, const char *vfs, struct error *error);
void store_sqlite_disconnect(struct store_sqlite *self);
bool store_sqlite_wal_enter(struct store_sqlite *self, struct error *error);
bool store_sqlite_execute(struct store_sqlite *self, const char *sql, const char *doing,
			  struct error *error);
bool store_sqlite_number(struct store_sqlite *self, const char *sql, int64_t *out_number,
			 struct error *error);
/* Gives every page of an older file its checksum; the connection is a plain one, and is closed. */
bool store_sqlite_adopt(struct store_sqlite *self, struct error *error);
/* Brings the tables from this version to ours, a step at a time. */
bool store_sqlite_upgrade(struct store_sqlite *self, int64_t version, struct error *error);
/* The store with other ops, on another VFS (NULL = the system's); beside it there is one with
 * STORE_SQLITE_PAGES behind its name. */
bool store_sqlite_open_on(const struct store_ops *ops, const char *vfs, const char *path,
			  struct store **out_store, struct error *error);
void store_sqlite_close(struct store *store);
bool store_sqlite_commit(struct store *store, struct store_append *const *appends, size_t count,
			 struct error *error);
struct store_stats store_sqlite_stats(const struct store *store);

/* The reserve: a file beside the database that takes room for bad times.  make() does what it can
 * and fails silently; spend() gives a slice of it back to the disk, false when nothing is left.
 * Both on the writer's thread. */
void store_sqlite_reserve_make(struct store_sqlite *self);
bool store_sqlite_reserve_spend(struct store_sqlite *self);
/* A commit has found room: is it time to make the reserve whole again? */
void store_sqlite_reserve_mend(struct store_sqlite *self);

/* Is this the disk's way to say that there is no room? */
bool store_sqlite_is_full(sqlite3 *database);
/* Did the last call meet bytes that nobody wrote? */
bool store_sqlite_is_damaged(sqlite3 *database);

/* Fills `error` with what the connection says, the path and what a person can do. */
bool store_sqlite_fail(sqlite3 *database, const char *path, const char *doing, struct error *error);
/* The statement, prepared when it is first used; NULL when that fails, which a bind and with it
 * store_sqlite_run() then tell. */
sqlite3_stmt *store_sqlite_prepared(sqlite3 *database, sqlite3_stmt **statement, const char *text);
sqlite3_stmt *store_sqlite_statement(struct store_sqlite *self, enum store_sqlite_write which);
sqlite3_stmt *store_sqlite_asking(struct store_sqlite_reader *self, enum store_sqlite_read which);
void store_sqlite_finalize(sqlite3_stmt **statements, size_t count);

/* ---- writing, for the files that do ----------------------------------------------------- */

/* The row as this connection left it, or NULL: then the file must be asked. */
const struct store_sqlite_run_row *store_sqlite_known(struct store_sqlite *self,
						      const struct uuid *id);
void store_sqlite_know(struct store_sqlite *self, const struct store_sqlite_run_row *row);
void store_sqlite_known_clear(struct store_sqlite *self);

/* Runs a statement that gives no rows.  `bound` is the sum of the binds' result codes. */
bool store_sqlite_run(struct store_sqlite *self, enum store_sqlite_write which, int bound,
		      const char *doing, struct error *error);
/* Takes one row of a statement, which stays open for its columns until store_sqlite_over(). */
bool store_sqlite_first(struct store_sqlite *self, enum store_sqlite_write which, int bound,
			const char *doing, bool *out_found, struct error *error);
void store_sqlite_over(struct store_sqlite *self, enum store_sqlite_write which);
/* A transaction of ours: begun only while the store is whole and its owner is who opened it.
 * end() commits or, when `good` is false, rolls back; then the store is at its end, unless there
 * was merely no room. */
bool store_sqlite_begin(struct store_sqlite *self, struct error *error);
bool store_sqlite_end(struct store_sqlite *self, bool good, struct error *error);
void store_sqlite_latch(struct store_sqlite *self, const struct error *error);
/* A log that has lost acknowledged commits is kept beside the database under its name and this. */
#define STORE_SQLITE_DAMAGED "-wal.damaged"
/* How many at least; reads the log of a file that nobody has open. */
uint64_t store_sqlite_log_lost(const char *path);
/* Moves the WAL into the database when it has grown enough. */
void store_sqlite_checkpoint(struct store_sqlite *self);
/* Moves it, and empties it when that is wanted, as far as readers and the disk let it; false: it
 * went wrong. */
bool store_sqlite_checkpoint_now(struct store_sqlite *self);
/* The run's row anew, at the seq of its newest event. */
bool store_sqlite_row_rebuild(struct store_sqlite *self, const struct store_run *row,
			      int64_t *out_key, struct error *error);
bool store_sqlite_effects_open(struct store_sqlite *self, int64_t key,
			       const struct store_effect *opened, size_t count,
			       struct error *error);

/* Beside the stream: the append is looked at before anything is written, and then written. */
bool store_sqlite_beside_admit(struct store_sqlite *self, struct store_append *append,
			       bool *out_admitted, struct error *error);
/* Its request is known: that comes before everything else. */
bool store_sqlite_repeats(struct store_sqlite *self, struct store_append *append, bool *out_repeats,
			  struct error *error);
bool store_sqlite_beside_write(struct store_sqlite *self, const struct store_append *append,
			       int64_t key, int64_t floor, struct error *error);
bool store_sqlite_values_write(struct store_sqlite *self, const struct store_append *append,
			       struct error *error);
/* Counts one use more of each of the values and packs their keys; *out_keys is "" for none. */
bool store_sqlite_names_use(struct store_sqlite *self, const struct hash *names, size_t count,
			    struct str *out_keys, struct error *error);
/* One use less of each. */
bool store_sqlite_names_drop(struct store_sqlite *self, struct str keys, struct error *error);
int store_sqlite_bind_keys(sqlite3_stmt *statement, int index, struct str keys);

/* SQL functions of ours: name_count(names), name_at(names, i from 0). */
int store_sqlite_functions(sqlite3 *database);

/* ---- reading, for the files that do ----------------------------------------------------- */

/* Takes one row out of the statement; false when it has not the shape we wrote. */
typedef bool store_sqlite_take(sqlite3_stmt *statement, struct arena *arena, void *out_item);

/* The statement whose parameters are bound, and where its rows go. */
struct store_sqlite_reading {
	struct store_sqlite_reader *self;
	enum store_sqlite_read which;
	int bound; /* the binds' result codes together */
	store_sqlite_take *take;
	size_t item_size;
	size_t limit;
};

extern const char *const store_sqlite_reads[READS];
bool store_sqlite_read_rows(const struct store_sqlite_reading *reading, struct arena *arena,
			    void **out_items, size_t *out_count, struct error *error);
/* Into a page; all of them are where their items lie and how many these are. */
bool store_sqlite_read_page(const struct store_sqlite_reading *reading, struct arena *arena,
			    void *out_page, struct error *error);
bool store_sqlite_read_one(const struct store_sqlite_reading *reading, struct arena *arena,
			   void *out_item, bool *out_found, struct error *error);
bool store_sqlite_take_run(sqlite3_stmt *statement, struct arena *arena, void *out_item);
/* Says that a row is not what was written; false. */
bool store_sqlite_damaged(const struct store_sqlite_reader *self, struct error *error);
/* What is read in between is of one moment. */
bool store_sqlite_moment_begin(struct store_sqlite_reader *self, struct error *error);
void store_sqlite_moment_end(struct store_sqlite_reader *self);
bool store_sqlite_take_effect(sqlite3_stmt *statement, struct arena *arena, void *out_item);
struct str store_sqlite_column(sqlite3_stmt *statement, int index, struct arena *arena);
bool store_sqlite_column_bytes(sqlite3_stmt *statement, int index, void *out, size_t size);
int store_sqlite_bind_limit(sqlite3_stmt *statement, int index, size_t limit);
int store_sqlite_bind_uuid(sqlite3_stmt *statement, int index, const struct uuid *uuid);
/* Every id is greater than no bytes at all. */
int store_sqlite_bind_after(sqlite3_stmt *statement, int index, const struct uuid *after);

/* These answer SQLite's result code.  The bytes must live until the statement has been reset. */
int store_sqlite_bind_text(sqlite3_stmt *statement, int index, struct str text);
int store_sqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, size_t size);

/* The reading half of the ops. */
bool store_sqlite_reader_open(struct store *store, struct store_reader **out_reader,
			      struct error *error);
void store_sqlite_reader_close(struct store_reader *reader);
bool store_sqlite_read_events(struct store_reader *reader, const struct uuid *run, int64_t after,
			      size_t limit, struct arena *arena, struct store_event_page *out_page,
			      struct error *error);
bool store_sqlite_read_all(struct store_reader *reader, int64_t after, size_t limit,
			   struct arena *arena, struct store_event_page *out_page,
			   struct error *error);
bool store_sqlite_read_run(struct store_reader *reader, const struct uuid *run, struct arena *arena,
			   struct store_run *out_run, bool *out_found, struct error *error);
bool store_sqlite_list_runs(struct store_reader *reader, const struct store_run_filter *only,
			    const struct uuid *before, size_t limit, struct arena *arena,
			    struct store_run_page *out_page, struct error *error);
bool store_sqlite_tally_runs(struct store_reader *reader, struct arena *arena,
			     struct store_tallies *out_tallies, struct error *error);
bool store_sqlite_read_blob(struct store_reader *reader, const struct hash *hash,
			    struct arena *arena, struct str *out_bytes, bool *out_found,
			    struct error *error);
bool store_sqlite_list_effects(struct store_reader *reader, struct str kind,
			       const struct uuid *after, size_t limit, struct arena *arena,
			       struct store_effect_page *out_page, struct error *error);
bool store_sqlite_read_effect(struct store_reader *reader, const struct uuid *effect,
			      struct arena *arena, struct store_effect *out_effect, bool *out_found,
			      struct error *error);
bool store_sqlite_list_stepping(struct store_reader *reader, const struct uuid *after, size_t limit,
				struct arena *arena, struct store_run_page *out_page,
				struct error *error);
int64_t store_sqlite_newest_position(struct store_reader *reader);
bool store_sqlite_read_snapshot(struct store_reader *reader, const struct uuid *run, int64_t at,
				struct arena *arena, struct store_snapshot *out_snapshot,
				bool *out_found, struct error *error);
bool store_sqlite_list_due(struct store_reader *reader, int64_t after, int64_t until, size_t limit,
			   struct arena *arena, struct store_effect_page *out_page,
			   struct error *error);
bool store_sqlite_read_document(struct store_reader *reader, struct str kind, struct str name,
				struct arena *arena, struct store_document *out_document,
				bool *out_found, struct error *error);
bool store_sqlite_list_documents(struct store_reader *reader, struct str kind, struct str after,
				 size_t limit, struct arena *arena,
				 struct store_document_page *out_page, struct error *error);
bool store_sqlite_read_request(struct store_reader *reader, struct str key, struct arena *arena,
			       struct store_request *out_request, bool *out_found,
			       struct error *error);
bool store_sqlite_read_guard(struct store_reader *reader, struct str name, int64_t *out_value,
			     struct error *error);
bool store_sqlite_count_waiting(struct store_reader *reader, struct arena *arena,
				struct store_state_counts *out_counts, struct error *error);
bool store_sqlite_count_states(struct store_reader *reader, struct arena *arena,
			       struct store_state_counts *out_counts, struct error *error);
bool store_sqlite_list_old(struct store_reader *reader, int64_t ended_before, int64_t most_events,
			   const struct uuid *after, size_t limit, struct arena *arena,
			   struct store_old_runs *out_runs, struct error *error);

/* Care. */
bool store_sqlite_measure(struct store_reader *reader, struct store_size *out_size,
			  struct error *error);
bool store_sqlite_check(struct store_reader *reader, struct arena *arena,
			struct store_check *out_check, struct error *error);
bool store_sqlite_backup(struct store_reader *reader, const char *path, int64_t *out_bytes,
			 struct error *error);
bool store_sqlite_vacuum(struct store *store, struct error *error);
bool store_sqlite_purge(struct store *store, size_t limit, const struct store_deadline *deadline,
			bool *out_more, struct error *error);
bool store_sqlite_forget(struct store *store, int64_t before, struct error *error);
bool store_sqlite_rebuild_run(struct store *store, const struct store_run *run,
			      const struct store_effect *open, size_t open_count,
			      struct error *error);
bool store_sqlite_rebuild_end(struct store *store, struct error *error);
bool store_sqlite_rebuild_documents(struct store *store, int64_t seq,
				    const struct store_document *documents, size_t count,
				    bool *out_current, struct error *error);

/* Every op but open and close. */
#define STORE_SQLITE_OPS                                                                           \
	.commit = store_sqlite_commit, .stats = store_sqlite_stats,                                \
	.reader_open = store_sqlite_reader_open, .reader_close = store_sqlite_reader_close,        \
	.read_events = store_sqlite_read_events, .read_all = store_sqlite_read_all,                \
	.read_run = store_sqlite_read_run, .list_runs = store_sqlite_list_runs,                    \
	.read_blob = store_sqlite_read_blob, .list_effects = store_sqlite_list_effects,            \
	.read_effect = store_sqlite_read_effect, .list_stepping = store_sqlite_list_stepping,      \
	.newest_position = store_sqlite_newest_position,                                           \
	.read_snapshot = store_sqlite_read_snapshot, .list_due = store_sqlite_list_due,            \
	.read_document = store_sqlite_read_document,                                               \
	.list_documents = store_sqlite_list_documents, .read_request = store_sqlite_read_request,  \
	.read_guard = store_sqlite_read_guard, .count_states = store_sqlite_count_states,          \
	.tally_runs = store_sqlite_tally_runs, .count_waiting = store_sqlite_count_waiting,        \
	.list_old = store_sqlite_list_old, .measure = store_sqlite_measure,                        \
	.check = store_sqlite_check, .backup = store_sqlite_backup, .vacuum = store_sqlite_vacuum, \
	.purge = store_sqlite_purge, .forget = store_sqlite_forget,                                \
	.rebuild_run = store_sqlite_rebuild_run, .rebuild_end = store_sqlite_rebuild_end,          \
	.rebuild_documents = store_sqlite_rebuild_documents

#endif
