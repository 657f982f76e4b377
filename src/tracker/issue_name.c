/* tracker/issue_name.c -- reads names of issues and git remotes.
 *
 * Names are taken apart and checked letter by letter, because they become parts of a URL path: a
 * project has only letters, digits and ._-, so that it never leads to another place of the API.
 */
#include "tracker/issue_name.h"

#include "base/limits.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_number(struct str text)
{
	for (size_t i = 0; i < text.size; i++)
		if (!is_digit(text.at[i]))
			return false;
	return text.size > 0 && text.size <= 18;
}

/* At least two names with slashes between them; none of them is "." or "..". */
bool issue_name_is_project(struct str text)
{
	struct str rest = text, name;
	size_t count = 0;
	if (text.size == 0 || text.size > LIMIT_TRACKER_NAME_BYTES || str_ends(text, S("/")))
		return false;
	while (str_cut(&rest, '/', &name)) {
		if (name.size == 0 || str_equal(name, S(".")) || str_equal(name, S("..")))
			return false;
		for (size_t i = 0; i < name.size; i++)
			if (!is_digit(name.at[i]) && !is_letter(name.at[i]) && name.at[i] != '-' &&
			    name.at[i] != '_' && name.at[i] != '.')
				return false;
		count++;
	}
	return count >= 2;
}

static bool skip_scheme(struct str *url)
{
	static const char *const schemes[] = { "https://", "http://", "ssh://", "git://" };
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		struct str scheme = str_from_c(schemes[i]);
		if (url->size >= scheme.size &&
		    str_equal_folded(str_head(*url, scheme.size), scheme)) {
			*url = str_skip(*url, scheme.size);
			return true;
		}
	}
	return false;
}

/* Removes what follows the first of these characters. */
static struct str before(struct str text, struct str marks)
{
	for (size_t i = 0; i < text.size; i++)
		for (size_t k = 0; k < marks.size; k++)
			if (text.at[i] == marks.at[k])
				return str_head(text, i);
	return text;
}

struct str issue_name_host(struct str url)
{
	if (!skip_scheme(&url))
		return S("");
	struct str host = before(url, S("/?#"));
	for (size_t i = host.size; i > 0; i--)
		if (host.at[i - 1] == '@')
			return str_skip(host, i);
	return host;
}

static bool refuse(struct str text, const char *forms, struct error *error)
{
	return fail(error, ERROR_INVALID, "\"" STR_FMT "\" is not an issue; expected %s",
		    STR_ARG(str_head(text, text.size < 80 ? text.size : 80)), forms);
}

static const char forms[] = "123, owner/repo#123, or the address of the issue's page";

static bool read_address(struct str text, struct issue_name *out_name)
{
	static const char *const marks[] = { "/-/issues/", "/-/merge_requests/", "/issues/",
					     "/pull/" };
	struct str rest = text, host = issue_name_host(text);
	if (!skip_scheme(&rest))
		return false;
	rest = before(str_skip(rest, before(rest, S("/")).size), S("?#"));
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		struct str mark = str_from_c(marks[i]);
		size_t at;
		if (!str_find(rest, mark, &at) || at == 0)
			continue;
		*out_name = (struct issue_name){ .host = host,
						 .project = str_skip(str_head(rest, at), 1),
						 .key = before(str_skip(rest, at + mark.size),
							       S("/")) };
		return issue_name_is_project(out_name->project) && is_number(out_name->key) &&
		       host.size > 0;
	}
	return false;
}

bool issue_name_read(struct str text, struct issue_name *out_name, struct error *error)
{
	struct str trimmed = str_trim(text);
	struct issue_name name = { 0 };
	size_t at;
	if (str_find(trimmed, S("://"), &at)) {
		if (!read_address(trimmed, &name))
			return refuse(text, forms, error);
	} else if (str_find(trimmed, S("#"), &at)) {
		name.project = str_head(trimmed, at);
		name.key = str_skip(trimmed, at + 1);
	} else {
		name.key = trimmed;
	}
	if (!is_number(name.key) || (name.project.size > 0 && !issue_name_is_project(name.project)))
		return refuse(text, forms, error);
	while (name.key.size > 1 && name.key.at[0] == '0')
		name.key = str_skip(name.key, 1);
	*out_name = name;
	return true;
}

/* ABC-123: a letter, then letters, digits and underscores; a hyphen; a number. */
static bool is_jira_key(struct str text)
{
	struct str rest = text, project;
	if (text.size > LIMIT_TRACKER_NAME_BYTES || !str_cut(&rest, '-', &project) ||
	    project.size == 0 || !is_letter(project.at[0]) || !is_number(rest))
		return false;
	for (size_t i = 0; i < project.size; i++)
		if (!is_letter(project.at[i]) && !is_digit(project.at[i]) && project.at[i] != '_')
			return false;
	return true;
}

bool issue_name_read_jira(struct str text, struct arena *arena, struct issue_name *out_name,
			  struct error *error)
{
	struct str key = str_trim(text), host = S("");
	size_t at;
	if (str_find(key, S("://"), &at)) {
		host = issue_name_host(key);
		if (!str_find(key, S("/browse/"), &at) || host.size == 0)
			return refuse(text, "ABC-123, or the address of the issue's page", error);
		key = before(str_skip(key, at + 8), S("/?#"));
	}
	if (!is_jira_key(key))
		return refuse(text, "ABC-123, or the address of the issue's page", error);
	char *upper = arena_take_text(arena, key.size + 1);
	for (size_t i = 0; i < key.size; i++)
		upper[i] =
			key.at[i] >= 'a' && key.at[i] <= 'z' ? (char)(key.at[i] - 32) : key.at[i];
	*out_name = (struct issue_name){ .host = host, .key = { upper, key.size } };
	return true;
}

/* ---- git remotes ------------------------------------------------------------------------- */

/* [remote "origin"] */
static bool is_remote_section(struct str line, struct str remote)
{
	line = str_trim(line);
	if (line.size < 2 || line.at[0] != '[' || line.at[line.size - 1] != ']')
		return false;
	line = str_trim(str_head(str_skip(line, 1), line.size - 2));
	if (line.size < 6 || !str_equal_folded(str_head(line, 6), S("remote")))
		return false;
	line = str_trim(str_skip(line, 6));
	return line.size == remote.size + 2 && line.at[0] == '"' && line.at[line.size - 1] == '"' &&
	       str_equal(str_head(str_skip(line, 1), remote.size), remote);
}

struct str issue_name_remote(struct str config, struct str remote, struct arena *arena)
{
	struct str rest = config, line, name;
	bool within = false;
	while (str_cut(&rest, '\n', &line)) {
		line = str_trim(line);
		if (line.size == 0 || line.at[0] == '#' || line.at[0] == ';')
			continue;
		if (line.at[0] == '[') {
			within = is_remote_section(line, remote);
			continue;
		}
		struct str value = line;
		if (!within || !str_cut(&value, '=', &name) ||
		    !str_equal_folded(str_trim(name), S("url")))
			continue;
		value = str_trim(value);
		if (value.size >= 2 && value.at[0] == '"' && value.at[value.size - 1] == '"')
			value = str_head(str_skip(value, 1), value.size - 2);
		return str_copy(arena, value);
	}
	return S("");
}

bool issue_name_project(struct str url, struct str *out_project)
{
	struct str path = str_trim(url);
	size_t at;
	if (skip_scheme(&path)) {
		path = str_skip(path, before(path, S("/")).size);
		path = before(path, S("?#"));
	} else if (!str_find(path, S("://"), &at) && str_find(path, S(":"), &at) && at > 0 &&
		   before(path, S("/")).size > at) { /* git@HOST:owner/repo */
		path = str_skip(path, at + 1);
	} else {
		return false;
	}
	while (str_starts(path, S("/")))
		path = str_skip(path, 1);
	while (str_ends(path, S("/")))
		path = str_head(path, path.size - 1);
	if (str_ends(path, S(".git")))
		path = str_head(path, path.size - 4);
	if (!issue_name_is_project(path))
		return false;
	*out_project = path;
	return true;
}
