/* tests/unit/views/sample.h -- one run, written by hand, with everything a workflow can do.
 *
 * greet (echo) -> build (shell, made again after a crash) -> rest (wait) -> ask (a person says
 * yes) -> publish (shell, fails) -> after (skipped).  What build gave is long, so it is stored by
 * its hash.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "views/view.h"

enum { SAMPLE_EVENTS = 12 };

struct sample {
	struct arena arena;
	struct view_source source;
	struct event events[SAMPLE_EVENTS];
};

void sample_init(struct sample *sample);
void sample_done(struct sample *sample);
/* The same run when only its first events had happened, with the state its row had then. */
struct view_source sample_prefix(const struct sample *sample, size_t count);
struct str sample_graph_text(void);

struct str view_text(const struct view_document *document, struct arena *arena);
/* Everything a view says about a run: one JSON document, a line for each object, so that a change
 * is a line. */
struct str view_whole(const struct view *view, const struct story *story, struct arena *arena);

#endif
