/* tests/unit/store/test_sqlite.c -- the SQLite store: reopening, foreign files, full disks,
 * killed processes, backup, check and vacuum. */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "store_fixture.h"
#include "os/failpoint.h"
#include "store/page_vfs.h"
#include "store/store_sqlite_schema.h"

static void open_sqlite(struct fixture *f)
{
	fixture_open(f, simstore_backend(S("sqlite")));
}

/* Executes SQL on its own connection; the store must be closed. */
static void outside(const char *path, const char *vfs, const char *sql)
{
	sqlite3 *database;
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	cr_assert_eq(sqlite3_open_v2(path, &database, flags, vfs), SQLITE_OK);
	char *problem = NULL;
	cr_assert_eq(sqlite3_exec(database, sql, NULL, NULL, &problem), SQLITE_OK, "%s", problem);
	cr_assert_eq(sqlite3_close(database), SQLITE_OK);
}

/* Closes the store, executes SQL on the file, and opens the store again. */
static void meddle(struct fixture *f, const char *sql)
{
	f->backend->close_reader(f->reader);
	f->backend->close(f->store);
	outside(f->path, page_vfs_name(), sql);
	cr_assert(f->backend->open(f->path, &f->store, &f->error), "%s", f->error.text);
	cr_assert(f->backend->open_reader(f->store, &f->reader, &f->error), "%s", f->error.text);
}

/* Opening must fail and leave the file unchanged. */
static struct error refused(const char *sql)
{
	struct fixture f;
	open_sqlite(&f);
	f.backend->close_reader(f.reader);
	f.backend->close(f.store);
	cr_assert_eq(unlink(f.path), 0);
	outside(f.path, NULL, sql);
	struct stat before, after;
	cr_assert_eq(stat(f.path, &before), 0);
	f.store = NULL;
	f.reader = NULL;
	cr_assert_not(f.backend->open(f.path, &f.store, &f.error));
	cr_assert_null(f.store);
	cr_assert_eq(stat(f.path, &after), 0);
	cr_assert_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	cr_assert_eq(before.st_size, after.st_size);
	struct error error = f.error;
	fixture_close(&f);
	return error;
}

static uint32_t big_endian(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* Counts the frames of the current WAL, and those that end a transaction. */
static void wal_count(struct fixture *f, size_t *out_frames, size_t *out_commits)
{
	char name[112];
	snprintf(name, sizeof(name), "%s-wal", f->path);
	*out_frames = *out_commits = 0;
	FILE *file = fopen(name, "rb");
	cr_assert_not_null(file);
	uint8_t header[32], frame[24];
	cr_assert_eq(fread(header, 1, sizeof(header), file), sizeof(header));
	uint32_t page = big_endian(header + 8);
	cr_assert_eq(page, 4096);
	while (fread(frame, 1, sizeof(frame), file) == sizeof(frame)) {
		if (memcmp(frame + 8, header + 16, 8) != 0)
			break; /* an older WAL's salt */
		++*out_frames;
		*out_commits += big_endian(frame + 4) != 0;
		cr_assert_eq(fseek(file, (long)page, SEEK_CUR), 0);
	}
	fclose(file);
}

Test(sqlite, keeps_everything_over_a_reopen)
{
	struct fixture f;
	open_sqlite(&f);
	struct draft one = draft_of(1, 0, 2), two = draft_of(2, 0, 1);
	one.append.run.needs_recovery = true;
	one.blob = (struct store_blob){ hash_of(S("value")), S("value") };
	one.append.blob_count = 1;
	two.effect = (struct store_effect){ .id = id_of(9), .kind = S("timer"), .due_at = 4 };
	two.append.opened_count = 1;
	draft_commit(&f, &one);
	draft_commit(&f, &two);
	fixture_reopen(&f);
	cr_assert_eq(events_all(&f).count, 3);
	cr_assert_eq(run_of(&f, 1).seq, 2);
	cr_assert(run_of(&f, 1).needs_recovery);
	bool found = false;
	struct str bytes;
	struct hash hash = hash_of(S("value"));
	cr_assert(f.reader->ops->read_blob(f.reader, &hash, &f.arena, &bytes, &found, &f.error));
	cr_assert(found);
	struct store_effect effect;
	struct uuid id = id_of(9);
	found = false;
	cr_assert(f.reader->ops->read_effect(f.reader, &id, &f.arena, &effect, &found, &f.error));
	cr_assert(found);
	cr_assert_eq(effect.due_at, 4);
	struct draft more = draft_of(1, 2, 1);
	draft_commit(&f, &more);
	cr_assert_eq(more.append.first_position, 4);
	cr_assert_eq(f.store->writer->stats(f.store).commits, 1, "counted since open");
	fixture_close(&f);
}

Test(sqlite, never_gives_a_position_twice)
{
	struct fixture f;
	open_sqlite(&f);
	struct draft one = draft_of(1, 0, 8);
	draft_commit(&f, &one);
	meddle(&f, "DELETE FROM events WHERE position > 3");
	cr_assert_eq(f.reader->ops->newest_position(f.reader), 8);
	struct draft two = draft_of(2, 0, 1);
	draft_commit(&f, &two);
	cr_assert_eq(two.append.first_position, 9);
	meddle(&f, "DELETE FROM events");
	struct draft three = draft_of(3, 0, 1);
	draft_commit(&f, &three);
	cr_assert_eq(three.append.first_position, 10);
	fixture_close(&f);
}

Test(sqlite, whoever_opens_it_last_is_its_owner)
{
	struct fixture f;
	open_sqlite(&f);
	struct draft one = draft_of(1, 0, 1), two = draft_of(1, 1, 1), *batch[] = { &two };
	draft_commit(&f, &one);
	struct fixture other = { .backend = f.backend };
	cr_assert(f.backend->open(f.path, &other.store, &other.error), "%s", other.error.text);
	/* The earlier process can no longer write, not even to runs that the other did not touch. */
	cr_assert_not(drafts_commit(&f, batch, 1));
	cr_assert_eq(f.error.code, ERROR_STORAGE);
	cr_assert_not_null(strstr(f.error.text, "another baton has opened the store"), "%s",
			   f.error.text);
	cr_assert_eq(two.append.outcome, STORE_PENDING);
	bool more;
	cr_assert_not(f.store->admin->purge(f.store, 1, NULL, &more, &f.error));
	cr_assert_not(f.store->admin->expire_requests(f.store, 1, &f.error));
	cr_assert_not(f.store->admin->vacuum(f.store, &f.error));
	cr_assert_eq(events_all(&f).count, 1, "its readers go on");
	cr_assert_eq(draft_try(&other, &two), STORE_COMMITTED);
	cr_assert_not(drafts_commit(&f, batch, 1), "and it stays so");
	f.backend->close(other.store);
	cr_assert_eq(events_all(&f).count, 2);
	fixture_close(&f);
}

Test(sqlite, is_the_owners_file_alone)
{
	struct fixture f;
	open_sqlite(&f);
	struct draft one = draft_of(1, 0, 1);
	draft_commit(&f, &one);
	static const char *const ends[] = { "", "-wal", "-shm" };
	for (size_t i = 0; i < COUNT(ends); i++) {
		char name[112];
		struct stat status;
		snprintf(name, sizeof(name), "%s%s", f.path, ends[i]);
		cr_assert_eq(stat(name, &status), 0, "%s", name);
		cr_assert_eq(status.st_mode & 0777, 0600, "%s", name);
	}
	fixture_close(&f);
}

Test(sqlite, refuses_a_newer_file)
{
	struct error error =
		refused("CREATE TABLE runs (key);"
			"PRAGMA application_id = " STORE_SQLITE_TEXT(
				STORE_SQLITE_APPLICATION_ID) ";"
							     "PRAGMA user_version = 47");
	cr_assert_eq(error.code, ERROR_NEWER_STORE);
	cr_assert_not_null(strstr(error.text, "version 47"), "%s", error.text);
	cr_assert_not_null(
		strstr(error.text, "version " STORE_SQLITE_TEXT(STORE_SQLITE_VERSION) ":"), "%s",
		error.text);
	cr_assert_not_null(strstr(error.text, "start the newer Baton"), "%s", error.text);
}

Test(sqlite, refuses_another_programs_file)
{
	struct error error = refused("CREATE TABLE notes (text); PRAGMA application_id = 5");
	cr_assert_eq(error.code, ERROR_STORAGE);
	cr_assert_not_null(strstr(error.text, "another program's"), "%s", error.text);
	error = refused("CREATE TABLE notes (text)");
	cr_assert_eq(error.code, ERROR_STORAGE);
	error = refused("PRAGMA journal_mode = WAL; CREATE TABLE notes (text);"
			"PRAGMA user_version = 1");
	cr_assert_eq(error.code, ERROR_STORAGE);
}

Test(sqlite, refuses_what_is_no_database)
{
	struct fixture f;
	open_sqlite(&f);
	f.backend->close_reader(f.reader);
	f.backend->close(f.store);
	FILE *file = fopen(f.path, "wb");
	cr_assert_not_null(file);
	for (int i = 0; i < 1000; i++)
		fputs("not a database\n", file);
	fclose(file);
	f.store = NULL;
	f.reader = NULL;
	cr_assert_not(f.backend->open(f.path, &f.store, &f.error));
	cr_assert_eq(f.error.code, ERROR_STORAGE);
	cr_assert_not_null(strstr(f.error.text, f.path), "%s", f.error.text);
	cr_assert_not(f.backend->open("/nowhere/at/all/baton.db", &f.store, &f.error));
	cr_assert_eq(f.error.code, ERROR_STORAGE);
	cr_assert_not_null(strstr(f.error.text, "/nowhere/at/all"), "%s", f.error.text);
	fixture_close(&f);
}

Test(sqlite, takes_an_empty_file)
{
	struct fixture f;
	open_sqlite(&f);
	f.backend->close_reader(f.reader);
	f.backend->close(f.store);
	FILE *file = fopen(f.path, "wb");
	cr_assert_not_null(file);
	fclose(file);
	cr_assert(f.backend->open(f.path, &f.store, &f.error), "%s", f.error.text);
	cr_assert(f.backend->open_reader(f.store, &f.reader, &f.error), "%s", f.error.text);
	struct draft one = draft_of(1, 0, 1);
	draft_commit(&f, &one);
	fixture_close(&f);
}

Test(sqlite, one_transaction_is_one_commit_frame)
{
	struct fixture f;
	open_sqlite(&f);
	fixture_reopen(&f); /* removes the commit of the schema from the WAL */
	for (unsigned i = 0; i < 20; i++) {
		struct draft one = draft_of(1, i, 1), two = draft_of(2, 2 * i, 2),
			     late = draft_of(3, 7, 1);
		struct draft *batch[] = { &one, &late, &two };
		cr_assert(drafts_commit(&f, batch, COUNT(batch)));
		cr_assert_eq(draft_try(&f, &late), STORE_CONFLICT);
	}
	size_t frames, commits;
	wal_count(&f, &frames, &commits);
	cr_assert_eq(commits, 20);
	cr_assert_eq(f.store->writer->stats(f.store).commits, 20);
	/* A single step changes three pages: the event, its index, the run. */
	size_t before = frames;
	struct draft one = draft_of(1, 20, 1);
	draft_commit(&f, &one);
	wal_count(&f, &frames, &commits);
	cr_assert_leq(frames - before, 3);
	fixture_close(&f);
}

Test(sqlite, the_wal_is_moved_away_when_it_has_grown)
{
	struct fixture f;
	open_sqlite(&f);
	enum { BODY = 40000 };
	char *body = malloc(BODY);
	memset(body, 'x', BODY);
	size_t frames = 0, commits, most = 0;
	for (int64_t i = 0; i < 400; i++) { /* about 4,000 frames */
		struct draft draft = draft_of(1, i, 1);
		draft.events[0].body = (struct str){ body, BODY };
		draft_commit(&f, &draft);
		if (i % 20 == 0)
			wal_count(&f, &frames, &commits);
		if (frames > most)
			most = frames;
	}
	cr_assert_gt(most, LIMIT_STORE_WAL_FRAMES / 2);
	cr_assert_leq(most, LIMIT_STORE_WAL_FRAMES + 20);
	free(body);
	fixture_close(&f);
}

Test(sqlite, a_reader_never_holds_the_writer_up)
{
	struct fixture f;
	open_sqlite(&f);
	struct draft first = draft_of(1, 0, 1);
	draft_commit(&f, &first);
	/* A reader whose transaction stays open, which ours never do. */
	sqlite3 *database;
	sqlite3_stmt *statement;
	cr_assert_eq(sqlite3_open_v2(f.path, &database, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(database, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	cr_assert_eq(
		sqlite3_prepare_v2(database, "SELECT count(*) FROM events", -1, &statement, NULL),
		SQLITE_OK);
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
	enum { COMMITS = LIMIT_STORE_WAL_FRAMES };
	for (int64_t i = 1; i <= COMMITS; i++) {
		struct draft draft = draft_of(1, i, 1);
		draft_commit(&f, &draft);
	}
	cr_assert_eq(f.store->writer->stats(f.store).commits, COMMITS + 1);
	cr_assert_eq(events_of(&f, 1).count, COMMITS + 1);
	sqlite3_reset(statement);
	cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
	cr_assert_eq(sqlite3_column_int(statement, 0), 1, "it still sees what it saw first");
	sqlite3_finalize(statement);
	/* Only the writer checkpoints, so this connection must not either. */
	sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close(database);
	/* When the reader is closed, the WAL is checkpointed and reset. */
	size_t frames = SIZE_MAX, commits;
	for (int64_t i = COMMITS + 1; frames > LIMIT_STORE_WAL_FRAMES; i++) {
		cr_assert_lt(i, 3 * COMMITS);
		struct draft draft = draft_of(1, i, 1);
		draft_commit(&f, &draft);
		if (i % 50 == 0)
			wal_count(&f, &frames, &commits);
	}
	fixture_close(&f);
}

Test(sqlite, a_failed_write_ends_the_store)
{
	struct fixture f;
	open_sqlite(&f);
	for (int64_t i = 0; i < 5; i++) {
		struct draft draft = draft_of(1, i, 1);
		draft_commit(&f, &draft);
	}
	/* The file size limit is the current size of the WAL. */
	signal(SIGXFSZ, SIG_IGN);
	struct rlimit old, none = { 1000, RLIM_INFINITY };
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	none.rlim_max = old.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	struct draft lost = draft_of(1, 5, 1), late = draft_of(9, 4, 1);
	struct draft *batch[] = { &late, &lost };
	bool committed = drafts_commit(&f, batch, COUNT(batch));
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	cr_assert_not(committed);
	cr_assert_eq(f.error.code, ERROR_STORAGE);
	cr_assert_eq(lost.append.outcome, STORE_PENDING);
	cr_assert_eq(late.append.outcome, STORE_PENDING);
	struct error first = f.error;
	/* The disk works again, but the store stays broken. */
	struct draft *again[] = { &lost };
	f.error = (struct error){ 0 };
	cr_assert_not(drafts_commit(&f, again, 1));
	cr_assert_eq(f.error.code, ERROR_STORAGE);
	cr_assert_str_eq(f.error.text, first.text);
	cr_assert_eq(events_all(&f).count, 5, "readers go on");
	fixture_reopen(&f);
	cr_assert_eq(events_all(&f).count, 5);
	draft_commit(&f, &lost);
	fixture_close(&f);
}

/* The child process: appends to three runs forever and writes to the pipe after each commit. */
static _Noreturn void load(const struct store_backend *backend, const char *path, int pipe_end)
{
	struct store *store;
	struct store_reader *reader;
	struct arena arena = { 0 };
	struct error error;
	if (!backend->open(path, &store, &error) || !backend->open_reader(store, &reader, &error))
		_exit(3);
	int64_t seq = 0;
	struct uuid first = id_of(0);
	struct store_run row;
	bool found;
	if (!reader->ops->read_run(reader, &first, &arena, &row, &found, &error))
		_exit(3);
	if (found)
		seq = row.seq;
	for (;; seq++) {
		struct store_append appends[3], *batch[3];
		struct store_event event = { .type = S("t"), .at = seq + 1, .body = S("{}") };
		for (unsigned i = 0; i < 3; i++) {
			appends[i] = (struct store_append){ .expected_seq = seq,
							    .run = { .id = id_of(i) },
							    .events = &event,
							    .event_count = 1 };
			batch[i] = &appends[i];
		}
		if (!store->writer->commit(store, batch, 3, &error))
			_exit(4);
		int64_t told = seq + 1;
		if (appends[2].outcome != STORE_COMMITTED ||
		    write(pipe_end, &told, sizeof(told)) != sizeof(told))
			_exit(5);
	}
}

Test(sqlite, a_killed_process_loses_nothing_acknowledged, .timeout = 600)
{
	struct fixture f;
	open_sqlite(&f);
	f.backend->close_reader(f.reader);
	f.backend->close(f.store);
	int64_t acknowledged = 0;
	for (int round = 0; round < 20; round++) {
		int ends[2];
		cr_assert_eq(pipe(ends), 0);
		pid_t child = fork();
		cr_assert_geq(child, 0);
		if (child == 0) {
			close(ends[0]);
			load(f.backend, f.path, ends[1]);
		}
		close(ends[1]);
		int64_t told;
		for (int i = 0; i < 3 + 7 * round % 20; i++) {
			cr_assert_eq(read(ends[0], &told, sizeof(told)), (ssize_t)sizeof(told));
			acknowledged = told;
		}
		cr_assert_eq(kill(child, SIGKILL), 0);
		int status;
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert(WIFSIGNALED(status), "the load ended by itself: %d", status);
		while (read(ends[0], &told, sizeof(told)) == sizeof(told))
			acknowledged = told;
		close(ends[0]);

		cr_assert(f.backend->open(f.path, &f.store, &f.error), "%s", f.error.text);
		cr_assert(f.backend->open_reader(f.store, &f.reader, &f.error));
		arena_reset(&f.arena);
		struct store_event_page page = events_all(&f);
		cr_assert_geq(page.count, 3 * (size_t)acknowledged);
		cr_assert_eq(page.count % 3, 0, "a batch is whole or not there");
		for (size_t i = 0; i < page.count; i++) {
			cr_assert_eq(page.at[i].position, (int64_t)i + 1);
			cr_assert_eq(page.at[i].seq, (int64_t)i / 3 + 1);
			cr_assert_eq(page.at[i].at, page.at[i].seq);
		}
		cr_assert_eq(run_of(&f, 2).seq, (int64_t)page.count / 3);
		f.backend->close_reader(f.reader);
		f.backend->close(f.store);
	}
	f.store = NULL;
	f.reader = NULL;
	fixture_close(&f);
}

Test(sqlite, passes_its_points_in_order)
{
	struct fixture f;
	open_sqlite(&f);
	char trace[112], line[64];
	snprintf(trace, sizeof(trace), "%s/points", f.folder);
	setenv("BATON_POINTS_TRACE", trace, 1);
	failpoint_setup();
	struct draft one = draft_of(1, 0, 1), late = draft_of(1, 9, 1);
	draft_commit(&f, &one);
	cr_assert_eq(draft_try(&f, &late), STORE_CONFLICT);
	static const char *const expected[] = { "store.before_begin\n", "store.before_commit\n",
						"store.after_commit\n", "store.after_mark\n",
						"store.before_begin\n" };
	FILE *file = fopen(trace, "r");
	cr_assert_not_null(file);
	for (size_t i = 0; i < COUNT(expected); i++) {
		cr_assert_not_null(fgets(line, sizeof(line), file));
		cr_assert_str_eq(line, expected[i]);
	}
	cr_assert_null(fgets(line, sizeof(line), file));
	fclose(file);
	fixture_close(&f);
}

Test(sqlite, is_full_by_order)
{
	struct fixture f;
	open_sqlite(&f);
	setenv("BATON_POINTS", "store.before_commit=full@2-3", 1);
	failpoint_setup();
	struct draft one = draft_of(1, 0, 1), two = draft_of(1, 1, 1);
	draft_commit(&f, &one);
	cr_assert_eq(draft_try(&f, &two), STORE_FULL);
	cr_assert_eq(draft_try(&f, &two), STORE_FULL);
	cr_assert_eq(events_all(&f).count, 1);
	draft_commit(&f, &two);
	cr_assert_eq(f.store->writer->stats(f.store).refusals, 2);
	cr_assert_eq(f.store->writer->stats(f.store).commits, 2);
	fixture_close(&f);
}

Test(sqlite, a_copy_is_a_store_of_that_moment)
{
	struct fixture f;
	open_sqlite(&f);
	for (int64_t i = 0; i < 40; i++) {
		struct draft draft = draft_of((unsigned)(i % 4), i / 4, 1);
		draft_commit(&f, &draft);
	}
	char copy[112], twice[128];
	snprintf(copy, sizeof(copy), "%s/copy.db", f.folder);
	snprintf(twice, sizeof(twice), "%s.part", copy);
	struct str timeline = timeline_of(&f);
	int64_t bytes = 0;
	cr_assert(f.reader->admin->backup(f.reader, copy, &bytes, &f.error), "%s", f.error.text);
	cr_assert_neq(access(twice, F_OK), 0, "nothing else is left");
	struct stat status;
	cr_assert_eq(stat(copy, &status), 0);
	cr_assert_eq(status.st_mode & 0777, 0600);
	cr_assert_eq(status.st_size, bytes);
	cr_assert_not(f.reader->admin->backup(f.reader, copy, &bytes, &f.error));
	cr_assert_eq(f.error.code, ERROR_CONFLICT);
	cr_assert_not(f.reader->admin->backup(f.reader, "/nowhere/at/all.db", &bytes, &f.error));
	cr_assert_eq(f.error.code, ERROR_IO);
	struct draft later = draft_of(9, 0, 1);
	draft_commit(&f, &later);
	/* The backup has ended its read transaction: the WAL can be reset. */
	cr_assert_eq(events_all(&f).count, 41);

	struct fixture other = { .backend = f.backend };
	cr_assert(f.backend->open(copy, &other.store, &other.error), "%s", other.error.text);
	cr_assert(f.backend->open_reader(other.store, &other.reader, &other.error));
	cr_assert_str(timeline_of(&other), timeline);
	struct draft more = draft_of(1, 10, 1);
	draft_commit(&other, &more);
	other.backend->close_reader(other.reader);
	other.backend->close(other.store);
	arena_done(&other.arena);
	fixture_close(&f);
}

Test(sqlite, a_check_finds_what_was_broken_by_hand)
{
	static const struct {
		const char *sql, *found;
	} cases[] = {
		{ "DELETE FROM events WHERE run = 1 AND seq = 2", "have a gap" },
		{ "UPDATE runs SET seq = 9 WHERE key = 2", "has row seq 9 and newest event 3" },
		{ "DELETE FROM events WHERE run = 2", "newest event 0" },
		{ "DELETE FROM runs WHERE key = 1", "belong to no run" },
		{ "UPDATE effects SET run = 77", "belongs to no run" },
		{ "UPDATE runs SET ended_at = 5", "its run has ended" },
		{ "UPDATE runs SET floor = 2 WHERE key = 1", "newest snapshot 0" },
		{ "UPDATE runs SET floor = 2 WHERE key = 1", "no purge will delete" },
		{ "INSERT INTO snapshots VALUES (1, 9, NULL, '{}')", "above the seq of its run" },
		{ "DELETE FROM blobs", "has a reference count, but is not stored" },
		{ "DELETE FROM names", "is stored, but has no reference count" },
		{ "UPDATE names SET uses = 3", "has reference count 3, but 2 rows refer to it" },
		{ "UPDATE events SET names = x'0000000000000009' WHERE seq = 1",
		  "2 rows refer to value number 9, which is not stored" },
		{ "UPDATE tallies SET runs = 7", "has 7 runs and the table of runs 2" },
		{ "UPDATE tallies SET took = 7", "their durations differ" },
		{ "UPDATE waiting SET effects = 7 WHERE kind = 'timer'",
		  "7 waiting effects of kind timer are counted, but" },
		{ "UPDATE runs SET state = 'lost' WHERE key = 1",
		  "has 0 runs and the table of runs 1" },
		{ "INSERT INTO documents VALUES ('k', 'n', 1, 1, '{}')", "the system stream" },
		{ "INSERT INTO counters VALUES ('c', -1)", "counter c is negative: -1" },
		{ "UPDATE runs SET ended_at = 5, stepping = 1; DELETE FROM effects",
		  "is marked for recovery" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fixture f;
		open_sqlite(&f);
		for (unsigned run = 1; run <= 2; run++) {
			struct draft draft = draft_of(run, 0, 3);
			draft.effect = (struct store_effect){ .id = id_of(run), .kind = S("tool") };
			draft.append.opened_count = 1;
			draft.blob = (struct store_blob){ hash_of(S("value")), S("value") };
			draft.append.blob_count = 1;
			draft.names[0] = draft.blob.hash;
			draft.events[0].name_count = 1;
			draft_commit(&f, &draft);
		}
		struct store_check check;
		cr_assert(f.reader->admin->check(f.reader, &f.arena, &check, &f.error), "%s",
			  f.error.text);
		cr_assert_eq(check.count, 0);
		meddle(&f, cases[i].sql);
		cr_assert(f.reader->admin->check(f.reader, &f.arena, &check, &f.error), "%s",
			  f.error.text);
		bool found = false;
		for (size_t p = 0; p < check.count; p++) {
			size_t at;
			found = found ||
				str_find(check.problems[p], str_from_c(cases[i].found), &at);
		}
		cr_assert(found, "%s was not found", cases[i].sql);
		fixture_close(&f);
	}
}

/* Whoever has met damage while reading tells the writer: what is built on a file that is not what
 * was written is not acknowledged. */
static void expect_no_commit(struct fixture *f)
{
	cr_assert_eq(f->error.code, ERROR_STORAGE);
	f->error = (struct error){ 0 };
	struct draft more = draft_of(7, 0, 1), *batch[] = { &more };
	cr_assert_not(drafts_commit(f, batch, 1), "a commit was acknowledged after damage");
	cr_assert_eq(f->error.code, ERROR_STORAGE);
	cr_assert_eq(more.append.outcome, STORE_PENDING);
}

static void with_a_value(struct fixture *f, struct hash *out_hash)
{
	open_sqlite(f);
	struct draft draft = draft_of(1, 0, 3);
	draft.blob = (struct store_blob){ hash_of(S("value")), S("value") };
	draft.append.blob_count = 1;
	draft.names[0] = draft.blob.hash;
	draft.events[0].name_count = 1;
	draft_commit(f, &draft);
	*out_hash = draft.blob.hash;
}

Test(sqlite, a_value_that_is_another_ends_the_store)
{
	struct fixture f;
	struct hash hash;
	struct str bytes;
	bool found;
	with_a_value(&f, &hash);
	meddle(&f, "UPDATE blobs SET bytes = CAST('other' AS BLOB)");
	cr_assert_not(
		f.reader->ops->read_blob(f.reader, &hash, &f.arena, &bytes, &found, &f.error));
	expect_no_commit(&f);
	fixture_close(&f);
}

Test(sqlite, a_row_that_cannot_be_ends_the_store)
{
	struct fixture f;
	struct hash hash;
	struct store_run_page page;
	with_a_value(&f, &hash);
	meddle(&f, "UPDATE runs SET id = x'00'");
	cr_assert_not(
		f.reader->ops->list_runs(f.reader, NULL, NULL, 10, &f.arena, &page, &f.error));
	expect_no_commit(&f);
	fixture_close(&f);
}

Test(sqlite, a_page_that_changed_on_the_disk_ends_the_store)
{
	struct fixture f;
	struct hash hash;
	struct store_event_page page;
	with_a_value(&f, &hash);
	/* Everything is in the file itself, then one bit of an event's text is not. */
	meddle(&f, "UPDATE events SET body = '{\"marker\":1}'; PRAGMA wal_checkpoint(TRUNCATE)");
	AUTO(buf) bytes = { 0 };
	char piece[4096];
	FILE *file = fopen(f.path, "r+b");
	cr_assert_not_null(file);
	for (size_t size; (size = fread(piece, 1, sizeof(piece), file)) > 0;)
		buf_add(&bytes, (struct str){ piece, size });
	size_t at;
	cr_assert(str_find(buf_str(&bytes), S("marker"), &at));
	cr_assert_eq(fseek(file, (long)at, SEEK_SET), 0);
	cr_assert_eq(fputc('n', file), 'n');
	cr_assert_eq(fclose(file), 0);
	cr_assert_not(f.reader->ops->read_all(f.reader, 0, 10, &f.arena, &page, &f.error));
	expect_no_commit(&f);
	fixture_close(&f);
}

Test(sqlite, a_vacuum_gives_pages_back)
{
	struct fixture f;
	open_sqlite(&f);
	enum { BODY = 40000 };
	char *body = malloc(BODY);
	memset(body, 'x', BODY);
	for (int64_t i = 0; i < 20; i++) {
		struct draft draft = draft_of(1, i, 1);
		draft.events[0].body = (struct str){ body, BODY };
		draft_commit(&f, &draft);
	}
	meddle(&f, "DELETE FROM events WHERE seq < 20");
	struct store_size before, after;
	cr_assert(f.reader->admin->measure(f.reader, &before, &f.error), "%s", f.error.text);
	cr_assert_gt(before.free_bytes, 100 * PAGE_BYTES);
	cr_assert(f.store->admin->vacuum(f.store, &f.error), "%s", f.error.text);
	cr_assert(f.reader->admin->measure(f.reader, &after, &f.error), "%s", f.error.text);
	cr_assert_eq(after.free_bytes, 0);
	cr_assert_eq(store_detail(&after.details, "wal_bytes"), 0,
		     "a deleted row remains in neither file");
	cr_assert_lt(after.bytes, before.bytes / 5);
	cr_assert_eq(after.events, 1);
	struct draft next = draft_of(1, 20, 1);
	draft_commit(&f, &next);
	cr_assert_eq(next.append.first_position, 21);
	free(body);
	fixture_close(&f);
}
