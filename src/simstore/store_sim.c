/* simstore/store_sim.c -- the SQLite store on a fault disk.
 *
 * Nothing is simulated but the disk: the interfaces are those of the SQLite store, opened on the VFS
 * of the disk.  A store holds a reference to its disk.
 */
#include "simstore/store_sim.h"

#include "store/store_sqlite_vfs.h"

extern const struct store_backend store_sim_backend;

bool store_sim_open_on(struct fault_disk *disk, struct store **out_store, struct error *error)
{
	if (!store_sqlite_open_on(&store_sim_backend, fault_disk_vfs(disk), "baton.db", out_store,
				  error))
		return false;
	fault_disk_hold(disk);
	return true;
}

struct fault_disk *store_sim_disk(struct store *store)
{
	return fault_disk_of(store_sqlite_vfs(store));
}

static void sim_close(struct store *store)
{
	if (store == NULL)
		return;
	struct fault_disk *disk = store_sim_disk(store);
	store_sqlite_close(store);
	fault_disk_drop(disk);
}

bool store_sim_crash(struct store **store, enum fault_fate fate, uint64_t seed, struct error *error)
{
	struct fault_disk *disk = store_sim_disk(*store);
	fault_disk_hold(disk);
	fault_disk_pull_at(disk, 0);
	sim_close(*store);
	*store = NULL;
	fault_disk_lose_power(disk, fate, seed);
	bool opened = store_sim_open_on(disk, store, error);
	fault_disk_drop(disk);
	return opened;
}

void store_sim_checkpoint_after(struct store *store, int frames)
{
	store_sqlite_set_checkpoint(store, frames);
}

void store_sim_reserve(struct store *store, size_t bytes)
{
	store_sqlite_set_reserve(store, bytes);
}

static bool sim_open(const char *path, struct store **out_store, struct error *error)
{
	(void)path;
	struct fault_disk *disk = fault_disk_new();
	bool opened = store_sim_open_on(disk, out_store, error);
	fault_disk_drop(disk);
	return opened;
}

const struct store_backend store_sim_backend = {
	.name = "sim",
	.text = "The SQLite store on a disk in memory that fails on request; for tests.",
	.open = sim_open,
	.close = sim_close,
	.open_reader = store_sqlite_open_reader,
	.close_reader = store_sqlite_close_reader,
};
