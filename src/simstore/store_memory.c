/* simstore/store_memory.c -- the memory store: commits, and the sets that its tables are made of.
 *
 * One mutex protects everything, because readers run on other threads; a reader holds it while it
 * copies a page.  An append is checked completely before it is written, and writing cannot fail, so
 * a batch needs no rollback.
 */
#include "simstore/store_memory_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

void *memory_grown(void *items, size_t *room, size_t count, size_t size)
{
	if (count < *room)
		return items;
	*room = *room == 0 ? 16 : *room * 2;
	void *larger = reallocarray(items, *room, size);
	require(larger != NULL);
	return larger;
}

struct str memory_own(struct str text)
{
	char *copy = malloc(text.size + 1);
	require(copy != NULL);
	if (text.size > 0)
		memcpy(copy, text.at, text.size);
	copy[text.size] = '\0';
	return (struct str){ copy, text.size };
}

void memory_disown(struct str text)
{
	union {
		const char *borrowed;
		char *owned;
	} text_at = { .borrowed = text.at };
	free(text_at.owned);
}

/* The index of `id`, or where it would be inserted. */
static size_t set_place(const struct memory_set *set, const struct uuid *id, bool *out_there)
{
	size_t low = 0, high = set->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (memcmp(set->at[middle], id->bytes, sizeof(id->bytes)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*out_there = low < set->count && uuid_equal(set->at[low], id);
	return low;
}

void *memory_set_get(const struct memory_set *set, const struct uuid *id)
{
	bool there;
	size_t place = set_place(set, id, &there);
	return there ? set->at[place] : NULL;
}

void memory_set_add(struct memory_set *set, void *item)
{
	bool there;
	size_t place = set_place(set, item, &there);
	if (there)
		return;
	set->at = memory_grown(set->at, &set->room, set->count, sizeof(*set->at));
	memmove(set->at + place + 1, set->at + place, (set->count - place) * sizeof(*set->at));
	set->at[place] = item;
	set->count++;
}

void *memory_set_remove(struct memory_set *set, const struct uuid *id)
{
	bool there;
	size_t place = set_place(set, id, &there);
	if (!there)
		return NULL;
	void *item = set->at[place];
	set->count--;
	memmove(set->at + place, set->at + place + 1, (set->count - place) * sizeof(*set->at));
	return item;
}

/* The index of the first item after `after`; 0 for NULL. */
size_t memory_set_after(const struct memory_set *set, const struct uuid *after)
{
	if (after == NULL)
		return 0;
	bool there;
	size_t place = set_place(set, after, &there);
	return there ? place + 1 : place;
}

static struct store_memory *self_of(struct store *store)
{
	return (struct store_memory *)store;
}

/* ---- rows ---------------------------------------------------------------------------- */

static void row_drop(struct store_run *row)
{
	memory_disown(row->name);
	memory_disown(row->state);
	memory_disown(row->summary);
}

static void labels_drop(struct memory_run *run)
{
	for (size_t i = 0; i < run->label_count; i++)
		memory_disown(run->labels[i]);
	free(run->labels);
	run->labels = NULL;
	run->label_count = 0;
}

void memory_labels_write(struct memory_run *run, struct str_list labels)
{
	labels_drop(run);
	run->labels = calloc(labels.count + 1, sizeof(*run->labels));
	require(run->labels != NULL);
	for (; run->label_count < labels.count; run->label_count++)
		run->labels[run->label_count] = memory_own(labels.at[run->label_count]);
}

void memory_effect_drop(struct store_effect *effect)
{
	if (effect == NULL)
		return;
	memory_disown(effect->kind);
	memory_disown(effect->body);
	free(effect);
}

struct memory_run *memory_run_find(const struct store_memory *self, const struct uuid *id)
{
	return map_get(&self->runs_by_id, uuid_str(id));
}

static struct memory_run *run_add(struct store_memory *self, const struct uuid *id)
{
	struct memory_run *run = calloc(1, sizeof(*run));
	require(run != NULL);
	run->row.id = *id;
	if (uuid_is_zero(id)) {
		self->system = run;
	} else {
		run->order = self->run_count;
		self->runs = memory_grown(self->runs, &self->run_room, self->run_count,
					  sizeof(*self->runs));
		self->runs[self->run_count++] = run;
	}
	map_put(&self->runs_by_id, uuid_str(&run->row.id), run);
	return run;
}

/* The system stream is in no state count and needs no recovery. */
void memory_row_write(struct store_memory *self, struct memory_run *run,
		      const struct store_run *row)
{
	int64_t seq = run->row.seq, floor = run->row.floor;
	bool counts = run != self->system;
	if (counts && run->row.state.at != NULL)
		memory_counter_move(&self->states, run->row.state, -1);
	row_drop(&run->row);
	run->row = *row;
	run->row.name = memory_own(row->name);
	run->row.state = memory_own(row->state);
	run->row.summary = memory_own(row->summary);
	run->row.labels = (struct str_list){ 0 };
	run->row.usage = (struct store_usages){ 0 };
	run->row.budgets = (struct store_budgets){ 0 };
	run->row.needs_recovery = row->needs_recovery && counts;
	run->row.seq = seq;
	run->row.floor = floor;
	if (counts)
		memory_counter_move(&self->states, run->row.state, 1);
	if (run->row.needs_recovery)
		memory_set_add(&self->needs_recovery, run);
	else
		memory_set_remove(&self->needs_recovery, &row->id);
}

static void event_add(struct store_memory *self, struct memory_run *run,
		      const struct store_event *event)
{
	self->events = memory_grown(self->events, &self->event_room, self->event_count,
				    sizeof(*self->events));
	run->events = memory_grown(run->events, &run->event_room, (size_t)run->row.seq,
				   sizeof(*run->events));
	run->events[run->row.seq++] = self->event_count;
	self->events[self->event_count] = (struct memory_event){
		.row = { .run = run->row.id,
			 .seq = run->row.seq,
			 .position = (int64_t)self->event_count + 1,
			 .at = event->at,
			 .type = memory_own(event->type),
			 .body = memory_own(event->body) },
		.names = memory_references_add(self, event->names, event->name_count),
		.kept = event->kept,
	};
	self->event_count++;
}

void memory_effect_open(struct store_memory *self, const struct store_effect *opened,
			const struct uuid *run)
{
	struct store_effect *effect = malloc(sizeof(*effect));
	require(effect != NULL);
	*effect = *opened;
	effect->run = *run;
	effect->kind = memory_own(effect->kind);
	effect->body = memory_own(effect->body);
	memory_effect_drop(memory_set_remove(&self->effects, &effect->id));
	memory_set_add(&self->effects, effect);
}

/* Closes before it opens, because a new attempt of an effect keeps the effect's id. */
static void effects_write(struct store_memory *self, const struct store_append *append)
{
	for (size_t i = 0; i < append->closed_count; i++)
		memory_effect_drop(memory_set_remove(&self->effects, &append->closed[i]));
	for (size_t i = 0; i < append->opened_count; i++)
		memory_effect_open(self, &append->opened[i], &append->run.id);
}

/* ---- committing ---------------------------------------------------------------------- */

static bool append_write(struct store_memory *self, struct store_append *append,
			 struct error *error)
{
	require(append->event_count > 0 || append->request.key.size > 0);
	struct memory_run *run = memory_run_find(self, &append->run.id);
	if (!memory_admits(self, append, run)) {
		self->stats.conflicts += append->outcome == STORE_CONFLICT;
		return true;
	}
	if (!memory_is_sound(self, append, run, error))
		return false;
	if (run == NULL) {
		run = run_add(self, &append->run.id);
		memory_labels_write(run, append->run.labels);
	}
	memory_row_write(self, run, &append->run);
	memory_usage_write(run, append->run.usage);
	memory_budgets_write(run, append->run.budgets);
	for (size_t i = 0; i < append->blob_count; i++)
		memory_value_add(self, &append->blobs[i]);
	append->first_position = (int64_t)self->event_count + 1;
	for (size_t i = 0; i < append->event_count; i++)
		event_add(self, run, &append->events[i]);
	append->last_position = (int64_t)self->event_count;
	effects_write(self, append);
	memory_side_tables_write(self, append, run);
	append->outcome = STORE_COMMITTED;
	self->stats.appends++;
	self->stats.events += append->event_count;
	return true;
}

/* Each batch with an urgent append uses up a slice of the reserve. */
static bool has_room(const struct store_memory *self, const struct store_append *append)
{
	return !self->full ||
	       (append->urgent &&
		self->reserve_spent < LIMIT_STORE_RESERVE_BYTES / LIMIT_STORE_RESERVE_SLICE);
}

static bool commit_locked(struct store_memory *self, struct store_append *const *appends,
			  size_t count, struct error *error)
{
	if (self->fail_in > 0 && count > 0 && --self->fail_in == 0)
		self->broken = true;
	if (self->broken)
		return fail(error, ERROR_STORAGE, "memory: this commit fails by request");
	uint64_t before = self->stats.appends;
	bool good = true;
	for (size_t i = 0; i < count && good; i++)
		if (has_room(self, appends[i]))
			good = append_write(self, appends[i], error);
		else
			appends[i]->outcome = STORE_FULL;
	self->stats.refusals += self->full && count > 0;
	self->stats.commits += self->stats.appends > before;
	self->reserve_spent += self->full && self->stats.appends > before;
	self->broken = !good;
	return good;
}

static bool memory_commit(struct store *store, struct store_append *const *appends, size_t count,
			  struct error *error)
{
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	bool committed = commit_locked(self, appends, count, error);
	pthread_mutex_unlock(self->lock);
	return committed;
}

static struct store_stats memory_stats(const struct store *store)
{
	const struct store_memory *self = (const struct store_memory *)store;
	pthread_mutex_lock(self->lock);
	struct store_stats stats = self->stats;
	pthread_mutex_unlock(self->lock);
	return stats;
}

/* ---- opening and closing -------------------------------------------------------------- */

static void run_free(struct memory_run *run)
{
	if (run == NULL)
		return;
	for (size_t i = 0; i < run->snapshot_count; i++) {
		memory_disown(run->snapshots[i].body);
		free((void *)run->snapshots[i].names.at);
	}
	labels_drop(run);
	memory_usage_drop(run);
	memory_budgets_drop(run);
	row_drop(&run->row);
	free(run->events);
	free(run);
}

static void memory_close(struct store *store)
{
	if (store == NULL)
		return;
	struct store_memory *self = self_of(store);
	for (size_t i = 0; i < self->run_count; i++)
		run_free(self->runs[i]);
	run_free(self->system);
	for (size_t i = 0; i < self->event_count; i++) {
		memory_disown(self->events[i].row.type);
		memory_disown(self->events[i].row.body);
		free((void *)self->events[i].names.at);
	}
	for (size_t i = 0; i < self->effects.count; i++)
		memory_effect_drop(self->effects.at[i]);
	memory_side_tables_done(self);
	free((void *)self->runs);
	free(self->events);
	free((void *)self->needs_recovery.at);
	free((void *)self->effects.at);
	map_done(&self->runs_by_id);
	pthread_mutex_destroy(&self->mutex);
	free(self);
}

static const struct store_writer_ops store_memory_writer_ops = {
	.commit = memory_commit,
	.stats = memory_stats,
};

extern const struct store_backend store_memory_backend;

static bool memory_open(const char *path, struct store **out_store, struct error *error)
{
	(void)path;
	(void)error;
	struct store_memory *self = calloc(1, sizeof(*self));
	require(self != NULL);
	self->base = (struct store){ .backend = &store_memory_backend,
				     .writer = &store_memory_writer_ops,
				     .admin = &store_memory_admin_ops };
	require(pthread_mutex_init(&self->mutex, NULL) == 0);
	self->lock = &self->mutex;
	*out_store = &self->base;
	return true;
}

void store_memory_fill(struct store *store, bool full)
{
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	self->full = full;
	self->reserve_spent = full ? self->reserve_spent : 0;
	pthread_mutex_unlock(self->lock);
}

void store_memory_fail_after(struct store *store, uint64_t nth)
{
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	self->fail_in = nth;
	pthread_mutex_unlock(self->lock);
}

const struct store_backend store_memory_backend = {
	.name = "memory",
	.text = "Streams and tables in memory, lost when the process ends; for tests.",
	.open = memory_open,
	.close = memory_close,
	.open_reader = store_memory_open_reader,
	.close_reader = store_memory_close_reader,
};
