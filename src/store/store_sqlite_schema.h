/* store/store_sqlite_schema.h -- the schema of the database file and the settings of connections.
 *
 * Private to the SQLite store; bench/ includes it to measure the same tables and settings with plain
 * SQLite.  The tables are described in store_sqlite_tables.h.
 */
#ifndef STORE_STORE_SQLITE_SCHEMA_H
#define STORE_STORE_SQLITE_SCHEMA_H

#include "store/store_sqlite_tables.h"

#define STORE_SQLITE_TEXT_OF(number) #number
#define STORE_SQLITE_TEXT(number)    STORE_SQLITE_TEXT_OF(number)

#define STORE_SQLITE_APPLICATION_ID 1113683055 /* "Bato" */
#define STORE_SQLITE_VERSION        7

/* For every connection.  SQLite never checkpoints by itself; the writer does. */
#define STORE_SQLITE_SETTINGS            \
	"PRAGMA wal_autocheckpoint = 0;" \
	"PRAGMA trusted_schema = OFF;"   \
	"PRAGMA cell_size_check = ON;"   \
	"PRAGMA temp_store = MEMORY;"

#define STORE_SQLITE_WRITER_SETTINGS   \
	"PRAGMA synchronous = FULL;"   \
	"PRAGMA secure_delete = FAST;" \
	"PRAGMA cache_size = -4096;"

#define STORE_SQLITE_READER_SETTINGS \
	"PRAGMA query_only = ON;"    \
	"PRAGMA cache_size = -512;"

/* The temporary database of a VACUUM is as large as the file, too large for memory. */
#define STORE_SQLITE_VACUUM "PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;"

#define STORE_SQLITE_SCHEMA                                                                        \
	STORE_SQLITE_RUNS                                                                          \
	"CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"        \
	"INSERT INTO marks VALUES ('highest_deleted', 0);" STORE_SQLITE_EVENTS STORE_SQLITE_VALUES \
	"CREATE TABLE effects ("                                                                   \
	" id BLOB PRIMARY KEY,"                                                                    \
	" run INTEGER NOT NULL,"                                                                   \
	" kind TEXT NOT NULL,"                                                                     \
	" due_at INTEGER NOT NULL,"                                                                \
	" body TEXT NOT NULL) WITHOUT ROWID;" STORE_SQLITE_SIDE_TABLES STORE_SQLITE_WAITING        \
		STORE_SQLITE_RUN_LISTS STORE_SQLITE_LABELS STORE_SQLITE_USAGE STORE_SQLITE_BUDGETS \
	"PRAGMA application_id = " STORE_SQLITE_TEXT(                                              \
		STORE_SQLITE_APPLICATION_ID) ";"                                                   \
					     "PRAGMA user_version = " STORE_SQLITE_TEXT(           \
						     STORE_SQLITE_VERSION) ";"

#define STORE_SQLITE_HIGHEST_POSITION                                 \
	"SELECT max(coalesce((SELECT max(position) FROM events), 0)," \
	"           (SELECT value FROM marks WHERE name = 'highest_deleted'))"

/* 0 for a database that no Baton with marks has opened, negative for a backup that was not opened
 * yet. */
#define STORE_SQLITE_ID "SELECT coalesce(max(value), 0) FROM marks WHERE name = 'database'"
/* A random number from 1. */
#define STORE_SQLITE_NEW_ID "(random() & 9223372036854775806) + 1"

/* Every value that rows refer to, and the number of these rows: (blob, uses). */
#define STORE_SQLITE_COUNT_NAMES                                                            \
	"WITH RECURSIVE parts (names, i) AS ("                                              \
	" SELECT names, 0 FROM (SELECT names FROM events WHERE names IS NOT NULL UNION ALL" \
	"                       SELECT names FROM snapshots WHERE names IS NOT NULL)"       \
	" UNION ALL SELECT names, i + 1 FROM parts WHERE i + 1 < name_count(names))"        \
	" SELECT name_at(names, i) AS blob, count(*) AS uses FROM parts GROUP BY 1"

#endif
