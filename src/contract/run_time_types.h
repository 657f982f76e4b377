/* contract/run_time_types.h -- where a run's time went: the types of contracts/run_time.def. */
#ifndef CONTRACT_RUN_TIME_TYPES_H
#define CONTRACT_RUN_TIME_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_time.def"
#include "contract/expand.h"

#endif
