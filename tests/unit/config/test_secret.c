/* References to secrets: which are resolved, and that no error contains a value. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/secret.h"
#include "tests/unit/folder.h"

static char folder[TEST_FOLDER_SIZE];
static struct arena arena;

static void put(const char *name, const char *text, mode_t mode)
{
	const char *path = str_format(&arena, "%s/%s", folder, name).at;
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	cr_assert_eq(chmod(path, mode), 0);
}

static void begin(void)
{
	arena = (struct arena){ 0 };
	test_folder_make(folder);
	cr_assert_eq(mkdir(str_format(&arena, "%s/secrets", folder).at, 0700), 0);
	cr_assert_eq(mkdir(str_format(&arena, "%s/secrets/deep", folder).at, 0700), 0);
}

static void end(void)
{
	test_folder_drop(folder);
	arena_done(&arena);
}

TestSuite(secret, .init = begin, .fini = end);

static bool resolve(const char *reference, struct str *out_value, struct error *error)
{
	static const char *const environment[] = { "OPENAI_API_KEY=sk-1",
						   "OPENAI_API_KEY_TWO=sk-2",
						   "EMPTY=",
						   "TWO_LINES=sk-3\nsk-4",
						   "OTHER=sk-5",
						   NULL };
	static const struct str allowed[] = {
		{ "OPENAI_API_KEY", 14 }, { "EMPTY", 5 }, { "TWO_LINES", 9 }, { "MISSING", 7 }
	};
	const struct secret_places places = { .data_folder = folder,
					      .environment = environment,
					      .allowed = { allowed, COUNT(allowed) } };
	return secret_resolve(&places, (struct secret){ str_from_c(reference) }, &arena, out_value,
			      error);
}

static void expect_value(const char *reference, const char *value)
{
	struct str got;
	struct error error = { 0 };
	cr_assert(resolve(reference, &got, &error), "%s: %s", reference, error.text);
	cr_assert(str_equal(got, str_from_c(value)), "%s: " STR_FMT, reference, STR_ARG(got));
}

static void expect_refusal(const char *reference, enum error_code code, const char *words)
{
	struct str got = S("untouched");
	struct error error = { 0 };
	cr_assert(!resolve(reference, &got, &error), "%s", reference);
	cr_assert_eq(error.code, code, "%s: %s", reference, error.text);
	cr_assert_not_null(strstr(error.text, words), "%s: %s", reference, error.text);
	cr_assert_null(strstr(error.text, "sk-"), "%s", error.text);
	cr_assert(str_equal(got, S("untouched")));
}

Test(secret, variables)
{
	expect_value("env:OPENAI_API_KEY", "sk-1");
	expect_refusal("env:OTHER", ERROR_FORBIDDEN, "add OTHER to secrets.allow");
	expect_refusal("env:OPENAI_API", ERROR_FORBIDDEN, "secrets.allow");
	expect_refusal("env:OPENAI_API_KEY_TWO", ERROR_FORBIDDEN, "secrets.allow");
	expect_refusal("env:MISSING", ERROR_NOT_FOUND, "not set in the environment");
	expect_refusal("env:EMPTY", ERROR_NOT_FOUND, "empty");
	expect_refusal("env:TWO_LINES", ERROR_INVALID, "must be one line");
}

Test(secret, files)
{
	put("secrets/key", "sk-6\n", 0600);
	put("secrets/deep/key", "sk-7", 0400);
	put("secrets/open", "sk-8", 0640);
	put("secrets/world", "sk-8", 0604);
	put("secrets/empty", "\n", 0600);
	put("secrets/lines", "sk-9\nsk-9\n", 0600);
	put("outside", "sk-10", 0600);
	expect_value("file:key", "sk-6");
	expect_value("file:deep/key", "sk-7");
	expect_refusal("file:open", ERROR_FORBIDDEN, "chmod 600");
	expect_refusal("file:world", ERROR_FORBIDDEN, "chmod 600");
	expect_refusal("file:empty", ERROR_NOT_FOUND, "empty");
	expect_refusal("file:lines", ERROR_INVALID, "must be one line");
	expect_refusal("file:nobody", ERROR_NOT_FOUND, "nobody");
	expect_refusal("file:../outside", ERROR_FORBIDDEN, "leaves the folder");
	expect_refusal("file:/etc/passwd", ERROR_FORBIDDEN, "leaves the folder");
	expect_refusal("file:deep/../../outside", ERROR_FORBIDDEN, "leaves the folder");
	expect_refusal("file:deep", ERROR_FORBIDDEN, "not a regular file");
	cr_assert_eq(symlink("key", str_format(&arena, "%s/secrets/link", folder).at), 0);
	expect_refusal("file:link", ERROR_FORBIDDEN, "leaves the folder");
	cr_assert_eq(mkfifo(str_format(&arena, "%s/secrets/fifo", folder).at, 0600), 0);
	expect_refusal("file:fifo", ERROR_FORBIDDEN, "not a regular file");
	AUTO(buf) large = { 0 };
	for (int i = 0; i < 10000; i++)
		buf_add_char(&large, 'x');
	put("secrets/large", str_c(&arena, buf_str(&large)), 0600);
	expect_refusal("file:large", ERROR_TOO_LARGE, "larger than");
}

Test(secret, what_is_no_reference)
{
	static const char *const wrong[] = {
		"", "env:", "file:", "sk-itself", "ENV:OPENAI_API_KEY", "http://a"
	};
	for (size_t i = 0; i < COUNT(wrong); i++)
		expect_refusal(wrong[i], ERROR_INVALID, "must be a reference");
}
