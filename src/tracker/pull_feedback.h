/* tracker/pull_feedback.h -- gathers what reviewers and checks say about a pull request.
 *
 * Numbers and bytes are limited; what is left out sets `truncated`.
 */
#ifndef TRACKER_PULL_FEEDBACK_H
#define TRACKER_PULL_FEEDBACK_H

#include "base/json.h"

struct pull_comment {
	struct str author, text, path, url;
	int64_t line; /* 0 = none */
};

struct pull_check {
	struct str name, outcome, summary, url;
};

struct review_decision;

struct pull_feedback {
	int64_t number;
	struct str status, url, commit;
	int64_t pending;
	struct pull_comment *comments;
	size_t comment_count;
	struct pull_check *checks;
	size_t check_count;
	struct review_decision *decisions; /* the newest of each reviewer */
	size_t decision_count;
	size_t bytes; /* of all texts */
	bool truncated;
};

struct pull_feedback *pull_feedback_new(struct arena *arena);
/* A comment without text is left out. */
void pull_feedback_comment(struct pull_feedback *feedback, const struct pull_comment *comment);
void pull_feedback_check(struct pull_feedback *feedback, const struct pull_check *check);
/* A review of GitHub: APPROVED, CHANGES_REQUESTED and DISMISSED replace what the reviewer said before. */
void pull_feedback_decide(struct pull_feedback *feedback, struct str reviewer, struct str state,
			  struct arena *arena);
/* run.PullRequestFeedback */
const struct json *pull_feedback_output(const struct pull_feedback *feedback, struct arena *arena);

#endif
