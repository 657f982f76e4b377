/* store/store_sqlite_known.c -- the rows of the runs that were written last.
 *
 * A run that goes on is written again and again, and nobody else writes: what its last append left
 * need not be looked for.  Whatever is not an append (a purge, a rebuild, a batch that is rolled
 * back) forgets everything, so that nothing here can differ from the file.
 */
#include <string.h>

#include "store/store_sqlite.h"

static struct store_sqlite_known_row *place(struct store_sqlite *self, const struct uuid *id)
{
	uint64_t number;
	/* The middle of an id is random in every version that we make or take. */
	memcpy(&number, id->bytes + 4, sizeof(number));
	number ^= number >> 32;
	return &self->known[(number ^ number >> 16) % COUNT(self->known)];
}

const struct store_sqlite_run_row *store_sqlite_known(struct store_sqlite *self,
						      const struct uuid *id)
{
	const struct store_sqlite_known_row *kept = place(self, id);
	bool ours =
		kept->row.there && kept->era == self->known_era && uuid_equal(&kept->row.id, id);
	return ours ? &kept->row : NULL;
}

static struct str keep(char *room, struct str text)
{
	if (text.size > 0)
		memcpy(room, text.at, text.size);
	return (struct str){ room, text.size };
}

void store_sqlite_know(struct store_sqlite *self, const struct store_sqlite_run_row *row)
{
	struct store_sqlite_known_row *kept = place(self, &row->id);
	kept->row.there = false;
	if (row->state.size > sizeof(kept->state) || row->name.size > sizeof(kept->name))
		return;
	kept->row = *row;
	kept->row.state = keep(kept->state, row->state);
	kept->row.name = keep(kept->name, row->name);
	kept->era = self->known_era;
}

void store_sqlite_known_clear(struct store_sqlite *self)
{
	self->known_era++;
}
