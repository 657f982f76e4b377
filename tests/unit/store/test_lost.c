/* tests/unit/store/test_lost.c -- a folder that has lost files or acknowledged events is refused.
 *
 * A kill leaves the mark of the last commit on the disk, so whatever is cut or removed afterwards is
 * noticed.  That no sound folder is ever refused is shown by test_sim.c, test_upgrade.c and
 * test_reserve.c, where every crash is followed by an opening.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash_scene.h"

TestSuite(lost, .init = stories_make, .fini = stories_drop, .timeout = 600);

/* ---- on the simulated disk --------------------------------------------------------------- */

enum { FIRST = 3 }; /* commits that are in the database file; the others are in the WAL alone */

/* The ends of the commits in the WAL. */
struct wal {
	size_t ends[COMMITS + 1];
};

static size_t wal_bytes(const struct store *store)
{
	struct store_stats stats = store->writer->stats(store);
	return (size_t)store_detail(&stats.details, "wal_bytes");
}

/* All commits are acknowledged and the process was killed. */
static void killed(struct scene *scene, struct wal *wal)
{
	enum store_outcome outcome;
	scene_begin(scene);
	cr_assert(scene_open(scene), "%s", scene->f.error.text);
	for (unsigned i = 0; i < FIRST; i++)
		cr_assert(commit_number(&scene->f, i, &outcome));
	scene_close(scene);
	cr_assert(scene_open(scene), "%s", scene->f.error.text);
	store_sim_checkpoint_after(scene->f.store, 1000);
	for (unsigned i = FIRST; i < COMMITS; i++) {
		cr_assert(commit_number(&scene->f, i, &outcome));
		wal->ends[i + 1] = wal_bytes(scene->f.store);
	}
	scene->acknowledged = COMMITS;
	fault_disk_pull_at(scene->disk, 0);
	scene_close(scene);
	fault_disk_lose_process(scene->disk);
}

static void refused(struct scene *scene, const char *what, const char *expected)
{
	size_t database = fault_disk_size(scene->disk, ""),
	       wal = fault_disk_size(scene->disk, "-wal");
	uint64_t syncs = fault_disk_syncs(scene->disk);
	cr_assert_not(scene_open(scene), "%s", what);
	cr_assert_eq(scene->f.error.code, ERROR_LOST_DATA, "%s: %s", what, scene->f.error.text);
	cr_assert_not_null(strstr(scene->f.error.text, expected), "%s: %s", what,
			   scene->f.error.text);
	cr_assert_not_null(strstr(scene->f.error.text, "baton db accept-loss"), "%s",
			   scene->f.error.text);
	cr_assert_eq(fault_disk_size(scene->disk, ""), database, "%s", what);
	cr_assert_eq(fault_disk_size(scene->disk, "-wal"), wal, "%s", what);
	cr_assert_eq(fault_disk_syncs(scene->disk), syncs, "%s", what);
}

Test(lost, a_wal_that_ends_before_what_was_acknowledged_is_refused)
{
	for (unsigned left = FIRST; left < COMMITS; left++) {
		struct scene scene;
		struct wal wal;
		char what[64];
		killed(&scene, &wal);
		snprintf(what, sizeof(what), "%u of %d commits are left", left, COMMITS);
		fault_disk_cut(scene.disk, "-wal", wal.ends[left + 1] - 1);
		refused(&scene, what, "its WAL ends too early");
		refused(&scene, what, "acknowledged events"); /* again, not only once */
		scene_end(&scene);
	}
}

Test(lost, a_wal_with_all_that_was_acknowledged_is_taken)
{
	struct scene scene;
	struct wal wal;
	killed(&scene, &wal);
	fault_disk_cut(scene.disk, "-wal", wal.ends[COMMITS]); /* without the zeros behind it */
	scene_go_on(&scene, scene_recover(&scene, "whole"), "whole");
	scene_end(&scene);
}

Test(lost, a_missing_wal_is_refused)
{
	struct scene scene;
	struct wal wal;
	killed(&scene, &wal);
	fault_disk_cut(scene.disk, "-wal", 0);
	refused(&scene, "no WAL", "its WAL is missing or empty");
	scene_end(&scene);
}

Test(lost, an_empty_database_is_refused_and_its_wal_stays)
{
	struct scene scene;
	struct wal wal;
	killed(&scene, &wal);
	fault_disk_cut(scene.disk, "", 0);
	refused(&scene, "with a WAL", "is missing or empty");
	cr_assert_not_null(strstr(scene.f.error.text, "still there"), "%s", scene.f.error.text);
	fault_disk_cut(scene.disk, "-mark", 0);
	refused(&scene, "with a WAL and no mark", "is missing or empty");
	scene_end(&scene);
	killed(&scene, &wal);
	fault_disk_cut(scene.disk, "", 0);
	fault_disk_cut(scene.disk, "-wal", 0);
	refused(&scene, "with a mark", "were acknowledged");
	scene_end(&scene);
}

/* A mark that a power failure has torn says nothing; the other slot still does. */
Test(lost, a_torn_mark_refuses_nothing_and_one_slot_is_enough)
{
	for (unsigned torn = 1; torn <= 3; torn++) {
		struct scene scene;
		struct wal wal;
		killed(&scene, &wal);
		for (unsigned slot = 0; slot < 2; slot++)
			if (torn & (1u << slot))
				fault_disk_flip(scene.disk, "-mark", slot * 512 + 24, 3);
		fault_disk_cut(scene.disk, "-wal", wal.ends[FIRST + 1]);
		if (torn == 3) {
			scene.acknowledged = FIRST + 1;
			cr_assert_eq(scene_recover(&scene, "torn"), FIRST + 1);
			scene_close(&scene);
		} else {
			refused(&scene, "one slot", "its WAL ends too early");
		}
		scene_end(&scene);
	}
}

/* The mark costs a commit one write and no sync. */
Test(lost, a_commit_syncs_once)
{
	struct scene scene;
	enum store_outcome outcome;
	scene_begin(&scene);
	cr_assert(scene_open(&scene), "%s", scene.f.error.text);
	store_sim_checkpoint_after(scene.f.store, 1000);
	cr_assert(commit_number(&scene.f, 0, &outcome)); /* starts the WAL */
	uint64_t syncs = fault_disk_syncs(scene.disk);
	for (unsigned i = 1; i < COMMITS; i++)
		cr_assert(commit_number(&scene.f, i, &outcome));
	cr_assert_eq(fault_disk_syncs(scene.disk) - syncs, COMMITS - 1);
	cr_assert_eq(fault_disk_size(scene.disk, "-mark"), 512 + 56);
	scene_close(&scene);
	scene_end(&scene);
}

/* ---- on files ----------------------------------------------------------------------------- */

static const char *beside(struct fixture *f, const char *ending)
{
	return str_format(&f->arena, "%s%s", f->path, ending).at;
}

static void copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	cr_assert(in != NULL && out != NULL, "%s -> %s", from, to);
	char bytes[4096];
	for (size_t got; (got = fread(bytes, 1, sizeof(bytes), in)) > 0;)
		cr_assert_eq(fwrite(bytes, 1, got, out), got);
	fclose(in);
	cr_assert_eq(fclose(out), 0);
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void close_all(struct fixture *f)
{
	f->backend->close_reader(f->reader);
	f->backend->close(f->store);
	f->reader = NULL;
	f->store = NULL;
}

static bool open_again(struct fixture *f)
{
	f->error = (struct error){ 0 };
	return f->backend->open(f->path, &f->store, &f->error) &&
	       f->backend->open_reader(f->store, &f->reader, &f->error);
}

static void commit_one(struct fixture *f, unsigned run)
{
	struct draft draft = draft_of(run, 0, 1);
	draft_commit(f, &draft);
}

/* A store with `runs` runs whose files are as a kill leaves them: in the WAL alone. */
static void open_killed(struct fixture *f, unsigned runs)
{
	fixture_open(f, store_backend_find(S("sqlite"), &f->error));
	for (unsigned run = 1; run <= runs; run++)
		commit_one(f, run);
	static const char *const endings[] = { "", "-wal", "-mark" };
	for (size_t i = 0; i < COUNT(endings); i++)
		copy_file(beside(f, endings[i]),
			  beside(f, str_format(&f->arena, "%s.kept", endings[i]).at));
	close_all(f);
	for (size_t i = 0; i < COUNT(endings); i++)
		copy_file(beside(f, str_format(&f->arena, "%s.kept", endings[i]).at),
			  beside(f, endings[i]));
}

static void refuse_open(struct fixture *f, const char *expected)
{
	cr_assert_not(open_again(f));
	cr_assert_eq(f->error.code, ERROR_LOST_DATA, "%s", f->error.text);
	cr_assert_not_null(strstr(f->error.text, expected), "%s", f->error.text);
}

static struct str accept_loss(struct fixture *f)
{
	struct str report;
	cr_assert(f->backend->accept_loss(f->path, &f->arena, &report, &f->error), "%s",
		  f->error.text);
	return report;
}

/* The position of the next commit; the store is open. */
static int64_t next_position(struct fixture *f, unsigned run)
{
	struct draft draft = draft_of(run, 0, 1), *batch[] = { &draft };
	cr_assert(drafts_commit(f, batch, 1), "%s", f->error.text);
	cr_assert_eq(draft.append.outcome, STORE_COMMITTED);
	return draft.append.first_position;
}

Test(lost, an_accepted_loss_goes_on_behind_the_lost_positions)
{
	struct fixture f;
	open_killed(&f, 5);
	cr_assert_eq(accept_loss(&f).size, 0, "nothing is lost yet");
	cr_assert_eq(unlink(beside(&f, "-wal")), 0);
	refuse_open(&f, "5 acknowledged events");
	refuse_open(&f, "5 acknowledged events");
	cr_assert_gt(accept_loss(&f).size, 0);
	cr_assert(open_again(&f), "%s", f.error.text);
	struct str report = f.store->admin->recovery_report(f.store, &f.arena);
	cr_assert_gt(report.size, 0);
	cr_assert_eq(next_position(&f, 1), 6, "position 1 to 5 were acknowledged once");
	close_all(&f);
	cr_assert(open_again(&f), "%s", f.error.text);
	report = f.store->admin->recovery_report(f.store, &f.arena);
	cr_assert_eq(report.size, 0, STR_FMT, STR_ARG(report));
	/* What is acknowledged from now on is watched again. */
	copy_file(beside(&f, ""), beside(&f, ".older"));
	cr_assert_eq(next_position(&f, 2), 7);
	close_all(&f);
	copy_file(beside(&f, ".older"), beside(&f, ""));
	refuse_open(&f, "1 acknowledged events");
	f.store = NULL;
	fixture_close(&f);
}

Test(lost, a_wal_without_its_database_is_moved_away_once)
{
	struct fixture f;
	open_killed(&f, 3);
	cr_assert_eq(unlink(f.path), 0);
	refuse_open(&f, "is missing or empty");
	cr_assert_not(exists(f.path), "a refused opening has created the database");
	struct stat before, after;
	cr_assert_eq(stat(beside(&f, "-wal"), &before), 0);
	cr_assert_gt(accept_loss(&f).size, 0);
	cr_assert_eq(stat(beside(&f, "-wal.lost"), &after), 0);
	cr_assert_eq(before.st_ino, after.st_ino);
	cr_assert_not(exists(beside(&f, "-wal")));
	cr_assert(open_again(&f), "%s", f.error.text);
	cr_assert_eq(next_position(&f, 1), 4);
	close_all(&f);
	/* An older WAL that was moved away is not replaced. */
	copy_file(beside(&f, "-wal.kept"), beside(&f, "-wal"));
	cr_assert_eq(unlink(f.path), 0);
	struct str report;
	cr_assert_not(f.backend->accept_loss(f.path, &f.arena, &report, &f.error));
	cr_assert_eq(f.error.code, ERROR_CONFLICT, "%s", f.error.text);
	cr_assert(exists(beside(&f, "-wal")));
	fixture_close(&f);
}

Test(lost, a_backup_is_another_database)
{
	struct fixture f;
	int64_t bytes;
	fixture_open(&f, store_backend_find(S("sqlite"), &f.error));
	commit_one(&f, 1);
	const char *copy = beside(&f, ".copy");
	cr_assert(f.reader->admin->backup(f.reader, copy, &bytes, &f.error), "%s", f.error.text);
	cr_assert_not(exists(beside(&f, ".copy.part-wal")));
	for (unsigned run = 2; run <= 4; run++)
		commit_one(&f, run);
	copy_file(beside(&f, "-wal"), beside(&f, "-wal.kept"));
	copy_file(beside(&f, "-mark"), beside(&f, "-mark.kept"));
	close_all(&f);
	/* Restored beside the mark of what came after it. */
	copy_file(copy, f.path);
	cr_assert(open_again(&f), "%s", f.error.text);
	struct str report = f.store->admin->recovery_report(f.store, &f.arena);
	cr_assert_gt(report.size, 0);
	commit_one(&f, 2);
	close_all(&f);
	cr_assert(open_again(&f), "%s", f.error.text);
	report = f.store->admin->recovery_report(f.store, &f.arena);
	cr_assert_eq(report.size, 0, STR_FMT, STR_ARG(report));
	close_all(&f);
	/* Once more: the database in use came from the same backup. */
	copy_file(copy, f.path);
	cr_assert(open_again(&f), "%s", f.error.text);
	close_all(&f);
	/* Restored beside the WAL of the database that was there before: SQLite would mix them. */
	copy_file(copy, f.path);
	copy_file(beside(&f, "-wal.kept"), beside(&f, "-wal"));
	copy_file(beside(&f, "-mark.kept"), beside(&f, "-mark"));
	refuse_open(&f, "belongs to the database that was here before");
	cr_assert_gt(accept_loss(&f).size, 0);
	cr_assert(exists(beside(&f, "-wal.lost")));
	cr_assert(open_again(&f), "%s", f.error.text);
	fixture_close(&f);
}

Test(lost, a_folder_without_a_mark_is_taken_and_gets_one)
{
	struct fixture f;
	open_killed(&f, 3);
	cr_assert_eq(unlink(beside(&f, "-mark")), 0);
	cr_assert_eq(unlink(beside(&f, "-wal")), 0);
	cr_assert(open_again(&f), "%s", f.error.text);
	cr_assert(exists(beside(&f, "-mark")));
	struct stat info, database;
	cr_assert_eq(stat(beside(&f, "-mark"), &info), 0);
	cr_assert_eq(stat(f.path, &database), 0);
	cr_assert_eq(info.st_mode & 0777, database.st_mode & 0777);
	fixture_close(&f);
}

Test(lost, a_vacuum_and_a_checkpoint_keep_the_mark_true)
{
	struct fixture f;
	fixture_open(&f, store_backend_find(S("sqlite"), &f.error));
	for (unsigned run = 1; run <= 4; run++)
		commit_one(&f, run);
	cr_assert(f.store->admin->vacuum(f.store, &f.error), "%s", f.error.text);
	/* The WAL is empty: everything is in the database. */
	copy_file(f.path, beside(&f, ".kept"));
	copy_file(beside(&f, "-mark"), beside(&f, "-mark.kept"));
	close_all(&f);
	copy_file(beside(&f, ".kept"), f.path);
	copy_file(beside(&f, "-mark.kept"), beside(&f, "-mark"));
	cr_assert(open_again(&f), "%s", f.error.text);
	cr_assert_eq(next_position(&f, 9), 5);
	fixture_close(&f);
}

Test(lost, a_check_reports_files_that_are_gone)
{
	struct fixture f;
	struct store_check check;
	fixture_open(&f, store_backend_find(S("sqlite"), &f.error));
	commit_one(&f, 1);
	cr_assert(f.reader->admin->check(f.reader, &f.arena, &check, &f.error), "%s", f.error.text);
	cr_assert_eq(check.count, 0);
	copy_file(beside(&f, "-wal"), beside(&f, ".wal"));
	cr_assert_eq(rename(beside(&f, ".wal"), beside(&f, "-wal")), 0);
	cr_assert_eq(unlink(f.path), 0);
	cr_assert(f.reader->admin->check(f.reader, &f.arena, &check, &f.error), "%s", f.error.text);
	cr_assert_eq(check.count, 2);
	for (size_t i = 0; i < check.count; i++)
		cr_assert_not_null(
			strstr(str_c(&f.arena, check.problems[i]), "while Baton was running"));
	fixture_close(&f);
}
