/* artifact/artifact.c -- artifacts of runs.
 *
 * Each write reads the run's whole list: lists are short, and nothing cached can then differ from
 * the disk.
 *
 * The sweep must not remove a content whose line is about to be written.  So it sets `sweeping` and
 * waits for the writes in progress, whose lines it then reads.  A write that begins later adds its
 * hash to `fresh` before it checks whether the content exists.
 */
#include "artifact/artifact.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/map.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "os/failpoint.h"

struct artifacts {
	struct arena arena;
	const char *folder;      /* the data folder */
	pthread_mutex_t writing; /* one write at a time, so that version numbers are unique */
	pthread_mutex_t lock;    /* protects the members below */
	pthread_cond_t written;
	uint64_t begun, ended; /* counts of writes */
	bool sweeping;
	struct map fresh; /* hashes written during the current sweep */
	struct arena fresh_arena;
};

static const char runs_folder[] = "artifacts/runs", content_folder[] = "artifacts/content";

struct artifacts *artifacts_new(const char *data_folder)
{
	struct artifacts *artifacts = calloc(1, sizeof(*artifacts));
	require(artifacts != NULL);
	artifacts->folder = str_c(&artifacts->arena, str_from_c(data_folder));
	require(pthread_mutex_init(&artifacts->writing, NULL) == 0);
	require(pthread_mutex_init(&artifacts->lock, NULL) == 0);
	require(pthread_cond_init(&artifacts->written, NULL) == 0);
	return artifacts;
}

void artifacts_free(struct artifacts *artifacts)
{
	pthread_cond_destroy(&artifacts->written);
	pthread_mutex_destroy(&artifacts->lock);
	pthread_mutex_destroy(&artifacts->writing);
	map_done(&artifacts->fresh);
	arena_done(&artifacts->fresh_arena);
	arena_done(&artifacts->arena);
	free(artifacts);
}

static const char *run_path(const struct uuid *run, struct arena *arena)
{
	char id[UUID_TEXT_SIZE];
	return str_format(arena, "%s/" STR_FMT, runs_folder, STR_ARG(uuid_text(run, id))).at;
}

static const char *content_path(const struct hash *hash, struct arena *arena)
{
	char hex[HASH_TEXT_SIZE];
	struct str text = hash_text(hash, hex);
	return str_format(arena, "%s/" STR_FMT "/" STR_FMT, content_folder,
			  STR_ARG(str_head(text, 2)), STR_ARG(text))
		.at;
}

/* ---- lists --------------------------------------------------------------------------- */

/* A line that a power failure left incomplete is ignored: its call never ended. */
static const struct run_artifact *read_line(struct str line, struct arena *arena)
{
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = arena };
	if (line.size == 0 || !json_read(line, arena, &json, &error))
		return NULL;
	struct contract_source source = { .json = json, .text = line, .lenient = true };
	return run_artifact_parse(&source, arena, &problems);
}

static bool list_path(const struct artifacts *artifacts, const char *path, struct arena *arena,
		      struct run_artifact_list *out_list, struct error *error)
{
	struct str text, line;
	uint64_t size;
	struct error ignored;
	*out_list = (struct run_artifact_list){ NULL, 0 };
	if (!confined_read(artifacts->folder, path, 0, LIMIT_RUN_ARTIFACTS_BYTES, arena, &text,
			   &size, &ignored)) {
		if (ignored.code == ERROR_NOT_FOUND)
			return true;
		*error = ignored;
		return false;
	}
	size_t lines = 0;
	for (size_t i = 0; i < text.size; i++)
		lines += text.at[i] == '\n';
	struct run_artifact *items = arena_array(arena, struct run_artifact, lines);
	size_t count = 0;
	for (size_t i = 0; i < lines && str_cut(&text, '\n', &line); i++) {
		const struct run_artifact *artifact = read_line(line, arena);
		if (artifact != NULL)
			items[count++] = *artifact;
	}
	*out_list = (struct run_artifact_list){ items, count };
	return true;
}

bool artifact_list(const struct artifacts *artifacts, const struct uuid *run, struct arena *arena,
		   struct run_artifact_list *out_list, struct error *error)
{
	return list_path(artifacts, run_path(run, arena), arena, out_list, error);
}

const struct run_artifact *artifact_of_effect(const struct run_artifact_list *list,
					      const struct uuid *effect)
{
	for (size_t i = 0; i < list->count; i++)
		if (uuid_equal(&list->at[i].effect, effect))
			return &list->at[i];
	return NULL;
}

static int64_t newest_version(const struct run_artifact_list *list, struct str name)
{
	int64_t newest = 0;
	for (size_t i = 0; i < list->count; i++)
		if (str_equal(list->at[i].name, name) && list->at[i].version > newest)
			newest = list->at[i].version;
	return newest;
}

bool artifact_find(const struct run_artifact_list *list, struct str name, int64_t version,
		   const struct run_artifact **out_artifact, struct error *error)
{
	int64_t newest = newest_version(list, name);
	for (size_t i = 0; i < list->count; i++) {
		const struct run_artifact *artifact = &list->at[i];
		if (str_equal(artifact->name, name) &&
		    artifact->version == (version == 0 ? newest : version)) {
			*out_artifact = artifact;
			return true;
		}
	}
	struct str shown = str_head(name, LIMIT_NAME_BYTES);
	if (newest == 0)
		return fail(error, ERROR_NOT_FOUND, "the run has no artifact " STR_FMT,
			    STR_ARG(shown));
	return fail(error, ERROR_NOT_FOUND,
		    "artifact " STR_FMT " has no version %lld; the newest is %lld", STR_ARG(shown),
		    (long long)version, (long long)newest);
}

/* ---- bytes --------------------------------------------------------------------------- */

bool artifact_read(const struct artifacts *artifacts, const struct run_artifact *artifact,
		   struct arena *arena, struct str *out_bytes, struct error *error)
{
	struct str bytes;
	uint64_t size;
	struct error ignored;
	bool there = confined_read(artifacts->folder, content_path(&artifact->sha256, arena), 0,
				   LIMIT_ARTIFACT_BYTES + 1, arena, &bytes, &size, &ignored);
	if (!there && ignored.code != ERROR_NOT_FOUND) {
		*error = ignored;
		return false;
	}
	struct hash hash = there ? hash_of(bytes) : (struct hash){ 0 };
	if (!there || !hash_equal(&hash, &artifact->sha256))
		return fail(error, ERROR_STORAGE,
			    "artifact " STR_FMT " is %s: restore artifacts/ from a backup",
			    STR_ARG(artifact->name),
			    there ? "damaged (its hash differs)" : "missing");
	*out_bytes = bytes;
	return true;
}

/* Stores the content unless an intact copy exists. */
static bool store_bytes(struct artifacts *artifacts, const struct run_artifact *artifact,
			struct str bytes, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct error ignored;
	struct str there;
	if (artifact_read(artifacts, artifact, &arena, &there, &ignored))
		return true;
	const struct confined_write how = { .make_folders = true, .mode = 0600 };
	return confined_replace(artifacts->folder, content_path(&artifact->sha256, &arena), bytes,
				how, error);
}

/* ---- writing ------------------------------------------------------------------------- */

static void write_begin(struct artifacts *artifacts, const struct hash *hash)
{
	pthread_mutex_lock(&artifacts->writing);
	pthread_mutex_lock(&artifacts->lock);
	artifacts->begun++;
	if (artifacts->sweeping) {
		struct hash *own = arena_new(&artifacts->fresh_arena, struct hash);
		*own = *hash;
		map_put(&artifacts->fresh, (struct str){ (const char *)own, sizeof(*own) }, own);
	}
	pthread_mutex_unlock(&artifacts->lock);
}

static void write_end(struct artifacts *artifacts)
{
	pthread_mutex_lock(&artifacts->lock);
	artifacts->ended++;
	pthread_cond_signal(&artifacts->written);
	pthread_mutex_unlock(&artifacts->lock);
	pthread_mutex_unlock(&artifacts->writing);
}

static bool write_next(struct artifacts *artifacts, const struct artifact_write *write,
		       const struct hash *hash, struct arena *arena,
		       struct run_artifact *out_artifact, struct error *error)
{
	struct run_artifact_list list;
	if (!artifact_list(artifacts, &write->run, arena, &list, error))
		return false;
	const struct run_artifact *before = artifact_of_effect(&list, &write->effect);
	if (before != NULL) {
		*out_artifact = *before;
		return true;
	}
	if (list.count >= LIMIT_RUN_ARTIFACTS)
		return fail(error, ERROR_TOO_LARGE,
			    "the run already has %d artifacts, which is the limit",
			    LIMIT_RUN_ARTIFACTS);
	struct run_artifact *artifact = run_artifact_new(arena);
	SET(artifact, name, str_copy(arena, write->name));
	SET(artifact, version, newest_version(&list, write->name) + 1);
	SET(artifact, sha256, *hash);
	SET(artifact, size, (int64_t)write->bytes.size);
	SET(artifact, media_type, str_copy(arena, write->media_type));
	SET(artifact, created_at, write->at);
	SET(artifact, effect, write->effect);
	FAILPOINT("artifact.before_content");
	if (!store_bytes(artifacts, artifact, write->bytes, error))
		return false;
	FAILPOINT("artifact.content_stored");
	if (!confined_append_line(artifacts->folder, run_path(&write->run, arena),
				  run_artifact_text(artifact, arena), error))
		return false;
	FAILPOINT("artifact.written");
	*out_artifact = *artifact;
	return true;
}

bool artifact_write(struct artifacts *artifacts, const struct artifact_write *write,
		    struct arena *arena, struct run_artifact *out_artifact, struct error *error)
{
	if (write->bytes.size > LIMIT_ARTIFACT_BYTES)
		return fail(error, ERROR_TOO_LARGE, "an artifact has at most %d bytes",
			    LIMIT_ARTIFACT_BYTES);
	struct hash hash = hash_of(write->bytes);
	write_begin(artifacts, &hash);
	bool good = write_next(artifacts, write, &hash, arena, out_artifact, error);
	write_end(artifacts);
	return good;
}

/* ---- the sweep ----------------------------------------------------------------------- */

static bool in(const struct map *map, const struct hash *hash)
{
	return map_get(map, (struct str){ (const char *)hash, sizeof(*hash) }) != NULL;
}

/* Removes the list if no run has it and nothing was added to it lately; then it is empty.  A write in
 * progress holds `writing`, so the list is looked at again under this lock. */
static bool drop_unused(struct artifacts *artifacts, const struct artifact_runs *runs,
			struct str name, const char *path, struct run_artifact_list *list,
			struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct run_artifact_list again;
	struct uuid run;
	bool exists;
	if (list->count == 0 || list->at[list->count - 1].created_at >= runs->before ||
	    !uuid_parse(name, &run))
		return true;
	if (!runs->exists(runs->context, &run, &exists, error))
		return false;
	if (exists)
		return true;
	pthread_mutex_lock(&artifacts->writing);
	bool good = list_path(artifacts, path, &arena, &again, error);
	if (good && again.count == list->count) {
		good = file_remove(str_format(&arena, "%s/%s", artifacts->folder, path).at, error);
		list->count = 0;
	}
	pthread_mutex_unlock(&artifacts->writing);
	return good;
}

/* Collects the hashes that lines refer to; they live in the arena. */
static bool collect_named(struct artifacts *artifacts, const struct artifact_runs *known,
			  struct arena *arena, struct map *named, struct error *error)
{
	struct str_list runs;
	const char *folder = str_format(arena, "%s/%s", artifacts->folder, runs_folder).at;
	if (!folder_list(folder, arena, &runs, error))
		return false;
	if (runs.count > LIMIT_ARTIFACT_RUNS_SWEPT)
		return fail(error, ERROR_TOO_LARGE,
			    "more than %d runs have artifacts, so unused contents are not removed",
			    LIMIT_ARTIFACT_RUNS_SWEPT);
	for (size_t i = 0; i < runs.count; i++) {
		AUTO(arena) scratch = { 0 };
		struct run_artifact_list list;
		const char *path =
			str_format(&scratch, "%s/" STR_FMT, runs_folder, STR_ARG(runs.at[i])).at;
		if (!list_path(artifacts, path, &scratch, &list, error) ||
		    !drop_unused(artifacts, known, runs.at[i], path, &list, error))
			return false;
		for (size_t k = 0; k < list.count; k++) {
			if (in(named, &list.at[k].sha256))
				continue;
			struct hash *hash = arena_new(arena, struct hash);
			*hash = list.at[k].sha256;
			map_put(named, (struct str){ (const char *)hash, sizeof(*hash) }, hash);
		}
	}
	return true;
}

/* Removes the file under the lock, so that no write can begin to rely on it meanwhile. */
static bool remove_unnamed(struct artifacts *artifacts, const struct hash *hash, const char *path,
			   bool *out_removed, struct error *error)
{
	pthread_mutex_lock(&artifacts->lock);
	*out_removed = !in(&artifacts->fresh, hash);
	bool good = !*out_removed || file_remove(path, error);
	pthread_mutex_unlock(&artifacts->lock);
	return good;
}

/* Parses the hash from the name of a content, or of the temporary file of a write. */
static bool hash_of_name(struct str name, struct hash *out_hash)
{
	if (str_starts(name, S(".")))
		name = str_skip(name, 1);
	return hash_parse(str_head(name, HASH_TEXT_SIZE - 1), out_hash);
}

static bool sweep_folder(struct artifacts *artifacts, struct str folder, const struct map *named,
			 int64_t *removed, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str_list files;
	const char *path = str_format(&arena, "%s/%s/" STR_FMT, artifacts->folder, content_folder,
				      STR_ARG(folder))
				   .at;
	if (!folder_list(path, &arena, &files, error))
		return false;
	for (size_t i = 0; i < files.count; i++) {
		struct str name = files.at[i];
		struct hash hash;
		bool gone, half = str_starts(name, S("."));
		if (!hash_of_name(name, &hash) || (!half && in(named, &hash)))
			continue;
		const char *file = str_format(&arena, "%s/" STR_FMT, path, STR_ARG(name)).at;
		if (!remove_unnamed(artifacts, &hash, file, &gone, error))
			return false;
		*removed += gone;
	}
	return true;
}

static bool sweep(struct artifacts *artifacts, const struct artifact_runs *runs, struct map *named,
		  int64_t *removed, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str_list folders;
	const char *path = str_format(&arena, "%s/%s", artifacts->folder, content_folder).at;
	if (!collect_named(artifacts, runs, &arena, named, error) ||
	    !folder_list(path, &arena, &folders, error))
		return false;
	for (size_t i = 0; i < folders.count; i++)
		if (!sweep_folder(artifacts, folders.at[i], named, removed, error))
			return false;
	return true;
}

bool artifacts_sweep(struct artifacts *artifacts, const struct artifact_runs *runs,
		     int64_t *out_removed, struct error *error)
{
	AUTO(map) named = { 0 };
	int64_t removed = 0;
	pthread_mutex_lock(&artifacts->lock);
	require(!artifacts->sweeping);
	artifacts->sweeping = true;
	for (uint64_t before = artifacts->begun; artifacts->ended < before;)
		pthread_cond_wait(&artifacts->written, &artifacts->lock);
	pthread_mutex_unlock(&artifacts->lock);
	bool good = sweep(artifacts, runs, &named, &removed, error);
	pthread_mutex_lock(&artifacts->lock);
	artifacts->sweeping = false;
	map_done(&artifacts->fresh);
	artifacts->fresh = (struct map){ 0 };
	arena_done(&artifacts->fresh_arena);
	artifacts->fresh_arena = (struct arena){ 0 };
	pthread_mutex_unlock(&artifacts->lock);
	*out_removed = removed;
	return good;
}
