/* store/store_memory.h -- the memory store's extra handles, for tests and the simulator.
 *
 * What is committed lives as long as the store object, however often the runtime around it is
 * thrown away and readers are opened again: a crash of the program that the disk survives.
 */
#ifndef STORE_STORE_MEMORY_H
#define STORE_STORE_MEMORY_H

#include "store/store.h"

/* Everything the store holds, as text that depends on nothing but what was committed: runs in
 * the order they came, events by position, open effects by id, values by hash. */
struct str store_memory_dump(struct store *store, struct arena *arena);

/* The commits-th next commit (1 = the very next) writes nothing and fails, and with it every
 * later one; 0 takes the order back. */
void store_memory_fail_after(struct store *store, uint64_t commits);

/* While it is full every commit is refused: nothing is written, every append is FULL; but what is
 * urgent has a reserve. */
void store_memory_fill(struct store *store, bool full);

#endif
