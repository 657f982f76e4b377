/* sandbox/sandbox_limits.h -- what a sandboxed command may use, and who enforces it.
 *
 *	cgroup   the kernel counts processes and memory of the whole command (sandbox/cgroup.h)
 *	uid      for root without cgroups: the command runs as an unprivileged user, because the
 *	         kernel does not apply RLIMIT_NPROC to root; then as rlimit
 *	rlimit   RLIMIT_NPROC in the command's own user namespace, where Linux 5.14 and newer count
 *	         its processes alone; RLIMIT_DATA for each process
 *
 * In every case RLIMIT_FSIZE bounds each file, the size of a tmpfs bounds /tmp and /dev/shm, and
 * sandbox_check_step() is called at intervals (tool/limit_watch.h): it measures the workspace, and the
 * processes and the resident memory of the command where no cgroup counts them.
 *
 * Threads: any, after sandbox_limits_open().
 */
#ifndef SANDBOX_LIMITS_H
#define SANDBOX_LIMITS_H

#include "os/folder_usage.h"
#include "sandbox/cgroup.h"

enum sandbox_enforcement { SANDBOX_CGROUP, SANDBOX_UID, SANDBOX_RLIMIT };

struct sandbox_limits {
	int64_t processes, memory_bytes, tmp_bytes, file_bytes, workspace_bytes;
	int64_t uid; /* of SANDBOX_UID */
	enum sandbox_enforcement enforcement;
	struct cgroup_tree tree;
	const char *text;    /* how the limits are enforced */
	const char *warning; /* what is not enforced, and what to do; NULL = nothing */
};

/* Chooses the enforcement: `wanted` is auto, cgroup, uid or rlimit.  Changes nothing outside. */
void sandbox_limits_choose(struct sandbox_limits *limits, const char *wanted, struct arena *arena);
/* Like sandbox_limits_choose(); also prepares the cgroup and removes groups that dead servers left. */
void sandbox_limits_open(struct sandbox_limits *limits, const char *wanted, struct arena *arena);

/* Makes the group of one command; only with SANDBOX_CGROUP. */
MUST_CHECK bool sandbox_limits_group(const struct sandbox_limits *limits, struct cgroup *out_group,
				     struct error *error);
/* What the keeper has to set for itself and for the command (keeper/keeper.h). */
struct sandbox_rlimits {
	int64_t file_bytes;
	int64_t data_bytes, processes; /* 0 = none */
};

struct sandbox_rlimits sandbox_limits_rlimits(const struct sandbox_limits *limits);

/* ---- checks while the command runs ------------------------------------------------------- */

/* One check of a running command; the walk of its workspace takes several steps. */
struct sandbox_check {
	const struct sandbox_limits *limits;
	const struct cgroup *group; /* NULL = none */
	const char *workspace;      /* NULL = not measured */
	int64_t pid;                /* first process of the command; 0 = not known yet */
	struct folder_usage usage;
	bool walking;
};

/* Does a bounded part of the check.  Returns true when the check is complete or when a limit is
 * exceeded; `out_excess` is set in the latter case, else its code is NONE. */
MUST_CHECK bool sandbox_check_step(struct sandbox_check *check, struct error *out_excess);
void sandbox_check_done(struct sandbox_check *check);

/* True when the kernel enforced a limit of the group: `out_excess` names it. */
MUST_CHECK bool sandbox_group_excess(const struct sandbox_limits *limits,
				     const struct cgroup *group, struct error *out_excess);
/* The limit that explains how a command failed: "; sandbox.file_mb allows …", or "". */
struct str sandbox_limits_hint(const struct sandbox_limits *limits, int exit_status,
			       struct str errors, struct arena *arena);

#endif
