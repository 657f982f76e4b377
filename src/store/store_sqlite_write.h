/* store/store_sqlite_write.h -- the connection that writes: transactions and tables.
 *
 * Private to the SQLite store.  All functions run on the writer's thread.  `bound` is the bitwise
 * or of the result codes of the binds; `doing` completes "cannot …" in an error message.
 */
#ifndef STORE_STORE_SQLITE_WRITE_H
#define STORE_STORE_SQLITE_WRITE_H

#include "store/store_sqlite.h"

/* ---- transactions ---------------------------------------------------------------------- */

/* Begins a transaction and invalidates the row cache.  Refused when the store is broken or another
 * process has opened it since. */
bool store_sqlite_begin(struct store_sqlite *self, struct error *error);
/* Commits when `good`, else rolls back.  Any failure but a full disk breaks the store. */
bool store_sqlite_end(struct store_sqlite *self, bool good, struct error *error);
/* Breaks the store: every later write is refused with this error. */
void store_sqlite_stop_writing(struct store_sqlite *self, const struct error *error);

/* Executes a statement that returns no rows. */
bool store_sqlite_execute(struct store_sqlite *self, enum store_sqlite_write which, int bound,
			  const char *doing, struct error *error);
/* Fetches one row.  Its columns can be read until store_sqlite_reset(). */
bool store_sqlite_first_row(struct store_sqlite *self, enum store_sqlite_write which, int bound,
			    const char *doing, bool *out_found, struct error *error);
void store_sqlite_reset(struct store_sqlite *self, enum store_sqlite_write which);

/* Checkpoints when the WAL has grown enough; a failure breaks the store. */
void store_sqlite_checkpoint(struct store_sqlite *self);
/* Checkpoints now, as far as readers and the disk allow; truncates the WAL when `empty_wal`. */
bool store_sqlite_checkpoint_now(struct store_sqlite *self);

/* ---- runs and effects ------------------------------------------------------------------- */

/* NULL when the row is not cached. */
const struct store_sqlite_run_row *store_sqlite_row_cache_find(struct store_sqlite *self,
							       const struct uuid *id);
void store_sqlite_row_cache_put(struct store_sqlite *self, const struct store_sqlite_run_row *row);
void store_sqlite_row_cache_clear(struct store_sqlite *self);

/* Replaces the run's row, at the seq of its newest event. */
bool store_sqlite_row_rebuild(struct store_sqlite *self, const struct store_run *row,
			      int64_t *out_key, struct error *error);
bool store_sqlite_effects_open(struct store_sqlite *self, int64_t key,
			       const struct store_effect *opened, size_t count,
			       struct error *error);

/* Writes the row's usage; a rebuild first deletes what the run has. */
bool store_sqlite_usage_write(struct store_sqlite *self, const struct store_run *row, int64_t key,
			      struct error *error);
bool store_sqlite_usage_rebuild(struct store_sqlite *self, const struct store_run *row, int64_t key,
				struct error *error);

/* The same for what the run has of budgets. */
bool store_sqlite_budgets_write(struct store_sqlite *self, const struct store_run *row, int64_t key,
				struct error *error);
bool store_sqlite_budgets_rebuild(struct store_sqlite *self, const struct store_run *row,
				  int64_t key, struct error *error);

/* ---- side tables ------------------------------------------------------------------------ */

/* The idempotency key is checked before everything else. */
bool store_sqlite_request_is_repeated(struct store_sqlite *self, struct store_append *append,
				      bool *out_repeated, struct error *error);
/* Checks documents and guards without writing; sets the outcome of a refused append. */
bool store_sqlite_side_tables_admit(struct store_sqlite *self, struct store_append *append,
				    bool *out_admitted, struct error *error);
/* Writes snapshot, floor, documents, guards and request; `floor` is the run's floor so far. */
bool store_sqlite_side_tables_write(struct store_sqlite *self, const struct store_append *append,
				    int64_t key, int64_t floor, struct error *error);
bool store_sqlite_values_write(struct store_sqlite *self, const struct store_append *append,
			       struct error *error);
/* Adds one reference to each value and packs the values' keys; *out_keys is "" for none. */
bool store_sqlite_references_add(struct store_sqlite *self, const struct hash *names, size_t count,
				 struct str *out_keys, struct error *error);
bool store_sqlite_references_remove(struct store_sqlite *self, struct str keys,
				    struct error *error);

/* ---- the reserve ------------------------------------------------------------------------- */

/* Allocates the reserve.  A failure is not reported: a later commit tries again. */
void store_sqlite_reserve_make(struct store_sqlite *self);
/* Returns one slice to the disk; false when the reserve is used up. */
bool store_sqlite_reserve_spend(struct store_sqlite *self);
/* Called after a commit that found space: refills the reserve now and then. */
void store_sqlite_reserve_refill(struct store_sqlite *self);

/* ---- admin interface, store_sqlite_purge.c ------------------------------------------------ */

bool store_sqlite_purge(struct store *store, size_t limit, const struct store_deadline *deadline,
			bool *out_more, struct error *error);
bool store_sqlite_expire_requests(struct store *store, int64_t before, struct error *error);
bool store_sqlite_rebuild_run(struct store *store, const struct store_run *run,
			      const struct store_effect *open, size_t open_count,
			      struct error *error);
bool store_sqlite_rebuild_end(struct store *store, struct error *error);
bool store_sqlite_rebuild_documents(struct store *store, int64_t seq,
				    const struct store_document *documents, size_t count,
				    bool *out_current, struct error *error);

#endif
