/* views/timeline.h -- a run's stream, read once, as facts that every view can be told from.
 *
 * A fold over the stream, independent of the engine's own state: what it says is what was
 * recorded.  A step of a story is an activation (docs/engine.md): it has a path, `build`,
 * `improve#2/draft`, `each[3]/x#2`, and the node it comes from.  The nodes of the root are there
 * from the beginning, pending; every other step is made by the first event that names it.
 *
 * What a step did is a list of calls: a request and what closed it, be it a tool's call, a turn, a
 * sub-run, a wait, a question or a body that was entered and left.  A step that is tried again, or
 * whose outcome a person has to settle, has several.
 *
 * Three things have no event of their own and are worked out from the graph: a pure step starts
 * when the last of its dependencies is final, a step that depends on one that failed is skipped,
 * and what waits when a run is called off is cancelled.  Pure; values stored by hash are looked up
 * through `look`.
 *
 * A fact of a call never changes once its event is there, so an event is shown the same way however
 * long the stream has become since.
 *
 * What was not recorded is not made up:
 *	inputs of a pure step   {} (its templates are in the graph)
 *	a value that is gone    {} for inputs, nothing for outputs
 *	a value that is no object, where a vocabulary wants one   {"value": it}
 *
 * A compacted run's older events are gone.  They are made again from its snapshot, so that the
 * story and what views make of it stay the same, all but what the effects were given, pauses and
 * signals, earlier rounds, the bodies of steps that are over, and calls and questions that a person
 * has settled by another attempt: engine/history_synthesis.h.
 *
 * The story borrows from the source; all it makes is in the arena.
 *
 *	AUTO(story) story = { 0 };
 *	timeline_read(&story, &source, &arena);
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

/* One request and what closed it. */
struct timeline_call {
	struct timeline_call *before; /* the step's call before this one; NULL: it is the first */
	int64_t begun_seq, ended_seq; /* 0: by no event of its own; not yet */
	int64_t begun_at, ended_at;   /* ended_at 0: it is open */
	struct uuid effect;           /* zero: a pure step and a body have none */
	int64_t attempt;              /* as its request says */
	enum vocabulary_step state;   /* what the step was in when this was closed */
	const struct json *inputs;    /* an object */
	const struct json *output;    /* an object, NULL when there is none */
	const struct json *usage; /* of a turn, as the driver counts; NULL when it says nothing */
	struct str fault;         /* why it failed, "" when it did not */
	int64_t due_at, retry_at; /* 0: not */
	struct str model, signal; /* what a turn asks, what a wait is for; "" */
	const struct run_human_requested *question; /* NULL: nobody is asked by this */
	const struct run_human_finished *answer;
};

struct timeline_scope;

struct timeline_step {
	struct str path;
	const struct run_graph_node *node;
	const struct timeline_step *parent; /* the step whose body it is in; NULL: the root's */
	int64_t item;                       /* of a map's body, from 0; -1 */
	size_t slot;                        /* its node's number in the body */
	int64_t ordinal;                    /* #n */
	struct timeline_scope *scope;       /* the story's own */
	enum vocabulary_step state;
	bool started, ended;
	bool follows; /* skipped because something before it failed: no event says so */
	int64_t started_at, ended_at;
	int64_t begun_seq, ended_seq; /* 0: by no event of its own */
	struct uuid effect;           /* of the newest attempt; zero: it has none */
	int64_t attempts;             /* 0 before it started */
	const struct json *inputs;    /* of the newest attempt, an object */
	const struct json *output;    /* an object, NULL when there is none */
	struct str fault;  /* why it failed, was skipped or cancelled; "" when it was not */
	struct str reason; /* why it was passed over: its condition; "" */
	const struct run_human_requested *question;  /* the newest; NULL: nobody was asked */
	const struct run_human_escalated *passed_on; /* that question, last; NULL: it never was */
	const struct run_human_finished *answer;
	struct timeline_call *call; /* the newest; NULL: none yet */
	size_t call_count;
};

struct timeline {
	const struct view_source *source;
	struct arena *arena;
	struct map paths;  /* path -> struct timeline_step */
	struct map places; /* path of a node's first activation -> what is known of all of them */
	struct map scopes; /* path of a body -> struct timeline_scope; not the root's */
	struct timeline_scope *root, *newest_scope;
	struct timeline_step **steps; /* the nodes of the root, then as events named them */
	size_t count, room;
	size_t ended_count; /* those that an event has ended and that were not passed over */
	enum vocabulary_run state;
	int64_t created_at, started_at, ended_at; /* started_at 0: it is queued */
	bool ended, cancelling;
	struct uuid parent;         /* the run it is part of; zero: none */
	int64_t retention_days;     /* -1: its start did not say */
	const struct json *inputs;  /* an object */
	const struct json *outputs; /* an object, NULL when there are none */
	struct str fault;           /* "" when there is none */
	struct str trace;           /* traceparent of who started it, "" when none was sent */
	enum timeline_word {
		TIMELINE_AS_ITS_ROW,
		TIMELINE_QUEUED,
		TIMELINE_STARTED, /* it has left its queue, and may have been paused since */
		TIMELINE_PAUSED,
		TIMELINE_AT_WORK,
	} word; /* what the stream says of the run's state, which may be newer than its row */
};

void timeline_read(struct timeline *timeline, const struct view_source *source,
		   struct arena *arena);
/* The source has more events than it had: those from this number on are read too. */
void timeline_go_on(struct timeline *timeline, size_t from);
void timeline_done(struct timeline *timeline);

int64_t timeline_seq(const struct timeline *timeline, size_t index);
/* Number of the event with this seq in the list; event_count when there is none. */
size_t timeline_index(const struct timeline *timeline, int64_t seq);
/* Whether it is about the run or a step of its graph; a view shows no other event. */
bool timeline_covers(const struct timeline *timeline, const struct event *event);
/* The step an event is about; NULL for the run itself and for a step the graph does not have. */
const struct timeline_step *timeline_step(const struct timeline *timeline,
					  const struct event *event);
/* The step with this path; NULL when there is none (yet). */
const struct timeline_step *timeline_find(const struct timeline *timeline, struct str path);
/* The call that event number `index` begins, ends or is about; one without facts when there is
 * none: a step that was passed over. */
const struct timeline_call *timeline_call(const struct timeline *timeline, size_t index);
/* The step's calls, oldest first, call_count of them. */
const struct timeline_call **timeline_calls(const struct timeline *timeline,
					    const struct timeline_step *step);
/* Every step, `count` of them, in the definition's order: a step, then what is in its body, then
 * its next activation. */
const struct timeline_step **timeline_in_order(const struct timeline *timeline);
const struct vocabulary_run_row *timeline_words(const struct timeline *timeline);

/* ---- what an event says by itself ------------------------------------------------------- */

/* Whether the body says that something went wrong for good. */
bool timeline_event_failed(const struct event *event);
/* Whether it closes a call and the step goes on: it is tried again, or a person has to say what
 * became of it. */
bool timeline_event_goes_on(const struct event *event);
/* The path of the step that it is about; false: it is about the run itself. */
bool timeline_event_of_step(const struct event *event, struct str *out_path);

/* ---- what several vocabularies say alike ------------------------------------------------ */

/* Ids derive from (run, seq), so that asking again gives the same ones. */
struct uuid timeline_event_id(const struct timeline *timeline, int64_t seq);
struct str timeline_id_text(const struct timeline *timeline, struct uuid id);
struct str timeline_id_hex(const struct timeline *timeline, const char *prefix, struct uuid id);
/* Names the call in every vocabulary: the effect, or the event that began or ended it. */
struct uuid timeline_call_id(const struct timeline *timeline, const struct timeline_call *call);
/* Who did it: the tool, the agent, the definition of a sub-run, or "human", "wait" and so on, which
 * stand where an agent would. */
struct str timeline_agent(const struct timeline_step *step);
int64_t timeline_duration_ms(int64_t from, int64_t to);
/* What a tool printed when it says so (`stdout`), else its output as JSON text; "" for none. */
struct str timeline_output_text(const struct timeline *timeline, const struct json *output);
/* What happened, for a person: event number `index` of the stream. */
struct str timeline_format_event(const struct timeline *timeline, size_t index);
/* The same for a program: an object with Baton's name of the event and what belongs to it. */
const struct json *timeline_details(const struct timeline *timeline, size_t index);
/* How it ended, in words: the outputs as JSON text, or why it failed; "" while it runs. */
struct str timeline_result(const struct timeline *timeline);

#endif
