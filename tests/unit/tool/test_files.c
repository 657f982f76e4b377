/* read_file, write_file and append_line, and paths that they must refuse. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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

TestSuite(files, .init = setup, .fini = teardown);

static void put(const char *name, const char *bytes, size_t size)
{
	FILE *file = fopen(rig_path(rig, name), "wb");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static const char *look(const char *name)
{
	static char text[256];
	FILE *file = fopen(rig_path(rig, name), "rb");
	if (file == NULL)
		return "nothing";
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

Test(files, what_is_written_can_be_read)
{
	cr_assert(
		rig_call(rig, "write_file", "{\"path\": \"a/b/c\", \"content\": \"two\\nlines\"}"));
	expect_json(rig->output,
		    "{\"path\":\"a/b/c\",\"size\":9,\"sha256\":"
		    "\"edc8c1284585d703bec48f34f842bd911200142ddd602264c77df65168abae1d\"}");
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"a/b/c\"}"));
	expect_json(rig->output,
		    "{\"path\":\"a/b/c\",\"content\":\"two\\nlines\",\"encoding\":\"text\","
		    "\"size\":9,\"truncated\":false}");
}

Test(files, bytes_go_through_base64)
{
	cr_assert(rig_call(rig, "write_file",
			   "{\"path\": \"b\", \"content\": \"/wD+\", \"encoding\": \"base64\"}"));
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"b\"}"));
	cr_assert_eq(rig->error.code, ERROR_INVALID);
	cr_assert_not_null(strstr(rig->error.text, "base64"), "%s", rig->error.text);
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"b\", \"encoding\": \"base64\"}"));
	expect_json(rig->output, "{\"path\":\"b\",\"content\":\"/wD+\",\"encoding\":\"base64\","
				 "\"size\":3,\"truncated\":false}");
	cr_assert(!rig_call(rig, "write_file",
			    "{\"path\": \"b\", \"content\": \"/wD\", \"encoding\": \"base64\"}"));
	cr_assert_eq(rig->error.code, ERROR_INVALID);
}

Test(files, a_piece_ends_between_two_characters)
{
	put("workspace/u",
	    "a\xC3\xA9"
	    "b",
	    4);
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"u\", \"max_bytes\": 2}"));
	expect_json(rig->output,
		    "{\"path\":\"u\",\"content\":\"a\",\"encoding\":\"text\",\"size\":4,"
		    "\"truncated\":true}");
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"u\", \"offset\": 3}"));
	expect_json(rig->output,
		    "{\"path\":\"u\",\"content\":\"b\",\"encoding\":\"text\",\"size\":4,"
		    "\"truncated\":false}");
}

Test(files, a_file_that_is_there_is_kept_when_asked)
{
	put("workspace/f", "old", 3);
	cr_assert_eq(chmod(rig_path(rig, "workspace/f"), 0750), 0);
	cr_assert(rig_call(rig, "write_file",
			   "{\"path\": \"f\", \"content\": \"new\", \"overwrite\": false}"));
	cr_assert_eq(rig->error.code, ERROR_CONFLICT, "%s", rig->error.text);
	cr_assert_str_eq(look("workspace/f"), "old");
	cr_assert(rig_call(rig, "write_file", "{\"path\": \"f\", \"content\": \"new\"}"));
	struct stat info;
	cr_assert_eq(stat(rig_path(rig, "workspace/f"), &info), 0);
	cr_assert_eq(info.st_mode & 0777, 0750);
	cr_assert_str_eq(look("workspace/f"), "new");
}

Test(files, nothing_leads_out_of_the_workspace)
{
	static const char *const paths[] = { "../secret",      "/etc/passwd",    "out",
					     "outside/secret", "a/../../secret", "dangling/x" };
	put("secret", "s", 1);
	cr_assert_eq(mkdir(rig_path(rig, "workspace/a"), 0700), 0);
	cr_assert_eq(symlink("../secret", rig_path(rig, "workspace/out")), 0);
	cr_assert_eq(symlink("..", rig_path(rig, "workspace/outside")), 0);
	cr_assert_eq(symlink("../new", rig_path(rig, "workspace/dangling")), 0);
	for (size_t i = 0; i < COUNT(paths); i++) {
		AUTO(arena) arena = { 0 };
		cr_assert(rig_call(rig, "read_file",
				   str_format(&arena, "{\"path\": \"%s\"}", paths[i]).at));
		cr_assert_eq(rig->error.code, ERROR_FORBIDDEN, "%s: %s", paths[i], rig->error.text);
		cr_assert_null(strstr(rig->error.text, rig->folder), "%s", rig->error.text);
		cr_assert(rig_call(
			rig, "write_file",
			str_format(&arena, "{\"path\": \"%s\", \"content\": \"x\"}", paths[i]).at));
		cr_assert_eq(rig->error.code, ERROR_FORBIDDEN, "%s: %s", paths[i], rig->error.text);
		cr_assert(rig_call(
			rig, "append_line",
			str_format(&arena, "{\"path\": \"../%s\", \"line\": \"x\"}", paths[i]).at));
		cr_assert_eq(rig->error.code, ERROR_FORBIDDEN, "%s: %s", paths[i], rig->error.text);
	}
	cr_assert_str_eq(look("secret"), "s");
	cr_assert_str_eq(look("new/x"), "nothing");
}

Test(files, links_within_the_workspace_are_followed)
{
	put("workspace/real", "here", 4);
	cr_assert_eq(symlink("real", rig_path(rig, "workspace/link")), 0);
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"link\"}"));
	cr_assert_eq(rig->error.code, ERROR_NONE, "%s", rig->error.text);
	cr_assert(rig_call(rig, "write_file", "{\"path\": \"link\", \"content\": \"x\"}"));
	cr_assert_eq(rig->error.code, ERROR_FORBIDDEN);
	cr_assert_str_eq(look("workspace/real"), "here");
}

Test(files, what_is_no_regular_file_is_refused_and_not_waited_for)
{
	cr_assert_eq(mkfifo(rig_path(rig, "workspace/fifo"), 0600), 0);
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"fifo\"}"));
	cr_assert_eq(rig->error.code, ERROR_FORBIDDEN);
	cr_assert(rig_call(rig, "write_file", "{\"path\": \"fifo\", \"content\": \"x\"}"));
	cr_assert_eq(rig->error.code, ERROR_FORBIDDEN);
	cr_assert(rig_call(rig, "read_file", "{\"path\": \".\"}"));
	cr_assert_eq(rig->error.code, ERROR_FORBIDDEN);
	cr_assert(rig_call(rig, "read_file", "{\"path\": \"none\"}"));
	cr_assert_eq(rig->error.code, ERROR_NOT_FOUND);
}

/* ---- append_line --------------------------------------------------------------------- */

#define LINE "{\"path\": \"log/a\", \"line\": \"one\"}"
#define MARK "11111111-2222-4333-8444-555555555555"

Test(files, a_line_that_was_added_is_found_by_its_mark)
{
	rig_probe(rig, "append_line", LINE);
	cr_assert_eq(rig->answer, TOOL_NOT_HAPPENED); /* the folder does not exist either */
	cr_assert(rig_call(rig, "append_line", LINE));
	struct str output = rig->output;
	cr_assert_str_eq(look("lines/log/a"), "one " MARK "\n");
	rig_probe(rig, "append_line", LINE);
	cr_assert_eq(rig->answer, TOOL_HAPPENED);
	cr_assert(str_equal(rig->output, output)); /* the same output as that of the call */
	rig->effect.bytes[0] ^= 1;
	rig_probe(rig, "append_line", LINE);
	cr_assert_eq(rig->answer, TOOL_NOT_HAPPENED);
}

Test(files, a_torn_line_did_not_happen_and_is_closed)
{
	cr_assert_eq(mkdir(rig_path(rig, "lines"), 0700), 0);
	cr_assert_eq(mkdir(rig_path(rig, "lines/log"), 0700), 0);
	put("lines/log/a", "one " MARK, 4 + 36);
	rig_probe(rig, "append_line", LINE);
	cr_assert_eq(rig->answer, TOOL_NOT_HAPPENED);
	cr_assert(rig_call(rig, "append_line", LINE));
	cr_assert_str_eq(look("lines/log/a"), "one " MARK "\none " MARK "\n");
}

Test(files, a_mark_is_found_wherever_it_lies)
{
	AUTO(buf) text = { 0 };
	cr_assert_eq(mkdir(rig_path(rig, "lines"), 0700), 0);
	cr_assert_eq(mkdir(rig_path(rig, "lines/log"), 0700), 0);
	/* The mark crosses the border of two blocks at every offset. */
	for (size_t behind = 65536 - 45; behind < 65536 + 5; behind++) {
		buf_clear(&text);
		buf_add(&text, S("first\none " MARK "\n"));
		for (size_t i = 0; i < behind; i++)
			buf_add_char(&text, i % 60 == 59 ? '\n' : 'x');
		put("lines/log/a", text.at, text.size);
		rig_probe(rig, "append_line", LINE);
		cr_assert_eq(rig->answer, TOOL_HAPPENED, "%zu", behind);
	}
}

Test(files, a_line_is_one_line)
{
	cr_assert(!rig_call(rig, "append_line", "{\"path\": \"a\", \"line\": \"x\\ny\"}"));
	cr_assert_eq(rig->error.code, ERROR_INVALID);
	cr_assert(!rig_call(rig, "append_line", "{\"path\": \"a\\u0000b\", \"line\": \"x\"}"));
	cr_assert_eq(rig->error.code, ERROR_INVALID);
}
