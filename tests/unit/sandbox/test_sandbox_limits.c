/* The choice of enforcement, the command line that follows from it, and the sentences about limits. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "sandbox/sandbox_limits.h"

enum { MB = 1048576 };

static struct arena arena;

static void drop(void)
{
	arena_done(&arena);
}

TestSuite(sandbox_limits, .fini = drop);

static struct sandbox_limits limits(enum sandbox_enforcement enforcement)
{
	return (struct sandbox_limits){ .processes = 32,
					.memory_bytes = 64 * MB,
					.tmp_bytes = 2 * MB,
					.file_bytes = 4 * MB,
					.workspace_bytes = 16 * MB,
					.uid = 64000,
					.enforcement = enforcement };
}

/* The command line as one text. */
static const char *command_line(const struct sandbox_limits *with, const struct cgroup *group)
{
	static const char *const command[] = { "/bin/true", NULL };
	const struct sandbox_mount mount = { "/data/program", "/program", false };
	const struct sandbox_spec spec = { .workspace = "/data/work",
					   .mounts = &mount,
					   .mount_count = 1,
					   .limits = with,
					   .group = group,
					   .status_descriptor = 4,
					   .lifeline_descriptor = 5,
					   .command = command };
	const char *const *argv = sandbox_find(S("native"))->command(&spec, &arena);
	struct str text = S("");
	for (size_t i = 0; argv[i] != NULL; i++)
		text = str_format(&arena, STR_FMT "%s ", STR_ARG(text), argv[i]);
	return text.at;
}

static void contains(const char *text, const char *part)
{
	cr_assert(strstr(text, part) != NULL, "%s is missing in: %s", part, text);
}

static void lacks(const char *text, const char *part)
{
	cr_assert(strstr(text, part) == NULL, "%s is in: %s", part, text);
}

Test(sandbox_limits, rlimits_are_set_inside)
{
	const struct sandbox_limits with = limits(SANDBOX_RLIMIT);
	const char *line = command_line(&with, NULL);
	contains(line, " fsize=4194304 ");
	contains(line, " data=67108864 ");
	contains(line, " nproc=33 "); /* with the keeper */
	contains(line,
		 "--size 2097152 --tmpfs /dev/shm --remount-ro /dev --size 2097152 --tmpfs /tmp");
	contains(line, "--bind /data/work /workspace");
	lacks(line, "setpriv");
	lacks(line, "cgroup.procs");
}

Test(sandbox_limits, a_cgroup_is_joined_before_anything_else)
{
	struct sandbox_limits with = limits(SANDBOX_CGROUP);
	with.tree = (struct cgroup_tree){ .version = 2, .folders = { "/cg", "/cg" } };
	const struct cgroup group = { .version = 2, .folders = { "/cg/one", "/cg/one" } };
	const char *line = command_line(&with, &group);
	cr_assert(strncmp(line, "/bin/sh -c echo 0 >", 19) == 0, "%s", line);
	contains(line, "/cg/one/cgroup.procs /cg/one/cgroup.procs bwrap");
	lacks(line, " nproc=");
	lacks(line, " data=");
	contains(line, " fsize=4194304 ");
}

Test(sandbox_limits, without_a_memory_controller_each_process_is_bounded)
{
	struct sandbox_limits with = limits(SANDBOX_CGROUP);
	with.tree = (struct cgroup_tree){ .version = 1, .folders = { "/pids", NULL } };
	const struct cgroup group = { .version = 1, .folders = { "/pids/one", NULL } };
	contains(command_line(&with, &group), " data=67108864 ");
}

Test(sandbox_limits, root_becomes_another_user)
{
	const struct sandbox_limits with = limits(SANDBOX_UID);
	const char *line = command_line(&with, NULL);
	cr_assert(strncmp(line, "unshare --mount /bin/sh -c", 26) == 0, "%s", line);
	contains(line, " 64000 /tmp 2 1 /data/work /data/program bwrap");
	contains(line, "--bind /tmp/0 /workspace");
	contains(line, "--ro-bind /tmp/1 /program");
	contains(line, "nproc=33 ");
}

Test(sandbox_limits, nothing_is_limited_without_limits)
{
	const char *line = command_line(NULL, NULL);
	lacks(line, " fsize=");
	lacks(line, "--size");
	contains(line, " oom=500 ");
	contains(line, "--disable-userns");
}

Test(sandbox_limits, the_choice_is_explained)
{
	struct sandbox_limits with = limits(SANDBOX_RLIMIT);
	sandbox_limits_choose(&with, "rlimit", &arena);
	cr_assert_eq(with.enforcement, SANDBOX_RLIMIT);
	contains(with.text, "RLIMIT_NPROC");
	cr_assert_eq(with.warning != NULL, geteuid() == 0);
	sandbox_limits_choose(&with, "uid", &arena);
	if (geteuid() == 0) {
		cr_assert_eq(with.enforcement, SANDBOX_UID);
		contains(with.text, "as user 64000");
		cr_assert_null(with.warning);
	} else {
		cr_assert_eq(with.enforcement, SANDBOX_RLIMIT);
		contains(with.warning, "only root can do this");
	}
}

Test(sandbox_limits, a_failure_names_the_limit_that_explains_it)
{
	const struct sandbox_limits with = limits(SANDBOX_RLIMIT);
	const struct {
		int status;
		const char *errors, *hint;
	} cases[] = {
		{ 153, "", "4 MB (sandbox.file_mb)" },
		{ 1, "OSError: [Errno 27] File too large", "4 MB (sandbox.file_mb)" },
		{ 2, "sh: 1: Cannot fork", "32 processes and threads (sandbox.processes)" },
		{ 1, "bash: fork: Resource temporarily unavailable", "sandbox.processes" },
		{ 1, "MemoryError", "64 MB of memory (sandbox.memory_mb)" },
		{ 1, "write error: No space left on device", "2 MB each (sandbox.tmp_mb)" },
		{ 1, "no such file", "" },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str hint = sandbox_limits_hint(&with, cases[i].status,
						      str_from_c(cases[i].errors), &arena);
		cr_assert_eq(hint.size == 0, cases[i].hint[0] == '\0');
		if (hint.size > 0)
			contains(hint.at, cases[i].hint);
	}
}

Test(sandbox_limits, a_check_measures_this_process)
{
	struct sandbox_limits with = limits(SANDBOX_RLIMIT);
	struct sandbox_check check = { .limits = &with, .pid = getpid() };
	struct error excess;
	with.memory_bytes = INT64_C(1) << 40;
	cr_assert(sandbox_check_step(&check, &excess));
	cr_assert_eq(excess.code, ERROR_NONE);
	with.memory_bytes = 4096;
	cr_assert(sandbox_check_step(&check, &excess));
	cr_assert_eq(excess.code, ERROR_SANDBOX_LIMIT);
	contains(excess.text, "sandbox.memory_mb");
	with.processes = -1; /* this process alone reaches it */
	cr_assert(sandbox_check_step(&check, &excess));
	contains(excess.text, "sandbox.processes");
	check.pid = 0; /* not started yet: nothing to measure */
	cr_assert(sandbox_check_step(&check, &excess));
	cr_assert_eq(excess.code, ERROR_NONE);
	sandbox_check_done(&check);
}
