/* store/store_sqlite_row_cache.c -- a cache of the rows of the runs that were written last.
 *
 * An active run is written again and again, and no other connection writes, so an append need not
 * read the row that the run's previous append wrote.  Everything but a committed append (a purge, a
 * rebuild, a rollback) invalidates the whole cache, so that it never differs from the file.
 */
#include <string.h>

#include "store/store_sqlite_write.h"

static struct store_sqlite_cached_row *slot(struct store_sqlite *self, const struct uuid *id)
{
	uint64_t number;
	/* The middle bytes of an id are random in every UUID version that we create or accept. */
	memcpy(&number, id->bytes + 4, sizeof(number));
	number ^= number >> 32;
	return &self->row_cache[(number ^ number >> 16) % COUNT(self->row_cache)];
}

const struct store_sqlite_run_row *store_sqlite_row_cache_find(struct store_sqlite *self,
							       const struct uuid *id)
{
	const struct store_sqlite_cached_row *kept = slot(self, id);
	bool ours = kept->row.exists && kept->era == self->row_cache_era &&
		    uuid_equal(&kept->row.id, id);
	return ours ? &kept->row : NULL;
}

static struct str text_copy(char *room, struct str text)
{
	if (text.size > 0)
		memcpy(room, text.at, text.size);
	return (struct str){ room, text.size };
}

void store_sqlite_row_cache_put(struct store_sqlite *self, const struct store_sqlite_run_row *row)
{
	struct store_sqlite_cached_row *kept = slot(self, &row->id);
	kept->row.exists = false;
	if (row->state.size > sizeof(kept->state) || row->name.size > sizeof(kept->name))
		return;
	kept->row = *row;
	kept->row.state = text_copy(kept->state, row->state);
	kept->row.name = text_copy(kept->name, row->name);
	kept->era = self->row_cache_era;
}

void store_sqlite_row_cache_clear(struct store_sqlite *self)
{
	self->row_cache_era++;
}
