/* contract/run_schedule_types.h -- schedules: the types of contracts/run_schedule.def. */
#ifndef CONTRACT_RUN_SCHEDULE_TYPES_H
#define CONTRACT_RUN_SCHEDULE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_schedule.def"
#include "contract/expand.h"

#endif
