/* bench/floor.c -- the baseline of workload W1: the same rows, written by a bare C loop.
 *
 * There is no engine, no network and no scheduling: plain SQLite calls write only the rows that a
 * chain of ten steps must store, to the store's own tables with its settings.  c runs advance in
 * lockstep, so that each commit carries one step of each run: the best possible group commit.  The
 * first commit of a run also has its run.created, the last its run.finished.
 *
 *	bench_floor [folder [runs]]
 *
 * The database is in a new folder under `folder` (default: the current one) and is removed at the end.
 * The result is a bound for this machine at this time; compare it only with a server that was
 * measured at the same time.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "document.h"
#include "store/store_sqlite_schema.h"

enum { STEPS = 10, CLIENTS_MOST = 64, WARM_RUNS = 30 };

enum { BEGIN, COMMIT, RUN_INSERT, RUN_UPDATE, EVENT_INSERT, STATEMENTS };

static const char *const texts[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[RUN_INSERT] = "INSERT INTO runs (id, stepping, name, state, created_at, updated_at,"
		       " ended_at, seq, summary)"
		       " VALUES (?1, 1, 'w1-chain', 'running', ?2, ?2, 0, ?3, '{}')",
	[RUN_UPDATE] = "UPDATE runs SET state = ?2, updated_at = ?3, ended_at = ?4, seq = ?5"
		       " WHERE key = ?1",
	[EVENT_INSERT] = "INSERT INTO events (position, run, seq, at, type, body)"
			 " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
};

struct run {
	char id[DOCUMENT_ID_SIZE];
	sqlite3_int64 key, seq;
};

struct floor {
	sqlite3 *database;
	sqlite3_stmt *statements[STATEMENTS];
	struct documents documents;
	sqlite3_int64 position;
	unsigned runs_made;
	int frames;
};

static _Noreturn void stop(struct floor *floor, const char *doing)
{
	fprintf(stderr, "bench_floor: %s: %s\n", doing, sqlite3_errmsg(floor->database));
	exit(1);
}

static void step(struct floor *floor, int which)
{
	sqlite3_stmt *statement = floor->statements[which];
	if (sqlite3_step(statement) != SQLITE_DONE)
		stop(floor, texts[which]);
	sqlite3_reset(statement);
}

static sqlite3_int64 now_us(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (sqlite3_int64)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static double cpu_us(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void event_write(struct floor *floor, struct run *run, const char *type, const char *body,
			size_t size)
{
	sqlite3_stmt *statement = floor->statements[EVENT_INSERT];
	sqlite3_bind_int64(statement, 1, ++floor->position);
	sqlite3_bind_int64(statement, 2, run->key);
	sqlite3_bind_int64(statement, 3, ++run->seq);
	sqlite3_bind_int64(statement, 4, now_us(CLOCK_REALTIME));
	sqlite3_bind_text(statement, 5, type, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 6, body, (int)size, SQLITE_STATIC);
	step(floor, EVENT_INSERT);
}

static void run_create(struct floor *floor, struct run *run)
{
	char body[DOCUMENT_SIZE];
	unsigned char id[16] = { 0 };
	document_id(floor->runs_made++, run->id);
	memcpy(id, run->id, DOCUMENT_ID_SIZE);
	sqlite3_stmt *statement = floor->statements[RUN_INSERT];
	sqlite3_bind_blob(statement, 1, id, sizeof(id), SQLITE_STATIC);
	sqlite3_bind_int64(statement, 2, now_us(CLOCK_REALTIME));
	sqlite3_bind_int64(statement, 3, 2);
	step(floor, RUN_INSERT);
	run->key = sqlite3_last_insert_rowid(floor->database);
	run->seq = 0;
	size_t size = document_write(&floor->documents, run->id, 0, body);
	event_write(floor, run, "run.created", body, size);
}

static void run_step(struct floor *floor, struct run *run, int number)
{
	char body[DOCUMENT_SIZE];
	if (number == 1)
		run_create(floor, run);
	size_t size = document_write(&floor->documents, run->id, number, body);
	event_write(floor, run, "step.finished", body, size);
	if (number == STEPS)
		event_write(floor, run, "run.finished", "{}", 2);
	if (number == 1)
		return; /* the row that was just inserted is already up to date */
	sqlite3_int64 now = now_us(CLOCK_REALTIME);
	sqlite3_stmt *statement = floor->statements[RUN_UPDATE];
	sqlite3_bind_int64(statement, 1, run->key);
	sqlite3_bind_text(statement, 2, number == STEPS ? "succeeded" : "running", -1,
			  SQLITE_STATIC);
	sqlite3_bind_int64(statement, 3, now);
	sqlite3_bind_int64(statement, 4, number == STEPS ? now : 0);
	sqlite3_bind_int64(statement, 5, run->seq);
	step(floor, RUN_UPDATE);
}

static int frames_counted(void *context, sqlite3 *database, const char *name, int frames)
{
	(void)database;
	(void)name;
	((struct floor *)context)->frames = frames;
	return SQLITE_OK;
}

/* `count` interleaved runs, from their first step to their last. */
static void group_run(struct floor *floor, unsigned count)
{
	struct run runs[CLIENTS_MOST];
	for (int number = 1; number <= STEPS; number++) {
		step(floor, BEGIN);
		for (unsigned i = 0; i < count; i++)
			run_step(floor, &runs[i], number);
		step(floor, COMMIT);
		if (floor->frames > LIMIT_STORE_WAL_FRAMES &&
		    sqlite3_wal_checkpoint_v2(floor->database, NULL, SQLITE_CHECKPOINT_PASSIVE,
					      NULL, NULL) != SQLITE_OK)
			stop(floor, "checkpoint");
	}
}

static void floor_open(struct floor *floor, const char *path)
{
	memset(floor, 0, sizeof(*floor));
	documents_init(&floor->documents);
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	if (sqlite3_open_v2(path, &floor->database, flags, NULL) != SQLITE_OK)
		stop(floor, path);
	static const char *const settings[] = {
		STORE_SQLITE_SETTINGS,        "PRAGMA journal_mode = WAL",
		STORE_SQLITE_WRITER_SETTINGS, "BEGIN;",
		STORE_SQLITE_SCHEMA,          STORE_SQLITE_DROP_RUN_LISTS "COMMIT;"
	};
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (sqlite3_exec(floor->database, settings[i], NULL, NULL, NULL) != SQLITE_OK)
			stop(floor, settings[i]);
	sqlite3_wal_hook(floor->database, frames_counted, floor);
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(floor->database, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &floor->statements[i], NULL) != SQLITE_OK)
			stop(floor, texts[i]);
}

static void floor_close(struct floor *floor)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(floor->statements[i]);
	sqlite3_close(floor->database);
}

static void measure(const char *path, unsigned clients, unsigned runs)
{
	static struct floor floor;
	floor_open(&floor, path);
	while (floor.runs_made < WARM_RUNS)
		group_run(&floor, clients);
	unsigned warm = floor.runs_made;
	sqlite3_int64 begun = now_us(CLOCK_MONOTONIC);
	double cpu = cpu_us();
	while (floor.runs_made - warm < runs)
		group_run(&floor, clients);
	double steps = (double)(floor.runs_made - warm) * STEPS;
	double seconds = (double)(now_us(CLOCK_MONOTONIC) - begun) / 1e6;
	printf("{\"bench\":\"floor\",\"clients\":%u,\"runs\":%u,\"steps_per_second\":%.0f,"
	       "\"cpu_us_per_step\":%.2f}\n",
	       clients, floor.runs_made - warm, steps / seconds, (cpu_us() - cpu) / steps);
	fflush(stdout);
	floor_close(&floor);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const unsigned all[] = { 1, 16, 64 };
	char folder[4096], path[4200];
	long runs = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
	long only = argc > 3 ? strtol(argv[3], NULL, 10) : 0; /* number of clients */
	if (argc > 4 || runs < 1 || runs > 1000000 || only < 0 || only > CLIENTS_MOST) {
		fprintf(stderr, "usage: bench_floor [folder [runs [clients]]]\n");
		return 2;
	}
	snprintf(folder, sizeof(folder), "%s/floor-XXXXXX", argc > 1 ? argv[1] : ".");
	if (mkdtemp(folder) == NULL) {
		perror(folder);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/floor.db", folder);
	for (size_t i = 0; only == 0 && i < sizeof(all) / sizeof(all[0]); i++)
		measure(path, all[i], (unsigned)runs);
	if (only > 0)
		measure(path, (unsigned)only, (unsigned)runs);
	rmdir(folder);
	return 0;
}
