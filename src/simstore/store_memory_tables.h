/* simstore/store_memory_tables.h -- the tables of the memory store; private to its files.
 *
 * store_memory.c commits, store_memory_side_tables.c has the side tables, store_memory_read.c reads,
 * store_memory_usage.c sums up usage, store_memory_dump.c prints the content.  One mutex protects all tables.
 */
#ifndef SIMSTORE_STORE_MEMORY_TABLES_H
#define SIMSTORE_STORE_MEMORY_TABLES_H

#include <pthread.h>

#include "base/map.h"
#include "store/store_guard.h"
#include "simstore/store_memory.h"

enum { MEMORY_SNAPSHOTS = 2 };

struct memory_value {
	struct hash hash;
	struct str bytes; /* owned */
	int64_t uses;     /* events and snapshots that refer to it */
	bool dead;        /* in the list of unreferenced values */
};

/* The distinct values that a row refers to, by hash. */
struct memory_names {
	struct memory_value **at;
	size_t count;
};

struct memory_event {
	struct store_event_row row; /* owns its texts */
	struct memory_names names;
	bool kept, gone;
};

struct memory_snapshot {
	int64_t seq;
	struct str body; /* owned */
	struct memory_names names;
};

struct memory_run {
	struct store_run row; /* first: its id is the key of sets */
	size_t order;         /* index in `runs`; not for the system stream */
	size_t *events;       /* events[seq - 1] is an index in the store's `events` */
	size_t event_room;
	struct memory_snapshot snapshots[MEMORY_SNAPSHOTS + 1]; /* oldest first */
	size_t snapshot_count;
	int64_t purge_next, purge_upto; /* equal: nothing to purge */
	struct str *labels;
	size_t label_count;
	struct store_usage *usage; /* owns its texts */
	size_t usage_count, usage_room;
	struct store_budget *budgets; /* likewise */
	size_t budget_count, budget_room;
};

/* Pointers to structs that begin with a struct uuid, sorted by it. */
struct memory_set {
	void **at;
	size_t count, room;
};

struct memory_counter {
	struct str name; /* owned */
	int64_t value;
};

/* Counters, sorted by name. */
struct memory_counters {
	struct memory_counter *at;
	size_t count, room;
};

struct store_memory {
	struct store base;
	pthread_mutex_t mutex;
	pthread_mutex_t *lock;    /* = &mutex, for functions with a const store */
	struct memory_run **runs; /* in order of creation */
	size_t run_count, run_room;
	struct memory_run *system;
	struct map runs_by_id;
	struct memory_set needs_recovery; /* struct memory_run */
	struct memory_event *events;      /* index = position - 1 */
	size_t event_count, event_room;
	size_t gone;               /* number of purged events */
	struct memory_set effects; /* struct store_effect */
	struct map values;         /* struct memory_value by hash */
	struct memory_value **dead;
	size_t dead_count, dead_room;
	struct store_document *documents; /* by kind and name; a deleted one has no body */
	size_t document_count, document_room;
	struct memory_counters guards, states;
	struct store_request *requests; /* by key */
	size_t request_count, request_room;
	int64_t forgotten;
	struct store_stats stats;
	uint64_t fail_in; /* commits until the requested failure; 0 = none */
	bool broken, full;
	unsigned reserve_spent; /* batches with urgent appends since the store is full */
};

void *memory_grown(void *items, size_t *room, size_t count, size_t size);
struct str memory_own(struct str text);
void memory_disown(struct str text);

size_t memory_set_after(const struct memory_set *set, const struct uuid *after);
void *memory_set_get(const struct memory_set *set, const struct uuid *id);
void memory_set_add(struct memory_set *set, void *item);
void *memory_set_remove(struct memory_set *set, const struct uuid *id);

struct memory_run *memory_run_find(const struct store_memory *self, const struct uuid *id);
void memory_effect_drop(struct store_effect *effect);
void memory_effect_open(struct store_memory *self, const struct store_effect *opened,
			const struct uuid *run);
/* Replaces the labels of a run. */
void memory_labels_write(struct memory_run *run, struct str_list labels);
void memory_row_write(struct store_memory *self, struct memory_run *run,
		      const struct store_run *row);

/* ---- usage, store_memory_usage.c -------------------------------------------------------- */

void memory_usage_drop(struct memory_run *run);
void memory_usage_write(struct memory_run *run, struct store_usages usages);
void memory_usage_sum(const struct store_memory *self, const struct store_usage_filter *filter,
		      enum store_usage_by by, size_t limit, struct arena *arena,
		      struct store_usage_sums *out_sums);

void memory_budgets_drop(struct memory_run *run);
void memory_budgets_write(struct memory_run *run, struct store_budgets budgets);
/* Sets the guards of budgets to the sums over all runs. */
void memory_budgets_count(struct store_memory *self);

/* ---- side tables ------------------------------------------------------------------------ */

int64_t memory_counter(const struct memory_counters *counters, struct str name);
void memory_counter_move(struct memory_counters *counters, struct str name, int64_t change);
void memory_counters_done(struct memory_counters *counters);
struct memory_value *memory_value_find(const struct store_memory *self, const struct hash *hash);
void memory_value_add(struct store_memory *self, const struct store_blob *blob);
struct memory_names memory_references_add(struct store_memory *self, const struct hash *names,
					  size_t count);
void memory_references_remove(struct store_memory *self, struct memory_names *names);
/* The index of a document, or where it would be inserted. */
size_t memory_document_place(const struct store_memory *self, struct str kind, struct str name,
			     bool *out_there);
struct store_request *memory_request(const struct store_memory *self, struct str key);
/* Checks an append; sets the outcome when it is refused. */
bool memory_admits(struct store_memory *self, struct store_append *append,
		   const struct memory_run *run);
/* Checks our own invariants: references to stored values, a floor with a snapshot. */
bool memory_is_sound(const struct store_memory *self, const struct store_append *append,
		     const struct memory_run *run, struct error *error);
void memory_side_tables_write(struct store_memory *self, const struct store_append *append,
			      struct memory_run *run);
void memory_side_tables_done(struct store_memory *self);

bool store_memory_purge(struct store *store, size_t limit, const struct store_deadline *deadline,
			bool *out_more, struct error *error);
bool store_memory_expire_requests(struct store *store, int64_t before, struct error *error);
bool store_memory_rebuild_run(struct store *store, const struct store_run *run,
			      const struct store_effect *open, size_t open_count,
			      struct error *error);
bool store_memory_rebuild_end(struct store *store, struct error *error);
bool store_memory_rebuild_documents(struct store *store, int64_t seq,
				    const struct store_document *documents, size_t count,
				    bool *out_current, struct error *error);

/* ---- reading ---------------------------------------------------------------------------- */

/* True for an event below the floor that is not kept. */
bool memory_is_hidden(const struct memory_run *run, const struct memory_event *event);

bool store_memory_open_reader(struct store *store, struct store_reader **out_reader,
			      struct error *error);
void store_memory_close_reader(struct store_reader *reader);

extern const struct store_reader_ops store_memory_reader_ops;
extern const struct store_admin_ops store_memory_admin_ops;

#endif
