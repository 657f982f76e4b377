/* plan/plan_lines.c -- finds the lines of a text that are code, with md4c.
 *
 * Whether a line is code depends on fences, lists and quotations around it, which is why a Markdown
 * parser decides.  md4c reads a copy of the text in which nothing is left that cannot matter: only the
 * blocks are of interest, and blocks are decided by the beginning of a line.  So links, tags, entities
 * and escapes become letters, and so does everything behind the first LIMIT_PLAN_LINE_LEAD bytes of a
 * line except backticks.  This bounds the nesting of blocks, and with it what md4c does for each line:
 * for some texts its work would otherwise grow with the square of their size.
 */
#include <string.h>

#include <md4c.h>

#include "base/limits.h"
#include "plan/plan_lines.h"

struct reading {
	const char *copy; /* what md4c reads; as long as the source */
	struct plan_lines *lines;
	const size_t *line_of; /* line of each block of LINE_STRIDE bytes */
	bool in_code;
};

enum { LINE_STRIDE = 64 };

static bool keeps_meaning(char c)
{
	return (c >= '0' && c <= '9') || (c != '\0' && strchr(" \t\n`~#>-+*_=.)", c) != NULL);
}

/* Letters for everything that cannot change which lines are code. */
static char *masked(struct str source, struct arena *arena)
{
	char *copy = arena_take_text(arena, source.size + 1);
	size_t column = 0;
	for (size_t i = 0; i < source.size; i++, column++) {
		char c = source.at[i];
		bool return_before_end =
			c == '\r' && (i + 1 == source.size || source.at[i + 1] == '\n');
		if (return_before_end)
			c = ' ';
		else if (column >= LIMIT_PLAN_LINE_LEAD ? c != '`' && c != '\n' : !keeps_meaning(c))
			c = 'x';
		copy[i] = c;
		if (c == '\n')
			column = (size_t)-1;
	}
	copy[source.size] = '\0';
	return copy;
}

static void split(struct plan_lines *lines, struct arena *arena)
{
	struct str source = lines->source, rest = source, piece;
	size_t count = 1;
	for (size_t i = 0; i < source.size; i++)
		count += source.at[i] == '\n';
	lines->at = arena_array(arena, struct plan_line, count);
	while (str_cut(&rest, '\n', &piece)) {
		if (piece.size > 0 && piece.at[piece.size - 1] == '\r')
			piece.size--;
		lines->at[lines->count++].text = piece;
	}
}

static const size_t *index_lines(const struct plan_lines *lines, struct arena *arena)
{
	size_t *line_of = arena_array(arena, size_t, lines->source.size / LINE_STRIDE + 2);
	size_t next = 0;
	for (size_t i = 0; i < lines->count; i++) {
		size_t begin = (size_t)(lines->at[i].text.at - lines->source.at);
		while (next * LINE_STRIDE < begin)
			line_of[next++] = i > 0 ? i - 1 : 0;
	}
	for (; next < lines->source.size / LINE_STRIDE + 2; next++)
		line_of[next] = lines->count > 0 ? lines->count - 1 : 0;
	return line_of;
}

static void mark_code(struct reading *reading, size_t offset)
{
	struct plan_lines *lines = reading->lines;
	size_t i = reading->line_of[offset / LINE_STRIDE];
	while (i + 1 < lines->count &&
	       (size_t)(lines->at[i + 1].text.at - lines->source.at) <= offset)
		i++;
	lines->at[i].code = true;
}

/* Only fenced blocks: an item that is indented too far is still an item to its reader. */
static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
	struct reading *reading = context;
	if (type == MD_BLOCK_CODE)
		reading->in_code = ((const MD_BLOCK_CODE_DETAIL *)detail)->fence_char != 0;
	return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
	struct reading *reading = context;
	(void)detail;
	if (type == MD_BLOCK_CODE)
		reading->in_code = false;
	return 0;
}

static int span(MD_SPANTYPE type, void *detail, void *context)
{
	(void)type;
	(void)detail;
	(void)context;
	return 0;
}

/* The text of a code block comes line by line, from the copy; line ends and indentation are constants
 * of md4c's own. */
static int text(MD_TEXTTYPE type, const MD_CHAR *at, MD_SIZE size, void *context)
{
	struct reading *reading = context;
	uintptr_t begin = (uintptr_t)reading->copy, place = (uintptr_t)at;
	(void)type;
	if (reading->in_code && size > 0 && place >= begin &&
	    place < begin + reading->lines->source.size)
		mark_code(reading, place - begin);
	return 0;
}

void plan_lines_read(struct str markdown, struct arena *arena, struct plan_lines *out_lines)
{
	struct plan_lines lines = { .source = markdown };
	split(&lines, arena);
	struct reading reading = { .copy = masked(markdown, arena),
				   .lines = &lines,
				   .line_of = index_lines(&lines, arena) };
	const MD_PARSER parser = {
		.flags = MD_FLAG_NOHTML,
		.enter_block = enter_block,
		.leave_block = leave_block,
		.enter_span = span,
		.leave_span = span,
		.text = text,
	};
	/* It fails only when memory ends or a callback asks for it. */
	int failed = md_parse(reading.copy, (MD_SIZE)markdown.size, &parser, &reading);
	require(failed == 0);
	*out_lines = lines;
}

static bool is_blank(struct str line)
{
	return str_trim(line).size == 0;
}

struct str plan_lines_between(const struct plan_lines *lines, size_t from, size_t to)
{
	while (from < to && is_blank(lines->at[from].text))
		from++;
	while (to > from && is_blank(lines->at[to - 1].text))
		to--;
	if (from == to)
		return S("");
	const char *begin = lines->at[from].text.at;
	struct str last = lines->at[to - 1].text;
	return (struct str){ begin, (size_t)(last.at + last.size - begin) };
}
