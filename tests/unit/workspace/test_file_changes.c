/* The list of changed files: what changes.sh prints, cut anywhere, too long, or garbage. */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/limits.h"
#include "contract/run_log_types.h"
#include "workspace/file_changes.h"

#define BYTES(text) ((struct str){ text, sizeof(text) - 1 })
#define THREE                                        \
	BYTES("changed 3\n5\n-\n0\n"                 \
	      ":000000 100644 000 a1 A\0src/new.c\0" \
	      ":100644 000000 b2 000 D\0old\0"       \
	      ":100644 100755 c3 d4 M\0run.sh\0")

Test(file_changes, are_read_in_order)
{
	AUTO(arena) arena = { 0 };
	const struct run_file_changes *changes = file_changes_read(THREE, &arena);
	cr_assert_not_null(changes);
	cr_assert_eq(changes->files.count, 3);
	cr_expect_not(has(changes, left_out));
	const struct run_file_change *at = changes->files.at;
	cr_expect(str_equal(at[0].path, S("src/new.c")) && at[0].change == RUN_FILE_CREATED);
	cr_expect(has(&at[0], size) && at[0].size == 5 && str_equal(at[0].object, S("a1")));
	cr_expect(str_equal(at[1].path, S("old")) && at[1].change == RUN_FILE_DELETED);
	cr_expect_not(has(&at[1], size) || has(&at[1], object));
	cr_expect(at[2].change == RUN_FILE_MODIFIED && str_equal(at[2].object, S("d4")));
}

/* Whatever is missing is counted. */
Test(file_changes, a_text_that_is_cut_anywhere_counts_what_is_missing)
{
	for (size_t size = sizeof("changed 3") - 1; size <= THREE.size; size++) {
		AUTO(arena) arena = { 0 };
		const struct run_file_changes *changes =
			file_changes_read(str_head(THREE, size), &arena);
		cr_assert_not_null(changes);
		int64_t left_out = has(changes, left_out) ? changes->left_out : 0;
		cr_expect_eq((int64_t)changes->files.count + left_out, 3);
	}
}

Test(file_changes, nothing_or_garbage_is_no_list)
{
	static const char *const texts[] = { "",           "changed",   "changed 0", "changed 0\n",
					     "changed -1", "changed x", "over 5 6",  "4b825dc6" };
	for (size_t i = 0; i < COUNT(texts); i++) {
		AUTO(arena) arena = { 0 };
		cr_expect_null(file_changes_read(str_from_c(texts[i]), &arena), "%s", texts[i]);
	}
}

Test(file_changes, are_bounded_in_number_and_bytes)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) text = { 0 };
	buf_add(&text, S("changed 5000\n"));
	for (int i = 0; i < LIMIT_RECORDED_FILES; i++)
		buf_add(&text, S("1\n"));
	for (int i = 0; i < LIMIT_RECORDED_FILES; i++) {
		buf_add(&text, BYTES(":0 1 2 3 A\0"));
		buf_add_format(&text, "%0300d", i);
		buf_add_char(&text, '\0');
	}
	const struct run_file_changes *changes = file_changes_read(buf_str(&text), &arena);
	cr_assert_eq(changes->files.count, LIMIT_RECORDED_FILES_BYTES / 300);
	cr_expect_eq(changes->left_out, 5000 - LIMIT_RECORDED_FILES_BYTES / 300);
}

Test(file_changes, a_path_that_is_not_utf8_is_shown_with_replacement_characters)
{
	AUTO(arena) arena = { 0 };
	const struct run_file_changes *changes =
		file_changes_read(BYTES("changed 1\n1\n:0 1 2 3 A\0a\xff\xc3/b\nc\0"), &arena);
	cr_assert_eq(changes->files.count, 1);
	cr_expect(str_equal(changes->files.at[0].path, S("a\xEF\xBF\xBD\xEF\xBF\xBD/b\nc")));
}
