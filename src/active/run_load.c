/* active/run_load.c -- a run from its newest snapshot and the events behind it.
 *
 * Two snapshots are kept.  A snapshot that cannot be read (it has a word of a later version) is
 * skipped: the older one and the events behind it give the same state.  Without any snapshot the
 * events from the first on do, unless the run was compacted.
 */
#include "active/run_load.h"

#include "active/executor_state.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/run_start_types.h"
#include "contract/run_snapshot_types.h"
#include "engine/evolve.h"
#include "engine/history_synthesis.h"
#include "active/stored_row.h"
#include "engine/snapshot.h"

struct load {
	struct executor *executor;
	struct store_reader *reader;
	const struct uuid *id;
	struct loaded_run *out;
	struct error *error;
};

static struct cached_graph *load_graph(struct executor *executor, struct store_reader *reader,
				       const struct hash *hash, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str text;
	bool found;
	struct cached_graph *use = graph_cache_find(&executor->graphs, hash, false);
	if (use != NULL)
		return use;
	if (!reader->ops->read_blob(reader, hash, &arena, &text, &found, error))
		return NULL;
	if (!found) {
		fail(error, ERROR_STORAGE, "the run's graph is not stored");
		return NULL;
	}
	return graph_cache_load(&executor->graphs, text, NULL, error);
}

bool executor_graph(struct executor *executor, struct store_reader *reader, const struct hash *hash,
		    struct executor_graph *out_graph, struct error *error)
{
	struct cached_graph *use = load_graph(executor, reader, hash, error);
	if (use == NULL)
		return false;
	*out_graph = (struct executor_graph){ executor, use, use->graph->rows };
	return true;
}

void executor_graph_done(struct executor_graph *graph)
{
	if (graph->use != NULL)
		graph_cache_release(&graph->executor->graphs, graph->use);
	*graph = (struct executor_graph){ 0 };
}

static bool take_graph(struct load *load, const struct hash *hash)
{
	load->out->graph = load_graph(load->executor, load->reader, hash, load->error);
	return load->out->graph != NULL;
}

void run_load_discard(struct executor *executor, struct loaded_run *loaded)
{
	if (loaded->graph != NULL)
		graph_cache_release(&executor->graphs, loaded->graph);
	arena_done(&loaded->arena);
	*loaded = (struct loaded_run){ 0 };
}

static bool restore(struct load *load, const struct store_snapshot *stored)
{
	AUTO(arena) arena = { 0 };
	const struct run_snapshot *snapshot;
	if (!run_snapshot_read(stored->body, &arena, &snapshot, load->error) ||
	    !take_graph(load, &snapshot->definition))
		return false;
	if (snapshot->seq != stored->seq)
		return fail(load->error, ERROR_STORAGE,
			    "the snapshot at seq %lld says it is at %lld", (long long)stored->seq,
			    (long long)snapshot->seq);
	return run_restore(snapshot, *load->id, load->out->graph->graph, &load->out->arena,
			   &load->out->run, load->error);
}

/* The newest snapshot that can be read.  Without one `out` stays empty. */
static bool load_snapshot(struct load *load)
{
	int64_t at = 0;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_snapshot stored;
		bool found;
		if (!load->reader->ops->read_snapshot(load->reader, load->id, at, &arena, &stored,
						      &found, load->error))
			return false;
		if (!found)
			return true;
		if (restore(load, &stored)) {
			load->out->snapshot_size = stored.body.size;
			return true;
		}
		char id[UUID_TEXT_SIZE];
		log_run(LOG_WARNING, uuid_text(load->id, id),
			"skipping its snapshot at seq %lld: %s", (long long)stored.seq,
			load->error->text);
		*load->error = (struct error){ 0 };
		run_load_discard(load->executor, load->out);
		at = stored.seq - 1;
		if (at <= 0)
			return true;
	}
}

static bool load_event(struct load *load, const struct store_event_row *row, struct arena *arena)
{
	struct event event;
	struct loaded_run *out = load->out;
	if (!stored_event_read(row, arena, &event, load->error))
		return false;
	if (out->run == NULL) {
		if (event.type != EVENT_RUN_CREATED) {
			fail(load->error, ERROR_STORAGE, "its stream has no beginning");
			return stored_event_fail(row, load->error);
		}
		if (!take_graph(load, &event.as.run_created->definition))
			return false;
		out->run = run_new(&out->arena, *load->id, out->graph->graph);
	}
	if (row->seq != out->run->seq + 1) {
		fail(load->error, ERROR_STORAGE, "event %lld of its stream is missing",
		     (long long)out->run->seq + 1);
		return stored_event_fail(row, load->error);
	}
	out->events++;
	out->weight += row->body.size;
	return evolve(out->run, &event, load->error) || stored_event_fail(row, load->error);
}

static bool load_events(struct load *load)
{
	int64_t after = load->out->run == NULL ? 0 : load->out->run->seq;
	for (;;) {
		AUTO(arena) arena = { 0 };
		struct store_event_page page;
		if (!load->reader->ops->read_events(load->reader, load->id, after,
						    LIMIT_STREAM_PAGE_EVENTS, &arena, &page,
						    load->error))
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!load_event(load, &page.at[i], &arena))
				return false;
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return true;
		after = page.at[page.count - 1].seq;
	}
}

bool run_load(struct executor *executor, struct store_reader *reader, const struct uuid *run,
	      struct loaded_run *out, struct error *error)
{
	struct load load = { executor, reader, run, out, error };
	*out = (struct loaded_run){ 0 };
	if (load_snapshot(&load) && load_events(&load))
		return true;
	run_load_discard(executor, out);
	return false;
}

bool executor_state_text(struct executor *executor, struct store_reader *reader,
			 const struct uuid *run, struct arena *arena, struct str *out_text,
			 struct error *error)
{
	struct loaded_run loaded;
	struct run_names names;
	if (!run_load(executor, reader, run, &loaded, error))
		return false;
	if (loaded.run == NULL)
		return fail(error, ERROR_NOT_FOUND, "no such run");
	*out_text = run_snapshot_text(run_snapshot(loaded.run, arena, &names), arena);
	run_load_discard(executor, &loaded);
	return true;
}

bool executor_synthesize_history(struct store_reader *reader, const struct store_run *run,
				 const struct run_graph *graph, struct arena *arena,
				 struct executor_history *out_retold, struct error *error)
{
	struct store_snapshot stored;
	const struct run_snapshot *snapshot;
	bool found;
	if (!reader->ops->read_snapshot(reader, &run->id, 0, arena, &stored, &found, error))
		return false;
	if (!found)
		return fail(error, ERROR_STORAGE, "the snapshot of a compacted run is not stored");
	if (!run_snapshot_read(stored.body, arena, &snapshot, error)) {
		char id[UUID_TEXT_SIZE];
		error->code = ERROR_STORAGE;
		error_prefix(error, "snapshot %lld of run " STR_FMT " cannot be read: ",
			     (long long)stored.seq, STR_ARG(uuid_text(&run->id, id)));
		return false;
	}
	struct synthesized_history retold;
	history_synthesize(snapshot, graph, run->floor, arena, &retold);
	*out_retold = (struct executor_history){ retold.events, retold.seqs, retold.count };
	return true;
}
