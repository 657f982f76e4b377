/* store/store_sim.c -- real SQLite on the fault disk.
 *
 * Nothing of the store is imitated: these are the ops of the SQLite store, opened on another VFS.
 * Every store holds its disk, and the VFS leads from one to the other.
 */
#include "store/store_sim.h"

#include "store/store_sqlite.h"

extern const struct store_ops store_sim_ops;

bool store_sim_open_on(struct fault_disk *disk, struct store **out_store, struct error *error)
{
	if (!store_sqlite_open_on(&store_sim_ops, fault_disk_vfs(disk), "baton.db", out_store,
				  error))
		return false;
	fault_disk_hold(disk);
	return true;
}

struct fault_disk *store_sim_disk(struct store *store)
{
	return fault_disk_of(((struct store_sqlite *)store)->vfs);
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
	((struct store_sqlite *)store)->checkpoint_frames = frames;
}

void store_sim_reserve(struct store *store, size_t bytes)
{
	struct store_sqlite *self = (struct store_sqlite *)store;
	self->reserve_bytes = bytes;
	store_sqlite_reserve_make(self);
}

static bool sim_open(const char *path, struct store **out_store, struct error *error)
{
	(void)path;
	struct fault_disk *disk = fault_disk_new();
	bool opened = store_sim_open_on(disk, out_store, error);
	fault_disk_drop(disk);
	return opened;
}

const struct store_ops store_sim_ops = {
	.name = "sim",
	.text = "The SQLite store on a disk in memory that fails by order; for tests.",
	.open = sim_open,
	.close = sim_close,
	STORE_SQLITE_OPS,
};
