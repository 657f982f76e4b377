/* contract/run_trigger_types.h -- incoming triggers: the types of contracts/run_trigger.def. */
#ifndef CONTRACT_RUN_TRIGGER_TYPES_H
#define CONTRACT_RUN_TRIGGER_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_trigger.def"
#include "contract/expand.h"

#endif
