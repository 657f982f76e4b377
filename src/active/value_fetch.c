/* active/value_fetch.c -- what decisions need from outside: values by hash, trees of workspaces.
 *
 * Decisions run ahead of the disk (R2), so a value may be asked for that is still on its way to the
 * writer: that one is copied from the turn that carries it.  Values are read and parsed on a reader
 * thread.
 */
#include "active/value_fetch.h"

#include <stdlib.h>
#include <string.h>

#include "active/error_masking.h"
#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "active/large_value.h"
#include "base/limits.h"
#include "active/pending_command.h"
#include "active/tree_taking.h"
#include "base/log.h"
#include "contract/run_event_types.h"
#include "engine/run.h"
#include "os/failpoint.h"
#include "workspace/workspace.h"

struct value_fetch_state {
	struct executor_read read; /* its arena holds what was read */
	uint64_t active, id;
	struct hash *hashes;
	struct str *unwritten; /* texts that are not in the store yet; at NULL = read it */
	const struct json **values;
	size_t count, bytes;
	struct error error;
	value_fetch_done *done;
	uint64_t argument;
	struct value_fetch_state *next; /* in active->loaded */
	int uses;                       /* that list, and pins */
};

static void release(struct executor *executor, struct value_fetch_state *f)
{
	if (--f->uses > 0)
		return;
	executor_discard(executor, &f->read.arena);
	free(f);
}

void value_fetch_pin(struct active_run *active, struct value_pins *out_pins)
{
	size_t count = 0;
	for (const struct value_fetch_state *f = active->loaded; f != NULL; f = f->next)
		count++;
	out_pins->loaded = count == 0 ? NULL : calloc(count, sizeof(struct value_fetch_state *));
	require(count == 0 || out_pins->loaded != NULL);
	out_pins->count = 0;
	for (struct value_fetch_state *f = active->loaded; f != NULL; f = f->next) {
		f->uses++;
		out_pins->loaded[out_pins->count++] = f;
	}
	out_pins->graph = active->graph;
	graph_cache_retain(&active->executor->graphs, active->graph);
}

void value_fetch_unpin(struct executor *executor, struct value_pins *pins)
{
	for (size_t i = 0; i < pins->count; i++)
		release(executor, pins->loaded[i]);
	free(pins->loaded);
	graph_cache_release(&executor->graphs, pins->graph);
	*pins = (struct value_pins){ 0 };
}

static const struct json *look(void *context, const struct hash *hash)
{
	const struct active_run *active = context;
	for (const struct value_fetch_state *f = active->loaded; f != NULL; f = f->next)
		for (size_t i = 0; i < f->count; i++)
			if (hash_equal(&f->hashes[i], hash))
				return f->values[i];
	return NULL;
}

struct engine_values active_run_values(struct active_run *active)
{
	active->budgets = (struct engine_budgets){ ledger_find, active };
	return (struct engine_values){ .look = look,
				       .context = active,
				       .tree = active->has_tree ? &active->tree : NULL,
				       .prices = &active->executor->prices,
				       .budgets = &active->budgets };
}

void active_run_forget_loaded(struct active_run *active)
{
	while (active->loaded != NULL) {
		struct value_fetch_state *first = active->loaded;
		active->loaded = first->next;
		release(active->executor, first);
	}
}

/* A value by its hash never changes, so the newest few stay for the next decision: a thousand
 * items of one list are a thousand decisions that read it. */
void active_run_release_loaded(struct active_run *active)
{
	size_t bytes = 0, count = 0;
	struct value_fetch_state **link = &active->loaded;
	for (; *link != NULL; link = &(*link)->next) {
		bytes += (*link)->bytes;
		count += (*link)->count;
		if (bytes > LIMIT_LIVE_VALUES_BYTES || count > LIMIT_LIVE_VALUES)
			break;
	}
	while (*link != NULL) {
		struct value_fetch_state *old = *link;
		*link = old->next;
		release(active->executor, old);
	}
}

void value_fetch_discard(struct value_fetch_state *value_fetch_state)
{
	arena_done(&value_fetch_state->read.arena);
	free(value_fetch_state);
}

static void fetch_work(struct executor_read *read, struct store_reader *reader)
{
	struct value_fetch_state *f = (struct value_fetch_state *)read;
	for (size_t i = 0; i < f->count; i++) {
		struct str bytes = f->unwritten[i];
		bool found = bytes.at != NULL;
		if (!found && !reader->ops->read_blob(reader, &f->hashes[i], &read->arena, &bytes,
						      &found, &f->error))
			return;
		if (!found) {
			fail(&f->error, ERROR_STORAGE, "a value that an event names is not stored");
			return;
		}
		if (!json_read(bytes, &read->arena, &f->values[i], &f->error))
			return;
		f->bytes += bytes.size;
	}
}

/* The run took over what was read; the owner is told by ids only. */
static void fetch_finish(struct value_fetch_state *f)
{
	struct executor *executor = f->read.executor;
	struct active_run *active = active_run_by_id(executor, f->active);
	require(active != NULL);
	slots_remove(&executor->fetches, f->id);
	f->next = active->loaded;
	f->uses = 1;
	active->loaded = f;
	active_run_unpin(active);
	struct error error = f->error;
	f->done(executor, f->active, f->argument, error.code == ERROR_NONE ? NULL : &error);
}

static void fetch_read(struct executor_read *read)
{
	fetch_finish((struct value_fetch_state *)read);
}

void value_fetch(struct active_run *active, const struct decision *decision, value_fetch_done *done,
		 uint64_t argument)
{
	struct executor *executor = active->executor;
	struct value_fetch_state *f = calloc(1, sizeof(*f));
	require(f != NULL);
	f->active = active->id;
	f->id = slots_add(&executor->fetches, f);
	f->count = decision->need_count;
	f->hashes = arena_copy(&f->read.arena, decision->needs, f->count * sizeof(*f->hashes));
	f->values = arena_array(&f->read.arena, const struct json *, f->count);
	f->unwritten = arena_array(&f->read.arena, struct str, f->count);
	for (size_t i = 0; i < f->count; i++) {
		struct str bytes;
		if (active_run_find_unwritten(active, &f->hashes[i], &bytes))
			f->unwritten[i] = str_copy(&f->read.arena, bytes);
	}
	f->done = done;
	f->argument = argument;
	f->read.work = fetch_work;
	f->read.done = fetch_read;
	f->read.executor = executor;
	active_run_pin(active);
	executor_read(executor, &f->read);
}

const struct json *value_fetch_given(struct active_run *active, const struct value *given,
				     struct arena *arena, value_fetch_done *done, uint64_t argument)
{
	const struct json *json;
	struct error error;
	struct hash hash = given->hash;
	if (given->kind == VALUE_STORED) {
		value_fetch(active, &(struct decision){ .needs = &hash, .need_count = 1 }, done,
			    argument);
		return NULL;
	}
	bool good = json_read(given->text, arena, &json, &error);
	require(good); /* we have printed it ourselves */
	return json;
}

/* ---- trees of workspaces (tree_taking.h) -------------------------------------------------
 *
 * A snapshot may take long or never end, so the run goes on without it: the result before is
 * committed first, and pause, cancel and results of other steps are decided meanwhile. */

/* A tree that is wanted, or is being taken. */
struct tree_taking {
	struct tree_taking *next;
	struct arena arena;
	struct str step;
	struct str ends; /* the branch that is over; "" = none */
	struct str branch, parent, base;
	bool merges, needs_tree;
	struct workspace_branch *branches; /* to be merged */
	size_t branch_count;
	int64_t timeout_us; /* of the step; 0 = none */
	bool wanted;        /* by the newest decision */
	bool begun;
	uint64_t id;        /* in executor->tree_takings, while it is being taken */
	uint64_t active;    /* the run's */
	uint64_t operation; /* of the workspace */
	int64_t begun_at;
};

static struct str name_of(const struct branch *branch)
{
	return branch == NULL ? S("") : branch->path;
}

static struct tree_taking *find(const struct active_run *active, const struct decision_tree *tree)
{
	for (struct tree_taking *at = active->tree_takings; at != NULL; at = at->next)
		if (str_equal(at->step, tree->step) && str_equal(at->ends, name_of(tree->ends)) &&
		    at->merges == tree->merges)
			return at;
	return NULL;
}

/* The branches of the container that have written. */
static void copy_branches(struct tree_taking *taking, const struct activation *container)
{
	size_t count = 0;
	for (const struct branch *at = container->branches; at != NULL; at = at->next)
		count += at->requested;
	taking->branches = arena_array(&taking->arena, struct workspace_branch, count);
	for (const struct branch *at = container->branches; at != NULL; at = at->next)
		if (at->requested)
			taking->branches[taking->branch_count++] =
				(struct workspace_branch){ str_copy(&taking->arena, at->path),
							   str_copy(&taking->arena, at->tree) };
}

static struct tree_taking *taking_new(struct active_run *active, const struct decision_tree *tree)
{
	struct tree_taking *taking = calloc(1, sizeof(*taking));
	require(taking != NULL);
	struct arena *arena = &taking->arena;
	const struct activation *step = run_activation(active->run, tree->step);
	taking->step = str_copy(arena, tree->step);
	taking->ends = str_copy(arena, name_of(tree->ends));
	taking->branch = str_copy(arena, name_of(tree->branch));
	taking->parent = str_copy(arena, name_of(tree->parent));
	taking->base = str_copy(arena, tree->base);
	taking->merges = tree->merges;
	taking->needs_tree = step == NULL || run_is_container(run_node(active->run, step)->kind) ||
			     taking->base.size > 0;
	taking->timeout_us = tree->timeout_us;
	taking->active = active->id;
	if (tree->merges)
		copy_branches(taking, tree->container);
	taking->next = active->tree_takings;
	active->tree_takings = taking;
	return taking;
}

static void unlink_taking(struct active_run *active, const struct tree_taking *taking)
{
	struct tree_taking **link = &active->tree_takings;
	while (*link != taking)
		link = &(*link)->next;
	*link = taking->next;
}

static void taking_free(struct tree_taking *taking)
{
	arena_done(&taking->arena);
	free(taking);
}

/* Forgets it; its result, if one is on the way, finds nothing. */
static void call_off(struct active_run *active, struct tree_taking *taking)
{
	struct executor *executor = active->executor;
	struct workspace *workspace = executor->settings.workspace;
	unlink_taking(active, taking);
	if (taking->begun) {
		slots_remove(&executor->tree_takings, taking->id);
		workspace->ops->cancel(workspace, taking->operation);
		active_run_unpin(active);
	}
	taking_free(taking);
}

void tree_taking_want(struct active_run *active, const struct decision *decision)
{
	for (struct tree_taking *at = active->tree_takings; at != NULL; at = at->next)
		at->wanted = false;
	for (size_t i = 0; i < decision->tree_count; i++) {
		const struct decision_tree *tree = &decision->trees[i];
		struct tree_taking *taking = find(active, tree);
		if (taking == NULL)
			taking = taking_new(active, tree);
		taking->wanted = true;
	}
	for (struct tree_taking *at = active->tree_takings, *next; at != NULL; at = next) {
		next = at->next;
		if (!at->wanted)
			call_off(active, at);
	}
}

/* A folder that is too large, or too slow to store, fails its step.  If git itself fails, the step
 * goes on without a tree and is not repeated after a crash (decision 0002). */
static void send(struct active_run *active, const struct tree_taking *taking, struct str tree,
		 const struct error *error)
{
	struct pending_command *pending = pending_command_new(COMMAND_TREE_TAKEN);
	struct command *command = &pending->command;
	command->step = str_copy(&pending->arena, taking->step);
	command->branch = str_copy(&pending->arena, taking->ends);
	command->begun_at = taking->begun_at;
	command->tree = str_copy(&pending->arena, tree);
	if (error->code == ERROR_TIMEOUT || error->code == ERROR_TOO_LARGE ||
	    (error->code != ERROR_NONE && taking->needs_tree)) {
		command->fault =
			(struct failure){ error_row(error->code)->name,
					  str_copy(&pending->arena, str_from_c(error->text)) };
	} else if (error->code != ERROR_NONE) {
		char id[UUID_TEXT_SIZE];
		log_run(LOG_WARNING, uuid_text(&active->run_id, id),
			"%s; the next tool of this run cannot be repeated after a crash",
			error->text);
		command->tree = WORKSPACE_NO_TREE;
	}
	active_run_command(active, pending);
}

static void taking_end(struct executor *executor, struct tree_taking *taking, struct str tree,
		       const struct error *error)
{
	struct active_run *active = active_run_by_id(executor, taking->active);
	require(active != NULL);
	slots_remove(&executor->tree_takings, taking->id);
	unlink_taking(active, taking);
	active_run_pin(active);
	active_run_unpin(active); /* the pin of the taking */
	send(active, taking, tree, error);
	active_run_unpin(active);
	active_run_settle(active);
	taking_free(taking);
}

static void error_masked(struct executor *executor, uint64_t argument, const struct error *error)
{
	struct tree_taking *taking = slots_get(&executor->tree_takings, argument);
	if (taking != NULL)
		taking_end(executor, taking, S(""), error);
}

static void tree_taken(void *context, uint64_t argument, struct str tree, const struct error *error)
{
	struct executor *executor = context;
	struct tree_taking *taking = slots_get(&executor->tree_takings, argument);
	if (taking == NULL)
		return; /* called off */
	FAILPOINT("workspace.taken");
	if (!error_masking_begin(active_run_by_id(executor, taking->active), error, error_masked,
				 argument))
		taking_end(executor, taking, tree, error);
}

static uint64_t begin(struct active_run *active, const struct tree_taking *taking)
{
	struct executor *executor = active->executor;
	struct workspace *workspace = executor->settings.workspace;
	const struct workspace_ops *ops = workspace->ops;
	const struct uuid *run = &active->run_id;
	int64_t most = (int64_t)FAILPOINT_LIMIT("workspace.snapshot_ms", LIMIT_SNAPSHOT_MS) * 1000;
	int64_t timeout_us =
		taking->timeout_us > 0 && taking->timeout_us < most ? taking->timeout_us : most;
	if (taking->merges)
		return ops->merge(workspace, run, taking->branch, taking->base, taking->branches,
				  taking->branch_count, tree_taken, executor, taking->id);
	if (taking->base.size > 0)
		return ops->begin(workspace, run, taking->branch, taking->parent, taking->base,
				  timeout_us, tree_taken, executor, taking->id);
	return ops->take(workspace, run, taking->branch, timeout_us, tree_taken, executor,
			 taking->id);
}

void tree_taking_begin(struct active_run *active)
{
	struct executor *executor = active->executor;
	if (active->appends_in_flight > 0)
		return;
	for (struct tree_taking *at = active->tree_takings; at != NULL; at = at->next) {
		if (at->begun)
			continue;
		at->begun = true;
		at->begun_at = executor_now(executor);
		at->id = slots_add(&executor->tree_takings, at);
		active_run_pin(active);
		at->operation = begin(active, at);
	}
}

/* The trees of branches are recorded, or of no use any more: their folders go. */
void tree_taking_drop(struct active_run *active, const struct event *event)
{
	struct workspace *workspace = active->executor->settings.workspace;
	if (event->type == EVENT_BRANCH_ENDED)
		workspace->ops->drop(workspace, &active->run_id,
				     event->as.run_branch_ended->branch);
	else if (event->type == EVENT_RUN_FINISHED && active->graph->graph->own_trees)
		workspace->ops->drop(workspace, &active->run_id, S(""));
}

void tree_taking_forget(struct active_run *active)
{
	while (active->tree_takings != NULL)
		call_off(active, active->tree_takings);
}

void tree_taking_free(struct active_run *active)
{
	while (active->tree_takings != NULL) {
		struct tree_taking *first = active->tree_takings;
		active->tree_takings = first->next;
		if (first->begun)
			slots_remove(&active->executor->tree_takings, first->id);
		taking_free(first);
	}
}
