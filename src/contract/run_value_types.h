/* contract/run_value_types.h -- what several event bodies contain: values, faults, continuations, warnings,
 * commit times: the types of contracts/run_value.def. */
#ifndef CONTRACT_RUN_VALUE_TYPES_H
#define CONTRACT_RUN_VALUE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_value.def"
#include "contract/expand.h"

#endif
