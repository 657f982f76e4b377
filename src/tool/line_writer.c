/* tool/line_writer.c -- appends lines to files, with group commit.
 *
 * The loop thread owns the queue.  The job owns the batch in flight until its done(), which submits
 * the next batch before it completes this one.
 */
#include "tool/line_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "os/failpoint.h"

struct line_writer {
	struct job job; /* first, so that a job pointer converts to a line_writer */
	struct loop *loop;
	struct line *first, **last; /* waiting, oldest first */
	struct line *in_flight;     /* the batch that is being written; NULL = none */
};

/* Collects the lines of the list that go to the same file as its first line. */
static size_t batch_collect(struct line *list, struct line *same[LIMIT_LINES_TOGETHER])
{
	size_t count = 0;
	for (struct line *line = list; line != NULL; line = line->next)
		if (!line->finished && strcmp(line->root, list->root) == 0 &&
		    strcmp(line->path, list->path) == 0)
			same[count++] = line;
	return count;
}

static void batch_write(struct line *const *same, size_t count)
{
	struct str texts[LIMIT_LINES_TOGETHER];
	size_t written = 0;
	struct error error = { 0 };
	for (size_t i = 0; i < count; i++)
		texts[i] = same[i]->text;
	if (folder_make(same[0]->root, &error) &&
	    confined_append_lines(same[0]->root, same[0]->path, texts, count, &written, &error))
		require(written == count);
	for (size_t i = 0; i < count; i++) {
		same[i]->finished = true;
		if (i >= written)
			same[i]->error = error;
	}
}

static void run(struct job *job, unsigned thread)
{
	struct line_writer *lines = (struct line_writer *)job;
	(void)thread;
	for (struct line *line = lines->in_flight; line != NULL; line = line->next) {
		struct line *same[LIMIT_LINES_TOGETHER];
		if (!line->finished)
			batch_write(same, batch_collect(line, same));
	}
	FAILPOINT("append.written");
}

static void batch_submit(struct line_writer *lines)
{
	if (lines->first == NULL || lines->in_flight != NULL)
		return;
	struct line **end = &lines->first;
	for (size_t i = 0; i < LIMIT_LINES_TOGETHER && *end != NULL; i++)
		end = &(*end)->next;
	struct line *rest = *end;
	*end = NULL;
	lines->in_flight = lines->first;
	lines->first = rest;
	if (rest == NULL)
		lines->last = &lines->first;
	platform_submit(loop_platform(lines->loop), LANE_READER, &lines->job);
}

static void done(struct job *job)
{
	struct line_writer *lines = (struct line_writer *)job;
	struct line *line = lines->in_flight;
	lines->in_flight = NULL;
	batch_submit(lines);
	while (line != NULL) {
		/* done() may free the line. */
		struct line *next = line->next;
		line->done(line);
		line = next;
	}
}

struct line_writer *line_writer_new(struct loop *loop)
{
	struct line_writer *lines = calloc(1, sizeof(*lines));
	require(lines != NULL);
	lines->job = (struct job){ .run = run, .done = done, .name = "append" };
	lines->loop = loop;
	lines->last = &lines->first;
	return lines;
}

void line_writer_free(struct line_writer *lines)
{
	free(lines);
}

void line_writer_add(struct line_writer *lines, struct line *line)
{
	line->next = NULL;
	line->finished = false;
	line->error = (struct error){ 0 };
	*lines->last = line;
	lines->last = &line->next;
	batch_submit(lines);
}
