/* sandbox/sandbox_native.c -- the default sandbox: one writable folder in a read-only file system.
 *
 * The host's root is not bound, because it contains the data folder and the files of other users.
 * Only what programs need to start is bound: /usr with the links into it, and the files of /etc
 * with users, the linker's cache and certificates.  All namespaces are unshared, including the
 * network.  The limits of the command are those of sandbox_limits.h; the walls behind the mounts are
 * those of sandbox_layers.h.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/argv.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_layers.h"
#include "sandbox/sandbox_limits.h"
#include "sandbox/toolchains.h"

enum { PROXY_PORT = 3128 }; /* in the network of the sandbox */

/* On a merged-usr system these are links into /usr, otherwise real folders. */
static void add_root_folder(struct argv *arguments, struct arena *arena, const char *path)
{
	struct stat info;
	if (lstat(path, &info) != 0)
		return;
	if (!S_ISLNK(info.st_mode)) {
		ARGUMENTS_ADD(arguments, "--ro-bind", path, path);
		return;
	}
	char target[256];
	ssize_t size = readlink(path, target, sizeof(target));
	if (size > 0 && (size_t)size < sizeof(target))
		ARGUMENTS_ADD(arguments, "--symlink",
			      str_c(arena, (struct str){ target, (size_t)size }), path);
}

/* A command joins its cgroup before it becomes bubblewrap, so that every process of it is inside. */
static void add_cgroup(struct argv *arguments, struct arena *arena, const struct cgroup *group)
{
	const char *pids = cgroup_entrance(group, CGROUP_PIDS, arena);
	const char *memory = cgroup_entrance(group, CGROUP_MEMORY, arena);
	ARGUMENTS_ADD(arguments, "/bin/sh", "-c",
		      "echo 0 >\"$1\" && echo 0 >\"$2\" || exit 1; shift 2; exec \"$@\"", "sh",
		      pids != NULL ? pids : memory, memory != NULL ? memory : pids);
}

/* Where add_user() binds the sources; none of them may be below it. */
static const char *user_folder(const struct sandbox_spec *spec)
{
	static const char *const folders[] = { "/tmp", "/mnt", "/opt", "/srv" };
	for (size_t i = 0; i < COUNT(folders); i++) {
		struct str folder = str_from_c(folders[i]);
		bool covers = str_starts(str_from_c(spec->workspace), folder);
		for (size_t j = 0; j < spec->mount_count; j++)
			covers |= str_starts(str_from_c(spec->mounts[j].host), folder);
		if (!covers && access(folders[i], F_OK) == 0)
			return folders[i];
	}
	return "/media";
}

/* Root becomes an unprivileged user before the sandbox is built.  That user cannot enter the data
 * folder, so what the sandbox binds is first bound to a tmpfs in a mount namespace.  The files of
 * the workspace, and of the other `owned` folders, get the user as their owner;
 * a file that another step removes meanwhile needs none. */
static const char user_script[] =
	"uid=$0 folder=$1 count=$2 owned=$3 n=0; shift 3; "
	"mount -t tmpfs -o mode=755,size=1m baton \"$folder\" || exit 1; "
	"while [ $n -lt $count ]; do "
	"if [ -d \"$1\" ]; then mkdir \"$folder/$n\"; else : >\"$folder/$n\"; fi && "
	"mount --bind \"$1\" \"$folder/$n\" || exit 1; "
	"[ $n -ge $owned ] || "
	"find -P \"$folder/$n\" -xdev ! -uid \"$uid\" -exec chown -h \"$uid:$uid\" {} + 2>/dev/null; "
	"n=$((n + 1)); shift; done; "
	"exec setpriv --reuid \"$uid\" --regid \"$uid\" --clear-groups \"$@\"";

/* 0 = the user of the server. */
static int64_t user_of(const struct sandbox_spec *spec)
{
	if (spec->user != 0)
		return spec->user;
	return spec->limits != NULL && spec->limits->enforcement == SANDBOX_UID ? spec->limits->uid
										: 0;
}

/* How many of the workspace and the mounts become the user's. */
static size_t owned_of(const struct sandbox_spec *spec)
{
	switch (spec->owning) {
	case SANDBOX_OWN_WORKSPACE:
		return 1;
	case SANDBOX_OWN_NOTHING:
		return 0;
	case SANDBOX_OWN_AS_USUAL:
		break;
	}
	return spec->user > 0 ? spec->mount_count + 1 : 1;
}

static void add_user(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec)
{
	ARGUMENTS_ADD(
		arguments, "unshare", "--mount", "/bin/sh", "-c", user_script,
		str_format(arena, "%lld",
			   user_of(spec) == SANDBOX_USER_ROOT ? 0LL : (long long)user_of(spec))
			.at,
		user_folder(spec), str_format(arena, "%zu", spec->mount_count + 1).at,
		str_format(arena, "%zu", owned_of(spec)).at, spec->workspace);
	for (size_t i = 0; i < spec->mount_count; i++)
		argv_add(arguments, spec->mounts[i].host);
}

/* Where the sandbox finds the workspace (0) or a mount (1, 2, ...). */
static const char *source_of(const struct sandbox_spec *spec, size_t number, struct arena *arena)
{
	if (user_of(spec) != 0)
		return str_format(arena, "%s/%zu", user_folder(spec), number).at;
	return number == 0 ? spec->workspace : spec->mounts[number - 1].host;
}

/* A tmpfs, bounded if there are limits. */
static void add_tmpfs(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec,
		      const char *path)
{
	if (spec->limits != NULL)
		ARGUMENTS_ADD(arguments, "--size",
			      str_format(arena, "%lld", (long long)spec->limits->tmp_bytes).at);
	ARGUMENTS_ADD(arguments, "--tmpfs", path);
}

static void add_system(struct argv *arguments, struct arena *arena)
{
	static const char *const root_folders[] = { "/bin",   "/sbin",  "/lib",
						    "/lib32", "/lib64", "/libx32" };
	static const char *const etc_files[] = { "/etc/passwd",        "/etc/group",
						 "/etc/nsswitch.conf", "/etc/ld.so.cache",
						 "/etc/ld.so.conf",    "/etc/ld.so.conf.d",
						 "/etc/alternatives",  "/etc/ssl/certs",
						 "/etc/localtime" };
	ARGUMENTS_ADD(arguments, "--ro-bind", "/usr", "/usr");
	for (size_t i = 0; i < COUNT(root_folders); i++)
		add_root_folder(arguments, arena, root_folders[i]);
	for (size_t i = 0; i < COUNT(etc_files); i++)
		ARGUMENTS_ADD(arguments, "--ro-bind-try", etc_files[i], etc_files[i]);
}

/* Landlock allows to write where a mount does.  Its rules name places inside. */
static void add_places(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec)
{
	ARGUMENTS_ADD(arguments, "write=/tmp", "write=/dev/shm");
	if (!spec->read_only)
		argv_add(arguments, "write=/workspace");
	for (size_t i = 0; i < spec->mount_count; i++)
		if (spec->mounts[i].writable)
			argv_add(arguments,
				 str_format(arena, "write=%s", spec->mounts[i].inside).at);
}

static void add_options(struct argv *arguments, struct arena *arena,
			const struct sandbox_spec *spec)
{
	const char *seccomp = spec->layers == NULL ? "auto" : spec->layers->seccomp;
	const char *landlock = spec->layers == NULL ? "auto" : spec->layers->landlock;
	if (spec->limits != NULL) {
		struct sandbox_rlimits rlimits = sandbox_limits_rlimits(spec->limits);
		argv_add_option(arguments, arena, "fsize", rlimits.file_bytes);
		if (rlimits.data_bytes > 0)
			argv_add_option(arguments, arena, "data", rlimits.data_bytes);
		if (rlimits.processes > 0)
			argv_add_option(arguments, arena, "nproc", rlimits.processes);
	}
	if (spec->proxy_descriptor > 0)
		argv_add(arguments,
			 str_format(arena, "proxy=%d:%d", PROXY_PORT, spec->proxy_descriptor).at);
	argv_add(arguments, str_format(arena, "seccomp=%s", seccomp).at);
	argv_add(arguments, str_format(arena, "landlock=%s", landlock).at);
	add_places(arguments, arena, spec);
}

static const struct toolchains *toolchains_of(const struct sandbox_spec *spec)
{
	return spec->layers == NULL ? NULL : spec->layers->toolchains;
}

/* The mounts of the spec and behind them those of the toolchains. */
static void add_mounts(struct sandbox_spec *spec, struct arena *arena)
{
	const struct toolchains *toolchains = toolchains_of(spec);
	if (toolchains == NULL || toolchains->mount_count == 0)
		return;
	struct sandbox_mount *mounts = arena_array(arena, struct sandbox_mount,
						   spec->mount_count + toolchains->mount_count);
	for (size_t i = 0; i < spec->mount_count; i++)
		mounts[i] = spec->mounts[i];
	for (size_t i = 0; i < toolchains->mount_count; i++)
		mounts[spec->mount_count + i] = toolchains->mounts[i];
	spec->mounts = mounts;
	spec->mount_count += toolchains->mount_count;
}

/* An empty file or folder that cannot be changed, in the place of each credential. */
static void add_covers(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec)
{
	const struct toolchains *toolchains = toolchains_of(spec);
	struct toolchain_cover *covers;
	size_t count = toolchains == NULL ? 0 : toolchains_covers(toolchains, arena, &covers);
	for (size_t i = 0; i < count; i++)
		if (covers[i].folder)
			ARGUMENTS_ADD(arguments, "--perms", "0000", "--tmpfs", covers[i].inside,
				      "--remount-ro", covers[i].inside);
		else
			ARGUMENTS_ADD(arguments, "--ro-bind", "/dev/null", covers[i].inside);
}

/* Programs know the proxy by these names. */
static void add_proxy(struct argv *arguments, struct arena *arena)
{
	static const char *const names[] = { "http_proxy",  "https_proxy", "HTTP_PROXY",
					     "HTTPS_PROXY", "ALL_PROXY",   "all_proxy" };
	const char *url = str_format(arena, "http://127.0.0.1:%d", PROXY_PORT).at;
	for (size_t i = 0; i < COUNT(names); i++)
		ARGUMENTS_ADD(arguments, "--setenv", names[i], url);
	ARGUMENTS_ADD(arguments, "--setenv", "no_proxy", "localhost,127.0.0.1,::1", "--setenv",
		      "NO_PROXY", "localhost,127.0.0.1,::1");
}

static void add_environment(struct argv *arguments, struct arena *arena,
			    const struct sandbox_spec *spec)
{
	const struct toolchains *toolchains = toolchains_of(spec);
	const char *path = toolchains == NULL ? NULL : toolchains->path;
	ARGUMENTS_ADD(arguments, "--setenv", "PATH",
		      path != NULL ? path : "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME",
		      "/workspace", "--setenv", "LANG", "C.UTF-8");
	if (spec->proxy_descriptor > 0)
		add_proxy(arguments, arena);
	for (size_t i = 0; toolchains != NULL && i < toolchains->variable_count; i++)
		ARGUMENTS_ADD(arguments, "--setenv", str_c(arena, toolchains->variables[i].name),
			      str_c(arena, toolchains->variables[i].value));
}

static const char *const *command(const struct sandbox_spec *given, struct arena *arena)
{
	struct argv arguments = argv_new(arena);
	struct sandbox_spec merged = *given;
	const struct sandbox_spec *spec = &merged;
	add_mounts(&merged, arena);
	if (spec->group != NULL)
		add_cgroup(&arguments, arena, spec->group);
	if (user_of(spec) != 0)
		add_user(&arguments, arena, spec);
	/* A user namespace inside could mount a tmpfs without a bound. */
	ARGUMENTS_ADD(&arguments, "bwrap", "--unshare-user", "--disable-userns", "--unshare-all",
		      "--new-session", "--cap-drop", "ALL", "--clearenv");
	add_system(&arguments, arena);
	ARGUMENTS_ADD(&arguments, "--proc", "/proc", "--dev", "/dev");
	add_tmpfs(&arguments, arena, spec, "/dev/shm");
	/* /dev itself is a tmpfs without a bound. */
	ARGUMENTS_ADD(&arguments, "--remount-ro", "/dev");
	add_tmpfs(&arguments, arena, spec, "/tmp");
	ARGUMENTS_ADD(&arguments, spec->read_only ? "--ro-bind" : "--bind",
		      source_of(spec, 0, arena), "/workspace", "--chdir", "/workspace");
	add_environment(&arguments, arena, spec);
	for (size_t i = 0; i < spec->mount_count; i++)
		ARGUMENTS_ADD(&arguments, spec->mounts[i].writable ? "--bind" : "--ro-bind",
			      source_of(spec, i + 1, arena), spec->mounts[i].inside);
	add_covers(&arguments, arena, spec);
	/* The root is a tmpfs for the mount points; read-only, so that writes fail visibly. */
	ARGUMENTS_ADD(&arguments, "--remount-ro", "/");
	argv_add_keeper(&arguments, arena, spec);
	add_options(&arguments, arena, spec);
	argv_add_command(&arguments, spec);
	return arguments.at;
}

const struct sandbox sandbox_native = {
	.name = "native",
	.text = "bubblewrap: only the workspace is writable, no network",
	.contained = true,
	.command = command,
};
