/* simstore/simstore.h -- every store that a test or a simulation can open.
 *
 * The stores of this room keep the promises of store/store.h on a disk that a test controls:
 *
 *   memory   streams and tables in plain C; a test can make commits fail or run out of space
 *            (store_memory.h)
 *   sim      the SQLite store on a disk in memory that loses power, fails and fills up on request
 *            (store_sim.h, fault_vfs.h)
 *
 * Tests and the simulation (simulation/, `baton sim`) link this library; no room of the server does.
 */
#ifndef SIMSTORE_SIMSTORE_H
#define SIMSTORE_SIMSTORE_H

#include "store/store.h"

/* The rows of store/stores.def, then those of simstore/simstores.def. */
extern const struct store_backend *const simstore_backends[];
extern const size_t simstore_backend_count;
const struct store_backend *simstore_backend(struct str name); /* NULL when unknown */

#endif
