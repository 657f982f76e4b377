/* tool/edit_diff.c -- hunks from known changes.
 *
 * A block is a run of whole lines that one or more changes touch.  A hunk has the blocks whose
 * context lines meet.
 */
#include "tool/edit_diff.h"

#include <string.h>

#include "base/buf.h"

enum { CONTEXT_LINES = 3 };

struct block {
	size_t begin, end; /* of whole lines of the old text */
	struct str lines;  /* that stand there now */
	size_t next;       /* the first change behind it */
};

struct differ {
	struct str old;
	const struct text_change *changes;
	size_t count;
	struct arena *arena;
	/* The hunk under construction. */
	struct buf body;
	size_t old_lines, new_lines;
};

static size_t line_begin(struct str text, size_t at)
{
	while (at > 0 && text.at[at - 1] != '\n')
		at--;
	return at;
}

/* Behind the line that contains `at`. */
static size_t line_end(struct str text, size_t at)
{
	const char *found = at < text.size ? memchr(text.at + at, '\n', text.size - at) : NULL;
	return found == NULL ? text.size : (size_t)(found - text.at) + 1;
}

static size_t lines_back(struct str text, size_t at, size_t count)
{
	for (size_t i = 0; i < count && at > 0; i++)
		at = line_begin(text, at - 1);
	return at;
}

static size_t lines_forward(struct str text, size_t at, size_t count)
{
	for (size_t i = 0; i < count && at < text.size; i++)
		at = line_end(text, at);
	return at;
}

static size_t lines_in(struct str text)
{
	size_t count = 0;
	for (size_t at = 0; at < text.size; count++)
		at = line_end(text, at);
	return count;
}

static struct str piece(struct str text, size_t begin, size_t end)
{
	return str_head(str_skip(text, begin), end - begin);
}

static struct str cut_line(struct str *rest)
{
	struct str line = str_head(*rest, line_end(*rest, 0));
	*rest = str_skip(*rest, line.size);
	return line;
}

static struct str last_line(struct str text)
{
	return str_skip(text, line_begin(text, text.size - (text.size > 0)));
}

/* The whole lines that the change touches, and the next one, which it may join to them; changes that
 * touch the same lines belong to the block. */
static struct block block_at(const struct differ *differ, size_t first)
{
	AUTO(buf) lines = { 0 };
	struct str old = differ->old;
	struct block block = { .begin = line_begin(old, differ->changes[first].at), .next = first };
	size_t at = block.begin;
	while (block.next < differ->count &&
	       (block.next == first || differ->changes[block.next].at < block.end)) {
		const struct text_change *change = &differ->changes[block.next++];
		buf_add(&lines, piece(old, at, change->at));
		buf_add(&lines, change->text);
		at = change->at + change->size;
		block.end = line_end(old, at);
	}
	buf_add(&lines, piece(old, at, block.end));
	block.lines = str_copy(differ->arena, buf_str(&lines));
	return block;
}

static void add_lines(struct differ *differ, char mark, struct str lines)
{
	while (lines.size > 0) {
		struct str line = cut_line(&lines);
		buf_add_char(&differ->body, mark);
		buf_add(&differ->body, line);
		if (!str_ends(line, S("\n")))
			buf_add(&differ->body, S("\n\\ No newline at end of file\n"));
		differ->old_lines += mark != '+';
		differ->new_lines += mark != '-';
	}
}

/* Lines that are the same at both ends of the block are context. */
static void add_block(struct differ *differ, const struct block *block)
{
	struct str before = piece(differ->old, block->begin, block->end), after = block->lines;
	while (before.size > 0 && after.size > 0) {
		struct str one = str_head(before, line_end(before, 0));
		struct str other = str_head(after, line_end(after, 0));
		if (!str_equal(one, other))
			break;
		add_lines(differ, ' ', one);
		before = str_skip(before, one.size);
		after = str_skip(after, other.size);
	}
	size_t same = 0;
	while (before.size > same && after.size > same) {
		struct str one = last_line(str_head(before, before.size - same));
		struct str other = last_line(str_head(after, after.size - same));
		if (!str_equal(one, other))
			break;
		same += one.size;
	}
	add_lines(differ, '-', str_head(before, before.size - same));
	add_lines(differ, '+', str_head(after, after.size - same));
	add_lines(differ, ' ', str_skip(before, before.size - same));
}

/* Writes what fits of the hunk, in whole lines. */
static void put_hunk(struct differ *differ, size_t old_line, size_t new_line, size_t limit,
		     struct buf *out, bool *out_truncated)
{
	AUTO(arena) arena = { 0 };
	struct str header = str_format(&arena, "@@ -%zu,%zu +%zu,%zu @@\n",
				       old_line - (differ->old_lines == 0), differ->old_lines,
				       new_line - (differ->new_lines == 0), differ->new_lines);
	struct str rest = buf_str(&differ->body);
	if (*out_truncated || out->size + header.size > limit) {
		*out_truncated = true;
		return;
	}
	buf_add(out, header);
	while (rest.size > 0) {
		struct str line = cut_line(&rest);
		if (out->size + line.size > limit) {
			*out_truncated = true;
			return;
		}
		buf_add(out, line);
	}
}

struct str edit_diff(struct str old, const struct text_change *changes, size_t count, size_t limit,
		     struct arena *arena, bool *out_truncated)
{
	AUTO(buf) out = { 0 };
	struct differ differ = { old, changes, count, arena, { 0 }, 0, 0 };
	size_t known = 0, old_line = 1, new_line = 1; /* line numbers of the place `known` */
	*out_truncated = false;
	for (size_t i = 0; i < count && !*out_truncated;) {
		struct block block = block_at(&differ, i);
		size_t at = lines_back(old, block.begin, CONTEXT_LINES);
		at = at < known ? known : at;
		size_t skipped = lines_in(piece(old, known, at));
		old_line += skipped;
		new_line += skipped;
		buf_clear(&differ.body);
		differ.old_lines = differ.new_lines = 0;
		for (;;) {
			add_lines(&differ, ' ', piece(old, at, block.begin));
			add_block(&differ, &block);
			at = block.end;
			i = block.next;
			if (i == count || differ.body.size > limit ||
			    line_begin(old, changes[i].at) >
				    lines_forward(old, at, (size_t)2 * CONTEXT_LINES))
				break;
			block = block_at(&differ, i);
		}
		known = lines_forward(old, at, CONTEXT_LINES);
		add_lines(&differ, ' ', piece(old, at, known));
		put_hunk(&differ, old_line, new_line, limit, &out, out_truncated);
		old_line += differ.old_lines;
		new_line += differ.new_lines;
	}
	buf_done(&differ.body);
	return str_copy(arena, buf_str(&out));
}
