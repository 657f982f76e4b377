/* store/store_memory.c -- the same promises in plain C, for the simulator and for tests.
 *
 * One mutex guards everything, because readers live on other threads; a reader takes it for the
 * copy of one page.  Events and values stay for good, so they lie in an arena; rows that are
 * replaced own their text.  Nothing is written before an append is known not to conflict, and
 * after that nothing can fail, so a batch needs no undo.
 */
#include "store/store_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/map.h"

struct run {
	struct store_run row; /* first: its id is the key of the sets below */
	size_t order;         /* index in runs */
	size_t *events;       /* indices in events; seq is the place here + 1 */
	size_t event_room;
};

/* Pointers to things that begin with a struct uuid, ordered by it. */
struct uuid_set {
	void **at;
	size_t count, room;
};

struct store_memory {
	struct store base;
	pthread_mutex_t mutex;
	pthread_mutex_t *lock; /* the same; for those who get a const store */
	struct arena arena;    /* events and values */
	struct run **runs;     /* in the order they came */
	size_t run_count, run_room;
	struct map runs_by_id;
	struct uuid_set stepping;       /* struct run */
	struct store_event_row *events; /* position - 1 */
	size_t event_count, event_room;
	struct uuid_set effects; /* struct store_effect */
	struct store_blob **blobs;
	size_t blob_count, blob_room;
	struct map blobs_by_hash;
	struct store_stats stats;
	uint64_t fail_in; /* commits until the ordered failure; 0 = none ordered */
	bool broken, full;
};

struct reader {
	struct store_reader base;
	struct store_memory *store;
};

static void *grown(void *items, size_t *room, size_t count, size_t size)
{
	if (count < *room)
		return items;
	*room = *room == 0 ? 16 : *room * 2;
	void *larger = reallocarray(items, *room, size);
	require(larger != NULL);
	return larger;
}

static struct str text_own(struct str text)
{
	char *copy = malloc(text.size + 1);
	require(copy != NULL);
	if (text.size > 0)
		memcpy(copy, text.at, text.size);
	copy[text.size] = '\0';
	return (struct str){ copy, text.size };
}

static void text_drop(struct str text)
{
	union {
		const char *borrowed;
		char *owned;
	} text_at = { .borrowed = text.at };
	free(text_at.owned);
}

/* Where `id` is, or where it belongs. */
static size_t set_place(const struct uuid_set *set, const struct uuid *id, bool *out_there)
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

static void *set_get(const struct uuid_set *set, const struct uuid *id)
{
	bool there;
	size_t place = set_place(set, id, &there);
	return there ? set->at[place] : NULL;
}

static void set_add(struct uuid_set *set, void *item)
{
	bool there;
	size_t place = set_place(set, item, &there);
	if (there)
		return;
	set->at = grown(set->at, &set->room, set->count, sizeof(*set->at));
	memmove(set->at + place + 1, set->at + place, (set->count - place) * sizeof(*set->at));
	set->at[place] = item;
	set->count++;
}

static void *set_remove(struct uuid_set *set, const struct uuid *id)
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

/* The first item after `after` (NULL: after nothing). */
static size_t set_after(const struct uuid_set *set, const struct uuid *after)
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

static void row_drop(struct store_run *row)
{
	text_drop(row->name);
	text_drop(row->state);
	text_drop(row->summary);
}

static void effect_drop(struct store_effect *effect)
{
	if (effect == NULL)
		return;
	text_drop(effect->kind);
	text_drop(effect->body);
	free(effect);
}

static struct run *run_find(const struct store_memory *self, const struct uuid *id)
{
	return map_get(&self->runs_by_id, uuid_str(id));
}

static struct run *run_add(struct store_memory *self, const struct uuid *id)
{
	struct run *run = calloc(1, sizeof(*run));
	require(run != NULL);
	run->row.id = *id;
	run->order = self->run_count;
	self->runs = grown(self->runs, &self->run_room, self->run_count, sizeof(*self->runs));
	self->runs[self->run_count++] = run;
	map_put(&self->runs_by_id, uuid_str(&run->row.id), run);
	return run;
}

static void row_write(struct store_memory *self, struct run *run, const struct store_run *row)
{
	int64_t seq = run->row.seq;
	row_drop(&run->row);
	run->row = *row;
	run->row.name = text_own(row->name);
	run->row.state = text_own(row->state);
	run->row.summary = text_own(row->summary);
	run->row.seq = seq;
	if (row->stepping)
		set_add(&self->stepping, run);
	else
		set_remove(&self->stepping, &row->id);
}

static void event_add(struct store_memory *self, struct run *run, const struct store_event *event)
{
	self->events =
		grown(self->events, &self->event_room, self->event_count, sizeof(*self->events));
	run->events =
		grown(run->events, &run->event_room, (size_t)run->row.seq, sizeof(*run->events));
	run->events[run->row.seq++] = self->event_count;
	self->events[self->event_count] =
		(struct store_event_row){ .run = run->row.id,
					  .seq = run->row.seq,
					  .position = (int64_t)self->event_count + 1,
					  .at = event->at,
					  .type = str_copy(&self->arena, event->type),
					  .body = str_copy(&self->arena, event->body) };
	self->event_count++;
}

static void blob_add(struct store_memory *self, const struct store_blob *blob)
{
	struct str key = { (const char *)blob->hash.bytes, sizeof(blob->hash.bytes) };
	if (map_get(&self->blobs_by_hash, key) != NULL)
		return;
	struct store_blob *kept = arena_new(&self->arena, struct store_blob);
	kept->hash = blob->hash;
	kept->bytes = str_copy(&self->arena, blob->bytes);
	self->blobs = grown(self->blobs, &self->blob_room, self->blob_count, sizeof(*self->blobs));
	self->blobs[self->blob_count++] = kept;
	map_put(&self->blobs_by_hash,
		(struct str){ (const char *)kept->hash.bytes, sizeof(kept->hash.bytes) }, kept);
}

/* Closes before it opens: a new attempt of the same effect keeps its id. */
static void effects_write(struct store_memory *self, const struct store_append *append)
{
	for (size_t i = 0; i < append->closed_count; i++)
		effect_drop(set_remove(&self->effects, &append->closed[i]));
	for (size_t i = 0; i < append->opened_count; i++) {
		struct store_effect *effect = malloc(sizeof(*effect));
		require(effect != NULL);
		*effect = append->opened[i];
		effect->run = append->run.id;
		effect->kind = text_own(effect->kind);
		effect->body = text_own(effect->body);
		effect_drop(set_remove(&self->effects, &effect->id));
		set_add(&self->effects, effect);
	}
}

static void append_write(struct store_memory *self, struct store_append *append)
{
	require(append->event_count > 0);
	struct run *run = run_find(self, &append->run.id);
	if ((run != NULL ? run->row.seq : 0) != append->expected_seq) {
		append->outcome = STORE_CONFLICT;
		self->stats.conflicts++;
		return;
	}
	if (run == NULL)
		run = run_add(self, &append->run.id);
	row_write(self, run, &append->run);
	append->first_position = (int64_t)self->event_count + 1;
	for (size_t i = 0; i < append->event_count; i++)
		event_add(self, run, &append->events[i]);
	append->last_position = (int64_t)self->event_count;
	for (size_t i = 0; i < append->blob_count; i++)
		blob_add(self, &append->blobs[i]);
	effects_write(self, append);
	append->outcome = STORE_COMMITTED;
	self->stats.appends++;
	self->stats.events += append->event_count;
}

static bool memory_commit(struct store *store, struct store_append *const *appends, size_t count,
			  struct error *error)
{
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	if (self->fail_in > 0 && count > 0 && --self->fail_in == 0)
		self->broken = true;
	bool broken = self->broken;
	uint64_t before = self->stats.appends;
	for (size_t i = 0; i < count && !broken; i++)
		if (self->full)
			appends[i]->outcome = STORE_FULL;
		else
			append_write(self, appends[i]);
	self->stats.refusals += self->full && count > 0 && !broken;
	if (self->stats.appends > before)
		self->stats.commits++;
	pthread_mutex_unlock(self->lock);
	if (broken)
		return fail(error, ERROR_STORAGE, "memory: this commit was ordered to fail");
	return true;
}

static struct store_stats memory_stats(const struct store *store)
{
	const struct store_memory *self = (const struct store_memory *)store;
	pthread_mutex_lock(self->lock);
	struct store_stats stats = self->stats;
	pthread_mutex_unlock(self->lock);
	return stats;
}

static bool reader_open(struct store *store, struct store_reader **out_reader, struct error *error)
{
	(void)error;
	struct reader *reader = calloc(1, sizeof(*reader));
	require(reader != NULL);
	reader->base.ops = store->ops;
	reader->store = self_of(store);
	*out_reader = &reader->base;
	return true;
}

static void reader_close(struct store_reader *reader)
{
	free(reader);
}

/* The store behind a reader, locked. */
static struct store_memory *locked(struct store_reader *reader)
{
	struct store_memory *self = ((struct reader *)reader)->store;
	pthread_mutex_lock(self->lock);
	return self;
}

static void unlock(struct store_memory *self)
{
	pthread_mutex_unlock(self->lock);
}

static size_t page_size(size_t total, size_t from, size_t limit)
{
	if (from >= total)
		return 0;
	return total - from < limit ? total - from : limit;
}

static size_t index_after(int64_t after, size_t total)
{
	if (after < 0)
		return 0;
	return (uint64_t)after < total ? (size_t)after : total;
}

static struct store_event_row event_copy(struct arena *arena, const struct store_event_row *row)
{
	struct store_event_row copy = *row;
	copy.type = str_copy(arena, row->type);
	copy.body = str_copy(arena, row->body);
	return copy;
}

static struct store_run run_copy(struct arena *arena, const struct run *run)
{
	struct store_run copy = run->row;
	copy.name = str_copy(arena, run->row.name);
	copy.state = str_copy(arena, run->row.state);
	copy.summary = str_copy(arena, run->row.summary);
	return copy;
}

static struct store_effect effect_copy(struct arena *arena, const struct store_effect *effect)
{
	struct store_effect copy = *effect;
	copy.kind = str_copy(arena, effect->kind);
	copy.body = str_copy(arena, effect->body);
	return copy;
}

static bool read_events(struct store_reader *reader, const struct uuid *id, int64_t after,
			size_t limit, struct arena *arena, struct store_event_page *out_page,
			struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct run *run = run_find(self, id);
	size_t total = run != NULL ? (size_t)run->row.seq : 0;
	size_t from = index_after(after, total);
	out_page->count = page_size(total, from, limit);
	out_page->at = arena_array(arena, struct store_event_row, out_page->count);
	for (size_t i = 0; i < out_page->count; i++)
		out_page->at[i] = event_copy(arena, &self->events[run->events[from + i]]);
	unlock(self);
	return true;
}

static bool read_all(struct store_reader *reader, int64_t after, size_t limit, struct arena *arena,
		     struct store_event_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t from = index_after(after, self->event_count);
	out_page->count = page_size(self->event_count, from, limit);
	out_page->at = arena_array(arena, struct store_event_row, out_page->count);
	for (size_t i = 0; i < out_page->count; i++)
		out_page->at[i] = event_copy(arena, &self->events[from + i]);
	unlock(self);
	return true;
}

static bool read_run(struct store_reader *reader, const struct uuid *id, struct arena *arena,
		     struct store_run *out_run, bool *out_found, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct run *run = run_find(self, id);
	*out_found = run != NULL;
	if (run != NULL)
		*out_run = run_copy(arena, run);
	unlock(self);
	return true;
}

static bool list_runs(struct store_reader *reader, const struct uuid *before, size_t limit,
		      struct arena *arena, struct store_run_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct run *last = before != NULL ? run_find(self, before) : NULL;
	size_t older = last != NULL ? last->order : before == NULL ? self->run_count : 0;
	out_page->count = older < limit ? older : limit;
	out_page->at = arena_array(arena, struct store_run, out_page->count);
	for (size_t i = 0; i < out_page->count; i++)
		out_page->at[i] = run_copy(arena, self->runs[older - 1 - i]);
	unlock(self);
	return true;
}

static bool read_blob(struct store_reader *reader, const struct hash *hash, struct arena *arena,
		      struct str *out_bytes, bool *out_found, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	struct str key = { (const char *)hash->bytes, sizeof(hash->bytes) };
	const struct store_blob *blob = map_get(&self->blobs_by_hash, key);
	*out_found = blob != NULL;
	if (blob != NULL)
		*out_bytes = str_copy(arena, blob->bytes);
	unlock(self);
	return true;
}

static bool list_effects(struct store_reader *reader, struct str kind, const struct uuid *after,
			 size_t limit, struct arena *arena, struct store_effect_page *out_page,
			 struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t from = set_after(&self->effects, after), count = 0;
	out_page->at = arena_array(arena, struct store_effect,
				   page_size(self->effects.count, from, limit));
	for (size_t i = from; i < self->effects.count && count < limit; i++) {
		const struct store_effect *effect = self->effects.at[i];
		if (kind.size == 0 || str_equal(kind, effect->kind))
			out_page->at[count++] = effect_copy(arena, effect);
	}
	out_page->count = count;
	unlock(self);
	return true;
}

static bool read_effect(struct store_reader *reader, const struct uuid *id, struct arena *arena,
			struct store_effect *out_effect, bool *out_found, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct store_effect *effect = set_get(&self->effects, id);
	*out_found = effect != NULL;
	if (effect != NULL)
		*out_effect = effect_copy(arena, effect);
	unlock(self);
	return true;
}

static bool list_stepping(struct store_reader *reader, const struct uuid *after, size_t limit,
			  struct arena *arena, struct store_run_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t from = set_after(&self->stepping, after);
	out_page->count = page_size(self->stepping.count, from, limit);
	out_page->at = arena_array(arena, struct store_run, out_page->count);
	for (size_t i = 0; i < out_page->count; i++)
		out_page->at[i] = run_copy(arena, self->stepping.at[from + i]);
	unlock(self);
	return true;
}

static int64_t newest_position(struct store_reader *reader)
{
	struct store_memory *self = locked(reader);
	int64_t position = (int64_t)self->event_count;
	unlock(self);
	return position;
}

static bool measure(struct store_reader *reader, struct store_size *out_size, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	*out_size = (struct store_size){ .runs = (int64_t)self->run_count,
					 .events = (int64_t)self->event_count,
					 .effects = (int64_t)self->effects.count,
					 .blobs = (int64_t)self->blob_count };
	unlock(self);
	return true;
}

static bool check(struct store_reader *reader, struct arena *arena, struct store_check *out_check,
		  struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	struct str *problems = arena_array(arena, struct str, LIMIT_PROBLEMS);
	size_t count = 0;
	char id[UUID_TEXT_SIZE];
	for (size_t i = 0; i < self->effects.count && count < LIMIT_PROBLEMS; i++) {
		const struct store_effect *effect = self->effects.at[i];
		const struct run *run = run_find(self, &effect->run);
		if (run == NULL || run->row.ended_at != 0)
			problems[count++] = str_format(
				arena, "effect " STR_FMT " is open and its run has ended",
				STR_ARG(uuid_text(&effect->id, id)));
	}
	unlock(self);
	*out_check = (struct store_check){ problems, count };
	return true;
}

static bool backup(struct store_reader *reader, const char *path, int64_t *out_bytes,
		   struct error *error)
{
	(void)reader;
	(void)out_bytes;
	return fail(error, ERROR_USAGE, "%s: a store in memory has no file to copy", path);
}

static bool vacuum(struct store *store, struct error *error)
{
	(void)store;
	(void)error;
	return true;
}

static void memory_close(struct store *store)
{
	if (store == NULL)
		return;
	struct store_memory *self = self_of(store);
	for (size_t i = 0; i < self->run_count; i++) {
		row_drop(&self->runs[i]->row);
		free(self->runs[i]->events);
		free(self->runs[i]);
	}
	for (size_t i = 0; i < self->effects.count; i++)
		effect_drop(self->effects.at[i]);
	free(self->runs);
	free(self->events);
	free(self->stepping.at);
	free(self->effects.at);
	free(self->blobs);
	map_done(&self->runs_by_id);
	map_done(&self->blobs_by_hash);
	arena_done(&self->arena);
	pthread_mutex_destroy(&self->mutex);
	free(self);
}

extern const struct store_ops store_memory_ops;

static bool memory_open(const char *path, struct store **out_store, struct error *error)
{
	(void)path;
	(void)error;
	struct store_memory *self = calloc(1, sizeof(*self));
	require(self != NULL);
	self->base.ops = &store_memory_ops;
	require(pthread_mutex_init(&self->mutex, NULL) == 0);
	self->lock = &self->mutex;
	*out_store = &self->base;
	return true;
}

const struct store_ops store_memory_ops = {
	.name = "memory",
	.text = "Nothing outlives the process; for tests and the simulator.",
	.open = memory_open,
	.close = memory_close,
	.commit = memory_commit,
	.stats = memory_stats,
	.reader_open = reader_open,
	.reader_close = reader_close,
	.read_events = read_events,
	.read_all = read_all,
	.read_run = read_run,
	.list_runs = list_runs,
	.read_blob = read_blob,
	.list_effects = list_effects,
	.read_effect = read_effect,
	.list_stepping = list_stepping,
	.newest_position = newest_position,
	.measure = measure,
	.check = check,
	.backup = backup,
	.vacuum = vacuum,
};

static int by_hash(const void *left, const void *right)
{
	const struct store_blob *const *a = left, *const *b = right;
	return memcmp((*a)->hash.bytes, (*b)->hash.bytes, sizeof((*a)->hash.bytes));
}

static void dump_blobs(const struct store_memory *self, struct arena *arena, struct buf *out)
{
	struct store_blob **blobs = arena_array(arena, struct store_blob *, self->blob_count);
	for (size_t i = 0; i < self->blob_count; i++)
		blobs[i] = self->blobs[i];
	qsort(blobs, self->blob_count, sizeof(*blobs), by_hash);
	for (size_t i = 0; i < self->blob_count; i++) {
		char hash[HASH_TEXT_SIZE];
		buf_add_format(out, "blob " STR_FMT " %zu\n",
			       STR_ARG(hash_text(&blobs[i]->hash, hash)), blobs[i]->bytes.size);
	}
}

struct str store_memory_dump(struct store *store, struct arena *arena)
{
	struct store_memory *self = self_of(store);
	AUTO(buf) out = { 0 };
	char id[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];
	pthread_mutex_lock(self->lock);
	for (size_t i = 0; i < self->run_count; i++) {
		const struct store_run *row = &self->runs[i]->row;
		buf_add_format(&out,
			       "run " STR_FMT " " STR_FMT " " STR_FMT
			       "%s created %lld updated %lld ended %lld seq %lld " STR_FMT "\n",
			       STR_ARG(uuid_text(&row->id, id)), STR_ARG(row->name),
			       STR_ARG(row->state), row->stepping ? " stepping" : "",
			       (long long)row->created_at, (long long)row->updated_at,
			       (long long)row->ended_at, (long long)row->seq,
			       STR_ARG(row->summary));
	}
	for (size_t i = 0; i < self->event_count; i++) {
		const struct store_event_row *event = &self->events[i];
		buf_add_format(&out,
			       "event %lld " STR_FMT " %lld at %lld " STR_FMT " " STR_FMT "\n",
			       (long long)event->position, STR_ARG(uuid_text(&event->run, id)),
			       (long long)event->seq, (long long)event->at, STR_ARG(event->type),
			       STR_ARG(event->body));
	}
	for (size_t i = 0; i < self->effects.count; i++) {
		const struct store_effect *effect = self->effects.at[i];
		buf_add_format(&out,
			       "effect " STR_FMT " of " STR_FMT " " STR_FMT " due %lld " STR_FMT
			       "\n",
			       STR_ARG(uuid_text(&effect->id, id)),
			       STR_ARG(uuid_text(&effect->run, other)), STR_ARG(effect->kind),
			       (long long)effect->due_at, STR_ARG(effect->body));
	}
	dump_blobs(self, arena, &out);
	pthread_mutex_unlock(self->lock);
	return str_copy(arena, buf_str(&out));
}

void store_memory_fill(struct store *store, bool full)
{
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	self->full = full;
	pthread_mutex_unlock(self->lock);
}

void store_memory_fail_after(struct store *store, uint64_t commits)
{
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	self->fail_in = commits;
	pthread_mutex_unlock(self->lock);
}
