/* base/limits.h -- LIMIT_<name>, the rows of contracts/limits.def, and how often each has refused.
 *
 * Where a limit says no to somebody outside, the code says limit_hit(REJECTION_<name>): one counter
 * for each REJECTION row of contracts/metrics.def, from any thread, for the whole process.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdint.h>

enum limit {
#define LIMIT(name, value, unit, why) LIMIT_##name = (value),
#include "contracts/limits.def"
#undef LIMIT
};

enum rejection {
#define REJECTION(name) REJECTION_##name,
#include "contracts/metrics.def"
	REJECTION_COUNT
};

void limit_hit(enum rejection rejection);
uint64_t limit_hits(enum rejection rejection);

#endif
