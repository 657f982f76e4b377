/* active/value_fetch.c -- answers ENGINE_NEED: values by hash from the store, the tree from git.
 *
 * Decisions run ahead of the disk (R2), so a value may be asked for that is still on its way to the
 * writer: that one is copied from the turn that carries it.
 *
 * Values are read and parsed on a reader thread; the tree is taken after them, as the last thing
 * before the request that records it.
 */
#include "active/value_fetch.h"

#include <stdlib.h>
#include <string.h>

#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "active/large_value.h"
#include "base/limits.h"
#include "base/log.h"
#include "os/failpoint.h"

struct value_fetch_state {
	struct executor_read read; /* its arena holds what was read */
	uint64_t active, id;
	struct hash *hashes;
	struct str *unwritten; /* texts that are not in the store yet; at NULL = read it */
	const struct json **values;
	size_t count, bytes;
	bool tree;
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
	return (struct engine_values){ .look = look, .context = active, .tree = active->tree };
}

void active_run_forget_loaded(struct active_run *active)
{
	while (active->loaded != NULL) {
		struct value_fetch_state *first = active->loaded;
		active->loaded = first->next;
		release(active->executor, first);
	}
	active->tree = S("");
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
	active->tree = S("");
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

static void tree_taken(void *context, uint64_t argument, struct str tree, const struct error *error)
{
	struct executor *executor = context;
	struct value_fetch_state *f = slots_get(&executor->fetches, argument);
	if (f == NULL)
		return;
	FAILPOINT("workspace.taken");
	struct active_run *active = active_run_by_id(executor, f->active);
	require(active != NULL);
	if (error->code != ERROR_NONE) {
		char id[UUID_TEXT_SIZE];
		log_run(LOG_WARNING, uuid_text(&active->run_id, id),
			"%s; the next tool of this run cannot be repeated after a crash",
			error->text);
		tree = WORKSPACE_NO_TREE;
	}
	require(tree.size > 0 && tree.size < sizeof(active->tree_text));
	memcpy(active->tree_text, tree.at, tree.size);
	active->tree = (struct str){ active->tree_text, tree.size };
	fetch_finish(f);
}

static void fetch_tree(struct value_fetch_state *f)
{
	struct executor *executor = f->read.executor;
	struct active_run *active = active_run_by_id(executor, f->active);
	require(active != NULL);
	struct workspace *workspace = executor->settings.workspace;
	workspace->ops->take(workspace, &active->run_id, tree_taken, executor, f->id);
}

static void fetch_read(struct executor_read *read)
{
	struct value_fetch_state *f = (struct value_fetch_state *)read;
	if (f->tree && f->error.code == ERROR_NONE)
		fetch_tree(f);
	else
		fetch_finish(f);
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
	f->tree = decision->needs_tree;
	f->done = done;
	f->argument = argument;
	f->read.work = fetch_work;
	f->read.done = fetch_read;
	f->read.executor = executor;
	active_run_pin(active);
	if (f->count > 0)
		executor_read(executor, &f->read);
	else
		fetch_tree(f);
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
