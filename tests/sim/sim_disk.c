/* sim/sim_disk.c -- the world's store: the memory store with injected commit failures and full disks,
 * and a permanent record of every event ever committed.
 */
#include <stdlib.h>

#include "contract/run_event_types.h"
#include "contract/run_start_types.h"
#include "sim/sim.h"

static struct store_writer_ops disk_writer;
static struct store_admin_ops disk_admin;
static const struct store_writer_ops *memory_writer;
static const struct store_admin_ops *memory_admin;
static struct sim *current;

/* Disk full: nothing is written, and the program must continue. */
static bool disk_is_full(struct sim *sim)
{
	if (sim->mode != SIM_DISK_FULL)
		return false;
	if (sim->full_left == 0 && sim_chance(&sim->dice, sim->stopping       ? 80
							  : sim->fetching > 0 ? 40
									      : 12))
		sim->full_left = 1 + sim_below(&sim->dice, 12);
	if (sim->full_left == 0)
		return false;
	sim->full_left--;
	sim->counts.full_commits++;
	return true;
}

/* ---- the record --------------------------------------------------------------------- */

size_t sim_known(const struct sim *sim, const struct uuid *run)
{
	for (size_t i = 0; i < sim->known_count; i++)
		if (uuid_equal(&sim->known[i].id, run))
			return i;
	return SIZE_MAX;
}

const struct sim_recorded *sim_first(const struct sim *sim, const struct uuid *run)
{
	size_t known = sim_known(sim, run);
	return known == SIZE_MAX ? NULL : &sim->record[sim->known[known].first];
}

const struct sim_recorded *sim_next(const struct sim *sim, const struct sim_recorded *after)
{
	return after->next == 0 ? NULL : &sim->record[after->next];
}

/* A run is known from its first event on, whether it is in the plan or started by a step. */
static struct sim_known *know(struct sim *sim, const struct uuid *run, const struct event *event)
{
	size_t known = sim_known(sim, run);
	if (known != SIZE_MAX)
		return &sim->known[known];
	require(sim->known_count < SIM_KNOWN);
	struct sim_known *made = &sim->known[sim->known_count++];
	*made = (struct sim_known){ .id = *run, .first = sim->record_count };
	if (event->type != EVENT_RUN_CREATED)
		sim_fail(sim, "a stream does not begin with its run's creation");
	else if (has(event->as.run_created, parent))
		made->parent = event->as.run_created->parent;
	else
		made->tick = sim_schedule_started(sim, run);
	return made;
}

static void record_event(struct sim *sim, const struct store_append *append, size_t i)
{
	if (sim->record_count == sim->record_room) {
		sim->record_room = sim->record_room == 0 ? 256 : sim->record_room * 2;
		sim->record = reallocarray(sim->record, sim->record_room, sizeof(*sim->record));
		require(sim->record != NULL);
	}
	const struct store_event *event = &append->events[i];
	struct sim_recorded *made = &sim->record[sim->record_count];
	*made = (struct sim_recorded){
		.row = { .run = append->run.id,
			 .seq = append->expected_seq + 1 + (int64_t)i,
			 .position = append->first_position + (int64_t)i,
			 .at = event->at,
			 .type = str_copy(&sim->record_arena, event->type),
			 .body = str_copy(&sim->record_arena, event->body) },
		.kept = event->kept,
		.life = sim->counts.active_runs,
		.mono = sim->mono,
		.jumped_at = sim->jumped_at,
	};
	struct error error;
	if (!event_read(made->row.type, made->row.at, made->row.body, &sim->record_arena,
			&made->event, &error)) {
		sim_fail(sim, "an event that is stored cannot be read: %s", error.text);
		return;
	}
	if (uuid_is_zero(&append->run.id)) {
		/* The system stream, which is never compacted. */
		sim_trace(sim, STR_FMT " " STR_FMT, STR_ARG(made->row.type),
			  STR_ARG(made->row.body));
		sim->record_count++;
		sim_schedule_changed(sim, made);
		return;
	}
	struct sim_known *run = know(sim, &append->run.id, &made->event);
	if (run->first != sim->record_count)
		sim->record[run->last].next = sim->record_count;
	run->last = sim->record_count++;
	sim_trace(sim, "run %zu: " STR_FMT " " STR_FMT, (size_t)(run - sim->known),
		  STR_ARG(made->row.type), STR_ARG(made->row.body));
}

void sim_disk_record(struct sim *sim, struct store_append *const *appends, size_t count)
{
	for (size_t a = 0; a < count; a++) {
		if (appends[a]->outcome != STORE_COMMITTED)
			continue;
		for (size_t i = 0; i < appends[a]->event_count; i++)
			record_event(sim, appends[a], i);
		sim->counts.snapshots += appends[a]->snapshot.body.size > 0;
		if (appends[a]->event_count > 0)
			sim->tidy = false;
	}
}

/* Cancels can use the reserve; other callers get an error. */
static bool commit_without_room(struct sim *sim, struct store *store,
				struct store_append *const *appends, size_t count,
				struct error *error)
{
	struct store_append *urgent[256];
	size_t urgent_count = 0;
	bool good = true;
	for (size_t i = 0; i < count; i++) {
		if (appends[i]->urgent && urgent_count < COUNT(urgent))
			urgent[urgent_count++] = appends[i];
		else
			appends[i]->outcome = STORE_FULL;
	}
	sim_trace(sim, "no room for a commit of %zu appends, %zu urgent", count, urgent_count);
	sim_memory_outside();
	if (urgent_count > 0)
		good = memory_writer->commit(store, urgent, urgent_count, error);
	if (good)
		sim_disk_record(sim, urgent, urgent_count);
	sim_memory_inside();
	return good;
}

/* A failed commit may or may not have been written. */
static bool disk_commit(struct store *store, struct store_append *const *appends, size_t count,
			struct error *error)
{
	struct sim *sim = current;
	if (disk_is_full(sim))
		return commit_without_room(sim, store, appends, count, error);
	if (sim->mode == SIM_REFUSALS) {
		sim_memory_outside();
		bool written = sim_refusals_commit(sim, store, appends, count, error);
		sim_memory_inside();
		return written;
	}
	bool fails = sim->commits_left > 0 && --sim->commits_left == 0;
	bool writes = !sim->broken && (!fails || sim_chance(&sim->dice, 50));
	bool good = true;
	sim_memory_outside();
	if (writes)
		good = sim_budgets_commit(sim, store, appends, count, error);
	if (writes && good)
		sim_disk_record(sim, appends, count);
	sim_memory_inside();
	sim->broken = sim->broken || fails || !good;
	sim->counts.failed_commits += fails || !good;
	sim_trace(sim, "commit of %zu appends%s%s", count, writes ? "" : ", not written",
		  sim->broken ? ", failed" : "");
	return sim->broken ? fail(error, ERROR_STORAGE, "the disk failed by order") : true;
}

static bool disk_purge(struct store *store, size_t limit, const struct store_deadline *deadline,
		       bool *out_more, struct error *error)
{
	struct sim *sim = current;
	uint64_t before = memory_writer->stats(store).purged;
	if (sim->broken)
		return fail(error, ERROR_STORAGE, "the disk failed by order");
	sim_memory_outside();
	/* Small slices, so that other work comes between them. */
	bool good = memory_admin->purge(store, limit < 7 ? limit : 7, deadline, out_more, error);
	sim_memory_inside();
	sim->counts.purged += memory_writer->stats(store).purged - before;
	return good;
}

static bool disk_expire_requests(struct store *store, int64_t before, struct error *error)
{
	if (current->broken)
		return fail(error, ERROR_STORAGE, "the disk failed by order");
	sim_memory_outside();
	bool good = memory_admin->expire_requests(store, before, error);
	sim_memory_inside();
	return good;
}

static bool disk_rebuild_run(struct store *store, const struct store_run *run,
			     const struct store_effect *open, size_t open_count,
			     struct error *error)
{
	if (current->broken)
		return fail(error, ERROR_STORAGE, "the disk failed by order");
	sim_memory_outside();
	bool good = memory_admin->rebuild_run(store, run, open, open_count, error);
	sim_memory_inside();
	return good;
}

static bool disk_rebuild_end(struct store *store, struct error *error)
{
	if (current->broken)
		return fail(error, ERROR_STORAGE, "the disk failed by order");
	sim_memory_outside();
	bool good = memory_admin->rebuild_end(store, error);
	sim_memory_inside();
	return good;
}

static bool disk_rebuild_documents(struct store *store, int64_t seq,
				   const struct store_document *documents, size_t count,
				   bool *out_current, struct error *error)
{
	if (current->broken)
		return fail(error, ERROR_STORAGE, "the disk failed by order");
	sim_memory_outside();
	bool good =
		memory_admin->rebuild_documents(store, seq, documents, count, out_current, error);
	sim_memory_inside();
	return good;
}

void sim_disk_open(struct sim *sim)
{
	struct error error;
	const struct store_backend *memory = simstore_backend(S("memory"));
	require(memory != NULL);
	bool good = memory->open(NULL, &sim->store, &error);
	require(good);
	memory_writer = sim->store->writer;
	memory_admin = sim->store->admin;
	disk_writer = *memory_writer;
	disk_writer.commit = disk_commit;
	disk_admin = *memory_admin;
	disk_admin.purge = disk_purge;
	disk_admin.expire_requests = disk_expire_requests;
	disk_admin.rebuild_run = disk_rebuild_run;
	disk_admin.rebuild_end = disk_rebuild_end;
	disk_admin.rebuild_documents = disk_rebuild_documents;
	sim->store->writer = &disk_writer;
	sim->store->admin = &disk_admin;
	good = memory->open_reader(sim->store, &sim->reader, &error);
	require(good);
}

void sim_disk_close(struct sim *sim)
{
	const struct store_backend *memory = sim->store->backend;
	memory->close_reader(sim->reader);
	memory->close(sim->store);
	arena_done(&sim->record_arena);
	free(sim->record);
}

const struct store_writer_ops *sim_disk_memory(void)
{
	return memory_writer;
}

void sim_disk_use(struct sim *sim)
{
	current = sim;
}
