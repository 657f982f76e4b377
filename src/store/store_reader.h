/* store/store_reader.h -- the read interface: pages, single rows and counts of committed data.
 *
 * Each call sees one committed state of the store.  Readers never wait for the writer and hold no
 * transaction between calls, so two calls may see different states.
 *
 * Cursors: a list returns at most `limit` rows and continues after the last row of the page before
 * it: pass that row's seq, position, id or name as `after` (or `before`).  A page is shorter than
 * `limit` only at the end.  An unknown run or cursor gives an empty page.
 *
 * A `read_` function for one row returns true and sets *out_found to false when the row does not
 * exist.  Every function returns false when the storage cannot be read or is damaged; the writer
 * then refuses further commits.
 *
 * Threads: one thread at a time uses a reader.  Ownership: results are copied into the arena.
 */
#ifndef STORE_STORE_READER_H
#define STORE_STORE_READER_H

#include "store/store_rows.h"

struct store_reader;

struct store_event_page {
	struct store_event_row *at; /* oldest first */
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

struct store_document_page {
	struct store_document *at;
	size_t count;
};

struct store_guard_value {
	struct str name;
	int64_t value;
};

struct store_guard_page {
	struct store_guard_value *at;
	size_t count;
};

/* Runs with this name ("" = any) in one of these states (none = any) that have all of these labels,
 * each given as "name=value". */
struct store_run_filter {
	struct str name;
	const struct str *states;
	size_t state_count;
	struct str_list labels;
};

/* The number of runs with this name in this state, how many of them have ended, and the sum of
 * their durations. */
struct store_tally {
	struct str name, state;
	int64_t runs, ended, took_us;
};

struct store_tallies {
	struct store_tally *at;
	size_t count;
};

/* The number of runs in a state, or of open effects of a kind. */
struct store_state_count {
	struct str state;
	int64_t runs;
};

struct store_state_counts {
	struct store_state_count *at;
	size_t count;
};

/* A run whose history retention may delete. */
struct store_old_run {
	struct uuid id;
	int64_t seq, floor, ended_at;
};

struct store_old_runs {
	struct store_old_run *at;
	size_t count;
};

struct store_reader_ops {
	/* ---- streams ---- */

	/* Events of one run with seq > after. */
	bool (*read_events)(struct store_reader *reader, const struct uuid *run, int64_t after,
			    size_t limit, struct arena *arena, struct store_event_page *out_page,
			    struct error *error);
	/* Events of all runs with position > after. */
	bool (*read_all)(struct store_reader *reader, int64_t after, size_t limit,
			 struct arena *arena, struct store_event_page *out_page,
			 struct error *error);
	/* 0 when there are no events, -1 when the storage cannot be read. */
	int64_t (*newest_position)(struct store_reader *reader);
	/* The newest snapshot with seq <= at (0 = the newest of all). */
	bool (*read_snapshot)(struct store_reader *reader, const struct uuid *run, int64_t at,
			      struct arena *arena, struct store_snapshot *out_snapshot,
			      bool *out_found, struct error *error);
	bool (*read_blob)(struct store_reader *reader, const struct hash *hash, struct arena *arena,
			  struct str *out_bytes, bool *out_found, struct error *error);

	/* ---- runs ---- */

	bool (*read_run)(struct store_reader *reader, const struct uuid *run, struct arena *arena,
			 struct store_run *out_run, bool *out_found, struct error *error);
	/* Newest first; NULL filter = all runs.  The cost depends on the page, not on the number
	 * of runs that the filter excludes; with labels, on the number of runs that have the first
	 * label and one of the states. */
	bool (*list_runs)(struct store_reader *reader, const struct store_run_filter *filter,
			  const struct uuid *before, size_t limit, struct arena *arena,
			  struct store_run_page *out_page, struct error *error);
	/* Runs with ids from `first` to `last`, by id. */
	bool (*find_runs)(struct store_reader *reader, const struct uuid *first,
			  const struct uuid *last, size_t limit, struct arena *arena,
			  struct store_run_page *out_page, struct error *error);
	/* Runs that need recovery, by id. */
	bool (*list_needing_recovery)(struct store_reader *reader, const struct uuid *after,
				      size_t limit, struct arena *arena,
				      struct store_run_page *out_page, struct error *error);
	/* By name and state, those that have a run.  The cost does not grow with the runs. */
	bool (*tally_runs)(struct store_reader *reader, struct arena *arena,
			   struct store_tallies *out_tallies, struct error *error);
	/* By state, those that have a run.  The cost does not grow with the runs. */
	bool (*count_states)(struct store_reader *reader, struct arena *arena,
			     struct store_state_counts *out_counts, struct error *error);
	/* By id: runs that still have events to delete and that ended before `ended_before`
	 * (0 = ignore) or have more than `most_events` events (0 = ignore). */
	bool (*list_old)(struct store_reader *reader, int64_t ended_before, int64_t most_events,
			 const struct uuid *after, size_t limit, struct arena *arena,
			 struct store_old_runs *out_runs, struct error *error);

	/* The cost grows with the runs that had turns on these days. */
	bool (*sum_usage)(struct store_reader *reader, const struct store_usage_filter *filter,
			  enum store_usage_by by, size_t limit, struct arena *arena,
			  struct store_usage_sums *out_sums, struct error *error);

	/* ---- open effects ---- */

	bool (*read_effect)(struct store_reader *reader, const struct uuid *effect,
			    struct arena *arena, struct store_effect *out_effect, bool *out_found,
			    struct error *error);
	/* By id; kind "" = every kind. */
	bool (*list_effects)(struct store_reader *reader, struct str kind, const struct uuid *after,
			     size_t limit, struct arena *arena, struct store_effect_page *out_page,
			     struct error *error);
	/* Effects with after < due_at <= until, the earliest first; after >= 0. */
	bool (*list_due)(struct store_reader *reader, int64_t after, int64_t until, size_t limit,
			 struct arena *arena, struct store_effect_page *out_page,
			 struct error *error);
	/* By kind, the effects that wait for a person or for a time. */
	bool (*count_waiting)(struct store_reader *reader, struct arena *arena,
			      struct store_state_counts *out_counts, struct error *error);

	/* ---- documents, idempotency keys, guards ---- */

	/* A deleted document is not found, but its revision is filled: a new one continues it. */
	bool (*read_document)(struct store_reader *reader, struct str kind, struct str name,
			      struct arena *arena, struct store_document *out_document,
			      bool *out_found, struct error *error);
	/* Documents of one kind, by name. */
	bool (*list_documents)(struct store_reader *reader, struct str kind, struct str after,
			       size_t limit, struct arena *arena,
			       struct store_document_page *out_page, struct error *error);
	bool (*read_request)(struct store_reader *reader, struct str key, struct arena *arena,
			     struct store_request *out_request, bool *out_found,
			     struct error *error);
	/* 0 for a counter that no append has moved. */
	bool (*read_guard)(struct store_reader *reader, struct str name, int64_t *out_value,
			   struct error *error);
	/* Counters whose name begins with `prefix` and is after `after`, by name. */
	bool (*list_guards)(struct store_reader *reader, struct str prefix, struct str after,
			    size_t limit, struct arena *arena, struct store_guard_page *out_page,
			    struct error *error);
};

#endif
