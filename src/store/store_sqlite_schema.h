/* store/store_sqlite_schema.h -- the file's layout and the settings of its connections.
 *
 * Private to the SQLite store; bench/floor.c includes it too, so that the floor is measured on
 * the very same tables and settings.
 *
 * runs     An integer key stands for the 16-byte id in every other table: 242 instead of 320
 *          bytes an event.  `runs_stepping` holds only the few runs that recovery must find.
 * events   `position` is the rowid, so that appending is writing at the end of one tree.
 * marks    highest_deleted: the highest position that was ever deleted.  The writer counts
 *          positions itself, from the greater of this and what is in `events`.  AUTOINCREMENT
 *          would promise the same but writes one page more in every commit; the trigger costs
 *          nothing until something is deleted, and no deleter can forget it.
 * blobs    Keyed by hash through an index, so that large values stay out of its pages.
 * effects  Only the open ones.  Walking them for one kind reads all of them once in id order,
 *          page after page, so a second index (paid for by every step) would buy nothing.
 */
#ifndef STORE_STORE_SQLITE_SCHEMA_H
#define STORE_STORE_SQLITE_SCHEMA_H

#define STORE_SQLITE_TEXT_OF(number) #number
#define STORE_SQLITE_TEXT(number)    STORE_SQLITE_TEXT_OF(number)

#define STORE_SQLITE_APPLICATION_ID 1113683055 /* "Bato" */
#define STORE_SQLITE_VERSION        1

/* Every connection.  Only the writer checkpoints, and only when it says so. */
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

#define STORE_SQLITE_SCHEMA                                                                 \
	"CREATE TABLE runs ("                                                               \
	" key INTEGER PRIMARY KEY,"                                                         \
	" id BLOB NOT NULL UNIQUE,"                                                         \
	" name TEXT NOT NULL,"                                                              \
	" state TEXT NOT NULL,"                                                             \
	" stepping INTEGER NOT NULL,"                                                       \
	" created_at INTEGER NOT NULL,"                                                     \
	" updated_at INTEGER NOT NULL,"                                                     \
	" ended_at INTEGER NOT NULL,"                                                       \
	" seq INTEGER NOT NULL,"                                                            \
	" summary TEXT NOT NULL);"                                                          \
	"CREATE INDEX runs_stepping ON runs (id) WHERE stepping;"                           \
	"CREATE TABLE events ("                                                             \
	" position INTEGER PRIMARY KEY,"                                                    \
	" run INTEGER NOT NULL,"                                                            \
	" seq INTEGER NOT NULL,"                                                            \
	" at INTEGER NOT NULL,"                                                             \
	" type TEXT NOT NULL,"                                                              \
	" body TEXT NOT NULL,"                                                              \
	" UNIQUE (run, seq));"                                                              \
	"CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;" \
	"INSERT INTO marks VALUES ('highest_deleted', 0);"                                  \
	"CREATE TRIGGER events_deleted AFTER DELETE ON events BEGIN"                        \
	" UPDATE marks SET value = OLD.position"                                            \
	" WHERE name = 'highest_deleted' AND value < OLD.position;"                         \
	"END;"                                                                              \
	"CREATE TABLE blobs (hash BLOB NOT NULL UNIQUE, bytes BLOB NOT NULL);"              \
	"CREATE TABLE effects ("                                                            \
	" id BLOB PRIMARY KEY,"                                                             \
	" run INTEGER NOT NULL,"                                                            \
	" kind TEXT NOT NULL,"                                                              \
	" due_at INTEGER NOT NULL,"                                                         \
	" body TEXT NOT NULL) WITHOUT ROWID;"                                               \
	"PRAGMA application_id = " STORE_SQLITE_TEXT(                                       \
		STORE_SQLITE_APPLICATION_ID) ";"                                            \
					     "PRAGMA user_version = " STORE_SQLITE_TEXT(    \
						     STORE_SQLITE_VERSION) ";"

#define STORE_SQLITE_HIGHEST_POSITION                                 \
	"SELECT max(coalesce((SELECT max(position) FROM events), 0)," \
	"           (SELECT value FROM marks WHERE name = 'highest_deleted'))"

#endif
