/* base/map.c -- linear probing in a power-of-two table that is at most 3/4 full.
 *
 * Keys come from documents and requests, so the hash is SipHash-1-3 with a secret hash key: an
 * attacker who does not know it cannot construct colliding keys.  A slot stores the full hash, so
 * growing does not read the keys again, and nearly every probe ends without comparing key bytes.  A
 * removed slot becomes a tombstone; rebuilding the table drops all tombstones.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct map_slot {
	struct str key;
	void *value; /* NULL: free, or a tombstone when hash is 1 */
	uint64_t hash;
};

enum { FIRST_ROOM = 16, TOMBSTONE = 1 };

/* The hash key.  The initial value gives tests and the simulator a reproducible order. */
static uint64_t hash_key[2] = { 0x6261746f6e206d61, 0x7020736565642031 };

struct sip_state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t load(const uint8_t *at)
{
	uint64_t word = 0;
	for (unsigned i = 0; i < 8; i++)
		word |= (uint64_t)at[i] << (8 * i);
	return word;
}

static uint64_t rotate(uint64_t word, int count)
{
	return word << count | word >> (64 - count);
}

static inline void sip_round(struct sip_state *sip)
{
	sip->v0 += sip->v1;
	sip->v1 = rotate(sip->v1, 13) ^ sip->v0;
	sip->v0 = rotate(sip->v0, 32);
	sip->v2 += sip->v3;
	sip->v3 = rotate(sip->v3, 16) ^ sip->v2;
	sip->v0 += sip->v3;
	sip->v3 = rotate(sip->v3, 21) ^ sip->v0;
	sip->v2 += sip->v1;
	sip->v1 = rotate(sip->v1, 17) ^ sip->v2;
	sip->v2 = rotate(sip->v2, 32);
}

uint64_t map_hash(struct str key)
{
	struct sip_state sip = {
		hash_key[0] ^ 0x736f6d6570736575,
		hash_key[1] ^ 0x646f72616e646f6d,
		hash_key[0] ^ 0x6c7967656e657261,
		hash_key[1] ^ 0x7465646279746573,
	};
	const uint8_t *at = (const uint8_t *)key.at;
	size_t left = key.size;
	for (; left >= 8; at += 8, left -= 8) {
		uint64_t word = load(at);
		sip.v3 ^= word;
		sip_round(&sip);
		sip.v0 ^= word;
	}
	uint64_t last = (uint64_t)key.size << 56;
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)at[i] << (8 * i);
	sip.v3 ^= last;
	sip_round(&sip);
	sip.v0 ^= last;
	sip.v2 ^= 0xff;
	sip_round(&sip);
	sip_round(&sip);
	sip_round(&sip);
	return sip.v0 ^ sip.v1 ^ sip.v2 ^ sip.v3;
}

void map_seed(const uint8_t key[16])
{
	hash_key[0] = load(key);
	hash_key[1] = load(key + 8);
}

void map_done(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}

static struct map_slot *find(const struct map *map, struct str key, uint64_t hash)
{
	if (map->room == 0)
		return NULL;
	for (size_t i = hash & (map->room - 1);; i = (i + 1) & (map->room - 1)) {
		struct map_slot *slot = &map->slots[i];
		if (slot->value == NULL) {
			if (slot->hash != TOMBSTONE)
				return NULL;
			continue;
		}
		if (slot->hash == hash && str_equal(slot->key, key))
			return slot;
	}
}

static struct map_slot *free_slot(struct map_slot *slots, size_t room, uint64_t hash)
{
	size_t i = hash & (room - 1);
	while (slots[i].value != NULL)
		i = (i + 1) & (room - 1);
	return &slots[i];
}

/* Ensures space for one more entry; a table full of tombstones is rebuilt without growing. */
static void grow(struct map *map)
{
	if ((map->used + 1) * 4 <= map->room * 3)
		return;
	size_t room = map->room == 0 ? FIRST_ROOM : map->room;
	while ((map->count + 1) * 2 > room)
		room *= 2;
	struct map_slot *slots = calloc(room, sizeof(*slots));
	require(slots != NULL);
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].value != NULL)
			*free_slot(slots, room, map->slots[i].hash) = map->slots[i];
	free(map->slots);
	map->slots = slots;
	map->room = room;
	map->used = map->count;
}

void *map_get(const struct map *map, struct str key)
{
	if (map->count == 0)
		return NULL;
	const struct map_slot *slot = find(map, key, map_hash(key));
	return slot == NULL ? NULL : slot->value;
}

void map_put(struct map *map, struct str key, void *value)
{
	require(value != NULL);
	uint64_t hash = map_hash(key);
	struct map_slot *slot = find(map, key, hash);
	if (slot != NULL) {
		slot->key = key;
		slot->value = value;
		return;
	}
	grow(map);
	slot = free_slot(map->slots, map->room, hash);
	map->used += slot->hash != TOMBSTONE;
	map->count++;
	*slot = (struct map_slot){ .key = key, .value = value, .hash = hash };
}

void *map_remove(struct map *map, struct str key)
{
	struct map_slot *slot = find(map, key, map_hash(key));
	if (slot == NULL)
		return NULL;
	void *value = slot->value;
	*slot = (struct map_slot){ .hash = TOMBSTONE };
	map->count--;
	return value;
}

void *map_next(const struct map *map, size_t *index, struct str *out_key)
{
	while (*index < map->room) {
		const struct map_slot *slot = &map->slots[(*index)++];
		if (slot->value == NULL)
			continue;
		if (out_key != NULL)
			*out_key = slot->key;
		return slot->value;
	}
	return NULL;
}
