/* Issue files under libFuzzer: whatever a file contains, it is an issue with a title and a status, or an error with a
 * text; an appended comment is found and changes nothing else.  Names of issues and git remotes are read too. */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tracker/issue_file.h"
#include "tracker/issue_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	struct str text = { (const char *)data, size }, project;
	struct issue_file issue, again;
	struct issue_name name;
	struct error error = { 0 };
	if (issue_file_read(text, S("1-x.md"), &arena, &issue, &error)) {
		require(issue.title.size > 0 && issue.status.size > 0);
		struct str comment = issue_file_comment(&arena, S("c"), S("never-in-a-corpus"));
		/* Not formatted: the text may contain NUL. */
		AUTO(buf) both = { 0 };
		buf_add(&both, text);
		buf_add(&both, S("\n"));
		buf_add(&both, comment);
		struct str longer = buf_str(&both);
		require(issue_file_has_comment(longer, S("never-in-a-corpus")));
		require(issue_file_read(longer, S("1-x.md"), &arena, &again, &error));
		require(str_equal(again.status, issue.status));
	} else {
		require(error.code != ERROR_NONE && error.text[0] != '\0');
	}
	if (issue_name_read(text, &name, &error))
		require(name.key.size > 0 &&
			(name.project.size == 0 || issue_name_is_project(name.project)));
	if (!issue_name_read_jira(text, &arena, &name, &error))
		require(error.code != ERROR_NONE);
	struct str url = issue_name_remote(text, S("origin"), &arena);
	if (issue_name_project(url, &project))
		require(issue_name_is_project(project));
	return 0;
}
