/* engine/evolve.h -- one function per event type, which evolve() calls; private to this room.
 *
 * The rows of events.def declare the functions, so that a missing one is a link error.  Each applies
 * its event to the state, or returns an error when the event is impossible in this state.  evolve()
 * itself updates seq and applies the changes that follow from the state alone.
 */
#ifndef ENGINE_EVOLVE_H
#define ENGINE_EVOLVE_H

#include "engine/activation.h"

#define EVENT(constant, name, body, level, persistence, text)                     \
	bool evolve_##body(struct run *run, const struct body *event, int64_t at, \
			   struct error *error);
#include "contracts/events.def"
#undef EVENT

#endif
