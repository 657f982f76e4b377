/* store/store_admin.h -- the admin interface: check, measure, back up, shrink, purge, rebuild.
 *
 * The first group works on a reader and its thread, in one read transaction, while commits go on.
 * The second group works on the store, on the writer's thread, and delays commits; an error that
 * leaves the state of the storage unknown stops the store as a failed commit does.
 */
#ifndef STORE_STORE_ADMIN_H
#define STORE_STORE_ADMIN_H

#include "os/platform.h"
#include "store/store_rows.h"
#include "store/store_writer.h"

struct store_reader;

/* Number of rows and size of the storage. */
struct store_size {
	int64_t runs, events, effects, blobs;
	int64_t bytes;      /* allocated; 0 when the store has no storage of its own */
	int64_t free_bytes; /* of these, unused: a vacuum returns them */
	struct store_details details;
};

/* The problems that a check has found, one sentence each, at most LIMIT_PROBLEMS. */
struct store_check {
	const struct str *problems;
	size_t count;
};

/* A time on the monotonic clock of `platform`. */
struct store_deadline {
	struct platform *platform;
	int64_t at_us;
};

struct store_admin_ops {
	/* ---- on a reader ---- */

	bool (*measure)(struct store_reader *reader, struct store_size *out_size,
			struct error *error);
	/* Reads everything and verifies checksums, projections and references. */
	bool (*check)(struct store_reader *reader, struct arena *arena,
		      struct store_check *out_check, struct error *error);
	/* Writes the committed state to a new, synced file on this machine.  ERROR_CONFLICT when
	 * the file exists. */
	bool (*backup)(struct store_reader *reader, const char *path, int64_t *out_bytes,
		       struct error *error);

	/* ---- on the store ---- */

	/* What was lost when the store was opened, as a sentence for the log; "" = nothing. */
	struct str (*recovery_report)(const struct store *store, struct arena *arena);
	/* Returns unused space to the operating system. */
	bool (*vacuum)(struct store *store, struct error *error);
	/* Deletes at most `limit` rows that are no longer read: events below a floor, expired
	 * idempotency keys, values without references.  Deletes at least one row and stops at the
	 * deadline (NULL = none).  *out_more when rows are left. */
	bool (*purge)(struct store *store, size_t limit, const struct store_deadline *deadline,
		      bool *out_more, struct error *error);
	/* Expires the idempotency keys that are older than `before`, at once and for good. */
	bool (*expire_requests)(struct store *store, int64_t before, struct error *error);
	/* Replaces the projections of one run: its row and its open effects.  rebuild_end()
	 * recomputes the projections over all runs (tallies, reference counts, guards of budgets)
	 * and comes last. */
	bool (*rebuild_run)(struct store *store, const struct store_run *run,
			    const struct store_effect *open, size_t open_count,
			    struct error *error);
	bool (*rebuild_end)(struct store *store, struct error *error);
	/* Replaces all documents, deleted ones included, by those that the system stream gives up
	 * to `seq`.  Writes nothing and sets *out_current to false when the stream has newer
	 * events. */
	bool (*rebuild_documents)(struct store *store, int64_t seq,
				  const struct store_document *documents, size_t count,
				  bool *out_current, struct error *error);
};

#endif
