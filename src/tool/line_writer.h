/* tool/line_writer.h -- appends lines to files, with group commit.
 *
 * Lines that are added while a batch is being written wait; then they are written as one batch,
 * with one write and one fsync per file.  All functions are called on the loop thread; the files
 * are written by a job.
 */
#ifndef TOOL_LINES_H
#define TOOL_LINES_H

#include "base/str.h"
#include "os/loop.h"

struct line_writer;

/* One line to append.  Owned by the caller, who keeps it until done(). */
struct line {
	const char *root, *path; /* the file, relative to root; both are created if missing */
	struct str text;         /* without the newline */
	void (*done)(struct line *line);
	struct error error; /* in done(): code NONE = the line is on disk */

	/* private: */
	struct line *next;
	bool finished;
};

struct line_writer *line_writer_new(struct loop *loop);
void line_writer_free(struct line_writer *lines);
void line_writer_add(struct line_writer *lines, struct line *line);

#endif
