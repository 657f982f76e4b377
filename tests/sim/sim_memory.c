/* sim/sim_memory.c -- tracks the memory of a life and frees it after a crash.
 *
 * The linker redirects every malloc and free of the program to this file (--wrap).  During a life,
 * each block is recorded in a set of addresses.  The operating system frees the memory of a real
 * process; this file does it for a simulated one.  The blocks come from the normal allocator, so the
 * sanitizers still check them, and a life that ends in order must not leak any.
 */
#include <stdint.h>
#include <stdlib.h>

#include "sim/sim.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_reallocarray(void *block, size_t count, size_t size);
void __wrap_free(void *block);

static struct {
	void **at;
	size_t room, used; /* `used` includes deleted slots */
	bool life;
	int outside;
} memory;

static char left_place;
#define LEFT ((void *)&left_place)

static size_t place_of(const void *block)
{
	return (size_t)(((uintptr_t)block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
	       (memory.room - 1);
}

static void put(void *block)
{
	size_t place = place_of(block);
	while (memory.at[place] != NULL)
		place = (place + 1) & (memory.room - 1);
	memory.at[place] = block;
	memory.used++;
}

static void make_room(void)
{
	if (memory.used * 2 < memory.room)
		return;
	void **old = memory.at;
	size_t room = memory.room, active = 0;
	for (size_t i = 0; i < room; i++)
		active += old[i] != NULL && old[i] != LEFT;
	memory.room = room == 0 ? 4096 : active * 4 > room ? room * 2 : room;
	memory.at = __real_calloc(memory.room, sizeof(void *));
	require(memory.at != NULL);
	memory.used = 0;
	for (size_t i = 0; i < room; i++)
		if (old[i] != NULL && old[i] != LEFT)
			put(old[i]);
	__real_free(old);
}

static void note(void *block)
{
	if (block == NULL)
		return;
	make_room();
	put(block);
}

static bool forget(const void *block)
{
	if (block == NULL || memory.room == 0)
		return false;
	for (size_t place = place_of(block); memory.at[place] != NULL;
	     place = (place + 1) & (memory.room - 1))
		if (memory.at[place] == block) {
			memory.at[place] = LEFT;
			return true;
		}
	return false;
}

static bool is_inside(void)
{
	return memory.life && memory.outside == 0;
}

void *__wrap_malloc(size_t size)
{
	void *block = __real_malloc(size);
	if (is_inside())
		note(block);
	return block;
}

void *__wrap_calloc(size_t count, size_t size)
{
	void *block = __real_calloc(count, size);
	if (is_inside())
		note(block);
	return block;
}

void *__wrap_realloc(void *block, size_t size)
{
	bool ours = block == NULL ? is_inside() : forget(block);
	void *moved = __real_realloc(block, size);
	if (ours)
		note(moved);
	return moved;
}

void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;
	return __builtin_mul_overflow(count, size, &bytes) ? NULL : __wrap_realloc(block, bytes);
}

void __wrap_free(void *block)
{
	forget(block);
	__real_free(block);
}

void sim_memory_begin(void)
{
	require(!memory.life);
	memory.life = true;
	memory.outside = 0;
}

void sim_memory_outside(void)
{
	memory.outside++;
}

void sim_memory_inside(void)
{
	require(memory.outside > 0);
	memory.outside--;
}

size_t sim_memory_end(void)
{
	size_t left = 0;
	for (size_t i = 0; i < memory.room; i++)
		if (memory.at[i] != NULL && memory.at[i] != LEFT) {
			__real_free(memory.at[i]);
			left++;
		}
	__real_free(memory.at);
	memory.at = NULL;
	memory.room = memory.used = 0;
	memory.life = false;
	return left;
}
