/* store/store_writer.h -- the write interface: atomic batches of appends.
 *
 * An append adds events to one stream, with everything that must become durable together with
 * them.  commit() writes any number of appends in one transaction.  It checks each append before it
 * writes any part of it; a refused append writes nothing and does not disturb the others.  The
 * checks, in this order, and their outcomes:
 *
 *   REPEATED   the idempotency key is known; `request` is replaced by the stored one
 *   CONFLICT   the stream is not at `expected_seq`, or a document is not at its `revision`
 *   GUARDED    a guard would leave its range; `refused_guard` is its index
 *   COMMITTED  the append is durable: it survives a crash and a power failure
 *
 * When the storage is full, commit() returns true and the outcome of every append is FULL: nothing
 * was written, and the same appends can be tried again.  Urgent appends may then use space that the
 * backend has reserved; those that fit are COMMITTED.
 *
 * When commit() returns false, the outcome of the batch is unknown.  The store refuses all further
 * writes, nothing may be acknowledged, and the process should stop.
 *
 * Fencing: opening a store takes the next epoch.  A commit by an earlier epoch returns false, so
 * that two processes never write one store, whatever became of the lock on the data folder.
 *
 * Threads: one thread at a time uses the write interface.  stats() may be called on any thread.
 * Ownership: an append and everything it points to is borrowed for the call.
 */
#ifndef STORE_STORE_WRITER_H
#define STORE_STORE_WRITER_H

#include "store/store_rows.h"

struct store;

/* Moves the counter `name` by `change`.  Refused when the counter would be negative or above
 * `limit`; limit -1 = no upper bound. */
struct store_guard {
	struct str name;
	int64_t change, limit;
};

enum store_outcome {
	STORE_PENDING,
	STORE_COMMITTED,
	STORE_CONFLICT,
	STORE_GUARDED,
	STORE_REPEATED,
	STORE_FULL,
};

struct store_append {
	int64_t expected_seq; /* of the newest event of the stream; 0 = the run must not exist */
	struct store_run run; /* `id` names the stream; the other fields replace the run's row */
	const struct store_event *events;
	size_t event_count; /* 0 only with a request: then only the request and the row are written */
	const struct store_blob *blobs;
	size_t blob_count; /* a value that is already stored is not written again */
	const struct store_effect *opened;
	size_t opened_count; /* replaces an open effect with the same id */
	const struct uuid *closed;
	size_t closed_count; /* closed before `opened` opens: an id in both stays open */
	struct store_snapshot snapshot;
	/* Events with a smaller seq are no longer read, except life-cycle events, and purge()
	 * deletes them later.  At most the seq of a snapshot that is stored or part of this append;
	 * 0 = unchanged. */
	int64_t floor;
	const struct store_document *documents;
	size_t document_count;
	const struct store_guard *guards;
	size_t guard_count;
	struct store_request request; /* replaced by the stored one when the outcome is REPEATED */
	bool urgent;                  /* a cancel: it may use reserved space */
	/* out */
	enum store_outcome outcome;
	size_t refused_guard;
	int64_t refused_value; /* of the counter of that guard, as it is stored */
	int64_t first_position, last_position;
};

/* A number that only one backend has, such as the size of SQLite's write-ahead log. */
struct store_detail {
	const char *name;
	int64_t value;
};

enum { STORE_DETAILS = 4 };

struct store_details {
	struct store_detail at[STORE_DETAILS];
	size_t count;
};

/* 0 when the backend has no number of this name. */
int64_t store_detail(const struct store_details *details, const char *name);

/* Counted by this writer since it was opened. */
struct store_stats {
	uint64_t commits, events, appends, conflicts;
	uint64_t refusals; /* batches that found the storage full */
	uint64_t purged;   /* events that purge() has deleted */
	struct store_details details;
};

struct store_writer_ops {
	bool (*commit)(struct store *store, struct store_append *const *appends, size_t count,
		       struct error *error);
	struct store_stats (*stats)(const struct store *store);
};

#endif
