/* simstore/store_memory.h -- faults and a dump of the memory store, for tests and the simulator.
 *
 * Committed data lives as long as the store object.  A test simulates a crash of the program by
 * discarding everything but the store and opening new readers.
 */
#ifndef SIMSTORE_STORE_MEMORY_H
#define SIMSTORE_STORE_MEMORY_H

#include "store/store.h"

/* The content of the store as text, which depends only on what was committed: runs in order of
 * creation, events by position, open effects by id, values by hash. */
struct str store_memory_dump(struct store *store, struct arena *arena);

/* The nth next commit (1 = the next) and all later ones fail and write nothing; 0 = none. */
void store_memory_fail_after(struct store *store, uint64_t nth);

/* While the store is full, appends are refused with FULL, except urgent ones, which use a reserve. */
void store_memory_fill(struct store *store, bool full);

#endif
