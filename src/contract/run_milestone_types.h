/* contract/run_milestone_types.h -- milestones: the types of contracts/run_milestone.def. */
#ifndef CONTRACT_RUN_MILESTONE_TYPES_H
#define CONTRACT_RUN_MILESTONE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_milestone.def"
#include "contract/expand.h"

#endif
