/* sandbox/sandbox_native.c -- the default sandbox: one writable folder in a read-only file system.
 *
 * The host's root is not bound, because it contains the data folder and the files of other users.
 * Only what programs need to start is bound: /usr with the links into it, and the files of /etc
 * with users, the linker's cache and certificates.  All namespaces are unshared, including the
 * network.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/argv.h"
#include "sandbox/sandbox.h"

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

static const char *const *command(const struct sandbox_spec *spec, struct arena *arena)
{
	static const char *const root_folders[] = { "/bin",   "/sbin",  "/lib",
						    "/lib32", "/lib64", "/libx32" };
	static const char *const etc_files[] = { "/etc/passwd",        "/etc/group",
						 "/etc/nsswitch.conf", "/etc/ld.so.cache",
						 "/etc/ld.so.conf",    "/etc/ld.so.conf.d",
						 "/etc/alternatives",  "/etc/ssl/certs",
						 "/etc/localtime" };
	struct argv arguments = argv_new(arena);
	ARGUMENTS_ADD(&arguments, "bwrap", "--unshare-all", "--new-session", "--cap-drop", "ALL",
		      "--clearenv", "--ro-bind", "/usr", "/usr");
	for (size_t i = 0; i < COUNT(root_folders); i++)
		add_root_folder(&arguments, arena, root_folders[i]);
	for (size_t i = 0; i < COUNT(etc_files); i++)
		ARGUMENTS_ADD(&arguments, "--ro-bind-try", etc_files[i], etc_files[i]);
	if (spec->network)
		ARGUMENTS_ADD(&arguments, "--share-net", "--ro-bind-try", "/etc/resolv.conf",
			      "/etc/resolv.conf", "--ro-bind-try", "/etc/hosts", "/etc/hosts");
	ARGUMENTS_ADD(&arguments, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		      spec->read_only ? "--ro-bind" : "--bind", spec->workspace, "/workspace",
		      "--chdir", "/workspace", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin",
		      "--setenv", "HOME", "/workspace", "--setenv", "LANG", "C.UTF-8");
	for (size_t i = 0; i < spec->mount_count; i++)
		ARGUMENTS_ADD(&arguments, spec->mounts[i].writable ? "--bind" : "--ro-bind",
			      spec->mounts[i].host, spec->mounts[i].inside);
	/* The root is a tmpfs for the mount points; read-only, so that writes fail visibly. */
	ARGUMENTS_ADD(&arguments, "--remount-ro", "/");
	argv_add_command(&arguments, arena, spec);
	return arguments.at;
}

const struct sandbox sandbox_native = {
	.name = "native",
	.text = "bubblewrap: only the workspace is writable, no network",
	.contained = true,
	.command = command,
};
