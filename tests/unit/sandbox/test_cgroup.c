/* Finding the own cgroup in what the kernel prints, and the files of a group, in a folder that stands
 * for the cgroup file system. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "sandbox/cgroup.h"
#include "tests/unit/folder.h"

static char folder[TEST_FOLDER_SIZE];
static struct arena arena;

static void make_folder(void)
{
	test_folder_make(folder);
}

static void drop_folder(void)
{
	test_folder_drop(folder);
	arena_done(&arena);
}

TestSuite(cgroup, .init = make_folder, .fini = drop_folder);

static const char *in_folder(const char *name)
{
	return str_format(&arena, "%s/%s", folder, name).at;
}

static void put(const char *name, const char *text)
{
	struct error error;
	cr_assert(file_replace(in_folder(name), str_from_c(text), &error), "%s", error.text);
}

static void make(const char *name)
{
	struct error error;
	cr_assert(folder_make(in_folder(name), &error), "%s", error.text);
}

static const char *content(const char *name)
{
	struct str text;
	struct error error;
	cr_assert(file_read(in_folder(name), 1000, &arena, &text, &error), "%s", error.text);
	return str_c(&arena, str_trim(text));
}

/* A mount of the folder's child `name`. */
static const char *mount(const char *name, const char *root, const char *type, const char *options)
{
	return str_format(&arena,
			  "30 20 0:26 %s %s/%s rw,nosuid shared:9 master:1 - %s none rw,%s\n", root,
			  folder, name, type, options)
		.at;
}

static struct cgroup_tree find(const char *mounts, const char *membership, bool systemd)
{
	struct cgroup_tree tree;
	cgroup_tree_find(str_from_c(mounts), str_from_c(membership), systemd, &arena, &tree);
	return tree;
}

Test(cgroup, version_1_has_a_folder_for_each_controller)
{
	make("pids/a/b");
	make("memory/c");
	const char *mounts = str_format(&arena, "%s%s%s", mount("cpu", "/", "cgroup", "cpu"),
					mount("pids", "/", "cgroup", "pids"),
					mount("memory", "/", "cgroup", "memory"))
				     .at;
	struct cgroup_tree tree = find(mounts, "8:pids:/a/b\n4:memory:/c\n0::/\n", true);
	cr_assert_eq(tree.version, 1);
	cr_assert_str_eq(tree.folders[CGROUP_PIDS], in_folder("pids/a/b"));
	cr_assert_str_eq(tree.folders[CGROUP_MEMORY], in_folder("memory/c"));
}

Test(cgroup, a_mount_that_shows_a_part_of_the_hierarchy)
{
	make("pids/inner");
	const char *mounts = mount("pids", "/docker/abc", "cgroup", "pids,misc");
	struct cgroup_tree tree = find(mounts, "8:pids,misc:/docker/abc/inner\n", false);
	cr_assert_str_eq(tree.folders[CGROUP_PIDS], in_folder("pids/inner"));
	cr_assert_null(tree.folders[CGROUP_MEMORY]);
	/* The own group is not below what is mounted. */
	cr_assert_eq(find(mounts, "8:pids,misc:/docker/other\n", false).version, 0);
	cr_assert_eq(find(mounts, "8:pids,misc:/docker/abcd\n", false).version, 0);
	cr_assert_eq(find(mounts, "8:pids,misc:/docker/abc/../../x\n", false).version, 0);
}

Test(cgroup, what_is_not_writable_is_not_used)
{
	struct cgroup_tree tree = find(mount("pids", "/", "cgroup", "pids"), "8:pids:/\n", false);
	cr_assert_eq(tree.version, 0); /* the folder does not exist */
	cr_assert(tree.why != NULL);
	cr_assert_eq(find("", "", false).version, 0);
	cr_assert_eq(find("nonsense\n\n - \n1 2\n", ":\n::\nx", false).version, 0);
}

Test(cgroup, version_2_must_be_delegated_where_systemd_rules)
{
	make("all/service");
	put("all/service/cgroup.controllers", "cpu memory pids\n");
	put("all/service/cgroup.subtree_control", "");
	const char *mounts = mount("all", "/", "cgroup2", "nsdelegate");
	struct cgroup_tree tree = find(mounts, "0::/service\n", false);
	cr_assert_eq(tree.version, 2);
	cr_assert_str_eq(tree.folders[CGROUP_PIDS], in_folder("all/service"));
	cr_assert_str_eq(tree.folders[CGROUP_MEMORY], in_folder("all/service"));
	tree = find(mounts, "0::/service\n", true);
	cr_assert_eq(tree.version, 0);
	cr_assert(strstr(tree.why, "systemd has not delegated") != NULL);
	put("all/service/cgroup.controllers", "cpu pids\n");
	cr_assert_eq(find(mounts, "0::/service\n", false).version, 0);
}

Test(cgroup, a_group_of_version_1_has_its_limits_and_counts)
{
	make("pids");
	make("memory");
	const struct cgroup_tree tree = { .version = 1,
					  .folders = { in_folder("pids"), in_folder("memory") } };
	const struct cgroup_limits limits = { .processes = 32, .memory_bytes = 65536 };
	struct cgroup group;
	struct error error;
	/* The kernel makes the files of a group; a folder without them cannot be limited. */
	cr_assert(!cgroup_new(&tree, &limits, &group, &error));
	cr_assert_eq(error.code, ERROR_ISOLATION);
	cr_assert(
		!file_exists(str_format(&arena, "%s/baton-%d-1", in_folder("pids"), getpid()).at));
}

Test(cgroup, counts_are_read_from_both_versions)
{
	make("one");
	put("one/pids.events", "max 3\n");
	put("one/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
	put("one/memory.events", "low 0\noom 5\noom_kill 4\noom_group_kill 1\n");
	const char *at = in_folder("one");
	struct cgroup group = { .version = 1, .folders = { at, at } };
	struct cgroup_events events = cgroup_events(&group);
	cr_assert_eq(events.refused_processes, 3);
	cr_assert_eq(events.killed_for_memory, 2);
	group.version = 2;
	cr_assert_eq(cgroup_events(&group).killed_for_memory, 4);
	group.folders[CGROUP_MEMORY] = NULL;
	cr_assert_eq(cgroup_events(&group).killed_for_memory, 0);
}

Test(cgroup, version_2_moves_this_process_out_of_the_way)
{
	make("own");
	make("own/baton-server");
	put("own/cgroup.procs", "");
	put("own/baton-server/cgroup.procs", "");
	/* The kernel refuses +pids +memory while processes are in the group; a folder stands for it,
	 * because it cannot be written. */
	make("own/cgroup.subtree_control");
	struct cgroup_tree tree = { .version = 2,
				    .folders = { in_folder("own"), in_folder("own") } };
	cgroup_tree_open(&tree, &arena);
	cr_assert_eq(tree.version, 0);
	cr_assert(strstr(tree.why, "other processes live in") != NULL);
	/* It went there and came back. */
	cr_assert_str_eq(content("own/baton-server/cgroup.procs"), "0");
	cr_assert_str_eq(content("own/cgroup.procs"), "0");
	rmdir(in_folder("own/cgroup.subtree_control"));
	put("own/cgroup.subtree_control", "");
	tree = (struct cgroup_tree){ .version = 2,
				     .folders = { in_folder("own"), in_folder("own") } };
	cgroup_tree_open(&tree, &arena);
	cr_assert_eq(tree.version, 2);
	cr_assert_str_eq(content("own/cgroup.subtree_control"), "+pids +memory");
}

Test(cgroup, groups_of_dead_processes_are_swept)
{
	const char *ours = str_format(&arena, "pids/baton-%d-7", getpid()).at;
	make(ours);
	make("pids/baton-server");
	make("pids/baton-2147483647-1"); /* no process has this number */
	make("pids/other-2147483647-1");
	const struct cgroup_tree tree = { .version = 1, .folders = { in_folder("pids"), NULL } };
	cgroup_sweep(&tree);
	cr_assert(file_exists(in_folder(ours)));
	cr_assert(file_exists(in_folder("pids/baton-server")));
	cr_assert(file_exists(in_folder("pids/other-2147483647-1")));
	cr_assert(!file_exists(in_folder("pids/baton-2147483647-1")));
}
