/* tests/unit/engine/damage.c -- histories and snapshots as damage could have left them. */
#include "contract/run_snapshot_types.h"
#include "engine/engine_rig.h"
#include "engine/history_synthesis.h"
#include "spoil.h"

struct damage {
	struct arena arena;
	const struct event *history;
	size_t count;
	struct uuid id;
	const struct graph *graph;
	size_t every, tried;
};

/* Every n-th of whatever could be tried. */
static bool chosen(struct damage *d)
{
	return d->tried++ % d->every == 0;
}

/* What the runtime does with a run that it has loaded. */
static void use(const struct run *run, struct arena *arena)
{
	struct run_names names;
	struct error error;
	struct run *again;
	struct synthesized_history retold;
	const struct run_snapshot *snapshot = run_snapshot(run, arena, &names);
	struct str text = run_snapshot_text(snapshot, arena);
	if (!run_snapshot_read(text, arena, &snapshot, &error))
		return;
	history_synthesize(snapshot, run->graph->rows, run->seq, arena, &retold);
	if (run_restore(snapshot, run->id, run->graph, arena, &again, &error))
		run_snapshot(again, arena, &names);
}

/* Folds events in this order, one of them perhaps with another body. */
static void fold_spoilt(struct damage *d, const size_t *order, size_t count, size_t other,
			struct str body)
{
	AUTO(arena) arena = { 0 };
	struct run *run = run_new(&arena, d->id, d->graph);
	for (size_t i = 0; i < count; i++) {
		struct event event = d->history[order[i]];
		struct error error = { 0 };
		bool good = order[i] != other || event_read(event_name(event.type), event.at, body,
							    &arena, &event, &error);
		if (!good || !evolve(run, &event, &error)) {
			cr_assert_neq(error.code, ERROR_NONE);
			return;
		}
	}
	if (run->seq > 0)
		use(run, &arena);
}

/* Each event lost, twice, and behind its successor. */
static void try_orders(struct damage *d)
{
	size_t *order = arena_array(&d->arena, size_t, d->count + 1);
	for (size_t i = 0; i < d->count; i++)
		for (int way = 0; way < 3; way++) {
			size_t count = 0;
			if (!chosen(d))
				continue;
			for (size_t j = 0; j < d->count; j++)
				if (way != 0 || j != i)
					order[count++] = j;
			if (way == 1) {
				memmove(&order[i + 1], &order[i], (count - i) * sizeof(order[0]));
				count++;
			} else if (way == 2 && i + 1 < count) {
				order[i] = i + 1;
				order[i + 1] = i;
			}
			fold_spoilt(d, order, count, SIZE_MAX, S(""));
		}
}

static const struct json *tree(struct str text, struct arena *arena)
{
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(text, arena, &json, &error);
	cr_assert(good, "%s", error.text);
	return json;
}

static void try_bodies(struct damage *d)
{
	size_t *order = arena_array(&d->arena, size_t, d->count);
	for (size_t i = 0; i < d->count; i++)
		order[i] = i;
	for (size_t i = 0; i < d->count; i++) {
		AUTO(arena) arena = { 0 };
		const struct json *body = tree(event_body(&d->history[i], &arena), &arena);
		size_t nodes = spoil_nodes(body);
		for (size_t node = 0; node < nodes; node++)
			for (size_t way = 0; way < SPOIL_WAYS; way++)
				if (chosen(d))
					fold_spoilt(d, order, d->count, i,
						    spoil_print(body, node, way, &arena));
	}
}

static void restore_spoilt(struct damage *d, struct str text)
{
	AUTO(arena) arena = { 0 };
	const struct run_snapshot *snapshot;
	struct synthesized_history retold;
	struct error error = { 0 };
	struct run *run;
	if (!run_snapshot_read(text, &arena, &snapshot, &error)) {
		cr_assert_neq(error.code, ERROR_NONE);
		return;
	}
	history_synthesize(snapshot, d->graph->rows, snapshot->seq, &arena, &retold);
	if (run_restore(snapshot, d->id, d->graph, &arena, &run, &error))
		use(run, &arena);
	else
		cr_assert_neq(error.code, ERROR_NONE);
}

static void try_snapshots(struct damage *d)
{
	AUTO(arena) arena = { 0 };
	struct run *run = run_new(&arena, d->id, d->graph);
	for (size_t i = 0; i < d->count; i++) {
		struct error error;
		cr_assert(evolve(run, &d->history[i], &error));
	}
	const struct json *snapshot = tree(run_snapshot_of(run, &arena), &arena);
	size_t nodes = spoil_nodes(snapshot);
	for (size_t node = 0; node < nodes; node++)
		for (size_t way = 0; way < SPOIL_WAYS; way++)
			if (chosen(d))
				restore_spoilt(d, spoil_print(snapshot, node, way, &arena));
}

size_t check_damage(const struct event *history, size_t count, struct uuid id,
		    const struct graph *graph, size_t every)
{
	struct damage d = {
		.history = history, .count = count, .id = id, .graph = graph, .every = every
	};
	if (count == 0)
		return 0;
	try_orders(&d);
	try_bodies(&d);
	try_snapshots(&d);
	arena_done(&d.arena);
	return d.tried;
}
