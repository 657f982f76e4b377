/* edit_file: what it changes, what it says about texts that are not there, what it refuses. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "tool/edit_diff.h"
#include "tool_rig.h"

static struct rig the_rig, *rig = &the_rig;

static void setup(void)
{
	rig_open(rig);
}

static void teardown(void)
{
	rig_close(rig);
}

TestSuite(edit, .init = setup, .fini = teardown);

static void put(const char *name, struct str bytes)
{
	FILE *file = fopen(rig_path(rig, name), "wb");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(bytes.at, 1, bytes.size, file), bytes.size);
	fclose(file);
}

static const char *look(const char *name)
{
	static char text[1024];
	FILE *file = fopen(rig_path(rig, name), "rb");
	if (file == NULL)
		return "nothing";
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void edit(const char *inputs)
{
	cr_assert(rig_call(rig, "edit_file", inputs), "%s", rig->error.text);
}

static struct str member(const char *name)
{
	return json_text(
		json_member(rig_json(rig, str_c(&rig->arena, rig->output)), str_from_c(name)));
}

#define EXPECT_ERROR(wanted_code, wanted_text)                                     \
	do {                                                                       \
		cr_assert_eq(rig->error.code, wanted_code, "%s", rig->error.text); \
		cr_assert_str_eq(rig->error.text, wanted_text);                    \
	} while (0)

Test(edit, a_text_is_replaced_and_the_diff_says_where)
{
	put("workspace/a.c", S("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"));
	cr_assert_eq(chmod(rig_path(rig, "workspace/a.c"), 0750), 0);
	edit("{\"path\": \"a.c\", \"old_text\": \"five\", \"new_text\": \"5\\n5.5\"}");
	cr_assert_str_eq(look("workspace/a.c"),
			 "one\ntwo\nthree\nfour\n5\n5.5\nsix\nseven\neight\n");
	expect_json(member("diff"), "@@ -2,7 +2,8 @@\n two\n three\n four\n-five\n+5\n+5.5\n six\n"
				    " seven\n eight\n");
	struct stat info;
	cr_assert_eq(stat(rig_path(rig, "workspace/a.c"), &info), 0);
	cr_assert_eq(info.st_mode & 0777, 0750);
}

Test(edit, every_occurrence_is_replaced_on_request)
{
	put("workspace/a", S("x1\nx2\n3\n4\n5\n6\n7\n8\n9\n10\nx11\n"));
	edit("{\"path\": \"a\", \"old_text\": \"x\", \"new_text\": \"yy\", \"replace_all\": true}");
	cr_assert_str_eq(look("workspace/a"), "yy1\nyy2\n3\n4\n5\n6\n7\n8\n9\n10\nyy11\n");
	expect_json(member("diff"), "@@ -1,5 +1,5 @@\n-x1\n+yy1\n-x2\n+yy2\n 3\n 4\n 5\n"
				    "@@ -8,4 +8,4 @@\n 8\n 9\n 10\n-x11\n+yy11\n");
	const struct json *output = rig_json(rig, str_c(&rig->arena, rig->output));
	cr_assert_eq(json_member(output, S("replacements"))->as.integer, 3);
}

Test(edit, a_text_that_occurs_twice_is_a_conflict_with_its_lines)
{
	put("workspace/a", S("same\nother\nsame\n"));
	edit("{\"path\": \"a\", \"old_text\": \"same\", \"new_text\": \"x\"}");
	EXPECT_ERROR(
		ERROR_CONFLICT,
		"old_text occurs 2 times in a, at lines 1, 3: add lines around the one that is "
		"meant, or set replace_all");
	put("workspace/a", S("aaa"));
	edit("{\"path\": \"a\", \"old_text\": \"aa\", \"new_text\": \"x\"}");
	cr_assert_eq(rig->error.code, ERROR_CONFLICT);
	cr_assert_str_eq(look("workspace/a"), "aaa");
}

Test(edit, a_text_that_is_not_there_names_the_nearest_line)
{
	put("workspace/a", S("int a;\n\treturn total + 1;\nint b;\n"));
	edit("{\"path\": \"a\", \"old_text\": \"  return total + 2;\\n\", \"new_text\": \"x\"}");
	EXPECT_ERROR(
		ERROR_NOT_FOUND,
		"old_text does not occur in a; the nearest line is 2: return total + 1; (blanks "
		"and the lines after it must be the same, too)");
	edit("{\"path\": \"a\", \"old_text\": \"zzzzzzzz\", \"new_text\": \"x\"}");
	EXPECT_ERROR(ERROR_NOT_FOUND,
		     "old_text does not occur in a: read the file and copy the text "
		     "exactly");
	edit("{\"path\": \"none\", \"old_text\": \"a\", \"new_text\": \"x\"}");
	cr_assert_eq(rig->error.code, ERROR_NOT_FOUND);
}

Test(edit, an_empty_old_text_makes_a_file_and_never_replaces_one)
{
	edit("{\"path\": \"new/b\", \"old_text\": \"\", \"new_text\": \"hello\\n\"}");
	cr_assert_str_eq(look("workspace/new/b"), "hello\n");
	expect_json(member("diff"), "@@ -0,0 +1,1 @@\n+hello\n");
	edit("{\"path\": \"new/b\", \"old_text\": \"\", \"new_text\": \"other\"}");
	cr_assert_eq(rig->error.code, ERROR_CONFLICT);
	cr_assert_str_eq(look("workspace/new/b"), "hello\n");
	put("workspace/empty", S(""));
	edit("{\"path\": \"empty\", \"old_text\": \"\", \"new_text\": \"x\"}");
	cr_assert_str_eq(look("workspace/empty"), "x");
}

Test(edit, lines_that_end_in_cr_lf_stay_so)
{
	put("workspace/dos", S("one\r\ntwo\r\nthree\r\n"));
	edit("{\"path\": \"dos\", \"old_text\": \"one\\ntwo\", \"new_text\": \"1\\n1.5\\n2\"}");
	cr_assert_str_eq(look("workspace/dos"), "1\r\n1.5\r\n2\r\nthree\r\n");
	put("workspace/mixed", S("one\r\ntwo\nthree\r\n"));
	edit("{\"path\": \"mixed\", \"old_text\": \"two\\n\", \"new_text\": \"2\\n2\\n\"}");
	cr_assert_str_eq(look("workspace/mixed"), "one\r\n2\n2\nthree\r\n");
}

Test(edit, the_last_line_may_have_no_end)
{
	put("workspace/a", S("one\ntwo"));
	edit("{\"path\": \"a\", \"old_text\": \"two\", \"new_text\": \"2\\n\"}");
	expect_json(member("diff"),
		    "@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n");
	edit("{\"path\": \"a\", \"old_text\": \"one\\n\", \"new_text\": \"\"}");
	cr_assert_str_eq(look("workspace/a"), "2\n");
	expect_json(member("diff"), "@@ -1,2 +1,1 @@\n-one\n 2\n");
	edit("{\"path\": \"a\", \"old_text\": \"2\\n\", \"new_text\": \"\"}");
	expect_json(member("diff"), "@@ -1,1 +0,0 @@\n-2\n");
}

Test(edit, lines_that_a_change_joins_are_both_in_the_diff)
{
	put("workspace/a", S("a\nb\nc\n"));
	edit("{\"path\": \"a\", \"old_text\": \"a\\n\", \"new_text\": \"x\"}");
	cr_assert_str_eq(look("workspace/a"), "xb\nc\n");
	expect_json(member("diff"), "@@ -1,3 +1,2 @@\n-a\n-b\n+xb\n c\n");
}

/* ---- hostile input --------------------------------------------------------------------- */

Test(edit, paths_that_leave_the_workspace_are_refused)
{
	static const char *const paths[] = { "../outside", "/etc/hostname", "link", "out/x",
					     "dangling" };
	put("outside", S("secret"));
	cr_assert_eq(symlink("../outside", rig_path(rig, "workspace/link")), 0);
	cr_assert_eq(symlink("..", rig_path(rig, "workspace/out")), 0);
	cr_assert_eq(symlink("../nothing", rig_path(rig, "workspace/dangling")), 0);
	for (size_t i = 0; i < COUNT(paths); i++) {
		edit(str_format(&rig->arena,
				"{\"path\": \"%s\", \"old_text\": \"secret\", \"new_text\": \"x\"}",
				paths[i])
			     .at);
		cr_assert_eq(rig->error.code, ERROR_FORBIDDEN, "%s: %s", paths[i], rig->error.text);
	}
	edit("{\"path\": \"dangling\", \"old_text\": \"\", \"new_text\": \"x\"}");
	cr_assert_eq(rig->error.code, ERROR_FORBIDDEN);
	cr_assert_str_eq(look("outside"), "secret");
	cr_assert_str_eq(look("nothing"), "nothing");
}

Test(edit, files_that_are_no_text_are_refused)
{
	put("workspace/b", (struct str){ "a\0b", 3 });
	edit("{\"path\": \"b\", \"old_text\": \"a\", \"new_text\": \"x\"}");
	EXPECT_ERROR(ERROR_INVALID, "b is not a text file");
	cr_assert_eq(mkfifo(rig_path(rig, "workspace/f"), 0600), 0);
	edit("{\"path\": \"f\", \"old_text\": \"a\", \"new_text\": \"x\"}");
	cr_assert_eq(rig->error.code, ERROR_FORBIDDEN);
	cr_assert(!rig_call(rig, "edit_file",
			    "{\"path\": \"a\\u0000b\", \"old_text\": \"a\", \"new_text\": \"x\"}"));
	cr_assert(!rig_call(rig, "edit_file",
			    "{\"path\": \"a\", \"old_text\": \"a\", \"new_text\": \"a\"}"));
}

Test(edit, bytes_that_are_not_utf_8_stay_as_they_are)
{
	put("workspace/latin", S("caf\xE9 one\n"));
	edit("{\"path\": \"latin\", \"old_text\": \"one\", \"new_text\": \"two\"}");
	cr_assert_str_eq(look("workspace/latin"), "caf\xE9 two\n");
	expect_json(member("diff"),
		    "@@ -1,1 +1,1 @@\n-caf\xEF\xBF\xBD one\n+caf\xEF\xBF\xBD two\n");
}

Test(edit, a_large_file_is_refused_and_so_is_one_that_would_become_large)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < LIMIT_EDIT_BYTES / 2; i++)
		buf_add(&text, S("x\n"));
	put("workspace/a", buf_str(&text));
	edit("{\"path\": \"a\", \"old_text\": \"x\", \"new_text\": \"xyz\", \"replace_all\": true}");
	cr_assert_eq(rig->error.code, ERROR_TOO_LARGE);
	/* Two million changes, and a diff that says only so much. */
	edit("{\"path\": \"a\", \"old_text\": \"x\", \"new_text\": \"y\", \"replace_all\": true}");
	cr_assert_eq(rig->error.code, ERROR_NONE, "%s", rig->error.text);
	cr_assert_leq(member("diff").size, LIMIT_EDIT_DIFF_BYTES);
	edit("{\"path\": \"a\", \"old_text\": \"y\", \"new_text\": \"z\"}");
	cr_assert_eq(rig->error.code, ERROR_CONFLICT);
	cr_assert_eq(truncate(rig_path(rig, "workspace/a"), LIMIT_EDIT_BYTES + 1), 0);
	edit("{\"path\": \"a\", \"old_text\": \"y\", \"new_text\": \"z\"}");
	cr_assert_eq(rig->error.code, ERROR_TOO_LARGE);
}

/* Any changes of a text with few letters: the hunks applied to the old text give the new one. */
Test(edit, the_hunks_of_a_diff_apply)
{
	unsigned seed = 7;
	for (int round = 0; round < 2000; round++) {
		AUTO(arena) arena = { 0 };
		AUTO(buf) old = { 0 };
		AUTO(buf) new = { 0 };
		AUTO(buf) built = { 0 };
		struct text_change changes[8];
		size_t count = 0, at = 0;
		bool truncated;
		for (int i = rand_r(&seed) % 60; i > 0; i--)
			buf_add_char(&old, "ab\n"[rand_r(&seed) % 3]);
		static const struct str texts[] = {
			{ "", 0 }, { "c", 1 }, { "\n", 1 }, { "c\nd", 3 }, { "c\n", 2 }
		};
		while (count < COUNT(changes) && at < old.size) {
			size_t begin = at + (size_t)rand_r(&seed) % 8;
			if (begin >= old.size)
				break;
			size_t size = 1 + (size_t)rand_r(&seed) % 4;
			if (size > old.size - begin)
				size = old.size - begin;
			changes[count] =
				(struct text_change){ begin, size, texts[rand_r(&seed) % 5] };
			buf_add(&new, str_head(str_skip(buf_str(&old), at), begin - at));
			buf_add(&new, changes[count++].text);
			at = begin + size;
		}
		buf_add(&new, str_skip(buf_str(&old), at));
		struct str diff =
			edit_diff(buf_str(&old), changes, count, 100000, &arena, &truncated);
		/* Apply. */
		struct str rest = diff, line, text = buf_str(&old);
		size_t line_now = 1;
		bool after_context = false;
		while (str_cut(&rest, '\n', &line) && (line.size > 0 || rest.size > 0)) {
			if (str_starts(line, S("@@ -"))) {
				size_t begin = (size_t)atoi(str_c(&arena, str_skip(line, 4)));
				bool none = strstr(str_c(&arena, line), ",0 +") != NULL;
				while (line_now < begin + none && text.size > 0) {
					size_t end;
					end = str_find(text, S("\n"), &end) ? end + 1 : text.size;
					buf_add(&built, str_head(text, end));
					text = str_skip(text, end);
					line_now++;
				}
			} else if (line.size > 0 && line.at[0] == '\\') {
				if (after_context && built.size > 0)
					built.size--;
			} else {
				char mark = line.at[0];
				if (mark != '+') {
					size_t end;
					end = str_find(text, S("\n"), &end) ? end + 1 : text.size;
					text = str_skip(text, end);
					line_now++;
				}
				if (mark != '-') {
					buf_add(&built, str_skip(line, 1));
					buf_add_char(&built, '\n');
				}
				after_context = mark != '-';
			}
		}
		buf_add(&built, text);
		cr_assert(str_equal(buf_str(&built), buf_str(&new)),
			  "old [" STR_FMT "] new [" STR_FMT "] got [" STR_FMT "] diff " STR_FMT,
			  STR_ARG(buf_str(&old)), STR_ARG(buf_str(&new)), STR_ARG(buf_str(&built)),
			  STR_ARG(diff));
	}
}
