/* base/slots.c -- an array with a free list; the generation is odd while a slot is in use.
 *
 * Because only slots in use have an odd generation, a stale id never matches a free slot, and 0 is
 * never an id.  A slot whose generation would wrap around is never used again, so that no two
 * operations ever get the same id.
 */
#include "base/slots.h"

#include <stdlib.h>

#include "base/attributes.h"

struct slot {
	void *owner;
	uint32_t generation; /* odd = in use */
	uint32_t next_free;  /* index+1, 0 = none */
};

static uint64_t id_of(const struct slots *slots, uint32_t index)
{
	return (uint64_t)slots->at[index].generation << 32 | index;
}

static struct slot *slot_of(const struct slots *slots, uint64_t id)
{
	uint32_t index = (uint32_t)id, generation = (uint32_t)(id >> 32);
	if (index >= slots->count || (generation & 1) == 0)
		return NULL;
	struct slot *slot = &slots->at[index];
	return slot->generation == generation ? slot : NULL;
}

static uint32_t take_index(struct slots *slots)
{
	if (slots->free != 0) {
		uint32_t index = slots->free - 1;
		slots->free = slots->at[index].next_free;
		return index;
	}
	if (slots->count == slots->room) {
		uint32_t room = slots->room == 0 ? 16 : slots->room * 2;
		require(room > slots->room);
		struct slot *grown = realloc(slots->at, room * sizeof(struct slot));
		require(grown != NULL);
		slots->at = grown;
		slots->room = room;
	}
	slots->at[slots->count] = (struct slot){ 0 };
	return slots->count++;
}

uint64_t slots_add(struct slots *slots, void *owner)
{
	require(owner != NULL);
	uint32_t index = take_index(slots);
	struct slot *slot = &slots->at[index];
	slot->generation++;
	slot->owner = owner;
	slots->live++;
	return id_of(slots, index);
}

void *slots_get(const struct slots *slots, uint64_t id)
{
	const struct slot *slot = slot_of(slots, id);
	return slot == NULL ? NULL : slot->owner;
}

void slots_remove(struct slots *slots, uint64_t id)
{
	struct slot *slot = slot_of(slots, id);
	if (slot == NULL)
		return;
	slot->owner = NULL;
	slot->generation++;
	slots->live--;
	if (slot->generation == 0)
		return;
	slot->next_free = slots->free;
	slots->free = (uint32_t)id + 1;
}

void slots_done(struct slots *slots)
{
	free(slots->at);
	*slots = (struct slots){ 0 };
}

void *slots_next(const struct slots *slots, uint32_t *index, uint64_t *out_id)
{
	while (*index < slots->count) {
		uint32_t i = (*index)++;
		if ((slots->at[i].generation & 1) == 0)
			continue;
		if (out_id != NULL)
			*out_id = id_of(slots, i);
		return slots->at[i].owner;
	}
	return NULL;
}
