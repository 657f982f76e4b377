/* tests/unit/store/test_upgrade.c -- the upgrade of a version 1 file loses nothing, even if it is
 * interrupted by a crash.
 *
 * tests/upgrade/v1.sql is a file that version 1 wrote, as SQL: runs that succeeded, failed, wait for
 * a person, a timer or an interrupted tool, and one that needs recovery.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "crash_scene.h"
#include "store/page_vfs.h"

static char *dump;         /* v1.sql */
static struct str told;    /* the content of the version 1 file, as text */
static struct arena arena; /* owns `told` */

/* ---- version 1 ------------------------------------------------------------------------ */

static void dump_load(void)
{
	FILE *file = fopen(UPGRADE "/v1.sql", "rb");
	cr_assert_not_null(file);
	cr_assert_eq(fseek(file, 0, SEEK_END), 0);
	long size = ftell(file);
	rewind(file);
	dump = calloc(1, (size_t)size + 1);
	cr_assert_eq(fread(dump, 1, (size_t)size, file), (size_t)size);
	fclose(file);
}

static void run_sql(sqlite3 *database, const char *sql)
{
	char *problem = NULL;
	cr_assert_eq(sqlite3_exec(database, sql, NULL, NULL, &problem), SQLITE_OK, "%s: %s", sql,
		     problem);
}

/* Creates the version 1 file; with `in_wal` its last commit is still in the WAL. */
static sqlite3 *old_make(struct fault_disk *disk, bool in_wal)
{
	sqlite3 *database;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	cr_assert_eq(sqlite3_open_v2("baton.db", &database, flags, fault_disk_vfs(disk)),
		     SQLITE_OK);
	sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	run_sql(database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
	run_sql(database, dump);
	if (!in_wal)
		run_sql(database, "PRAGMA wal_checkpoint(TRUNCATE)");
	return database;
}

static void tell_sql(sqlite3 *database, const char *sql, struct buf *out)
{
	sqlite3_stmt *statement;
	cr_assert_eq(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK, "%s",
		     sqlite3_errmsg(database));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			buf_add_format(out, "%s ", (const char *)sqlite3_column_text(statement, i));
		buf_add_format(out, "\n");
	}
	sqlite3_finalize(statement);
}

/* Everything that version 1 had, and how many events name each value, counted by SQLite's JSON.
 * That a call is under way stood in the effects alone; since version 3 the run's row says so, too.
 */
static void old_tell(sqlite3 *database, struct buf *out)
{
	tell_sql(database,
		 "SELECT position, lower(hex(id)), events.seq, at, type, body"
		 " FROM events JOIN runs ON key = run ORDER BY position",
		 out);
	tell_sql(database,
		 "SELECT lower(hex(id)), name, state, stepping OR EXISTS (SELECT 1 FROM effects"
		 " WHERE run = key AND kind = 'tool'), created_at, updated_at, ended_at,"
		 " seq, summary FROM runs ORDER BY key DESC",
		 out);
	tell_sql(database,
		 "SELECT lower(hex(effects.id)), lower(hex(runs.id)), kind, due_at, body"
		 " FROM effects JOIN runs ON key = run ORDER BY effects.id",
		 out);
	tell_sql(database,
		 "SELECT lower(hex(hash)), bytes, (SELECT count(DISTINCT position) FROM events,"
		 " json_tree(body) WHERE value = lower(hex(hash))) FROM blobs ORDER BY hash",
		 out);
}

/* ---- the current version ------------------------------------------------------------------ */

static const char *hex(const struct uuid *id)
{
	static char text[2][33];
	static int turn;
	turn = !turn;
	for (size_t i = 0; i < sizeof(id->bytes); i++)
		snprintf(text[turn] + 2 * i, 3, "%02x", id->bytes[i]);
	return text[turn];
}

static void new_tell_streams(struct fixture *f, struct buf *out)
{
	struct store_event_page events = events_all(f);
	for (size_t i = 0; i < events.count; i++)
		buf_add_format(out, "%lld %s %lld %lld " STR_FMT " " STR_FMT " \n",
			       (long long)events.at[i].position, hex(&events.at[i].run),
			       (long long)events.at[i].seq, (long long)events.at[i].at,
			       STR_ARG(events.at[i].type), STR_ARG(events.at[i].body));
	struct store_run_page runs;
	cr_assert(f->reader->ops->list_runs(f->reader, NULL, NULL, SIZE_MAX, &f->arena, &runs,
					    &f->error));
	for (size_t i = 0; i < runs.count; i++) {
		const struct store_run *run = &runs.at[i];
		cr_assert_eq(run->floor, 0);
		buf_add_format(
			out, "%s " STR_FMT " " STR_FMT " %d %lld %lld %lld %lld " STR_FMT " \n",
			hex(&run->id), STR_ARG(run->name), STR_ARG(run->state), run->needs_recovery,
			(long long)run->created_at, (long long)run->updated_at,
			(long long)run->ended_at, (long long)run->seq, STR_ARG(run->summary));
	}
	struct store_effect_page effects;
	cr_assert(f->reader->ops->list_effects(f->reader, S(""), NULL, SIZE_MAX, &f->arena,
					       &effects, &f->error));
	for (size_t i = 0; i < effects.count; i++)
		buf_add_format(out, "%s %s " STR_FMT " %lld " STR_FMT " \n", hex(&effects.at[i].id),
			       hex(&effects.at[i].run), STR_ARG(effects.at[i].kind),
			       (long long)effects.at[i].due_at, STR_ARG(effects.at[i].body));
}

static sqlite3 *look_inside(struct fault_disk *disk)
{
	sqlite3 *database;
	const char *vfs = str_format(&arena, "%s-pages", fault_disk_vfs(disk)).at;
	cr_assert_eq(sqlite3_open_v2("baton.db", &database, SQLITE_OPEN_READONLY, vfs), SQLITE_OK);
	sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return database;
}

/* Opens the file, which must have the content of version 1. */
static void expect_told(struct fault_disk *disk, const char *what)
{
	struct fixture f = { .backend = simstore_backend(S("sim")) };
	cr_assert(store_sim_open_on(disk, &f.store, &f.error), "%s: %s", what, f.error.text);
	cr_assert(f.backend->open_reader(f.store, &f.reader, &f.error), "%s: %s", what,
		  f.error.text);
	AUTO(buf) out = { 0 };
	new_tell_streams(&f, &out);
	sqlite3 *inside = look_inside(disk);
	tell_sql(inside,
		 "SELECT lower(hex(names.hash)), bytes, uses FROM names JOIN blobs ON key = blob"
		 " ORDER BY names.hash",
		 &out);
	sqlite3_close(inside);
	cr_assert(str_equal(buf_str(&out), told), "%s: got\n" STR_FMT "\nwant\n" STR_FMT, what,
		  STR_ARG(buf_str(&out)), STR_ARG(told));
	struct store_check check;
	cr_assert(f.reader->admin->check(f.reader, &f.arena, &check, &f.error), "%s: %s", what,
		  f.error.text);
	if (check.count > 0)
		cr_assert_fail("%s: " STR_FMT, what, STR_ARG(check.problems[0]));
	struct draft draft = draft_of(900, 0, 1);
	cr_assert_eq(draft_try(&f, &draft), STORE_COMMITTED, "%s", what);
	f.backend->close_reader(f.reader);
	f.backend->close(f.store);
	arena_done(&f.arena);
}

static void setup(void)
{
	dump_load();
	struct fault_disk *disk = fault_disk_new();
	sqlite3 *old = old_make(disk, true);
	AUTO(buf) out = { 0 };
	old_tell(old, &out);
	told = str_copy(&arena, buf_str(&out));
	cr_assert_gt(told.size, 5000);
	sqlite3_close(old);
	fault_disk_drop(disk);
}

static void teardown(void)
{
	free(dump);
	arena_done(&arena);
}

TestSuite(upgrade, .init = setup, .fini = teardown, .timeout = 600);

Test(upgrade, keeps_everything_that_version_1_had)
{
	for (int in_wal = 0; in_wal < 2; in_wal++) {
		struct fault_disk *disk = fault_disk_new();
		sqlite3_close(old_make(disk, in_wal));
		expect_told(disk, in_wal ? "in the WAL" : "in the database");
		fault_disk_drop(disk);
	}
}

static void expect_text(sqlite3 *database, const char *sql, const char *expected)
{
	AUTO(buf) out = { 0 };
	tell_sql(database, sql, &out);
	cr_assert_str(buf_str(&out), str_from_c(expected));
}

Test(upgrade, derives_what_version_1_did_not_have)
{
	struct fault_disk *disk = fault_disk_new();
	sqlite3_close(old_make(disk, true));
	expect_told(disk, "first");
	sqlite3 *inside = look_inside(disk);
	expect_text(inside, "PRAGMA user_version", "7 \n");
	expect_text(inside, "SELECT DISTINCT type FROM events WHERE kept ORDER BY 1",
		    "run.created \nrun.finished \n");
	expect_text(inside, "SELECT count(*) FROM events WHERE type LIKE 'run.%' AND NOT kept",
		    "0 \n");
	expect_text(inside, "SELECT max(uses) > 2, min(uses) FROM names", "1 1 \n");
	expect_text(inside,
		    "SELECT sum(runs) = (SELECT count(*) FROM runs WHERE key > 0), count(*) > 3,"
		    " sum(ended), sum(took) > 0 FROM tallies",
		    "1 1 5 1 \n");
	/* The tables are the same as those of a new file. */
	struct fixture fresh;
	fixture_open(&fresh, simstore_backend(S("sim")));
	sqlite3 *other = look_inside(store_sim_disk(fresh.store));
	AUTO(buf) ours = { 0 };
	AUTO(buf) theirs = { 0 };
	static const char schema[] =
		"SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
	tell_sql(inside, schema, &ours);
	tell_sql(other, schema, &theirs);
	cr_assert_gt(ours.size, 1000);
	cr_assert_str(buf_str(&ours), buf_str(&theirs));
	sqlite3_close(other);
	sqlite3_close(inside);
	fixture_close(&fresh);
	fault_disk_drop(disk);
}

/* ---- interrupted -------------------------------------------------------------------------- */

/* Opens the file, which upgrades it, and closes it. */
static bool upgrade_try(struct fault_disk *disk, struct error *error)
{
	struct store *store;
	if (!store_sim_open_on(disk, &store, error))
		return false;
	store->backend->close(store);
	return true;
}

static unsigned pull_everywhere(enum fault_fate fate, bool in_wal)
{
	unsigned points = 0;
	bool pulled = true;
	for (unsigned change = 1 + (unsigned)fate % stride(3); pulled;
	     change += stride(3), points++) {
		char what[64];
		struct error error;
		snprintf(what, sizeof(what), "fate %d, change %u", (int)fate, change);
		struct fault_disk *disk = fault_disk_new();
		sqlite3_close(old_make(disk, in_wal));
		fault_disk_pull_at(disk, change);
		bool opened = upgrade_try(disk, &error);
		pulled = fault_disk_pulled(disk);
		cr_assert(opened || pulled, "%s: %s", what, error.text);
		if (fate == FAULT_FATES)
			fault_disk_lose_process(disk);
		else
			fault_disk_lose_power(disk, fate, change);
		expect_told(disk, what);
		fault_disk_drop(disk);
	}
	return points - 1;
}

static void expect_pulled(const char *name, enum fault_fate fate, bool in_wal)
{
	unsigned points = pull_everywhere(fate, in_wal);
	printf("%u places in an upgrade, %s\n", points, name);
	cr_assert_geq(points, 40);
}

Test(upgrade, the_plug_is_pulled_at_every_change_mixed)
{
	expect_pulled("mixed", FAULT_MIXED, true);
}

Test(upgrade, the_plug_is_pulled_at_every_change_dropped)
{
	expect_pulled("dropped", FAULT_DROP, false);
}

Test(upgrade, the_plug_is_pulled_at_every_change_garbled)
{
	expect_pulled("garbled", FAULT_GARBLE, true);
}

Test(upgrade, the_plug_is_pulled_at_every_change_process_only)
{
	expect_pulled("process_only", FAULT_FATES, true);
}

Test(upgrade, without_room_it_is_tried_again)
{
	unsigned refused = 0;
	bool struck = true;
	for (unsigned place = 1; struck; place += stride(3)) {
		char what[64];
		struct error error;
		snprintf(what, sizeof(what), "write %u", place);
		struct fault_disk *disk = fault_disk_new();
		sqlite3_close(old_make(disk, place / 3 % 2 == 0));
		fault_disk_order(disk, FAULT_FULL, place, true);
		bool opened = upgrade_try(disk, &error);
		struck = fault_disk_heal(disk);
		if (!opened) {
			cr_assert_eq(error.code, ERROR_STORAGE_FULL, "%s: %s", what, error.text);
			refused++;
		}
		fault_disk_lose_process(disk);
		expect_told(disk, what);
		fault_disk_drop(disk);
	}
	cr_assert_gt(refused, 10);
}
