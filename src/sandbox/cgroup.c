/* sandbox/cgroup.c -- one cgroup for each sandboxed command.
 *
 * A process joins its group before it becomes bubblewrap (sandbox_native.c), so that no descendant
 * escapes.  Swap is not allowed to the group where the kernel accounts for it.
 */
#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/limits.h"
#include "os/file.h"

static const char *const controller_names[CGROUP_CONTROLLERS] = { "pids", "memory" };

/* ---- files ----------------------------------------------------------------------------- */

/* The kernel's files must be written in one write() and without creating anything. */
static bool text_write(const char *path, struct str text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	bool written = write(file, text.at, text.size) == (ssize_t)text.size;
	int number = errno;
	close(file);
	errno = number;
	return written;
}

static bool limit_write(struct arena *arena, const char *folder, const char *name, int64_t value)
{
	return text_write(str_format(arena, "%s/%s", folder, name).at,
			  str_format(arena, "%lld", (long long)value));
}

/* The number behind `key` in a file with lines of "key number"; 0 when there is none. */
static int64_t event_count(struct arena *arena, const char *folder, const char *name,
			   struct str key)
{
	struct str text, line, word;
	struct error error;
	int64_t count;
	if (!file_read(str_format(arena, "%s/%s", folder, name).at, LIMIT_CGROUP_FILE_BYTES, arena,
		       &text, &error))
		return 0;
	while (str_cut(&text, '\n', &line))
		if (str_cut(&line, ' ', &word) && str_equal(word, key) &&
		    str_to_int(str_trim(line), &count))
			return count;
	return 0;
}

static bool list_contains(struct str list, char separator, struct str item)
{
	struct str word;
	while (str_cut(&list, separator, &word))
		if (str_equal(word, item))
			return true;
	return false;
}

/* ---- finding the own cgroup --------------------------------------------------------------- */

/* A line of mountinfo: ID PARENT DEVICE ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS */
struct mount {
	struct str root, point, type, options;
};

static bool mount_read(struct str line, struct mount *out_mount)
{
	struct str word, head[6];
	for (size_t i = 0; i < COUNT(head); i++)
		if (!str_cut(&line, ' ', &head[i]))
			return false;
	while (str_cut(&line, ' ', &word) && !str_equal(word, S("-")))
		;
	struct str type, source;
	if (!str_cut(&line, ' ', &type) || !str_cut(&line, ' ', &source))
		return false;
	*out_mount = (struct mount){ head[3], head[4], type, line };
	return true;
}

/* The path of this process in a hierarchy: "ID:CONTROLLERS:PATH"; version 2 has no controllers. */
static bool membership_find(struct str membership, struct str controller, struct str *out_path)
{
	struct str line, id, controllers;
	while (str_cut(&membership, '\n', &line)) {
		if (!str_cut(&line, ':', &id) || !str_cut(&line, ':', &controllers))
			continue;
		if (controller.size == 0 ? str_equal(id, S("0")) && controllers.size == 0
					 : list_contains(controllers, ',', controller)) {
			*out_path = line;
			return true;
		}
	}
	return false;
}

/* The folder of the path in the mount, or NULL when the mount does not show it. */
static const char *mounted_folder(const struct mount *mount, struct str path, struct arena *arena)
{
	size_t at;
	if (str_find(path, S(".."), &at))
		return NULL;
	struct str root = str_equal(mount->root, S("/")) ? S("") : mount->root;
	if (!str_starts(path, root))
		return NULL;
	path = str_skip(path, root.size);
	if (path.size > 0 && path.at[0] != '/')
		return NULL;
	if (str_equal(path, S("/")))
		path = S("");
	return str_format(arena, STR_FMT STR_FMT, STR_ARG(mount->point), STR_ARG(path)).at;
}

static const char *folder_find(struct str mountinfo, struct str membership, const char *type,
			       struct str controller, struct arena *arena)
{
	struct str line, path;
	struct mount mount;
	if (!membership_find(membership, controller, &path))
		return NULL;
	while (str_cut(&mountinfo, '\n', &line)) {
		if (!mount_read(line, &mount) || !str_equal(mount.type, str_from_c(type)) ||
		    (controller.size > 0 && !list_contains(mount.options, ',', controller)))
			continue;
		const char *folder = mounted_folder(&mount, path, arena);
		if (folder != NULL)
			return folder;
	}
	return NULL;
}

/* systemd owns every group that it has not marked as delegated. */
static bool is_delegated(const char *folder)
{
	static const char *const marks[] = { "user.delegate", "trusted.delegate" };
	char value[4];
	for (size_t i = 0; i < COUNT(marks); i++)
		if (getxattr(folder, marks[i], value, sizeof(value)) >= 1 && value[0] == '1')
			return true;
	return false;
}

static bool find_version_2(struct str mountinfo, struct str membership, bool systemd,
			   struct arena *arena, struct cgroup_tree *tree)
{
	struct str controllers;
	struct error error;
	const char *folder = folder_find(mountinfo, membership, "cgroup2", S(""), arena);
	if (folder == NULL || !file_read(str_format(arena, "%s/cgroup.controllers", folder).at,
					 LIMIT_CGROUP_FILE_BYTES, arena, &controllers, &error))
		return false;
	controllers = str_trim(controllers);
	if (!list_contains(controllers, ' ', S("pids")) ||
	    !list_contains(controllers, ' ', S("memory")))
		return false;
	if (access(folder, W_OK) != 0 ||
	    access(str_format(arena, "%s/cgroup.subtree_control", folder).at, W_OK) != 0)
		tree->why = str_format(arena, "%s is not writable", folder).at;
	else if (systemd && !is_delegated(folder))
		tree->why = str_format(arena, "systemd has not delegated %s", folder).at;
	else
		*tree = (struct cgroup_tree){ .version = 2, .folders = { folder, folder } };
	return true;
}

void cgroup_tree_find(struct str mountinfo, struct str membership, bool systemd,
		      struct arena *arena, struct cgroup_tree *out_tree)
{
	*out_tree =
		(struct cgroup_tree){ .why = "this machine has no cgroups for pids and memory" };
	if (find_version_2(mountinfo, membership, systemd, arena, out_tree))
		return;
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		const char *folder = folder_find(mountinfo, membership, "cgroup",
						 str_from_c(controller_names[i]), arena);
		if (folder == NULL)
			continue;
		if (access(folder, W_OK) != 0) {
			out_tree->why = str_format(arena, "%s is not writable", folder).at;
			continue;
		}
		out_tree->folders[i] = folder;
		out_tree->version = 1;
	}
}

void cgroup_tree_find_own(struct arena *arena, struct cgroup_tree *out_tree)
{
	struct str mountinfo, membership;
	struct error error;
	if (file_read("/proc/self/mountinfo", LIMIT_MOUNTINFO_BYTES, arena, &mountinfo, &error) &&
	    file_read("/proc/self/cgroup", LIMIT_CGROUP_FILE_BYTES, arena, &membership, &error))
		cgroup_tree_find(mountinfo, membership, file_exists("/run/systemd/system"), arena,
				 out_tree);
	else
		*out_tree = (struct cgroup_tree){ .why = "/proc is not readable" };
}

/* ---- the tree ------------------------------------------------------------------------------- */

void cgroup_tree_open(struct cgroup_tree *tree, struct arena *arena)
{
	if (tree->version != 2)
		return;
	const char *folder = tree->folders[CGROUP_PIDS];
	const char *control = str_format(arena, "%s/cgroup.subtree_control", folder).at;
	struct str enable = S("+pids +memory");
	if (text_write(control, enable))
		return; /* the root of a hierarchy, or no process is in the group */
	const char *leaf = str_format(arena, "%s/baton-server", folder).at;
	if ((mkdir(leaf, 0755) == 0 || errno == EEXIST) &&
	    text_write(str_format(arena, "%s/cgroup.procs", leaf).at, S("0"))) {
		if (text_write(control, enable))
			return;
		(void)!text_write(str_format(arena, "%s/cgroup.procs", folder).at, S("0"));
		rmdir(leaf);
	}
	*tree = (struct cgroup_tree){
		.why = str_format(arena, "other processes live in %s", folder).at
	};
}

/* True for the name baton-PID-NUMBER of a process that does not exist. */
static bool is_abandoned(struct str name)
{
	struct str word, number;
	int64_t pid;
	return str_cut(&name, '-', &word) && str_equal(word, S("baton")) &&
	       str_cut(&name, '-', &number) && str_to_int(number, &pid) && pid > 0 &&
	       pid <= INT32_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void cgroup_sweep(const struct cgroup_tree *tree)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		struct str_list names;
		struct error error;
		if (tree->folders[i] == NULL ||
		    !folder_list(tree->folders[i], &arena, &names, &error))
			continue;
		for (size_t j = 0; j < names.count; j++)
			if (is_abandoned(names.at[j]))
				rmdir(str_format(&arena, "%s/" STR_FMT, tree->folders[i],
						 STR_ARG(names.at[j]))
					      .at);
	}
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool limits_write(struct cgroup *group, const struct cgroup_limits *limits)
{
	struct arena *arena = &group->arena;
	const char *pids = group->folders[CGROUP_PIDS], *memory = group->folders[CGROUP_MEMORY];
	if (pids != NULL && !limit_write(arena, pids, "pids.max", limits->processes))
		return false;
	if (memory == NULL)
		return true;
	if (group->version == 2) {
		/* The optional ones: no swap; the whole command dies, not one of its processes. */
		(void)!limit_write(arena, memory, "memory.swap.max", 0);
		(void)!limit_write(arena, memory, "memory.oom.group", 1);
		return limit_write(arena, memory, "memory.max", limits->memory_bytes);
	}
	if (!limit_write(arena, memory, "memory.limit_in_bytes", limits->memory_bytes))
		return false;
	(void)!limit_write(arena, memory, "memory.memsw.limit_in_bytes", limits->memory_bytes);
	return true;
}

bool cgroup_new(const struct cgroup_tree *tree, const struct cgroup_limits *limits,
		struct cgroup *out_group, struct error *error)
{
	static atomic_uint_fast64_t last;
	struct cgroup group = { .version = tree->version };
	const char *name =
		str_format(&group.arena, "baton-%d-%llu", (int)getpid(), (unsigned long long)++last)
			.at;
	bool good = true;
	for (size_t i = 0; i < CGROUP_CONTROLLERS && good; i++) {
		if (tree->folders[i] == NULL)
			continue;
		const char *folder = str_format(&group.arena, "%s/%s", tree->folders[i], name).at;
		/* Version 2 has both controllers in one folder. */
		good = mkdir(folder, 0755) == 0 || (errno == EEXIST && tree->version == 2 && i > 0);
		if (good)
			group.folders[i] = folder;
	}
	if (good && limits_write(&group, limits)) {
		*out_group = group;
		return true;
	}
	fail(error, ERROR_ISOLATION, "cannot set the limits of the cgroup %s: %s", name,
	     strerror(errno));
	cgroup_free(&group);
	return false;
}

struct cgroup_events cgroup_events(const struct cgroup *group)
{
	AUTO(arena) arena = { 0 };
	const char *pids = group->folders[CGROUP_PIDS], *memory = group->folders[CGROUP_MEMORY];
	struct cgroup_events events = { 0 };
	if (pids != NULL)
		events.refused_processes = event_count(&arena, pids, "pids.events", S("max"));
	if (memory != NULL)
		events.killed_for_memory =
			event_count(&arena, memory,
				    group->version == 2 ? "memory.events" : "memory.oom_control",
				    S("oom_kill"));
	return events;
}

const char *cgroup_entrance(const struct cgroup *group, enum cgroup_controller controller,
			    struct arena *arena)
{
	const char *folder = group->folders[controller];
	return folder == NULL ? NULL : str_format(arena, "%s/cgroup.procs", folder).at;
}

void cgroup_free(struct cgroup *group)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (group->folders[i] != NULL)
			rmdir(group->folders[i]);
	arena_done(&group->arena);
	*group = (struct cgroup){ 0 };
}
