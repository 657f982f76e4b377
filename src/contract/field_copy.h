/* contract/field_copy.h -- copies the fields that two entities share, by name.
 *
 * A field that several entities carry from one to the next (a run's start to its first event, to
 * the run's state, to its snapshot, to its views) is a row in each of them.  The code between them
 * does not name the field:
 *
 *	COPY_FIELDS(run_created, event, run_start, run->start, run->arena);
 *
 * Copied is what `from` has a value for and what is of the same type on both sides; any other field
 * of `to` stays as it is.  With an arena, text, trees and maps of text are copied into it; other
 * fields must be scalars, ids or enums.  Without one (NULL), `to` shares what `from` points to.
 */
#ifndef CONTRACT_FIELD_COPY_H
#define CONTRACT_FIELD_COPY_H

#include "contract/contract.h"

void contract_copy_fields(const struct type *from_type, const void *from,
			  const struct type *to_type, void *to, struct arena *arena);

/* The compound literals are there for the compiler to check the types. */
#define COPY_FIELDS(from_entity, from, to_entity, to, arena)                             \
	contract_copy_fields(from_entity##_type(), (const struct from_entity *){ from }, \
			     to_entity##_type(), (struct to_entity *){ to }, arena)

#endif
