/* tracker/issue_file.c -- reads an issue that is a Markdown file.
 *
 * Comments begin with a line that no person writes by accident, so that the description ends before them
 * and a comment is found again by its marker.
 */
#include "tracker/issue_file.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "base/yaml.h"

#define COMMENT_BEGIN "<!-- baton comment "

static struct str line_of(struct str *rest)
{
	struct str line = S("");
	(void)str_cut(rest, '\n', &line);
	return str_ends(line, S("\r")) ? str_head(line, line.size - 1) : line;
}

/* Splits "---\n…\n---\n" from the front; false when it has no end. */
static bool split_front(struct str text, struct str *out_front, struct str *out_body)
{
	struct str rest = text;
	*out_front = S("");
	*out_body = text;
	if (!str_equal(line_of(&rest), S("---")))
		return true;
	struct str begin = rest;
	while (rest.size > 0) {
		struct str before = rest, line = line_of(&rest);
		if (str_equal(line, S("---")) || str_equal(line, S("..."))) {
			*out_front = str_head(begin, (size_t)(before.at - begin.at));
			*out_body = rest;
			return true;
		}
	}
	return false;
}

static struct str scalar_text(const struct json *value, struct arena *arena)
{
	if (value == NULL || value->kind == JSON_NULL || value->kind == JSON_LIST ||
	    value->kind == JSON_OBJECT)
		return S("");
	return value->kind == JSON_STRING ? str_trim(value->as.string) : json_print(arena, value);
}

static struct str_list read_labels(const struct json *value, struct arena *arena)
{
	struct str *labels;
	size_t count = 0;
	if (value != NULL && value->kind == JSON_LIST) {
		labels = arena_array(arena, struct str, value->as.list.count);
		for (size_t i = 0; i < value->as.list.count; i++) {
			struct str label = scalar_text(&value->as.list.at[i], arena);
			if (label.size > 0)
				labels[count++] = label;
		}
		return (struct str_list){ labels, count };
	}
	struct str rest = scalar_text(value, arena), label;
	size_t most = 1;
	for (size_t i = 0; i < rest.size; i++)
		most += rest.at[i] == ',';
	labels = arena_array(arena, struct str, most);
	while (str_cut(&rest, ',', &label))
		if (str_trim(label).size > 0)
			labels[count++] = str_trim(label);
	return (struct str_list){ labels, count };
}

static bool is_fence(struct str line)
{
	line = str_trim(line);
	return str_starts(line, S("```")) || str_starts(line, S("~~~"));
}

/* The first "# heading" of the body; it is taken off if only blank lines are before it. */
static struct str take_heading(struct str *body)
{
	struct str rest = *body;
	bool first = true, fenced = false;
	while (rest.size > 0) {
		struct str line = line_of(&rest);
		if (is_fence(line))
			fenced = !fenced;
		if (!fenced && str_starts(line, S("# ")) && str_trim(str_skip(line, 2)).size > 0) {
			if (first)
				*body = rest;
			return str_trim(str_skip(line, 2));
		}
		if (str_trim(line).size > 0)
			first = false;
	}
	return S("");
}

/* A comment begins at the beginning of a line. */
static struct str without_comments(struct str body)
{
	struct str rest = body;
	while (rest.size > 0) {
		struct str before = rest;
		if (str_starts(line_of(&rest), S(COMMENT_BEGIN)))
			return str_head(body, (size_t)(before.at - body.at));
	}
	return body;
}

static struct str name_as_title(struct str name, struct arena *arena)
{
	size_t digits = 0;
	if (str_ends(name, S(".md")))
		name = str_head(name, name.size - 3);
	while (digits < name.size && name.at[digits] >= '0' && name.at[digits] <= '9')
		digits++;
	if (digits < name.size && name.at[digits] == '-')
		digits++;
	if (digits == name.size)
		return name;
	name = str_skip(name, digits);
	char *title = arena_take_text(arena, name.size + 1);
	for (size_t i = 0; i < name.size; i++)
		title[i] = name.at[i] == '-' || name.at[i] == '_' ? ' ' : name.at[i];
	return (struct str){ title, name.size };
}

bool issue_file_read(struct str text, struct str name, struct arena *arena,
		     struct issue_file *out_issue, struct error *error)
{
	struct str front, body;
	const struct json *fields = NULL;
	size_t bad;
	if (!utf8_valid(text, &bad))
		return fail(error, ERROR_SYNTAX, STR_FMT ": it is not UTF-8 at byte %zu",
			    STR_ARG(name), bad);
	if (str_starts(text, S("\xEF\xBB\xBF")))
		text = str_skip(text, 3);
	if (!split_front(text, &front, &body))
		return fail(error, ERROR_SYNTAX,
			    STR_FMT ":1: the front matter has no end; close it with a line ---",
			    STR_ARG(name));
	if (str_trim(front).size > 0) {
		if (!yaml_read(front, arena, &fields, error)) {
			error_prefix(error, STR_FMT ": front matter: ", STR_ARG(name));
			return false;
		}
		if (fields->kind != JSON_OBJECT && fields->kind != JSON_NULL)
			return fail(error, ERROR_INVALID,
				    STR_FMT ":2: the front matter is not a mapping; expected "
					    "title: and status:",
				    STR_ARG(name));
	}
	struct str heading = take_heading(&body);
	struct issue_file issue = {
		.title = scalar_text(json_member(fields, S("title")), arena),
		.status = scalar_text(json_member(fields, S("status")), arena),
		.labels = read_labels(json_member(fields, S("labels")), arena),
		.description = str_trim(without_comments(body)),
	};
	if (issue.title.size == 0)
		issue.title = heading.size > 0 ? heading : name_as_title(name, arena);
	if (issue.status.size == 0)
		issue.status = S("open");
	*out_issue = issue;
	return true;
}

bool issue_file_number(struct str name, int64_t *out_number)
{
	size_t digits = 0;
	if (!str_ends(name, S(".md")))
		return false;
	while (digits < name.size && name.at[digits] >= '0' && name.at[digits] <= '9')
		digits++;
	if (digits == 0 || digits > 18 || (name.at[digits] != '-' && name.at[digits] != '.'))
		return false;
	return str_to_int(str_head(name, digits), out_number);
}

/* A text that contains the beginning of a comment would end its own comment early; that is harmless,
 * because comments are only found by their markers. */
struct str issue_file_comment(struct arena *arena, struct str text, struct str marker)
{
	return str_format(arena, "\n" COMMENT_BEGIN STR_FMT " -->\n\n" STR_FMT "\n",
			  STR_ARG(marker), STR_ARG(str_trim(text)));
}

/* Without the " -->" at its end. */
static struct str before_end(struct str text)
{
	return str_ends(text, S("-->")) ? str_head(text, text.size - 3) : text;
}

bool issue_file_has_comment(struct str text, struct str marker)
{
	struct str rest = text;
	while (rest.size > 0) {
		struct str line = str_trim(line_of(&rest));
		if (str_starts(line, S(COMMENT_BEGIN)) &&
		    str_equal(str_trim(before_end(str_skip(line, sizeof(COMMENT_BEGIN) - 1))),
			      marker))
			return true;
	}
	return false;
}
