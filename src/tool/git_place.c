/* tool/git_place.c -- finds the repository around a folder, as git does: the nearest .git above. */
#include "tool/git_place.h"

#include <string.h>

#include "base/limits.h"
#include "os/file.h"

enum { LINK_BYTES = 8192 };

static const char *below(struct arena *arena, const char *folder, const char *name)
{
	bool root = strcmp(folder, "/") == 0;
	return str_format(arena, "%s%s%s", folder, root ? "" : "/", name).at;
}

/* The path in a file such as .git ("gitdir: PATH") or commondir; relative ones begin at `from`. */
static bool read_link(const char *path, struct str label, const char *from, struct arena *arena,
		      const char **out_target, struct error *error)
{
	struct str text;
	if (!file_read(path, LINK_BYTES, arena, &text, error))
		return false;
	if (!str_starts(text, label))
		return fail(error, ERROR_INVALID, "%s does not name a git repository", path);
	text = str_trim(str_skip(text, label.size));
	*out_target = str_starts(text, S("/")) ? str_c(arena, text)
					       : below(arena, from, str_c(arena, text));
	return true;
}

static bool find_common(struct git_place *place, struct arena *arena, struct error *error)
{
	const char *file = below(arena, place->gitdir, "commondir");
	place->common = place->gitdir;
	return !file_exists(file) ||
	       read_link(file, S(""), place->gitdir, arena, &place->common, error);
}

static bool is_bare(const char *folder, struct arena *arena)
{
	return file_exists(below(arena, folder, "HEAD")) &&
	       folder_exists(below(arena, folder, "objects")) &&
	       folder_exists(below(arena, folder, "refs"));
}

bool git_place_find(struct str folder, struct arena *arena, struct git_place *out_place,
		    struct error *error)
{
	struct git_place place = { .folder = str_c(arena, folder) };
	struct str top = folder;
	while (top.size > 1 && top.at[top.size - 1] == '/')
		top.size--;
	for (;;) {
		place.top = str_c(arena, top.size == 0 ? S("/") : top);
		place.gitdir = below(arena, place.top, ".git");
		if (folder_exists(place.gitdir) || file_exists(place.gitdir))
			break;
		if (is_bare(place.top, arena))
			return fail(
				error, ERROR_INVALID,
				"%s is a bare repository, which has no files to work on; name a "
				"clone of it in the profile (repo_root)",
				place.top);
		if (top.size <= 1)
			return fail(error, ERROR_NOT_FOUND,
				    "%s is not in a git repository; run git init, or name one in "
				    "the profile (repo_root)",
				    place.folder);
		while (top.size > 0 && top.at[top.size - 1] != '/')
			top.size--;
		while (top.size > 1 && top.at[top.size - 1] == '/')
			top.size--;
	}
	if (!folder_exists(place.gitdir) &&
	    !read_link(place.gitdir, S("gitdir:"), place.top, arena, &place.gitdir, error))
		return false;
	if (!find_common(&place, arena, error))
		return false;
	if (!folder_exists(place.common))
		return fail(error, ERROR_NOT_FOUND,
			    "the repository of %s is gone: there is no folder %s", place.folder,
			    place.common);
	*out_place = place;
	return true;
}
