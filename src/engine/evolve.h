/* engine/evolve.h -- what evolve() is made of: one function an event; private to this room.
 *
 * The functions are named by events.def, so that forgetting one does not link.  Each changes the
 * state as its event says, or says why the event cannot stand here; seq, and what follows from
 * the state alone, are evolve()'s.
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
