/* Names of issues, and git remotes: what is understood, and what never becomes a part of a URL. */
#include <criterion/criterion.h>

#include "contract/pipeline_types.h"
#include "tracker/issue_name.h"
#include "tracker/tracker.h"

static const struct {
	const char *text, *host, *project, *key;
} good[] = {
	{ "123", "", "", "123" },
	{ " #7 ", "", "", "7" },
	{ "007", "", "", "7" },
	{ "acme/site#9", "", "acme/site", "9" },
	{ "a/b/c#1", "", "a/b/c", "1" },
	{ "https://github.com/acme/site/issues/12", "github.com", "acme/site", "12" },
	{ "https://github.com/acme/site/pull/12/files?x=1#y", "github.com", "acme/site", "12" },
	{ "http://127.0.0.1:80/a/b/c/-/issues/3", "127.0.0.1:80", "a/b/c", "3" },
	{ "https://gitlab.com/a/b/-/merge_requests/3", "gitlab.com", "a/b", "3" },
};

Test(issue_name, has_many_forms)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct issue_name name;
		struct error error;
		cr_assert(issue_name_read(str_from_c(good[i].text), &name, &error), "%s: %s",
			  good[i].text, error.text);
		cr_expect(str_equal(name.host, str_from_c(good[i].host)), "%s", good[i].text);
		cr_expect(str_equal(name.project, str_from_c(good[i].project)), "%s", good[i].text);
		cr_expect(str_equal(name.key, str_from_c(good[i].key)), "%s", good[i].text);
	}
}

Test(issue_name, refuses_the_rest)
{
	static const char *const bad[] = { "",
					   "x",
					   "-1",
					   "1.5",
					   "site#1",
					   "a/..#1",
					   "../b#1",
					   "a b/c#1",
					   "a/b?c#1",
					   "a//b#1",
					   "a/b/#1",
					   "a/b#",
					   "a/b#1x",
					   "1234567890123456789",
					   "https://github.com/issues/1",
					   "https://github.com/a/../issues/1",
					   "https:///a/b/issues/1",
					   "https://github.com/a/b/issues/",
					   "ftp://h/a/b/issues/1" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct issue_name name;
		struct error error = { 0 };
		cr_expect(!issue_name_read(str_from_c(bad[i]), &name, &error), "%s", bad[i]);
		cr_expect(error.code == ERROR_INVALID, "%s", bad[i]);
	}
}

Test(issue_name, of_jira)
{
	AUTO(arena) arena = { 0 };
	struct issue_name name;
	struct error error;
	cr_assert(issue_name_read_jira(S("abc_2-7"), &arena, &name, &error));
	cr_expect(str_equal(name.key, S("ABC_2-7")));
	cr_assert(issue_name_read_jira(S("https://x.example/browse/AB-1?a=b"), &arena, &name,
				       &error));
	cr_expect(str_equal(name.key, S("AB-1")) && str_equal(name.host, S("x.example")));
	static const char *const bad[] = { "7",     "ABC",     "-7",   "1A-7",
					   "A B-7", "ABC-7/x", "ABC-", "https://x.example/ABC-7",
					   "AB-1-2" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(!issue_name_read_jira(str_from_c(bad[i]), &arena, &name, &error), "%s",
			  bad[i]);
}

Test(issue_name, of_a_git_remote)
{
	AUTO(arena) arena = { 0 };
	struct str config = S("[core]\n\turl = no\n# [remote \"origin\"]\n[remote \"other\"]\n"
			      "url = x\n[ remote \"origin\" ]\n\tfetch = +refs\n\tURL = "
			      "\"git@h:a/b.git\"\r\n[branch]\nurl = y\n");
	cr_expect(str_equal(issue_name_remote(config, S("origin"), &arena), S("git@h:a/b.git")));
	cr_expect(str_equal(issue_name_remote(config, S("other"), &arena), S("x")));
	cr_expect(issue_name_remote(config, S("none"), &arena).size == 0);
	static const struct {
		const char *url, *project;
	} rows[] = { { "git@github.com:acme/site.git", "acme/site" },
		     { "https://ada:secret@github.com/acme/site.git/", "acme/site" },
		     { "ssh://git@h:2222/a/b/c", "a/b/c" },
		     { "/srv/site.git", NULL },
		     { "../site", NULL },
		     { "https://github.com/acme", NULL },
		     { "file:///a/b", NULL },
		     { "git@h:a/../b", NULL } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str project;
		bool found = issue_name_project(str_from_c(rows[i].url), &project);
		cr_expect(found == (rows[i].project != NULL), "%s", rows[i].url);
		cr_expect(!found || str_equal(project, str_from_c(rows[i].project)), "%s",
			  rows[i].url);
	}
	cr_expect(str_equal(issue_name_host(S("https://a:b@h:1/x")), S("h:1")));
}

Test(trackers, has_one_for_each_word)
{
	for (size_t i = 0; i < pipeline_profile_tracker_count(); i++)
		cr_expect(tracker_of((enum pipeline_profile_tracker)i) != NULL);
}
