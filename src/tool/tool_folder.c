/* tool/tool_folder.c -- list_dir and glob: the names of files in the run's workspace.
 *
 * Names come in order, so that the same files give the same output.  A name that is not UTF-8 gets
 * replacement characters: it can be seen, and only a shell command can open the file.
 */
#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "tool/file_search.h"
#include "tool/path_pattern.h"
#include "tool/tool_context.h"

enum { ENTRY_BYTES = 64 }; /* of an item of the output beside its name */

struct listing {
	struct file_search search; /* first */
	const char *path;
	struct run_dir_entry *entries; /* list_dir */
	struct str *paths;             /* glob */
	size_t count, most;
	struct path_patterns patterns;
};

static bool walk_open(struct listing *listing, const struct file_walk_settings *settings)
{
	struct file_search *search = &listing->search;
	return search->walk != NULL ||
	       file_walk_new(settings, &search->walk, &search->result.error);
}

static struct str path_text(struct file_search *search, const char *path)
{
	return tool_context_utf8(&search->arena, str_copy(&search->arena, str_from_c(path)));
}

/* True when there is no room for one more; then the output is truncated. */
static bool is_full(struct listing *listing, const char *path)
{
	if (listing->count == listing->most)
		listing->search.truncated = true;
	return listing->count == listing->most ||
	       !file_search_room(&listing->search, str_from_c(path).size + ENTRY_BYTES);
}

/* ---- list_dir ------------------------------------------------------------------------ */

static enum run_dir_entry_kind kind_word(enum confined_kind kind)
{
	switch (kind) {
	case CONFINED_FILE:
		return RUN_DIR_ENTRY_FILE;
	case CONFINED_FOLDER:
		return RUN_DIR_ENTRY_FOLDER;
	case CONFINED_LINK:
		return RUN_DIR_ENTRY_LINK;
	case CONFINED_OTHER:
		break;
	}
	return RUN_DIR_ENTRY_OTHER;
}

static bool list_step(struct file_search *search)
{
	struct listing *listing = (struct listing *)search;
	const struct run_list_dir_inputs *inputs = search->inputs;
	const struct file_walk_settings settings = { .root = search->root,
						     .path = listing->path,
						     .depth = (size_t)inputs->depth - 1,
						     .names_ignored = true };
	struct file_walk_entry entry;
	struct confined_info info;
	if (!walk_open(listing, &settings))
		return true;
	enum walk_event event = file_walk_next(search->walk, &entry);
	if (event != WALK_ENTRY)
		return event == WALK_END;
	if (is_full(listing, entry.inside))
		return true;
	struct run_dir_entry *item = &listing->entries[listing->count++];
	*item = *run_dir_entry_new(&search->arena);
	SET(item, path, path_text(search, entry.inside));
	SET(item, kind, kind_word(entry.kind));
	if (entry.kind == CONFINED_FILE && confined_examine(search->root, entry.path, &info)) {
		SET(item, size, (int64_t)info.size);
		if (info.executable)
			SET(item, executable, true);
	}
	return false;
}

static const struct json *list_output(struct file_search *search)
{
	struct listing *listing = (struct listing *)search;
	const struct run_list_dir_inputs *inputs = search->inputs;
	struct run_list_dir_outputs *outputs = run_list_dir_outputs_new(&search->arena);
	SET(outputs, path, inputs->path);
	SET(outputs, entries, ((struct run_dir_entry_list){ listing->entries, listing->count }));
	SET(outputs, truncated, search->truncated);
	return TOOL_OUTPUT(run_list_dir_outputs, outputs, &search->arena);
}

static bool list_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	struct listing *listing =
		file_search_new(sizeof(*listing), run_list_dir_inputs_type(), call, error);
	if (listing == NULL)
		return false;
	const struct run_list_dir_inputs *inputs = listing->search.inputs;
	struct arena *arena = &listing->search.arena;
	if (!tool_context_path(inputs->path, arena, &listing->path, error)) {
		file_search_free(&listing->search);
		return false;
	}
	listing->most = (size_t)inputs->max_entries;
	listing->entries = arena_array(arena, struct run_dir_entry, listing->most);
	listing->search.step = list_step;
	listing->search.output = list_output;
	file_search_start(&listing->search, host, call, out_running);
	return true;
}

/* ---- glob ---------------------------------------------------------------------------- */

static bool glob_step(struct file_search *search)
{
	struct listing *listing = (struct listing *)search;
	const struct run_glob_inputs *inputs = search->inputs;
	const struct file_walk_settings settings = { .root = search->root,
						     .path = listing->path,
						     .depth = LIMIT_FOLDER_DEPTH,
						     .enters_ignored = inputs->include_ignored };
	struct file_walk_entry entry;
	if (!walk_open(listing, &settings))
		return true;
	enum walk_event event = file_walk_next(search->walk, &entry);
	if (event != WALK_ENTRY)
		return event == WALK_END;
	if ((entry.kind == CONFINED_FOLDER) != inputs->folders ||
	    !path_patterns_match(&listing->patterns, str_from_c(entry.inside)))
		return false;
	if (is_full(listing, entry.path))
		return true;
	listing->paths[listing->count++] = path_text(search, entry.path);
	return false;
}

static const struct json *glob_output(struct file_search *search)
{
	const struct listing *listing = (const struct listing *)search;
	struct run_glob_outputs *outputs = run_glob_outputs_new(&search->arena);
	SET(outputs, paths, ((struct str_list){ listing->paths, listing->count }));
	SET(outputs, truncated, search->truncated);
	return TOOL_OUTPUT(run_glob_outputs, outputs, &search->arena);
}

static bool glob_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	struct listing *listing =
		file_search_new(sizeof(*listing), run_glob_inputs_type(), call, error);
	if (listing == NULL)
		return false;
	const struct run_glob_inputs *inputs = listing->search.inputs;
	struct arena *arena = &listing->search.arena;
	if (!tool_context_path(inputs->path, arena, &listing->path, error) ||
	    !path_patterns_add(&listing->patterns, inputs->pattern, arena, error)) {
		file_search_free(&listing->search);
		return false;
	}
	listing->most = (size_t)inputs->max_paths;
	listing->paths = arena_array(arena, struct str, listing->most);
	listing->search.step = glob_step;
	listing->search.output = glob_output;
	file_search_start(&listing->search, host, call, out_running);
	return true;
}

const struct tool tool_list_dir = {
	.name = "list_dir",
	.text = "Lists a folder of the run's workspace, with sizes. Use it to look around; glob finds "
		"files by their names.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_list_dir_inputs_type,
	.outputs = run_list_dir_outputs_type,
	.start = list_start,
	.stop = tool_context_stop,
};

const struct tool tool_glob = {
	.name = "glob",
	.text = "Finds files of the run's workspace by a pattern such as src/**/*.c. Use it when the "
		"name is known; grep finds files by what is in them.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_glob_inputs_type,
	.outputs = run_glob_outputs_type,
	.start = glob_start,
	.stop = tool_context_stop,
};
