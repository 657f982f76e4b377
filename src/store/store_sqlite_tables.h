/* store/store_sqlite_tables.h -- the tables of the database file, as macros with SQL.
 *
 * Private to the SQLite store.
 *
 * runs        An integer key replaces the 16-byte id in all other tables: an event takes 242 instead
 *             of 320 bytes.  The index runs_stepping contains only the few runs that need recovery.
 *             The system stream has key 0 and is in no list.
 * events      `position` is the rowid, so that an append writes at the end of one B-tree.  `names`
 *             are the keys of the values that the body refers to, 8 bytes each, in ascending order of
 *             hash; NULL when there are none.  So deleting an event needs no parsing of its body.
 * marks       highest_deleted   the highest position that was ever deleted.  The writer assigns
 *                               positions itself and continues after the greater of this and the
 *                               highest position in `events`.  AUTOINCREMENT would do the same, but
 *                               writes one more page in every commit; the trigger costs nothing until
 *                               an event is deleted.
 *             owner             the epoch of the process that opened the file last.
 *             database          a random number that ties the mark of what was acknowledged to this
 *                               database (store_sqlite_mark.h).  Negative in a backup, which gets a
 *                               number of its own every time it is restored and opened.
 *             forgotten         idempotency keys older than this have expired.
 * names       The number of events and snapshots that refer to a value.  Not in `blobs`, because an
 *             update rewrites a row as a whole, and a value can have a megabyte.
 * blobs       The values; `hash` again, to get from a key to its row in `names`.
 * dead        Values without references; purge() deletes them unless they have references again.
 * purges      Runs with events below their floor that are still stored: [next, upto).
 * effects     Open effects only.  The index effects_due contains those with a due time,
 *             effects_waiting those that wait for a person, a time, admission or money: there may be very
 *             many.  Calls are few at any time, and an index over them would cost every step.
 * waiting     The number of effects in effects_waiting, by kind.
 * snapshots   The newest two of each run.
 * documents   A deleted document keeps its row, without a body, so that its revisions continue.
 * counters    The values of the guards.
 * requests    Idempotency keys.
 * labels      The labels of runs as "name=value", with the state of the run: the index labels_listed
 *             returns the runs with a label and a state, newest first.
 * usage       Tokens and money by day, run, agent, provider and model: absolute values, so that writing
 *             a row twice does no harm.  By day first, because sums are asked for by days.
 * budgets     Money by budget and run: absolute values.  The sums over all runs are in `counters`.
 * tallies     The number of runs by name and state, and the durations of those that have ended: one
 *             more page only in a commit that changes a state.
 */
#ifndef STORE_STORE_SQLITE_TABLES_H
#define STORE_STORE_SQLITE_TABLES_H

#include "store/store_sqlite_budgets.h"

/* Tables that version 2 introduced or changed; the upgrade uses the same macros. */
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

/* The kinds of effects of which there may be a million, because they take no memory.  BETWEEN is the
 * separator. */
#define STORE_SQLITE_WAITING_KINDS(KIND, BETWEEN) \
	KIND("human")                             \
	BETWEEN KIND("timer") BETWEEN KIND("retry") BETWEEN KIND("queue") BETWEEN KIND("budget")
#define STORE_SQLITE_QUOTED(kind)   "'" kind "'"
#define STORE_SQLITE_ZERO_ROW(kind) "('" kind "', 0)"

/* SQLite uses the index effects_waiting only for a query with exactly this term. */
#define STORE_SQLITE_IS_WAITING \
	"kind IN (" STORE_SQLITE_WAITING_KINDS(STORE_SQLITE_QUOTED, ", ") ")"

#define STORE_SQLITE_WAITING_ROWS \
	"INSERT INTO waiting VALUES " STORE_SQLITE_WAITING_KINDS(STORE_SQLITE_ZERO_ROW, ", ") ";"

/* Since version 4: the index of waiting effects and their number.  Triggers count, so that no
 * statement can forget it. */
#define STORE_SQLITE_WAITING                                                                      \
	"CREATE INDEX effects_waiting ON effects (kind) WHERE " STORE_SQLITE_IS_WAITING ";"       \
	"CREATE TABLE waiting ("                                                                  \
	" kind TEXT PRIMARY KEY,"                                                                 \
	" effects INTEGER NOT NULL) WITHOUT ROWID;" STORE_SQLITE_WAITING_ROWS                     \
	"CREATE TRIGGER effects_opened AFTER INSERT ON effects WHEN NEW." STORE_SQLITE_IS_WAITING \
	" BEGIN UPDATE waiting SET effects = effects + 1 WHERE kind = NEW.kind; END;"             \
	"CREATE TRIGGER effects_closed AFTER DELETE ON effects WHEN OLD." STORE_SQLITE_IS_WAITING \
	" BEGIN UPDATE waiting SET effects = effects - 1 WHERE kind = OLD.kind; END;"             \
	"CREATE TRIGGER effects_changed AFTER UPDATE OF kind ON effects"                          \
	" WHEN OLD.kind <> NEW.kind BEGIN"                                                        \
	" UPDATE waiting SET effects = effects - 1 WHERE kind = OLD.kind;"                        \
	" UPDATE waiting SET effects = effects + 1 WHERE kind = NEW.kind; END;"

#define STORE_SQLITE_COUNT_WAITING                                   \
	"UPDATE waiting SET effects = (SELECT count(*) FROM effects" \
	"                              WHERE effects.kind = waiting.kind);"

/* Since version 4: runs by name and state, and their number.  A statement mentions these columns only
 * when it changes them, because SQLite would rewrite the indexes. */
#define STORE_SQLITE_RUN_LISTS                          \
	"CREATE INDEX runs_state ON runs (state);"      \
	"CREATE INDEX runs_name ON runs (name, state);" \
	"CREATE TABLE tallies ("                        \
	" name TEXT NOT NULL,"                          \
	" state TEXT NOT NULL,"                         \
	" runs INTEGER NOT NULL,"                       \
	" ended INTEGER NOT NULL,"                      \
	" took INTEGER NOT NULL,"                       \
	" PRIMARY KEY (name, state)) WITHOUT ROWID;"

/* Since version 5. */
#define STORE_SQLITE_LABELS                         \
	"CREATE TABLE labels ("                     \
	" run INTEGER NOT NULL,"                    \
	" label TEXT NOT NULL,"                     \
	" state TEXT NOT NULL,"                     \
	" PRIMARY KEY (run, label)) WITHOUT ROWID;" \
	"CREATE INDEX labels_listed ON labels (label, state, run);"

/* Since version 6. */
#define STORE_SQLITE_USAGE                                                   \
	"CREATE TABLE usage ("                                               \
	" day INTEGER NOT NULL, run INTEGER NOT NULL,"                       \
	" agent TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL," \
	" turns INTEGER NOT NULL, unpriced INTEGER NOT NULL,"                \
	" input INTEGER NOT NULL, output INTEGER NOT NULL,"                  \
	" cache_read INTEGER NOT NULL, cache_creation INTEGER NOT NULL,"     \
	" cost INTEGER NOT NULL, saved INTEGER NOT NULL,"                    \
	" PRIMARY KEY (day, run, agent, provider, model)) WITHOUT ROWID;"    \
	"CREATE INDEX usage_run ON usage (run);"

/* For a benchmark that only writes a journal. */
#define STORE_SQLITE_DROP_RUN_LISTS \
	"DROP INDEX runs_state; DROP INDEX runs_name; DROP TABLE tallies;"

/* The correct content of `tallies`. */
#define STORE_SQLITE_TALLY                                                           \
	"SELECT name, state, count(*) AS runs, count(nullif(ended_at, 0)) AS ended," \
	" sum(iif(ended_at > 0, ended_at - created_at, 0)) AS took"                  \
	" FROM runs WHERE key > 0 GROUP BY name, state"

#define STORE_SQLITE_SIDE_TABLES                                         \
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

#endif
