/* definition/problem_range.c -- the ranges of problems in the text of a definition, and the edits that mend them.
 *
 * The tree of a definition has the places where nodes begin, not where they end, and a string of it is not the
 * text of the file: quotes, escapes and folded lines are gone.  So a word is searched in the text: the n-th
 * occurrence in the value is the n-th occurrence in the text of the value.  If it is not there, as after an
 * escape in the middle of the word, the problem keeps its place and has no fix.
 */
#include "definition/problem_range.h"

#include <string.h>

struct source {
	struct str text;
	size_t *lines; /* offsets at which they begin */
	size_t count;
};

/* ---- lines and columns ----------------------------------------------------------------- */

/* As libyaml counts them: a line ends at \n, \r\n or \r. */
static bool ends_line(struct str text, size_t at)
{
	return text.at[at] == '\n' ||
	       (text.at[at] == '\r' && (at + 1 == text.size || text.at[at + 1] != '\n'));
}

static void source_init(struct source *source, struct str text, struct arena *arena)
{
	size_t count = 1;
	for (size_t i = 0; i < text.size; i++)
		count += ends_line(text, i);
	*source = (struct source){ .text = text, .lines = arena_array(arena, size_t, count) };
	source->lines[source->count++] = 0;
	for (size_t i = 0; i < text.size; i++)
		if (ends_line(text, i))
			source->lines[source->count++] = i + 1;
}

/* The number of the line, from 0. */
static size_t line_of(const struct source *source, size_t offset)
{
	size_t first = 0, behind = source->count;
	while (behind - first > 1) {
		size_t middle = first + (behind - first) / 2;
		if (source->lines[middle] <= offset)
			first = middle;
		else
			behind = middle;
	}
	return first;
}

static bool is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

/* The end of the line without its line break. */
static size_t line_end(const struct source *source, size_t line)
{
	size_t end = line + 1 < source->count ? source->lines[line + 1] : source->text.size;
	while (end > source->lines[line] && is_line_end(source->text.at[end - 1]))
		end--;
	return end;
}

static size_t offset_at(const struct source *source, uint32_t line, uint32_t column)
{
	if (line > source->count)
		return source->text.size;
	size_t at = source->lines[line - 1], end = line_end(source, line - 1);
	for (uint32_t i = 1; i < column && at < end; i++) {
		at++;
		while (at < end && ((unsigned char)source->text.at[at] & 0xC0) == 0x80)
			at++;
	}
	return at;
}

static void place_at(const struct source *source, size_t offset, uint32_t *out_line,
		     uint32_t *out_column)
{
	size_t line = line_of(source, offset);
	uint32_t column = 1;
	for (size_t i = source->lines[line]; i < offset; i++)
		column += ((unsigned char)source->text.at[i] & 0xC0) != 0x80;
	*out_line = (uint32_t)line + 1;
	*out_column = column;
}

/* ---- ends ------------------------------------------------------------------------------ */

/* Behind the closing quote. */
static size_t quoted_end(struct str text, size_t at)
{
	char quote = text.at[at++];
	for (; at < text.size; at++) {
		if (text.at[at] == '\\' && quote == '"')
			at++;
		else if (text.at[at] == quote && quote == '\'' && at + 1 < text.size &&
			 text.at[at + 1] == quote)
			at++;
		else if (text.at[at] == quote)
			return at + 1;
	}
	return text.size;
}

/* Behind the bracket that closes the one at the offset. */
static size_t flow_end(struct str text, size_t at)
{
	size_t depth = 0;
	while (at < text.size) {
		char c = text.at[at];
		bool after_word = at > 0 && memchr(" \t\n\r,:[{", text.at[at - 1], 8) == NULL;
		if ((c == '"' || c == '\'') && !after_word) {
			at = quoted_end(text, at);
			continue;
		}
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		at++;
		if (depth == 0)
			return at;
	}
	return text.size;
}

/* The column, from 0, that the lines of a value behind the offset must exceed. */
static size_t indentation(const struct source *source, size_t line, size_t value)
{
	size_t begin = source->lines[line], at = begin, dash = begin;
	while (at < source->text.size &&
	       (source->text.at[at] == ' ' ||
		(source->text.at[at] == '-' && at + 1 < source->text.size &&
		 memchr(" \n\r", source->text.at[at + 1], 3) != NULL))) {
		if (source->text.at[at] == '-')
			dash = at;
		at++;
	}
	return (at == value ? dash : at) - begin;
}

/* The end of a text without quotes or brackets: of its line, and of the lines that continue it. */
static size_t lines_end(const struct source *source, size_t at)
{
	size_t line = line_of(source, at), most = indentation(source, line, at);
	size_t end = line_end(source, line);
	while (++line < source->count) {
		size_t begin = source->lines[line], stop = line_end(source, line), first = begin;
		while (first < stop && source->text.at[first] == ' ')
			first++;
		if (first < stop && first - begin <= most)
			break;
		end = stop;
	}
	return end;
}

/* The end of what may contain the word of a problem. */
static size_t value_end(const struct source *source, size_t at)
{
	char c = at < source->text.size ? source->text.at[at] : '\0';
	if (c == '"' || c == '\'')
		return quoted_end(source->text, at);
	if (c == '[' || c == '{')
		return flow_end(source->text, at);
	return lines_end(source, at);
}

/* The end of what a problem without a word underlines: the key or the value at the place, on one line. */
static size_t token_end(const struct source *source, size_t at)
{
	struct str text = source->text;
	size_t end = line_end(source, line_of(source, at)), depth = 0, last = at;
	if (at >= end)
		return at;
	if (memchr("\"'[{", text.at[at], 4) != NULL) {
		size_t closed = value_end(source, at);
		return closed < end ? closed : end;
	}
	for (size_t i = at; i < end; i++) {
		char c = text.at[i], next = i + 1 < end ? text.at[i + 1] : ' ';
		if ((c == ':' && next == ' ') || (c == ' ' && next == '#') ||
		    ((c == ',' || c == ']' || c == '}') && depth == 0))
			break;
		depth += c == '[' || c == '{';
		depth -= c == ']' || c == '}';
		if (c != ' ')
			last = i + 1;
	}
	return last > at ? last : at + 1;
}

/* ---- words ----------------------------------------------------------------------------- */

static bool is_word_byte(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80) != 0;
}

/* An occurrence is no part of a longer word. */
static bool stands_alone(struct str text, size_t at, size_t size)
{
	bool before = at > 0 && is_word_byte(text.at[at]) && is_word_byte(text.at[at - 1]);
	bool behind = at + size < text.size && is_word_byte(text.at[at + size - 1]) &&
		      is_word_byte(text.at[at + size]);
	return !before && !behind;
}

uint32_t problem_word_skip(struct str value, size_t offset, struct str word)
{
	uint32_t count = 0;
	size_t at;
	for (size_t from = 0; from < offset; from += at + 1) {
		if (!str_find(str_skip(value, from), word, &at) || from + at >= offset)
			break;
		count += stands_alone(value, from + at, word.size);
	}
	return count;
}

/* The offset of the word of the hint; SIZE_MAX = it is not there. */
static size_t find_word(const struct source *source, size_t from, const struct problem_hint *hint)
{
	size_t end = value_end(source, from), at;
	uint32_t left = hint->skip;
	while (from < end &&
	       str_find(str_head(str_skip(source->text, from), end - from), hint->word, &at)) {
		bool alone = stands_alone(source->text, from + at, hint->word.size);
		if (alone && left == 0)
			return from + at;
		left -= alone;
		from += at + 1;
	}
	return SIZE_MAX;
}

/* ---- fixes ----------------------------------------------------------------------------- */

static void replace(const struct source *source, struct problem *problem, size_t from, size_t end,
		    struct arena *arena)
{
	struct problem_fix *fix = &problem->fix;
	place_at(source, from, &fix->line, &fix->column);
	place_at(source, end, &fix->end_line, &fix->end_column);
	fix->text = problem->hint.replacement;
	fix->title = str_format(arena, "replace \"" STR_FMT "\" with \"" STR_FMT "\"",
				STR_ARG(problem->hint.word), STR_ARG(fix->text));
}

static char byte_at(const struct source *source, size_t at)
{
	return at < source->text.size ? source->text.at[at] : '\0';
}

/* An item in front of those of a list: `[a, b]` or lines that begin with a dash. */
static struct str new_item(const struct source *source, size_t *at, struct str name,
			   struct arena *arena)
{
	size_t column = *at - source->lines[line_of(source, *at)], next;
	if (byte_at(source, *at) == '-')
		return str_format(arena, "- " STR_FMT "\n%*s", STR_ARG(name), (int)column, "");
	if (byte_at(source, *at) != '[')
		return S("");
	for (next = ++*at;
	     next < source->text.size && memchr(" \n\r", source->text.at[next], 3) != NULL;)
		next++;
	const char *quote = byte_at(source, next) == '"' ? "\"" : "";
	return str_format(arena, "%s" STR_FMT "%s%s", quote, STR_ARG(name), quote,
			  byte_at(source, next) == ']' ? "" : ", ");
}

/* depends_on in front of the member at the offset, as its mapping is written: in lines or in braces. */
static struct str new_list(const struct source *source, size_t at, struct str name,
			   struct arena *arena)
{
	size_t before = at, column = at - source->lines[line_of(source, at)];
	while (before > 0 && memchr(" \n\r", source->text.at[before - 1], 3) != NULL)
		before--;
	bool in_braces = before > 0 && source->text.at[before - 1] == ',';
	if (byte_at(source, at) == '"')
		return str_format(arena, "\"depends_on\": [\"" STR_FMT "\"], ", STR_ARG(name));
	return in_braces ? str_format(arena, "depends_on: [" STR_FMT "], ", STR_ARG(name))
			 : str_format(arena, "depends_on: [" STR_FMT "]\n%*s", STR_ARG(name),
				      (int)column, "");
}

static void add_dependency(const struct source *source, struct problem *problem,
			   struct arena *arena)
{
	const struct problem_hint *hint = &problem->hint;
	struct problem_fix *fix = &problem->fix;
	size_t at = offset_at(source, hint->line, hint->column);
	fix->text = hint->is_list ? new_item(source, &at, hint->dependency, arena)
				  : new_list(source, at, hint->dependency, arena);
	if (fix->text.size == 0)
		return;
	place_at(source, at, &fix->line, &fix->column);
	fix->end_line = fix->line;
	fix->end_column = fix->column;
	fix->title =
		str_format(arena, "add \"" STR_FMT "\" to depends_on", STR_ARG(hint->dependency));
}

static void find_range(const struct source *source, struct problem *problem, struct arena *arena)
{
	size_t from = offset_at(source, problem->line, problem->column), end = from;
	size_t word =
		problem->hint.word.size > 0 ? find_word(source, from, &problem->hint) : SIZE_MAX;
	if (word != SIZE_MAX) {
		from = word;
		end = word + problem->hint.word.size;
		if (problem->hint.replacement.size > 0)
			replace(source, problem, from, end, arena);
	} else {
		end = token_end(source, from);
	}
	place_at(source, from, &problem->line, &problem->column);
	place_at(source, end, &problem->end_line, &problem->end_column);
	if (problem->hint.dependency.size > 0)
		add_dependency(source, problem, arena);
}

void problem_range_find_all(struct problems *problems, struct str text, struct arena *arena)
{
	struct source source = { 0 };
	for (size_t i = 0; i < problems->count; i++) {
		if (problems->at[i].line == 0 || problems->at[i].end_line > 0)
			continue;
		if (source.count == 0)
			source_init(&source, text, arena);
		find_range(&source, &problems->at[i], arena);
	}
}
