/* sim/sim_check.c -- invariants of the store, whenever and however often the program crashed.
 *
 * Everything is read back from the store and folded again.  The only other sources are the ledger of
 * child processes and the acknowledgments that callers got.
 */
#include <stdlib.h>

#include "contract/run_event_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "engine/snapshot.h"
#include "sim/sim.h"

/* ---- reading back ------------------------------------------------------------------- */

struct str sim_blob(struct sim *sim, const struct hash *hash, struct arena *arena)
{
	struct str bytes = S("");
	bool found;
	struct error error;
	bool good = sim->reader->ops->read_blob(sim->reader, hash, arena, &bytes, &found, &error);
	require(good);
	if (!found)
		sim_fail(sim, "an event refers to a value that is not stored");
	return bytes;
}

/* A graph never changes, so it is parsed once per world; every call checks that it is stored. */
static const struct graph *graph_of(struct sim *sim, const struct hash *hash, struct arena *arena)
{
	struct sim_graph *made = sim->graphs;
	struct error error = { 0 };
	struct str text = sim_blob(sim, hash, arena);
	while (made != NULL && !hash_equal(&made->hash, hash))
		made = made->next;
	if (made != NULL)
		return made->graph;
	sim_memory_outside();
	made = arena_new(&sim->record_arena, struct sim_graph);
	*made = (struct sim_graph){ .hash = *hash, .next = sim->graphs };
	if (graph_load(str_copy(&sim->record_arena, text), &sim->record_arena, &made->graph,
		       &error))
		sim->graphs = made;
	sim_memory_inside();
	if (error.code != ERROR_NONE)
		sim_fail(sim, "the pinned graph does not load: %s", error.text);
	return made->graph;
}

static bool fold(struct sim *sim, const struct uuid *id, const struct event *event,
		 struct arena *arena, struct run **run)
{
	struct error error;
	if (*run == NULL) {
		const struct graph *graph =
			graph_of(sim, &event->as.run_created->definition, arena);
		if (graph == NULL)
			return false;
		*run = run_new(arena, *id, graph);
	}
	if (evolve(*run, event, &error))
		return true;
	sim_fail(sim, "the stored events do not fold: %s", error.text);
	return false;
}

struct run *sim_fold(struct sim *sim, const struct uuid *id, struct arena *arena)
{
	struct run *run = NULL;
	for (const struct sim_recorded *at = sim_first(sim, id); at != NULL; at = sim_next(sim, at))
		if (!fold(sim, id, &at->event, arena, &run))
			return NULL;
	return run;
}

/* ---- (a) what is there of what was committed ---------------------------------------- */

/* A run that is not in the plan was started by a step, with the id of its effect. */
static bool has_reason(struct sim *sim, const struct sim_known *run)
{
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (uuid_equal(&sim->plan.runs[i].id, &run->id))
			return uuid_is_zero(&run->parent);
	if (run->tick)
		return true;
	for (const struct sim_recorded *at = sim_first(sim, &run->parent); at != NULL;
	     at = sim_next(sim, at))
		if (at->event.type == EVENT_SUBRUN_REQUESTED &&
		    uuid_equal(&at->event.as.run_subrun_requested->effect, &run->id))
			return at < &sim->record[run->first];
	return false;
}

static int64_t floor_of(struct sim *sim, const struct uuid *run)
{
	AUTO(arena) arena = { 0 };
	struct store_run row = { 0 };
	bool found;
	struct error error;
	bool good = sim->reader->ops->read_run(sim->reader, run, &arena, &row, &found, &error);
	require(good);
	return found ? row.floor : 0;
}

/* The store has every committed event in order, except events below a floor that compaction removes;
 * sequence numbers are consecutive. */
static void check_numbers(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct store_event_page page;
	struct error error;
	size_t next = 0;
	int64_t *floors = arena_array(&arena, int64_t, sim->known_count);
	bool good = sim->reader->ops->read_all(sim->reader, 0, 1000000, &arena, &page, &error);
	require(good);
	for (size_t i = 0; i < sim->known_count; i++) {
		floors[i] = floor_of(sim, &sim->known[i].id);
		if (!has_reason(sim, &sim->known[i]))
			sim_fail(sim, "the store has a run that nobody started");
	}
	for (size_t i = 0; i < sim->record_count; i++) {
		const struct sim_recorded *recorded = &sim->record[i];
		if (recorded->row.position != (int64_t)i + 1)
			sim_fail(sim, "position %lld where %zu was due",
				 (long long)recorded->row.position, i + 1);
		if (!recorded->kept &&
		    recorded->row.seq < floors[sim_known(sim, &recorded->row.run)])
			continue;
		const struct store_event_row *row = next < page.count ? &page.at[next++] : NULL;
		if (row == NULL || row->position != recorded->row.position ||
		    row->seq != recorded->row.seq || !uuid_equal(&row->run, &recorded->row.run) ||
		    !str_equal(row->body, recorded->row.body))
			sim_fail(sim, "the event at position %zu is not there as it was committed",
				 i + 1);
	}
	if (next != page.count)
		sim_fail(sim,
			 "the store has events that were never committed or were compacted away");
	sim->counts.events = sim->record_count;
}

/* ---- (f) the newest snapshot and what is behind it ----------------------------------- */

static struct str state_text(const struct run *run, struct arena *arena)
{
	struct run_names names;
	return run_snapshot_text(run_snapshot(run, arena, &names), arena);
}

static void check_names(struct sim *sim, const struct run *run, struct arena *arena)
{
	struct run_names names;
	run_snapshot(run, arena, &names);
	for (size_t i = 0; i < names.count; i++)
		sim_blob(sim, &names.at[i], arena);
}

/* The state that a restart would load equals the state from all events. */
static void check_snapshot(struct sim *sim, const struct run *run, struct arena *arena)
{
	struct store_snapshot stored;
	struct store_event_page page;
	const struct run_snapshot *snapshot;
	struct run *other = NULL;
	struct error error;
	bool found;
	bool good = sim->reader->ops->read_snapshot(sim->reader, &run->id, 0, arena, &stored,
						    &found, &error);
	require(good);
	if (!found && run->floor > 0)
		sim_fail(sim, "a compacted run has no snapshot");
	if (found && (!run_snapshot_read(stored.body, arena, &snapshot, &error) ||
		      !run_restore(snapshot, run->id, run->graph, arena, &other, &error))) {
		sim_fail(sim, "a snapshot cannot be restored: %s", error.text);
		return;
	}
	good = sim->reader->ops->read_events(sim->reader, &run->id, found ? stored.seq : 0, 100000,
					     arena, &page, &error);
	require(good);
	for (size_t i = 0; i < page.count; i++) {
		struct event event;
		if (!event_read(page.at[i].type, page.at[i].at, page.at[i].body, arena, &event,
				&error)) {
			sim_fail(sim, "a stored event cannot be read: %s", error.text);
			return;
		}
		if (!fold(sim, &run->id, &event, arena, &other))
			return;
	}
	if (other == NULL)
		return;
	struct str mine = state_text(other, arena), whole = state_text(run, arena);
	if (!str_equal(mine, whole))
		sim_fail(sim,
			 "the state of a run from its snapshot is\n" STR_FMT
			 "\n-- from all events:\n" STR_FMT,
			 STR_ARG(mine), STR_ARG(whole));
	check_names(sim, run, arena);
}

enum { MOST_NAMES = 4096 };

struct named {
	struct hash at[MOST_NAMES];
	size_t count;
};

static void note_name(struct named *named, const struct hash *hash)
{
	for (size_t i = 0; i < named->count; i++)
		if (hash_equal(&named->at[i], hash))
			return;
	require(named->count < MOST_NAMES);
	named->at[named->count++] = *hash;
}

static void note_kept(const struct sim *sim, struct named *named)
{
	for (size_t i = 0; i < sim->record_count; i++) {
		struct hash names[EVENT_NAMES];
		if (!sim->record[i].kept)
			continue;
		size_t count = event_names(&sim->record[i].event, names);
		for (size_t n = 0; n < count; n++)
			note_name(named, &names[n]);
	}
}

/* Both snapshots: values that the older one refers to are kept, too. */
static void note_snapshots(struct sim *sim, const struct run *run, struct named *named,
			   struct arena *arena)
{
	struct store_snapshot stored = { .seq = 0 };
	bool found = true;
	/* 0 means the newest, so there is nothing to ask for before the first one. */
	for (int64_t at = 0; found && stored.seq != 1; at = stored.seq - 1) {
		const struct run_snapshot *snapshot;
		struct run *restored;
		struct run_names names;
		struct error error;
		bool good = sim->reader->ops->read_snapshot(sim->reader, &run->id, at, arena,
							    &stored, &found, &error);
		require(good);
		if (!found)
			return;
		good = run_snapshot_read(stored.body, arena, &snapshot, &error) &&
		       run_restore(snapshot, run->id, run->graph, arena, &restored, &error);
		require(good);
		run_snapshot(restored, arena, &names);
		for (size_t i = 0; i < names.count; i++)
			note_name(named, &names.at[i]);
	}
}

/* After a complete compaction pass, an ended run has only its life cycle events, and every stored
 * value is referred to. */
static void check_tidy(struct sim *sim, struct run *const *folds)
{
	AUTO(arena) arena = { 0 };
	struct store_size size;
	struct error error;
	bool good = sim->reader->admin->measure(sim->reader, &size, &error);
	require(good);
	int64_t kept = 0;
	for (size_t i = 0; i < sim->record_count; i++)
		kept += sim->record[i].kept;
	if (size.events != kept)
		sim_fail(sim, "%lld events are left where %lld are kept", (long long)size.events,
			 (long long)kept);
	struct named *named = arena_new(&arena, struct named);
	note_kept(sim, named);
	for (size_t i = 0; i < sim->known_count; i++)
		if (folds[i] != NULL)
			note_snapshots(sim, folds[i], named, &arena);
	if (size.blobs != (int64_t)named->count)
		sim_fail(sim, "%lld values are left where %zu are referred to",
			 (long long)size.blobs, named->count);
	for (size_t i = 0; i < sim->known_count; i++)
		if (folds[i] != NULL && folds[i]->floor != folds[i]->seq)
			sim_fail(sim, "a compaction pass has not compacted an ended run");
}

/* ---- (c) rows against the fold ------------------------------------------------------ */

static struct str kind_of(const struct run *run, const struct activation *step)
{
	if (step->state == STEP_WAITING_HUMAN)
		return S("human");
	if (step->state == STEP_RETRYING)
		return S("retry");
	enum run_node_kind kind = run_node(run, step)->kind;
	return kind == RUN_NODE_WAIT     ? S("timer")
	       : kind == RUN_NODE_SUBRUN ? S("subrun")
	       : kind == RUN_NODE_AGENT  ? S("turn")
					 : S("tool");
}

/* The open effects of a step, which must have rows. */
static bool is_open(const struct run *run, const struct activation *step, struct store_effect *out)
{
	if (step == NULL || (step->state != STEP_WAITING_HUMAN && step->state != STEP_RETRYING &&
			     (step->state != STEP_RUNNING || !step->open)))
		return false;
	*out = (struct store_effect){ .id = step->state == STEP_WAITING_HUMAN ? step->question.id
									      : step->effect,
				      .run = run->id,
				      .kind = kind_of(run, step),
				      .due_at = step->due_at };
	return true;
}

/* All open effects, the run's own timeout, its entry in the admission queue, its pause for a budget. */
static size_t open_of(const struct run *run, struct store_effect *out)
{
	size_t count = 0;
	for (uint32_t i = 0; i < run->paths.room; i++)
		count += is_open(run, run->paths.at[i], &out[count]);
	if (run->due_at > 0 && !run_ended(run))
		out[count++] =
			(struct store_effect){ .id = engine_effect_id(run, S(""), S("deadline"),
								      run->unwinding    ? 2
								      : run->cancelling ? 3
											: 1),
					       .run = run->id,
					       .kind = S("deadline"),
					       .due_at = run->due_at };
	if (run->queued)
		out[count++] =
			(struct store_effect){ .id = engine_effect_id(run, S(""), S("queue"), 1),
					       .run = run->id,
					       .kind = S("queue") };
	if (run->pause.budget.size > 0)
		out[count++] =
			(struct store_effect){ .id = engine_effect_id(run, S(""), S("budget"), 1),
					       .run = run->id,
					       .kind = S("budget"),
					       .due_at = run->pause.until };
	return count;
}

static bool has_row(const struct store_effect_page *page, const struct store_effect *open)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct store_effect *row = &page->at[i];
		if (uuid_equal(&row->id, &open->id))
			return uuid_equal(&row->run, &open->run) &&
			       str_equal(row->kind, open->kind) && row->due_at == open->due_at;
	}
	return false;
}

static void check_effects(struct sim *sim, struct run *const *folds)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	bool good = sim->reader->ops->list_effects(sim->reader, S(""), NULL, 100000, &arena, &page,
						   &error);
	require(good);
	size_t open = 0;
	for (size_t r = 0; r < sim->known_count; r++) {
		struct store_effect *rows =
			arena_array(&arena, struct store_effect, folds[r]->paths.count + 3);
		size_t count = open_of(folds[r], rows);
		open += count;
		for (size_t i = 0; i < count; i++)
			if (!has_row(&page, &rows[i]))
				sim_fail(sim,
					 "an effect that is open by the events (" STR_FMT
					 ") has no row",
					 STR_ARG(rows[i].kind));
	}
	if (open != page.count)
		sim_fail(sim,
			 "%zu effects are open by the events and there are %zu rows, the first of "
			 "kind " STR_FMT ": " STR_FMT,
			 open, page.count, STR_ARG(page.count > 0 ? page.at[0].kind : S("-")),
			 STR_ARG(page.count > 0 ? page.at[0].body : S("-")));
}

static void check_run_row(struct sim *sim, const struct run *run, struct arena *arena)
{
	struct store_run row;
	bool found;
	struct error error;
	bool good = sim->reader->ops->read_run(sim->reader, &run->id, arena, &row, &found, &error);
	require(good);
	if (!found) {
		sim_fail(sim, "a run has events and no row");
		return;
	}
	if (row.seq != run->seq || row.floor != run->floor || row.ended_at != run->ended_at ||
	    row.created_at != run->created_at || row.updated_at != run->updated_at ||
	    /* A drain may have marked the run, too: then its work was held back. */
	    (run_needs_recovery(run) && !row.needs_recovery) ||
	    !str_equal(row.state, run_state_row(run->state)->word))
		sim_fail(sim, "a run's row differs from its events");
	struct store_effect *rows = arena_array(arena, struct store_effect, run->paths.count + 2);
	size_t open = open_of(run, rows);
	if (run_ended(run) && (open > 0 || row.needs_recovery || run->live > 0))
		sim_fail(sim, "an ended run has something open");
	/* A paused run is resumed by the person who paused it. */
	if (!run_ended(run) && open == 0 && !row.needs_recovery && !run->paused)
		sim_fail(sim, "nothing would ever wake a run that has not ended");
}

static void check_planned(struct sim *sim)
{
	for (size_t i = 0; i < sim->plan.run_count; i++) {
		AUTO(arena) arena = { 0 };
		const struct sim_run *planned = &sim->plan.runs[i];
		bool known = sim_known(sim, &planned->id) != SIZE_MAX, found;
		struct store_run row;
		struct error error;
		bool good = sim->reader->ops->read_run(sim->reader, &planned->id, &arena, &row,
						       &found, &error);
		require(good);
		if (found && !known)
			sim_fail(sim, "a run has a row and no events");
		if (planned->acknowledged && !known)
			sim_fail(sim, "an acknowledged run is gone");
	}
}

/* ---- (b) what callers were told ----------------------------------------------------- */

static size_t recorded_answers(struct sim *sim, const struct sim_answer *answer)
{
	size_t recorded = 0;
	for (size_t i = 0; i < sim->record_count; i++) {
		if (sim->record[i].event.type != EVENT_HUMAN_FINISHED)
			continue;
		const struct run_human_finished *body = sim->record[i].event.as.run_human_finished;
		if (!uuid_equal(&body->effect, &answer->request))
			continue;
		recorded++;
		if (body->decision != answer->decision)
			sim_fail(sim, "another answer is recorded than was acknowledged");
	}
	return recorded;
}

static void check_answers(struct sim *sim)
{
	for (size_t i = 0; i < sim->answer_count; i++)
		if (sim->answers[i].acknowledged && recorded_answers(sim, &sim->answers[i]) != 1)
			sim_fail(sim, "an acknowledged answer is not recorded exactly once");
}

void sim_check(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct run **folds = arena_array(&arena, struct run *, sim->known_count);
	check_numbers(sim);
	check_planned(sim);
	for (size_t i = 0; i < sim->known_count && !sim->failed; i++) {
		folds[i] = sim_fold(sim, &sim->known[i].id, &arena);
		if (folds[i] == NULL || sim->failed)
			return;
		check_run_row(sim, folds[i], &arena);
		check_snapshot(sim, folds[i], &arena);
	}
	if (sim->failed)
		return;
	if (sim->tidy)
		check_tidy(sim, folds);
	check_effects(sim, folds);
	sim_check_budgets(sim, folds);
	check_answers(sim);
	sim_check_schedules(sim);
	sim_check_story(sim, folds);
}
