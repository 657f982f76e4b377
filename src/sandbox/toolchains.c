/* sandbox/toolchains.c -- which folders outside /usr may be mounted, and what in them must be covered. */
#include "sandbox/toolchains.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/limits.h"
#include "os/machine.h"

static const struct {
	const char *place, *programs, *variable;
} rows[] = {
#define TOOLCHAIN(place, programs, variable) { place, programs, variable },
#include "sandbox/toolchains.def"
#undef TOOLCHAIN
};

static const char *const credentials[] = {
#define CREDENTIAL(path) path,
#include "sandbox/credentials.def"
#undef CREDENTIAL
};

/* ---- paths ---------------------------------------------------------------------------- */

/* Is the path the folder itself, or in it?  Both are absolute and without a slash at the end. */
static bool is_in(const char *path, const char *folder)
{
	size_t size = strlen(folder);
	return strncmp(path, folder, size) == 0 &&
	       (path[size] == '\0' || path[size] == '/' || size == 1);
}

/* NULL when it does not exist. */
static const char *real_path(const char *path, struct arena *arena)
{
	char *real = realpath(path, NULL);
	const char *copy = real == NULL ? NULL : str_c(arena, str_from_c(real));
	free(real);
	return copy;
}

static const char *expanded(const char *path, const char *home, struct arena *arena)
{
	if (path[0] != '~' || path[1] != '/')
		return path;
	return home == NULL ? NULL : str_format(arena, "%s/%s", home, path + 2).at;
}

static bool is_folder(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* ---- what may be mounted ---------------------------------------------------------------- */

/* Why the folder may not be mounted; NULL = it may. */
static const char *objection(const struct toolchains *toolchains, const char *real,
			     struct arena *arena)
{
	static const char *const system[] = { "/etc", "/proc", "/sys",     "/dev",
					      "/run", "/boot", "/var/run", "/var/lib/docker" };
	const char *home = toolchains->home, *data = toolchains->data_folder;
	for (size_t i = 0; i < COUNT(system); i++)
		if (is_in(real, system[i]) || is_in(system[i], real))
			return str_format(arena, "it contains, or is in, %s", system[i]).at;
	if (is_in("/home", real) || is_in("/root", real) || (home != NULL && is_in(home, real)))
		return "it contains home folders, where credentials are; name the folders of the "
		       "toolchains";
	if (is_in(real, "/home") && strchr(real + strlen("/home/"), '/') == NULL)
		return "it is a home folder, where credentials are; name the folders of the "
		       "toolchains";
	if (data != NULL && is_in(real, data))
		return "it is in the data folder";
	for (size_t i = 0; i < COUNT(credentials) && home != NULL; i++) {
		const char *place =
			real_path(str_format(arena, "%s/%s", home, credentials[i]).at, arena);
		if (place != NULL && is_in(real, place))
			return str_format(arena, "~/%s holds credentials", credentials[i]).at;
	}
	return NULL;
}

/* Places that the sandbox uses itself. */
static bool is_taken(const char *path)
{
	static const char *const places[] = { "/usr",   "/bin",    "/sbin",      "/lib", "/lib32",
					      "/lib64", "/libx32", "/workspace", "/tmp", "/tool",
					      "/trees", "/parent", "/cache" };
	for (size_t i = 0; i < COUNT(places); i++)
		if (is_in(path, places[i]))
			return true;
	return false;
}

static bool mount_check(const struct toolchains *toolchains, const char *path, const char *real,
			struct arena *arena, struct error *error)
{
	const char *why = path[0] != '/'     ? "it is no absolute path"
			  : is_taken(path)   ? "the sandbox has a place of its own there"
			  : !is_folder(real) ? "it is no folder"
					     : objection(toolchains, real, arena);
	if (why == NULL)
		return true;
	return fail(error, ERROR_INVALID, "sandbox.mounts: %s cannot be mounted: %s", path, why);
}

/* ---- PATH and variables ------------------------------------------------------------------- */

static int newest_first(const void *one, const void *other)
{
	return -strverscmp(((const struct str *)one)->at, ((const struct str *)other)->at);
}

/* Appends the folders that the pattern names: a `*` is every folder, `+` the newest. */
static void path_add(struct buf *path, const char *folder, struct str pattern, struct arena *arena)
{
	struct str word;
	if (!str_cut(&pattern, '/', &word) || word.size == 0) {
		if (is_folder(folder))
			buf_add_format(path, "%s:", folder);
		return;
	}
	bool every = str_equal(word, S("*"));
	if (str_equal(word, S("."))) {
		path_add(path, folder, pattern, arena);
		return;
	}
	if (!every && !str_equal(word, S("+"))) {
		path_add(path, str_format(arena, "%s/" STR_FMT, folder, STR_ARG(word)).at, pattern,
			 arena);
		return;
	}
	struct str_list names = machine_names(folder, LIMIT_TOOLCHAIN_VERSIONS, arena);
	struct str *sorted = arena_array(arena, struct str, names.count + 1);
	for (size_t i = 0; i < names.count; i++)
		sorted[i] = str_from_c(str_c(arena, names.at[i]));
	qsort(sorted, names.count, sizeof(*sorted), newest_first);
	for (size_t i = 0; i < names.count && (every || i == 0); i++)
		path_add(path, str_format(arena, "%s/%s", folder, sorted[i].at).at, pattern, arena);
}

static void programs_add(struct toolchains *toolchains, const char *given, const char *path,
			 struct buf *out, struct arena *arena)
{
	struct str programs = S("bin"), pattern;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *place = expanded(rows[i].place, toolchains->home, arena);
		if (strcmp(given, rows[i].place) != 0 &&
		    (place == NULL || strcmp(path, place) != 0))
			continue;
		programs = str_from_c(rows[i].programs);
		if (rows[i].variable[0] != '\0')
			toolchains->variables[toolchains->variable_count++] =
				(struct sandbox_variable){ str_from_c(rows[i].variable),
							   str_from_c(path) };
		break;
	}
	if (str_ends(str_from_c(path), S("/bin")))
		programs = S(".");
	while (programs.size > 0 && str_cut(&programs, ':', &pattern))
		path_add(out, path, pattern, arena);
}

bool toolchains_open(struct toolchains *toolchains, struct str_list wanted, const char *home,
		     const char *data_folder, struct arena *arena, struct error *error)
{
	AUTO(buf) path = { 0 };
	AUTO(buf) missing = { 0 };
	*toolchains = (struct toolchains){
		.mounts = arena_array(arena, struct sandbox_mount, wanted.count + 1),
		.variables = arena_array(arena, struct sandbox_variable, wanted.count + 1),
		.home = home == NULL ? NULL : real_path(home, arena),
		.data_folder = data_folder == NULL ? NULL : real_path(data_folder, arena),
	};
	if (wanted.count > LIMIT_SANDBOX_MOUNTS)
		return fail(error, ERROR_INVALID, "sandbox.mounts has more than %d folders",
			    LIMIT_SANDBOX_MOUNTS);
	for (size_t i = 0; i < wanted.count; i++) {
		const char *given = str_c(arena, wanted.at[i]);
		const char *inside = expanded(given, home, arena);
		const char *real = inside == NULL ? NULL : real_path(inside, arena);
		if (real == NULL) {
			buf_add_format(&missing, "%s%s", missing.size > 0 ? ", " : "", given);
			continue;
		}
		if (!mount_check(toolchains, inside, real, arena, error))
			return false;
		toolchains->mounts[toolchains->mount_count++] =
			(struct sandbox_mount){ .host = real, .inside = inside };
		programs_add(toolchains, given, inside, &path, arena);
	}
	buf_add(&path, S("/usr/local/bin:/usr/bin:/bin"));
	toolchains->path = str_c(arena, buf_str(&path));
	if (missing.size > 0)
		toolchains->missing = str_c(arena, buf_str(&missing));
	return true;
}

/* ---- covers --------------------------------------------------------------------------------- */

struct covers {
	struct toolchain_cover *at;
	size_t count;
	struct arena *arena;
};

/* `path` is on the host and in the mount; does it exist, and is it not covered yet? */
static void cover_add(struct covers *covers, const struct sandbox_mount *mount, const char *path)
{
	struct stat info;
	const char *inside =
		str_format(covers->arena, "%s%s", mount->inside, path + strlen(mount->host)).at;
	/* A symbolic link leads to its place, which is covered if it is visible. */
	if (lstat(path, &info) != 0 || S_ISLNK(info.st_mode) ||
	    covers->count == LIMIT_SANDBOX_COVERS)
		return;
	for (size_t i = 0; i < covers->count; i++)
		if (is_in(inside, covers->at[i].inside))
			return;
	covers->at[covers->count++] = (struct toolchain_cover){ inside, S_ISDIR(info.st_mode) };
}

/* The mounted folder may be any part of a home folder, of anybody's: if it ends like the beginning of
 * the credential's path, the rest of the path is in it. */
static void cover_by_name(struct covers *covers, const struct sandbox_mount *mount,
			  const char *credential)
{
	cover_add(covers, mount, str_format(covers->arena, "%s/%s", mount->host, credential).at);
	for (const char *slash = strchr(credential, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		struct str begin = { credential, (size_t)(slash - credential) };
		struct str end = str_format(covers->arena, "/" STR_FMT, STR_ARG(begin));
		if (str_ends(str_from_c(mount->host), end))
			cover_add(covers, mount,
				  str_format(covers->arena, "%s%s", mount->host, slash).at);
	}
}

static void cover_by_place(struct covers *covers, const struct toolchains *toolchains,
			   const char *path)
{
	const char *real = real_path(path, covers->arena);
	for (size_t i = 0; i < toolchains->mount_count && real != NULL; i++)
		if (is_in(real, toolchains->mounts[i].host))
			cover_add(covers, &toolchains->mounts[i], real);
}

size_t toolchains_covers(const struct toolchains *toolchains, struct arena *arena,
			 struct toolchain_cover **out_covers)
{
	struct covers covers = { .arena = arena };
	covers.at = arena_array(arena, struct toolchain_cover, LIMIT_SANDBOX_COVERS);
	for (size_t i = 0; i < COUNT(credentials); i++) {
		for (size_t j = 0; j < toolchains->mount_count; j++)
			cover_by_name(&covers, &toolchains->mounts[j], credentials[i]);
		if (toolchains->home != NULL)
			cover_by_place(
				&covers, toolchains,
				str_format(arena, "%s/%s", toolchains->home, credentials[i]).at);
	}
	if (toolchains->data_folder != NULL)
		cover_by_place(&covers, toolchains, toolchains->data_folder);
	*out_covers = covers.at;
	return covers.count;
}

/* ---- proposals ------------------------------------------------------------------------------ */

struct str_list toolchains_propose(const struct toolchains *toolchains, const char *home,
				   struct arena *arena)
{
	struct str *found = arena_array(arena, struct str, COUNT(rows));
	size_t count = 0;
	struct error ignored;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *place = expanded(rows[i].place, home, arena);
		const char *real = place == NULL ? NULL : real_path(place, arena);
		if (real == NULL || machine_names(real, 1, arena).count == 0 ||
		    !mount_check(toolchains, place, real, arena, &ignored))
			continue;
		bool mounted = false;
		for (size_t j = 0; j < toolchains->mount_count; j++)
			mounted |= is_in(real, toolchains->mounts[j].host);
		if (!mounted)
			found[count++] = str_from_c(rows[i].place);
	}
	return (struct str_list){ found, count };
}
