/* tool/file_walk.c -- a stack of folders, each with its names and the rules of its .gitignore. */
#include "tool/file_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "os/confined_path.h"
#include "tool/ignore_rules.h"

enum { NAMES_AT_ONCE = 2000, PATH_BYTES = 4096 };

struct walk_level {
	struct arena arena;
	struct confined_folder *folder;
	bool ready;       /* all names are read */
	size_t next;      /* name */
	size_t path_size; /* of the folder's path, with its slash */
	const struct ignore_rules *rules;
};

struct file_walk {
	struct file_walk_settings settings;
	struct arena arena;
	struct walk_level levels[LIMIT_FOLDER_DEPTH + 1];
	size_t depth;
	struct buf path;
	size_t begin; /* size of the first folder's path, with its slash */
	size_t names; /* that the levels hold */
	uint64_t visited;
	bool partial;
};

/* Reads the .gitignore of the folder whose path is in walk->path. */
static const struct ignore_rules *read_rules(const struct file_walk *walk, struct str folder,
					     const struct ignore_rules *around, struct arena *arena)
{
	struct error error;
	struct str text;
	uint64_t size;
	const char *path = str_format(arena, STR_FMT ".gitignore", STR_ARG(folder)).at;
	struct confined_info info;
	if (walk->settings.enters_ignored || !confined_examine(walk->settings.root, path, &info) ||
	    info.kind != CONFINED_FILE ||
	    !confined_read(walk->settings.root, path, 0, LIMIT_IGNORE_BYTES, arena, &text, &size,
			   &error))
		return around;
	return ignore_rules_read(around, folder, text, arena);
}

static bool enter(struct file_walk *walk, const struct ignore_rules *around, struct error *error)
{
	struct walk_level *level = &walk->levels[walk->depth];
	AUTO(arena) scratch = { 0 };
	size_t free_names = walk->names < LIMIT_WALK_NAMES ? LIMIT_WALK_NAMES - walk->names : 0;
	struct str path = buf_str(&walk->path);
	struct confined_folder *folder;
	if (!confined_folder_open(walk->settings.root, str_c(&scratch, path), free_names, &folder,
				  error))
		return false;
	*level = (struct walk_level){ .folder = folder, .path_size = path.size };
	level->rules = read_rules(walk, path, around, &level->arena);
	walk->depth++;
	return true;
}

static void leave(struct file_walk *walk)
{
	struct walk_level *level = &walk->levels[--walk->depth];
	if (level->ready)
		walk->names -= level->folder->count;
	confined_folder_close(level->folder);
	arena_done(&level->arena);
}

/* The path with one slash after each name, and none before the first. */
static bool take_path(struct file_walk *walk, const char *path, struct error *error)
{
	struct str rest = str_from_c(path), name;
	if (path[0] == '/')
		return fail(error, ERROR_FORBIDDEN,
			    "cannot list %s: the path must be relative to the workspace", path);
	while (str_cut(&rest, '/', &name))
		if (name.size > 0 && !str_equal(name, S("."))) {
			buf_add(&walk->path, name);
			buf_add_char(&walk->path, '/');
		}
	walk->begin = walk->path.size;
	return true;
}

bool file_walk_new(const struct file_walk_settings *settings, struct file_walk **out_walk,
		   struct error *error)
{
	struct file_walk *walk = calloc(1, sizeof(*walk));
	require(walk != NULL);
	walk->settings = *settings;
	require(settings->depth <= LIMIT_FOLDER_DEPTH);
	const struct ignore_rules *rules = NULL;
	bool good = take_path(walk, settings->path, error);
	/* The rules of the folders around the first one hold in it, too. */
	for (size_t i = 0; good && i < walk->begin; i++)
		if (i == 0 || walk->path.at[i - 1] == '/')
			rules = read_rules(walk, str_head(buf_str(&walk->path), i), rules,
					   &walk->arena);
	if (!good || !enter(walk, rules, error)) {
		file_walk_free(walk);
		return false;
	}
	*out_walk = walk;
	return true;
}

/* Whether the entry whose path is in walk->path is named and entered. */
static void judge(const struct file_walk *walk, const struct walk_level *level,
		  const struct confined_entry *name, bool *out_named, bool *out_entered)
{
	bool folder = name->kind == CONFINED_FOLDER, git = strcmp(name->name, ".git") == 0;
	bool ignored = ignore_rules_match(level->rules, buf_str(&walk->path), folder);
	*out_named = walk->settings.names_ignored || (!git && !ignored);
	*out_entered = folder && !git && !ignored;
}

/* A folder that has gone or may not be read has no names. */
static void enter_entry(struct file_walk *walk, const struct walk_level *level)
{
	struct error error;
	if (walk->depth > walk->settings.depth) {
		walk->partial |= walk->settings.depth == LIMIT_FOLDER_DEPTH;
		return;
	}
	buf_add_char(&walk->path, '/');
	walk->partial |= !enter(walk, level->rules, &error) && error.code == ERROR_IO;
	walk->path.size--;
}

static enum walk_event entry_next(struct file_walk *walk, struct walk_level *level,
				  struct file_walk_entry *out_entry)
{
	const struct confined_entry *name = &level->folder->at[level->next++];
	bool named, entered;
	walk->path.size = level->path_size;
	if (level->path_size > 0)
		walk->path.at[level->path_size - 1] = '/'; /* it was the end of the last entry */
	buf_add(&walk->path, str_from_c(name->name));
	if (walk->path.size + 1 >= PATH_BYTES) {
		walk->partial = true;
		return WALK_PAUSE;
	}
	judge(walk, level, name, &named, &entered);
	if (entered)
		enter_entry(walk, level);
	buf_add_char(&walk->path, '\0');
	walk->path.size--;
	*out_entry =
		(struct file_walk_entry){ walk->path.at, walk->path.at + walk->begin, name->kind };
	return named ? WALK_ENTRY : WALK_PAUSE;
}

enum walk_event file_walk_next(struct file_walk *walk, struct file_walk_entry *out_entry)
{
	if (walk->depth == 0)
		return WALK_END;
	struct walk_level *level = &walk->levels[walk->depth - 1];
	if (!level->ready) {
		level->ready = confined_folder_step(level->folder, NAMES_AT_ONCE);
		if (level->ready) {
			walk->names += level->folder->count;
			walk->partial |= level->folder->dropped > 0;
		}
		return WALK_PAUSE;
	}
	if (level->next == level->folder->count) {
		leave(walk);
		return WALK_PAUSE;
	}
	if (walk->visited == LIMIT_WALK_ENTRIES) {
		walk->partial = true;
		while (walk->depth > 0)
			leave(walk);
		return WALK_END;
	}
	walk->visited++;
	return entry_next(walk, level, out_entry);
}

bool file_walk_partial(const struct file_walk *walk)
{
	return walk->partial;
}

void file_walk_free(struct file_walk *walk)
{
	if (walk == NULL)
		return;
	while (walk->depth > 0)
		leave(walk);
	buf_done(&walk->path);
	arena_done(&walk->arena);
	free(walk);
}
