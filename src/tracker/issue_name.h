/* tracker/issue_name.h -- how people name issues, and what a git remote says about its project.
 *
 * Pure. */
#ifndef TRACKER_ISSUE_NAME_H
#define TRACKER_ISSUE_NAME_H

#include "base/error.h"

struct issue_name {
	struct str host;    /* of an address, with its port; "" = none given */
	struct str project; /* owner/repo, group/sub/project; "" = none given */
	struct str key;     /* 123, or ABC-123 */
};

/* 123, #123, owner/repo#123, https://HOST/owner/repo/issues/123 (or /pull/, /-/issues/, /-/merge_requests/).
 * INVALID with the forms that are understood. */
MUST_CHECK bool issue_name_read(struct str text, struct issue_name *out_name, struct error *error);
/* ABC-123, https://HOST/browse/ABC-123 */
MUST_CHECK bool issue_name_read_jira(struct str text, struct arena *arena,
				     struct issue_name *out_name, struct error *error);

/* The URL of the remote in the text of a git config file; "" = it has none. */
struct str issue_name_remote(struct str config, struct str remote, struct arena *arena);
/* owner/repo of a remote's URL: https://HOST/owner/repo.git, ssh://git@HOST/owner/repo, git@HOST:owner/repo.git.
 * False when it has no such form (a path, for example). */
bool issue_name_project(struct str url, struct str *out_project);
/* At least two names of letters, digits and ._- with slashes between them. */
bool issue_name_is_project(struct str project);
/* HOST of http://HOST/…, with its port. */
struct str issue_name_host(struct str url);

#endif
