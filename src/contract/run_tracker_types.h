/* contract/run_tracker_types.h -- issues and pull requests of trackers: the types of
 * contracts/run_tracker.def. */
#ifndef CONTRACT_RUN_TRACKER_TYPES_H
#define CONTRACT_RUN_TRACKER_TYPES_H

#include "contract/contract.h"
#include "contract/pipeline_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_tracker.def"
#include "contract/expand.h"

#endif
