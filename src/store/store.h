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
 * Beside the streams it keeps, in the same transactions:
 *
 *   values      by SHA-256, each with the number of events and snapshots that name it; the last one
 *               that goes takes the value with it (R17).
 *   snapshots   a run's folded state at a seq; the newest two are kept.  Reading a run is reading
 *               its newest snapshot and the events behind it (R8).
 *   floors      an append may say that events below a snapshot are gone: from that commit on they
 *               are not read any more (life-cycle events are), and purge() takes them off the disk
 *               a slice at a time.
 *   documents   everything that is not a run, by kind and name, each with a revision: one more with
 *               every change, deletion and a new beginning after it included.  Their changes are
 *               events of the system stream: the run whose id is zero, which has no row in the
 *               lists of runs and no state; read_run() tells its seq.
 *   guards      named counters with limits, checked and moved by an append (R13).
 *   requests    idempotency keys: which run or document a request with this key has made.
 *   owner       the epoch of whoever opened the store last; a commit of any other is refused for
 *               good, even if the lock file was deleted under it.
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
#include "os/platform.h"

struct store_event {
	struct str type; /* a name of events.def */
	int64_t at;      /* us UTC, as the command said */
	struct str body; /* JSON */
	bool kept;       /* of the run's life cycle: it stays when the floor rises over it */
	const struct hash *names; /* values the body names: known, or among the append's blobs */
	size_t name_count;
};

struct store_blob {
	struct hash hash;
	struct str bytes;
};

/* An effect that has been requested and is not finished: what recovery reads. */
struct store_effect {
	struct uuid id;
	struct uuid run; /* filled when read */
	struct str kind; /* a row of effect/effects.def */
	int64_t due_at;  /* when a timer fires, us UTC; 0 = none */
	struct str body; /* JSON: the kind's own */
};

struct store_run {
	struct uuid id;
	struct str name;                /* of the definition */
	struct str state;               /* a word of states.def */
	bool stepping;                  /* something is under way: recovery must take it up */
	int64_t created_at, updated_at; /* us UTC */
	int64_t ended_at;               /* 0 while live */
	int64_t seq;                    /* of its newest event; filled when read */
	int64_t floor;                  /* events below it are gone; filled when read */
	struct str summary;             /* JSON shown in lists; not looked into here */
};

/* The folded state of the run as it is behind the append's events. */
struct store_snapshot {
	int64_t seq;     /* filled when read */
	struct str body; /* JSON; "" = none */
	const struct hash *names;
	size_t name_count;
};

/* A change of a document: an append to the system stream carries it beside its event. */
struct store_document {
	struct str kind, name;
	int64_t revision;   /* 0 = it must not exist yet; else the one it must have */
	int64_t changed_at; /* us UTC */
	struct str body;    /* JSON; "" = delete it */
};

/* Refused when value + change would be over the limit or below 0; limit -1 = none. */
struct store_guard {
	struct str name;
	int64_t change, limit;
};

/* An idempotency key: bound to what the request said and to what came of it. */
struct store_request {
	struct str key;      /* "" = none */
	struct hash said;    /* of method, path and body */
	struct uuid subject; /* the run, question or document it was about */
	int64_t at;          /* us UTC; forgotten by forget() */
};

enum store_outcome {
	STORE_PENDING,
	STORE_COMMITTED,
	STORE_CONFLICT, /* the stream, or a document, is elsewhere */
	STORE_GUARDED,  /* `refused_guard` is over its limit */
	STORE_REPEATED, /* the request's key is known: `request` is the stored one */
	STORE_FULL,
};

struct store_append {
	int64_t expected_seq; /* 0: the run must not exist yet */
	struct store_run run; /* id names the stream; the rest replaces the row */
	const struct store_event *events;
	size_t event_count; /* 0 only with a request: then that is all it writes beside the row */
	const struct store_blob *blobs;
	size_t blob_count;
	const struct store_effect *opened;
	size_t opened_count; /* an id already open is replaced */
	const struct uuid *closed;
	size_t closed_count; /* closed before `opened` opens: an id in both stays open */
	struct store_snapshot snapshot;
	/* Events with seq < floor are gone, life-cycle events aside; at most the seq of a snapshot
	 * that is stored or comes with this append.  0 = leave it. */
	int64_t floor;
	const struct store_document *documents;
	size_t document_count;
	const struct store_guard *guards;
	size_t guard_count;
	struct store_request request; /* in; out when REPEATED */
	bool urgent;                  /* a cancel: when the disk is full it may use the reserve */
	/* out */
	enum store_outcome outcome;
	size_t refused_guard;
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

/* Which runs are listed: those of a name ("" = whatever it is) that are in one of these states
 * (none = whatever it is). */
struct store_run_filter {
	struct str name;
	const struct str *states;
	size_t state_count;
};

/* How many runs of a name are in a state, how many of these have ended, and what they took in all.
 */
struct store_tally {
	struct str name, state;
	int64_t runs, ended, took_us;
};

struct store_tallies {
	struct store_tally *at;
	size_t count;
};

struct store_effect_page {
	struct store_effect *at;
	size_t count;
};

struct store_document_page {
	struct store_document *at;
	size_t count;
};

/* A run's state by its word, or a kind of effect, and how many there are. */
struct store_state_count {
	struct str state;
	int64_t runs;
};

struct store_state_counts {
	struct store_state_count *at;
	size_t count;
};

/* A run that retention may look at. */
struct store_old_run {
	struct uuid id;
	int64_t seq, floor, ended_at;
};

struct store_old_runs {
	struct store_old_run *at;
	size_t count;
};

struct store_stats {
	uint64_t commits, events, appends, conflicts; /* since open, by this writer */
	uint64_t refusals;                            /* batches there was no room for */
	uint64_t purged;                              /* events taken off the disk */
	uint64_t wal_bytes;                           /* size of the WAL behind the newest commit */
	/* Acknowledged commits, at least, that damage to the WAL had hidden when it was opened. */
	uint64_t lost_commits;
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

/* A moment of platform_mono_us(). */
struct store_deadline {
	struct platform *system;
	int64_t at_us;
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
	/* Newest first, of all runs or of those that `only` lets through, which costs what the page
	 * costs however many others there are.  `before` is the id of the last run of the page
	 * before, NULL to begin; an unknown one gives an empty page. */
	bool (*list_runs)(struct store_reader *reader, const struct store_run_filter *only,
			  const struct uuid *before, size_t limit, struct arena *arena,
			  struct store_run_page *out_page, struct error *error);
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
	/* The newest snapshot with seq <= at (0 = whatever is newest), without its names. */
	bool (*read_snapshot)(struct store_reader *reader, const struct uuid *run, int64_t at,
			      struct arena *arena, struct store_snapshot *out_snapshot,
			      bool *out_found, struct error *error);
	/* Open effects with after < due_at <= until, the earliest first; 0 <= after. */
	bool (*list_due)(struct store_reader *reader, int64_t after, int64_t until, size_t limit,
			 struct arena *arena, struct store_effect_page *out_page,
			 struct error *error);
	/* Of one that is gone the revision is told all the same: the next one goes on from it. */
	bool (*read_document)(struct store_reader *reader, struct str kind, struct str name,
			      struct arena *arena, struct store_document *out_document,
			      bool *out_found, struct error *error);
	/* Of one kind, by name, names > after ("" to begin). */
	bool (*list_documents)(struct store_reader *reader, struct str kind, struct str after,
			       size_t limit, struct arena *arena,
			       struct store_document_page *out_page, struct error *error);
	bool (*read_request)(struct store_reader *reader, struct str key, struct arena *arena,
			     struct store_request *out_request, bool *out_found,
			     struct error *error);
	bool (*read_guard)(struct store_reader *reader, struct str name, int64_t *out_value,
			   struct error *error); /* 0 when nobody has moved it */
	/* Effects that wait for a person or a time (kinds human, timer, retry) by kind. */
	bool (*count_waiting)(struct store_reader *reader, struct arena *arena,
			      struct store_state_counts *out_counts, struct error *error);
	/* Every name and state that has a run, in this order; its cost does not grow with the
	 * number of runs. */
	bool (*tally_runs)(struct store_reader *reader, struct arena *arena,
			   struct store_tallies *out_tallies, struct error *error);
	/* Every state that has a run; its cost does not grow with the runs. */
	bool (*count_states)(struct store_reader *reader, struct arena *arena,
			     struct store_state_counts *out_counts, struct error *error);
	/* Runs that ended before `ended_before` (0: no such wish) or have more than `most_events`
	 * events (0 likewise) and of which something is left to take, ids > after. */
	bool (*list_old)(struct store_reader *reader, int64_t ended_before, int64_t most_events,
			 const struct uuid *after, size_t limit, struct arena *arena,
			 struct store_old_runs *out_runs, struct error *error);

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
	/* Takes at most `limit` rows off the disk that floors and forgotten requests have left
	 * behind, values that nobody names any more included, and at least one, but none
	 * behind the deadline (NULL = whatever it takes).  On the writer's thread, in a
	 * transaction of its own; *out_more when a slice is left. */
	bool (*purge)(struct store *store, size_t limit, const struct store_deadline *deadline,
		      bool *out_more, struct error *error);
	/* Requests older than `before` are forgotten, at once and for good. */
	bool (*forget)(struct store *store, int64_t before, struct error *error);
	/* Replaces what was derived from the run's events: its row and its open effects (R12).
	 * What is derived from rows (counts by state, numbers of names) is made again by
	 * rebuild_end(), once all runs are through.  On the writer's thread. */
	bool (*rebuild_run)(struct store *store, const struct store_run *run,
			    const struct store_effect *open, size_t open_count,
			    struct error *error);
	bool (*rebuild_end)(struct store *store, struct error *error);
	/* Replaces all documents by these, which are what the system stream makes of them at `seq`,
	 * those that are gone included.  When the stream has gone on since, *out_current is false
	 * and nothing is written.  On the writer's thread. */
	bool (*rebuild_documents)(struct store *store, int64_t seq,
				  const struct store_document *documents, size_t count,
				  bool *out_current, struct error *error);
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
const char *store_sqlite_version(void);

#endif
