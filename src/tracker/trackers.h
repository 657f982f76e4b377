/* tracker/trackers.h -- issues and pull requests of the tracker of a profile.
 *
 *	struct tracker_request request = { .operation = TRACKER_ISSUE_READ,
 *					   .tracker = PIPELINE_PROFILE_TRACKER_GITHUB,
 *					   .repository = S("/src/app"), .id = S("123") };
 *	tracker_start(trackers, &request, done, context, argument);
 *
 * A request may take several HTTP requests.  Every answer is read on a reader thread, where the
 * tracker's own file decides on the next request (tracker.h); the loop only sends.  Everything that
 * comes back, also an error, is without the token.  Each error names tracker, host and object.
 *
 * A request that changes something (comment, open a pull request) and gets no clear answer is followed
 * by one that looks whether it happened.  If that is not clear either, it ends with OUTCOME_UNKNOWN.
 *
 * A program has one `struct trackers`, used on the loop thread only.
 */
#ifndef TRACKER_TRACKERS_H
#define TRACKER_TRACKERS_H

#include "base/error.h"
#include "contract/pipeline_types.h"

struct json;
struct loop;
struct trackers;

enum tracker_operation {
	TRACKER_ISSUE_READ,    /* id: run.Issue */
	TRACKER_ISSUE_LIST,    /* search, limit: run.IssuePage */
	TRACKER_COMMENT_ADD,   /* id, text, marker: run.IssueCommentOutputs */
	TRACKER_COMMENT_FIND,  /* id, marker: the same, or NULL when there is no such comment */
	TRACKER_PULL_OPEN,     /* title, text, head, base, draft: run.PullRequest */
	TRACKER_PULL_FIND,     /* head, base: the same, or NULL when none is open */
	TRACKER_PULL_FEEDBACK, /* number: run.PullRequestFeedback */
};

struct tracker_request {
	enum tracker_operation operation;
	enum pipeline_profile_tracker tracker;
	struct str repository; /* folder of the repository; "" = none */
	struct str project;    /* owner/repo; "" = that of the remote origin of the repository */
	struct str id;         /* of an issue */
	struct str search;
	int64_t limit;
	struct str text;   /* of a comment or a pull request */
	struct str marker; /* of a comment: the effect's id */
	struct str title, head, base;
	bool draft;
	int64_t number;  /* of a pull request */
	bool look_first; /* it may have happened in an earlier attempt */
};

struct tracker_result {
	const struct json *output; /* valid during done(); NULL = it failed, or nothing was found */
	struct error error;        /* code NONE = it succeeded */
	int64_t retry_after_us;    /* how long the tracker wants to be left alone */
};

typedef void tracker_done(void *context, uint64_t argument, const struct tracker_result *result);

struct tracker_settings {
	struct str github_url, gitlab_url, jira_url;
	struct str jira_email, jira_project, jira_version;
	struct str folder;  /* of the issues of tracker file, relative to the repository */
	int64_t timeout_ms; /* of an HTTP request */
};

struct trackers_settings {
	struct loop *loop;
	struct str_list private_addresses; /* that trackers may have */
	struct tracker_settings trackers;  /* outlives the trackers */
	/* The token of a tracker, "" when none is set; any thread.  The error never contains it. */
	bool (*token)(void *context, enum pipeline_profile_tracker tracker, struct arena *arena,
		      struct str *out_token, struct error *error);
	void *context;
};

/* Fails with INVALID when a private address cannot be parsed. */
MUST_CHECK bool trackers_new(const struct trackers_settings *settings,
			     struct trackers **out_trackers, struct error *error);
/* Drops what is under way; done() is not called. */
void trackers_free(struct trackers *trackers);
/* The server's own port, to which no request may go. */
void trackers_set_own_port(struct trackers *trackers, int port);

/* Copies the request.  done() is called once, on the loop thread, never from inside this function.
 * Returns an id for tracker_stop(). */
uint64_t tracker_start(struct trackers *trackers, const struct tracker_request *request,
		       tracker_done *done, void *context, uint64_t argument);
/* Ends it with the error `why`, or with OUTCOME_UNKNOWN when a change was already sent.  Does nothing
 * when it has ended. */
void tracker_stop(struct trackers *trackers, uint64_t id, const struct error *why);

#endif
