/* cli/run_tree.h -- a run's steps as lines of a tree.
 *
 * Pure: an outline and how it is to be looked at give text.  What a definition, a tool or a model
 * wrote is in it without the characters that would move a terminal's cursor.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include "contract/run_types.h"

struct tree_look {
	int64_t now;    /* us since 1970 UTC: for what has not ended */
	unsigned frame; /* of the sign that turns; counts up */
	bool still;     /* nothing turns: for what is printed once */
	bool colour;
	size_t columns; /* lines are cut there; 0 = nowhere */
	size_t rows;    /* most lines; what has ended well makes room first; 0 = all */
};

/* Adds a line for each step; how many lines that was. */
size_t run_tree_print(const struct run_outline *outline, const struct tree_look *look,
		      struct buf *out);
/* The run itself on one line, or two when it waits for its turn. */
size_t run_tree_head(const struct run_outline *outline, const struct tree_look *look,
		     struct buf *out);
/* "340ms", "2.1s", "3m 20s", "2h 5m", "4d 1h" */
void run_tree_duration(int64_t from, int64_t to, struct buf *out);
/* The text on one line of a terminal: whatever would move the cursor is a blank. */
void run_tree_plain(struct str text, struct buf *out);

#endif
