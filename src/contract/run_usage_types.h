/* contract/run_usage_types.h -- what turns used and cost: the types of
 * contracts/run_usage.def. */
#ifndef CONTRACT_RUN_USAGE_TYPES_H
#define CONTRACT_RUN_USAGE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_usage.def"
#include "contract/expand.h"

#endif
