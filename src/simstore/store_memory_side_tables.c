/* simstore/store_memory_side_tables.c -- the side tables of the memory store.
 *
 * Tables that are small in tests are sorted arrays; values are in a hash map.
 */
#include "simstore/store_memory_tables.h"

#include <stdlib.h>
#include <string.h>

static struct store_memory *self_of(struct store *store)
{
	return (struct store_memory *)store;
}

/* ---- counters ------------------------------------------------------------------------ */

static size_t counter_place(const struct memory_counters *counters, struct str name,
			    bool *out_there)
{
	size_t place = 0;
	while (place < counters->count && str_compare(counters->at[place].name, name) < 0)
		place++;
	*out_there = place < counters->count && str_equal(counters->at[place].name, name);
	return place;
}

int64_t memory_counter(const struct memory_counters *counters, struct str name)
{
	bool there;
	size_t place = counter_place(counters, name, &there);
	return there ? counters->at[place].value : 0;
}

void memory_counter_move(struct memory_counters *counters, struct str name, int64_t change)
{
	bool there;
	size_t place = counter_place(counters, name, &there);
	if (!there) {
		counters->at = memory_grown(counters->at, &counters->room, counters->count,
					    sizeof(*counters->at));
		memmove(counters->at + place + 1, counters->at + place,
			(counters->count - place) * sizeof(*counters->at));
		counters->at[place] = (struct memory_counter){ .name = memory_own(name) };
		counters->count++;
	}
	counters->at[place].value += change;
}

void memory_counters_done(struct memory_counters *counters)
{
	for (size_t i = 0; i < counters->count; i++)
		memory_disown(counters->at[i].name);
	free(counters->at);
}

/* ---- values -------------------------------------------------------------------------- */

static struct str hash_str(const struct hash *hash)
{
	return (struct str){ (const char *)hash->bytes, sizeof(hash->bytes) };
}

struct memory_value *memory_value_find(const struct store_memory *self, const struct hash *hash)
{
	return map_get(&self->values, hash_str(hash));
}

void memory_value_add(struct store_memory *self, const struct store_blob *blob)
{
	if (memory_value_find(self, &blob->hash) != NULL)
		return;
	struct memory_value *value = calloc(1, sizeof(*value));
	require(value != NULL);
	value->hash = blob->hash;
	value->bytes = memory_own(blob->bytes);
	map_put(&self->values, hash_str(&value->hash), value);
}

static void value_free(struct memory_value *value)
{
	memory_disown(value->bytes);
	free(value);
}

static int by_hash(const void *left, const void *right)
{
	const struct memory_value *const *a = left, *const *b = right;
	return memcmp((*a)->hash.bytes, (*b)->hash.bytes, sizeof((*a)->hash.bytes));
}

struct memory_names memory_references_add(struct store_memory *self, const struct hash *names,
					  size_t count)
{
	struct memory_names used = { 0 };
	if (count == 0)
		return used;
	used.at = calloc(count, sizeof(*used.at));
	require(used.at != NULL);
	for (size_t i = 0; i < count; i++) {
		used.at[i] = memory_value_find(self, &names[i]);
		require(used.at[i] != NULL);
	}
	qsort((void *)used.at, count, sizeof(*used.at), by_hash);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || used.at[i] != used.at[i - 1])
			used.at[used.count++] = used.at[i];
	for (size_t i = 0; i < used.count; i++)
		used.at[i]->uses++;
	return used;
}

void memory_references_remove(struct store_memory *self, struct memory_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		struct memory_value *value = names->at[i];
		if (--value->uses > 0 || value->dead)
			continue;
		value->dead = true;
		self->dead = memory_grown((void *)self->dead, &self->dead_room, self->dead_count,
					  sizeof(*self->dead));
		self->dead[self->dead_count++] = value;
	}
	free((void *)names->at);
	*names = (struct memory_names){ 0 };
}

/* ---- documents and requests ------------------------------------------------------------- */

size_t memory_document_place(const struct store_memory *self, struct str kind, struct str name,
			     bool *out_there)
{
	size_t place = 0;
	int order = -1;
	for (; place < self->document_count; place++) {
		const struct store_document *document = &self->documents[place];
		order = str_compare(document->kind, kind);
		if (order == 0)
			order = str_compare(document->name, name);
		if (order >= 0)
			break;
	}
	*out_there = place < self->document_count && order == 0;
	return place;
}

static int64_t document_revision(const struct store_memory *self,
				 const struct store_document *document)
{
	bool there;
	size_t place = memory_document_place(self, document->kind, document->name, &there);
	return there && self->documents[place].body.size > 0 ? self->documents[place].revision : 0;
}

static void document_write(struct store_memory *self, const struct store_document *change)
{
	bool there;
	size_t place = memory_document_place(self, change->kind, change->name, &there);
	/* Deleting a document that does not exist changes nothing. */
	if (change->body.size == 0 && change->revision == 0)
		return;
	if (!there) {
		self->documents = memory_grown(self->documents, &self->document_room,
					       self->document_count, sizeof(*self->documents));
		memmove(self->documents + place + 1, self->documents + place,
			(self->document_count - place) * sizeof(*self->documents));
		self->documents[place] =
			(struct store_document){ .kind = memory_own(change->kind),
						 .name = memory_own(change->name) };
		self->document_count++;
	}
	struct store_document *document = &self->documents[place];
	memory_disown(document->body);
	document->body = memory_own(change->body);
	document->changed_at = change->changed_at;
	document->revision++;
}

static void documents_forget(struct store_memory *self)
{
	for (size_t i = 0; i < self->document_count; i++) {
		memory_disown(self->documents[i].kind);
		memory_disown(self->documents[i].name);
		memory_disown(self->documents[i].body);
	}
	self->document_count = 0;
}

static size_t request_place(const struct store_memory *self, struct str key, bool *out_there)
{
	size_t place = 0;
	while (place < self->request_count && str_compare(self->requests[place].key, key) < 0)
		place++;
	*out_there = place < self->request_count && str_equal(self->requests[place].key, key);
	return place;
}

struct store_request *memory_request(const struct store_memory *self, struct str key)
{
	bool there;
	size_t place = request_place(self, key, &there);
	return there && self->requests[place].at >= self->forgotten ? &self->requests[place] : NULL;
}

static void request_write(struct store_memory *self, const struct store_request *request)
{
	bool there;
	size_t place = request_place(self, request->key, &there);
	if (there) {
		memory_disown(self->requests[place].key);
	} else {
		self->requests = memory_grown(self->requests, &self->request_room,
					      self->request_count, sizeof(*self->requests));
		memmove(self->requests + place + 1, self->requests + place,
			(self->request_count - place) * sizeof(*self->requests));
		self->request_count++;
	}
	self->requests[place] = *request;
	self->requests[place].key = memory_own(request->key);
}

/* ---- an append ------------------------------------------------------------------------ */

static bool documents_admit(const struct store_memory *self, const struct store_append *append)
{
	for (size_t i = 0; i < append->document_count; i++) {
		const struct store_document *document = &append->documents[i];
		if (document_revision(self, document) != document->revision)
			return false;
		for (size_t j = 0; j < i; j++)
			if (str_equal(document->kind, append->documents[j].kind) &&
			    str_equal(document->name, append->documents[j].name))
				return false;
	}
	return true;
}

bool memory_admits(struct store_memory *self, struct store_append *append,
		   const struct memory_run *run)
{
	struct store_request *request =
		append->request.key.size > 0 ? memory_request(self, append->request.key) : NULL;
	if (request != NULL) {
		struct str key = append->request.key;
		append->request = *request;
		append->request.key = key;
		append->outcome = STORE_REPEATED;
		return false;
	}
	if ((run != NULL ? run->row.seq : 0) != append->expected_seq ||
	    !documents_admit(self, append)) {
		append->outcome = STORE_CONFLICT;
		return false;
	}
	for (size_t i = 0; i < append->guard_count; i++) {
		int64_t value = memory_counter(&self->guards, append->guards[i].name);
		if (store_guard_admits(append->guards, i, value))
			continue;
		append->outcome = STORE_GUARDED;
		append->refused_guard = i;
		append->refused_value = value;
		return false;
	}
	return true;
}

static bool names_known(const struct store_memory *self, const struct store_append *append,
			const struct hash *names, size_t count, struct error *error)
{
	for (size_t i = 0; i < count; i++) {
		bool known = memory_value_find(self, &names[i]) != NULL;
		for (size_t j = 0; j < append->blob_count && !known; j++)
			known = hash_equal(&append->blobs[j].hash, &names[i]);
		char text[HASH_TEXT_SIZE];
		if (!known)
			return fail(error, ERROR_STORAGE,
				    "memory: an event or a snapshot refers to the value " STR_FMT
				    ", which is neither stored nor part of the append",
				    STR_ARG(hash_text(&names[i], text)));
	}
	return true;
}

bool memory_is_sound(const struct store_memory *self, const struct store_append *append,
		     const struct memory_run *run, struct error *error)
{
	for (size_t i = 0; i < append->event_count; i++)
		if (!names_known(self, append, append->events[i].names,
				 append->events[i].name_count, error))
			return false;
	if (!names_known(self, append, append->snapshot.names, append->snapshot.name_count, error))
		return false;
	int64_t newest = 0;
	if (run != NULL && run->snapshot_count > 0)
		newest = run->snapshots[run->snapshot_count - 1].seq;
	if (append->snapshot.body.size > 0)
		newest = append->expected_seq + (int64_t)append->event_count;
	if (append->floor > (run != NULL ? run->row.floor : 0) && append->floor > newest)
		return fail(error, ERROR_STORAGE,
			    "memory: floor %lld is above the newest snapshot, seq %lld",
			    (long long)append->floor, (long long)newest);
	return true;
}

static void snapshot_write(struct store_memory *self, const struct store_snapshot *snapshot,
			   struct memory_run *run)
{
	if (snapshot->body.size == 0)
		return;
	run->snapshots[run->snapshot_count++] = (struct memory_snapshot){
		.seq = run->row.seq,
		.body = memory_own(snapshot->body),
		.names = memory_references_add(self, snapshot->names, snapshot->name_count),
	};
	if (run->snapshot_count <= MEMORY_SNAPSHOTS)
		return;
	memory_disown(run->snapshots[0].body);
	memory_references_remove(self, &run->snapshots[0].names);
	run->snapshot_count--;
	memmove(run->snapshots, run->snapshots + 1, run->snapshot_count * sizeof(*run->snapshots));
}

void memory_side_tables_write(struct store_memory *self, const struct store_append *append,
			      struct memory_run *run)
{
	snapshot_write(self, &append->snapshot, run);
	if (append->floor > run->row.floor)
		run->row.floor = run->purge_upto = append->floor;
	for (size_t i = 0; i < append->document_count; i++)
		document_write(self, &append->documents[i]);
	for (size_t i = 0; i < append->guard_count; i++)
		if (append->guards[i].change != 0)
			memory_counter_move(&self->guards, append->guards[i].name,
					    append->guards[i].change);
	if (append->request.key.size > 0)
		request_write(self, &append->request);
}

void memory_side_tables_done(struct store_memory *self)
{
	struct str key;
	struct memory_value *value;
	for (size_t i = 0; (value = map_next(&self->values, &i, &key)) != NULL;)
		value_free(value);
	map_done(&self->values);
	free((void *)self->dead);
	documents_forget(self);
	free(self->documents);
	for (size_t i = 0; i < self->request_count; i++)
		memory_disown(self->requests[i].key);
	free(self->requests);
	memory_counters_done(&self->guards);
	memory_counters_done(&self->states);
}

/* ---- purging and rebuilding ------------------------------------------------------------- */

static void run_purge(struct store_memory *self, struct memory_run *run, size_t *left)
{
	for (; run->purge_next<run->purge_upto && * left> 0; run->purge_next++) {
		if (run->purge_next < 1)
			continue;
		struct memory_event *event = &self->events[run->events[run->purge_next - 1]];
		if (event->kept || event->gone)
			continue;
		memory_disown(event->row.body);
		event->row.body = (struct str){ NULL, 0 };
		memory_references_remove(self, &event->names);
		event->gone = true;
		self->gone++;
		self->stats.purged++;
		--*left;
	}
}

static void values_purge(struct store_memory *self, size_t *left)
{
	for (; self->dead_count > 0 && *left > 0; --*left) {
		struct memory_value *value = self->dead[--self->dead_count];
		value->dead = false;
		if (value->uses > 0)
			continue;
		map_remove(&self->values, hash_str(&value->hash));
		value_free(value);
	}
}

static void requests_purge(struct store_memory *self, size_t *left)
{
	size_t kept = 0;
	for (size_t i = 0; i < self->request_count; i++) {
		if (*left > 0 && self->requests[i].at < self->forgotten) {
			memory_disown(self->requests[i].key);
			--*left;
		} else {
			self->requests[kept++] = self->requests[i];
		}
	}
	self->request_count = kept;
}

bool store_memory_purge(struct store *store, size_t limit, const struct store_deadline *deadline,
			bool *out_more, struct error *error)
{
	(void)error;
	(void)deadline; /* a purge in memory takes no time */
	struct store_memory *self = self_of(store);
	size_t left = limit;
	pthread_mutex_lock(self->lock);
	if (self->system != NULL)
		run_purge(self, self->system, &left);
	for (size_t i = 0; i < self->run_count; i++)
		run_purge(self, self->runs[i], &left);
	values_purge(self, &left);
	requests_purge(self, &left);
	*out_more = left == 0;
	pthread_mutex_unlock(self->lock);
	return true;
}

bool store_memory_expire_requests(struct store *store, int64_t before, struct error *error)
{
	(void)error;
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	if (before > self->forgotten)
		self->forgotten = before;
	pthread_mutex_unlock(self->lock);
	return true;
}

static void effects_close(struct store_memory *self, const struct uuid *run)
{
	for (size_t i = self->effects.count; i-- > 0;) {
		struct store_effect *effect = self->effects.at[i];
		if (uuid_equal(&effect->run, run))
			memory_effect_drop(memory_set_remove(&self->effects, &effect->id));
	}
}

bool store_memory_rebuild_run(struct store *store, const struct store_run *run,
			      const struct store_effect *open, size_t open_count,
			      struct error *error)
{
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	struct memory_run *there = memory_run_find(self, &run->id);
	if (there != NULL) {
		memory_row_write(self, there, run);
		memory_labels_write(there, run->labels);
		memory_usage_drop(there);
		memory_usage_write(there, run->usage);
		memory_budgets_drop(there);
		memory_budgets_write(there, run->budgets);
		effects_close(self, &run->id);
		for (size_t i = 0; i < open_count; i++)
			memory_effect_open(self, &open[i], &run->id);
	}
	pthread_mutex_unlock(self->lock);
	char id[UUID_TEXT_SIZE];
	return there != NULL ||
	       fail(error, ERROR_NOT_FOUND, "memory: run " STR_FMT " has no row to be rebuilt",
		    STR_ARG(uuid_text(&run->id, id)));
}

/* The counts of the memory store are always those of its tables. */
bool store_memory_rebuild_end(struct store *store, struct error *error)
{
	(void)error;
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	memory_budgets_count(self);
	pthread_mutex_unlock(self->lock);
	return true;
}

bool store_memory_rebuild_documents(struct store *store, int64_t seq,
				    const struct store_document *documents, size_t count,
				    bool *out_current, struct error *error)
{
	(void)error;
	struct store_memory *self = self_of(store);
	pthread_mutex_lock(self->lock);
	int64_t now = self->system == NULL ? 0 : self->system->row.seq;
	*out_current = now == seq;
	if (*out_current)
		documents_forget(self);
	for (size_t i = 0; *out_current && i < count; i++) {
		bool there;
		size_t place;
		document_write(self, &documents[i]);
		place = memory_document_place(self, documents[i].kind, documents[i].name, &there);
		require(there);
		self->documents[place].revision = documents[i].revision;
	}
	pthread_mutex_unlock(self->lock);
	return true;
}
