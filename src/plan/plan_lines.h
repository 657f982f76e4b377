/* plan/plan_lines.h -- the lines of a Markdown text, and which of them are inside code blocks. */
#ifndef PLAN_PLAN_LINES_H
#define PLAN_PLAN_LINES_H

#include "base/str.h"

struct plan_line {
	struct str text; /* without the line end */
	bool code;       /* in a fenced code block; the fences themselves are not */
};

struct plan_lines {
	struct str source;
	struct plan_line *at;
	size_t count;
};

void plan_lines_read(struct str markdown, struct arena *arena, struct plan_lines *out_lines);
/* The text from line `from` up to line `to`, without blank lines at both ends. */
struct str plan_lines_between(const struct plan_lines *lines, size_t from, size_t to);

#endif
