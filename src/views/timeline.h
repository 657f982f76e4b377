/* views/timeline.h -- the timeline of a run: facts folded from its event stream, for all views.
 *
 * The timeline is a fold over the stream and independent of the engine's state: it contains what
 * was recorded.  A step of a timeline is an activation (docs/engine.md).  It has a path (`build`,
 * `improve#2/draft`, `each[3]/x#2`) and a node of the graph.  The nodes of the root exist from the
 * start, pending; every other step is created by the first event that names it.
 *
 * A step has a list of calls.  A call is a request and its result: a tool call, an agent's turn, a
 * sub-run, a wait, a question, or a body that was entered and left.  A step has several calls when
 * it was retried or when a person had to settle the outcome.
 *
 * Three facts have no event and are derived from the graph: a pure step starts when its last
 * dependency is final; a step that depends on a failed step is skipped; steps that wait when a run
 * is cancelled are cancelled.  All functions are pure; `read_value` reads values stored by hash.
 * A fact of a call does not change after its event.  Facts that were not recorded are empty: the inputs
 * of a pure step (its templates are in the graph) and deleted values.  A value that is no object becomes
 * {"value": it} where one is required.
 *
 * The older events of a compacted run are deleted.  They are synthesized from its snapshot
 * (engine/history_synthesis.h), so the timeline and its views stay the same, except for the inputs
 * of effects, pauses, signals, earlier rounds, bodies of finished steps, and calls and questions
 * that a person settled with another attempt.
 *
 * The timeline borrows from the source; its own data is in the arena.
 *	AUTO(timeline) timeline = { 0 }; timeline_read(&timeline, &source, &arena);
 */
#ifndef VIEWS_TIMELINE_H
#define VIEWS_TIMELINE_H

#include "base/map.h"
#include "contract/event.h"
#include "views/vocabulary.h"

struct run_failure;
struct run_graph;
struct run_graph_node;
struct run_human_escalated;
struct run_human_finished;
struct run_human_requested;
struct run_start;
struct timeline_end;

struct view_source {
	struct uuid run;
	struct str state; /* Baton's own word, as stored with the run */
	const struct run_graph *graph;
	const struct event *events; /* the whole stream */
	const int64_t *seqs;        /* seq of each event, increasing; NULL: 1, 2, 3 … */
	size_t event_count;
	/* The value with this hash, the timeline of a sub-run; NULL when it is not stored. */
	const struct json *(*read_value)(void *context, const struct hash *hash);
	const struct timeline *(*read_run)(void *context, const struct uuid *run);
	void *context;
};

/* A request and its result. */
struct timeline_call {
	struct timeline_call *before;       /* the step's previous call; NULL = this is the first */
	int64_t begun_seq, ended_seq;       /* 0: no event of its own, or not yet */
	int64_t begun_at, ended_at;         /* ended_at 0 = open */
	struct uuid effect;                 /* zero for a pure step or a body */
	int64_t attempt;                    /* as in the request */
	enum vocabulary_step state;         /* of the step when this call ended */
	const struct json *inputs, *output; /* objects; output NULL = none */
	const struct json *usage;           /* of a turn, as the driver reports it; NULL = none */
	const struct run_call_figures *figures; /* of a tool's processes; NULL = none */
	struct str instead, fault; /* path of the call made instead, why it failed; "" = none */
	int64_t due_at, retry_at;  /* 0 = none */
	struct str model, signal;  /* model of a turn, signal of a wait; "" = none */
	const struct run_human_requested *question; /* NULL = not a question */
	const struct run_human_finished *answer;
};

struct timeline_scope;

struct timeline_step {
	struct str path;
	const struct run_graph_node *node;
	const struct timeline_step *parent; /* the step whose body contains it; NULL = root */
	int64_t item;                       /* index in a map, from 0; -1 = not in a map */
	size_t slot;                        /* index of its node in the body */
	int64_t ordinal;                    /* #n */
	struct str undoes;                  /* undo steps: path of the undone step */
	struct timeline_scope *scope;       /* private */
	enum vocabulary_step state;
	bool started, ended;
	bool skip_derived; /* skipped because a dependency failed; there is no event for it */
	int64_t started_at, ended_at;
	int64_t begun_seq, ended_seq; /* 0 = no event of its own */
	struct uuid effect;           /* of the newest attempt; zero = none */
	int64_t attempts;             /* 0 before the start */
	const struct json *inputs;    /* of the newest attempt, an object */
	const struct json *output;    /* an object, NULL = none */
	struct str fault;             /* why it failed, was skipped or cancelled; "" otherwise */
	struct str reason;            /* why it was skipped: its condition; "" otherwise */
	bool limit_reached, warned;   /* its rounds were used up; it has warnings */
	const struct run_human_requested *question;   /* the newest question; NULL = none */
	const struct run_human_escalated *escalation; /* its last escalation; NULL = none */
	const struct run_human_finished *answer;
	struct timeline_call *call; /* the newest call; NULL = none yet */
	size_t call_count;
};

struct timeline {
	const struct view_source *source;
	struct arena *arena;
	struct map paths;  /* path -> struct timeline_step */
	struct map places; /* path of a node's first activation -> struct timeline_place */
	struct map scopes; /* path of a body -> struct timeline_scope; without the root */
	struct timeline_scope *root, *undos,
		*newest_scope;        /* undos: of the graph, beside the root */
	struct timeline_step **steps; /* nodes of the root, then in the order of first events */
	size_t count, room;
	size_t ended_count; /* steps ended by an event, without skipped ones */
	enum vocabulary_run state;
	int64_t created_at, started_at, ended_at;                        /* started_at 0 = queued */
	bool ended, cancelling, unwinding, abandoned, workspace_removed; /* as in run_state.h */
	const struct run_start *start; /* its fields; absent where it did not set them */
	const struct json *inputs;     /* an object */
	const struct json *outputs;    /* an object, NULL = none */
	struct str fault;              /* "" = none */
	struct str_list issues;        /* what is open, of a run that ended with_issues */
	struct run_warning *warnings;  /* oldest first */
	size_t warning_count, warning_room;
	int64_t warnings_dropped;
	const struct timeline_end *end; /* the newest; NULL = none yet */
	enum timeline_word {
		TIMELINE_STORED_STATE,
		TIMELINE_QUEUED,
		TIMELINE_STARTED, /* left the admission queue; may have been paused since */
		TIMELINE_PAUSED,
		TIMELINE_RUNNING,
		TIMELINE_RETRIED, /* goes on after an end */
	} word; /* the run's state according to the stream, which may be newer than source->state */
};

void timeline_read(struct timeline *timeline, const struct view_source *source,
		   struct arena *arena);
void timeline_extend(struct timeline *timeline, size_t from); /* after the source has grown */
void timeline_done(struct timeline *timeline);

int64_t timeline_seq(const struct timeline *timeline, size_t index);
/* Index of the event with this seq; event_count when there is none. */
size_t timeline_index(const struct timeline *timeline, int64_t seq);
/* True for an event of the run itself or of a step of its graph; views show no other event. */
bool timeline_covers(const struct timeline *timeline, const struct event *event);
/* The step of an event; NULL for the run itself and for a step that is not in the graph. */
const struct timeline_step *timeline_step(const struct timeline *timeline,
					  const struct event *event);
/* The timeline as it was at the end of the run that this event is; for other events, as it is. */
struct timeline timeline_at(const struct timeline *timeline, size_t index);
/* The step with this path; NULL when it does not exist (yet). */
const struct timeline_step *timeline_find(const struct timeline *timeline, struct str path);
/* The call that the event at `index` starts, ends or belongs to; an empty call for a skipped
 * step. */
const struct timeline_call *timeline_call(const struct timeline *timeline, size_t index);
/* The step's calls, oldest first (call_count). */
const struct timeline_call **timeline_calls(const struct timeline *timeline,
					    const struct timeline_step *step);
/* All steps (`count`) in the order of the definition: a step, then the steps of its body, then its
 * next activation. */
const struct timeline_step **timeline_in_order(const struct timeline *timeline);
const struct vocabulary_run_row *timeline_words(const struct timeline *timeline);

/* ---- single events ----------------------------------------------------------------- */

/* True when the event is a final failure. */
bool timeline_event_failed(const struct event *event);
/* True when the event ends a call but not its step: another attempt or a question follows. */
bool timeline_event_continues(const struct event *event);
bool timeline_event_queues(const struct event *event); /* the run waits for admission */
/* The path of the event's step; false when the event belongs to the run itself. */
bool timeline_event_of_step(const struct event *event, struct str *out_path);

/* ---- shared by several vocabularies ------------------------------------------------ */

/* Event ids are derived from (run, seq), so they are stable; of part n > 0, from (run, seq, n). */
struct uuid timeline_event_id(const struct timeline *timeline, int64_t seq);
struct uuid timeline_part_id(const struct timeline *timeline, int64_t seq, size_t n);
struct str timeline_id_text(const struct timeline *timeline, struct uuid id);
struct str timeline_id_hex(const struct timeline *timeline, const char *prefix, struct uuid id);
/* The call's id in every vocabulary: its effect, or the event that started or ended it. */
struct uuid timeline_call_id(const struct timeline *timeline, const struct timeline_call *call);
/* The agent of a step: the tool, the agent, the workflow of a sub-run, or "human" and so on. */
struct str timeline_agent(const struct timeline_step *step);
int64_t timeline_duration_ms(int64_t from, int64_t to);
/* The member `stdout` of a tool's output, else the output as JSON; "" = none. */
struct str timeline_output_text(const struct timeline *timeline, const struct json *output);
/* The trace that the run belongs to: that of the request that started it, or else the run's own id. */
struct uuid timeline_trace(const struct timeline *timeline);
/* Why the step failed or was skipped, as an object; the step's fault must not be "". */
const struct run_failure *timeline_failure(const struct timeline *timeline,
					   const struct timeline_step *step);
/* The event at `index` as a sentence, and as an object with Baton's event name and its details. */
struct str timeline_format_event(const struct timeline *timeline, size_t index);
const struct json *timeline_details(const struct timeline *timeline, size_t index);
/* The outputs as JSON text, or why the run failed; "" while it runs. */
struct str timeline_result(const struct timeline *timeline);

#endif
