/* engine/decide.h -- from a command to events: the only place where a run's events are made.
 *
 *	decide()   answers one command: refuses it, or makes its events;
 *	advance()  makes what follows: everything that can start, the end of bodies and of the run.
 *
 * Both apply each event to the run as they make it (R2: decided ahead), so the caller has one
 * state and a list of events to append; if the append fails it throws the state away and loads
 * it again.  The caller runs advance() after each decide() with the same decision, and appends
 * both in one go: finished(k) and requested(k+1) are one append.
 *
 * Both may answer ENGINE_NEED.  decision->needs lists values by hash that must be seen,
 * decision->needs_tree asks for the workspace's tree, decision->to_print is a value that is too long
 * to be printed and hashed here.  The caller fetches or prints them and calls again; nothing may be
 * decided for this run in between.
 *
 * decision->stops names effects that are under way and shall end: the caller tells them, and what
 * they then say comes back as COMMAND_FINISHED.  decision->closes names waits, questions and
 * attempts to come that ended with the run being called off.
 *
 * No clock, no dice: `now` comes with the command, ids and jitter are derived (R1, R4).
 */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include "contract/run_value_types.h"
#include "contract/event.h"
#include "contract/run_outcome_types.h"
#include "engine/value.h"

struct activation;
struct run;
struct run_start;

enum command_kind {
	COMMAND_CREATE,    /* the first of a run */
	COMMAND_START,     /* it leaves its queue */
	COMMAND_COMPUTED,  /* a pure step has its result */
	COMMAND_FINISHED,  /* a tool, turn or sub-run is closed */
	COMMAND_ANSWERED,  /* a person has answered */
	COMMAND_RESTARTED, /* a tool left open by a crash is about to be called again */
	COMMAND_DUE, /* the time of something of this step, or of the run (step "") has come */
	COMMAND_PAUSE,
	COMMAND_RESUME,
	COMMAND_CANCEL,
	COMMAND_SIGNAL,
	COMMAND_COMPACT, /* older events may go: a snapshot comes with the append */
};

struct command {
	enum command_kind kind;
	int64_t now;
	const struct json *inputs;     /* CREATE: with defaults */
	const struct run_start *start; /* CREATE: what the run keeps of it; NULL = nothing */
	int64_t floor;                 /* COMPACT: of the events with a smaller seq */
	bool queued;                   /* CREATE: it waits for its turn */
	struct str step;               /* path of the activation */
	struct uuid effect;            /* FINISHED, ANSWERED, RESTARTED */
	enum run_outcome outcome;      /* FINISHED */
	const struct json *output;     /* COMPUTED, FINISHED: NULL when it failed; ANSWERED, SIGNAL:
					  values that came with it */
	const struct json *usage;      /* FINISHED: of a turn */
	struct failure fault;          /* COMPUTED, FINISHED: code "" when it did not fail */
	enum run_decision decision;    /* ANSWERED */
	struct str comment;            /* ANSWERED; PAUSE, CANCEL: why */
	struct str by;                 /* who: ANSWERED, PAUSE, RESUME, CANCEL, SIGNAL */
	struct str name;               /* SIGNAL */
	const struct hash *revision;   /* ANSWERED: the one that was shown, or NULL */
};

/* Which value it is that the engine wants printed: the tree is another one when it asks again, but
 * a decision that is made again asks for the same values in the same order. */
struct print_key {
	size_t events;  /* in the decision so far */
	size_t ordinal; /* from 1, since the newest of these; 0 = none */
};

/* A value that was printed and hashed before it is decided about, on another thread.  Its memory
 * must live as long as the decision. */
struct printed_value {
	struct printed_value *next;
	const struct json *json;
	struct print_key key; /* of one that the engine asked for */
	struct str text;      /* at NULL: longer than LIMIT_VALUE_BYTES */
	struct hash hash;
	bool is_prefixed;     /* a prefix was asked for: */
	struct hash prefixed; /* over that and the text */
};

struct decision_blob {
	struct hash hash;
	struct str bytes;
};

struct decision_stop {
	struct str step;
	struct uuid effect;
};

struct decision {
	struct arena *arena; /* everything below lives here */
	/* How earlier appends of the run came to the disk: the first event tells it. */
	struct run_commit_list commits;
	struct event *events;
	size_t event_count, event_room;
	struct decision_blob *blobs; /* values that events refer to by hash */
	size_t blob_count, blob_room;
	struct hash *needs; /* ENGINE_NEED */
	size_t need_count, need_room;
	bool needs_tree;
	/* A value whose text is longer than print_most is not printed by the engine (0 = every one
	 * is): it stands in to_print, and the caller adds it to `printed`. */
	size_t print_most;
	const struct json *to_print; /* ENGINE_NEED; NULL = none */
	struct str print_prefix;     /* a second hash is wanted, over this and the text; "" = not */
	struct print_key print_key;  /* of the newest value that was not found by its tree */
	struct printed_value *printed;
	struct decision_stop *stops;
	size_t stop_count, stop_room;
	struct uuid *closes; /* ended by run.cancelling, without an event of their own */
	size_t close_count, close_room;
};

/* What the shell has loaded. */
struct engine_values {
	/* NULL when it is not loaded. */
	const struct json *(*look)(void *context, const struct hash *hash);
	void *context;
	struct str tree; /* "" when it has not been taken */
};

enum engine_answer { ENGINE_DONE, ENGINE_NEED, ENGINE_REFUSED };

/* Refusals: NOT_FOUND (no such step), CONFLICT (already closed, another revision, second answer,
 * nothing is due, a floor that would not rise), FORBIDDEN (four eyes), TOO_LARGE, USAGE (an answer
 * that does not fit its question).  A refused command changes nothing.
 */
enum engine_answer decide(struct run *run, const struct command *command,
			  const struct engine_values *values, struct decision *decision,
			  struct error *error);
enum engine_answer advance(struct run *run, int64_t now, const struct engine_values *values,
			   struct decision *decision);

/* Whether advance() would find something to do now, beside attempts that are due: so it is while it
 * has not been called since the last decision. */
bool engine_could_go_on(const struct run *run);

/* The inputs of a step that runs, rendered; ENGINE_NEED as above, but nothing is printed.  The tree
 * shares what it refers to whole with the values that were looked up and with the graph, and has
 * nothing of the run's state; it can stand for a text over LIMIT_VALUE_BYTES. */
enum engine_answer engine_render_inputs(struct run *run, const struct activation *activation,
					const struct engine_values *values,
					struct decision *decision, const struct json **out);

/* effect_id = hash(run, activation, kind, ordinal) */
struct uuid engine_effect_id(const struct run *run, struct str path, struct str kind,
			     int64_t ordinal);

#endif
