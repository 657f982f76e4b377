/* store/store_guard.h -- the rule for guards, shared by all backends. */
#ifndef STORE_STORE_GUARD_H
#define STORE_STORE_GUARD_H

#include "store/store.h"

/* True when guards[index] may move a counter whose stored value is `value`.  Earlier guards of the
 * same append count when they name the same counter. */
bool store_guard_admits(const struct store_guard *guards, size_t index, int64_t value);

#endif
