/* simstore/store_memory_read.c -- the read and admin interfaces of the memory store. */
#include "simstore/store_memory_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

struct reader {
	struct store_reader base;
	struct store_memory *store;
};

bool store_memory_open_reader(struct store *store, struct store_reader **out_reader,
			      struct error *error)
{
	(void)error;
	struct reader *reader = calloc(1, sizeof(*reader));
	require(reader != NULL);
	reader->base.ops = &store_memory_reader_ops;
	reader->base.admin = store->admin;
	reader->store = (struct store_memory *)store;
	*out_reader = &reader->base;
	return true;
}

void store_memory_close_reader(struct store_reader *reader)
{
	free(reader);
}

/* Locks and returns the reader's store. */
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

static struct store_run run_copy(struct arena *arena, const struct memory_run *run)
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

bool memory_is_hidden(const struct memory_run *run, const struct memory_event *event)
{
	return event->gone || (event->row.seq < run->row.floor && !event->kept);
}

/* A page of the events that are seen among events[at(from)] ... */
static void page_fill(const struct store_memory *self, const struct memory_run *run, size_t from,
		      size_t total, size_t limit, struct arena *arena,
		      struct store_event_page *out_page)
{
	size_t count = 0;
	out_page->at = arena_array(arena, struct store_event_row, page_size(total, from, limit));
	for (size_t i = from; i < total && count < limit; i++) {
		const struct memory_event *event = &self->events[run != NULL ? run->events[i] : i];
		const struct memory_run *owner =
			run != NULL ? run : memory_run_find(self, &event->row.run);
		if (!memory_is_hidden(owner, event))
			out_page->at[count++] = event_copy(arena, &event->row);
	}
	out_page->count = count;
}

static bool read_events(struct store_reader *reader, const struct uuid *id, int64_t after,
			size_t limit, struct arena *arena, struct store_event_page *out_page,
			struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct memory_run *run = memory_run_find(self, id);
	size_t total = run != NULL ? (size_t)run->row.seq : 0;
	page_fill(self, run, index_after(after, total), total, limit, arena, out_page);
	unlock(self);
	return true;
}

static bool read_all(struct store_reader *reader, int64_t after, size_t limit, struct arena *arena,
		     struct store_event_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t total = self->event_count;
	page_fill(self, NULL, index_after(after, total), total, limit, arena, out_page);
	unlock(self);
	return true;
}

static bool read_run(struct store_reader *reader, const struct uuid *id, struct arena *arena,
		     struct store_run *out_run, bool *out_found, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct memory_run *run = memory_run_find(self, id);
	*out_found = run != NULL;
	if (run != NULL)
		*out_run = run_copy(arena, run);
	unlock(self);
	return true;
}

static bool has_label(const struct memory_run *run, struct str label)
{
	bool found = false;
	for (size_t i = 0; i < run->label_count; i++)
		found |= str_equal(run->labels[i], label);
	return found;
}

static bool passes(const struct store_run_filter *only, const struct memory_run *run)
{
	if (only == NULL)
		return true;
	bool among = only->state_count == 0, labelled = true;
	for (size_t i = 0; i < only->state_count; i++)
		among |= str_equal(only->states[i], run->row.state);
	for (size_t i = 0; i < only->labels.count; i++)
		labelled &= has_label(run, only->labels.at[i]);
	return among && labelled && (only->name.size == 0 || str_equal(only->name, run->row.name));
}

static bool list_runs(struct store_reader *reader, const struct store_run_filter *only,
		      const struct uuid *before, size_t limit, struct arena *arena,
		      struct store_run_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct memory_run *last = before != NULL ? memory_run_find(self, before) : NULL;
	size_t older = last != NULL && last != self->system ? last->order
		       : before == NULL                     ? self->run_count
							    : 0;
	out_page->count = 0;
	out_page->at = arena_array(arena, struct store_run, older < limit ? older : limit);
	for (; older > 0 && out_page->count < limit; older--)
		if (passes(only, self->runs[older - 1]))
			out_page->at[out_page->count++] = run_copy(arena, self->runs[older - 1]);
	unlock(self);
	return true;
}

/* The run with the smallest id that is within the range and not among the first `count`; NULL = none. */
static const struct memory_run *next_by_id(const struct store_memory *self,
					   const struct uuid *first, const struct uuid *last,
					   const struct store_run *found, size_t count)
{
	const struct memory_run *best = NULL;
	for (size_t i = 0; i < self->run_count; i++) {
		struct str id = uuid_str(&self->runs[i]->row.id);
		bool later = count == 0 || str_compare(id, uuid_str(&found[count - 1].id)) > 0;
		if (later && str_compare(id, uuid_str(first)) >= 0 &&
		    str_compare(id, uuid_str(last)) <= 0 &&
		    (best == NULL || str_compare(id, uuid_str(&best->row.id)) < 0))
			best = self->runs[i];
	}
	return best;
}

static bool find_runs(struct store_reader *reader, const struct uuid *first,
		      const struct uuid *last, size_t limit, struct arena *arena,
		      struct store_run_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct memory_run *next;
	out_page->count = 0;
	out_page->at = arena_array(arena, struct store_run,
				   self->run_count < limit ? self->run_count : limit);
	while (out_page->count < limit &&
	       (next = next_by_id(self, first, last, out_page->at, out_page->count)) != NULL)
		out_page->at[out_page->count++] = run_copy(arena, next);
	unlock(self);
	return true;
}

static bool read_blob(struct store_reader *reader, const struct hash *hash, struct arena *arena,
		      struct str *out_bytes, bool *out_found, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct memory_value *blob = memory_value_find(self, hash);
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
	size_t from = memory_set_after(&self->effects, after), count = 0;
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
	const struct store_effect *effect = memory_set_get(&self->effects, id);
	*out_found = effect != NULL;
	if (effect != NULL)
		*out_effect = effect_copy(arena, effect);
	unlock(self);
	return true;
}

static bool list_needing_recovery(struct store_reader *reader, const struct uuid *after,
				  size_t limit, struct arena *arena,
				  struct store_run_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t from = memory_set_after(&self->needs_recovery, after);
	out_page->count = page_size(self->needs_recovery.count, from, limit);
	out_page->at = arena_array(arena, struct store_run, out_page->count);
	for (size_t i = 0; i < out_page->count; i++)
		out_page->at[i] = run_copy(arena, self->needs_recovery.at[from + i]);
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

/* ---- side tables ----------------------------------------------------------------------- */

static bool read_snapshot(struct store_reader *reader, const struct uuid *id, int64_t at,
			  struct arena *arena, struct store_snapshot *out_snapshot, bool *out_found,
			  struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct memory_run *run = memory_run_find(self, id);
	const struct memory_snapshot *found = NULL;
	for (size_t i = 0; run != NULL && i < run->snapshot_count; i++)
		if (at == 0 || run->snapshots[i].seq <= at)
			found = &run->snapshots[i];
	*out_found = found != NULL;
	if (found != NULL)
		*out_snapshot = (struct store_snapshot){ .seq = found->seq,
							 .body = str_copy(arena, found->body) };
	unlock(self);
	return true;
}

static int by_due(const void *left, const void *right)
{
	const struct store_effect *a = left, *b = right;
	if (a->due_at != b->due_at)
		return a->due_at < b->due_at ? -1 : 1;
	return memcmp(a->id.bytes, b->id.bytes, sizeof(a->id.bytes));
}

static bool list_due(struct store_reader *reader, int64_t after, int64_t until, size_t limit,
		     struct arena *arena, struct store_effect_page *out_page, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t count = 0;
	out_page->at = arena_array(arena, struct store_effect, self->effects.count);
	for (size_t i = 0; i < self->effects.count; i++) {
		const struct store_effect *effect = self->effects.at[i];
		if (effect->due_at > after && effect->due_at <= until)
			out_page->at[count++] = effect_copy(arena, effect);
	}
	unlock(self);
	if (count > 0)
		qsort(out_page->at, count, sizeof(*out_page->at), by_due);
	out_page->count = count < limit ? count : limit;
	return true;
}

static struct store_document document_copy(struct arena *arena, const struct store_document *from)
{
	struct store_document copy = *from;
	copy.kind = str_copy(arena, from->kind);
	copy.name = str_copy(arena, from->name);
	copy.body = str_copy(arena, from->body);
	return copy;
}

static bool read_document(struct store_reader *reader, struct str kind, struct str name,
			  struct arena *arena, struct store_document *out_document, bool *out_found,
			  struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	bool there;
	size_t place = memory_document_place(self, kind, name, &there);
	*out_document = (struct store_document){ 0 };
	if (there)
		*out_document = document_copy(arena, &self->documents[place]);
	*out_found = out_document->body.size > 0;
	unlock(self);
	return true;
}

static bool list_documents(struct store_reader *reader, struct str kind, struct str after,
			   size_t limit, struct arena *arena, struct store_document_page *out_page,
			   struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	bool there;
	size_t from = memory_document_place(self, kind, after, &there), count = 0;
	from += there;
	out_page->at = arena_array(arena, struct store_document,
				   page_size(self->document_count, from, limit));
	for (size_t i = from; i < self->document_count && count < limit; i++) {
		const struct store_document *document = &self->documents[i];
		if (!str_equal(document->kind, kind))
			break;
		if (document->body.size > 0)
			out_page->at[count++] = document_copy(arena, document);
	}
	out_page->count = count;
	unlock(self);
	return true;
}

static bool read_request(struct store_reader *reader, struct str key, struct arena *arena,
			 struct store_request *out_request, bool *out_found, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	const struct store_request *request = memory_request(self, key);
	*out_found = request != NULL;
	if (request != NULL) {
		*out_request = *request;
		out_request->key = str_copy(arena, request->key);
	}
	unlock(self);
	return true;
}

static bool read_guard(struct store_reader *reader, struct str name, int64_t *out_value,
		       struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	*out_value = memory_counter(&self->guards, name);
	unlock(self);
	return true;
}

static bool list_guards(struct store_reader *reader, struct str prefix, struct str after,
			size_t limit, struct arena *arena, struct store_guard_page *out_page,
			struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	*out_page = (struct store_guard_page){
		arena_array(arena, struct store_guard_value, self->guards.count), 0
	};
	for (size_t i = 0; i < self->guards.count && out_page->count < limit; i++) {
		const struct memory_counter *guard = &self->guards.at[i];
		if (!str_starts(guard->name, prefix) || guard->name.size == prefix.size ||
		    str_compare(guard->name, after) <= 0)
			continue;
		out_page->at[out_page->count++] =
			(struct store_guard_value){ str_copy(arena, guard->name), guard->value };
	}
	unlock(self);
	return true;
}

static int tally_order(const void *left, const void *right)
{
	const struct store_tally *a = left, *b = right;
	int order = str_compare(a->name, b->name);
	return order != 0 ? order : str_compare(a->state, b->state);
}

/* Counts all runs: the cost grows with them, which is acceptable in tests. */
static bool tally_runs(struct store_reader *reader, struct arena *arena,
		       struct store_tallies *out_tallies, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	struct store_tally *at = arena_array(arena, struct store_tally, self->run_count);
	size_t count = 0;
	for (size_t i = 0; i < self->run_count; i++) {
		const struct store_run *run = &self->runs[i]->row;
		struct store_tally key = { .name = run->name, .state = run->state };
		size_t place = 0;
		while (place < count && tally_order(&at[place], &key) != 0)
			place++;
		if (place == count)
			at[count++] = (struct store_tally){ .name = str_copy(arena, run->name),
							    .state = str_copy(arena, run->state) };
		at[place].runs++;
		at[place].ended += run->ended_at > 0;
		at[place].took_us += run->ended_at > 0 ? run->ended_at - run->created_at : 0;
	}
	if (count > 0)
		qsort(at, count, sizeof(*at), tally_order);
	*out_tallies = (struct store_tallies){ at, count };
	unlock(self);
	return true;
}

static bool sum_usage(struct store_reader *reader, const struct store_usage_filter *filter,
		      enum store_usage_by by, size_t limit, struct arena *arena,
		      struct store_usage_sums *out_sums, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	memory_usage_sum(self, filter, by, limit, arena, out_sums);
	unlock(self);
	return true;
}

static bool count_states(struct store_reader *reader, struct arena *arena,
			 struct store_state_counts *out_counts, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t count = 0;
	out_counts->at = arena_array(arena, struct store_state_count, self->states.count);
	for (size_t i = 0; i < self->states.count; i++)
		if (self->states.at[i].value > 0)
			out_counts->at[count++] = (struct store_state_count){
				str_copy(arena, self->states.at[i].name), self->states.at[i].value
			};
	out_counts->count = count;
	unlock(self);
	return true;
}

/* By name, as SQL orders them. */
static bool count_waiting(struct store_reader *reader, struct arena *arena,
			  struct store_state_counts *out_counts, struct error *error)
{
	static const struct str kinds[] = { { "human", 5 }, { "retry", 5 }, { "timer", 5 } };
	(void)error;
	struct store_memory *self = locked(reader);
	out_counts->at = arena_array(arena, struct store_state_count, COUNT(kinds));
	out_counts->count = 0;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		int64_t count = 0;
		for (size_t i = 0; i < self->effects.count; i++) {
			const struct store_effect *effect = self->effects.at[i];
			count += str_equal(effect->kind, kinds[k]);
		}
		if (count > 0)
			out_counts->at[out_counts->count++] =
				(struct store_state_count){ kinds[k], count };
	}
	unlock(self);
	return true;
}

static bool is_old(const struct store_run *row, int64_t ended_before, int64_t most_events)
{
	int64_t first = row->floor > 1 ? row->floor : 1;
	bool ended = ended_before > 0 && row->ended_at > 0 && row->ended_at < ended_before;
	return first < row->seq &&
	       (ended || (most_events > 0 && row->seq - first + 1 > most_events));
}

static int by_id(const void *left, const void *right)
{
	const struct store_old_run *a = left, *b = right;
	return memcmp(a->id.bytes, b->id.bytes, sizeof(a->id.bytes));
}

static bool list_old(struct store_reader *reader, int64_t ended_before, int64_t most_events,
		     const struct uuid *after, size_t limit, struct arena *arena,
		     struct store_old_runs *out_runs, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	size_t count = 0;
	out_runs->at = arena_array(arena, struct store_old_run, self->run_count);
	for (size_t i = 0; i < self->run_count; i++) {
		const struct store_run *row = &self->runs[i]->row;
		if ((after == NULL ||
		     memcmp(row->id.bytes, after->bytes, sizeof(after->bytes)) > 0) &&
		    is_old(row, ended_before, most_events))
			out_runs->at[count++] = (struct store_old_run){ row->id, row->seq,
									row->floor, row->ended_at };
	}
	unlock(self);
	if (count > 0)
		qsort(out_runs->at, count, sizeof(*out_runs->at), by_id);
	out_runs->count = count < limit ? count : limit;
	return true;
}

/* ---- admin --------------------------------------------------------------------------- */

static bool measure(struct store_reader *reader, struct store_size *out_size, struct error *error)
{
	(void)error;
	struct store_memory *self = locked(reader);
	*out_size = (struct store_size){ .runs = (int64_t)self->run_count,
					 .events = (int64_t)(self->event_count - self->gone),
					 .effects = (int64_t)self->effects.count,
					 .blobs = (int64_t)self->values.count };
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
		const struct memory_run *run = memory_run_find(self, &effect->run);
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

static struct str recovery_report(const struct store *store, struct arena *arena)
{
	(void)store;
	(void)arena;
	return S("");
}

const struct store_reader_ops store_memory_reader_ops = {
	.read_events = read_events,
	.read_all = read_all,
	.newest_position = newest_position,
	.read_snapshot = read_snapshot,
	.read_blob = read_blob,
	.read_run = read_run,
	.list_runs = list_runs,
	.find_runs = find_runs,
	.list_needing_recovery = list_needing_recovery,
	.tally_runs = tally_runs,
	.sum_usage = sum_usage,
	.count_states = count_states,
	.list_old = list_old,
	.read_effect = read_effect,
	.list_effects = list_effects,
	.list_due = list_due,
	.count_waiting = count_waiting,
	.read_document = read_document,
	.list_documents = list_documents,
	.read_request = read_request,
	.read_guard = read_guard,
	.list_guards = list_guards,
};

const struct store_admin_ops store_memory_admin_ops = {
	.measure = measure,
	.check = check,
	.backup = backup,
	.recovery_report = recovery_report,
	.vacuum = vacuum,
	.purge = store_memory_purge,
	.expire_requests = store_memory_expire_requests,
	.rebuild_run = store_memory_rebuild_run,
	.rebuild_end = store_memory_rebuild_end,
	.rebuild_documents = store_memory_rebuild_documents,
};
