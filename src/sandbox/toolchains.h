/* sandbox/toolchains.h -- folders outside /usr that sandboxed commands may read (sandbox.mounts).
 *
 * A folder appears in the sandbox under its own name, read-only.  Its programs are in PATH, before those of
 * /usr; what some toolchains need to find themselves is in variables (toolchains.def).
 *
 * Credentials never appear.  A folder that is one, lies in one, or contains a whole home folder, the data
 * folder or one of the system's (/etc, /proc, ...) is refused.  Inside an allowed folder each place of
 * credentials.def is covered: by its name relative to a home folder, wherever the mounted folder is, and
 * by where it really is, if it is a symbolic link.  The covers are found when a command starts, so that a
 * credential that was written since the server started is covered too.  A hard link to a credential
 * under another name is not found.
 *
 * Threads: any; toolchains do not change after toolchains_open().
 */
#ifndef SANDBOX_TOOLCHAINS_H
#define SANDBOX_TOOLCHAINS_H

#include "base/error.h"
#include "sandbox/sandbox.h"

struct toolchains {
	struct sandbox_mount *mounts; /* `host` is the real path, `inside` the one that was given */
	size_t mount_count;
	const char *path; /* PATH inside; NULL = the usual one */
	struct sandbox_variable *variables;
	size_t variable_count;
	const char *home, *data_folder; /* real paths; NULL = unknown */
	const char *missing;            /* folders that do not exist, as a list; NULL = none */
};

/* Reads the list of sandbox.mounts; `~/` is the home folder.  Fails with INVALID when a folder may not
 * be mounted. */
MUST_CHECK bool toolchains_open(struct toolchains *toolchains, struct str_list wanted,
				const char *home, const char *data_folder, struct arena *arena,
				struct error *error);
/* Places inside that have to be covered now; each exists. */
struct toolchain_cover {
	const char *inside;
	bool folder;
};
size_t toolchains_covers(const struct toolchains *toolchains, struct arena *arena,
			 struct toolchain_cover **out_covers);
/* The folders of toolchains.def that exist on this machine and are not mounted. */
struct str_list toolchains_propose(const struct toolchains *toolchains, const char *home,
				   struct arena *arena);

#endif
