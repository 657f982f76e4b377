/* sandbox/cgroup.h -- one cgroup for each sandboxed command, below the cgroup of this process.
 *
 * Versions 1 and 2 are supported.  A controller is used when this process may create groups in its
 * own cgroup of that controller:
 *
 *	version 2   the cgroup is delegated to this process (systemd: Delegate=yes; in a container
 *	            without systemd: the file system is writable), and no other process lives in it.
 *	            cgroup_tree_open() moves this process into a child group `baton-server`, because
 *	            a group with controllers for its children must not contain processes.
 *	version 1   the folders of `pids` and `memory` are writable; each may be used without the
 *	            other.
 *
 * A group is named baton-PID-NUMBER.  cgroup_sweep() removes the groups of servers that are dead;
 * the kernel refuses to remove a group that has processes.
 *
 * Threads: any; a tree does not change after cgroup_tree_open().
 */
#ifndef SANDBOX_CGROUP_H
#define SANDBOX_CGROUP_H

#include "base/error.h"

enum cgroup_controller { CGROUP_PIDS, CGROUP_MEMORY, CGROUP_CONTROLLERS };

/* Where groups are made.  version 0 = nowhere; `why` says why not. */
struct cgroup_tree {
	int version;
	const char *folders[CGROUP_CONTROLLERS]; /* NULL = the controller cannot be used */
	const char *why;
};

/* Finds the cgroup of this process from the texts of /proc/self/mountinfo and /proc/self/cgroup and
 * checks that groups can be made.  Changes nothing.  `systemd`: the machine was booted by systemd,
 * so a group of version 2 must be marked as delegated. */
void cgroup_tree_find(struct str mountinfo, struct str membership, bool systemd,
		      struct arena *arena, struct cgroup_tree *out_tree);
/* Like cgroup_tree_find() for this process. */
void cgroup_tree_find_own(struct arena *arena, struct cgroup_tree *out_tree);
/* Prepares a tree of version 2; on failure the tree gets version 0 and `why`. */
void cgroup_tree_open(struct cgroup_tree *tree, struct arena *arena);
/* Removes the groups of dead servers. */
void cgroup_sweep(const struct cgroup_tree *tree);

struct cgroup_limits {
	int64_t processes, memory_bytes;
};

/* The group of one command. */
struct cgroup {
	int version;
	struct arena arena;
	const char *folders[CGROUP_CONTROLLERS];
};

/* How often the kernel enforced a limit since the group was made. */
struct cgroup_events {
	int64_t refused_processes, killed_for_memory;
};

MUST_CHECK bool cgroup_new(const struct cgroup_tree *tree, const struct cgroup_limits *limits,
			   struct cgroup *out_group, struct error *error);
struct cgroup_events cgroup_events(const struct cgroup *group);
/* The file through which a process joins the group of a controller by writing 0; NULL = none. */
const char *cgroup_entrance(const struct cgroup *group, enum cgroup_controller controller,
			    struct arena *arena);
/* Removes the group; its processes must be dead.  A group that cannot be removed is left to the
 * next sweep. */
void cgroup_free(struct cgroup *group);

#endif
