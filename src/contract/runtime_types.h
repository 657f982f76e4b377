/* contract/runtime_types.h -- the types of contracts/runtime.def, the runtime vocabulary: workflow
 * runs, steps and reports. */
#ifndef CONTRACT_RUNTIME_H
#define CONTRACT_RUNTIME_H

#include "contract/contract.h"

#define CONTRACT_MODULE runtime
#define CONTRACT_FILE   "contracts/runtime.def"
#include "contract/expand.h"

#endif
