/* base/limits.h -- the limits of contracts/limits.def and their rejection counters.
 *
 * Code that refuses a request or a document because of a limit calls limit_hit(REJECTION_<name>).
 * Each REJECTION of contracts/metrics.def has one counter for the whole process; any thread may
 * increment and read it.
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
