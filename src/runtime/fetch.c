/* runtime/fetch.c -- answers ENGINE_NEED: values by hash from the store, the tree from git.
 *
 * Decisions run ahead of the disk (R2), so a value may be asked for that is still on its way to the
 * writer: that one is copied from the turn that carries it.
 *
 * Values are read and parsed on a reader thread; the tree is taken after them, as the last thing
 * before the request that records it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "os/point.h"
#include "runtime/inside.h"

struct fetching {
	struct runtime_read read; /* its arena holds what was read */
	uint64_t live, id;
	struct hash *hashes;
	struct str *unwritten; /* texts that are not in the store yet; at NULL = read it */
	const struct json **values;
	size_t count, bytes;
	bool tree;
	struct error error;
	fetch_done *done;
	uint64_t argument;
	struct fetching *next; /* in live->loaded */
};

static const struct json *look(void *context, const struct hash *hash)
{
	const struct live *live = context;
	for (const struct fetching *f = live->loaded; f != NULL; f = f->next)
		for (size_t i = 0; i < f->count; i++)
			if (hash_equal(&f->hashes[i], hash))
				return f->values[i];
	return NULL;
}

struct engine_values live_values(struct live *live)
{
	return (struct engine_values){ .look = look, .context = live, .tree = live->tree };
}

void live_forget_loaded(struct live *live)
{
	while (live->loaded != NULL) {
		struct fetching *first = live->loaded;
		live->loaded = first->next;
		arena_done(&first->read.arena);
		free(first);
	}
	live->tree = S("");
}

/* A value by its hash never changes, so the newest few stay for the next decision: a thousand
 * items of one list are a thousand decisions that read it. */
void live_let_go(struct live *live)
{
	size_t bytes = 0, count = 0;
	struct fetching **link = &live->loaded;
	for (; *link != NULL; link = &(*link)->next) {
		bytes += (*link)->bytes;
		count += (*link)->count;
		if (bytes > LIMIT_LIVE_VALUES_BYTES || count > LIMIT_LIVE_VALUES)
			break;
	}
	while (*link != NULL) {
		struct fetching *old = *link;
		*link = old->next;
		arena_done(&old->read.arena);
		free(old);
	}
	live->tree = S("");
}

void fetch_discard(struct fetching *fetching)
{
	arena_done(&fetching->read.arena);
	free(fetching);
}

static void fetch_work(struct runtime_read *read, struct store_reader *reader)
{
	struct fetching *f = (struct fetching *)read;
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
static void fetch_finish(struct fetching *f)
{
	struct runtime *runtime = f->read.runtime;
	struct live *live = slots_get(&runtime->lives, f->live);
	require(live != NULL);
	slots_remove(&runtime->fetches, f->id);
	f->next = live->loaded;
	live->loaded = f;
	live->holds--;
	struct error error = f->error;
	f->done(runtime, f->live, f->argument, error.code == ERROR_NONE ? NULL : &error);
}

static void tree_taken(void *context, uint64_t argument, struct str tree, const struct error *error)
{
	struct runtime *runtime = context;
	struct fetching *f = slots_get(&runtime->fetches, argument);
	if (f == NULL)
		return;
	POINT("workspace.taken");
	struct live *live = slots_get(&runtime->lives, f->live);
	require(live != NULL);
	if (error->code != ERROR_NONE) {
		char id[UUID_TEXT_SIZE];
		log_run(LOG_WARNING, uuid_text(&live->run_id, id),
			"%s; the next tool of this run cannot be repeated after a crash",
			error->text);
		tree = WORKSPACE_NO_TREE;
	}
	require(tree.size > 0 && tree.size < sizeof(live->tree_text));
	memcpy(live->tree_text, tree.at, tree.size);
	live->tree = (struct str){ live->tree_text, tree.size };
	fetch_finish(f);
}

static void fetch_tree(struct fetching *f)
{
	struct runtime *runtime = f->read.runtime;
	struct live *live = slots_get(&runtime->lives, f->live);
	require(live != NULL);
	struct workspace *workspace = runtime->settings.workspace;
	workspace->ops->take(workspace, &live->run_id, tree_taken, runtime, f->id);
}

static void fetch_read(struct runtime_read *read)
{
	struct fetching *f = (struct fetching *)read;
	if (f->tree && f->error.code == ERROR_NONE)
		fetch_tree(f);
	else
		fetch_finish(f);
}

void fetch(struct live *live, const struct decision *decision, fetch_done *done, uint64_t argument)
{
	struct runtime *runtime = live->runtime;
	struct fetching *f = calloc(1, sizeof(*f));
	require(f != NULL);
	f->live = live->id;
	f->id = slots_add(&runtime->fetches, f);
	f->count = decision->need_count;
	f->hashes = arena_copy(&f->read.arena, decision->needs, f->count * sizeof(*f->hashes));
	f->values = arena_array(&f->read.arena, const struct json *, f->count);
	f->unwritten = arena_array(&f->read.arena, struct str, f->count);
	for (size_t i = 0; i < f->count; i++) {
		struct str bytes;
		if (live_unwritten(live, &f->hashes[i], &bytes))
			f->unwritten[i] = str_copy(&f->read.arena, bytes);
	}
	f->tree = decision->needs_tree;
	f->done = done;
	f->argument = argument;
	f->read.work = fetch_work;
	f->read.done = fetch_read;
	f->read.runtime = runtime;
	live->holds++;
	if (f->count > 0)
		runtime_read(runtime, &f->read);
	else
		fetch_tree(f);
}

const struct json *fetch_given(struct live *live, const struct value *given, struct arena *arena,
			       fetch_done *done, uint64_t argument)
{
	const struct json *json;
	struct error error;
	struct hash hash = given->hash;
	if (given->kind == VALUE_STORED) {
		fetch(live, &(struct decision){ .needs = &hash, .need_count = 1 }, done, argument);
		return NULL;
	}
	bool good = json_read(given->text, arena, &json, &error);
	require(good); /* we have printed it ourselves */
	return json;
}
