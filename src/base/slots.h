/* base/slots.h -- names for operations in flight: an id that outlives what it names.
 *
 * A completion carries an id, never a pointer.  slots_get() gives the owner while it is there
 * and NULL once it has been removed, even when the place is in use again: an id is an index and
 * a generation.  0 is never an id.
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct slot;

struct slots {
	struct slot *at;
	uint32_t count, room, free; /* free: index+1 of the first free slot, 0 = none */
	uint32_t live;
};

uint64_t slots_add(struct slots *slots, void *owner);
void *slots_get(const struct slots *slots, uint64_t id);
void slots_remove(struct slots *slots, uint64_t id);
void slots_done(struct slots *slots);
/* Walk over the live ones: start with *index = 0; NULL at the end. */
void *slots_next(const struct slots *slots, uint32_t *index, uint64_t *out_id);

#endif
