/* store/store_sqlite_statements.c -- the SQL of every prepared statement.
 *
 * All in one file, so that a change of the schema finds the statements it affects.
 */
#include "store/store_sqlite.h"
#include "store/store_sqlite_schema.h"

#define RUN_COLUMNS \
	"id, name, state, stepping, created_at, updated_at, ended_at, seq, floor, summary"
#define EFFECT_COLUMNS "effects.id, runs.id, kind, due_at, body"

/* RUN_UPDATE does not mention `stepping`, `name` and `state`: SQLite rewrites the index of every
 * column that an UPDATE mentions, one more page in the WAL, and these columns change rarely. */
const char *const store_sqlite_writes[WRITES] = {
	[WRITE_BEGIN] = "BEGIN IMMEDIATE",
	[WRITE_COMMIT] = "COMMIT",
	[WRITE_ROLLBACK] = "ROLLBACK",
	[WRITE_RUN_FIND] = "SELECT key, seq, floor, stepping, created_at, ended_at, state, name"
			   " FROM runs WHERE id = ?1",
	[WRITE_RUN_INSERT] = "INSERT INTO runs (key, id, stepping, name, state, created_at,"
			     " updated_at, ended_at, seq, summary)"
			     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[WRITE_RUN_UPDATE] = "UPDATE runs SET created_at = ?6, updated_at = ?7, ended_at = ?8,"
			     " seq = ?9, summary = ?10 WHERE key = ?1",
	[WRITE_RUN_LISTED] = "UPDATE runs SET name = ?2, state = ?3 WHERE key = ?1",
	[WRITE_RUN_NEEDS_RECOVERY] = "UPDATE runs SET stepping = ?2 WHERE key = ?1",
	[WRITE_EVENT] = "INSERT INTO events (position, run, seq, at, kept, type, names, body)"
			" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[WRITE_EFFECT_OPEN] = "INSERT INTO effects (id, run, kind, due_at, body)"
			      " VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (id) DO UPDATE"
			      " SET run = ?2, kind = ?3, due_at = ?4, body = ?5",
	[WRITE_EFFECT_CLOSE] = "DELETE FROM effects WHERE id = ?1",
	[WRITE_OWNER] = "SELECT value FROM marks WHERE name = 'owner'",
	[WRITE_OWN] = "UPDATE marks SET value = value + 1 WHERE name = 'owner'",
	[WRITE_NAME_FIND] = "SELECT blob FROM names WHERE hash = ?1",
	[WRITE_NAME_INSERT] = "INSERT INTO names (hash, blob, uses) VALUES (?1, ?2, 0)",
	[WRITE_NAME_USE] = "UPDATE names SET uses = uses + 1 WHERE hash = ?1 RETURNING blob",
	[WRITE_NAME_DROP] = "UPDATE names SET uses = uses - 1"
			    " WHERE hash = (SELECT hash FROM blobs WHERE key = ?1)"
			    " RETURNING uses",
	[WRITE_BLOB_INSERT] = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2)",
	[WRITE_DEAD_INSERT] = "INSERT OR IGNORE INTO dead (blob) VALUES (?1)",
	[WRITE_TALLY] = "INSERT INTO tallies (name, state, runs, ended, took)"
			" VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name, state) DO UPDATE"
			" SET runs = runs + ?3, ended = ended + ?4, took = took + ?5",
	[WRITE_LABELS] = "INSERT INTO labels (run, label, state)"
			 " SELECT ?1, value, ?2 FROM json_each(?3)",
	[WRITE_LABELS_MOVE] = "UPDATE labels SET state = ?2 WHERE run = ?1",
	[WRITE_LABELS_DELETE] = "DELETE FROM labels WHERE run = ?1",
	[WRITE_USAGE] =
		"REPLACE INTO usage (day, run, agent, provider, model, turns, unpriced, input,"
		" output, cache_read, cache_creation, cost, saved)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[WRITE_USAGE_DELETE] = "DELETE FROM usage WHERE run = ?1",
	[WRITE_BUDGET] =
		"REPLACE INTO budgets (name, run, spent, reserved) VALUES (?1, ?2, ?3, ?4)",
	[WRITE_BUDGETS_DELETE] = "DELETE FROM budgets WHERE run = ?1",
	[WRITE_SNAPSHOT] = "INSERT INTO snapshots (run, seq, names, body) VALUES (?1, ?2, ?3, ?4)",
	[WRITE_SNAPSHOT_OLD] = "SELECT seq, names FROM snapshots WHERE run = ?1"
			       " ORDER BY seq DESC LIMIT 1 OFFSET 2",
	[WRITE_SNAPSHOT_DELETE] = "DELETE FROM snapshots WHERE run = ?1 AND seq = ?2",
	[WRITE_SNAPSHOT_NEWEST] = "SELECT coalesce(max(seq), 0) FROM snapshots WHERE run = ?1",
	[WRITE_FLOOR] = "UPDATE runs SET floor = ?2 WHERE key = ?1",
	[WRITE_PURGE] = "INSERT INTO purges (run, next, upto) VALUES (?1, ?2, ?3)"
			" ON CONFLICT (run) DO UPDATE SET upto = ?3",
	[WRITE_DOCUMENT_FIND] = "SELECT revision, body <> '' FROM documents"
				" WHERE kind = ?1 AND name = ?2",
	[WRITE_DOCUMENT] = "INSERT INTO documents (kind, name, revision, changed_at, body)"
			   " VALUES (?1, ?2, 1, ?3, ?4) ON CONFLICT (kind, name) DO UPDATE"
			   " SET revision = revision + 1, changed_at = ?3, body = ?4",
	[WRITE_DOCUMENT_REBUILD] = "INSERT INTO documents (kind, name, revision, changed_at, body)"
				   " VALUES (?1, ?2, ?3, ?4, ?5)",
	[WRITE_COUNTER_FIND] = "SELECT value FROM counters WHERE name = ?1",
	[WRITE_COUNTER] = "INSERT INTO counters (name, value) VALUES (?1, ?2)"
			  " ON CONFLICT (name) DO UPDATE SET value = value + ?2",
	[WRITE_REQUEST_FIND] = "SELECT said, subject, at FROM requests WHERE key = ?1"
			       " AND at >= (SELECT value FROM marks WHERE name = 'forgotten')",
	[WRITE_REQUEST] = "REPLACE INTO requests (key, said, subject, at) VALUES (?1, ?2, ?3, ?4)",
	[WRITE_PURGE_NEXT] = "SELECT run, next, upto FROM purges LIMIT 1",
	[WRITE_PURGE_EVENTS] = "SELECT seq, position, names FROM events"
			       " WHERE run = ?1 AND seq >= ?2 AND seq < ?3 AND NOT kept"
			       " ORDER BY seq LIMIT 1",
	[WRITE_PURGE_STEP] = "UPDATE purges SET next = ?2 WHERE run = ?1",
	[WRITE_PURGE_DONE] = "DELETE FROM purges WHERE run = ?1",
	[WRITE_EVENT_DELETE] = "DELETE FROM events WHERE position = ?1",
	[WRITE_DEAD_NEXT] = "SELECT dead.blob, names.hash, uses FROM dead"
			    " LEFT JOIN blobs ON key = dead.blob"
			    " LEFT JOIN names ON names.hash = blobs.hash LIMIT 1",
	[WRITE_DEAD_DELETE] = "DELETE FROM dead WHERE blob = ?1",
	[WRITE_NAME_DELETE] = "DELETE FROM names WHERE hash = (SELECT hash FROM blobs"
			      " WHERE key = ?1)",
	[WRITE_BLOB_DELETE] = "DELETE FROM blobs WHERE key = ?1",
	[WRITE_REQUESTS_DELETE] = "DELETE FROM requests WHERE key IN (SELECT key FROM requests"
				  " WHERE at < (SELECT value FROM marks WHERE name = 'forgotten')"
				  " ORDER BY at LIMIT ?1)",
	[WRITE_REQUESTS_EXPIRE] =
		"UPDATE marks SET value = ?1 WHERE name = 'forgotten' AND value < ?1",
	[WRITE_EVENT_NEWEST] = "SELECT seq FROM events WHERE run = ?1 ORDER BY seq DESC LIMIT 1",
	[WRITE_EFFECTS_CLOSE] = "DELETE FROM effects WHERE run = ?1",
};

/* Money is summed up in two parts, because SQLite fails when a sum of integers overflows.  A count of
 * tokens beyond a million millions is no real one. */
#define USAGE_COUNT(column) "coalesce(sum(min(" column ", 1000000000000)), 0)"
#define USAGE_MONEY(column)                          \
	"coalesce(sum(" column " / 1000000000), 0)," \
	" coalesce(sum(" column " % 1000000000), 0)"
#define USAGE_SUMS                                                                                          \
	USAGE_COUNT("turns")                                                                                \
	", " USAGE_COUNT("unpriced") ", " USAGE_COUNT("input") ", " USAGE_COUNT("output") ", " USAGE_COUNT( \
		"cache_read") ", " USAGE_COUNT("cache_creation") ", " USAGE_MONEY("cost") ", " USAGE_MONEY("saved")
/* The columns that rows are summed up by, the others empty. */
#define USAGE_COLUMNS(day, agent, provider, model, name, id) \
	"SELECT " day ", " agent ", " provider ", " model ", " name ", " id ", " USAGE_SUMS
#define USAGE_READ(...)            \
	USAGE_COLUMNS(__VA_ARGS__) \
	" FROM usage CROSS JOIN runs ON runs.key = usage.run WHERE day BETWEEN ?1 AND ?2"
#define USAGE_OF_RUN(...)                                                              \
	USAGE_COLUMNS(__VA_ARGS__)                                                     \
	" FROM usage INDEXED BY usage_run WHERE day BETWEEN ?1 AND ?2 AND usage.run =" \
	" (SELECT key FROM runs WHERE id = ?4)"
#define USAGE_DEAREST " ORDER BY total(cost) DESC, total(input) DESC, 2, 3, 4, 5, 6 LIMIT ?3"

/* CROSS JOIN fixes the join order: SQLite scans the first table and looks up the second. */
const char *const store_sqlite_reads[READS] = {
	[READ_EVENTS] = "SELECT seq, position, at, type, body FROM events"
			" WHERE run = (SELECT key FROM runs WHERE id = ?1) AND seq > ?2"
			" AND (seq >= (SELECT floor FROM runs WHERE id = ?1) OR kept)"
			" ORDER BY seq LIMIT ?3",
	[READ_ALL] = "SELECT events.seq, position, at, type, body, runs.id"
		     " FROM events CROSS JOIN runs ON runs.key = events.run"
		     " WHERE position > ?1 AND (events.seq >= runs.floor OR kept)"
		     " ORDER BY position LIMIT ?2",
	[READ_RUN] = "SELECT " RUN_COLUMNS " FROM runs WHERE id = ?1",
	[READ_RUNS] = "SELECT " RUN_COLUMNS " FROM runs"
		      " WHERE key > 0 AND key < CASE WHEN ?1 IS NULL THEN 9223372036854775807"
		      "                  ELSE (SELECT key FROM runs WHERE id = ?1) END"
		      " ORDER BY key DESC LIMIT ?2",
	[READ_RUNS_OF_IDS] =
		"SELECT " RUN_COLUMNS " FROM runs WHERE id BETWEEN ?1 AND ?2 AND key > 0"
		" ORDER BY id LIMIT ?3",
	[READ_NEEDING_RECOVERY] = "SELECT " RUN_COLUMNS " FROM runs WHERE stepping AND id > ?1"
				  " ORDER BY id LIMIT ?2",
	[READ_BLOB] = "SELECT bytes FROM names CROSS JOIN blobs ON key = blob"
		      " WHERE names.hash = ?1",
	[READ_EFFECT] =
		"SELECT " EFFECT_COLUMNS " FROM effects CROSS JOIN runs ON runs.key = effects.run"
		" WHERE effects.id = ?1",
	[READ_EFFECTS] =
		"SELECT " EFFECT_COLUMNS " FROM effects CROSS JOIN runs ON runs.key = effects.run"
		" WHERE effects.id > ?1 AND (?2 = '' OR kind = ?2)"
		" ORDER BY effects.id LIMIT ?3",
	[READ_EFFECTS_WAITING] = "SELECT " EFFECT_COLUMNS " FROM effects INDEXED BY effects_waiting"
				 " CROSS JOIN runs ON runs.key = effects.run"
				 " WHERE effects.id > ?1 AND kind = ?2 AND " STORE_SQLITE_IS_WAITING
				 " ORDER BY effects.id LIMIT ?3",
	[READ_NEWEST] = STORE_SQLITE_HIGHEST_POSITION,
	[READ_SNAPSHOT] = "SELECT seq, body FROM snapshots"
			  " WHERE run = (SELECT key FROM runs WHERE id = ?1)"
			  " AND (?2 = 0 OR seq <= ?2) ORDER BY seq DESC LIMIT 1",
	[READ_DUE] =
		"SELECT " EFFECT_COLUMNS " FROM effects CROSS JOIN runs ON runs.key = effects.run"
		" WHERE due_at > 0 AND due_at > ?1 AND due_at <= ?2 ORDER BY due_at, effects.id LIMIT ?3",
	[READ_DOCUMENT] = "SELECT kind, name, revision, changed_at, body FROM documents"
			  " WHERE kind = ?1 AND name = ?2",
	[READ_DOCUMENTS] = "SELECT kind, name, revision, changed_at, body FROM documents"
			   " WHERE kind = ?1 AND name > ?2 AND body <> '' ORDER BY name LIMIT ?3",
	[READ_REQUEST] = "SELECT key, said, subject, at FROM requests WHERE key = ?1"
			 " AND at >= (SELECT value FROM marks WHERE name = 'forgotten')",
	[READ_GUARD] = "SELECT value FROM counters WHERE name = ?1",
	[READ_GUARDS] = "SELECT name, value FROM counters WHERE name > max(?1, ?2)"
			" AND substr(name, 1, length(?1)) = ?1 ORDER BY name LIMIT ?3",
	[READ_WAITING] = "SELECT kind, effects FROM waiting"
			 " WHERE effects > 0 AND kind NOT IN ('queue', 'budget') ORDER BY kind",
	[READ_STATES] = "SELECT state, sum(runs) FROM tallies GROUP BY state"
			" HAVING sum(runs) > 0 ORDER BY state",
	[READ_TALLIES] = "SELECT name, state, runs, ended, took FROM tallies WHERE runs > 0"
			 " ORDER BY name, state",
	[READ_STATES_OF] = "SELECT state, runs FROM tallies WHERE name = ?1 AND runs > 0",
	[READ_KEY] = "SELECT key FROM runs WHERE id = ?1",
	[READ_KEYS_OF_STATE] = "SELECT key FROM runs INDEXED BY runs_state"
			       " WHERE state = ?1 AND key > 0 AND key < ?2"
			       " ORDER BY key DESC LIMIT ?3",
	[READ_KEYS_OF_NAME] = "SELECT key FROM runs INDEXED BY runs_name"
			      " WHERE name = ?4 AND state = ?1 AND key > 0 AND key < ?2"
			      " ORDER BY key DESC LIMIT ?3",
	[READ_KEYS_OF_LABELS] =
		"SELECT run FROM labels INDEXED BY labels_listed CROSS JOIN runs ON key = run"
		" WHERE label = ?5 AND labels.state = ?1 AND run < ?2 AND (?4 = '' OR name = ?4)"
		" AND NOT EXISTS (SELECT 1 FROM json_each(?6) AS other WHERE NOT EXISTS"
		"  (SELECT 1 FROM labels AS more WHERE more.run = labels.run"
		"   AND more.label = other.value))"
		" ORDER BY run DESC LIMIT ?3",
	[READ_RUN_OF_KEY] = "SELECT " RUN_COLUMNS " FROM runs WHERE key = ?1",
	/* Only events between the floor and the newest event can be deleted; the newest stays,
	 * because a floor is at most the seq of a snapshot. */
	[READ_OLD] = "SELECT id, seq, floor, ended_at FROM runs WHERE id > ?3 AND key > 0"
		     " AND max(floor, 1) < seq"
		     " AND ((?1 > 0 AND ended_at > 0 AND ended_at < ?1)"
		     " OR (?2 > 0 AND seq - max(floor, 1) + 1 > ?2))"
		     " ORDER BY id LIMIT ?4",
	[READ_USAGE_TOTAL] = USAGE_READ("0", "''", "''", "''", "''", "NULL") " LIMIT ?3",
	[READ_USAGE_DAY] = USAGE_READ("day", "''", "''", "''", "''",
				      "NULL") " GROUP BY day ORDER BY day LIMIT ?3",
	[READ_USAGE_MODEL] = USAGE_READ("0", "''", "provider", "model", "''",
					"NULL") " GROUP BY provider, model" USAGE_DEAREST,
	[READ_USAGE_AGENT] =
		USAGE_READ("0", "agent", "''", "''", "''", "NULL") " GROUP BY agent" USAGE_DEAREST,
	[READ_USAGE_WORKFLOW] = USAGE_READ("0", "''", "''", "''", "runs.name",
					   "NULL") " GROUP BY runs.name" USAGE_DEAREST,
	[READ_USAGE_RUN] = USAGE_READ("0", "''", "''", "''", "runs.name",
				      "runs.id") " GROUP BY usage.run" USAGE_DEAREST,
	[READ_USAGE_OF_RUN] = USAGE_OF_RUN("0", "''", "''", "''", "''", "NULL") " LIMIT ?3",
	[READ_USAGE_PARTS] = USAGE_OF_RUN("day", "agent", "provider", "model", "''",
					  "NULL") " GROUP BY day, agent, provider, model"
						  " ORDER BY day, agent, provider, model LIMIT ?3",
};
