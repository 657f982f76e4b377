/* api/usage_sum.h -- a sum of usage as clients read it; private to src/api. */
#ifndef API_USAGE_SUM_H
#define API_USAGE_SUM_H

#include "active/executor_jobs.h"
#include "contract/field_copy.h"
#include "contract/run_usage_types.h"

/* Dollars instead of picodollars; an unknown cost is null. */
struct run_usage_total *usage_sum_total(const struct store_usage *usage, struct arena *arena);

#endif
