/* Confined paths: concurrent replacement, appended lines, detection of changes. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "os/confined_path.h"
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

TestSuite(beneath, .init = make_folder, .fini = drop_folder);

static const char *look(struct arena *arena, const char *name)
{
	struct str text;
	struct error error;
	cr_assert(file_read(str_format(arena, "%s/%s", folder, name).at, 1 << 20, arena, &text,
			    &error),
		  "%s", error.text);
	return str_c(arena, text);
}

/* ---- replacing --------------------------------------------------------------------------- */

enum { THREADS = 8, TIMES = 40, LONG = 50000 };

static char content[LONG];

static void *put_often(void *argument)
{
	size_t *failures = argument;
	for (int i = 0; i < TIMES; i++) {
		AUTO(arena) arena = { 0 };
		struct error error;
		struct str bytes;
		uint64_t size;
		/* A writer immediately reads a complete file. */
		if (!confined_replace(folder, "sums/same", (struct str){ content, LONG },
				      (struct confined_write){ .make_folders = true }, &error) ||
		    !confined_read(folder, "sums/same", 0, LONG + 1, &arena, &bytes, &size,
				   &error) ||
		    !str_equal(bytes, (struct str){ content, LONG }))
			(*failures)++;
	}
	return NULL;
}

Test(beneath, many_may_put_the_same_thing_in_place_at_once)
{
	pthread_t threads[THREADS];
	size_t failures[THREADS] = { 0 };
	AUTO(arena) arena = { 0 };
	struct str_list names;
	struct error error;
	memset(content, 'x', LONG);
	for (size_t i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, put_often, &failures[i]), 0);
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		cr_expect_eq(failures[i], 0);
	}
	cr_assert(folder_list(str_format(&arena, "%s/sums", folder).at, &arena, &names, &error));
	cr_assert_eq(names.count, 1, "something else was left there");
}

/* ---- lines --------------------------------------------------------------------------------- */

Test(beneath, lines_are_added_together)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	const struct str lines[] = { S("one"), S(""), S("three") };
	size_t written;
	cr_assert(confined_append_lines(folder, "log/a", lines, 3, &written, &error));
	cr_assert_eq(written, 3);
	cr_assert_str_eq(look(&arena, "log/a"), "one\n\nthree\n");
	cr_assert(confined_append_line(folder, "log/a", S("four"), &error));
	cr_assert_str_eq(look(&arena, "log/a"), "one\n\nthree\nfour\n");
}

/* Appends three lines of four bytes to a file whose size is limited to `room` bytes. */
static size_t added_within(rlim_t room, struct error *error)
{
	const struct str lines[] = { S("111"), S("222"), S("333") };
	size_t written = 99;
	const struct rlimit little = { room, RLIM_INFINITY },
			    much = { RLIM_INFINITY, RLIM_INFINITY };
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	bool good = confined_append_lines(folder, "full", lines, 3, &written, error);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &much), 0);
	cr_assert_eq(good, written == 3);
	return written;
}

Test(beneath, it_says_how_many_lines_found_room)
{
	static const struct {
		rlim_t room;
		size_t written;
	} cases[] = { { 3, 0 },  { 4, 0 },  { 6, 0 },  { 7, 1 },
		      { 10, 1 }, { 11, 2 }, { 14, 2 }, { 15, 3 } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO(arena) arena = { 0 };
		struct error error;
		/* The newline that ends the torn line comes first. */
		cr_assert(confined_replace(folder, "full", S("to"), (struct confined_write){ 0 },
					   &error));
		cr_expect_eq(added_within(cases[i].room, &error), cases[i].written, "%zu", i);
		cr_expect_eq(
			strncmp(look(&arena, "full"), "to\n111\n222\n333\n", (size_t)cases[i].room),
			0);
	}
}

/* ---- signatures ---------------------------------------------------------------------------- */

Test(beneath, a_sign_is_good_only_when_a_change_would_show)
{
	const struct file_signature sign = { 1, 2, 3, 4, 5, true };
	struct file_signature others[] = { { 9, 2, 3, 4, 5, true }, { 1, 9, 3, 4, 5, true },
					   { 1, 2, 9, 4, 5, true }, { 1, 2, 3, 9, 5, true },
					   { 1, 2, 3, 4, 9, true }, { 1, 2, 3, 4, 5, false } };
	cr_assert(file_signature_equal(&sign, &sign));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		cr_expect_not(file_signature_equal(&sign, &others[i]), "%zu", i);
		cr_expect_not(file_signature_equal(&others[i], &sign), "%zu", i);
	}
	struct error error;
	struct file_signature now;
	cr_assert(confined_replace(folder, "new", S("x"), (struct confined_write){ 0 }, &error));
	cr_assert(confined_signature(folder, "new", &now));
	cr_expect_not(now.settled, "it was written a moment ago");
	cr_expect_not(confined_signature(folder, "none", &now));
	cr_expect_not(confined_signature(folder, "../x", &now));
}
