/* base/arena.h -- arena allocator: all memory of an arena is freed at once.
 *
 * An allocation never returns NULL: the program aborts when malloc() fails, and the limits of
 * contracts/limits.def keep that from happening.  Memory is zeroed unless a function says
 * otherwise. Single allocations cannot be freed.  arena_reset() frees everything but keeps the
 * first block for reuse.  A zeroed struct is an empty arena: `AUTO(arena) arena = {0};`.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

#include "base/attributes.h"

struct arena_block;

struct arena {
	struct arena_block *newest;
	char *next, *end; /* free bytes of the newest block */
	size_t taken;     /* bytes allocated with malloc */
};

void *arena_take(struct arena *arena, size_t size); /* zeroed, aligned to 16 */
void *arena_take_array(struct arena *arena, size_t count, size_t size);
void *arena_copy(struct arena *arena, const void *bytes, size_t size);
char *arena_take_text(struct arena *arena, size_t size); /* unaligned, not zeroed, for text */
void arena_reset(struct arena *arena);
/* What is in `from` now lives as long as `into`; `from` is empty. */
void arena_join(struct arena *into, struct arena *from);
void arena_done(struct arena *arena);

#define arena_new(arena, type)          ((type *)arena_take((arena), sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_take_array((arena), (count), sizeof(type)))

#endif
