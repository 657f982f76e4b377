/* active/value_fetch.h -- values that a decision or an effect needs to see, by their hash.
 *
 * Values over 256 bytes are stored by hash (architecture R3).  What was read stays with the run
 * while a decision needs it, and the newest few values stay for the next one.
 */
#ifndef ACTIVE_VALUE_FETCH_H
#define ACTIVE_VALUE_FETCH_H

#include "active/active_run.h"
#include "engine/decide.h"

struct value_fetch_state;

/* The values that were read, for the engine; a value that is missing makes it answer NEED. */
struct engine_values active_run_values(struct active_run *active);

/* An error means that the store lost a value; the executor must fail. */
typedef void value_fetch_done(struct executor *executor, uint64_t active, uint64_t argument,
			      const struct error *error);

/* Reads the values that the decision needs, then calls back on the loop.  The run
 * is pinned until then. */
void value_fetch(struct active_run *active, const struct decision *decision, value_fetch_done *done,
		 uint64_t argument);
/* The inputs of an effect.  Returns them, read into the arena; or NULL when they are stored by
 * hash: then calls `done` when active_run_values() has them. */
const struct json *value_fetch_given(struct active_run *active, const struct value *given,
				     struct arena *arena, value_fetch_done *done,
				     uint64_t argument);

/* What a tree that was rendered on the loop shares memory with: the values that the run has read and
 * its graph.  Pinned, they stay, even when the run loses its state. */
struct value_pins {
	struct value_fetch_state **loaded;
	size_t count;
	struct cached_graph *graph;
};
void value_fetch_pin(struct active_run *active, struct value_pins *out_pins);
void value_fetch_unpin(struct executor *executor, struct value_pins *pins);

/* A decision is over: frees what it read, except the newest few values. */
void active_run_release_loaded(struct active_run *active);
/* The run's state is dropped: frees all values. */
void active_run_forget_loaded(struct active_run *active);
/* A fetch in flight when the program ends. */
void value_fetch_discard(struct value_fetch_state *fetch);

#endif
