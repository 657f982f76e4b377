/* engine/decide.h -- from a command to events: the only place where events are made.
 *
 *	decide()   answers one command: refuses it, or makes its events;
 *	advance()  makes what follows: requests for every step that can start, the run's end.
 *
 * Both apply each event to the run as they make it (R2: decided ahead), so the caller has one
 * state and a list of events to append; if the append fails it throws the state away and loads
 * it again.  The caller runs advance() after each decide() with the same decision, and appends
 * both in one go: finished(k) and requested(k+1) are one append.
 *
 * advance() may answer ENGINE_NEED: decision->needs lists values by hash that it must see,
 * decision->needs_tree asks for the workspace's tree.  The caller fetches them and calls again;
 * nothing may be decided for this run in between.
 *
 * No clock, no dice: `now` comes with the command, ids are derived (R1, R4).
 */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include "engine/run.h"

enum command_kind {
	COMMAND_CREATE,    /* the first of a run */
	COMMAND_COMPUTED,  /* a pure step has its result */
	COMMAND_FINISHED,  /* a tool or timer is closed */
	COMMAND_ANSWERED,  /* a person has answered */
	COMMAND_RESTARTED, /* a tool left open by a crash is about to be called again */
	COMMAND_COMPACT,   /* older events may go: a snapshot comes with the append */
};

struct command {
	enum command_kind kind;
	int64_t now;
	const struct json *inputs;     /* CREATE: with defaults */
	struct str trace;              /* CREATE: traceparent of who asked, "" = none */
	const int64_t *retention_days; /* CREATE: how long its events are kept; NULL = not said */
	int64_t floor;                 /* COMPACT: of the events with a smaller seq */
	struct str step;               /* all others: path of the activation */
	struct uuid effect;            /* FINISHED, ANSWERED, RESTARTED */
	enum run_outcome outcome;      /* FINISHED */
	const struct json *output;     /* COMPUTED, FINISHED: NULL when it failed */
	struct fault fault;            /* COMPUTED, FINISHED: code "" when it did not */
	enum run_decision decision;    /* ANSWERED */
	struct str comment, by;
	const struct hash *revision; /* ANSWERED: the one that was shown, or NULL */
};

struct decision_blob {
	struct hash hash;
	struct str bytes;
};

struct decision {
	struct arena *arena; /* everything below lives here */
	struct event *events;
	size_t event_count, event_room;
	struct decision_blob *blobs; /* values that events refer to by hash */
	size_t blob_count, blob_room;
	struct hash *needs; /* ENGINE_NEED */
	size_t need_count, need_room;
	bool needs_tree;
};

/* What the shell has loaded. */
struct engine_values {
	/* NULL when it is not loaded. */
	const struct json *(*look)(void *context, const struct hash *hash);
	void *context;
	struct str tree; /* "" when it has not been taken */
};

enum engine_answer { ENGINE_DONE, ENGINE_NEED };

/* Refusals: NOT_FOUND (no such step), CONFLICT (already closed, another revision, second answer, a
 * floor that would not rise), TOO_LARGE.  A refused command changes nothing. */
MUST_CHECK bool decide(struct run *run, const struct command *command, struct decision *decision,
		       struct error *error);
enum engine_answer advance(struct run *run, int64_t now, const struct engine_values *values,
			   struct decision *decision);

/* The inputs of a step that runs, rendered; ENGINE_NEED as above.  *out is NULL when they are
 * over LIMIT_VALUE_BYTES. */
enum engine_answer engine_inputs(struct run *run, const struct activation *activation,
				 const struct engine_values *values, struct decision *decision,
				 const struct json **out);

/* effect_id = hash(run, activation, kind, ordinal) */
struct uuid engine_effect_id(const struct run *run, struct str path, struct str kind,
			     int64_t ordinal);

#endif
