/* tests/unit/views/sample_run.h -- three handwritten sample runs.
 *
 * The short run has no bodies and no rounds: greet (echo) -> build (shell, restarted after a crash)
 * -> rest (wait) -> ask (approved) -> publish (shell, fails) -> after (skipped).  The output of
 * build is long, so it is stored by its hash.  The long run (play_long.c) has everything else, and
 * the third (play_retried.c) fails and is retried.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "views/view.h"

/* An event; in its JSON, ' may replace the double quote. */
struct play_line {
	const char *type;
	int64_t after_ms; /* the previous event */
	const char *body;
	const char *state; /* state of the run from here on */
};

struct play {
	const char *name;
	const char *graph;
	const struct play_line *lines;
	size_t count;
};

enum { SAMPLE_EVENTS = 12, SAMPLE_MOST = 80 };

extern const struct play play_short, play_long, play_retried, play_rounds, play_unwind, play_mail;

struct sample {
	struct arena arena;
	const struct play *play;
	struct view_source source;
	struct event events[SAMPLE_MOST];
};

void sample_init(struct sample *sample); /* the short run */
void sample_init_play(struct sample *sample, const struct play *play);
void sample_done(struct sample *sample);
struct str sample_graph_text(struct sample *sample);
/* The text with ' replaced by double quotes. */
struct str sample_json(struct sample *sample, const char *text);
/* The run after its first `count` events, with its stored state at that time. */
struct view_source sample_prefix(const struct sample *sample, size_t count);

struct str view_text(const struct view_document *document, struct arena *arena);
/* All documents and events of a view as one JSON document with one line per object, so that diffs
 * are short. */
struct str view_whole(const struct view *view, const struct timeline *timeline,
		      struct arena *arena);

#endif
