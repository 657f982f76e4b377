/* contract/run_log_types.h -- logs of tool calls: the types of contracts/run_log.def. */
#ifndef CONTRACT_RUN_LOG_TYPES_H
#define CONTRACT_RUN_LOG_TYPES_H

#include "contract/run_outcome_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_log.def"
#include "contract/expand.h"

#endif
