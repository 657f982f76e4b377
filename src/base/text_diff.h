/* base/text_diff.h -- the difference of two texts as a unified diff.
 *
 * Lines are aligned by the shortest edit script (Myers) as long as it has at most LIMIT_DIFF_EDITS
 * lines and the texts at most LIMIT_DIFF_LINES; otherwise everything between the common beginning
 * and the common end is replaced as a whole.  So the work is bounded, and the result is always a
 * correct diff, if not always a short one.
 *
 *	struct str diff = text_diff(before, after, S("version 1"), S("version 2"), arena);
 */
#ifndef BASE_TEXT_DIFF_H
#define BASE_TEXT_DIFF_H

#include "base/arena.h"
#include "base/str.h"

/* "" when the texts are equal.  The names stand in the two header lines. */
struct str text_diff(struct str before, struct str after, struct str before_name,
		     struct str after_name, struct arena *arena);

#endif
