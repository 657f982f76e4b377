/* store/store_sqlite_schema.h -- the file's layout and the settings of its connections.
 *
 * Private to the SQLite store; bench/floor.c includes it too, so that the floor is measured on
 * the very same tables and settings.
 *
 * runs       An integer key stands for the 16-byte id in every other table: 242 instead of 320
 *            bytes an event.  `runs_stepping` holds only the few runs that recovery must find.
 *            The system stream has key 0, which no list shows.
 * events     `position` is the rowid, so that appending is writing at the end of one tree.  `names`
 *            are the keys of the values that the body names, 8 bytes each, the smallest first, so
 *            that deleting needs no look into a body; NULL when it names none.
 * marks      highest_deleted: the highest position that was ever deleted.  The writer counts
 *            positions itself, from the greater of this and what is in `events`.  AUTOINCREMENT
 *            would promise the same but writes one page more in every commit; the trigger costs
 *            nothing until something is deleted, and no deleter can forget it.
 *            owner: the epoch of whoever opened the file last.
 *            forgotten: requests older than this are no longer known.
 * names      How many events and snapshots name a value.  Apart from the value, because a row is
 *            rewritten whole, and a value may be a megabyte.
 * blobs      The values; `hash` again, to find the way back from a key.
 * dead       Values that nobody names any more; purge() takes them, if it is still so.
 * purges     Runs with events below their floor that are still on the disk: [next, upto).
 * effects    Only the open ones.  `effects_due` holds what is due, `effects_waiting` what waits for
 *            a person, a time or its turn: of these there may be very many.  Calls are few at any
 *            time, and an index over them would be paid for by every step.
 * waiting    How many of these there are.
 * documents  A deleted one stays as a row without a body, so that its revisions go on.
 * tallies    How many runs of a name are in a state, and what those that have ended took: one page
 *            more only in a commit that changes a state.
 */
#ifndef STORE_STORE_SQLITE_SCHEMA_H
#define STORE_STORE_SQLITE_SCHEMA_H

#define STORE_SQLITE_TEXT_OF(number) #number
#define STORE_SQLITE_TEXT(number)    STORE_SQLITE_TEXT_OF(number)

#define STORE_SQLITE_APPLICATION_ID 1113683055 /* "Bato" */
#define STORE_SQLITE_VERSION        4

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

/* What SQLite puts aside meanwhile is as large as the file, too much for memory. */
#define STORE_SQLITE_VACUUM "PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;"

/* The tables that version 2 has made or made anew; the upgrade makes the same. */
#define STORE_SQLITE_RUNS                    \
	"CREATE TABLE runs ("                \
	" key INTEGER PRIMARY KEY,"          \
	" id BLOB NOT NULL UNIQUE,"          \
	" name TEXT NOT NULL,"               \
	" state TEXT NOT NULL,"              \
	" stepping INTEGER NOT NULL,"        \
	" created_at INTEGER NOT NULL,"      \
	" updated_at INTEGER NOT NULL,"      \
	" ended_at INTEGER NOT NULL,"        \
	" seq INTEGER NOT NULL,"             \
	" floor INTEGER NOT NULL DEFAULT 0," \
	" summary TEXT NOT NULL);"           \
	"CREATE INDEX runs_stepping ON runs (id) WHERE stepping;"

#define STORE_SQLITE_EVENTS                                          \
	"CREATE TABLE events ("                                      \
	" position INTEGER PRIMARY KEY,"                             \
	" run INTEGER NOT NULL,"                                     \
	" seq INTEGER NOT NULL,"                                     \
	" at INTEGER NOT NULL,"                                      \
	" kept INTEGER NOT NULL DEFAULT 0,"                          \
	" type TEXT NOT NULL,"                                       \
	" names BLOB,"                                               \
	" body TEXT NOT NULL,"                                       \
	" UNIQUE (run, seq));"                                       \
	"CREATE TRIGGER events_deleted AFTER DELETE ON events BEGIN" \
	" UPDATE marks SET value = OLD.position"                     \
	" WHERE name = 'highest_deleted' AND value < OLD.position;"  \
	"END;"

#define STORE_SQLITE_VALUES                      \
	"CREATE TABLE names ("                   \
	" hash BLOB PRIMARY KEY,"                \
	" blob INTEGER NOT NULL,"                \
	" uses INTEGER NOT NULL) WITHOUT ROWID;" \
	"CREATE TABLE blobs ("                   \
	" key INTEGER PRIMARY KEY,"              \
	" hash BLOB NOT NULL,"                   \
	" bytes BLOB NOT NULL);"                 \
	"CREATE TABLE dead (blob INTEGER PRIMARY KEY);"

/* Kinds of effects of which there may be a million, since nothing is in memory for them; said once,
 * with what stands between two of them. */
#define STORE_SQLITE_WAITING_KINDS(KIND, BETWEEN) \
	KIND("human") BETWEEN KIND("timer") BETWEEN KIND("retry") BETWEEN KIND("queue")
#define STORE_SQLITE_QUOTED(kind)   "'" kind "'"
#define STORE_SQLITE_NONE_YET(kind) "('" kind "', 0)"

/* SQLite takes the index for a question that has this very term. */
#define STORE_SQLITE_WAITS "kind IN (" STORE_SQLITE_WAITING_KINDS(STORE_SQLITE_QUOTED, ", ") ")"

#define STORE_SQLITE_NONE_WAITS \
	"INSERT INTO waiting VALUES " STORE_SQLITE_WAITING_KINDS(STORE_SQLITE_NONE_YET, ", ") ";"

/* Since version 4, when the index got `queue`: which effects wait, and how many.  Triggers count,
 * so that nobody who opens or closes one can forget it. */
#define STORE_SQLITE_WAITING                                                                 \
	"CREATE INDEX effects_waiting ON effects (kind) WHERE " STORE_SQLITE_WAITS ";"       \
	"CREATE TABLE waiting ("                                                             \
	" kind TEXT PRIMARY KEY,"                                                            \
	" effects INTEGER NOT NULL) WITHOUT ROWID;" STORE_SQLITE_NONE_WAITS                  \
	"CREATE TRIGGER effects_opened AFTER INSERT ON effects WHEN NEW." STORE_SQLITE_WAITS \
	" BEGIN UPDATE waiting SET effects = effects + 1 WHERE kind = NEW.kind; END;"        \
	"CREATE TRIGGER effects_closed AFTER DELETE ON effects WHEN OLD." STORE_SQLITE_WAITS \
	" BEGIN UPDATE waiting SET effects = effects - 1 WHERE kind = OLD.kind; END;"        \
	"CREATE TRIGGER effects_changed AFTER UPDATE OF kind ON effects"                     \
	" WHEN OLD.kind <> NEW.kind BEGIN"                                                   \
	" UPDATE waiting SET effects = effects - 1 WHERE kind = OLD.kind;"                   \
	" UPDATE waiting SET effects = effects + 1 WHERE kind = NEW.kind; END;"

#define STORE_SQLITE_COUNT_WAITING                                   \
	"UPDATE waiting SET effects = (SELECT count(*) FROM effects" \
	"                              WHERE effects.kind = waiting.kind);"

/* Since version 4: which runs there are of a name and in a state, and how many.  Nothing that
 * writes a run's row names these columns unless it changes them: SQLite would write the indexes
 * anew. */
#define STORE_SQLITE_LISTED                             \
	"CREATE INDEX runs_state ON runs (state);"      \
	"CREATE INDEX runs_name ON runs (name, state);" \
	"CREATE TABLE tallies ("                        \
	" name TEXT NOT NULL,"                          \
	" state TEXT NOT NULL,"                         \
	" runs INTEGER NOT NULL,"                       \
	" ended INTEGER NOT NULL,"                      \
	" took INTEGER NOT NULL,"                       \
	" PRIMARY KEY (name, state)) WITHOUT ROWID;"

/* For who only writes a journal. */
#define STORE_SQLITE_UNLISTED "DROP INDEX runs_state; DROP INDEX runs_name; DROP TABLE tallies;"

/* What `tallies` has to say. */
#define STORE_SQLITE_TALLY                                                           \
	"SELECT name, state, count(*) AS runs, count(nullif(ended_at, 0)) AS ended," \
	" sum(iif(ended_at > 0, ended_at - created_at, 0)) AS took"                  \
	" FROM runs WHERE key > 0 GROUP BY name, state"

#define STORE_SQLITE_BESIDE                                              \
	"CREATE INDEX effects_due ON effects (due_at) WHERE due_at > 0;" \
	"CREATE TABLE snapshots ("                                       \
	" run INTEGER NOT NULL,"                                         \
	" seq INTEGER NOT NULL,"                                         \
	" names BLOB,"                                                   \
	" body TEXT NOT NULL,"                                           \
	" PRIMARY KEY (run, seq)) WITHOUT ROWID;"                        \
	"CREATE TABLE purges ("                                          \
	" run INTEGER PRIMARY KEY,"                                      \
	" next INTEGER NOT NULL,"                                        \
	" upto INTEGER NOT NULL);"                                       \
	"CREATE TABLE documents ("                                       \
	" kind TEXT NOT NULL,"                                           \
	" name TEXT NOT NULL,"                                           \
	" revision INTEGER NOT NULL,"                                    \
	" changed_at INTEGER NOT NULL,"                                  \
	" body TEXT NOT NULL,"                                           \
	" PRIMARY KEY (kind, name)) WITHOUT ROWID;"                      \
	"CREATE TABLE counters ("                                        \
	" name TEXT PRIMARY KEY,"                                        \
	" value INTEGER NOT NULL) WITHOUT ROWID;"                        \
	"CREATE TABLE requests ("                                        \
	" key TEXT PRIMARY KEY,"                                         \
	" said BLOB NOT NULL,"                                           \
	" subject BLOB NOT NULL,"                                        \
	" at INTEGER NOT NULL) WITHOUT ROWID;"                           \
	"CREATE INDEX requests_at ON requests (at);"                     \
	"INSERT INTO marks VALUES ('owner', 0), ('forgotten', 0);"

#define STORE_SQLITE_SCHEMA                                                                        \
	STORE_SQLITE_RUNS                                                                          \
	"CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"        \
	"INSERT INTO marks VALUES ('highest_deleted', 0);" STORE_SQLITE_EVENTS STORE_SQLITE_VALUES \
	"CREATE TABLE effects ("                                                                   \
	" id BLOB PRIMARY KEY,"                                                                    \
	" run INTEGER NOT NULL,"                                                                   \
	" kind TEXT NOT NULL,"                                                                     \
	" due_at INTEGER NOT NULL,"                                                                \
	" body TEXT NOT NULL) WITHOUT ROWID;" STORE_SQLITE_BESIDE STORE_SQLITE_WAITING             \
		STORE_SQLITE_LISTED "PRAGMA application_id = " STORE_SQLITE_TEXT(                  \
			STORE_SQLITE_APPLICATION_ID) ";"                                           \
						     "PRAGMA user_version = " STORE_SQLITE_TEXT(   \
							     STORE_SQLITE_VERSION) ";"

#define STORE_SQLITE_HIGHEST_POSITION                                 \
	"SELECT max(coalesce((SELECT max(position) FROM events), 0)," \
	"           (SELECT value FROM marks WHERE name = 'highest_deleted'))"

/* Every value that a row names and how many rows do: (blob, uses). */
#define STORE_SQLITE_COUNT_NAMES                                                            \
	"WITH RECURSIVE parts (names, i) AS ("                                              \
	" SELECT names, 0 FROM (SELECT names FROM events WHERE names IS NOT NULL UNION ALL" \
	"                       SELECT names FROM snapshots WHERE names IS NOT NULL)"       \
	" UNION ALL SELECT names, i + 1 FROM parts WHERE i + 1 < name_count(names))"        \
	" SELECT name_at(names, i) AS blob, count(*) AS uses FROM parts GROUP BY 1"

#endif
