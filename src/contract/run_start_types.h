/* contract/run_start_types.h -- what the start of a run says and the run keeps, and the event
 * that records it: the types of contracts/run_start.def. */
#ifndef CONTRACT_RUN_START_TYPES_H
#define CONTRACT_RUN_START_TYPES_H

#include "contract/run_value_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_start.def"
#include "contract/expand.h"

#endif
