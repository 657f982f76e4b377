/* base/map.h -- hash map from text to a pointer, safe against hostile keys (keyed SipHash-1-3).
 *
 * The map borrows its keys: they must live as long as their entries.  The program calls map_seed()
 * once at start with random bytes; without it a fixed hash key is used (tests, simulator).  The
 * table uses open addressing and memory from malloc; a zeroed struct is an empty map.
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
uint64_t map_hash(struct str key); /* SipHash-1-3 with the process's hash key */
void map_done(struct map *map);
void *map_get(const struct map *map, struct str key);       /* NULL when absent */
void map_put(struct map *map, struct str key, void *value); /* not NULL; replaces */
void *map_remove(struct map *map, struct str key);          /* the removed value, or NULL */
/* Iteration: `size_t i = 0; while ((value = map_next(&map, &i, &key)) != NULL) ...`.  The loop may
 * remove the entry just returned; it must not call map_put(). */
void *map_next(const struct map *map, size_t *index, struct str *out_key);

#endif
