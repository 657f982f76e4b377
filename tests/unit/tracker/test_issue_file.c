/* Issues as Markdown files: title, status, labels, comments. */
#include <criterion/criterion.h>

#include "tracker/issue_file.h"

static struct issue_file read_good(struct arena *arena, struct str text)
{
	struct issue_file issue = { 0 };
	struct error error;
	cr_assert(issue_file_read(text, S("007-a-b.md"), arena, &issue, &error), "%s", error.text);
	return issue;
}

Test(issue_file, has_a_title_from_front_matter_heading_or_name)
{
	AUTO(arena) arena = { 0 };
	struct issue_file issue = read_good(
		&arena,
		S("---\ntitle: From above\nstatus: doing\nlabels: [a, 2]\n---\n# H\n\ntext\n"));
	cr_expect(str_equal(issue.title, S("From above")));
	cr_expect(str_equal(issue.status, S("doing")));
	cr_expect(issue.labels.count == 2 && str_equal(issue.labels.at[1], S("2")));
	cr_expect(str_equal(issue.description, S("text")));
	issue = read_good(&arena, S("\n# The heading\r\n\r\nline\r\n"));
	cr_expect(str_equal(issue.title, S("The heading")) && str_equal(issue.status, S("open")));
	cr_expect(str_equal(issue.description, S("line")));
	issue = read_good(&arena, S("```\n# no heading\n```\n"));
	cr_expect(str_equal(issue.title, S("a b")));
	issue = read_good(&arena, S("text\n\n# later\n"));
	cr_expect(str_equal(issue.title, S("later")));
	cr_expect(str_equal(issue.description, S("text\n\n# later")));
	issue = read_good(&arena, S(""));
	cr_expect(str_equal(issue.title, S("a b")) && issue.description.size == 0);
	issue = read_good(&arena, S("---\nlabels: a, b ,\n---"));
	cr_expect(issue.labels.count == 2 && str_equal(issue.labels.at[1], S("b")));
}

Test(issue_file, is_refused_when_it_is_broken)
{
	AUTO(arena) arena = { 0 };
	struct issue_file issue;
	struct error error;
	const struct str bad[] = { S("---\ntitle: x\n"), S("---\n- a\n---\n"),
				   S("---\na: [\n---\n"), S("\xff") };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect(!issue_file_read(bad[i], S("1-x.md"), &arena, &issue, &error));
		cr_expect(str_starts(str_from_c(error.text), S("1-x.md:")), "%s", error.text);
	}
}

Test(issue_file, ends_before_its_comments)
{
	AUTO(arena) arena = { 0 };
	struct str comment = issue_file_comment(&arena, S(" Done. "), S("id-1"));
	struct str text = str_format(&arena, "# T\n\nbody\n" STR_FMT, STR_ARG(comment));
	cr_expect(str_equal(read_good(&arena, text).description, S("body")));
	cr_expect(issue_file_has_comment(text, S("id-1")));
	cr_expect(!issue_file_has_comment(text, S("id-2")));
	cr_expect(!issue_file_has_comment(text, S("id-")));
	cr_expect(!issue_file_has_comment(S("id-1"), S("id-1")));
}

Test(issue_file, has_a_number_in_its_name)
{
	int64_t number = 0;
	cr_expect(issue_file_number(S("007-x.md"), &number) && number == 7);
	cr_expect(issue_file_number(S("12.md"), &number) && number == 12);
	cr_expect(!issue_file_number(S("7x.md"), &number));
	cr_expect(!issue_file_number(S("7-x.txt"), &number));
	cr_expect(!issue_file_number(S("README.md"), &number));
}
