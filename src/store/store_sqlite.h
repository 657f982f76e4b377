/* store/store_sqlite.h -- the SQLite store: its connections, errors and parameters.
 *
 * Private to the SQLite store.  Its parts:
 *
 *   store_sqlite.c               commits: the stream and the run's row
 *   store_sqlite_side_tables.c   commits: values, snapshots, documents, guards, idempotency keys
 *   store_sqlite_row_cache.c     rows of the runs that were written last
 *   store_sqlite_purge.c         deletes what is no longer read; rebuilds projections
 *   store_sqlite_reserve.c       disk space reserved for urgent appends
 *   store_sqlite_read.c          readers: streams, runs, effects, values
 *   store_sqlite_queries.c       readers: snapshots, documents, keys, guards, counts
 *   store_sqlite_run_list.c      readers: lists of runs, filtered by name and state
 *   store_sqlite_usage.c         what turns used: commits and sums
 *   store_sqlite_admin.c         check, measure, backup, vacuum
 *   store_sqlite_connection.c    errors, statements and parameters of any connection
 *   store_sqlite_open.c          opens the file and creates its tables
 *   store_sqlite_upgrade.c       brings an older file to the current version
 *   store_sqlite_wal_scan.c      finds commits that a damaged WAL hides
 *   store_sqlite_mark.c          the file that says what was acknowledged
 *   store_sqlite_lost.c          refuses a folder that has lost files or acknowledged events
 *   store_sqlite_statements.c    every prepared statement; the tables are in _schema.h and _tables.h
 *
 * One thread at a time uses a connection.
 */
#ifndef STORE_STORE_SQLITE_H
#define STORE_STORE_SQLITE_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "os/file.h"
#include "store/store.h"
#include "store/store_sqlite_statements.h"

enum { STORE_SQLITE_STATE = 24, STORE_SQLITE_NAME = 64, STORE_SQLITE_CACHED_ROWS = 1024 };

/* The columns of a run's row that an append needs. */
struct store_sqlite_run_row {
	struct uuid id;
	bool exists, needs_recovery;
	int64_t key, seq, floor, created_at, ended_at;
	struct str state, name;
};

/* A row with a longer state or name is not cached. */
struct store_sqlite_cached_row {
	struct store_sqlite_run_row row;
	char state[STORE_SQLITE_STATE], name[STORE_SQLITE_NAME];
	uint64_t era; /* rows of an earlier era are invalid */
};

/* What was acknowledged (store_sqlite_mark.h). */
struct store_sqlite_mark {
	int64_t database, epoch, position;
	uint8_t salts[8]; /* of the WAL */
	bool accepted;    /* a person goes on without what is missing up to here */
};

struct store_sqlite {
	struct store base;
	char *path;
	char *vfs;       /* NULL = the operating system's */
	char *pages_vfs; /* the VFS on top of it that adds checksums to pages */
	sqlite3 *database;
	sqlite3_stmt *statements[WRITES];
	int checkpoint_frames;   /* checkpoint when the WAL has grown by so many frames */
	int64_t position;        /* of the newest committed event */
	int64_t owner;           /* our epoch, when `owns` */
	bool owns;               /* false: the disk was too full to store our epoch so far */
	int64_t database_id;     /* ties marks to this database; > 0 once it has one */
	sqlite3_file *mark_file; /* NULL = none */
	unsigned mark_slot;      /* the one that is written next */
	bool can_mark;           /* the id is in the database file, not in the WAL alone */
	uint8_t wal_salts[8];
	bool wal_salts_known;
	struct store_sqlite_mark accepted; /* found at opening, when its flag is set */
	bool other_mark;               /* the mark found at opening belongs to another database */
	struct file_identity files[2]; /* the database and its WAL; only on the system's VFS */
	struct arena scratch;          /* reset for every append */
	struct store_sqlite_cached_row row_cache[STORE_SQLITE_CACHED_ROWS];
	uint64_t row_cache_era;
	int frames;              /* in the WAL after the last commit */
	int frames_checkpointed; /* `frames` at the last checkpoint; 0 since the WAL was reset */
	bool empty_wal;          /* the next checkpoint must truncate the WAL */
	size_t reserve_bytes;    /* intended size of the reserve; 0 = none */
	size_t reserve;          /* its current size */
	uint64_t reserve_wait;   /* commits between two attempts to refill it */
	uint64_t reserve_waited; /* commits since the last attempt */
	bool broken;             /* all writes are refused, with `breakage` */
	struct error breakage;
	atomic_bool damaged;   /* a reader has met damage: the next commit breaks the store */
	uint64_t lost_commits; /* acknowledged commits, at least, that open() found missing */
	_Atomic uint64_t commits, events, appends, conflicts, refusals, purged, wal_bytes;
};

struct store_sqlite_reader {
	struct store_reader base;
	struct store_sqlite *writer;
	char *path;
	sqlite3 *database;
	sqlite3_stmt *statements[READS];
};

/* ---- opening ------------------------------------------------------------------------- */

/* Opens the file, creates the tables of a new one, upgrades an older one, and prepares the
 * connection that writes.  `path`, `vfs` and `pages_vfs` are set before the call. */
bool store_sqlite_setup(struct store_sqlite *self, struct error *error);
/* Parts of the setup that an upgrade needs too. */
bool store_sqlite_connect(struct store_sqlite *self, const char *vfs, struct error *error);
void store_sqlite_disconnect(struct store_sqlite *self);
bool store_sqlite_wal_enter(struct store_sqlite *self, struct error *error);
bool store_sqlite_execute_sql(struct store_sqlite *self, const char *sql, const char *doing,
			      struct error *error);
bool store_sqlite_read_number(struct store_sqlite *self, const char *sql, int64_t *out_number,
			      struct error *error);
/* Adds a checksum to every page of a version 1 file and closes the connection. */
bool store_sqlite_add_checksums(struct store_sqlite *self, struct error *error);
/* Brings the tables from `version` to STORE_SQLITE_VERSION, one version at a time. */
bool store_sqlite_upgrade(struct store_sqlite *self, int64_t version, struct error *error);

/* A WAL that hides acknowledged commits is copied to the database's path plus this suffix. */
#define STORE_SQLITE_DAMAGED "-wal.damaged"
/* Returns how many acknowledged commits, at least, the WAL hides.  Nothing may have been written. */
uint64_t store_sqlite_wal_scan(const char *path);

/* Defines the SQL functions name_count(names) and name_at(names, index), index from 0. */
int store_sqlite_functions(sqlite3 *database);

/* ---- errors --------------------------------------------------------------------------- */

/* About the last call on the connection: did it find the disk full, or damage? */
bool store_sqlite_is_full(sqlite3 *database);
bool store_sqlite_is_damaged(sqlite3 *database);
/* Returns false with "PATH: cannot DOING: …" and what the user can do about it. */
bool store_sqlite_fail(sqlite3 *database, const char *path, const char *doing, struct error *error);

/* ---- statements ----------------------------------------------------------------------- */

/* Prepared at the first use.  NULL when that fails: binding to it then fails as well, and
 * executing reports the error. */
sqlite3_stmt *store_sqlite_prepared(sqlite3 *database, sqlite3_stmt **statement, const char *text);
sqlite3_stmt *store_sqlite_write_statement(struct store_sqlite *self,
					   enum store_sqlite_write which);
sqlite3_stmt *store_sqlite_read_statement(struct store_sqlite_reader *self,
					  enum store_sqlite_read which);
void store_sqlite_finalize(sqlite3_stmt **statements, size_t count);

/* These return SQLite's result code.  The bytes must live until the statement is reset. */
int store_sqlite_bind_text(sqlite3_stmt *statement, int index, struct str text);
int store_sqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, size_t size);
int store_sqlite_bind_uuid(sqlite3_stmt *statement, int index, const struct uuid *uuid);
/* NULL binds the empty blob, which is smaller than every id. */
int store_sqlite_bind_after(sqlite3_stmt *statement, int index, const struct uuid *after);
int store_sqlite_bind_limit(sqlite3_stmt *statement, int index, size_t limit);
/* NULL for no keys. */
int store_sqlite_bind_keys(sqlite3_stmt *statement, int index, struct str keys);

struct str store_sqlite_column(sqlite3_stmt *statement, int index, struct arena *arena);
/* False when the column does not have exactly `size` bytes. */
bool store_sqlite_column_bytes(sqlite3_stmt *statement, int index, void *out, size_t size);

#endif
