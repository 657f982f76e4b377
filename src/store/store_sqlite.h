/* store/store_sqlite.h -- what the files of the SQLite store share; nobody else's.
 *
 * store_sqlite_open.c opens the file and makes its tables, store_sqlite.c commits,
 * store_sqlite_read.c reads, store_sqlite_care.c checks, measures and copies; store_sim.c is the
 * same store on a disk that fails.  Each connection is used by one thread at a time and holds all
 * its statements prepared.
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
	WRITE_RUN_STEPPING,
	WRITE_EVENT,
	WRITE_BLOB,
	WRITE_EFFECT_OPEN,
	WRITE_EFFECT_CLOSE,
	WRITES
};

struct store_sqlite {
	struct store base;
	char *path;
	char *vfs; /* NULL = the system's */
	sqlite3 *database;
	sqlite3_stmt *statements[WRITES];
	int checkpoint_frames;   /* the WAL may grow by so many */
	int64_t position;        /* of the newest committed event */
	int frames;              /* in the WAL, as the last commit left it */
	int frames_checkpointed; /* when the last checkpoint ran; 0: none since the reset */
	bool broken;             /* nothing is written any more */
	atomic_bool damaged;     /* a reader has met what nobody wrote */
	struct error breakage;   /* why */
	_Atomic uint64_t commits, events, appends, conflicts, refusals;
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
	READ_NEWEST,
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
/* The store with other ops, on another VFS (NULL = the system's). */
bool store_sqlite_open_on(const struct store_ops *ops, const char *vfs, const char *path,
			  struct store **out_store, struct error *error);
void store_sqlite_close(struct store *store);
bool store_sqlite_commit(struct store *store, struct store_append *const *appends, size_t count,
			 struct error *error);
struct store_stats store_sqlite_stats(const struct store *store);

/* Is this the disk's way to say that there is no room? */
bool store_sqlite_is_full(sqlite3 *database);

/* Fills `error` with what the connection says, the path and what a person can do. */
bool store_sqlite_fail(sqlite3 *database, const char *path, const char *doing, struct error *error);
bool store_sqlite_prepare(sqlite3 *database, const char *path, const char *const *texts,
			  size_t count, sqlite3_stmt **out_statements, struct error *error);
void store_sqlite_finalize(sqlite3_stmt **statements, size_t count);

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
bool store_sqlite_list_runs(struct store_reader *reader, const struct uuid *before, size_t limit,
			    struct arena *arena, struct store_run_page *out_page,
			    struct error *error);
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

/* Care. */
bool store_sqlite_measure(struct store_reader *reader, struct store_size *out_size,
			  struct error *error);
bool store_sqlite_check(struct store_reader *reader, struct arena *arena,
			struct store_check *out_check, struct error *error);
bool store_sqlite_backup(struct store_reader *reader, const char *path, int64_t *out_bytes,
			 struct error *error);
bool store_sqlite_vacuum(struct store *store, struct error *error);

/* Every op but open and close. */
#define STORE_SQLITE_OPS                                                                      \
	.commit = store_sqlite_commit, .stats = store_sqlite_stats,                           \
	.reader_open = store_sqlite_reader_open, .reader_close = store_sqlite_reader_close,   \
	.read_events = store_sqlite_read_events, .read_all = store_sqlite_read_all,           \
	.read_run = store_sqlite_read_run, .list_runs = store_sqlite_list_runs,               \
	.read_blob = store_sqlite_read_blob, .list_effects = store_sqlite_list_effects,       \
	.read_effect = store_sqlite_read_effect, .list_stepping = store_sqlite_list_stepping, \
	.newest_position = store_sqlite_newest_position, .measure = store_sqlite_measure,     \
	.check = store_sqlite_check, .backup = store_sqlite_backup, .vacuum = store_sqlite_vacuum

#endif
