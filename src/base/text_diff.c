/* base/text_diff.c -- the difference of two texts as a unified diff.
 *
 * The greedy algorithm of Myers keeps, for every number of edits, how far each diagonal reaches; the
 * script is found by walking these rows backwards.  Rows grow with the number of edits, so the
 * memory is quadratic in LIMIT_DIFF_EDITS and independent of the size of the texts.
 */
#include "base/text_diff.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"

enum { CONTEXT = 3 }; /* unchanged lines around a change */

struct lines {
	struct str *at; /* with their line ends */
	size_t count;
	bool *changed; /* deleted or added */
};

static struct lines split(struct str text, struct arena *arena)
{
	struct lines lines = { .count = 0 };
	for (size_t i = 0; i < text.size; i++)
		lines.count += text.at[i] == '\n' || i + 1 == text.size;
	lines.at = arena_array(arena, struct str, lines.count);
	lines.changed = arena_array(arena, bool, lines.count);
	size_t from = 0, number = 0;
	for (size_t i = 0; i < text.size; i++)
		if (text.at[i] == '\n' || i + 1 == text.size) {
			lines.at[number++] = (struct str){ text.at + from, i + 1 - from };
			from = i + 1;
		}
	return lines;
}

/* The parts of both texts between their common beginning and their common end. */
struct middle {
	const struct str *before, *after;
	int64_t before_count, after_count;
};

/* How far the diagonals -edits to edits reach, in lines of `before`. */
struct row {
	int64_t *reach;
};

static int64_t *reach_of(const struct row *row, int64_t edits, int64_t diagonal)
{
	return &row->reach[diagonal + edits];
}

/* Does the furthest path to the diagonal end with an added line? */
static bool comes_from_above(const struct row *last, int64_t edits, int64_t diagonal)
{
	if (diagonal == -edits)
		return true;
	if (diagonal == edits)
		return false;
	return *reach_of(last, edits - 1, diagonal - 1) < *reach_of(last, edits - 1, diagonal + 1);
}

static int64_t begin_of(const struct row *last, int64_t edits, int64_t diagonal)
{
	if (edits == 0)
		return 0;
	return comes_from_above(last, edits, diagonal)
		       ? *reach_of(last, edits - 1, diagonal + 1)
		       : *reach_of(last, edits - 1, diagonal - 1) + 1;
}

/* Extends every diagonal by one edit; true when the end of both texts is reached. */
static bool extend(const struct middle *m, struct row *rows, int64_t edits)
{
	const struct row *last = edits > 0 ? &rows[edits - 1] : NULL;
	for (int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
		int64_t x = begin_of(last, edits, diagonal), y = x - diagonal;
		while (x < m->before_count && y < m->after_count && y >= 0 &&
		       str_equal(m->before[x], m->after[y])) {
			x++;
			y++;
		}
		*reach_of(&rows[edits], edits, diagonal) = x;
		if (x >= m->before_count && y >= m->after_count)
			return true;
	}
	return false;
}

/* Marks the lines of the script, from its end to its beginning. */
static void mark(const struct middle *m, const struct row *rows, int64_t edits, bool *deleted,
		 bool *added)
{
	int64_t diagonal = m->before_count - m->after_count;
	for (; edits > 0; edits--) {
		const struct row *last = &rows[edits - 1];
		int64_t x = begin_of(last, edits, diagonal), y = x - diagonal;
		if (comes_from_above(last, edits, diagonal)) {
			if (y >= 1 && y <= m->after_count)
				added[y - 1] = true;
			diagonal++;
		} else {
			if (x >= 1 && x <= m->before_count)
				deleted[x - 1] = true;
			diagonal--;
		}
	}
}

static bool align(const struct middle *m, struct arena *scratch, bool *deleted, bool *added)
{
	if (m->before_count + m->after_count > LIMIT_DIFF_LINES)
		return false;
	struct row *rows = arena_array(scratch, struct row, LIMIT_DIFF_EDITS + 1);
	for (int64_t edits = 0; edits <= LIMIT_DIFF_EDITS; edits++) {
		rows[edits].reach = arena_array(scratch, int64_t, (size_t)(2 * edits + 1));
		if (extend(m, rows, edits)) {
			mark(m, rows, edits, deleted, added);
			return true;
		}
	}
	return false;
}

static void compare(struct lines *before, struct lines *after)
{
	AUTO(arena) scratch = { 0 };
	size_t begin = 0, end = 0;
	while (begin < before->count && begin < after->count &&
	       str_equal(before->at[begin], after->at[begin]))
		begin++;
	while (end < before->count - begin && end < after->count - begin &&
	       str_equal(before->at[before->count - 1 - end], after->at[after->count - 1 - end]))
		end++;
	struct middle m = { before->at + begin, after->at + begin,
			    (int64_t)(before->count - begin - end),
			    (int64_t)(after->count - begin - end) };
	if (align(&m, &scratch, before->changed + begin, after->changed + begin))
		return;
	for (size_t i = begin; i < before->count - end; i++)
		before->changed[i] = true;
	for (size_t i = begin; i < after->count - end; i++)
		after->changed[i] = true;
}

static void add_line(struct buf *out, char sign, struct str line)
{
	buf_add_char(out, sign);
	buf_add(out, line);
	if (!str_ends(line, S("\n")))
		buf_add(out, S("\n\\ No newline at end of file\n"));
}

static bool changed_at(const struct lines *lines, size_t number)
{
	return number < lines->count && lines->changed[number];
}

/* One walk over both texts: `x` and `y` are the next lines. */
struct walk {
	const struct lines *before, *after;
	size_t x, y;
};

static bool at_change(const struct walk *w)
{
	return changed_at(w->before, w->x) || changed_at(w->after, w->y);
}

static bool at_end(const struct walk *w)
{
	return w->x >= w->before->count && w->y >= w->after->count;
}

/* Prints one line, or only passes it when `out` is NULL. */
static void advance_line(struct walk *w, struct buf *out)
{
	if (changed_at(w->before, w->x)) {
		if (out != NULL)
			add_line(out, '-', w->before->at[w->x]);
		w->x++;
	} else if (changed_at(w->after, w->y)) {
		if (out != NULL)
			add_line(out, '+', w->after->at[w->y]);
		w->y++;
	} else {
		if (out != NULL)
			add_line(out, ' ', w->before->at[w->x]);
		w->x++;
		w->y++;
	}
}

/* The end of the hunk that begins at `w`: behind the context of its last change. */
static struct walk hunk_end(struct walk w)
{
	struct walk end = w;
	size_t quiet = 0;
	while (!at_end(&w) && quiet <= 2 * CONTEXT) {
		quiet = at_change(&w) ? 0 : quiet + 1;
		advance_line(&w, NULL);
		if (quiet <= CONTEXT)
			end = w;
	}
	return end;
}

static void add_range(struct buf *out, char sign, size_t from, size_t to)
{
	/* An empty range is given by the line before it. */
	buf_add_format(out, "%c%zu,%zu", sign, to > from ? from + 1 : from, to - from);
}

static void add_hunk(struct walk *w, struct buf *out)
{
	size_t back = w->x < w->y ? w->x : w->y;
	back = back < CONTEXT ? back : CONTEXT;
	w->x -= back;
	w->y -= back;
	struct walk begin = *w, change = *w;
	change.x += back;
	change.y += back;
	struct walk end = hunk_end(change);
	buf_add(out, S("@@ "));
	add_range(out, '-', begin.x, end.x);
	buf_add_char(out, ' ');
	add_range(out, '+', begin.y, end.y);
	buf_add(out, S(" @@\n"));
	while (w->x < end.x || w->y < end.y)
		advance_line(w, out);
}

struct str text_diff(struct str before, struct str after, struct str before_name,
		     struct str after_name, struct arena *arena)
{
	if (str_equal(before, after))
		return S("");
	AUTO(arena) scratch = { 0 };
	AUTO(buf) out = { 0 };
	struct lines old = split(before, &scratch), new = split(after, &scratch);
	compare(&old, &new);
	buf_add_format(&out, "--- " STR_FMT "\n+++ " STR_FMT "\n", STR_ARG(before_name),
		       STR_ARG(after_name));
	struct walk w = { &old, &new, 0, 0 };
	while (!at_end(&w)) {
		if (at_change(&w))
			add_hunk(&w, &out);
		else
			advance_line(&w, NULL);
	}
	return str_copy(arena, buf_str(&out));
}
