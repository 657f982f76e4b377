/* engine/rig.h -- a run under test and its mirror.
 *
 * Every command goes through decide() and advance(), with what advance() needs given as it asks.
 * Each event made is printed as JSON, read back and folded into a second run that knows nothing
 * else; after every command the two states must be the same text.
 *
 * When the rig is done the whole history is tried from every place in it: what is folded behind a
 * restored snapshot must come to the same end, byte for byte.  Then some of the ways to damage the
 * history are tried.
 */
#ifndef UNIT_ENGINE_RIG_H
#define UNIT_ENGINE_RIG_H

#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "definition/definition_compile.h"
#include "engine/decide.h"
#include "engine/snapshot.h"

struct rig_blob {
	struct hash hash;
	const struct json *json; /* NULL until advance() asked for it */
	struct str bytes;
	struct rig_blob *next;
};

struct rig {
	struct arena arena;
	const struct graph *graph;
	struct run *run, *mirror;
	const struct engine_prices *prices;   /* for budgets; NULL = none is known */
	const struct engine_budgets *budgets; /* named ones; NULL = there are none */
	struct rig_blob *blobs;
	/* The run loses what a session must not look at: all turns but the newest two.  Its state
	 * and its snapshots are not compared, because they are not whole. */
	bool forgets_turns;
	bool takes_trees;    /* steps wait for their trees: the test sends COMMAND_TREE_TAKEN */
	struct str wanted;   /* the first step that waits for its tree, after the newest command */
	size_t needs, trees; /* how often was asked; requests with a tree */
	size_t stops;        /* effects told to stop */
	int64_t now;
	struct buf log;        /* "type step\n" of each event */
	struct event *history; /* as it was read back; lives in the arena */
	size_t events, history_room;
	struct event last;
};

void rig_init(struct rig *rig, const char *yaml);
void rig_done(struct rig *rig);

/* Commands.  rig_do() must be taken, rig_refused() refused with this code and no change. */
void rig_do(struct rig *rig, const struct command *command);
void rig_refused(struct rig *rig, const struct command *command, enum error_code code);
void rig_create(struct rig *rig, const char *inputs);
void rig_compute(struct rig *rig, const char *step); /* echo */
void rig_compute_all(struct rig *rig);
void rig_finish(struct rig *rig, const char *step, const char *output); /* NULL = failed */
void rig_answer(struct rig *rig, const char *step, enum run_decision decision);
struct command rig_finished(struct rig *rig, const char *step, const char *output);
struct command rig_answered(struct rig *rig, const char *step, enum run_decision decision);

const struct json *rig_json(struct rig *rig, const char *text);
struct activation *rig_step(struct rig *rig, const char *name);
const char *rig_state(struct rig *rig, const char *name); /* the word */
const char *rig_log(struct rig *rig);                     /* since the last call */
/* A value's text, from the event or by hash; "" when absent. */
const char *rig_value(struct rig *rig, const struct value *value);
size_t rig_open(struct rig *rig);
void rig_due(struct rig *rig, const char *step); /* its time has come; "" = the run's */

struct rig_list {
	struct activation **at;
	size_t count, room;
};
struct rig_list rig_activations(struct rig *rig); /* in whatever body */

/* The run's state as it would be stored. */
struct str run_snapshot_of(const struct run *run, struct arena *arena);
/* Folds the history from every snapshot of it. */
void check_snapshots(const struct event *history, size_t count, struct uuid id,
		     const struct graph *graph);
/* Stored bytes are not to be trusted: whatever is taken out of the history or of the snapshot at
 * its end, put twice, out of order or replaced, the engine refuses it with an error or makes some
 * state of it.  It never stops the program, which would stop again at every start.  Tries every
 * n-th way; how many there are. */
size_t check_damage(const struct event *history, size_t count, struct uuid id,
		    const struct graph *graph, size_t every);
/* Everything in a run's state as text. */
struct str run_dump(const struct run *run, struct arena *arena);

#endif
