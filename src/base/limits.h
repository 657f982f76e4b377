/* base/limits.h -- LIMIT_<name>, the rows of contracts/limits.def. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum limit {
#define LIMIT(name, value, unit, why) LIMIT_##name = (value),
#include "contracts/limits.def"
#undef LIMIT
};

#endif
