/* store/store_sim.h -- the SQLite store on a disk that fails when it is told to, for tests.
 *
 * The row `sim` of stores.def makes a disk of its own that is gone with the store.  A test that
 * wants the disk to outlive the store holds one itself:
 *
 *	struct fault_disk *disk = fault_disk_new();
 *	store_sim_open_on(disk, &store, &error);
 *	... commits; the plug is pulled ...
 *	store->ops->close(store);
 *	fault_disk_lose_power(disk, FAULT_MIXED, seed);
 *	store_sim_open_on(disk, &store, &error);
 */
#ifndef STORE_STORE_SIM_H
#define STORE_STORE_SIM_H

#include "store/fault_vfs.h"
#include "store/store.h"

MUST_CHECK bool store_sim_open_on(struct fault_disk *disk, struct store **out_store,
				  struct error *error);
struct fault_disk *store_sim_disk(struct store *store);
/* Pulls the plug now, lets the fate decide about what was not synced, and opens the store again;
 * every reader must have been closed.  On false there is no store any more. */
MUST_CHECK bool store_sim_crash(struct store **store, enum fault_fate fate, uint64_t seed,
				struct error *error);
/* Makes a reserve of so many bytes; without it a store on such a disk has none. */
void store_sim_reserve(struct store *store, size_t bytes);
/* Checkpoints when the WAL has grown by so many frames, instead of LIMIT_STORE_WAL_FRAMES. */
void store_sim_checkpoint_after(struct store *store, int frames);

#endif
