/* store/store_sqlite_read.h -- connections that read: from a statement to a page.
 *
 * Private to the SQLite store.  A function of the read interface binds its parameters, fills a
 * struct store_sqlite_reading and calls one of the store_sqlite_read_ functions below.
 */
#ifndef STORE_STORE_SQLITE_READ_H
#define STORE_STORE_SQLITE_READ_H

#include "store/store_sqlite.h"

/* Converts the current row of the statement; false when a column has a size that the store never
 * writes. */
typedef bool store_sqlite_take(sqlite3_stmt *statement, struct arena *arena, void *out_item);

struct store_sqlite_reading {
	struct store_sqlite_reader *self;
	enum store_sqlite_read which;
	int bound; /* bitwise or of the result codes of the binds */
	store_sqlite_take *take;
	size_t item_size;
	size_t limit;
};

bool store_sqlite_read_rows(const struct store_sqlite_reading *reading, struct arena *arena,
			    void **out_items, size_t *out_count, struct error *error);
/* *out_page is any struct whose first members are a pointer to the items and their count. */
bool store_sqlite_read_page(const struct store_sqlite_reading *reading, struct arena *arena,
			    void *out_page, struct error *error);
bool store_sqlite_read_one(const struct store_sqlite_reading *reading, struct arena *arena,
			   void *out_item, bool *out_found, struct error *error);
bool store_sqlite_take_run(sqlite3_stmt *statement, struct arena *arena, void *out_item);
bool store_sqlite_take_effect(sqlite3_stmt *statement, struct arena *arena, void *out_item);

/* Reports a damaged row, also to the writer; returns false. */
bool store_sqlite_fail_damaged(const struct store_sqlite_reader *self, struct error *error);
/* A read transaction: statements in between see one state of the store. */
bool store_sqlite_read_begin(struct store_sqlite_reader *self, struct error *error);
void store_sqlite_read_end(struct store_sqlite_reader *self);

/* ---- read interface, store_sqlite_queries.c, _run_list.c and _usage.c ---------------------- */

bool store_sqlite_read_snapshot(struct store_reader *reader, const struct uuid *run, int64_t at,
				struct arena *arena, struct store_snapshot *out_snapshot,
				bool *out_found, struct error *error);
bool store_sqlite_list_due(struct store_reader *reader, int64_t after, int64_t until, size_t limit,
			   struct arena *arena, struct store_effect_page *out_page,
			   struct error *error);
bool store_sqlite_read_document(struct store_reader *reader, struct str kind, struct str name,
				struct arena *arena, struct store_document *out_document,
				bool *out_found, struct error *error);
bool store_sqlite_list_documents(struct store_reader *reader, struct str kind, struct str after,
				 size_t limit, struct arena *arena,
				 struct store_document_page *out_page, struct error *error);
bool store_sqlite_read_request(struct store_reader *reader, struct str key, struct arena *arena,
			       struct store_request *out_request, bool *out_found,
			       struct error *error);
bool store_sqlite_list_guards(struct store_reader *reader, struct str prefix, struct str after,
			      size_t limit, struct arena *arena, struct store_guard_page *out_page,
			      struct error *error);
bool store_sqlite_read_guard(struct store_reader *reader, struct str name, int64_t *out_value,
			     struct error *error);
bool store_sqlite_count_waiting(struct store_reader *reader, struct arena *arena,
				struct store_state_counts *out_counts, struct error *error);
bool store_sqlite_count_states(struct store_reader *reader, struct arena *arena,
			       struct store_state_counts *out_counts, struct error *error);
bool store_sqlite_list_old(struct store_reader *reader, int64_t ended_before, int64_t most_events,
			   const struct uuid *after, size_t limit, struct arena *arena,
			   struct store_old_runs *out_runs, struct error *error);
bool store_sqlite_list_runs(struct store_reader *reader, const struct store_run_filter *filter,
			    const struct uuid *before, size_t limit, struct arena *arena,
			    struct store_run_page *out_page, struct error *error);
bool store_sqlite_find_runs(struct store_reader *reader, const struct uuid *first,
			    const struct uuid *last, size_t limit, struct arena *arena,
			    struct store_run_page *out_page, struct error *error);
bool store_sqlite_sum_usage(struct store_reader *reader, const struct store_usage_filter *filter,
			    enum store_usage_by by, size_t limit, struct arena *arena,
			    struct store_usage_sums *out_sums, struct error *error);
bool store_sqlite_tally_runs(struct store_reader *reader, struct arena *arena,
			     struct store_tallies *out_tallies, struct error *error);

#endif
