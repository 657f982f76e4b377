/* base/map.h -- a hash map from text to a pointer, keyed SipHash-1-3 so that hostile keys
 * cannot make it slow.
 *
 * Keys are borrowed: they must live as long as the map.  map_seed() is called once at start
 * with random bytes; without it a fixed key is used (tests, simulator).  Open addressing,
 * memory from malloc; a zeroed struct is an empty map.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

struct map_slot;

struct map {
	struct map_slot *slots;
	size_t count, room, used; /* used counts tombstones too */
};

void map_seed(const uint8_t key[16]);
uint64_t map_hash(struct str key); /* SipHash-1-3 of the seed */
void map_done(struct map *map);
void *map_get(const struct map *map, struct str key);       /* NULL when absent */
void map_put(struct map *map, struct str key, void *value); /* not NULL; replaces */
void *map_remove(struct map *map, struct str key);          /* what was there */
/* Walk: `size_t i = 0; while ((value = map_next(&map, &i, &key)) != NULL) ...`; removing the
 * item just given is allowed, putting is not. */
void *map_next(const struct map *map, size_t *index, struct str *out_key);

#endif
