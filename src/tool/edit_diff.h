/* tool/edit_diff.h -- the unified diff of a text whose changes are known.
 *
 * Nothing is compared: the caller says what it replaced, and the diff shows the lines around it.  So
 * the cost grows with the changes and not with the text.  Lines that a change leaves as they were are
 * shown as context.
 */
#ifndef TOOL_EDIT_DIFF_H
#define TOOL_EDIT_DIFF_H

#include "base/str.h"

/* `size` bytes at `at` of the old text became `text`. */
struct text_change {
	size_t at, size;
	struct str text;
};

/* The hunks of the diff, in the arena.  The changes are in order and do not overlap.  At most `limit`
 * bytes: lines that do not fit are left out, and *out_truncated is set. */
struct str edit_diff(struct str old, const struct text_change *changes, size_t count, size_t limit,
		     struct arena *arena, bool *out_truncated);

#endif
