/* tests/unit/views/sample_run.h -- two runs, written by hand.
 *
 * The short one has no bodies and no rounds: greet (echo) -> build (shell, made again after a
 * crash)
 * -> rest (wait) -> ask (a person says yes) -> publish (shell, fails) -> after (skipped).  What
 * build gave is long, so it is stored by its hash.  The long one has everything else: play_long.c.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "views/view.h"

/* JSON in which ' may stand for the double quote. */
struct play_line {
	const char *type;
	int64_t after_ms; /* the event before */
	const char *body;
	const char *state; /* the run's from here on */
};

struct play {
	const char *name;
	const char *graph;
	const struct play_line *lines;
	size_t count;
};

enum { SAMPLE_EVENTS = 12, SAMPLE_MOST = 80 };

extern const struct play play_short, play_long;

struct sample {
	struct arena arena;
	const struct play *play;
	struct view_source source;
	struct event events[SAMPLE_MOST];
};

void sample_init(struct sample *sample); /* the short one */
void sample_init_play(struct sample *sample, const struct play *play);
void sample_done(struct sample *sample);
struct str sample_graph_text(struct sample *sample);
/* The same with double quotes. */
struct str sample_json(struct sample *sample, const char *text);
/* The same run when only its first events had happened, with the state its row had then. */
struct view_source sample_prefix(const struct sample *sample, size_t count);

struct str view_text(const struct view_document *document, struct arena *arena);
/* Everything a view says about a run: one JSON document, a line for each object, so that a change
 * is a line. */
struct str view_whole(const struct view *view, const struct timeline *timeline,
		      struct arena *arena);

#endif
