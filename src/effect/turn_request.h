/* effect/turn_request.h -- the request of an agent's turn as its driver gets it; private to effect.
 *
 * The request of a turn outside of a session is recorded as a whole.  In a session the recorded request
 * is the opening, and the transcript behind it is in the run's state: of each turn its note, the reply,
 * and the results of its calls.  Both depend on what was committed before the turn was requested, and
 * on nothing else, so a turn that is repeated after a crash sends the same bytes.
 *
 *	source   copied from the state, because the state may be missing while values are read
 *	needs    the stored values that the request is made of
 *	build    the request, once they are loaded
 */
#ifndef EFFECT_TURN_REQUEST_H
#define EFFECT_TURN_REQUEST_H

#include "contract/run_turn_types.h"
#include "engine/decide.h"
#include "engine/run.h"

struct turn_source;

struct turn_source *turn_source_new(const struct run *run, const struct activation *turn,
				    struct arena *arena);
/* The hashes of the values that must be loaded; valid as long as the source. */
const struct hash *turn_source_needs(const struct turn_source *source, size_t *out_count);
/* NULL when a value cannot be read as what it must be.  Shares memory with the loaded values. */
const struct run_turn *turn_request_build(const struct turn_source *source,
					  const struct engine_values *values, struct arena *arena,
					  struct error *error);

#endif
