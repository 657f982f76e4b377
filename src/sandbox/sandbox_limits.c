/* sandbox/sandbox_limits.c -- chooses the enforcement of limits and measures running commands.
 *
 * A command that reaches the limit of processes is ended: its forks fail from then on, and a fork
 * bomb would otherwise occupy the processor until its timeout.
 */
#include "sandbox/sandbox_limits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/limits.h"
#include "os/file.h"

enum {
	MB = 1048576,
	KB = 1024,
	/* Processes of the sandbox itself: bwrap and the keeper; bwrap is outside of the user
	 * namespace in which RLIMIT_NPROC counts. */
	OWN_PROCESSES = 2,
	OWN_PROCESSES_INSIDE = 1,
};

/* ---- enforcement ----------------------------------------------------------------------- */

/* Since Linux 5.14 RLIMIT_NPROC counts the processes of a user namespace alone. */
static bool nproc_counts_per_namespace(void)
{
	struct utsname name;
	char *end;
	if (uname(&name) != 0)
		return false;
	long major = strtol(name.release, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return major > 5 || (major == 5 && minor >= 14);
}

static const char *const enforcement_names[] = { "cgroup", "uid", "rlimit" };

static void enforcement_choose(struct sandbox_limits *limits, const char *wanted)
{
	bool automatic = strcmp(wanted, "auto") == 0;
	bool cgroups = limits->tree.folders[CGROUP_PIDS] != NULL &&
		       (!automatic || limits->tree.folders[CGROUP_MEMORY] != NULL);
	if (cgroups && (automatic || strcmp(wanted, "cgroup") == 0))
		limits->enforcement = SANDBOX_CGROUP;
	else if (geteuid() == 0 && strcmp(wanted, "rlimit") != 0)
		limits->enforcement = SANDBOX_UID;
	else
		limits->enforcement = SANDBOX_RLIMIT;
}

static void enforcement_describe(struct sandbox_limits *limits, const char *wanted,
				 struct arena *arena)
{
	const char *memory = "memory by RLIMIT_DATA for each process and by checks in total";
	switch (limits->enforcement) {
	case SANDBOX_CGROUP:
		if (limits->tree.folders[CGROUP_MEMORY] != NULL)
			memory = "memory too";
		limits->text =
			str_format(arena, "processes by cgroups (version %d, %s), %s",
				   limits->tree.version, limits->tree.folders[CGROUP_PIDS], memory)
				.at;
		return;
	case SANDBOX_UID:
		limits->text = str_format(arena, "processes by RLIMIT_NPROC as user %lld, %s",
					  (long long)limits->uid, memory)
				       .at;
		break;
	case SANDBOX_RLIMIT:
		limits->text = str_format(arena, "processes by RLIMIT_NPROC, %s", memory).at;
		break;
	}
	if (limits->enforcement == SANDBOX_RLIMIT && geteuid() == 0)
		limits->warning = "the limit of processes is only checked at intervals, because "
				  "RLIMIT_NPROC does not bind root: set sandbox.limits to auto";
	else if (!nproc_counts_per_namespace())
		limits->warning =
			"the limit of processes is only checked at intervals: it needs Linux 5.14 "
			"or a delegated cgroup";
	else if (limits->enforcement == SANDBOX_UID && !file_exists("/usr/bin/setpriv"))
		limits->warning = "sandboxed commands cannot change to an unprivileged user: "
				  "install setpriv (util-linux)";
	else if (strcmp(wanted, "auto") != 0 &&
		 strcmp(wanted, enforcement_names[limits->enforcement]) != 0)
		limits->warning =
			str_format(arena, "sandbox.limits is %s, but %s", wanted,
				   strcmp(wanted, "cgroup") == 0 ? limits->tree.why
								 : "only root can do this")
				.at;
}

static void limits_choose(struct sandbox_limits *limits, const char *wanted, struct arena *arena,
			  bool prepare)
{
	limits->tree = (struct cgroup_tree){ .why = "sandbox.limits does not use cgroups" };
	limits->warning = NULL;
	if (strcmp(wanted, "auto") == 0 || strcmp(wanted, "cgroup") == 0)
		cgroup_tree_find_own(arena, &limits->tree);
	enforcement_choose(limits, wanted);
	if (prepare && limits->enforcement == SANDBOX_CGROUP) {
		cgroup_tree_open(&limits->tree, arena);
		enforcement_choose(limits, wanted);
		cgroup_sweep(&limits->tree);
	}
	if (limits->enforcement != SANDBOX_CGROUP)
		memset(limits->tree.folders, 0, sizeof(limits->tree.folders));
	enforcement_describe(limits, wanted, arena);
}

void sandbox_limits_choose(struct sandbox_limits *limits, const char *wanted, struct arena *arena)
{
	limits_choose(limits, wanted, arena, false);
}

void sandbox_limits_open(struct sandbox_limits *limits, const char *wanted, struct arena *arena)
{
	limits_choose(limits, wanted, arena, true);
}

bool sandbox_limits_group(const struct sandbox_limits *limits, struct cgroup *out_group,
			  struct error *error)
{
	const struct cgroup_limits figures = { limits->processes + OWN_PROCESSES,
					       limits->memory_bytes };
	return cgroup_new(&limits->tree, &figures, out_group, error);
}

struct sandbox_rlimits sandbox_limits_rlimits(const struct sandbox_limits *limits)
{
	struct sandbox_rlimits rlimits = { .file_bytes = limits->file_bytes };
	if (limits->tree.folders[CGROUP_MEMORY] == NULL)
		rlimits.data_bytes = limits->memory_bytes;
	if (limits->enforcement != SANDBOX_CGROUP && nproc_counts_per_namespace())
		rlimits.processes = limits->processes + OWN_PROCESSES_INSIDE;
	return rlimits;
}

/* ---- checks ------------------------------------------------------------------------------ */

static bool processes_excess(const struct sandbox_limits *limits, struct error *out_excess)
{
	fail(out_excess, ERROR_SANDBOX_LIMIT,
	     "the command reached the limit of %lld processes and threads (sandbox.processes), so "
	     "it was ended",
	     (long long)limits->processes);
	return true;
}

static bool memory_excess(const struct sandbox_limits *limits, struct error *out_excess)
{
	fail(out_excess, ERROR_SANDBOX_LIMIT,
	     "the command needed more than %lld MB of memory (sandbox.memory_mb), so it was ended",
	     (long long)(limits->memory_bytes / MB));
	return true;
}

bool sandbox_group_excess(const struct sandbox_limits *limits, const struct cgroup *group,
			  struct error *out_excess)
{
	const struct cgroup_events events = cgroup_events(group);
	if (events.killed_for_memory > 0)
		return memory_excess(limits, out_excess);
	return events.refused_processes > 0 && processes_excess(limits, out_excess);
}

/* The processes below one process, found through /proc/PID/task/TID/children. */
struct process_count {
	struct arena arena;
	int64_t *pids;
	size_t known, room;
	int64_t threads, resident_bytes;
};

static bool proc_read(struct process_count *count, int64_t pid, const char *name,
		      struct str *out_text)
{
	struct error error;
	return file_read(str_format(&count->arena, "/proc/%lld/%s", (long long)pid, name).at,
			 LIMIT_MOUNTINFO_BYTES, &count->arena, out_text, &error);
}

static void children_add(struct process_count *count, int64_t pid, struct str thread)
{
	struct str text, word;
	int64_t child;
	const char *name =
		str_format(&count->arena, "task/" STR_FMT "/children", STR_ARG(thread)).at;
	if (!proc_read(count, pid, name, &text))
		return;
	while (str_cut(&text, ' ', &word))
		if (count->known < count->room && str_to_int(word, &child))
			count->pids[count->known++] = child;
}

static void process_visit(struct process_count *count, int64_t pid)
{
	struct str_list threads;
	struct str text, word;
	struct error error;
	int64_t pages;
	if (!folder_list(str_format(&count->arena, "/proc/%lld/task", (long long)pid).at,
			 &count->arena, &threads, &error))
		return;
	for (size_t i = 0; i < threads.count; i++)
		children_add(count, pid, threads.at[i]);
	count->threads += (int64_t)threads.count;
	/* SIZE RESIDENT ... in pages */
	if (proc_read(count, pid, "statm", &text) && str_cut(&text, ' ', &word) &&
	    str_cut(&text, ' ', &word) && str_to_int(word, &pages))
		count->resident_bytes += pages * sysconf(_SC_PAGESIZE);
}

/* Pages that several processes share are counted once: each process has its proportion.  This is
 * slower than the resident size, which counts them for each process. */
static int64_t proportional_bytes(struct process_count *count)
{
	int64_t bytes = 0, kilobytes;
	for (size_t i = 0; i < count->known; i++) {
		struct str text, line, word;
		if (!proc_read(count, count->pids[i], "smaps_rollup", &text))
			continue;
		while (str_cut(&text, '\n', &line))
			if (str_starts(line, S("Pss:")) && str_cut(&line, ':', &word)) {
				line = str_trim(line); /* "1234 kB" */
				if (str_cut(&line, ' ', &word) && str_to_int(word, &kilobytes))
					bytes += kilobytes * KB;
			}
	}
	return bytes;
}

static bool measured_excess(const struct sandbox_check *check, struct error *out_excess)
{
	const struct sandbox_limits *limits = check->limits;
	const int64_t most = limits->processes + OWN_PROCESSES_INSIDE;
	struct process_count count = { .room = (size_t)most + 1 };
	count.pids = arena_array(&count.arena, int64_t, count.room);
	count.pids[count.known++] = check->pid;
	for (size_t i = 0; i < count.known && count.threads <= most; i++)
		process_visit(&count, count.pids[i]);
	bool processes = limits->tree.folders[CGROUP_PIDS] == NULL && count.threads >= most;
	bool memory = count.resident_bytes > limits->memory_bytes &&
		      proportional_bytes(&count) > limits->memory_bytes;
	arena_done(&count.arena);
	return (processes && processes_excess(limits, out_excess)) ||
	       (memory && memory_excess(limits, out_excess));
}

static bool usage_excess(const struct sandbox_check *check, struct error *out_excess)
{
	if (check->usage.too_deep) {
		fail(out_excess, ERROR_SANDBOX_LIMIT,
		     "the workspace has folders nested more than %d levels deep, so the command was "
		     "ended",
		     LIMIT_FOLDER_DEPTH);
		return true;
	}
	if (check->usage.bytes <= (uint64_t)check->limits->workspace_bytes)
		return false;
	fail(out_excess, ERROR_SANDBOX_LIMIT,
	     "the workspace grew beyond %lld MB (sandbox.workspace_mb), so the command was ended",
	     (long long)(check->limits->workspace_bytes / MB));
	return true;
}

bool sandbox_check_step(struct sandbox_check *check, struct error *out_excess)
{
	struct error error;
	out_excess->code = ERROR_NONE;
	if (!check->walking) {
		if (check->group != NULL &&
		    sandbox_group_excess(check->limits, check->group, out_excess))
			return true;
		if (check->pid > 0 && check->limits->tree.folders[CGROUP_MEMORY] == NULL &&
		    measured_excess(check, out_excess))
			return true;
		if (check->workspace == NULL ||
		    !folder_usage_begin(&check->usage, check->workspace, &error))
			return true;
		check->walking = true;
	}
	bool complete = folder_usage_step(&check->usage, LIMIT_FOLDER_USAGE_ENTRIES);
	return usage_excess(check, out_excess) || complete;
}

void sandbox_check_done(struct sandbox_check *check)
{
	if (check->walking)
		folder_usage_done(&check->usage);
	check->walking = false;
}

/* ---- hints ------------------------------------------------------------------------------- */

static bool mentions(struct str text, const char *const *phrases)
{
	size_t at;
	for (; *phrases != NULL; phrases++)
		if (str_find(text, str_from_c(*phrases), &at))
			return true;
	return false;
}

struct str sandbox_limits_hint(const struct sandbox_limits *limits, int exit_status,
			       struct str errors, struct arena *arena)
{
	static const char *const file[] = { "File too large", "File size limit exceeded", NULL };
	static const char *const fork[] = { "Resource temporarily unavailable", "annot fork",
					    "can't start new thread", NULL };
	static const char *const memory[] = { "annot allocate memory", "MemoryError",
					      "ut of memory", NULL };
	static const char *const room[] = { "No space left on device", NULL };
	enum { KILLED_BY_SIGXFSZ = 128 + 25 };
	if (exit_status == KILLED_BY_SIGXFSZ || mentions(errors, file))
		return str_format(arena, "; a file may have at most %lld MB (sandbox.file_mb)",
				  (long long)(limits->file_bytes / MB));
	if (mentions(errors, fork))
		return str_format(
			arena,
			"; a command may have at most %lld processes and threads (sandbox.processes)",
			(long long)limits->processes);
	if (mentions(errors, memory))
		return str_format(
			arena, "; a command may use at most %lld MB of memory (sandbox.memory_mb)",
			(long long)(limits->memory_bytes / MB));
	if (mentions(errors, room))
		return str_format(arena,
				  "; /tmp and /dev/shm hold at most %lld MB each (sandbox.tmp_mb)",
				  (long long)(limits->tmp_bytes / MB));
	return S("");
}
