/* contract/problem.c -- collects the problems of a document, each with JSON pointer and place.
 *
 * Only the first LIMIT_PROBLEMS get a text; after that a problem costs one addition, so a document
 * full of mistakes takes no more work than a valid one.  Places are byte offsets during the parse;
 * one pass over the text converts them to lines at the end.
 */
#include "contract/contract_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

struct path path_key(const struct path *up, struct str key)
{
	static const char empty[] = "";
	if (key.at == NULL)
		key.at = empty;
	return (struct path){ up, key, 0, up->depth + 1 };
}

struct path path_index(const struct path *up, size_t index)
{
	return (struct path){ up, { NULL, 0 }, index, up->depth + 1 };
}

static void add_step(struct buf *buf, const struct path *path)
{
	if (path->key.at == NULL) {
		buf_add_format(buf, "/%zu", path->index);
		return;
	}
	buf_add_char(buf, '/');
	struct str key = str_head(path->key, LIMIT_POINTER_BYTES);
	for (size_t i = 0; i < key.size; i++) {
		if (key.at[i] == '~')
			buf_add(buf, S("~0"));
		else if (key.at[i] == '/')
			buf_add(buf, S("~1"));
		else
			buf_add_char(buf, key.at[i]);
	}
}

/* Truncates to at most `size` bytes without splitting a UTF-8 character. */
static struct str cut(struct str s, size_t size)
{
	if (s.size <= size)
		return s;
	while (size > 0 && ((unsigned char)s.at[size] & 0xC0) == 0x80)
		size--;
	return str_head(s, size);
}

static struct str pointer_text(const struct path *path, struct arena *arena)
{
	const struct path *steps[LIMIT_JSON_DEPTH + 2];
	size_t count = 0;
	for (; path->up != NULL && count < COUNT(steps); path = path->up)
		steps[count++] = path;
	AUTO(buf) buf = { 0 };
	while (count > 0 && buf.size <= LIMIT_POINTER_BYTES)
		add_step(&buf, steps[--count]);
	struct str text = buf_str(&buf);
	if (text.size <= LIMIT_POINTER_BYTES)
		return str_copy(arena, text);
	text = cut(text, LIMIT_POINTER_BYTES - 3);
	return str_format(arena, STR_FMT "\xE2\x80\xA6", STR_ARG(text));
}

bool problem_hide(struct parse *parse)
{
	if (parse->problems->count < LIMIT_PROBLEMS)
		return false;
	parse->problems->hidden++;
	return true;
}

struct problem *problem_add(struct parse *parse, const struct path *path, struct place place,
			    const char *format, ...)
{
	struct problems *problems = parse->problems;
	if (problem_hide(parse))
		return NULL;
	if (problems->arena == NULL)
		problems->arena = parse->arena;
	if (problems->at == NULL)
		problems->at = arena_array(problems->arena, struct problem, LIMIT_PROBLEMS);
	struct problem *problem = &problems->at[problems->count++];
	*problem = (struct problem){ .pointer = pointer_text(path, problems->arena),
				     .line = place.line,
				     .column = place.column };
	va_list list;
	va_start(list, format);
	problem->text = str_format_list(problems->arena, format, list);
	va_end(list);
	return problem;
}

void problem_suggest(struct problem *problem, struct str word, struct str replacement)
{
	if (problem == NULL)
		return;
	problem->hint.word = word;
	problem->hint.replacement = replacement;
}

struct problem *problems_add(struct problems *problems, struct str pointer, uint32_t line,
			     uint32_t column, const char *format, ...)
{
	require(problems->arena != NULL);
	if (problems->count == LIMIT_PROBLEMS) {
		problems->hidden++;
		return NULL;
	}
	if (problems->at == NULL)
		problems->at = arena_array(problems->arena, struct problem, LIMIT_PROBLEMS);
	struct problem *problem = &problems->at[problems->count++];
	*problem = (struct problem){ .pointer = str_copy(problems->arena, pointer),
				     .line = line,
				     .column = column };
	va_list list;
	va_start(list, format);
	problem->text = str_format_list(problems->arena, format, list);
	va_end(list);
	return problem;
}

void problems_add_configuration(struct problems *problems, const char *format, ...)
{
	size_t before = problems->count;
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(problems->arena, format, list);
	va_end(list);
	problems_add(problems, S(""), 0, 0, STR_FMT, STR_ARG(text));
	if (problems->count > before)
		problems->at[before].configuration = true;
}

static int offset_compare(const void *a, const void *b)
{
	uint32_t first = (*(struct problem *const *)a)->column;
	uint32_t second = (*(struct problem *const *)b)->column;
	return first < second ? -1 : first > second;
}

void problems_locate(struct problems *problems, size_t first, struct str text)
{
	struct problem *open[LIMIT_PROBLEMS];
	size_t count = 0;
	for (size_t i = first; i < problems->count; i++)
		if (problems->at[i].line == 0)
			open[count++] = &problems->at[i];
	if (count > 1)
		qsort(open, count, sizeof(open[0]), offset_compare);
	uint32_t line = 1;
	size_t line_start = 0, at = 0;
	for (size_t i = 0; i < count; i++) {
		size_t offset = open[i]->column;
		if (offset >= text.size) {
			*open[i] = (struct problem){ .pointer = open[i]->pointer,
						     .text = open[i]->text };
			continue;
		}
		for (; at < offset; at++)
			if (text.at[at] == '\n') {
				line++;
				line_start = at + 1;
			}
		open[i]->line = line;
		open[i]->column = (uint32_t)(offset - line_start) + 1;
	}
}

static void add_escaped(struct buf *buf, struct str s)
{
	for (size_t i = 0; i < s.size; i++) {
		unsigned char c = (unsigned char)s.at[i];
		if (c < 0x20 || c == 0x7F)
			buf_add_format(buf, "\\u%04x", c);
		else
			buf_add_char(buf, (char)c);
	}
}

struct str quoted(struct arena *arena, struct str s)
{
	struct str head = cut(s, LIMIT_QUOTE_BYTES);
	AUTO(buf) buf = { 0 };
	buf_add_char(&buf, '"');
	add_escaped(&buf, head);
	buf_add(&buf, head.size < s.size ? S("\xE2\x80\xA6\"") : S("\""));
	return str_copy(arena, buf_str(&buf));
}

struct str json_said(struct arena *arena, const struct json *json)
{
	const char *kind = json_kind_name(json->kind);
	struct str value = { NULL, 0 };
	switch (json->kind) {
	case JSON_STRING:
		value = quoted(arena, json->as.string);
		break;
	case JSON_BOOL:
	case JSON_INT:
	case JSON_REAL:
		value = json_print(arena, json);
		break;
	case JSON_NULL:
	case JSON_LIST:
	case JSON_OBJECT:
		return str_from_c(kind);
	}
	return str_format(arena, "%s " STR_FMT, kind, STR_ARG(value));
}

struct str problems_text(const struct problems *problems, struct arena *arena)
{
	AUTO(buf) buf = { 0 };
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->at[i];
		if (problem->line > 0)
			buf_add_format(&buf, "%u:%u ", problem->line, problem->column);
		add_escaped(&buf, problem->pointer);
		if (problem->pointer.size > 0)
			buf_add(&buf, S(": "));
		add_escaped(&buf, problem->text);
		buf_add_char(&buf, '\n');
	}
	if (problems->hidden > 0)
		buf_add_format(&buf, "(and %zu more)\n", problems->hidden);
	return str_copy(arena, buf_str(&buf));
}

bool problems_fail(const struct problems *problems, struct error *error)
{
	if (problems->count == 0)
		return true;
	const struct problem *first = &problems->at[0];
	size_t more = problems->count - 1 + problems->hidden;
	char rest[48] = "";
	if (more > 0)
		snprintf(rest, sizeof(rest), " (and %zu more)", more);
	struct str pointer = cut(first->pointer, 200);
	bool configuration = problems->hidden == 0;
	for (size_t i = 0; i < problems->count; i++)
		configuration = configuration && problems->at[i].configuration;
	fail(error, configuration ? ERROR_CONFIGURATION : ERROR_INVALID, STR_FMT "%s" STR_FMT "%s",
	     STR_ARG(pointer), pointer.size > 0 ? ": " : "", STR_ARG(cut(first->text, 240)), rest);
	error->line = first->line;
	error->column = first->column;
	return false;
}

void check_fail(struct check *check, const char *field, const char *format, ...)
{
	struct path path = *check->path;
	const struct json *at = check->json;
	if (field != NULL && field[0] != '\0') {
		struct str name = str_from_c(field);
		const struct json *member = json_member(check->json, name);
		path = path_key(check->path, name);
		at = member == NULL ? at : member;
	}
	char text[400];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	problem_add(check->parse, &path, place_of(at), "%s", text);
}
