/* contract/run_class_types.h -- what recovery may do with an effect: the types of
 * contracts/run_class.def. */
#ifndef CONTRACT_RUN_CLASS_TYPES_H
#define CONTRACT_RUN_CLASS_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_class.def"
#include "contract/expand.h"

#endif
