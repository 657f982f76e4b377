/* cli/run_tree.h -- prints the steps of a run as a tree; private to cli.
 *
 * The functions are pure: they append text to a buffer.  Text from definitions, tools and models
 * goes through base/terminal_text.h, so that it cannot control the terminal.
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
/* The color of a state of a run or a step; "" for an unknown state. */
const char *run_tree_color(struct str state);
/* "340ms", "2.1s", "3m 20s", "2h 5m", "4d 1h" */
void run_tree_duration(int64_t from, int64_t to, struct buf *out);

#endif
