/* tracker/tracker_github.c -- GitHub, by its REST API.
 *
 * A comment ends with an HTML comment that has its marker: invisible on the page, found by listing the
 * comments.  A pull request is found by its head branch; GitHub refuses a second one with 422.
 */
#include "base/limits.h"
#include "tracker/issue_name.h"
#include "tracker/pull_feedback.h"
#include "tracker/tracker.h"

enum stage {
	BEGIN,
	ISSUE,
	ISSUES,
	COMMENTS,
	COMMENTED,
	REPOSITORY,
	OPENED,
	OPEN_PULLS,
	PULL,
	REVIEWS,
	REVIEW_COMMENTS,
	CHECKS,
	STATUSES,
};

/* ---- place -------------------------------------------------------------------------------- */

/* The host of pages: api.github.com belongs to github.com. */
static struct str page_host(struct str url)
{
	struct str host = issue_name_host(url);
	return str_equal_folded(host, S("api.github.com")) ? S("github.com") : host;
}

static bool is_pull(enum tracker_operation operation)
{
	return operation == TRACKER_PULL_OPEN || operation == TRACKER_PULL_FIND ||
	       operation == TRACKER_PULL_FEEDBACK;
}

static bool locate(struct tracker_exchange *exchange, struct error *error)
{
	const struct tracker_request *request = exchange->request;
	struct arena *arena = exchange->arena;
	struct issue_name name = { .project = request->project };
	exchange->url = tracker_base_url(exchange->settings->github_url);
	bool one = request->operation != TRACKER_ISSUE_LIST && !is_pull(request->operation);
	if (one && !issue_name_read(request->id, &name, error))
		return false;
	if (name.host.size > 0 && !str_equal_folded(name.host, page_host(exchange->url)))
		return fail(error, ERROR_INVALID,
			    "the issue is on " STR_FMT ", not on " STR_FMT
			    "; choose its tracker, or set tracker.github_url",
			    STR_ARG(name.host), STR_ARG(page_host(exchange->url)));
	if (name.project.size == 0 && !tracker_project(exchange, &name.project, error))
		return false;
	if (!tracker_is_project(name.project, 2, error))
		return false;
	exchange->project = name.project;
	exchange->key = name.key;
	exchange->subject =
		one ? str_format(arena, "issue " STR_FMT "#" STR_FMT, STR_ARG(name.project),
				 STR_ARG(name.key))
		: request->operation == TRACKER_PULL_FEEDBACK
			? str_format(arena, "pull request " STR_FMT "#%lld", STR_ARG(name.project),
				     (long long)request->number)
			: str_format(arena, "repository " STR_FMT, STR_ARG(name.project));
	exchange->headers[exchange->header_count++] =
		(struct http_header){ S("Accept"), S("application/vnd.github+json") };
	exchange->headers[exchange->header_count++] =
		(struct http_header){ S("X-GitHub-Api-Version"), S("2022-11-28") };
	if (exchange->token.size > 0)
		exchange->headers[exchange->header_count++] =
			(struct http_header){ S("Authorization"),
					      str_format(arena, "Bearer " STR_FMT,
							 STR_ARG(exchange->token)) };
	return true;
}

static struct str repository_path(const struct tracker_exchange *exchange, struct str rest)
{
	return str_format(exchange->arena, "/repos/" STR_FMT STR_FMT, STR_ARG(exchange->project),
			  STR_ARG(rest));
}

static struct str issue_path(const struct tracker_exchange *exchange, struct str rest)
{
	return str_format(exchange->arena, "/repos/" STR_FMT "/issues/" STR_FMT STR_FMT,
			  STR_ARG(exchange->project), STR_ARG(exchange->key), STR_ARG(rest));
}

static struct str pull_path(const struct tracker_exchange *exchange, const char *rest)
{
	return str_format(exchange->arena, "/repos/" STR_FMT "/pulls/%lld%s",
			  STR_ARG(exchange->project), (long long)exchange->request->number, rest);
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
		       STR_ARG(tracker_id_text(arena, json_member(from, S("number"))))));
	SET(issue, title, json_text(json_member(from, S("title"))));
	SET(issue, description,
	    tracker_shorten(json_text(json_member(from, S("body"))), most, &truncated));
	SET(issue, status, json_text(json_member(from, S("state"))));
	SET(issue, url, json_text(json_member(from, S("html_url"))));
	SET(issue, labels, tracker_names(arena, json_member(from, S("labels")), S("name")));
	SET(issue, tracker, PIPELINE_PROFILE_TRACKER_GITHUB);
	if (truncated)
		SET(issue, truncated, true);
	return issue;
}

static bool read_issue(struct tracker_exchange *exchange, struct tracker_move *out_move,
		       struct error *error)
{
	if (exchange->stage == BEGIN)
		return tracker_get(exchange, ISSUE, issue_path(exchange, S("")), out_move);
	if (json_text(json_member(exchange->reply, S("title"))).size == 0)
		return tracker_fail_form(exchange, "title", error);
	struct run_issue *issue = issue_of(exchange, exchange->reply, LIMIT_TRACKER_TEXT_BYTES);
	return tracker_end(run_issue_tree(issue, exchange->arena), out_move);
}

static bool ask_issues(struct tracker_exchange *exchange, int64_t page,
		       struct tracker_move *out_move)
{
	const struct tracker_request *request = exchange->request;
	struct str path = repository_path(exchange, S("/issues?state=open"));
	if (request->search.size > 0)
		path = str_format(
			exchange->arena, "/search/issues?q=" STR_FMT,
			STR_ARG(tracker_escape(
				exchange->arena,
				str_format(exchange->arena,
					   STR_FMT " repo:" STR_FMT " is:issue is:open",
					   STR_ARG(request->search), STR_ARG(exchange->project)))));
	return tracker_get_page(exchange, ISSUES, page, path, out_move);
}

/* GitHub lists pull requests among the issues; they are left out. */
static bool list_issues(struct tracker_exchange *exchange, struct tracker_move *out_move,
			struct error *error)
{
	size_t most = (size_t)exchange->request->limit;
	struct tracker_issues *found = tracker_issues(exchange, most);
	if (exchange->stage == BEGIN)
		return ask_issues(exchange, 1, out_move);
	const struct json *list = exchange->reply;
	if (list != NULL && list->kind == JSON_OBJECT)
		list = json_member(list, S("items"));
	if (list == NULL || list->kind != JSON_LIST)
		return tracker_fail_form(exchange, "list of issues", error);
	for (size_t i = 0; i < list->as.list.count && found->count < most; i++)
		if (json_member(&list->as.list.at[i], S("pull_request")) == NULL)
			found->items[found->count++] = *issue_of(exchange, &list->as.list.at[i],
								 LIMIT_TRACKER_LIST_TEXT_BYTES);
	if (found->count < most && exchange->has_next && exchange->page < LIMIT_TRACKER_PAGES)
		return ask_issues(exchange, exchange->page + 1, out_move);
	return tracker_end_issues(exchange, out_move);
}

/* ---- comments ----------------------------------------------------------------------------- */

static bool comment_end(const struct tracker_exchange *exchange, const struct json *comment,
			struct tracker_move *out_move)
{
	struct run_issue_comment_outputs *outputs = run_issue_comment_outputs_new(exchange->arena);
	SET(outputs, issue,
	    str_format(exchange->arena, STR_FMT "#" STR_FMT, STR_ARG(exchange->project),
		       STR_ARG(exchange->key)));
	SET(outputs, comment_id, tracker_id_text(exchange->arena, json_member(comment, S("id"))));
	SET(outputs, url, json_text(json_member(comment, S("html_url"))));
	return tracker_end(run_issue_comment_outputs_tree(outputs, exchange->arena), out_move);
}

static bool comment(struct tracker_exchange *exchange, struct tracker_move *out_move,
		    struct error *error)
{
	const struct tracker_request *request = exchange->request;
	bool finds = request->operation == TRACKER_COMMENT_FIND;
	struct arena *arena = exchange->arena;
	if (!tracker_need_token(exchange, error))
		return false;
	if (exchange->stage == COMMENTED)
		return comment_end(exchange, exchange->reply, out_move);
	if (exchange->stage == COMMENTS) {
		const struct json *found = tracker_find_marked(exchange->reply, request->marker);
		if (found != NULL)
			return comment_end(exchange, found, out_move);
		if (exchange->has_next && exchange->page >= LIMIT_TRACKER_PAGES)
			return tracker_fail_pages(error);
		if (exchange->has_next)
			return tracker_get_page(exchange, COMMENTS, exchange->page + 1,
						issue_path(exchange, S("/comments?")), out_move);
		if (finds)
			return tracker_end(NULL, out_move);
	} else if (finds || request->look_first) {
		return tracker_get_page(exchange, COMMENTS, 1,
					issue_path(exchange, S("/comments?")), out_move);
	}
	const struct tracker_member body[] = { { S("body"), tracker_marked(arena, request->text,
									   request->marker) } };
	return tracker_send(exchange, COMMENTED, "POST", issue_path(exchange, S("/comments")),
			    tracker_object(arena, body, 1, NULL), out_move);
}

/* ---- pull requests ------------------------------------------------------------------------ */

static struct str pull_status(const struct json *pull)
{
	const struct json *merged = json_member(pull, S("merged_at"));
	return json_text(merged).size > 0 ? S("merged") : json_text(json_member(pull, S("state")));
}

static bool pull_end(const struct tracker_exchange *exchange, const struct json *from,
		     struct tracker_move *out_move, struct error *error)
{
	const struct json *number = json_member(from, S("number"));
	const struct json *draft = json_member(from, S("draft"));
	if (number == NULL || number->kind != JSON_INT)
		return tracker_fail_form(exchange, "number of a pull request", error);
	struct run_pull_request *pull = run_pull_request_new(exchange->arena);
	SET(pull, number, number->as.integer);
	SET(pull, title, json_text(json_member(from, S("title"))));
	SET(pull, status, pull_status(from));
	SET(pull, head, json_text(json_member(json_member(from, S("head")), S("ref"))));
	SET(pull, base, json_text(json_member(json_member(from, S("base")), S("ref"))));
	SET(pull, draft, draft != NULL && draft->kind == JSON_BOOL && draft->as.boolean);
	SET(pull, url, json_text(json_member(from, S("html_url"))));
	return tracker_end(run_pull_request_tree(pull, exchange->arena), out_move);
}

static bool ask_open_pulls(struct tracker_exchange *exchange, struct tracker_move *out_move)
{
	struct arena *arena = exchange->arena;
	struct str rest = exchange->project, owner;
	(void)str_cut(&rest, '/', &owner);
	struct str head = str_format(arena, STR_FMT ":" STR_FMT, STR_ARG(owner),
				     STR_ARG(exchange->request->head));
	struct str path = str_format(arena, "/pulls?state=open&head=" STR_FMT,
				     STR_ARG(tracker_escape(arena, head)));
	return tracker_get(exchange, OPEN_PULLS, repository_path(exchange, path), out_move);
}

static bool post_pull(struct tracker_exchange *exchange, struct str base,
		      struct tracker_move *out_move)
{
	const struct tracker_request *request = exchange->request;
	const struct tracker_member body[] = { { S("title"), request->title },
					       { S("body"), request->text },
					       { S("head"), request->head },
					       { S("base"), base } };
	const struct tracker_flag draft = { S("draft"), request->draft };
	tracker_send(exchange, OPENED, "POST", repository_path(exchange, S("/pulls")),
		     tracker_object(exchange->arena, body, 4, &draft), out_move);
	out_move->accept = 422;
	return true;
}

/* The open pull request of the branch, if the list has it: servers may ignore the filter. */
static const struct json *find_pull(const struct tracker_exchange *exchange)
{
	const struct json *list = exchange->reply;
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *pull = &list->as.list.at[i];
		if (str_equal(json_text(json_member(json_member(pull, S("head")), S("ref"))),
			      exchange->request->head))
			return pull;
	}
	return NULL;
}

static bool open_pull(struct tracker_exchange *exchange, struct tracker_move *out_move,
		      struct error *error)
{
	const struct tracker_request *request = exchange->request;
	bool finds = request->operation == TRACKER_PULL_FIND;
	if (!tracker_need_token(exchange, error))
		return false;
	switch (exchange->stage) {
	case OPENED:
		if (exchange->status != 422)
			return pull_end(exchange, exchange->reply, out_move, error);
		exchange->state = tracker_refusal(exchange);
		return ask_open_pulls(exchange, out_move);
	case OPEN_PULLS: {
		const struct json *found = find_pull(exchange);
		if (found != NULL)
			return pull_end(exchange, found, out_move, error);
		if (finds)
			return tracker_end(NULL, out_move);
		if (exchange->state != NULL)
			return fail(error, ERROR_TOOL_FAILED,
				    "GitHub refused the pull request of " STR_FMT
				    " (status 422: %s)",
				    STR_ARG(request->head), (const char *)exchange->state);
		break;
	}
	case REPOSITORY: {
		struct str base = json_text(json_member(exchange->reply, S("default_branch")));
		return base.size > 0 ? post_pull(exchange, base, out_move)
				     : tracker_fail_form(exchange, "default branch", error);
	}
	default:
		if (finds || request->look_first)
			return ask_open_pulls(exchange, out_move);
		break;
	}
	if (request->base.size > 0)
		return post_pull(exchange, request->base, out_move);
	return tracker_get(exchange, REPOSITORY, repository_path(exchange, S("")), out_move);
}

/* ---- feedback ----------------------------------------------------------------------------- */

static void add_comments(struct pull_feedback *feedback, const struct json *list, bool review,
			 struct arena *arena)
{
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *from = &list->as.list.at[i];
		struct str author =
			json_text(json_member(json_member(from, S("user")), S("login")));
		const struct json *line = json_member(from, S("line"));
		if (review)
			pull_feedback_decide(feedback, author,
					     json_text(json_member(from, S("state"))), arena);
		if (line == NULL || line->kind != JSON_INT)
			line = json_member(from, S("original_line"));
		pull_feedback_comment(feedback,
				      &(struct pull_comment){
					      .author = author,
					      .text = json_text(json_member(from, S("body"))),
					      .path = json_text(json_member(from, S("path"))),
					      .line = line != NULL && line->kind == JSON_INT
							      ? line->as.integer
							      : 0,
					      .url = json_text(json_member(from, S("html_url"))) });
	}
}

static bool is_failure(struct str conclusion)
{
	static const char *const bad[] = { "failure",         "timed_out",       "cancelled",
					   "action_required", "startup_failure", "error" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (str_equal(conclusion, str_from_c(bad[i])))
			return true;
	return false;
}

static void add_checks(struct pull_feedback *feedback, const struct json *list)
{
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *from = &list->as.list.at[i];
		struct str conclusion = json_text(json_member(from, S("conclusion")));
		const struct json *output = json_member(from, S("output"));
		if (!str_equal(json_text(json_member(from, S("status"))), S("completed")))
			feedback->pending++;
		else if (is_failure(conclusion))
			pull_feedback_check(
				feedback,
				&(struct pull_check){
					.name = json_text(json_member(from, S("name"))),
					.outcome = conclusion,
					.summary = json_text(json_member(output, S("summary"))),
					.url = json_text(json_member(from, S("html_url"))) });
	}
}

/* The older commit statuses, one for each context. */
static void add_statuses(struct pull_feedback *feedback, const struct json *list)
{
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *from = &list->as.list.at[i];
		struct str state = json_text(json_member(from, S("state")));
		if (str_equal(state, S("pending")))
			feedback->pending++;
		else if (is_failure(state))
			pull_feedback_check(
				feedback,
				&(struct pull_check){
					.name = json_text(json_member(from, S("context"))),
					.outcome = state,
					.summary = json_text(json_member(from, S("description"))),
					.url = json_text(json_member(from, S("target_url"))) });
	}
}

static struct str commit_path(const struct tracker_exchange *exchange, const char *rest)
{
	const struct pull_feedback *feedback = exchange->state;
	return str_format(exchange->arena, "/repos/" STR_FMT "/commits/" STR_FMT "%s",
			  STR_ARG(exchange->project),
			  STR_ARG(tracker_escape(exchange->arena, feedback->commit)), rest);
}

static bool take_pull(struct tracker_exchange *exchange, struct error *error)
{
	struct pull_feedback *feedback = pull_feedback_new(exchange->arena);
	const struct json *head = json_member(exchange->reply, S("head"));
	feedback->number = exchange->request->number;
	feedback->status = pull_status(exchange->reply);
	feedback->url = json_text(json_member(exchange->reply, S("html_url")));
	feedback->commit = json_text(json_member(head, S("sha")));
	exchange->state = feedback;
	return feedback->commit.size > 0 || tracker_fail_form(exchange, "head commit", error);
}

static bool read_feedback(struct tracker_exchange *exchange, struct tracker_move *out_move,
			  struct error *error)
{
	struct pull_feedback *feedback = exchange->state;
	const struct json *reply = exchange->reply;
	switch (exchange->stage) {
	case PULL:
		return take_pull(exchange, error) &&
		       tracker_get_page(exchange, REVIEWS, 1, pull_path(exchange, "/reviews?"),
					out_move);
	case REVIEWS:
		add_comments(feedback, reply, true, exchange->arena);
		if (exchange->has_next && exchange->page < LIMIT_TRACKER_PAGES)
			return tracker_get_page(exchange, REVIEWS, exchange->page + 1,
						pull_path(exchange, "/reviews?"), out_move);
		return tracker_get_page(exchange, REVIEW_COMMENTS, 1,
					pull_path(exchange, "/comments?"), out_move);
	case REVIEW_COMMENTS:
		add_comments(feedback, reply, false, exchange->arena);
		if (exchange->has_next && exchange->page < LIMIT_TRACKER_PAGES)
			return tracker_get_page(exchange, REVIEW_COMMENTS, exchange->page + 1,
						pull_path(exchange, "/comments?"), out_move);
		return tracker_get_page(exchange, CHECKS, 1,
					commit_path(exchange, "/check-runs?filter=latest"),
					out_move);
	case CHECKS:
		add_checks(feedback, json_member(reply, S("check_runs")));
		if (exchange->has_next && exchange->page < LIMIT_TRACKER_PAGES)
			return tracker_get_page(exchange, CHECKS, exchange->page + 1,
						commit_path(exchange, "/check-runs?filter=latest"),
						out_move);
		tracker_get(exchange, STATUSES, commit_path(exchange, "/status"), out_move);
		out_move->accept = 404; /* servers like GitHub may lack the older interface */
		return true;
	case STATUSES:
		add_statuses(feedback, json_member(reply, S("statuses")));
		return tracker_end(pull_feedback_output(feedback, exchange->arena), out_move);
	default:
		return tracker_get(exchange, PULL, pull_path(exchange, ""), out_move);
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
		return open_pull(exchange, out_move, error);
	case TRACKER_PULL_FEEDBACK:
		break;
	}
	return read_feedback(exchange, out_move, error);
}

const struct tracker tracker_github = {
	.name = "github", .variable = "GITHUB_TOKEN", .locate = locate, .next_move = next_move
};
