/* views/story.h -- a run's stream, read once, as facts that every view can be told from.
 *
 * A fold over the stream, independent of the engine's own state: what it says is what was
 * recorded.  Two things have no event of their own and are worked out from the graph: a pure step
 * starts when the last of its dependencies is final, and a step whose dependency did not succeed
 * is skipped.  Pure; values stored by hash are looked up through `look`.
 *
 * A fact never changes once its event is there, so an event is shown the same way however long
 * the stream has become since.
 *
 * What was not recorded is not made up:
 *	inputs of a pure step   {} (its templates are in the graph)
 *	a value that is gone    {} for inputs, nothing for outputs
 *	a value that is no object, where a vocabulary wants one   {"value": it}
 *
 * A compacted run's older events are gone.  They are made again from its snapshot, all but what the
 * effects were given, so that the story and what views make of it stay the same: engine/retell.h.
 *
 * The story borrows from the source; all it makes is in the arena.
 *
 *	AUTO(story) story = { 0 };
 *	story_read(&story, &source, &arena);
 */
#ifndef VIEWS_STORY_H
#define VIEWS_STORY_H

#include "base/map.h"
#include "contract/event.h"
#include "views/vocabulary.h"

struct view_source {
	struct uuid run;
	struct str state; /* Baton's own word, of the run's row */
	const struct run_graph *graph;
	const struct event *events; /* the whole stream, each with its seq */
	const int64_t *seqs;        /* growing; NULL: 1, 2, 3 … */
	size_t event_count;
	/* The value with this hash; NULL when it is not there. */
	const struct json *(*look)(void *context, const struct hash *hash);
	void *context;
};

struct story_step {
	const struct run_graph_node *node;
	enum vocabulary_step state;
	bool started, ended;
	int64_t started_at, ended_at;
	int64_t begun_seq, ended_seq; /* 0: by no event of its own */
	struct uuid effect;           /* zero: a pure step has none */
	int64_t attempts;             /* 0 before it started */
	const struct json *inputs;    /* an object */
	const struct json *output;    /* an object, NULL when there is none */
	struct str fault;             /* why it failed or was skipped, "" when it was not */
	const struct run_human_requested *question; /* NULL: nobody was asked */
	const struct run_human_finished *answer;
	int64_t due_at;
};

struct story {
	const struct view_source *source;
	struct arena *arena;
	struct map numbers; /* step -> number + 1 */
	struct story_step *steps;
	size_t count, ended_count; /* steps of the graph; those that an event has ended */
	enum vocabulary_run state;
	int64_t created_at, ended_at;
	bool ended;
	int64_t retention_days;     /* -1: its start did not say */
	const struct json *inputs;  /* an object */
	const struct json *outputs; /* an object, NULL when there are none */
	struct str fault;           /* "" when there is none */
	struct str trace;           /* traceparent of who started it, "" when none was sent */
};

void story_read(struct story *story, const struct view_source *source, struct arena *arena);
/* The source has more events than it had: those from this number on are read too. */
void story_go_on(struct story *story, size_t from);
void story_done(struct story *story);

int64_t story_seq(const struct story *story, size_t index);
/* Number of the event with this seq in the list; event_count when there is none. */
size_t story_index(const struct story *story, int64_t seq);
/* Whether it is about the run or a step of its graph; a view shows no other event. */
bool story_covers(const struct story *story, const struct event *event);
/* The step an event is about; NULL for the run itself and for a step the graph does not have. */
const struct story_step *story_step(const struct story *story, const struct event *event);
const struct vocabulary_run_row *story_words(const struct story *story);
/* Whether the body says that something went wrong. */
bool story_event_failed(const struct event *event);

/* ---- what several vocabularies say alike ------------------------------------------------ */

/* Ids derive from (run, seq), so that asking again gives the same ones. */
struct uuid story_event_id(const struct story *story, int64_t seq);
struct str story_id_text(const struct story *story, struct uuid id);
struct str story_id_hex(const struct story *story, const char *prefix, struct uuid id);
/* Names the call in every vocabulary: the effect, or the event of a pure step's result. */
struct uuid story_call_id(const struct story *story, const struct story_step *step);
/* Who did it: the tool, "human" or "wait" that stands where an agent would. */
struct str story_agent(const struct story_step *step);
int64_t story_duration_ms(int64_t from, int64_t to);
/* What a tool printed when it says so (`stdout`), else its output as JSON text; "" for none. */
struct str story_output_text(const struct story *story, const struct story_step *step);
/* What happened, for a person: event number `index` of the stream. */
struct str story_says(const struct story *story, size_t index);
/* The same for a program: an object with Baton's name of the event and what belongs to it. */
const struct json *story_details(const struct story *story, size_t index);
/* How it ended, in words: the outputs as JSON text, or why it failed; "" while it runs. */
struct str story_result(const struct story *story);

#endif
