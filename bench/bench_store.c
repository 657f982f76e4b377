/* bench/bench_store.c -- the store alone: durable appends compared with a bare C loop, bytes on disk,
 * reads.
 *
 * Each producer appends one event of 200 bytes to its own run, through the writer's queue on a real
 * event loop, and waits for the answer before the next.  The bare loop commits the same rows to the
 * same tables with plain SQLite, in batches of the writer's average size.  Rounds of both alternate,
 * so that variations of the disk affect both; the medians are compared.
 *
 *	bench_store [folder [events]]
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "os/loop.h"
#include "store/store_sqlite_schema.h"
#include "store/writer.h"

enum { BODY = 200, PRODUCERS_MOST = 64, ROUNDS = 15, READ_EVENTS = 100000, READ_ROUNDS = 20 };

static char body[BODY];
static char folder[4096];

static _Noreturn void stop(const char *doing, const char *why)
{
	fprintf(stderr, "bench_store: %s: %s\n", doing, why);
	exit(1);
}

static double seconds_of(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double now_s(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

static const char *file_name(const char *name)
{
	static char path[4200];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void files_remove(const char *name)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-reserve", "-mark" };
	for (size_t i = 0; i < COUNT(ends); i++) {
		char path[4300];
		snprintf(path, sizeof(path), "%s%s", file_name(name), ends[i]);
		unlink(path);
	}
}

static struct uuid id_of(unsigned number)
{
	struct uuid id = { .bytes = { [6] = 0x40, [8] = 0x80 } };
	memcpy(id.bytes, &number, sizeof(number));
	return id;
}

/* ---- through the writer ---------------------------------------------------------------- */

struct producer {
	struct writer_ticket ticket; /* first: the ticket is the producer */
	struct store_event event;
	struct bench *bench;
};

struct bench {
	struct loop *loop;
	struct writer *writer;
	struct producer producers[PRODUCERS_MOST];
	long left; /* events to begin */
	unsigned waiting;
};

static void producer_go(struct producer *producer)
{
	struct bench *bench = producer->bench;
	if (bench->left-- <= 0) {
		if (--bench->waiting == 0)
			loop_stop(bench->loop);
		return;
	}
	writer_append(bench->writer, &producer->ticket);
}

static void producer_done(struct writer_ticket *ticket)
{
	if (ticket->append.outcome != STORE_COMMITTED)
		stop("append", "it was refused");
	ticket->append.expected_seq++;
	producer_go((struct producer *)ticket);
}

static void failed(void *context, const struct error *error)
{
	(void)context;
	stop("commit", error->text);
}

static struct store_append append_of(unsigned run, const struct store_event *event)
{
	return (struct store_append){ .run = { .id = id_of(run),
					       .name = S("bench"),
					       .state = S("running"),
					       .created_at = 1,
					       .updated_at = 2,
					       .summary = S("{}") },
				      .events = event,
				      .event_count = 1 };
}

static struct store *store_open(const char *name)
{
	struct store *store;
	struct error error;
	const struct store_backend *backend = store_backend_find(S("sqlite"), &error);
	if (!backend->open(file_name(name), &store, &error))
		stop("open", error.text);
	return store;
}

/* Returns events per second; *out_batch is the average number of events per commit. */
static double writer_round(unsigned producers, long events, double *out_batch)
{
	static struct bench bench;
	struct error error;
	struct store *store = store_open("store.db");
	memset(&bench, 0, sizeof(bench));
	if (!loop_new(&bench.loop, &error))
		stop("loop", error.text);
	bench.writer = writer_new(loop_platform(bench.loop), store, failed, NULL);
	bench.left = events;
	bench.waiting = producers;
	for (unsigned i = 0; i < producers; i++) {
		struct producer *producer = &bench.producers[i];
		producer->bench = &bench;
		producer->event = (struct store_event){ .type = S("step.computed"),
							.at = 1794787039539585,
							.body = { body, BODY } };
		producer->ticket.append = append_of(i, &producer->event);
		producer->ticket.done = producer_done;
		producer_go(producer);
	}
	double begun = now_s();
	loop_run(bench.loop);
	double seconds = now_s() - begun;
	struct store_stats stats = store->writer->stats(store);
	*out_batch = (double)stats.events / (double)stats.commits;
	writer_free(bench.writer);
	loop_free(bench.loop);
	store->backend->close(store);
	files_remove("store.db");
	return (double)events / seconds;
}

/* ---- the bare loop ---------------------------------------------------------------------- */

struct bare {
	sqlite3 *database;
	sqlite3_stmt *begin, *commit, *insert, *update, *event;
	int frames;
};

static void bare_step(struct bare *bare, sqlite3_stmt *statement)
{
	if (sqlite3_step(statement) != SQLITE_DONE)
		stop("bare loop", sqlite3_errmsg(bare->database));
	sqlite3_reset(statement);
}

static int frames_counted(void *context, sqlite3 *database, const char *name, int frames)
{
	(void)database;
	(void)name;
	((struct bare *)context)->frames = frames;
	return SQLITE_OK;
}

static void bare_open(struct bare *bare)
{
	memset(bare, 0, sizeof(*bare));
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	if (sqlite3_open_v2(file_name("bare.db"), &bare->database, flags, NULL) != SQLITE_OK)
		stop("bare loop", sqlite3_errmsg(bare->database));
	/* In parts, because C promises no longer texts than 4095 characters. */
	static const char *const settings[] = {
		STORE_SQLITE_SETTINGS "PRAGMA journal_mode = WAL;" STORE_SQLITE_WRITER_SETTINGS
				      "BEGIN;",
		STORE_SQLITE_SCHEMA,
		STORE_SQLITE_DROP_RUN_LISTS "COMMIT;",
	};
	for (size_t i = 0; i < COUNT(settings); i++)
		if (sqlite3_exec(bare->database, settings[i], NULL, NULL, NULL) != SQLITE_OK)
			stop("bare loop", sqlite3_errmsg(bare->database));
	sqlite3_wal_hook(bare->database, frames_counted, bare);
	const struct {
		const char *sql;
		sqlite3_stmt **out;
	} texts[] = {
		{ "BEGIN IMMEDIATE", &bare->begin },
		{ "COMMIT", &bare->commit },
		{ "INSERT INTO runs (key, id, stepping, name, state, created_at, updated_at,"
		  " ended_at, seq, summary)"
		  " VALUES (?1, ?2, 0, 'bench', 'running', 1, 2, 0, 1, '{}')",
		  &bare->insert },
		{ "UPDATE runs SET created_at = 1, updated_at = 2, ended_at = 0, seq = ?2,"
		  " summary = '{}' WHERE key = ?1",
		  &bare->update },
		{ "INSERT INTO events (position, run, seq, at, kept, type, names, body)"
		  " VALUES (?1, ?2, ?3, 1794787039539585, 0, 'step.computed', NULL, ?4)",
		  &bare->event },
	};
	for (size_t i = 0; i < COUNT(texts); i++)
		if (sqlite3_prepare_v2(bare->database, texts[i].sql, -1, texts[i].out, NULL) !=
		    SQLITE_OK)
			stop(texts[i].sql, sqlite3_errmsg(bare->database));
}

static void bare_close(struct bare *bare)
{
	sqlite3_stmt *const statements[] = { bare->begin, bare->commit, bare->insert, bare->update,
					     bare->event };
	for (size_t i = 0; i < COUNT(statements); i++)
		sqlite3_finalize(statements[i]);
	sqlite3_close(bare->database);
	files_remove("bare.db");
}

static void bare_append(struct bare *bare, unsigned run, sqlite3_int64 seq, sqlite3_int64 position)
{
	sqlite3_stmt *row = seq == 1 ? bare->insert : bare->update;
	struct uuid id = id_of(run);
	sqlite3_bind_int64(row, 1, run + 1);
	if (seq == 1)
		sqlite3_bind_blob(row, 2, id.bytes, sizeof(id.bytes), SQLITE_STATIC);
	else
		sqlite3_bind_int64(row, 2, seq);
	bare_step(bare, row);
	sqlite3_bind_int64(bare->event, 1, position);
	sqlite3_bind_int64(bare->event, 2, run + 1);
	sqlite3_bind_int64(bare->event, 3, seq);
	sqlite3_bind_text(bare->event, 4, body, BODY, SQLITE_STATIC);
	bare_step(bare, bare->event);
}

static double bare_round(unsigned producers, double batch, long events)
{
	static struct bare bare;
	bare_open(&bare);
	double begun = now_s(), due = 0;
	long written = 0;
	while (written < events) {
		bare_step(&bare, bare.begin);
		for (due += batch; (double)written < due && written < events; written++)
			bare_append(&bare, (unsigned)(written % producers), written / producers + 1,
				    written + 1);
		bare_step(&bare, bare.commit);
		if (bare.frames > LIMIT_STORE_WAL_FRAMES)
			sqlite3_wal_checkpoint_v2(bare.database, NULL, SQLITE_CHECKPOINT_PASSIVE,
						  NULL, NULL);
	}
	double seconds = now_s() - begun;
	bare_close(&bare);
	return (double)events / seconds;
}

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

struct pair {
	double rate, bare, batch;
};

static int by_ratio(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;
	double one = a->rate / a->bare, other = b->rate / b->bare;
	return one < other ? -1 : one > other;
}

/* The median pair of many short rounds: a slow moment of the disk spoils only one. */
static void measure_appends(unsigned producers, long events)
{
	struct pair pairs[ROUNDS];
	for (int i = 0; i < ROUNDS; i++) {
		pairs[i].rate = writer_round(producers, events, &pairs[i].batch);
		pairs[i].bare = bare_round(producers, pairs[i].batch, events);
	}
	qsort(pairs, ROUNDS, sizeof(*pairs), by_ratio);
	const struct pair *middle = &pairs[ROUNDS / 2];
	printf("{\"bench\":\"appends\",\"producers\":%u,\"batch\":%.1f,\"per_second\":%.0f,"
	       "\"bare\":%.0f,\"ratio\":%.2f}\n",
	       producers, middle->batch, middle->rate, middle->bare, middle->rate / middle->bare);
	fflush(stdout);
}

/* ---- bytes and reading ------------------------------------------------------------------- */

/* `runs` interleaved runs with equal numbers of events. */
static void store_fill(struct store *store, unsigned runs, long each)
{
	enum { AT_ONCE = 500 };
	static struct store_event events[AT_ONCE];
	for (size_t i = 0; i < AT_ONCE; i++)
		events[i] = (struct store_event){ .type = S("step.computed"),
						  .at = 1794787039539585 + (int64_t)i,
						  .body = { body, BODY } };
	size_t count = runs == 1 ? AT_ONCE : 1;
	struct store_append appends[PRODUCERS_MOST], *batch[PRODUCERS_MOST];
	for (long seq = 0; seq < each; seq += (long)count) {
		for (unsigned i = 0; i < runs; i++) {
			appends[i] = append_of(i, events);
			appends[i].event_count = count;
			appends[i].expected_seq = seq;
			batch[i] = &appends[i];
		}
		struct error error;
		if (!store->writer->commit(store, batch, runs, &error))
			stop("commit", error.text);
	}
}

static void measure_bytes(unsigned runs)
{
	long each = READ_EVENTS / runs;
	struct store *store = store_open("bytes.db");
	store_fill(store, runs, each);
	store->backend->close(store); /* the last connection to close checkpoints the WAL */
	struct stat status;
	if (stat(file_name("bytes.db"), &status) != 0)
		stop("bytes", "no file");
	double events = (double)each * runs;
	printf("{\"bench\":\"bytes\",\"runs\":%u,\"events\":%.0f,\"bytes\":%lld,\"ratio\":%.2f}\n",
	       runs, events, (long long)status.st_size, (double)status.st_size / (events * BODY));
	files_remove("bytes.db");
}

/* Events per second, by wall clock and by CPU time. */
static double read_round(struct store_reader *reader, size_t page, clockid_t clock)
{
	struct uuid run = id_of(0);
	struct arena arena = { 0 };
	struct store_event_page rows;
	struct error error;
	int64_t after = 0;
	double begun = seconds_of(clock);
	do {
		arena_reset(&arena);
		if (!reader->ops->read_events(reader, &run, after, page, &arena, &rows, &error))
			stop("read", error.text);
		if (rows.count > 0)
			after = rows.at[rows.count - 1].seq;
	} while (rows.count == page);
	double seconds = seconds_of(clock) - begun;
	arena_done(&arena);
	if (after != READ_EVENTS)
		stop("read", "events are missing");
	return READ_EVENTS / seconds;
}

static void measure_reading(void)
{
	static const size_t pages[] = { LIMIT_STREAM_PAGE_EVENTS, LIMIT_PAGE_ITEMS, READ_EVENTS };
	struct store *store = store_open("read.db");
	struct store_reader *reader;
	struct error error;
	store_fill(store, 1, READ_EVENTS);
	if (!store->backend->open_reader(store, &reader, &error))
		stop("reader", error.text);
	for (size_t i = 0; i < COUNT(pages); i++) {
		static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID };
		double best[] = { 0, 0 };
		for (int round = 0; round < READ_ROUNDS; round++) {
			double rate = read_round(reader, pages[i], clocks[round % 2]);
			best[round % 2] = rate > best[round % 2] ? rate : best[round % 2];
		}
		printf("{\"bench\":\"reading\",\"page\":%zu,\"events_per_second\":%.0f,"
		       "\"events_per_cpu_second\":%.0f}\n",
		       pages[i], best[0], best[1]);
	}
	store->backend->close_reader(reader);
	store->backend->close(store);
	files_remove("read.db");
}

/* ---- purging ----------------------------------------------------------------------------- */

static int64_t mono_us(struct platform *system)
{
	(void)system;
	return (int64_t)(seconds_of(CLOCK_MONOTONIC) * 1e6);
}

/* How long one slice of a retention purge blocks the writer. */
static void measure_purging(void)
{
	static const struct platform_ops ops = { .mono_us = mono_us };
	static double took[READ_EVENTS];
	struct platform clock = { &ops };
	struct store *store = store_open("purge.db");
	store_fill(store, 1, READ_EVENTS);
	struct store_event last = { .type = S("run.compacted"), .at = 1, .body = S("{}") };
	struct store_append append = append_of(0, &last);
	append.expected_seq = READ_EVENTS;
	append.snapshot.body = S("{}");
	append.floor = READ_EVENTS + 1;
	struct store_append *batch[] = { &append };
	struct error error;
	if (!store->writer->commit(store, batch, 1, &error) || append.outcome != STORE_COMMITTED)
		stop("compact", error.text);
	size_t slices = 0;
	for (bool more = true; more; slices++) {
		double begun = seconds_of(CLOCK_MONOTONIC);
		struct store_deadline deadline = { &clock,
						   mono_us(&clock) + LIMIT_PURGE_MS * 1000 };
		if (!store->admin->purge(store, LIMIT_PURGE_ROWS, &deadline, &more, &error))
			stop("purge", error.text);
		took[slices] = (seconds_of(CLOCK_MONOTONIC) - begun) * 1000;
	}
	qsort(took, slices, sizeof(took[0]), by_size);
	printf("{\"bench\":\"purging\",\"events\":%llu,\"slices\":%zu,\"median_ms\":%.2f,"
	       "\"longest_ms\":%.2f}\n",
	       (unsigned long long)store->writer->stats(store).purged, slices, took[slices / 2],
	       took[slices - 1]);
	store->backend->close(store);
	files_remove("purge.db");
}

int main(int argc, char **argv)
{
	long events = argc > 2 ? strtol(argv[2], NULL, 10) : 4000;
	if (argc > 3 || events < PRODUCERS_MOST || events > 10000000) {
		fprintf(stderr, "usage: bench_store [folder [events]]\n");
		return 2;
	}
	memset(body, 'x', sizeof(body));
	snprintf(folder, sizeof(folder), "%s/store-XXXXXX", argc > 1 ? argv[1] : ".");
	if (mkdtemp(folder) == NULL) {
		perror(folder);
		return 1;
	}
	measure_appends(1, events / 4);
	measure_appends(16, events);
	measure_appends(64, events * 4);
	measure_bytes(1);
	measure_bytes(PRODUCERS_MOST);
	measure_reading();
	measure_purging();
	rmdir(folder);
	return 0;
}
