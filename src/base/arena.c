/* base/arena.c -- a list of blocks whose size doubles up to 1 MB.
 *
 * The first block is small, because most arenas serve a single request.  A large allocation gets a
 * block of its own, which is linked behind the newest block: the rest of the newest block stays in
 * use for small allocations.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/work.h"

enum { ALIGNMENT = 16, FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
	struct arena_block *older;
	size_t size;
	_Alignas(16) char bytes[];
};

_Noreturn void require_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "baton: broken invariant: %s (%s:%d)\n", what, file, line);
	abort();
}

static struct arena_block *block_new(struct arena *arena, size_t size)
{
	require(size < SIZE_MAX - sizeof(struct arena_block));
	struct arena_block *block = malloc(sizeof(struct arena_block) + size);
	require(block != NULL);
	block->size = size;
	arena->taken += size;
	return block;
}

static char *grow(struct arena *arena, size_t size)
{
	size_t usual = arena->newest == NULL ? FIRST_BLOCK : arena->newest->size * 2;
	if (usual > LARGEST_BLOCK)
		usual = LARGEST_BLOCK;
	if (size > usual / 4 && arena->newest != NULL) {
		struct arena_block *large = block_new(arena, size);
		large->older = arena->newest->older;
		arena->newest->older = large;
		return large->bytes;
	}
	struct arena_block *block = block_new(arena, size > usual ? size : usual);
	block->older = arena->newest;
	arena->newest = block;
	arena->next = block->bytes + size;
	arena->end = block->bytes + block->size;
	return block->bytes;
}

static char *take_aligned(struct arena *arena, size_t size)
{
	size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	require(rounded >= size);
	size_t skip = (size_t)(-(uintptr_t)arena->next & (ALIGNMENT - 1));
	if (arena->next == NULL || (size_t)(arena->end - arena->next) < skip + rounded)
		return grow(arena, rounded);
	char *at = arena->next + skip;
	arena->next = at + rounded;
	return at;
}

void *arena_take(struct arena *arena, size_t size)
{
	char *at = take_aligned(arena, size);
	return size == 0 ? at : memset(at, 0, size);
}

void *arena_take_array(struct arena *arena, size_t count, size_t size)
{
	require(size == 0 || count <= SIZE_MAX / 2 / size);
	return arena_take(arena, count * size);
}

char *arena_take_text(struct arena *arena, size_t size)
{
	if (arena->next != NULL && (size_t)(arena->end - arena->next) >= size) {
		char *at = arena->next;
		arena->next += size;
		return at;
	}
	return grow(arena, (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
}

void *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
	char *copy = take_aligned(arena, size); /* not zeroed: every byte is overwritten */
	if (size > 0)
		memcpy(copy, bytes, size);
	return copy;
}

void arena_reset(struct arena *arena)
{
	struct arena_block *block = arena->newest;
	while (block != NULL && block->older != NULL) {
		struct arena_block *older = block->older;
		free(block);
		block = older;
	}
	arena->newest = block;
	if (block == NULL)
		return;
	arena->next = block->bytes;
	arena->end = block->bytes + block->size;
	arena->taken = block->size;
}

/* Behind the newest block, whose free bytes stay in use. */
void arena_join(struct arena *into, struct arena *from)
{
	if (into->newest == NULL || from->newest == NULL) {
		if (into->newest == NULL)
			*into = *from;
		*from = (struct arena){ 0 };
		return;
	}
	struct arena_block *oldest = from->newest;
	while (oldest->older != NULL)
		oldest = oldest->older;
	oldest->older = into->newest->older;
	into->newest->older = from->newest;
	into->taken += from->taken;
	*from = (struct arena){ 0 };
}

void arena_done(struct arena *arena)
{
	work_add(WORK_FREED, arena->taken);
	for (struct arena_block *block = arena->newest; block != NULL;) {
		struct arena_block *older = block->older;
		free(block);
		block = older;
	}
	*arena = (struct arena){ 0 };
}
