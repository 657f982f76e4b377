/* tracker/tracker_gitlab.c -- GitLab, by version 4 of its REST API.
 *
 * A project is named by its path, with its slashes escaped.  A comment (note) ends with an HTML comment that
 * has its marker.  A merge request is found by its source branch; GitLab refuses a second one with 409.
 */
#include "base/limits.h"
#include "tracker/issue_name.h"
#include "tracker/pull_feedback.h"
#include "tracker/tracker.h"

enum stage {
	BEGIN,
	ISSUE,
	ISSUES,
	NOTES,
	NOTED,
	PROJECT,
	OPENED,
	OPEN_MERGES,
	MERGE,
	APPROVALS,
	DISCUSSIONS,
	JOBS,
};

/* ---- place -------------------------------------------------------------------------------- */

static bool locate(struct tracker_exchange *exchange, struct error *error)
{
	const struct tracker_request *request = exchange->request;
	struct arena *arena = exchange->arena;
	struct issue_name name = { .project = request->project };
	struct str base = tracker_base_url(exchange->settings->gitlab_url);
	bool one = request->operation == TRACKER_ISSUE_READ ||
		   request->operation == TRACKER_COMMENT_ADD ||
		   request->operation == TRACKER_COMMENT_FIND;
	exchange->url = str_format(arena, STR_FMT "/api/v4", STR_ARG(base));
	if (one && !issue_name_read(request->id, &name, error))
		return false;
	if (name.host.size > 0 && !str_equal_folded(name.host, issue_name_host(base)))
		return fail(error, ERROR_INVALID,
			    "the issue is on " STR_FMT ", not on " STR_FMT
			    "; choose its tracker, or set tracker.gitlab_url",
			    STR_ARG(name.host), STR_ARG(issue_name_host(base)));
	if (name.project.size == 0 && !tracker_project(exchange, &name.project, error))
		return false;
	if (!tracker_is_project(name.project, 0, error))
		return false;
	exchange->project = name.project;
	exchange->key = name.key;
	exchange->subject = one ? str_format(arena, "issue " STR_FMT "#" STR_FMT,
					     STR_ARG(name.project), STR_ARG(name.key))
			    : request->operation == TRACKER_PULL_FEEDBACK
				    ? str_format(arena, "merge request " STR_FMT "!%lld",
						 STR_ARG(name.project), (long long)request->number)
				    : str_format(arena, "project " STR_FMT, STR_ARG(name.project));
	if (exchange->token.size > 0)
		exchange->headers[exchange->header_count++] =
			(struct http_header){ S("PRIVATE-TOKEN"), exchange->token };
	return true;
}

static struct str project_path(const struct tracker_exchange *exchange, struct str rest)
{
	return str_format(exchange->arena, "/projects/" STR_FMT STR_FMT,
			  STR_ARG(tracker_escape(exchange->arena, exchange->project)),
			  STR_ARG(rest));
}

static struct str issue_path(const struct tracker_exchange *exchange, const char *rest)
{
	return project_path(exchange, str_format(exchange->arena, "/issues/" STR_FMT "%s",
						 STR_ARG(exchange->key), rest));
}

static struct str merge_path(const struct tracker_exchange *exchange, const char *rest)
{
	return project_path(exchange, str_format(exchange->arena, "/merge_requests/%lld%s",
						 (long long)exchange->request->number, rest));
}

/* ---- issues ------------------------------------------------------------------------------- */

static struct run_issue *issue_of(const struct tracker_exchange *exchange, const struct json *from,
				  size_t most)
{
	struct arena *arena = exchange->arena;
	struct run_issue *issue = run_issue_new(arena);
	bool truncated;
	SET(issue, id,
	    str_format(arena, STR_FMT "#" STR_FMT, STR_ARG(exchange->project),
		       STR_ARG(tracker_id_text(arena, json_member(from, S("iid"))))));
	SET(issue, title, json_text(json_member(from, S("title"))));
	SET(issue, description,
	    tracker_shorten(json_text(json_member(from, S("description"))), most, &truncated));
	SET(issue, status, json_text(json_member(from, S("state"))));
	SET(issue, url, json_text(json_member(from, S("web_url"))));
	SET(issue, labels, tracker_names(arena, json_member(from, S("labels")), S("name")));
	SET(issue, tracker, PIPELINE_PROFILE_TRACKER_GITLAB);
	if (truncated)
		SET(issue, truncated, true);
	return issue;
}

static bool read_issue(struct tracker_exchange *exchange, struct tracker_move *out_move,
		       struct error *error)
{
	if (exchange->stage == BEGIN)
		return tracker_get(exchange, ISSUE, issue_path(exchange, ""), out_move);
	if (json_text(json_member(exchange->reply, S("title"))).size == 0)
		return tracker_fail_form(exchange, "title", error);
	struct run_issue *issue = issue_of(exchange, exchange->reply, LIMIT_TRACKER_TEXT_BYTES);
	return tracker_end(run_issue_tree(issue, exchange->arena), out_move);
}

/* A list has at most 100 issues, which is one page. */
static bool list_issues(struct tracker_exchange *exchange, struct tracker_move *out_move,
			struct error *error)
{
	const struct tracker_request *request = exchange->request;
	size_t most = (size_t)request->limit;
	struct tracker_issues *found = tracker_issues(exchange, most);
	if (exchange->stage == BEGIN) {
		struct str search = request->search.size == 0
					    ? S("")
					    : str_format(exchange->arena, "&search=" STR_FMT,
							 STR_ARG(tracker_escape(exchange->arena,
										request->search)));
		struct str path =
			str_format(exchange->arena,
				   "/issues?state=opened&order_by=created_at&sort=desc" STR_FMT,
				   STR_ARG(search));
		return tracker_get_page(exchange, ISSUES, 1, project_path(exchange, path),
					out_move);
	}
	const struct json *list = exchange->reply;
	if (list == NULL || list->kind != JSON_LIST)
		return tracker_fail_form(exchange, "list of issues", error);
	for (size_t i = 0; i < list->as.list.count && found->count < most; i++)
		found->items[found->count++] =
			*issue_of(exchange, &list->as.list.at[i], LIMIT_TRACKER_LIST_TEXT_BYTES);
	return tracker_end_issues(exchange, out_move);
}

/* ---- comments ----------------------------------------------------------------------------- */

static bool comment_end(const struct tracker_exchange *exchange, const struct json *note,
			struct tracker_move *out_move)
{
	struct arena *arena = exchange->arena;
	struct run_issue_comment_outputs *outputs = run_issue_comment_outputs_new(arena);
	struct str id = tracker_id_text(arena, json_member(note, S("id")));
	SET(outputs, issue,
	    str_format(arena, STR_FMT "#" STR_FMT, STR_ARG(exchange->project),
		       STR_ARG(exchange->key)));
	SET(outputs, comment_id, id);
	SET(outputs, url,
	    str_format(arena, STR_FMT "/" STR_FMT "/-/issues/" STR_FMT "#note_" STR_FMT,
		       STR_ARG(tracker_base_url(exchange->settings->gitlab_url)),
		       STR_ARG(exchange->project), STR_ARG(exchange->key), STR_ARG(id)));
	return tracker_end(run_issue_comment_outputs_tree(outputs, arena), out_move);
}

static bool ask_notes(struct tracker_exchange *exchange, int64_t page,
		      struct tracker_move *out_move)
{
	return tracker_get_page(exchange, NOTES, page,
				issue_path(exchange, "/notes?order_by=created_at&sort=desc"),
				out_move);
}

static bool comment(struct tracker_exchange *exchange, struct tracker_move *out_move,
		    struct error *error)
{
	const struct tracker_request *request = exchange->request;
	bool finds = request->operation == TRACKER_COMMENT_FIND;
	struct arena *arena = exchange->arena;
	if (!tracker_need_token(exchange, error))
		return false;
	if (exchange->stage == NOTED)
		return comment_end(exchange, exchange->reply, out_move);
	if (exchange->stage == NOTES) {
		const struct json *found = tracker_find_marked(exchange->reply, request->marker);
		if (found != NULL)
			return comment_end(exchange, found, out_move);
		if (exchange->has_next && exchange->page >= LIMIT_TRACKER_PAGES)
			return tracker_fail_pages(error);
		if (exchange->has_next)
			return ask_notes(exchange, exchange->page + 1, out_move);
		if (finds)
			return tracker_end(NULL, out_move);
	} else if (finds || request->look_first) {
		return ask_notes(exchange, 1, out_move);
	}
	const struct tracker_member body[] = { { S("body"), tracker_marked(arena, request->text,
									   request->marker) } };
	return tracker_send(exchange, NOTED, "POST", issue_path(exchange, "/notes"),
			    tracker_object(arena, body, 1, NULL), out_move);
}

/* ---- merge requests ----------------------------------------------------------------------- */

/* In the words of a pull request. */
static struct str merge_status(const struct json *merge)
{
	struct str state = json_text(json_member(merge, S("state")));
	return str_equal(state, S("opened")) ? S("open") : state;
}

static bool merge_end(const struct tracker_exchange *exchange, const struct json *from,
		      struct tracker_move *out_move, struct error *error)
{
	const struct json *number = json_member(from, S("iid"));
	const struct json *draft = json_member(from, S("draft"));
	if (number == NULL || number->kind != JSON_INT)
		return tracker_fail_form(exchange, "number of a merge request", error);
	struct run_pull_request *pull = run_pull_request_new(exchange->arena);
	SET(pull, number, number->as.integer);
	SET(pull, title, json_text(json_member(from, S("title"))));
	SET(pull, status, merge_status(from));
	SET(pull, head, json_text(json_member(from, S("source_branch"))));
	SET(pull, base, json_text(json_member(from, S("target_branch"))));
	SET(pull, draft, draft != NULL && draft->kind == JSON_BOOL && draft->as.boolean);
	SET(pull, url, json_text(json_member(from, S("web_url"))));
	return tracker_end(run_pull_request_tree(pull, exchange->arena), out_move);
}

static bool ask_open_merges(struct tracker_exchange *exchange, struct tracker_move *out_move)
{
	struct str path =
		str_format(exchange->arena, "/merge_requests?state=opened&source_branch=" STR_FMT,
			   STR_ARG(tracker_escape(exchange->arena, exchange->request->head)));
	return tracker_get(exchange, OPEN_MERGES, project_path(exchange, path), out_move);
}

static bool post_merge(struct tracker_exchange *exchange, struct str base,
		       struct tracker_move *out_move)
{
	const struct tracker_request *request = exchange->request;
	struct str title = request->draft ? str_format(exchange->arena, "Draft: " STR_FMT,
						       STR_ARG(request->title))
					  : request->title;
	const struct tracker_member body[] = { { S("title"), title },
					       { S("description"), request->text },
					       { S("source_branch"), request->head },
					       { S("target_branch"), base } };
	tracker_send(exchange, OPENED, "POST", project_path(exchange, S("/merge_requests")),
		     tracker_object(exchange->arena, body, 4, NULL), out_move);
	out_move->accept = 409;
	return true;
}

static const struct json *find_merge(const struct tracker_exchange *exchange)
{
	const struct json *list = exchange->reply;
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count; i++)
		if (str_equal(json_text(json_member(&list->as.list.at[i], S("source_branch"))),
			      exchange->request->head))
			return &list->as.list.at[i];
	return NULL;
}

static bool open_merge(struct tracker_exchange *exchange, struct tracker_move *out_move,
		       struct error *error)
{
	const struct tracker_request *request = exchange->request;
	bool finds = request->operation == TRACKER_PULL_FIND;
	if (!tracker_need_token(exchange, error))
		return false;
	switch (exchange->stage) {
	case OPENED:
		if (exchange->status != 409)
			return merge_end(exchange, exchange->reply, out_move, error);
		exchange->state = tracker_refusal(exchange);
		return ask_open_merges(exchange, out_move);
	case OPEN_MERGES: {
		const struct json *found = find_merge(exchange);
		if (found != NULL)
			return merge_end(exchange, found, out_move, error);
		if (finds)
			return tracker_end(NULL, out_move);
		if (exchange->state != NULL)
			return fail(error, ERROR_TOOL_FAILED,
				    "GitLab refused the merge request of " STR_FMT
				    " (status 409: %s)",
				    STR_ARG(request->head), (const char *)exchange->state);
		break;
	}
	case PROJECT: {
		struct str base = json_text(json_member(exchange->reply, S("default_branch")));
		return base.size > 0 ? post_merge(exchange, base, out_move)
				     : tracker_fail_form(exchange, "default branch", error);
	}
	default:
		if (finds || request->look_first)
			return ask_open_merges(exchange, out_move);
		break;
	}
	if (request->base.size > 0)
		return post_merge(exchange, request->base, out_move);
	return tracker_get(exchange, PROJECT, project_path(exchange, S("")), out_move);
}

/* ---- feedback ----------------------------------------------------------------------------- */

static void add_note(struct pull_feedback *feedback, const struct json *note)
{
	const struct json *position = json_member(note, S("position"));
	const struct json *line = json_member(position, S("new_line"));
	const struct json *made = json_member(note, S("system"));
	if (made != NULL && made->kind == JSON_BOOL && made->as.boolean)
		return;
	if (line == NULL || line->kind != JSON_INT)
		line = json_member(position, S("old_line"));
	pull_feedback_comment(
		feedback,
		&(struct pull_comment){
			.author = json_text(
				json_member(json_member(note, S("author")), S("username"))),
			.text = json_text(json_member(note, S("body"))),
			.path = json_text(json_member(position, S("new_path"))),
			.line = line != NULL && line->kind == JSON_INT ? line->as.integer : 0 });
}

static void add_discussions(struct pull_feedback *feedback, const struct json *list)
{
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *notes = json_member(&list->as.list.at[i], S("notes"));
		for (size_t k = 0;
		     notes != NULL && notes->kind == JSON_LIST && k < notes->as.list.count; k++)
			add_note(feedback, &notes->as.list.at[k]);
	}
}

static void add_jobs(struct pull_feedback *feedback, const struct json *list)
{
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *from = &list->as.list.at[i];
		const struct json *optional = json_member(from, S("allow_failure"));
		struct str status = json_text(json_member(from, S("status")));
		bool may_fail =
			optional != NULL && optional->kind == JSON_BOOL && optional->as.boolean;
		if (str_equal(status, S("failed")) && !may_fail)
			pull_feedback_check(
				feedback,
				&(struct pull_check){
					.name = json_text(json_member(from, S("name"))),
					.outcome = status,
					.summary =
						json_text(json_member(from, S("failure_reason"))),
					.url = json_text(json_member(from, S("web_url"))) });
		else if (str_equal(status, S("running")) || str_equal(status, S("pending")) ||
			 str_equal(status, S("created")))
			feedback->pending++;
	}
}

/* The pipeline's number; "" = there is none. */
static struct str take_merge(struct tracker_exchange *exchange)
{
	struct pull_feedback *feedback = pull_feedback_new(exchange->arena);
	const struct json *pipeline = json_member(exchange->reply, S("head_pipeline"));
	feedback->number = exchange->request->number;
	feedback->status = merge_status(exchange->reply);
	feedback->url = json_text(json_member(exchange->reply, S("web_url")));
	const struct json *id = json_member(pipeline, S("id"));
	if (id != NULL && id->kind == JSON_INT)
		feedback->commit = json_print(exchange->arena, id);
	exchange->state = feedback;
	return feedback->commit;
}

static bool ask_jobs(struct tracker_exchange *exchange, int64_t page, struct tracker_move *out_move)
{
	const struct pull_feedback *feedback = exchange->state;
	struct str path = str_format(exchange->arena, "/pipelines/" STR_FMT "/jobs?",
				     STR_ARG(feedback->commit));
	return tracker_get_page(exchange, JOBS, page, project_path(exchange, path), out_move);
}

static void take_approvals(struct tracker_exchange *exchange)
{
	const struct json *list = json_member(exchange->reply, S("approved_by"));
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count; i++)
		pull_feedback_decide(
			exchange->state,
			json_text(json_member(json_member(&list->as.list.at[i], S("user")),
					      S("username"))),
			S("APPROVED"), exchange->arena);
}

static bool read_feedback(struct tracker_exchange *exchange, struct tracker_move *out_move,
			  struct error *error)
{
	struct pull_feedback *feedback = exchange->state;
	switch (exchange->stage) {
	case MERGE:
		(void)take_merge(exchange);
		return tracker_get(exchange, APPROVALS, merge_path(exchange, "/approvals"),
				   out_move);
	case APPROVALS:
		take_approvals(exchange);
		return tracker_get_page(exchange, DISCUSSIONS, 1,
					merge_path(exchange, "/discussions?"), out_move);
	case DISCUSSIONS:
		add_discussions(feedback, exchange->reply);
		if (exchange->has_next && exchange->page < LIMIT_TRACKER_PAGES)
			return tracker_get_page(exchange, DISCUSSIONS, exchange->page + 1,
						merge_path(exchange, "/discussions?"), out_move);
		if (feedback->commit.size > 0)
			return ask_jobs(exchange, 1, out_move);
		return tracker_end(pull_feedback_output(feedback, exchange->arena), out_move);
	case JOBS:
		add_jobs(feedback, exchange->reply);
		if (exchange->has_next && exchange->page < LIMIT_TRACKER_PAGES)
			return ask_jobs(exchange, exchange->page + 1, out_move);
		return tracker_end(pull_feedback_output(feedback, exchange->arena), out_move);
	default:
		(void)error;
		return tracker_get(exchange, MERGE, merge_path(exchange, ""), out_move);
	}
}

static bool next_move(struct tracker_exchange *exchange, struct tracker_move *out_move,
		      struct error *error)
{
	switch (exchange->request->operation) {
	case TRACKER_ISSUE_READ:
		return read_issue(exchange, out_move, error);
	case TRACKER_ISSUE_LIST:
		return list_issues(exchange, out_move, error);
	case TRACKER_COMMENT_ADD:
	case TRACKER_COMMENT_FIND:
		return comment(exchange, out_move, error);
	case TRACKER_PULL_OPEN:
	case TRACKER_PULL_FIND:
		return open_merge(exchange, out_move, error);
	case TRACKER_PULL_FEEDBACK:
		break;
	}
	return read_feedback(exchange, out_move, error);
}

const struct tracker tracker_gitlab = {
	.name = "gitlab", .variable = "GITLAB_TOKEN", .locate = locate, .next_move = next_move
};
