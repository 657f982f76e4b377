/* tool/line_writer.h -- lines on their way to files, those that wait for the disk together.
 *
 * A line that comes while others are being written waits; what waited is then written at once: one
 * write and one wait for the disk for each file.  On the loop thread, but for the writing.
 */
#ifndef TOOL_LINES_H
#define TOOL_LINES_H

#include "base/str.h"
#include "os/loop.h"

struct line_writer;

/* The caller's memory until done(). */
struct line {
	const char *root, *path; /* the file, beneath the root; both are made when missing */
	struct str text;         /* without its end */
	void (*done)(struct line *line);
	struct error error; /* at done(): code NONE when it is on the disk */

	/* Not the caller's: */
	struct line *next;
	bool over;
};

struct line_writer *line_writer_new(struct loop *loop);
void line_writer_free(struct line_writer *lines);
void line_writer_add(struct line_writer *lines, struct line *line);

#endif
