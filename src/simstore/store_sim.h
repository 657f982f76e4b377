/* simstore/store_sim.h -- the SQLite store on a disk that fails on request, for tests.
 *
 * The backend `sim` creates a disk that is deleted with the store.  A test whose disk must outlive
 * the store creates the disk itself:
 *
 *	struct fault_disk *disk = fault_disk_new();
 *	store_sim_open_on(disk, &store, &error);
 *	... commits; the power fails ...
 *	store->backend->close(store);
 *	fault_disk_lose_power(disk, FAULT_MIXED, seed);
 *	store_sim_open_on(disk, &store, &error);
 */
#ifndef SIMSTORE_STORE_SIM_H
#define SIMSTORE_STORE_SIM_H

#include "simstore/fault_vfs.h"
#include "store/store.h"

MUST_CHECK bool store_sim_open_on(struct fault_disk *disk, struct store **out_store,
				  struct error *error);
struct fault_disk *store_sim_disk(struct store *store);
/* Fails the power, applies the fate to unsynced sectors, and opens the store again.  All readers must
 * be closed.  When it returns false, *store is NULL. */
MUST_CHECK bool store_sim_crash(struct store **store, enum fault_fate fate, uint64_t seed,
				struct error *error);
/* Allocates a reserve of so many bytes; by default there is none. */
void store_sim_reserve(struct store *store, size_t bytes);
/* Checkpoints when the WAL has grown by so many frames, instead of LIMIT_STORE_WAL_FRAMES. */
void store_sim_checkpoint_after(struct store *store, int frames);

#endif
