/* engine/decide.h -- decides commands: the only place that makes the events of a run.
 *
 *	decide()   decides one command: refuses it, or makes its events
 *	advance()  makes the consequences: starts every activation that can start, ends bodies and the run
 *
 * Both apply each event to the run as they make it (R2: decided ahead), so the caller has one state
 * and a list of events to append.  If the append fails, the caller discards the state and loads it
 * again.  The caller runs advance() after each decide() with the same decision and appends the events
 * of both together: finished(k) and requested(k+1) are one append.
 *
 * Both may answer ENGINE_NEED: decision->needs lists hashes of values to load, decision->to_print is a
 * value too long to be printed and hashed on this thread.  The caller calls again with them; nothing
 * else may be decided for this run in between.
 * A contained tool is requested with the git tree of its workspace.  advance() does not wait for it:
 * decision->trees lists the steps that could start and need their tree.  The caller commits first,
 * then takes the trees and sends each as COMMAND_TREE_TAKEN; the newest list is the complete one.
 * decision->stops lists open effects to stop, whose results come back as COMMAND_FINISHED;
 * decision->closes, waits, questions and pending retries that were closed by cancelling the run.
 * No clock, no randomness: `now` comes with the command, ids and jitter are derived (R1, R4).
 */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include "contract/run_value_types.h"
#include "contract/event.h"
#include "contract/run_outcome_types.h"
#include "engine/decision_budget.h"
#include "engine/milestone.h"
#include "engine/value.h"

struct activation;
struct branch;
struct run;
struct run_start;

enum command_kind {
	COMMAND_CREATE,    /* creates the run; its first command */
	COMMAND_START,     /* the run leaves its admission queue */
	COMMAND_COMPUTED,  /* a pure step has its result */
	COMMAND_FINISHED,  /* a tool, turn or sub-run is closed */
	COMMAND_ANSWERED,  /* a person has answered */
	COMMAND_RESTARTED, /* a tool call left open by a crash is about to be repeated */
	COMMAND_DUE,       /* a deadline of this step, or of the run (step ""), has passed */
	COMMAND_PAUSE,
	COMMAND_RESUME,
	COMMAND_CANCEL,
	COMMAND_RETRY, /* a failed run executes its failed steps again */
	COMMAND_SIGNAL,
	COMMAND_TREE_TAKEN, /* the tree of a workspace, for a step that waits for it */
	COMMAND_COMPACT,    /* older events may be removed: the append contains a snapshot */
};
struct command {
	enum command_kind kind;
	int64_t now;
	const struct json *inputs;     /* CREATE: with defaults */
	const struct run_start *start; /* CREATE: the options that the run keeps; NULL = none */
	int64_t floor;                 /* COMPACT: events with a smaller seq may be removed */
	bool removes_workspace;        /* COMPACT: of an ended run, all events and the workspace */
	bool queued;                   /* CREATE, RETRY: the run waits in its admission queue */
	struct str step;               /* path of the activation */
	struct uuid effect;            /* FINISHED, ANSWERED, RESTARTED */
	enum run_outcome outcome;      /* FINISHED */
	const struct run_call_figures *figures; /* FINISHED: of a tool; NULL = unknown */
	const struct json *output; /* COMPUTED, FINISHED: NULL = failed; or what a person sent */
	const struct json *usage;  /* FINISHED: of a turn */
	int64_t retry_after_us;    /* FINISHED: a retry waits at least so long */
	const struct json *log, *files; /* FINISHED: run.Log, run.FileChanges; NULL = none */
	struct failure fault;           /* COMPUTED, FINISHED: code "" when it did not fail */
	enum run_decision decision;     /* ANSWERED */
	struct str comment;             /* ANSWERED; PAUSE, CANCEL, RETRY: the reason */
	struct str by;                  /* who: ANSWERED, PAUSE, RESUME, CANCEL, RETRY, SIGNAL */
	struct str name;        /* SIGNAL; RESUME: only if paused for this budget ("" = any) */
	bool only_first, final; /* CANCEL: a second one is nothing; ANSWERED: a rejection fails */
	const struct hash *revision; /* ANSWERED: the revision that was shown, or NULL */
	struct str request_id;   /* of the client's request; its first event has it; "" = none */
	struct str branch, tree; /* TREE_TAKEN: "" = of a step; "" = it failed */
	int64_t begun_at;        /* TREE_TAKEN: when the caller began to take it */
	const struct warnings *warnings; /* COMPUTED: of the rendering of its inputs; NULL = none */
};

/* Identifies a value that the engine wants printed.  The tree differs when the decision is made again,
 * but the decision then needs the same values in the same order. */
struct print_key {
	size_t events;  /* in the decision so far */
	size_t ordinal; /* from 1, since the newest of these; 0 = none */
};

/* A value that was printed and hashed in advance, on another thread.  Its memory must live as long as
 * the decision. */
struct printed_value {
	struct printed_value *next;
	const struct json *json;
	struct print_key key; /* of a value that the engine needed */
	struct str text;      /* at NULL: longer than LIMIT_VALUE_BYTES */
	struct hash hash;
	bool is_prefixed;     /* the engine needed a hash with a prefix: */
	struct hash prefixed; /* of the prefix and the text */
};

struct decision_blob {
	struct hash hash;
	struct str bytes;
};

struct decision_stop {
	struct str step;
	struct uuid effect;
	bool again; /* the cleanup of a sub-run is to end, too */
};

/* A tree that is wanted, one of these:
 *	a step could start and needs the tree of its folder (ends NULL, merges false); in a branch
 *	without a folder, the folder begins at `base` first
 *	a branch is over (ends): the tree of its folder
 *	a container can be left (merges): the trees of its branches, merged, which its folder gets
 */
struct decision_tree {
	struct str step;
	const struct branch *branch; /* whose folder; NULL = the run's own */
	const struct branch *ends;
	bool merges;
	struct str base;             /* where the folder or the branches began; "" = it exists */
	const struct branch *parent; /* base: the folder it is a copy of; NULL = the run's own */
	const struct activation *container; /* merges: has the branches */
	int64_t timeout_us;                 /* of the step, which includes the taking; 0 = none */
};

struct decision {
	struct arena *arena; /* everything below lives here */
	/* Commit times of earlier appends of the run, which the first event reports. */
	struct run_commit_list commits;
	struct str request_id; /* of the command that is decided; "" = none */
	struct event *events;
	size_t event_count, event_room;
	struct decision_blob *blobs; /* values that events refer to by hash */
	size_t blob_count, blob_room;
	struct hash *needs; /* ENGINE_NEED */
	size_t need_count, need_room;
	struct decision_tree *trees; /* wanted by advance() */
	size_t tree_count, tree_room;
	/* The engine does not print a value whose text is longer than print_most (0 = no limit): it
	 * sets to_print, and the caller adds the printed value to `printed`. */
	size_t print_most;
	const struct json *to_print; /* ENGINE_NEED; NULL = none */
	struct str print_prefix;     /* prefix of a second hash that is needed; "" = none */
	struct print_key print_key;  /* of the newest value that was not found by its tree */
	struct printed_value *printed;
	struct decision_stop *stops;
	size_t stop_count, stop_room;
	struct warnings warnings; /* not recorded by an event yet */
	struct uuid *closes;      /* closed by run.cancelling, without an event of their own */
	size_t close_count, close_room;
	struct decision_budget budget; /* set by advance() */
	struct decision_milestone milestone;
};

/* The git tree of a workspace, taken for a step. */
struct engine_tree {
	struct str step;   /* "" = for every step (tests) */
	struct str branch; /* of a branch that is over, not for a step; "" = for the step */
	struct str tree;   /* "" = it failed */
	struct failure fault;
	int64_t begun_at; /* 0 = unknown */
};

/* The values that the caller has loaded; look() gives NULL for one that is not. */
struct engine_values {
	const struct json *(*look)(void *context, const struct hash *hash);
	void *context;
	/* The tree that COMMAND_TREE_TAKEN brought; NULL = none. */
	const struct engine_tree *tree;
	const struct engine_prices *prices;   /* engine/budget.h; NULL = none is known */
	const struct engine_budgets *budgets; /* engine/budget.h; NULL = there are none */
};
enum engine_answer { ENGINE_DONE, ENGINE_NEED, ENGINE_REFUSED };

/* Refusals: NOT_FOUND (no such step), CONFLICT (already closed, another revision, second answer,
 * nothing is due, a floor that would not rise), FORBIDDEN (four eyes), TOO_LARGE, USAGE (an answer
 * that does not fit its question).  A refused command changes nothing. */
enum engine_answer decide(struct run *run, const struct command *command,
			  const struct engine_values *values, struct decision *decision,
			  struct error *error);
enum engine_answer advance(struct run *run, int64_t now, const struct engine_values *values,
			   struct decision *decision);

/* Whether advance() has something to do, apart from due retries, or was not called since a decision. */
bool engine_could_go_on(const struct run *run);

/* The rendered inputs of a running step, and why a strict definition refuses them (code "" = it does not);
 * ENGINE_NEED as above, but nothing is printed.  The tree shares whole values with the loaded values and
 * the graph, and has nothing of the run's state.  Its text may be longer than LIMIT_VALUE_BYTES. */
enum engine_answer engine_render_inputs(struct run *run, const struct activation *activation,
					const struct engine_values *values,
					struct decision *decision, const struct json **out,
					struct failure *out_fault);
/* effect_id = hash(run, activation, kind, ordinal) */
struct uuid engine_effect_id(const struct run *run, struct str path, struct str kind,
			     int64_t ordinal);

#endif
