/* store/store_inside.h -- what the backends share; nobody else's. */
#ifndef STORE_STORE_INSIDE_H
#define STORE_STORE_INSIDE_H

#include "store/store.h"

/* May guards[index] move a counter that is now at `value`? */
bool store_guard_admits(const struct store_guard *guards, size_t index, int64_t value);

#endif
