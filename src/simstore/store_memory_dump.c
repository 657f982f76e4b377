/* simstore/store_memory_dump.c -- the content of the memory store as text. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "simstore/store_memory_tables.h"

static int by_hash(const void *left, const void *right)
{
	const struct memory_value *const *a = left, *const *b = right;
	return memcmp((*a)->hash.bytes, (*b)->hash.bytes, sizeof((*a)->hash.bytes));
}

static void dump_values(const struct store_memory *self, struct arena *arena, struct buf *out)
{
	struct memory_value **values =
		arena_array(arena, struct memory_value *, self->values.count + 1);
	struct str key;
	size_t count = 0;
	for (size_t i = 0; (values[count] = map_next(&self->values, &i, &key)) != NULL;)
		count++;
	qsort((void *)values, count, sizeof(*values), by_hash);
	for (size_t i = 0; i < count; i++) {
		char hash[HASH_TEXT_SIZE];
		buf_add_format(out, "blob " STR_FMT " %zu uses %lld\n",
			       STR_ARG(hash_text(&values[i]->hash, hash)), values[i]->bytes.size,
			       (long long)values[i]->uses);
	}
}

static void dump_run(const struct memory_run *run, struct buf *out)
{
	const struct store_run *row = &run->row;
	char id[UUID_TEXT_SIZE];
	buf_add_format(out,
		       "run " STR_FMT " " STR_FMT " " STR_FMT
		       "%s created %lld updated %lld ended %lld seq %lld floor %lld " STR_FMT "\n",
		       STR_ARG(uuid_text(&row->id, id)), STR_ARG(row->name), STR_ARG(row->state),
		       row->needs_recovery ? " needs recovery" : "", (long long)row->created_at,
		       (long long)row->updated_at, (long long)row->ended_at, (long long)row->seq,
		       (long long)row->floor, STR_ARG(row->summary));
	for (size_t i = 0; i < run->budget_count; i++)
		buf_add_format(out, "budget " STR_FMT " %lld %lld\n", STR_ARG(run->budgets[i].name),
			       (long long)run->budgets[i].spent,
			       (long long)run->budgets[i].reserved);
	for (size_t i = 0; i < run->usage_count; i++) {
		const struct store_usage *usage = &run->usage[i];
		buf_add_format(out,
			       "usage %lld " STR_FMT " " STR_FMT " " STR_FMT
			       " turns %lld input %lld cost %lld\n",
			       (long long)usage->day, STR_ARG(usage->agent),
			       STR_ARG(usage->provider), STR_ARG(usage->model),
			       (long long)usage->turns, (long long)usage->input_tokens,
			       (long long)usage->cost);
	}
	for (size_t i = 0; i < run->snapshot_count; i++)
		buf_add_format(out, "snapshot %lld names %zu " STR_FMT "\n",
			       (long long)run->snapshots[i].seq, run->snapshots[i].names.count,
			       STR_ARG(run->snapshots[i].body));
}

static void dump_events(const struct store_memory *self, struct buf *out)
{
	char id[UUID_TEXT_SIZE];
	for (size_t i = 0; i < self->event_count; i++) {
		const struct store_event_row *event = &self->events[i].row;
		if (self->events[i].gone)
			continue;
		buf_add_format(out, "event %lld " STR_FMT " %lld at %lld " STR_FMT " " STR_FMT "\n",
			       (long long)event->position, STR_ARG(uuid_text(&event->run, id)),
			       (long long)event->seq, (long long)event->at, STR_ARG(event->type),
			       STR_ARG(event->body));
	}
}

static void dump_beside(const struct store_memory *self, struct buf *out)
{
	char id[UUID_TEXT_SIZE], hash[HASH_TEXT_SIZE];
	for (size_t i = 0; i < self->document_count; i++)
		buf_add_format(
			out, "document " STR_FMT " " STR_FMT " %lld changed %lld " STR_FMT "\n",
			STR_ARG(self->documents[i].kind), STR_ARG(self->documents[i].name),
			(long long)self->documents[i].revision,
			(long long)self->documents[i].changed_at, STR_ARG(self->documents[i].body));
	for (size_t i = 0; i < self->guards.count; i++)
		buf_add_format(out, "guard " STR_FMT " %lld\n", STR_ARG(self->guards.at[i].name),
			       (long long)self->guards.at[i].value);
	for (size_t i = 0; i < self->request_count; i++)
		buf_add_format(out, "request " STR_FMT " " STR_FMT " " STR_FMT " %lld\n",
			       STR_ARG(self->requests[i].key),
			       STR_ARG(hash_text(&self->requests[i].said, hash)),
			       STR_ARG(uuid_text(&self->requests[i].subject, id)),
			       (long long)self->requests[i].at);
}

struct str store_memory_dump(struct store *store, struct arena *arena)
{
	struct store_memory *self = (struct store_memory *)store;
	AUTO(buf) out = { 0 };
	char id[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];
	pthread_mutex_lock(self->lock);
	if (self->system != NULL)
		dump_run(self->system, &out);
	for (size_t i = 0; i < self->run_count; i++)
		dump_run(self->runs[i], &out);
	dump_events(self, &out);
	for (size_t i = 0; i < self->effects.count; i++) {
		const struct store_effect *effect = self->effects.at[i];
		buf_add_format(&out,
			       "effect " STR_FMT " of " STR_FMT " " STR_FMT " due %lld " STR_FMT
			       "\n",
			       STR_ARG(uuid_text(&effect->id, id)),
			       STR_ARG(uuid_text(&effect->run, other)), STR_ARG(effect->kind),
			       (long long)effect->due_at, STR_ARG(effect->body));
	}
	dump_beside(self, &out);
	dump_values(self, arena, &out);
	pthread_mutex_unlock(self->lock);
	return str_copy(arena, buf_str(&out));
}
