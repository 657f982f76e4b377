/* Disk space of a folder: what is counted, links, depth, and steps. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "os/file.h"
#include "os/folder_usage.h"
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

TestSuite(folder_usage, .init = make_folder, .fini = drop_folder);

static const char *in_folder(const char *name)
{
	return str_format(&arena, "%s/%s", folder, name).at;
}

static void put(const char *name, size_t size)
{
	struct error error;
	char *bytes = arena_array(&arena, char, size);
	memset(bytes, 'x', size);
	cr_assert(file_replace(in_folder(name), (struct str){ bytes, size }, &error));
}

static struct folder_usage measure(size_t entries)
{
	struct folder_usage usage;
	struct error error;
	size_t steps = 1;
	cr_assert(folder_usage_begin(&usage, folder, &error), "%s", error.text);
	while (!folder_usage_step(&usage, entries))
		cr_assert_lt(steps++, 100000);
	folder_usage_done(&usage);
	return usage;
}

Test(folder_usage, files_of_all_folders_are_counted_in_any_number_of_steps)
{
	struct error error;
	cr_assert(folder_make(in_folder("a/b/c"), &error));
	put("one", 100000);
	put("a/two", 200000);
	put("a/b/c/three", 300000);
	const struct folder_usage whole = measure(1000000);
	cr_assert_eq(whole.entries, 6);
	cr_assert_geq(whole.bytes, 600000);
	cr_assert_lt(whole.bytes, 700000);
	const struct folder_usage stepwise = measure(1);
	cr_assert_eq(stepwise.entries, whole.entries);
	cr_assert_eq(stepwise.bytes, whole.bytes);
}

Test(folder_usage, a_hole_costs_nothing_and_a_second_name_nothing_more)
{
	put("file", 1000000);
	cr_assert_eq(link(in_folder("file"), in_folder("again")), 0);
	cr_assert_eq(link(in_folder("file"), in_folder("third")), 0);
	int hole = open(in_folder("hole"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	cr_assert_eq(ftruncate(hole, INT64_C(1) << 40), 0);
	close(hole);
	const struct folder_usage usage = measure(1000);
	cr_assert_eq(usage.entries, 4);
	cr_assert_geq(usage.bytes, 900000);
	cr_assert_lt(usage.bytes, 1100000);
}

Test(folder_usage, links_are_not_followed)
{
	cr_assert_eq(symlink("/usr", in_folder("usr")), 0);
	cr_assert_eq(symlink(".", in_folder("self")), 0);
	const struct folder_usage usage = measure(1000);
	cr_assert_eq(usage.entries, 2);
	cr_assert_lt(usage.bytes, 100000);
}

Test(folder_usage, depth_is_bounded_and_paths_may_be_long)
{
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < LIMIT_FOLDER_DEPTH + 10; i++) {
		cr_assert_eq(mkdirat(at, "a-name-of-thirty-two-characters-", 0700), 0);
		int next = openat(at, "a-name-of-thirty-two-characters-",
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(at);
	const struct folder_usage usage = measure(1000000);
	cr_assert(usage.too_deep);
	cr_assert_eq(usage.entries, LIMIT_FOLDER_DEPTH);
}

Test(folder_usage, an_unfinished_walk_leaves_no_descriptor)
{
	struct folder_usage usage;
	struct error error;
	cr_assert(folder_make(in_folder("a/b/c"), &error));
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(before);
	cr_assert(folder_usage_begin(&usage, folder, &error));
	cr_assert(!folder_usage_step(&usage, 2));
	folder_usage_done(&usage);
	int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	close(after);
	cr_assert_eq(after, before);
	cr_assert(!folder_usage_begin(&usage, "/no/such/folder", &error));
	cr_assert_eq(error.code, ERROR_IO);
}
