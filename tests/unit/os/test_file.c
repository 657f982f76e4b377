/* Files, folders and file locks. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.h"
#include "tests/unit/folder.h"

static char folder[TEST_FOLDER_SIZE];

static void make_folder(void)
{
	test_folder_make(folder);
}

static void drop_folder(void)
{
	test_folder_drop(folder);
}

TestSuite(file, .init = make_folder, .fini = drop_folder);

static const char *in_folder(struct arena *arena, const char *name)
{
	return str_c(arena, str_format(arena, "%s/%s", folder, name));
}

Test(file, rewriting_replaces_all_of_it)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	struct str text;
	const char *path = in_folder(&arena, "lock");
	int file;
	cr_assert(file_lock(path, &file, &error));
	cr_assert(file_rewrite(file, S("a long first text"), &error));
	cr_assert(file_rewrite(file, S("short"), &error));
	cr_assert(file_read(path, 5, &arena, &text, &error));
	cr_assert(str_equal(text, S("short")));
	cr_assert(file_rewrite(file, S(""), &error));
	cr_assert(file_read(path, 0, &arena, &text, &error));
	cr_assert_eq(text.size, 0);
	close(file);
	cr_assert(!file_rewrite(-1, S("x"), &error));
	cr_assert_eq(error.code, ERROR_IO);
}

Test(file, is_created_once)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct str text;
	const char *path = in_folder(&arena, "claim");
	struct stat info;
	cr_assert(file_create(path, S("first"), &error), "%s", error.text);
	cr_assert(!file_create(path, S("second"), &error));
	cr_assert_eq(error.code, ERROR_CONFLICT);
	cr_assert(file_read(path, 100, &arena, &text, &error));
	cr_assert(str_equal(text, S("first")));
	cr_assert_eq(stat(path, &info), 0);
	cr_assert_eq(info.st_mode & 0777, 0600);
	cr_assert(!file_create(in_folder(&arena, "none/claim"), S("x"), &error));
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
}

Test(file, reading_names_the_path_when_it_fails)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	struct str text = S("untouched");
	cr_assert(!file_read(in_folder(&arena, "none"), 10, &arena, &text, &error));
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
	cr_assert_not_null(strstr(error.text, "/none"));
	cr_assert(!file_read(folder, 10, &arena, &text, &error));
	cr_assert_eq(error.code, ERROR_IO);
	int file;
	const char *path = in_folder(&arena, "six");
	cr_assert(file_lock(path, &file, &error));
	cr_assert(file_rewrite(file, S("123456"), &error));
	close(file);
	cr_assert(!file_read(path, 5, &arena, &text, &error));
	cr_assert_eq(error.code, ERROR_TOO_LARGE);
	cr_assert(str_equal(text, S("untouched")));
	cr_assert(file_read(path, 6, &arena, &text, &error));
	cr_assert(str_equal(text, S("123456")));
}

Test(file, large_and_binary_files_come_whole)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	const char *path = in_folder(&arena, "large");
	size_t size = 300001;
	char *bytes = arena_take(&arena, size);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(i * 7);
	int file;
	struct str text;
	cr_assert(file_lock(path, &file, &error));
	cr_assert(file_rewrite(file, (struct str){ bytes, size }, &error));
	cr_assert(file_read(path, 1000000, &arena, &text, &error));
	cr_assert(str_equal(text, (struct str){ bytes, size }));
	close(file);
}

Test(file, folders_are_made_with_their_parents)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	const char *path = in_folder(&arena, "a/b//c/");
	cr_assert(folder_make(path, &error));
	cr_assert(folder_make(path, &error));
	struct stat there;
	cr_assert_eq(stat(path, &there), 0);
	cr_assert_eq(there.st_mode & 0777, 0700);
	cr_assert(file_exists(in_folder(&arena, "a/b")));
	cr_assert(!file_exists(in_folder(&arena, "a/x")));
	int file;
	cr_assert(file_lock(in_folder(&arena, "file"), &file, &error));
	close(file);
	cr_assert(!folder_make(in_folder(&arena, "file"), &error));
	cr_assert_not_null(strstr(error.text, "a file of that name exists"));
	cr_assert(!folder_make(in_folder(&arena, "file/x"), &error));
	cr_assert(!folder_make("", &error));
}

Test(file, a_lock_is_refused_to_the_second)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	const char *path = in_folder(&arena, "lock");
	int first, second = -7;
	cr_assert(file_lock(path, &first, &error));
	struct stat there;
	cr_assert_eq(fstat(first, &there), 0);
	cr_assert_eq(there.st_mode & 0777, 0600);
	cr_assert_eq(fcntl(first, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	cr_assert(!file_lock(path, &second, &error));
	cr_assert_eq(error.code, ERROR_LOCKED);
	cr_assert_eq(second, -7);
	close(first);
	cr_assert(file_lock(path, &second, &error));
	close(second);
	cr_assert(!file_lock(in_folder(&arena, "no/lock"), &second, &error));
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
}

Test(file, a_child_holds_the_lock_on)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	const char *path = in_folder(&arena, "lock");
	int first, second, gate[2];
	cr_assert(file_lock(path, &first, &error));
	cr_assert_eq(pipe(gate), 0);
	pid_t child = fork();
	if (child == 0) {
		char byte;
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(gate[0]);
	close(first);
	cr_assert(!file_lock(path, &second, &error));
	cr_assert_eq(error.code, ERROR_LOCKED);
	close(gate[1]);
	int status;
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert(file_lock(path, &second, &error));
	close(second);
}

static void write_text(const char *path, struct str text)
{
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(text.at, 1, text.size, file), text.size);
	cr_assert_eq(fclose(file), 0);
}

Test(file, nothing_leads_out_from_beneath_a_root)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	struct str text = S("untouched");
	const char *root = in_folder(&arena, "root");
	cr_assert(folder_make(in_folder(&arena, "root/sub"), &error));
	write_text(in_folder(&arena, "secret"), S("secret"));
	write_text(in_folder(&arena, "root/sub/plain"), S("plain"));
	cr_assert_eq(symlink("../secret", in_folder(&arena, "root/link")), 0);
	cr_assert_eq(symlink("sub", in_folder(&arena, "root/inside")), 0);
	static const char *const ways_out[] = { "../secret", "sub/../../secret", "link",
						"/etc/passwd", "inside/plain" };
	for (size_t i = 0; i < COUNT(ways_out); i++) {
		cr_assert(!file_read_confined(root, ways_out[i], 100, &arena, &text, &error), "%s",
			  ways_out[i]);
		cr_assert_eq(error.code, ERROR_FORBIDDEN, "%s: %s", ways_out[i], error.text);
		cr_assert(str_equal(text, S("untouched")));
	}
	cr_assert(!file_read_confined(root, "none", 100, &arena, &text, &error));
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
	cr_assert(
		!file_read_confined(in_folder(&arena, "no-root"), "x", 100, &arena, &text, &error));
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
	cr_assert(file_read_confined(root, "sub/plain", 100, &arena, &text, &error));
	cr_assert(str_equal(text, S("plain")));
}

Test(file, replaced_in_one_step)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct str text;
	struct stat info;
	const char *path = in_folder(&arena, "settings"), *link = in_folder(&arena, "link");
	cr_assert(file_replace(path, S("one"), &error), "%s", error.text);
	cr_assert_eq(stat(path, &info), 0);
	cr_assert_eq(info.st_mode & 0777, 0600);
	cr_assert_eq(chmod(path, 0640), 0);
	cr_assert_eq(symlink("settings", link), 0);
	cr_assert(file_replace(link, S("another"), &error), "%s", error.text);
	cr_assert_eq(lstat(link, &info), 0);
	cr_assert(S_ISLNK(info.st_mode));
	cr_assert_eq(stat(path, &info), 0);
	cr_assert_eq(info.st_mode & 0777, 0640);
	cr_assert(file_read(path, 100, &arena, &text, &error));
	cr_assert(str_equal(text, S("another")));
	cr_assert(!file_replace(in_folder(&arena, "no/such"), S("x"), &error));
	cr_assert_not_null(strstr(error.text, "no/such"));
	/* a folder is not replaced, and no temporary file is left behind */
	cr_assert_eq(mkdir(in_folder(&arena, "folder"), 0700), 0);
	cr_assert(!file_replace(in_folder(&arena, "folder"), S("x"), &error));
	char command[100];
	snprintf(command, sizeof(command), "test \"$(ls %s | wc -l)\" = 3", folder);
	cr_assert_eq(system(command), 0);
}
