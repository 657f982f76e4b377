/* store/store_sqlite_upgrade.c -- brings an older file to the current version.
 *
 * Each step takes the tables to the next version in one transaction that also stores the version
 * number.  An interrupted step leaves the old version, and the next start repeats it.
 *
 * The pages of a version 1 file have no space for checksums.  Before the first step, a VACUUM
 * rewrites every page with that space into the WAL, and a checkpoint writes every page with its
 * checksum into the file.  If this is interrupted, the file is still version 1, its WAL is complete,
 * and the next start repeats it.
 */
#include "store/store_sqlite_write.h"

#include <string.h>

#include "store/page_vfs.h"
#include "store/store_sqlite_schema.h"

static bool checkpoint(struct store_sqlite *self, struct error *error)
{
	if (sqlite3_wal_checkpoint_v2(self->database, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL,
				      NULL) == SQLITE_OK)
		return true;
	return store_sqlite_fail(self->database, self->path, "checkpoint", error);
}

bool store_sqlite_add_checksums(struct store_sqlite *self, struct error *error)
{
	/* Pages without space for a checksum must not pass the VFS that writes one into them. */
	int reserve = -1;
	sqlite3_file_control(self->database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve);
	if (reserve != PAGE_RESERVED && !checkpoint(self, error))
		return false;
	store_sqlite_disconnect(self);
	if (!store_sqlite_connect(self, self->pages_vfs, error))
		return false;
	reserve = PAGE_RESERVED;
	if (page_vfs_skip_checks(self->database) != SQLITE_OK ||
	    sqlite3_file_control(self->database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve) !=
		    SQLITE_OK)
		return store_sqlite_fail(self->database, self->path, "add checksums", error);
	return store_sqlite_wal_enter(self, error) &&
	       store_sqlite_execute_sql(self, STORE_SQLITE_WRITER_SETTINGS STORE_SQLITE_VACUUM,
					"add checksums", error) &&
	       checkpoint(self, error);
}

/* ---- from 1 to 2 ----------------------------------------------------------------------- */

/* In version 1 the life-cycle events are those whose type begins with "run." */
static const char to_two[] =
	"DROP TRIGGER events_deleted;"
	"DROP INDEX runs_stepping;"
	"ALTER TABLE runs RENAME TO old_runs;"
	"ALTER TABLE events RENAME TO old_events;"
	"ALTER TABLE blobs RENAME TO old_blobs;" STORE_SQLITE_RUNS STORE_SQLITE_EVENTS
		STORE_SQLITE_VALUES STORE_SQLITE_SIDE_TABLES
	"INSERT INTO runs SELECT key, id, name, state, stepping, created_at, updated_at, ended_at,"
	" seq, 0, summary FROM old_runs;"
	"INSERT INTO blobs SELECT rowid, hash, bytes FROM old_blobs;"
	"INSERT INTO names SELECT hash, key, 0 FROM blobs;"
	"INSERT INTO events SELECT position, run, seq, at, type LIKE 'run.%', type, NULL, body"
	" FROM old_events;"
	"DROP TABLE old_runs;"
	"DROP TABLE old_events;"
	"DROP TABLE old_blobs;";

/* Finds the stored values that a body refers to: strings of 64 hexadecimal digits.  A string that
 * looks like a reference and is none keeps its value alive, which does no harm. */
static bool names_of(struct store_sqlite *self, struct str body, struct hash *out_names,
		     size_t *out_count, struct error *error)
{
	enum { DIGITS = HASH_TEXT_SIZE - 1 };
	*out_count = 0;
	for (size_t at = 0; at + DIGITS + 2 <= body.size; at++) {
		struct hash hash;
		if (body.at[at] != '"' || body.at[at + 1 + DIGITS] != '"' ||
		    !hash_parse((struct str){ body.at + at + 1, DIGITS }, &hash))
			continue;
		bool known;
		int bound =
			store_sqlite_bind_bytes(store_sqlite_write_statement(self, WRITE_NAME_FIND),
						1, hash.bytes, sizeof(hash.bytes));
		if (!store_sqlite_first_row(self, WRITE_NAME_FIND, bound, "look for a value",
					    &known, error))
			return false;
		store_sqlite_reset(self, WRITE_NAME_FIND);
		if (known)
			out_names[(*out_count)++] = hash;
		at += DIGITS;
	}
	return true;
}

static bool event_add_references(struct store_sqlite *self, sqlite3_stmt *event,
				 sqlite3_stmt *update, struct error *error)
{
	struct str body = store_sqlite_column(event, 1, &self->scratch), keys;
	struct hash *names =
		arena_array(&self->scratch, struct hash, body.size / (HASH_TEXT_SIZE + 1) + 1);
	size_t count;
	if (!names_of(self, body, names, &count, error) ||
	    !store_sqlite_references_add(self, names, count, &keys, error))
		return false;
	if (count == 0)
		return true;
	int bound = sqlite3_bind_int64(update, 1, sqlite3_column_int64(event, 0)) |
		    store_sqlite_bind_keys(update, 2, keys);
	bool written = bound == SQLITE_OK && sqlite3_step(update) == SQLITE_DONE;
	if (!written)
		store_sqlite_fail(self->database, self->path, "write the references of an event",
				  error);
	sqlite3_reset(update);
	return written;
}

/* SQLite allows an update of a row that a SELECT has already passed. */
static bool events_add_references(struct store_sqlite *self, struct error *error)
{
	sqlite3_stmt *events = NULL, *update = NULL;
	bool good = sqlite3_prepare_v2(self->database,
				       "SELECT position, body FROM events ORDER BY position", -1,
				       &events, NULL) == SQLITE_OK &&
		    sqlite3_prepare_v2(self->database,
				       "UPDATE events SET names = ?2 WHERE position = ?1", -1,
				       &update, NULL) == SQLITE_OK;
	int step = good ? SQLITE_ROW : SQLITE_ERROR;
	while (good && step == SQLITE_ROW) {
		arena_reset(&self->scratch);
		step = sqlite3_step(events);
		if (step == SQLITE_ROW)
			good = event_add_references(self, events, update, error);
	}
	if (good && step != SQLITE_DONE)
		good = store_sqlite_fail(self->database, self->path, "read events", error);
	else if (step == SQLITE_ERROR)
		store_sqlite_fail(self->database, self->path, "read events", error);
	sqlite3_finalize(events);
	sqlite3_finalize(update);
	return good;
}

static bool one_to_two(struct store_sqlite *self, struct error *error)
{
	return store_sqlite_execute_sql(self, to_two, "create the tables of version 2", error) &&
	       events_add_references(self, error);
}

/* ---- from 2 to 3 ----------------------------------------------------------------------- */

/* Since version 3 the row of a run says that it needs recovery, so that recovery need not read the
 * effects that only wait. */
static bool two_to_three(struct store_sqlite *self, struct error *error)
{
	return store_sqlite_execute_sql(self,
					"UPDATE runs SET stepping = 1 WHERE ended_at = 0 AND key IN"
					" (SELECT run FROM effects WHERE kind = 'tool');",
					"upgrade to version 3", error);
}

/* ---- from 3 to 4 ----------------------------------------------------------------------- */

/* Before version 4 runs were counted by state only, and waiting effects were not counted. */
static bool three_to_four(struct store_sqlite *self, struct error *error)
{
	return store_sqlite_execute_sql(
		self,
		"DROP TABLE IF EXISTS states;"
		"DROP INDEX IF EXISTS effects_waiting;" STORE_SQLITE_RUN_LISTS STORE_SQLITE_WAITING
			STORE_SQLITE_COUNT_WAITING "INSERT INTO tallies " STORE_SQLITE_TALLY ";",
		"upgrade to version 4", error);
}

/* ---- from 4 to 5 ----------------------------------------------------------------------- */

/* Before version 5 runs had no labels. */
static bool four_to_five(struct store_sqlite *self, struct error *error)
{
	return store_sqlite_execute_sql(self, STORE_SQLITE_LABELS, "upgrade to version 5", error);
}

/* ---- from 5 to 6 ----------------------------------------------------------------------- */

/* Before version 6 usage was in events only; `baton db rebuild` counts it. */
static bool five_to_six(struct store_sqlite *self, struct error *error)
{
	return store_sqlite_execute_sql(self, STORE_SQLITE_USAGE, "upgrade to version 6", error);
}

/* ---- from 6 to 7 ----------------------------------------------------------------------- */

/* Before version 7 only runs had budgets, and no run waited for money. */
static bool six_to_seven(struct store_sqlite *self, struct error *error)
{
	return store_sqlite_execute_sql(
		self,
		STORE_SQLITE_BUDGETS
		"DROP INDEX effects_waiting;"
		"DROP TRIGGER effects_opened;"
		"DROP TRIGGER effects_closed;"
		"DROP TRIGGER effects_changed;"
		"DROP TABLE waiting;" STORE_SQLITE_WAITING STORE_SQLITE_COUNT_WAITING,
		"upgrade to version 7", error);
}

/* ---- the steps ------------------------------------------------------------------------- */

/* steps[n] upgrades from version n to n + 1; the first version was 1. */
static bool (*const steps[STORE_SQLITE_VERSION])(struct store_sqlite *self, struct error *error) = {
	[1] = one_to_two,   [2] = two_to_three, [3] = three_to_four,
	[4] = four_to_five, [5] = five_to_six,  [6] = six_to_seven,
};

static bool upgrade_step(struct store_sqlite *self, int64_t version, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const char *number =
		str_format(&arena, "PRAGMA user_version = %lld", (long long)version + 1).at;
	/* SQLite prepares statements again that were prepared for the old tables. */
	return store_sqlite_execute_sql(self, "BEGIN IMMEDIATE", "begin an upgrade", error) &&
	       steps[version](self, error) &&
	       store_sqlite_execute_sql(self, number, "store the version", error) &&
	       store_sqlite_execute_sql(self, "COMMIT", "commit an upgrade", error);
}

bool store_sqlite_upgrade(struct store_sqlite *self, int64_t version, struct error *error)
{
	for (; version < STORE_SQLITE_VERSION; version++)
		if (!upgrade_step(self, version, error)) {
			error_prefix(error, "upgrade from version %lld: ", (long long)version);
			return false;
		}
	return true;
}
