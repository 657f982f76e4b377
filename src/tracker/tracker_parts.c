/* tracker/tracker_parts.c -- what the files of several trackers share. */
#include "base/buf.h"
#include "base/limits.h"
#include "os/file.h"
#include "tracker/issue_name.h"
#include "tracker/tracker.h"

struct str tracker_escape(struct arena *arena, struct str text)
{
	static const char digits[] = "0123456789ABCDEF";
	char *out = arena_take_text(arena, text.size * 3 + 1);
	size_t size = 0;
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.at[i];
		bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
			     c == '-' || c == '.' || c == '_' || c == '~';
		if (plain) {
			out[size++] = (char)c;
			continue;
		}
		out[size++] = '%';
		out[size++] = digits[c >> 4];
		out[size++] = digits[c & 15];
	}
	return (struct str){ out, size };
}

bool tracker_send(struct tracker_exchange *exchange, int stage, const char *method, struct str path,
		  const struct json *body, struct tracker_move *out_move)
{
	exchange->stage = stage;
	*out_move = (struct tracker_move){ .method = method, .path = path, .body = body };
	return true;
}

bool tracker_get(struct tracker_exchange *exchange, int stage, struct str path,
		 struct tracker_move *out_move)
{
	return tracker_send(exchange, stage, "GET", path, NULL, out_move);
}

bool tracker_get_page(struct tracker_exchange *exchange, int stage, int64_t page, struct str path,
		      struct tracker_move *out_move)
{
	exchange->page = page;
	return tracker_get(exchange, stage,
			   str_format(exchange->arena, STR_FMT "&per_page=%d&page=%lld",
				      STR_ARG(path), LIMIT_TRACKER_PAGE_ITEMS, (long long)page),
			   out_move);
}

bool tracker_end(const struct json *output, struct tracker_move *out_move)
{
	*out_move = (struct tracker_move){ .output = output };
	return true;
}

bool tracker_fail_form(const struct tracker_exchange *exchange, const char *what,
		       struct error *error)
{
	(void)exchange;
	return fail(error, ERROR_TOOL_FAILED,
		    "the answer has no %s; check that the tracker's URL in the settings is right",
		    what);
}

bool tracker_need_token(const struct tracker_exchange *exchange, struct error *error)
{
	return exchange->token.size > 0 ||
	       fail(error, ERROR_CONFIGURATION, "it needs a token; set %s for the server",
		    exchange->variable);
}

struct str tracker_marked(struct arena *arena, struct str text, struct str marker)
{
	return str_format(arena, STR_FMT "\n\n<!-- baton " STR_FMT " -->", STR_ARG(text),
			  STR_ARG(marker));
}

bool tracker_has_marker(struct str text, struct str marker)
{
	AUTO(arena) arena = { 0 };
	size_t at;
	return str_find(text, str_format(&arena, "<!-- baton " STR_FMT " -->", STR_ARG(marker)),
			&at);
}

struct str tracker_shorten(struct str text, size_t most, bool *out_truncated)
{
	*out_truncated = text.size > most;
	if (!*out_truncated)
		return text;
	size_t end = most;
	while (end > 0 && ((unsigned char)text.at[end] & 0xC0) == 0x80)
		end--;
	return str_head(text, end);
}

struct str_list tracker_names(struct arena *arena, const struct json *list, struct str member)
{
	size_t most = list != NULL && list->kind == JSON_LIST ? list->as.list.count : 0, count = 0;
	struct str *names = arena_array(arena, struct str, most);
	for (size_t i = 0; i < most; i++) {
		const struct json *item = &list->as.list.at[i];
		struct str name =
			json_text(item->kind == JSON_OBJECT ? json_member(item, member) : item);
		if (name.size > 0)
			names[count++] = name;
	}
	return (struct str_list){ names, count };
}

struct str tracker_id_text(struct arena *arena, const struct json *id)
{
	if (id == NULL || id->kind == JSON_NULL)
		return S("");
	return id->kind == JSON_STRING ? id->as.string : json_print(arena, id);
}

struct str tracker_base_url(struct str url)
{
	url = str_trim(url);
	while (str_ends(url, S("/")))
		url = str_head(url, url.size - 1);
	return url;
}

bool tracker_is_project(struct str project, size_t most, struct error *error)
{
	size_t names = 1;
	for (size_t i = 0; i < project.size; i++)
		names += project.at[i] == '/';
	return (issue_name_is_project(project) && (most == 0 || names <= most)) ||
	       fail(error, ERROR_INVALID,
		    "\"" STR_FMT "\" is not a repository; expected owner/repo",
		    STR_ARG(str_head(project, project.size < 80 ? project.size : 80)));
}

const struct json *tracker_object(struct arena *arena, const struct tracker_member *members,
				  size_t count, const struct tracker_flag *flag)
{
	struct json_builder *builder = json_builder_new(arena);
	struct json_writer writer = { .builder = builder };
	json_open(&writer, '{');
	for (size_t i = 0; i < count; i++) {
		json_key(&writer, members[i].name);
		json_put_str(&writer, members[i].value);
	}
	if (flag != NULL && flag->set) {
		json_key(&writer, flag->name);
		json_put_bool(&writer, true);
	}
	json_close(&writer, '}');
	return json_builder_end(builder);
}

/* ---- lists and comments ------------------------------------------------------------------- */

struct tracker_issues *tracker_issues(struct tracker_exchange *exchange, size_t most)
{
	if (exchange->state == NULL) {
		struct tracker_issues *issues = arena_new(exchange->arena, struct tracker_issues);
		issues->items = arena_array(exchange->arena, struct run_issue, most);
		exchange->state = issues;
	}
	return exchange->state;
}

bool tracker_end_issues(const struct tracker_exchange *exchange, struct tracker_move *out_move)
{
	const struct tracker_issues *found = exchange->state;
	struct run_issue_page *page = run_issue_page_new(exchange->arena);
	SET(page, items, ((struct run_issue_list){ found->items, found->count }));
	SET(page, tracker, exchange->request->tracker);
	return tracker_end(run_issue_page_tree(page, exchange->arena), out_move);
}

const struct json *tracker_find_marked(const struct json *list, struct str marker)
{
	for (size_t i = 0; list != NULL && list->kind == JSON_LIST && i < list->as.list.count; i++)
		if (tracker_has_marker(json_text(json_member(&list->as.list.at[i], S("body"))),
				       marker))
			return &list->as.list.at[i];
	return NULL;
}

bool tracker_fail_pages(struct error *error)
{
	return fail(error, ERROR_TOO_LARGE,
		    "the issue has more than %d comments, so a comment cannot be found in it",
		    LIMIT_TRACKER_PAGES * LIMIT_TRACKER_PAGE_ITEMS);
}

char *tracker_refusal(const struct tracker_exchange *exchange)
{
	struct str body =
		exchange->reply == NULL ? S("") : json_print(exchange->arena, exchange->reply);
	struct str message = tracker_fault_message(body, exchange->arena);
	char *text = arena_take_text(exchange->arena, message.size + 1);
	for (size_t i = 0; i < message.size; i++)
		text[i] = message.at[i];
	text[message.size] = '\0';
	return text;
}

/* ---- the remote origin of a repository ------------------------------------------------------ */

/* The folder with the file config: .git itself, or what the file .git of a work tree leads to. */
static struct str common_folder(struct str repository, struct arena *arena)
{
	struct str git = str_format(arena, STR_FMT "/.git", STR_ARG(repository)), text;
	struct error unread;
	if (!file_read(git.at, LIMIT_NAME_BYTES * 32, arena, &text, &unread) ||
	    !str_starts(text, S("gitdir:")))
		return git;
	struct str folder = str_trim(str_skip(text, 7));
	if (!str_starts(folder, S("/")))
		folder = str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(repository),
				    STR_ARG(folder));
	const char *common = str_format(arena, STR_FMT "/commondir", STR_ARG(folder)).at;
	if (!file_read(common, LIMIT_NAME_BYTES * 32, arena, &text, &unread))
		return folder;
	text = str_trim(text);
	return str_starts(text, S("/"))
		       ? text
		       : str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(folder), STR_ARG(text));
}

bool tracker_project(const struct tracker_exchange *exchange, struct str *out_project,
		     struct error *error)
{
	struct arena *arena = exchange->arena;
	struct str repository = exchange->request->repository, config;
	if (repository.size == 0)
		return fail(error, ERROR_CONFIGURATION,
			    "the run has no profile with a repository; name the issue as "
			    "owner/repo#123, or choose a profile");
	struct str folder = common_folder(repository, arena);
	const char *path = str_format(arena, STR_FMT "/config", STR_ARG(folder)).at;
	if (!file_read(path, LIMIT_TRACKER_CONFIG_BYTES, arena, &config, error)) {
		error_prefix(error, STR_FMT " is not a git repository: ", STR_ARG(repository));
		error->code = ERROR_CONFIGURATION;
		return false;
	}
	struct str url = issue_name_remote(config, S("origin"), arena);
	if (url.size == 0)
		return fail(error, ERROR_CONFIGURATION,
			    "the repository " STR_FMT " has no remote origin; add it with git "
			    "remote add origin, or name the issue as owner/repo#123",
			    STR_ARG(repository));
	if (!issue_name_project(url, out_project))
		return fail(error, ERROR_CONFIGURATION,
			    "the remote origin of " STR_FMT
			    " is not https://HOST/owner/repo or git@HOST:owner/repo; name the "
			    "issue as owner/repo#123",
			    STR_ARG(repository));
	return true;
}
