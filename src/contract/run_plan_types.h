/* contract/run_plan_types.h -- plans: the types of contracts/run_plan.def. */
#ifndef CONTRACT_RUN_PLAN_TYPES_H
#define CONTRACT_RUN_PLAN_TYPES_H

#include "contract/pipeline_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_plan.def"
#include "contract/expand.h"

#endif
