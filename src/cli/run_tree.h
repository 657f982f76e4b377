/* cli/run_tree.h -- prints the steps of a run as a tree; private to cli.
 *
 * The functions are pure: they append text to a buffer.  Text from definitions, tools and models is
 * printed without control characters, so that it cannot move the terminal's cursor.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include "contract/contract.h"

struct run_outline;

struct tree_style {
	int64_t now;     /* us since 1970 UTC; durations of open steps end here */
	unsigned frame;  /* of the spinner; the caller counts up */
	bool no_spinner; /* for a tree that is printed once */
	bool color;
	size_t columns; /* longer lines are truncated; 0 = no limit */
	size_t rows;    /* at most so many lines; completed steps are hidden first; 0 = no limit */
};

/* Appends one line per step; returns the number of lines. */
size_t run_tree_print(const struct run_outline *outline, const struct tree_style *style,
		      struct buf *out);
/* Appends one line about the run, and a second one if it waits for admission; returns the number of
 * lines. */
size_t run_tree_head(const struct run_outline *outline, const struct tree_style *style,
		     struct buf *out);
/* "340ms", "2.1s", "3m 20s", "2h 5m", "4d 1h" */
void run_tree_duration(int64_t from, int64_t to, struct buf *out);
/* Appends the text with every control character replaced by a space. */
void run_tree_plain(struct str text, struct buf *out);

#endif
