/* store/store.h -- the only durable truth: streams of events, one a run, and what is kept in step
 * with them in the same transaction.
 *
 * A run is a stream of events with seq 1, 2, 3 …; `position` numbers all events of the store in
 * commit order.  An append names the seq the caller last saw; if the stream is elsewhere, that
 * append alone is a CONFLICT and writes nothing.  With its events an append carries blobs (values
 * by hash; writing a known one again is nothing), the run's row as it now is, and the effects it
 * opens and closes.  store_commit() takes any number of appends in one transaction: when it
 * returns true, everything marked COMMITTED is on the disk (fsynced).  When there is no room on
 * the disk it returns true too and marks every append FULL: nothing of them was written, and the
 * same appends may be tried again later.  When it returns false nothing may be acknowledged any
 * more and the process should stop: a failed fsync is never tried again, and a reader that met
 * damage has told the writer so.
 *
 * What a reader sees is on the disk too: whatever a process that was killed had written and not
 * synced is synced before the store is open.
 *
 * Only this room knows SQL.  It makes no events and looks into no body.
 *
 * Threads: `struct store` (the writer) belongs to one thread at a time; each `struct store_reader`
 * likewise.  Readers see what is committed, are never in the writer's way, and hold no
 * transaction between calls.
 *
 * Ownership: what goes in is borrowed for the call; what comes out is copied into the arena.
 * Backends are rows of stores.def; tests/unit/store runs one conformance suite over all.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "base/sha256.h"
#include "base/uuid.h"

struct store_event {
	struct str type; /* a name of events.def */
	int64_t at;      /* us UTC, as the command said */
	struct str body; /* JSON */
};

struct store_blob {
	struct hash hash;
	struct str bytes;
};

/* An effect that has been requested and is not finished: what recovery reads. */
struct store_effect {
	struct uuid id;
	struct uuid run; /* filled when read */
	struct str kind; /* a row of runtime/effects.def */
	int64_t due_at;  /* when a timer fires, us UTC; 0 = none */
	struct str body; /* JSON: the kind's own */
};

struct store_run {
	struct uuid id;
	struct str name;                /* of the definition */
	struct str state;               /* a word of states.def */
	bool stepping;                  /* live with no open effect: recovery must find it */
	int64_t created_at, updated_at; /* us UTC */
	int64_t ended_at;               /* 0 while live */
	int64_t seq;                    /* of its newest event; filled when read */
	struct str summary;             /* JSON shown in lists; not looked into here */
};

enum store_outcome { STORE_PENDING, STORE_COMMITTED, STORE_CONFLICT, STORE_FULL };

struct store_append {
	int64_t expected_seq; /* 0: the run must not exist yet */
	struct store_run run; /* id names the stream; the rest replaces the row */
	const struct store_event *events;
	size_t event_count; /* at least 1 */
	const struct store_blob *blobs;
	size_t blob_count;
	const struct store_effect *opened;
	size_t opened_count; /* an id already open is replaced */
	const struct uuid *closed;
	size_t closed_count; /* closed before `opened` opens: an id in both stays open */
	/* out */
	enum store_outcome outcome;
	int64_t first_position, last_position;
};

/* A page of events, oldest first. */
struct store_event_row {
	struct uuid run;
	int64_t seq, position, at;
	struct str type, body;
};

struct store_event_page {
	struct store_event_row *at;
	size_t count;
};

struct store_run_page {
	struct store_run *at;
	size_t count;
};

struct store_effect_page {
	struct store_effect *at;
	size_t count;
};

struct store_stats {
	uint64_t commits, events, appends, conflicts; /* since open, by this writer */
	uint64_t refusals;                            /* batches there was no room for */
};

/* What it holds and what that takes. */
struct store_size {
	int64_t runs, events, effects, blobs;  /* rows */
	int64_t page_bytes, pages, free_pages; /* of the file; 0 when there is none */
	int64_t wal_bytes;
};

/* What is wrong with it, a sentence each, at most LIMIT_PROBLEMS; `count` 0 = nothing. */
struct store_check {
	const struct str *problems;
	size_t count;
};

struct store;
struct store_reader;

struct store_ops {
	const char *name;
	const char *text;
	bool (*open)(const char *path, struct store **out_store, struct error *error);
	void (*close)(struct store *store);
	bool (*commit)(struct store *store, struct store_append *const *appends, size_t count,
		       struct error *error);
	struct store_stats (*stats)(const struct store *store); /* on any thread */

	bool (*reader_open)(struct store *store, struct store_reader **out_reader,
			    struct error *error);
	void (*reader_close)(struct store_reader *reader);
	/* Events of one run with seq > after, at most `limit` (a page may be shorter only at the
	 * end).  An unknown run gives an empty page. */
	bool (*read_events)(struct store_reader *reader, const struct uuid *run, int64_t after,
			    size_t limit, struct arena *arena, struct store_event_page *out_page,
			    struct error *error);
	/* Events of all runs with position > after. */
	bool (*read_all)(struct store_reader *reader, int64_t after, size_t limit,
			 struct arena *arena, struct store_event_page *out_page,
			 struct error *error);
	bool (*read_run)(struct store_reader *reader, const struct uuid *run, struct arena *arena,
			 struct store_run *out_run, bool *out_found, struct error *error);
	/* Newest first; `before` is the id of the last run of the page before, NULL to begin; an
	 * unknown one gives an empty page. */
	bool (*list_runs)(struct store_reader *reader, const struct uuid *before, size_t limit,
			  struct arena *arena, struct store_run_page *out_page,
			  struct error *error);
	bool (*read_blob)(struct store_reader *reader, const struct hash *hash, struct arena *arena,
			  struct str *out_bytes, bool *out_found, struct error *error);
	/* Open effects, ordered by id, ids > after (NULL to begin); kind "" = every kind. */
	bool (*list_effects)(struct store_reader *reader, struct str kind, const struct uuid *after,
			     size_t limit, struct arena *arena, struct store_effect_page *out_page,
			     struct error *error);
	bool (*read_effect)(struct store_reader *reader, const struct uuid *effect,
			    struct arena *arena, struct store_effect *out_effect, bool *out_found,
			    struct error *error);
	/* Ids of the runs that are `stepping`, ids > after. */
	bool (*list_stepping)(struct store_reader *reader, const struct uuid *after, size_t limit,
			      struct arena *arena, struct store_run_page *out_page,
			      struct error *error);
	/* 0 when empty, -1 when the disk cannot be read. */
	int64_t (*newest_position)(struct store_reader *reader);

	/* Care, on request of a person.  check() and measure() read everything there is, in one
	 * transaction, which the writer does not wait for. */
	bool (*measure)(struct store_reader *reader, struct store_size *out_size,
			struct error *error);
	bool (*check)(struct store_reader *reader, struct arena *arena,
		      struct store_check *out_check, struct error *error);
	/* Copies what is committed now into a new file, synced, while the writer goes on.  A file
	 * that exists is left alone: ERROR_CONFLICT. */
	bool (*backup)(struct store_reader *reader, const char *path, int64_t *out_bytes,
		       struct error *error);
	/* Gives free pages back to the disk.  On the writer's thread, which it holds up. */
	bool (*vacuum)(struct store *store, struct error *error);
};

struct store {
	const struct store_ops *ops;
};

struct store_reader {
	const struct store_ops *ops;
};

/* The rows of stores.def. */
extern const struct store_ops *const store_backends[];
extern const size_t store_backend_count;
const struct store_ops *store_backend(struct str name); /* NULL when unknown */

#endif
