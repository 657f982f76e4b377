/* base/slots.h -- slot table: ids for operations in flight that stay safe after the operation ends.
 *
 * A completion carries an id instead of a pointer.  slots_get() returns the owner while the id is
 * registered and NULL after slots_remove(), even when the slot is in use again: an id consists of
 * an index and a generation.  0 is never an id.
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
/* Iterates over the slots in use: start with *index = 0; returns NULL at the end. */
void *slots_next(const struct slots *slots, uint32_t *index, uint64_t *out_id);

#endif
