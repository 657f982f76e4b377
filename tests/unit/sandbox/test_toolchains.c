/* What may be mounted, what is covered, and PATH, in a folder that stands for a home folder. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"
#include "sandbox/toolchains.h"
#include "tests/unit/folder.h"

static char folder[TEST_FOLDER_SIZE];
static const char *home;
static struct arena arena;

static void make_folder(void)
{
	test_folder_make(folder);
	char *real = realpath(folder, NULL);
	home = str_c(&arena, str_from_c(real));
	free(real);
}

static void drop_folder(void)
{
	test_folder_drop(folder);
	arena_done(&arena);
}

TestSuite(toolchains, .init = make_folder, .fini = drop_folder);

static const char *in_home(const char *name)
{
	return str_format(&arena, "%s/%s", home, name).at;
}

static void make(const char *name)
{
	struct error error;
	cr_assert(folder_make(in_home(name), &error), "%s", error.text);
}

static void put(const char *name)
{
	struct error error;
	cr_assert(file_replace(in_home(name), S("x"), &error), "%s", error.text);
}

static bool open_mounts(const char *text, struct toolchains *out, struct error *error)
{
	struct str *words = arena_array(&arena, struct str, 8), rest = str_from_c(text), word;
	size_t count = 0;
	while (rest.size > 0 && str_cut(&rest, ',', &word))
		words[count++] = word;
	return toolchains_open(out, (struct str_list){ words, count }, home, in_home("data"),
			       &arena, error);
}

static bool is_covered(const struct toolchains *toolchains, const char *name)
{
	struct toolchain_cover *covers;
	size_t count = toolchains_covers(toolchains, &arena, &covers);
	for (size_t i = 0; i < count; i++)
		if (str_equal(str_from_c(covers[i].inside), str_from_c(in_home(name))))
			return true;
	return false;
}

/* The folders of tests are in /tmp, where a sandbox has its own; what is checked before that place is
 * checked here, the rest by scenarios. */
Test(toolchains, nothing_is_mounted_by_default)
{
	struct toolchains toolchains;
	struct error error;
	cr_assert(open_mounts("", &toolchains, &error), "%s", error.text);
	cr_assert_eq(toolchains.mount_count, 0);
	cr_assert_str_eq(toolchains.path, "/usr/local/bin:/usr/bin:/bin");
	cr_assert_null(toolchains.missing);
}

Test(toolchains, refusals_name_the_setting_and_the_folder)
{
	struct toolchains toolchains;
	struct error error;
	static const char *const wrong[] = { "/", "/etc", "/proc", "/usr/share", "/tmp", "/dev" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_assert_not(open_mounts(wrong[i], &toolchains, &error), "%s", wrong[i]);
		cr_assert_eq(error.code, ERROR_INVALID);
		cr_assert(str_starts(str_from_c(error.text),
				     str_format(&arena, "sandbox.mounts: %s cannot", wrong[i])),
			  "%s", error.text);
	}
}

Test(toolchains, a_folder_that_is_missing_is_listed)
{
	struct toolchains toolchains;
	struct error error;
	cr_assert(open_mounts("~/none,/nonexistent", &toolchains, &error), "%s", error.text);
	cr_assert_str_eq(toolchains.missing, "~/none, /nonexistent");
}

Test(toolchains, covers_are_found_by_name_and_by_where_links_lead)
{
	make(".cargo");
	make("tools/keys");
	make("tools/.ssh");
	make("data");
	put(".cargo/credentials.toml");
	put(".cargo/config.toml");
	put("tools/keys/netrc");
	cr_assert_eq(symlink(in_home("tools/keys/netrc"), in_home(".netrc")), 0);
	struct sandbox_mount mounts[] = { { in_home(".cargo"), in_home(".cargo"), false },
					  { in_home("tools"), in_home("tools"), false },
					  { home, home, false } };
	struct toolchains toolchains = {
		.mounts = mounts, .mount_count = 2, .home = home, .data_folder = in_home("data")
	};
	cr_assert(is_covered(&toolchains, ".cargo/credentials.toml"));
	cr_assert(is_covered(&toolchains, "tools/keys/netrc"));
	cr_assert(is_covered(&toolchains, "tools/.ssh"));
	cr_assert_not(is_covered(&toolchains, ".cargo/config.toml"));
	cr_assert_not(is_covered(&toolchains, "data"));
	toolchains.mount_count = 3;
	cr_assert(is_covered(&toolchains, "data"));
	/* A credential that is written later is found by the next command. */
	put(".cargo/credentials");
	cr_assert(is_covered(&toolchains, ".cargo/credentials"));
}
