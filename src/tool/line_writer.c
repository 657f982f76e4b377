/* tool/line_writer.c -- the queue before the files of append_line.
 *
 * Like the writer's: the queue belongs to the loop thread, and what is in flight to the job until
 * its done(), which sends the next lot on its way before it tells this one.
 */
#include "tool/line_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "os/failpoint.h"

struct line_writer {
	struct job job; /* first: the job is the lines */
	struct loop *loop;
	struct line *first, **last; /* waiting, oldest first */
	struct line *flight;        /* NULL: nothing is on its way */
};

/* Those of the list that go where its first one goes. */
static size_t gather(struct line *list, struct line *same[LIMIT_LINES_TOGETHER])
{
	size_t count = 0;
	for (struct line *line = list; line != NULL; line = line->next)
		if (!line->over && strcmp(line->root, list->root) == 0 &&
		    strcmp(line->path, list->path) == 0)
			same[count++] = line;
	return count;
}

static void write_same(struct line *const *same, size_t count)
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
		same[i]->over = true;
		if (i >= written)
			same[i]->error = error;
	}
}

static void run(struct job *job, unsigned thread)
{
	struct line_writer *lines = (struct line_writer *)job;
	(void)thread;
	for (struct line *line = lines->flight; line != NULL; line = line->next) {
		struct line *same[LIMIT_LINES_TOGETHER];
		if (!line->over)
			write_same(same, gather(line, same));
	}
	FAILPOINT("append.written");
}

static void depart(struct line_writer *lines)
{
	if (lines->first == NULL || lines->flight != NULL)
		return;
	struct line **end = &lines->first;
	for (size_t i = 0; i < LIMIT_LINES_TOGETHER && *end != NULL; i++)
		end = &(*end)->next;
	struct line *rest = *end;
	*end = NULL;
	lines->flight = lines->first;
	lines->first = rest;
	if (rest == NULL)
		lines->last = &lines->first;
	platform_submit(loop_platform(lines->loop), LANE_READER, &lines->job);
}

static void done(struct job *job)
{
	struct line_writer *lines = (struct line_writer *)job;
	struct line *line = lines->flight;
	lines->flight = NULL;
	depart(lines);
	while (line != NULL) {
		/* done() may free it. */
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
	line->over = false;
	line->error = (struct error){ 0 };
	*lines->last = line;
	lines->last = &line->next;
	depart(lines);
}
