/* list_dir, glob and grep: what they find, in which order, and what they never reach. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "tool/ignore_rules.h"
#include "tool/path_pattern.h"
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

TestSuite(search, .init = setup, .fini = teardown);

static const char *path_of(const char *name)
{
	return rig_path(rig, str_format(&rig->arena, "workspace/%s", name).at);
}

static void put_bytes(const char *name, struct str bytes)
{
	FILE *file = fopen(path_of(name), "wb");
	cr_assert_not_null(file, "%s", name);
	cr_assert_eq(fwrite(bytes.at, 1, bytes.size, file), bytes.size);
	fclose(file);
}

static void put(const char *name, const char *text)
{
	put_bytes(name, str_from_c(text));
}

static void folder(const char *name)
{
	cr_assert_eq(mkdir(path_of(name), 0700), 0, "%s", name);
}

static const struct json *call(const char *tool, const char *inputs)
{
	cr_assert(rig_call(rig, tool, inputs), "%s", rig->error.text);
	return rig->output.size == 0 ? NULL : rig_json(rig, str_c(&rig->arena, rig->output));
}

static void expect_error(const char *tool, const char *inputs, enum error_code code)
{
	rig_call(rig, tool, inputs);
	cr_assert_eq(rig->error.code, code, "%s %s: %s", tool, inputs, rig->error.text);
}

static void tree(void)
{
	folder("src");
	folder("src/deep");
	folder(".git");
	folder("node_modules");
	put("README.md", "read me\nneedle here\n");
	put("src/a.c", "int needle;\nint b;\nint c;\n");
	put("src/b.h", "int other;\n");
	put("src/deep/c.c", "first\nNEEDLE\nlast\n");
	put(".git/config", "needle\n");
	put("node_modules/x.c", "needle\n");
	put(".gitignore", "node_modules/\n*.o\n!keep.o\n");
	put("src/a.o", "needle\n");
	put("src/keep.o", "needle\n");
}

Test(search, a_folder_is_listed_in_order)
{
	tree();
	call("list_dir", "{}");
	expect_json(rig->output, "{\"path\":\".\",\"entries\":["
				 "{\"path\":\".git\",\"kind\":\"folder\"},"
				 "{\"path\":\".gitignore\",\"kind\":\"file\",\"size\":26},"
				 "{\"path\":\"README.md\",\"kind\":\"file\",\"size\":20},"
				 "{\"path\":\"node_modules\",\"kind\":\"folder\"},"
				 "{\"path\":\"src\",\"kind\":\"folder\"}],\"truncated\":false}");
}

Test(search, deeper_levels_leave_out_what_is_ignored)
{
	tree();
	cr_assert_eq(chmod(path_of("src/a.c"), 0755), 0);
	call("list_dir", "{\"depth\": 2, \"path\": \"./\"}");
	expect_json(rig->output,
		    "{\"path\":\"./\",\"entries\":["
		    "{\"path\":\".git\",\"kind\":\"folder\"},"
		    "{\"path\":\".gitignore\",\"kind\":\"file\",\"size\":26},"
		    "{\"path\":\"README.md\",\"kind\":\"file\",\"size\":20},"
		    "{\"path\":\"node_modules\",\"kind\":\"folder\"},"
		    "{\"path\":\"src\",\"kind\":\"folder\"},"
		    "{\"path\":\"src/a.c\",\"kind\":\"file\",\"size\":26,\"executable\":true},"
		    "{\"path\":\"src/a.o\",\"kind\":\"file\",\"size\":7},"
		    "{\"path\":\"src/b.h\",\"kind\":\"file\",\"size\":11},"
		    "{\"path\":\"src/deep\",\"kind\":\"folder\"},"
		    "{\"path\":\"src/keep.o\",\"kind\":\"file\",\"size\":7}],"
		    "\"truncated\":false}");
	/* What is asked for by name is listed. */
	call("list_dir", "{\"path\": \"node_modules\"}");
	expect_json(rig->output, "{\"path\":\"node_modules\",\"entries\":[{\"path\":\"x.c\","
				 "\"kind\":\"file\",\"size\":7}],\"truncated\":false}");
}

Test(search, files_are_found_by_pattern)
{
	tree();
	call("glob", "{\"pattern\": \"**/*.c\"}");
	expect_json(rig->output, "{\"paths\":[\"src/a.c\",\"src/deep/c.c\"],\"truncated\":false}");
	call("glob", "{\"pattern\": \"*.{h,md,o}\"}");
	expect_json(rig->output,
		    "{\"paths\":[\"README.md\",\"src/b.h\",\"src/keep.o\"],\"truncated\":false}");
	call("glob", "{\"pattern\": \"deep/*\", \"path\": \"src\"}");
	expect_json(rig->output, "{\"paths\":[\"src/deep/c.c\"],\"truncated\":false}");
	call("glob", "{\"pattern\": \"*.[co]\", \"include_ignored\": true, \"max_paths\": 3}");
	expect_json(rig->output, "{\"paths\":[\"node_modules/x.c\",\"src/a.c\",\"src/a.o\"],"
				 "\"truncated\":true}");
	call("glob", "{\"pattern\": \"**\", \"folders\": true}");
	expect_json(rig->output, "{\"paths\":[\"src\",\"src/deep\"],\"truncated\":false}");
	expect_error("glob", "{\"pattern\": \"{a\"}", ERROR_INVALID);
	expect_error("glob",
		     "{\"pattern\": \"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"}",
		     ERROR_TOO_LARGE);
}

Test(search, lines_are_found_by_a_regular_expression)
{
	tree();
	call("grep", "{\"pattern\": \"need\\\\w+\"}");
	expect_json(rig->output,
		    "{\"matches\":[{\"path\":\"README.md\",\"line\":2,\"text\":\"needle here\"},"
		    "{\"path\":\"src/a.c\",\"line\":1,\"text\":\"int needle;\"},"
		    "{\"path\":\"src/keep.o\",\"line\":1,\"text\":\"needle\"}],"
		    "\"searched\":6,\"skipped\":0,\"truncated\":false}");
	call("grep", "{\"pattern\": \"needle\", \"ignore_case\": true, \"context\": 1, "
		     "\"include\": [\"deep/**\", \"*.h\"], \"path\": \"src\"}");
	expect_json(rig->output,
		    "{\"matches\":[{\"path\":\"src/deep/c.c\",\"line\":2,\"text\":\"NEEDLE\","
		    "\"before\":[\"first\"],\"after\":[\"last\"]}],"
		    "\"searched\":2,\"skipped\":0,\"truncated\":false}");
	call("grep", "{\"pattern\": \"^int\", \"path\": \"src/a.c\", \"max_matches\": 2, "
		     "\"context\": 1}");
	expect_json(rig->output,
		    "{\"matches\":[{\"path\":\"src/a.c\",\"line\":1,\"text\":\"int needle;\","
		    "\"before\":[],\"after\":[\"int b;\"]},{\"path\":\"src/a.c\",\"line\":2,"
		    "\"text\":\"int b;\",\"before\":[\"int needle;\"],\"after\":[\"int c;\"]}],"
		    "\"searched\":1,\"skipped\":0,\"truncated\":true}");
	call("grep", "{\"pattern\": \"int\", \"files_only\": true}");
	expect_json(rig->output,
		    "{\"matches\":[{\"path\":\"src/a.c\",\"line\":1,\"text\":\"int needle;\"},"
		    "{\"path\":\"src/b.h\",\"line\":1,\"text\":\"int other;\"}],"
		    "\"searched\":6,\"skipped\":0,\"truncated\":false}");
	call("grep", "{\"pattern\": \"(\", \"literal\": true}");
	expect_json(rig->output,
		    "{\"matches\":[],\"searched\":6,\"skipped\":0,\"truncated\":false}");
	expect_error("grep", "{\"pattern\": \"(\"}", ERROR_INVALID);
	expect_error("grep", "{\"pattern\": \"x\", \"path\": \"none\"}", ERROR_NOT_FOUND);
}

Test(search, ends_of_lines_do_not_matter)
{
	put("dos", "one\r\ntwo\r\n");
	put("open", "one\ntwo");
	call("grep", "{\"pattern\": \"^(two|one)$\"}");
	expect_json(rig->output, "{\"matches\":[{\"path\":\"dos\",\"line\":1,\"text\":\"one\"},"
				 "{\"path\":\"dos\",\"line\":2,\"text\":\"two\"},"
				 "{\"path\":\"open\",\"line\":1,\"text\":\"one\"},"
				 "{\"path\":\"open\",\"line\":2,\"text\":\"two\"}],"
				 "\"searched\":2,\"skipped\":0,\"truncated\":false}");
}

/* ---- hostile input --------------------------------------------------------------------- */

Test(search, nothing_leaves_the_workspace)
{
	static const char *const paths[] = { "..", "/etc", "out", "a/../..", "out/x" };
	tree();
	FILE *file = fopen(rig_path(rig, "secret.c"), "w");
	cr_assert_not_null(file);
	fputs("needle\n", file);
	fclose(file);
	cr_assert_eq(symlink("..", path_of("out")), 0);
	cr_assert_eq(symlink("../secret.c", path_of("link.c")), 0);
	cr_assert_eq(symlink(".", path_of("loop")), 0);
	for (size_t i = 0; i < COUNT(paths); i++) {
		const char *inputs = str_format(&rig->arena, "{\"path\": \"%s\"}", paths[i]).at;
		const char *with_pattern =
			str_format(&rig->arena, "{\"pattern\": \"needle\", \"path\": \"%s\"}",
				   paths[i])
				.at;
		rig_call(rig, "list_dir", inputs);
		cr_assert(rig->error.code == ERROR_FORBIDDEN || rig->error.code == ERROR_NOT_FOUND,
			  "%s: %s", paths[i], rig->error.text);
		rig_call(rig, "glob", with_pattern);
		cr_assert(rig->error.code == ERROR_FORBIDDEN || rig->error.code == ERROR_NOT_FOUND);
		rig_call(rig, "grep", with_pattern);
		cr_assert(rig->error.code == ERROR_FORBIDDEN || rig->error.code == ERROR_NOT_FOUND);
	}
	/* A link is a name, and what it points to is neither entered nor read. */
	call("glob", "{\"pattern\": \"*.c\"}");
	expect_json(rig->output,
		    "{\"paths\":[\"link.c\",\"src/a.c\",\"src/deep/c.c\"],\"truncated\":false}");
	call("grep",
	     "{\"pattern\": \"needle\", \"include\": [\"link.c\", \"out/**\", \"loop/**\"]}");
	expect_json(rig->output,
		    "{\"matches\":[],\"searched\":0,\"skipped\":0,\"truncated\":false}");
	expect_error("list_dir", "{\"path\": \"a\\u0000b\"}", ERROR_INVALID);
	expect_error("list_dir", "{\"path\": \"README.md\"}", ERROR_INVALID);
}

Test(search, files_that_are_no_text_are_counted)
{
	put_bytes("binary", (struct str){ "needle\0", 7 });
	put("text", "needle");
	put("huge", "needle");
	cr_assert_eq(truncate(path_of("huge"), (off_t)1 << 40), 0);
	cr_assert_eq(mkfifo(path_of("pipe"), 0600), 0);
	call("grep", "{\"pattern\": \"needle\"}");
	expect_json(rig->output,
		    "{\"matches\":[{\"path\":\"text\",\"line\":1,\"text\":\"needle\"}],"
		    "\"searched\":1,\"skipped\":2,\"truncated\":false}");
	call("grep", "{\"pattern\": \"needle\", \"path\": \"pipe\"}");
	expect_json(rig->output,
		    "{\"matches\":[],\"searched\":0,\"skipped\":0,\"truncated\":false}");
}

Test(search, names_and_lines_that_are_not_utf_8_have_replacement_characters)
{
	put("caf\xE9", "na\xEFve \xC3\xA9 needle\n");
	put("new\nline", "needle\n");
	call("grep", "{\"pattern\": \"\xC3\xA9 need\"}");
	expect_json(rig->output, "{\"matches\":[{\"path\":\"caf\xEF\xBF\xBD\",\"line\":1,"
				 "\"text\":\"na\xEF\xBF\xBDve \xC3\xA9 needle\"}],"
				 "\"searched\":2,\"skipped\":0,\"truncated\":false}");
	call("glob", "{\"pattern\": \"*\"}");
	expect_json(rig->output,
		    "{\"paths\":[\"caf\xEF\xBF\xBD\",\"new\\nline\"],\"truncated\":false}");
}

/* More such lines than a call has time for: it fails and says where. */
Test(search, a_regular_expression_that_takes_long_on_many_lines_fails)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < LIMIT_GREP_COMPLEX_LINES + 1; i++)
		buf_add(&text, S("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n"));
	put_bytes("a", buf_str(&text));
	expect_error("grep", "{\"pattern\": \"^(a+)+$\"}", ERROR_INVALID);
	cr_assert_not_null(strstr(rig->error.text, "a:1001; write it without a repetition"));
	expect_error("grep", "{\"pattern\": \"^(a+)+$\", \"literal\": true}", ERROR_NONE);
}

/* Few steps from each place where a match could begin, but many places. */
Test(search, a_regular_expression_cannot_take_long_on_a_long_line)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < 60000; i++)
		buf_add(&text, S("a"));
	buf_add(&text, S("!b\nab\n"));
	put_bytes("a", buf_str(&text));
	const struct json *output = call("grep", "{\"pattern\": \"[a-c]*b$\"}");
	cr_assert_eq(json_member(output, S("too_complex"))->as.integer, 1);
	cr_assert_eq(json_member(output, S("matches"))->as.list.count, 1);
	/* An ordinary pattern finds its place in such a line. */
	output = call("grep", "{\"pattern\": \"[a-z]!b$\"}");
	cr_assert_eq(json_member(output, S("matches"))->as.list.count, 1);
}

/* Patterns that take exponential time, on a file of many lines. */
Test(search, a_regular_expression_cannot_take_long)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < 20; i++)
		buf_add(&text, S("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n"));
	put_bytes("a", buf_str(&text));
	const struct json *output = call("grep", "{\"pattern\": \"^(a+)+$\"}");
	cr_assert_not_null(output);
	cr_assert_eq(json_member(output, S("too_complex"))->as.integer, 20);
	cr_assert_eq(json_member(output, S("matches"))->as.list.count, 0);
	/* Recursion of the pattern itself. */
	expect_error("grep", "{\"pattern\": \"(?R)\"}", ERROR_NONE);
	output = call("grep", "{\"pattern\": \"((a|b)(?R)?)+$\"}");
	cr_assert_not_null(output);
}

Test(search, a_long_line_is_cut_around_the_match)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < 100000; i++)
		buf_add(&text, S("\xC3\xA9"));
	buf_add(&text, S("needle"));
	for (size_t i = 0; i < 100000; i++)
		buf_add(&text, S("\xC3\xA9"));
	put_bytes("a", buf_str(&text));
	const struct json *output = call("grep", "{\"pattern\": \"needle\"}");
	struct str line =
		json_text(json_member(json_item(json_member(output, S("matches")), 0), S("text")));
	size_t at;
	cr_assert_leq(line.size, LIMIT_GREP_LINE_BYTES);
	cr_assert(str_find(line, S("needle"), &at));
	cr_assert(!str_find(line, S("\xEF\xBF\xBD"), &at));
}

/* A wide folder is listed in its order, whatever the disk's is, and the output has a bound. */
Test(search, a_folder_with_many_names)
{
	folder("wide");
	for (int i = 0; i < 20000; i++)
		put(str_format(&rig->arena, "wide/%05d", (i * 7919) % 20000).at, "");
	const struct json *output = call("list_dir", "{\"path\": \"wide\", \"max_entries\": 3}");
	expect_json(
		rig->output,
		"{\"path\":\"wide\",\"entries\":[{\"path\":\"00000\",\"kind\":\"file\",\"size\":0},"
		"{\"path\":\"00001\",\"kind\":\"file\",\"size\":0},"
		"{\"path\":\"00002\",\"kind\":\"file\",\"size\":0}],\"truncated\":true}");
	output = call("glob", "{\"pattern\": \"1*9\", \"max_paths\": 10000}");
	cr_assert_eq(json_member(output, S("paths"))->as.list.count, 1000);
	output = call("list_dir", "{\"path\": \"wide\", \"max_entries\": 10000}");
	cr_assert(json_member(output, S("truncated"))->as.boolean);
	cr_assert_lt(rig->output.size, 1048576);
}

Test(search, a_folder_that_is_too_deep_is_left_out)
{
	int at = open(rig->workspace, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < LIMIT_FOLDER_DEPTH + 20; i++) {
		cr_assert_eq(mkdirat(at, "d", 0700), 0);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(openat(at, "needle", O_CREAT | O_WRONLY, 0600));
	close(at);
	const struct json *output = call("glob", "{\"pattern\": \"needle\"}");
	cr_assert_eq(json_member(output, S("paths"))->as.list.count, 0);
	cr_assert(json_member(output, S("truncated"))->as.boolean);
}

/* ---- patterns -------------------------------------------------------------------------- */

Test(pattern, globs)
{
	static const struct {
		const char *pattern, *path;
		bool match;
	} cases[] = {
		{ "a", "a", true },
		{ "a", "b", false },
		{ "*", "abc", true },
		{ "*", "a/b", false },
		{ "*.c", ".c", true },
		{ "a*b*c", "aXbYbZc", true },
		{ "a*b*c", "aXbYbZ", false },
		{ "?", "/", false },
		{ "[a-c]x", "bx", true },
		{ "[!a-c]x", "bx", false },
		{ "[]]", "]", true },
		{ "[a", "[a", true },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "**", "a/b/c", true },
		{ "**/c", "c", true },
		{ "**/c", "a/b/c", true },
		{ "a/**", "a", false },
		{ "a/**", "a/b/c", true },
		{ "a/**/c", "a/c", true },
		{ "a/**/c", "a/b/b/c", true },
		{ "a/**/b/**/c", "a/b/x/b/c", true },
		{ "a/**/b/**/c", "a/x/c", false },
		{ "a/*/c", "a/b/b/c", false },
		{ "**/*.c/**", "a/x.c/y", true },
		{ "", "a", false },
	};
	for (size_t i = 0; i < COUNT(cases); i++)
		cr_expect_eq(
			path_pattern_match(str_from_c(cases[i].pattern), str_from_c(cases[i].path)),
			cases[i].match, "%s %s", cases[i].pattern, cases[i].path);
}

Test(pattern, many_stars_take_no_longer_than_few)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) pattern = { 0 };
	AUTO(buf) path = { 0 };
	for (int i = 0; i < 200; i++) {
		buf_add(&pattern, S("**/*a*a*a*b/"));
		buf_add(&path, S("aaaaaaaaaaaaaaaaaaaaa/"));
	}
	cr_assert(!path_pattern_match(buf_str(&pattern), buf_str(&path)));
}

Test(pattern, the_last_rule_of_a_gitignore_decides)
{
	AUTO(arena) arena = { 0 };
	const struct ignore_rules *root = ignore_rules_read(
		NULL, S(""), S("# comment\n*.o\n!keep.o\n/top\nbuild/\ndoc/*.txt\n\\#x\nend  \r\n"),
		&arena);
	const struct ignore_rules *inner =
		ignore_rules_read(root, S("in/"), S("!a.o\n/top2\n"), &arena);
	static const struct {
		const char *path;
		bool folder, ignored, ignored_inside;
	} cases[] = {
		{ "a.o", false, true, true },       { "keep.o", false, false, false },
		{ "in/a.o", false, true, false },   { "top", false, true, true },
		{ "in/top", false, false, false },  { "in/top2", false, false, true },
		{ "build", true, true, true },      { "build", false, false, false },
		{ "doc/a.txt", false, true, true }, { "x/doc/a.txt", false, false, false },
		{ "#x", false, true, true },        { "end", false, true, true },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str path = str_from_c(cases[i].path);
		cr_expect_eq(ignore_rules_match(root, path, cases[i].folder), cases[i].ignored,
			     "%s", cases[i].path);
		cr_expect_eq(ignore_rules_match(inner, path, cases[i].folder),
			     cases[i].ignored_inside, "%s", cases[i].path);
	}
}
