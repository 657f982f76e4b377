/* tool/tool_issue.c -- issue_read, issue_list, issue_comment, pull_request_open, pull_request_feedback.
 *
 * The tracker is that of the run's profile, as it was at the start, unless the inputs name another one
 * (tracker/trackers.h).
 *
 * A comment contains the effect's id, hidden; a pull request is known by its head branch.  So after a
 * crash, and before a further attempt, the tracker is asked whether the change is there already.
 */
#include <stdlib.h>

#include "contract/run_tracker_types.h"
#include "tool/tool_context.h"
#include "tracker/trackers.h"

struct issue_call {
	struct tool_running running; /* first */
	uint64_t request;            /* of the trackers */
	struct trackers *trackers;
	/* Of a probe: */
	tool_asked *asked;
	void *context;
	uint64_t argument;
};

static void request_end(struct tool_running *running)
{
	struct issue_call *issue = (struct issue_call *)running;
	tracker_stop(issue->trackers, issue->request, &running->stop_error);
}

static void request_done(void *context, uint64_t id, const struct tracker_result *from)
{
	struct issue_call *issue = (struct issue_call *)tool_context_find(context, id);
	if (issue == NULL)
		return;
	const struct tool_result result = { .output = from->output,
					    .error = from->error,
					    .retry_after_us = from->retry_after_us };
	/* Then the error says what is known. */
	if (from->error.code == ERROR_OUTCOME_UNKNOWN)
		issue->running.stop_error.code = ERROR_NONE;
	tool_context_done(&issue->running, &result);
	free(issue);
}

static bool request_start(const struct tool_host *host, const struct tool_call *call,
			  const struct tracker_request *request, uint64_t *out_running,
			  struct error *error)
{
	struct trackers *trackers = tool_context_trackers(host->tool_context);
	if (trackers == NULL)
		return fail(error, ERROR_UNAVAILABLE, "this program has no trackers");
	struct issue_call *issue = calloc(1, sizeof(*issue));
	require(issue != NULL);
	issue->trackers = trackers;
	issue->running.end = request_end;
	tool_context_begin(&issue->running, host, call);
	issue->request = tracker_start(trackers, request, request_done, host->tool_context,
				       issue->running.id);
	*out_running = issue->running.id;
	return true;
}

static void probe_done(void *context, uint64_t argument, const struct tracker_result *from)
{
	struct issue_call *issue = context;
	(void)argument;
	enum tool_answer answer = from->error.code != ERROR_NONE ? TOOL_UNKNOWN
				  : from->output != NULL         ? TOOL_HAPPENED
								 : TOOL_NOT_HAPPENED;
	issue->asked(issue->context, issue->argument, answer, from->output);
	free(issue);
}

static bool probe_start(const struct tool_host *host, const struct tool_call *call,
			const struct tracker_request *request, struct error *error)
{
	struct trackers *trackers = tool_context_trackers(host->tool_context);
	if (trackers == NULL)
		return fail(error, ERROR_UNAVAILABLE, "this program has no trackers");
	struct issue_call *issue = calloc(1, sizeof(*issue));
	require(issue != NULL);
	issue->asked = call->asked;
	issue->context = call->context;
	issue->argument = call->argument;
	tracker_start(trackers, request, probe_done, issue, 0);
	return true;
}

/* The tracker of the inputs, else of the run's profile, else none. */
static void take_tracker(const struct tool_call *call, bool named,
			 enum pipeline_profile_tracker tracker, struct tracker_request *request)
{
	request->repository = call->repository;
	request->tracker = PIPELINE_PROFILE_TRACKER_NOOP;
	if (named)
		request->tracker = tracker;
	else if (!pipeline_profile_tracker_from(call->tracker, &request->tracker))
		request->tracker = PIPELINE_PROFILE_TRACKER_NOOP;
}

/* ---- issues ----------------------------------------------------------------------------- */

static bool read_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_issue_read_inputs *inputs =
		TOOL_INPUTS(run_issue_read_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct tracker_request request = { .operation = TRACKER_ISSUE_READ, .id = inputs->id };
	take_tracker(call, has(inputs, tracker), inputs->tracker, &request);
	return request_start(host, call, &request, out_running, error);
}

static bool list_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_issue_list_inputs *inputs =
		TOOL_INPUTS(run_issue_list_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct tracker_request request = { .operation = TRACKER_ISSUE_LIST,
					   .search = inputs->search,
					   .limit = inputs->limit };
	take_tracker(call, has(inputs, tracker), inputs->tracker, &request);
	return request_start(host, call, &request, out_running, error);
}

static bool comment_request(const struct tool_call *call, enum tracker_operation operation,
			    struct arena *arena, struct tracker_request *out_request,
			    struct error *error)
{
	char id[UUID_TEXT_SIZE];
	const struct run_issue_comment_inputs *inputs =
		TOOL_INPUTS(run_issue_comment_inputs, call, arena, error);
	if (inputs == NULL)
		return false;
	*out_request = (struct tracker_request){ .operation = operation,
						 .id = inputs->id,
						 .text = inputs->text,
						 .look_first = call->attempt > 1 };
	out_request->marker = str_copy(arena, uuid_text(&call->effect, id));
	take_tracker(call, has(inputs, tracker), inputs->tracker, out_request);
	return true;
}

static bool comment_start(const struct tool_host *host, const struct tool_call *call,
			  uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct tracker_request request;
	return comment_request(call, TRACKER_COMMENT_ADD, &arena, &request, error) &&
	       request_start(host, call, &request, out_running, error);
}

static bool comment_probe(const struct tool_host *host, const struct tool_call *call,
			  struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct tracker_request request;
	return comment_request(call, TRACKER_COMMENT_FIND, &arena, &request, error) &&
	       probe_start(host, call, &request, error);
}

/* ---- pull requests ---------------------------------------------------------------------- */

static bool open_request(const struct tool_call *call, enum tracker_operation operation,
			 struct arena *arena, struct tracker_request *out_request,
			 struct error *error)
{
	const struct run_pull_request_open_inputs *inputs =
		TOOL_INPUTS(run_pull_request_open_inputs, call, arena, error);
	if (inputs == NULL)
		return false;
	*out_request = (struct tracker_request){ .operation = operation,
						 .title = inputs->title,
						 .text = inputs->body,
						 .head = inputs->head,
						 .base = inputs->base,
						 .draft = inputs->draft,
						 .look_first = call->attempt > 1 };
	if (has(inputs, repository))
		out_request->project = inputs->repository;
	take_tracker(call, has(inputs, tracker), inputs->tracker, out_request);
	return true;
}

static bool open_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct tracker_request request;
	return open_request(call, TRACKER_PULL_OPEN, &arena, &request, error) &&
	       request_start(host, call, &request, out_running, error);
}

static bool open_probe(const struct tool_host *host, const struct tool_call *call,
		       struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct tracker_request request;
	return open_request(call, TRACKER_PULL_FIND, &arena, &request, error) &&
	       probe_start(host, call, &request, error);
}

static bool feedback_start(const struct tool_host *host, const struct tool_call *call,
			   uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_pull_request_feedback_inputs *inputs =
		TOOL_INPUTS(run_pull_request_feedback_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct tracker_request request = { .operation = TRACKER_PULL_FEEDBACK,
					   .number = inputs->number };
	if (has(inputs, repository))
		request.project = inputs->repository;
	take_tracker(call, has(inputs, tracker), inputs->tracker, &request);
	return request_start(host, call, &request, out_running, error);
}

const struct tool tool_issue_read = {
	.name = "issue_read",
	.text = "Reads an issue of the tracker: title, description as Markdown, status, labels. Use "
		"it when you know the issue's number, key or address.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_HIGH,
	.inputs = run_issue_read_inputs_type,
	.outputs = run_issue_type,
	.start = read_start,
	.stop = tool_context_stop,
};

const struct tool tool_issue_list = {
	.name = "issue_list",
	.text = "Lists open issues of the tracker, newest first. Use search to find those with "
		"certain words.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_HIGH,
	.inputs = run_issue_list_inputs_type,
	.outputs = run_issue_page_type,
	.start = list_start,
	.stop = tool_context_stop,
};

const struct tool tool_issue_comment = {
	.name = "issue_comment",
	.text = "Adds a comment to an issue of the tracker, once, also after a crash. Other people "
		"read it.",
	.class = RUN_CLASS_PROBE,
	.risk = RUN_RISK_HIGH,
	.inputs = run_issue_comment_inputs_type,
	.outputs = run_issue_comment_outputs_type,
	.start = comment_start,
	.stop = tool_context_stop,
	.probe = comment_probe,
};

const struct tool tool_pull_request_open = {
	.name = "pull_request_open",
	.text = "Opens a pull request (GitHub) or merge request (GitLab) for a branch that has been "
		"pushed; if one is open for this branch already, returns that.",
	.class = RUN_CLASS_PROBE,
	.risk = RUN_RISK_HIGH,
	.inputs = run_pull_request_open_inputs_type,
	.outputs = run_pull_request_type,
	.start = open_start,
	.stop = tool_context_stop,
	.probe = open_probe,
};

const struct tool tool_pull_request_feedback = {
	.name = "pull_request_feedback",
	.text = "Reads what reviewers and checks say about a pull request: comments with file and "
		"line, the decision, failed checks.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_HIGH,
	.inputs = run_pull_request_feedback_inputs_type,
	.outputs = run_pull_request_feedback_type,
	.start = feedback_start,
	.stop = tool_context_stop,
};
