/* sim/sim_check.c -- what must be true of a store, whenever and however often the plug was pulled.
 *
 * Everything is read back from the store and folded anew; the only other witnesses are the ledger
 * of children and what callers were told.
 */
#include <stdlib.h>

#include "engine/snapshot.h"
#include "sim/sim.h"

/* ---- reading back ------------------------------------------------------------------- */

/* Every event of the run that was ever committed. */
static struct store_event_page events_of(struct sim *sim, const struct uuid *run,
					 struct arena *arena)
{
	struct store_event_page page = { 0 };
	page.at = arena_array(arena, struct store_event_row, sim->record_count);
	for (size_t i = 0; i < sim->record_count; i++)
		if (uuid_equal(&sim->record[i].row.run, run))
			page.at[page.count++] = sim->record[i].row;
	return page;
}

static bool read_row(struct sim *sim, const struct store_event_row *row, struct arena *arena,
		     struct event *out)
{
	struct error error;
	if (event_read(row->type, row->at, row->body, arena, out, &error))
		return true;
	sim_fail(sim, "a stored event cannot be read: %s", error.text);
	return false;
}

static struct str blob(struct sim *sim, const struct hash *hash, struct arena *arena)
{
	struct str bytes = S("");
	bool found;
	struct error error;
	bool good = sim->reader->ops->read_blob(sim->reader, hash, arena, &bytes, &found, &error);
	require(good);
	if (!found)
		sim_fail(sim, "an event names a value that is not stored");
	return bytes;
}

static const struct graph *graph_of(struct sim *sim, const struct hash *hash, struct arena *arena)
{
	const struct graph *graph;
	struct error error;
	if (graph_load(blob(sim, hash, arena), arena, &graph, &error))
		return graph;
	sim_fail(sim, "the pinned graph does not load: %s", error.text);
	return NULL;
}

static bool fold_page(struct sim *sim, const struct uuid *id, const struct store_event_page *page,
		      struct arena *arena, struct run **run)
{
	for (size_t i = 0; i < page->count; i++) {
		struct event event;
		struct error error;
		if (!read_row(sim, &page->at[i], arena, &event))
			return false;
		if (*run == NULL) {
			const struct graph *graph =
				graph_of(sim, &event.as.run_created->definition, arena);
			if (graph == NULL)
				return false;
			*run = run_new(arena, *id, graph);
		}
		if (!evolve(*run, &event, &error)) {
			sim_fail(sim, "the stored events do not fold: %s", error.text);
			return false;
		}
	}
	return true;
}

struct run *sim_fold(struct sim *sim, const struct uuid *id, struct arena *arena)
{
	struct store_event_page page = events_of(sim, id, arena);
	struct run *run = NULL;
	return fold_page(sim, id, &page, arena, &run) ? run : NULL;
}

/* ---- (a) what is there of what was committed ---------------------------------------- */

static bool is_planned(const struct sim *sim, const struct uuid *run)
{
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (uuid_equal(&sim->plan.runs[i].id, run))
			return true;
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

/* Every committed event in its order, but those below a floor that are not kept; and each number
 * follows the one before. */
static void check_numbers(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct store_event_page page;
	struct error error;
	size_t next = 0;
	bool good = sim->reader->ops->read_all(sim->reader, 0, 1000000, &arena, &page, &error);
	require(good);
	for (size_t i = 0; i < sim->record_count; i++) {
		const struct sim_recorded *recorded = &sim->record[i];
		if (!is_planned(sim, &recorded->row.run))
			sim_fail(sim, "the store has a run that nobody started");
		if (recorded->row.position != (int64_t)i + 1)
			sim_fail(sim, "position %lld where %zu was due",
				 (long long)recorded->row.position, i + 1);
		if (!recorded->kept && recorded->row.seq < floor_of(sim, &recorded->row.run))
			continue;
		const struct store_event_row *row = next < page.count ? &page.at[next++] : NULL;
		if (row == NULL || row->position != recorded->row.position ||
		    row->seq != recorded->row.seq || !uuid_equal(&row->run, &recorded->row.run) ||
		    !str_equal(row->body, recorded->row.body))
			sim_fail(sim, "the event at position %zu is not there as it was committed",
				 i + 1);
	}
	if (next != page.count)
		sim_fail(sim, "the store has events that nobody committed, or has let go");
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
		blob(sim, &names.at[i], arena);
}

/* What a start would load is what all events make. */
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
	if (!fold_page(sim, &run->id, &page, arena, &other) || other == NULL)
		return;
	struct str mine = state_text(other, arena), whole = state_text(run, arena);
	if (!str_equal(mine, whole))
		sim_fail(sim,
			 "behind its snapshot a run is\n" STR_FMT "\n-- by all events:\n" STR_FMT,
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

static void note_kept(struct sim *sim, struct named *named, struct arena *arena)
{
	for (size_t i = 0; i < sim->record_count; i++) {
		struct event event;
		struct hash names[EVENT_NAMES];
		if (!sim->record[i].kept || !read_row(sim, &sim->record[i].row, arena, &event))
			continue;
		size_t count = event_names(&event, names);
		for (size_t n = 0; n < count; n++)
			note_name(named, &names[n]);
	}
}

/* Both of them: what the older one names is kept, too. */
static void note_snapshots(struct sim *sim, const struct run *run, struct named *named,
			   struct arena *arena)
{
	struct store_snapshot stored = { .seq = 0 };
	bool found = true;
	/* 0 asks for the newest, so there is nothing to ask for before a first one. */
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

/* Once a whole pass is over, nothing is left of an ended run but its life cycle, and no value that
 * nothing names. */
static void check_tidy(struct sim *sim, struct run *const *folds)
{
	AUTO(arena) arena = { 0 };
	struct store_size size;
	struct error error;
	bool good = sim->reader->ops->measure(sim->reader, &size, &error);
	require(good);
	int64_t kept = 0;
	for (size_t i = 0; i < sim->record_count; i++)
		kept += sim->record[i].kept;
	if (size.events != kept)
		sim_fail(sim, "%lld events are left where %lld are kept", (long long)size.events,
			 (long long)kept);
	struct named *named = arena_new(&arena, struct named);
	note_kept(sim, named, &arena);
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (folds[i] != NULL)
			note_snapshots(sim, folds[i], named, &arena);
	if (size.blobs != (int64_t)named->count)
		sim_fail(sim, "%lld values are left where %zu are named", (long long)size.blobs,
			 named->count);
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (folds[i] != NULL && folds[i]->floor != folds[i]->seq)
			sim_fail(sim, "a pass has left an ended run as it was");
}

/* ---- (c) rows against the fold ------------------------------------------------------ */

/* What of the step has a row, and by which id. */
static bool is_open(const struct activation *step, struct uuid *out_id)
{
	if (step == NULL)
		return false;
	*out_id = step->state == STEP_WAITING_HUMAN ? step->question.id : step->effect;
	return step->state == STEP_WAITING_HUMAN || step->state == STEP_RETRYING ||
	       (step->state == STEP_RUNNING && step->open);
}

static size_t count_open(const struct run *run)
{
	size_t open = 0;
	struct uuid id;
	for (uint32_t i = 0; i < run->paths.room; i++)
		open += is_open(run->paths.at[i], &id);
	return open + (run->due_at > 0 && !run_ended(run) && !run->cancelling);
}

static size_t count_matches(const struct run *run, const struct store_effect *row)
{
	struct uuid id = engine_effect_id(run, S(""), S("deadline"), 1);
	if (!uuid_equal(&row->run, &run->id))
		return 0;
	if (uuid_equal(&row->id, &id))
		return 1;
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (is_open(run->paths.at[i], &id) && uuid_equal(&row->id, &id))
			return 1;
	return 0;
}

static void check_effects(struct sim *sim, struct run *const *folds)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	bool good = sim->reader->ops->list_effects(sim->reader, S(""), NULL, 100000, &arena, &page,
						   &error);
	require(good);
	size_t open = 0, matched = 0;
	for (size_t r = 0; r < sim->plan.run_count; r++) {
		const struct run *run = folds[r];
		if (run == NULL)
			continue;
		open += count_open(run);
		for (size_t i = 0; i < page.count; i++)
			matched += count_matches(run, &page.at[i]);
	}
	if (open != page.count || matched != open)
		sim_fail(sim, "%zu effects are open by the events, %zu rows, %zu match", open,
			 page.count, matched);
}

static void check_run_row(struct sim *sim, const struct sim_run *planned, const struct run *run,
			  struct arena *arena)
{
	struct store_run row;
	bool found;
	struct error error;
	bool good =
		sim->reader->ops->read_run(sim->reader, &planned->id, arena, &row, &found, &error);
	require(good);
	if (found != (run != NULL))
		sim_fail(sim, "a run has a row without events, or events without a row");
	if (planned->acknowledged && !found)
		sim_fail(sim, "an acknowledged run is gone");
	if (!found || run == NULL)
		return;
	if (row.seq != run->seq || row.floor != run->floor || row.ended_at != run->ended_at ||
	    row.created_at != run->created_at || row.updated_at != run->updated_at ||
	    /* A drain may have marked it too: then something was held back. */
	    (run_is_stepping(run) && !row.stepping) ||
	    !str_equal(row.state, run_state_row(run->state)->word))
		sim_fail(sim, "a run's row differs from its events");
	size_t open = count_open(run);
	if (run_ended(run) && (open > 0 || row.stepping || run->live > 0))
		sim_fail(sim, "an ended run has something open");
	if (!run_ended(run) && open == 0 && !row.stepping)
		sim_fail(sim, "recovery would never find a run that is not over");
}

/* ---- (b) what callers were told ----------------------------------------------------- */

static size_t recorded_answers(struct sim *sim, const struct sim_answer *answer)
{
	size_t recorded = 0;
	for (size_t r = 0; r < sim->plan.run_count; r++) {
		AUTO(arena) arena = { 0 };
		struct store_event_page page = events_of(sim, &sim->plan.runs[r].id, &arena);
		for (size_t i = 0; i < page.count; i++) {
			struct event event;
			if (!str_equal(page.at[i].type, S("human.finished")) ||
			    !read_row(sim, &page.at[i], &arena, &event))
				continue;
			const struct run_human_finished *body = event.as.run_human_finished;
			if (!uuid_equal(&body->effect, &answer->request))
				continue;
			recorded++;
			if (body->decision != answer->decision)
				sim_fail(sim, "another answer is recorded than was acknowledged");
		}
	}
	return recorded;
}

static void check_answers(struct sim *sim)
{
	for (size_t i = 0; i < sim->answer_count; i++)
		if (sim->answers[i].acknowledged && recorded_answers(sim, &sim->answers[i]) != 1)
			sim_fail(sim, "an acknowledged answer is not recorded exactly once");
}

/* ---- (d) the ledger ----------------------------------------------------------------- */

/* What the disk says of an effect. */
struct traces {
	bool requested, finished;
	int64_t attempt;
	enum run_effect_class class;
	enum run_outcome outcome;
	bool treeless;
	int64_t finished_at; /* position */
};

static struct traces traces_of(struct sim *sim, const struct uuid *run, const struct uuid *effect)
{
	AUTO(arena) arena = { 0 };
	struct traces traces = { .attempt = 1 };
	struct store_event_page page = events_of(sim, run, &arena);
	for (size_t i = 0; i < page.count; i++) {
		struct event event;
		if (!str_starts(page.at[i].type, S("tool.")) ||
		    !read_row(sim, &page.at[i], &arena, &event))
			continue;
		if (event.type == EVENT_TOOL_REQUESTED &&
		    uuid_equal(&event.as.run_tool_requested->effect, effect)) {
			traces.requested = true;
			traces.class = event.as.run_tool_requested->class;
			traces.treeless =
				has(event.as.run_tool_requested, tree) &&
				str_equal(event.as.run_tool_requested->tree, WORKSPACE_NO_TREE);
		} else if (event.type == EVENT_TOOL_RESTARTED &&
			   uuid_equal(&event.as.run_tool_restarted->effect, effect)) {
			traces.attempt = event.as.run_tool_restarted->attempt;
		} else if (event.type == EVENT_TOOL_FINISHED &&
			   uuid_equal(&event.as.run_tool_finished->effect, effect)) {
			traces.finished = true;
			traces.outcome = event.as.run_tool_finished->outcome;
			traces.finished_at = page.at[i].position;
		}
	}
	return traces;
}

void sim_check_start(struct sim *sim, const struct tool_call *call)
{
	sim_memory_outside();
	struct traces traces = traces_of(sim, &call->run, &call->effect);
	if (!traces.requested)
		sim_fail(sim, "a tool is started and its request is not on the disk");
	else if (traces.finished)
		sim_fail(sim, "a tool is started that is closed on the disk");
	else if (traces.attempt != call->attempt)
		sim_fail(sim, "attempt %lld is started, the disk knows of %lld",
			 (long long)call->attempt, (long long)traces.attempt);
	if (sim_child_lives(sim, &call->effect))
		sim_fail(sim, "a tool is started while a child of the same effect lives");
	sim_memory_inside();
}

static void check_ledger(struct sim *sim)
{
	for (size_t i = 0; i < sim->child_count; i++) {
		const struct sim_child *child = &sim->children[i];
		for (size_t k = i + 1; k < sim->child_count; k++) {
			const struct sim_child *other = &sim->children[k];
			if (!uuid_equal(&child->effect, &other->effect))
				continue;
			if (child->class == RUN_CLASS_ONCE)
				sim_fail(sim, "a `once` tool was started twice");
			if (child->attempt >= other->attempt)
				sim_fail(sim, "two starts of one effect with the same attempt");
		}
		struct traces traces = traces_of(sim, &child->run, &child->effect);
		if (child->class != RUN_CLASS_ONCE || !traces.finished ||
		    traces.finished_at <= sim->life_ends[child->life])
			continue;
		if (traces.outcome != RUN_OUTCOME_UNKNOWN)
			sim_fail(sim, "an interrupted `once` tool is not marked as unknown");
	}
}

void sim_check(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct run *folds[SIM_RUNS] = { 0 };
	check_numbers(sim);
	for (size_t i = 0; i < sim->plan.run_count && !sim->failed; i++) {
		folds[i] = sim_fold(sim, &sim->plan.runs[i].id, &arena);
		if (!sim->failed)
			check_run_row(sim, &sim->plan.runs[i], folds[i], &arena);
		if (!sim->failed && folds[i] != NULL)
			check_snapshot(sim, folds[i], &arena);
	}
	if (sim->failed)
		return;
	if (sim->tidy)
		check_tidy(sim, folds);
	check_effects(sim, folds);
	check_answers(sim);
	check_ledger(sim);
}

/* ---- (e) the same end as in a calm world -------------------------------------------- */

static void add_value(struct sim *sim, const struct value *value, struct buf *out,
		      struct arena *arena)
{
	if (value->kind == VALUE_STORED)
		buf_add(out, blob(sim, &value->hash, arena));
	else if (value->kind == VALUE_INLINE)
		buf_add(out, value->text);
	else
		buf_add(out, S("-"));
}

static struct str end_of(struct sim *sim, const struct run *run, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, run_state_row(run->state)->word);
	buf_add_format(&text, " " STR_FMT ": " STR_FMT " ", STR_ARG(run->fault.code),
		       STR_ARG(run->fault.text));
	add_value(sim, &run->outputs, &text, arena);
	for (uint32_t i = 0; i < run->count; i++) {
		const struct activation *step = &run->activations[i];
		buf_add_format(&text, "\n" STR_FMT " " STR_FMT " " STR_FMT ": " STR_FMT,
			       STR_ARG(step->path), STR_ARG(step_state_row(step->state)->word),
			       STR_ARG(step->fault.code),
			       STR_ARG(step->state == STEP_SKIPPED ? S("") : step->fault.text));
	}
	return str_copy(arena, buf_str(&text));
}

/* Every step closed as unknown must be one that may be; true when there is any. */
static bool has_unknown(struct sim *sim, const struct run *run)
{
	bool any = false;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct activation *step = &run->activations[i];
		if (!str_equal(step->fault.code, error_row(ERROR_OUTCOME_UNKNOWN)->name))
			continue;
		struct traces traces = traces_of(sim, &run->id, &step->effect);
		any = true;
		sim->counts.unknown++;
		if (traces.outcome != RUN_OUTCOME_UNKNOWN ||
		    (traces.class != RUN_CLASS_ONCE && traces.class != RUN_CLASS_CONTAINED))
			sim_fail(sim, "a step is unknown that could have been repeated");
	}
	if (any && run->state != RUN_FAILED)
		sim_fail(sim, "a run with an unknown step did not fail");
	return any;
}

static int compare_writes(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return left < right ? -1 : left > right;
}

static struct str sorted_content(struct sim *sim, const struct uuid *run, struct arena *arena)
{
	const struct sim_content *content = &sim_workspace_folder(&sim->workspace, run)->content;
	size_t size = content->count * sizeof(*content->at);
	uint64_t *copy = arena_array(arena, uint64_t, content->count);
	for (size_t i = 0; i < content->count; i++)
		copy[i] = content->at[i];
	qsort(copy, content->count, sizeof(*copy), compare_writes);
	return (struct str){ (const char *)copy, size };
}

void sim_check_same_end(struct sim *sim, struct sim *calm)
{
	for (size_t i = 0; i < sim->plan.run_count && !sim->failed; i++) {
		AUTO(arena) arena = { 0 };
		const struct uuid *id = &sim->plan.runs[i].id;
		struct run *run = sim_fold(sim, id, &arena), *other = sim_fold(calm, id, &arena);
		if (run == NULL || other == NULL) {
			sim_fail(sim, "a run is missing at the end");
			return;
		}
		if (has_unknown(sim, run))
			continue;
		struct str mine = end_of(sim, run, &arena), theirs = end_of(calm, other, &arena);
		if (!str_equal(mine, theirs))
			sim_fail(sim,
				 "run %zu ends otherwise than undisturbed:\n" STR_FMT
				 "\n-- undisturbed:\n" STR_FMT,
				 i, STR_ARG(mine), STR_ARG(theirs));
		if (!str_equal(sorted_content(sim, id, &arena), sorted_content(calm, id, &arena)))
			sim_fail(sim, "run %zu leaves another folder than undisturbed", i);
	}
}
