/* tracker/tracker_jira.c -- Jira, by version 2 or 3 of its REST API.
 *
 * Version 3 (Jira Cloud) has descriptions and comments as documents (adf.h), version 2 as text.  A comment
 * carries its marker as a property, which no page shows.  Jira has no pull requests.
 */
#include "base/base64.h"
#include "base/limits.h"
#include "tracker/adf.h"
#include "tracker/issue_name.h"
#include "tracker/tracker.h"

#define PROPERTY "baton.effect"

enum stage { BEGIN, ISSUE, ISSUES, COMMENTS, COMMENTED };

/* ---- place -------------------------------------------------------------------------------- */

static struct str authorization(const struct tracker_exchange *exchange)
{
	struct arena *arena = exchange->arena;
	struct str email = exchange->settings->jira_email;
	if (email.size == 0)
		return str_format(arena, "Bearer " STR_FMT, STR_ARG(exchange->token));
	struct str pair =
		str_format(arena, STR_FMT ":" STR_FMT, STR_ARG(email), STR_ARG(exchange->token));
	return str_format(arena, "Basic " STR_FMT, STR_ARG(base64_text(arena, pair)));
}

static bool locate(struct tracker_exchange *exchange, struct error *error)
{
	const struct tracker_request *request = exchange->request;
	struct arena *arena = exchange->arena;
	struct issue_name name = { 0 };
	struct str base = tracker_base_url(exchange->settings->jira_url);
	exchange->url = base;
	if (base.size == 0)
		return fail(
			error, ERROR_CONFIGURATION,
			"the address of Jira is not known; set JIRA_BASE_URL for the server, or "
			"tracker.jira_url");
	exchange->subject = S("issues");
	if (request->operation != TRACKER_ISSUE_LIST) {
		exchange->subject = S("pull request");
		if (request->operation != TRACKER_ISSUE_READ &&
		    request->operation != TRACKER_COMMENT_ADD &&
		    request->operation != TRACKER_COMMENT_FIND)
			return fail(error, ERROR_INVALID,
				    "Jira has no pull requests; name github or gitlab as tracker");
		exchange->subject = request->id;
		if (!issue_name_read_jira(request->id, arena, &name, error))
			return false;
		exchange->subject = str_format(arena, "issue " STR_FMT, STR_ARG(name.key));
	}
	if (name.host.size > 0 && !str_equal_folded(name.host, issue_name_host(base)))
		return fail(error, ERROR_INVALID,
			    "the issue is on " STR_FMT ", not on " STR_FMT "; set tracker.jira_url",
			    STR_ARG(name.host), STR_ARG(issue_name_host(base)));
	exchange->key = name.key;
	exchange->headers[exchange->header_count++] =
		(struct http_header){ S("Accept"), S("application/json") };
	if (exchange->token.size > 0)
		exchange->headers[exchange->header_count++] =
			(struct http_header){ S("Authorization"), authorization(exchange) };
	return true;
}

static bool is_version_3(const struct tracker_exchange *exchange)
{
	return str_equal(exchange->settings->jira_version, S("3"));
}

static struct str api_path(const struct tracker_exchange *exchange, struct str rest)
{
	return str_format(exchange->arena, "/rest/api/" STR_FMT STR_FMT,
			  STR_ARG(exchange->settings->jira_version), STR_ARG(rest));
}

static struct str issue_path(const struct tracker_exchange *exchange, const char *rest)
{
	return api_path(exchange, str_format(exchange->arena, "/issue/" STR_FMT "%s",
					     STR_ARG(exchange->key), rest));
}

/* ---- issues ------------------------------------------------------------------------------- */

/* A text, or a document. */
static struct str text_of(const struct json *value, struct arena *arena)
{
	return value != NULL && value->kind == JSON_OBJECT ? adf_to_markdown(value, arena)
							   : json_text(value);
}

static struct run_issue *issue_of(const struct tracker_exchange *exchange, const struct json *from,
				  size_t most)
{
	struct arena *arena = exchange->arena;
	const struct json *fields = json_member(from, S("fields"));
	struct str key = json_text(json_member(from, S("key")));
	struct run_issue *issue = run_issue_new(arena);
	bool truncated;
	SET(issue, id, key);
	SET(issue, title, json_text(json_member(fields, S("summary"))));
	SET(issue, description,
	    tracker_shorten(text_of(json_member(fields, S("description")), arena), most,
			    &truncated));
	SET(issue, status, json_text(json_member(json_member(fields, S("status")), S("name"))));
	SET(issue, url,
	    str_format(arena, STR_FMT "/browse/" STR_FMT, STR_ARG(exchange->url), STR_ARG(key)));
	SET(issue, labels, tracker_names(arena, json_member(fields, S("labels")), S("name")));
	SET(issue, tracker, PIPELINE_PROFILE_TRACKER_JIRA);
	if (truncated)
		SET(issue, truncated, true);
	return issue;
}

static bool read_issue(struct tracker_exchange *exchange, struct tracker_move *out_move,
		       struct error *error)
{
	if (exchange->stage == BEGIN)
		return tracker_get(
			exchange, ISSUE,
			issue_path(exchange, "?fields=summary,description,status,labels"),
			out_move);
	const struct json *fields = json_member(exchange->reply, S("fields"));
	if (json_text(json_member(fields, S("summary"))).size == 0)
		return tracker_fail_form(exchange, "summary", error);
	struct run_issue *issue = issue_of(exchange, exchange->reply, LIMIT_TRACKER_TEXT_BYTES);
	return tracker_end(run_issue_tree(issue, exchange->arena), out_move);
}

/* Words in JQL's quotes; a quote or backslash in them is left out. */
static struct str quoted(struct str text, struct arena *arena)
{
	char *out = arena_take_text(arena, text.size + 3);
	size_t size = 0;
	out[size++] = '"';
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] != '"' && text.at[i] != '\\')
			out[size++] = (unsigned char)text.at[i] < ' ' ? ' ' : text.at[i];
	out[size++] = '"';
	return (struct str){ out, size };
}

static struct str query_of(const struct tracker_exchange *exchange)
{
	struct arena *arena = exchange->arena;
	struct str project = exchange->settings->jira_project, text = S("statusCategory != Done");
	if (project.size > 0)
		text = str_format(arena, "project = " STR_FMT " AND " STR_FMT,
				  STR_ARG(quoted(project, arena)), STR_ARG(text));
	if (exchange->request->search.size > 0)
		text = str_format(arena, STR_FMT " AND text ~ " STR_FMT, STR_ARG(text),
				  STR_ARG(quoted(exchange->request->search, arena)));
	return str_format(arena, STR_FMT " ORDER BY created DESC", STR_ARG(text));
}

static bool list_issues(struct tracker_exchange *exchange, struct tracker_move *out_move,
			struct error *error)
{
	struct arena *arena = exchange->arena;
	size_t most = (size_t)exchange->request->limit;
	struct tracker_issues *found = tracker_issues(exchange, most);
	if (exchange->stage == BEGIN) {
		struct str rest =
			str_format(arena,
				   "%s?jql=" STR_FMT
				   "&maxResults=%zu&fields=summary,description,status,labels",
				   is_version_3(exchange) ? "/search/jql" : "/search",
				   STR_ARG(tracker_escape(arena, query_of(exchange))), most);
		return tracker_get(exchange, ISSUES, api_path(exchange, rest), out_move);
	}
	const struct json *list = json_member(exchange->reply, S("issues"));
	if (list == NULL || list->kind != JSON_LIST)
		return tracker_fail_form(exchange, "list of issues", error);
	for (size_t i = 0; i < list->as.list.count && found->count < most; i++)
		found->items[found->count++] =
			*issue_of(exchange, &list->as.list.at[i], LIMIT_TRACKER_LIST_TEXT_BYTES);
	return tracker_end_issues(exchange, out_move);
}

/* ---- comments ----------------------------------------------------------------------------- */

static bool comment_end(const struct tracker_exchange *exchange, const struct json *comment,
			struct tracker_move *out_move)
{
	struct arena *arena = exchange->arena;
	struct run_issue_comment_outputs *outputs = run_issue_comment_outputs_new(arena);
	struct str id = tracker_id_text(arena, json_member(comment, S("id")));
	SET(outputs, issue, exchange->key);
	SET(outputs, comment_id, id);
	SET(outputs, url,
	    str_format(arena, STR_FMT "/browse/" STR_FMT "?focusedCommentId=" STR_FMT,
		       STR_ARG(exchange->url), STR_ARG(exchange->key), STR_ARG(id)));
	return tracker_end(run_issue_comment_outputs_tree(outputs, arena), out_move);
}

static bool has_property(const struct json *comment, struct str marker)
{
	const struct json *list = json_member(comment, S("properties"));
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count;
	     i++) {
		const struct json *property = &list->as.list.at[i];
		const struct json *value = json_member(property, S("value"));
		if (str_equal(json_text(json_member(property, S("key"))), S(PROPERTY)) &&
		    str_equal(json_text(json_member(value, S("id"))), marker))
			return true;
	}
	return false;
}

static const struct json *find_comment(const struct tracker_exchange *exchange)
{
	const struct json *list = json_member(exchange->reply, S("comments"));
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count; i++)
		if (has_property(&list->as.list.at[i], exchange->request->marker))
			return &list->as.list.at[i];
	return NULL;
}

/* Newest first, a page at a time. */
static bool ask_comments(struct tracker_exchange *exchange, int64_t page,
			 struct tracker_move *out_move)
{
	const char *rest =
		str_format(exchange->arena,
			   "/comment?orderBy=-created&expand=properties&maxResults=%d&startAt=%lld",
			   LIMIT_TRACKER_PAGE_ITEMS,
			   (long long)((page - 1) * LIMIT_TRACKER_PAGE_ITEMS))
			.at;
	exchange->page = page;
	return tracker_get(exchange, COMMENTS, issue_path(exchange, rest), out_move);
}

static bool has_more(const struct tracker_exchange *exchange)
{
	const struct json *total = json_member(exchange->reply, S("total"));
	return total != NULL && total->kind == JSON_INT &&
	       total->as.integer > exchange->page * LIMIT_TRACKER_PAGE_ITEMS;
}

static const struct json *comment_body(const struct tracker_exchange *exchange)
{
	const struct tracker_request *request = exchange->request;
	struct json_builder *builder = json_builder_new(exchange->arena);
	struct json_writer writer = { .builder = builder };
	json_open(&writer, '{');
	json_key(&writer, S("body"));
	if (is_version_3(exchange))
		json_put_tree(&writer, adf_from_text(request->text, exchange->arena));
	else
		json_put_str(&writer, request->text);
	json_key(&writer, S("properties"));
	json_open(&writer, '[');
	json_open(&writer, '{');
	json_key(&writer, S("key"));
	json_put_str(&writer, S(PROPERTY));
	json_key(&writer, S("value"));
	json_open(&writer, '{');
	json_key(&writer, S("id"));
	json_put_str(&writer, request->marker);
	json_close(&writer, '}');
	json_close(&writer, '}');
	json_close(&writer, ']');
	json_close(&writer, '}');
	return json_builder_end(builder);
}

static bool comment(struct tracker_exchange *exchange, struct tracker_move *out_move,
		    struct error *error)
{
	const struct tracker_request *request = exchange->request;
	bool finds = request->operation == TRACKER_COMMENT_FIND;
	if (!tracker_need_token(exchange, error))
		return false;
	if (exchange->stage == COMMENTED)
		return comment_end(exchange, exchange->reply, out_move);
	if (exchange->stage == COMMENTS) {
		const struct json *found = find_comment(exchange);
		if (found != NULL)
			return comment_end(exchange, found, out_move);
		if (has_more(exchange) && exchange->page >= LIMIT_TRACKER_PAGES)
			return tracker_fail_pages(error);
		if (has_more(exchange))
			return ask_comments(exchange, exchange->page + 1, out_move);
		if (finds)
			return tracker_end(NULL, out_move);
	} else if (finds || request->look_first) {
		return ask_comments(exchange, 1, out_move);
	}
	return tracker_send(exchange, COMMENTED, "POST", issue_path(exchange, "/comment"),
			    comment_body(exchange), out_move);
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
	case TRACKER_PULL_FEEDBACK:
		break; /* refused by locate() */
	}
	return fail(error, ERROR_INTERNAL, "Jira has no pull requests");
}

const struct tracker tracker_jira = {
	.name = "jira", .variable = "JIRA_API_TOKEN", .locate = locate, .next_move = next_move
};
