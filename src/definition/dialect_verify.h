/* definition/dialect_verify.h -- `verify` on a step that does something, as a tree.
 *
 * Both functions read the tree of a file and keep nothing; what they make lives in the arena and has the
 * places of the values that it comes from.
 */
#ifndef DEFINITION_DIALECT_VERIFY_H
#define DEFINITION_DIALECT_VERIFY_H

#include "base/json.h"

/* Whether `verify` of a step is about the step itself, which is repeated until its criteria hold. */
bool dialect_has_criteria(const struct json *step);
/* The verification around the step. */
struct json dialect_verified(struct arena *arena, const struct json *step);

#endif
